"""Subjects of `discreet.weights`: what is learned of made-up units in cells, with one less, one more, or another one instead."""

from typing import Any

from discreet.audit.subject import PRICE, Subject, given_in, noisy
from discreet.audit.twins.functions import Draws, compare
from discreet.cells import Categorical
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights import ArrayTable, Domain, independent, quality


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
