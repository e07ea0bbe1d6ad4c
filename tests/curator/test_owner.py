"""What an owner does through Python alone: every act of a command is a method of the curator, and says the same."""

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet.curator.session as session
from discreet.cli import app
from discreet.curator.address import Address
from discreet.curator.amounts import MOST, UNIT, Amounts
from discreet.curator.budgets import Balance
from discreet.curator.declaration import Budget
from discreet.curator.place import NOT_KEPT, Folder, Memory, Server, place_of
from discreet.curator.policy import Policy
from discreet.curator.proof import proof_of_export
from discreet.curator.session import Curator
from discreet.engines import duckdb
from discreet.errors import Fault, Invalid, QueryError, Refused

COUNT = "SELECT COUNT(*) AS n FROM visits"
COLUMNS = {"age": {"type": "integer", "bounds": (0, 120)}, "ward": {"keys": ["A", "B"]}}
ROWS = "patient,age,ward\n1,30,A\n2,40,B\n3,50,A\n"
YES = ["--reason", "the disk was replaced", "--yes"]
FRAME = {"patient": ["1", "2"], "age": [30, 40], "ward": ["A", "B"]}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def policy(place: Path) -> Path:
    """A policy file, written through Python."""
    (place / "visits.csv").write_text(ROWS)
    declared = Policy.declare(
        {"visits": place / "visits.csv"}, "patient", COLUMNS, epsilon=3, delta=1e-6, analysts={"ana": {"epsilon": 1}}
    )
    declared.save(place / "hospital.toml")
    return place / "hospital.toml"


@pytest.fixture
def hospital(policy: Path) -> Iterator[Curator]:
    with Curator.open(policy) as curator:
        yield curator


def command(*words: str) -> Any:
    """What a command prints as JSON."""
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def refusal(*words: str) -> Any:
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code != 0
    return json.loads(result.stderr)["error"]


def test_what_python_tells_is_what_the_commands_print(hospital: Curator, policy: Path) -> None:
    source = str(policy)
    assert hospital.describe("ana").as_data() == command("describe", source, "--as", "ana")
    assert hospital.budgets().as_data() == command("budget", source)
    assert hospital.policy.check(policy).as_data() == command("check", source)
    assert not (policy.parent / "hospital.toml.ledger").exists()  # whoever looks makes none
    hospital.sql(COUNT, epsilon=0.5)
    hospital.sql(COUNT, epsilon=0.25, analyst="ana")
    for analyst in (None, "ana"):
        words = [] if analyst is None else ["--as", analyst]
        assert hospital.describe(analyst).as_data() == command("describe", source, *words)
        assert hospital.budgets(analyst).as_data() == command("budget", source, *words)
        assert [line.as_data() for line in hospital.history(analyst)] == command("history", source, *words)
    assert hospital.verify().as_data() == command("ledger", "verify", source)
    assert hospital.export() == command("ledger", "export", source)
    assert proof_of_export(hospital.export()).as_data() == hospital.verify().as_data()


def test_an_analyst_sees_their_own_budget_and_charges_alone(hospital: Curator) -> None:
    hospital.sql(COUNT, epsilon=0.5)
    hospital.sql(COUNT, epsilon=0.25, analyst="ana")
    seen = hospital.budgets("ana")
    assert seen.whole.spent.epsilon == Fraction(1, 4) and not seen.analysts
    assert {line.who for line in hospital.history("ana") if line.price is not None} == {"ana"}
    for look in (hospital.budgets, hospital.history, hospital.describe):
        with pytest.raises(Refused) as refused:
            look("bob")
        assert refused.value.code == "analyst-unknown"


def test_analysts_come_and_go_and_what_they_spent_stays(hospital: Curator) -> None:
    assert set(hospital.analysts) == {"ana"}
    added = hospital.add_analyst("bob", 0.5)
    assert added.balance.active and added.balance.remaining.epsilon == Fraction(1, 2)
    hospital.sql(COUNT, epsilon=0.25, analyst="bob")
    assert not hospital.remove_analyst("bob").balance.active
    with pytest.raises(Refused):
        hospital.sql("SELECT COUNT(*) AS m FROM visits", epsilon=0.1, analyst="bob")
    with pytest.raises(Refused) as refused:
        hospital.add_analyst("bob", 1)
    assert refused.value.code == "cap-higher"
    assert hospital.add_analyst("bob", 1, higher=True).balance.spent.epsilon == Fraction(1, 4)


