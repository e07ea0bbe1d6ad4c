"""People who have several rows: at most so many of each are used, and what a person adds is clipped as one."""

from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.learn.columns_given import is_nothing, listed, plain
from discreet.learn.rows import Batch, RowBatch, lengths
from discreet.learn.training_plan import ROOM, STEPS_OF_CLIP, Person, TrainingPlan
from discreet.mechanisms.additive import Floats, Ints
from discreet.noise.source import Source, chosen, words

LONG = 64.0
"""A single row is scaled down to this many clips before it is added to the other rows of its person."""

MOST_ROWS_EACH = 1 << 10
"""So that the sum of a person's rows stays below 2^6 · 2^32 · 2^10, and is exact."""

PIECE = 1 << 22
"""Numbers of the gradients of people that are held at once."""


class RowsOfPeople:
    """The rows of each person that are used: at most `most`, chosen by a priority that is drawn for each row by itself.

    So which rows of a person are used depends on nobody else. A row of nobody (None, or what is no number) is not used.
    """

    def __init__(self, ids: Any, most: int, source: Source | None = None) -> None:
        if most > MOST_ROWS_EACH:
            raise Invalid(f"rows must be at most {MOST_ROWS_EACH:,} a person, got {most:,}")
        self.most = most
        person = _numbers(ids)
        order = np.lexsort((words(chosen(source), person.size), person))
        order = order[int((person < 0).sum()) :]
        begins = np.flatnonzero(np.diff(person[order], prepend=-1))
        place = np.arange(order.size) - np.repeat(begins, np.diff(begins, append=order.size))
        self.rows: Ints = order[place < most]
        counts = np.minimum(np.diff(begins, append=order.size), most)
        self.ends: Ints = np.cumsum(counts)
        self.begins: Ints = self.ends - counts

    def __len__(self) -> int:
        return int(self.ends.size)

    def of(self, batch: Batch) -> tuple[Ints, Ints]:
        """The rows of a batch of people, one person after the other, and where each begins among them."""
        begins, ends = self.begins[batch], self.ends[batch]
        counts = ends - begins
        firsts = np.cumsum(counts) - counts
        within = np.arange(int(counts.sum())) - np.repeat(firsts, counts)
        return self.rows[np.repeat(begins, counts) + within], firsts


def unit_of(ids: list[Any] | None, person: Person | None, rows: int) -> Person | None:
    """Who is protected: the person that each of so many rows is about, or, without ids, each row."""
    if ids is None:
        if person is not None:
            raise Invalid("person says how many rows of each are used", hint="ids=… says whom each row is about")
        return None
    if len(ids) != rows:
        raise Invalid("there must be one id for each row", hint="ids=… is a column as long as that of the targets")
    return Person() if person is None else person


def used_rows(ids: list[Any] | None, unit: Person | None) -> tuple[Batch, RowsOfPeople | None]:
    """The rows that are used, and the people who have several of them; None where each row is by itself."""
    if ids is None or unit is None:
        return slice(None), None
    people = RowsOfPeople(ids, unit.rows)
    return (people.rows, None) if unit.rows == 1 else (slice(None), people)


def _numbers(ids: Any) -> Ints:
    """A number for each person from 0 on, −1 for nobody. Equal ids are one person, wherever they come from: 1 and 1.0, and not "1"."""
    places: dict[Any, int] = {}
    return np.array([_number(plain(each), places) for each in listed(ids, "ids")], np.int64)


def _number(person: Any, places: dict[Any, int]) -> int:
    """What cannot be compared, such as a list, names nobody: an error would tell of it."""
    try:
        return -1 if is_nothing(person) else places.setdefault(person, len(places))
    except (TypeError, ArithmeticError):
        return -1


def clipped_people(rows: RowBatch, firsts: Ints, residuals: Floats, plan: TrainingPlan) -> Ints:
    """Σ over people of their summed gradients, each person's clipped once, in steps of the plan's grid.

    For any residuals each person adds a vector of integers of norm at most STEPS_OF_CLIP, which depends on that person's rows alone:
    sums within a person are of integers below 2^53, and the norm adds squares in the order of coordinates.
    """
    steps = rows.residual_steps(residuals, plan, LONG)
    total = np.zeros((residuals.shape[1], rows.steps.shape[1]), np.int64)
    ends = np.append(firsts[1:], len(steps))
    at_once = max(1, PIECE // max(total.size * plan.rows_each, 1))
    for begin in range(0, len(firsts), at_once):
        last = min(begin + at_once, len(firsts)) - 1
        piece = slice(int(firsts[begin]), int(ends[last]))
        each = steps[piece, :, None] * rows.steps[piece, None, :]
        summed = np.add.reduceat(each.reshape(len(each), -1), firsts[begin : last + 1] - firsts[begin], axis=0)
        total += _clipped(summed, plan).sum(axis=0).reshape(total.shape)
    return total


def _clipped(summed: Floats, plan: TrainingPlan) -> Ints:
    """Each row of integers within STEPS_OF_CLIP in norm."""
    norms = lengths(summed, plan.shape)
    factor = np.minimum(1.0, STEPS_OF_CLIP / float(1 + ROOM) / np.maximum(norms, 1))
    return np.asarray(np.trunc(summed * factor[:, None])).astype(np.int64)
