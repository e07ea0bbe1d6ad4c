"""From privacy to money: what an event costs in units, which cap keeps an (ε, δ) budget, and that a price covers its event.

The accountant *pure* charges the (ε, δ) of an answer, once a certified bound shows that its event is no worse. The accountant *zcdp*
charges the event's ρ, by closed theorems on exact fractions, and its δ. Caps are those of the filters in `privacy/filters.py`.
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from discreet.accountant import Accountant
from discreet.curator.accounts import Book
from discreet.curator.acts import Act, AnalystAdded, Capped, Creation, Parted, Reserved, Shared, accountant_of
from discreet.curator.amounts import UNIT, Amounts, Cap, Price, units_up
from discreet.curator.rows import canonical
from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.privacy import Unit, events, loss
from discreet.privacy.cost import cost_of
from discreet.privacy.filters import ConcentratedFilter, PureFilter, SpentConcentrated
from discreet.privacy.theorems import pure_rho


def cap_of(accountant: str, epsilon: Number, delta: Number = 0) -> Cap:
    """The cap that keeps (epsilon, delta) for whatever is asked, in whatever order: that of the accountant's filter, rounded down."""
    by = accountant_of(accountant)
    budget = Amounts.down(epsilon, delta)
    for name, number, units in (("epsilon", epsilon, budget.epsilon), ("delta", delta, budget.delta)):
        if number and not units:
            raise Invalid(f"{name} of a budget must be 0 or at least 10^-15: less cannot be counted", code="budget")
    if by is Accountant.PURE:
        return Cap(budget, budget)
    exact_epsilon, exact_delta, _ = budget.exact
    filter = ConcentratedFilter.for_budget(exact_epsilon, exact_delta)
    limit = Amounts.down(0, filter.delta_spent, filter.rho)
    if epsilon and not limit.rho:
        raise Invalid("the rho of a budget must be 0 or at least 10^-15: less cannot be counted", code="budget")
    return Cap(limit, budget)


@lru_cache(maxsize=64)
def check_cap(accountant: Accountant, cap: Cap) -> None:
    """Raises Invalid unless the filter with this limit keeps the budget."""
    epsilon, delta, _ = cap.budget.exact
    if accountant is Accountant.PURE:
        if cap.limit != cap.budget or cap.budget.rho:
            raise Invalid("cap must be the budget itself for the accountant 'pure'", code="cap")
        PureFilter(epsilon, delta)
        return
    _, spent, rho = cap.limit.exact
    if cap.limit.epsilon or cap.budget.rho:
        raise Invalid(
            "cap of the accountant 'zcdp' must be one of rho and delta, kept for one of epsilon and delta", code="cap"
        )
    ConcentratedFilter(epsilon, delta, rho, spent)


def overdrawn(caps: Mapping[str, Cap], total: Cap) -> str:
    """What is to be said where the caps of analysts add up to more than the total; nothing where they do not.

    >>> overdrawn({"ana": cap_of("pure", 4), "bob": cap_of("pure", 3)}, cap_of("pure", 5))
    'the caps of ana and bob add up to ε = 7 of 5 in all'
    """
    for name, sign in (("epsilon", "ε"), ("rho", "ρ"), ("delta", "δ")):
        added, most = sum(getattr(cap.limit, name) for cap in caps.values()), getattr(total.limit, name)
        if added > most:
            *others, last = sorted(caps)
            whose = f"caps of {', '.join(others)} and {last} add" if others else f"cap of {last} adds"
            return f"the {whose} up to {sign} = {float(Fraction(added, UNIT)):.6g} of {float(Fraction(most, UNIT)):.6g} in all"
    return ""


def price_of(event: events.Event, epsilon: Number, delta: Number, accountant: str) -> Price:
    """What a release of this event, (epsilon, delta)-DP by promise, is charged; each amount rounded up to units once.

    For an event that a certified bound does not show to be within the promise raises Invalid, and so for a promise of nothing
    at all unless the event costs nothing. For an event that the accountant has no theorem for raises Refused.
    """
    by = accountant_of(accountant)
    price = Amounts.up(epsilon, delta)
    if by is Accountant.ZCDP:
        price = Amounts.up(0, delta, spent_by(event).rho)
        if price.rho > units_up(pure_rho(epsilon), "rho"):
            raise Invalid(f"the event costs more than its promise of epsilon {shown(epsilon)}", code="price")
    check_price(canonical(event.to_json()), price, by)
    return price


@lru_cache(maxsize=4096)
def check_price(event: bytes, price: Price, accountant: Accountant) -> str:
    """Raises Invalid unless the price covers the event, given as canonical JSON; the neighbour relation of the event, or "".

    Everything is computed from the event alone; so whoever has the row can do it again.
    """
    read = events.from_json(json.loads(event))
    whole = loss(read)
    epsilon, delta, rho = price.exact
    if accountant is Accountant.PURE:
        if rho or not whole.certifies(epsilon, delta):
            raise Invalid(f"the event costs more than its price of {price}", code="price")
    else:
        spent = spent_by(read)
        if epsilon or spent.rho > rho or spent.delta > delta:
            raise Invalid(f"the event costs more than its price of {price}", code="price")
    return str(whole.relation or "")


def check_relation(tag: str, relation: str) -> None:
    """An event computed under one neighbour relation is not charged to a ledger of another."""
    if tag and tag != relation and not relation.startswith(f"{tag} "):
        whose = relation.endswith(Unit.PERSON.value) and not tag.endswith(Unit.PERSON.value)
        raise Invalid(
            f"the event holds under '{tag}', and the ledger is kept under '{relation}'",
            code="relation",
            hint="say whose each row is: ids=… where a model of arrays is fitted, groups=… of tensors"
            if whose
            else "compute its sensitivities under the ledger's relation",
        )


def check_act(book: Book, act: Act) -> None:
    """Raises Invalid where a price does not cover its event, or a cap does not keep its budget."""
    match act:
        case Reserved(event=event, price=price) | Shared(event=event, price=price):
            check_relation(check_price(canonical(event), price, book.accountant), book.relation)
        case Creation(cap=cap) | Capped(cap) | AnalystAdded(cap):
            check_cap(book.accountant, cap)
        case Parted(caps=caps):
            for _, cap in caps:
                check_cap(book.accountant, cap)


def spent_by(event: events.Event) -> SpentConcentrated:
    """The ρ of an event, and the δ outside of which it holds: the sum over its leaves, each by a closed theorem, rounded up.

    For a leaf that has none raises Refused.

    >>> spent_by(events.Repeated(events.Gaussian(5), 4)).rho
    Fraction(2, 25)
    """
    rho = delta = Fraction(0)
    for leaf, times in loss(event).terms:
        one = cost_of(leaf).zcdp()
        rho += times * one.rho
        delta += times * one.delta
    return SpentConcentrated(rho, delta)