def test_a_higher_budget_is_an_explicit_act_and_never_above_the_policy(hospital: Curator) -> None:
    hospital.sql(COUNT, epsilon=0.5)
    assert hospital.set_budget(2).whole.cap.epsilon == 2
    with pytest.raises(Refused) as refused:
        hospital.set_budget(Fraction(5, 2))
    assert refused.value.code == "cap-higher"
    assert hospital.set_budget(Fraction(5, 2), higher=True).whole.cap.epsilon == Fraction(5, 2)
    for higher in ({"epsilon": 4}, {"epsilon": 2, "delta": Fraction(1, 10**5)}):
        with pytest.raises(Refused):
            hospital.set_budget(**higher, higher=True)  # type: ignore[arg-type]
    assert hospital.set_budget(shares="reserved").shares == "reserved"


def test_an_analyst_is_told_of_what_was_declared_alone(place: Path) -> None:
    with Curator(
        {"visits": FRAME | {"note": ["x", "y"]}}, "patient", COLUMNS, epsilon=3, ledger=place / "l"
    ) as curator:
        curator.add_analyst("ana", 1)
        told = {
            analyst: {column["name"] for column in curator.describe(analyst).as_data()["tables"][0]["columns"]}
            for analyst in (None, "ana")
        }
        assert told == {None: {"patient", "age", "ward", "note"}, "ana": {"patient", "age", "ward"}}
        curator.sql("SELECT COUNT(note) AS n FROM visits", epsilon=0.1)
        with pytest.raises(QueryError):
            curator.sql("SELECT COUNT(note) AS n FROM visits", epsilon=0.1, analyst="ana")


@given(st.lists(st.integers(0, MOST), min_size=3, max_size=3))
def test_what_was_spent_is_never_shown_as_less_nor_what_is_left_as_more(units: list[int]) -> None:
    spent, cap, left = (Budget(*Amounts(each, each % UNIT).exact[:2]) for each in units)
    shown = Balance(spent, cap, left, left).as_data()
    signs = {"spent": (spent, 1), "cap": (cap, -1), "remaining": (left, -1)}
    assert all(
        sign * Fraction(repr(shown[name][amount])) >= sign * getattr(exact, amount)
        for name, (exact, sign) in signs.items()
        for amount in ("epsilon", "delta")
    )


def test_an_export_that_was_changed_proves_nothing(hospital: Curator) -> None:
    hospital.sql(COUNT, epsilon=0.5)
    for i in range(len(hospital.export()["rows"])):
        document = hospital.export()
        document["rows"][i]["body"] += " "
        with pytest.raises(Fault):
            proof_of_export(document)


def test_after_the_data_changed_an_old_question_is_charged_anew(hospital: Curator, policy: Path) -> None:
    hospital.sql(COUNT, epsilon=0.5)
    (policy.parent / "visits.csv").write_text(ROWS + "4,60,B\n")
    assert hospital.data_changed() == "2" and hospital.policy.version == "2"
    answer = hospital.sql(COUNT, epsilon=0.5)
    assert hospital.spent.epsilon == 1 and answer.receipt["data_version"] == "2"
    with pytest.raises(Refused) as refused:
        hospital.data_changed("1")
    assert refused.value.code == "data-version"


def test_after_the_data_changed_the_new_ones_are_read(hospital: Curator, policy: Path) -> None:
    people = "SELECT COUNT(DISTINCT patient) AS n FROM visits"
    hospital.sql(people, epsilon=1)
    (policy.parent / "visits.csv").write_text("patient,age,ward\n" + "".join(f"{i},30,A\n" for i in range(2000)))
    hospital.data_changed()
    # at ε = 1 noise beyond 1,000 has a chance below e^-1000
    assert hospital.sql(people, epsilon=1).to_dicts()[0]["n"] > 1000


def test_the_data_do_not_change_inside_of_a_measurement(hospital: Curator) -> None:
    from discreet.privacy import events

    with hospital.measure(events.Laplace(10)), pytest.raises(Invalid) as invalid:
        hospital.data_changed()
    assert invalid.value.code == "in-flight"


