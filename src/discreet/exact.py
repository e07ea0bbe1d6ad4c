"""Exact numbers: what a caller's number means, and integer brackets around e^-x.

Nothing here rounds to nearest. A number from a caller becomes the rational that it prints as; a transcendental
value becomes two integers with the truth between them. No result of libm is trusted anywhere.
"""

import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from math import inf, isfinite, isqrt, nextafter
from sys import float_info
from typing import ParamSpec, TypeAlias, TypeVar

from discreet.errors import Invalid

Number: TypeAlias = int | float | Fraction | Decimal
P = ParamSpec("P")
R = TypeVar("R")

MAX_BITS = 4096
"""Numerators and denominators beyond this many bits are refused: no scale or budget needs them, and all floats fit."""


def shown(value: object) -> str:
    """A short text of any value, for a message; never raises, never long."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except Exception as error:  # a caller's own __repr__, or an integer too long for Python to print
        return f"a {type(value).__name__} that cannot be printed ({type(error).__name__})"
    return text if len(text) <= 60 else f"{text[:28]}…{text[-28:]} ({len(text)} characters)"


def rational(value: object, name: str) -> Fraction:
    """The exact value of a caller's number: a float is taken as the decimal it prints.

    For any int, Fraction, Decimal or float (NumPy's too) returns a Fraction of at most MAX_BITS bits above and
    below the line, or raises Invalid naming `name`. Booleans, texts, NaN and infinities are refused.

    >>> rational(0.1, "scale")
    Fraction(1, 10)
    """
    pair = ratio(value, name)
    return value if type(value) is Fraction else Fraction(*pair)


def ratio(value: object, name: str) -> tuple[int, int]:
    """`rational` as numerator and denominator in lowest terms, for callers that count microseconds."""
    if type(value) is float and isfinite(value):
        return Decimal(float.__repr__(value)).as_integer_ratio()
    if type(value) is Fraction or type(value) is int:
        pair = value.numerator, value.denominator
    elif isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise Invalid(f"{name} must be a number (int, float, Fraction or Decimal), got {shown(value)}")
    elif isinstance(value, numbers.Rational):
        pair = int(value.numerator), int(value.denominator)
    elif not (value.is_finite() if isinstance(value, Decimal) else isfinite(value)):
        raise Invalid(f"{name} must be finite, got {shown(value)}")
    else:
        printed = float.__repr__(value) if isinstance(value, float) else str(value)
        decimal = value if isinstance(value, Decimal) else Decimal(printed)
        if max(abs(decimal.adjusted()), len(decimal.as_tuple().digits)) > MAX_BITS:
            raise _too_long(name)  # before 1e-999999999 fills the memory
        pair = decimal.as_integer_ratio()
    if pair[0].bit_length() > MAX_BITS or pair[1].bit_length() > MAX_BITS:
        raise _too_long(name)
    return pair


def _too_long(name: str) -> Invalid:
    return Invalid(
        f"{name} has too many digits: numerator and denominator must be at most {MAX_BITS} bits",
        hint="round it to a shorter fraction first",
    )


def positive(value: object, name: str) -> Fraction:
    """A number as `rational` has it, greater than zero."""
    pair = positive_ratio(value, name)
    return value if type(value) is Fraction else Fraction(*pair)


def positive_ratio(value: object, name: str) -> tuple[int, int]:
    """A number as `ratio` has it, greater than zero."""
    pair = ratio(value, name)
    if pair[0] <= 0:
        raise Invalid(f"{name} must be positive, got {shown(value)}")
    return pair


def whole(value: object, name: str, *, least: int = 0) -> int:
    """A caller's integer, at least `least`; a float is refused even when it is whole."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, numbers.Integral)):
        raise Invalid(f"{name} must be an integer, got {shown(value)}")
    if value < least:
        raise Invalid(f"{name} must be at least {least}, got {shown(value)}")
    return int(value)


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """Memoise what a caller's arguments mean, by type and value; arguments that cannot be keys go straight through."""
    cached = lru_cache(maxsize=256, typed=True)(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return cached(*args, **kwargs)  # type: ignore[arg-type]
        except TypeError:
            return function(*args, **kwargs)

    call.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
    return call


def shift_up(value: int, bits: int) -> int:
    """value / 2^bits rounded up (`>>` alone rounds down)."""
    return -((-value) >> bits)


def divide_up(value: int, by: int) -> int:
    """value / by rounded up (`//` alone rounds down)."""
    return -((-value) // by)


def exp_neg_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """For any x >= 0 returns integers lo, hi with lo <= 2^bits e^-x <= hi, a few units apart.

    Argument reduction to y = x/2^k < 2^-6, the alternating series with p = bits + k + 24 fractional bits, then k
    squarings rounded outward. Error before squaring, in units of 2^-p: cutting y off costs at most 1; each
    of n terms is wrong by less than 3 (two floors, and the previous error times y/i); the alternating remainder is
    below its first omitted term, itself below 3. In all less than 3n + 8.

    >>> exp_neg_bounds(Fraction(0), 10), exp_neg_bounds(Fraction(1), 20)
    ((1024, 1024), (385749, 385750))
    """
    if x == 0:
        return 1 << bits, 1 << bits
    if x > bits + 1:  # e^-x < 2^-x
        return 0, 1
    k = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 7)
    p = bits + k + 24
    y = (x.numerator << p) // (x.denominator << k)
    lo, hi = _exp_neg_series(y, p)
    for _ in range(k):
        lo, hi = (lo * lo) >> p, shift_up(hi * hi, p)
    return lo >> (p - bits), shift_up(hi, p - bits)


def _exp_neg_series(y: int, p: int) -> tuple[int, int]:
    """Brackets of 2^p e^-t for every t with y <= 2^p t < y + 1, for y < 2^(p-6)."""
    total, term, n = 0, 1 << p, 0
    while term:
        total += -term if n & 1 else term
        n += 1
        term = ((term * y) >> p) // n
    slack = 3 * n + 8
    return max(0, total - slack), total + slack


def nonnegative(value: object, name: str) -> Fraction:
    """A number as `rational` has it, not below zero."""
    number = rational(value, name)
    if number.numerator < 0:
        raise Invalid(f"{name} must not be negative, got {shown(value)}")
    return number


def probability(value: object, name: str) -> Fraction:
    """A number as `rational` has it, between 0 and 1, both included."""
    number = rational(value, name)
    if not 0 <= number.numerator <= number.denominator:
        raise Invalid(f"{name} must be between 0 and 1, got {shown(value)}")
    return number


def round_up(x: Fraction, bits: int = 64) -> Fraction:
    """The least number with at most `bits` significant binary digits that is not below x.

    Sums of such numbers stay short, where sums of arbitrary fractions grow with every term.

    >>> round_up(Fraction(1, 3), 4), round_up(Fraction(-1, 3), 4)
    (Fraction(11, 32), Fraction(-5, 16))
    """
    if x == 0:
        return x
    shift = bits - (x.numerator.bit_length() - x.denominator.bit_length())
    scaled = x * Fraction(2) ** shift  # of bits or bits + 1 digits before the point
    if abs(scaled) >= 1 << bits:
        scaled, shift = scaled / 2, shift - 1
    return divide_up(scaled.numerator, scaled.denominator) / Fraction(2) ** shift


def round_down(x: Fraction, bits: int = 64) -> Fraction:
    """The greatest number with at most `bits` significant binary digits that is not above x."""
    return -round_up(-x, bits)


def to_float_up(x: Fraction) -> float:
    """The least float that means at least x, which is to say: by the decimal that it prints; infinity beyond the largest.

    >>> to_float_up(Fraction(3, 10)), to_float_up(Fraction(1, 3)), to_float_up(Fraction(1, 10**400))
    (0.3, 0.33333333333333337, 5e-324)
    """
    try:
        value = float(x)
    except OverflowError:
        return inf if x > 0 else -float_info.max
    while isfinite(value) and Fraction(repr(value)) < x:
        value = nextafter(value, inf)
    return value


def to_float_down(x: Fraction) -> float:
    """The greatest float that means at most x, by the decimal that it prints."""
    return -to_float_up(-x) if x else 0.0


def sqrt_up(x: Fraction, bits: int = 64) -> Fraction:
    """For any x >= 0, a number not below √x and above it by at most √x / 2^bits.

    >>> sqrt_up(Fraction(9, 4)), float(sqrt_up(Fraction(2)))
    (Fraction(3, 2), 1.4142135623730951)
    """
    if x == 0:
        return x
    shift = max(0, bits + 1 + (x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 1)
    scaled = divide_up(x.numerator << 2 * shift, x.denominator)
    return Fraction(isqrt(scaled - 1) + 1, 1 << shift)


def log_bounds(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """For any x > 0, a lower and an upper bound of ln x, at most 2^-bits apart.

    x = 2^n m with 1 <= m < 2, and ln m = 2 artanh z with z = (m−1)/(m+1) < 1/3.

    >>> [float(bound) for bound in log_bounds(Fraction(10))], log_bounds(Fraction(1))
    ([2.302585092994046, 2.302585092994046], (Fraction(0, 1), Fraction(0, 1)))
    """
    if x == 1:
        return Fraction(0), Fraction(0)
    n = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** n:
        n -= 1
    p = bits + abs(n).bit_length() + bits.bit_length() + 8
    m = x / Fraction(2) ** n
    lo, hi = _twice_artanh((m - 1) / (m + 1), p)
    lo2, hi2 = _twice_artanh(Fraction(1, 3), p)
    if n < 0:
        lo2, hi2 = hi2, lo2
    return Fraction(lo + n * lo2, 1 << p), Fraction(hi + n * hi2, 1 << p)


def _twice_artanh(z: Fraction, p: int) -> tuple[int, int]:
    """Brackets of 2^p · 2(z + z³/3 + z⁵/5 + …) for 0 <= z <= 1/3.

    Every floor loses at most one unit, and an error of one power passes to the next divided by 9 or more: a power is too
    small by less than 3, its quotient by less than 4, and what is left out at the end is less than 4 in all.
    """
    power = (z.numerator << p) // z.denominator
    square = (power * power) >> p
    total, n = 0, 1
    while power:
        total += power // n
        power = (power * square) >> p
        n += 2
    return 2 * total, 2 * (total + 2 * n + 4)


def log_up(x: Fraction, bits: int = 64) -> Fraction:
    """An upper bound of ln x, for any x > 0, within 2^-bits."""
    return log_bounds(x, bits)[1]


def log_down(x: Fraction, bits: int = 64) -> Fraction:
    """A lower bound of ln x, for any x > 0, within 2^-bits."""
    return log_bounds(x, bits)[0]


EXP_LIMIT = 1 << 16
"""Beyond ±EXP_LIMIT the brackets of e^x are (0, e^-EXP_LIMIT), and for large x they are refused."""


def exp_bounds(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """For any x <= EXP_LIMIT, a lower and an upper bound of e^x, apart by at most 2^-bits of its value.

    e^x = 2^n e^-r with r = n ln 2 − x between 0.6 and 1.5. Below −EXP_LIMIT the lower bound is 0.

    >>> [float(bound) for bound in exp_bounds(Fraction(1))], exp_bounds(Fraction(0))
    ([2.718281828459045, 2.718281828459045], (Fraction(1, 1), Fraction(1, 1)))
    """
    if x > EXP_LIMIT:
        raise OverflowError(f"e^x is bounded up to x = {EXP_LIMIT} only")
    if x < -EXP_LIMIT:
        return Fraction(0), exp_bounds(Fraction(-EXP_LIMIT), bits)[1]
    if x == 0:
        return Fraction(1), Fraction(1)
    n = int(x * Fraction(14427, 10000) // 1) + 2
    lo2, hi2 = log_bounds(Fraction(2), bits + 4 + abs(n).bit_length())
    if n < 0:
        lo2, hi2 = hi2, lo2
    p = bits + 8
    lo, hi = exp_neg_bounds(n * hi2 - x, p)[0], exp_neg_bounds(n * lo2 - x, p)[1]
    scale = Fraction(2) ** (n - p)
    return lo * scale, hi * scale


def exp_up(x: Fraction, bits: int = 64) -> Fraction:
    """An upper bound of e^x, for any x <= EXP_LIMIT, within 2^-bits of its value."""
    return exp_bounds(x, bits)[1]


def exp_down(x: Fraction, bits: int = 64) -> Fraction:
    """A lower bound of e^x, for any x <= EXP_LIMIT, within 2^-bits of its value, or 0 below −EXP_LIMIT."""
    return exp_bounds(x, bits)[0]
