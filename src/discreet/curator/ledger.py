"""The ledger as a pure state machine: a row and what comes after it. No file, no clock, no third-party module.

A ledger is a chain of rows that is only ever added to. Each row holds one *act* (a reservation, its settlement, a new cap, …), the
hash of the row before, and the running totals that the act leaves behind; so the next row needs nothing but the last one, the last
row of the analyst concerned, and what the request's key names already. `replay.py` computes every row again from the ones before it.

Its nouns have modules of their own: amounts (`amounts.py`), acts (`acts.py`), accounts (`accounts.py`), rows (`rows.py`) and requests
(`request.py`). What an event costs is not known here: that is `money.py`.
"""

from collections.abc import Iterable
from dataclasses import replace

from discreet.accountant import Accountant
from discreet.curator.accounts import Account, Book, PartAccounts
from discreet.curator.acts import (
    Accepted,
    Act,
    AnalystAdded,
    AnalystRemoved,
    Capped,
    Creation,
    DataChanged,
    Divided,
    Failed,
    Parted,
    PartPaid,
    Reserved,
    Resumed,
    Settled,
    Shared,
)
from discreet.curator.amounts import NOTHING, Amounts, Cap, Price
from discreet.curator.request import Entry, Request, topic_of_act
from discreet.curator.rows import NO_HASH, Head, Row, hash_of
from discreet.errors import Fault, Invalid, Refused
from discreet.exact import shown

MOST_FAILURES = 10
"""This failure of a data set after data was touched stops it: each of them tells one bit that no ε pays for."""

MOST_OF_ONE = 3
"""This failure of one analyst suspends them, so that they do not stop the data set for all."""


def reserve(
    head: Head, account: Account | None, entry: Entry | None, known: Row | None, request: Request, at: int
) -> Row | Entry:
    """What a request leads to: a row to be added, or the entry that its key names already; or it raises Refused.

    `account` is the analyst's, `entry` what the key names, `known` the reservation of a settled answer to the same topic that may be
    shared. A row is charged to the data set and to the analyst in one step, or to nobody. An entry that is not settled is to
    be computed again, at no new charge. Nothing is changed here.
    """
    _check_analyst(request.analyst, account)
    if entry is not None and not request.is_the_one_of(entry.row):
        raise Refused("the key belongs to another request", code="key-reused", hint="a key names one request for ever")
    if entry is not None and isinstance(entry.ended, Settled):
        return entry
    if entry is not None and isinstance(entry.ended, Failed):
        raise Refused(
            "this question failed before, and its charge is kept",
            code="failed",
            hint="ask it under a new key; that is charged anew",
        )
    if entry is not None and isinstance(entry.ended, Accepted):
        raise ended_by_accept()
    _check_failures(head.book, account)
    if entry is not None:
        return entry
    if request.data_version != head.book.version:
        raise Refused(
            "the data have another version by now", code="data-version", hint="open the data anew, then ask again"
        )
    return advance(head, _opening(request, known), at, request.analyst, account)


def ended_by_accept() -> Refused:
    """In the ledger that was lost it may have been answered, or drawn from: doing so again would be a second release for one charge."""
    return Refused(
        "this was begun before an older copy of the ledger was accepted, and its charge is kept",
        code="restored",
        hint="ask it under a new key, or at another price; that is charged anew",
    )


def _check_failures(book: Book, account: Account | None) -> None:
    if account is not None and account.failures >= MOST_OF_ONE:
        raise Refused(
            f"you are suspended after {MOST_OF_ONE} questions that failed",
            code="suspended",
            hint="ask the owner, who looks into it: `discreet ledger resume SOURCE --analyst NAME --reason TEXT --yes`",
        )
    if book.failures >= MOST_FAILURES:
        raise Refused(
            f"the data set has stopped after {MOST_FAILURES} questions that failed",
            code="stopped",
            hint="ask the owner, who looks into it: `discreet ledger resume SOURCE --reason TEXT --yes`",
        )


