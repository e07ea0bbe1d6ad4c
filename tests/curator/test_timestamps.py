"""Timestamps, from whoever declares them to whoever reads an answer: policies, command lines, descriptions, answers in every form."""

import json
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.cli.flags import Flags, columns, options
from discreet.curator.declaration import declaration
from discreet.curator.policy import Policy
from discreet.errors import Invalid
from discreet.plan.moments import micros_of
from discreet.plan.scalar import Type

FIRST, LAST = datetime(2024, 3, 30, 8), datetime(2024, 3, 31, 23, 59, 59, 999999)
FLIGHTS = {
    "who": [1, 2, 3, 4, 5],
    "departs": ["2024-03-30T10:30:00+01:00", "2024-03-31T00:59:59Z", "2024-03-31T01:00:00Z", "2024-03-31 02:30:00", ""],
}
ZONED = {"zone": "Europe/Vienna"}

WAYS: list[Any] = [
    (FIRST, LAST),
    ["2024-03-30 08:00", "2024-03-31"],
    ("2024-03-30T08:00:00", date(2024, 3, 31)),
]


@pytest.mark.parametrize("bounds", WAYS)
def test_bounds_are_declared_in_any_form(bounds: Any) -> None:
    declared = declaration("departs", {"type": "timestamp", "bounds": bounds})
    assert declared.type is Type.TIMESTAMP
    assert (declared.low, declared.high) == (Fraction(micros_of(FIRST)), Fraction(micros_of(LAST)))


WRONG: list[dict[str, Any]] = [
    {"type": "timestamp", "bounds": (0, 120)},
    {"type": "timestamp", "bounds": ("2024-03-30 08:00",)},
    {"type": "timestamp", "bounds": ("2024-03-30 08:00Z", "2024-03-31")},
    {"type": "timestamp", "bounds": ("2024-03-31", "2024-03-30")},
    {"type": "timestamp", "bounds": "auto"},
    {"type": "timestamp", "keys": ["noon"]},
    {"type": "timestamp", "format": "%H:%M"},
    {"type": "date", "bounds": ("2024-03-30 08:00", "2024-03-31")},
]


def what_is_no_moment_is_refused() -> None:
    for said in WRONG:
        with pytest.raises(Invalid):
            dp.Curator({"t": FLIGHTS}, unit="who", columns={"departs": said}, epsilon=1, ledger=":memory:")


def test_what_are_no_two_moments_is_refused() -> None:
    what_is_no_moment_is_refused()


def curator(**said: Any) -> dp.Curator:
    """Flights of one night, of whom everybody has one, at prices where the noise is next to nothing."""
    declared = {"departs": {"type": "timestamp", "bounds": ("2024-03-30", "2024-03-31"), **said}}
    return dp.Curator(
        {"t": FLIGHTS}, row=True, columns=declared, epsilon=10**6, delta=1e-6, ledger=":memory:", reading=ZONED
    )


def parts_are_those_of_the_clock() -> None:
    """In Vienna the hour from two to three was left out: two flights within a second depart at 1 and at 3 o'clock."""
    with curator() as opened:
        by_hour = opened.sql("SELECT HOUR(departs) AS h, COUNT(*) AS n FROM t GROUP BY h", epsilon=500)
        assert {row["h"]: row["n"] for row in by_hour if row["n"]} == {1: 1, 2: 1, 3: 1, 10: 1}
        assert len(by_hour) == 24
        days = opened.sql("SELECT DATE(departs) AS d, COUNT(*) AS n FROM t GROUP BY d", epsilon=500)
        assert [(row["d"], row["n"]) for row in days] == [(date(2024, 3, 30), 1), (date(2024, 3, 31), 3)]
        early = opened.sql("SELECT COUNT(*) AS n FROM t WHERE departs < '2024-03-31 02:00'", epsilon=500)
        assert early["n"][0] == 2
        hours = opened.sql("SELECT SUM(DATEDIFF('hour', '2024-03-30', departs)) AS s FROM t", epsilon=10**5)
        assert abs(hours["s"][0] - (10 + 25 + 27 + 26)) < 1


def test_parts_and_groups_are_those_of_the_declared_clock() -> None:
    parts_are_those_of_the_clock()


def answers_have_moments() -> None:
    """In JSON, CSV, frames, and in what is stored of an answer, as ISO 8601 has them."""
    text = "SELECT DATE_TRUNC('hour', departs) AS h, COUNT(*) AS n FROM t WHERE HOUR(departs) = 10 GROUP BY h ORDER BY h LIMIT 11"
    with curator() as opened:
        answer = opened.sql(text, epsilon=500)
        again = opened.sql(text, epsilon=500)
    hours = [datetime(2024, 3, 30, hour) for hour in range(11)]
    assert answer["h"] == hours == again["h"]
    assert [row["h"] for row in json.loads(json.dumps(answer.to_json()))["rows"]] == [
        each.isoformat() for each in hours
    ]
    assert type(answer).from_bytes(answer.to_bytes())["h"] == hours
    assert "2024-03-30T10:00:00,1" in answer.to_csv()
    assert "2024-03-30T10:00:00" in str(answer) and "2024-03-30T10:00:00" in answer.to_html()
    assert answer.to_pandas()["h"].tolist() == hours
    assert answer.to_polars()["h"].to_list() == hours
    assert answer.to_arrow().column("h").to_pylist() == hours
    assert answer.to_svg() and answer.plot()


