"""Laws of the pure ledger: exact money, two caps in one step, keys, chains, and that a replay believes nothing."""

import itertools
import json
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.accounts import Account
from discreet.curator.acts import (
    ACCOUNTANTS,
    FORMAT,
    Accepted,
    Act,
    AnalystAdded,
    AnalystRemoved,
    Capped,
    Creation,
    DataChanged,
    Failed,
    Reserved,
    Resumed,
    Settled,
    Shared,
)
from discreet.curator.amounts import NOTHING, UNIT, Amounts, Cap
from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE, advance, check_lower, reserve, settle
from discreet.curator.money import cap_of, check_act, check_cap, check_price, price_of, spent_by
from discreet.curator.replay import Replay, replay
from discreet.curator.request import Entry, Request, topic_of_act
from discreet.curator.rows import Head, Row, canonical, hash_of
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms import DiscreteGaussian
from discreet.privacy import events
from discreet.privacy.adjacency import Adjacency, Relation, Unit
from discreet.privacy.filters import ConcentratedFilter, PureFilter, Spent, SpentConcentrated
from tests.curator.cases import RELATION, cap, code_of, creation, request
from tests.scale import repeats

HOSTILE = [-1, -1e-300, nan, inf, -inf, "0.1", True, None, 10**400, Decimal("NaN"), 1j, b"1", [1], np.float64("nan")]


def head_of(row: Row) -> Head:
    return Head(row.sequence, hash_of(row.body()), row.book)


def first(made: Creation | None = None) -> Head:
    return head_of(advance(None, made or creation(), 0))


def charged(head: Head, wanted: Request, account: Account | None = None) -> Row:
    row = reserve(head, account, None, None, wanted, 0)
    assert isinstance(row, Row)
    return row


# Money.


def ten_tenths_are_one() -> None:
    head = first(creation(1))
    for i in range(10):
        head = head_of(charged(head, request(f"k{i}", "1/10")))
    assert head.book.account.spent.epsilon == UNIT
    assert code_of(lambda: charged(head, request("k10", "1/10"))) == "budget"
    assert code_of(lambda: charged(head, request("k11", Fraction(1, UNIT)))) == "budget"


def test_ten_tenths_are_one_and_the_eleventh_is_refused() -> None:
    ten_tenths_are_one()


@pytest.mark.parametrize("n", [3, 7, 10**3, 10**5])
def test_equal_parts_of_a_budget_fit_exactly_when_units_divide(n: int) -> None:
    account, price = Account(cap(1)), Amounts.up(Fraction(1, n))
    granted = 0
    while account.affords(price):
        account, granted = account.charged(price), granted + 1
    assert granted == (n if UNIT % n == 0 else n - 1)  # a price is rounded up, never down


def amounts_are_capped_apart() -> None:
    account = Account(Cap(Amounts(5, 5, 5), NOTHING), Amounts(3, 3, 3))
    for name in ("epsilon", "delta", "rho"):
        assert account.affords(Amounts(**{name: 2})) and not account.affords(Amounts(**{name: 3}))


def what_remains_can_be_spent_and_no_more() -> None:
    """Of each amount by itself: what remains is afforded, one unit more is not; of what is overspent nothing remains."""
    for spent in (Amounts(3, 2, 1), Amounts(0, 5, 0), Amounts(7, 9, 8)):
        account = Account(Cap(Amounts(5, 5, 5), NOTHING), spent)
        for name in ("epsilon", "delta", "rho"):
            most = max(0, 5 - getattr(spent, name))
            assert getattr(account.remaining, name) == most
            assert account.affords(Amounts(**{name: most + 1})) is False


def test_what_remains_can_be_spent_and_no_more() -> None:
    what_remains_can_be_spent_and_no_more()


def caps_are_compared_whole() -> None:
    """A cap is within another one where its limit and its budget both are."""
    low, high = Amounts(1, 1, 1), Amounts(1, 2, 1)
    for limit, budget in itertools.product((low, high), (low, high)):
        assert Cap(limit, budget).within(Cap(low, low)) is (limit is budget is low)


def test_caps_are_compared_whole() -> None:
    caps_are_compared_whole()


def caps_keep_their_budgets() -> None:
    """A limit that allows more than its budget says is no cap, whatever else the row of a ledger says."""
    for accountant in ACCOUNTANTS:
        sound = cap_of(accountant, 2, Fraction(1, 10**6))
        check_cap(accountant, sound)
        for name in ("epsilon", "delta", "rho"):
            more = getattr(sound.limit, name) * 101 // 100 + 1
            higher = replace(sound, limit=replace(sound.limit, **{name: more}))
            assert code_of(lambda a=accountant, cap=higher: check_cap(a, cap)) != "no error", (accountant, name)  # type: ignore[misc]


