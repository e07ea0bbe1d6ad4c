"""HISTOGRAM(x, 20) and HISTOGRAM(x, [0, 18, 65, 120]): a key of bins, which is grouped by, and COUNT(*) of each.

It is the question that GROUP BY of a CASE over the same ends asks, by the same plan. A bin is called by its lower end, which is in it; the
upper end is in the next one, but for that of the last, which is in it. Rows without a value are in no bin. Bins of equal width are over the
bounds of x, and a value outside is in the bin of the bound that it is nearest to, as it is clamped elsewhere; of given ends it is in none.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from discreet.plan.explain import said
from discreet.plan.releases.terms import without_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import (
    And,
    Case,
    Comparison,
    IsNull,
    Key,
    Literal,
    Not,
    Order,
    Scalar,
    Type,
    released_in,
    windows_in,
)
from discreet.plan.sql.expressions import Expressions, reads_call
from discreet.plan.sql.refusals import Code

MOST_BINS = 1_000
BY_HAND = "group by WIDTH_BUCKET(x, 0, 120, 20), or by CASE bins"
BINS = Key(-1, Type.NUMBER)
"""Stands for the key of bins until all keys are known."""


@dataclass(frozen=True, slots=True)
class Bins:
    """What a call of HISTOGRAM asks for: the key of bins, which is their lower end, the upper end by `BINS`, and which rows are in one."""

    argument: Scalar
    key: Scalar
    end: Scalar
    condition: Scalar
    where: exp.Expr | None
    remark: str


def call_in(node: exp.Expr) -> exp.Anonymous | None:
    """The call of HISTOGRAM that an item of SELECT is, with a FILTER or without."""
    call = node.this if isinstance(node, exp.Filter) else node
    return call if isinstance(call, exp.Anonymous) and call.name.upper() == "HISTOGRAM" else None


@reads_call("HISTOGRAM")
def _elsewhere(read: Expressions, node: exp.Anonymous) -> Scalar:
    hint = f"write SELECT HISTOGRAM(x, 20) AS n FROM …, or {BY_HAND}"
    raise read.refusal(Code.AGGREGATE_PLACE, "HISTOGRAM stands alone, as an item of the outermost SELECT", hint, node)


def bins_of(read: Expressions, item: exp.Expr, call: exp.Anonymous) -> Bins:
    """What a call asks for, or raises QueryError."""
    read.take(call, "this", "expressions")
    where = None
    if isinstance(item, exp.Filter):
        read.take(item, "this", "expression")
        read.take(item.expression, "this")
        where = item.expression.this
    if any(isinstance(each, exp.Distinct) for each in call.expressions):
        hint = f"people are counted in bins by hand: {BY_HAND}, with {read.counting_people() if read.person else 'COUNT(*)'}"
        raise read.refusal(Code.DISTINCT, "HISTOGRAM counts rows, and not DISTINCT values", hint, call)
    if len(call.expressions) < 2:
        hint = "name the number of bins, as in HISTOGRAM(age, 20), or their ends: HISTOGRAM(age, [0, 18, 65, 120])"
        raise read.refusal(Code.COLLECTION, "HISTOGRAM of all values lists those of single people", hint, call)
    if len(call.expressions) > 2:
        raise read.refusal(Code.FUNCTION, "HISTOGRAM has two arguments", "write HISTOGRAM(age, 20)", call)
    argument = read.numeric(call.expressions[0])
    if released_in(argument) or windows_in(argument):
        hint = "its argument is a column of the table, or a number that is made of one"
        raise read.refusal(Code.AGGREGATE_PLACE, "HISTOGRAM counts rows, and not released numbers", hint, call)
    second = call.expressions[1]
    listed = isinstance(second, exp.Array)
    ends = _given(read, second) if listed else _even(read, argument, second)
    kind = Type.INTEGER if all(type(end) is int for end in ends) else Type.NUMBER
    literals = [Literal(end if kind is Type.INTEGER else float(end), kind) for end in ends]
    last = literals[-2]
    below = tuple((Comparison(Order.LESS, argument, end), start) for start, end in pairwise(literals[:-1]))
    key = Case(below, last) if below else last
    uppers = tuple((Comparison(Order.EQUAL, BINS, start), end) for start, end in pairwise(literals))
    parts: list[Scalar] = [Not(IsNull(argument))]
    if listed:
        parts += [Comparison(Order.GREATER_OR_EQUAL, argument, literals[0])]
        parts += [Comparison(Order.LESS_OR_EQUAL, argument, literals[-1])]
    condition = And(tuple(parts)) if len(parts) > 1 else parts[0]
    first, end = (f"{ends[i]:.12g}" for i in (0, -1))
    outside = f"below {first} or above {end}" if listed else ""
    remark = f"a bin has its lower end in it, the last one both; rows {_without(argument, outside)} are in no bin"
    if not listed:
        remark += f", and values beyond {first} … {end} in the outermost ones"
    return Bins(argument, key, Case(uppers[:-1], literals[-1]), condition, where, remark)


def _without(argument: Scalar, outside: str) -> str:
    lacking = f"without {said(argument)}"
    return f"{lacking}, or {outside}," if outside else lacking


def _even(read: Expressions, argument: Scalar, node: exp.Expr) -> list[int | float]:
    """The ends of so many bins of equal width over the bounds of a number."""
    count = read.constant(node)
    if count is None or type(count.value) is not int or not 2 <= count.value <= MOST_BINS:
        message = f"HISTOGRAM needs a number of bins from 2 to {MOST_BINS:,}, or a list of their ends"
        raise read.refusal(
            Code.FUNCTION, message, "write HISTOGRAM(age, 20), or HISTOGRAM(age, [0, 18, 65, 120])", node
        )
    facts = facts_of(argument, read.scope)
    if facts.low is None or facts.high is None:
        refused = without_bounds("HISTOGRAM", argument, read.scope, finds=False)
        refused.hint = f"{refused.hint}; or give the ends of the bins: HISTOGRAM(x, [0, 10, 20])"
        raise refused
    low, high = Fraction(facts.low), Fraction(facts.high)
    ends = [low + (high - low) * i / count.value for i in range(count.value + 1)]
    return _increasing(read, [int(end) if end.denominator == 1 else float(end) for end in ends], node)


def _given(read: Expressions, node: exp.Array) -> list[int | float]:
    """The ends that stand in a list."""
    read.take(node, "expressions", "value_constructor", "bracket_notation")
    ends: list[int | float] = []
    for each in node.expressions:
        end = read.constant(each)
        if end is None or type(end.value) not in (int, float):
            raise read.refusal(Code.LITERAL, "an end of a bin must be a number", "write [0, 18, 65, 120]", each)
        ends.append(end.value)  # type: ignore[arg-type]
    return _increasing(read, ends, node)


def _increasing(read: Expressions, ends: list[int | float], node: exp.Expr) -> list[int | float]:
    if not 3 <= len(ends) <= MOST_BINS + 1 or not all(one < other for one, other in pairwise(ends)):
        message = f"the ends of bins must be 3 to {MOST_BINS + 1:,} numbers, each larger than the one before"
        raise read.refusal(Code.LITERAL, message, "write HISTOGRAM(age, [0, 18, 65, 120])", node)
    return ends


def heading(name: str | None, called: str) -> tuple[str, str, str]:
    """What the columns of a histogram are called: its lower and its upper end, and the count."""
    base = name or called
    return f"{base}_from", f"{base}_to", name or "count"
