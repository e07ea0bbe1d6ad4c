"""Values of each type, the texts that programs write for them, and the CSV files that they make of them."""

import csv
import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from discreet.plan.scalar import Type

LARGEST = 1 << 53
LONGEST = 400  # characters of a number


# Values.


def number(random: Random) -> float:
    """A finite double: of random bits, of few digits, whole, tiny, huge."""
    match random.randrange(6):
        case 0:
            found = struct.unpack("<d", random.randbytes(8))[0]
            return found if math.isfinite(found) else 0.1
        case 1:
            return round(random.uniform(-1000, 1000), random.randint(0, 6))
        case 2:
            return float(random.randint(-(10**6), 10**6))
        case 3:
            return random.random()
        case 4:
            return random.uniform(-1, 1) * 10.0 ** random.randint(-300, 300)
    return random.choice(
        (
            0.0,
            -0.0,
            5e-324,
            1.7976931348623157e308,
            2.2250738585072014e-308,
            0.1,
            1e16,
            1e22,
            1e23,
            123456789012345680.0,
        )
    )


def integer(random: Random) -> int:
    """Of up to 64 bits, of any size."""
    found = random.getrandbits(random.randint(0, 63))
    return random.choice((found, -found, found, -found, -(1 << 63), (1 << 63) - 1, LARGEST + 1))


def day(random: Random) -> date:
    return random.choice(
        (
            date.fromordinal(random.randint(1, date.max.toordinal())),
            date(2024, 2, 29),
            date(1900, 2, 28),
            date(2000, 2, 29),
        )
    )


def moment(random: Random) -> datetime:
    """A moment of the years 2 to 9998, of a zone or of none."""
    zone = random.choice(
        (
            None,
            UTC,
            timezone(timedelta(hours=2)),
            timezone(timedelta(hours=-11)),
            timezone(timedelta(hours=5, minutes=30)),
        )
    )
    clock = random.choice((0, 0, 1_000_000 * random.randrange(86_400), random.randrange(86_400_000_000)))
    start = datetime(2, 1, 1) + timedelta(days=random.randrange(9996 * 365))
    return (start + timedelta(microseconds=clock)).replace(tzinfo=zone)


def truth(random: Random) -> bool:
    return random.random() < 0.5


LETTERS = "abcXYZ 019.,;'\"\\%_#-+=éß日🏥\t"


def words(random: Random) -> str:
    """A text of one line, not empty."""
    special = (
        "NULL",
        "NA",
        "nan",
        "None",
        "true",
        "007",
        " 7 ",
        '"',
        '""',
        "'",
        ",",
        "a,b",
        'a"b',
        "#1",
        " ",
        "-",
        "é",
        "x" * 300,
    )
    return (
        random.choice(special) if random.random() < 0.3 else "".join(random.choices(LETTERS, k=random.randint(1, 12)))
    )


def utc(value: datetime) -> date:
    """The day that a moment is at in UTC; one of no zone is taken to be there already."""
    return (value.astimezone(UTC) if value.tzinfo else value).date()


# Texts, each with the value that it says.


Form = Callable[[Any, Random], str]


def _around(text: str, random: Random) -> str:
    return random.choice(("", " ", "  ", "\t")) + text + random.choice(("", " ", "\t "))


def _fixed(value: float, random: Random) -> str:
    """All digits written out, if they are not too many."""
    text = format(Decimal(value), "f")
    return text if len(text) <= LONGEST else repr(value)


def _bare(value: float, random: Random) -> str:
    """.5 for 0.5, and 5. for 5.0."""
    text = repr(value)
    if "e" in text:
        return text
    bare = (
        text.replace("-0.", "-.").removesuffix("0")
        if text.endswith(".0")
        else text.replace("0.", ".", 1)
        if text.lstrip("-").startswith("0.")
        else text
    )
    return bare if any(character.isdigit() for character in bare) else text


def _zone(value: datetime, between: str) -> str:
    """+02:00 as +0200 or, where the minutes are 0, as +02."""
    text = value.isoformat(sep=" ")
    head, tail = (text[:-6], text[-6:]) if value.tzinfo else (text, "")
    return head + (tail.replace(":", "") if between == "" or not tail.endswith(":00") else tail[:3])


