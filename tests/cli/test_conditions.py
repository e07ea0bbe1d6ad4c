"""A machine that refuses: streams closed and full, folders of others, names and policies that cannot be read, a folder that is gone.

Every command under every condition ends with a line that says what to do and the exit code of its kind, and loses nothing.
"""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.hospital import hospital
from tests.cli.conftest import POLICY
from tests.cli.started import CLOSED, FULL, NOBODY, Ended, open_folder, started
from tests.scale import repeats

pytestmark = pytest.mark.usefixtures("few_questions")

COUNT = "SELECT COUNT(*) AS n FROM visits"
ASK = ["ask", "hospital.toml", COUNT, "--epsilon", "0.1"]
COMMANDS: dict[str, list[str]] = {
    "ask": ASK,
    "ask a file": ["ask", "visits.csv", COUNT, "--epsilon", "0.1"],
    "ask --out": [*ASK, "--out", "answer.csv"],
    "ask --preview": [*ASK, "--preview"],
    "ask --json": [*ASK, "--json"],
    "explain": ["explain", "hospital.toml", COUNT],
    "describe": ["describe", "hospital.toml"],
    "shell": ["shell", "hospital.toml", "--epsilon", "0.1"],
    "init": ["init", "visits.csv", "--unit", "patient_id", "--out", "new.toml"],
    "check": ["check", "hospital.toml"],
    "rehearse": ["rehearse", "hospital.toml", "--yes"],
    "budget": ["budget", "hospital.toml"],
    "budget set": ["budget", "set", "hospital.toml", "--epsilon", "2", "--yes"],
    "analyst add": ["analyst", "add", "hospital.toml", "bo", "--epsilon", "1"],
    "analyst remove": ["analyst", "remove", "hospital.toml", "ana"],
    "history": ["history", "hospital.toml"],
    "data changed": ["data", "changed", "hospital.toml"],
    "ledger verify": ["ledger", "verify", "hospital.toml"],
    "ledger export": ["ledger", "export", "hospital.toml"],
    "ledger accept": ["ledger", "accept", "hospital.toml"],
    "ledger resume": ["ledger", "resume", "hospital.toml", "--reason", "x", "--yes"],
    "doctor": ["doctor", "hospital.toml"],
    "audit": ["audit", "hospital.toml", "--samples", "100", "--seconds", "0.01"],
    "calibrate": ["calibrate", "laplace", "--epsilon", "1"],
    "loss": ["loss", "laplace(1)"],
    "attack": ["attack", "patient", "--trials", "5"],
    "version": ["--version"],
}
OF_A_FILE = ("ask a file", "init")
WITHOUT_SOURCE = ("calibrate", "loss", "attack", "version")


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A hospital whose policy and whose file were each asked once."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        hospital(30).write(place / "visits.csv")
        (place / "hospital.toml").write_text(POLICY, "utf-8")
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(place / "state")
        try:
            for source, more in (("hospital.toml", []), ("visits.csv", ["--unit", "patient_id"])):
                found = started(
                    ["ask", source, f"{COUNT} WHERE ward = 'Surgery'", "--epsilon", "0.1", *more], folder=place
                )
                assert found.code == 0, found
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before
        shutil.rmtree(place / "state")
        for each in place.glob("*.ledger/ledger.sqlite"):  # whose mark is to be begun anew beside each copy
            with closing(sqlite3.connect(each)) as ledger:
                ledger.execute("DROP TABLE place")
                ledger.commit()
        yield place