def test_answers_have_moments_in_every_form() -> None:
    answers_have_moments()


def keys_are_moments() -> None:
    """Declared as moments, as texts or as days; else found, where enough people share one."""
    for keys in ([datetime(2024, 3, 30, 10, 30)], ["2024-03-30 10:30"]):
        with curator(keys=keys) as opened:
            answer = opened.sql("SELECT departs, COUNT(*) AS n FROM t GROUP BY departs", epsilon=500)
            assert [(row["departs"], row["n"]) for row in answer] == [(datetime(2024, 3, 30, 10, 30), 1)]
    many = {"who": list(range(60)), "departs": ["2024-03-30T10:30:00"] * 60}
    said = {"departs": {"type": "timestamp"}}
    with dp.Curator(
        {"t": many}, unit="who", columns=said, epsilon=100, delta=1e-6, max_total=1, ledger=":memory:"
    ) as opened:
        text = "SELECT departs, COUNT(*) AS n FROM t GROUP BY departs"
        assert opened.sql(text, epsilon=50, delta=1e-7)["departs"] == [datetime(2024, 3, 30, 10, 30)]
        assert opened.sql(text, epsilon=50, delta=1e-7)["departs"] == [datetime(2024, 3, 30, 10, 30)]


def test_keys_are_moments() -> None:
    keys_are_moments()


POLICY = """[budget]
epsilon = 3
[unit]
column = "who"
[tables.t]
source = "t.csv"
zone = "Europe/Vienna"
[tables.t.columns]
departs = { type = "timestamp", bounds = [2024-03-30, 2024-03-31T18:00:00] }
arrives = { type = "timestamp", keys = [2024-03-30T10:00:00], format = "%d.%m.%Y %H:%M" }
"""


def policies_come_back(folder: Path) -> None:
    (folder / "t.csv").write_text("who,departs,arrives\n1,2024-03-30T10:30:00Z,30.03.2024 10:00\n")
    (folder / "policy.toml").write_text(POLICY)
    policy = Policy.read(folder / "policy.toml")
    policy.save(folder / "again.toml")
    written = (folder / "again.toml").read_text()
    assert "bounds = [2024-03-30T00:00:00, 2024-03-31T18:00:00]" in written and 'zone = "Europe/Vienna"' in written
    again = Policy.read(folder / "again.toml")
    assert again.tables["t"].columns == policy.tables["t"].columns
    assert again.tables["t"].reading == policy.tables["t"].reading
    with dp.Curator.open(folder / "again.toml") as opened:
        told = str(opened.describe())
        assert "2024-03-30 00:00:00 … 2024-03-31 18:00:00: GROUP BY of its years, months, days or hours" in told
        assert (
            opened.sql("SELECT HOUR(departs) AS h, COUNT(*) AS n FROM t GROUP BY h", epsilon=1, max_total=1)["h"][0]
            == 0
        )


def test_a_policy_says_moments_and_a_zone_and_is_written_as_it_is_read(tmp_path: Path) -> None:
    policies_come_back(tmp_path)


def test_the_command_line_takes_timestamps_and_a_zone() -> None:
    flags = Flags(types=["departs=timestamp"], bounds=["departs=2024-03-30:2024-03-31"], zone="Europe/Vienna")
    assert options(flags) == {"zone": "Europe/Vienna"}
    declared = declaration("departs", columns(flags)["departs"])
    assert declared.type is Type.TIMESTAMP and declared.high == micros_of(LAST)


def undeclared_columns_are_told_of() -> None:
    """Whoever asks for the hour of a column that nobody declared is told to declare a timestamp; for its year, a date."""
    with dp.Curator({"t": FLIGHTS}, row=True, epsilon=1, ledger=":memory:") as opened:
        for call, kind in (("HOUR(departs)", "timestamp"), ("YEAR(departs)", "date")):
            with pytest.raises(dp.QueryError) as refused:
                opened.sql(f"SELECT {call} AS k, COUNT(*) AS n FROM t GROUP BY k", epsilon=1)
            assert f"--types departs={kind}" in refused.value.hint


def test_a_column_that_nobody_declared_is_told_of() -> None:
    undeclared_columns_are_told_of()


def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(Invalid, match="zone must be"):
        dp.Curator({"t": FLIGHTS}, row=True, epsilon=1, ledger=":memory:", reading={"zone": "Mars"})


def test_a_stored_moment_is_a_date_until_it_is_declared_a_timestamp() -> None:
    """As it always was: whoever takes stored types over and wants hours declares them."""
    import polars

    frame = polars.DataFrame({"departs": [datetime(2024, 3, 30, 10, 30)]})
    for said, wanted in (({}, "date"), ({"departs": {"type": "timestamp"}}, "timestamp")):
        with dp.Curator(
            {"t": frame}, row=True, columns=said, epsilon=1, ledger=":memory:", reading={"types": "stored"}
        ) as opened:
            (column,) = opened.describe().as_data()["tables"][0]["columns"]
            assert column["type"] == wanted
