"""What was charged, when, for whom, and how it ended; with the owner's own acts in between. Never an answer."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.accountant import Accountant
from discreet.curator.acts import (
    Accepted,
    AnalystAdded,
    AnalystRemoved,
    Capped,
    Creation,
    DataChanged,
    Divided,
    Failed,
    Parted,
    Reserved,
    Resumed,
    Settled,
    Shared,
)
from discreet.curator.amounts import Amounts
from discreet.curator.found import is_fact
from discreet.curator.rows import Row
from discreet.curator.store import Store
from discreet.errors import Refused
from discreet.exact import to_float_up


@dataclass(frozen=True, slots=True)
class Line:
    """One act. A charge has a price; `total` is what was spent after it, of the data set or of the analyst asked about."""

    sequence: int
    at: int
    who: str | None
    what: str
    price: Amounts | None
    total: Amounts
    state: str
    accountant: Accountant = Accountant.PURE
    part: str | None = None  # of the people, that a charge was made in

    @property
    def time(self) -> str:
        """When it was, by the clock of the machine that wrote it, in UTC."""
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S")

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "sequence": self.sequence,
            "at": self.time.replace(" ", "T") + "Z",
            "who": self.who,
            "what": self.what,
            "price": None if self.price is None else self.numbers(self.price),
            "total": self.numbers(self.total),
            "state": self.state or None,
            **({} if self.part is None else {"part": self.part}),
        }

    def numbers(self, amounts: Amounts) -> dict[str, float]:
        """Amounts as numbers, rounded up: those that the accountant counts."""
        exact = dict(zip(("epsilon", "delta", "rho"), amounts.exact, strict=True))
        names = ("epsilon", "delta") if self.accountant is Accountant.PURE else ("rho", "delta")
        return {name: to_float_up(exact[name]) + 0.0 for name in names}


def history_of(store: Store, analyst: str | None = None) -> tuple[Line, ...]:
    """Every act that a ledger holds, oldest first; of one analyst the charges alone."""
    if analyst is not None and analyst not in store.analysts():
        raise Refused(f"analyst {analyst!r} is not known here", code="analyst-unknown")
    return tuple(_lines(store.history(), analyst, store.standing().accountant))


def _lines(history: Iterable[Row], analyst: str | None, accountant: Accountant) -> Iterator[Line]:
    """A line for each act, oldest first; how a charge ended is its state, not a line of its own."""
    rows = list(history)
    ended: dict[int, str] = {}
    accepted = 0
    for row in rows:
        if isinstance(row.act, Settled | Failed):
            ended.setdefault(row.act.reservation, "answered" if isinstance(row.act, Settled) else "failed")
        elif isinstance(row.act, Accepted):
            accepted = row.sequence
    for row in rows:
        if isinstance(row.act, Settled | Failed) or (analyst is not None and row.analyst != analyst):
            continue
        account = row.account if analyst is not None and row.account is not None else row.book.account
        charge = row.act if isinstance(row.act, Reserved | Shared) else None
        if charge is not None and is_fact(charge.key):  # what a question found, kept at no price
            continue
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
            accountant,
            None if charge is None or charge.part is None else charge.part.name,
        )


def _act(row: Row) -> str:
    """What the owner did."""
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
        case Parted(table=table, column=column, caps=caps):
            named = ", ".join(f"{name} with {cap.budget}" for name, cap in caps)
            return f"-- parts of the people by {table}.{column}: {named}"
        case Resumed(reason=reason):
            return f"-- {f'analyst {row.analyst}' if row.analyst else 'the data set'} goes on after failures: {reason}"
        case Accepted(marked=marked, reason=reason):
            what = (
                f"an older ledger was accepted; the mark was at row {marked}"
                if marked
                else "the ledger was accepted; its mark was lost"
            )
            return f"-- {what}{'' if reason is None else f': {reason}'}"
        case _:
            return f"-- {row.act.kind}"
