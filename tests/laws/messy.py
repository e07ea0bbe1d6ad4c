"""Messy typed tables, and the doors through which the same table comes in.

A table is lists of Python values. A door turns it into a source: a file or a frame. Every column is declared, so the door decides
nothing; what a door cannot carry as it is is changed beforehand by one of the rules below, in the data and in the reference alike.
"""

import csv
import gzip
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import IO, Any
from uuid import UUID

import duckdb

TABLE = "visits"
LARGEST = 1 << 53  # up to here every integer is a double
Table = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Field:
    """A column: what is declared of it, and how a cell of it is made."""

    type: str
    cell: Callable[[Random], Any]
    bounds: tuple[float, float] | None = None
    keys: tuple[Any, ...] | None = None
    gaps: float = 0.1  # the share of NULL

    @property
    def declared(self) -> dict[str, Any]:
        said: dict[str, Any] = {"type": self.type}
        return (
            said | ({"bounds": self.bounds} if self.bounds else {}) | ({"keys": list(self.keys)} if self.keys else {})
        )


WARDS = ("A", "B", "Ä", "o'n", "x,y;z", 'q"r', "007", "7", " pad ", "nobody")
DOSES = (0.5, 0.0, 0.1, 0.3, 2.0, -1.25, 1e300)
VISITS = (date(2000, 2, 29), date(2024, 2, 29), date(1900, 2, 28), date(2100, 1, 1))
NOTES = (
    "", "a", "A", "é", "É", "e\u0301", "ß", "🏥", "日本", "50%", "a_b", "a\\b", "back\\", "'", '"', '""', "a,b", "a;b", "a\tb", " lead",
    "trail ", "NULL", "NA", "nan", "None", "true", "#1", "flu", "Flu", "FLUX", "line\nend", "x" * 40, "-1", "=1", "0", "00",
)  # fmt: skip
CODES = (
    "0", "7", "007", "-7", "+7", " 7 ", "42", "1000000", "999999999999999999", "2024-02-29", "2023-02-29", "1999-12-31", "true",
    "False", "T", "f", "yes", "NO", "1", "x", "7x", "-", "--7", "٣", "12 3",
)  # fmt: skip
ODD = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, 0.5, -0.5, 2.5, 3.0, -7.25, 1e15, 0.1)


def _small(random: Random) -> int:
    return random.randint(-5, 25)


def _size(random: Random) -> int:
    return random.choice((0, 1, -1, 10**6, -(10**6), random.randint(-(10**6), 10**6), random.randint(-50, 50)))


def _wide(random: Random) -> int:
    return random.choice((1, -1)) * (LARGEST + random.choice((-1000, -2, -1, 0, 1, 2, 3, 1001)))


def _cost(random: Random) -> float:
    digits = random.choice((0, 1, 2, 3, 6, 9, 12, 17))
    if random.random() < 0.2:
        return random.choice((-0.0, 0.0, 0.1, 100.0, 9999.99, -1000.0, 10000.0, 5e-324, random.randint(-9, 9) + 0.5))
    return round(random.choice((random.uniform(-10, 10), random.uniform(-1000, 10000))), digits)


def _tiny(random: Random) -> float:
    return random.choice((random.uniform(-1e-3, 2e-3), random.uniform(-1e-9, 1e-9), 0.0, -0.0, 1e-300, 1e-3))


def _huge(random: Random) -> float:
    return random.choice((random.uniform(-1e15, 1e15), random.uniform(-1, 1), 1e15, -1e15, 123456789012345.6))


def _day(random: Random) -> date:
    if random.random() < 0.2:
        return random.choice((date(2000, 2, 29), date(2096, 2, 29), date(1900, 1, 1), date(2100, 12, 31), *VISITS))
    return date(1900, 1, 1) + timedelta(random.randrange(73_414))


FIELDS: dict[str, Field] = {
    "small": Field("integer", _small, (-5, 25)),
    "size": Field("integer", _size, (-(10**6), 10**6)),
    "wide": Field("integer", _wide),
    "cost": Field("number", _cost, (-1000, 10000)),
    "tiny": Field("number", _tiny, (-1e-3, 2e-3)),
    "huge": Field("number", _huge, (-1e15, 1e15)),
    "odd": Field("number", lambda random: random.choice(ODD)),
    "ward": Field("text", lambda random: random.choice((*WARDS[:-1], "Z", "a")), keys=WARDS),
    "note": Field("text", lambda random: random.choice(NOTES)),
    "code": Field("text", lambda random: random.choice(CODES)),
    "day": Field("date", _day),
    "visit": Field("date", lambda random: random.choice((*VISITS[:-1], date(2023, 2, 28))), keys=VISITS),
    "dose": Field(
        "number", lambda random: random.choice((*DOSES[:-1], -0.0, 0.30000000000000004, 0.7, 1e-9)), keys=DOSES
    ),
    "smoker": Field("boolean", lambda random: random.random() < 0.5),
}
UNITS: dict[str, Field] = {
    "text": Field(
        "text", lambda random: random.choice("pqré ") + str(random.randrange(100)).zfill(random.randint(1, 4))
    ),
    "integer": Field("integer", lambda random: random.randint(-20, 10**9)),
    "uuid": Field("text", lambda random: str(UUID(int=random.getrandbits(128)))),
}
SIZES = {"none": (0, 0), "one": (1, 1), "few": (2, 9), "hundreds": (120, 360)}
MOST_ROWS = 30  # of a person


