"""A slow sequential model of budgets of parts: everybody is followed, through all that they can be in.

A person's history says in which part they are, or in none, in each time between two moments when people may move. What was spent on them is
the sum over all questions that could depend on them. Of neighbours who differ in one person, who comes or goes, that is one history; where
one is replaced by another it is two.
"""

import random
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import pytest

from discreet.curator.accounts import Account, Standing
from discreet.curator.acts import AnalystAdded, Capped, Creation, DataChanged, Parted, PartPaid
from discreet.curator.amounts import UNIT, Amounts
from discreet.curator.ledger import advance, reserve
from discreet.curator.money import cap_of
from discreet.curator.request import Request
from discreet.curator.rows import Row
from discreet.errors import Refused
from discreet.privacy import events
from tests.curator.test_ledger import head_of, replayed

NAMES = ("a", "b", "c")
TABLE, ORIGIN = "visits", ""
HUGE = cap_of("pure", 1000, 0.9)
History: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True)
class Charge:
    """What was charged: at which time, in which part, and how much."""

    time: int
    part: str | None
    price: Amounts


@dataclass
class People:
    """All that a person can have been in, and all that was charged."""

    replaced: bool
    parts: list[tuple[str, ...]] = field(default_factory=lambda: [NAMES])
    charges: list[Charge] = field(default_factory=list)

    @property
    def histories(self) -> list[History]:
        return list(product(*((*names, None) for names in self.parts)))

    def met(self, *histories: History, whole: bool = True) -> tuple[int, ...]:
        """What was spent on questions that can tell of a difference in somebody with these histories."""
        total = [0, 0, 0]
        for each in self.charges:
            touched = whole if each.part is None else each.part in {history[each.time] for history in histories}
            if touched:
                total = [a + b for a, b in zip(total, each.price, strict=True)]
        return tuple(total)

    @property
    def worst(self) -> tuple[int, ...]:
        """The most of each amount, over all neighbours."""
        everybody = self.histories
        pairs = product(everybody, everybody) if self.replaced else ((each,) for each in everybody)
        return tuple(map(max, zip(*(self.met(*pair) for pair in pairs), strict=True)))

    def in_part(self, name: str) -> tuple[int, ...]:
        """The most that was spent in parts on somebody who is in this one now."""
        there = (self.met(each, whole=False) for each in self.histories if each[-1] == name)
        return tuple(map(max, zip(*there, strict=True)))


@dataclass
class Ledger:
    """The pure ledger, to which requests are made one after the other."""

    rows: list[Row]
    version: int = 1
    column: str = "region"

    @classmethod
    def begun(cls, replaced: bool, total: object = 1000, caps: object = 1000, accountant: str = "pure") -> "Ledger":
        relation = f"{'replace' if replaced else 'add-remove'} one person by who"
        made = advance(None, Creation(accountant, cap_of(accountant, total, 0.9), relation), 0)  # type: ignore[arg-type]
        ledger = cls([made])
        ledger.declare(NAMES, caps, accountant)
        return ledger

    def add(self, row: Row) -> None:
        self.rows.append(row)

    def declare(self, names: tuple[str, ...], cap: object = 1000, accountant: str = "pure") -> None:
        caps = tuple((name, cap_of(accountant, cap, 0.9)) for name in sorted(names))  # type: ignore[arg-type]
        self.add(advance(head_of(self.rows[-1]), Parted(TABLE, self.column, ORIGIN, caps), 0))

    def change_data(self) -> None:
        self.version += 1
        self.add(advance(head_of(self.rows[-1]), DataChanged(str(self.version)), 0))

    def ask(self, part: str | None, price: Amounts, version: int | None = None, column: str | None = None) -> bool:
        """Whether a question was charged."""
        try:
            self.charge(part, price, version, column)
        except Refused:
            return False
        return True

    def charge(self, part: str | None, price: Amounts, version: int | None = None, column: str | None = None) -> None:
        """Charge a question, or raise Refused."""
        epsilon, delta, _ = price.exact
        request = Request(
            f"k{len(self.rows)}",
            None,
            price,
            events.Approximate(epsilon, delta).to_json(),
            "SELECT",
            str(self.version if version is None else version),
            part=None if part is None else PartPaid(TABLE, column or self.column, ORIGIN, part),
        )
        row = reserve(head_of(self.rows[-1]), None, None, None, request, 0)
        assert isinstance(row, Row)
        self.add(row)

    @property
    def spent(self) -> tuple[int, ...]:
        return tuple(self.rows[-1].book.account.spent)

    def spent_in(self, name: str) -> tuple[int, ...]:
        account = self._account(name)
        return tuple(account.spent)

    def room_in(self, name: str) -> Amounts:
        book = self.rows[-1].book
        room = Standing.of(book.account, book).room_in(name)
        assert room is not None
        return room

    def _account(self, name: str) -> Account:
        parts = self.rows[-1].book.parts
        account = None if parts is None else parts.account(name)
        assert account is not None
        return account


