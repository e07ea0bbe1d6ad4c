"""What is known of a value before any data is read: between what it lies, whether it is whole, whether it may be NULL.

Facts belong to expressions, never to names: a redefined column has the facts of its definition. They are found bottom-up by the rules
in `rules`, one transfer function for each kind of node, and by the rows of `functions` and `casts`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

MOST = Fraction(2) ** 1023  # half of the largest double: no rounding leads from below here to infinity


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a scalar expression. A bound of None is not known. A declared bound is meant as the double nearest to it."""

    low: Fraction | None = None
    high: Fraction | None = None
    integral: bool = False
    nullable: bool = True

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def middle(self) -> int | float | None:
        """The middle of the bounds: of whole numbers the lower of two, else the nearest double; None where there are none.

        >>> Facts(Fraction(0), Fraction(5), True).middle, Facts(Fraction(0), Fraction(5)).middle, Facts().middle
        (2, 2.5, None)
        """
        if self.low is None or self.high is None:
            return None
        middle = (self.low + self.high) / 2
        return floor(middle) if self.integral else float(middle)


NOTHING_KNOWN = Facts()


def either(first: Facts, second: Facts) -> Facts:
    """What is known of a value that has one of these facts."""
    low = None if first.low is None or second.low is None else min(first.low, second.low)
    high = None if first.high is None or second.high is None else max(first.high, second.high)
    return Facts(low, high, first.integral and second.integral, first.nullable or second.nullable)


def narrower(facts: Facts, told: Facts) -> Facts:
    """What is known of a value that also lies between the bounds that are told; as before, where that leaves one value or none.

    >>> age, nine = Facts(Fraction(0), Fraction(120)), Facts(low=Fraction(9))
    >>> narrower(age, nine).low, narrower(Facts(high=Fraction(9)), nine).low
    (Fraction(9, 1), None)
    """
    lows = [low for low in (facts.low, told.low) if low is not None]
    highs = [high for high in (facts.high, told.high) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return facts if low is not None and high is not None and low >= high else replace(facts, low=low, high=high)


def turned(facts: Facts) -> Facts:
    """What is known of the value with the other sign."""
    return Facts(each(_negative, facts.high), each(_negative, facts.low), facts.integral, facts.nullable)


def as_doubles(facts: Facts) -> Facts:
    """What is known of a number as it is computed with: a wide integer, or a declared decimal, is the double nearest to it."""
    return replace(facts, low=nearest(facts.low), high=nearest(facts.high))


def nearest(bound: Fraction | None) -> Fraction | None:
    """The double nearest to an end, where infinity is far.

    >>> nearest(Fraction(1, 10**400)), nearest(Fraction(10**16 + 1)) == 10**16, nearest(Fraction(10**308))
    (Fraction(0, 1), True, None)
    """
    return None if bound is None or abs(bound) > MOST else Fraction(float(bound))


def each(function: Callable[[Fraction], Fraction | int], bound: Fraction | None) -> Fraction | None:
    """What a function makes of an end that is known."""
    return None if bound is None else Fraction(function(bound))


def _negative(x: Fraction) -> Fraction:
    return -x
