"""What an engine is given to load, and what can be known of it without reading a row: the names of columns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines import frames
from discreet.engines.framing import PACKED, PLAIN, Framing, header
from discreet.engines.reading import AS_IT_IS, Reading
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.scalar import Column, Type

PARQUET = (".parquet", ".pq")
DATABASE = (".duckdb", ".ddb", ".db")
CSV = (".csv", ".tsv", ".txt")


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
    table: str | None = None  # inside a DuckDB file; without a name it must hold one
    reading: Reading = AS_IT_IS

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


@dataclass(frozen=True, slots=True)
class Lost:
    """How many values of a column are none of its declared type, and count as missing. For the owner alone."""

    table: str
    column: str
    type: Type
    values: int


def names_of(source: Any, *, framing: Framing = PLAIN, table: str | None = None) -> tuple[str, ...]:
    """The names of the columns. No row is read, and no type: a type that was stored comes from the data."""
    if isinstance(source, dict):
        return tuple(str(name) for name in source)
    if not isinstance(source, str | Path):
        return tuple(frames.names_of(source))
    if has_header(source):
        return tuple(header(source, framing))
    return tuple(stored_types(source, table))


def has_header(source: Any) -> bool:
    """Whether the names of columns stand in the first line of a file, where a record may stand instead."""
    return isinstance(source, str | Path) and kind_of(source) == "csv"


def has_types(source: Any) -> bool:
    """Whether a source stores the types of its columns."""
    return not isinstance(source, dict) and not has_header(source)


def stored_types(source: Any, table: str | None = None) -> dict[str, Type]:
    """The types of the columns as they are stored; for CSV files and lists, which have none, raises Invalid."""
    if not has_types(source):
        raise Invalid("a CSV file or a dict has no stored types", code="policy", hint="declare them column by column")
    from discreet.engines.duckdb import described  # here, so that a CSV is declared without loading the engine

    return dict(described(source, table))


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
