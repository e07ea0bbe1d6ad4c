"""What a clamp takes away: how much the values of a column lie beyond its bounds, in all."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.curator.rehearsal.counting import Counting
from discreet.errors import Fault
from discreet.exact import to_float_down, to_float_up
from discreet.plan.catalog import MOST_BOUND, Column
from discreet.plan.grid import grid_for
from discreet.plan.plan import Plan
from discreet.plan.relation import How, Rows, Term, Totals, contributions_in, days
from discreet.plan.scalar import And, Case, Comparison, Indicator, Literal, Or, Order, Scalar, Steps, Type
from discreet.plan.scalar import Column as NodeColumn

POWERS = range(-6, 15)
"""Values are summed by their size, which lies between two powers of ten: so each is off by at most a millionth of itself, or so."""


def excess(counting: Counting, plan: Plan, column: Column) -> list[Fraction]:
    """How much the values of a column that lie outside of its bounds are beyond them, for each group of a plan: Σ (x − clamped x).

    What is larger than 10^15, or infinite, counts as that.
    """
    if column.low is None or column.high is None:
        return [Fraction(0)] * len(plan.domain)
    source, keys = rows_of(plan.query)
    node = NodeColumn(column.name, column.type)
    low, high = to_float_down(column.low), to_float_up(column.high)
    under, over = _compared(node, Order.LESS, low), _compared(node, Order.GREATER, high)
    grids = [grid_for(-(Fraction(10) ** (power + 1)), Fraction(10) ** (power + 1), False) for power in POWERS]
    terms = [Term(How.SUM, Indicator(under)), Term(How.SUM, Indicator(over))]
    for power, grid in zip(POWERS, grids, strict=True):
        chosen = And((Or((under, over)), *_size(node, power)))
        outside = Case(((chosen, node),), Literal(None, column.type))
        terms.append(Term(How.SUM, Steps(outside, grid.low, grid.high, grid.shift, 0.0)))
    totals = counting.totals(source, keys, terms)
    steps = [grid.step for grid in grids]
    sums = {group: _beyond(each, steps, Fraction(low), Fraction(high)) for group, each in totals.items()}
    return [sums.get(tuple(map(days, group)), Fraction(0)) for group in plan.domain]


def rows_of(query: Totals) -> tuple[Rows, tuple[Scalar, ...]]:
    """The rows that a query reads, before people are gathered, and its keys."""
    for gathered in contributions_in(query):
        return gathered.source, gathered.keys
    if not isinstance(query.source, Rows):
        raise Fault("a query is of rows, or of people who were gathered", code="relation")
    return query.source, query.keys


def _beyond(totals: Sequence[int], steps: Sequence[Fraction], low: Fraction, high: Fraction) -> Fraction:
    below, above, *sums = totals
    outside = sum((total * step for total, step in zip(sums, steps, strict=True)), Fraction(0))
    return outside - below * low - above * high


def _size(node: NodeColumn, power: int) -> list[Scalar]:
    """The conditions of values from one power of ten to the next; the first size has all smaller ones, and the last all larger ones."""
    inner, outer = float(Fraction(10) ** power), float(Fraction(10) ** (power + 1))
    conditions: list[Scalar] = []
    if power != POWERS[0]:
        far = (_compared(node, Order.GREATER_OR_EQUAL, inner), _compared(node, Order.LESS_OR_EQUAL, -inner))
        conditions.append(Or(far))
    if outer < MOST_BOUND:
        conditions += [_compared(node, Order.LESS, outer), _compared(node, Order.GREATER, -outer)]
    return conditions


def _compared(node: NodeColumn, order: Order, value: float) -> Scalar:
    return Comparison(order, node, Literal(value, Type.NUMBER))
