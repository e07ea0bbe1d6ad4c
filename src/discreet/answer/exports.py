"""The rows of an answer for other programs: flat tables, CSV, and frames of pandas, Polars and Arrow."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from discreet.errors import Invalid
from discreet.plan.question import unique
from discreet.plan.scalar import Type, Value

if TYPE_CHECKING:
    from discreet.answer.record import Answer

# What a spreadsheet may take for a formula, and what it takes for a number.
DANGEROUS = tuple("=+-@\t\r\n＝＋－＠")
PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def flat(answer: "Answer", errors: bool) -> tuple[list[str], list[list[Value]]]:
    """Names and rows, with three more columns for each that has intervals."""
    with_errors = [errors and column.measured for column in answer.columns]
    names: list[str] = []
    for column, more in zip(answer.columns, with_errors, strict=True):
        names += [column.name, *(f"{column.name}_{each}" for each in ("error", "low", "high") if more)]
    rows: list[list[Value]] = []
    for values, spans in zip(answer.rows, answer.intervals, strict=True):
        row: list[Value] = []
        for value, span, more in zip(values, spans, with_errors, strict=True):
            row.append(value)
            if more:
                row += [None] * 3 if span is None else [span.error, span.low, span.high]
        rows.append(row)
    return unique(names), rows


def csv_text(answer: "Answer", errors: bool) -> str:
    """The rows as CSV, which no spreadsheet will run."""
    names, rows = flat(answer, errors)
    out = io.StringIO()
    # With this end of line a lone \r or \n is quoted, too.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([harmless(name) for name in names])
    writer.writerows([[harmless(value) for value in row] for row in rows])
    return out.getvalue()


def harmless(value: Value) -> Value:
    """A text that no spreadsheet will run; numbers stay numbers, also those that are written as text; a timestamp as ISO 8601 has it.

    >>> harmless("=1+1"), harmless(" @SUM(A1)"), harmless("ward 3"), harmless(-3)
    ("'=1+1", "' @SUM(A1)", 'ward 3', -3)
    >>> harmless("-2"), harmless("+3.5"), harmless("-1e5"), harmless("-x+1"), harmless("-2+3"), harmless("=1")
    ('-2', '+3.5', '-1e5', "'-x+1", "'-2+3", "'=1")
    """
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str) or PLAIN_NUMBER.fullmatch(value):
        return value
    if value.startswith(DANGEROUS) or value.lstrip().startswith(DANGEROUS):
        return f"'{value}"
    return value


def pandas_frame(answer: "Answer", errors: bool) -> Any:
    """A pandas DataFrame of the rows."""
    try:
        import pandas
    except ImportError:
        raise _missing("pandas") from None
    names, rows = flat(answer, errors)
    return pandas.DataFrame(rows, columns=names)


def polars_frame(answer: "Answer", errors: bool) -> Any:
    """A Polars DataFrame, whose types are those of the answer's columns, whatever values are there."""
    try:
        import polars
    except ImportError:
        raise _missing("polars") from None
    types: dict[Type, Any] = {
        Type.INTEGER: polars.Int64,
        Type.NUMBER: polars.Float64,
        Type.TEXT: polars.String,
        Type.DATE: polars.Date,
        Type.TIMESTAMP: polars.Datetime("us"),
        Type.BOOLEAN: polars.Boolean,
    }
    return polars.DataFrame(
        {name: polars.Series(values, dtype=types[kind]) for name, kind, values in _typed(answer, errors)}
    )


def arrow_table(answer: "Answer", errors: bool) -> Any:
    """An Arrow table, whose types are those of the answer's columns, whatever values are there."""
    try:
        import pyarrow
    except ImportError:
        raise _missing("pyarrow") from None
    types = {
        Type.INTEGER: pyarrow.int64(),
        Type.NUMBER: pyarrow.float64(),
        Type.TEXT: pyarrow.string(),
        Type.DATE: pyarrow.date32(),
        Type.TIMESTAMP: pyarrow.timestamp("us"),
        Type.BOOLEAN: pyarrow.bool_(),
    }
    arrays = {name: pyarrow.array(values, types[kind]) for name, kind, values in _typed(answer, errors)}
    return pyarrow.table(arrays)


def _typed(answer: "Answer", errors: bool) -> Iterator[tuple[str, Type, list[Value]]]:
    """Each column that `flat` has: its name, its type and its values. What leaves 64 bits makes its column a double."""
    names, rows = flat(answer, errors)
    kinds = [
        kind
        for column in answer.columns
        for kind in (column.type, *([column.type] * 3 if errors and column.measured else []))
    ]
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        values = [row[j] for row in rows]
        if kind is Type.INTEGER and not all(value is None or _fits(value) for value in values):
            kind = Type.NUMBER
        if kind is Type.NUMBER:
            values = [float(value) if isinstance(value, int | float) else None for value in values]
        yield name, kind, values


def _fits(value: Value) -> bool:
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _missing(library: str) -> Invalid:
    return Invalid(
        f"{library} is not installed",
        code="not-installed",
        hint=f"pip install {library}; to_dicts() and to_csv() need nothing",
    )