@pytest.fixture
def ward(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it, which belongs to somebody who is not root."""
    with open_folder() as folder:
        place = folder / "data"
        shutil.copytree(made, place)
        (place / "state" / "discreet" / "marks").mkdir(parents=True)
        monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
        if os.geteuid() == 0:
            for each in (place, *place.rglob("*")):
                os.chown(each, NOBODY, NOBODY)
        yield place
        for each in (place, *place.rglob("*")):
            if each.is_dir():
                each.chmod(0o700)


def kept_from_us(*names: str) -> Callable[[Path], None]:
    def close(place: Path) -> None:
        for name in names:
            (place / name).chmod(0)

    return close


def policy(text: str | bytes) -> Callable[[Path], None]:
    def write(place: Path) -> None:
        (place / "hospital.toml").write_bytes(text.encode() if isinstance(text, str) else text)

    return write


DIGITS = "9" * 10**6
OF_FILES: dict[str, Callable[[Path], None]] = {
    "the ledgers' folders": kept_from_us("hospital.toml.ledger", "visits.csv.ledger"),
    "the ledgers": kept_from_us("hospital.toml.ledger/ledger.sqlite", "visits.csv.ledger/ledger.sqlite"),
    "the sources": kept_from_us("hospital.toml", "visits.csv"),
    "the data": kept_from_us("visits.csv"),
    "the state": kept_from_us("state"),
    "the marks": kept_from_us("state/discreet/marks"),
    "a folder to read only": lambda place: place.chmod(0o555),
    "a deep policy": policy("a = " + "[" * 100_000),
    "a policy of tables in tables": policy(POLICY + "[x]\na = " + "{a=" * 5000 + "1" + "}" * 5000),
    "a policy of many digits": policy(POLICY.replace("epsilon = 3", f"epsilon = {DIGITS}")),
    "a policy of many decimals": policy(POLICY.replace("epsilon = 3", f"epsilon = 3.{DIGITS}")),
    "a policy of a large exponent": policy(POLICY.replace("epsilon = 3", "epsilon = 3e999999999")),
    "a policy that is no text": policy(b"\xff\xfe\x00"),
}
STREAMS: dict[str, dict[str, Any]] = {
    "stdin closed": {"stdin": CLOSED},
    "stdout closed": {"stdout": CLOSED},
    "stderr closed": {"stderr": CLOSED},
    "all closed": {"stdin": CLOSED, "stdout": CLOSED, "stderr": CLOSED},
    "stdout full": {"stdout": FULL},
    "stderr full": {"stderr": FULL},
    "both full": {"stdout": FULL, "stderr": FULL},
}


def some(condition: int) -> list[str]:
    """The commands to try under a condition: a question, and nine others, which are other ones under the next; all of them in a soak."""
    others = [name for name in COMMANDS if name != "ask"]
    return ["ask", *(others[(9 * condition + i) % len(others)] for i in range(min(len(others), repeats(9))))]


def run(name: str, place: Path, arguments: list[str] | None = None, **more: Any) -> Ended:
    typed = f"{COUNT};\n".encode() if name == "shell" else b""
    return started(COMMANDS[name] if arguments is None else arguments, typed=typed, **{"folder": place, **more})


def said_well(found: Ended, heard: bool = True) -> None:
    """An exit code of ours; where it failed one line, which nobody has to guess at."""
    assert found.code in (0, 1, 2, 3), found
    assert "Traceback" not in found.err and "something here is broken" not in found.err, found.err
    if found.code and heard and not found.out:
        assert len(found.err.splitlines()) == 1 and len(found.err) < 600, found.err
        assert ";" in found.err or ":" in found.err, "it says what to do, or what is wrong"


def spent(place: Path) -> list[str]:
    """What each ledger says, as somebody who may read it; it is sound."""
    for each in (place, *place.rglob("*")):
        each.chmod(0o700 if each.is_dir() else 0o600)
    (place / "hospital.toml").write_text(POLICY, "utf-8")
    found = [started(["ledger", "verify", source], folder=place) for source in ("hospital.toml", "visits.csv")]
    assert [each.code for each in found] == [0, 0], found
    return [each.out.splitlines()[1].split(" of ")[0] for each in found]


@pytest.mark.parametrize("condition", OF_FILES)
def test_files_of_others_and_policies_that_cannot_be_read(ward: Path, condition: str) -> None:
    OF_FILES[condition](ward)
    answered = 0
    for name in (each for each in some([*OF_FILES].index(condition)) if each not in WITHOUT_SOURCE):
        found = run(name, ward, other=True)
        said_well(found)
        if found.code == 2:
            assert not found.out
        if "policy" in condition and name not in OF_A_FILE:
            assert found.code == 2 and not found.out, found
        answered += name in ("ask", "ask --out", "ask --json", "shell") and found.code == 0
    policy_spent, _ = spent(ward)
    assert policy_spent == ("spent: ε = 0.2" if answered else "spent: ε = 0.1")


@pytest.mark.parametrize("condition", STREAMS)
def test_streams_that_are_closed_or_full(ward: Path, condition: str) -> None:
    streams = STREAMS[condition]
    heard = "stderr" not in streams
    for name in some([*STREAMS].index(condition)):
        found = run(name, ward, **streams)
        said_well(found, heard)
        if streams.get("stdout") == CLOSED:
            assert found.code == 2, "refused before anything is charged"
        elif streams.get("stdout") == FULL:
            assert found.code in (1, 2, 3) and (not heard or name == "ledger accept" or found.code != 0)
            if name == "ask" and heard:
                assert found.code == 1 and "kept, and asking again is free" in found.err
    charged = streams.get("stdout") != CLOSED
    assert spent(ward)[0] == ("spent: ε = 0.2" if charged else "spent: ε = 0.1")
    again = run("ask", ward)
    assert again.code == 0 and "±" in again.out and spent(ward)[0] == "spent: ε = 0.2", "asked again it is free"


@pytest.mark.parametrize("whole", [False, True], ids=["by a name", "by a path"])
def test_in_a_folder_that_is_gone(ward: Path, whole: bool) -> None:
    for name, arguments in COMMANDS.items():
        given = [str(ward / each) if whole and (ward / each).exists() else each for each in arguments]
        found = run(name, ward, given, gone=True)
        said_well(found)
    assert len(spent(ward)) == 2


def test_a_folder_of_others_is_told_of_by_name(ward: Path) -> None:
    ward.chmod(0)
    for name, arguments in COMMANDS.items():
        given = [f"data/{each}" if each.endswith((".toml", ".csv")) else each for each in arguments]
        found = run(name, ward.parent, given, other=True)
        said_well(found)
        if name not in WITHOUT_SOURCE:
            assert found.code == 2 and "'data/" in found.err, found
    ward.chmod(0o700)
    assert spent(ward)[0] == "spent: ε = 0.1"


@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_name_that_is_not_utf8(ward: Path, where: str) -> None:
    """Of a file, or of a folder above it."""
    odd = os.fsdecode(b"odd-\xff")
    place = ward / odd if where == "folder" else ward
    place.mkdir(exist_ok=True)
    for ending in (".csv", ".toml"):
        source = ward / ("visits.csv" if ending == ".csv" else "hospital.toml")
        shutil.copy(source, place / (f"{odd}{ending}" if where == "file" else source.name))
    for name, arguments in COMMANDS.items():
        given = list(arguments)
        if where == "file":
            given = [f"{odd}{Path(each).suffix}" if each in ("hospital.toml", "visits.csv") else each for each in given]
        found = run(name, place, [*given, *(["--unit", "patient_id"] if name == "ask a file" else [])])
        said_well(found)
        assert (found.code == 2 and "is not UTF-8" in found.err) or name in WITHOUT_SOURCE, (name, found)
        assert all(each.isprintable() for each in found.err.splitlines())


@pytest.mark.parametrize("out", ["closed/answer.csv", "gone/answer.csv", "closed", "visits.csv", "a" * 300])
def test_where_an_answer_cannot_be_written_is_told_before_it_is_charged(ward: Path, out: str) -> None:
    (ward / "closed").mkdir(mode=0)
    if "\0" not in out:
        found = run("ask", ward, [*ASK, "--out", out], other=True)
        said_well(found)
        assert (found.code == 2 and "--out" in found.err) or "cannot be written" in found.err
    (ward / "closed").chmod(0o700)
    assert spent(ward)[0] == "spent: ε = 0.1"


def test_an_answer_that_could_not_be_written_is_kept(ward: Path) -> None:
    found = run("ask", ward, [*ASK, "--out", "/dev/full"])
    assert found.code == 1 and "kept: asking again is free" in found.err and not found.out
    assert run("ask", ward).code == 0 and spent(ward)[0] == "spent: ε = 0.2"


def test_bytes_that_are_no_text_are_refused_where_they_are_typed(ward: Path) -> None:
    for typed in (
        b"SELECT COUNT(*) AS \xff FROM visits;\n",
        b"SELECT COUNT(*) AS n FROM visits WHERE ward = '\xff';\n",
    ):
        found = started(COMMANDS["shell"], typed=typed, folder=ward)
        said_well(found)
        assert found.code == 2, found
    assert spent(ward)[0] == "spent: ε = 0.1"


def test_no_file_takes_the_place_of_a_closed_stream(ward: Path) -> None:
    """What is written to a closed stderr would else be written into whatever was opened in its place."""
    opened = 'import os, discreet.cli; discreet.cli.open_descriptors(); f = os.open("x", os.O_CREAT | os.O_RDWR); os._exit(f)'
    line = f"exec {sys.executable} -c '{opened}' <&- >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], cwd=ward, check=False).returncode >= 3


@pytest.mark.parametrize(("redirected", "code"), [(">&-", 2), ("2>&-", 0), ("<&-", 0), (">/dev/full", 1)])
def test_the_installed_command_ends_alike(ward: Path, redirected: str, code: int) -> None:
    command = Path(sys.executable).parent / "discreet"
    line = f'exec {command} ask hospital.toml "{COUNT}" --epsilon 0.1 {redirected}'
    found = subprocess.run(["/bin/sh", "-c", line], cwd=ward, capture_output=True, text=True, check=False)
    assert found.returncode == code, found
    assert (len(found.stderr.splitlines()) == 1) is (code != 0), found.stderr


def test_the_streams_of_a_test_are_like_those_of_a_command() -> None:
    """What the fork above makes of streams is what Python makes of them."""
    script = "import sys, os; os._exit(sum((each is None) << n for n, each in enumerate((sys.stdin, sys.stdout, sys.stderr))))"
    for redirected, missing in (("<&-", 1), (">&-", 2), ("2>&-", 4), ("", 0)):
        line = f"exec {sys.executable} -c '{script}' {redirected}"
        assert subprocess.run(["/bin/sh", "-c", line], check=False, stdin=subprocess.DEVNULL).returncode == missing
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
