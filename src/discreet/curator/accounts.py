"""Accounts: what a data set and its analysts may spend, have spent, and what is set aside for whom."""

from dataclasses import dataclass, replace
from typing import Any

from discreet.accountant import Accountant, within
from discreet.curator.amounts import NOTHING, Amounts, Cap, Price

SHARES = ("common", "reserved")
"""How the total is shared: whoever asks first, or each analyst within a part that is set aside for them."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a data set or an analyst may spend, and has spent. Spent amounts never decrease, not even for who was removed."""

    cap: Cap
    spent: Amounts = NOTHING
    active: bool = True
    # Those after data was touched; release 0.1 counted those of the data set only.
    failures: int = 0

    def affords(self, price: Price) -> bool:
        """Whether the price may be added: the filter that the cap stands for says yes."""
        return within((spent + more for spent, more in zip(self.spent, price, strict=True)), self.cap.limit)

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

    @property
    def left(self) -> Amounts:
        """What a question may cost: nothing of any amount where one is beyond its limit already."""
        return self.remaining if self.affords(NOTHING) else NOTHING

    def to_json(self) -> dict[str, Any]:
        failures = {"failures": self.failures} if self.failures else {}
        return {"active": self.active, "cap": self.cap.to_json(), "spent": self.spent.to_json(), **failures}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Account":
        spent = Amounts.from_json(value["spent"])
        return cls(Cap.from_json(value["cap"]), spent, value["active"], value.get("failures", 0))


@dataclass(frozen=True, slots=True)
class PartAccounts:
    """What may be spent on each part of the people, and was; all of it is in the account of the data set, too.

    What says in which part somebody is: a column of a table, of a source. An account starts from what somebody may have met in other parts
    before, `carried`, which is as much for each: people move when the data change, and when another column says where they are.
    """

    table: str
    column: str
    origin: str
    accounts: tuple[tuple[str, Account], ...] = ()
    carried: Amounts = NOTHING

    @property
    def said_by(self) -> tuple[str, str, str]:
        return (self.table, self.column, self.origin)

    def account(self, name: str) -> Account | None:
        return dict(self.accounts).get(name)

    def largest(self, count: int) -> tuple[int, ...]:
        """The most that was spent on so many parts together, of each amount, since accounts started: on whom one person may have been."""
        since = [[a - b for a, b in zip(each.spent, self.carried, strict=True)] for _, each in self.accounts]
        return tuple(sum(sorted(amounts, reverse=True)[:count]) for amounts in zip(NOTHING, *since, strict=True))

    def room(self, name: str, count: int, spent: Amounts, limit: Amounts) -> Amounts:
        """The most that a question in a part may cost, of each amount, where the data set has spent so much of its limit.

        It has to fit the budget of the part; for the data set it counts from where the part is among the `count` largest.
        """
        known = dict(self.accounts)
        others = replace(self, accounts=tuple(each for each in self.accounts if each[0] != name))
        beside = zip(known[name].spent, self.carried, others.largest(count - 1), strict=True)
        before = [spent - carried + largest for spent, carried, largest in beside]
        left = [most - so_far for most, so_far in zip(limit, spent, strict=True)]
        if min(left) < 0:
            return NOTHING
        free = [a + b - c for a, b, c in zip(left, self.largest(count), before, strict=True)]
        return Amounts(*map(min, known[name].left, free))

    @property
    def most(self) -> Amounts:
        """The most that somebody may have met in parts, now and before."""
        spent = [tuple(each.spent) for _, each in self.accounts]
        return Amounts(*map(max, zip(self.carried, *spent, strict=True)))

    def put(self, name: str, account: Account) -> "PartAccounts":
        """The parts with another account of one of them."""
        accounts = dict(self.accounts) | {name: account}
        return replace(self, accounts=tuple(sorted(accounts.items())))

    def moved(self) -> "PartAccounts":
        """The parts after people may have moved: each starts from the largest spending of any."""
        start = self.most
        accounts = tuple((name, replace(each, spent=start)) for name, each in self.accounts)
        return replace(self, accounts=accounts, carried=start)

    def to_json(self) -> dict[str, Any]:
        return {
            "accounts": {name: account.to_json() for name, account in self.accounts},
            "carried": self.carried.to_json(),
            "said_by": list(self.said_by),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "PartAccounts":
        accounts = ((name, Account.from_json(each)) for name, each in sorted(value["accounts"].items()))
        table, column, origin = value["said_by"]
        return cls(table, column, origin, tuple(accounts), Amounts.from_json(value["carried"]))


@dataclass(frozen=True, slots=True)
class Book:
    """The data set after a row: its account, how prices add up, who is protected, failures so far, the version of the data."""

    account: Account
    accountant: Accountant
    relation: str
    failures: int
    version: str
    # Where shares are reserved: what is kept for analysts, out of the owner's reach.
    aside: Amounts | None = None
    parts: PartAccounts | None = None

    @property
    def touched(self) -> int:
        """In how many parts a difference between neighbours may be: in that of who comes or goes; of who is replaced, and by whom."""
        return 1 if self.relation.casefold().startswith("add-remove") else 2

    @property
    def shares(self) -> str:
        return "common" if self.aside is None else "reserved"

    @property
    def free(self) -> Amounts:
        """What the owner may spend or promise: nothing that an analyst does changes it where shares are reserved."""
        left = self.account.remaining
        return left if self.aside is None else Amounts(*(max(0, a - b) for a, b in zip(left, self.aside, strict=True)))

    def to_json(self) -> dict[str, Any]:
        aside = {} if self.aside is None else {"aside": self.aside.to_json()}
        return {
            "account": self.account.to_json(),
            "accountant": self.accountant.value,
            "failures": self.failures,
            "relation": self.relation,
            "version": self.version,
            **aside,
            **({} if self.parts is None else {"parts": self.parts.to_json()}),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Book":
        aside, parts = value.get("aside"), value.get("parts")
        return cls(
            Account.from_json(value["account"]),
            Accountant(value["accountant"]),
            value["relation"],
            value["failures"],
            value["version"],
            None if aside is None else Amounts.from_json(aside),
            None if parts is None else PartAccounts.from_json(parts),
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """How a data set or an analyst stands: what was spent, what may be, and the (ε, δ) that this keeps. All of it is in units.

    `free` is what is left for whoever it is: for the owner, where shares are reserved, what is left beside the analysts' parts.
    """

    spent: Amounts
    cap: Amounts
    budget: Amounts
    remaining: Amounts
    accountant: Accountant
    failures: int
    version: str
    free: Amounts
    # Where shares are reserved: what is kept for analysts.
    aside: Amounts | None
    parts: PartAccounts | None = None
    touched: int = 1

    def room_in(self, part: str) -> Amounts | None:
        """The most that a question in a part may cost, for the owner; None where there is no such part."""
        known = self.parts is not None and self.parts.account(part) is not None
        return self.parts.room(part, self.touched, self.spent, self.cap) if self.parts is not None and known else None

    @property
    def shares(self) -> str:
        return "common" if self.aside is None else "reserved"

    @classmethod
    def of(cls, account: Account, book: Book) -> "Standing":
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
            book.parts,
            book.touched,
        )
