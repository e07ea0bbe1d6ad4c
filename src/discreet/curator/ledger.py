"""The ledger as a pure state machine: a row and what comes after it. No file, no clock, no third-party module.

A ledger is a chain of rows that is only ever added to. Each row holds one *act* (a reservation, its settlement, a new cap, …), the
hash of the row before, and the running totals that the act leaves behind; so the next row needs nothing but the last one, the last
row of the analyst concerned, and what the request's key names already. `replay.py` computes every row again from the ones before it.

Money is counted in whole units of 10^-15. A price is rounded up to units once, a cap down; after that nothing rounds. What an event costs
is not known here: that is `money.py`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar, TypeAlias

from discreet.errors import Fault, Invalid, Refused
from discreet.exact import Number, divide_up, nonnegative, shown

UNIT = 10**15
FORMAT = 2
"""The version of what rows hold. A ledger of a newer one is refused; an older one is read as it was meant."""

MOST = 10**6 * UNIT
"""No price and no cap is above this: an ε of a million protects nobody."""

MOST_FAILURES = 10
"""This failure of a data set after data was touched stops it: each of them tells one bit that no ε pays for."""

MOST_OF_ONE = 3
"""This failure of one analyst suspends them, so that they do not stop the data set for all."""

NO_HASH = "0" * 64
OWNER = "owner"
ACCOUNTANTS = ("pure", "zcdp")
SHARES = ("common", "reserved")
"""How the total is shared: whoever asks first, or each analyst within a part that is set aside for them."""

LONGEST_REASON = 1000
LONGEST_NAME, LONGEST_LABEL, LONGEST_EVENT, LONGEST_ANSWER = 200, 1 << 16, 1 << 22, 1 << 26


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> bytes:
    """The one way to write a JSON value: keys in order, no spaces, ASCII. Raises Invalid for what JSON cannot hold."""
    try:
        return _ENCODER.encode(value).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid("what a ledger keeps must be JSON: objects, lists, texts, integers") from error


def units_up(value: object, name: str) -> int:
    """A caller's number in units, rounded up; so what is not zero stays so."""
    exact = nonnegative(value, name)
    return divide_up(exact.numerator * UNIT, exact.denominator)


def units_down(value: object, name: str) -> int:
    """A caller's number in units, rounded down."""
    exact = nonnegative(value, name)
    return exact.numerator * UNIT // exact.denominator


def in_words(units: int) -> str:
    """
    >>> in_words(UNIT // 10), in_words(3 * UNIT), in_words(1)
    ('0.1', '3', '0.000000000000001')
    """
    return format(Decimal(units).scaleb(-15).normalize(), "f")


@dataclass(frozen=True, slots=True)
class Amounts:
    """Whole units of ε, δ and ρ: a price, a cap or a total.

    >>> Amounts.up(0.1, 1e-9) == Amounts(UNIT // 10, 10**6)
    True
    """

    epsilon: int = 0
    delta: int = 0
    rho: int = 0

    def __post_init__(self) -> None:
        for name, most in (("epsilon", MOST), ("delta", UNIT - 1), ("rho", MOST)):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= most:
                raise _not_units(value, name)

    @classmethod
    def up(cls, epsilon: Number = 0, delta: Number = 0, rho: Number = 0) -> "Amounts":
        """A price: numbers rounded up to units. For anything negative, not finite, or too large raises Invalid."""
        return cls(units_up(epsilon, "epsilon"), units_up(delta, "delta"), units_up(rho, "rho"))

    @classmethod
    def down(cls, epsilon: Number = 0, delta: Number = 0, rho: Number = 0) -> "Amounts":
        """A cap: numbers rounded down to units."""
        return cls(units_down(epsilon, "epsilon"), units_down(delta, "delta"), units_down(rho, "rho"))

    @property
    def exact(self) -> tuple[Fraction, Fraction, Fraction]:
        """ε, δ and ρ as the numbers they are."""
        return Fraction(self.epsilon, UNIT), Fraction(self.delta, UNIT), Fraction(self.rho, UNIT)

    def __iter__(self) -> Iterator[int]:
        return iter((self.epsilon, self.delta, self.rho))

    def within(self, other: "Amounts") -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta and self.rho <= other.rho

    def to_json(self) -> list[int]:
        return [self.epsilon, self.delta, self.rho]

    def __str__(self) -> str:
        return self.beside(self)

    def beside(self, other: "Amounts") -> str:
        """In words, with the zeros that another has something in place of.

        >>> print(Amounts(0, 10**9), "|", Amounts(0, 10**9).beside(Amounts(UNIT)))
        delta 0.000001 | epsilon 0, delta 0.000001
        """
        names = ("epsilon", "delta", "rho")
        parts = [f"{name} {in_words(a)}" for name, a, b in zip(names, self, other, strict=True) if a or b]
        return ", ".join(parts) or "nothing"


