"""AVG: a centred sum, Σ(x − middle), over a count of the same rows.

A mean is NULL where the released count cannot be told from 0: where it is no more than its own ± at 95 %. By simulation, 100,000
draws each, so often it is NULL for this many people, in units of that ±:

    people        0     1/2      1     3/2      2      3      5
    geometric    98 %   90 %   53 %   12 %   2.6 %   0.1 %   0
    Gaussian     98 %   85 %   52 %   17 %   2.6 %   0.01 %  0

At 99 % it would be 99.5 % of nobody, but also 13 % (geometric) and 9 % (Gaussian) of twice the ±.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10
from typing import TYPE_CHECKING

from discreet.errors import Fault, QueryError
from discreet.plan.affine import AffineForm
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Number, Release, of_one_number, registry
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.scalar import Scalar

if TYPE_CHECKING:
    from discreet.plan.derived.statistics import TakenOver
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan

DIGITS = 9
"""Of a mean, in decimal places of the width of its bounds."""


@registry.add
@dataclass(frozen=True, slots=True)
class Average(Kind):
    """The mean of a number, clamped to its bounds, over the rows on which it is not NULL."""

    name = "average"
    calls = ("AVG", "MEAN")
    word = "AVG"
    heading = "avg"
    centred = True
    evenly = "AVG_BY_PERSON"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_one_number(AVERAGE, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Mean":
        return mean_of(aggregate, aggregate.argument, terms, self.word)

    def following(self, aggregate: Aggregate, taken: "TakenOver") -> "Mean | None":
        """The sum of the same argument over the count of its rows; it lies where the question clamps its argument to."""
        total, count = (taken.release(replace(aggregate, kind=_called(name))) for name in ("SUM", "COUNT"))
        asked = taken.planned(aggregate)
        if total is None or count is None or not isinstance(asked, Mean):
            return None
        return Mean(total.places[0], count.places[0], total.shift, asked.low, asked.high)


AVERAGE = Average()


def _called(name: str) -> Kind:
    """The kind of a SQL function."""
    kind = registry.named(name)
    if kind is None:
        raise Fault(f"{name} is not there", code="release")
    return kind()


def mean_of(aggregate: Aggregate, argument: Scalar | None, terms: MeasuredTerms, name: str) -> "Mean":
    """The mean of what an aggregate is of, or of a part of it, over the rows of the aggregate."""
    if argument is None:
        raise QueryError(f"{name} needs an argument", code="types")
    centred = terms.centred(aggregate, argument, name)
    ends = (Fraction(end) for end in (centred.grid.middle, centred.grid.low, centred.grid.high))
    return Mean(centred.total, terms.counted(aggregate), *ends)


@dataclass(frozen=True, slots=True)
class Mean(Release):
    """middle + step · released sum/released count, clamped to [low, high]; NULL where the count cannot be told from 0."""

    notation = "Mean total count middle low high"
    of_totals = True
    unknown = "the count is too small to tell"

    total: int
    count: int
    middle: Fraction
    low: Fraction
    high: Fraction

    @property
    def places(self) -> tuple[int, ...]:
        return self.total, self.count

    @property
    def counted(self) -> Mapping[int, int]:
        return {self.total: self.count}

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        count = plan.measurements[self.count]
        step, few = plan.measurements[self.total].step / count.step, count.few
        places = decimal_places(self.high - self.low)
        low, high = (round(float(end), places) for end in (self.low, self.high))
        # middle + step · total/count as a quotient of two integers
        whole = self.middle.denominator * step.denominator
        per_count, per_total = (int(each * whole) for each in (self.middle, step))
        return [
            min(max(round((per_count * count + per_total * total) / (whole * count), places), low), high)
            if count > few
            else None
            for total, count in zip(released[self.total], released[self.count], strict=True)
        ]

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        step, one = plan.measurements[self.total].step, plan.measurements[self.count].step
        return [
            None if not count else self.middle + (step * int(total) + more) / (one * int(count))
            for total, count, more in zip(totals[self.total], totals[self.count], beyond, strict=True)
        ]

    def never_negative(self, plan: "Plan") -> bool:
        return self.low >= 0

    def form(self, reader: "Reader") -> AffineForm:
        return reader.ratio(self.total, self.count, self.low, self.high, self.middle)


def decimal_places(width: Fraction) -> int:
    """The decimal places of a number between bounds; bounds of no width leave nothing to round."""
    return DIGITS - floor(log10(width)) if width else 17
