"""What an answer shows of a group, taken as it is: a mean, a quantile, how many values there are. It is told again, with its
interval.

Nothing can be made of it but what it is: its noise is not known by itself. So it is a column of its own, and may sort rows, or leave
some out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.combination import Combination
from discreet.plan.interval import Interval, IntervalColumn
from discreet.plan.measurement import Measurement
from discreet.plan.question import Question
from discreet.plan.releases.base import Release
from discreet.plan.scalar import Arithmetic, Operator, Released, Scalar, Value, children, released_in, windows_in

if TYPE_CHECKING:
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan

Told = tuple[Value, Interval | None]
"""A value, with its interval, where it has one."""

NUMBERED = Measurement(None, Fraction(0), Fraction(1), "the place of a group among what was told", Combination.plain(0))
"""In the place of a measurement: which of the groups it is, which is public."""


@dataclass(frozen=True, slots=True)
class ShownAgain(Release):
    """What was told of each group, by the number of the group."""

    notation = "Shown measurement"

    measurement: int
    told: tuple[Told, ...]

    @property
    def places(self) -> tuple[int, ...]:
        return (self.measurement,)

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Value]:
        return [self.told[number][0] for number in released[self.measurement]]

    def told_before(self, reader: "Reader") -> IntervalColumn | None:
        return IntervalColumn.of([self.told[int(number)][1] for number in reader.totals[self.measurement]])


def stands_alone(question: Question, aggregate: int) -> bool:
    """Whether nothing is computed of an aggregate: it is a column as it is, and elsewhere only compared."""
    computed = [output.value for output in question.outputs if output.value != _released(output.value, aggregate)]
    compared = [*([] if question.having is None else [question.having]), *(sort.value for sort in question.order)]
    return not any(aggregate in released_in(each) for each in computed) and not any(
        aggregate in released_in(each) and (_computes(each) or windows_in(each)) for each in compared
    )


def _released(scalar: Scalar, aggregate: int) -> Scalar | None:
    return scalar if isinstance(scalar, Released) and scalar.index == aggregate else None


def _computes(scalar: Scalar) -> bool:
    divided = isinstance(scalar, Arithmetic) and scalar.operator is Operator.DIVIDE
    return divided or any(map(_computes, children(scalar)))