Price: TypeAlias = Amounts
NOTHING = Amounts()


def _not_units(value: object, name: str) -> Invalid:
    if type(value) is not int:
        return Invalid(f"{name} must be a whole number of units, got {shown(value)}", hint="Amounts.up takes numbers")
    if value < 0:
        return Invalid(f"{name} must not be negative, got {shown(value)} units")
    return Invalid(f"{name} must be {'less than 1' if name == 'delta' else 'at most 1,000,000'}, got more")


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that may be spent, and the (ε, δ) that is kept by it. For the pure accountant these are the same."""

    limit: Amounts
    budget: Amounts

    def within(self, other: "Cap") -> bool:
        return self.limit.within(other.limit) and self.budget.within(other.budget)

    def to_json(self) -> dict[str, Any]:
        return {"budget": self.budget.to_json(), "limit": self.limit.to_json()}


@dataclass(frozen=True, slots=True)
class Account:
    """What a data set or an analyst may spend, and has spent. Spent amounts never decrease, not even for who was removed."""

    cap: Cap
    spent: Amounts = NOTHING
    active: bool = True
    failures: int = 0  # after data was touched; release 0.1 counted those of the data set only

    def affords(self, price: Price) -> bool:
        """Whether the price may be added: the filter that the cap stands for says yes."""
        spent, limit = self.spent, self.cap.limit
        return (
            spent.epsilon + price.epsilon <= limit.epsilon
            and spent.delta + price.delta <= limit.delta
            and spent.rho + price.rho <= limit.rho
        )

    def charged(self, price: Price) -> "Account":
        """The account after paying a price that it affords."""
        spent = self.spent
        total = Amounts(spent.epsilon + price.epsilon, spent.delta + price.delta, spent.rho + price.rho)
        return Account(self.cap, total, self.active, self.failures)

    @property
    def remaining(self) -> Amounts:
        spent, limit = self.spent, self.cap.limit
        return Amounts(
            max(0, limit.epsilon - spent.epsilon), max(0, limit.delta - spent.delta), max(0, limit.rho - spent.rho)
        )

    def to_json(self) -> dict[str, Any]:
        failed = {"failures": self.failures} if self.failures else {}
        return {"active": self.active, "cap": self.cap.to_json(), "spent": self.spent.to_json(), **failed}


@dataclass(frozen=True, slots=True)
class Book:
    """The data set after a row: its account, how prices add up, who is protected, failures so far, the version of the data."""

    account: Account
    accountant: str
    relation: str
    failures: int
    version: str
    aside: Amounts | None = None  # where shares are reserved: what is kept for analysts, out of the owner's reach

    @property
    def shares(self) -> str:
        return "common" if self.aside is None else "reserved"

    @property
    def free(self) -> Amounts:
        """What the owner may spend or promise: nothing that an analyst does changes it where shares are reserved."""
        left = self.account.remaining
        return left if self.aside is None else Amounts(*(max(0, a - b) for a, b in zip(left, self.aside, strict=True)))

    def to_json(self) -> dict[str, Any]:
        kept = {} if self.aside is None else {"aside": self.aside.to_json()}
        return {
            "account": self.account.to_json(),
            "accountant": self.accountant,
            "failures": self.failures,
            "relation": self.relation,
            "version": self.version,
            **kept,
        }


def check_name(value: object, name: str, most: int = LONGEST_NAME) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise Invalid(f"{name} must be a text of 1 to {most} printable characters, got {shown(value)}")
    _utf8(value, name)


def check_analyst(name: object) -> None:
    """The name of an analyst who is to be added."""
    check_name(name, "analyst")
    if isinstance(name, str) and name.casefold() == OWNER:
        raise Invalid(f"an analyst cannot be called {shown(name)}: who has no name is the owner", code="analyst")


def _utf8(value: str, name: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid(f"{name} must be text that can be written as UTF-8") from None
    if "\0" in value:
        raise Invalid(f"{name} must not hold a null character")


def filed(analyst: str | None, key: str) -> str:
    """What a request is filed under: a key belongs to its analyst, and nobody meets those of another.

    Keys are printable, so none of release 0.1, which filed them by themselves, begins like this.
    """
    return "\x1f" + canonical([analyst, key]).decode("ascii")


def _check_cap(value: object) -> None:
    if not isinstance(value, Cap):
        raise Invalid(f"cap must be a Cap, got {shown(value)}", hint="cap_of makes one of an epsilon and a delta")


# Acts: what a row says was done. All that is needed to compute the totals after it, and nothing about the data.


@dataclass(frozen=True, slots=True)
class Creation:
    """The first row. The accountant and the neighbour relation are fixed for ever; the cap is where it starts."""

    kind: ClassVar[str] = "created"
    accountant: str
    cap: Cap
    relation: str
    version: str = "1"
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.accountant not in ACCOUNTANTS:
            raise Invalid(f"accountant must be 'pure' or 'zcdp', got {shown(self.accountant)}")
        _check_cap(self.cap)
        check_name(self.relation, "relation")
        check_name(self.version, "version")


@dataclass(frozen=True, slots=True)
class Capped:
    """A new cap, of the data set or of the row's analyst."""

    kind: ClassVar[str] = "capped"
    cap: Cap

    def __post_init__(self) -> None:
        _check_cap(self.cap)


