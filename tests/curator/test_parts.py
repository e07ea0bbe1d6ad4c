"""Budgets of parts of the people in a ledger: what is added up, what is refused, and what every kind of ledger keeps of it."""

import json
from typing import Any

import pytest

from discreet.curator.acts import Divided, Parted
from discreet.curator.amounts import UNIT, Amounts, Cap
from discreet.curator.ledger import advance
from discreet.curator.money import check_act
from discreet.curator.replay import replay
from discreet.curator.rows import canonical, hash_of
from discreet.errors import Fault, Invalid, Refused
from tests.curator import people_in_parts as model
from tests.curator.cases import SAID_BY, Place, cap, code_of, creation, granted, paid, place, request, set_parts
from tests.curator.people_in_parts import Ledger
from tests.curator.test_ledger import head_of
from tests.scale import repeats


@pytest.mark.parametrize("replaced", [False, True])
def test_what_is_spent_is_what_was_spent_on_whoever_met_most(replaced: bool) -> None:
    seen = {what for seed in range(repeats(60)) for what in model.everybody_is_followed(seed, replaced=replaced)}
    assert seen == {"data changed", "another column", "stale", "several parts"}


@pytest.mark.parametrize("replaced", [False, True])
def test_a_part_that_is_new_starts_from_the_largest_spending_of_any(replaced: bool) -> None:
    for seed in range(repeats(40)):
        model.nobody_meets_more_where_parts_are_added(seed, replaced=replaced)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_charge_is_taken_exactly_where_both_caps_hold(replaced: bool) -> None:
    taken, refused = zip(*(model.caps_hold(seed, replaced=replaced) for seed in range(repeats(60))), strict=True)
    assert sum(taken) > 0 and sum(refused) > 0


def test_a_part_that_met_what_it_may_not_is_closed() -> None:
    model.a_part_that_met_what_it_may_not_is_closed()


