"""A question exact, beside one private draw, and what limits, clamping and noise take away of it.

    exact ── clamped to the bounds ── limited to some rows and groups a person ── with noise

Each step is an exact number but the last, which is drawn with noise of the operating system, under no grant of a ledger: it is shown to
the owner beside the exact number, and is worth nothing to anyone else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.answer import Answer
from discreet.curator.rehearsal.counting import Counting
from discreet.curator.rehearsal.excess import excess
from discreet.curator.rehearsal.standard import Standard
from discreet.errors import DiscreetError
from discreet.mechanisms.measure import Grant
from discreet.noise.source import chosen
from discreet.plan.catalog import Catalog, Column
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.relation import How, Totals, contributions_in
from discreet.plan.release import decided, exact_totals, release
from discreet.plan.scalar import Value
from discreet.plan.sql import question


@dataclass(frozen=True, slots=True)
class Loss:
    """One number of an answer. None where there is nothing to divide by."""

    group: tuple[Value, ...]
    exact: float | None
    by_clamping: float | None
    by_limits: float | None
    noise: float | None
    """The ± of the noise, at 95 %."""

    private: float | None
    """One draw."""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "group": [None if key is None else str(key) for key in self.group],
            "exact": self.exact,
            "by_limits": self.by_limits,
            "by_clamping": self.by_clamping,
            "noise": self.noise,
            "private": self.private,
        }


@dataclass(frozen=True, slots=True)
class Losses:
    """One question, number by number; or why it cannot be asked."""

    text: str
    numbers: tuple[Loss, ...] = ()
    refusal: str = ""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "question": self.text,
            "refusal": self.refusal or None,
            "rows": [each.as_data() for each in self.numbers],
        }


def losses_of(
    counting: Counting, catalog: Catalog, table: str, asked: Standard, epsilon: Fraction, delta: Fraction
) -> Losses:
    """What is taken away of a standard question, at a price that nobody pays."""
    try:
        plan = plan_for(question(asked.text, catalog), catalog, epsilon, delta)
    except DiscreetError as error:
        return Losses(asked.text, refusal=error.message)
    column = None if asked.summed is None else catalog.table(table).column(asked.summed)
    return Losses(asked.text, tuple(_numbers(counting, plan, asked.text, column)))


def _numbers(counting: Counting, plan: Plan, text: str, column: Column | None) -> list[Loss]:
    grant, salt = Grant(plan.event), chosen(None).bits(64)
    try:
        plan = decided(plan, counting.engine.run, grant, salt)
        limited = counting.engine.run(plan.query, salt)
        released = release(plan, lambda query, salt: limited, grant, salt)
    finally:
        grant.close()
    # Of HAVING, ORDER BY and LIMIT a standard question has none: rows are the groups, in their order.
    answer = Answer.make(plan, released, text=text)
    clamped = exact_totals(plan, counting.engine.run(unlimited(plan.query), salt))
    beyond = [Fraction(0)] * len(plan.domain) if column is None else excess(counting, plan, column)
    inside, rest = _values(plan, clamped), _values(plan, exact_totals(plan, limited))
    exact = _values(plan, clamped, beyond)
    return [
        Loss(
            group,
            _float(exact[i]),
            _difference(inside[i], exact[i]),
            _difference(rest[i], inside[i]),
            None if interval is None or interval.error is None else float(interval.error),
            _number(row[-1]),
        )
        for i, (group, row, (*_, interval)) in enumerate(zip(plan.domain, answer.rows, answer.intervals, strict=True))
    ]


def unlimited(query: Totals) -> Totals:
    """The query without its limits: of all rows, also of those that are of nobody. People are told apart all the same."""
    gathered = contributions_in(query)
    if not gathered:
        return query
    (all_of_each,) = gathered
    if any(term.how is How.ANY for term in all_of_each.terms):
        return Totals(all_of_each)
    return Totals(all_of_each.source, all_of_each.keys, all_of_each.terms)


def _values(plan: Plan, totals: Sequence[Any], beyond: Sequence[Fraction] | None = None) -> list[Fraction | None]:
    """The number of each group, from exact totals, and what its values are beyond their bounds; nothing is taken for too few."""
    return plan.releases[0].exactly(plan, totals, [Fraction(0)] * len(plan.domain) if beyond is None else beyond)


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _difference(later: Fraction | None, earlier: Fraction | None) -> float | None:
    return None if later is None or earlier is None else float(later - earlier)


def _number(value: Value) -> float | None:
    return float(value) if isinstance(value, int | float) else None