@dataclass(frozen=True, slots=True)
class AnalystAdded:
    kind: ClassVar[str] = "analyst-added"
    cap: Cap

    def __post_init__(self) -> None:
        _check_cap(self.cap)


@dataclass(frozen=True, slots=True)
class AnalystRemoved:
    kind: ClassVar[str] = "analyst-removed"


@dataclass(frozen=True, slots=True)
class Reserved:
    """A charge, made before any data is touched."""

    kind: ClassVar[str] = "reserved"
    key: str
    question: str
    label: str
    event: dict[str, Any]
    price: Price
    version: str


@dataclass(frozen=True, slots=True)
class Shared:
    """Another's settled answer, given to the row's analyst at the full price of their own cap; the data set pays nothing."""

    kind: ClassVar[str] = "shared"
    key: str
    question: str
    label: str
    event: dict[str, Any]
    price: Price
    version: str
    source: int


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer to a reservation: its bytes are kept beside the row, their digest in it."""

    kind: ClassVar[str] = "settled"
    reservation: int
    digest: str
    size: int
    topic: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure after data was touched; the charge stays."""

    kind: ClassVar[str] = "failed"
    reservation: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The owner looked into failures, and lets the data set or the row's analyst go on: the count begins anew."""

    kind: ClassVar[str] = "resumed"
    reason: str

    def __post_init__(self) -> None:
        check_name(self.reason, "reason", LONGEST_REASON)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The owner went on although the high-water mark held a later, or another, row than this ledger has."""

    kind: ClassVar[str] = "accepted"
    marked: int
    hash: str


@dataclass(frozen=True, slots=True)
class DataChanged:
    """The owner's counter of the data moved; the budget goes on."""

    kind: ClassVar[str] = "data-changed"
    version: str

    def __post_init__(self) -> None:
        check_name(self.version, "version")


@dataclass(frozen=True, slots=True)
class Divided:
    """From here on shares are reserved, with so much set aside for the analysts there are; or, with None, they are common."""

    kind: ClassVar[str] = "shares"
    aside: Amounts | None


Act: TypeAlias = (
    Creation
    | Capped
    | AnalystAdded
    | AnalystRemoved
    | Reserved
    | Shared
    | Settled
    | Failed
    | Resumed
    | Accepted
    | DataChanged
    | Divided
)
ACTS: dict[str, type[Any]] = {
    each.kind: each
    for each in (
        Creation,
        Capped,
        AnalystAdded,
        AnalystRemoved,
        Reserved,
        Shared,
        Settled,
        Failed,
        Resumed,
        Accepted,
        DataChanged,
        Divided,
    )
}
_FIELDS = {kind: tuple(each.name for each in fields(act)) for kind, act in ACTS.items()}


