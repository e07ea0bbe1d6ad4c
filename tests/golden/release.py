"""`python -m tests.golden.release` writes what this release leaves behind, tests/golden/formats/<version>/; once, and never anew.

Visits that were made up, policies, and ledgers in which every kind of act was done: asked, repeated, under a key, by an analyst, failed,
resumed, measured, restored and accepted, with a changed budget and changed data. What is to come back is written down beside them.
"""

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.curator.acts import Reserved
from discreet.curator.mark import Mark
from discreet.curator.request import Reservation
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.mechanisms import Geometric
from tests.curator.cases import request

F = Fraction
FORMATS = Path(__file__).parent / "formats"
VERSION = ".".join(discreet.__version__.split(".")[:2])
README = """Written by release {version}: made-up visits, two policies, and what was asked under them. Nothing here is ever written anew.

`hospital.toml` keeps its ledger in `ledger/` and its high-water mark in `mark`, `export.json` is the export of it; `concentrated.toml`
counts by zCDP, with shares that are reserved; `flags/` is the ledger of `visits.csv` itself, declared by flags, and `flags.mark` its mark.
A file `…-verified` says how far a ledger was looked through. `expected.json` has every question with its price, the name of its request and
the kept answer as text, and what was measured. `tests/golden/release.py` wrote them, `tests/curator/test_formats.py` opens them.
"""
POLICY = """version = "{version}"

[budget]
epsilon = 20
delta = 1e-6
{counting}
[unit]
column = "patient_id"
max_groups = 60
max_rows = 3
people = 1000

[tables.visits]
source = "visits.csv"

[tables.visits.columns]
ward = {{ type = "text", keys = ["Emergency", "Surgery", "Maternity"] }}
age = {{ type = "integer", bounds = [0, 120] }}
cost = {{ type = "number", bounds = [0, 10000] }}
admitted = {{ type = "date" }}
smoker = {{ type = "boolean" }}
dose = {{ type = "number", keys = [0.5, 1, 2.5] }}

[analysts.ana]
epsilon = 3
delta = 5e-7

[ledger]
path = "{name}"
mark = "{mark}"
"""
DOSES = ("0.5", "1", "1.0", "2.5", "", "7")
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
BY_AGE = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age ORDER BY n DESC LIMIT 5"
MEANS = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, on which terms."""

    text: str
    epsilon: str
    delta: str | None = None
    params: list[Any] | None = None
    analyst: str | None = None
    key: str | None = None


HOSPITAL = (
    Question(COUNT, "0.5"),
    Question("SELECT SUM(cost) AS total FROM visits WHERE admitted >= DATE '2024-03-01'", "1"),
    Question("SELECT AVG(age) AS age FROM visits WHERE smoker", "1"),
    Question(MEANS, "2"),
    Question(f"{BY_WARD} HAVING COUNT(*) > 5 ORDER BY n DESC", "1"),
    Question("SELECT smoker, COUNT(*) AS n FROM visits GROUP BY smoker", "0.25"),
    Question("SELECT dose, COUNT(*) AS n FROM visits GROUP BY dose", "0.25"),
    Question(BY_WARD, "0.25", key="march-report"),
    Question(COUNT, "0.5"),
    Question(BY_AGE, "0.5", delta="1e-7"),
    Question(COUNT, "0.5", analyst="ana"),
    Question(
        "SELECT COUNT(DISTINCT patient_id) AS people FROM visits WHERE age > ?", "0.75", None, [65], "ana", "ana-1"
    ),
)
CONCENTRATED = (
    Question(COUNT, "0.5"),
    Question(MEANS, "2"),
    Question(BY_WARD, "0.25", key="march-report"),
    Question(BY_AGE, "0.5", delta="1e-7"),
    Question(COUNT, "0.5", analyst="ana"),
)
FLAGS = (
    Question(COUNT, "0.5"),
    Question("SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward", "1"),
    Question(COUNT, "0.5"),
)


@dataclass(slots=True)
class Kept:
    """What was asked of one ledger, as it was kept."""

    questions: list[dict[str, Any]] = field(default_factory=list)

    def add(self, question: Question, store: Store, before: int) -> None:
        """Take the row of a question down, which is new where it is not repeated."""
        rows = [row for row in store.history() if isinstance(row.act, Reserved) and row.act.label == question.text]
        row = next(each for each in reversed(rows) if each.analyst == question.analyst)
        assert isinstance(row.act, Reserved)
        # What a request is filed under is its analyst and its key, after a sign that no key begins with.
        _, key = json.loads(row.act.key[1:])
        answer = store.stored(key, question.analyst)
        assert answer is not None
        repeated = row.sequence <= before
        names = ("epsilon", "delta", "rho")
        price = {name: str(F(0) if repeated else part) for name, part in zip(names, row.act.price.exact, strict=True)}
        self.questions.append(
            {
                "text": question.text,
                "params": question.params,
                "epsilon": question.epsilon,
                "delta": question.delta,
                "analyst": question.analyst,
                "key": question.key,
                "repeated": repeated,
                "kept_as": key,
                "price": price,
                "answer": answer.decode(),
            }
        )

    def written(self, store: Store) -> dict[str, Any]:
        names = ("epsilon", "delta", "rho")
        totals = {
            analyst or "": {
                which: dict(zip(names, map(str, getattr(store.standing(analyst), which).exact), strict=True))
                for which in ("spent", "cap")
            }
            for analyst in (None, *store.analysts())
        }
        return {"questions": self.questions, "totals": totals, "rows": store.head().sequence}


def ask(curator: Curator, question: Question) -> None:
    delta = None if question.delta is None else F(question.delta)
    price = {"epsilon": F(question.epsilon), "delta": delta}
    curator.sql(question.text, question.params, **price, key=question.key, analyst=question.analyst)


def asked(curator: Curator, questions: tuple[Question, ...]) -> Kept:
    kept = Kept()
    for question in questions:
        before = curator._store.head().sequence
        ask(curator, question)
        kept.add(question, curator._store, before)
    return kept


def failed(store: Store) -> None:
    """A question that failed after data was touched, and the owner's word on it."""
    reservation = store.reserve(replace(request("failing", F(1, 8)), data_version=store.standing().version))
    assert isinstance(reservation, Reservation)
    store.fail(reservation)
    store.resume("the disk was full")


