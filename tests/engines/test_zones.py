"""Zones and moments as they are loaded: a clock shows what `zoneinfo` says, alike in plain Python and on DuckDB, from every source."""

import random
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest

from discreet.engines.base import Data
from discreet.engines.cells import of_python
from discreet.engines.duckdb import DuckDB
from discreet.engines.reading import Form, Reading
from discreet.engines.zones import FIRST_YEAR, LAST_YEAR, Zone
from discreet.errors import Invalid
from discreet.plan.moments import micros_of, moment_of
from discreet.plan.scalar import Column, Type
from discreet.plan.texts import moment_in, moment_text
from tests.scale import repeats

NAMES = ("Europe/Vienna", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "UTC")
"""Summer time in whole hours and in half ones, odd minutes, a day that was left out, and none of it."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOSTILE = 13
"""So many cells at the end are hostile; Python's own reader takes some that are no moments here."""


def instants(zone: Zone) -> list[datetime]:
    """Moments of all years for which there are rules, and every turn of the clock with the microseconds beside it."""
    draw = random.Random(zone.name)
    first, last = (micros_of(datetime(year, 1, 1)) for year in (FIRST_YEAR, LAST_YEAR + 1))
    numbers = [draw.randrange(first, last) for _ in range(repeats(300))]
    numbers += [
        start + by for start in zone.starts[:: max(1, len(zone.starts) // 60)] for by in (-1, 0, 1, -3_600_000_000)
    ]
    return [EPOCH + timedelta(microseconds=each) for each in numbers]


def clocks_are_right() -> None:
    for name in NAMES:
        zone, rules = Zone.of(name), ZoneInfo(name)
        assert len(zone.offsets) == len(zone.starts) + 1 and list(zone.starts) == sorted(set(zone.starts))
        for instant in instants(zone):
            utc = (instant - EPOCH) // timedelta(microseconds=1)
            there = zone.on_clock(utc)
            assert there is not None and moment_of(there) == instant.astimezone(rules).replace(tzinfo=None, fold=0), (
                name,
                instant,
            )


def test_a_clock_shows_what_zoneinfo_says() -> None:
    clocks_are_right()


def beyond_the_years() -> None:
    """A moment that lies in the years on one clock alone is none."""
    for name in NAMES:
        zone = Zone.of(name)
        for end in (datetime.min, datetime.max):
            there = zone.on_clock(micros_of(end))
            shown = micros_of(end) + zone.offset(micros_of(end))
            assert there == (shown if micros_of(datetime.min) <= shown <= micros_of(datetime.max) else None)


def test_what_no_clock_shows_is_nothing() -> None:
    beyond_the_years()


@pytest.mark.parametrize(
    "name", ["", "Nowhere/At_All", "../../etc/passwd", "/etc/localtime", "Europe", None, 7, "Wien\0", "é"]
)
def test_what_is_no_zone_is_refused(name: Any) -> None:
    with pytest.raises(Invalid, match="zone must be") as refused:
        Zone.of(name)
    assert "Europe/Vienna" in refused.value.hint


# Loading.


def loaded(source: Any, reading: Reading, kind: Type = Type.TIMESTAMP, table: str | None = None) -> list[Any]:
    """The column m of a source in the order of its column row, as DuckDB has loaded it."""
    columns = (Column("row", Type.INTEGER), Column("m", kind))
    with DuckDB([Data("t", source, columns, reading=reading, table=table)], threads=1) as engine:
        return [m for _, m in sorted(engine._connection.execute('SELECT "row", m FROM t').fetchall())]


def in_rows(cells: list[Any]) -> dict[str, list[Any]]:
    return {"row": list(range(len(cells))), "m": cells}


def texts_of(zone: Zone) -> list[str | None]:
    """Moments with and without a zone, in many forms, and what is none."""
    draw, found = random.Random(zone.name), []
    for instant in instants(zone)[:: 1 + len(zone.starts) // 200]:
        offset = timezone(timedelta(minutes=draw.choice([0, 60, -210, 345, 840, -720])))
        there = instant.astimezone(offset)
        text = there.isoformat(
            sep=draw.choice(" T"), timespec=draw.choice(["auto", "microseconds", "seconds", "minutes"])
        )
        found.append(
            draw.choice([text, text.replace("+00:00", "Z"), f" {text} ", there.replace(tzinfo=None).isoformat()])
        )
    hostile = [
        "2024-02-29",
        "2023-02-29",
        "2024-02-29 24:00",
        "2024-02-29T12",
        "0001-01-01T00:00:00+00:30",
        "0001-01-01 00:00 Z",
    ]
    hostile += [
        "9999-12-31T23:59:59.9999999",
        "9999-12-31T23:59:59Z",
        "9999-12-31T23:59-01",
        "",
        "x",
        "2024-01-01 08:30:00.1234567Z",
    ]
    return [*found, *hostile, None]


def oracle(text: str | None, zone: Zone | None) -> datetime | None:
    """What a text says, by Python's own reader of ISO 8601 and its own zones."""
    try:
        said = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    if said.tzinfo is not None:
        try:
            said = said.astimezone(ZoneInfo(zone.name) if zone else UTC)
        except OverflowError:
            return None
    return said.replace(tzinfo=None, fold=0)


def texts_are_loaded_alike() -> None:
    """From texts: a moment with a zone is brought to the clock, and one without stays as it stands."""
    for name in (None, *NAMES):
        zone = None if name is None else Zone.of(name)
        reading, cells = Reading(zone=zone), texts_of(zone or Zone.of(NAMES[0]))
        found = loaded(in_rows(cells), reading)
        assert found == [of_python(cell, Type.TIMESTAMP, "m", reading) for cell in cells]
        assert [each for each in found if each is not None]
        for cell, moment in zip(cells[:-HOSTILE], found[:-HOSTILE], strict=True):
            assert moment == oracle(cell, zone), (name, cell)
        days = loaded(in_rows(cells), reading, Type.DATE)
        assert days == [None if moment is None else moment.date() for moment in found]


def test_texts_are_loaded_alike_and_as_datetime_reads_them() -> None:
    texts_are_loaded_alike()


def frames(cells: list[datetime | None], zoned: bool) -> list[Any]:
    import pandas
    import polars
    import pyarrow

    rows, zone = list(range(len(cells))), "Asia/Tokyo" if zoned else None
    made: list[Any] = [
        pandas.DataFrame({"row": rows, "m": pandas.Series(cells, dtype=object)}),
        pandas.DataFrame(
            {
                "row": rows,
                "m": pandas.to_datetime(pandas.Series(cells), utc=zoned).astype(
                    "datetime64[us, UTC]" if zoned else "datetime64[us]"
                ),
            }
        ),
        polars.DataFrame(
            {"row": rows, "m": polars.Series(cells, dtype=polars.Datetime("us", "UTC" if zoned else None))}
        ),
        pyarrow.table({"row": rows, "m": pyarrow.array(cells, pyarrow.timestamp("us", zone))}),
    ]
    return made


def frames_are_loaded_alike() -> None:
    """From frames of pandas, Polars and Arrow, from Parquet and from DuckDB: aware ones on the clock, naive ones as they stand."""
    for name in (None, "Europe/Vienna", "Australia/Lord_Howe"):
        zone = None if name is None else Zone.of(name)
        reading = Reading(zone=zone)
        some = instants(zone or Zone.of(NAMES[0]))[::9]
        aware: list[Any] = [*some, None]
        naive = [None if each is None else each.replace(tzinfo=None) for each in aware]
        clock = [
            None if each is None else each.astimezone(ZoneInfo(name or "UTC")).replace(tzinfo=None, fold=0)
            for each in aware
        ]
        for frame in frames(aware, zoned=True):
            assert loaded(frame, reading) == clock, (name, type(frame))
        for frame in frames(naive, zoned=False):
            assert loaded(frame, reading) == naive, (name, type(frame))
        assert loaded(in_rows(aware), reading) == clock


def test_frames_are_loaded_alike() -> None:
    frames_are_loaded_alike()


STORED = {
    "TIMESTAMP": datetime(1969, 12, 31, 23, 59, 59, 999999),
    "TIMESTAMP_S": datetime(1969, 12, 31, 23, 59, 59),
    "TIMESTAMP_MS": datetime(1969, 12, 31, 23, 59, 59, 999000),
    "TIMESTAMP_NS": datetime(1969, 12, 31, 23, 59, 59, 999999),
    "DATE": datetime(1969, 12, 31),
}


def stored_types_are_loaded(path: Path) -> None:
    """From files of DuckDB and Parquet: every type of a moment, rounded down, and nothing outside of the years."""
    with duckdb.connect(str(path / "t.duckdb")) as connection:
        for kind, wanted in STORED.items():
            literal = (
                "'1969-12-31 23:59:59.999999999'::TIMESTAMP_NS"
                if kind == "TIMESTAMP_NS"
                else f"'{moment_text(wanted)}'::{kind}"
            )
            outside = "NULL" if kind == "TIMESTAMP_NS" else f"'20000-01-01'::{kind}"
            connection.execute(
                f"CREATE TABLE {kind.lower()}s AS SELECT * FROM (VALUES (0, {literal}), (1, {outside}), (2, NULL)) AS v(row, m)"
            )
            connection.execute(f"COPY {kind.lower()}s TO '{path / kind}.parquet'")
        connection.execute("SET TimeZone = 'America/New_York'")
        connection.execute("CREATE TABLE zoned AS SELECT 0 AS row, '2024-03-31 00:59:59.5+00'::TIMESTAMPTZ AS m")
    for kind, wanted in STORED.items():
        assert loaded(path / "t.duckdb", Reading(), table=f"{kind.lower()}s") == [wanted, None, None], kind
        assert loaded(path / f"{kind}.parquet", Reading()) == [wanted, None, None], kind
    for name, hour in ((None, 0), ("Europe/Vienna", 1), ("Asia/Kathmandu", 6)):
        zone = None if name is None else Zone.of(name)
        (moment,) = loaded(path / "t.duckdb", Reading(zone=zone), table="zoned")
        assert moment.hour == hour, name
    (late,) = loaded(path / "t.duckdb", Reading(zone=Zone.of("America/St_Johns")), Type.DATE, table="zoned")
    assert late == date(2024, 3, 30)


def test_every_stored_type_of_a_moment_is_loaded(tmp_path: Path) -> None:
    stored_types_are_loaded(tmp_path)


def forms_are_read() -> None:
    """A declared form has hours for timestamps, and for dates none."""
    form = Form.of("%d/%m/%Y %H:%M")
    reading = Reading(formats={"m": form})
    cells = ["31/12/2024 23:59", "1/2/2024 7:05", "31/12/2024 25:00", "2024-12-31 23:59", "30/02/2024 10:00"]
    wanted = [datetime(2024, 12, 31, 23, 59), datetime(2024, 2, 1, 7, 5), None, None, None]
    assert (
        loaded(in_rows(cells), reading) == wanted == [of_python(cell, Type.TIMESTAMP, "m", reading) for cell in cells]
    )
    days = [date(2024, 12, 31), date(2024, 2, 1), date(2024, 12, 31), None, None]
    assert (
        loaded(in_rows(cells), reading, Type.DATE)
        == days
        == [of_python(cell, Type.DATE, "m", reading) for cell in cells]
    )
    plain = Reading(formats={"m": Form.of("%Y.%m.%d")})
    assert loaded(in_rows(["2024.12.31"]), plain) == [datetime(2024, 12, 31)]


def test_a_declared_form_has_hours() -> None:
    forms_are_read()


def test_a_text_of_a_moment_comes_back() -> None:
    draw = random.Random(1)
    for _ in range(repeats(200)):
        moment = moment_of(
            draw.randrange(micros_of(datetime.min), micros_of(datetime.max)) // 10 ** draw.choice([0, 3, 6])
        )
        assert moment_in(moment_text(moment)) == moment
