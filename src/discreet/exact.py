"""Exact numbers: what a caller's number means, and integer brackets around e^-x.

Nothing here rounds to nearest. A number from a caller becomes the rational that it prints as; a transcendental
value becomes two integers with the truth between them. No result of libm is trusted anywhere.
"""

import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from math import isfinite
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
    numerator, denominator = ratio(value, name)
    return Fraction(numerator, denominator)


def ratio(value: object, name: str) -> tuple[int, int]:
    """`rational` as numerator and denominator in lowest terms, for callers that count microseconds."""
    if type(value) is float and isfinite(value):
        return Decimal(float.__repr__(value)).as_integer_ratio()
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise Invalid(f"{name} must be a number (int, float, Fraction or Decimal), got {shown(value)}")
    if isinstance(value, numbers.Rational):
        pair = int(value.numerator), int(value.denominator)
    elif not (value.is_finite() if isinstance(value, Decimal) else isfinite(value)):
        raise Invalid(f"{name} must be finite, got {shown(value)}")
    else:
        printed = float.__repr__(value) if isinstance(value, float) else str(value)
        decimal = value if isinstance(value, Decimal) else Decimal(printed)
        if max(abs(decimal.adjusted()), len(decimal.as_tuple().digits)) > MAX_BITS:
            raise _too_long(name)  # before 1e-999999999 fills the memory
        pair = decimal.as_integer_ratio()
    if any(part.bit_length() > MAX_BITS for part in pair):
        raise _too_long(name)
    return pair


def _too_long(name: str) -> Invalid:
    return Invalid(
        f"{name} has too many digits: numerator and denominator must be at most {MAX_BITS} bits",
        hint="round it to a shorter fraction first",
    )


def positive(value: object, name: str) -> Fraction:
    """Like `rational`, and greater than zero."""
    numerator, denominator = positive_ratio(value, name)
    return Fraction(numerator, denominator)


def positive_ratio(value: object, name: str) -> tuple[int, int]:
    """Like `ratio`, and greater than zero."""
    pair = ratio(value, name)
    if pair[0] <= 0:
        raise Invalid(f"{name} must be positive, got {shown(value)}")
    return pair


def whole(value: object, name: str, *, least: int = 0) -> int:
    """A caller's integer, at least `least`; a float is refused even when it is whole."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
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
