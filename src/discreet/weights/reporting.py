"""The quality of a model: how far its counts are off, in each margin of a workload, as a share of all units.

`report` takes what is known from the noisy marginals that a model was made of, which is free. `quality` (in `checking`) asks the data
again, and pays for it. Either is a record, which is a text, data for a program, and a page with pictures.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, prod, sqrt
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.mechanisms.measure import Promise
from discreet.privacy import Relation, Unit
from discreet.weights.domain import Domain
from discreet.weights.model import Floats, Learned, Model, NoisyMarginal, Round
from discreet.weights.noise_reach import NoiseReach

MOST_CELLS = 1 << 22
"""Cells of a margin that is looked at."""

PAIRS = 2
"""Attributes of the largest margins, where no workload is said."""


@dataclass(frozen=True, slots=True)
class MarginError:
    """How far a model is off in one margin: the differences of all its counts, added up, over the number of units.

    It lies from `low` to `high` with probability 95 %. `high` is None where nothing was measured that tells. `error` is there where it
    was measured itself, which was paid for.
    """

    names: tuple[str, ...]
    cells: int
    low: float
    high: float | None
    error: float | None = None

    def as_data(self) -> dict[str, Any]:
        """The error as JSON can hold it."""
        return {
            "margin": list(self.names),
            "cells": self.cells,
            "error": self.error,
            "low": self.low,
            "high": self.high,
            "paid": self.error is not None,
        }


@dataclass(frozen=True, slots=True)
class CountError:
    """A count of those for whom a condition is true: as the model has it, and as it was measured, ± at 95 %."""

    condition: str
    model: float
    measured: float
    error: float

    def as_data(self) -> dict[str, Any]:
        """The count as JSON can hold it."""
        return {"condition": self.condition, "model": self.model, "measured": self.measured, "error": self.error}


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """The counts of one attribute: as the model has them, and where they were measured as they were, ± at 95 %."""

    name: str
    labels: tuple[str, ...]
    model: tuple[float, ...]
    measured: tuple[float, ...] | None = None
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What is known of a model, and what that cost. It tells of released values only."""

    domain: Domain
    total: float
    relation: Relation
    promise: Promise
    paid: Promise | None
    margins: tuple[MarginError, ...]
    counts: tuple[CountError, ...]
    attributes: tuple[AttributeCounts, ...]
    rounds: tuple[Round, ...]

    @property
    def units(self) -> str:
        """Who the counts are of."""
        return "rows" if self.relation.unit is Unit.ROW else "people"

    def margin(self, *names: str) -> MarginError | None:
        """The error of the margin of these attributes, in any order; None where it is not in the report."""
        return next((each for each in self.margins if sorted(each.names) == sorted(names)), None)

    def as_data(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        return {
            "total": self.total,
            "cells": self.domain.size,
            "relation": str(self.relation),
            "epsilon": float(self.promise.epsilon),
            "delta": float(self.promise.delta),
            "paid": None
            if self.paid is None
            else {"epsilon": float(self.paid.epsilon), "delta": float(self.paid.delta)},
            "margins": [each.as_data() for each in self.margins],
            "counts": [each.as_data() for each in self.counts],
        }

    def to_html(self) -> str:
        """A page with pictures, in one file that fetches nothing."""
        from discreet.weights.page import page_of

        return page_of(self)

    def __str__(self) -> str:
        from discreet.weights.wording import text_of

        return text_of(self)


def report(learned: Learned, workload: Any = None) -> QualityReport:
    """What the noisy marginals that a model was made of tell of its error, for free.

    `workload` is how many attributes margins have at most (2), or a list of margins, each by the names of its attributes.
    """
    margins = [_known(learned, axes) for axes in margins_of(learned.model.domain, workload)]
    return report_of(learned, margins)


def report_of(
    learned: Learned,
    margins: Iterable[MarginError],
    counts: Iterable[CountError] = (),
    paid: Promise | None = None,
) -> QualityReport:
    """The report of a model with these errors."""
    model = learned.model
    return QualityReport(
        model.domain,
        model.total,
        learned.relation,
        learned.promise,
        paid,
        tuple(margins),
        tuple(counts),
        tuple(_of_attribute(learned, axis) for axis in range(len(model.domain.shape))),
        tuple(learned.rounds),
    )


def margins_of(domain: Domain, workload: Any = None) -> tuple[tuple[int, ...], ...]:
    """The margins of a workload, each by its axes; Invalid for one that is none, or that has too many cells."""
    if workload is None or isinstance(workload, int):
        most = PAIRS if workload is None else whole(workload, "workload", least=1)
        count = len(domain.shape)
        found = [axes for k in range(1, min(most, count) + 1) for axes in combinations(range(count), k)]
        return tuple(axes for axes in found if _cells(domain, axes) <= MOST_CELLS)
    axes_of = tuple(_axes(domain, each) for each in workload)
    for axes in axes_of:
        if _cells(domain, axes) > MOST_CELLS:
            raise Invalid(
                f"the margin of {', '.join(domain.names[axis] for axis in axes)} has {_cells(domain, axes):,} cells;"
                f" {MOST_CELLS:,} are the most",
                hint="leave an attribute out of it, or give its attributes fewer cells",
            )
    return axes_of


def _axes(domain: Domain, names: Any) -> tuple[int, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable) or not (several := tuple(names)):
        raise Invalid(f"a margin must be a tuple of names of attributes, got {shown(names)}")
    if len(set(several)) < len(several):
        raise Invalid(f"a margin has an attribute twice: {shown(several)}")
    return domain.axes(several)


def _cells(domain: Domain, axes: Sequence[int]) -> int:
    return prod(domain.shape[axis] for axis in axes)


def _known(learned: Learned, axes: tuple[int, ...]) -> MarginError:
    """The bounds on the error of a margin that follow from the most precise measurement that covers it."""
    domain = learned.model.domain
    names, cells = tuple(domain.names[axis] for axis in axes), _cells(domain, axes)
    found = _measurement(learned, axes)
    if found is None or not learned.model.total:
        return MarginError(names, cells, 0.0, None)
    values, reach = found
    apart, noise = float(np.abs(learned.model.marginal(axes) - values).sum()), reach.of_all
    return MarginError(names, cells, *(max(0.0, each) / learned.model.total for each in (apart - noise, apart + noise)))


def _measurement(learned: Learned, axes: tuple[int, ...]) -> tuple[Floats, NoiseReach] | None:
    """What was measured of a margin, itself or as a part of a larger one: that with the least noise, whatever it says."""
    best, least = None, inf
    for each in _marginals(learned):
        if set(axes) <= set(each.axes) and (deviation := _summed(each, _cells(learned.model.domain, axes))) < least:
            best, least = each, deviation
    if best is None:
        return None
    rest = tuple(place for place, axis in enumerate(best.axes) if axis not in axes)
    inner = [axis for axis in best.axes if axis in axes]
    values: Floats = best.values.sum(axis=rest).transpose([inner.index(axis) for axis in axes])
    spread = None if best.spread is None else best.spread * sqrt(best.values.size // values.size)
    return values, NoiseReach(least, values.size, bool(learned.promise.delta), spread)


def _summed(measured: NoisyMarginal, cells: int) -> float:
    """The deviation of each count of a marginal that is summed up to so many cells; a bound where the noise of cells goes together."""
    merged = measured.values.size // cells
    each = measured.deviation if merged == 1 or measured.spread is None else measured.spread
    return each * sqrt(merged)


def _marginals(learned: Learned) -> Iterator[NoisyMarginal]:
    """What was measured of whole marginals; there may be single queries beside them."""
    return (each for each in learned.measured if isinstance(each, NoisyMarginal))


def _of_attribute(learned: Learned, axis: int) -> AttributeCounts:
    attribute = learned.model.domain.attributes[axis]
    counts = tuple(learned.model.marginal((axis,)).tolist())
    found = _measurement(learned, (axis,))
    if found is None:
        return AttributeCounts(attribute.name, attribute.labels, counts)
    values, reach = found
    return AttributeCounts(attribute.name, attribute.labels, counts, tuple(values.tolist()), reach.of_one)


def model_counts(model: Model, axes: Sequence[int], steps: int) -> "tuple[np.ndarray[Any, Any], float]":
    """The counts of a model in whole steps of a unit, which are public, and how far rounding moves them in all, in units."""
    counts = model.marginal(axes) * steps
    rounded = np.rint(counts).astype(np.int64)
    return rounded, float(np.abs(counts - rounded).sum()) / steps
