"""Numbers of an answer, from released integers: exact until the last rounding.

What each aggregate is, its release says (`releases`); what is made of whole numbers by addition and multiplication is whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, TypeAlias, overload

import numpy as np

from discreet.errors import Fault
from discreet.plan.evaluate import clean, evaluate
from discreet.plan.plan import Plan
from discreet.plan.scalar import (
    Arithmetic,
    Grouping,
    Key,
    Literal,
    Operator,
    Over,
    Released,
    Scalar,
    Type,
    Value,
    type_of,
)

Row: TypeAlias = Mapping[Any, Value]
"""Released values by their nodes."""


class Columns(Sequence[Row]):
    """Rows of released values, kept as a list for each node. Rows are made where one is asked for, and then all of them, once."""

    __slots__ = ("_lists", "_rows", "_size")

    def __init__(self, lists: Mapping[Any, Sequence[Value]], size: int) -> None:
        self._lists, self._size = dict(lists), size
        self._rows: list[Row] | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, i: int) -> Row: ...

    @overload
    def __getitem__(self, i: slice) -> list[Row]: ...

    def __getitem__(self, i: int | slice) -> Row | list[Row]:
        return self._all()[i]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._all())

    def _all(self) -> list[Row]:
        if self._rows is None:
            nodes, lists = list(self._lists), list(self._lists.values())
            values = zip(*lists, strict=True) if lists else [()] * self._size
            self._rows = [dict(zip(nodes, row, strict=True)) for row in values]
        return self._rows

    def values(self, scalar: Scalar) -> list[Value]:
        """The values of an expression in all rows: what `evaluate` says for each."""
        if not isinstance(scalar, Key | Grouping | Released | Over):
            return [evaluate(scalar, row) for row in self]
        column = self._lists[scalar]
        return list(map(clean, column)) if float in set(map(type, column)) else list(column)

    def beside(self, lists: Mapping[Any, Sequence[Value]]) -> "Columns":
        """These rows, with more columns."""
        return Columns({**self._lists, **lists}, self._size) if lists else self

    @classmethod
    def joined(cls, parts: "Sequence[Columns]") -> "Columns":
        """The rows of all of these, which have the same columns, one after the other."""
        if len(parts) == 1:
            return parts[0]
        nodes = list(parts[0]._lists)
        return cls(
            {node: [value for part in parts for value in part._lists[node]] for node in nodes}, sum(map(len, parts))
        )

    def only(self, places: Iterable[int]) -> "Columns":
        """Some of these rows, in this order."""
        at = list(places)
        return Columns({node: [each[i] for i in at] for node, each in self._lists.items()}, len(at))


def columns(
    plan: Plan, released: Sequence[Any], groups: Sequence[int] | None = None, key_places: Sequence[int] | None = None
) -> Columns:
    """For each group of the domain, or for some, its keys and its aggregates, by the nodes that post-processing has for them.

    `key_places` are the places of the keys that a group has a value of, in a level of an answer; the others are NULL. None: all of them.
    """
    domain, size = plan.domain, len(plan.domain)
    if len(released) != plan.decided.width or any(len(each) != size for each in released):
        raise Fault("what was released is not what the plan measures", code="answer")
    chosen = range(size) if groups is None else groups
    numbers = [np.asarray(each, np.int64)[list(chosen)].tolist() for each in released]
    keys = [Key(j, type_of(key)) for j, key in enumerate(plan.question.keys)]
    places = {key: at for at, key in enumerate(range(len(keys)) if key_places is None else key_places)}
    lists: dict[Scalar, Sequence[Value]] = {
        key: [domain[group][places[key.index]] for group in chosen] if key.index in places else [None] * len(chosen)
        for key in keys
    }
    lists |= {Grouping(key): [int(key.index not in places)] * len(chosen) for key in keys}
    lists |= {
        Released(j, asked.kind.type_of(asked)): release.values(plan, numbers)
        for j, (asked, release) in enumerate(zip(plan.question.aggregates, plan.releases, strict=True))
    }
    return Columns(lists, len(chosen))


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
        case Grouping():
            return True
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
