"""A column of a source, of a type in DuckDB's words, as one of a declared type: what `engines.cells` says of Python objects.

What the declared type cannot hold is NULL in that cell. A column of a type that cannot be loaded (lists, intervals, bytes) is NULL in all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from sqlglot import exp

from discreet.engines.reading import Reading
from discreet.engines.render.nodes import (
    E,
    T,
    binary,
    call,
    cast,
    double,
    group,
    is_null,
    matches,
    named,
    null,
    plain,
    text,
    trimmed,
    try_cast,
    when,
)
from discreet.engines.render.texts import FROM_TEXT, whole, within_years
from discreet.plan.evaluate import LARGEST
from discreet.plan.scalar import Type

SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")  # fit 64 bits
WIDE = ("HUGEINT", "UBIGINT", "UHUGEINT")
MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
WORDS = ("VARCHAR", "ENUM", "UUID", "TIME", "BIGNUM")
EXACT_DIGITS = 15  # of a decimal that is a quotient of two integers which doubles hold


class Native(Enum):
    """What DuckDB's types are to us."""

    WORD = "text"
    INTEGER = "integer"
    FLOAT = "single"
    DOUBLE = "double"
    DECIMAL = "decimal"
    DAY = "day"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    UNKNOWN = "unknown"


_KINDS: Mapping[str, Native] = MappingProxyType(
    {
        **dict.fromkeys(WORDS, Native.WORD),
        **dict.fromkeys((*SIGNED, *WIDE), Native.INTEGER),
        **dict.fromkeys(MOMENTS, Native.MOMENT),
        "FLOAT": Native.FLOAT,
        "DOUBLE": Native.DOUBLE,
        "DECIMAL": Native.DECIMAL,
        "DATE": Native.DAY,
        "BOOLEAN": Native.BOOLEAN,
    }
)
STORED = {
    Native.INTEGER: Type.INTEGER,
    **dict.fromkeys((Native.FLOAT, Native.DOUBLE, Native.DECIMAL), Type.NUMBER),
    **dict.fromkeys((Native.DAY, Native.MOMENT), Type.DATE),
    Native.BOOLEAN: Type.BOOLEAN,
}


def native(type: str) -> Native:
    """What a type in DuckDB's words is."""
    return Native.UNKNOWN if type.endswith("]") else _KINDS.get(_name(type), Native.UNKNOWN)


def stored(type: str) -> Type:
    """The type of a column whose owner takes it as it is stored; what cannot be loaded is a text, and NULL."""
    return STORED.get(native(type), Type.TEXT)


def _name(type: str) -> str:
    return type.partition("(")[0].strip()


class Kept(Enum):
    """The form in which an engine keeps a column of texts, where that is smaller; `shown` makes the text of it."""

    CODE = "code"  # of a list of values
    INTEGER = "integer"
    DOUBLE = "double"


def shown(form: Kept, made: E) -> E:
    """The text that is kept in this form. Different forms are different texts, so that the form can be grouped by."""
    return number_text(made) if form is Kept.DOUBLE else cast(made, T.TEXT)


@dataclass(frozen=True, slots=True)
class Cell:
    """What is stored for a column of a source, and in which form; and whether a cell holds something, where that may be lost."""

    value: E
    kept: Kept | None
    filled: E | None


def loaded(identifier: str, type: str, column: str, wanted: Type, reading: Reading, person: bool) -> Cell:
    """For any value of the source's type: a value of the wanted one, or NULL; nothing raises."""
    made, kind = named(identifier), native(type)
    present = _present(made, kind)
    if reading.null and kind is not Native.UNKNOWN:
        word = exp.In(
            this=_text(present, type, kind, column, reading), expressions=[text(each) for each in reading.null]
        )
        present = when([(exp.Not(this=call("coalesce", word, exp.Boolean(this=False))), present.copy())])
    filled = exp.Paren(this=exp.Not(this=is_null(present.copy())))
    if kind is Native.UNKNOWN:
        return Cell(null(wanted), None, filled)
    real = kind in (Native.FLOAT, Native.DOUBLE)
    usable = present
    if person and real:
        usable = when([(binary(exp.LT, call("abs", present), double(float(LARGEST))), present.copy())])
    kept = _kept(type, kind, wanted)
    match kept:
        case Kept.INTEGER:
            value = cast(usable, T.BIGINT)
        case Kept.DOUBLE:
            value = binary(exp.Add, cast(usable, T.DOUBLE), double(0.0))  # one zero
        case _:
            value = _CONVERTED[wanted](usable, type, kind, column, reading)
    surely = wanted is Type.TEXT and kind not in (Native.DAY, Native.MOMENT) and not (person and real)
    return Cell(value, kept, None if surely else filled)


def _present(made: E, kind: Native) -> E:
    """The cell, without what is no number."""
    if kind in (Native.FLOAT, Native.DOUBLE):
        return when([(exp.Not(this=call("isnan", made)), made.copy())])
    return made


def _kept(type: str, kind: Native, wanted: Type) -> Kept | None:
    if wanted is not Type.TEXT:
        return None
    if _name(type) in SIGNED:
        return Kept.INTEGER
    return Kept.DOUBLE if kind is Native.DOUBLE else None