def test_a_frame_s_ledger_is_accepted_by_the_call_and_by_the_command_that_a_refusal_names(place: Path) -> None:
    folder, names = place / "my ledger", count()

    def opened() -> Curator:
        return Curator({"visits": FRAME}, "patient", COLUMNS, epsilon=3, ledger=folder)

    def went_back() -> str:
        with opened() as curator:
            curator.sql(COUNT, epsilon=0.1, key=f"{next(names)}")
        shutil.copytree(folder, place / "copy", dirs_exist_ok=True)
        with opened() as curator:
            curator.sql(COUNT, epsilon=0.2, key=f"{next(names)}")
        shutil.rmtree(folder)
        shutil.copytree(place / "copy", folder)
        with opened() as curator, pytest.raises(Refused) as refused:
            curator.sql(COUNT, epsilon=0.3)
        assert refused.value.code == "rollback"
        return refused.value.hint

    hint = went_back()
    assert f"`discreet ledger accept '{folder}' --reason TEXT --yes`" in hint and "accept(reason)" in hint
    assert refusal("ledger", "accept", str(folder))["code"] == "rollback"  # not without --yes
    assert refusal("ledger", "accept", str(folder), "--yes")["message"] == "a reason is missing"
    assert command("ledger", "accept", str(folder), *YES)["spent"]["epsilon"] == pytest.approx(0.1)
    went_back()
    with opened() as curator:
        assert curator.accept("the server moved").balance.spent.epsilon == Fraction(1, 5)
        with pytest.raises(Invalid):
            curator.accept("the server moved")
        curator.sql(COUNT, epsilon=0.3)
        lines = [line.what for line in curator.history() if "an older ledger was accepted" in line.what]
    assert [line.rpartition(": ")[2] for line in lines] == ["the disk was replaced", "the server moved"]
    assert [line["what"] for line in command("history", str(folder)) if "was accepted" in line["what"]] == lines
    shutil.rmtree(folder)  # gone with its folder, and its mark is there
    assert refusal("ledger", "accept", str(folder), *YES)["code"] == "unit"
    assert command("ledger", "accept", str(folder), *YES, "--unit", "patient")["spent"]["epsilon"] == 0


def test_a_ledger_without_a_file_is_a_source_of_the_owner_s_commands(place: Path) -> None:
    folder = str(place / "frame.ledger")
    with Curator({"visits": FRAME}, "patient", COLUMNS, epsilon=3, ledger=folder) as curator:
        curator.sql(COUNT, epsilon=0.5)
        budgets, lines, proof = curator.budgets(), curator.history(), curator.verify()
    assert command("budget", folder) == budgets.as_data()
    assert command("history", folder) == [line.as_data() for line in lines]
    assert command("ledger", "verify", folder) == proof.as_data()
    assert command("ledger", "export", folder)["rows"]
    assert command("budget", "set", folder, "--epsilon", "2")["cap"]["epsilon"] == 2
    assert command("analyst", "add", folder, "ana", "--epsilon", "1")["active"]
    (place / "empty").mkdir()
    assert refusal("budget", "empty")["code"] == "no-file"


@pytest.mark.parametrize("words", [["ask", "p.toml", COUNT, "--epsilon", "1"], ["ledger", "verify", "p.toml"]])
def test_a_refusal_names_the_policy_that_leads_to_its_ledger(hospital: Curator, policy: Path, words: list[str]) -> None:
    hospital.sql(COUNT, epsilon=0.5)
    hospital.close()
    shutil.rmtree(policy.parent / "hospital.toml.ledger")
    asked = [str(policy) if word == "p.toml" else word for word in words]
    assert f"`discreet ledger accept {policy} --reason TEXT --yes`" in refusal(*asked)["hint"]


def test_a_budget_in_memory_is_counted_and_every_answer_says_that_it_is_not_kept(place: Path) -> None:
    before = {path for path in place.rglob("*") if "state" not in path.parts}
    with Curator({"visits": FRAME}, "patient", COLUMNS, epsilon=1, ledger=":memory:") as curator:
        answer = curator.sql(COUNT, epsilon=0.75)
        assert curator.sql(COUNT, epsilon=0.75).to_dicts() == answer.to_dicts() and curator.spent.epsilon == 0.75
        assert NOT_KEPT in answer.notes and answer.receipt["kept"] is False and NOT_KEPT in str(answer)
        curator.data_changed()
        assert curator.spent.epsilon == 0.75
        with pytest.raises(Refused):
            curator.sql("SELECT COUNT(*) AS m FROM visits", epsilon=0.5)
    assert {path for path in place.rglob("*") if "state" not in path.parts} == before
    with Curator({"visits": FRAME}, "patient", COLUMNS, epsilon=1, ledger=":memory:") as curator:
        assert curator.spent.epsilon == 0
    with Curator({"visits": FRAME}, "patient", COLUMNS, epsilon=1, ledger=place / "kept") as curator:
        kept = curator.sql(COUNT, epsilon=0.5)
        assert "kept" not in kept.receipt and NOT_KEPT not in kept.notes