def test_caps_keep_their_budgets() -> None:
    caps_keep_their_budgets()


def test_epsilon_delta_and_rho_are_capped_apart() -> None:
    amounts_are_capped_apart()


def test_prices_are_rounded_up_and_caps_down() -> None:
    third, tiny = Fraction(1, 3), Fraction(1, 10**400)
    assert Amounts.up(third, third, third) == Amounts(*[UNIT // 3 + 1] * 3)
    assert Amounts.down(third, third, third) == Amounts(*[UNIT // 3] * 3)
    assert Amounts.up(tiny, Decimal("1e-400"), tiny) == Amounts(1, 1, 1)
    assert Amounts.up(0.1).epsilon == UNIT // 10  # a float is the decimal that it prints
    assert cap_of("pure", third).limit.epsilon == UNIT // 3


@given(st.fractions(min_value=0, max_value=1000), st.fractions(min_value=0, max_value=1000))
def test_the_sum_of_prices_is_never_below_the_price_of_the_sum(x: Fraction, y: Fraction) -> None:
    total = Amounts.up(x).epsilon + Amounts.up(y).epsilon
    assert x + y <= Fraction(total, UNIT) < x + y + Fraction(2, UNIT)


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "delta", "rho"])
def test_hostile_amounts_are_invalid(name: str, value: Any) -> None:
    for make in (Amounts.up, Amounts.down, Amounts):
        with pytest.raises(Invalid):
            make(**{name: value})
    with pytest.raises(Invalid):
        cap_of("pure", **{"epsilon": 1, "delta": 0, name: value}) if name != "rho" else Amounts(rho=value)


@pytest.mark.parametrize("value", [*HOSTILE, 0, 0.0, 1e-400, Fraction(1, 10**400)], ids=repr)
def test_no_event_is_had_for_a_hostile_price(value: Any) -> None:
    for accountant in ("pure", "zcdp"):
        with pytest.raises(Invalid):
            price_of(events.Laplace(10), value, 0, accountant)
    if value:
        with pytest.raises(Invalid):
            price_of(events.Laplace(10), 1, value if value != Fraction(1, 10**400) else -1, "pure")


@pytest.mark.parametrize("delta", [1, 2, 1.0, Fraction(UNIT - 1, UNIT) + Fraction(1, 2 * UNIT)])
def test_a_delta_of_one_is_invalid(delta: Any) -> None:
    with pytest.raises(Invalid, match="delta"):
        Amounts.up(1, delta)
    with pytest.raises(Invalid, match="delta"):
        price_of(events.Laplace(10), 1, delta, "pure")


def test_units_are_integers_only() -> None:
    for value in (1.0, np.int64(1), Fraction(1), "1"):
        with pytest.raises(Invalid):
            Amounts(value)  # type: ignore[arg-type]


def test_nothing_is_free_but_what_costs_nothing() -> None:
    free = events.Laplace(10, 0)
    assert price_of(free, 0, 0, "pure") == price_of(free, 0, 0, "zcdp") == NOTHING
    assert price_of(events.Composed(()), 0, 0, "pure") == NOTHING
    for accountant in ("pure", "zcdp"):
        with pytest.raises(Invalid):
            price_of(events.Laplace(10), 0, 0, accountant)


def price_must_cover_its_event() -> None:
    for event, epsilon, delta in (
        (events.DiscreteLaplace(10), Fraction(1, 10), 0),
        (events.Repeated(events.DiscreteLaplace(10), 5), Fraction(1, 2), 0),
        (DiscreteGaussian.for_budget(1, 1e-6).event(), Fraction(1), Fraction(1, 10**6)),
    ):
        assert price_of(event, epsilon, delta, "pure") == Amounts.up(epsilon, delta)
        with pytest.raises(Invalid, match="costs more"):
            price_of(event, epsilon * Fraction(99, 100), delta, "pure")


def test_a_pure_price_covers_its_event_or_is_refused() -> None:
    price_must_cover_its_event()


CONCENTRATED = [
    (events.Gaussian(5), 0.02, 0),
    (events.DiscreteGaussian(10, 2), 0.02, 0),
    (events.Laplace(10), 0.1 + np.exp(-0.1) - 1, 0),
    (events.DiscreteLaplace(10), 0.1 * np.tanh(0.05), 0),
    (events.RandomizedResponse(1), np.tanh(0.5), 0),
    (events.Approximate(1, Fraction(1, 10**9)), np.tanh(0.5), 1e-9),
    (events.ZeroConcentrated(Fraction(1, 100)), 0.01, 0),
    (events.Repeated(events.Composed((events.Gaussian(5), events.Laplace(10, 0))), 3), 0.06, 0),
]


@pytest.mark.parametrize(("event", "rho", "delta"), CONCENTRATED)
def test_concentrated_prices_are_those_of_the_theorems_rounded_up(event: Any, rho: float, delta: float) -> None:
    exact = spent_by(event)
    assert abs(float(exact.rho) - rho) < 1e-12 and float(exact.delta) == delta
    price = price_of(event, 5, Fraction(1, 10**6), "zcdp")
    assert price == Amounts.up(0, Fraction(1, 10**6), exact.rho)
    assert Fraction(price.rho - 1, UNIT) < exact.rho <= Fraction(price.rho, UNIT)
    with pytest.raises(Invalid):
        price_of(event, Fraction(1, 10**3), Fraction(1, 10**6), "zcdp")


def test_an_event_without_a_theorem_has_no_concentrated_price() -> None:
    with pytest.raises(Refused) as refusal:
        price_of(events.Sampled(Fraction(1, 100), events.Gaussian(5)), 5, Fraction(1, 10**6), "zcdp")
    assert refusal.value.code == "no-filter"


def test_a_delta_of_the_event_is_paid_for() -> None:
    with pytest.raises(Invalid, match="costs more"):
        price_of(events.Approximate(1, Fraction(1, 10**6)), 5, Fraction(1, 10**7), "zcdp")


def test_the_cap_of_the_concentrated_accountant_is_that_of_its_filter() -> None:
    found, exact = cap_of("zcdp", 1, 2e-7), ConcentratedFilter.for_budget(1, 2e-7)
    assert found.limit == Amounts.down(0, exact.delta_spent, exact.rho)
    assert found.budget == Amounts.down(1, 2e-7)
    head = first(creation(1, 2e-7, "zcdp"))
    price = price_of(events.Gaussian(50), 1, 0, "zcdp")
    event, n = events.Gaussian(50).to_json(), 0
    with pytest.raises(Refused):
        while True:
            head = head_of(charged(head, request(f"{n}", price=price, event=event)))
            n += 1
    assert n == int(exact.rho * 2 * 50**2)


def test_a_price_of_the_other_accountant_is_invalid() -> None:
    for accountant, price in (("pure", Amounts(1, 0, 1)), ("zcdp", Amounts(1, 0, 1))):
        with pytest.raises(Invalid, match="no place"):
            charged(first(creation(1, 1e-6, accountant)), request("k", price=price))


UNITS = st.integers(0, 10)


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
@given(price=st.tuples(UNITS, UNITS), room=st.tuples(UNITS, UNITS))
def test_an_account_affords_what_its_filter_admits(
    accountant: str, price: tuple[int, int], room: tuple[int, int]
) -> None:
    """The cap is reached exactly, in either amount, or missed by some units; the filter's theorem is about the same cap."""
    cap = cap_of(accountant, 1, Fraction(1, 10**6))
    epsilon, delta, rho = cap.limit.exact
    before = [
        most - more
        for most, more in zip(cap.limit, (room[0] * bool(epsilon), room[1], room[0] * bool(rho)), strict=True)
    ]
    account = Account(cap, Amounts(*before))
    more = Amounts(price[0], price[1]) if accountant == "pure" else Amounts(0, price[1], price[0])
    first, second = (account.spent.exact, more.exact)
    if accountant == "pure":
        admitted = PureFilter(epsilon, delta).admits(Spent(*first[:2]), Spent(*second[:2]))
    else:
        sides = [SpentConcentrated(each[2], each[1]) for each in (first, second)]
        admitted = ConcentratedFilter(*cap.budget.exact[:2], rho, delta).admits(*sides)
    assert account.affords(more) == admitted == (price[0] <= room[0] and price[1] <= room[1])


# Two caps, names and keys.


def both_caps_are_kept() -> None:
    head, ana = first(creation(1)), Account(cap("1/2"))
    row = charged(head, request("k", "1/2", "ana"), ana)
    assert row.account is not None and row.account.spent == row.book.account.spent == Amounts(UNIT // 2)
    assert code_of(lambda: charged(head_of(row), request("l", "1/10", "ana"), row.account)) == "analyst-budget"
    bo = Account(cap(5))
    assert code_of(lambda: charged(head_of(row), request("l", "6/10", "bo"), bo)) == "budget"
    assert charged(head_of(row), request("l", "1/2")).account is None


def test_a_charge_is_within_both_caps_or_is_not_made() -> None:
    both_caps_are_kept()


def test_unknown_and_removed_analysts_are_refused() -> None:
    removed = Account(cap(1), active=False)
    for account in (None, removed):
        assert (
            code_of(lambda account=account: charged(first(), request("k", analyst="eve"), account)) == "analyst-unknown"
        )


def same_key_same_request() -> None:
    head, ana = first(creation(5)), Account(cap(1))
    asked = request("k", "1/10", "ana")
    row = charged(head, asked, ana)
    again = reserve(head_of(row), row.account, Entry(row), None, asked, 0)
    assert isinstance(again, Entry) and again.ended is None
    bo = Account(cap(1))
    for other, account in (
        (request("k", "1/10", "bo"), bo),
        (request("k", "1/10"), None),
        (request("k", "2/10", "ana"), ana),
        (request("k", "1/10", "ana", label="SELECT 1"), ana),
        (request("k", "1/10", "ana", question="another"), ana),
        (request("k", "1/10", "ana", data_version="2"), ana),
        (request("k", "1/10", "ana", event=events.Laplace(10).to_json()), ana),
    ):
        for entry in (Entry(row), Entry(row, Settled(2, "", 0, "")), Entry(row, Failed(2))):
            found = code_of(lambda e=entry, o=other, a=account: reserve(head_of(row), a, e, None, o, 0))
            assert found == "key-reused"


def test_a_key_names_one_request_of_one_analyst() -> None:
    same_key_same_request()


def test_the_label_is_one_of_many_ways_to_write_a_question() -> None:
    asked = request("k", label="SELECT 1", question="hash")
    row = charged(first(), asked)
    again = reserve(head_of(row), None, Entry(row), None, request("k", label="select  1", question="hash"), 0)
    assert isinstance(again, Entry)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": ""},
        {"key": 7},
        {"key": "a\nb"},
        {"key": "a\0b"},
        {"key": "x" * 201},
        {"key": "\ud800"},
        {"analyst": ""},
        {"analyst": True},
        {"price": 0.1},
        {"price": None},
        {"label": 1},
        {"label": "x" * 70_000},
        {"label": "\udcff"},
        {"event": "pure"},
        {"event": {"epsilon": nan}},
        {"event": {"epsilon": {1, 2}}},
        {"data_version": ""},
        {"data_version": 1},
    ],
    ids=lambda wrong: repr(wrong)[:30],
)
def test_what_is_no_request_is_invalid(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        replace(request("k"), **wrong)


def test_failures_are_counted_and_stop_the_data_set() -> None:
    row = charged(first(creation(100)), request("k"))
    for n in range(1, MOST_FAILURES + 1):
        row = advance(head_of(row), Failed(2), 0)
        assert row.book.failures == n and row.book.account.spent == Amounts.up(0.1)
        expected = "stopped" if n == MOST_FAILURES else "no error"
        assert code_of(lambda row=row: charged(head_of(row), request("l"))) == expected


def failures_of_one_suspend_that_one() -> None:
    """The third of an analyst suspends them and nobody else; resumed, they have three more."""
    for name in ("ana", "bo"):
        row = advance(first(creation(100)), AnalystAdded(cap(50)), 0, name)
        account = row.account
        for n in range(1, 2 * MOST_OF_ONE + 1):
            reserved = reserve(head_of(row), account, None, None, request(f"k{n}", analyst=name), 0)
            assert isinstance(reserved, Row)
            row = advance(head_of(reserved), Failed(reserved.sequence), 0, name, reserved.account)
            account = row.account
            assert account is not None and row.book.failures == n and account.failures == (n - 1) % MOST_OF_ONE + 1
            if n % MOST_OF_ONE == 0:
                ask = (head_of(row), account, None, None, request("k", analyst=name), 0)
                assert code_of(lambda ask=ask: reserve(*ask)) == "suspended"
                other = (head_of(row), Account(cap(50)), None, None, request("k", analyst="cy"), 0)
                assert isinstance(reserve(*other), Row)
                row = advance(head_of(row), Resumed("looked into it"), 0, name, account)
                account = row.account
                assert row.book.failures == n and row.book.account.spent == reserved.book.account.spent


def test_failures_of_one_analyst_suspend_that_one() -> None:
    failures_of_one_suspend_that_one()


def resumed_goes_on() -> None:
    row = charged(first(creation(100)), request("k"))
    for _ in range(MOST_FAILURES):
        row = advance(head_of(row), Failed(2), 0)
    spent = row.book.account.spent
    assert code_of(lambda: charged(head_of(row), request("l"))) == "stopped"
    row = advance(head_of(row), Resumed("the disk was full"), 0)
    assert row.book.failures == 0 and row.book.account.spent == spent
    assert charged(head_of(row), request("l")).book.failures == 0


def test_a_data_set_that_stopped_goes_on_once_it_is_resumed() -> None:
    resumed_goes_on()


@pytest.mark.parametrize("reason", ["", "a\nb", "\ud800", "x" * 1001, None, 7])
def test_a_reason_is_a_text(reason: Any) -> None:
    with pytest.raises(Invalid):
        Resumed(reason)


def test_accounts_of_release_0_1_are_written_as_they_were() -> None:
    """Whoever never failed is written without a count, so that rows of release 0.1 are computed again to the byte."""
    assert set(Account(cap(1)).to_json()) == {"active", "cap", "spent"}
    assert Account(cap(1), failures=2).to_json()["failures"] == 2


def test_what_failed_is_not_computed_again() -> None:
    row = charged(first(), request("k"))
    entry = Entry(row, Failed(2))
    assert code_of(lambda: reserve(head_of(row), None, entry, None, request("k"), 0)) == "failed"
    assert code_of(lambda: settle(head_of(row), entry, b"", 0)) == "failed"


def first_settlement_wins() -> None:
    row = charged(first(), request("k"))
    settled = settle(head_of(row), Entry(row), b"42", 0)
    assert isinstance(settled, Row) and isinstance(settled.act, Settled)
    assert settle(head_of(settled), Entry(row, settled.act), b"43", 0) is settled.act
    assert settled.book == row.book


def test_the_first_settlement_wins() -> None:
    first_settlement_wins()


def test_another_version_of_the_data_is_not_read() -> None:
    assert code_of(lambda: charged(first(), request("k", data_version="2"))) == "data-version"


def shared_answers_cost_the_analyst_only() -> None:
    row = charged(first(creation(1)), request("k", "7/10", question="q"))
    bo = Account(cap(1))
    got = reserve(head_of(row), bo, None, row, request("l", "7/10", "bo", question="q"), 0)
    assert isinstance(got, Row) and isinstance(got.act, Shared) and got.account is not None
    assert got.book.account.spent == Amounts.up(0.7) == got.account.spent
    small = Account(cap("1/2"))
    found = code_of(lambda: reserve(head_of(row), small, None, row, request("l", "7/10", "bo", question="q"), 0))
    assert found == "analyst-budget"
    own = reserve(head_of(row), None, None, row, request("m", "1/10", question="q"), 0)
    assert isinstance(own, Row) and isinstance(own.act, Reserved)  # the owner's own answer is not shared with the owner


def test_a_shared_answer_costs_the_analyst_in_full_and_the_data_set_nothing() -> None:
    shared_answers_cost_the_analyst_only()


def test_a_higher_cap_is_an_explicit_act() -> None:
    check_lower(cap("1/2"), cap(1), higher=False)
    check_lower(cap(2), cap(1), higher=True)
    for more in (cap(2), cap(1, "1/10"), Cap(Amounts(UNIT, 10**9, 1), cap(1).budget)):
        assert code_of(lambda more=more: check_lower(more, cap(1), higher=False)) == "cap-higher"


def test_who_comes_back_has_still_spent() -> None:
    account = Account(cap(1)).charged(Amounts(7))
    gone = advance(first(), AnalystRemoved(), 0, "ana", account).account
    assert gone is not None and not gone.active
    back = advance(first(), AnalystAdded(cap("1/2")), 0, "ana", gone).account
    assert back == Account(cap("1/2"), Amounts(7))


# Chains.


def honest(made: Creation | None = None) -> list[Row]:
    """A ledger with a row of each kind."""
    rows = [advance(None, made or creation(3), 0)]
    accounts: dict[str, Account] = {}

    def then(act: Act, analyst: str | None = None) -> Row:
        row = advance(head_of(rows[-1]), act, len(rows), analyst, accounts.get(analyst or ""))
        if analyst is not None and row.account is not None:
            accounts[analyst] = row.account
        rows.append(row)
        return row

    def ask(key: str, analyst: str | None = None) -> Row:
        asked = request(key, "1/10", analyst, question="q")
        row = charged(head_of(rows[-1]), asked, accounts.get(analyst or ""))
        return then(row.act, analyst)

    then(AnalystAdded(cap(1)), "ana")
    then(AnalystAdded(cap(2)), "bo")
    one = ask("k1", "ana")
    assert isinstance(one.act, Reserved)
    then(Settled(one.sequence, hash_of(b"42"), 2, topic_of_act(one.act)))
    act = one.act
    then(Shared("k2", act.question, "", act.event, act.price, "1", one.sequence), "bo")
    two = ask("k3")
    then(Failed(two.sequence))
    then(Capped(cap(2)))
    then(Capped(cap("1/2")), "bo")
    then(AnalystRemoved(), "ana")
    then(DataChanged("2"))
    then(Accepted(99, "0" * 64))
    then(Accepted(99, "0" * 64, "the disk was replaced"))
    return rows


def replayed(rows: list[Row]) -> Replay:
    again = Replay(check_act)
    for row in rows:
        body = row.body()
        again.add(body, hash_of(body))
    return again


def rechained(rows: list[Row]) -> list[Row]:
    """The rows with hashes and numbers as someone would mend them who wants to hide a change."""
    mended: list[Row] = []
    for i, row in enumerate(rows):
        previous = hash_of(mended[-1].body()) if mended else row.previous
        mended.append(replace(row, previous=previous, sequence=i + 1))
    return mended


def test_an_honest_ledger_replays() -> None:
    for row in honest():
        assert Row.parse(row.body()) == row
    totals = replayed(honest()).standings()
    assert totals[None].spent == Amounts.up(0.2) and totals[None].failures == 1
    assert totals["ana"].spent == totals["bo"].spent == Amounts.up(0.1)


def document(rows: list[Row]) -> dict[str, Any]:
    kept = [{"body": row.body().decode(), "hash": hash_of(row.body())} for row in rows]
    return {"format": 1, "rows": kept}


def test_an_export_is_replayed_without_data_or_answers() -> None:
    text = json.dumps(document(honest()))
    assert replay(json.loads(text))[None].spent == Amounts.up(0.2)
    for wrong in ({}, {"format": 1, "rows": []}, {"format": 1, "rows": [{}]}, {"format": 1, "rows": [1]}):
        with pytest.raises(Fault):
            replay(wrong)
    with pytest.raises(Refused) as refusal:
        replay({**document(honest()), "format": FORMAT + 1})
    assert refusal.value.code == "ledger-newer"


def the_reason_of_accepting_is_kept() -> None:
    """Rows that were written before there were reasons have the bytes that they had."""
    before, after = (each for each in honest() if isinstance(each.act, Accepted))
    parts = [json.loads(row.body())["act"] for row in (before, after)]
    assert parts[0] == {"marked": 99, "hash": "0" * 64} and parts[1]["reason"] == "the disk was replaced"
    for row in (before, after):
        assert Row.parse(row.body()) == row


def test_the_reason_of_accepting_is_kept_and_older_rows_stay_what_they_were() -> None:
    the_reason_of_accepting_is_kept()


def without_a_reason_spelt_out() -> None:
    """There is one way to write a row: a reason of null is not the row without one."""
    rows = honest()
    written = [json.loads(row.body()) for row in rows]
    written[-2]["act"]["reason"] = None
    body = canonical(written[-2])
    again = replayed(rows[:-2])
    with pytest.raises(Fault):
        again.add(body, hash_of(body))


def test_a_row_without_a_reason_is_written_in_one_way() -> None:
    without_a_reason_spelt_out()


def any_field_is_in_the_hash() -> None:
    for row in honest():
        for each in fields(row):
            other = replace(row, **{each.name: getattr(honest(creation(4))[-3], each.name)})
            if other != row:
                assert hash_of(other.body()) != hash_of(row.body())


def test_every_field_is_in_the_hash() -> None:
    any_field_is_in_the_hash()


def a_lie_is_found(change: Callable[[list[Row]], list[Row]]) -> None:
    replayed(honest())
    with pytest.raises(Fault) as fault:
        replayed(rechained(change(honest())))
    assert fault.value.code == "ledger-broken"


def altered(at: int, **more: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows[:at], replace(rows[at], **more), *rows[at + 1 :]]


def acted(at: int, **more: Any) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows[:at], replace(rows[at], act=replace(rows[at].act, **more)), *rows[at + 1 :]]


def without(at: int) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows[:at], *rows[at + 1 :]]