def _opening(request: Request, known: Row | None) -> Reserved | Shared:
    what = (request.filed, request.question, request.label, request.event, request.price, request.data_version)
    if known is not None and known.analyst != request.analyst:
        return Shared(*what, source=known.sequence, part=request.part)
    return Reserved(*what, part=request.part)


def settle(head: Head, entry: Entry, answer: bytes, at: int) -> Row | Settled:
    """The row that settles a reservation; or the settlement that was there first."""
    if isinstance(entry.ended, Settled):
        return entry.ended
    if isinstance(entry.ended, Accepted):
        raise ended_by_accept()
    if entry.ended is not None:
        raise Refused("this question failed before, and its charge is kept", code="failed")
    act = entry.row.act
    if not isinstance(act, Reserved):
        raise Fault("only a reservation can be settled", code="reservation")
    return advance(head, Settled(entry.row.sequence, hash_of(answer), len(answer), topic_of_act(act)), at)


def advance(head: Head | None, act: Act, at: int, analyst: str | None = None, account: Account | None = None) -> Row:
    """The row after `head` that does `act`, with the totals it leaves; the one place where totals are made.

    `account` is the analyst's before the row. For any act that is not allowed raises Refused or Invalid.
    """
    if head is None:
        if not isinstance(act, Creation):
            raise Fault("a ledger starts with its creation", code="ledger-broken")
        return Row(1, NO_HASH, at, act, Book(Account(act.cap), act.accountant, act.relation, 0, act.version))
    book, after = _after(head.book, act, analyst, account)
    return Row(head.sequence + 1, head.hash, at, act, book, analyst, after)


def _after(book: Book, act: Act, analyst: str | None, account: Account | None) -> tuple[Book, Account | None]:
    match act:
        case Reserved(price=price, version=version, part=part):
            _check_analyst(analyst, account)
            _check_shape(book.accountant, price)
            if version != book.version:
                raise Invalid("version must be that of the data")
            paid = None if account is None else _paid(account, price, price, "analyst")
            book = _out_of_share(book, price, account)
            after, more = _in_part(book, part, price, account)
            if account is None and part is not None and not book.account.affords(more):
                raise _too_much_for_all(book, part, price)
            whose = "owner" if account is None else "data set"
            return replace(after, account=_paid(book.account, price, more, whose)), paid
        case Shared(price=price):
            _check_analyst(analyst, account)
            _check_shape(book.accountant, price)
            book = _out_of_share(book, price, account, shared=True)
            return book, None if account is None else _paid(account, price, price, "analyst")
        case Settled() | Accepted():
            return book, None
        case Failed():
            failed = None if account is None else replace(account, failures=account.failures + 1)
            return replace(book, failures=book.failures + 1), failed
        case Resumed() if analyst is None:
            return replace(book, failures=0), None
        case Resumed():
            _check_analyst(analyst, account)
            return book, None if account is None else replace(account, failures=0)
        case Capped(cap) if analyst is None:
            _check_total(book, cap)
            return replace(book, account=replace(book.account, cap=cap)), None
        case Capped(cap):
            _check_analyst(analyst, account)
            return _with_share(book, account, None if account is None else replace(account, cap=cap))
        case AnalystAdded(cap):
            if account is not None and account.active:
                raise Invalid(f"analyst {shown(analyst)} is there already", hint="set_cap changes a cap")
            added = Account(cap) if account is None else replace(account, cap=cap, active=True)
            return _with_share(book, account, added)
        case AnalystRemoved():
            _check_analyst(analyst, account)
            return _with_share(book, account, None if account is None else replace(account, active=False))
        case DataChanged(version):
            return replace(book, version=version, parts=None if book.parts is None else book.parts.moved()), None
        case Parted():
            return _parted(book, act), None
        case Divided(aside):
            if (aside is None) is (book.aside is None):
                raise Invalid(f"shares are {book.shares} already")
            if book.parts is not None and aside is not None:
                raise parts_and_shares()
            if aside is not None and not aside.within(book.account.remaining):
                raise _no_room(f"{aside} is promised to analysts", book.account.remaining.beside(aside))
            return replace(book, aside=aside), None
        case _:
            raise Fault("a ledger is created once", code="ledger-broken")


