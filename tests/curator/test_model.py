"""Random clients, prices, crashes and retries against a slow sequential model in plain Python: no difference, ever."""

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE
from discreet.curator.page import Page
from discreet.curator.replay import replay
from discreet.curator.request import Request, Reservation, Stored
from discreet.curator.store import Store
from discreet.errors import Fault, Refused
from tests.curator.cases import cap, creation, paid, place, request, set_parts
from tests.scale import repeats

NAMES = [None, "ana", "bo"]
PRICES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(7, 10), Fraction(1, 10**20)]
UNIT = Fraction(1, 10**15)
PARTS, PART_CAP = ("north", "south"), Fraction(9, 10)


def whole_units(x: Fraction) -> Fraction:
    """Rounded up, by counting."""
    n = x // UNIT
    return UNIT * n if UNIT * n == x else UNIT * (n + 1)


@dataclass
class Asked:
    who: str | None
    price: Fraction
    what: str
    version: str
    status: str = "open"
    answer: bytes = b""
    part: str | None = None


@dataclass
class Model:
    """What the ledger should do, one step after the other, without hashes, files or hurry."""

    cap: Fraction
    spent: Fraction = Fraction(0)
    caps: dict[str, Fraction] = field(default_factory=dict)
    spents: dict[str, Fraction] = field(default_factory=dict)
    active: set[str] = field(default_factory=set)
    asked: dict[tuple[str | None, str], Asked] = field(default_factory=dict)
    first: dict[tuple[Fraction, str, str, str | None], Asked] = field(
        default_factory=dict
    )  # to be settled, of each question
    parts: dict[str, Fraction] = field(
        default_factory=lambda: dict.fromkeys(PARTS, Fraction(0))
    )  # since people may have moved
    before: Fraction = Fraction(0)  # that somebody may have met in parts, until then
    failures: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    version: str = "1"

    def reserve(
        self, key: str, who: str | None, price: Fraction, what: str, version: str, part: str | None
    ) -> str | bytes:
        if who is not None and who not in self.active:
            return "analyst-unknown"
        old = self.asked.get((who, key))
        if old is not None and (old.price, old.what, old.version, old.part) != (price, what, version, part):
            return "key-reused"
        if old is not None and old.status in ("settled", "shared"):
            return old.answer
        if old is not None and old.status == "failed":
            return "failed"
        if who is not None and self.failed.get(who, 0) >= MOST_OF_ONE:
            return "suspended"
        if self.failures >= MOST_FAILURES:
            return "stopped"
        if old is not None:
            return "again"
        if version != self.version:
            return "data-version"
        first = self.first.get((price, what, version, part))
        if first is not None and first.who != who:
            return self.share(key, who, first)
        return self.charge(key, who, price, what, version, part)

    def share(self, key: str, who: str | None, other: Asked) -> str | bytes:
        price = whole_units(other.price)
        if who is not None:
            if self.spents[who] + price > self.caps[who]:
                return "analyst-budget"
            self.spents[who] += price
        self.asked[who, key] = Asked(who, other.price, other.what, other.version, "shared", other.answer, other.part)
        return other.answer

    def settle(self, asked: Asked, answer: bytes) -> bytes:
        if asked.status == "open":
            asked.status, asked.answer = "settled", answer
            self.first.setdefault((asked.price, asked.what, asked.version, asked.part), asked)
        return asked.answer

    def charge(self, key: str, who: str | None, price: Fraction, what: str, version: str, part: str | None) -> str:
        due = whole_units(price)
        if who is not None and self.spents[who] + due > self.caps[who]:
            return "analyst-budget"
        if part is not None and self.before + self.parts[part] + due > PART_CAP:
            return "part-budget"
        parts = self.parts if part is None else self.parts | {part: self.parts[part] + due}
        more = due if part is None else max(parts.values()) - max(self.parts.values())
        if self.spent + more > self.cap:
            return "budget"
        self.spent, self.parts = self.spent + more, parts
        if who is not None:
            self.spents[who] += due
        self.asked[who, key] = Asked(who, price, what, version, part=part)
        return "fresh"

    def change_data(self, version: str) -> None:
        if version != self.version:
            self.before += max(self.parts.values())
            self.version, self.parts = version, dict.fromkeys(PARTS, Fraction(0))


