"""A range that was found: of an argument of aggregates, whose values are clamped to it as the last step, and of nothing else.

No condition, no test for NULL and no group knows of it: it need not be all there is.
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet.plan.scalar import Scalar


@dataclass(frozen=True, slots=True)
class FoundRange:
    """The ends between which an expression is clamped."""

    argument: Scalar
    low: Fraction
    high: Fraction


def between(low: Fraction | float, high: Fraction | float) -> str:
    """A range, for people.

    >>> between(Fraction(0), Fraction(1024)), between(-0.5, 2.0**49)
    ('0 … 1,024', '-0.5 … 562,949,953,421,312')
    """
    return f"{_end(low)} … {_end(high)}"


def _end(end: Fraction | float) -> str:
    return f"{int(end):,}" if int(end) == end else f"{float(end):.6g}"
