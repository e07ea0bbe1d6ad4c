"""A ledger that is kept: what sessions, measurements and owners do in it, and what anyone may look at.

`Store` is all that a session uses. It runs the pure steps of `ledger.py` as durable steps, see `durable.py`. `sqlite.py` keeps rows in one
file, `postgres.py` in a database server.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from discreet.curator.accounts import SHARES, Account, Standing
from discreet.curator.acts import (
    FORMAT,
    Accepted,
    AnalystAdded,
    AnalystRemoved,
    Capped,
    DataChanged,
    Divided,
    Failed,
    Parted,
    Reserved,
    Resumed,
    Settled,
    Shared,
)
from discreet.curator.amounts import Cap
from discreet.curator.connection import Connection
from discreet.curator.durable import Durable
from discreet.curator.hold import Hold
from discreet.curator.ledger import check_lower, ended_by_accept, reserve, set_aside, settle
from discreet.curator.mark import Mark
from discreet.curator.money import check_act, check_price, check_relation
from discreet.curator.names import check_analyst, check_name
from discreet.curator.page import Page, hashed, summary
from discreet.curator.replay import Replay
from discreet.curator.request import LONGEST_ANSWER, Entry, Request, Reservation, Stored
from discreet.curator.rows import Head, Row, broken, canonical, hash_of
from discreet.errors import Fault, Invalid, Refused
from discreet.exact import shown
from discreet.mechanisms.record import Drawn, settled


class Store(Durable):
    """A ledger that is kept somewhere. It cannot be copied or pickled; after a fork each process connects anew.

    Nothing that was open before a fork is used after it, see `forks.py`.
    """

    def __init__(self, connect: Callable[[], Connection], mark: Mark, *, share_answers: bool = False) -> None:
        super().__init__(connect, mark)
        self.share_answers = share_answers
        self._holder: Callable[[int], Hold] = _no_holder

    # What a session does.

    def reserve(self, request: Request) -> Reservation | Stored:
        """Charge a request, durably, or find what its key names already. Only after this may data be touched.

        Returns a Reservation to be computed and settled, fresh or made by an earlier try; or the answer that was given before. Raises
        Refused where a budget, a key or a name does not allow it, and then nothing has changed.
        """

        def step(page: Page) -> Reservation | Stored:
            head = page.newest()
            entry = page.entry(request.analyst, request.key)
            known = page.known(request.topic) if self.share_answers and entry is None else None
            outcome = reserve(head, page.account(request.analyst), entry, known, request, self._now())
            again = isinstance(outcome, Entry)
            if isinstance(outcome, Row):
                page.add(outcome)
                outcome = Entry(outcome, _source_of(page, outcome))
            if isinstance(outcome.ended, Settled):
                return Stored(page.answer(outcome.ended), outcome.row.sequence)
            return Reservation(outcome.row.sequence, outcome.row.key or "", request.analyst, request.price, again)

        if not isinstance(request, Request):
            raise Invalid(f"request must be a Request, got {shown(request)}")
        tag = check_price(canonical(request.event), request.price, self._accountant)
        check_relation(tag, self._relation)
        return self._write(step)

    def settle(self, reservation: Reservation, answer: bytes, facts: Sequence[tuple[Request, bytes]] = ()) -> bytes:
        """Keep the answer, durably, and return the bytes to be released: these, or those of a settlement that came first.

        `facts` are what the answer tells for good: they are kept with it, each under its own key, at no price.
        """
        if not isinstance(answer, bytes) or len(answer) > LONGEST_ANSWER:
            raise Invalid(f"answer must be at most {LONGEST_ANSWER} bytes")

        def step(page: Page) -> bytes:
            outcome = settle(page.newest(), _reserved(page, reservation), answer, self._now())
            if isinstance(outcome, Settled):
                return page.answer(outcome)
            page.add(outcome, answer)
            for request, fact in facts:
                self._keep(page, request, fact)
            return answer

        return self._write(step)

    def _keep(self, page: Page, request: Request, fact: bytes) -> None:
        """File a fact. Who was removed or suspended meanwhile has the answer, and asks nothing that a fact is needed for."""
        account = page.account(request.analyst)
        if page.entry(request.analyst, request.key) is not None:
            return
        with suppress(Refused):
            row = reserve(page.newest(), account, None, None, request, self._now())
            if isinstance(row, Row):
                page.add(row)
                settled_row = settle(page.newest(), Entry(row), fact, self._now())
                if isinstance(settled_row, Row):
                    page.add(settled_row, fact)

    def fail(self, reservation: Reservation) -> None:
        """Note a failure after data was touched: the charge stays; too many suspend their analyst, and stop the data set."""

        def step(page: Page) -> None:
            row = _reserved(page, reservation).row
            self._add(page, Failed(row.sequence), row.analyst, page.account(row.analyst))

        self._write(step)

    def stored(self, key: str, analyst: str | None = None) -> bytes | None:
        """The answer that this key of this analyst was given, free of charge; None where there is none."""
        check_name(key, "key")
        _check_analyst_name(analyst)

        def look(page: Page) -> bytes | None:
            entry = page.entry(analyst, key)
            if entry is None or not isinstance(entry.ended, Settled):
                return None
            account = page.account(analyst)
            return page.answer(entry.ended) if account is None or account.active else None

        return self._read(look)

    def named(self, key: str, analyst: str | None = None) -> Entry | None:
        """What a key of this analyst names, settled or not; None where it names nothing yet."""
        check_name(key, "key")
        _check_analyst_name(analyst)
        return self._read(lambda page: page.entry(analyst, key))

    def named_before(self, key: str, analyst: str | None = None) -> bool:
        """Whether release 0.1 filed a request of this analyst under this key."""
        check_name(key, "key")
        _check_analyst_name(analyst)
        return self._read(lambda page: page.former(analyst, key) is not None)

    def charges(self, analyst: str | None, most: int) -> list[Row]:
        """The newest charges of an analyst, or of the owner, the newest first: none of one who was removed."""
        _check_analyst_name(analyst)

        def look(page: Page) -> list[Row]:
            account = page.account(analyst)
            return page.charges(analyst, most) if account is None or account.active else []

        return self._read(look)

    def standing(self, analyst: str | None = None) -> Standing:
        """What the data set, or an analyst, has spent and may spend."""
        _check_analyst_name(analyst)

        def look(page: Page) -> Standing:
            book = page.newest().book
            account = book.account if analyst is None else page.account(analyst)
            if account is None:
                raise unknown_analyst(analyst)
            return Standing.of(account, book)

        return self._read(look)

    def analysts(self) -> dict[str, Account]:
        """Every analyst there ever was, removed ones too."""
        return self._read(lambda page: page.accounts())

    # What a measurement does.

    def hold(self, sequence: int) -> Hold:
        """Let nobody else enter a measurement until it is released, or this process has ended; or Refused."""
        return self._holder(sequence)

    def drawn(self, sequence: int) -> list[Drawn]:
        """The draws of a measurement that were begun, with the values that they released; Refused where some are missing."""
        draws, row = self._read(lambda page: (page.drawn(sequence), page.hash_at(sequence)))
        marked = self._draws_mark(row).read()
        if marked is not None and marked[0] > len(draws):
            raise Refused(
                "the ledger may have gone back in time: draws that were made are not in it",
                code="rollback",
                hint="bring the newest ledger back, or measure under a new key",
            )
        return draws

    def _draws_mark(self, row: str | None) -> Mark:
        """How many draws of a measurement were begun, apart from the ledger: its own mark moves with rows only, and a draw is none.

        It is named by the hash of the reservation: a ledger that went back and was accepted gives its numbers to other rows.
        """
        return Mark(self.mark.path.with_name(f"{self.mark.path.name}-{row}"))

    def begin_draw(self, sequence: int, number: int, what: str) -> None:
        """Mark the next draw of a measurement as begun, durably. Only after this may the exact value be read."""

        def step(page: Page) -> str | None:
            _measuring(page, sequence)
            page.begin_draw(sequence, number, what)
            return page.hash_at(sequence)

        self._draws_mark(self._write(step)).advance(number, hash_of(what.encode()))

    def keep_draw(self, sequence: int, number: int, value: bytes) -> None:
        """Keep the value that a draw released, durably. Only after this may it be handed out."""

        def step(page: Page) -> None:
            _measuring(page, sequence)
            page.keep_draw(sequence, number, value)

        self._write(step)

    def end_draws(self, reservation: Reservation) -> None:
        """Settle a measurement with a digest of its draws: what was drawn can be had again, and nothing more drawn."""

        def step(page: Page) -> str | None:
            answer = summary(page.drawn(reservation.sequence))
            outcome = settle(page.newest(), _reserved(page, reservation), answer, self._now())
            if isinstance(outcome, Row):
                page.add(outcome, answer)
            return page.hash_at(reservation.sequence)

        self._draws_mark(self._write(step)).remove()

    # What an owner does.

    def set_cap(self, cap: Cap, analyst: str | None = None, *, higher: bool = False) -> None:
        """Change the cap of the data set or of an analyst. A higher one only where `higher` says that the owner means it."""
        act = Capped(cap)
        _check_analyst_name(analyst)

        def step(page: Page) -> None:
            head, account = page.newest(), page.account(analyst)
            now = head.book.account if analyst is None else account
            if now is None:
                raise unknown_analyst(analyst)
            if cap != now.cap:
                check_lower(cap, now.cap, higher)
                self._add(page, act, analyst, account)

        self._write(step)

    def add_analyst(self, name: str, cap: Cap, *, higher: bool = False) -> None:
        """Let an analyst ask. Who was removed before has still spent what they spent, and gets a higher cap only if `higher`."""
        check_analyst(name)
        act = AnalystAdded(cap)

        def step(page: Page) -> None:
            account = page.account(name)
            if account is not None and not account.active:
                check_lower(cap, account.cap, higher)
            self._add(page, act, name, account)

        self._write(step)

    def remove_analyst(self, name: str) -> None:
        """No new charge from now on; what is reserved may still be settled."""
        _check_analyst_name(name)
        self._write(lambda page: self._add(page, AnalystRemoved(), name, page.account(name)))

    def set_parts(self, parts: Parted, *, higher: bool = False) -> None:
        """Give parts of the people budgets, or other ones. A higher one only where `higher` says that the owner means it.

        What was spent stays spent: a part that is new starts from the largest spending of any, and so do all where something else
        than before says who is in them.
        """

        def step(page: Page) -> None:
            now = page.newest().book.parts
            same = now is not None and now.said_by == (parts.table, parts.column, parts.origin)
            known = {name: account.cap for name, account in now.accounts} if now is not None and same else {}
            for name, cap in parts.caps:
                if name in known:
                    check_lower(cap, known[name], higher)
            if known | dict(parts.caps) != known:
                self._add(page, parts)

        self._write(step)

    def share(self, shares: str, *, common: bool = False) -> None:
        """Reserve the caps of analysts for them, or let all spend from one pot again, only where `common` says that the owner means it."""
        if shares not in SHARES:
            raise Invalid(f"shares must be 'common' or 'reserved', got {shown(shares)}")

        def step(page: Page) -> None:
            if page.newest().book.shares == shares:
                return
            if shares == "common" and not common:
                raise still_reserved()
            self._add(page, Divided(set_aside(page.accounts().values()) if shares == "reserved" else None))

        self._write(step)

    def resume(self, reason: str, analyst: str | None = None) -> None:
        """Let the data set, or an analyst, go on after failures: the count begins anew, and a row says why."""
        act = Resumed(reason)
        _check_analyst_name(analyst)

        def step(page: Page) -> None:
            account = page.account(analyst)
            if analyst is not None and account is None:
                raise unknown_analyst(analyst)
            if not (page.newest().book.failures if account is None else account.failures):
                raise Invalid(
                    "there is nothing to resume: no question failed since",
                    code="usage",
                    hint="an analyst is resumed by name, the data set without one",
                )
            self._add(page, act, analyst, account)

        self._write(step)

    def change_data(self, version: str) -> None:
        """The owner's counter of the data moves; the budget goes on."""
        act = DataChanged(version)

        def step(page: Page) -> None:
            if page.newest().book.version != version:
                self._add(page, act)

        self._write(step)

    # What anyone may look at.

    def history(self) -> Iterator[Row]:
        """All rows, oldest first; those that come while it is read are included."""
        at = 0
        while rows := self._bodies_after(at):
            yield from (Row.parse(hashed(sequence, hash, body)) for sequence, hash, body in rows)
            at = rows[-1][0]

    def _bodies_after(self, at: int) -> list[tuple[Any, ...]]:
        return self._read(lambda page: page.bodies_after(at))

    def acts(self) -> list[Row]:
        """What the owner did, oldest first: every row that is neither a charge nor its end."""
        return self._read(lambda page: page.acts())

    def head(self) -> Head:
        """The last row."""
        return self._read(lambda page: page.newest())

    def verify(self) -> Standing:
        """Compute every hash, price and total again. For a ledger that was changed in any byte raises a Fault."""
        with self._apart() as (connection, page):
            connection.check()
            again = self._replayed(page, Replay(check_act))
            for reservation in page.measured():
                _check_draws(page, reservation)
            self._note(again)
            return again.standings()[None]

    def export(self) -> dict[str, Any]:
        """A JSON document that `replay` checks without the data. It holds no answers, only their digests."""
        with self._apart() as (_, page):
            exported, at = [], 0
            while rows := page.bodies_after(at):
                exported += [{"body": hashed(at, hash, body).decode("ascii"), "hash": hash} for at, hash, body in rows]
                at = rows[-1][0]
        return {"format": FORMAT, "rows": exported}


