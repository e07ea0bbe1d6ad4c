"""kill -9 of the command at any moment, then the same question again: one charge, one answer, and nothing that was said is unsaid."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.cli.hospital import hospital
from discreet.curator.ledger import Reserved, Row, Settled
from discreet.curator.store import SQLiteStore
from discreet.errors import Refused
from tests.scale import repeats

COMMAND = Path(sys.executable).parent / "discreet"
KILLS = repeats(15)
TENTH = Fraction(1, 10)

# A process that has everything loaded and forks one that runs the command for each line it reads; it answers with the process number
# and, once that has ended, with its status. It is apart from this one, since engines that ran before do not survive a fork.
WARM = """
import json, os, sys
import duckdb, numpy, scipy.special, sqlglot
import discreet.curator.session, discreet.engines.duckdb, discreet.plan.sql
from discreet.cli import main
for line in sys.stdin:
    out, *words = json.loads(line)
    child = os.fork()
    if child == 0:
        for stream, name in ((1, out), (2, out + ".error")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
        sys.argv = ["discreet", *words]
        sys.stdin = open(os.devnull)  # what this process has read from is not the command's
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code or 0)
        os._exit(99)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass
class Commands:
    """Runs the command, in a fork of the warm process or by itself."""

    warm: "subprocess.Popen[str]"
    folder: Path

    def start(self, cold: bool, *words: str) -> "int | subprocess.Popen[bytes]":
        """The process, or the number of the one that the warm process started."""
        out = self.folder / "out"
        if cold:
            with out.open("wb") as file:
                place = os.environ | {"TMPDIR": str(self.folder)}  # a killed process leaves its folder there
                return subprocess.Popen([COMMAND, *words], stdout=file, stderr=subprocess.DEVNULL, env=place)
        assert self.warm.stdin is not None and self.warm.stdout is not None
        self.warm.stdin.write(json.dumps([str(out), *words]) + "\n")
        self.warm.stdin.flush()
        return int(self.warm.stdout.readline())

    def ended(self, process: "int | subprocess.Popen[bytes]") -> tuple[int, bytes]:
        if isinstance(process, subprocess.Popen):
            status = process.wait()
        else:
            assert self.warm.stdout is not None
            status = int(self.warm.stdout.readline())
        return status, (self.folder / "out").read_bytes()

    def run(self, *words: str) -> bytes:
        status, said = self.ended(self.start(False, *words))
        assert status == 0, (self.folder / "out.error").read_text("utf-8")
        return said


@contextmanager
def commands(folder: Path) -> Iterator[Commands]:
    with subprocess.Popen(
        [sys.executable, "-c", WARM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as warm:
        try:
            yield Commands(warm, folder)
        finally:
            warm.kill()


def rows_of(ledger: Path) -> list[Row]:
    """What the ledger holds, looked through from its first row; nothing where it was not made yet."""
    try:
        with SQLiteStore.open(ledger, creation=None) as store:
            return list(store.history())
    except Refused as refused:
        assert refused.code == "ledger-missing"
        return []


def charges(rows: list[Row], text: str) -> list[Row]:
    return [row for row in rows if isinstance(row.act, Reserved) and row.act.label == text]


def settled(rows: list[Row], charge: Row) -> bool:
    ends = [row for row in rows if isinstance(row.act, Settled) and row.act.reservation == charge.sequence]
    assert len(ends) <= 1
    return bool(ends)


def wait(ledger: Path, chance: random.Random, whole: float, aimed: bool) -> None:
    """Until any moment of the command; or, aimed, until about when its charge has become durable."""
    log = ledger / "ledger.sqlite-wal"
    if not aimed:
        time.sleep(chance.random() * 1.2 * whole)
        return
    before, end = size(log), time.monotonic() + 5 * whole
    while size(log) <= before and time.monotonic() < end:
        time.sleep(0.0005)
    time.sleep(chance.random() * 0.03)


def size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def killing(process: "int | subprocess.Popen[bytes]") -> Iterator[None]:
    """Kills the process at the end of the block, and no other one that has its number by then."""
    try:
        handle = os.pidfd_open(process if isinstance(process, int) else process.pid)
    except ProcessLookupError:  # it has ended already
        yield
        return
    try:
        yield
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    finally:
        os.close(handle)


def test_a_killed_command_is_charged_once_and_never_takes_back_what_it_said(place: Path) -> None:
    visits, chance = place / "visits.csv", random.Random()
    hospital(300).write(visits)
    (place / "other.csv").write_bytes(visits.read_bytes())
    ledger = place / "visits.csv.ledger"
    with commands(place) as command:
        question = "SELECT COUNT(*) AS n FROM {} WHERE patient_id <> '{}'"
        more = ["--unit", "patient_id", "--epsilon", "0.1", "--budget", str(KILLS), "--json"]
        began = time.monotonic()
        command.run("ask", str(place / "other.csv"), question.format("other", 0), *more)
        whole = time.monotonic() - began
        for i in range(KILLS):
            text, cold = question.format("visits", i), i % 5 == 4
            words = ["ask", str(visits), text, *more]
            process = command.start(cold, *words)
            with killing(process):
                wait(ledger, chance, whole * (4 if cold else 1), aimed=i % 2 == 1)
            status, said = command.ended(process)
            assert status in (-signal.SIGKILL, 0)
            rows = rows_of(ledger)
            charged = charges(rows, text)
            assert len(charged) <= 1
            if said:  # no answer without a charge that was made, and an answer that was kept, before
                assert len(charged) == 1 and settled(rows, charged[0])
            again = command.run(*words)
            assert again.startswith(said), "other bytes than were said before"
            rows = rows_of(ledger)
            assert len(charges(rows, text)) == 1 and settled(rows, charges(rows, text)[0])
            assert not charged or charges(rows, text)[0].sequence == charged[0].sequence
            assert rows[-1].book.account.spent.exact[0] == (i + 1) * TENTH
            assert json.loads(again)["remaining"]["epsilon"] == float(KILLS - (i + 1) * TENTH)
        command.run("ledger", "verify", str(visits))