@dataclass(frozen=True, slots=True)
class Head:
    """What the next row builds on."""

    sequence: int
    hash: str
    book: Book


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the ledger. `at` is the second it was written, for people only: nothing depends on it."""

    sequence: int
    previous: str
    at: int
    act: Act
    book: Book
    analyst: str | None = None
    account: Account | None = None

    def to_json(self) -> dict[str, Any]:
        act = self.act
        return {
            "account": None if self.account is None else self.account.to_json(),
            "act": {name: _to_json(getattr(act, name)) for name in _FIELDS[act.kind]},
            "analyst": self.analyst,
            "at": self.at,
            "book": self.book.to_json(),
            "kind": act.kind,
            "previous": self.previous,
            "sequence": self.sequence,
        }

    def body(self) -> bytes:
        """All of the row but its own hash, in canonical JSON; what is hashed, and what a store keeps."""
        return canonical(self.to_json())

    @classmethod
    def parse(cls, body: bytes) -> "Row":
        """The row whose body this is, or a Fault."""
        with _readable():
            value = json.loads(body.decode("ascii"))
            account = None if value["account"] is None else _read_account(value["account"])
            return cls(
                value["sequence"],
                value["previous"],
                value["at"],
                _read_act(value),
                _read_book(value["book"]),
                value["analyst"],
                account,
            )

    # What a store finds rows by. All of it follows from the body, and is checked against it.

    @property
    def key(self) -> str | None:
        return self.act.key if isinstance(self.act, Reserved | Shared) else None

    @property
    def about(self) -> int | None:
        return self.act.reservation if isinstance(self.act, Settled | Failed) else None

    @property
    def topic(self) -> str | None:
        return self.act.topic if isinstance(self.act, Settled) else None


def hash_of(body: bytes) -> str:
    return sha256(body).hexdigest()


def broken(what: str) -> Fault:
    return Fault(
        f"the ledger is damaged: {what}",
        code="ledger-broken",
        hint="restore it from a backup, then accept the restored one",
    )


def _to_json(value: object) -> Any:
    return value.to_json() if isinstance(value, Amounts | Cap) else value


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise broken("a row cannot be read") from error


def parse_act(body: bytes) -> tuple[Act, str | None, int]:
    """The act of a row, its analyst and its time: what cannot be computed from the rows before it."""
    with _readable():
        value = json.loads(body.decode("ascii"))
        return _read_act(value), value["analyst"], value["at"]


def _read_act(value: dict[str, Any]) -> Act:
    given = {name: _READ[name](part) if name in _READ else part for name, part in value["act"].items()}
    act: Act = ACTS[value["kind"]](**given)
    return act


def _read_amounts(value: list[int]) -> Amounts:
    return Amounts(*value)


def _read_cap(value: dict[str, Any]) -> Cap:
    return Cap(Amounts(*value["limit"]), Amounts(*value["budget"]))


def _read_account(value: dict[str, Any]) -> Account:
    return Account(_read_cap(value["cap"]), Amounts(*value["spent"]), value["active"], value.get("failures", 0))


def _read_book(value: dict[str, Any]) -> Book:
    return Book(
        _read_account(value["account"]),
        value["accountant"],
        value["relation"],
        value["failures"],
        value["version"],
        _read_aside(value.get("aside")),
    )


def _read_aside(value: list[int] | None) -> Amounts | None:
    return None if value is None else Amounts(*value)


_READ: dict[str, Callable[[Any], Any]] = {"price": _read_amounts, "cap": _read_cap, "aside": _read_aside}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to be charged.

    `key` names this request of this analyst for ever; analyst None is the owner, who is charged on the data set only. `question` tells
    what is asked, the same for every analyst (a hash of the plan and its parameters); where it is left out the label stands for
    it. `event` is the JSON of the event, `data_version` the owner's counter of the data that will be read.
    """

    key: str
    analyst: str | None
    price: Price
    event: dict[str, Any]
    label: str
    data_version: str
    question: str = ""

    def __post_init__(self) -> None:
        check_name(self.key, "key")
        if self.analyst is not None:
            check_name(self.analyst, "analyst")
        if not isinstance(self.price, Amounts):
            raise Invalid(f"price must be a Price, got {shown(self.price)}")
        for name in ("label", "question"):
            _label(getattr(self, name), name)
        check_name(self.data_version, "data_version")
        text = canonical(self.event)
        if not isinstance(self.event, dict) or len(text) > LONGEST_EVENT:
            raise Invalid(f"event must be a JSON object of at most {LONGEST_EVENT} characters")
        object.__setattr__(self, "event", json.loads(text.decode("ascii")))
        object.__setattr__(self, "question", self.question or self.label)

    def is_the_one_of(self, row: Row) -> bool:
        """Whether this is the request that a row was written for. The label may differ: it is one of many ways to write a question."""
        act = row.act
        if not isinstance(act, Reserved | Shared):
            return False
        return (self.analyst, self.question, self.event, self.price, self.data_version) == (
            row.analyst,
            act.question,
            act.event,
            act.price,
            act.version,
        )

    @property
    def filed(self) -> str:
        return filed(self.analyst, self.key)

    @property
    def topic(self) -> str:
        return topic_of(self.question, self.event, self.price, self.data_version)


