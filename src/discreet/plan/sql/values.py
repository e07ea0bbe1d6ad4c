"""Types of operands: what may stand beside what, and what a constant becomes there."""

from collections.abc import Sequence
from datetime import date, datetime
from math import isfinite

from discreet.plan.casts import CASTS
from discreet.plan.moments import midnight
from discreet.plan.scalar import Cast, Literal, Scalar, Type, common_type, type_of
from discreet.plan.texts import integer_in, number_in, plain_day, plain_moment, truth_in

WORDS = {
    Type.INTEGER: "INTEGER",
    Type.NUMBER: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.BOOLEAN: "BOOLEAN",
}
"""Each type as a cast names it."""


TIMES = {Type.DATE, Type.TIMESTAMP}
"""Beside a timestamp a date is the midnight at which it begins, as in PostgreSQL."""

NO_HOURS = 'a date is a day and has no hours: declare the column as one of timestamps (type = "timestamp"), or write CAST(… AS TIMESTAMP)'


class Mismatch(Exception):
    """Operands of types that do not go together: which, and what to write instead; and the type that is needed, where it is one."""

    def __init__(self, message: str, hint: str = "", needed: Type | None = None) -> None:
        super().__init__(message)
        self.needed = needed
        self.hint = hint or "use CAST(… AS INTEGER), CAST(… AS DOUBLE), CAST(… AS VARCHAR) or CAST(… AS DATE)"


def type_in_words(type: Type | None) -> str:
    """A type, in a sentence."""
    return "NULL" if type is None else f"{'an' if type is Type.INTEGER else 'a'} {type.value}"


def checked_cast(source: Type, target: Type) -> None:
    """For a cast that has a meaning: returns. For any other raises Mismatch, with those that there are."""
    if (source, target) in CASTS:
        return
    there = [f"CAST(… AS {word})" for each, word in WORDS.items() if each is not source and (source, each) in CASTS]
    raise Mismatch(
        f"{type_in_words(source)} cannot be cast to {type_in_words(target)}",
        f"for {type_in_words(source)} there is {' and '.join(there)}",
    )


def kind(scalar: Scalar) -> Type | None:
    """The type of an expression; None for a plain NULL, which can be of any."""
    return None if is_null_literal(scalar) else type_of(scalar)


def is_null_literal(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.value is None


def as_type(scalar: Scalar, kind: Type) -> Scalar:
    """A constant as it is meant beside this type: NULL takes it, a text beside a date is one; a date beside a timestamp is its midnight."""
    if not isinstance(scalar, Literal):
        return Cast(scalar, kind) if kind is Type.TIMESTAMP and type_of(scalar) is Type.DATE else scalar
    if scalar.value is None:
        return Literal(None, kind)
    if kind is Type.TIMESTAMP and type(scalar.value) is date:
        return Literal(midnight(scalar.value), kind)
    return _said(scalar, kind) if kind in TIMES and is_text_literal(scalar) else scalar


def as_day(scalar: Scalar) -> Scalar:
    """A timestamp as the date that it is on its clock; all else as it is."""
    if kind(scalar) is not Type.TIMESTAMP:
        return scalar
    if isinstance(scalar, Literal) and isinstance(scalar.value, datetime):
        return Literal(scalar.value.date(), Type.DATE)
    # the midnight of a date is on that date
    return scalar.operand if isinstance(scalar, Cast) and kind(scalar.operand) is Type.DATE else Cast(scalar, Type.DATE)


def checked_number(scalar: Scalar) -> Scalar:
    """For a number: returns it; NULL is one. For anything else raises Mismatch."""
    got = kind(scalar)
    if got is None:
        return as_type(scalar, Type.NUMBER)
    if not got.numeric:
        raise Mismatch(f"a number is needed, not {type_in_words(got)}")
    return scalar


def is_text_literal(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and isinstance(scalar.value, str)


SAYS = {
    Type.INTEGER: (integer_in, "a whole number", "write it without quotes"),
    Type.NUMBER: (number_in, "a number", "write it without quotes"),
    Type.BOOLEAN: (truth_in, "true or false", "write TRUE or FALSE"),
    Type.DATE: (plain_day, "a day as YYYY-MM-DD", "write DATE '2024-12-31'"),
    Type.TIMESTAMP: (
        plain_moment,
        "a moment as YYYY-MM-DD HH:MM:SS, without a zone, or a day as YYYY-MM-DD",
        "write TIMESTAMP '2024-12-31 23:59:00', on the clock of the table",
    ),
}
"""What a constant text beside each type must say, and how that is read."""


def said_beside(scalars: Sequence[Scalar]) -> list[Scalar]:
    """These expressions, where constant texts beside numbers, flags or dates are what they say, as in PostgreSQL; raises Mismatch."""
    types = {kind(each) for each in scalars if not is_text_literal(each)} - {None}
    if types == {Type.INTEGER, Type.NUMBER}:
        types = {Type.NUMBER}
    if types == TIMES:
        types = {Type.TIMESTAMP}
    (target,) = types if len(types) == 1 else (None,)
    if target not in SAYS:
        return list(scalars)
    return [_said(each, target) if is_text_literal(each) else each for each in scalars]


def _said(scalar: Scalar, target: Type) -> Literal:
    reader, form, hint = SAYS[target]
    value = reader(str(scalar.value)) if isinstance(scalar, Literal) else None
    if value is None or (isinstance(value, float) and not isfinite(value)):
        raise Mismatch(f"a text beside {type_in_words(target)} must say {form}", hint)
    return Literal(value, target)


def alike(scalars: Sequence[Scalar]) -> list[Scalar]:
    """These expressions, of one type or all numeric; raises Mismatch."""
    scalars = said_beside(scalars)
    types = [each for each in map(kind, scalars) if each is not None]
    if not types:
        raise Mismatch("NULL alone has no type", "write CAST(NULL AS INTEGER), or IS NULL to compare")
    if set(types) == TIMES:
        return [as_type(scalar, Type.TIMESTAMP) for scalar in scalars]
    if len(set(types)) > 1 and not all(each.numeric for each in types):
        hint = "put a constant in single quotes, or use CAST(… AS DOUBLE)" if Type.TEXT in types else ""
        raise Mismatch(" and ".join(sorted(set(map(type_in_words, types)))) + " do not go together", hint)
    common = common_type(types)
    return [as_type(scalar, common) for scalar in scalars]
