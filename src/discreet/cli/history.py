"""`discreet history SOURCE`: what was charged, when, for whom, and how it ended; with the owner's own acts in between. Never an answer."""

import json
import shutil
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.budget import amounts_said
from discreet.cli.owner import store_to_read
from discreet.cli.waiting import waiting
from discreet.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.curator.history import Line

NARROW, LONGEST = 30, 1 << 16  # characters of a question that are always shown, and that there are


def history(
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="The last N lines; 0 shows all.")] = 20,
    analyst: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Of this analyst only.")] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What was charged: when, to whom, for what, how much, how much in all, and how it ended. Never an answer."""
    from discreet.curator.history import history_of

    if limit < 0:
        raise Invalid(f"--limit must be a number of lines, got {limit}", code="usage", hint="0 shows all of them")
    with waiting("reading the ledger", as_json), store_to_read(source, ledger) as store:
        lines = history_of(store, analyst)
    shown = lines[-limit:] if limit else lines
    if as_json:
        print(json.dumps([line.as_data() for line in shown], ensure_ascii=False, indent=2))
        return
    for text in table(shown):
        print(text)
    if len(shown) < len(lines):
        print(f"{len(lines) - len(shown):,} earlier ones; --limit 0 shows all")


def table(lines: "Sequence[Line]") -> list[str]:
    heads = ("time (UTC)", "who", "price", "total", "state", "question")
    cells = [
        (
            line.time,
            line.who or "owner",
            "" if line.price is None else amounts_said(line.numbers(line.price)),
            amounts_said(line.numbers(line.total)),
            line.state,
            printable(line.what if line.part is None else f"[part {line.part}] {line.what}"),
        )
        for line in lines
    ]
    widths = [max(len(row[i]) for row in (heads, *cells)) for i in range(5)]
    room = max(NARROW, shutil.get_terminal_size().columns - sum(widths) - 10) if sys.stdout.isatty() else LONGEST
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), _cut(row[5], room)]).rstrip()
        for row in (heads, *cells)
    ]


def printable(text: str) -> str:
    """A question on one line. It was written by somebody else: nothing in it may steer a terminal.

    >>> printable("SELECT 1\\n  FROM t\\x1b[2J")
    'SELECT 1 FROM t [2J'
    """
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
