"""Intervals as they are told: their ends rounded outward to digits that mean something, and the ± that follows.

One number is rounded exactly, in integers and decimals. Columns of them are rounded as doubles, wherever these surely come to the same:
where a number in units of its last digit is so far from a whole one that no rounding of a product takes it there; and where it is a
whole number below 2^52 itself, as bounds are. Its products with powers of ten are exact then, as far as they are below 2^52, and a
quotient that is not whole is further from one than it is rounded. Powers of ten up to 10^22 are doubles, and the quotient or the
product of two that are is rounded once, as that of integers.
"""

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from math import ceil, floor, isfinite, log10, nan
from typing import TypeAlias

import numpy as np

from discreet.plan.affine import Bools, Reals, Span
from discreet.plan.interval import Interval, IntervalColumn
from discreet.plan.scalar import Value

DIGITS = 4  # of half a width; ends are rounded outward to them
MOST_PLACES = 300
TOUCH = 1e-9
TOO_LARGE = "too large to tell"
POWERS = 10.0 ** np.arange(23)
NEAR, NEAR_POWER = 1e-15, 1e-9
"""What is nearer to a whole number, in proportion to its size, is rounded by itself; and logarithms, which differ by more."""

Rounded: TypeAlias = tuple[Reals, Bools]
"""Rounded numbers, and of which of them that is sure."""


def around(values: Sequence[Value], errors: Sequence[int | float]) -> IntervalColumn:
    """Intervals of so much on either side."""
    if set(map(type, values)) <= {int, float}:
        with np.errstate(over="ignore"):
            sizes = np.abs(np.array(values, np.float64)) + np.array(errors, np.float64)
        if np.isfinite(sizes).all():
            pairs = list(zip(values, errors, strict=True))
            low, high = [value - error for value, error in pairs], [value + error for value, error in pairs]  # type: ignore[operator]
            return IntervalColumn(low, high, list(errors), [None] * len(low))
    return IntervalColumn.of([_around(value, error) for value, error in zip(values, errors, strict=True)])


def _around(value: Value, error: int | float) -> Interval:
    if not isinstance(value, int | float) or not isfinite(abs(float(value)) + error):
        return Interval(None, None, None, TOO_LARGE)
    return Interval(value - error, value + error, error)


def told(values: Sequence[Value], span: Span, unknown: str, whole: bool) -> IntervalColumn:
    """What `told_of` says for each; an end that noise alone would not have has a flag."""
    flags = [unknown if is_open else None for is_open in span.open.tolist()]
    lows, highs = span.low.tolist(), span.high.tolist()
    if whole or not {float} <= set(map(type, values)) <= {float, type(None)}:
        rows = zip(values, lows, highs, flags, strict=True)
        return IntervalColumn.of([told_of(value, low, high, flag, unknown, whole) for value, low, high, flag in rows])
    numbers = np.array([nan if value is None else value for value in values], np.float64)
    low, high = np.minimum(span.low, numbers), np.maximum(span.high, numbers)
    first, last, error, sure = _outward(numbers, low, high)
    column = IntervalColumn(first.tolist(), last.tolist(), error.tolist(), flags)
    absent = set()
    for i in np.flatnonzero(~sure).tolist():
        interval = told_of(values[i], lows[i], highs[i], flags[i], unknown, whole)
        if interval is None:
            absent.add(i)
        else:
            column.low[i], column.high[i], column.error[i] = interval.low, interval.high, interval.error
            column.flag[i] = interval.flag
    return IntervalColumn(column.low, column.high, column.error, column.flag, frozenset(absent))


def _outward(values: Reals, low: Reals, high: Reals) -> tuple[Reals, Reals, Reals, Bools]:
    """Ends and errors, and of which rows they are surely those of `told_of`."""
    with np.errstate(all="ignore"):
        half = np.log10((high - low) / 2)
        places = DIGITS - 1 - np.floor(half)
        (first, first_sure), (last, last_sure) = _downs(low, places), _downs(-high, places)
        last = -last
        off = np.maximum(values - first, last - values)
        size = np.log10(off)
        error, error_sure = _downs(-off, DIGITS - 1 - np.floor(size))
        sure = first_sure & last_sure & error_sure & _far(half, NEAR_POWER) & _far(size, NEAR_POWER) & (high > low)
    return first, last, -error, sure


def _downs(numbers: Reals, places: Reals) -> Rounded:
    """What `down` says for each."""
    small = np.abs(places) <= len(POWERS) - 1
    unit = POWERS[np.where(small, np.abs(places), 0).astype(np.int64)]
    steps = np.where(places >= 0, numbers * unit, numbers / unit)
    whole = np.floor(steps) + 0.0  # no negative zero
    exact = (np.rint(numbers) == numbers) & (np.abs(numbers) < 2**52)
    sure: Bools = small & (exact | _far(steps, NEAR)) & (np.abs(steps) < 2**52)
    return np.where(places >= 0, whole / unit, whole * unit), sure


def _far(numbers: Reals, near: float) -> Bools:
    """Whether a number is not near a whole one."""
    far: Bools = np.abs(numbers - np.rint(numbers)) > near * np.maximum(np.abs(numbers), 1)
    return far


def told_of(value: Value, low: float, high: float, flag: str | None, unknown: str, whole: bool) -> Interval | None:
    """Ends rounded outward, to digits that mean something, and around the value."""
    if value is None and flag is None:
        return None  # a number that the question hides
    if not isinstance(value, int | float) or low != low or high != high:
        return Interval(None, None, None, unknown)
    if whole and isfinite(low) and isfinite(high):
        low, high = ceil(low - TOUCH), floor(high + TOUCH)  # the truth is a whole number, too
    low, high = min(low, value), max(high, value)
    if low == high:
        return Interval(value, value, 0, flag)
    if not isfinite(high - low):
        finite = [end if isfinite(end) else None for end in (low, high)]
        return Interval(finite[0], finite[1], None, unknown)
    if whole:
        return Interval(int(low), int(high), int(max(value - low, high - value)), flag)
    places = min(MOST_PLACES, DIGITS - 1 - floor(log10((high - low) / 2)))
    first, last = down(float(low), places), -down(-float(high), places)
    return Interval(first, last, rounded_up(max(value - first, last - value), DIGITS), flag)


def most_told(half: float) -> float:
    """The largest ± that `told_of` has for an interval of so much on either side of a number: its ends are rounded outward.

    >>> most_told(1999.5), most_told(0.02), told_of(0.4, -1999.1, 1999.9, None, "", False).error
    (2001.0, 0.02001, 2001.0)
    """
    if not 0 < half < float("inf"):
        return half
    return rounded_up(half + 10.0 ** (floor(log10(half)) + 1 - DIGITS), DIGITS)


def down(x: float, places: int) -> float:
    """A float not above x, with so many decimal places; the quotient of integers is the float that prints like that.

    >>> down(0.12999, 2), down(-0.12001, 2), down(1234.0, -2)
    (0.12, -0.13, 1200.0)
    """
    top, bottom = x.as_integer_ratio()
    if places >= 0:
        unit: int = 10**places
        return (top * unit // bottom) / unit
    unit = 10**-places
    return float(top // (bottom * unit) * unit)


def rounded_up(x: float, digits: int) -> float:
    """A number not below x, with so many digits.

    >>> rounded_up(0.0123401, 4), rounded_up(120.0, 4)
    (0.01235, 120.0)
    """
    rounded = float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(repr(float(x)))))
    return rounded if isfinite(rounded) else x