def test_one_function_decides_where_a_ledger_lies(policy: Path, place: Path) -> None:
    file, read = place / "visits.csv", Policy.read(policy)
    assert place_of(None, file) == Folder(place / "visits.csv.ledger", None, str(file))
    assert place_of(read, policy) == Folder(place / "hospital.toml.ledger", None, str(policy))
    assert place_of(read, policy, "x") == Folder(Path("x"), None, f"{policy} --ledger x")
    assert place_of(read, policy, ":memory:") == Memory()
    with pytest.raises(Invalid):
        place_of()


@pytest.mark.parametrize("use", ["store", "engine"])
def test_threads_that_race_the_first_use_open_one_ledger_and_load_the_data_once(
    hospital: Curator, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    made: list[object] = []
    target, name = (session, "open_ledger") if use == "store" else (duckdb, "DuckDB")
    original = getattr(target, name)

    def slowly(*arguments: Any) -> Any:
        gate.wait(1)  # whoever comes second has every chance to come in too
        made.append(original(*arguments))
        return made[-1]

    gate = threading.Event()
    monkeypatch.setattr(target, name, slowly)
    seen: list[object] = []
    start = threading.Barrier(8)

    def first() -> None:
        start.wait()
        seen.append(hospital._store if use == "store" else hospital._loaded())

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(seen) == 8 and set(map(id, seen)) == {id(made[0])}


def test_a_curator_needs_no_command_line() -> None:
    import subprocess

    code = "import sys, discreet; discreet.Curator; discreet.Policy; sys.exit('discreet.cli' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SECRET = "hunter2"
UNUSABLE = (
    f"postgresql://owner:{SECRET}@127.0.0.1:1/none",
    f"host=127.0.0.1 port=1 password={SECRET}",
    f"no address {SECRET}",
    "",
)


def test_an_address_is_named_by_one_variable_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER", f"host=h password={SECRET}")
    address = Address.of("env:LEDGER")
    assert SECRET in address.read() and SECRET not in f"{address} {address!r}"
    for words in (
        "LEDGER",
        "env:",
        f"env:LEDGER {SECRET}",
        f"env:LEDGER\n{SECRET}",
        "env:LEDGER\n",
        f"host={SECRET}",
        3,
    ):
        with pytest.raises(Invalid) as invalid:
            Address.of(words)
        assert invalid.value.code == "address" and SECRET not in str(invalid.value)


@pytest.mark.parametrize("address", UNUSABLE)
@pytest.mark.parametrize("where", ["variable", "file", "policy"])
def test_no_message_quotes_the_address_of_a_server(
    policy: Path, monkeypatch: pytest.MonkeyPatch, address: str, where: str
) -> None:
    pytest.importorskip("psycopg")
    line = {"variable": 'address = "env:LEDGER"', "file": 'address_file = "address"'}.get(
        where, f"address = {json.dumps(address)}"
    )
    monkeypatch.setenv("LEDGER", address)
    (policy.parent / "address").write_text(address)
    policy.write_text(policy.read_text() + f"\n[ledger]\n{line}\n")
    error = refusal("ask", str(policy), COUNT, "--epsilon", "1")
    assert SECRET not in json.dumps(error)
    if where == "policy" or not address:
        assert error["code"] == "address"


@pytest.mark.postgres
def test_a_policy_reaches_the_ledger_on_a_server(policy: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER", server)
    schema = f"owner_{id(policy) % 10**9}"
    policy.write_text(policy.read_text() + f'\n[ledger]\naddress = "env:LEDGER"\nschema = "{schema}"\n')
    with Curator.open(policy) as one, Curator.open(policy) as other:
        assert isinstance(place_of(one.policy, policy), Server) and not one.budgets().made
        answer = one.sql(COUNT, epsilon=0.5)
        assert other.sql(COUNT, epsilon=0.5).to_dicts() == answer.to_dicts()
        assert other.spent.epsilon == Fraction(1, 2) and server not in repr(one) + str(one.budgets())
        proof = one.verify()
    assert not (policy.parent / "hospital.toml.ledger").exists()
    assert command("budget", str(policy))["spent"]["epsilon"] == 0.5
    assert command("ledger", "verify", str(policy)) == proof.as_data()
    assert command("history", str(policy))[-1]["state"] == "answered"
    assert server not in json.dumps(command("check", str(policy)))
