"""Quantiles of rows that lie on a public grid, and intervals around them.

Rows are counted by cell: a cell of the grid is all that rounds to its point. The utility of a cell, for the q-quantile of n rows, is
minus the distance from q·n to the ranks that the cell holds, from the number of rows below it to the number of rows below or in it.
One row more or less moves each of the two differences by q or by 1 − q, so the sensitivity is max(q, 1−q) times the rows of one
unit, under add/remove (Smith 2011, on cells). Cells are equally long. A cell is chosen by the exponential mechanism with exact
probabilities, whatever the counts are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, lcm, log, log1p
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, log_up, nonnegative, positive, probability, rational, shown, whole
from discreet.fields import Exact, Held, frozen, otherwise
from discreet.mechanisms.additive import repeated
from discreet.mechanisms.base import Example, confidence_level, registry
from discreet.mechanisms.falls import Falls
from discreet.mechanisms.selection import ForSensitivity, float_of
from discreet.mechanisms.wheel import Floats, Ints
from discreet.noise import Source
from discreet.noise.source import chosen
from discreet.privacy import events

Shares: TypeAlias = Number | Sequence[Number] | NDArray[np.floating[Any]]

MOST_ROWS = 1 << 42
MOST_DENOMINATOR = 10**6  # of all probabilities together: ranks times it are int64
MOST_CELLS = 1 << 20
FARTHEST = Fraction(1 << 1000)  # so that points and their distances are floats
PLACES = 1 << 18  # about how many parts of cells are looked at for a cut
LEAST_PARTS, MOST_PARTS = 8, 256  # of one cell
BESIDE = 2  # places, one below all rows and one above them


@frozen
class Ranked(ForSensitivity):
    """Quantiles for `probabilities`, on `cells` points from lower to upper, of units that have at most `rows` rows each."""

    epsilon: Exact
    probabilities: Held[Shares, tuple[Fraction, ...]]
    lower: Exact
    upper: Exact
    cells: int = 1001
    rows: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "probabilities", probabilities_of(self.probabilities))
        object.__setattr__(self, "lower", rational(self.lower, "lower"))
        object.__setattr__(self, "upper", rational(self.upper, "upper"))
        object.__setattr__(self, "cells", whole(self.cells, "cells", least=2))
        object.__setattr__(self, "rows", whole(self.rows, "rows", least=1))
        if self.lower >= self.upper:
            raise Invalid(f"lower must be less than upper, got {shown(self.lower)} and {shown(self.upper)}")
        if self.cells > MOST_CELLS:
            raise Invalid(f"cells must be at most {MOST_CELLS}, got {shown(self.cells)}")
        if max(abs(self.lower), abs(self.upper)) > FARTHEST or self.step < 1 / FARTHEST:
            raise Invalid("lower and upper must be floats below 2^1000, and points of the grid at least 2^-1000 apart")

    @property
    def step(self) -> Fraction:
        """The distance from one point of the grid to the next."""
        return (self.upper - self.lower) / (self.cells - 1)

    def counts(self, values: Any) -> Ints:
        """How many of these numbers round to each point of the grid; those outside count at its ends, and NaN nowhere."""
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise Invalid(f"values must be real numbers, got {array.dtype} values")
        real = array.astype(np.float64).ravel()
        with np.errstate(over="ignore"):
            place = np.floor((real[~np.isnan(real)] - float(self.lower)) / float(self.step) + 0.5)
        return np.bincount(np.clip(place, 0, self.cells - 1).astype(np.int64), minlength=self.cells)

    def _counts(self, exact: Any) -> Ints:
        array = np.asarray(exact)
        if array.shape != (self.cells,):
            raise Invalid(
                f"exact must hold the number of rows in each of {self.cells} cells", hint="use counts(values)"
            )
        if array.dtype.kind not in "iu":
            raise Invalid(f"exact must hold integers, got {array.dtype} values")
        if array.min() < 0 or array.max() > MOST_ROWS or int(array.sum(dtype=np.uint64)) > MOST_ROWS:
            raise Invalid("exact must hold counts, which are not negative, of at most 2^42 rows in all")
        return array.astype(np.int64)

    def _value(self, cell: int) -> float:
        return float(self.lower + cell * self.step)

    def _times(self, sensitivity: Number | None) -> Fraction:
        """How many times the declared rows of one unit this is."""
        return Fraction(1) if sensitivity is None else nonnegative(sensitivity, "sensitivity") / self.rows


def probabilities_of(values: object, most: int = MOST_DENOMINATOR) -> tuple[Fraction, ...]:
    """Probabilities that increase, as fractions with a common denominator of at most this."""
    listed = values if isinstance(values, tuple | list | np.ndarray) else (values,)
    shares = tuple(probability(value, "probabilities") for value in listed)
    if not shares or any(late <= early for early, late in pairwise(shares)):
        raise Invalid("probabilities must be one number or several that increase")
    if lcm(*(each.denominator for each in shares)) > most:
        raise Invalid(
            f"probabilities must be fractions with a common denominator of at most {most}",
            hint=f"round them to {len(str(most)) - 1} decimals",
        )
    return shares


def _rate(epsilon: Fraction, share: Fraction, rows: int) -> Fraction:
    """ε/2Δ of one exponential mechanism, Δ = rows · max(q, 1−q)."""
    return epsilon / (2 * rows * max(share, 1 - share))


def _ranks(counts: Ints, parts: int) -> tuple[Ints, Ints]:
    """How many rows lie below each part of each cell, and below or in it; A rows in a cell are spread as floor(A·i/parts)."""
    start = np.cumsum(counts) - counts
    edges = start[:, None] + counts[:, None] * np.arange(parts + 1) // parts
    return edges[:, :-1].ravel(), edges[:, 1:].ravel()


def _gaps(below: Ints, upto: Ints, target: int, by: int) -> Ints:
    """`by` times the distance from target/by to the ranks of each place."""
    return np.maximum(0, np.maximum(by * below - target, target - by * upto))


def _pick(gaps: Ints, rate: Fraction, source: Source) -> int:
    """A place with probability exactly ∝ e^(−rate·gap)."""
    return int(Falls.of(-gaps[None, :], rate).wheel.spin(source)[0])


def _examples() -> list[Example]:
    zero, one, quarters = Fraction(0), Fraction(1), tuple(Fraction(i, 4) for i in (1, 2, 3))
    return [
        Example(Quantiles(one, quarters[1:2], zero, Fraction(4), cells=5), 1, [1, 0, 4, 2, 0], [1, 0, 4, 3, 0]),
        Example(Quantiles(Fraction(2), quarters, zero, one, cells=3), 1, [3, 0, 1], [3, 1, 1]),
        Example(Quantiles(one, quarters[2:], zero, one, cells=4, rows=2), 2, [5, 0, 0, 1], [4, 0, 0, 0]),
    ]


@registry.add(_examples)
class Quantiles(Ranked):
    """Points of the grid near the quantiles of the rows, at a joint cost of ε, from the number of rows in each cell.

    Several are found from the middle outwards (Kaplan, Schnapp and Stemmer 2022): the one in the middle first, at a place that cuts
    the rows in two; those of the lower part from the rows below it alone, those of the upper part from the rows above it. Each row
    is in one part of each level, so the rows of a unit cost in all parts of a level together what they would cost in one, and each
    of the ⌊log2 k⌋ + 1 levels gets an equal share of ε. Rows in the cell that is cut go to both sides in proportion to a place inside
    the cell that is chosen with it: floor(A·φ) of A rows for a released φ, so that one row more is one more on one side, and
    none on the other. At q = 0 and 1 each point below, or above, all rows is a quantile.

    >>> found = Quantiles(1, [0.25, 0.5, 0.75], 0, 100, cells=101)
    >>> found.event(), found.loss().epsilon()
    (Repeated(part=Pure(epsilon=Fraction(1, 2)), times=2), 1.0)
    """

    __slots__ = ()

    @classmethod
    def for_budget(
        cls,
        epsilon: Number,
        delta: Number = 0,
        *,
        sensitivity: Number = 1,
        probabilities: Shares = Fraction(1, 2),
        lower: Number = 0,
        upper: Number = 1,
        cells: int = 1001,
    ) -> "Quantiles":
        """Quantiles that are (epsilon, delta)-DP for units of this many rows; epsilon-DP in fact, delta is not made use of."""
        probability(delta, "delta")
        rows = ceil(positive(sensitivity, "sensitivity"))
        return cls(
            positive(epsilon, "epsilon"), probabilities, rational(lower, "lower"), rational(upper, "upper"), cells, rows
        )

    @property
    def levels(self) -> int:
        """How many levels of cuts there are, each at an equal share of ε: ⌊log2 k⌋ + 1 for k quantiles."""
        return len(self.probabilities).bit_length()

    @property
    def parts(self) -> int:
        """How many parts a cell has, where it is to be cut."""
        return max(LEAST_PARTS, min(MOST_PARTS, PLACES // self.cells))

    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units of this many rows, or of as many as were declared."""
        return repeated(events.Pure(self.epsilon / self.levels * self._times(sensitivity)), self.levels)

    def concentrated(self, sensitivity: Number | None = None) -> events.Event:
        """The release in zCDP, which is counted instead of `event`: each level has bounded range (see `Exponential.concentrated`)."""
        each = self.epsilon / self.levels * self._times(sensitivity)
        return events.ZeroConcentrated(self.levels * each**2 / 8)

    def __call__(self, exact: Any, source: Source | None = None) -> Floats:
        """A float64 array of points, for the number of rows in each cell (int64, one for each point). Anything else is Invalid."""
        counts = self._counts(exact)
        places = self._between(counts, 0, Slice(self.probabilities, Fraction(0), Fraction(1)), chosen(source))
        return np.array([self._value(cell) for cell in places])

    def _between(self, counts: Ints, start: int, span: "Slice", source: Source) -> list[int]:
        """The cells of the wanted quantiles, from the rows that lie between two places; `start` is the first cell."""
        if not span.probabilities:
            return []
        parts = self.parts if len(span.probabilities) > 1 else 1
        place = _pick(*self._middle(counts, span, parts), source)
        cell, part = divmod(place, parts)
        left, right = _cut(counts, cell, Fraction(2 * part + 1, 2 * parts))
        return [
            *self._between(left, start, span.lower, source),
            start + cell,
            *self._between(right, start + cell, span.upper, source),
        ]

    def _middle(self, counts: Ints, part: "Slice", parts: int) -> tuple[Ints, Fraction]:
        """How far every place is from the middle quantile, in units, and what a unit is multiplied with."""
        share = part.share
        by = share.denominator
        gaps = _gaps(*_ranks(counts, parts), share.numerator * int(counts.sum()), by)
        return gaps, _rate(self.epsilon / self.levels, share, self.rows) / by

    def probability(self, output: Any, exact: Any) -> float:
        """Pr[output], points of the grid, given the number of rows in each cell. Slow for more than a few quantiles."""
        cells = [round((rational(value, "output") - self.lower) / self.step) for value in np.ravel(output).tolist()]
        if len(cells) != len(self.probabilities):
            raise Invalid(f"output must hold {len(self.probabilities)} points")
        part = Slice(self.probabilities, Fraction(0), Fraction(1))
        return self._chance(self._counts(exact), cells, part)

    def _chance(self, counts: Ints, cells: list[int], span: "Slice") -> float:
        if not cells:
            return 1.0
        middle = len(cells) // 2
        parts, cell = self.parts if len(cells) > 1 else 1, cells[middle]
        if not 0 <= cell < counts.size:
            return 0.0
        gaps, rate = self._middle(counts, span, parts)
        near = Falls.of(-gaps[None, :], rate).near[0]
        here = near[cell * parts : (cell + 1) * parts] / near.sum()
        if parts == 1:
            return float(here[0])
        cuts = [_cut(counts, cell, Fraction(2 * part + 1, 2 * parts)) for part in range(parts)]
        later = [each - cell for each in cells[middle + 1 :]]
        sides = [
            self._chance(left, cells[:middle], span.lower) * self._chance(right, later, span.upper)
            for left, right in cuts
        ]
        return float(here @ np.array(sides))

    def error(self, confidence: Number = 0.95) -> float:
        """How many rows q·n is from the ranks of the released cell at most, with this confidence, whatever the rows are.

        For one quantile that holds as it is. Of several, errors of the cuts add up on the way, and a cut inside a cell of A
        rows may be off by A/parts more.
        """
        level = confidence_level(confidence)
        miss = (1 - level) / self.levels
        return self._errors(Slice(self.probabilities, Fraction(0), Fraction(1)), miss)

    def _errors(self, part: "Slice", miss: float) -> float:
        if not part.probabilities:
            return 0.0
        several = len(part.probabilities) > 1
        places = self.cells * (self.parts if several else 1)
        rate = _rate(self.epsilon / self.levels, part.share, self.rows)
        own = float_of(Fraction(log(places - 1) + log1p(-miss) - log(miss)) / rate)
        return own + several + max(self._errors(part.lower, miss), self._errors(part.upper, miss))