def _check_analyst(analyst: str | None, account: Account | None) -> None:
    if analyst is not None and (account is None or not account.active):
        raise Refused(
            f"analyst {shown(analyst)} is not known here", code="analyst-unknown", hint="ask the owner to add the name"
        )


def _check_shape(accountant: Accountant, price: Price) -> None:
    foreign = "rho" if accountant is Accountant.PURE else "epsilon"
    if getattr(price, foreign):
        raise Invalid(f"{foreign} has no place in a price of the accountant '{accountant}'", code="price")


def _in_part(book: Book, part: PartPaid | None, price: Price, asked: Account | None) -> tuple[Book, Price]:
    """The book after a charge in a part, and by how much more the data set has spent; the price itself where it is in none.

    Whom one question can tell of has met what all parts but one, or two, were not charged for: of these the largest count.
    """
    if part is None:
        return book, price
    parts = book.parts
    account = None if parts is None or parts.said_by != part[:3] else parts.account(part.name)
    if parts is None or account is None:
        raise Refused(
            "the parts of the people are others by now, or have no budget",
            code="part",
            hint="open the data anew, then ask again",
        )
    if not account.affords(price):
        raise _too_much_in_part(account, price, shown(part.name), owner=asked is None)
    after = parts.put(part.name, account.charged(price))
    return replace(book, parts=after), _less(after.largest(book.touched), parts.largest(book.touched))


def _too_much_in_part(account: Account, price: Price, name: str, *, owner: bool) -> Refused:
    """People who came from other parts may have met a δ that this one has none of: then no question is left, whatever its price."""
    lower, more = "ask at a lower price; ", "only the owner can allow more: discreet budget set SOURCE --part NAME"
    said = f"the question costs {price}, which is more than is left for the part {name}"
    if owner and account.affords(NOTHING):
        said = f"the question costs {price}, and {account.remaining.beside(price)} is left for the part {name}"
    elif owner:
        lower, met = "", f"whoever is in it may have met {account.spent}"
        said = f"nothing is left for the part {name}: {met}, and its budget is {account.cap.limit}"
    return Refused(said, code="part-budget", hint=f"{lower}{more}")


def _too_much_for_all(book: Book, part: PartPaid, price: Price) -> Refused:
    """In a part of which less was spent than of others a question may cost more than is left of the data set."""
    spent, limit = book.account.spent, book.account.cap.limit
    room = NOTHING if book.parts is None else book.parts.room(part.name, book.touched, spent, limit)
    return Refused(
        f"the question costs {price}, and {room.beside(price)} is left of the data set for the part {shown(part.name)}",
        code="budget",
        hint="ask at a lower price, or allow more: discreet budget set",
    )


def _parted(book: Book, act: Parted) -> Book:
    """The book after parts were declared. Whoever is in a part that is new may have met what was spent on any other before."""
    if book.aside is not None:
        raise parts_and_shares()
    before = book.parts or PartAccounts(act.table, act.column, act.origin)
    if before.said_by == (act.table, act.column, act.origin):
        after, since = before, before.largest(book.touched)
    else:
        after, since = PartAccounts(act.table, act.column, act.origin, (), before.most), tuple(NOTHING)
    start = after.most
    for name, cap in act.caps:
        known = after.account(name)
        after = after.put(name, Account(cap, start) if known is None else replace(known, cap=cap))
    more = _less(after.largest(book.touched), since)
    return replace(book, account=book.account.charged(more), parts=after)


def parts_and_shares() -> Refused:
    return Refused(
        "shares are reserved, and parts of the people have budgets: who is refused in a part would depend on what others spent there",
        code="parts",
        hint="let shares be common, or declare no parts; a ledger that has had parts cannot reserve shares any more",
    )


