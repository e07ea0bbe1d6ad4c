"""Subjects of `discreet.weights`: what is learned of made-up units in cells, with one less, one more, or another one instead."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.subject import PRICE, Subject, given_in, noisy
from discreet.audit.twins.functions import Draws, compare
from discreet.cells import Categorical
from discreet.mechanisms.measure import Measure
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights import ArrayTable, Domain, factored, independent, mwem, online, quality

# An online session: its δ, four cells, and questions about one attribute, about both, and about whoever may be there alone.
SESSION_DELTA = 1e-3
FOUR_CELLS = Domain(tuple(Categorical(name, (0, 1), other=False, missing=False) for name in ("ward", "sex")))
FEW_QUESTIONS = ([[True], [False]], [[False, True]], [[False, False], [False, True]])


def of_models() -> list[Subject]:
    """A product of independents and a check of its quality, of made-up units in cells: with one less, and with another one instead."""
    rows = [[0, 0], [0, 1], [1, 1], [2, 0], [1, 0]]
    others = {Adjacency.ADD_REMOVE: rows[1:], Adjacency.REPLACE: [[2, 1], *rows[1:]]}
    return [
        _of_model(Relation(each, Unit.ROW), rows, others[each], delta) for each in Adjacency for delta in (0.0, 1e-3)
    ]


def _of_model(relation: Relation, rows: list[list[int]], others: list[list[int]], delta: float) -> Subject:
    bits = Categorical("sex", ("f", "m"), other=False, missing=False)
    domain = Domain((Categorical("ward", ("A", "B"), missing=False), bits))
    price, small = PRICE / 2, delta / 2

    def run(codes: list[list[int]], draws: Draws) -> Any:
        table = ArrayTable(domain, codes, draws.measure, relation)
        learned = independent(table, epsilon=price, delta=small)
        checked = quality(table, learned, epsilon=price, delta=small)
        return [each.values for each in learned.measured], checked.as_data()

    report = compare(rows, others, run)
    name = f"independent and its quality, {relation}"
    pairs = (given_in(report),)
    return Subject(
        "weights", "independent", name, PRICE, delta, noisy, pairs, many=True, differences=tuple(report.differences)
    )


@dataclass(frozen=True, slots=True)
class _Session:
    """An online session of one kind: its answers to a few questions on four cells, and whether each was free, as numbers."""

    method: str
    start: bool = True

    def asked(self, rows: Any, measure: Measure | None = None) -> list[float]:
        """The questions, one by one, of a table of these rows."""
        table = ArrayTable(FOUR_CELLS, np.asarray(rows, np.int64).reshape(-1, 2), measure)
        options: dict[str, Any] = {"epsilon": PRICE, "delta": SESSION_DELTA, "error": 60, "queries": 3, "updates": 1}
        with online(table, method=self.method, start=self.start, **options) as session:
            answers = [session.count(cells) for cells in FEW_QUESTIONS]
        return [number for each in answers for number in (round(each.value), int(each.free))]

    def twin(self, rows: Any, draws: Draws) -> list[float]:
        """The same with draws of an audit."""
        return self.asked(rows, draws.measure)

    def __call__(self, rows: Any) -> list[float]:
        return self.asked(rows)


def of_sessions() -> list[Subject]:
    """Online sessions with and without a start, on made-up people and one more: twins, and whole runs."""
    rows = [(0, 0)] * 70
    more = [*rows, (1, 1)]
    found = []
    for kind in (_Session("weights"), _Session("weights", start=False)):
        report = compare(rows, more, kind.twin)
        name = f"online session, {kind.method}{'' if kind.start else ' without a start'}"
        found.append(
            Subject(
                "session",
                "OnlineSession",
                name,
                PRICE,
                SESSION_DELTA,
                kind,
                ((rows, more),),
                differences=tuple(report.differences),
            )
        )
    return found


LEARNED_DELTA = 1e-6
OFF = {"start": False, "replay": False, "adaptive": False, "whole": False}
LEARNING: dict[str, dict[str, Any]] = {
    "of residuals": {"delta": LEARNED_DELTA},
    "of residuals, pure": {},
    "of worst marginals": {"delta": LEARNED_DELTA, "rounds": 3},
    "of worst marginals, pure": {"rounds": 3},
    "as in the textbook": {"delta": LEARNED_DELTA, "rounds": 3, **OFF},
    "as in the textbook, pure": {"rounds": 3, **OFF},
}
"""How a histogram is learned by MWEM, in each of its ways."""


def of_histograms() -> list[Subject]:
    """Histograms of made-up units, with and without one of them, or with another in its place: twins of each, and all of their draws."""
    attributes = tuple(
        Categorical(name, tuple(values), other=False) for name, values in (("ward", "AB"), ("smoker", "yn"))
    )
    domain = Domain(attributes)
    rows = [(i % 2, i % 3) for i in range(30)]
    near = {Adjacency.ADD_REMOVE: [*rows, (2, 2)], Adjacency.REPLACE: [*rows[:-1], (2, 2)]}
    found = []
    for name, ways in LEARNING.items():
        for adjacency, others in near.items():

            def run(codes: Any, draws: Draws, ways: Any = ways, adjacency: Adjacency = adjacency) -> Any:
                table = ArrayTable(domain, codes, draws.measure, Relation(adjacency, Unit.ROW))
                return mwem(table, epsilon=PRICE, workload=2, **ways).model.marginal((0, 1))

            report = compare(rows, others, run)
            found.append(
                Subject(
                    "weights",
                    "mwem",
                    f"histogram {name} ({adjacency.value})",
                    PRICE,
                    ways.get("delta", 0.0),
                    noisy,
                    (given_in(report),),
                    many=True,
                    differences=(*report.differences, *(() if report.first.answered else ("it is not learned",))),
                )
            )
    return found


def of_margins() -> list[Subject]:
    """A model of the margins of made-up people, of whom one goes or is replaced: twins of it, and its first draw, before any choice."""
    sizes = {"sex": 2, "ward": 3, "age": 4}
    domain = Domain(tuple(Categorical(name, tuple(range(size)), other=False) for name, size in sizes.items()))
    people = np.stack([np.arange(300) % 2, np.arange(300) % 3, np.arange(300) // 2 % 3], axis=1)
    others = {Adjacency.ADD_REMOVE: people[1:], Adjacency.REPLACE: np.vstack([people[1:], [[2, 3, 4]]])}
    return [_of_margins(domain, people, other, Relation(adjacency, Unit.ROW)) for adjacency, other in others.items()]


def _of_margins(domain: Domain, people: Any, other: Any, relation: Relation) -> Subject:
    def learned(codes: Any, draws: Draws) -> Any:
        table = ArrayTable(domain, codes, draws.measure, relation)
        found = factored(table, None, epsilon=PRICE, delta=LEARNED_DELTA)
        return [each.values for each in found.measured], [each.chosen for each in found.rounds], found.model.total

    report = compare(people, other, learned)
    first, second = (given[:1] for given in given_in(report))
    name = f"model of margins, {relation}"
    pairs = ((first, second),)
    differences = report.differences
    return Subject("weights", "factored", name, PRICE, LEARNED_DELTA, noisy, pairs, many=True, differences=differences)
