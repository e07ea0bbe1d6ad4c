"""A column of a source as one of a declared type: what `engines.cells` says of Python objects.

What the declared type cannot hold is NULL in that cell. A column of a type that cannot be loaded (lists, intervals, bytes) is NULL in all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from discreet.engines.reading import Reading
from discreet.engines.render.native import Native, NativeKind
from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    bare_integer,
    binary,
    call,
    cast,
    double,
    is_null,
    named,
    null,
    text,
    when,
)
from discreet.engines.render.texts import integer_of_double, moment_within, timestamp, within_years
from discreet.engines.render.words import Words
from discreet.plan.scalar import LARGEST, Type

TIMES = (Type.DATE, Type.TIMESTAMP)
EXACT_DIGITS = 15  # of a decimal that is a quotient of two integers which doubles hold


class TextForm(Enum):
    """The form in which an engine keeps a column of texts, where that is smaller; `text_of_form` makes the text of it."""

    CODE = "code"  # of a list of values
    INTEGER = "integer"
    DOUBLE = "double"


def text_of_form(form: TextForm, sql: E, words: Words) -> E:
    """The text that is kept in this form. Different forms are different texts, so that the form can be grouped by."""
    return words.number_text(sql) if form is TextForm.DOUBLE else cast(sql, T.TEXT)


@dataclass(frozen=True, slots=True)
class StoredCell:
    """What is stored for a column of a source, and in which form; and whether a cell holds something, where that may be lost."""

    value: E
    kept: TextForm | None
    filled: E | None


def loaded(
    identifier: str, type: str, column: str, kind: Type, reading: Reading, person: bool, words: Words
) -> StoredCell:
    """For any value of the source's type: a value of the wanted one, or NULL; nothing raises."""
    native = words.native(type)
    cells = CellReader(native, column, reading, words)
    present = _present(named(identifier), native, words)
    if reading.null and native.kind is not NativeKind.UNKNOWN:
        word = exp.In(this=cells.text(present), expressions=[text(each) for each in reading.null])
        present = when([(exp.Not(this=call("coalesce", word, exp.Boolean(this=False))), present)])
    filled = exp.Paren(this=exp.Not(this=is_null(present)))
    if native.kind is NativeKind.UNKNOWN:
        return StoredCell(null(kind), None, filled)
    usable = present
    if person and native.real:
        usable = when([(binary(exp.LT, call("abs", present), double(float(LARGEST))), present)])
    form = _kept(native, kind)
    match form:
        case TextForm.INTEGER:
            value = cast(usable, T.BIGINT)
        case TextForm.DOUBLE:
            value = binary(exp.Add, cast(usable, T.DOUBLE), double(0.0))  # one zero
        case _:
            value = CONVERTED[kind](cells, usable)
    surely = (
        kind is Type.TEXT and native.kind not in (NativeKind.DAY, NativeKind.MOMENT) and not (person and native.real)
    )
    return StoredCell(value, form, None if surely else filled)


def _present(sql: E, native: Native, words: Words) -> E:
    """The cell, without what is no number."""
    return when([(exp.Not(this=words.is_nan(sql)), sql)]) if native.real else sql


def _kept(native: Native, kind: Type) -> TextForm | None:
    if kind is not Type.TEXT:
        return None
    if native.narrow:
        return TextForm.INTEGER
    return TextForm.DOUBLE if native.kind is NativeKind.DOUBLE else None


