"""Frames of pandas, Polars and Arrow as an engine can take them: columns c0, c1, …, those of odd types made of plain values first.

An engine would guess what Python objects are, or refuse a whole frame for one column. So each object is converted by itself
(`engines.cells`), and only columns of plain types are handed over as they are. The libraries are not imported: a frame brings its own.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.engines.cells import missing, of_python
from discreet.engines.reading import Reading
from discreet.errors import Invalid
from discreet.plan.scalar import Type, Value

PANDAS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool"]
POLARS = "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 Boolean String Categorical Enum Date Datetime Decimal Null"
ARROW = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double bool string large_string null date32[day] date64[ms]"


@dataclass(frozen=True, slots=True)
class Library:
    """How to name, look at and replace the columns of a frame of one library."""

    names: Callable[[Any], list[str]]
    plain: Callable[[Any, int], bool]
    cells: Callable[[Any, int], Iterable[Any]]
    with_columns: Callable[[Any, list[str], Mapping[int, tuple[list[Value], Type]]], Any]


def library_of(frame: Any) -> Library:
    """The library of a frame, or raises Invalid."""
    library = LIBRARIES.get(type(frame).__module__.partition(".")[0])
    if library is None or type(frame).__name__ not in ("DataFrame", "Table"):
        raise Invalid(
            f"data cannot be loaded from a {type(frame).__name__}",
            hint="give a file, a frame of pandas, Polars or Arrow, or a dict of lists",
        )
    return library


def frame_names(frame: Any) -> list[str]:
    """The names of a frame's columns, each once."""
    names = library_of(frame).names(frame)
    if len({name.casefold() for name in names}) < len(names):
        raise Invalid("two columns of the frame have the same name", hint="rename one of them")
    return names


@dataclass(frozen=True, slots=True)
class Prepared:
    """A frame whose columns are c0, c1, … and all plain; by their names there, and how many objects of each became nothing."""

    frame: Any
    columns: dict[str, str]
    lost: dict[str, int]


def prepared(
    frame: Any, types: Mapping[str, Type], reading: Reading, person: str | None, objects: bool = False
) -> Prepared:
    """The wanted columns of a frame. With `objects` all of them are converted one by one, also those that look plain."""
    library = library_of(frame)
    places = {name: i for i, name in enumerate(frame_names(frame)) if name in types}
    columns: dict[int, tuple[list[Value], Type]] = {}
    lost: dict[str, int] = {}
    for name, i in places.items():
        if library.plain(frame, i) and not objects:
            continue
        values, lost[name] = converted(library.cells(frame, i), types[name], name, reading, name == person)
        columns[i] = values, types[name]
    numbered = {name: f"c{i}" for name, i in places.items()}
    return Prepared(library.with_columns(frame, list(numbered.values()), columns), numbered, lost)


def converted(cells: Iterable[Any], kind: Type, column: str, reading: Reading, person: bool) -> tuple[list[Value], int]:
    """Each object by itself, and how many held something that is no value of the type."""
    lost, values = 0, []
    for cell in cells:
        value = of_python(cell, kind, column, reading, person)
        lost += value is None and not missing(cell) and not _is_word(cell, reading)
        values.append(value)
    return values, lost


def _is_word(cell: Any, reading: Reading) -> bool:
    """Whether a cell is one of the words for nothing."""
    return (
        bool(reading.null)
        and of_python(cell, Type.TEXT, reading=reading) is None
        and of_python(cell, Type.TEXT) is not None
    )


# The libraries.


def _pandas_plain(frame: Any, i: int) -> bool:
    """Numbers, booleans, moments and texts; pandas' own nullable ones too. Categories only of texts."""
    dtype = frame.dtypes.iloc[i]
    name = str(dtype)
    if type(dtype).__name__ == "CategoricalDtype":
        return type(dtype.categories.dtype).__name__ == "StringDtype"
    if type(dtype).__name__ in ("StringDtype", "DatetimeTZDtype"):
        return True
    return name.lower() in (*PANDAS, "boolean") or name.startswith("datetime64")


def _pandas_with(frame: Any, names: list[str], replaced: Mapping[int, tuple[list[Value], Type]]) -> Any:
    pandas, numpy = sys.modules["pandas"], sys.modules["numpy"]
    dtypes = {Type.INTEGER: "Int64", Type.NUMBER: "float64", Type.BOOLEAN: "boolean", Type.TEXT: "object"}
    columns = {}
    for name in names:
        i = int(name[1:])
        if i not in replaced:
            columns[name] = frame.iloc[:, i].reset_index(drop=True)
            continue
        values, kind = replaced[i]
        if kind is Type.DATE:
            columns[name] = pandas.Series(numpy.array(values, "datetime64[s]"))
        elif kind is Type.TIMESTAMP:
            columns[name] = pandas.Series(numpy.array(values, "datetime64[us]"))
        else:
            columns[name] = pandas.Series(values, dtype=dtypes[kind])
    return pandas.DataFrame(columns)


def _polars_with(frame: Any, names: list[str], replaced: Mapping[int, tuple[list[Value], Type]]) -> Any:
    polars = sys.modules["polars"]
    dtypes = {
        Type.INTEGER: polars.Int64,
        Type.NUMBER: polars.Float64,
        Type.BOOLEAN: polars.Boolean,
        Type.TEXT: polars.String,
        Type.DATE: polars.Date,
        Type.TIMESTAMP: polars.Datetime("us"),
    }
    columns = []
    for name in names:
        i = int(name[1:])
        if i in replaced:
            values, kind = replaced[i]
            columns.append(polars.Series(name, values, dtype=dtypes[kind]))
        else:
            columns.append(frame.to_series(i).alias(name))
    return polars.DataFrame(columns)


def _polars_plain(frame: Any, i: int) -> bool:
    return str(frame.dtypes[i].base_type()).rpartition(".")[2] in POLARS.split()


def _arrow_plain(frame: Any, i: int) -> bool:
    name = str(frame.schema.field(i).type)
    return name in ARROW.split() or name.startswith(("timestamp[", "decimal128(", "dictionary<values=string"))


def _arrow_cells(frame: Any, i: int) -> Iterable[Any]:
    for scalar in frame.column(i):
        try:
            yield scalar.as_py()
        except (ValueError, OverflowError):  # a moment that Python has no object for
            yield b""


def _arrow_with(frame: Any, names: list[str], replaced: Mapping[int, tuple[list[Value], Type]]) -> Any:
    arrow = sys.modules["pyarrow"]
    types = {
        Type.INTEGER: arrow.int64(),
        Type.NUMBER: arrow.float64(),
        Type.BOOLEAN: arrow.bool_(),
        Type.TEXT: arrow.string(),
        Type.DATE: arrow.date32(),
        Type.TIMESTAMP: arrow.timestamp("us"),
    }
    columns = []
    for name in names:
        i = int(name[1:])
        columns.append(arrow.array(replaced[i][0], types[replaced[i][1]]) if i in replaced else frame.column(i))
    return arrow.table(columns, names=names)


LIBRARIES = {
    "pandas": Library(
        lambda frame: [str(name) for name in frame.columns],
        _pandas_plain,
        lambda frame, i: frame.iloc[:, i],
        _pandas_with,
    ),
    "polars": Library(
        lambda frame: list(frame.columns), _polars_plain, lambda frame, i: frame.to_series(i).to_list(), _polars_with
    ),
    "pyarrow": Library(lambda frame: list(frame.column_names), _arrow_plain, _arrow_cells, _arrow_with),
}
