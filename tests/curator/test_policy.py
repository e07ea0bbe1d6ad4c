"""A policy is written, checked and saved from Python, and what is read back is what was saved."""

import string
from datetime import date
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.address import Address
from discreet.curator.declaration import Budget, protected, source_of
from discreet.curator.policy import Policy
from discreet.errors import Invalid, Refused
from discreet.plan.catalog import Protected

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
# nobody else is called as the owner is
ANALYSTS = st.text(string.ascii_letters + " é'\"", min_size=1, max_size=8).filter(
    lambda name: name.casefold() != "owner"
)
FILES = st.text(string.ascii_letters + "é &'\"", min_size=1, max_size=8).filter(str.strip)
AMOUNTS = st.fractions(min_value=Fraction(1, 10**6), max_value=20, max_denominator=10**9)
BOUNDS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**6)


@st.composite
def columns(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["bounds", "texts", "integers", "dates", "type", "format", "nothing"]))
    declared: dict[str, Any] = {"nullable": draw(st.booleans()), "max_groups": draw(st.none() | st.integers(1, 10_000))}
    match kind:
        case "bounds":
            declared["bounds"] = (draw(BOUNDS), draw(BOUNDS))
        case "texts":
            declared["keys"] = draw(st.lists(st.text(st.characters(codec="utf-8")), max_size=3))
        case "integers":
            declared["keys"] = draw(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3))
        case "dates":
            declared["keys"] = draw(st.lists(st.dates(date(1000, 1, 1)), max_size=3))
        case "type":
            declared["type"] = draw(st.sampled_from(["integer", "number", "text", "date", "boolean"]))
        case "format":
            declared["format"] = "%d/%m/%Y"
    return declared


@st.composite
def sources(draw: st.DrawFn, folder: Path) -> Any:
    options: dict[str, Any] = {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "multiline": draw(st.booleans()),
        "ragged": draw(st.booleans()),
        "null": draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=3), max_size=2)),
        "types": draw(st.sampled_from(["declared", "stored"])),
    }
    if draw(st.booleans()):
        options |= {"decimal": ",", "thousands": ".", "encoding": "latin-1", "table": draw(NAMES)}
    named = draw(st.dictionaries(NAMES, columns(), max_size=3))
    unique = {name.casefold(): name for name in named}
    place = draw(st.sampled_from([folder, folder / "below", folder.parent / "elsewhere"]))
    return source_of(place / draw(FILES), {name: named[name] for name in unique.values()}, options)


@st.composite
def units(draw: st.DrawFn) -> Protected:
    some = st.none() | st.integers(1, 1000)
    caps = {name: draw(some) for name in ("max_groups", "max_rows", "max_total", "people")}
    how = {
        "adjacency": draw(st.sampled_from(["add-remove", "replace"])),
        "clip": draw(st.sampled_from(["groups", "l2"])),
    }
    column = draw(st.none() | NAMES)
    return protected(column, row=column is None, **how, **caps)


@st.composite
def policies(draw: st.DrawFn, folder: Path) -> Policy:
    budget = st.builds(Budget, AMOUNTS, st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 3 * 10**7)]))
    where = draw(st.sampled_from(["", "folder", "memory", "variable", "file"]))
    return Policy(
        tables=draw(st.dictionaries(NAMES, sources(folder), min_size=1, max_size=2)),
        protected=draw(units()),
        budget=draw(budget),
        shares=draw(st.sampled_from([None, "common"])),
        analysts=draw(st.dictionaries(ANALYSTS, budget, max_size=2)),
        version=draw(NAMES),
        ledger={"folder": folder / draw(FILES), "memory": Path(":memory:")}.get(where),
        address={"variable": Address(variable="LEDGER"), "file": Address(file=folder / "address")}.get(where),
        schema=draw(st.sampled_from(["discreet", "visits"])),
        mark=draw(st.sampled_from([None, folder / "mark"])),
        share_answers=draw(st.booleans()),
    )


@given(st.data())
def test_what_is_read_is_what_was_saved(data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        policy = data.draw(policies(folder))
        policy.save(folder / "policy.toml")
        assert Policy.read(folder / "policy.toml") == policy
        Policy.read(folder / "policy.toml").save(folder / "again.toml")
        assert (folder / "again.toml").read_bytes() == (folder / "policy.toml").read_bytes()


def declared(folder: Path, **more: Any) -> Policy:
    (folder / "visits.csv").write_text("patient,age,ward\n1,30,A\n")
    return Policy.declare(
        {"visits": folder / "visits.csv"}, "patient", {"age": {"bounds": (0, 120)}}, epsilon=3, **more
    )


def test_a_saved_policy_and_its_data_can_be_moved_together(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    declared(tmp_path / "here").save(tmp_path / "here" / "hospital.toml")
    (tmp_path / "here").rename(tmp_path / "there")
    assert Policy.read(tmp_path / "there" / "hospital.toml").files == (tmp_path / "there" / "visits.csv",)
    assert Policy.read(tmp_path / "there" / "hospital.toml").check(tmp_path / "there" / "hospital.toml").missing


def test_a_policy_is_never_written_over(tmp_path: Path) -> None:
    declared(tmp_path).save(tmp_path / "hospital.toml")
    with pytest.raises(Invalid) as invalid:
        declared(tmp_path, version="2").save(tmp_path / "hospital.toml")
    assert invalid.value.code == "out" and Policy.read(tmp_path / "hospital.toml").version == "1"


def test_a_table_in_memory_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as invalid:
        Policy.declare({"visits": {"patient": [1]}}, "patient", epsilon=1).save(tmp_path / "p.toml")
    assert invalid.value.code == "policy" and not (tmp_path / "p.toml").exists()


def test_a_check_tells_what_is_missing_and_refuses_what_promises_nothing(tmp_path: Path) -> None:
    review = declared(tmp_path).check()
    assert review.missing[0].allows == "GROUP BY ward"
    assert any("no delta" in note for note in review.notes)
    with pytest.raises(Refused) as refused:
        declared(tmp_path, delta=0.5, people=100).check()
    assert refused.value.code == "delta"


@pytest.mark.parametrize("line", ['address = "env:LEDGER"\npath = "here"', 'address = "env:A"\naddress_file = "b"'])
def test_a_ledger_is_named_once(tmp_path: Path, line: str) -> None:
    declared(tmp_path).save(tmp_path / "p.toml")
    (tmp_path / "p.toml").write_text((tmp_path / "p.toml").read_text() + f"\n[ledger]\n{line}\n")
    with pytest.raises(Invalid):
        Policy.read(tmp_path / "p.toml")