def _paid(account: Account, price: Price, more: Price, whose: str) -> Account:
    """The account after a question of this price, which costs it so much more."""
    if account.affords(more):
        return account.charged(more)
    if whose == "analyst":
        raise Refused(
            f"the question costs {price}, and {account.remaining.beside(price)} is left of your budget",
            code="analyst-budget",
            hint="ask at a lower price, or ask the owner for more",
        )
    if whose == "owner":
        raise Refused(
            f"the question costs {price}, and {account.remaining.beside(price)} is left for the data set",
            code="budget",
            hint="ask at a lower price, or allow more: discreet budget set",
        )
    # How much is left would tell an analyst what the others did.
    raise Refused(
        f"the question costs {price}, which is more than is left for the data set",
        code="budget",
        hint="ask at a lower price; only the owner can allow more",
    )


def _out_of_share(book: Book, price: Price, account: Account | None, *, shared: bool = False) -> Book:
    """Where shares are reserved: an analyst spends what is set aside for them, the owner what is free.

    An answer that is shared costs the data set nothing; what it cost whoever got it stays set aside, so that nobody sees it come free.
    """
    if book.aside is None:
        return book
    if account is None and not price.within(book.free):
        raise Refused(
            f"the question costs {price}, and {book.free.beside(price)} is free: the rest is reserved for analysts",
            code="budget",
            hint="ask at a lower price, or lower the cap of an analyst",
        )
    if shared is (account is not None):
        return book
    sign = 1 if shared else -1
    return replace(book, aside=Amounts(*(a + sign * b for a, b in zip(book.aside, price, strict=True))))


def _with_share(book: Book, before: Account | None, after: Account | None) -> tuple[Book, Account | None]:
    """Where shares are reserved: what is set aside follows what an analyst may still spend, as far as it is free."""
    if book.aside is None:
        return book, after
    old, new = rest_of(before), rest_of(after)
    grown = [b - a for a, b in zip(old, new, strict=True)]
    if any(more > free for more, free in zip(grown, book.free, strict=True)):
        raise _no_room(f"{new} is to be set aside", _sum(book.free, old).beside(new))
    return replace(book, aside=Amounts(*(a + b for a, b in zip(book.aside, grown, strict=True)))), after


def _check_total(book: Book, cap: Cap) -> None:
    """Where shares are reserved, the total holds what was spent and what is set aside."""
    if book.aside is None:
        return
    for limit, spent, aside in zip(cap.limit, book.account.spent, book.aside, strict=True):
        if aside and spent + aside > limit:
            raise Refused(
                f"a total of {cap.limit} does not hold what is spent, {book.account.spent}, and reserved for analysts, {book.aside}",
                code="shares",
                hint=f"{book.free.beside(book.aside)} is free; lower the cap of an analyst first",
            )


def rest_of(account: Account | None) -> Amounts:
    """What an analyst may still spend; nothing for who was removed."""
    return account.remaining if account is not None and account.active else NOTHING


def set_aside(accounts: Iterable[Account]) -> Amounts:
    """What analysts may still spend, all together."""
    total = [sum(each) for each in zip(NOTHING, *map(rest_of, accounts), strict=True)]
    try:
        return Amounts(*total)
    except Invalid:
        raise _no_room("the caps of the analysts add up to more than any total", "less") from None


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return Amounts(*(a + b for a, b in zip(one, other, strict=True)))


def _less(one: Iterable[int], other: Iterable[int]) -> Amounts:
    return Amounts(*(a - b for a, b in zip(one, other, strict=True)))


def _no_room(what: str, free: str) -> Refused:
    return Refused(
        f"shares are reserved: {what}, and {free} is free",
        code="shares",
        hint="take a lower cap, lower that of another analyst, or raise the total first",
    )


def check_lower(cap: Cap, now: Cap, higher: bool) -> None:
    """A lower cap is fine at any time; a higher one only as the owner's explicit act."""
    if not higher and not cap.within(now):
        raise Refused(
            "a higher cap takes an explicit act of the owner", code="cap-higher", hint="set the budget by command"
        )
