"""Files that `--out` names: whether they can be written is looked at before anything is spent, played or tried."""

import os
from pathlib import Path

from discreet.errors import Invalid


def writable(out: str) -> Path:
    """The place of a file that can be written, or Invalid."""
    target = Path(out)
    try:
        folder = target.absolute().parent
        fits = folder.is_dir() and not target.is_dir() and os.access(target if target.exists() else folder, os.W_OK)
    except (OSError, ValueError):  # a folder that may not be entered, or a name that none can have
        fits = False
    if not fits:
        raise Invalid(
            f"{out!r} cannot be written", code="out", hint="name a file in a folder that exists and may be written to"
        )
    return target


def writable_picture(out: str) -> Path:
    """The place of a picture that can be written, or Invalid; nothing but a picture is written over."""
    if Path(out).suffix.lower() != ".svg":
        raise Invalid(f"the picture {out!r} must end in .svg", code="out", hint="write --out picture.svg")
    return writable(out)


def new_file(out: str, ending: str) -> Path:
    """The place of a file with this ending that can be written and is not there yet, or Invalid."""
    if Path(out).suffix.lower() != ending:
        raise Invalid(f"{out!r} must end in {ending}", code="out", hint=f"write --out profile{ending}")
    return fresh(writable(out))


def fresh(target: Path) -> Path:
    """The place of a file that is not there yet, or Invalid."""
    if target.exists():
        raise Invalid(
            f"{str(target)!r} is there already, and is not written over", code="out", hint="name another file"
        )
    return target
