"""200 planted values: none of them is found in what is printed, logged, raised or kept, whatever succeeds or fails."""

import base64
import gc
import logging
import secrets
import struct
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas
import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.curator.session import Curator
from discreet.engines.duckdb import DuckDB
from discreet.errors import DiscreetError
from discreet.privacy.events import Laplace

pytestmark = pytest.mark.usefixtures("few_subjects")

ROWS = 50
COUNT = "SELECT COUNT(*) AS n FROM people"
DECLARED = {
    "number": {"type": "integer", "bounds": (0, 10**12)},
    "amount": {"bounds": (0, 10**7)},
    "side": {"keys": ["left", "right"]},
}


class Planted:
    """Four values a row: who, a note, an integer and a decimal. And every form in which they are looked for."""

    def __init__(self) -> None:
        self.who = [f"person-{secrets.token_hex(6)}" for _ in range(ROWS)]
        self.note = [f"note {secrets.token_urlsafe(9)}" for _ in range(ROWS)]
        self.number = [10**11 + secrets.randbelow(9 * 10**11) for _ in range(ROWS)]
        self.amount = [
            f"{10**6 + secrets.randbelow(9 * 10**6)}.{10**4 + secrets.randbelow(9 * 10**4)}1" for _ in range(ROWS)
        ]

    def columns(self) -> dict[str, list[Any]]:
        side = ["left" if i % 2 else "right" for i in range(ROWS)]
        return {
            "who": self.who,
            "note": self.note,
            "number": self.number,
            "amount": list(map(float, self.amount)),
            "side": side,
        }

    def csv(self) -> str:
        rows = zip(self.who, self.note, self.number, self.amount, self.columns()["side"], strict=True)
        return "who,note,number,amount,side\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)

    def values(self) -> list[str]:
        return [*self.who, *self.note, *map(str, self.number), *self.amount]

    def needles(self) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        for value in self.values():
            plain = value.encode()
            forms = [plain, plain.hex().encode(), plain.hex().upper().encode(), value.encode("utf-16-le"), plain[::-1]]
            forms += [coded(plain, shift) for shift in range(3)]
            found |= dict.fromkeys(forms, value)
        for number in self.number:
            forms = [
                struct.pack("<q", number),
                struct.pack(">q", number),
                f"{number:,}".encode(),
                f"{number:x}".encode(),
            ]
            found |= dict.fromkeys([*forms, struct.pack("<d", number), struct.pack(">d", number)], str(number))
        for amount in self.amount:
            forms = [struct.pack("<d", float(amount)), struct.pack(">d", float(amount)), f"{float(amount):,}".encode()]
            found |= dict.fromkeys([*forms, f"{float(amount):.2f}".encode(), repr(float(amount)).encode()], amount)
        return found


