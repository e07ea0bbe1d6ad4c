"""Expressions made anew over changed parts."""

from collections.abc import Callable

from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    Grouping,
    In,
    IsNull,
    Key,
    Like,
    Literal,
    Not,
    Or,
    Over,
    Released,
    Scalar,
)


def rebuilt(scalar: Scalar, change: Callable[[Scalar], Scalar]) -> Scalar:
    """This node over changed children."""
    match scalar:
        case Column() | Literal() | Key() | Released():
            return scalar
        case Arithmetic():
            return Arithmetic(scalar.operator, change(scalar.left), change(scalar.right))
        case Comparison():
            return Comparison(scalar.order, change(scalar.left), change(scalar.right))
        case And() | Or() | Coalesce():
            return type(scalar)(tuple(map(change, scalar.parts)))
        case Not() | IsNull() | Grouping():
            return type(scalar)(change(scalar.operand))
        case In():
            return In(change(scalar.operand), scalar.values)
        case Like():
            return Like(change(scalar.operand), scalar.pattern, scalar.ignore_case)
        case Cast():
            return Cast(change(scalar.operand), scalar.type)
        case Function():
            return Function(scalar.name, tuple(map(change, scalar.operands)))
        case Over():
            order = tuple((change(value), descending, first) for value, descending, first in scalar.order)
            operands, partition = (tuple(map(change, each)) for each in (scalar.operands, scalar.partition))
            return Over(scalar.function, operands, partition, order)
        case Case():
            return Case(
                tuple((change(when), change(value)) for when, value in scalar.branches), change(scalar.otherwise)
            )
    raise TypeError(f"{type(scalar).__name__} cannot stand in a question")
