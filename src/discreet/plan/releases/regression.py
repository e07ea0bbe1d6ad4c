"""REGR_SLOPE, REGR_INTERCEPT, REGR_R2, REGR_COUNT, REGR_AVGX and REGR_AVGY: the line of least squares of y on x, as SQL has it, y first.

The slope is C/V_x of the pairs, and the intercept mean(y) − slope · mean(x). Both may be anything: a slope of values that may all be alike
has no ends. REGR_R2 is the square of the correlation. REGR_COUNT counts the pairs, and the means are of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from discreet.plan.affine import Reals, Span
from discreet.plan.draws import likely
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Number, Release, of_two_numbers, registry
from discreet.plan.releases.covariance import Correlation, both, correlation_of, exact_numbers
from discreet.plan.releases.mean import Mean, mean_of
from discreet.plan.releases.terms import MeasuredTerms, parts_of
from discreet.plan.releases.total import Total
from discreet.plan.releases.variance import evenly_spread, in_units, known_totals

if TYPE_CHECKING:
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan

SIGNIFICANT = 10
"""Digits of what has no bounds."""


@registry.add
@dataclass(frozen=True, slots=True)
class Slope(Kind):
    """The slope of the line of least squares."""

    name = "slope"
    calls = ("REGR_SLOPE",)
    word = "REGR_SLOPE"
    heading = "regr_slope"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_SLOPE, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Line":
        return _line(aggregate, terms, self.word, intercept=False)


@registry.add
@dataclass(frozen=True, slots=True)
class Intercept(Kind):
    """The height of the line of least squares at x = 0."""

    name = "intercept"
    calls = ("REGR_INTERCEPT",)
    word = "REGR_INTERCEPT"
    heading = "regr_intercept"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_INTERCEPT, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Line":
        return _line(aggregate, terms, self.word, intercept=True)


@registry.add
@dataclass(frozen=True, slots=True)
class Determination(Kind):
    """The share of the variance of y that the line explains: the square of the correlation."""

    name = "determination"
    calls = ("REGR_R2",)
    word = "REGR_R2"
    heading = "regr_r2"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_R2, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Correlation:
        return correlation_of(aggregate, terms, self.word, squared=True)


@registry.add
@dataclass(frozen=True, slots=True)
class PairCount(Kind):
    """How many pairs there are."""

    name = "pairs"
    calls = ("REGR_COUNT",)
    word = "REGR_COUNT"
    heading = "regr_count"
    arguments = 2
    counting = True

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_COUNT, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Total:
        return Total(terms.counted(aggregate))


@registry.add
@dataclass(frozen=True, slots=True)
class MeanOfX(Kind):
    """The mean of the second number of each pair."""

    name = "mean_x"
    calls = ("REGR_AVGX",)
    word = "REGR_AVGX"
    heading = "regr_avgx"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_AVGX, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Mean:
        return mean_of(aggregate, parts_of(aggregate.argument)[1], terms, self.word)


@registry.add
@dataclass(frozen=True, slots=True)
class MeanOfY(Kind):
    """The mean of the first number of each pair."""

    name = "mean_y"
    calls = ("REGR_AVGY",)
    word = "REGR_AVGY"
    heading = "regr_avgy"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(REGR_AVGY, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Mean:
        return mean_of(aggregate, parts_of(aggregate.argument)[0], terms, self.word)


REGR_SLOPE, REGR_INTERCEPT, REGR_R2 = Slope(), Intercept(), Determination()
REGR_COUNT, REGR_AVGX, REGR_AVGY = PairCount(), MeanOfX(), MeanOfY()


def _line(aggregate: Aggregate, terms: MeasuredTerms, name: str, *, intercept: bool) -> "Line":
    y, x = both(aggregate, terms, name)
    (products, base), (squares, x_base) = terms.products(y, x), terms.products(x, x)
    places = terms.counted(aggregate), y.total, x.total, products, squares
    return Line(*places, base, x_base, Fraction(y.grid.middle), Fraction(x.grid.middle), intercept)


@dataclass(frozen=True, slots=True)
class Line(Release):
    """The covariance over the variance of x, or the intercept that belongs to it. NULL where that variance is not above 0."""

    notation = "Line count y x products squares base x_base y_middle x_middle intercept"
    unknown = few = "too few to tell, or too much alike"

    count: int
    y: int
    x: int
    products: int
    squares: int
    base: Fraction
    x_base: Fraction
    y_middle: Fraction
    x_middle: Fraction
    intercept: bool

    @property
    def places(self) -> tuple[int, ...]:
        return self.count, self.y, self.x, self.products, self.squares

    @property
    def counted(self) -> Mapping[int, int]:
        return dict.fromkeys(self.places[1:], self.count)

    def rule(self, n: Reals, y: Reals, x: Reals, products: Reals, squares: Reals) -> Reals:
        """The slope or the intercept of totals; not a number where the variance of x is not above 0."""
        mean_y, mean_x = y / n, x / n
        spread = float(self.x_base) + squares / n - mean_x * mean_x
        slope = (float(self.base) + products / n - mean_y * mean_x) / np.where((n > 0) & (spread > 0), spread, np.nan)
        if not self.intercept:
            return slope
        return float(self.y_middle) + mean_y - slope * (float(self.x_middle) + mean_x)

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        with np.errstate(all="ignore"):
            numbers = self.rule(*known_totals(plan, self.places, released)).tolist()
        return [None if isnan(each) else float(f"{each:.{SIGNIFICANT}g}") for each in numbers]

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        """The value of what lies within bounds alone: what is beyond them says nothing of products."""
        return exact_numbers(self.rule, in_units(plan, self.places, totals))

    def evenly(self, plan: "Plan") -> Mapping[int, Fraction]:
        return evenly_spread(plan, self.places[1:4], self.places[4:])

    def span(self, reader: "Reader", confidence: float) -> Span:
        return likely(reader, self.places, self.rule, reader.unbounded(), confidence)
