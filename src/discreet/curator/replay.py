"""Every row computed again from the rows before it: by a store when it opens, and by anyone who is given an export.

An export is a JSON document of bodies and hashes. It holds no answer and no data; whoever replays it sees that every price covers its
event, every total is the sum, and nothing was left out or put in between.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias

from discreet.curator.accounts import Account, Book, Standing
from discreet.curator.acts import FORMAT, Accepted, Act, Creation, Divided, Failed, Reserved, Settled, Shared
from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE, advance, set_aside
from discreet.curator.money import check_act
from discreet.curator.request import topic_of_act
from discreet.curator.rows import Head, Row, broken, hash_of, parse_act
from discreet.errors import Invalid, Refused

Check: TypeAlias = Callable[[Book, Act], None]
"""Raises where the price or the cap in an act is not what its event, or its budget, costs."""


class Past(Protocol):
    """What rows say that were verified before, and are not computed again."""

    def used(self, key: str) -> bool:
        """Whether a request is filed under this."""

    def asked(self, sequence: int) -> tuple[str | None, str] | None:
        """Who made a reservation, and its topic; None where the row is none."""

    def ended(self, sequence: int) -> type[Settled] | type[Failed] | None:
        """How a reservation ended first."""


class Replay:
    """Computes every row again from the ones before it. What does not agree in every byte is a Fault; what does is kept as totals."""

    def __init__(self, check: Check) -> None:
        self.head: Head | None = None
        self.accounts: dict[str, Account] = {}
        # The last row that accepted an older ledger.
        self.accepted = 0
        self.most = MOST_FAILURES
        # In release 0.1 what was open went on after that.
        self.strict = True
        self._check = check
        self._past: Past | None = None
        self._keys: set[str] = set()
        # Of each reservation: who asked, and the topic.
        self._open: dict[int, tuple[str | None, str]] = {}
        self._ended: dict[int, type[Settled] | type[Failed]] = {}

    def go_on(self, head: Head, accounts: Mapping[str, Account], acts: Sequence[Row], past: Past) -> bool:
        """Start after a row that was verified. `acts` are the owner's acts until then; False where the first of them made no ledger."""
        if not acts or not isinstance(acts[0].act, Creation):
            return False
        for row in acts:
            self._keep_act(row)
        self.head, self.accounts, self._past = head, dict(accounts), past
        return True

    def add(self, body: bytes, hash: str) -> Row:
        """The row, or a Fault."""
        if hash_of(body) != hash:
            raise broken(f"the hash of {self._place()} is not that of its contents")
        act, analyst, at = parse_act(body)
        try:
            self._look_back(act, analyst)
            row = advance(self.head, act, at, analyst, self.accounts.get(analyst or ""))
            self._check(row.book, act)
        except (Refused, Invalid) as error:
            raise broken(f"{self._place()} should not have been written ({error.message})") from error
        if row.body() != body:
            raise broken(f"{self._place()} is not what follows from the rows before it")
        self._keep(row, hash)
        return row

    def standings(self) -> dict[str | None, Standing]:
        """The standing of the data set, under None, and of every analyst there ever was."""
        if self.head is None:
            raise broken("it has no rows")
        book = self.head.book
        return {None: Standing.of(book.account, book)} | {
            name: Standing.of(account, book) for name, account in self.accounts.items()
        }

    def _place(self) -> str:
        return f"row {self.head.sequence + 1 if self.head else 1}"

    def used(self, key: str) -> bool:
        return key in self._keys or (self._past is not None and self._past.used(key))

    def asked(self, sequence: int) -> tuple[str | None, str] | None:
        reservation = self._open.get(sequence)
        return self._past.asked(sequence) if reservation is None and self._past is not None else reservation

    def ended(self, sequence: int) -> type[Settled] | type[Failed] | None:
        before = None if self._past is None else self._past.ended(sequence)
        return before or self._ended.get(sequence)

    def _look_back(self, act: Act, analyst: str | None) -> None:
        """What the act says of earlier rows must be so."""
        match act:
            case Reserved(key=key) | Shared(key=key) if self.used(key):
                self._wrong("uses a key again")
            case Reserved() | Shared() if self.head is not None and self.head.book.failures >= self.most:
                self._wrong("was written after the data set stopped")
            case Reserved() | Shared() if analyst in self.accounts and self.accounts[analyst].failures >= MOST_OF_ONE:
                self._wrong("was written after its analyst was suspended")
            case Shared(source=source):
                asked_by, topic = self.asked(source) or (None, "")
                if self.ended(source) is not Settled or topic != topic_of_act(act) or asked_by == analyst:
                    self._wrong("shares an answer that is not there to be shared")
            case Settled(reservation=sequence, topic=topic):
                if self.ended(sequence) is not None or (self.asked(sequence) or (None, ""))[1] != topic:
                    self._wrong("settles what is not open")
                if self.strict and sequence < self.accepted:
                    self._wrong("settles what was open before an older ledger was accepted")
            case Divided(aside) if aside is not None and aside != set_aside(self.accounts.values()):
                self._wrong("sets something else aside than the analysts have")
            case Failed(reservation=sequence):
                asked = self.asked(sequence)
                if asked is None:
                    self._wrong("fails what was never reserved")
                # It is None in release 0.1.
                if analyst not in (None, asked[0]):
                    self._wrong("is counted for somebody else")

    def _wrong(self, what: str) -> NoReturn:
        raise broken(f"{self._place()} {what}")

    def _keep(self, row: Row, hash: str) -> None:
        self.head = Head(row.sequence, hash, row.book)
        if row.analyst is not None and row.account is not None:
            self.accounts[row.analyst] = row.account
        match row.act:
            case Reserved(key=key) as act:
                self._keys.add(key)
                self._open[row.sequence] = (row.analyst, topic_of_act(act))
            case Shared(key=key):
                self._keys.add(key)
            case Settled(reservation=sequence):
                self._ended[sequence] = Settled
            case Failed(reservation=sequence):
                self._ended.setdefault(sequence, Failed)
            case _:
                self._keep_act(row)

    def _keep_act(self, row: Row) -> None:
        """What an act of the owner changes for the rows after it, beside the totals."""
        match row.act:
            case Creation(format=1):
                # In release 0.1 one more stopped it.
                self.most, self.strict = MOST_FAILURES + 1, False
            case Accepted():
                self.accepted = row.sequence


def newer(form: object) -> Refused:
    return Refused(
        f"the ledger has format {form!s:.20}, and this release reads up to {FORMAT}",
        code="ledger-newer",
        hint="use a newer release of discreet",
    )


def replay(document: Mapping[str, Any]) -> dict[str | None, Standing]:
    """The standing of the data set (None) and of each analyst, computed from an export without the data or the answers.

    For any document that is not the export of a sound ledger raises a Fault, or Refused for a newer format.
    """
    form, rows = document.get("format"), document.get("rows")
    if not isinstance(form, int) or not isinstance(rows, list) or not rows:
        raise broken("the export holds no rows")
    if form > FORMAT:
        raise newer(form)
    again = Replay(check_act)
    for row in rows:
        if not isinstance(row, Mapping) or set(row) != {"body", "hash"} or not isinstance(row["body"], str):
            raise broken("the export holds something that is no row")
        again.add(row["body"].encode("utf-8", "replace"), str(row["hash"]))
    return again.standings()
