"""The joint law of MWEM, enumerated on tiny domains: what is promised is kept, also by whoever is killed in between; and bugs are found."""

from collections.abc import Callable, Iterator
from fractions import Fraction as F
from typing import Any
from unittest import mock

import pytest

from discreet.audit.enumeration import Exact, exact
from discreet.audit.joint import Joint
from discreet.privacy import Relation
from discreet.weights import residual_start
from discreet.weights.arrays import ArrayTable
from discreet.weights.histogram_learning import mwem
from discreet.weights.workload import Workload
from tests.weights.tables import ADDED, RELATIONS, REPLACED, Rows, codes, domain, neighbours

NEAR = 1e-9
SHAPE = (2,)
OFF: dict[str, Any] = {"start": False, "replay": False, "adaptive": False, "whole": False}
PURE: dict[str, dict[str, Any]] = {
    "one-round": {"epsilon": 9, "rounds": 1, **OFF},
    "two-rounds": {"epsilon": 24, "rounds": 2, **OFF},
    "whole": {"epsilon": 12, "rounds": 1, "start": False},
    "start": {"epsilon": 9, "rounds": 0},
    "start-and-round": {"epsilon": 18, "rounds": 1, "whole": False},
}
APPROXIMATE: dict[str, dict[str, Any]] = {
    "residuals": {"epsilon": 16, "delta": F(1, 100)},
    "one-round": {"epsilon": 24, "delta": F(1, 100), "rounds": 1, **OFF},
    "whole": {"epsilon": 24, "delta": F(1, 100), "rounds": 1, "start": False},
}
"""Prices so large that noise is small and its window holds nearly all of it. For the same reason a third of each is for the size."""


def program(switches: dict[str, Any], relation: Relation, shape: tuple[int, ...] = SHAPE) -> Callable[..., Any]:
    def run(rows: Rows, draws: Any) -> Any:
        table = ArrayTable(domain(shape), codes(rows, shape), draws.measure, relation)
        with mock.patch.object(residual_start, "SIZE_SHARE", F(1, 3)):
            return mwem(table, **{"workload": 1, **switches}).model.weights.tolist()

    return run


def pairs(relation: Relation) -> Iterator[tuple[Rows, Rows]]:
    return neighbours(SHAPE, relation, 0 if relation is ADDED else 1)


def keeps(found: Exact, epsilon: float, delta: float) -> None:
    """Nothing that is certain contradicts the promise; with what lies outside of windows as a part of δ it is shown to hold."""
    assert found.hidden < 0.05
    assert found.delta(epsilon).low <= delta + NEAR
    assert found.epsilon(found.hidden + F(delta)).high <= epsilon + NEAR


PURE_CASES = [
    *((name, relation, None) for name in ("one-round", "whole", "start") for relation in RELATIONS),
    ("start-and-round", REPLACED, None),
    ("two-rounds", REPLACED, None),
    *(("one-round", ADDED, stop) for stop in (1, 2, 3)),
    ("start", ADDED, 1),
]


def pure_promises_are_kept(cases: list[tuple[str, Relation, int | None]] | None = None) -> None:
    for name, relation, stop in cases or PURE_CASES[:6]:
        found = exact(Joint(program(PURE[name], relation), reach=2, stop=stop), pairs(relation))
        keeps(found, PURE[name]["epsilon"], 0)
        assert found.epsilon().low <= PURE[name]["epsilon"] + NEAR


@pytest.mark.parametrize("case", PURE_CASES, ids=str)
def test_pure_promises_are_kept(case: tuple[str, Relation, int | None]) -> None:
    """Also of whoever is killed after a draw, and enters again."""
    pure_promises_are_kept([case])


APPROXIMATE_CASES = [
    ("residuals", ADDED, None),
    ("one-round", REPLACED, None),
    ("one-round", REPLACED, 2),
]


def approximate_promises_are_kept(cases: list[tuple[str, Relation, int | None]] | None = None) -> None:
    for name, relation, stop in cases or APPROXIMATE_CASES[:3]:
        found = exact(Joint(program(APPROXIMATE[name], relation), reach=2, stop=stop), pairs(relation))
        keeps(found, APPROXIMATE[name]["epsilon"], float(APPROXIMATE[name]["delta"]))


@pytest.mark.parametrize("case", APPROXIMATE_CASES, ids=str)
def test_approximate_promises_are_kept(case: tuple[str, Relation, int | None]) -> None:
    approximate_promises_are_kept([case])


def prices_are_attained() -> None:
    """A start without rounds spends all of its ε on a table's neighbour: no smaller promise would hold."""
    switches = PURE["start"]
    found = exact(Joint(program(switches, ADDED), reach=2), pairs(ADDED))
    assert found.epsilon().low > 0.99 * switches["epsilon"]


def test_prices_are_attained() -> None:
    prices_are_attained()


def support_is_the_same_on_neighbours() -> None:
    """Whatever may be released of one table may be released of its neighbour: at no ε is any output impossible."""
    for switches in (PURE["one-round"], PURE["start"], APPROXIMATE["residuals"]):
        for x, y in pairs(ADDED):
            one, other = Joint(program(switches, ADDED), reach=1).laws(x, y)
            assert one.chances.keys() == other.chances.keys()


def test_support_is_the_same_on_neighbours() -> None:
    support_is_the_same_on_neighbours()


def test_three_cells_and_ranges_keep_their_promise() -> None:
    shape = (3,)
    asked = {"epsilon": 12, "rounds": 1, "workload": Workload.ranges(domain(shape), "a0"), **OFF}
    found = exact(Joint(program(asked, ADDED, shape), reach=1), neighbours(shape, ADDED, 0))
    keeps(found, 12, 0)
