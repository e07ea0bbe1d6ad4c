"""Laws of workloads: the answers of every kind of query are those of the slow obvious way, on models and on exact counts."""

from math import comb

import numpy as np
import pytest

from discreet.cells import CellCounts
from discreet.errors import Invalid
from discreet.noise import Tape
from discreet.weights.histogram import Histogram
from discreet.weights.workload import STEPS, Workload
from tests.weights.tables import domain

SHAPE = (2, 4, 3)
DOMAIN = domain(SHAPE)
RANDOM = np.random.default_rng(0)
WEIGHTS = [RANDOM.random((2, 1, 3)), RANDOM.random((1, 4, 1)), np.full((1, 1, 1), 0.5)]
MASKS = [RANDOM.random((2, 4, 1)) < 0.5, RANDOM.random((1, 4, 1)) < 0.5, np.ones((1, 1, 1), bool)]


def kinds() -> dict[str, Workload]:
    """A workload of every kind, made anew."""
    return {
        "margins-1": Workload.margins(DOMAIN, 1),
        "margins-2": Workload.margins(DOMAIN, 2),
        "margins-9": Workload.margins(DOMAIN, 9),
        "named": Workload.named(DOMAIN, [["a2", "a0"], ["a1"]]),
        "ranges": Workload.ranges(DOMAIN, "a1"),
        "prefixes": Workload.prefixes(DOMAIN, "a1"),
        "predicates": Workload.predicates(DOMAIN, 40, 2, Tape(1)),
        "masks": Workload.listed(DOMAIN, MASKS),
        "weights": Workload.listed(DOMAIN, WEIGHTS),
        "sum": Workload.listed(DOMAIN, WEIGHTS) + Workload.ranges(DOMAIN, "a1") + Workload.margins(DOMAIN, 2),
    }


KINDS = kinds()


def rows(workload: Workload) -> list[np.ndarray]:
    """Each query as steps over all cells."""
    found = []
    for number in range(len(workload)):
        group, place = workload.at(number)
        steps = group.row(workload.domain, place) * (workload.unit if group.steps is None else 1)
        found.append(np.broadcast_to(steps, SHAPE))
    return found


def answers_are_sums_of_weights() -> None:
    cells = np.random.default_rng(1).integers(0, 50, SHAPE)
    cells[0] = 0
    codes = np.argwhere(cells)
    counts = CellCounts(SHAPE, codes, cells[tuple(codes.T)])
    model = Histogram(DOMAIN, np.random.default_rng(2).random(SHAPE), 321.0)
    for name, workload in kinds().items():
        slow = np.array([(row * cells).sum() for row in rows(workload)])
        assert workload.exact(counts).dtype == np.int64
        assert (workload.exact(counts) == slow).all(), name
        assert (workload.steps(cells) == slow).all(), name
        expected = np.array([(row * model.weights).sum() for row in rows(workload)]) * model.total / workload.unit
        assert np.allclose(workload.answers(model), expected), name


def test_answers_are_sums_of_weights() -> None:
    answers_are_sums_of_weights()


def one_unit_moves_a_query_by_at_most_its_unit() -> None:
    for name, workload in kinds().items():
        for row in rows(workload):
            assert row.min() >= 0 and row.max() <= workload.unit, name


def test_one_unit_moves_a_query_by_at_most_its_unit() -> None:
    one_unit_moves_a_query_by_at_most_its_unit()


def workloads_have_the_queries_that_they_are_named_for() -> None:
    assert len(KINDS["margins-1"]) == 9 and len(KINDS["margins-2"]) == 8 + 6 + 12 and len(KINDS["margins-9"]) == 24
    assert KINDS["named"].axes == ((0, 2), (1,)) and KINDS["named"].whole
    ranges = {tuple(np.flatnonzero(row[0, :, 0])) for row in rows(kinds()["ranges"])}
    assert ranges == {tuple(range(a, b)) for a in range(4) for b in range(a + 1, 5)}
    assert len(KINDS["ranges"]) == comb(4, 2) + 4
    prefixes = {tuple(np.flatnonzero(row[0, :, 0])) for row in rows(KINDS["prefixes"])}
    assert prefixes == {tuple(range(b)) for b in range(1, 5)}
    assert len(KINDS["predicates"]) == 40 and not KINDS["predicates"].whole


def test_workloads_have_the_queries_that_they_are_named_for() -> None:
    workloads_have_the_queries_that_they_are_named_for()


def test_lists_are_as_they_were_given() -> None:
    for row, mask in zip(
        sorted(map(np.ndarray.tolist, rows(KINDS["masks"]))),
        sorted(np.broadcast_to(mask, SHAPE).astype(int).tolist() for mask in MASKS),
        strict=True,
    ):
        assert row == mask
    for row, weight in zip(rows(KINDS["weights"]), WEIGHTS, strict=True):
        assert np.abs(row / STEPS - weight).max() <= 0.5 / STEPS


@pytest.mark.parametrize(
    "queries",
    [
        [],
        [np.full((1, 1, 1), 1.5)],
        [np.full((1, 1, 1), -0.1)],
        [np.ones((2, 2, 2), bool)],
        [np.array("x")],
        [np.full((1, 1, 1), np.nan)],
    ],
)
def test_what_is_no_query_is_refused(queries: list[np.ndarray]) -> None:
    with pytest.raises(Invalid):
        Workload.listed(DOMAIN, queries)


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(Invalid, match="no attribute"):
        Workload.ranges(DOMAIN, "b")
    with pytest.raises(Invalid, match="different domains"):
        Workload.ranges(DOMAIN, "a1") + Workload.prefixes(domain((2, 2)), "a1")
    with pytest.raises(Invalid, match="no such query"):
        KINDS["ranges"].at(10)
    with pytest.raises(Invalid):
        Workload.margins(DOMAIN, 0)
    with pytest.raises(Invalid, match="room for"):
        Workload.ranges(domain((2000,)), "a0")
