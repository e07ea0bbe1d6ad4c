"""The real command in a process of its own, forked from this one, which has everything loaded: with streams that are closed or full, in a
folder that is gone, as another user."""

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import duckdb
import rich.console
import rich.table

import discreet
from discreet.cli import main
from tests.extras import needs_a_part

# Without what needs an optional part.
OURS = [each.name for each in walk_packages(discreet.__path__, "discreet.") if not needs_a_part(each.name)]
LOADED = (duckdb, rich.console, rich.table, *map(import_module, OURS))
"""What commands load only when they need it: here before a child is started, which may run as a user who may not read it."""

NOBODY = 65534
CLOSED, FULL = "closed", "full"


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def started(
    arguments: Sequence[str],
    *,
    stdin: str = "",
    stdout: str = "",
    stderr: str = "",
    typed: bytes = b"",
    folder: Path | None = None,
    gone: bool = False,
    other: bool = False,
) -> Ended:
    """Run a command; a stream may be CLOSED or FULL. `gone`: its folder is removed first. `other`: as a user who is not root."""
    with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        into.write(typed)
        into.seek(0)
        child = os.fork()
        if child == 0:
            code = 70
            try:
                for number, (file, said) in enumerate(((into, stdin), (out, stdout), (err, stderr))):
                    os.dup2(os.open("/dev/full", os.O_RDWR) if said == FULL else file.fileno(), number)
                    if said == CLOSED:
                        os.close(number)
                sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))  # type: ignore[assignment]
                if folder is not None:
                    os.chdir(folder)
                if gone:
                    os.mkdir("gone")
                    os.chdir("gone")
                    os.rmdir("../gone")
                if other and os.geteuid() == 0:
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                code = _ran(arguments)
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
        return Ended(os.waitstatus_to_exitcode(status), *said)


def _stream(number: int) -> io.TextIOWrapper | None:
    """As Python makes them when it starts; "backslashreplace" is what stderr has."""
    try:
        os.fstat(number)
    except OSError:
        return None
    return open(
        number,
        "w" if number else "r",
        encoding="utf-8",
        errors="backslashreplace" if number == 2 else "strict",
        buffering=-1,
        closefd=False,
    )


def _ran(arguments: Sequence[str]) -> int:
    """The exit code, as the end of an interpreter makes it: what cannot be flushed then is 120."""
    sys.argv = ["discreet", *arguments]
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        return 120
    return code


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter and write to, unlike those of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)