def _label(value: object, name: str) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_LABEL:
        raise Invalid(f"{name} must be a text of at most {LONGEST_LABEL} characters, got {shown(value)}")
    _utf8(value, name)


def topic_of(question: str, event: dict[str, Any], price: Price, version: str) -> str:
    """A digest of what was asked, at which price, of which data; whoever asked."""
    return hash_of(canonical([question, event, price.to_json(), version]))


def topic_of_act(act: Reserved | Shared) -> str:
    return topic_of(act.question, act.event, act.price, act.version)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a key names already: the row that it was written in, and how that ended, if it did."""

    row: Row
    ended: Settled | Failed | Accepted | None = None  # Accepted: it was open when an older ledger was


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
        return Shared(*what, source=known.sequence)
    return Reserved(*what)


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
        case Reserved(price=price, version=version):
            _check_analyst(analyst, account)
            _check_shape(book.accountant, price)
            if version != book.version:
                raise Invalid("version must be that of the data")
            paid = None if account is None else _paid(account, price, "analyst")
            book = _out_of_share(book, price, account)
            return replace(book, account=_paid(book.account, price, "owner" if account is None else "data set")), paid
        case Shared(price=price):
            _check_analyst(analyst, account)
            _check_shape(book.accountant, price)
            book = _out_of_share(book, price, account, shared=True)
            return book, None if account is None else _paid(account, price, "analyst")
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
            return replace(book, version=version), None
        case Divided(aside):
            if (aside is None) is (book.aside is None):
                raise Invalid(f"shares are {book.shares} already")
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


def _check_shape(accountant: str, price: Price) -> None:
    foreign = "rho" if accountant == "pure" else "epsilon"
    if getattr(price, foreign):
        raise Invalid(f"{foreign} has no place in a price of the accountant {accountant!r}", code="price")


def _paid(account: Account, price: Price, whose: str) -> Account:
    if account.affords(price):
        return account.charged(price)
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


@dataclass(frozen=True, slots=True)
class Totals:
    """What was spent, what may be, and the (ε, δ) that this keeps. All in units; `exact` of each are numbers.

    `free` is what is left for whom they are of: for the owner, where shares are reserved, what is left beside the analysts' parts.
    """

    spent: Amounts
    cap: Amounts
    budget: Amounts
    remaining: Amounts
    accountant: str
    failures: int
    version: str
    free: Amounts
    aside: Amounts | None  # where shares are reserved: what is kept for analysts

    @property
    def shares(self) -> str:
        return "common" if self.aside is None else "reserved"

    @classmethod
    def of(cls, account: Account, book: Book) -> "Totals":
        return cls(
            account.spent,
            account.cap.limit,
            account.cap.budget,
            account.remaining,
            book.accountant,
            book.failures if account is book.account else account.failures,
            book.version,
            book.free if account is book.account else account.remaining,
            book.aside,
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that was made and is not settled; `again` where an earlier try of the same request made it."""

    sequence: int
    key: str
    analyst: str | None
    price: Price
    again: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer that was given before, in the bytes it was given in."""

    answer: bytes
    sequence: int
