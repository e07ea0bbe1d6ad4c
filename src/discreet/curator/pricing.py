"""What a question or a measurement is charged, by the accountant of the data set; and the least that anything costs."""

from fractions import Fraction

from discreet.accountant import Accountant
from discreet.curator.amounts import Price, in_words, units_up
from discreet.curator.money import price_of, spent_by
from discreet.errors import Invalid, Refused
from discreet.exact import rational
from discreet.mechanisms.measure import Promise
from discreet.plan import price as prices
from discreet.plan.plan import Plan
from discreet.plan.private import MOST_EPSILON
from discreet.privacy import events, loss

LEAST_EPSILON, LEAST_RHO = units_up(prices.LEAST_EPSILON, "epsilon"), units_up(prices.LEAST_EPSILON**2 / 2, "rho")
"""The least price of a question or a measurement that costs something, in units."""


def price_of_plan(plan: Plan, accountant: Accountant) -> Price:
    """The price of a question."""
    return price_of_promise(plan.event, plan.epsilon, plan.delta, accountant)


def price_of_promise(event: events.Event, epsilon: Fraction, delta: Fraction, accountant: Accountant) -> Price:
    """The price of what is (ε, δ)-DP; Gaussian noise has a ρ and no δ of its own."""
    if accountant is Accountant.ZCDP:
        return price_of(event, epsilon, spent_by(event).delta, Accountant.ZCDP)
    return price_of(event, epsilon, delta, Accountant.PURE)


def price_of_measurement(
    event: events.Event, accountant: Accountant, delta: Fraction, promise: Promise | None
) -> Price:
    """The price of a measurement: what it promises, once that is proven; otherwise that of its event."""
    if promise is None:
        return price_of_event(event, accountant, delta)
    promise.check(event)
    return price_of_promise(event, *promise, accountant)


def price_of_event(event: events.Event, accountant: Accountant, delta: Fraction) -> Price:
    """The price of an event by itself: its ρ, or its ε at δ = 0, or where it has none its certified ε at this δ."""
    if accountant is Accountant.ZCDP:
        return price_of(event, MOST_EPSILON, spent_by(event).delta, Accountant.ZCDP)
    cost = loss(event)
    pure = cost.pure_epsilon()
    if pure is not None:
        return price_of(event, pure, 0, Accountant.PURE)
    if not delta:
        raise Refused("this measurement needs a delta, and the budget has none", code="budget")
    return price_of(event, rational(cost.interval(delta)[1], "epsilon"), delta, Accountant.PURE)


def check_least(price: Price) -> None:
    """A price so low that rows could be added to the ledger almost without end is Invalid. What is public has none."""
    if 0 < price.epsilon < LEAST_EPSILON or 0 < price.rho < LEAST_RHO:
        raise Invalid(
            f"whatever is released costs ε = {in_words(LEAST_EPSILON)} or ρ = {in_words(LEAST_RHO)} at least, and this {price}",
            code="price",
            hint="ask at a higher price",
        )
