"""What an engine is given to load, and what can be known of it without reading a row: names, and types where the format has them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.engines.framing import PACKED, PLAIN, Framing, header
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.evaluate import CASTS, clean, convert
from discreet.plan.scalar import Column, Type, Value

PARQUET = (".parquet", ".pq")
DATABASE = (".duckdb", ".ddb", ".db")
CSV = (".csv", ".tsv", ".txt")
INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """A declared table and where its rows come from: a file, a frame of pandas, Polars or Arrow, or a dict of lists.

    Columns of the source that are not declared are not loaded. `person` is the column that says who a row is about, if there is one:
    an engine may keep the rows of a person together.
    """

    name: str
    source: Any
    columns: tuple[Column, ...]
    framing: Framing = PLAIN  # of a CSV file
    person: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise Invalid(f"a table's name must be a text, got {shown(self.name)}")
        if not self.columns:
            raise Invalid(f"table {self.name!r} needs at least one column")
        folded = [column.name.casefold() for column in self.columns]
        if len(set(folded)) < len(folded):
            raise Invalid(f"table {self.name!r} has two columns of one name", hint="rename one of them")
        if self.person is not None and self.person not in [column.name for column in self.columns]:
            raise Invalid(f"the person column {self.person!r} is not a column of table {self.name!r}")


def columns_of(
    source: Any, *, framing: Framing = PLAIN, table: str | None = None
) -> tuple[tuple[str, Type | None], ...]:
    """The names of the columns, each with its type, or None where the format has no types: CSV files and lists.

    No row is read. `table` is needed only for a DuckDB file of several tables.
    """
    if isinstance(source, dict):
        return tuple((str(name), None) for name in source)
    if isinstance(source, str | Path) and kind_of(source) == "csv":
        return tuple((name, None) for name in header(source, framing))
    from discreet.engines.duckdb import described  # here, so that a CSV is declared without loading the engine

    return described(source, table)


def kind_of(source: str | Path) -> str:
    """ "parquet", "database" or "csv", by the end of the name of a file that exists."""
    path = Path(source)
    if not path.is_file():
        raise Invalid(f"there is no file {str(source)!r}", code="no-file")
    name = path.name.casefold()
    for kind, endings in (("parquet", PARQUET), ("database", DATABASE), ("csv", CSV)):
        if name.endswith(endings) or (kind == "csv" and name.endswith(tuple(end + PACKED for end in endings))):
            return kind
    known = ", ".join((*CSV, *PARQUET, *DATABASE))
    raise Invalid(f"the format of file {path.name!r} is not known", hint=f"its name must end in one of {known}")


def of_python(value: Any, wanted: Type, column: str) -> Value:
    """A Python object (NumPy's and pandas' too) as a value of a declared type; NULL where it has none there.

    An object that is no value of any type raises Invalid with the name of the column.
    """
    if hasattr(value, "item") and type(value).__module__ == "numpy":
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    given = kind_of_python(value)
    if given is None:
        raise Invalid(
            f"column {column!r} holds an object of type {type(value).__name__}", hint="make it text or numbers"
        )
    if given is Type.DATE:
        value = value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
        value = value.date() if isinstance(value, datetime) else value
    elif given is Type.NUMBER:
        value = clean(float(value))
    elif given is Type.INTEGER and wanted is not Type.NUMBER and value not in INT64:
        return None
    return convert(value, given, wanted) if (given, wanted) in CASTS else None


def kind_of_python(value: Any) -> Type | None:
    kinds = (
        (bool, Type.BOOLEAN),
        (int, Type.INTEGER),
        (str, Type.TEXT),
        (float | Decimal, Type.NUMBER),
        (date, Type.DATE),
    )
    return next((type for kind, type in kinds if isinstance(value, kind)), None)
