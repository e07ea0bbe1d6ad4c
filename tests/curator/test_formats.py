"""What a release wrote, every later one reads: its ledgers open, verify and go on, its kept answers come back, its exports verify.

Each folder of tests/golden/formats is named after the release that wrote it, by tests/golden/release.py, and is never written anew.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from discreet.answer import Answer, record
from discreet.cli import app
from discreet.curator.acts import FORMAT
from discreet.curator.mark import Mark
from discreet.curator.replay import replay
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.errors import Invalid, Refused
from discreet.mechanisms import Geometric

F = Fraction
FORMATS = Path(__file__).parent.parent / "golden" / "formats"
RELEASES = sorted(path.name for path in FORMATS.iterdir())
COUNT = "SELECT COUNT(*) AS n FROM visits"
FOLDERS = {"hospital": "ledger", "concentrated": "concentrated", "flags": "flags"}
"""Where each ledger lies: of a policy, of a policy that counts by zCDP, and of a data file by itself."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one release left, in a place where it may be written to."""

    place: Path
    expected: dict[str, Any]

    def store(self, name: str) -> SQLiteStore:
        marks = {"hospital": self.place / "mark", "concentrated": self.place / "concentrated.mark"}
        return SQLiteStore.open(self.place / FOLDERS[name], creation=None, mark=marks.get(name))

    def curator(self, name: str) -> Curator:
        return Curator.open(self.place / f"{name}.toml")

    def questions(self, name: str) -> list[dict[str, Any]]:
        return list(self.expected[name]["questions"])