@dataclass(frozen=True, slots=True)
class CellReader:
    """Converts the cells of one column to whatever was declared."""

    native: Native
    column: str
    reading: Reading
    words: Words

    def text(self, sql: E) -> E:
        words = self.words
        match self.native.kind:
            case NativeKind.FLOAT:
                single = cast(binary(exp.Add, sql, cast(text("0.0"), T.FLOAT)), T.TEXT)
                return words.without(single, r"\.0$")
            case NativeKind.DOUBLE:
                return words.number_text(sql)
            case NativeKind.DECIMAL:
                digits = cast(sql, T.TEXT)
                return words.without(digits, r"\.?0+$") if self.native.places else digits
            case NativeKind.MOMENT:
                moment = self._moment(sql)
                day = within_years(words.try_date(moment), words)
                short = words.without(cast(moment, T.TEXT), " 00:00:00$")
                return when([(exp.Not(this=is_null(day)), short)])
            case NativeKind.DAY:
                return cast(within_years(sql, words), T.TEXT)
        return cast(sql, T.TEXT)

    def number(self, sql: E) -> E:
        match self.native.kind:
            case NativeKind.INTEGER | NativeKind.DOUBLE | NativeKind.BOOLEAN:
                return cast(sql, T.DOUBLE)
            case NativeKind.DECIMAL if self.native.digits <= EXACT_DIGITS:
                return cast(sql, T.DOUBLE)
            case NativeKind.FLOAT | NativeKind.DECIMAL:  # the nearest double to its decimal
                return self.words.try_number(cast(sql, T.TEXT))
            case NativeKind.WORD:
                return self._said(sql, Type.NUMBER)
        return null(Type.NUMBER)

    def integer(self, sql: E) -> E:
        match self.native.kind:
            case NativeKind.INTEGER | NativeKind.BOOLEAN:
                return self.words.try_integer(sql)
            case NativeKind.FLOAT | NativeKind.DOUBLE:
                return integer_of_double(self.number(sql), self.words)
            case NativeKind.DECIMAL:
                return when([(self.words.is_whole(sql), self.words.try_integer(sql))])
            case NativeKind.WORD:
                return self._said(sql, Type.INTEGER)
        return null(Type.INTEGER)

    def date(self, sql: E) -> E:
        match self.native.kind:
            case NativeKind.DAY:
                return within_years(sql, self.words)
            case NativeKind.MOMENT if self.native.zoned and self.reading.zone is not None:
                return self.words.try_date(self.timestamp(sql))
            case NativeKind.MOMENT:
                return within_years(self.words.try_date(self._moment(sql)), self.words)
            case NativeKind.WORD:
                return self._said(sql, Type.DATE)
        return null(Type.DATE)

    def timestamp(self, sql: E) -> E:
        match self.native.kind:
            case NativeKind.DAY:
                return cast(within_years(sql, self.words), TYPES[Type.TIMESTAMP])
            case NativeKind.MOMENT:
                micros = self.words.whole_micros(sql) if self.native.fine else self.words.micros(sql)
                zone = self.reading.zone if self.native.zoned else None
                if zone is None:
                    return moment_within(micros, self.words)
                return self.words.on_clock(micros, zone.starts, zone.offsets)
            case NativeKind.WORD:
                return self._said(sql, Type.TIMESTAMP)
        return null(Type.TIMESTAMP)

    def boolean(self, sql: E) -> E:
        match self.native.kind:
            case NativeKind.BOOLEAN:
                return sql
            case NativeKind.WORD:
                return self._said(sql, Type.BOOLEAN)
            case NativeKind.INTEGER | NativeKind.FLOAT | NativeKind.DOUBLE | NativeKind.DECIMAL:
                return when(
                    [(binary(exp.EQ, sql, bare_integer(number)), exp.Boolean(this=bool(number))) for number in (0, 1)]
                )
        return null(Type.BOOLEAN)

    def _moment(self, sql: E) -> E:
        return self.words.utc(sql) if self.native.zoned else sql

    def _said(self, sql: E, kind: Type) -> E:
        """What a text says."""
        written = self._standard(cast(sql, T.TEXT), kind)
        if kind in TIMES and self.reading.zone is not None:
            moment = timestamp(written, self.words, self.reading.zone)
            return moment if kind is Type.TIMESTAMP else self.words.try_date(moment)
        return self.words.from_text(written, kind)

    def _standard(self, sql: E, kind: Type) -> E:
        """What `Reading.standard` says."""
        words, reading = self.words, self.reading
        if kind in TIMES and self.column in reading.formats:
            form = reading.formats[self.column]
            bare = words.trimmed(sql)
            year, *others = (words.group(bare, form.pattern, place) for place in (form.year, form.month, form.day))
            if kind is Type.TIMESTAMP:
                others += [words.group(bare, form.pattern, place) if place else text("") for place in form.clock]
            padded = [call("lpad", part, bare_integer(2), text("0")) for part in others]
            signs = map(text, ("-", "-", " ", ":", ":"))
            written = call("concat", year, *(part for pair in zip(signs, padded, strict=False) for part in pair))
            return when([(words.matches(bare, form.pattern), written)])
        if not kind.numeric or reading.plain_numbers:
            return sql
        bare = words.trimmed(sql)
        if reading.thousands:
            bare = call("replace", bare, text(reading.thousands), text(""))
        bare = call("replace", bare, text(reading.decimal), text("."))
        return when([(words.matches(sql, reading.number), bare)])


CONVERTED: Mapping[Type, Callable[[CellReader, E], E]] = {
    Type.TEXT: CellReader.text,
    Type.NUMBER: CellReader.number,
    Type.INTEGER: CellReader.integer,
    Type.DATE: CellReader.date,
    Type.TIMESTAMP: CellReader.timestamp,
    Type.BOOLEAN: CellReader.boolean,
}