def hospital(place: Path) -> dict[str, Any]:
    path = place / "hospital.toml"

    def policy(version: str) -> None:
        path.write_text(POLICY.format(version=version, counting="", name="ledger", mark="mark"), "utf-8")

    policy("1")
    with Curator.open(path) as curator:
        ask(curator, Question(COUNT, "0.125"))
    shutil.copytree(place / "ledger", place / "copy")
    with Curator.open(path) as curator:
        ask(curator, Question(COUNT, "0.125", key="lost"))
    shutil.rmtree(place / "ledger")
    (place / "copy").rename(place / "ledger")
    with Curator.open(path) as curator:
        curator.accept("the disk was replaced")
    policy("2")
    noise = Geometric(F(40))
    with Curator.open(path) as curator:
        curator.add_analyst("bo", 1)
        curator.remove_analyst("bo")
        curator.set_budget(19)
        kept = asked(curator, HOSPITAL)
        failed(curator._store)
        with curator.measure(noise.event(1), label="a program", key="program-1") as grant:
            values = [int(grant(noise, 1, lambda: 100))]
        (place / "export.json").write_text(json.dumps(curator.export()) + "\n", "utf-8")
        measured = {"key": "program-1", "scale": "40", "sensitivity": 1, "label": "a program", "values": values}
        return {**kept.written(curator._store), "measured": measured}


def concentrated(place: Path) -> dict[str, Any]:
    path = place / "concentrated.toml"
    counting = 'accountant = "zcdp"\nshares = "reserved"\n'
    path.write_text(
        POLICY.format(version="1", counting=counting, name="concentrated", mark="concentrated.mark"), "utf-8"
    )
    with Curator.open(path) as curator:
        return asked(curator, CONCENTRATED).written(curator._store)


def flags(place: Path) -> dict[str, Any]:
    kept, folder = Kept(), place / "flags"
    declared = ["--keys", "ward=Emergency,Surgery,Maternity", "--bounds", "cost=0:10000"]
    for question in FLAGS:
        words = ["ask", str(place / "visits.csv"), question.text, "--epsilon", question.epsilon, *declared]
        before = 0
        if folder.exists():
            with SQLiteStore.open(folder, creation=None) as store:
                before = store.head().sequence
        result = CliRunner().invoke(app, [*words, "--unit", "patient_id", "--budget", "8", "--ledger", str(folder)])
        assert result.exit_code == 0, result.stderr
        with SQLiteStore.open(folder, creation=None) as store:
            kept.add(question, store, before)
    mark = Mark.of(os.path.realpath(folder)).path
    shutil.copy(mark, place / "flags.mark")
    with SQLiteStore.open(folder, creation=None) as store:
        return kept.written(store)


def main() -> None:
    written = FORMATS / VERSION
    if written.exists():
        raise SystemExit(f"{written} was written, and is never written anew")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / VERSION
        place.mkdir(mode=0o700)
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        head, *rows = (FORMATS / "0.1" / "visits.csv").read_text("utf-8").splitlines()
        lines = [f"{head},dose", *(f"{row},{DOSES[i % len(DOSES)]}" for i, row in enumerate(rows))]
        (place / "visits.csv").write_text("\n".join(lines) + "\n", "utf-8")
        expected = {"flags": flags(place), "hospital": hospital(place), "concentrated": concentrated(place)}
        (place / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (place / "README.md").write_text(README.format(version=VERSION), "utf-8")
        shutil.copytree(place, written, ignore=shutil.ignore_patterns("*-wal", "*-shm", "*.lock", "sources"))
    print(f"{written} written")


if __name__ == "__main__":
    main()