def fields(unit: str) -> dict[str, Field]:
    """All columns of a table; `unit` is a kind of person, or "row", where the column person means nothing special."""
    return {"person": UNITS.get(unit, UNITS["text"])} | FIELDS


def table(random: Random, unit: str, size: str) -> Table:
    """Cells, with NULLs everywhere; a person has up to 30 rows."""
    rows = random.randint(*SIZES[size])
    columns = fields(unit)
    people: list[Any] = []
    counts: dict[Any, int] = {}
    while len(people) < rows:
        person = columns["person"].cell(random) if random.random() > 0.04 else None
        more = random.choice((1, 1, 2, 3, 8, 30))
        if person is not None:
            more = min(more, MOST_ROWS - counts.get(person, 0))
            counts[person] = counts.get(person, 0) + more
        people += [person] * more
    people = people[:rows]
    random.shuffle(people)
    made: Table = {"person": people}
    for name, each in columns.items():
        if name != "person":
            gaps = random.choice((0.0, each.gaps, each.gaps, 0.5))
            made[name] = [None if random.random() < gaps else each.cell(random) for _ in range(rows)]
    return made


# Rules: what a door cannot carry, as a change of the data before they go through it.


def not_a_number_is_null(data: Table) -> Table:
    """NaN is NULL, whatever the door."""
    return _each(data, lambda value: None if isinstance(value, float) and math.isnan(value) else value)


def empty_text_is_null(data: Table) -> Table:
    """A CSV has no other way to leave a cell out."""
    return _each(data, lambda value: None if value == "" else value)


def line_ends_are_blanks(data: Table) -> Table:
    """A record of a CSV is one line."""
    return _each(data, lambda value: value.replace("\n", " ") if isinstance(value, str) else value)


def infinity_is_null(data: Table) -> Table:
    """The words inf and -inf are no numbers."""
    return _each(data, lambda value: None if isinstance(value, float) and math.isinf(value) else value)


def integers_among_gaps_are_doubles(data: Table) -> Table:
    """An integer column of pandas with a NULL in it is one of doubles, which skip integers from 2^53 on."""
    found = dict(data)
    for name, each in FIELDS.items():
        if each.type == "integer" and None in data[name]:
            found[name] = [None if value is None else int(float(value)) for value in data[name]]
    return found


Rule = Callable[[Table], Table]
CSV_RULES: tuple[Rule, ...] = (line_ends_are_blanks, empty_text_is_null, infinity_is_null)
AVOIDED = {line_ends_are_blanks}  # what is changed before it is written; the others are seen to happen


def _each(data: Table, change: Callable[[Any], Any]) -> Table:
    return {name: [change(value) for value in values] for name, values in data.items()}


# Doors: a table as a source.


@dataclass(frozen=True, slots=True)
class Door:
    """How a table comes in: `made` makes the source, in a folder of its own."""

    made: Callable[[Table, str, Path], Any]
    rules: tuple[Rule, ...] = ()
    delimiter: str = ","

    def open(self, data: Table, unit: str, folder: Path) -> Any:
        for rule in self.rules:
            data = rule(data) if rule in AVOIDED else data
        return self.made(data, unit, folder)

    def carried(self, data: Table) -> Table:
        """The table as it is once it went through this door."""
        for rule in (*self.rules, not_a_number_is_null):
            data = rule(data)
        return data


def _csv(name: str, delimiter: str = ",") -> Callable[[Table, str, Path], Path]:
    def write(data: Table, unit: str, folder: Path) -> Path:
        path = folder / name
        with _opened(path) as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(data)
            writer.writerows(zip(*data.values(), strict=True))
        return path

    return write


def _opened(path: Path) -> IO[str]:
    packed = path.suffix == ".gz"
    return (
        gzip.open(path, "wt", encoding="utf-8", newline="") if packed else path.open("w", encoding="utf-8", newline="")
    )


def _lists(data: Table, unit: str, folder: Path) -> Table:
    return data


def _pandas_default(data: Table, unit: str, folder: Path) -> Any:
    """As pandas makes a frame of lists: integers with gaps are doubles, booleans with gaps are objects."""
    import pandas

    frame = pandas.DataFrame(data)
    for name, each in FIELDS.items():
        if each.type == "date":
            frame[name] = pandas.to_datetime(frame[name])
    return frame


