"""What was spent, what may be, and what is left: of the data set, and of each analyst."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from discreet.accountant import Accountant
from discreet.curator import parted
from discreet.curator.accounts import Account, Standing
from discreet.curator.acts import Reserved, Shared
from discreet.curator.amounts import Amounts, Cap
from discreet.curator.declaration import Budget, advice_on
from discreet.curator.found import is_fact
from discreet.curator.money import cap_of, overdrawn
from discreet.curator.place import Place
from discreet.curator.rows import Row
from discreet.curator.store import Store
from discreet.errors import Invalid, Refused
from discreet.exact import to_float_down, to_float_up
from discreet.privacy.advice import Verdict, note_on_epsilon

if TYPE_CHECKING:
    from discreet.curator.policy import Policy

EPSILON, DELTA = Fraction(5), Fraction(1, 10**6)
"""The budget of a data file for which none is said."""

FIRST = 'who asks first has what is left, and is seen by the others; shares = "reserved" in [budget] keeps each cap for its analyst'
NOTHING = Fraction(0)


class Sums(Protocol):
    """What a ledger adds up, for the data set or for an analyst."""

    @property
    def spent(self) -> Amounts: ...
    @property
    def cap(self) -> Amounts: ...
    @property
    def remaining(self) -> Amounts: ...
    @property
    def free(self) -> Amounts: ...
    @property
    def accountant(self) -> Accountant: ...
    @property
    def failures(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Balance:
    """What was spent, what may be, and what is left; `free` is what is left for whom it is the balance of.

    `left` is the share of the cap that was left after each charge, oldest first.
    """

    spent: Budget
    cap: Budget
    remaining: Budget
    free: Budget
    failures: int = 0
    active: bool = True
    left: tuple[float, ...] = ()

    @property
    def questions(self) -> int:
        """How many charges there were."""
        return len(self.left)

    @classmethod
    def of(cls, sums: "Sums", left: Iterable[float] = (), *, active: bool = True) -> "Balance":
        """The balance of the sums that a ledger keeps."""
        return cls(
            exactly(sums.spent, sums.accountant),
            exactly(sums.cap, sums.accountant),
            exactly(sums.remaining, sums.accountant),
            exactly(sums.free, sums.accountant),
            sums.failures,
            active,
            tuple(left),
        )

    @classmethod
    def untouched(cls, cap: Cap, accountant: Accountant) -> "Balance":
        """The balance of a cap of which nothing was spent."""
        limit = exactly(cap.limit, accountant)
        return cls(Budget(NOTHING, NOTHING, NOTHING if accountant is Accountant.ZCDP else None), limit, limit, limit)

    def as_data(self) -> dict[str, dict[str, float]]:
        """As numbers: what was spent rounded up, the others down."""
        return {
            "spent": as_numbers(self.spent, up=True),
            "cap": as_numbers(self.cap),
            "remaining": as_numbers(self.remaining),
        }


@dataclass(frozen=True, slots=True)
class Budgets:
    """The balance of the data set, or of the analyst who asks, and of each analyst by name."""

    whole: Balance
    place: str
    made: bool = True  # by the first question
    analysts: Mapping[str, Balance] = field(default_factory=lambda: MappingProxyType({}))
    shares: str = "common"
    notes: tuple[str, ...] = ()
    parts: Mapping[str, Balance] = field(default_factory=lambda: MappingProxyType({}))
    """Of each part of the people that has a budget of its own; what is spent there is in `whole` as far as it may be of one person."""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **self.whole.as_data(),
            "questions": self.whole.questions,
            "failures": self.whole.failures,
            "analysts": {name: balance.as_data() for name, balance in self.analysts.items()},
            **({"parts": {name: balance.as_data() for name, balance in self.parts.items()}} if self.parts else {}),
            "shares": self.shares,
            "free": as_numbers(self.whole.free),
            "ledger": self.place if self.made else None,
            "notes": list(self.notes),
        }


def as_numbers(budget: Budget, *, up: bool = False) -> dict[str, float]:
    """An amount as numbers, rounded down, or up."""
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho}
    rounded = to_float_up if up else to_float_down
    return {name: rounded(value) + 0.0 for name, value in amounts.items() if value is not None}  # no negative zero


def exactly(amounts: Amounts, accountant: Accountant) -> Budget:
    """Amounts as the numbers that people see."""
    epsilon, delta, rho = amounts.exact
    return Budget(epsilon, delta, rho if accountant is Accountant.ZCDP else None)


def budgets_at(place: Place, policy: "Policy | None" = None, analyst: str | None = None) -> Budgets:
    """What the ledger at a place holds; where none was made yet, what it will start with."""
    store = place.look()
    if store is None:
        return untouched(place, policy, analyst)
    with store:
        return budgets_of(store, place, analyst)


def untouched(place: Place, policy: "Policy | None", analyst: str | None = None) -> Budgets:
    """What a ledger that is not made yet will start with."""
    if analyst is not None and (policy is None or analyst not in policy.analysts):
        raise Refused(f"analyst {analyst!r} is not known here", code="analyst-unknown")
    declared = declared_for(policy, analyst) or Budget(EPSILON, DELTA)
    accountant = Accountant.PURE if policy is None else policy.accountant
    shares = None if policy is None else policy.shares
    whole = Balance.untouched(cap_of(accountant, declared.epsilon, declared.delta), accountant)
    parts = {} if policy is None or policy.parts is None or analyst is not None else policy.parts.budgets
    each = {name: cap_of(accountant, parts[name].epsilon, parts[name].delta) for name in sorted(parts)}
    balances = {name: Balance.untouched(cap, accountant) for name, cap in each.items()}
    return Budgets(whole, str(place), made=False, shares=shares or "common", parts=MappingProxyType(balances))


def budgets_of(store: Store, place: Place, analyst: str | None = None) -> Budgets:
    """What an open ledger holds: of all, or of one analyst alone."""
    standing, left = store.standing(analyst), burned(store.history())
    accounts = {} if analyst is not None else store.analysts()
    analysts = {
        name: Balance.of(store.standing(name), left.get(name, ()), active=accounts[name].active)
        for name in sorted(accounts)
    }
    whole = Balance.of(standing, left.get(analyst, ()))
    parts = MappingProxyType({} if analyst is not None else of_parts(standing))
    return Budgets(whole, str(place), analysts=MappingProxyType(analysts), shares=standing.shares, parts=parts)


def of_parts(standing: Standing) -> dict[str, Balance]:
    """The balance of each part of the people: what whoever is in it may have met, in this part and in others before."""
    accounts = () if standing.parts is None else standing.parts.accounts
    return {
        name: Balance.of(
            replace(
                standing,
                spent=each.spent,
                cap=each.cap.limit,
                budget=each.cap.budget,
                remaining=each.left,
                free=each.left,
                failures=0,
            )
        )
        for name, each in accounts
    }


def declared_for(policy: "Policy | None", analyst: str | None, part: str | None = None) -> Budget | None:
    """What a policy says of the data set, of an analyst, or of a part."""
    if policy is None:
        return None
    if part is not None:
        return None if policy.parts is None else policy.parts.budgets.get(part)
    return policy.budget if analyst is None else policy.analysts.get(analyst)


def burned(rows: Iterable[Row]) -> dict[str | None, list[float]]:
    """For the data set, under None, and for each analyst: the share of the budget that was left after each charge.

    What a question found is kept at no price, and is no question of its own.
    """
    shares: dict[str | None, list[float]] = {}
    for row in rows:
        if isinstance(row.act, Reserved | Shared) and is_fact(row.act.key):
            continue
        if isinstance(row.act, Reserved):
            shares.setdefault(None, []).append(_left(row.book.account))
        if isinstance(row.act, Reserved | Shared) and row.analyst is not None and row.account is not None:
            shares.setdefault(row.analyst, []).append(_left(row.account))
    return shares


def _left(account: Account) -> float:
    """The share that is left of the amount of which least is left, since that one ends the questions."""
    limit, rest = account.cap.limit, account.remaining
    if not limit.epsilon and not limit.rho:
        return 0.0
    pairs = [(getattr(rest, name), getattr(limit, name)) for name in ("epsilon", "delta", "rho")]
    return min((left / cap for left, cap in pairs if cap), default=0.0)


@dataclass(frozen=True, slots=True)
class Change:
    """What the owner wants a budget to be: of the data set, of an analyst, or of a part of the people.

    `higher`: yes, more is meant than was promised.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    shares: str | None = None
    analyst: str | None = None
    higher: bool = False
    part: str | None = None

    def check(self, policy: "Policy | None") -> tuple[str, ...]:
        """What is to be said of it; what the policy would undo at once is Refused."""
        if self.epsilon is None and (self.shares is None or self.delta is not None):
            raise Invalid("the new total is missing", code="usage", hint="write --epsilon 5")
        if self.part is not None and (self.analyst is not None or self.shares is not None):
            raise Invalid("the budget of a part is set by itself", code="usage", hint="write --part NAME --epsilon 1")
        declared = declared_for(policy, self.analyst, self.part)
        if declared is not None and ((self.epsilon or 0) > declared.epsilon or (self.delta or 0) > declared.delta):
            raise Refused(
                f"the policy says {declared}, and its lower total would take effect again at once",
                code="cap-higher",
                hint="write the higher total into the policy first",
            )
        if self.shares is not None and policy is not None and policy.shares not in (None, self.shares):
            raise Refused(
                f"the policy says shares = {policy.shares!r}, and that would take effect again at once",
                code="shares",
                hint="change it in the policy first",
            )
        large = () if self.epsilon is None else note_on_epsilon(self.epsilon, in_all=True)
        return (*on_delta(self.delta, None if policy is None else policy.protected.people), *large)

    def make(self, store: Store) -> tuple[str, ...]:
        """Change the ledger; what is to be said of what came of it."""
        if self.shares == "common":  # first, as it makes room
            store.share(self.shares, common=self.higher)
        if self.epsilon is not None:
            self._set_cap(store, self.epsilon)
        if self.shares is not None:
            store.share(self.shares)
        return promised(store)

    def _set_cap(self, store: Store, epsilon: Fraction) -> None:
        standing = store.standing(self.analyst)
        now = (
            standing.budget if self.part is None else dict(parted.known_parts(store, self.part).caps)[self.part].budget
        )
        cap = cap_of(standing.accountant, epsilon, now.exact[1] if self.delta is None else self.delta)
        with _told_if_higher(f"a budget of ε = {float(epsilon):.6g} is higher than what was promised"):
            if self.part is None:
                store.set_cap(cap, self.analyst, higher=self.higher)
            else:
                parted.set_cap(store, self.part, cap, higher=self.higher)


