"""Where a function of one number crosses zero, in floats; for places where whatever is found gives a valid bound."""

from collections.abc import Callable
from fractions import Fraction


def rising_root(f: Callable[[float], float]) -> Fraction:
    """Where a rising function of x > 0 crosses 0: between 2^-1020 and 2^1020."""
    low, high = -1020.0, 1020.0
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if f(2.0**middle) < 0 else (low, middle)
    return Fraction(2.0**low)


def first_met(met: Callable[[float], bool], high: float) -> float:
    """The least x > 0 with met(x), to 2^-50 of it; met holds at `high` and from some x on, and holds at the result."""
    low = high / 2
    while low > 1e-300 and met(low):
        low, high = low / 2, low
    if low <= 1e-300:
        return high
    while high - low > high * 2.0**-50:
        middle = (low + high) / 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def about(x: Fraction) -> float:
    """A float near x, or 1e300 where x is larger."""
    return float(min(x, Fraction(10**300)))
