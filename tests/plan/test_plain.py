"""Objects of NumPy, pandas, `decimal`, `fractions` and `datetime` are the values they stand for, as parameters and as keys."""

import math
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.curator.declaration import declaration
from discreet.errors import Invalid, QueryError
from discreet.plan.plain import MOST_INTEGER, Unusable, plain
from discreet.plan.scalar import Literal, Type
from discreet.plan.sql.parameters import bound_literal
from tests.scale import repeats

DAY = date(2024, 5, 6)
EVENING = datetime(2024, 5, 6, 23, 30)
NEW_YORK = timezone(timedelta(hours=-4))

SAME: list[tuple[Any, object]] = [
    *[(kind(7), 7) for kind in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64)],
    *[(kind(0.5), 0.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)],
    *[(np.bool_(True), True), (np.str_("A"), "A"), (np.array([3, 4])[0], 3), (pd.Series([3, 4]).iloc[1], 4)],
    *[(Decimal("2004.0"), 2004), (Decimal("-3"), -3), (Decimal("0.1"), 0.1), (Decimal("1e300"), 1e300)],
    *[(Decimal(2**63), 2.0**63), (Decimal("1e-999999"), 0.0), (Fraction(6, 2), 3), (Fraction(1, 3), 1 / 3)],
    *[(DAY, DAY), (EVENING, DAY), (EVENING.replace(tzinfo=UTC), DAY)],
    (EVENING.replace(tzinfo=NEW_YORK), date(2024, 5, 7)),
    *[(pd.Timestamp(EVENING), DAY), (pd.Timestamp(EVENING, tz="America/New_York"), date(2024, 5, 7))],
    *[(np.datetime64("2024-05-06T23:30", unit), DAY) for unit in ("m", "s", "ms", "us", "ns")],
    *[(np.datetime64("2024-05-06"), DAY), (np.datetime64("2024-05", "M"), date(2024, 5, 1))],
]

REFUSED: list[tuple[Any, str]] = [
    *[(each, "not a finite number") for each in (math.nan, math.inf, np.float64("nan"), np.float32("inf"))],
    *[(Decimal(each), "not a finite number") for each in ("NaN", "sNaN", "Infinity", "1e400")],
    (Fraction(10**400), "not a finite number"),
    *[(pd.NaT, "missing"), (pd.NA, "missing"), (np.datetime64("NaT"), "missing"), (np.timedelta64("NaT"), "missing")],
    *[(np.datetime64("12000-01-01"), "no day"), (datetime.max.replace(tzinfo=NEW_YORK), "no day in UTC")],
    *[(np.timedelta64(5, "ns"), "timedelta64"), (timedelta(1), "timedelta"), (pd.Timedelta(1), "Timedelta")],
    *[
        (time(1), "time"),
        (1j, "complex"),
        (np.complex128(1), "complex"),
        (np.array([1]), "ndarray"),
        (np.array(1), "ndarray"),
    ],
    *[(b"x", "bytes"), (np.bytes_(b"x"), "bytes"), (Type.TEXT, "Type"), (pd.Period("2024"), "Period")],
]


def alike(found: object, expected: object) -> bool:
    return type(found) is type(expected) and found == expected


@pytest.mark.parametrize(("given_", "expected"), SAME, ids=[f"{type(each).__name__}-{each}" for each, _ in SAME])
def test_an_object_is_the_value_it_stands_for(given_: Any, expected: object) -> None:
    assert alike(plain(given_), expected)
    assert alike(bound_literal(given_, "parameter 1").value, expected)


@pytest.mark.parametrize(("given_", "why"), REFUSED, ids=[f"{type(each).__name__}-{each}" for each, _ in REFUSED])
def test_what_is_no_value_is_refused_by_name(given_: Any, why: str) -> None:
    with pytest.raises(Unusable, match=why):
        plain(given_)
    with pytest.raises(QueryError, match=f"parameter 1 .*{why}") as refused:
        bound_literal(given_, "parameter 1")
    assert refused.value.code == "parameter"
    with pytest.raises(Invalid, match=f"column 'g' .*{why}"):
        declaration("g", {"keys": [given_]})


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([np.int64(3), 4, Decimal("5.0")], (3, 4, 5)),
        (np.array([1, 2]), (1, 2)),
        (np.array(["a", "b"]), ("a", "b")),
        (pd.Series(pd.to_datetime(["2024-05-06", "2024-05-07"])), (DAY, date(2024, 5, 7))),
        ([np.datetime64("2024-05-06", "ns"), EVENING + timedelta(1)], (DAY, date(2024, 5, 7))),
        (np.array([True, False]), (True, False)),
    ],
)
def test_keys_are_the_values_they_stand_for(keys: Any, expected: tuple[object, ...]) -> None:
    found = declaration("g", {"keys": keys}).keys
    assert found is not None and all(map(alike, found, expected)) and len(found) == len(expected)


@settings(max_examples=repeats(200))
@given(value=st.decimals(allow_nan=None) | st.fractions() | st.integers() | st.floats())
def test_a_number_is_itself_or_the_nearest_double_or_refused(value: Any) -> None:
    """Whole exact numbers within 64 bits are integers; integers are never rounded; floats stay floats."""
    try:
        found = plain(value)
    except Unusable:
        finite = (
            value.is_finite() if isinstance(value, Decimal) else isinstance(value, Fraction) or math.isfinite(value)
        )
        assert not isinstance(value, int) and (not finite or abs(value) > Fraction(2) ** 1023)
        return
    if isinstance(found, int):
        assert found == value and not isinstance(value, float)
        assert isinstance(value, int) or abs(found) <= MOST_INTEGER + 1
    else:
        assert found == float(value)


@pytest.mark.parametrize("value", [2**63, np.uint64(2**63), -(2**63) - 1])
def test_integers_beyond_64_bits_are_refused(value: Any) -> None:
    with pytest.raises(QueryError, match="more than 64 bits"):
        bound_literal(value, "parameter 1")


def test_parameters_have_the_type_of_the_value() -> None:
    found = [
        bound_literal(each, "parameter 1") for each in (np.int64(1), Decimal("0.5"), EVENING, np.bool_(False), None)
    ]
    assert [each.type for each in found] == [Type.INTEGER, Type.NUMBER, Type.DATE, Type.BOOLEAN, Type.TEXT]
    assert found[2] == Literal(DAY, Type.DATE)


def test_neither_numpy_nor_pandas_is_loaded_for_it() -> None:
    code = (
        "import sys; from decimal import Decimal; from discreet.plan.plain import plain; plain(Decimal('1.5'));"
        " assert not {'numpy', 'pandas'} & set(sys.modules), 'loaded'"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd())
    assert run.returncode == 0, run.stderr
