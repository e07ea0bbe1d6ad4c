"""Which ledgers count questions about a file, whatever it is called: one data set has one budget.

A file goes by its device and number, and by the paths under which it was opened. Which ledger it was opened with is remembered in the
user's state directory, beside the marks; ledgers and policies beside the file are looked at too. Nothing that is in the file is read.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from discreet.curator.mark import Mark, make_folders

MOST_POLICIES = 100
"""Policies beside a file that are looked at."""


def real(path: Path) -> Path:
    """The file itself, where a path leads to it over links; else the path as it is."""
    found = os.path.realpath(path)
    return path if found == os.path.abspath(path) else Path(found)


def ledger_beside(source: Path) -> Path:
    """The folder in which the budget of a data file or of a policy is kept, where nothing else is said: beside the real file."""
    return _beside(real(source))


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".ledger")


def is_made(ledger: Path) -> bool:
    return os.path.exists(ledger / "ledger.sqlite")


def is_ledger(folder: Path) -> bool:
    """Whether a path is that of a ledger by itself; one that is gone too, if its mark is there."""
    return is_made(folder) or (not folder.is_file() and os.path.exists(Mark.of(os.path.realpath(folder)).path))


def others(file: Path, ledger: Path | None, mark: Path | None = None) -> list[Path]:
    """The ledgers, other than this one, that count questions about a file; one that is gone too, if its mark is there.

    A ledger that lies in no folder is None, and every other one is another.
    """
    here, found = None if ledger is None else os.path.realpath(ledger), []
    for each in (*_beside_it(file), *_remembered(file, mark)):
        place = os.path.realpath(each)
        if place != here and place not in found:
            found.append(place)
    return [Path(place) for place in found]


def _beside_it(file: Path) -> Iterator[Path]:
    """Ledgers beside the file and beside a link to it, and those of policies there that name it."""
    at = Path(os.path.abspath(file))
    yield from filter(is_made, dict.fromkeys((ledger_beside(at), _beside(at))))
    for folder in dict.fromkeys((real(at).parent, at.parent, Path())):
        with suppress(OSError):  # a folder that cannot be listed shows nothing
            for policy in sorted(folder.glob("*.toml"))[:MOST_POLICIES]:
                yield from filter(is_made, _of_policy(policy, at))


def _of_policy(policy: Path, file: Path) -> Iterator[Path]:
    """The ledger of a policy that names a file; a policy that cannot be read names none."""
    folder = real(policy).parent
    try:
        said = tomllib.loads(policy.read_text("utf-8"))
        named = [folder / table["source"] for table in said["tables"].values() if table.get("public") is not True]
        path = said.get("ledger", {}).get("path")
        ledger = ledger_beside(policy) if path is None else folder / path
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    if any(os.path.exists(each) and os.path.samefile(each, file) for each in named if os.path.exists(file)):
        yield ledger


def _remembered(file: Path, mark: Path | None) -> Iterator[Path]:
    for key in _keys(file):
        for ledger in (*_read(key, None), *_read(key, mark)):
            # the number of a file that is gone may be given to another, so what is gone with it tells nothing
            if is_made(ledger) or (key.startswith("path") and os.path.exists(Mark.of(os.path.realpath(ledger)).path)):
                yield ledger


def remember(files: Iterable[Path], ledger: Path, mark: Path | None = None) -> None:
    """Keep that questions about these files are counted by this ledger; raises OSError where that cannot be kept.

    It is kept beside the ledger's mark, if that has a place of its own: whoever named one wants nothing elsewhere.
    """
    place = Path(os.path.realpath(ledger))
    for file in files:
        for key in _keys(file):
            if place not in _read(key, mark):
                path = _entry(key, mark)
                make_folders(path.parent)
                line = json.dumps(str(place)).encode("ascii") + b"\n"
                opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                try:
                    os.write(opened, line)
                finally:
                    os.close(opened)


def _keys(file: Path) -> list[str]:
    found = [f"path {path}" for path in dict.fromkeys((os.path.abspath(file), os.path.realpath(file)))]
    with suppress(OSError):  # what is not there has no number
        state = os.stat(file)
        found.append(f"file {state.st_dev} {state.st_ino}")
    return found


def _entry(key: str, mark: Path | None) -> Path:
    folder = Mark.of("").path.parent.parent if mark is None else mark.parent
    return folder / "sources" / sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _read(key: str, mark: Path | None) -> list[Path]:
    """What is kept under a key; a line that was cut off is none."""
    try:
        lines = _entry(key, mark).read_bytes().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with suppress(ValueError, TypeError):
            found.append(Path(json.loads(line)))
    return found