def number_text(made: E) -> E:
    """A double as its shortest decimal, an integral one without '.0': what `plan.texts.written` says."""
    return call("regexp_replace", cast(binary(exp.Add, made, double(0.0)), T.TEXT), text(r"\.0$"), text(""))


def _text(made: E, type: str, kind: Native, column: str, reading: Reading) -> E:
    match kind:
        case Native.FLOAT:
            single = cast(binary(exp.Add, made, cast(text("0.0"), T.FLOAT)), T.TEXT)
            return call("regexp_replace", single, text(r"\.0$"), text(""))
        case Native.DOUBLE:
            return number_text(made)
        case Native.DECIMAL:
            digits = cast(made, T.TEXT)
            return call("regexp_replace", digits, text(r"\.?0+$"), text("")) if _scale(type) else digits
        case Native.MOMENT:
            moment = _utc(made, type)
            day = within_years(try_cast(moment, T.DATE))
            short = call("regexp_replace", cast(moment.copy(), T.TEXT), text(" 00:00:00$"), text(""))
            return when([(exp.Not(this=is_null(day)), short)])
        case Native.DAY:
            return cast(within_years(made), T.TEXT)
    return cast(made, T.TEXT)


def _scale(type: str) -> int:
    """The digits after the point of DECIMAL(18,2)."""
    return int(type.rpartition(",")[2].rstrip(") ") or 0)


def _precision(type: str) -> int:
    return int(type.partition("(")[2].partition(",")[0] or 18)


def _utc(made: E, type: str) -> E:
    if _name(type) == "TIMESTAMP WITH TIME ZONE":  # in UTC, whatever the zone of this machine
        return call("make_timestamp", call("epoch_us", made))
    return made


def _number(made: E, type: str, kind: Native, column: str, reading: Reading) -> E:
    match kind:
        case Native.INTEGER | Native.DOUBLE | Native.BOOLEAN:
            return cast(made, T.DOUBLE)
        case Native.DECIMAL if _precision(type) <= EXACT_DIGITS:
            return cast(made, T.DOUBLE)
        case Native.FLOAT | Native.DECIMAL:  # the nearest double to its decimal
            return try_cast(cast(made, T.TEXT), T.DOUBLE)
        case Native.WORD:
            return _from_text(made, Type.NUMBER, column, reading)
    return null(Type.NUMBER)


def _integer(made: E, type: str, kind: Native, column: str, reading: Reading) -> E:
    match kind:
        case Native.INTEGER | Native.BOOLEAN:
            return try_cast(made, T.BIGINT)
        case Native.FLOAT | Native.DOUBLE:
            return whole(_number(made, type, kind, column, reading))
        case Native.DECIMAL:
            return when([(binary(exp.EQ, made, call("trunc", made.copy())), try_cast(made.copy(), T.BIGINT))])
        case Native.WORD:
            return _from_text(made, Type.INTEGER, column, reading)
    return null(Type.INTEGER)


def _date(made: E, type: str, kind: Native, column: str, reading: Reading) -> E:
    match kind:
        case Native.DAY:
            return within_years(made)
        case Native.MOMENT:
            return within_years(try_cast(_utc(made, type), T.DATE))
        case Native.WORD:
            return _from_text(made, Type.DATE, column, reading)
    return null(Type.DATE)


def _boolean(made: E, type: str, kind: Native, column: str, reading: Reading) -> E:
    match kind:
        case Native.BOOLEAN:
            return made
        case Native.WORD:
            return _from_text(made, Type.BOOLEAN, column, reading)
        case Native.INTEGER | Native.FLOAT | Native.DOUBLE | Native.DECIMAL:
            branches = [
                (binary(exp.EQ, made.copy(), plain(number)), exp.Boolean(this=bool(number))) for number in (0, 1)
            ]
            return when(branches)
    return null(Type.BOOLEAN)


_CONVERTED: Mapping[Type, Callable[[E, str, Native, str, Reading], E]] = {
    Type.TEXT: _text,
    Type.NUMBER: _number,
    Type.INTEGER: _integer,
    Type.DATE: _date,
    Type.BOOLEAN: _boolean,
}


def _from_text(made: E, wanted: Type, column: str, reading: Reading) -> E:
    return FROM_TEXT[wanted](_standard(cast(made, T.TEXT), wanted, column, reading))


def _standard(made: E, wanted: Type, column: str, reading: Reading) -> E:
    """What `Reading.standard` says."""
    if wanted is Type.DATE and column in reading.formats:
        form = reading.formats[column]
        bare = trimmed(made)
        year, month, day = (group(bare.copy(), form.pattern, place) for place in (form.year, form.month, form.day))
        padded = [call("lpad", part, plain(2), text("0")) for part in (month, day)]
        written = call("concat", year, text("-"), padded[0], text("-"), padded[1])
        return when([(matches(bare, form.pattern), written)])
    if not wanted.numeric or reading.plain_numbers:
        return made
    bare = trimmed(made.copy())
    if reading.thousands:
        bare = call("replace", bare, text(reading.thousands), text(""))
    bare = call("replace", bare, text(reading.decimal), text("."))
    return when([(matches(made, reading.number), bare)])