def some_price(draw: random.Random) -> Amounts:
    return Amounts(draw.choice([0, 1, 2, 3, 5]) * UNIT // 10, draw.choice([0, 0, 10**6, 3 * 10**6]))


def everybody_is_followed(seed: int, *, replaced: bool) -> set[str]:
    """What the ledger says was spent is what was spent on whoever met most; of a part, on whoever is in it. What happened, in words."""
    draw, seen = random.Random(seed), set[str]()
    ledger, people = Ledger.begun(replaced), People(replaced)
    for _ in range(draw.randrange(4, 14)):
        what = draw.choice(["part", "part", "part", "whole", "move", "stale"])
        price = some_price(draw)
        if what == "move" and len(people.parts) < 3:
            if draw.random() < 0.5:
                ledger.change_data()
                seen.add("data changed")
            else:
                ledger.column = "ward" if ledger.column == "region" else "region"
                ledger.declare(NAMES)
                seen.add("another column")
            people.parts.append(NAMES)
        elif what == "stale" and ledger.version > 1:
            # by the load of another version, or by another column, people are in other parts
            assert not ledger.ask(draw.choice(NAMES), price, version=ledger.version - 1)
            assert not ledger.ask(draw.choice(NAMES), price, column="other")
            seen.add("stale")
        elif what in ("part", "whole"):
            part = draw.choice(NAMES) if what == "part" else None
            assert ledger.ask(part, price)
            people.charges.append(Charge(len(people.parts) - 1, part, price))
        assert ledger.spent == people.worst, (seed, people.charges, ledger.spent, people.worst)
        for name in NAMES:
            assert ledger.spent_in(name) == people.in_part(name), (seed, name)
    if len({each.part for each in people.charges}) > 2:
        seen.add("several parts")
    replayed(ledger.rows)
    return seen


def nobody_meets_more_where_parts_are_added(seed: int, *, replaced: bool) -> None:
    """Whoever is in a part that is new is counted as whoever met most: never for less than they met."""
    draw = random.Random(seed)
    ledger, people = Ledger.begun(replaced), People(replaced)
    for name in ("d", "e"):
        for _ in range(draw.randrange(5)):
            part, price = draw.choice([*people.parts[-1], None]), some_price(draw)
            if ledger.ask(part, price):
                people.charges.append(Charge(len(people.parts) - 1, part, price))
        if draw.random() < 0.5:
            ledger.change_data()
            people.parts.append(NAMES)
        before = ledger.spent
        ledger.declare((name,))
        # somebody may have been in it all along, since a key is declared anew
        people.parts = [(*names, name) if name not in names else names for names in people.parts]
        assert all(a >= b for a, b in zip(ledger.spent, people.worst, strict=True)), seed
        assert replaced or ledger.spent == before
        for each in people.parts[-1]:
            assert all(a >= b for a, b in zip(ledger.spent_in(each), people.in_part(each), strict=True)), (seed, each)
    replayed(ledger.rows)


def caps_hold(seed: int, *, replaced: bool) -> tuple[int, int]:
    """A charge is taken exactly where the part, and whoever would meet most, stay within their caps. How many were, and were not."""
    draw = random.Random(seed)
    total, cap = Amounts.up(draw.choice([1, 2]), 0.9), Amounts.up(draw.choice([0.5, 1]), 0.9)
    ledger, people = Ledger.begun(replaced, total.exact[0], cap.exact[0]), People(replaced)
    taken = refused = 0
    for _ in range(12):
        if draw.random() < 0.15 and len(people.parts) < 2:
            ledger.change_data()
            people.parts.append(NAMES)
        part, price = draw.choice([*NAMES, None]), some_price(draw)
        before = list(people.charges)
        people.charges.append(Charge(len(people.parts) - 1, part, price))
        room = None if part is None else ledger.room_in(part)
        fits = people.worst[0] <= total.epsilon and (part is None or people.in_part(part)[0] <= cap.epsilon)
        assert ledger.ask(part, price) is fits, (seed, part, price)
        assert room is None or price.within(room) is fits, (seed, part, price, room)
        taken, refused = taken + fits, refused + (not fits)
        if not fits:
            people.charges = before
    return taken, refused


def analysts_pay_the_whole_price() -> None:
    """An analyst's account adds up what they asked, in whatever part: no less than anybody met of it."""
    ledger = Ledger.begun(False)
    added = advance(head_of(ledger.rows[-1]), AnalystAdded(HUGE), 0, "ana")
    account, head = added.account, head_of(added)
    for i, part in enumerate(("a", "b")):
        paid = PartPaid(TABLE, "region", ORIGIN, part)
        asked = Request(f"k{i}", "ana", Amounts(UNIT), events.Pure(1).to_json(), "SELECT", "1", part=paid)
        row = reserve(head, account, None, None, asked, 0)
        assert isinstance(row, Row)
        account, head = row.account, head_of(row)
    assert account is not None and account.spent.epsilon == 2 * UNIT
    assert head.book.account.spent.epsilon == UNIT


def a_part_that_met_what_it_may_not_is_closed() -> None:
    """Where people come with a δ to a part that has none, nothing of its ε is left either, and nothing else is told."""
    ledger = Ledger.begun(False)
    cap = (("b", cap_of("pure", 2)),)
    ledger.add(advance(head_of(ledger.rows[-1]), Parted(TABLE, ledger.column, ORIGIN, cap), 0))
    ledger.charge("b", Amounts(UNIT))
    ledger.charge("a", Amounts(UNIT, 1))
    assert ledger.room_in("b") == Amounts(UNIT)
    ledger.change_data()
    assert ledger.room_in("b") == Amounts() != ledger.room_in("a")
    with pytest.raises(
        Refused, match="nothing is left for the part 'b': whoever is in it may have met epsilon 1, delta"
    ):
        ledger.charge("b", Amounts(1))
    # the same of the data set
    ledger.add(advance(head_of(ledger.rows[-1]), Capped(cap_of("pure", 9)), 0))
    assert ledger.room_in("a") == Amounts() and not ledger.ask("a", Amounts(1))
