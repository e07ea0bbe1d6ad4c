"""The meaning of expressions, told by hand: truth tables, casts of nasty texts, the first and last days, patterns."""

import math
from datetime import date, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Fault
from discreet.plan import scalar as s
from discreet.plan.casts import CASTS, convert
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import Literal, Operator, Order, Scalar, Type, type_of
from tests.plan import strategies as made
from tests.scale import repeats

KINDS = {
    Type.INTEGER: int,
    Type.NUMBER: float,
    Type.TEXT: str,
    Type.DATE: date,
    Type.TIMESTAMP: datetime,
    Type.BOOLEAN: bool,
}


def truth(value: bool | None) -> Literal:
    return Literal(value, Type.BOOLEAN)


def number(value: float | None) -> Literal:
    return Literal(value, Type.NUMBER)


def integer(value: int | None) -> Literal:
    return Literal(value, Type.INTEGER)


def text(value: str | None) -> Literal:
    return Literal(value, Type.TEXT)


def value(scalar: Scalar) -> Any:
    return evaluate(scalar, {})


ALL = (True, False, None)
AND = {(True, True): True, (True, None): None, (None, True): None, (None, None): None}
OR = {(False, False): False, (False, None): None, (None, False): None, (None, None): None}


@pytest.mark.parametrize(("left", "right"), list(product(ALL, ALL)))
def test_logic_has_three_values(left: bool | None, right: bool | None) -> None:
    assert value(s.And((truth(left), truth(right)))) is AND.get((left, right), False)
    assert value(s.Or((truth(left), truth(right)))) is OR.get((left, right), True)
    assert value(s.Not(truth(left))) is {True: False, False: True, None: None}[left]
    assert value(s.IsNull(truth(left))) is (left is None)
    assert value(s.Indicator(truth(left))) == (1 if left else 0)


def test_of_no_parts_all_hold_and_none_holds() -> None:
    assert value(s.And(())) is True and value(s.Or(())) is False


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        (Operator.ADD, 1.0, math.inf, math.inf),
        (Operator.ADD, math.inf, -math.inf, None),
        (Operator.SUBTRACT, math.inf, math.inf, None),
        (Operator.MULTIPLY, 1e308, 10.0, math.inf),
        (Operator.MULTIPLY, 0.0, math.inf, None),
        (Operator.DIVIDE, 1.0, 0.0, None),
        (Operator.DIVIDE, 1.0, -0.0, None),
        (Operator.DIVIDE, math.inf, math.inf, None),
        (Operator.DIVIDE, 7.0, 2.0, 3.5),
        (Operator.REMAINDER, -7.5, 2.0, -1.5),
        (Operator.REMAINDER, 5.0, math.inf, 5.0),
        (Operator.REMAINDER, math.inf, 5.0, None),
        (Operator.REMAINDER, 5.0, 0.0, None),
        (Operator.ADD, None, 1.0, None),
    ],
)
def test_arithmetic_is_that_of_doubles_and_never_raises(
    operator: Operator, left: float | None, right: float, result: float | None
) -> None:
    assert value(s.Arithmetic(operator, number(left), number(right))) == result


def test_integers_are_divided_as_numbers_and_do_not_overflow() -> None:
    assert value(s.Arithmetic(Operator.DIVIDE, integer(7), integer(2))) == 3.5
    assert value(s.Arithmetic(Operator.MULTIPLY, integer(2**62), integer(4))) == 2.0**64


def test_comparisons_are_exact_within_a_type_and_by_doubles_across() -> None:
    big = 2**53
    assert value(s.Comparison(Order.LESS, integer(big), integer(big + 1))) is True
    assert value(s.Comparison(Order.LESS, integer(big), number(float(big + 2)))) is True
    assert value(s.Comparison(Order.EQUAL, integer(big + 1), number(float(big)))) is True
    assert value(s.In(integer(big + 1), (integer(big), number(0.5)))) is False
    assert value(s.Comparison(Order.EQUAL, number(0.0), number(-0.0))) is True
    assert value(s.Comparison(Order.LESS, text("Z"), text("a"))) is True
    assert value(s.Comparison(Order.LESS, text("\uffff"), text("🏥"))) is True
    assert value(s.Comparison(Order.LESS, text(None), text("a"))) is None


