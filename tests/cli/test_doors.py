"""One data set, one budget: by whatever name a file is opened, its budget goes on, or the owner is told loudly that another one begins."""

import os
import shutil
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from io import StringIO
from itertools import permutations
from pathlib import Path

import pytest

from discreet import Curator
from discreet.cli.flags import Flags
from discreet.cli.source import curator_of
from discreet.curator.places import is_made
from tests.cli.conftest import POLICY, Run, data, error

COUNT = "SELECT COUNT(*) AS n FROM visits"
UNIT = ("--unit", "patient_id", "--epsilon", "0.01")


def asked(run: Run, source: str, ledger: str | None = None) -> str:
    """Open the budget as a question does; what is said on stderr."""
    flags = Flags(ledger=ledger) if source.endswith(".toml") else Flags(ledger=ledger, unit="patient_id")
    with redirect_stderr(StringIO()) as said, curator_of(source, flags) as curator:
        curator.spent  # noqa: B018
    return said.getvalue()


def in_python(make: Callable[[], Curator]) -> str:
    with warnings.catch_warnings(record=True) as caught, make() as curator:
        warnings.simplefilter("always")
        curator.spent  # noqa: B018
    return "\n".join(str(each.message) for each in caught)


def moved(run: Run) -> str:
    Path("visits.csv").rename("moved.csv")
    try:
        return asked(run, "moved.csv")
    finally:
        Path("moved.csv").rename("visits.csv")


def initialised(run: Run) -> str:
    assert run("init", "visits.csv", "--unit", "patient_id").exit_code == 0
    return asked(run, "discreet.toml")


DOORS: dict[str, Callable[[Run], str]] = {
    "the file": lambda run: asked(run, "visits.csv"),
    "its absolute path": lambda run: asked(run, os.path.abspath("visits.csv")),
    "a symbolic link": lambda run: asked(run, "soft.csv"),
    "a link in another folder": lambda run: asked(run, "elsewhere/visits.csv"),
    "a hard link": lambda run: asked(run, "hard.csv"),
    "another name": moved,
    "a policy": lambda run: asked(run, "a.toml"),
    "a copy of the policy": lambda run: asked(run, "b.toml"),
    "a link to the policy": lambda run: asked(run, "linked/c.toml"),
    "a policy of init": initialised,
    "a file in Python": lambda run: in_python(
        lambda: Curator({"visits": "visits.csv"}, "patient_id", epsilon=5, delta=1e-6)
    ),
    "a link in Python": lambda run: in_python(
        lambda: Curator({"visits": Path("soft.csv")}, "patient_id", epsilon=5, delta=1e-6)
    ),
    "a policy in Python": lambda run: in_python(lambda: Curator.open("linked/c.toml")),
}


@pytest.fixture
def doors(visits: Path) -> Path:
    """One data file under several names."""
    os.link("visits.csv", "hard.csv")
    Path("soft.csv").symlink_to("visits.csv")
    Path("a.toml").write_text(POLICY.replace("epsilon = 3", "epsilon = 5", 1), "utf-8")
    shutil.copy("a.toml", "b.toml")
    Path("elsewhere").mkdir()
    Path("linked").mkdir()
    Path("elsewhere/visits.csv").symlink_to("../visits.csv")
    Path("linked/c.toml").symlink_to("../a.toml")
    return visits


def ledgers() -> set[Path]:
    return {each.parent.resolve() for each in Path().rglob("ledger.sqlite")}


@pytest.mark.parametrize(("first", "second"), list(permutations(DOORS, 2)))
def test_two_doors_have_one_budget_or_the_owner_is_told(run: Run, doors: Path, first: str, second: str) -> None:
    assert "counted by" not in DOORS[first](run)
    (one,) = ledgers()
    said = DOORS[second](run)
    new = ledgers() - {one}
    assert bool(new) is ("counted by" in said)
    if new:
        assert f"--ledger {one}" in said


