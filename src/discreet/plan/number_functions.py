"""Logarithms, powers and bins: rows of the table in `functions`.

A logarithm and a power are what the C library of the machine says, to the last bit or nearly: Python and an engine on one machine
agree. Another machine may differ in the last bit of a double; there a value may fall on the next step of its grid, and no bound, price or
noise depends on it. Ends of facts and of intervals are therefore a few doubles wider than the numbers they hold.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import exp, floor, fmod, inf, isfinite, isinf, log, log2, log10, nextafter, trunc
from math import pow as power
from typing import Any

from discreet.plan.facts import Facts
from discreet.plan.functions import E, Ends, FunctionRow, FunctionWords, Written, add, ends, finite, rising
from discreet.plan.types import LARGEST, Type

NUMBER, INTEGER = Type.NUMBER, Type.INTEGER
MOST_BUCKETS = 10_000
APART = 4  # doubles that a library may be off, and more


def _widened(value: float, towards: float) -> float:
    """A double a few steps on; 0 and infinities stay, as no library errs there."""
    for _ in range(APART if value and isfinite(value) else 0):
        value = nextafter(value, towards)
    return value


def _end(value: float, towards: float) -> Fraction | None:
    """The end of what is known; none where it is infinite."""
    return Fraction(_widened(value, towards)) if isfinite(value) else None


def _array_widened(np: Any, values: Any, towards: float) -> Any:
    for _ in range(APART):
        values = np.where((values == 0) | np.isinf(values), values, np.nextafter(values, towards))
    return values


# Logarithms and the exponential.


def _logarithm(rule: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda x: None if x <= 0 else x if isinf(x) else rule(x)


def _known_logarithm(rule: Callable[[float], float]) -> Callable[[Facts], Facts]:
    """The facts of a logarithm: numbers that may be 0 or less leave it without a lower end; the least whole number that has one is 1."""

    def known(x: Facts) -> Facts:
        if x.high is not None and x.high <= 0:
            return Facts()
        least = x.low if x.low is not None and x.low > 0 else Fraction(1) if x.integral else None
        low = None if least is None else _end(rule(float(least)), -inf)
        high = None if x.high is None else _end(rule(float(x.high)), inf)
        return Facts(low, high, False, x.nullable or x.low is None or x.low <= 0)

    return known


def _logarithm_ends(name: str) -> Callable[[Any, Ends], Ends]:
    """The ends of the logarithm of the part that is positive."""

    def interval(np: Any, x: Ends) -> Ends:
        rule = getattr(np, name)
        high = np.where(x[1] <= 0, np.nan, x[1])
        return _array_widened(np, rule(np.maximum(x[0], 0.0)), -inf), _array_widened(np, rule(high), inf)

    return interval


def _write_logarithm(name: str) -> Callable[[FunctionWords, E], E]:
    """What is not positive is NULL before it is looked at."""
    return lambda words, x: getattr(words, name)(words.when([(words.infix(x, ">", words.number(0.0)), x)]))


def _exponential(x: float) -> float:
    try:
        return exp(x)
    except OverflowError:
        return inf


def _known_exponential(x: Facts) -> Facts:
    low = Fraction(0) if x.low is None else _end(max(_widened(_exponential(float(x.low)), -inf), 0.0), -inf)
    high = None if x.high is None else _end(_exponential(float(x.high)), inf)
    return Facts(Fraction(0) if low is None else max(low, Fraction(0)), high, False, x.nullable)


def _exponential_ends(np: Any, x: Ends) -> Ends:
    low = _array_widened(np, np.exp(x[0]), -inf)
    return np.maximum(low, 0.0), _array_widened(np, np.exp(x[1]), inf)


# Powers.


def _power(x: float, y: float) -> float | None:
    """NULL of 0 to a negative power, and of a negative number to one that is not whole."""
    if x == 0 and y < 0:
        return None
    try:
        return power(x, y)
    except OverflowError:
        return -inf if x < 0 and fmod(y, 2.0) else inf
    except ValueError:
        return None


def _write_power(words: FunctionWords, x: E, y: E) -> E:
    zero = words.number(0.0)
    base = words.when(
        [(words.infix(x, "=", zero), words.when([(words.infix(y, ">=", zero), x)]))],
        x,
    )
    return words.power(base, y)


def _known_power(x: Facts, y: Facts) -> Facts:
    """Bounds of a power of a number that is not negative, or of any number to a constant power that is whole and not negative."""
    if x.low is None or x.high is None or y.low is None or y.high is None:
        return Facts()
    whole = y.low == y.high and y.low.denominator == 1 and y.low >= 0
    if not whole and (x.low < 0 or (x.low == 0 and y.low < 0)):
        return Facts()
    corners = [_power(float(a), float(b)) for a, b in product((x.low, x.high), (y.low, y.high))]
    if whole and x.low < 0 < x.high and y.low:
        corners.append(0.0)
    values = [each for each in corners if each is not None]
    exact = whole and x.integral and max(map(abs, values)) < LARGEST
    low = Fraction(min(values)) if exact else _end(min(values), -inf)
    high = Fraction(max(values)) if exact else _end(max(values), inf)
    if low is not None and min(values) >= 0:
        low = max(low, Fraction(0))
    return Facts(low, high, exact, x.nullable or y.nullable)


def _power_ends(np: Any, x: Ends, y: Ends) -> Ends:
    """The least and the largest of the corners, for what is not negative; elsewhere nothing is known."""
    corners = np.stack([np.power(a, b) for a, b in product(x, y)])
    low, high = np.fmin.reduce(corners), np.fmax.reduce(corners)
    known = x[0] >= 0
    low = np.maximum(_array_widened(np, low, -inf), 0.0)
    return np.where(known, low, -inf), np.where(known, _array_widened(np, high, inf), inf)


# Whole numbers and bins.


def _write_trunc(words: FunctionWords, x: E) -> E:
    below = words.infix(x, "<", words.number(0.0))
    return words.when([(below, words.call("ceil", x))], words.call("floor", x))


def _width_bucket(x: float, low: float, high: float, count: float) -> int | None:
    """0 below, count + 1 at the upper end and above."""
    if not (low < high and 1 <= count <= MOST_BUCKETS and count == floor(count)):
        return None
    if x < low:
        return 0
    if x >= high:
        return int(count) + 1
    share = (x - low) / (high - low) * count
    return min(floor(share), int(count) - 1) + 1 if isfinite(share) else None


def _write_width_bucket(words: FunctionWords, x: E, low: E, high: E, count: E) -> E:
    width = words.infix(high, "-", low)
    share = words.infix(words.infix(words.infix(x, "-", low), "/", width), "*", count)
    # where there is no share there is none of the sum either, and LEAST would pass over it
    one, buckets = words.whole(1), words.floor_to_int(count)
    inside = words.infix(words.floor_to_int(share), "+", one)
    placed = words.when(
        [
            (words.infix(x, "<", low), words.whole(0)),
            (words.infix(x, ">=", high), words.infix(buckets, "+", one)),
            (words.infix(inside, "<=", buckets), inside),
            (words.infix(inside, ">", buckets), buckets),
        ]
    )
    conditions = [
        words.infix(low, "<", high),
        words.infix(count, ">=", words.number(1.0)),
        words.infix(count, "<=", words.number(float(MOST_BUCKETS))),
        words.infix(count, "=", words.call("floor", count)),
    ]
    for condition in conditions:
        placed = words.when([(condition, placed)])
    return placed


def _known_bucket(x: Facts, low: Facts, high: Facts, count: Facts) -> Facts:
    most = MOST_BUCKETS if count.high is None else max(min(floor(count.high), MOST_BUCKETS), 0)
    return Facts(Fraction(0), Fraction(most + 1), True)


add(
    FunctionRow(
        "trunc",
        (NUMBER,),
        NUMBER,
        "the number without its decimals; `TRUNC(x, 2)`: with that many; `x // y` is `TRUNC(x / y)`",
        meaning=finite(trunc),
        write=_write_trunc,
        facts=rising(trunc, integral=True),
        interval=ends(lambda np, x: np.trunc(x)),
        counted=True,
        makes_nan=False,
        written=Written.OFTEN,
    ),
    FunctionRow(
        "ln",
        (NUMBER,),
        NUMBER,
        "the natural logarithm; NULL of 0 and of negative numbers",
        meaning=_logarithm(log),
        write=_write_logarithm("ln"),
        facts=_known_logarithm(log),
        interval=_logarithm_ends("log"),
        makes_nan=False,
        written=Written.TWICE,
    ),
    FunctionRow(
        "log10",
        (NUMBER,),
        NUMBER,
        "the logarithm to the base 10, as `LOG(x)` is; `LOG(b, x)`: to the base b",
        meaning=_logarithm(log10),
        write=_write_logarithm("log10"),
        facts=_known_logarithm(log10),
        interval=_logarithm_ends("log10"),
        makes_nan=False,
        written=Written.TWICE,
    ),
    FunctionRow(
        "log2",
        (NUMBER,),
        NUMBER,
        "the logarithm to the base 2",
        meaning=_logarithm(log2),
        write=_write_logarithm("log2"),
        facts=_known_logarithm(log2),
        interval=_logarithm_ends("log2"),
        makes_nan=False,
        written=Written.TWICE,
    ),
    FunctionRow(
        "exp",
        (NUMBER,),
        NUMBER,
        "e to this power",
        meaning=_exponential,
        write=lambda words, x: words.exp(x),
        facts=_known_exponential,
        interval=_exponential_ends,
        makes_nan=False,
    ),
    FunctionRow(
        "power",
        (NUMBER, NUMBER),
        NUMBER,
        "the first to the power of the second, `x ^ y` or `x ** y`; NULL of 0 to a negative power, and of a negative number to one that is"
        " not whole",
        meaning=_power,
        write=_write_power,
        facts=_known_power,
        interval=_power_ends,
        synonyms=("POW",),
        written=Written.OFTEN,
    ),
    FunctionRow(
        "width_bucket",
        (NUMBER, NUMBER, NUMBER, NUMBER),
        INTEGER,
        "`WIDTH_BUCKET(x, low, high, n)`: which of n bins of one width from low to high, from 1; 0 below them, n + 1 from high on",
        meaning=_width_bucket,
        write=_write_width_bucket,
        facts=_known_bucket,
        counted=True,
        makes_nan=False,
        written=Written.OFTEN,
    ),
)
