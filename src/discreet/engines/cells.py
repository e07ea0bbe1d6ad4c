"""A cell of any source as a value of a declared type: a value or NULL, whatever it is. Nothing in a cell can fail, or be seen by another.

`of_python` is for Python objects, `render.cells` says the same of an engine's own columns. The type comes from what was declared; what
carries the value (an object, an int64, a double that was an int64 until somebody's cell was missing) makes no difference to it.
"""

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from math import inf, isnan
from typing import Any
from uuid import UUID

from discreet.engines.reading import AS_IT_IS, Reading
from discreet.engines.zones import Zone
from discreet.plan.casts import convert
from discreet.plan.moments import micros_of, midnight, moment_of
from discreet.plan.scalar import LARGEST, Type, Value
from discreet.plan.texts import fitting, integer_of, moment_in, number_text

MISSING = ("NAType", "NaTType")
MOST_DIGITS = 20  # of a whole Decimal that is looked at: 64 bits have 19


def of_python(value: Any, kind: Type, column: str = "", reading: Reading = AS_IT_IS, person: bool = False) -> Value:
    """For any object at all returns a value of the wanted type, or None; it never raises.

    `person`: it says who a row is about, and a double from 2^53 on is nobody: a reader may have rounded several people to it.
    """
    try:
        plain = _plain(value)
        if plain is None or (person and isinstance(plain, float) and abs(plain) >= LARGEST):
            return None
        if reading.null and _text(plain) in reading.null:
            return None
        if isinstance(plain, str):
            return _from_text(plain, kind, column, reading)
        if kind in (Type.DATE, Type.TIMESTAMP) and isinstance(plain, datetime) and plain.tzinfo is not None:
            plain = _on_clock(plain, reading.zone)
        return _CONVERTED[kind](plain)
    except Exception:  # an object may raise whatever it likes, and then it is no value
        return None


def missing(value: Any) -> bool:
    """Whether a cell holds nothing at all, so that its NULL is no loss."""
    return value is None or type(value).__name__ in MISSING or (isinstance(value, float) and isnan(value))


def _plain(value: Any) -> Any:
    """The object as one of bool, int, float, Decimal, Fraction, str, date, datetime; None for all others, and for what is missing."""
    if type(value).__module__ == "numpy":
        value = _of_numpy(value)
    if missing(value):
        return None
    match value:
        case bool() | int() | float() | Fraction() | datetime() | date():
            return value
        case Decimal():
            return value if value.is_finite() else float(value)
        case str():
            return value if value.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", value)
        case UUID() | time():
            return str(value)
    return None


def _of_numpy(value: Any) -> Any:
    """A NumPy scalar as a Python object. A narrow float is the shortest decimal that says it; a moment keeps its nanoseconds as text."""
    if value.shape:  # many values are none
        return None
    kind = value.dtype.kind
    if kind == "f":
        return float(str(value)) if value.dtype.itemsize < 8 else float(value)
    return _moment(str(value).replace("T", " ")) if kind == "M" and str(value) != "NaT" else value.item()


def _text(value: Any) -> str | None:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return None if isnan(value) else number_text(value)
        case Decimal():
            digits = format(value, "f") if abs(value.adjusted()) < 400 else str(value)
            return _shortest(digits)
        case datetime():
            utc = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return _moment(utc.isoformat(sep=" "))
        case date():
            return value.isoformat()
        case int():
            return str(value)
    return number_text(float(value))


def _shortest(digits: str) -> str:
    """A decimal without zeros at its end.

    >>> _shortest("2.50"), _shortest("3.00"), _shortest("100"), _shortest("-0.0")
    ('2.5', '3', '100', '0')
    """
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def _moment(text: str) -> str:
    """A moment without zeros at its end; at midnight it is its day, as a date that was made a moment is.

    >>> _moment("2024-01-01 12:00:00.500000"), _moment("2024-01-01 12:00:00"), _moment("2024-01-01 00:00:00")
    ('2024-01-01 12:00:00.5', '2024-01-01 12:00:00', '2024-01-01')
    """
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix(" 00:00:00")


def _number(value: Any) -> float | None:
    if isinstance(value, date):
        return None
    try:
        number = float(value) + (0.0 if isinstance(value, Decimal) else -0.0)  # a decimal has one zero
    except OverflowError:
        number = inf if value > 0 else -inf
    return None if isnan(number) else number


def _integer(value: Any) -> int | None:
    if isinstance(value, date):
        return None
    if isinstance(value, float):
        return integer_of(value)
    if isinstance(value, Decimal) and value.adjusted() >= MOST_DIGITS:
        return None
    return fitting(int(value)) if value == int(value) else None


def _on_clock(moment: datetime, zone: Zone | None) -> datetime | None:
    """A moment that says where it was, on the clock of a zone, or of UTC."""
    utc = micros_of(moment.astimezone(UTC).replace(tzinfo=None))
    there = utc if zone is None else zone.on_clock(utc)
    return None if there is None else moment_of(there)


def _day(value: Any) -> date | None:
    if not isinstance(value, date):
        return None
    return value.date() if isinstance(value, datetime) else value


def _moment_of(value: Any) -> datetime | None:
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        return midnight(value)
    return datetime.combine(value.date(), value.time().replace(fold=0))


def _truth(value: Any) -> bool | None:
    if isinstance(value, date) or value not in (0, 1):
        return None
    return bool(value)


_CONVERTED = {
    Type.TEXT: _text,
    Type.NUMBER: _number,
    Type.INTEGER: _integer,
    Type.DATE: _day,
    Type.TIMESTAMP: _moment_of,
    Type.BOOLEAN: _truth,
}


def _from_text(text: str, kind: Type, column: str, reading: Reading) -> Value:
    if kind is Type.TEXT:
        return text
    standard = reading.standard(text, column, kind)
    if reading.zone is not None and kind in (Type.DATE, Type.TIMESTAMP):
        moment = None if standard is None else moment_in(standard, reading.zone.on_clock)
        return moment if moment is None or kind is Type.TIMESTAMP else moment.date()
    return convert(standard, Type.TEXT, kind)