@contextmanager
def _told_if_higher(message: str) -> Iterator[None]:
    """A cap that is refused for being higher is refused in these words, and with how to say that it is meant."""
    try:
        yield
    except Refused as refused:
        if refused.code != "cap-higher":
            raise
        hint = "if more is meant, say so: --yes on the command line, higher=True in Python"
        raise Refused(message, code=refused.code, hint=hint) from None


def changed_at(place: Place, policy: "Policy | None", change: Change) -> Budgets:
    """The budgets at a place after the owner changed one; where no ledger was made yet it is Refused."""
    notes = change.check(policy)
    store = place.look()
    if store is None:
        raise Refused(
            "nothing was asked yet, so there is no budget to change",
            code="ledger-missing",
            hint="the first question sets it: --budget 5" if policy is None else "write it into the policy",
        )
    with store:
        notes += change.make(store)
        return replace(budgets_of(store, place, change.analyst), notes=notes)


@dataclass(frozen=True, slots=True)
class Analyst:
    """Who may ask, what they may spend, and what is to be said of it."""

    name: str
    balance: Balance
    notes: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "analyst": self.name,
            "active": self.balance.active,
            **self.balance.as_data(),
            "notes": list(self.notes),
        }


def add_analyst(
    store: Store, name: str, epsilon: Fraction, delta: Fraction = NOTHING, *, higher: bool = False
) -> Analyst:
    """Let an analyst ask, with a cap of their own. `higher`: yes, who was removed comes back with a higher one."""
    with _told_if_higher(f"{name!r} was removed with a lower budget than this"):
        store.add_analyst(name, cap_of(store.standing().accountant, epsilon, delta), higher=higher)
    return analyst_of(store, name, on_delta(delta))


def remove_analyst(store: Store, name: str) -> Analyst:
    """Take no new question by an analyst. What they have spent stays spent."""
    store.remove_analyst(name)
    return analyst_of(store, name)


def analyst_of(store: Store, name: str, notes: tuple[str, ...] = ()) -> Analyst:
    """An analyst as a ledger has them."""
    balance = Balance.of(store.standing(name), active=store.analysts()[name].active)
    return Analyst(name, balance, (*notes, *promised(store)))


def on_delta(delta: Fraction | None, people: int | None = None) -> tuple[str, ...]:
    """A word on a δ that is large; one that promises nothing to the declared people is Refused."""
    advice = None if delta is None else advice_on(delta, people)
    return () if advice is None or advice.verdict is Verdict.FINE else (advice.sentence,)


def promised(store: Store) -> tuple[str, ...]:
    """A word on caps of analysts that are more than the total, where they share it."""
    standing = store.standing()
    caps = {name: account.cap for name, account in store.analysts().items() if account.active}
    over = overdrawn(caps, Cap(standing.cap, standing.budget)) if standing.shares == "common" else ""
    return (f"{over}: {FIRST}",) if over else ()
