"""Reserved shares: the caps of analysts and what is free add up to the total, and nobody is refused for what another spent."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from discreet import Curator
from discreet.curator.acts import AnalystAdded, Creation, Divided
from discreet.curator.amounts import Amounts, Cap
from discreet.curator.ledger import advance
from discreet.curator.money import cap_of
from discreet.curator.replay import replay
from discreet.curator.request import Request, Stored
from discreet.curator.rows import Row
from discreet.curator.store import Store
from discreet.errors import DiscreetError, Fault, Refused
from discreet.privacy import events
from tests.curator.cases import RELATION, code_of, place, request
from tests.curator.test_ledger import head_of, replayed
from tests.scale import repeats

NAMES = ("ana", "bo", "cy")
PLANNED = Fraction(1, 10**6)
LIMITS = {"pure": (Fraction(3), PLANNED), "zcdp": (Fraction(3), 10 * PLANNED)}


def cap(accountant: str, epsilon: object, delta: Fraction = PLANNED / 4) -> Cap:
    return cap_of(accountant, Fraction(str(epsilon)), delta)


def made(accountant: str) -> Creation:
    return Creation(accountant, cap_of(accountant, *LIMITS[accountant]), RELATION)


def asking(accountant: str, key: str, size: int, who: str | None, what: str) -> Request:
    """A question whose price is a share of the least cap, so that some fit and some do not."""
    if accountant == "pure":
        return request(key, Fraction(size, 7), who, question=what)
    rho = Fraction(size, 300)
    return Request(
        key, who, Amounts.up(0, 0, rho), events.ZeroConcentrated(rho).to_json(), "SELECT", "1", question=f"{what}{size}"
    )


@dataclass
class Step:
    """Something that somebody does."""

    who: str | None
    what: str
    size: int
    key: str
    settled: bool = True


def outcome(store: Store, accountant: str, step: Step) -> str:
    """What whoever took the step is told, in full."""
    try:
        if step.what == "ask":
            found = store.reserve(asking(accountant, step.key, step.size, step.who, "q"))
            if not isinstance(found, Stored) and step.settled:
                store.settle(found, b"answer")
            left = store.standing(step.who)
            return f"granted; {left.spent}; {left.free}"
        assert step.who is not None
        if step.what == "cap":
            store.set_cap(cap(accountant, Fraction(step.size, 4)), step.who, higher=True)
        elif step.what == "remove":
            store.remove_analyst(step.who)
        else:
            store.add_analyst(step.who, cap(accountant, Fraction(step.size, 4)), higher=True)
    except DiscreetError as error:
        return f"{error.code}: {error.message} {error.hint}"
    return "done"


def steps(chance: random.Random, who: Sequence[str | None], count: int, acts: Sequence[str]) -> list[Step]:
    return [
        Step(
            chance.choice(who),
            chance.choice(acts),
            chance.randint(1, 5),
            f"k{chance.randint(0, 5)}",
            chance.random() < 0.8,
        )
        for _ in range(count)
    ]


def merged(chance: random.Random, one: list[Step], other: list[Step]) -> list[tuple[bool, Step]]:
    """The steps of both, in one order; True for those of the first."""
    left, right, found = list(one), list(other), []
    while left or right:
        first = bool(left) and (not right or chance.random() < len(left) / (len(left) + len(right)))
        found.append((first, (left if first else right).pop(0)))
    return found


def nobody_sees_another(accountant: str, seed: int, share_answers: bool) -> list[str]:
    """What an analyst is told is the same whatever the others and the owner do: none of it, or any mixture."""
    chance = random.Random(seed)
    mine = steps(chance, ["ana"], 12, ["ask"])
    acts = ["ask", "ask", "ask", "cap", "remove", "add"]
    told = []
    for round_ in range(3):
        others = [] if not round_ else steps(chance, ["bo", "cy"], 15, acts) + steps(chance, [None], 10, ["ask"])
        chance.shuffle(others)
        with place() as spot:
            store = spot.open(made(accountant), share_answers=share_answers)
            store.share("reserved")
            for name in NAMES:
                store.add_analyst(name, cap(accountant, "0.75"))
            heard = [(own, outcome(store, accountant, step)) for own, step in merged(chance, mine, others)]
            told.append([said for own, said in heard if own])
            check_sums(store)
            store.verify()
            replay(store.export())
    assert told[0] == told[1] == told[2]
    return told[0]


def check_sums(store: Store) -> None:
    """Spent, set aside and free are the total; and what is set aside is at least what the analysts may still spend."""
    totals = store.standing()
    assert totals.aside is not None
    for limit, gone, aside, free in zip(totals.cap, totals.spent, totals.aside, totals.free, strict=True):
        assert gone + aside + free == limit
    rest = [account.remaining for account in store.analysts().values() if account.active]
    for kept, *each in zip(totals.aside, *rest, strict=True):
        assert sum(each) <= kept


@pytest.mark.parametrize("share_answers", [False, True])
@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_what_an_analyst_is_told_is_the_same_whatever_others_do(accountant: str, share_answers: bool) -> None:
    heard = [said for seed in range(repeats(8)) for said in nobody_sees_another(accountant, seed, share_answers)]
    assert {said.partition(":")[0].partition(";")[0] for said in heard} == {"granted", "analyst-budget", "key-reused"}


def the_owner_leaves_the_shares_alone() -> None:
    """Whoever asks first: the owner takes all that is free, and every analyst still has their whole cap."""
    for accountant in ("pure", "zcdp"):
        with place() as spot:
            store = spot.open(made(accountant))
            store.share("reserved")
            for name in NAMES:
                store.add_analyst(name, cap(accountant, "0.75"))
            while outcome(store, accountant, Step(None, "ask", 1, f"o{store.standing().spent}")).startswith("g"):
                pass
            for name in NAMES:
                own = store.standing(name).cap
                price = Amounts(own.epsilon, 0, own.rho)
                event = events.Pure(price.exact[0]) if accountant == "pure" else events.ZeroConcentrated(price.exact[2])
                whole = Request("all", name, price, event.to_json(), "SELECT", "1")
                assert code_of(partial(store.reserve, whole)) == "no error"
                assert store.standing(name).remaining == Amounts(0, own.delta, 0)


def test_the_owner_leaves_the_shares_of_analysts_alone() -> None:
    the_owner_leaves_the_shares_alone()


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_what_does_not_fit_is_refused_with_what_is_free_and_nothing_changes(accountant: str) -> None:
    what_does_not_fit_is_refused(accountant)


def what_does_not_fit_is_refused(accountant: str = "pure") -> None:
    with place() as spot:
        store = spot.open(made(accountant))
        store.share("reserved")
        store.add_analyst("ana", cap(accountant, 2))
        free = store.standing().free
        tries: list[Callable[[], None]] = [
            lambda: store.add_analyst("bo", cap(accountant, "2.9")),
            lambda: store.set_cap(cap(accountant, "3.5"), "ana", higher=True),
            lambda: store.set_cap(cap_of(accountant, Fraction(1), PLANNED), higher=True),
        ]
        before = len(list(store.history()))
        for act in tries:
            with pytest.raises(Refused) as caught:
                act()
            assert caught.value.code == "shares" and "free" in caught.value.message + caught.value.hint
        assert len(list(store.history())) == before and store.standing().free == free
        store.remove_analyst("ana")
        assert store.standing().free == store.standing().cap
        store.add_analyst("bo", cap(accountant, "2.9"))


def totals_hold_what_is_spent_and_reserved() -> None:
    """A lower total is taken as long as it holds what was spent and what is set aside, together."""
    with place() as spot:
        store = spot.open(made("pure"))
        store.share("reserved")
        store.add_analyst("ana", cap_of("pure", Fraction(2), PLANNED / 4))
        store.reserve(request("a", "1/2", "ana"))
        store.reserve(request("b", "1/4"))
        for epsilon in ("2.9", "2.26", "2.25", "2.24", "1.51", "1.49", "0.7"):
            fits = Fraction(epsilon) >= Fraction(9, 4)
            lower = cap_of("pure", Fraction(epsilon), PLANNED)
            assert code_of(lambda lower=lower: store.set_cap(lower)) == ("no error" if fits else "shares")  # type: ignore[misc]


def test_a_lower_total_holds_what_is_spent_and_reserved() -> None:
    totals_hold_what_is_spent_and_reserved()


def test_removing_an_analyst_frees_what_they_did_not_spend() -> None:
    with place() as spot:
        store = spot.open(made("pure"))
        store.share("reserved")
        store.add_analyst("ana", cap("pure", 2))
        store.reserve(request("k", Fraction(1, 2), "ana"))
        assert store.standing().free.exact[0] == 1
        store.remove_analyst("ana")
        assert store.standing().free.exact[0] == Fraction(5, 2)


def test_shares_are_reserved_until_the_owner_says_otherwise_and_only_where_they_fit() -> None:
    with place() as spot:
        store = spot.open(made("pure"))
        store.add_analyst("ana", cap("pure", 2))
        store.add_analyst("bo", cap("pure", 2))
        assert code_of(lambda: store.share("reserved")) == "shares"
        store.remove_analyst("bo")
        store.share("reserved")
        assert code_of(lambda: store.share("common")) == "shares" and store.standing().shares == "reserved"
        again = spot.open()
        assert again.standing().shares == "reserved"
        again.share("common", common=True)
        assert again.standing().shares == "common" and replay(again.export())[None].shares == "common"


@pytest.mark.parametrize("said", [None, "common", "reserved"])
def test_an_edit_of_the_policy_does_not_end_reserved_shares(tmp_path: Path, said: str | None) -> None:
    def curator(shares: str | None, **more: object) -> Curator:
        people = {"id": list(range(50)), "x": [1] * 50}
        analysts = {"ana": {"epsilon": 1}, "bo": {"epsilon": 1}}
        given: dict[str, object] = {"epsilon": 3, "ledger": tmp_path / "l", "analysts": analysts, **more}
        return Curator({"t": people}, "id", shares=shares, **given)  # type: ignore[arg-type]

    ask = "SELECT COUNT(*) AS n FROM t WHERE id <> '?'"
    with curator("reserved") as first:
        assert first.sql(ask.replace("?", "1"), epsilon=1).remaining == {"epsilon": 0.0, "delta": 0.0}
        with pytest.raises(Refused, match="reserved for analysts"):
            first.sql(ask.replace("?", "2"), epsilon=0.5)
    with curator(said) as second:
        if said == "common":
            with pytest.raises(Refused, match="shares are reserved"):
                second.sql(ask.replace("?", "3"), epsilon=0.5, analyst="ana")
            return
        with pytest.raises(Refused, match="reserved for analysts"):
            second.sql(ask.replace("?", "2"), epsilon=0.5)
        for who in ("ana", "bo"):
            seen = second.preview(ask.replace("?", who), epsilon=1, analyst=who)
            assert second.sql(ask.replace("?", who), epsilon=1, analyst=who).epsilon == seen.epsilon
    with (
        curator(said, analysts={"ana": {"epsilon": 1}, "cy": {"epsilon": 2}}) as third,
        pytest.raises(Refused) as caught,
    ):
        third.spent  # noqa: B018
    assert caught.value.code == "shares"


def test_a_policy_whose_caps_do_not_fit_reserved_shares_is_refused_before_a_ledger_is_made(tmp_path: Path) -> None:
    analysts = {"ana": {"epsilon": 2}, "bo": {"epsilon": 2}}
    with pytest.raises(Refused, match="ana and bo add up to ε = 4 of 3"):
        Curator({"t": {"id": [1]}}, "id", epsilon=3, shares="reserved", analysts=analysts, ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()


def test_a_ledger_that_sets_something_else_aside_is_found() -> None:
    def chain(aside: Amounts) -> list[Row]:
        rows = [advance(None, made("pure"), 0)]
        rows.append(advance(head_of(rows[-1]), AnalystAdded(cap("pure", 1)), 0, "ana"))
        return [*rows, advance(head_of(rows[-1]), Divided(aside), 0)]

    own = cap("pure", 1).limit
    replayed(chain(own))
    for lie in (Amounts(), Amounts(own.epsilon), Amounts(2 * own.epsilon, own.delta)):
        with pytest.raises(Fault, match="sets something else aside"):
            replayed(chain(lie))
