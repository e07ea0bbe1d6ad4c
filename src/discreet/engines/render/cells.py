"""A column of a source as one of a declared type: what `engines.cells` says of Python objects.

What the declared type cannot hold is NULL in that cell. A column of a type that cannot be loaded (lists, intervals, bytes) is NULL in all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from discreet.engines.reading import Reading
from discreet.engines.render.native import Native, NativeKind
from discreet.engines.render.nodes import E, T, binary, call, cast, double, is_null, named, null, plain, text, when
from discreet.engines.render.texts import whole, within_years
from discreet.engines.render.words import Words
from discreet.plan.scalar import LARGEST, Type

EXACT_DIGITS = 15  # of a decimal that is a quotient of two integers which doubles hold


class TextForm(Enum):
    """The form in which an engine keeps a column of texts, where that is smaller; `shown` makes the text of it."""

    CODE = "code"  # of a list of values
    INTEGER = "integer"
    DOUBLE = "double"


def shown(form: TextForm, made: E, words: Words) -> E:
    """The text that is kept in this form. Different forms are different texts, so that the form can be grouped by."""
    return words.number_text(made) if form is TextForm.DOUBLE else cast(made, T.TEXT)


@dataclass(frozen=True, slots=True)
class StoredCell:
    """What is stored for a column of a source, and in which form; and whether a cell holds something, where that may be lost."""

    value: E
    kept: TextForm | None
    filled: E | None


def loaded(
    identifier: str, type: str, column: str, wanted: Type, reading: Reading, person: bool, words: Words
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
        return StoredCell(null(wanted), None, filled)
    usable = present
    if person and native.real:
        usable = when([(binary(exp.LT, call("abs", present), double(float(LARGEST))), present)])
    kept = _kept(native, wanted)
    match kept:
        case TextForm.INTEGER:
            value = cast(usable, T.BIGINT)
        case TextForm.DOUBLE:
            value = binary(exp.Add, cast(usable, T.DOUBLE), double(0.0))  # one zero
        case _:
            value = CONVERTED[wanted](cells, usable)
    surely = (
        wanted is Type.TEXT and native.kind not in (NativeKind.DAY, NativeKind.MOMENT) and not (person and native.real)
    )
    return StoredCell(value, kept, None if surely else filled)


def _present(made: E, native: Native, words: Words) -> E:
    """The cell, without what is no number."""
    return when([(exp.Not(this=words.is_nan(made)), made)]) if native.real else made


def _kept(native: Native, wanted: Type) -> TextForm | None:
    if wanted is not Type.TEXT:
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

    def text(self, made: E) -> E:
        words = self.words
        match self.native.kind:
            case NativeKind.FLOAT:
                single = cast(binary(exp.Add, made, cast(text("0.0"), T.FLOAT)), T.TEXT)
                return words.without(single, r"\.0$")
            case NativeKind.DOUBLE:
                return words.number_text(made)
            case NativeKind.DECIMAL:
                digits = cast(made, T.TEXT)
                return words.without(digits, r"\.?0+$") if self.native.places else digits
            case NativeKind.MOMENT:
                moment = self._moment(made)
                day = within_years(words.try_date(moment), words)
                short = words.without(cast(moment, T.TEXT), " 00:00:00$")
                return when([(exp.Not(this=is_null(day)), short)])
            case NativeKind.DAY:
                return cast(within_years(made, words), T.TEXT)
        return cast(made, T.TEXT)

    def number(self, made: E) -> E:
        match self.native.kind:
            case NativeKind.INTEGER | NativeKind.DOUBLE | NativeKind.BOOLEAN:
                return cast(made, T.DOUBLE)
            case NativeKind.DECIMAL if self.native.digits <= EXACT_DIGITS:
                return cast(made, T.DOUBLE)
            case NativeKind.FLOAT | NativeKind.DECIMAL:  # the nearest double to its decimal
                return self.words.try_number(cast(made, T.TEXT))
            case NativeKind.WORD:
                return self._said(made, Type.NUMBER)
        return null(Type.NUMBER)

    def integer(self, made: E) -> E:
        match self.native.kind:
            case NativeKind.INTEGER | NativeKind.BOOLEAN:
                return self.words.try_integer(made)
            case NativeKind.FLOAT | NativeKind.DOUBLE:
                return whole(self.number(made), self.words)
            case NativeKind.DECIMAL:
                return when([(self.words.is_whole(made), self.words.try_integer(made))])
            case NativeKind.WORD:
                return self._said(made, Type.INTEGER)
        return null(Type.INTEGER)

    def date(self, made: E) -> E:
        match self.native.kind:
            case NativeKind.DAY:
                return within_years(made, self.words)
            case NativeKind.MOMENT:
                return within_years(self.words.try_date(self._moment(made)), self.words)
            case NativeKind.WORD:
                return self._said(made, Type.DATE)
        return null(Type.DATE)

    def boolean(self, made: E) -> E:
        match self.native.kind:
            case NativeKind.BOOLEAN:
                return made
            case NativeKind.WORD:
                return self._said(made, Type.BOOLEAN)
            case NativeKind.INTEGER | NativeKind.FLOAT | NativeKind.DOUBLE | NativeKind.DECIMAL:
                return when(
                    [(binary(exp.EQ, made, plain(number)), exp.Boolean(this=bool(number))) for number in (0, 1)]
                )
        return null(Type.BOOLEAN)

    def _moment(self, made: E) -> E:
        return self.words.utc(made) if self.native.zoned else made

    def _said(self, made: E, wanted: Type) -> E:
        """What a text says."""
        return self.words.from_text(self._standard(cast(made, T.TEXT), wanted), wanted)

    def _standard(self, made: E, wanted: Type) -> E:
        """What `Reading.standard` says."""
        words, reading = self.words, self.reading
        if wanted is Type.DATE and self.column in reading.formats:
            form = reading.formats[self.column]
            bare = words.trimmed(made)
            year, month, day = (words.group(bare, form.pattern, place) for place in (form.year, form.month, form.day))
            padded = [call("lpad", part, plain(2), text("0")) for part in (month, day)]
            written = call("concat", year, text("-"), padded[0], text("-"), padded[1])
            return when([(words.matches(bare, form.pattern), written)])
        if not wanted.numeric or reading.plain_numbers:
            return made
        bare = words.trimmed(made)
        if reading.thousands:
            bare = call("replace", bare, text(reading.thousands), text(""))
        bare = call("replace", bare, text(reading.decimal), text("."))
        return when([(words.matches(made, reading.number), bare)])


CONVERTED: Mapping[Type, Callable[[CellReader, E], E]] = {
    Type.TEXT: CellReader.text,
    Type.NUMBER: CellReader.number,
    Type.INTEGER: CellReader.integer,
    Type.DATE: CellReader.date,
    Type.BOOLEAN: CellReader.boolean,
}
