"""Files that `--out` names: whether they can be written is looked at before anything is spent, played or tried."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.source import POLICY
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.curator.session import Curator


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


def check_sources(target: Path, source: str | None, curator: "Curator") -> None:
    """Invalid for a file that is the policy or the data of a curator: neither is ever written over."""
    sources = [POLICY if source is None else Path(source)]
    sources += [Path(table.data) for table in curator.policy.tables.values() if isinstance(table.data, str | Path)]
    try:
        over = target.exists() and any(each.exists() and target.samefile(each) for each in sources)
    except OSError:  # a source that cannot be looked at may be this file
        over = True
    if over:
        raise Invalid("--out would write over the source", code="out", hint="name another file")
