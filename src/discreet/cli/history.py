"""`discreet history SOURCE`: what was charged, when, for whom, and how it ended; with the owner's own acts in between. Never an answer."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.budget import amounts_said
from discreet.cli.owner import store_to_read
from discreet.cli.waiting import waiting
from discreet.errors import Invalid, Refused

if TYPE_CHECKING:
    from discreet.curator.amounts import Amounts
    from discreet.curator.rows import Row

NARROW, LONGEST = 30, 1 << 16  # characters of a question that are always shown, and that there are


@dataclass(frozen=True, slots=True)
class Line:
    """One act. A charge has a price; `total` is what was spent after it, of the data set or of the analyst asked about."""

    sequence: int
    at: int
    who: str | None
    what: str
    price: "Amounts | None"
    total: "Amounts"
    state: str

    @property
    def time(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def history(
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="The last N lines; 0 shows all.")] = 20,
    analyst: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Of this analyst only.")] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where the budget is kept.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What was charged: when, to whom, for what, how much, how much in all, and how it ended. Never an answer."""
    if limit < 0:
        raise Invalid(f"--limit must be a number of lines, got {limit}", code="usage", hint="0 shows all of them")
    with waiting("reading the ledger", as_json):
        store, _ = store_to_read(source, ledger)
        with store:
            if analyst is not None and analyst not in store.analysts():
                raise Refused(f"analyst {analyst!r} is not known here", code="analyst-unknown")
            found = list(told(store.history(), analyst))
            accountant = store.standing().accountant
    shown = found[-limit:] if limit else found
    if as_json:
        print(json.dumps([as_data(line, accountant) for line in shown], ensure_ascii=False, indent=2))
        return
    for text in table(shown, accountant):
        print(text)
    if len(shown) < len(found):
        print(f"{len(found) - len(shown):,} earlier ones; --limit 0 shows all")


def told(rows: "Iterable[Row]", analyst: str | None) -> Iterator[Line]:
    """A line for each act, oldest first; how a charge ended is its state, not a line of its own."""
    from discreet.curator.acts import Accepted, Failed, Reserved, Settled, Shared

    kept = list(rows)
    ended: dict[int, str] = {}
    accepted = 0
    for row in kept:
        if isinstance(row.act, Settled | Failed):
            ended.setdefault(row.act.reservation, "answered" if isinstance(row.act, Settled) else "failed")
        elif isinstance(row.act, Accepted):
            accepted = row.sequence
    for row in kept:
        if isinstance(row.act, Settled | Failed) or (analyst is not None and row.analyst != analyst):
            continue
        account = row.account if analyst is not None and row.account is not None else row.book.account
        charge = row.act if isinstance(row.act, Reserved | Shared) else None
        state = (
            "shared"
            if isinstance(row.act, Shared)
            else ended.get(row.sequence, "open" if row.sequence > accepted else "lost")
        )
        yield Line(
            row.sequence,
            row.at,
            row.analyst if charge is not None else None,
            charge.label if charge is not None else _act(row),
            None if charge is None else charge.price,
            account.spent,
            state if charge is not None else "",
        )


def _act(row: "Row") -> str:
    """What the owner did."""
    from discreet.curator.acts import (
        Accepted,
        AnalystAdded,
        AnalystRemoved,
        Capped,
        Creation,
        DataChanged,
        Divided,
        Resumed,
    )

    match row.act:
        case Creation(cap=cap, relation=relation):
            return f"-- ledger made: {cap.budget}; protects {relation}"
        case Capped(cap=cap):
            return f"-- budget{f' of {row.analyst}' if row.analyst else ''} set to {cap.budget}"
        case AnalystAdded(cap=cap):
            return f"-- analyst {row.analyst} added, with {cap.budget}"
        case AnalystRemoved():
            return f"-- analyst {row.analyst} removed"
        case DataChanged(version=version):
            return f"-- the data have version {version}"
        case Divided(aside):
            return (
                "-- shares are common"
                if aside is None
                else f"-- shares are reserved: {aside} is set aside for analysts"
            )
        case Resumed(reason=reason):
            return f"-- {f'analyst {row.analyst}' if row.analyst else 'the data set'} goes on after failures: {reason}"
        case Accepted(marked=0):
            return "-- the ledger was accepted; its mark was lost"
        case Accepted(marked=marked):
            return f"-- an older ledger was accepted; the mark was at row {marked}"
        case _:
            return f"-- {row.act.kind}"


def as_data(line: Line, accountant: str) -> dict[str, Any]:
    return {
        "sequence": line.sequence,
        "at": line.time.replace(" ", "T") + "Z",
        "who": line.who,
        "what": line.what,
        "price": None if line.price is None else _amounts(line.price, accountant),
        "total": _amounts(line.total, accountant),
        "state": line.state or None,
    }


def _amounts(amounts: "Amounts", accountant: str) -> dict[str, float]:
    from discreet.exact import to_float_up

    exact = dict(zip(("epsilon", "delta", "rho"), amounts.exact, strict=True))
    names = ("epsilon", "delta") if accountant == "pure" else ("rho", "delta")
    return {name: to_float_up(exact[name]) + 0.0 for name in names}


def table(found: list[Line], accountant: str) -> list[str]:
    heads = ("time (UTC)", "who", "price", "total", "state", "question")
    cells = [
        (
            line.time,
            line.who or "owner",
            "" if line.price is None else amounts_said(_amounts(line.price, accountant)),
            amounts_said(_amounts(line.total, accountant)),
            line.state,
            printable(line.what),
        )
        for line in found
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