@pytest.fixture(params=RELEASES)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """A copy, with the file modes of a ledger, which git does not keep, and the mark of the data file where marks are looked for."""
    place = tmp_path / request.param
    shutil.copytree(FORMATS / request.param, place)
    for path in (place, *place.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    mark = Mark.of(str((place / "flags").resolve())).path
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copy(place / "flags.mark", mark)
    yield Kept(place, json.loads((place / "expected.json").read_text("utf-8")))
    mark.unlink()


def ask(curator: Curator, asked: dict[str, Any], key: str | None = None) -> Answer:
    delta = None if asked["delta"] is None else F(asked["delta"])
    price = {"epsilon": F(asked["epsilon"]), "delta": delta}
    return curator.sql(asked["text"], asked["params"], **price, key=key, analyst=asked["analyst"])


def never() -> int:
    raise AssertionError("the exact value was looked at")


def bare(answer: Answer, kept: str) -> str:
    """An answer as it was kept: without what is left of the budget, and with the row that was kept with it, if one was."""
    row = json.loads(kept)["receipt"]["ledger"]
    return replace(answer, remaining=None, receipt={**answer.receipt, "ledger": row}).to_bytes().decode()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_ledger_opens_verifies_and_has_its_totals(kept: Kept, name: str) -> None:
    expected = kept.expected[name]
    with kept.store(name) as store:
        assert sum(1 for _ in store.history()) == expected["rows"]
        assert store.verify() == store.standing()
        for analyst, totals in expected["totals"].items():
            found = store.standing(analyst or None)
            for which, amounts in totals.items():
                assert getattr(found, which).exact == tuple(map(F, amounts.values())), (analyst, which)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_kept_answer_is_there_and_is_read_back_to_the_byte(kept: Kept, name: str) -> None:
    with kept.store(name) as store:
        for asked in kept.questions(name):
            stored = store.stored(asked["kept_as"], asked["analyst"])
            assert stored is not None and stored.decode() == asked["answer"]
            assert Answer.from_bytes(stored).to_bytes() == stored


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_verified_on_the_command_line_holds(kept: Kept, name: str) -> None:
    source = kept.place / ("visits.csv" if name == "flags" else f"{name}.toml")
    ledger = ["--ledger", str(kept.place / "flags")] if name == "flags" else []
    result = run("ledger", "verify", str(source), "--json", *ledger)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["rows"] == kept.expected[name]["rows"]


def test_an_export_verifies_to_the_totals_of_its_ledger(kept: Kept) -> None:
    result = run("ledger", "verify", str(kept.place / "export.json"))
    assert result.exit_code == 0, result.stderr
    totals = replay(json.loads((kept.place / "export.json").read_bytes()))
    with kept.store("hospital") as store:
        assert totals == {None: store.standing()} | {name: store.standing(name) for name in store.analysts()}
        assert "ana" in totals


@pytest.mark.parametrize("name", ["hospital", "concentrated"])
def test_an_answer_comes_back_under_its_key_at_no_charge(kept: Kept, name: str) -> None:
    named = [asked for asked in kept.questions(name) if asked["key"] is not None]
    assert named
    with kept.curator(name) as curator:
        spent = curator.spent
        for asked in named:
            assert bare(ask(curator, asked, asked["key"]), asked["answer"]) == asked["answer"]
        assert curator.spent == spent


@pytest.mark.parametrize("name", ["hospital", "concentrated"])
def test_a_plain_count_is_found_again_at_no_charge(kept: Kept, name: str) -> None:
    plain = [asked for asked in kept.questions(name) if asked["text"] == COUNT]
    assert {asked["analyst"] for asked in plain} == {None, "ana"}
    with kept.curator(name) as curator:
        spent = curator.spent
        for asked in plain:
            assert bare(ask(curator, asked), asked["answer"]) == asked["answer"]
        assert curator.spent == spent


def test_what_was_measured_comes_back_in_its_order_at_no_charge(kept: Kept) -> None:
    """Since 0.2; release 0.1 kept no draws."""
    measured = kept.expected["hospital"].get("measured")
    assert measured is not None or kept.place.name == "0.1"
    if measured is None:
        return
    noise, sensitivity = Geometric(F(measured["scale"])), measured["sensitivity"]
    with kept.curator("hospital") as curator:
        spent = curator.spent
        with curator.measure(noise.event(sensitivity), label=measured["label"], key=measured["key"]) as grant:
            assert [int(grant(noise, sensitivity, never)) for _ in measured["values"]] == measured["values"]
        assert curator.spent == spent


def test_why_a_ledger_was_accepted_is_there(kept: Kept) -> None:
    """Since 0.2; release 0.1 asked for no reason."""
    with kept.curator("hospital") as curator:
        accepted = [line.what for line in curator.history() if "ledger was accepted" in line.what]
    assert kept.place.name == "0.1" or [line.rpartition(": ")[2] for line in accepted] == ["the disk was replaced"]


@pytest.mark.parametrize("name", ["hospital", "concentrated"])
@pytest.mark.parametrize("analyst", [None, "ana"])
def test_a_further_question_is_charged_and_the_ledger_verifies(kept: Kept, name: str, analyst: str | None) -> None:
    with kept.curator(name) as curator:
        before = curator.spent
        curator.sql(COUNT + " WHERE age > 30", epsilon=F(1, 8), analyst=analyst)
        after = curator.spent
    paid = after.epsilon - before.epsilon if after.rho is None else after.rho - (before.rho or 0)
    assert paid == F(1, 8) if after.rho is None else 0 < paid < F(1, 64)
    with kept.store(name) as store:
        assert store.verify().spent.exact[0] == after.epsilon
        assert sum(1 for _ in store.history()) == kept.expected[name]["rows"] + 2


def test_a_data_file_goes_on_with_what_its_ledger_remembers(kept: Kept) -> None:
    first = kept.questions("flags")[0]
    folder = ("--ledger", str(kept.place / "flags"), "--json")
    source = str(kept.place / "visits.csv")
    again = run("ask", source, first["text"], "--epsilon", first["epsilon"], *folder)
    assert again.exit_code == 0, again.stderr
    body = json.loads(again.stdout)
    assert body["rows"] == json.loads(first["answer"])["rows"]
    spent = F(kept.expected["flags"]["totals"][""]["spent"]["epsilon"])
    cap = F(kept.expected["flags"]["totals"][""]["cap"]["epsilon"])
    assert body["remaining"]["epsilon"] == cap - spent
    further = run("ask", source, COUNT + " WHERE ward = 'Surgery'", "--epsilon", "0.125", *folder)
    assert further.exit_code == 0, further.stderr
    assert json.loads(further.stdout)["remaining"]["epsilon"] == cap - spent - F(1, 8)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_newer_ledger_is_refused_by_name(kept: Kept, name: str) -> None:
    newer = FORMAT + 1
    file = sqlite3.connect(kept.place / FOLDERS[name] / "ledger.sqlite")
    file.execute(f"PRAGMA user_version = {newer}")
    file.close()
    with pytest.raises(Refused, match=f"format {newer}") as refused:
        kept.store(name)
    assert refused.value.code == "ledger-newer"


def test_a_newer_export_is_refused_by_name(kept: Kept) -> None:
    newer = FORMAT + 1
    document = json.loads((kept.place / "export.json").read_bytes())
    with pytest.raises(Refused, match=f"format {newer}") as refused:
        replay(document | {"format": newer})
    assert refused.value.code == "ledger-newer"


def test_a_newer_answer_is_refused_by_name(kept: Kept) -> None:
    newer = record.FORMAT + 1
    body = json.loads(kept.questions("hospital")[0]["answer"]) | {"format": newer}
    with pytest.raises(Invalid, match=f"format {newer}"):
        Answer.from_bytes(json.dumps(body, sort_keys=True, separators=(",", ":")).encode())


def test_what_was_kept_is_what_others_follow_from(kept: Kept) -> None:
    """Of what an earlier release kept something follows, where its plan is made as it was then, and the ledger stays as it is."""
    with kept.curator("hospital") as curator:
        acts, followed = len(curator.history()), 0
        given = [json.loads(asked["answer"])["rows"] for asked in kept.questions("hospital")]
        for asked in kept.questions("hospital"):
            if asked["params"] is None:
                free = curator.preview(asked["text"], epsilon=1, analyst=asked["analyst"]).free
                numbers = [] if free is None else [row["n"] for row in free.answer.to_dicts() if "n" in row]
                assert all(any(n == row.get("n") for rows in given for row in rows) for n in numbers)
                followed += free is not None
        assert followed and len(curator.history()) == acts
