"""`discreet doctor`: what is fine, what is to be noted, and what is broken; it leaves nothing behind."""

import json
import os
import resource
import tempfile
import time
from importlib import metadata
from pathlib import Path

import pytest

from discreet.cli import doctor
from discreet.errors import Fault
from discreet.noise import source as noise_source
from tests.cli.conftest import Run, data, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr(doctor, "SYNCED", 0.01)
    (place / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))


def looked(run: Run, *words: str) -> dict[str, tuple[str, str]]:
    return {
        each["what"]: (each["verdict"], each["found"]) for each in json.loads(run("doctor", *words, "--json").stdout)
    }


def test_a_sound_machine_is_fine(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "TOO_FAST", 10**9)
    before = sorted(place.rglob("*"))
    found = {each["what"]: each for each in data(run("doctor", "--json"))}
    assert {"entropy", "disk", "marks", "temporary folder", "engine", "core dumps", "versions", "extras"} == set(found)
    assert all(found[what]["verdict"] == "fine" for what in ("entropy", "disk", "marks", "engine", "versions"))
    assert "duckdb" in found["versions"]["found"] and "syncs" in found["disk"]["found"]
    assert sorted(place.rglob("*")) == before  # nothing is left
    assert run("doctor").stdout.startswith("fine    entropy")


def test_a_source_is_looked_through(run: Run, policy: Path, visits: Path) -> None:
    assert "the first question makes it" in looked(run, "hospital.toml")["ledger"][1]
    assert run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--max-rows", "5").exit_code == 0
    visits.chmod(0o600)
    found = looked(run, "hospital.toml")
    assert found["ledger"] == ("fine", "4 rows, each computed again") and found["data"][0] == "fine"
    visits.chmod(0o644)
    assert looked(run, "hospital.toml")["data"][0] == "note"
    Path("hospital.toml.ledger").chmod(0o755)
    assert looked(run, "hospital.toml")["ledger"][0] == "note"


def test_a_broken_ledger_is_broken(run: Run, visits: Path) -> None:
    assert run("ask", "visits.csv", COUNT, "--unit", "patient_id", "--epsilon", "1").exit_code == 0
    kept = Path("visits.csv.ledger/ledger.sqlite")
    kept.write_bytes(kept.read_bytes().replace(b'"epsilon"', b'"epsilom"'))
    for wal in kept.parent.glob("*-wal"):
        wal.write_bytes(wal.read_bytes().replace(b"COUNT", b"C0UNT"))
    result = run("doctor", "visits.csv", "--json")
    found = {each["what"]: each["verdict"] for each in json.loads(result.stdout)}
    assert (result.exit_code, found["ledger"], result.stderr) == (1, "broken", "")


def test_no_entropy_is_broken(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> bytes:
        raise Fault("the operating system gave no entropy; no noise can be drawn", code="entropy")

    monkeypatch.setattr(noise_source, "_entropy", none)
    result = run("doctor", "--json")
    assert result.exit_code == 1 and json.loads(result.stdout)[0]["verdict"] == "broken"


def test_a_disk_that_does_not_sync_is_broken(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuses)
    result = run("doctor", "--json")
    found = {each["what"]: each for each in json.loads(result.stdout)}
    assert result.exit_code == 1 and found["disk"] == {
        "what": "disk",
        "verdict": "broken",
        "found": "Input/output error",
    }


def test_a_disk_faster_than_any_disk_is_noted(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(doctor, "TOO_FAST", 100)
    verdict, said = looked(run)["disk"]
    assert verdict == "note" and "power cut" in said


def test_marks_that_cannot_be_written_are_broken(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() == 0:
        pytest.skip("the superuser may write anywhere")
    (place / "state").mkdir(mode=0o500)
    assert looked(run)["marks"][0] == "broken"


def test_folders_of_killed_processes_are_noted(run: Run, place: Path) -> None:
    left = place / "tmp" / "discreet-killed"
    left.mkdir()
    assert looked(run)["temporary folder"][0] == "fine"  # it may be of one that still runs
    long_ago = time.time() - 2 * doctor.LEFT_FOR
    os.utime(left, (long_ago, long_ago))
    verdict, said = looked(run)["temporary folder"]
    assert verdict == "note" and "may hold rows" in said


def test_core_dumps_are_noted(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, verdict in ((0, "fine"), (resource.RLIM_INFINITY, "note")):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert looked(run)["core dumps"][0] == verdict


def test_a_source_that_is_not_there_is_a_mistake(run: Run, place: Path) -> None:
    assert run("doctor", "none.csv").exit_code == 2
    assert ledger_bytes(place / "none.csv") == {}


def test_versions_that_cannot_be_read_are_said_so(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages may lie in a folder of another user."""

    def hidden(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", hidden)
    assert "duckdb, whose version cannot be read" in run("doctor").stdout