def test_membership_of_null_is_null_and_of_no_values_false() -> None:
    assert value(s.In(integer(None), (integer(1),))) is None
    assert value(s.In(integer(None), ())) is None
    assert value(s.In(integer(1), ())) is False
    assert value(s.In(text("a"), (text("b"), text("a")))) is True


@pytest.mark.parametrize(
    ("pattern", "subject", "found"),
    [
        ("a%", "abc", True),
        ("a%", "Abc", False),
        ("%", "", True),
        ("_", "", False),
        ("_", "🏥", True),
        ("_", "e\u0301", False),
        ("a_c", "a\nc", True),
        ("%b%", "a\nb", True),
        ("100\\%", "100%", True),
        ("100\\%", "1000", False),
        ("a\\_b", "axb", False),
        ("a\\\\b", "a\\b", True),
        ("\\a", "a", True),
        ("a\\", "a\\", True),
        ("a.c", "abc", False),
        ("[a]%", "[a]x", True),
        ("a", "a\n", False),
    ],
)
def test_patterns(pattern: str, subject: str, found: bool) -> None:
    assert value(s.Like(text(subject), pattern)) is found


@pytest.mark.parametrize(
    ("pattern", "subject", "found"),
    [
        ("WARD%", "ward 1", True),
        ("ward%", "WARD 1", True),
        ("ä", "Ä", False),
        ("k", "\u212a", False),
        ("s", "\u017f", False),
    ],
)
def test_case_is_ignored_of_the_letters_a_to_z_only(pattern: str, subject: str, found: bool) -> None:
    assert value(s.Like(text(subject), pattern, ignore_case=True)) is found


NUMBERS: dict[str, float | None] = {
    **{
        "1": 1.0,
        " 12\t": 12.0,
        "+3": 3.0,
        "-0.5": -0.5,
        "007.50": 7.5,
        "12\n": 12.0,
        "\r\n 1": 1.0,
        "0." + "9" * 15: 0.999999999999999,
        "0.23796462709189137": 0.23796462709189137,
        ".5": 0.5,
        "5.": 5.0,
        "1e3": 1000.0,
        "2.7E-07": 2.7e-07,
        "9" * 19: 1e19,
        "0" * 399 + "7": 7.0,
        "1e400": math.inf,
        "-1e400": -math.inf,
        "1e-400": 0.0,
    },
    **dict.fromkeys(
        [
            "",
            " ",
            ".",
            "e5",
            "1e",
            "1e5.5",
            "nan",
            "inf",
            "0x10",
            "1_000",
            "1,5",
            "٣",
            "--1",
            "+-1",
            "1 2",
            "0" * 400 + "7",
        ]
    ),
    **dict.fromkeys(["1\x00", "\xa01", "\x0b1", "½", "1.0.0", "NULL"]),
}


@pytest.mark.parametrize(("given", "wanted"), NUMBERS.items())
def test_text_becomes_a_number_by_one_rule(given: str, wanted: float | None) -> None:
    assert value(s.Cast(text(given), Type.NUMBER)) == wanted


INTEGERS = {"2004.0": 2004, "1e3": 1000, "12.50e1": 125, ".0": 0, "-7.": -7, "7.5": None, "-0.4": None, "15e-1": None}
EXACT = {
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808.00": -(2**63),
    "9223372036854775808": None,
    "1e18": 10**18,
    "1e19": None,
    "x": None,
}


@pytest.mark.parametrize(("given", "wanted"), [*INTEGERS.items(), *EXACT.items()])
def test_text_becomes_the_whole_number_that_it_says_exactly(given: str, wanted: int | None) -> None:
    assert value(s.Cast(text(given), Type.INTEGER)) == wanted