LINKS = {
    "the file": [
        "a symbolic link",
        "a link in another folder",
        "a file in Python",
        "a link in Python",
        "its absolute path",
    ],
    "a policy": ["a link to the policy", "a policy in Python"],
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_leads_to_the_ledger_beside_the_real_file(run: Run, doors: Path, name: str) -> None:
    for door in (*LINKS[name], name):
        assert DOORS[door](run) == ""
    assert ledgers() == {Path({"the file": "visits.csv.ledger", "a policy": "a.toml.ledger"}[name]).resolve()}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_that_was_opened_is_no_news(run: Run, doors: Path, door: str) -> None:
    DOORS[door](run)
    Path("discreet.toml").unlink(missing_ok=True)
    assert "counted by" not in DOORS[door](run)


def test_without_memory_what_lies_beside_the_file_is_seen(
    run: Run, doors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user, or another home, knows of no file; ledgers and policies beside it are there all the same."""
    assert asked(run, "a.toml") == ""
    monkeypatch.setenv("XDG_STATE_HOME", str(doors.parent / "other"))
    assert "a.toml.ledger" in asked(run, "visits.csv")
    monkeypatch.setenv("XDG_STATE_HOME", str(doors.parent / "third"))
    assert "visits.csv.ledger" in asked(run, "b.toml")


def test_a_ledger_beside_a_link_is_seen(run: Run, doors: Path) -> None:
    """It was made by a release that looked beside the link."""
    assert asked(run, "soft.csv", "soft.csv.ledger") == ""
    shutil.rmtree("state/discreet/sources")
    assert "soft.csv.ledger" in asked(run, "soft.csv")


def test_a_ledger_that_is_gone_is_known_by_its_mark(run: Run, doors: Path) -> None:
    assert asked(run, "visits.csv", "mine") == ""
    shutil.rmtree("mine")
    said = asked(run, "visits.csv")
    assert "mine" in said and "gone" in said


def test_the_hint_leads_to_one_budget(run: Run, doors: Path) -> None:
    asked(run, "a.toml")
    assert (
        data(run("ask", "visits.csv", COUNT, *UNIT, "--ledger", "a.toml.ledger", "--json"))["remaining"]["epsilon"]
        == 4.99
    )
    assert len(ledgers()) == 1
    assert data(run("budget", "a.toml", "--json"))["spent"]["epsilon"] == 0.01


def test_a_new_version_behind_a_link_is_told_from_a_new_budget(run: Run, doors: Path) -> None:
    """A link that is led to another file every night: the name is the same, so its ledger is known."""
    assert asked(run, "soft.csv") == ""
    shutil.copy("visits.csv", "tuesday.csv")
    Path("soft.csv").unlink()
    Path("soft.csv").symlink_to("tuesday.csv")
    assert "visits.csv.ledger" in asked(run, "soft.csv")


def test_other_data_are_no_news(run: Run, doors: Path) -> None:
    assert asked(run, "visits.csv") == ""
    shutil.copy("visits.csv", "others.csv")
    assert asked(run, "others.csv") == ""


def test_a_program_reads_the_warning_as_json(run: Run, doors: Path) -> None:
    asked(run, "a.toml")
    result = run("ask", "visits.csv", COUNT, *UNIT, "--json")
    assert result.exit_code == 0 and result.stderr.startswith('{"warning": "a new budget begins')


def test_a_memory_that_cannot_be_kept_is_told(run: Run, doors: Path) -> None:
    Path("state/discreet").mkdir(parents=True)
    Path("state/discreet/sources").write_text("in the way", "utf-8")
    assert "cannot be remembered" in asked(run, "visits.csv")
    assert is_made(Path("visits.csv.ledger"))


def test_what_is_remembered_tells_nothing_of_the_data_and_is_for_its_user_alone(run: Run, doors: Path) -> None:
    asked(run, "visits.csv")
    folder = Path("state/discreet/sources")
    assert folder.stat().st_mode & 0o77 == 0
    place = os.path.realpath("visits.csv.ledger")
    for each in folder.iterdir():
        assert each.stat().st_mode & 0o77 == 0 and each.read_text("ascii") == f'"{place}"\n'


def test_init_goes_on_with_the_ledger_and_the_budget_of_the_file(run: Run, visits: Path) -> None:
    data(run("ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1", "--budget", "4", "--json"))
    higher = error(run("init", "visits.csv", "--unit", "patient_id", "--epsilon", "9", "--json"))
    assert higher["code"] == "budget-fixed" and not Path("discreet.toml").exists()
    said = run("init", "visits.csv", "--unit", "patient_id").stdout
    assert "goes on with the ledger visits.csv.ledger" in said and "epsilon 1 is spent of ε = 4" in said
    assert data(run("budget", "--json"))["remaining"]["epsilon"] == 3
    assert 'path = "visits.csv.ledger"' in Path("discreet.toml").read_text("utf-8")


def test_init_takes_over_a_ledger_that_lies_elsewhere_with_all_that_is_fixed_in_it(run: Run, doors: Path) -> None:
    text = Path("a.toml").read_text("utf-8")
    text = text.replace("epsilon = 5", 'epsilon = 5\naccountant = "zcdp"\nshares = "reserved"', 1)
    Path("a.toml").write_text(text + "delta = 1e-7\n", "utf-8")
    asked(run, "a.toml")
    found = data(run("init", "visits.csv", "--unit", "patient_id", "--json"))
    assert found["goes_on"] and found["ledger"].endswith("a.toml.ledger")
    assert data(run("check", "--json"))["shares"] == "reserved"
    assert asked(run, "discreet.toml") == "" and len(ledgers()) == 1
