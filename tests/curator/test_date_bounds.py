"""Bounds of dates, from whoever declares them: in Python, in a policy, on a command line, by a survey; and what is then said of them."""

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.cli.flags import Flags, columns
from discreet.curator.declaration import declaration
from discreet.curator.policy import Policy
from discreet.errors import Invalid
from discreet.plan.calendar import number_of
from discreet.plan.scalar import Type

FIRST, LAST = date(2020, 1, 1), date(2024, 12, 31)
DAYS = {"who": [1, 2, 3, 4], "day": ["2020-02-29", "2024-12-31", "1999-12-31", ""]}


WAYS: list[Any] = [
    (FIRST, LAST),
    ["2020-01-01", "2024-12-31"],
    (datetime(2020, 1, 1, 12), "2024-12-31"),
]


@pytest.mark.parametrize("bounds", WAYS)
@pytest.mark.parametrize("kind", [None, "date"])
def test_days_are_declared_in_any_form(bounds: Any, kind: str | None) -> None:
    declared = declaration("day", {"bounds": bounds} | ({} if kind is None else {"type": kind}))
    assert declared.type is Type.DATE
    assert (declared.low, declared.high) == (Fraction(number_of(FIRST)), Fraction(number_of(LAST)))


def test_the_command_line_takes_days() -> None:
    found = columns(Flags(bounds=["admitted=2020-01-01:2024-12-31", "age=0:120"]))
    assert found["admitted"] == {"bounds": (FIRST, LAST)} and found["age"] == {"bounds": (0, 120)}
    for text in ("admitted=2020-01-01:", "admitted=2020-01-01:7", "admitted=2020-02-30:2024-01-01"):
        with pytest.raises(Invalid) as wrong:
            columns(Flags(bounds=[text]))
        assert "2020-01-01:2024-12-31" in wrong.value.hint


WRONG: list[dict[str, Any]] = [
    {"bounds": (FIRST, 7)},
    {"bounds": ("2020-01-01", "2024-02-30")},
    {"bounds": (FIRST, LAST), "type": "integer"},
    {"bounds": (0, 120), "type": "date"},
    {"bounds": (LAST, FIRST)},
]


@pytest.mark.parametrize("said", WRONG)
def test_what_are_no_two_days_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        dp.Curator({"t": DAYS}, unit="who", columns={"day": said}, epsilon=1, ledger=":memory:")


def test_a_policy_says_days_and_is_written_as_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,day\n1,2020-02-29\n")
    text = (
        '[budget]\nepsilon = 3\n[unit]\ncolumn = "who"\n[tables.t]\nsource = "t.csv"\n'
        "[tables.t.columns]\nday = { bounds = [2020-01-01, 2024-12-31] }\n"
    )
    (tmp_path / "policy.toml").write_text(text)
    policy = Policy.read(tmp_path / "policy.toml")
    policy.save(tmp_path / "again.toml")
    assert "bounds = [2020-01-01, 2024-12-31]" in (tmp_path / "again.toml").read_text()
    assert Policy.read(tmp_path / "again.toml").tables["t"].columns == policy.tables["t"].columns


def test_days_outside_are_left_out_of_groups_and_clamped_in_sums() -> None:
    """At a price where the noise is next to nothing."""
    said = {"day": {"bounds": (FIRST, LAST)}}
    with dp.Curator({"t": DAYS}, row=True, columns=said, epsilon=10**4, ledger=":memory:") as curator:
        by_year = curator.sql("SELECT YEAR(day) AS y, COUNT(*) AS n FROM t GROUP BY y", epsilon=500)
        assert [(row["y"], row["n"]) for row in by_year] == [(2020, 1), (2021, 0), (2022, 0), (2023, 0), (2024, 1)]
        days = curator.sql("SELECT SUM(day - DATE '2020-01-01') AS s FROM t", epsilon=5000)
        assert abs(days["s"][0] - (59 + 1826 + 0)) < 20
        assert "GROUP BY: 2020-01-01 … 2024-12-31" in str(curator.describe())


def test_a_surveyed_range_of_days_makes_groups(tmp_path: Path) -> None:
    rows = {"who": list(range(400)), "day": [f"{2021 + i % 3}-05-0{1 + i % 9}" for i in range(400)]}
    text = "SELECT YEAR(day) AS y, COUNT(DISTINCT who) AS n FROM t GROUP BY y"
    with dp.Curator({"t": rows}, unit="who", epsilon=100, delta=1e-6, ledger=tmp_path) as curator:
        curator.survey(epsilon=20)
        answer = curator.sql(text, epsilon=20, max_groups=1)
    years = [row["y"] for row in answer]
    assert years == sorted(years) and {2021, 2022, 2023} <= set(years)
