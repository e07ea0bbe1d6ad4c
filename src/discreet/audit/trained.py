"""Subjects of `discreet.learn`: descents on a few made-up rows, with one more, or with another one instead."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.neighbours import Pair
from discreet.audit.subject import PRICE, Subject, given_in, noisy
from discreet.audit.twins.functions import Draws, compare
from discreet.audit.twins.report import Report
from discreet.learn import Descent, FeatureRows, LeastSquares, TrainingPlan, descend
from discreet.mechanisms.measure import Grant, Measure, unmetered
from discreet.privacy import Adjacency
from discreet.privacy.events import Event

TRAINED_DELTA = 1e-3
ROWS = [[0.5, 0.5, 1.0], [-0.5, 0.5, -1.0], [0.0, 1.0, -1e9]]
"""Two features and a target; the gradient of the last one is clipped in each step."""

LAST = [0.0, 1.0, 1e9]
"""Somebody whose gradient is clipped as well, and points the other way."""

WAYS: dict[str, dict[str, Any]] = {
    "full batches": {"delta": TRAINED_DELTA},
    "full batches, pure": {},
}


@dataclass(frozen=True, slots=True)
class TinyDescent:
    """A descent of two steps on a few rows: all weights on the way, as numbers."""

    plan: TrainingPlan

    def trained(self, rows: Any, measure: Measure | None = None) -> list[float]:
        """The path on these rows."""
        table = np.asarray(rows, np.float64).reshape(-1, 3)
        problem = LeastSquares(FeatureRows(table[:, :2], self.plan.shape), table[:, 2], self.plan)
        found = descend(problem, self.plan, Descent(rate=0.1), measure=measure)
        return [float(each) for weights in found.path for each in weights.flat]

    def twin(self, rows: Any, draws: Draws) -> list[float]:
        """The same with draws of an audit."""
        return self.trained(rows, draws.measure)

    def __call__(self, rows: Any) -> list[float]:
        return self.trained(rows, _again)


def _again(event: Event, **said: Any) -> AbstractContextManager[Grant]:
    """A measure for one run of many: their twins have checked the promise, which takes longer than the run itself."""
    return unmetered()(event, **{**said, "promise": None})


def tiny(**said: Any) -> TinyDescent:
    """A descent at the price that subjects are asked for."""
    return TinyDescent(TrainingPlan(epsilon=PRICE, steps=2, people=4, **said))


def of_training() -> list[Subject]:
    """Twins of descents and all that they drew; with batches, which twins have alike on both sides, whole runs as well."""
    near = {Adjacency.ADD_REMOVE: [*ROWS, LAST], Adjacency.REPLACE: [*ROWS[:-1], LAST]}
    found = [
        _of_draws(f"{name} ({adjacency.value})", tiny(adjacency=adjacency, **ways), others)
        for name, ways in WAYS.items()
        for adjacency, others in near.items()
    ]
    return [*found, _of_runs(tiny(delta=TRAINED_DELTA, rate=Fraction(1, 2)))]


def _of_draws(name: str, kind: TinyDescent, others: Any) -> Subject:
    report = compare(ROWS, others, kind.twin)
    pairs = (given_in(report),)
    return _subject("descend", name, kind, noisy, pairs, report, many=True)


def _of_runs(kind: TinyDescent) -> Subject:
    """One person more is alone, in half of the batches."""
    pair: Pair = [], [LAST]
    return _subject("Sampled", "sampled", kind, kind, (pair,), compare(*pair, kind.twin))


def _subject(
    kind: str, name: str, what: TinyDescent, mechanism: Any, pairs: tuple[Pair, ...], report: Report, many: bool = False
) -> Subject:
    """Of whatever is sampled; what twins have told apart counts, and a descent that ends with an error is none."""
    told = (*report.differences, *(() if report.first.answered else (f"it is not trained: {report.first.body}",)))
    delta = float(what.plan.delta)
    return Subject("training", kind, f"descent, {name}", PRICE, delta, mechanism, pairs, many, told)