NUMBERS: dict[str, Form] = {
    "repr": lambda value, random: repr(value),
    "json": lambda value, random: json.dumps(value),
    "17 digits": lambda value, random: f"{value:.17g}",
    "15 digits, of R": lambda value, random: f"{value:.15g}",
    "6 decimals": lambda value, random: f"{value:.6f}" if abs(value) < 1e300 else repr(value),
    "scientific": lambda value, random: f"{value:.{random.randint(0, 20)}{random.choice('eE')}}",
    "with a sign": lambda value, random: f"{value:+}",
    "all digits": _fixed,
    "bare": _bare,
    "a decimal": lambda value, random: str(Decimal(repr(value))),
    "of 40 digits": lambda value, random: f"{value:.40e}",
    "blanks around": lambda value, random: _around(repr(value), random),
    "beyond the doubles": lambda value, random: (
        f"{value:.3f}e{random.choice((400, 999, -400, -999))}" if abs(value) < 1e9 else repr(value)
    ),
    "leading zeros": lambda value, random: f"{value:030.5f}" if abs(value) < 1e15 else repr(value),
}
INTEGERS: dict[str, Form] = {
    "str": lambda value, random: str(value),
    "json": lambda value, random: json.dumps(value),
    "with a point": lambda value, random: f"{value}.0",
    "with more zeros": lambda value, random: f"{value}.{'0' * random.randint(0, 20)}",
    "with a sign": lambda value, random: f"{value:+}",
    "leading zeros": lambda value, random: f"{value:030}",
    "an exponent": lambda value, random: f"{value % 1000}e{random.randint(0, 12)}",
    "a negative exponent": lambda value, random: f"{value % 1000 * 1000}e-{random.randint(0, 3)}",
    "blanks around": lambda value, random: _around(str(value), random),
    "as a double": lambda value, random: repr(float(value % LARGEST)),
}
MOMENTS: dict[str, Form] = {
    "a day": lambda value, random: value.date().isoformat(),
    "isoformat": lambda value, random: value.isoformat(),
    "str": lambda value, random: str(value),
    "milliseconds": lambda value, random: value.isoformat(timespec="milliseconds"),
    "seconds": lambda value, random: value.isoformat(sep=random.choice(" T"), timespec="seconds"),
    "nanoseconds": lambda value, random: value.replace(tzinfo=None).isoformat(timespec="microseconds") + "123",
    "Z": lambda value, random: value.replace(tzinfo=None).isoformat() + "Z",
    "+0200": lambda value, random: _zone(value, ""),
    "+02": lambda value, random: _zone(value, "hours"),
    "blanks around": lambda value, random: _around(value.isoformat(), random),
}
TRUTHS: dict[str, Form] = {
    said: (lambda value, random, pair=pair, way=way: way(pair[0] if value else pair[1]))
    for pair in (("true", "false"), ("t", "f"), ("yes", "no"), ("y", "n"), ("on", "off"), ("1", "0"), ("1.0", "0.0"))
    for way in (str, str.upper, str.title, lambda text: f" {text} ")
    for said in [f"{pair[0]} {len(way('x'))} {way('x')}"]
}


def day_in(text: str) -> date:
    """By Python's own reading of ISO 8601, of no more than microseconds."""
    text = text.strip()
    if len(text) == 10:
        return date.fromisoformat(text)
    head, point, tail = text.partition(".")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    return utc(datetime.fromisoformat(head + point + tail[: min(digits, 6)] + tail[digits:]))


def says(text: str, type: Type) -> Any:
    """What a written text says, by other means than those under test."""
    match type:
        case Type.NUMBER:
            return float(text)
        case Type.INTEGER:
            found = Decimal(text.strip())
            return int(found) if found == found.to_integral_value() and -(1 << 63) <= found < 1 << 63 else None
        case Type.DATE:
            return day_in(text)
    return text.strip().lower() in ("true", "t", "yes", "y", "on", "1", "1.0")


