"""The second run of twins: each draw is made and thrown away, and what was released on the first data set is handed out instead.

It is made all the same so that a value that the mechanism does not take fails here as it would have. After the first difference in what is
drawn there is nothing to compare any more: from there on draws are handed out as they are made.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.twins.distance import too_far
from discreet.audit.twins.record import Drawn
from discreet.exact import rational
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.hand import FRESH, Turn, Use
from discreet.noise import Tape


@dataclass
class Replayed:
    """A turn that hands out what its twin released."""

    hand: "Replayer"
    name: str
    before: Drawn
    given: list[Any] = field(default_factory=list)

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """The batch of the twin: of units that both have the same ones, and every unit that its twin does not have.

        Whoever is on one side only is expected at the end of all units. They are in the batch, where they change the most.
        """
        if self.hand.lost or self.before.batch is None or self.before.among is None:
            return draw()
        if abs(among - self.before.among) > 1:
            self.hand.loses(f"{self.name} samples among {self.before.among} units, and on the neighbour among {among}")
            return draw()
        both = self.before.batch[self.before.batch < among]
        return np.concatenate([both, np.arange(self.before.among, among, dtype=np.int64)])

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        """What was released before, where the mechanism takes the value that it is given now."""
        value, at = exact(), len(self.given)
        self.given.append(deepcopy(value))
        if self.hand.lost:
            return draw(value)
        if at >= len(self.before.given):
            self.hand.loses(f"{self.name} is given a value, and its twin was given none")
            return draw(value)
        self._is_taken(value, at, draw)
        if at >= len(self.before.released):
            self.hand.loses(f"{self.name} failed on the first data set, and not on the neighbour")
            return draw(value)
        self._measured(at)
        return deepcopy(self.before.released[at])

    def _is_taken(self, value: Any, at: int, draw: Callable[[Any], Any]) -> None:
        """The mechanism raises what it raises for such a value; where its twin did not, that is a difference."""
        mechanism = self.before.use.mechanism
        try:
            if self.before.use.in_turn and isinstance(mechanism, AboveThreshold):
                # the round itself would end with a hit of its own
                mechanism.session(Tape(0)).ask(value)
            else:
                draw(value)
        except Exception:
            if at < len(self.before.released):
                self.hand.loses(f"{self.name} fails on the neighbour, and not on the first data set")
            raise

    def _measured(self, at: int) -> None:
        use = self.before.use
        before, now = self.before.given[at], self.given[at]
        if use.in_turn:
            before, now = self.before.given[: at + 1], self.given
        shapes = _shape(before), _shape(now)
        if shapes[0] != shapes[1]:
            self.hand.loses(
                f"{self.name} is given {_shaped(shapes[0])}, and on the neighbour {_shaped(shapes[1])}:"
                " how many there are must not depend on the data"
            )
        elif words := too_far(use.mechanism, _sensitivity(use), before, now):
            self.hand.problems.append(f"{self.name}: {words}")


@dataclass
class Replayer:
    """A hand that hands out what was released before, and notes where it was given more than a neighbour may give."""

    record: Sequence[Drawn]
    problems: list[str] = field(default_factory=list)
    turns: list[Replayed] = field(default_factory=list)
    used: int = 0
    lost: bool = False

    def loses(self, problem: str) -> None:
        """From here on the runs go different ways."""
        self.problems.append(problem)
        self.lost = True

    def begin(self, use: Use) -> Turn:
        """The draw whose twin has the same number, if it is the same one."""
        number = self.used
        self.used += 1
        if self.lost:
            return FRESH
        if number >= len(self.record):
            self.loses(
                f"the neighbour draws more often: draw {number + 1} is {_told(use)}, and there was none on the first data set"
            )
            return FRESH
        before = self.record[number]
        if _identity(use) != _identity(before.use):
            self.loses(f"draw {number + 1} is {_told(before.use)}, and on the neighbour {_told(use)}")
            return FRESH
        turn = Replayed(self, f"draw {number + 1} ({use.mechanism!r})", before)
        self.turns.append(turn)
        return turn

    def finish(self) -> None:
        """The run has ended: a draw that is missing is a difference."""
        if not self.lost and self.used < len(self.record):
            self.loses(
                f"the neighbour draws less often: {self.used} times, and on the first data set {len(self.record)} times;"
                f" draw {self.used + 1} there is {_told(self.record[self.used].use)}"
            )
        for turn in self.turns:
            if not self.lost and len(turn.given) < len(turn.before.given):
                self.loses(f"{turn.name} is given fewer values on the neighbour")


def _sensitivity(use: Use) -> Fraction | None:
    return None if use.sensitivity is None else rational(use.sensitivity, "sensitivity")


def _identity(use: Use) -> tuple[object, ...]:
    return use.mechanism, _sensitivity(use), use.size, use.rate, use.in_turn


def _told(use: Use) -> str:
    made_for = [] if use.sensitivity is None else [f"sensitivity {_sensitivity(use)}"]
    made_for += [f"up to {use.size} values"] if use.size > 1 else []
    made_for += [] if use.rate is None else [f"a sampling rate of {use.rate}"]
    return f"{use.mechanism!r}" + (f" for {' and '.join(made_for)}" if made_for else "")


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of an exact value; of rows that are not equally long how many there are."""
    try:
        return np.shape(value)
    except ValueError:
        return (len(value),)


def _shaped(shape: tuple[int, ...]) -> str:
    return "one value" if not shape else f"{'×'.join(map(str, shape))} values"