def _no_holder(sequence: int) -> NoReturn:
    raise Fault("this ledger has no place to hold measurements", code="reservation")


def _measuring(page: Page, sequence: int) -> None:
    """A Fault or Refused unless this is a reservation that nobody ended."""
    entry = page.reservation(sequence)
    if entry is None or not isinstance(entry.row.act, Reserved):
        raise Fault("the ledger has no such reservation", code="reservation")
    if isinstance(entry.ended, Accepted):
        raise ended_by_accept()
    if entry.ended is not None:
        raise settled()


def _check_draws(page: Page, sequence: int) -> None:
    entry, drawn = page.reservation(sequence), page.drawn(sequence)
    if entry is None or not isinstance(entry.row.act, Reserved):
        raise broken(f"draws belong to row {sequence}, which is no reservation")
    if isinstance(entry.ended, Settled) and page.answer(entry.ended) != summary(drawn):
        raise broken(f"the draws of row {sequence} are not those that were settled")


def _reserved(page: Page, reservation: Reservation) -> Entry:
    entry = page.reservation(reservation.sequence)
    if entry is None or not isinstance(entry.row.act, Reserved) or entry.row.act.key != reservation.key:
        raise Fault("the ledger has no such reservation", code="reservation")
    return entry


def _source_of(page: Page, row: Row) -> Settled | None:
    if not isinstance(row.act, Shared):
        return None
    entry = page.reservation(row.act.source)
    return entry.ended if entry is not None and isinstance(entry.ended, Settled) else None


def _check_analyst_name(analyst: str | None) -> None:
    """Before it is looked up: a name that no database can hold is the caller's mistake, and no damage."""
    if analyst is not None:
        check_name(analyst, "analyst")


def still_reserved() -> Refused:
    return Refused(
        "shares are reserved, and analysts rely on it",
        code="shares",
        hint="the owner ends it by `discreet budget set SOURCE --shares common --yes`",
    )


def unknown_analyst(analyst: str | None) -> Refused:
    return Refused(f"analyst {shown(analyst)} is not known here", code="analyst-unknown")
