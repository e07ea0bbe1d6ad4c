"""COVAR and CORR: of pairs of numbers, where both are there.

With u and v around the middles of their bounds, C = Σuv/n − Σu/n · Σv/n, at most half of one width times half of the other in size; and
r = C/√(V_u · V_v), within [−1, 1]. All rest on one count, that of the pairs; sums, squares and products are of the same rows. A mean or
a variance beside them is of the same measurements where its number is there in every pair that there is.

A correlation is NULL where its count cannot be told from 0, or where a variance of what was released is not above 0: values are too
alike then to tell. Anywhere else it is a number, and its interval says what it is worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import Fault
from discreet.plan.affine import Reals, Span
from discreet.plan.draws import Rule, likely
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Number, Release, of_two_numbers, registry
from discreet.plan.releases.mean import DIGITS, decimal_places
from discreet.plan.releases.terms import Centred, MeasuredTerms
from discreet.plan.releases.variance import corrected, evenly_spread, in_units, known_totals, rounded
from discreet.plan.scalar import Pair

if TYPE_CHECKING:
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan


@registry.add
@dataclass(frozen=True, slots=True)
class PopulationCovariance(Kind):
    """The covariance of a population: the mean of products of deviations from the means."""

    name = "population_covariance"
    calls = ("COVAR_POP",)
    word = "COVAR_POP"
    heading = "covar_pop"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(COVAR_POP, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Covariance":
        return _covariance(aggregate, terms, self.word, sample=False)


@registry.add
@dataclass(frozen=True, slots=True)
class SampleCovariance(Kind):
    """The covariance of a sample: products of deviations from the means, over n − 1."""

    name = "covariance"
    calls = ("COVAR_SAMP",)
    word = "COVAR_SAMP"
    heading = "covar_samp"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(COVAR_SAMP, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Covariance":
        return _covariance(aggregate, terms, self.word, sample=True)


@registry.add
@dataclass(frozen=True, slots=True)
class Pearson(Kind):
    """The correlation of two numbers, after Pearson."""

    name = "correlation"
    calls = ("CORR",)
    word = "CORR"
    heading = "corr"
    arguments = 2

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_two_numbers(CORR, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Correlation":
        return correlation_of(aggregate, terms, self.word, squared=False)


COVAR_POP, COVAR_SAMP, CORR = PopulationCovariance(), SampleCovariance(), Pearson()


def both(aggregate: Aggregate, terms: MeasuredTerms, name: str) -> tuple[Centred, Centred]:
    """The two numbers of a pair, each around the middle of its bounds, on the rows that have both."""
    if not isinstance(aggregate.argument, Pair):
        raise Fault(f"{name} is of pairs", code="release")
    pair = aggregate.argument
    return terms.centred(aggregate, pair.left, name), terms.centred(aggregate, pair.right, name)


def _covariance(aggregate: Aggregate, terms: MeasuredTerms, name: str, *, sample: bool) -> "Covariance":
    first, second = both(aggregate, terms, name)
    products, base = terms.products(first, second)
    most = first.width * second.width / 4
    return Covariance(terms.counted(aggregate), first.total, second.total, products, base, most, sample)


def correlation_of(aggregate: Aggregate, terms: MeasuredTerms, name: str, *, squared: bool) -> "Correlation":
    """A correlation, or its square, with what is measured for it."""
    first, second = both(aggregate, terms, name)
    moments = [terms.products(*each) for each in ((first, second), (first, first), (second, second))]
    (products, base), (squares, first_base), (others, second_base) = moments
    places = terms.counted(aggregate), first.total, second.total, products, squares, others
    return Correlation(*places, base, first_base, second_base, squared)


@dataclass(frozen=True, slots=True)
class Covariance(Release):
    """base + products/count − first/count · second/count, each as released, clamped to [−most, most]. NULL as a mean is."""

    notation = "Covariance count first second products base most sample"
    unknown = "the count is too small to tell"

    count: int
    first: int
    second: int
    products: int
    base: Fraction
    most: Fraction
    sample: bool

    @property
    def places(self) -> tuple[int, ...]:
        return self.count, self.first, self.second, self.products

    @property
    def counted(self) -> Mapping[int, int]:
        return dict.fromkeys(self.places[1:], self.count)

    def rule(self, n: Reals, first: Reals, second: Reals, products: Reals) -> Reals:
        """The covariance of totals, wherever that may lie."""
        return corrected(n, float(self.base) + products / n - (first / n) * (second / n), self.sample)

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        with np.errstate(all="ignore"):
            n, *rest = known_totals(plan, self.places, released)
            most = corrected(n, np.full(len(n), float(self.most)), self.sample)
            return rounded(np.clip(self.rule(n, *rest), -most, most), decimal_places(self.most))

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        """The value of what lies within bounds alone: what is beyond them says nothing of products."""
        return exact_numbers(self.rule, in_units(plan, self.places, totals))

    def evenly(self, plan: "Plan") -> Mapping[int, Fraction]:
        return evenly_spread(plan, self.places[1:], ())

    def span(self, reader: "Reader", confidence: float) -> Span:
        most = self.most * (2 if self.sample else 1)  # n/(n − 1) of two is 2
        return likely(reader, self.places, self.rule, (reader.full(-most), reader.full(most)), confidence)


@dataclass(frozen=True, slots=True)
class Correlation(Release):
    """The covariance over the root of both variances, clamped to [−1, 1]; or its square."""

    notation = (
        "Correlation count first second products first_squares second_squares base first_base second_base squared"
    )
    unknown = few = "too few to tell, or too much alike"

    count: int
    first: int
    second: int
    products: int
    first_squares: int
    second_squares: int
    base: Fraction
    first_base: Fraction
    second_base: Fraction
    squared: bool

    @property
    def places(self) -> tuple[int, ...]:
        return self.count, self.first, self.second, self.products, self.first_squares, self.second_squares

    @property
    def counted(self) -> Mapping[int, int]:
        return dict.fromkeys(self.places[1:], self.count)

    def _moments(
        self, n: Reals, first: Reals, second: Reals, products: Reals, first_squares: Reals, second_squares: Reals
    ) -> tuple[Reals, Reals]:
        """The covariance, and the root of both variances; that is not a number where one of them is not above 0."""
        u, v = first / n, second / n
        spreads = [
            float(self.first_base) + first_squares / n - u * u,
            float(self.second_base) + second_squares / n - v * v,
        ]
        sizes = np.sqrt([np.where((n > 0) & (each > 0), each, np.nan) for each in spreads])
        return float(self.base) + products / n - u * v, sizes[0] * sizes[1]

    def rule(self, *totals: Reals) -> Reals:
        """The correlation of totals, wherever that may lie; not a number where a variance is not above 0."""
        covariance, size = self._moments(*totals)
        return np.asarray(covariance / size, np.float64)

    def drawn(self, *totals: Reals) -> Reals:
        """The correlation of totals that may be true. It is the r for which C − r·√(V_u⁺ · V_v⁺) is 0; of totals with a variance
        that is not above 0 that has the sign of C, whatever r is: they tell that r is larger, or smaller, and not that it may be anything.
        """
        covariance, size = self._moments(*totals)
        return np.where(np.isnan(size) & (totals[0] > 0), np.copysign(np.inf, covariance), covariance / size)

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        with np.errstate(all="ignore"):
            number = np.clip(self.rule(*known_totals(plan, self.places, released)), -1.0, 1.0)
        return rounded(number**2 if self.squared else number, DIGITS)

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        """The value of what lies within bounds alone: what is beyond them says nothing of products."""
        power = 2 if self.squared else 1
        return exact_numbers(lambda *each: self.rule(*each) ** power, in_units(plan, self.places, totals))

    def evenly(self, plan: "Plan") -> Mapping[int, Fraction]:
        return evenly_spread(plan, self.places[1:4], self.places[4:])

    def never_negative(self, plan: "Plan") -> bool:
        return self.squared

    def span(self, reader: "Reader", confidence: float) -> Span:
        span = likely(reader, self.places, self.drawn, (reader.full(-1), reader.full(1)), confidence)
        if not self.squared:
            return span
        sizes = np.stack([span.low**2, span.high**2])
        across = (span.low < 0) & (span.high > 0)
        return Span(np.where(across, 0.0, sizes.min(axis=0)), sizes.max(axis=0), span.open)


def exact_numbers(rule: Rule, totals: Sequence[Reals]) -> list[Fraction | None]:
    """What a rule makes of exact totals; None where there is nothing."""
    with np.errstate(all="ignore"):
        return [None if isnan(each) else Fraction(each) for each in rule(*totals).tolist()]
