"""The public grid that the values of an aggregate are put on: 2^24 steps of the width of their bounds, around the middle."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from discreet.errors import QueryError
from discreet.exact import to_float_down, to_float_up
from discreet.plan.rules.relations import MOST_STEPS

MOST_SHIFT = 500
MOST_SIZE = Fraction(10**300)


@dataclass(frozen=True, slots=True)
class ValueGrid:
    """Steps of 2^-shift. The middle is a multiple of them; `exact` says that every value is one, too."""

    low: float
    high: float
    shift: int
    middle: float
    exact: bool

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** -self.shift

    @property
    def whole_middle(self) -> int:
        """The middle, in steps."""
        return int(Fraction(self.middle) / self.step)

    @property
    def near(self) -> bool:
        """Whether the bounds are so near 0 that values need not be centred to have at most 2^24 steps."""
        return max(abs(Fraction(self.low)), abs(Fraction(self.high))) <= MOST_STEPS * self.step

    @property
    def rounding(self) -> Fraction:
        """How far one value may be from its step."""
        return Fraction(0) if self.exact else self.step / 2

    def finer(self, shift: int) -> "ValueGrid":
        """A grid of finer steps, by 2^shift or as far as values have at most 2^24 of them; this one where not all values are exact."""
        size = max(abs(Fraction(self.low)), abs(Fraction(self.high)), Fraction(1, MOST_STEPS))
        most = [more for more in range(1, shift + 1) if size * 2**more <= MOST_STEPS * self.step]
        return replace(self, shift=self.shift + max(most)) if self.exact and most else self


def grid_for(least: Fraction, most: Fraction, integral: bool) -> ValueGrid:
    """The bounds as doubles, outward, and the finest power of two with at most 2^23 steps to either side of the middle.

    Whole numbers have no finer steps than 1, and keep that as long as they are less than 2^24 to either side: then each is exact. So
    is a constant. The middle is a double and a multiple of the step: where doubles are coarser than the step each of them is one.
    """
    if max(abs(least), abs(most)) > MOST_SIZE:
        raise QueryError(
            "the argument of a sum can be larger than 1e300",
            code="missing-bounds",
            hint="clamp it: LEAST(GREATEST(…, LOW), HIGH)",
        )
    low, high = to_float_down(least), to_float_up(most)
    middle = (Fraction(low) + Fraction(high)) / 2
    half = Fraction(high) - middle
    if integral and half < MOST_STEPS:
        return ValueGrid(low, high, 0, _multiple(middle, 0), True)
    if not half:
        shift = min(Fraction(low).denominator.bit_length() - 1, MOST_SHIFT)
        return ValueGrid(low, high, shift, _multiple(middle, shift), _multiple(middle, shift) == low)
    shift = min(_finest(half), MOST_SHIFT)
    return ValueGrid(low, high, shift, _multiple(middle, shift), False)


def _finest(half: Fraction) -> int:
    """The largest shift with half · 2^shift <= 2^23."""
    shift = 24 + half.denominator.bit_length() - half.numerator.bit_length()
    while half * Fraction(2) ** shift > MOST_STEPS // 2:
        shift -= 1
    return shift


def _multiple(x: Fraction, shift: int) -> float:
    """The nearest double to the multiple of 2^-shift below x; it is a multiple itself."""
    step = Fraction(2) ** -shift
    return float(floor(x / step) * step)


def divisor_for(size: int) -> int:
    """The least power of two that brings values of this size down to 2^24 steps."""
    divisor = 1
    while size > MOST_STEPS * divisor:
        divisor *= 2
    return divisor