def coded(plain: bytes, shift: int) -> bytes:
    """The middle of the base64 of a value that starts at this place in a group of three bytes."""
    whole = base64.b64encode(bytes(shift) + plain)
    return whole[4 if shift else 0 : (shift + len(plain)) // 3 * 4]


class Everything(logging.Handler):
    """What was seen, by where: outputs, log lines, errors and files."""

    def __init__(self, folder: Path, hidden: set[str]) -> None:
        super().__init__(logging.DEBUG)
        self.folder, self.hidden = folder, hidden
        self.seen: list[tuple[str, bytes]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.add(f"log of {record.name}", f"{record.getMessage()} {record.__dict__}")

    def add(self, where: str, what: object) -> None:
        self.seen.append((where, what if isinstance(what, bytes) else str(what).encode("utf-8", "replace")))

    def command(self, *words: str, typed: str | None = None) -> int:
        result = CliRunner().invoke(app, list(words), input=typed, env={"COLUMNS": "200"})
        self.add(f"discreet {' '.join(words)[:40]}", result.stdout + result.stderr)
        if result.exception is not None:
            self.add(f"the error of {words[0]}", "".join(traceback.format_exception(result.exception)))
        return result.exit_code

    def call(self, act: Callable[[], object], inside: bool = False) -> DiscreetError | None:
        """What a call returns or raises; `inside`: the whole chain of errors, and every variable that can be reached from it."""
        try:
            returned = act()
            self.add("a result", f"{returned!r} {returned}")
            for name in ("_repr_html_", "to_csv", "explain", "to_json"):
                if hasattr(returned, name):
                    self.add(name, getattr(returned, name)())
        except DiscreetError as error:
            self.add("an error", f"{error!r} {error} {error.__dict__}")
            self.add("a traceback", "".join(traceback.format_exception(error)))
            if inside:
                self.chain(error)
            return error
        return None

    def chain(self, error: BaseException | None) -> None:
        while error is not None:
            self.add("the chain of an error", f"{error!r} {error}")
            for frame in frames(error.__traceback__):
                self.add(
                    f"variables of {frame.f_code.co_name}", {name: repr(each) for name, each in frame.f_locals.items()}
                )
            error = error.__cause__ or error.__context__

    def files(self) -> None:
        for file in self.folder.rglob("*"):
            if file.is_file() and file.name not in self.hidden:
                self.add(file.name, file.read_bytes())

    def found(self, planted: Planted) -> list[tuple[str, str]]:
        needles = planted.needles()
        return [(where, value) for where, text in self.seen for needle, value in needles.items() if needle in text]


def frames(trace: TracebackType | None) -> Iterator[Any]:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != __file__:
            yield trace.tb_frame
        trace = trace.tb_next


@contextmanager
def watched(place: Path, hidden: set[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Everything]:
    (place / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "tmp"))
    everything, root = Everything(place, hidden), logging.getLogger()
    level = root.level
    root.addHandler(everything)
    root.setLevel(logging.DEBUG)
    try:
        yield everything
    finally:
        root.removeHandler(everything)
        root.setLevel(level)


@pytest.fixture
def planted(place: Path) -> Planted:
    found = Planted()
    assert len(set(found.values())) == 200
    (place / "people.csv").write_text(found.csv(), "utf-8")
    return found


def failing(self: DuckDB, *_: object) -> Any:
    """What an engine might do with a row in its hands."""
    rows = self._connection.execute("SELECT * FROM people LIMIT 5").fetchall()
    raise RuntimeError(f"cannot cast {rows}")


COMMANDS: list[tuple[list[str], int]] = [
    (["init", "people.csv", "--unit", "who"], 0),
    (["init", "people.csv", "--unit", "whom", "--out", "x.toml"], 2),
    (["check"], 0),
    (["check", "--json"], 0),
    (["describe"], 0),
    (["rehearse"], 3),
    (["rehearse", "--yes"], 0),
    (["ask", COUNT, "--epsilon", "0.1"], 0),
    (["ask", COUNT, "--epsilon", "0.1", "--json"], 0),
    (["ask", "SELECT COUNT(DISTINCT who) AS n FROM people WHERE number > 5", "--epsilon", "0.1", "--json"], 0),
    (["ask", "SELECT COUNT(*) FILTER (WHERE note LIKE 'note%') AS n FROM people", "--epsilon", "0.1"], 0),
    (["ask", COUNT, "--epsilon", "0.1", "--preview", "--json"], 0),
    (["explain", COUNT], 0),
    (["ask", "SELECT MAX(number) FROM people", "--epsilon", "0.1", "--json"], 2),
    (["ask", "SELECT SUM(number) FROM people", "--epsilon", "0.1"], 2),
    (["ask", "SELECT note, COUNT(*) FROM people GROUP BY note", "--epsilon", "0.1", "--delta", "0"], 2),
    (["ask", "SELECT note, COUNT(*) FROM people GROUP BY note", "--epsilon", "0.1"], 0),
    (["ask", "SELECT note FROM people", "--epsilon", "0.1"], 2),
    (["ask", "SELECT COUNT(*) FROM people WHERE nota = 1", "--epsilon", "0.1"], 2),
    (["ask", "SELECT COUNT(*) FROM people WHERE note > 1", "--epsilon", "0.1"], 2),
    (["ask", COUNT, "--epsilon", "100"], 3),
    (["ask", COUNT, "--epsilon", "0.1", "--as", "nobody"], 3),
    (["analyst", "add", "ana", "--epsilon", "1"], 0),
    (["ask", COUNT, "--epsilon", "0.2", "--as", "ana", "--out", "answer.csv"], 0),
    (["budget"], 0),
    (["budget", "--json"], 0),
    (["history"], 0),
    (["history", "--json"], 0),
    (["ledger", "verify"], 0),
    (["ledger", "export", "--out", "export.json"], 0),
    (["ledger", "accept"], 2),
    (["data", "changed"], 0),
    (["doctor", "discreet.toml"], 0),
    (["audit", "discreet.toml", "--samples", "100", "--seconds", "0.01", "--strict"], 0),
    (["ask", "broken.csv", "SELECT COUNT(*) FROM broken", "--row", "--epsilon", "0.1"], 2),
    (["ask", "broken.parquet", "SELECT COUNT(*) FROM broken", "--row", "--epsilon", "0.1"], 2),
    (["init", "broken.csv", "--row", "--out", "x.toml"], 2),
    (["ask", "quotes.csv", "SELECT COUNT(*) AS n FROM quotes", "--row", "--epsilon", "0.1"], 2),
]


@pytest.mark.filterwarnings("ignore:a new budget begins")
def test_no_planted_value_is_seen_anywhere(place: Path, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    text = planted.csv()
    (place / "broken.csv").write_bytes(text.encode() * 20 + b"\xff\xfe,1\n" + text.encode())
    (place / "broken.parquet").write_bytes(b"PAR1" + text.encode() + b"PAR1")
    (place / "quotes.csv").write_text(text.replace("note ", '"note ', 3), "utf-8")
    with watched(place, {"people.csv", "broken.csv", "broken.parquet", "quotes.csv"}, monkeypatch) as seen:
        for words, code in COMMANDS:
            assert seen.command(*words) == code, (words, seen.seen[-1])
        asked = f"\\epsilon 0.1\n\\preview {COUNT};\n{COUNT};\n\\budget\n\\describe\nSELECT MIN(note) FROM people;"
        assert seen.command("shell", typed=asked) == 2
        in_python(seen, planted, place, monkeypatch)
        gc.collect()
        assert list((place / "tmp").iterdir()) == []  # nothing is spilt that stays
        seen.files()
    kept = {where for where, _ in seen.seen}
    assert {"ledger.sqlite", "discreet.toml", "export.json", "answer.csv"} <= kept and len(seen.seen) > 60
    assert seen.found(planted) == []


def in_python(seen: Everything, planted: Planted, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same from the library, with failures after data was touched."""
    frame = pandas.DataFrame(planted.columns())
    sources = {"file": place / "people.csv", "frame": frame, "lists": planted.columns()}
    for name, source in sources.items():
        ledger = place / f"{name}.ledger"
        with Curator({"people": source}, "who", DECLARED, epsilon=10, delta=1e-6, ledger=ledger) as curator:
            asked_and_failed(seen, curator)
    odd = {**planted.columns(), "note": [object()] * ROWS, "who": [[value] for value in planted.who]}
    with Curator({"people": odd}, "who", DECLARED, epsilon=1, ledger=place / "odd.ledger") as curator:
        assert seen.call(lambda: curator.sql(COUNT, epsilon=0.5)) is None  # whatever is in a cell, it loads
        assert {each.column for each in curator.load().lost} == {"note", "who"}
    gone = place / "gone.csv"
    gone.write_text((place / "people.csv").read_text("utf-8"), "utf-8")
    with Curator({"people": gone}, "who", DECLARED, epsilon=1, ledger=place / "gone.ledger") as curator:
        gone.write_bytes(b"who,number\n")
        assert getattr(seen.call(lambda: curator.sql(COUNT, epsilon=0.5)), "code", None) == "source"


def asked_and_failed(seen: Everything, curator: Curator) -> None:
    def ask(text: str, inside: bool = False) -> str | None:
        error = seen.call(lambda: curator.sql(text, epsilon=0.5), inside)
        return None if error is None else error.code

    seen.add("a curator", repr(curator))
    several = "SELECT side, SUM(amount) AS s, AVG(number) AS a, COUNT(note) AS n FROM people GROUP BY side"
    assert (ask(COUNT), ask(several)) == (None, None)
    seen.files()  # also the folder of what does not fit in memory, while it is there
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(DuckDB, "_run", failing)
        assert ask(f"{COUNT} WHERE side = 'left'", inside=True) == "failed"
    assert ask("SELECT note FROM people", inside=True) and ask(f"{COUNT} WHERE number / 0 = note", inside=True)
    with curator.measure(Laplace(1), label="by hand") as grant:
        seen.add("a grant", repr(grant))


# What the test above would miss if it were blind: one leak of each kind, planted.


def leak_to_log(curator: Curator, value: str, place: Path) -> None:
    logging.getLogger("discreet").debug("read %s", value.encode().hex())


def leak_to_file(curator: Curator, value: str, place: Path) -> None:
    Path(tempfile.mkdtemp(prefix="discreet-"), "spill").write_bytes(base64.b64encode(b"xy" + value.encode() + b"z"))


def leak_to_ledger(curator: Curator, value: str, place: Path) -> None:
    with curator.measure(Laplace(1), label=f"about {value}"):
        pass


def leak_to_error(curator: Curator, value: str, place: Path) -> None:
    try:
        raise RuntimeError(value)
    except RuntimeError:
        raise DiscreetError("the question could not be computed") from None


def leak_to_variable(curator: Curator, value: str, place: Path) -> None:
    exec("cell = value\nraise error", {"value": value, "error": DiscreetError("the question could not be computed")})


@pytest.mark.parametrize("leak", [leak_to_log, leak_to_file, leak_to_ledger, leak_to_error, leak_to_variable])
@pytest.mark.parametrize("which", ["who", "note", "number", "amount"])
def test_a_planted_leak_is_found(
    place: Path, planted: Planted, monkeypatch: pytest.MonkeyPatch, leak: Callable[..., None], which: str
) -> None:
    value = str(getattr(planted, which)[7])
    with watched(place, {"people.csv"}, monkeypatch) as seen:
        with Curator({"people": place / "people.csv"}, "who", DECLARED, epsilon=10) as curator:
            seen.call(lambda: leak(curator, value, place), inside=True)
        seen.files()
    assert {found for _, found in seen.found(planted)} == {value}