LIES: dict[str, Callable[[list[Row]], list[Row]]] = {
    "lower price": acted(3, price=Amounts.up(0.05)),
    "no price": acted(3, price=NOTHING),
    "dearer event": acted(3, event=events.Pure(2).to_json()),
    "dearer event of what was never settled": acted(6, event=events.Pure(2).to_json()),
    "another version of what was never settled": acted(6, version="0"),
    "unknown event": acted(3, event={"event": "nonesuch"}),
    "no event": acted(3, event={}),
    "lower total": lambda rows: altered(6, book=replace(rows[6].book, account=Account(cap(3))))(rows),
    "lower total of the analyst": altered(3, account=Account(cap(1))),
    "row left out": without(3),
    "last reservation left out": without(6),
    "row twice": lambda rows: [*rows[:4], *rows[3:]],
    "settled twice": lambda rows: [*rows[:5], *rows[4:]],
    "settled the wrong one": acted(4, reservation=7),
    "settled another topic": acted(4, topic="0" * 64),
    "shared what is not settled": acted(5, source=7),
    "failed what was not reserved": acted(7, reservation=3),
    "failed for somebody else": altered(7, analyst="eve"),
    "fewer failures": lambda rows: altered(7, book=rows[6].book)(rows),
    "higher cap in the total": lambda rows: altered(8, book=replace(rows[8].book, account=rows[7].book.account))(rows),
    "cap beyond its budget": acted(8, cap=Cap(cap(5).limit, cap(2).budget)),
    "another accountant": acted(0, accountant="zcdp"),
    "version back": lambda rows: altered(11, book=rows[10].book)(rows),
    "second creation": lambda rows: [*rows, replace(rows[0], sequence=15)],
    "no creation": lambda rows: rows[1:],
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_even_with_all_hashes_mended(lie: str) -> None:
    a_lie_is_found(LIES[lie])


def shares_of(own: bool, settled: bool) -> list[Row]:
    """A ledger in which ana asks, is answered or not, and then ana or bo is given that answer."""
    rows = [advance(None, creation(3), 0)]
    accounts: dict[str, Account] = {}

    def then(act: Act, analyst: str | None = None) -> Row:
        row = advance(head_of(rows[-1]), act, 0, analyst, accounts.get(analyst or ""))
        if analyst is not None and row.account is not None:
            accounts[analyst] = row.account
        rows.append(row)
        return row

    for name in ("ana", "bo"):
        then(AnalystAdded(cap(1)), name)
    one = then(charged(head_of(rows[-1]), request("k", "1/10", "ana"), accounts["ana"]).act, "ana")
    assert isinstance(one.act, Reserved)
    if settled:
        then(Settled(one.sequence, hash_of(b"42"), 2, topic_of_act(one.act)))
    act = one.act
    then(Shared("k2", act.question, "", act.event, act.price, "1", one.sequence), "ana" if own else "bo")
    return rows


def only_settled_answers_of_others_are_shared(own: bool, settled: bool) -> None:
    replayed(shares_of(own=False, settled=True))
    with pytest.raises(Fault, match="not there to be shared"):
        replayed(shares_of(own, settled))


def nothing_is_asked_after_a_stop(analyst: str | None) -> None:
    """A ledger in which somebody asked on, after so many failures as stop the data set or suspend an analyst, does not pass."""
    most = MOST_FAILURES if analyst is None else MOST_OF_ONE
    rows, accounts = [advance(None, creation(3), 0)], dict[str, Account]()

    def then(act: Act, who: str | None = analyst) -> Row:
        row = advance(head_of(rows[-1]), act, 0, who, accounts.get(who or ""))
        if who is not None and row.account is not None:
            accounts[who] = row.account
        rows.append(row)
        return row

    if analyst is not None:
        then(AnalystAdded(cap(1)))
    first = charged(head_of(rows[-1]), request("k", "1/100", analyst), accounts.get(analyst or "")).act
    assert isinstance(first, Reserved)
    for i in range(most):
        then(Failed(then(replace(first, key=f"{first.key}{i}")).sequence))
    replayed(rows)
    then(first)
    with pytest.raises(Fault, match="was written after"):
        replayed(rows)


@pytest.mark.parametrize("analyst", [None, "ana"])
def test_nothing_is_asked_after_a_stop(analyst: str | None) -> None:
    nothing_is_asked_after_a_stop(analyst)


def every_use_is_paid_for() -> None:
    """What an event costs in ρ and in δ grows with the number of its uses."""
    for leaf in (
        events.Gaussian(5),
        events.Approximate(Fraction(1, 10), Fraction(1, 10**9)),
        events.Pure(Fraction(1, 7)),
    ):
        one = spent_by(leaf)
        for times in (1, 2, 5):
            many = spent_by(events.Repeated(leaf, times))
            assert (many.rho, many.delta) == (times * one.rho, times * one.delta)


def test_every_use_is_paid_for() -> None:
    every_use_is_paid_for()


def shared_answers_are_to_what_was_asked(**lie: str) -> None:
    """A ledger in which an answer is shared under a key that was used, or as one to another question, does not pass."""
    *rows, last = shares_of(own=False, settled=True)
    act, before = last.act, next(row.account for row in rows if row.analyst == "bo")
    replayed([*rows, advance(head_of(rows[-1]), act, 0, "bo", before)])
    with pytest.raises(Fault, match=r"key again|not there to be shared"):
        replayed([*rows, advance(head_of(rows[-1]), replace(act, **lie), 0, "bo", before)])  # type: ignore[arg-type]


def key_of_another_row() -> None:
    shared_answers_are_to_what_was_asked(key=next(row.key for row in shares_of(False, True) if row.key is not None))


def another_question() -> None:
    shared_answers_are_to_what_was_asked(question="another")


@pytest.mark.parametrize("lie", [key_of_another_row, another_question])
def test_shared_answers_are_to_what_was_asked(lie: Callable[[], None]) -> None:
    lie()


def only_reservations_are_settled() -> None:
    """What was shared has its answer already; a second one would be a release without a charge of the data set."""
    *_, before, shared = shares_of(own=False, settled=True)
    assert isinstance(shared.act, Shared)
    assert code_of(lambda: settle(head_of(shared), Entry(shared), b"43", 0)) == "reservation"
    assert code_of(lambda: settle(head_of(shared), Entry(before), b"43", 0)) == "reservation"


def test_only_reservations_are_settled() -> None:
    only_reservations_are_settled()


@pytest.mark.parametrize(("own", "settled"), [(True, True), (False, False), (True, False)])
def test_only_settled_answers_of_others_are_shared(own: bool, settled: bool) -> None:
    only_settled_answers_of_others_are_shared(own, settled)


def settled_after_accepting(made: Creation, reserved_before: bool) -> list[Row]:
    """A reservation, before or after an older ledger was accepted, that is settled afterwards."""
    rows = [advance(None, made, 0)]

    def then(act: Act) -> None:
        rows.append(advance(head_of(rows[-1]), act, 0))

    if not reserved_before:
        then(Accepted(9, "f" * 64))
    one = charged(head_of(rows[-1]), request("k", "1/10"))
    assert isinstance(one.act, Reserved)
    rows.append(one)
    if reserved_before:
        then(Accepted(9, "f" * 64))
    then(Settled(one.sequence, hash_of(b"42"), 2, topic_of_act(one.act)))
    return rows


def what_was_accepted_ends_what_was_open() -> None:
    """A ledger in which an open reservation went on after that is refused; release 0.1 let it."""
    replayed(settled_after_accepting(creation(3), reserved_before=False))
    replayed(settled_after_accepting(replace(creation(3), format=1), reserved_before=True))
    with pytest.raises(Fault, match="before an older ledger was accepted"):
        replayed(settled_after_accepting(creation(3), reserved_before=True))


def test_what_was_open_when_an_older_ledger_was_accepted_is_never_settled() -> None:
    what_was_accepted_ends_what_was_open()


def test_a_row_out_of_its_chain_is_found() -> None:
    rows = honest()
    for i in range(1, len(rows)):
        for wrong in (replace(rows[i], previous="1" * 64), replace(rows[i], sequence=i)):
            with pytest.raises(Fault):
                replayed([*rows[:i], wrong])


def test_events_under_another_relation_are_refused() -> None:
    book = first().book
    right = events.Under(events.Pure(Fraction(1, 10)), Relation(Adjacency.ADD_REMOVE, Unit.PERSON))
    wrong = events.Under(events.Pure(Fraction(1, 10)), Relation(Adjacency.REPLACE, Unit.PERSON))
    unit = events.Under(events.Pure(Fraction(1, 10)), Relation(Adjacency.ADD_REMOVE, Unit.ROW))
    assert str(right.relation) == RELATION
    for event, code in ((right, "no error"), (wrong, "relation"), (unit, "relation")):
        act = charged(first(), request("k", "1/10", event=event.to_json())).act
        assert code_of(lambda act=act: check_act(book, act)) == code


def test_random_bytes_are_no_row() -> None:
    rng = np.random.default_rng(7)
    body = bytearray(honest()[3].body())
    for _ in range(repeats(200)):
        at, to = int(rng.integers(len(body))), int(rng.integers(256))
        changed = bytes(body[:at] + bytes([to]) + body[at + 1 :])
        try:
            row = Row.parse(changed)
        except Fault:
            continue
        assert isinstance(row, Row)


def test_an_unlikely_price_is_still_checked_once() -> None:
    check_price.cache_clear()
    for _ in range(3):
        price_of(events.DiscreteLaplace(10), 1, 0, "pure")
    assert check_price.cache_info().misses == 1
