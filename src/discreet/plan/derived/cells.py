"""Which groups of an answer make up each group of another question, and what of that question's rows lies in none of them.

The questions must be of the same rows, but for conditions that the groups decide. Then each group of the one is a set of groups of the
other, in which each of its rows lies once; save for rows whose keys are none of those that are known, which nobody asked about by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from itertools import pairwise, product
from math import prod
from typing import Any

from discreet.plan.derived.deciding import days_of, decided, of_date, values_on
from discreet.plan.domain import MOST_GROUPS, Effort, Values, complete, values_of, whole_key
from discreet.plan.draft import Draft
from discreet.plan.narrowing import named_by
from discreet.plan.relation import Filled, Filter, Relation, Rows, Scan, Typed
from discreet.plan.scalar import (
    And,
    Column,
    Comparison,
    Function,
    In,
    Literal,
    Not,
    Order,
    Scalar,
    Type,
    Value,
    columns_in,
    type_of,
)
from discreet.plan.written import notation

Group = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AskedRows:
    """The rows of a question: which conditions are on them, by their notation, and all else that makes them."""

    conditions: Mapping[str, Scalar]
    others: str

    @classmethod
    def of(cls, source: Rows) -> "AskedRows":
        conditions: dict[str, Scalar] = {}
        while isinstance(source, Filter):
            parts = source.condition.parts if isinstance(source.condition, And) else (source.condition,)
            conditions |= {notation(part): part for part in parts}
            source = source.source
        return cls(conditions, notation(_bare(source)))


def _bare(part: Any) -> Any:
    """Rows without what is there because it is read: which columns of a table are, and how each becomes a value, which its declaration
    says."""
    if isinstance(part, tuple):
        return tuple(map(_bare, part))
    if isinstance(part, Typed | Filled):
        return _bare(part.source)
    if isinstance(part, Scan):
        return replace(part, columns=())
    if not isinstance(part, Relation):
        return part
    return replace(part, **{each.name: _bare(getattr(part, each.name)) for each in fields(part)})


@dataclass(frozen=True, slots=True)
class GroupCells:
    """The groups of a question, and for each the groups of an answer that it is the sum of: of none where conditions leave it no row."""

    groups: tuple[tuple[Group, tuple[Group, ...]], ...]
    lost: tuple[Scalar, ...]
    """The keys of the answer by which rows are left out of it, for having none of its values, that the question counts."""

    @property
    def merged(self) -> bool:
        """Whether a group is the sum of several."""
        return any(len(cells) > 1 for _, cells in self.groups)

    @property
    def size(self) -> int:
        """How many groups of the answer there are in all."""
        return sum(len(cells) for _, cells in self.groups)


def cells_of(draft: Draft, source: Rows, keys: tuple[Scalar, ...], domain: Sequence[Group]) -> GroupCells | None:
    """How the groups of a question are made of those of an answer, by its rows and keys; None where they are not."""
    asked, answered = AskedRows.of(draft.question.source), AskedRows.of(source)
    if asked.others != answered.others:
        return None
    more = [each for name, each in asked.conditions.items() if name not in answered.conditions]
    less = [each for name, each in answered.conditions.items() if name not in asked.conditions]
    told = set[Column]().union(*map(columns_in, keys))
    if any(columns_in(each) - told for each in (*more, *less)):
        return None  # which no group decides: said before any is looked at
    listed = _listed(draft, keys, domain, list(asked.conditions.values()), sought=not less)
    if listed is None or prod(map(len, listed)) > MOST_GROUPS:
        return None
    # every group that a row of the question may lie in, of those that are known
    there, undecided = _where(more, keys, list(product(*listed)))
    groups = None if undecided else _sorted_into(draft, keys, there)
    if groups is not None and any(len(each) > 1 for each in groups.values()):
        # what both leave out by their keys has noise alone, which need not be summed
        both = [each for name, each in asked.conditions.items() if name in answered.conditions]
        groups = _sorted_into(draft, keys, _where(both, keys, there)[0])
    cells = [] if groups is None else [cell for each in groups.values() for cell in each]
    if groups is None or not cells or not set(cells) <= set(domain):
        return None
    if _where(less, keys, cells) != (cells, []):  # the answer has left out rows that are asked about
        return None
    lost = tuple(
        key for i, key in enumerate(keys) if not _confined(key, i, draft, keys, cells, list(asked.conditions.values()))
    )
    return GroupCells(tuple((group, tuple(each)) for group, each in groups.items()), lost)


def _sorted_into(draft: Draft, keys: tuple[Scalar, ...], cells: list[Group]) -> dict[Group, list[Group]] | None:
    """The groups of a question, each with those of these groups of an answer that are of it; None where one can be of several."""
    images = []
    for asked, key in zip(draft.question.keys, draft.keys, strict=True):
        values = decided(asked, keys, cells)
        if values is None:
            return None
        images.append(_as_keys(values, key))
    named = list(zip(*images, strict=True)) if images else [()] * len(cells)
    groups: dict[Group, list[Group]] = {group: [] for group in draft.groups or dict.fromkeys(_known(named, draft))}
    for cell, group in zip(cells, named, strict=True):
        if group in groups:
            groups[group].append(cell)
    return groups


def _known(groups: Sequence[Group], draft: Draft) -> list[Group]:
    """The groups that a question can have, as far as its keys are known."""
    domains = draft.domains
    return [g for g in groups if all(known is None or value in known for value, known in zip(g, domains, strict=True))]


def _as_keys(values: Sequence[Value], key: Scalar) -> list[Value]:
    """Values as they are in the groups of a question."""
    whole = type_of(key) is Type.INTEGER
    return [int(value) if whole and isinstance(value, float) else value for value in values]


def _where(
    conditions: Sequence[Scalar], keys: Sequence[Scalar], groups: list[Group]
) -> tuple[list[Group], list[Scalar]]:
    """The groups on whose rows all conditions are true, as far as groups decide them, and those that they do not decide: in whatever order
    they stand, since one may be decided on what another leaves."""
    undecided = list(conditions)
    while True:
        left = []
        for condition in undecided:
            truths = decided(condition, keys, groups)
            if truths is None:
                left.append(condition)
            else:
                groups = [group for group, truth in zip(groups, truths, strict=True) if truth is True]
        if len(left) == len(undecided):
            return groups, left
        undecided = left


def _listed(
    draft: Draft, keys: tuple[Scalar, ...], domain: Sequence[Group], conditions: Sequence[Scalar], sought: bool
) -> list[Values] | None:
    """For each key of the answer the values that rows of the question can have, of those that are known. Where nothing is, those that the
    answer has, if that found them and has all rows (`sought`); else None."""
    lists: list[Values] = []
    effort, scope = Effort(), draft.scope.unfiltered
    for i, key in enumerate(keys):
        values = _named(key, conditions) or _same(key, draft) or values_of(whole_key(key, scope), scope, effort)
        if values is None and not sought:
            return None
        own = tuple(dict.fromkeys(group[i] for group in domain))
        # where the keys of rows that miss it make a group, the answer has it last
        lists.append(own if values is None else tuple(dict.fromkeys(_as_keys(values, whole_key(key, scope)))))
    return lists


def _named(key: Scalar, conditions: Sequence[Scalar]) -> Values | None:
    """The values that a condition of the question lists of a key."""
    if not isinstance(key, Column):
        return None
    for each in conditions:
        if key in (each, each.operand if isinstance(each, Not) else None):
            return (each == key,)  # a flag that must be true, or must not
        values = named_by(key, each)
        if values is not None:
            return values
    return None


def _same(key: Scalar, draft: Draft) -> Values | None:
    """The values of a key that the question has, too."""
    for asked, values in zip(draft.question.keys, draft.domains, strict=True):
        if notation(asked) == notation(key):
            return values
    return None


# Rows that are in no group that is known.


def _confined(
    key: Scalar, at: int, draft: Draft, keys: tuple[Scalar, ...], cells: Sequence[Group], conditions: Sequence[Scalar]
) -> bool:
    """Whether every row of the question has one of the values of a key that its groups have here."""
    if complete(key) or _named(key, conditions) is not None or _same(key, draft) is not None:
        return True
    own = {cell[at] for cell in cells}
    if any(values is not None and values <= own for values in (_told(key, each) for each in conditions)):
        return True
    return any(_between(days.day, stretches, draft, conditions) for days, stretches in _own_days(key, at, keys, cells))


def _told(key: Scalar, condition: Scalar) -> set[Value] | None:
    """The values of an expression that a condition leaves: those that it lists."""
    match condition:
        case In(operand=operand, values=values) if notation(operand) == notation(key):
            return {each.value for each in values}
        case Comparison(order=Order.EQUAL, left=left, right=Literal() as right) if notation(left) == notation(key):
            return {right.value}
    return None


def _own_days(
    key: Scalar, at: int, keys: tuple[Scalar, ...], cells: Sequence[Group]
) -> Iterator[tuple[Any, list[tuple[date, date]]]]:
    """The days that a key stands for: it, or a part of it such as the month of a year, which on all of them is one that groups have here:
    a week that is told by another key may begin in one year and end in the next."""
    own = {cell[at] for cell in cells}
    for days in days_of(keys, cells):
        inner = of_date(key)
        part = isinstance(inner, Function) and inner.operands == (days.day,)
        if (key == days.day or part) and None not in days.stretches:
            stretches = sorted({each for each in days.stretches if each is not None})
            values = values_on(key, days.day, stretches)
            if values is not None and values <= own:
                yield days, stretches


def _between(day: Scalar, stretches: Sequence[tuple[date, date]], draft: Draft, conditions: Sequence[Scalar]) -> bool:
    """Whether the question leaves out every day before these stretches and after them, which follow on each other.

    What never falls as days go by, and is too small on the day before, is too small on all days before that; and so after.
    """
    gaps = any(later[0] - earlier[1] > timedelta(days=1) for earlier, later in pairwise(stretches))
    first, last = stretches[0][0], stretches[-1][1]
    low = first == date.min or _left_out(day, first - timedelta(days=1), draft, conditions, below=True)
    high = last == date.max or _left_out(day, last + timedelta(days=1), draft, conditions, below=False)
    return low and high and not gaps


def _left_out(day: Scalar, beside: date, draft: Draft, conditions: Sequence[Scalar], *, below: bool) -> bool:
    orders = {Order.EQUAL, *((Order.GREATER, Order.GREATER_OR_EQUAL) if below else (Order.LESS, Order.LESS_OR_EQUAL))}
    for each in conditions:
        match each:
            case Comparison(order=order, left=left, right=Literal()) if order in orders and _rises(left, day):
                if decided(each, (day,), [(beside,)]) == [False]:
                    # an equality must fail on this side: what is asked for lies on the other one
                    inside = replace(each, order=Order.GREATER if below else Order.LESS)
                    if order is not Order.EQUAL or decided(inside, (day,), [(beside,)]) == [False]:
                        return True
    for key, values in zip(draft.question.keys, draft.domains, strict=True):
        known = [value for value in values or () if value is not None]
        if _rises(key, day) and known:
            image: Any = (decided(key, (day,), [(beside,)]) or [None])[0]
            if image is not None and (image < min(known) if below else image > max(known)):
                return True
    return False


def _rises(scalar: Scalar, day: Scalar) -> bool:
    """Whether an expression never falls as days go by."""
    scalar = of_date(scalar)
    if scalar == day:
        return True
    match scalar:
        case Function(name=name, operands=(operand,)) if operand == day:
            return name == "year" or name.startswith("date_trunc_")
    return False
