"""Quotes: one question at several prices, side by side. Nothing is spent, no data is read, and no ledger is made."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Unpack

from discreet.answer import Preview, Quote
from discreet.curator.amounts import Amounts, Price
from discreet.curator.asked import Asked, Params, Terms, spelled_out
from discreet.curator.budgets import declared_for, exactly
from discreet.curator.declaration import Budget
from discreet.curator.money import cap_of
from discreet.curator.tabling import Tabling
from discreet.errors import Invalid
from discreet.exact import Number, rational, shown
from discreet.plan.partition import Part
from discreet.plan.plan import Plan

MOST_PRICES = 32
HINT = "write epsilons=[0.1, 0.3, 1]"


class Quoting(Tabling):
    """The side of a curator that quotes."""

    @abstractmethod
    def _priced(self, asked: Asked) -> tuple[Plan, Price]:
        """The plan that is charged, and its price."""

    @spelled_out
    def quote(
        self, text: str, params: Params = None, *, epsilons: Iterable[Number] = (0.1, 0.3, 1), **terms: Unpack[Terms]
    ) -> Quote:
        """What a question would cost at several prices, how far off each number would be at each, and whether that fits what is left.

        Each row is what `preview` tells at that ε. Nothing is spent, no data is read, and no ledger is made.
        """
        asked = Asked(text, params, **terms)
        if asked.epsilon is not None or asked.within is not None:
            raise Invalid(
                "a quote is for the prices in epsilons, without epsilon and within",
                code="quote",
                hint=HINT,
            )
        asked_at = [self._priced(replace(asked, epsilon=epsilon)) for epsilon in _distinct(epsilons)]
        left = self._may_spend(asked.analyst, asked_at[0][0].part)
        rows = [(Preview.make(plan, text=text, confidence=asked.level), price.within(left)) for plan, price in asked_at]
        return Quote.of(rows, left=exactly(left, self.policy.accountant))

    def _left(self, analyst: str | None, part: Part | None) -> Budget:
        """What is left for whoever asks, of all or of people in one part."""
        return exactly(self._may_spend(analyst, part), self.policy.accountant)

    def _may_spend(self, analyst: str | None, part: Part | None) -> Amounts:
        """What is left for whoever asks. Analysts are told of their own budget alone: how much is left in a part tells what others did."""
        if part is None or analyst is not None:
            return self._left_in_all(analyst)
        store, declared = self._ledger_if_made(), self.policy.parts
        room = None if store is None else store.standing().room_in(part.name)
        if room is not None:
            return room
        cap = Budget(Fraction(0), Fraction(0)) if declared is None else declared.budgets[part.name]
        whole = self._left_in_all(None)
        return Amounts(*map(min, whole, cap_of(self.policy.accountant, cap.epsilon, cap.delta).limit))

    def _left_in_all(self, analyst: str | None) -> Amounts:
        """What is left of the budget of the data, or of an analyst; before the first question all of it."""
        store = self._ledger_if_made()
        if store is not None:
            return store.standing(analyst).free
        if analyst is not None:
            self._delta_of(analyst)  # refuses an analyst who is not known
        declared: Budget = declared_for(self.policy, analyst) or self.policy.budget
        return cap_of(self.policy.accountant, declared.epsilon, declared.delta).limit


def _distinct(epsilons: Iterable[Number]) -> list[Fraction]:
    """The prices, in the order in which they were given; Invalid where there are none, or too many, or one twice."""
    if isinstance(epsilons, str | bytes | Mapping) or not isinstance(epsilons, Iterable):
        raise Invalid(f"epsilons must be a list of prices, got {shown(epsilons)}", code="quote", hint=HINT)
    prices = [rational(each, "epsilon") for each in islice(epsilons, MOST_PRICES + 1)]
    if not 0 < len(prices) <= MOST_PRICES:
        raise Invalid(f"between 1 and {MOST_PRICES} prices are quoted at once", code="quote", hint=HINT)
    return list(dict.fromkeys(prices))