FORMS: dict[Type, tuple[Callable[[Random], Any], dict[str, Form]]] = {
    Type.NUMBER: (number, NUMBERS),
    Type.INTEGER: (integer, INTEGERS),
    Type.DATE: (moment, MOMENTS),
    Type.BOOLEAN: (truth, TRUTHS),
}
NO_NUMBERS = """NA NaN nan inf -inf Infinity None null NULL N/A - + . e5 1e 1e+ --1 +-1 1- 1,234.5 1.234,5 $5 5% (5) 0x10 1_000 1__0
٣ １ 1.2.3 1e5e5 1e1.5 five 1f 1d 1L true '5' 5;"""
ODD = ("", " ", "1 2", "\u00a05", "\x0b5", "\x0c5", "5\x00", "9" * (LONGEST + 1), "1" + "0" * LONGEST)
NO_INTEGERS = "2.5 -0.1 1e-1 1e19 9223372036854775808 -9223372036854775809 1e400 1e999999999 15e-1"
NO_DAYS = """NA NaT 2023-02-29 1900-02-29 2024-13-01 2024-00-01 2024-01-00 2024-04-31 2024-1-5 24-01-05 2024/01/05 05.01.2024 01/05/2024
20240105 2024-01 2024 0000-01-01 10000-01-01 -2024-01-01 2024-01-05T24:30:00 2024-01-05T12:60:00 2024-01-05T12:00:61
2024-01-05T12:00:00+24:00 2024-01-05T12:00:00+02:60 2024-01-05T 2024-01-05x ２０２４-01-05 0001-01-01T00:00:00+02:00
9999-12-31T23:00:00-02:00 yesterday"""
NO_TRUTHS = "NA maybe 2 -1 10 00 truee tru wahr oui x 1.5 ｔｒｕｅ 01"
NOTHING: dict[Type, tuple[str, ...]] = {
    Type.NUMBER: (*NO_NUMBERS.split(), *ODD),
    Type.INTEGER: (*NO_NUMBERS.split(), *ODD, *NO_INTEGERS.split()),
    Type.DATE: ("", *NO_DAYS.split(), "2024-01-05T12:00:00 UTC", "2024-01-05  12:00:00"),
    Type.BOOLEAN: ("", *NO_TRUTHS.split()),
}
"""Texts that say no value of a type."""


# Files.


COLUMNS = {
    "number": Type.NUMBER,
    "integer": Type.INTEGER,
    "day": Type.DATE,
    "moment": Type.DATE,
    "truth": Type.BOOLEAN,
    "words": Type.TEXT,
}
MADE: dict[str, Callable[[Random], Any]] = {
    "number": number, "integer": integer, "day": day, "moment": moment, "truth": truth, "words": words,
}  # fmt: skip
Rows = dict[str, list[Any]]


def rows(random: Random, count: int, gaps: float = 0.1) -> Rows:
    """Rows of all types, with NULLs; a number says which row it is."""
    found: Rows = {
        name: [None if random.random() < gaps else make(random) for _ in range(count)] for name, make in MADE.items()
    }
    return {"row": list(range(count))} | found


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Writer:
    """A program that writes CSV files: what it is given of the rows, and what it leaves of a number."""

    write: Callable[[Rows, Path], None]
    given: Callable[[Rows], Rows] = _same
    number: Callable[[float], float] = _same


def with_csv(found: Rows, path: Path, cell: Callable[[Any], Any] = _same, **how: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, **how)
        writer.writerow(found)
        writer.writerows([[cell(value) for value in row] for row in zip(*found.values(), strict=True)])


