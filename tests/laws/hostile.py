"""Cells that somebody chose for themselves: any Python object, any text, any bytes; and the doors through which they come in.

A door makes a source of columns of Python values, as people make them: a frame infers its types from the values, so that one cell can
change the type that carries everybody else's. What a library cannot hold at all is handed to it in the next best way (as objects, as
texts), which is what its user would do.
"""

import csv
import datetime as dt
import io
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
from hypothesis import strategies as st

Columns = dict[str, list[Any]]
NAME = "t"


class Evil:
    """An object whose every method raises, or lies."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("canary in an attribute")

    def __str__(self) -> str:
        raise RuntimeError("canary in a text")

    __repr__ = __str__

    def __float__(self) -> float:
        raise OverflowError("canary in a number")

    def __eq__(self, other: object) -> bool:
        raise ValueError("canary in a comparison")

    def __hash__(self) -> int:
        return 7

    def __bool__(self) -> bool:
        raise ValueError("canary in a truth")


class Liar(int):
    """An integer that does not behave as one."""

    def __index__(self) -> int:
        raise ZeroDivisionError("canary in an index")

    def __str__(self) -> str:
        raise ZeroDivisionError("canary in a text")

    def __float__(self) -> float:
        raise ZeroDivisionError("canary in a float")


FAR = dt.timezone(dt.timedelta(hours=14))
OBJECTS: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    41.5,
    2**53,
    2**63,
    -(2**63),
    2**64,
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    Decimal("sNaN"),
    Decimal("NaN"),
    Decimal("Infinity"),
    Decimal("1e999999"),
    Decimal("2.50"),
    Decimal("-0.00"),
    Fraction(1, 3),
    Fraction(10**400, 3),
    1 + 2j,
    "",
    "abc",
    "7",
    "7.0",
    "1e3",
    "NULL",
    "nan",
    "true",
    "Y",
    "2024-02-30",
    "\ud800",
    "a\x00b",
    "é",
    "x" * 70_000,
    "2024-01-01T00:30:00+02:00",
    '"',
    "'; DROP TABLE t",
    b"",
    b"abc",
    b"\xff\xfe",
    bytearray(b"x"),
    [1, 2],
    [],
    (1,),
    {"a": 1},
    {1},
    range(3),
    dt.date(2024, 2, 29),
    dt.date.min,
    dt.date.max,
    dt.datetime.min,
    dt.datetime.max,
    dt.datetime(2024, 1, 1, 23, 30),
    dt.datetime(1, 1, 1, tzinfo=FAR),
    dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(-dt.timedelta(hours=14))),
    dt.time(12),
    dt.timedelta(1),
    UUID(int=5),
    object(),
    Evil(),
    Liar(5),
    Ellipsis,
    type,
    len,
    numpy.int64(3),
    numpy.uint64(2**64 - 1),
    numpy.float32(0.1),
    numpy.float16(2),
    numpy.longdouble("1e400"),
    numpy.bool_(True),
    numpy.datetime64("2024-01-01T00:00:00.000000001"),
    numpy.datetime64("NaT"),
    numpy.timedelta64(1, "D"),
    numpy.array([1, 2]),
    numpy.array(3),
    numpy.str_("s"),
    numpy.bytes_(b"s"),
    numpy.complex128(1j),
    numpy.void(b"v"),
    pandas.NA,
    pandas.NaT,
    pandas.Timestamp("2024-01-01 00:00:00.000000001", tz="Asia/Tokyo"),
    pandas.Period("2024-01"),
    pandas.Timedelta(1),
    pandas.Interval(0, 1),
    pandas.Series([1]),
)

objects = st.one_of(
    st.sampled_from(OBJECTS),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.binary(max_size=6),
    st.decimals(),
    st.datetimes(timezones=st.none() | st.just(FAR) | st.just(dt.UTC)),
    st.dates(),
    st.uuids(),
    st.lists(st.integers(), max_size=2),
)
texts = st.one_of(
    st.sampled_from([value for value in OBJECTS if isinstance(value, str) and value != "\ud800"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text("\"',;\r\n\t 0123456789.-+eE", max_size=12),
    st.integers().map(str),
    st.floats().map(repr),
)


def cell(chance: Random) -> Any:
    """Any object, without a library that draws: for many of them."""
    digits = chance.choice((1, 5, 17, 25, 400))
    match chance.randrange(7):
        case 0:
            return chance.randint(-(10**digits), 10**digits)
        case 1:
            return struct.unpack("d", chance.randbytes(8))[0]
        case 2:
            return chance.randbytes(chance.randrange(9))
        case 3:
            return "".join(
                chr(chance.choice((chance.randrange(128), chance.randrange(0x11000))))
                for _ in range(chance.randrange(9))
            )
        case 4:
            return "".join(chance.choice("0123456789+-.eE:T Z\t") for _ in range(chance.randrange(1, 24)))
        case 5:
            return Decimal(chance.randint(-(10**digits), 10**digits)).scaleb(chance.randint(-500, 500))
    return chance.choice(OBJECTS)


def as_csv(columns: Columns, folder: Path) -> Path:
    """As RFC 4180 writes it: a cell with a quote, a delimiter or a line end stands in quotes."""
    path = folder / f"{NAME}.csv"
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def as_dict(columns: Columns, folder: Path) -> Columns:
    return columns


def as_pandas(columns: Columns, folder: Path) -> Any:
    """A frame as pandas infers it; a column that it cannot hold is one of objects."""
    made = {}
    for name, values in columns.items():
        try:
            made[name] = pandas.Series(values)
        except Exception:  # whatever an object does to pandas
            made[name] = pandas.Series(index=range(len(values)), dtype=object)
            for i, value in enumerate(values):
                made[name].iat[i] = value
    return pandas.DataFrame(made)


def read_by_pandas(columns: Columns, folder: Path) -> Any:
    path = as_csv(columns, folder)
    return pandas.read_csv(io.StringIO(path.read_text("utf-8")))


def as_polars(columns: Columns, folder: Path) -> Any:
    made = []
    for name, values in columns.items():
        if any(isinstance(value, Evil) for value in values):  # whose text Polars would want for an error that it drops
            made.append(polars.Series(name, values, dtype=polars.Object))
            continue
        try:
            made.append(polars.Series(name, values, strict=False))
        except (Exception, polars.exceptions.PanicException):  # whatever an object does to Polars
            made.append(polars.Series(name, values, dtype=polars.Object))
    return polars.DataFrame(made)


def as_arrow(columns: Columns, folder: Path) -> Any:
    return pyarrow.table({name: arrow_array(values) for name, values in columns.items()})


def arrow_array(values: list[Any]) -> Any:
    """As Arrow infers it, or as texts."""
    try:
        return pyarrow.array(values)
    except Exception:  # whatever an object does to Arrow
        return pyarrow.array([None if value is None else plain_text(value) for value in values])


def plain_text(value: Any) -> str:
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception:  # it has no text
        return "?"


def as_parquet(columns: Columns, folder: Path) -> Path:
    path = folder / f"{NAME}.parquet"
    pyarrow.parquet.write_table(as_arrow(columns, folder), path)
    return path


def as_database(columns: Columns, folder: Path) -> Path:
    path = folder / f"{NAME}.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        try:
            connection.register("frame", as_arrow(columns, folder))
            connection.execute(f"CREATE TABLE {NAME} AS SELECT * FROM frame")
        except duckdb.Error:  # decimals of 256 bits, moments beyond its own
            texts = {name: arrow_array(list(map(plain_text, values))) for name, values in columns.items()}
            connection.register("frame", pyarrow.table(texts))
            connection.execute(f"CREATE TABLE {NAME} AS SELECT * FROM frame")
    return path


DOORS: dict[str, Callable[[Columns, Path], Any]] = {
    "csv": as_csv,
    "dict": as_dict,
    "pandas": as_pandas,
    "read_csv": read_by_pandas,
    "polars": as_polars,
    "arrow": as_arrow,
    "parquet": as_parquet,
    "database": as_database,
}
OF_TEXTS = ("csv", "read_csv")  # doors that carry texts alone
