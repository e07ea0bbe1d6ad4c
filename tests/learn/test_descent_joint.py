"""The joint law of all sums that a descent releases, with every draw and every batch made in every way: it costs what the plan says.

Gradients are those of real problems, on a grid whose step is the clip, so that noise can be listed; the plan is calibrated for that grid.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet.audit.enumeration import Exact, exact
from discreet.audit.joint import Draws, Joint
from discreet.learn import Descent, FeatureRows, LeastSquares, Logistic, TrainingPlan, descend, training_plan
from discreet.learn.checkpoint import MemoryCheckpoint
from discreet.learn.problems import LinearProblem
from discreet.learn.training_plan import STEPS_OF_CLIP
from discreet.mechanisms import Geometric
from discreet.privacy import Adjacency, loss
from tests.scale import SCALE

NEAR = 1e-9
STEPS = 1
"""Of the clip, on the grid of these tests."""

Row = tuple[int, int]
Data = tuple[Row, ...]
ROWS: tuple[Row, ...] = ((1, 1), (1, 0), (-1, 1))
"""A feature and a target; for least squares targets are so far off that gradients are clipped, but for the second row."""


@contextmanager
def coarse() -> Iterator[None]:
    """Plans that are made here are for sums on the coarse grid."""
    with mock.patch.object(training_plan, "STEPS_OF_CLIP", STEPS):
        yield


@dataclass
class Coarse:
    """A problem whose gradients are truncated to the coarse grid, unit by unit: none is longer than it was.

    `known` remembers them for the runs of one enumeration.
    """

    fine: LinearProblem
    data: Data
    known: dict[Any, Any]

    @property
    def plan(self) -> TrainingPlan:
        return self.fine.plan

    @property
    def shape(self) -> tuple[int, ...]:
        return self.fine.shape

    @property
    def units(self) -> int:
        return self.fine.units

    def clipped(self, weights: Any, batch: Any) -> Any:
        total = np.zeros(self.shape, np.int64)
        for unit in np.arange(self.units)[batch]:
            place = self.data[unit], weights.tobytes()
            if place not in self.known:
                steps = self.fine.clipped(weights, np.array([unit])) * STEPS / (STEPS_OF_CLIP * (1 - 1e-4))
                self.known[place] = np.trunc(steps).astype(np.int64)
            total += self.known[place]
        return total


def plan_of(**said: Any) -> TrainingPlan:
    usual: dict[str, Any] = {"epsilon": 6, "steps": 2, "people": 1, "clip": F(1, 4), "block": 1}
    return TrainingPlan(**{**usual, **said})


def problem(kind: str, data: Data, plan: TrainingPlan, known: dict[Any, Any]) -> Coarse:
    rows = FeatureRows(np.array([[row[0]] for row in data], float).reshape(-1, 1), plan.shape)
    labels = np.array([row[1] for row in data], np.int64)
    if kind == "squares":
        return Coarse(LeastSquares(rows, 9.0 * labels, plan), data, known)
    return Coarse(Logistic(rows, labels, 2, plan), data, known)


def descent(plan: TrainingPlan, kind: str = "squares") -> Any:
    """A program: all weights on the way, which are all that is published."""
    known: dict[Any, Any] = {}

    def run(data: Data, draws: Draws) -> Any:
        found = descend(problem(kind, data, plan, known), plan, Descent(rate=1 / 2), measure=draws.measure)
        return [each.tolist() for each in found.path]

    return run


def neighbours(adjacency: str, most: int = 1) -> Iterator[tuple[Data, Data]]:
    """All data of up to so many rows, with one more, or with one exchanged."""
    for n in range(most + 1):
        for data in combinations_with_replacement(ROWS, n):
            for row in ROWS:
                if adjacency == "add-remove":
                    yield data, (*data, row)
                elif row != ROWS[0]:
                    yield (*data, ROWS[0]), (*data, row)


def tried(plan: TrainingPlan) -> list[tuple[Data, Data]]:
    """Data of up to one row, and one more; with batches, of which there are many, fewer of these."""
    if plan.rate == 1 or SCALE > 1:
        return list(neighbours(plan.adjacency.value))
    return [*neighbours(plan.adjacency.value, 0), (((1, 0),), ((1, 0), (1, 1)))]


def costs(found: Exact, price: float) -> None:
    assert found.epsilon().low <= price + NEAR
    assert found.hidden < 0.1 and found.epsilon(found.hidden).high <= price + NEAR


WAYS: dict[str, dict[str, Any]] = {
    "one step": {"steps": 1, "epsilon": 3},
    "two steps": {},
    "one step, sampled": {"steps": 1, "epsilon": 3, "rate": F(1, 2)},
    "two steps, sampled": {"rate": F(1, 2)},
    "one step, sampled seldom": {"steps": 1, "rate": F(1, 5), "epsilon": 3},
    "replaced": {"adjacency": "replace", "epsilon": 12},
}


def descents_cost_what_their_plan_says(way: str, kind: str = "squares", reach: int = 3) -> None:
    """And nearly all of it, where somebody is alone whose gradient is clipped in each step."""
    with coarse():
        plan = plan_of(**WAYS[way])
        price = float(plan.epsilon)
        assert price - 0.01 < loss(plan.event).epsilon() <= price + NEAR
        costs(exact(Joint(descent(plan, kind), reach=reach), tried(plan)), price)
        alone = ((), ((1, 1),)) if plan.adjacency is Adjacency.ADD_REMOVE else (((1, 1),), ((-1, 1),))
        assert exact(Joint(descent(plan, kind), reach=3), [alone]).epsilon().low > 0.99 * price


@pytest.mark.parametrize("way", WAYS)
def test_descents_cost_what_their_plan_says(way: str) -> None:
    descents_cost_what_their_plan_says(way)


def test_logistic_descents_cost_what_their_plan_says() -> None:
    descents_cost_what_their_plan_says("two steps", "logistic")


class Kill(Exception):
    """A run ends."""


def killed(plan: TrainingPlan, after: int) -> Any:
    """A program that is killed after so many steps, and goes on from its last checkpoint under its key."""
    known: dict[Any, Any] = {}

    def run(data: Data, draws: Draws) -> Any:
        keeper, seen = MemoryCheckpoint(), []

        def entry(last: int | None) -> Any:
            def progress(made: int) -> None:
                if made == last:
                    raise Kill

            told = {"measure": draws.measure, "key": "k", "keeper": keeper, "progress": progress}
            return descend(problem("squares", data, plan, known), plan, Descent(rate=1 / 2), **told)

        try:
            entry(after)
        except Kill:
            seen.append("killed")
        return seen, [each.tolist() for each in entry(None).path]

    return run


def kills_cost_nothing_more() -> None:
    """The block in which a run was killed is taken, whatever became of it."""
    with coarse():
        for rate in (F(1), F(1, 2)):
            plan = plan_of(rate=rate)
            for after in (1, 2):
                costs(exact(Joint(killed(plan, after), reach=3), list(neighbours("add-remove", 0))[: 3 * SCALE - 2]), 6)


def test_kills_cost_nothing_more() -> None:
    kills_cost_nothing_more()


# Batches, as they are enumerated.


def batches_are_enumerated_and_not_seen() -> None:
    """The sum of a batch has the law that it has over all batches, by fractions."""
    rate = F(1, 3)
    noise = Geometric(F(1, 2))

    def run(data: tuple[int, ...], draws: Draws) -> Any:
        return draws.sampled(noise, 1, lambda batch: int(np.array(data)[batch].sum()), rate=rate, among=len(data))

    law = Joint(run, reach=4).law((1, 2))
    alone = {total: Joint(lambda data, draws: draws(noise, 1, lambda: data), reach=9).law(total) for total in range(4)}
    weights = {0: F(4, 9), 1: F(2, 9), 2: F(2, 9), 3: F(1, 9)}
    checked = 0
    for seen, chance in law.chances.items():
        if not seen.lump:
            parts = [
                (weight, each.chances[other])
                for total, weight in weights.items()
                for each in [alone[total]]
                for other in each.chances
                if other.drawn == seen.drawn and not other.lump
            ]
            assert len(parts) == 4
            low, high = (sum(weight * getattr(each, end) for weight, each in parts) for end in ("low", "high"))
            assert chance.low <= high and low <= chance.high and chance.high - chance.low < F(1, 10**9)
            checked += 1
    assert checked == 9


def test_batches_are_enumerated_and_not_seen() -> None:
    batches_are_enumerated_and_not_seen()