def told(store: Store, wanted: Request) -> tuple[str | bytes, Reservation | None]:
    try:
        outcome = store.reserve(wanted)
    except Refused as refusal:
        return refusal.code, None
    if isinstance(outcome, Stored):
        return outcome.answer, None
    return "again" if outcome.again else "fresh", outcome


class Clients(RuleBasedStateMachine):
    """Three clients at two stores on one file. Any step may be cut off before or after its commit."""

    @initialize(epsilon=st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3)]))
    def begin(self, epsilon: Fraction) -> None:
        self.place = place()
        self.at = self.place.__enter__()
        made = creation(epsilon)
        self.stores = [self.at.open(made, share_answers=True) for _ in range(2)]
        set_parts(self.stores[0], *PARTS, each=PART_CAP)
        self.model = Model(Fraction(made.cap.limit.epsilon, 10**15))
        self.open: dict[tuple[str | None, str], Reservation] = {}
        self.count = 0

    def request(
        self, key: int, who: str | None, price: Fraction, what: int, version: str, part: str | None
    ) -> tuple[Any, Request]:
        plain = (f"k{key}", who, price, f"q{what}", version, part)
        return plain, request(plain[0], price, who, question=plain[3], data_version=version, part=paid(part))

    @rule(
        which=st.integers(0, 1),
        key=st.integers(0, 4),
        who=st.sampled_from(NAMES),
        price=st.sampled_from(PRICES),
        what=st.integers(0, 2),
        version=st.sampled_from(["1", "1", "2"]),
        part=st.sampled_from([None, None, *PARTS]),
        crash=st.sampled_from(["", "", "", "before", "after"]),
    )
    def ask(
        self,
        which: int,
        key: int,
        who: str | None,
        price: Fraction,
        what: int,
        version: str,
        part: str | None,
        crash: str,
    ) -> None:
        plain, wanted = self.request(key, who, price, what, version, part)
        store = self.stores[which]
        if crash == "before":
            cut = mock.patch.object(Page, "add", side_effect=sqlite3.OperationalError("disk I/O error"))
            with cut, suppress(Fault, Refused):
                told(store, wanted)
            return
        if crash == "after":
            with mock.patch.object(store.mark, "advance", side_effect=Fault("lost")), suppress(Fault, Refused):
                told(store, wanted)
            self.model.reserve(*plain)
            return
        expected = self.model.reserve(*plain)
        got, reservation = told(store, wanted)
        assert got == expected, (got, expected)
        if reservation is not None:
            self.open[who, plain[0]] = reservation

    @rule(which=st.integers(0, 1), key=st.integers(0, 4), who=st.sampled_from(NAMES), crash=st.booleans())
    def settle(self, which: int, key: int, who: str | None, crash: bool) -> None:
        reservation, asked = self.open.get((who, f"k{key}")), self.model.asked.get((who, f"k{key}"))
        if reservation is None or asked is None:
            return
        self.count += 1
        answer, store = f"answer {self.count}".encode(), self.stores[which]
        if asked.status == "failed":
            try:
                store.settle(reservation, answer)
            except Refused as refusal:
                assert refusal.code == "failed"
                return
            raise AssertionError("what failed was settled")
        expected = self.model.settle(asked, answer)
        if crash:
            with mock.patch.object(store.mark, "advance", side_effect=Fault("lost")), suppress(Fault):
                store.settle(reservation, answer)
        else:
            assert store.settle(reservation, answer) == expected

    @rule(which=st.integers(0, 1), key=st.integers(0, 4), who=st.sampled_from(NAMES))
    def fail(self, which: int, key: int, who: str | None) -> None:
        reservation = self.open.get((who, f"k{key}"))
        if reservation is not None:
            self.stores[which].fail(reservation)
            self.model.failures += 1
            if who is not None:
                self.model.failed[who] = self.model.failed.get(who, 0) + 1
            asked = self.model.asked[who, f"k{key}"]
            asked.status = "failed" if asked.status == "open" else asked.status

    @rule(which=st.integers(0, 1), who=st.sampled_from(NAMES))
    def resume(self, which: int, who: str | None) -> None:
        model = self.model
        try:
            self.stores[which].resume("looked into it", who)
        except Refused:
            assert who not in model.active
            return
        except ValueError:
            assert not (model.failures if who is None else model.failed.get(who, 0))
            return
        if who is None:
            model.failures = 0
        else:
            model.failed[who] = 0

    @rule(which=st.integers(0, 1), key=st.integers(0, 4), who=st.sampled_from(NAMES))
    def look(self, which: int, key: int, who: str | None) -> None:
        asked = self.model.asked.get((who, f"k{key}"))
        known = asked is not None and asked.status in ("settled", "shared")
        known = known and (who is None or who in self.model.active)
        assert self.stores[which].stored(f"k{key}", who) == (asked.answer if known and asked else None)

    @rule(which=st.integers(0, 1), name=st.sampled_from(["ana", "bo"]), tenths=st.integers(1, 20))
    def add(self, which: int, name: str, tenths: int) -> None:
        model, allowed = self.model, Fraction(tenths, 10)
        try:
            self.stores[which].add_analyst(name, cap(allowed))
        except (Refused, ValueError):
            assert name in model.active or allowed > model.caps[name]
            return
        assert name not in model.active and allowed <= model.caps.get(name, allowed)
        model.active.add(name)
        model.caps[name] = allowed
        model.spents.setdefault(name, Fraction(0))

    @rule(which=st.integers(0, 1), name=st.sampled_from(["ana", "bo"]))
    def remove(self, which: int, name: str) -> None:
        if name in self.model.active:
            self.stores[which].remove_analyst(name)
            self.model.active.remove(name)

    @rule(which=st.integers(0, 1), tenths=st.integers(1, 20), higher=st.booleans())
    def set_cap(self, which: int, tenths: int, higher: bool) -> None:
        allowed = Fraction(tenths, 10)
        try:
            self.stores[which].set_cap(cap(allowed), higher=higher)
        except Refused:
            assert not higher and allowed > self.model.cap
            return
        assert higher or allowed <= self.model.cap
        self.model.cap = allowed

    @rule(which=st.integers(0, 1), version=st.sampled_from(["1", "2"]))
    def change_data(self, which: int, version: str) -> None:
        self.stores[which].change_data(version)
        self.model.change_data(version)

    @rule(which=st.integers(0, 1), gently=st.booleans())
    def restart(self, which: int, gently: bool) -> None:
        if gently:
            self.stores[which].close()
        self.stores[which] = self.at.open(share_answers=True)

    @invariant()
    def totals_agree(self) -> None:
        for store in self.stores:
            totals = store.standing()
            assert totals.spent.exact[0] == self.model.spent and totals.failures == self.model.failures
            assert totals.parts is not None
            for part, account in totals.parts.accounts:
                assert account.spent.exact[0] == self.model.before + self.model.parts[part]
            for name, amount in self.model.spents.items():
                assert store.standing(name).spent.exact[0] == amount

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            self.stores[0].verify()
            assert replay(self.stores[1].export())[None].spent.exact[0] == self.model.spent
            self.place.__exit__(None, None, None)


def test_random_histories_are_those_of_the_sequential_model() -> None:
    few = settings(max_examples=repeats(60), stateful_step_count=40, deadline=None)
    run_state_machine_as_test(Clients, settings=few)