DAYS = {
    "0001-01-01": date(1, 1, 1),
    "1969-12-31": date(1969, 12, 31),
    "9999-12-31": date(9999, 12, 31),
    "2024-02-29": date(2024, 2, 29),
    **dict.fromkeys(
        ["0000-01-01", "2023-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "24-01-01", "2024-01-01 x"], None
    ),
    **dict.fromkeys(
        ["10000-01-01", "2024/01/01", "-001-01-01", "", "today", "infinity", "٢٠٢٤-01-01", "2024-01-01T"], None
    ),
    " 2024-01-01\n": date(2024, 1, 1),
    "2024-12-31T23:30:00": date(2024, 12, 31),
    "2024-12-31 23:30-00:30": date(2025, 1, 1),
    "2024-12-31 23:30:59.123456789Z": date(2024, 12, 31),
    "2025-01-01T01:59:00+0200": date(2024, 12, 31),
    "2025-01-01 02:00:00 +02": date(2025, 1, 1),
    **dict.fromkeys(["9999-12-31T23:30-01", "0001-01-01T00:00+01", "2024-01-01T24:00", "2023-02-29T12:00"], None),
}


@pytest.mark.parametrize(("given", "wanted"), DAYS.items())
def test_text_becomes_a_day_of_the_calendar(given: str, wanted: date | None) -> None:
    assert value(s.Cast(text(given), Type.DATE)) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        *((each, True) for each in ("true", "T", "Yes", "1", " true ", "on", "y", "1.0")),
        *((each, False) for each in ("FALSE", "f", "nO", "0", "OFF\t", "n", "0.0")),
        *((each, None) for each in ("", "2", "truе", "10", "yess", "1.00")),
    ],
)
def test_text_becomes_a_truth_value_by_a_list(given: str, wanted: bool | None) -> None:
    assert value(s.Cast(text(given), Type.BOOLEAN)) is wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (0.5, 1),
        (-0.5, -1),
        (2.5, 3),
        (0.49999999999999994, 0),
        (2.0**53 - 1, 2**53 - 1),
        (2.0**53, None),
        (-(2.0**53), None),
        (math.inf, None),
        (-0.0, 0),
    ],
)
def test_a_number_becomes_an_integer_if_it_is_small(given: float, wanted: int | None) -> None:
    assert value(s.Cast(number(given), Type.INTEGER)) == wanted


def test_values_become_text_as_they_are_written() -> None:
    assert value(s.Cast(integer(-(2**63)), Type.TEXT)) == "-9223372036854775808"
    assert value(s.Cast(Literal(date(1, 1, 1), Type.DATE), Type.TEXT)) == "0001-01-01"
    assert value(s.Cast(truth(True), Type.TEXT)) == "true"
    assert value(s.Cast(truth(False), Type.INTEGER)) == 0


def test_casts_without_a_meaning_are_faults() -> None:
    missing = [pair for pair in product(Type, Type) if pair not in CASTS]
    assert (Type.NUMBER, Type.TEXT) in missing
    for start, end in missing:
        with pytest.raises(Fault):
            convert(None, start, end)


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("round", 0.49999999999999994, 0.0),
        ("round", -2.5, -3.0),
        ("round", 4503599627370497.5, 4503599627370498.0),
        ("floor", -0.5, -1.0),
        ("floor", -math.inf, -math.inf),
        ("ceil", 1e300, 1e300),
        ("sqrt", -1e-320, None),
        ("sqrt", math.inf, math.inf),
        ("sign", -0.0, 0.0),
        ("abs", -math.inf, math.inf),
    ],
)
def test_functions_of_a_number(name: str, given: float, wanted: float | None) -> None:
    assert value(s.Function(name, (number(given),))) == wanted


