"""Check a model against the data, privately: one noisy vector of how far off it is in each margin, paid for."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.cells import CellCounts, Ints
from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, sqrt_up
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.measure import Promise
from discreet.privacy import events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights.domain import Mask, UnitTable
from discreet.weights.labels import label
from discreet.weights.model import Learned, count
from discreet.weights.reporting import CountError, MarginError, QualityReport, margins_of, model_counts, report_of

STEPS = 1 << 10
"""Steps of one unit: the model's counts, which are no whole numbers, are compared in these."""


def quality(
    table: UnitTable,
    learned: Learned,
    workload: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    conditions: Sequence[str] = (),
    key: str | None = None,
) -> QualityReport:
    """Measure the error of a model in each margin of a workload, and the counts of conditions, with noise; it is paid for.

    It is (epsilon, delta)-DP under the table's relation. A margin's error is Σ|m − x| over its cells, with m the model's counts, which
    are public, in whole steps. One unit moves x by 1 in each cell that it enters or leaves, so the error by 1 if units come and go,
    and by 2 if one is replaced (triangle inequality); a count of a condition it moves by 1. All of them are one vector.
    """
    domain = learned.model.domain
    margins = margins_of(domain, workload)
    masks = [table.cells(condition, domain.attributes) for condition in conditions]
    if not margins and not masks:
        raise Invalid("there is nothing to measure", hint="name at least one margin, or a condition")
    if not learned.model.total:
        raise Invalid(
            "this model is of nobody, so that no error is a share of anything", hint="learn it at a higher price"
        )
    promise = Promise(positive(epsilon, "epsilon"), nonnegative(delta, "delta"))
    noise, sensitivity = _noise(promise, len(margins), len(masks), cells_moved(table.relation))
    event = events.Under(noise.event(sensitivity), table.relation)
    rounded = [model_counts(learned.model, axes, STEPS) for axes in margins]
    exact = table.counts(domain.attributes)
    looked = _looked(exact, margins, [counts for counts, _ in rounded], masks)
    with table.measure(
        event, label=label("quality", domain, margins, list(conditions)), key=key, promise=promise
    ) as grant:
        released = grant(noise, sensitivity, looked) / STEPS
    reach = noise.error() / STEPS
    errors = [
        _margin(learned, axes, float(error), reach, rounding)
        for axes, error, (_, rounding) in zip(margins, released, rounded, strict=False)
    ]
    counts = [
        CountError(condition, count(learned.model, mask), float(value), reach)
        for condition, mask, value in zip(conditions, masks, released[len(margins) :], strict=True)
    ]
    return report_of(learned, errors, counts, promise)


def _noise(promise: Promise, margins: int, counts: int, moved: int) -> tuple[IntegerNoise, Fraction]:
    """The noise, and how far one unit moves the vector in steps: in L2 with Gaussian noise, in L1 without a δ."""
    if not promise.delta:
        size = Fraction(STEPS * (margins * moved + counts))
        return Geometric(size / promise.epsilon), size
    size = sqrt_up(Fraction(STEPS**2 * (margins * moved**2 + counts)))
    noise = RoundedGaussian.for_budget(*promise, sensitivity=size)
    while not loss(noise.event(size)).certifies(*promise):
        noise = RoundedGaussian(noise.scale * (1 + Fraction(1, 10**9)))
    return noise, size


def _looked(
    exact: Callable[[], CellCounts], margins: Sequence[tuple[int, ...]], models: Sequence[Ints], masks: Sequence[Mask]
) -> Callable[[], Ints]:
    """The exact vector, for a draw: the errors of margins, then the counts of conditions."""

    def vector() -> Ints:
        cells = exact()
        errors = [
            np.abs(model - STEPS * cells.marginal(axes)).sum() for axes, model in zip(margins, models, strict=True)
        ]
        counts = [STEPS * cells.counts[_inside(mask, cells.codes)].sum() for mask in masks]
        return np.array([*errors, *counts], np.int64)

    return vector


def _inside(mask: Mask, codes: Ints) -> Mask:
    """Which rows of codes are in a mask; an axis of length 1 is true or false of all its cells."""
    places = tuple(codes[:, axis] if length > 1 else 0 for axis, length in enumerate(mask.shape))
    inside: Mask = np.broadcast_to(mask[places], len(codes))
    return inside


def _margin(learned: Learned, axes: tuple[int, ...], error: float, reach: float, rounding: float) -> MarginError:
    """A margin's error as it was measured: ± its noise, and what rounding the model's counts to steps may have done."""
    domain, total = learned.model.domain, learned.model.total
    names = tuple(domain.names[axis] for axis in axes)
    cells = learned.model.marginal(axes).size
    low, middle, high = (max(0.0, error + side * (reach + rounding)) / total for side in (-1, 0, 1))
    return MarginError(names, cells, low, high, middle)
