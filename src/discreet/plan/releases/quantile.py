"""MEDIAN, QUANTILE and their sisters: the middle of two places of a public grid, one below the quantile and one above it.

All quantiles of one argument and one FILTER are one reading. Each has two ends, chosen at ranks t below and above q·n, with t so that
both enclose the quantile in 95 of 100 answers (`mechanisms.quantile_ends`). The number is the point half way between them: it uses all
that was paid for. By `bench/quantiles.py --simulate`, 800 rows in 1,024 cells, 4,000 runs each: how often the interval holds the truth, and
its width in units of the span that the number itself lies in, in 95 of 100 runs,

    values                             q = 1/4          q = 1/2          q = 9/10
    even             ε = 1           96 %  1.40       97 %  1.41       96 %  1.42
                     ε = 1/4         96 %  1.36       96 %  1.45       95 %  1.49
    lognormal        ε = 1           99 %  1.20       99 %  1.20       97 %  1.47
                     ε = 1/4         98 %  1.56       98 %  1.48       95 %  0.90
    40 % at one      ε = 1          100 %  1.00      100 %  1.00       96 %  1.41
                     ε = 1/4         97 %  0.38      100 %  0.38       95 %  1.57
    five, far apart  ε = 1          100 %  0.53      100 %  1.00      100 %  1.00
                     ε = 1/4         99 %  1.58      100 %  1.21      100 %  1.52
    even, 50 rows    ε = 1           98 %  2.31      100 %  2.35       97 %  1.98
                     ε = 1/4         96 %  2.71       98 %  3.11       94 %  2.49

The least that was found is 93.5 %: of two values far apart, the quantile one row inside of one (`tests/mechanisms/test_quantile_ends.py`).
With t = ln(20)/λ whatever the values are, five of them far apart would be held in 78 % at q = 1/4 and ε = 1/4; with a t for all data that
there may be, ln(40·cells)/λ, every interval would be three to four times as wide. An interval of any other level has its ends farther out
or nearer in proportion to ln(1/miss), as in smooth data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import Fault
from discreet.mechanisms.quantile_ends import MISS, MOST_DENOMINATOR
from discreet.plan.affine import Span
from discreet.plan.quantile_reading import QuantileAsked, QuantileReading
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Number, ReadRelease, of_one_number, registry
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.scalar import Column, Literal, Type, type_of

if TYPE_CHECKING:
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan

HALF = Fraction(1, 2)
PERCENTILES = ("PERCENTILE_CONT", "PERCENTILE_DISC")
MEDIANS = ("MEDIAN", "APPROX_MEDIAN")
DISCRETE = ("QUANTILE_DISC", "PERCENTILE_DISC")


@registry.add
@dataclass(frozen=True, slots=True)
class Quantile(Kind):
    """The value below which a share of the rows lies on which it is not NULL, clamped to its bounds."""

    name = "quantile"
    calls = (*MEDIANS, "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "APPROX_QUANTILE", *PERCENTILES)
    word = "QUANTILE"
    heading = "quantile"

    share: Fraction = HALF
    discrete: bool = False

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        if call.distinct:
            raise call.not_distinct()
        if call.name in PERCENTILES and not call.ordered and call.size < 2:  # of two it is QUANTILE_CONT(x, q)
            raise call.refusal(
                "function", f"{call.name} needs WITHIN GROUP", f"write {call.name}(0.5) WITHIN GROUP (ORDER BY x)"
            )
        _check_number(call)
        if call.name in MEDIANS:
            return of_one_number(cls(), call)
        if call.size != 2:
            raise call.refusal("function", f"{call.name} has a number and a share", f"write {call.name}(x, 0.5)")
        share = _share(call)
        return of_one_number(cls(1 - share if call.descending else share, call.name in DISCRETE), call)

    @classmethod
    def example(cls, name: str, *arguments: str) -> str:
        if name in PERCENTILES:
            return f"{name}(0.5) WITHIN GROUP (ORDER BY {arguments[0]})"
        return f"{name}({arguments[0]})" if name in MEDIANS else f"{name}({arguments[0]}, 0.5)"

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "QuantileRelease":
        grid, operand = terms.grid(aggregate, self.word)
        shares = {
            each.kind.share
            for each in terms.aggregates
            if isinstance(each.kind, Quantile)
            and (each.argument, each.condition) == (aggregate.argument, aggregate.condition)
        }
        probabilities = tuple(sorted(shares))
        asked = QuantileAsked(
            operand, grid.low, grid.high, terms.integral(aggregate), terms.counts(aggregate), probabilities
        )
        return QuantileRelease(terms.read(asked), probabilities.index(self.share), self.discrete)

    def said(self, inside: str) -> str:
        return f"{self.word}({inside}, {float(self.share):g})"

    def headed(self, aggregate: Aggregate) -> str:
        head = "median" if self.share == HALF else "quantile"
        tail = "" if self.share == HALF else f"_{float(100 * self.share):g}".replace(".", "_")
        return f"{head}{f'_{aggregate.argument.name}' if isinstance(aggregate.argument, Column) else ''}{tail}"


def _check_number(call: Call) -> None:
    """For a call of a number, or of something else that is refused elsewhere: returns. For a date raises QueryError."""
    kind = type_of(call.scalar()) if call.size else None
    if kind in (Type.DATE, Type.TIMESTAMP):
        what = "EPOCH(x)" if kind is Type.TIMESTAMP else "DATEDIFF('day', DATE '2024-01-01', x)"
        raise call.refusal("types", f"{call.name} is of numbers, and this is a {kind.value}", f"take {what} for it")


def _share(call: Call) -> Fraction:
    """The share that is asked for: a constant of at most four decimals between 0 and 1."""
    constant = call.scalar(1)
    if not isinstance(constant, Literal) or type(constant.value) not in (int, float):
        raise call.refusal(
            "quantile", f"the share of {call.name} is not a constant", "write a number from 0 to 1, such as 0.5"
        )
    share = Fraction(str(constant.value))
    if not 0 <= share <= 1 or MOST_DENOMINATOR % share.denominator:
        raise call.refusal(
            "quantile",
            f"the share of {call.name} is not a number from 0 to 1 with at most four decimals",
            "write 0.25 for the lower quartile, 0.5 for the median, 0.9 for what one in ten is above",
        )
    return share


@dataclass(frozen=True, slots=True)
class QuantileRelease(ReadRelease):
    """The point half way between two released cells, and the interval from the one to the other."""

    notation = "Quantile reading place discrete"
    ahead = "its ± depends on how values lie around it, which nothing declares and the answer tells"

    reading: int
    place: int
    discrete: bool

    def _read(self, plan: "Plan") -> QuantileReading:
        reading = plan.decided.readings[self.reading]
        if not isinstance(reading, QuantileReading):
            raise Fault("a quantile is of a reading of quantiles", code="release")
        return reading

    def _columns(self, plan: "Plan") -> range:
        first = plan.decided.columns_of(self.reading)[2 * self.place]
        return range(first, first + 2)

    def whole(self, plan: "Plan") -> bool:
        return self.discrete and self._read(plan).exact

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        low, high = (released[i] for i in self._columns(plan))
        return [self._value(plan, int(one), int(other)) for one, other in zip(low, high, strict=True)]

    def _value(self, plan: "Plan", low: int, high: int) -> Number:
        reading = self._read(plan)
        if self.whole(plan):
            return int(reading.point(Fraction((low + high) // 2)))
        middle = reading.point(Fraction(low + high, 2))
        return float(min(max(middle, Fraction(reading.value.low)), Fraction(reading.value.high)))

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        return [None if value is None else Fraction(value) for value in self.values(plan, totals)]

    def never_negative(self, plan: "Plan") -> bool:
        return self._read(plan).value.low >= 0

    def span(self, reader: "Reader", confidence: float) -> Span:
        """The truth lies between both ends, and by rounding half a cell farther; of another level in proportion."""
        reading = self._read(reader.plan)
        ends = (reader.totals[i] for i in self._columns(reader.plan))
        off = 0.0 if reading.exact else float(reading.step) / 2
        base, step = float(reading.point(Fraction(0))), float(reading.step)
        low, high = (base + each * step for each in ends)
        times = log(1 - confidence) / log(MISS)
        middle, half = (low + high) / 2, (high - low) / 2 * times
        if reading.exact:
            half = np.ceil(half * 2) / 2
        low, high = (
            np.maximum(middle - half - off, reading.value.low),
            np.minimum(middle + half + off, reading.value.high),
        )
        return Span(low, high, np.zeros(reader.size, np.bool_))
