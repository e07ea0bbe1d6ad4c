"""Numbers of an answer, from released integers: exact until the last rounding.

What each aggregate is, its release says (`releases`); what is made of whole numbers by addition and multiplication is whole.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import Fault
from discreet.plan.plan import Plan
from discreet.plan.scalar import Arithmetic, Key, Literal, Operator, Over, Released, Scalar, Type, Value, type_of

Row: TypeAlias = Mapping[Any, Value]
"""Released values by their nodes."""


def columns(plan: Plan, released: Sequence[Any], groups: Sequence[int] | None = None) -> list[Row]:
    """For each group of the domain, or for some, its keys and its aggregates, by the nodes that post-processing has for them."""
    if len(released) != plan.decided.width or any(len(each) != len(plan.domain) for each in released):
        raise Fault("what was released is not what the plan measures", code="answer")
    chosen = range(len(plan.domain)) if groups is None else groups
    numbers = [np.asarray(each, np.int64)[list(chosen)].tolist() for each in released]
    aggregates = [release.values(plan, numbers) for release in plan.releases]
    nodes: list[Scalar] = [Key(j, type_of(key)) for j, key in enumerate(plan.question.keys)]
    nodes += [Released(j) for j in range(len(aggregates))]
    rows = zip(chosen, zip(*aggregates, strict=True) if aggregates else [()] * len(chosen), strict=True)
    return [dict(zip(nodes, (*plan.domain[group], *values), strict=True)) for group, values in rows]


def quotient(top: int, bottom: int) -> int | float:
    """top/bottom: an int over 1, else the nearest float; an infinity beyond the largest, which is not released."""
    try:
        near = top / bottom
    except OverflowError:
        return inf if top > 0 else -inf
    return top if bottom == 1 else near


def integral(scalar: Scalar, plan: Plan) -> bool:
    """Whether an expression is a whole number whatever is released: sums, differences and products of whole totals."""
    match scalar:
        case Literal():
            return scalar.type is Type.INTEGER and scalar.value is not None
        case Released():
            return plan.releases[scalar.index].whole(plan)
        case Key():
            return scalar.type is Type.INTEGER
        case Over():
            return all(integral(operand, plan) for operand in scalar.operands)
        case Arithmetic():
            whole = scalar.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY)
            return whole and integral(scalar.left, plan) and integral(scalar.right, plan)
        case _:
            return False


def output_type(scalar: Scalar, plan: Plan) -> Type:
    """The type of an output."""
    return Type.INTEGER if integral(scalar, plan) else type_of(scalar)
