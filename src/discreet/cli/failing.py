"""How a command fails: one line that says what to do, and an exit code."""

import json
import os
import sys
from contextlib import suppress
from typing import NoReturn

from discreet.errors import DiscreetError, Fault, Invalid
from discreet.plan.visible import visible


def fail(error: DiscreetError, as_json: bool) -> NoReturn:
    with suppress(OSError, DiscreetError):  # where nobody can be told, the exit code tells
        print(said(error, as_json), file=sys.stderr, flush=True)
    sys.exit(error.exit_code)


def said(error: DiscreetError, as_json: bool) -> str:
    """The error on a line; below it, for people, a caret under the question."""
    if as_json:
        return json.dumps(
            {"error": {"code": error.code, "message": error.message, "hint": error.hint}}, ensure_ascii=False
        )
    return "\n".join([visible(str(error)), *getattr(error, "__notes__", ())])


def translated(error: Exception) -> DiscreetError:
    """An error of ours as it is; one of the machine with what to look at; any other is a mistake of ours."""
    if isinstance(error, DiscreetError):
        return error
    if isinstance(error, OSError):
        return _of_the_machine(error)
    return Fault(  # what it says may hold data, so only its kind is told
        f"something here is broken ({type(error).__name__})",
        code="unexpected",
        hint="nothing more was released; DISCREET_TRACEBACK=1 shows where, to the owner of the data",
    )


def _of_the_machine(error: OSError) -> DiscreetError:
    """What the system refuses, with the path that it is about. A path is the caller's, and tells nothing of the data."""
    if not _here():
        return Invalid("the current folder is not there any more", code="folder", hint="change to one that is")
    why = error.strerror or type(error).__name__
    if error.filename is None:
        return Fault(f"the system refused: {why}", code="system", hint="what was charged stays charged; then ask again")
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else str(error.filename)
    if isinstance(error, PermissionError):
        hint = "look at the permissions of it, and of the folders above it, or run this as the user whose it is"
    else:
        hint = "look at it, and at the folders above it"
    return Fault(
        f"{name!r} cannot be used: {why}",
        code="permission" if isinstance(error, PermissionError) else "system",
        hint=hint,
    )


def _here() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True
