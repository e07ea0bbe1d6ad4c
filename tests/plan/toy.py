"""A kind of release as a newcomer would write it, in one file: RMS(x), the root of the mean of squares.

It needs terms of its own, its value is no ratio of what is released, and its interval is made of that of one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from discreet.plan.affine import Span
from discreet.plan.combination import Combination
from discreet.plan.forms import Reader
from discreet.plan.plan import Plan
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Release, of_one_number
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.scalar import Arithmetic, Operator


@dataclass(frozen=True, slots=True)
class RootMeanSquare(Kind):
    name = "rms"
    calls = ("RMS", "QUADRATIC_MEAN")
    word = "RMS"
    heading = "rms"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_one_number(cls(), call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Root":
        assert aggregate.argument is not None
        square = Arithmetic(Operator.MULTIPLY, aggregate.argument, aggregate.argument)
        grid, operand = terms.grid(Aggregate(self, square, aggregate.condition), self.word)
        place = terms.add(terms.steps(operand, grid, grid.middle))
        squares = terms.measure(Measured(Combination.plain(place), grid.step, "squares", grid.rounding))
        return Root(squares, terms.counted(aggregate), Fraction(grid.middle), Fraction(grid.high))


@dataclass(frozen=True, slots=True)
class Root(Release):
    notation = "Root squares count middle high"
    unknown = "the count is too small to tell"

    squares: int
    count: int
    middle: Fraction
    high: Fraction

    @property
    def places(self) -> tuple[int, ...]:
        return self.squares, self.count

    @property
    def counted(self) -> Mapping[int, int]:
        return {self.squares: self.count}

    def values(self, plan: Plan, released: Sequence[Sequence[int]]) -> list[float | None]:
        count = plan.measurements[self.count]
        step = plan.measurements[self.squares].step / count.step
        pairs = zip(released[self.squares], released[self.count], strict=True)
        return [
            sqrt(min(max(self.middle + step * total / n, 0), self.high)) if n > count.few else None
            for total, n in pairs
        ]

    def never_negative(self, plan: Plan) -> bool:
        return True

    def span(self, reader: Reader, confidence: float) -> Span:
        inside = reader.ends(reader.ratio(self.squares, self.count, Fraction(0), self.high, self.middle), confidence)
        return Span(np.sqrt(np.maximum(inside.low, 0)), np.sqrt(inside.high), inside.open)