NULLABLE = {"integer": "Int64", "number": "Float64", "text": "string", "date": "datetime64[us]", "boolean": "boolean"}


def _pandas_nullable(data: Table, unit: str, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(
        {name: pandas.Series(data[name], dtype=NULLABLE[each.type]) for name, each in fields(unit).items()}
    )


def _pandas_object(data: Table, unit: str, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in data.items()})


def _pandas_read_csv(data: Table, unit: str, folder: Path) -> Any:
    """Texts are read as texts, and only empty cells as missing, as one does to keep leading zeros and the word NA."""
    import pandas

    path = _csv("read.csv")(not_a_number_is_null(data), unit, folder)
    texts = {name: str for name, each in fields(unit).items() if each.type == "text"}
    return pandas.read_csv(path, dtype=texts, keep_default_na=False, na_values=[""])


def _polars(data: Table, unit: str, folder: Path) -> Any:
    import polars

    types = {
        "integer": polars.Int64,
        "number": polars.Float64,
        "text": polars.String,
        "date": polars.Date,
        "boolean": polars.Boolean,
    }
    schema = {name: types[each.type] for name, each in fields(unit).items()}
    return polars.DataFrame(
        data, schema=schema | {"ward": polars.Categorical, "small": polars.Int8, "visit": polars.Datetime("ms")}
    )


def _arrow(data: Table, unit: str, folder: Path) -> Any:
    import pyarrow

    types = {
        "integer": pyarrow.int64(), "number": pyarrow.float64(), "text": pyarrow.string(), "date": pyarrow.date32(),
        "boolean": pyarrow.bool_(),
    }  # fmt: skip
    schema = pyarrow.schema([(name, types[each.type]) for name, each in fields(unit).items()])
    found = pyarrow.table(data, schema=schema)
    place = found.column_names.index("ward")
    return found.set_column(place, "ward", found.column("ward").dictionary_encode())


def _parquet_pandas(data: Table, unit: str, folder: Path) -> Path:
    _pandas_default(data, unit, folder).to_parquet(folder / "pandas.parquet")
    return folder / "pandas.parquet"


def _parquet_polars(data: Table, unit: str, folder: Path) -> Path:
    _polars(data, unit, folder).write_parquet(folder / "polars.parquet")
    return folder / "polars.parquet"


STORED = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "date": "DATE", "boolean": "BOOLEAN"}
OTHERWISE = {"small": "TINYINT", "size": "INTEGER", "visit": "TIMESTAMP"}  # types that hold the same


def stored(connection: Any, data: Table, unit: str, otherwise: dict[str, str] | None = None) -> None:
    """The table in plain DuckDB, of the types that are declared, or of others that hold the same."""
    types = {name: STORED[each.type] for name, each in fields(unit).items()} | (otherwise or {})
    connection.execute(f"CREATE TABLE {TABLE} ({', '.join(f'{name} {type}' for name, type in types.items())})")
    chosen = ", ".join(f"unnest(CAST(${i} AS {type}[]))" for i, type in enumerate(types.values(), 1))
    if data["person"]:
        connection.execute(f"INSERT INTO {TABLE} SELECT {chosen}", [data[name] for name in types])


def _otherwise(unit: str) -> dict[str, str]:
    return OTHERWISE | ({"person": "UUID"} if unit == "uuid" else {})


def _parquet_duckdb(data: Table, unit: str, folder: Path) -> Path:
    with duckdb.connect() as connection:
        stored(connection, data, unit, _otherwise(unit))
        connection.execute(f"COPY {TABLE} TO '{folder / 'duckdb.parquet'}'")
    return folder / "duckdb.parquet"


def _database(data: Table, unit: str, folder: Path) -> Path:
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        stored(connection, data, unit, _otherwise(unit) | {"wide": "HUGEINT"})  # which a Parquet file has as doubles
    return folder / "t.duckdb"


DOORS: dict[str, Door] = {
    "csv": Door(_csv("t.csv"), CSV_RULES),
    "csv.gz": Door(_csv("t.csv.gz"), CSV_RULES),
    "tsv": Door(_csv("t.tsv", "\t"), CSV_RULES, "\t"),
    "semicolons": Door(_csv("t.txt", ";"), CSV_RULES, ";"),
    "lists": Door(_lists),
    "pandas default": Door(_pandas_default, (integers_among_gaps_are_doubles,)),
    "pandas nullable": Door(_pandas_nullable),
    "pandas objects": Door(_pandas_object),
    "pandas read_csv": Door(
        _pandas_read_csv, (line_ends_are_blanks, empty_text_is_null, integers_among_gaps_are_doubles)
    ),
    "polars": Door(_polars),
    "arrow": Door(_arrow),
    "parquet of pandas": Door(_parquet_pandas, (integers_among_gaps_are_doubles,)),
    "parquet of polars": Door(_parquet_polars),
    "parquet of duckdb": Door(_parquet_duckdb),
    "duckdb": Door(_database),
}