def _json_cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _with_r(found: Rows, path: Path) -> None:
    """As write.csv(…, row.names = FALSE): texts and names in quotes, 15 digits, NA, TRUE and FALSE."""

    def cell(value: Any) -> str:
        if value is None:
            return "NA"
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, int | float):
            return f"{value:.15g}"
        if isinstance(value, datetime):
            return value.isoformat(sep=" ", timespec="seconds")
        return value.isoformat() if isinstance(value, date) else '"' + value.replace('"', '""') + '"'

    lines = [",".join(f'"{name}"' for name in found)]
    lines += [",".join(map(cell, row)) for row in zip(*found.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _with_pandas(**how: Any) -> Callable[[Rows, Path], None]:
    def write(found: Rows, path: Path) -> None:
        import pandas

        frame = pandas.DataFrame(found)
        frame["moment"] = pandas.to_datetime(frame["moment"])
        frame.to_csv(path, index=False, **how)

    return write


def _with_nullable_pandas(found: Rows, path: Path) -> None:
    import pandas

    types = {"row": "int64", "number": "float64", "integer": "Int64", "truth": "boolean", "words": "string"}
    pandas.DataFrame(
        {name: pandas.Series(values, dtype=types.get(name, "object")) for name, values in found.items()}
    ).to_csv(path, index=False)


def _with_polars(found: Rows, path: Path) -> None:
    import polars

    types = {
        "number": polars.Float64,
        "integer": polars.Int64,
        "day": polars.Date,
        "moment": polars.Datetime("us"),
        "truth": polars.Boolean,
    }
    schema = {name: types.get(name, polars.String) for name in found} | {"row": polars.Int64}
    polars.DataFrame(found, schema=schema).write_csv(path)


def _with_arrow(found: Rows, path: Path) -> None:
    import pyarrow
    import pyarrow.csv

    types = {
        "number": pyarrow.float64(), "integer": pyarrow.int64(), "day": pyarrow.date32(), "moment": pyarrow.timestamp("us", "Asia/Tokyo"),
        "truth": pyarrow.bool_(), "words": pyarrow.string(), "row": pyarrow.int64(),
    }  # fmt: skip
    pyarrow.csv.write_csv(pyarrow.table(found, schema=pyarrow.schema([(name, types[name]) for name in found])), path)


def _with_duckdb(moments: str) -> Callable[[Rows, Path], None]:
    def write(found: Rows, path: Path) -> None:
        types = {
            "number": "DOUBLE",
            "integer": "BIGINT",
            "day": "DATE",
            "moment": moments,
            "truth": "BOOLEAN",
            "words": "VARCHAR",
            "row": "BIGINT",
        }
        with duckdb.connect() as connection:
            chosen = ", ".join(f"unnest(CAST(${i} AS {types[name]}[])) AS {name}" for i, name in enumerate(found, 1))
            connection.execute(f"CREATE TABLE t AS SELECT {chosen}", list(found.values()))
            connection.execute(f"COPY t TO '{path}' (HEADER)")

    return write


def _changed(**changes: Callable[[Any], Any]) -> Callable[[Rows], Rows]:
    def change(found: Rows) -> Rows:
        return {
            name: [None if value is None else changes.get(name, _same)(value) for value in values]
            for name, values in found.items()
        }

    return change


def _within(value: int) -> int:
    return value % LARGEST


def _in_utc(value: datetime) -> datetime:
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _no_zone(value: datetime) -> datetime:
    return value.replace(tzinfo=None)


def _there(found: Rows) -> Rows:
    """For R, whose missing texts are the text NA, and whose integers beyond 15 digits are doubles: none of both."""
    changed = _changed(integer=lambda value: value % 10**15, moment=_in_utc)(found)
    return changed | {"words": [value or "x" for value in changed["words"]]}


DOUBLES = _changed(integer=_within, moment=_no_zone)  # what a column of doubles, or of one zone, can hold


def _small(value: float | None) -> float | None:
    """A number whose decimals are few enough to be written out."""
    return value if value is None or abs(value) < 1e15 else math.remainder(value, 1e6)


def _few_digits(found: Rows) -> Rows:
    return DOUBLES(found) | {"number": [_small(value) for value in found["number"]]}


WRITERS: dict[str, Writer] = {
    "csv": Writer(with_csv),
    "csv, all quoted": Writer(lambda found, path: with_csv(found, path, quoting=csv.QUOTE_ALL, lineterminator="\n")),
    "json in csv": Writer(lambda found, path: with_csv(found, path, _json_cell)),
    "pandas": Writer(_with_pandas(), DOUBLES),
    "pandas, float_format": Writer(_with_pandas(float_format="%.6f"), _few_digits, lambda value: float(f"{value:.6f}")),
    "pandas, na_rep": Writer(_with_pandas(na_rep="NA"), lambda found: _there(DOUBLES(found)) | {"moment": DOUBLES(found)["moment"]}),
    "pandas, nullable": Writer(_with_nullable_pandas),
    "polars": Writer(_with_polars, _changed(moment=_no_zone)),
    "arrow": Writer(_with_arrow, _changed(moment=_in_utc)),
    "R": Writer(_with_r, _there, lambda value: float(f"{value:.15g}")),
    "duckdb": Writer(_with_duckdb("TIMESTAMP"), _changed(moment=_no_zone)),
    "duckdb, zones": Writer(_with_duckdb("TIMESTAMPTZ"), _changed(moment=_in_utc)),
}  # fmt: skip


def wanted(writer: Writer, given: Rows) -> list[tuple[Any, ...]]:
    """What is to come back, row by row: days of moments, and numbers as far as they were written."""
    changed = _changed(number=writer.number, moment=utc)(given)
    return list(zip(*changed.values(), strict=True))


def differing(found: Sequence[tuple[Any, ...]], expected: Sequence[tuple[Any, ...]]) -> list[str]:
    """What did not come back, as a few lines."""
    if len(found) != len(expected):
        return [f"{len(found)} rows instead of {len(expected)}"]
    pairs = [
        f"{x!r} instead of {y!r}"
        for mine, other in zip(found, expected, strict=True)
        for x, y in zip(mine, other, strict=True)
        if x != y or type(x) is not type(y)
    ]
    return [f"{len(pairs)} cells", *pairs[:6]] if pairs else []
