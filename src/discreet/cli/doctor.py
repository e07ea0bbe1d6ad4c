"""`discreet doctor [SOURCE]`: whether this machine keeps its promises. Entropy, disk, folders, versions; and the ledger of a source."""

import json
import os
import resource
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.source import located, read_policy
from discreet.cli.waiting import waiting
from discreet.errors import DiscreetError
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.place import Place
    from discreet.curator.policy import Policy

SYNCED = 0.2  # seconds in which syncs are counted
TOO_FAST = 20_000  # syncs a second that no disk does
LEFT_FOR = 3600.0  # seconds after which a folder of ours is one that a killed process left
ENGINES = ("duckdb", "sqlglot", "numpy", "cryptography")
EXTRAS = {
    "frames": ("pandas", "polars", "pyarrow"),
    "postgres": ("psycopg",),
}


class Verdict(Enum):
    """Of one look."""

    FINE = "fine"
    NOTE = "note"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Look:
    """What was looked at, and what was found."""

    what: str
    verdict: Verdict
    found: str


def doctor(
    source: Annotated[
        str | None, typer.Argument(help="A data file or a policy whose ledger is looked through too.")
    ] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where its budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look at this machine: entropy, disk, folders, versions, extras; with a source at its ledger too. Exits 1 if something is broken."""
    path = None if source is None else located(source)
    with waiting("looking", as_json):
        found = list(looks(path, ledger))
    if as_json:
        told = [{"what": each.what, "verdict": each.verdict.value, "found": each.found} for each in found]
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        width = max(len(each.what) for each in found)
        for each in found:
            print(visible(f"{each.verdict.value:<6}  {each.what:<{width}}  {each.found}"))
    if any(each.verdict is Verdict.BROKEN for each in found):
        raise typer.Exit(1)


def looks(path: Path | None, ledger: str | None) -> Iterator[Look]:
    policy, place = None if path is None else read_policy(path), None
    if path is not None:
        from discreet.curator.place import place_of

        place = place_of(policy, path, ledger)
    folder = (None if place is None else place.folder) or Path.cwd()
    yield _look("entropy", _entropy)
    yield _look("disk", lambda: _disk(_existing(folder)))
    yield _look("marks", _marks)
    yield _look("temporary folder", _temporary)
    yield _look("engine", _engine)
    yield _look("core dumps", _core_dumps)
    yield Look("versions", Verdict.FINE, _versions())
    yield Look("extras", Verdict.FINE, _extras())
    if path is not None and place is not None:
        yield _look("data", lambda: _data(path, policy))
        yield _look("ledger", lambda: _ledger(place))


def _look(what: str, look: Callable[[], Look | str]) -> Look:
    """What a look finds; what it raises is what is broken."""
    try:
        found = look()
    except DiscreetError as error:
        return Look(what, Verdict.BROKEN, str(error))
    except OSError as error:
        return Look(what, Verdict.BROKEN, error.strerror or type(error).__name__)
    return found if isinstance(found, Look) else Look(what, Verdict.FINE, found)


def _entropy() -> str:
    from discreet.noise import SecureBits

    source = SecureBits()
    source.bits(4096)
    return "the operating system gives random bits, and not the same ones twice"


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.is_dir())


def _disk(folder: Path) -> Look:
    """How often a second a write is made durable where the ledger lies."""
    with tempfile.TemporaryFile(dir=folder) as file:
        count, began = 0, time.monotonic()
        while time.monotonic() < began + SYNCED:
            os.pwrite(file.fileno(), os.urandom(64), 0)
            os.fsync(file.fileno())
            count += 1
        rate = count / (time.monotonic() - began)
    if rate > TOO_FAST:
        return Look(
            "disk",
            Verdict.NOTE,
            f"{folder} syncs {rate:,.0f} times a second: no disk does, so a power cut may lose charges",
        )
    return Look("disk", Verdict.FINE, f"{folder} syncs {rate:,.0f} times a second")


def _marks() -> str:
    from discreet.curator.mark import Mark

    folder = Mark.of("").path.parent
    with tempfile.TemporaryFile(dir=_existing(folder)) as file:
        file.write(b" ")
    return f"{folder} can be written"


def _temporary() -> Look:
    folder = Path(tempfile.gettempdir())
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b" ")
    left = [each for each in folder.glob("discreet-*") if _left(each)]
    if left:
        return Look(
            "temporary folder",
            Verdict.NOTE,
            f"{folder} has {len(left)} folders discreet-* that killed processes left; they may hold rows: remove them",
        )
    return Look("temporary folder", Verdict.FINE, f"{folder} can be written, and nothing of ours was left there")


def _left(folder: Path) -> bool:
    try:
        about = folder.stat()
    except OSError:
        return False
    return about.st_uid == os.getuid() and stat.S_ISDIR(about.st_mode) and about.st_mtime < time.time() - LEFT_FOR


def _engine() -> str:
    from discreet.engines.base import Data
    from discreet.engines.duckdb import DuckDB
    from discreet.plan.scalar import Column, Type

    DuckDB([Data("people", {"person": [1, 2, 3]}, (Column("person", Type.INTEGER),))]).close()
    return "DuckDB loads a table and locks itself"


def _core_dumps() -> Look:
    allowed, _ = resource.getrlimit(resource.RLIMIT_CORE)
    if allowed == 0:
        return Look("core dumps", Verdict.FINE, "a crash writes no memory to disk")
    return Look(
        "core dumps", Verdict.NOTE, "a crash may write memory, and rows in it, to disk: `ulimit -c 0` forbids it"
    )


def _versions() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    found = [f"Python {python}", f"SQLite {sqlite3.sqlite_version}"]
    return ", ".join([*found, *map(_version, ENGINES)])


def _version(name: str) -> str:
    """A package and its version, which may stand in a folder that we cannot read."""
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name}, whose version cannot be read"


def _extras() -> str:
    """Which optional parts are complete here."""
    there = [name for name, libraries in EXTRAS.items() if all(find_spec(each) for each in libraries)]
    absent = [name for name in EXTRAS if name not in there]
    return "; ".join(
        f"{word}: {', '.join(names)}" for word, names in (("there", there), ("not there", absent)) if names
    )


def _data(path: Path, policy: "Policy | None") -> Look:
    files = [path] if policy is None else policy.files
    open_to_all = [
        str(each) for each in files if each.is_file() and each.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
    ]
    if open_to_all:
        return Look("data", Verdict.NOTE, f"other users of this machine may read {', '.join(open_to_all)}")
    return Look("data", Verdict.FINE, "only its owner may read it")


def _ledger(place: "Place") -> Look:
    store = place.look(whole=False)
    if store is None:
        return Look("ledger", Verdict.FINE, f"{place} is not there yet: the first question makes it")
    with store:
        standing = store.verify()
        rows = store.head().sequence
    if place.folder is not None and place.folder.stat().st_mode & 0o077:
        return Look(
            "ledger", Verdict.NOTE, f"{rows:,} rows are sound, and other users of this machine may enter {place}"
        )
    if standing.failures:
        return Look(
            "ledger",
            Verdict.NOTE,
            f"{rows:,} rows are sound; {standing.failures} questions failed after data was touched",
        )
    return Look("ledger", Verdict.FINE, f"{rows:,} rows, each computed again")
