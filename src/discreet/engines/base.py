"""What an engine is, and what it is given to load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from discreet.engines.framing import PACKED, PLAIN, Framing
from discreet.engines.reading import AS_IT_IS, Reading
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.relation import Found, Totals
from discreet.plan.scalar import Column, Type, Value

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


class Engine(Protocol):
    """Runs exact integer aggregates over tables that it loaded, or can reach. Knows nothing of privacy."""

    # for the owner: values of the sources that are none of their declared types
    lost: tuple[Lost, ...]

    def __init__(self, data: Sequence[Data]) -> None: ...

    def run(self, query: Totals, salt: int, *, deadline: float | None = None) -> Found:
        """The totals, or raises Fault, always the same one, whatever went wrong.

        `salt` is 64 fresh random bits, from which the priorities are made. At `deadline`, a moment of `time.monotonic`, what still
        runs is stopped, which is the same Fault.
        """
        ...

    def priorities(self, query: Totals, salt: int) -> Mapping[tuple[Value, tuple[Any, ...]], int]:
        """For tests: the priority of each person in each of their groups, for the twin of this engine in plain Python.

        Where rows of a person are kept, also that of each row, by KeepRows and what the row holds.
        """
        ...

    @staticmethod
    def columns(source: Any, table: str | None = None) -> Mapping[str, Type]:
        """The names of the columns of a source and their types, as they are stored there; raises Invalid where it has none."""
        ...

    def close(self) -> None:
        """What was loaded is gone; a second call does nothing."""
        ...


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