def test_greatest_and_least_pass_over_null() -> None:
    assert value(s.Function("greatest", (number(None), integer(2), number(1.5)))) == 2.0
    assert value(s.Function("least", (number(None), number(None)))) is None


@pytest.mark.parametrize("day", [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)])
def test_parts_of_a_date(day: date) -> None:
    parts = [value(s.Function(name, (Literal(day, Type.DATE),))) for name in ("year", "month", "day")]
    assert parts == [day.year, day.month, day.day]


def test_length_counts_code_points() -> None:
    assert [value(s.Function("length", (text(each),))) for each in ("", "é", "e\u0301", "🏥", "a\x00b")] == [
        0,
        1,
        2,
        1,
        3,
    ]


def test_a_case_of_integers_and_numbers_is_a_number() -> None:
    found = value(s.Case(((truth(None), number(1.5)), (truth(True), integer(2))), number(None)))
    assert found == 2.0 and type(found) is float
    for types in ([Type.INTEGER, Type.NUMBER], [Type.NUMBER, Type.INTEGER], [Type.INTEGER, Type.INTEGER, Type.NUMBER]):
        assert s.common_type(types) is Type.NUMBER


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(-5.0, -3), (0.0, -3), (0.49, -3), (0.5, -2), (9.49, 6), (9.5, 7), (math.inf, 7), (-math.inf, -3), (1e308, 7)],
)
def test_steps_clamp_first_and_round_half_up(given: float, wanted: int) -> None:
    assert value(s.Steps(number(given), 0.0, 10.0, 0, 3.0)) == wanted


def test_steps_of_null_are_null_and_of_quarters_are_counted() -> None:
    assert value(s.Steps(number(None), 0.0, 10.0, 0, 3.0)) is None
    assert value(s.Steps(number(2.3), 0.0, 10.0, 2, 0.0)) == 9
    assert value(s.Steps(number(1000.0), 0.0, 1024.0, -8, 0.0)) == 4
    assert value(s.Steps(integer(2**63 - 1), -3.0, float(2**24), 0, 0.0)) == 2**24


@given(st.integers(-(2**62), 2**62), st.integers(-(2**24), 2**24), st.integers(-(2**26), 2**26))
def test_steps_of_integers_are_exact_however_far_from_0(centre: int, half: int, off: int) -> None:
    """Beyond 2^53 doubles skip integers; steps around such a middle do not."""
    middle = float(centre)
    low, high = middle - abs(half), middle + abs(half)
    found = value(s.Steps(integer(int(middle) + off), low, high, 0, middle))
    assert found == min(max(int(middle) + off, int(low)), int(high)) - int(middle)


def test_steps_around_a_middle_lose_nothing_of_narrow_bounds() -> None:
    """At 1.7e9 doubles are 2^-22 apart, and steps of 2^-12 of an hour are told apart."""
    for seconds in (0.0, 53.0, 1800.0, 1800.25, 3599.75, 3600.0):
        found = value(s.Steps(number(1.7e9 + seconds), 1.7e9, 1.7e9 + 3600, 12, 1.7e9 + 1800))
        assert found == round((seconds - 1800) * 4096)


def test_not_a_number_is_null_wherever_it_comes_from() -> None:
    assert value(number(math.nan)) is None
    assert evaluate(s.Column("x", Type.NUMBER), {"x": math.nan}) is None


@settings(max_examples=repeats(300))
@given(data=st.data())
def test_every_expression_has_a_value_of_its_type_on_every_row(data: st.DataObject) -> None:
    type = data.draw(st.sampled_from(Type))
    scalar = data.draw(made.scalars(type))
    row = {
        column.name: data.draw(made.values(column.type))
        for column in made.COLUMNS
        if column.name in {each.name for each in s.columns_in(scalar)}
    }
    found = evaluate(scalar, row)
    wanted = KINDS[type_of(scalar)]
    assert found is None or found.__class__ is wanted
    assert not (isinstance(found, float) and math.isnan(found))
