"""What a caller's number means, and the integer brackets around e^-x, against ball arithmetic."""

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, Invalid
from discreet.exact import (
    MAX_BITS,
    divide_up,
    exp_neg_bounds,
    positive,
    positive_ratio,
    ratio,
    rational,
    remembered,
    shift_up,
    shown,
    whole,
)
from tests.scale import repeats

MAX_MESSAGE = 300  # characters
SEEDS = st.integers(0, 2**64 - 1)
LONG = 10**9_999  # an integer of 10,000 digits

MEANINGS: list[tuple[object, Fraction]] = [
    (0, Fraction(0)),
    (-7, Fraction(-7)),
    (10**1200, Fraction(10**1200)),
    (0.1, Fraction(1, 10)),
    (-0.0, Fraction(0)),
    (1 / 3, Fraction("0.3333333333333333")),
    (1e308, Fraction(10**308)),
    (5e-324, Fraction(5, 10**324)),
    (2.0**-1074 * 3, Fraction(15, 10**324)),  # prints as 1.5e-323
    (Fraction(1, 3), Fraction(1, 3)),
    (Fraction(6, -4), Fraction(-3, 2)),
    (Decimal("0.10"), Fraction(1, 10)),
    (Decimal("1e-400"), Fraction(1, 10**400)),
    (Decimal("-0"), Fraction(0)),
    (np.float64(0.1), Fraction(1, 10)),
    (np.float32(0.1), Fraction(1, 10)),
    (np.float16(0.1), Fraction(1, 10)),
    (np.longdouble("0.5"), Fraction(1, 2)),
    (np.int64(-3), Fraction(-3)),
    (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
    (np.int8(5), Fraction(5)),
]


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text of me")


class Misprinted:
    def __repr__(self) -> str:
        return 7  # type: ignore[return-value]


def nested(depth: int) -> list[object]:
    outer: list[object] = []
    for _ in range(depth):
        outer = [outer]
    return outer


REFUSED: dict[str, object] = {
    "True": True,
    "np.True_": np.True_,
    "text": "1",
    "bytes": b"1",
    "None": None,
    "complex": 1j,
    "np.complex128": np.complex128(1),
    "NaN": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "np.float64 NaN": np.float64("nan"),
    "np.float32 inf": np.float32("inf"),
    "Decimal NaN": Decimal("NaN"),
    "Decimal signalling NaN": Decimal("sNaN"),
    "Decimal -Infinity": Decimal("-Infinity"),
    "Decimal 1e-999999999": Decimal("1e-999999999"),
    "Decimal 1e999999999": Decimal("1e999999999"),
    "Decimal of 300,000 digits": Decimal("1." + "1" * 299_999),
    "int of 10,000 digits": LONG,
    "negative int of 10,000 digits": -LONG,
    "Fraction above 10,000 digits": Fraction(LONG, 3),
    "Fraction below 10,000 digits": Fraction(1, LONG),
    "list": [1],
    "long list": [1] * 100_000,
    "nested list": nested(50_000),
    "tuple": (1,),
    "array": np.array([1.0]),
    "array without axes": np.array(1.0),
    "unprintable": Unprintable(),
    "misprinted": Misprinted(),
}


def message_of(refusal: pytest.ExceptionInfo[Invalid], name: str) -> str:
    """The text of a refusal, which is short and names the parameter."""
    text = str(refusal.value)
    assert isinstance(refusal.value, ValueError) and isinstance(refusal.value, DiscreetError)
    assert text.startswith(f"{name} "), text
    assert len(text) < MAX_MESSAGE, len(text)
    return text


@pytest.mark.parametrize(("value", "meaning"), MEANINGS, ids=shown)
def test_a_number_means_what_it_prints(value: object, meaning: Fraction) -> None:
    exact = rational(value, "scale")
    assert type(exact) is Fraction and exact == meaning
    assert ratio(value, "scale") == (meaning.numerator, meaning.denominator)
    assert all(type(part) is int for part in ratio(value, "scale"))


@settings(max_examples=repeats(200))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_means_its_shortest_decimal(value: float) -> None:
    meaning = rational(value, "scale")
    assert meaning == Fraction(repr(value)) == rational(np.float64(value), "scale")
    assert float(meaning) == value
    assert max(abs(meaning.numerator), meaning.denominator).bit_length() <= MAX_BITS


@settings(max_examples=repeats(100))
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_narrow_float_means_the_shorter_decimal_it_prints(value: float) -> None:
    narrow = np.float32(value)
    assert rational(narrow, "scale") == Fraction(str(narrow))


@pytest.mark.timeout(5)
@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_is_no_short_finite_number_is_refused_by_name(value: object) -> None:
    for read in (rational, ratio, positive, positive_ratio):
        with pytest.raises(Invalid) as refusal:
            read(value, "colour")
        message_of(refusal, "colour")


@pytest.mark.parametrize("bits", [MAX_BITS, MAX_BITS + 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_up_to_the_longest_are_taken(bits: int, sign: int) -> None:
    longest = (1 << bits) - 1
    for value in (sign * longest, Fraction(sign, longest), Fraction(sign * longest, longest - 1)):
        if bits <= MAX_BITS:
            assert rational(value, "scale") == value
        else:
            with pytest.raises(Invalid, match="scale has too many digits"):
                rational(value, "scale")


@pytest.mark.parametrize("value", [0, -1, -0.0, 0.0, Fraction(0), Decimal("-1e-9"), np.float64(-2), np.int64(0)])
def test_positive_means_above_zero(value: object) -> None:
    assert rational(value, "scale") <= 0
    for read in (positive, positive_ratio):
        with pytest.raises(Invalid) as refusal:
            read(value, "scale")
        assert "must be positive" in message_of(refusal, "scale")


def test_positive_numbers_pass() -> None:
    for value, meaning in MEANINGS:
        if meaning > 0:
            assert positive(value, "scale") == meaning
            assert positive_ratio(value, "scale") == meaning.as_integer_ratio()


@pytest.mark.parametrize("value", [0, 3, 10**9_999, np.int8(3), np.uint64(2**64 - 1)], ids=shown)
def test_whole_numbers_stay_themselves(value: int) -> None:
    assert type(whole(value, "n")) is int and whole(value, "n") == value


NOT_WHOLE: list[object] = [
    *(1.0, math.nan, math.inf, np.float64(1), Fraction(1), Decimal(1), 1j),
    *(True, np.True_, "1", None, [1], (1,), np.array([1]), np.array(1), Unprintable()),
]


@pytest.mark.timeout(5)
@pytest.mark.parametrize("value", NOT_WHOLE, ids=shown)
def test_what_is_no_integer_is_not_whole(value: object) -> None:
    with pytest.raises(Invalid) as refusal:
        whole(value, "n")
    assert "must be an integer" in message_of(refusal, "n")


@pytest.mark.parametrize(("value", "least"), [(-1, 0), (0, 1), (1, 2), (-LONG, 0), (np.int64(-1), 0)], ids=shown)
def test_whole_numbers_have_a_least(value: int, least: int) -> None:
    with pytest.raises(Invalid) as refusal:
        whole(value, "n", least=least)
    assert f"at least {least}" in message_of(refusal, "n")
    assert whole(least, "n", least=least) == least


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_a_shown_value_is_short(value: object) -> None:
    assert 0 < len(shown(value)) < 120


def test_a_shown_value_is_recognised() -> None:
    assert shown(-1) == "-1" and shown(0.1) == "0.1" and shown("x") == "'x'"
    assert shown(Fraction(1, 3)) == "1/3"
    assert shown("a" * 58) == repr("a" * 58)
    assert shown("a" * 59 + "z").startswith("'aaaa") and "z' (62 characters)" in shown("a" * 59 + "z")


@settings(max_examples=repeats(100))
@given(st.integers(-(2**80), 2**80), st.integers(0, 90), st.integers(1, 2**40))
def test_rounding_up_is_the_least_integer_above(value: int, bits: int, by: int) -> None:
    assert shift_up(value, bits) == math.ceil(Fraction(value, 1 << bits))
    assert divide_up(value, by) == math.ceil(Fraction(value, by))


def brackets_hold(x: Fraction, bits: int) -> None:
    """lo <= 2^bits e^-x <= hi and hi − lo <= 4, with the truth as a ball far narrower than its distance to either."""
    lo, hi = exp_neg_bounds(x, bits)
    assert type(lo) is int and type(hi) is int
    assert 0 <= lo <= hi <= lo + 4, (x, bits, hi - lo)
    if x > 4 * bits + 100:  # e^-x < 2^-bits: not worth a ball
        assert lo == 0 < hi
        return
    length = x.numerator.bit_length() + x.denominator.bit_length()
    with ctx.workprec(bits + 2 * length + 100):
        truth = (-arb(fmpq(x.numerator, x.denominator))).exp() * arb(fmpq(1 << bits))
        assert arb(fmpq(lo)) <= truth <= arb(fmpq(hi)), (x, bits)


@settings(max_examples=repeats(400))
@given(SEEDS)
def test_brackets_of_the_exponential_hold_the_truth(seed: int) -> None:
    random = Random(seed)
    bits = random.choice([1, 2, 8, 64, 128, random.randrange(1, 400)])
    numerator = random.getrandbits(random.randrange(1, 300))
    denominator = random.getrandbits(random.randrange(1, 300)) + 1
    x = Fraction(numerator, denominator)
    brackets_hold(x, bits)
    brackets_hold(x % (bits + 2), bits)  # most x above are far too large or too small to be interesting


def extremes() -> Iterator[Fraction]:
    yield from (Fraction(n) for n in (0, 1, 2, 10, 63, 64, 65, 66, 129, 1000, 10**308, 10**1200))
    yield from (Fraction(1, 10**n) for n in (1, 19, 20, 25, 26, 30, 324, 1200))
    yield from (Fraction(1, 64) + Fraction(i, 1 << 70) for i in (-1, 0, 1))  # where the reduction begins
    yield from (Fraction(2) ** n * (1 + Fraction(i, 1 << 80)) for n in range(-8, 8) for i in (-1, 1))
    yield from (Fraction((1 << 4095) + 1, (1 << 4095) - n) for n in (1, 12345))
    yield rational(math.log(2), "x")  # next to a half
    yield rational(math.log(2) * 64, "x")  # next to a unit


@pytest.mark.parametrize("bits", [1, 16, 64, 65, 128, 1000])
def test_brackets_hold_at_extremes(bits: int) -> None:
    for x in extremes():
        brackets_hold(x, bits)
    for near in (bits, bits + 1, bits + 2):  # where the answer becomes "less than one unit"
        brackets_hold(Fraction(near), bits)
        brackets_hold(near + Fraction(1, 1 << 60), bits)


@settings(max_examples=repeats(50))
@given(SEEDS)
def test_more_bits_never_contradict_fewer(seed: int) -> None:
    """`decide` asks again with more digits: the brackets must keep a common point."""
    random = Random(seed)
    x = Fraction(random.getrandbits(80), random.getrandbits(76) + 1)
    bits, more = random.randrange(1, 200), random.randrange(1, 200)
    lo, hi = exp_neg_bounds(x, bits)
    finer_lo, finer_hi = exp_neg_bounds(x, bits + more)
    assert finer_lo <= hi << more and lo << more <= finer_hi


def test_remembered_computes_once_for_each_value_and_type() -> None:
    calls: list[object] = []

    @remembered
    def meaning(value: object, name: str = "x") -> tuple[object, str]:
        """Its meaning."""
        calls.append(value)
        return value, name

    for value in (1, 1.0, True, Fraction(1), Decimal(1), np.float64(1), np.int64(1)):
        first, again = meaning(value), meaning(value)
        assert type(first[0]) is type(value) and first is again
    assert len(calls) == 7
    assert meaning(1, name="y") == (1, "y") and len(calls) == 8
    assert meaning.__name__ == "meaning" and meaning.__doc__ == "Its meaning."
    meaning.cache_clear()  # type: ignore[attr-defined]
    meaning(1)
    assert len(calls) == 9


def test_remembered_passes_on_what_cannot_be_a_key() -> None:
    calls: list[object] = []

    @remembered
    def length(values: list[int]) -> int:
        calls.append(values)
        return len(values)

    assert length([1, 2]) == 2 and length([1, 2, 3]) == 3 and len(calls) == 2


def test_remembered_keeps_no_refusal_and_no_error() -> None:
    calls: list[object] = []

    @remembered
    def read(value: object) -> Fraction:
        calls.append(value)
        if value == 7:
            raise TypeError("seven")
        return rational(value, "value")

    for _ in range(2):
        with pytest.raises(Invalid, match="value must be finite"):
            read(math.nan)
    assert len(calls) == 2
    assert read(1) == 1
    with pytest.raises(Invalid, match="value must be a number"):
        read(True)  # equal to 1, and yet no number
    with pytest.raises(TypeError, match="seven"):
        read(7)