@dataclass(frozen=True, slots=True)
class Slice:
    """Quantiles that are wanted of the rows between the `low` and the `high` quantile of all."""

    probabilities: tuple[Fraction, ...]
    low: Fraction
    high: Fraction

    @property
    def middle(self) -> Fraction:
        return self.probabilities[len(self.probabilities) // 2]

    @property
    def share(self) -> Fraction:
        """Which quantile of the rows between is the middle one."""
        return (self.middle - self.low) / (self.high - self.low)

    @property
    def lower(self) -> "Slice":
        return Slice(self.probabilities[: len(self.probabilities) // 2], self.low, self.middle)

    @property
    def upper(self) -> "Slice":
        return Slice(self.probabilities[len(self.probabilities) // 2 + 1 :], self.middle, self.high)


def _cut(counts: Ints, cell: int, share: Fraction) -> tuple[Ints, Ints]:
    """The rows up to a place in a cell, and those from there on: floor(A · share) of the A rows of the cell, and the rest."""
    left, right = counts[: cell + 1].copy(), counts[cell:].copy()
    left[cell] = int(counts[cell]) * share.numerator // share.denominator
    right[0] -= left[cell]
    return left, right


def _interval_examples() -> list[Example]:
    zero, one, quarters = Fraction(0), Fraction(1), tuple(Fraction(i, 4) for i in (1, 3))
    return [
        Example(QuantileIntervals(Fraction(8), quarters[:1], zero, one, cells=4), 1, [9, 30, 9, 0], [9, 31, 9, 0]),
        Example(QuantileIntervals(Fraction(50), quarters, zero, one, cells=3), 1, [30, 10, 20], [30, 10, 21]),
    ]


@registry.add(_interval_examples)
@frozen
class QuantileIntervals(Ranked):
    """Two points of the grid for each probability q, with a q-quantile of the rows between them, with at least this confidence.

    The ends are themselves chosen by the exponential mechanism, each at an equal share of ε, for the ranks q·n ∓ t, where t is as
    large as the error of such a choice may be, at half of what the confidence leaves. So the ranks of the lower end begin at q·n at
    most, and those of the upper end reach it. Beside the cells there is a place below all rows and one above them, which are
    released as lower and upper. The error of privacy alone is covered, not that of sampling rows from a population.
    """

    # The first four anew: a frozen heir of a `Held` field is read as what it takes.
    epsilon: Exact
    probabilities: Held[Shares, tuple[Fraction, ...]]
    lower: Exact
    upper: Exact
    confidence: Exact = otherwise(Fraction(19, 20))

    def __post_init__(self) -> None:
        Ranked.__post_init__(self)
        confidence_level(self.confidence)
        object.__setattr__(self, "confidence", rational(self.confidence, "confidence"))

    @property
    def _each(self) -> Fraction:
        return self.epsilon / (2 * len(self.probabilities))

    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units of this many rows, or of as many as were declared."""
        return repeated(events.Pure(self._each * self._times(sensitivity)), 2 * len(self.probabilities))

    def concentrated(self, sensitivity: Number | None = None) -> events.Event:
        """The release in zCDP, which is counted instead of `event`: each end has bounded range (see `Exponential.concentrated`)."""
        each = self._each * self._times(sensitivity)
        return events.ZeroConcentrated(2 * len(self.probabilities) * each**2 / 8)

    def margin(self, q: Fraction) -> int:
        """t, in rows: Pr[a place farther than t is chosen] <= places · e^(−rate·t) <= (1 − confidence)/2."""
        places = self.cells + BESIDE - 1
        return ceil(log_up(places * 2 / (1 - self.confidence)) / _rate(self._each, q, self.rows))

    def __call__(self, exact: Any, source: Source | None = None) -> Floats:
        """An array of a lower and an upper end for each probability, for the number of rows in each cell."""
        counts, bits = self._counts(exact), chosen(source)
        ends = [
            sorted(self._end(counts, q, sign * self.margin(q), bits) for sign in (-1, 1)) for q in self.probabilities
        ]
        return np.array([[self._value(cell) for cell in pair] for pair in ends])

    def _end(self, counts: Ints, q: Fraction, shift: int, source: Source) -> int:
        if abs(shift) > MOST_ROWS:  # more than there are rows: nothing needs to be asked
            return 0 if shift < 0 else self.cells - 1
        place = _pick(self._gaps(counts, q, shift), _rate(self._each, q, self.rows) / q.denominator, source)
        return min(max(place - 1, 0), self.cells - 1)

    def _gaps(self, counts: Ints, q: Fraction, shift: int) -> Ints:
        """The gaps of the place below all rows, of every cell, and of the place above all rows."""
        n, by = int(counts.sum()), q.denominator
        target = q.numerator * n + by * shift
        inside = _gaps(*_ranks(counts, 1), target, by)
        return np.concatenate([[max(0, target)], inside, [max(0, by * n - target)]])

    def error(self, confidence: Number = 0.95) -> float:
        """How many rows the ranks of an end are from q·n at most, with this confidence; the widest of all intervals."""
        level = confidence_level(confidence)
        others = self.cells + BESIDE - 1
        rates = {q: _rate(self._each, q, self.rows) for q in self.probabilities}
        reach = Fraction(log(others) + log(level) - log1p(-level))
        return max(float_of(self.margin(q) + reach / rate) for q, rate in rates.items())