def test_what_is_left_of_the_data_set_for_a_part_is_what_a_question_there_may_cost() -> None:
    ledger = Ledger.begun(False, 2)
    ledger.charge("a", Amounts(UNIT))
    ledger.charge(None, Amounts(UNIT // 2))
    with pytest.raises(Refused, match=r"and epsilon 1\.5, delta 0\.9 is left of the data set for the part 'b'"):
        ledger.charge("b", Amounts(2 * UNIT))
    ledger.charge("b", Amounts(3 * UNIT // 2))


def test_an_analyst_pays_the_whole_price_in_every_part() -> None:
    model.analysts_pay_the_whole_price()


def in_part(key: str, name: str, epsilon: Any = "1/2", analyst: str | None = None, **more: Any) -> Any:
    return request(key, epsilon, analyst, part=paid(name), **more)


def kept_in_parts(spot: Place) -> None:
    """In every kind of ledger: charged, found again, verified, replayed from an export; one key is of one part."""
    store = spot.open(creation(2))
    set_parts(store, "north", "south")
    first = granted(store.reserve(in_part("k", "north")))
    granted(store.reserve(in_part("l", "south", question="of others")))
    assert code_of(lambda: store.reserve(in_part("k", "south"))) == "key-reused"
    assert code_of(lambda: store.reserve(request("k", "1/2"))) == "key-reused"
    assert code_of(lambda: store.reserve(in_part("m", "east"))) == "part"
    assert code_of(lambda: store.reserve(in_part("m", "north", "6/10"))) == "part-budget"
    store.settle(first, b"answer")
    again = spot.open()
    for each in (store, again):
        totals = each.standing()
        assert totals.spent.epsilon == UNIT // 2 and totals.parts is not None
        assert [account.spent.epsilon for _, account in totals.parts.accounts] == [UNIT // 2] * 2
        assert each.verify().parts == totals.parts
    assert replay(again.export())[None].parts == again.standing().parts
    again.change_data("2")
    assert code_of(lambda: store.reserve(in_part("n", "north", "1/10"))) == "data-version"
    granted(store.reserve(in_part("n", "north", "1/10", data_version="2")))
    assert again.standing().spent.epsilon == 6 * UNIT // 10
    again.verify()


def test_rows_with_parts_are_kept_found_verified_and_replayed(spot: Place) -> None:
    kept_in_parts(spot)


def test_an_answer_is_shared_with_whoever_asks_about_the_same_people_alone() -> None:
    with place() as spot:
        store = spot.open(creation(2), share_answers=True)
        set_parts(store, "north", "south")
        store.add_analyst("ana", cap(1))
        store.settle(granted(store.reserve(in_part("k", "north"))), b"north")
        granted(store.reserve(in_part("k", "south", analyst="ana")))
        found = store.reserve(in_part("l", "north", analyst="ana"))
        assert getattr(found, "answer", None) == b"north"
        assert store.standing("ana").spent.epsilon == UNIT and store.standing().spent.epsilon == UNIT // 2


def test_shares_that_are_reserved_and_parts_exclude_each_other() -> None:
    ledger = Ledger.begun(False)
    with pytest.raises(Refused, match="parts"):
        advance(head_of(ledger.rows[-1]), Divided(Amounts()), 0)
    with place() as spot:
        store = spot.open(creation(2))
        store.share("reserved")
        assert code_of(lambda: set_parts(store, "north", "south")) == "parts"


def test_a_row_that_a_part_did_not_pay_for_is_found() -> None:
    ledger = Ledger.begun(False, 2, 1)
    assert ledger.ask("a", Amounts(UNIT)) and ledger.ask("b", Amounts(UNIT))
    rows = [{"body": row.body().decode(), "hash": head_of(row).hash} for row in ledger.rows]
    replay({"format": 2, "rows": rows})
    body = json.loads(rows[-1]["body"])
    for part in (["visits", "region", "", "c"], ["visits", "ward", "", "b"], None):
        changed = body | {"act": {name: each for name, each in body["act"].items() if name != "part"}}
        if part is not None:
            changed["act"]["part"] = part
        bad = canonical(changed)
        with pytest.raises(Fault):
            replay({"format": 2, "rows": [*rows[:-1], {"body": bad.decode(), "hash": hash_of(bad)}]})


def test_a_budget_of_a_part_is_one_that_its_cap_keeps() -> None:
    ledger = Ledger.begun(False, 2, 1)
    book = ledger.rows[-1].book
    check_act(book, Parted(*SAID_BY, (("north", cap(1)),)))
    with pytest.raises(Invalid, match="the budget itself"):
        check_act(book, Parted(*SAID_BY, (("north", cap(1)), ("south", Cap(cap(2).limit, cap(1).budget)))))
    for names in ((), ("b", "a"), ("a", "a"), ("",)):
        with pytest.raises(Invalid):
            Parted(*SAID_BY, tuple((name, cap(1)) for name in names))


def test_rows_with_parts_are_written_as_they_were() -> None:
    """Ledgers are kept for good: what their rows hold never changes. The hash of the last stands for all before it."""
    ledger = Ledger.begun(True, 2, 1)
    assert ledger.ask("a", Amounts(UNIT // 2))
    act = json.loads(ledger.rows[-1].body())["act"]
    assert act["part"] == ["visits", "region", "", "a"]
    ledger.change_data()
    assert ledger.ask("b", Amounts(UNIT // 4)) and ledger.ask(None, Amounts(UNIT // 4))
    parts = json.loads(ledger.rows[-1].body())["book"]["parts"]
    spent = {name: each["spent"][0] / UNIT for name, each in parts["accounts"].items()}
    assert (spent, parts["carried"], parts["said_by"]) == (
        {"a": 0.5, "b": 0.75, "c": 0.5},
        [UNIT // 2, 0, 0],
        ["visits", "region", ""],
    )
    assert head_of(ledger.rows[-1]).hash == "22e41cf32f562c06a4fe06bf4afd571e5475282b8f72d4b223c1eedf9be643de"
