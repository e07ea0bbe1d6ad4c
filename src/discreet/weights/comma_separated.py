"""Synthetic rows as CSV, as RFC 4180 has it: every value that is written reads back as it was.

NULL is an empty field, and an empty text one in quotes. Nothing is added to texts, not even where a spreadsheet would take one for a
formula: what is read back is what was declared.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from discreet.cells import Category
from discreet.weights.columns import ColumnType, SyntheticColumn

END = "\r\n"
ROWS = 1 << 16
"""Rows that are written at a time."""


def csv_parts(columns: Sequence[SyntheticColumn], rows: int) -> Iterator[str]:
    """The text of the file: the names, then the rows, in parts."""
    yield ",".join(_quoted(column.name) for column in columns) + END
    for begin in range(0, rows, ROWS):
        texts = [_texts(column, slice(begin, begin + ROWS)) for column in columns]
        lines = (",".join(line) for line in zip(*texts, strict=True))
        # a record that is one empty field would be an empty line, which is no record
        yield "".join((line or '""') + END for line in lines)


def _texts(column: SyntheticColumn, rows: slice) -> list[str]:
    if column.type is ColumnType.TEXT:
        words = [_quoted(word) for word in column.words]
        places, present = column.numbers[rows].tolist(), column.present[rows].tolist()
        return [words[place] if there else "" for place, there in zip(places, present, strict=True)]
    return ["" if value is None else _text(value) for value in column.values(rows)]


def _text(value: Category) -> str:
    """A value that is no text, as a field: true or false, every digit of a number, a day or a moment as ISO 8601 has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else repr(value)


def _quoted(text: str) -> str:
    """A text as a field: in quotes where it is empty, has blanks at an end, or holds what ends a field.

    >>> print(_quoted("ward 3"), _quoted('a "b", c'), _quoted(""))
    ward 3 "a ""b"", c" ""
    """
    plain = text and text == text.strip() and not any(sign in text for sign in ',"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'
