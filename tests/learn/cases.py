"""Problems of training for tests: rows, targets and weights of all kinds."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from fractions import Fraction as F
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.learn.people import RowsOfPeople
from discreet.learn.problems import LeastSquares, LinearProblem, Logistic
from discreet.learn.rows import FeatureRows
from discreet.learn.training_plan import Person, TrainingPlan

Array = NDArray[Any]
ODD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-12, 0.0, -0.0, 1e3)


class Telling:
    """A cell whose error would tell of it, however it is read."""

    def __float__(self) -> float:
        raise RuntimeError("17 years old")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("17 years old")

    def __hash__(self) -> int:
        return 1


NO_NUMBERS: list[Any] = [
    *(None, "x", b"x", {}, [2], 10**400, -(10**400), 1j),
    *(Decimal("sNaN"), object(), date(2020, 1, 1), Telling()),
]
"""Cells that are no numbers."""


@contextmanager
def nothing_told() -> Iterator[None]:
    """Any error of the block would tell of a cell."""
    try:
        yield
    except (ArithmeticError, TypeError, ValueError, RuntimeError) as error:
        raise AssertionError("an error tells of a cell") from error


def plan_of(**said: Any) -> TrainingPlan:
    """A plan; Laplace noise where delta is 0."""
    usual = {"epsilon": 1, "delta": F(1, 10**5), "steps": 4, "people": 50}
    return TrainingPlan(**{**usual, **said})


def features(seed: int, rows: int, width: int, odd: float = 0.1) -> Array:
    """Features, some of them far out or no numbers at all."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, width)) * random.choice([0.01, 0.3, 1, 30], (rows, 1))
    where = random.random((rows, width)) < odd
    values[where] = random.choice(ODD, int(where.sum()))
    return values


def problem(kind: str, seed: int, rows: int, plan: TrainingPlan, width: int = 5, odd: float = 0.1) -> LinearProblem:
    """A problem of rows; where the plan uses several rows of a person, of people with one to five rows each."""
    random = np.random.default_rng(seed + 1)
    table = FeatureRows(features(seed, rows, width, odd), plan.shape)
    several = plan.person is not None and plan.person.rows > 1
    ids = np.repeat(np.arange(rows), random.integers(1, 6, rows))[:rows] if several else None
    people = None if ids is None else RowsOfPeople(ids, plan.rows_each)
    if kind == "squares":
        targets = random.standard_normal(rows)
        where = random.random(rows) < odd
        targets[where] = random.choice(ODD, int(where.sum()))
        return LeastSquares(table, targets, plan, people)
    classes = 2 if kind == "binary" else 4
    return Logistic(table, random.integers(-1, classes, rows), classes, plan, people)


KINDS = ("squares", "binary", "many")
PLANS = {
    "rows": {},
    "pure": {"delta": 0},
    "clipped-hard": {"clip": F(1, 1000)},
    "person": {"person": Person()},
    "several-rows": {"person": Person(3)},
    "several-rows-pure": {"person": Person(3), "delta": 0},
    "each-row": {"person": Person(3, each_row=True)},
}
