"""The groups of a question, from what is declared: every key that can appear, also those that no row has.

Nothing is read from the data to find them. Rows whose keys are outside are left out, and the plan says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from itertools import product
from math import prod
from typing import Any

from discreet.errors import QueryError
from discreet.plan import moments
from discreet.plan.calendar import Grain, day_of, stretches
from discreet.plan.catalog import MOST_KEYS, listed, one_number
from discreet.plan.evaluate import evaluate, evaluate_each
from discreet.plan.facts import Facts
from discreet.plan.functions import function
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Scalar,
    Type,
    Value,
    by_name,
    children,
    columns_in,
    type_of,
)
from discreet.plan.scope import Scope

MOST_GROUPS = 100_000
TIMES = (Type.DATE, Type.TIMESTAMP)
MOST_EVALUATED = 2_000_000  # parts of expressions, to find the groups of one question: about two seconds
LETTERS = 128  # of a text that a function takes no longer for than for a number
FIND_THEM = (
    "or allow a delta, and they are found: --delta 1e-8 beside a budget that has one; or run `discreet survey` once"
)
Values = tuple[Value, ...]


@dataclass(slots=True)
class Effort:
    """How many parts of expressions may still be evaluated: a question is planned at no charge, and must not take for ever."""

    left: int = MOST_EVALUATED

    def take(self, parts: int) -> None:
        self.left -= parts
        if self.left < 0:
            raise QueryError(
                f"finding the groups of this question takes more than {MOST_EVALUATED:,} steps:"
                " the declared values of the columns, times the parts of the keys of GROUP BY",
                code="too-many-steps",
                hint="group by shorter expressions, by columns with fewer declared values, or by CASE bins",
            )


def whole_key(key: Scalar, scope: Scope) -> Scalar:
    """A key that is a whole number, as an integer."""
    if type_of(key) is Type.NUMBER and facts_of(key, scope).integral:
        return Cast(key, Type.INTEGER)
    return key


def domains_of(keys: tuple[Scalar, ...], scope: Scope) -> tuple[Values | None, ...]:
    """The values of each key, in the order of their declarations; None for a key of columns whose values nobody declared."""
    effort = Effort()
    return tuple(_values(key, scope, effort) for key in keys)


def groups_of(domains: Sequence[Values]) -> tuple[Values, ...]:
    """All combinations of the values of all keys; one empty one where there are no keys."""
    total = prod(map(len, domains))
    if total > MOST_GROUPS:
        raise QueryError(
            f"the keys of GROUP BY make {total:,} groups, and at most {MOST_GROUPS:,} can be answered",
            code="too-many-groups",
            hint="group by fewer columns, by CASE bins, or a date by YEAR(…) or DATE_TRUNC('month', …)",
        )
    return tuple(product(*domains))


def _values(key: Scalar, scope: Scope, effort: Effort) -> Values | None:
    values = values_of(key, scope, effort)
    if type_of(key) is Type.NUMBER and not copied(key):
        raise QueryError(
            "a key of GROUP BY must be a text, a whole number, a date, a boolean or a number that is taken as it is,"
            " and this one is a number with decimals that is computed",
            code="number-key",
            hint="group by the column itself, by whole numbers, such as FLOOR(x / 10) * 10, or by CASE bins",
        )
    if values is None:
        return None
    if type_of(key) is Type.NUMBER:
        values = tuple(None if value is None else one_number(value) for value in values)
    if not values:
        raise QueryError(
            "a key of GROUP BY has no groups: no value that is known gives one",
            code="no-groups",
            hint="group by a column that has declared keys, or by CASE bins",
        )
    return tuple(dict.fromkeys(values))


def groupless(key: Scalar, scope: Scope) -> bool:
    """Whether no value that is known of its one column falls into any group of a key. NULL is one if it is named."""
    columns = columns_in(key)
    if len(columns) != 1 or not children(key) or _names_null(key):
        return False
    (column,) = columns
    inside = _listed(column, scope, Effort())
    values = () if inside is None else (*inside, *([None] if scope.facts(column).nullable else []))
    if not values or len(values) * size_of(key) > MOST_EVALUATED:
        return False
    return all(evaluate(key, {column.place: value}) is None for value in values)


def copied(key: Scalar) -> bool:
    """Whether a value is taken over as it stands somewhere: then every engine has the same double, to the last bit."""
    match key:
        case Column() | Literal():
            return True
        case Case():
            return all(map(copied, [*(value for _, value in key.branches), key.otherwise]))
        case Coalesce():
            return all(map(copied, key.parts))
        case _:
            return False


def complete(key: Scalar) -> bool:
    """Whether every row has one of the values of a key, so that none need be left out: bins that name all their values."""
    match key:
        case Case():
            return all(isinstance(value, Literal) for value in [*(v for _, v in key.branches), key.otherwise])
        case IsNull() | Literal():
            return True
        case _:
            return False


def values_of(key: Scalar, scope: Scope, effort: Effort | None = None) -> Values | None:
    """Every value that an expression can take on declared rows, or None where there is no list of them.

    Bins that name all their values are listed as they are named. Of another function of one column whose values are listed it is the
    image of that list, and nothing that cannot come of it.
    """
    rules = (_listed, _combined, _counted) if complete(key) else (_image, _listed, _combined, _counted)
    for rule in rules:
        values = rule(key, scope, effort or Effort())
        if values is not None:
            return values
    return None


@singledispatch
def _listed(key: Scalar, scope: Scope, effort: Effort) -> Values | None:
    return None


@_listed.register
def _literal(key: Literal, scope: Scope, effort: Effort) -> Values | None:
    return (key.value,)


@_listed.register
def _column(key: Column, scope: Scope, effort: Effort) -> Values | None:
    known = scope.field(key)
    return listed(known.type, scope.facts(key), known.keys)


@_listed.register
def _condition(key: Comparison | And | Or | Not | IsNull | In | Like, scope: Scope, effort: Effort) -> Values | None:
    return (False, True)


@_listed.register
def _cast(key: Cast, scope: Scope, effort: Effort) -> Values | None:
    return (False, True) if key.type is Type.BOOLEAN else None


@_listed.register
def _function(key: Function, scope: Scope, effort: Effort) -> Values | None:
    return (False, True) if type_of(key) is Type.BOOLEAN else None


@_listed.register
def _case(key: Case, scope: Scope, effort: Effort) -> Values | None:
    return _union([*(value for _, value in key.branches), key.otherwise], scope, effort)


@_listed.register
def _coalesce(key: Coalesce, scope: Scope, effort: Effort) -> Values | None:
    return _union(list(key.parts), scope, effort)


def _union(parts: list[Scalar], scope: Scope, effort: Effort) -> Values | None:
    union: list[Value] = []
    for part in parts:
        values = values_of(part, scope, effort)
        if values is None:
            return None
        union += values
    return tuple(dict.fromkeys(union))


def _image(key: Scalar, scope: Scope, effort: Effort) -> Values | None:
    """The values of a function of one column that has a list of values, evaluated on each of them, and on NULL if there may be one.

    NULL is a group, the last one, where a listed value gives it, or a missing one in a question that names NULL; else rows
    without a value are left out, as they are where the column itself is the key.
    """
    columns = columns_in(key)
    if len(columns) != 1 or not children(key):
        return None
    (column,) = columns
    days = _days(column, key, scope)
    inside = _listed(column, scope, effort) if days is None else days
    if inside is None:
        return None
    effort.take(len(inside) * size_of(key))
    images = evaluate_each(key, column.place, inside)
    missing = [evaluate(key, {column.place: None})] if scope.facts(column).nullable else []
    null = None in images or (None in missing and _names_null(key))
    values = dict.fromkeys(value for value in images + missing if value is not None)
    ordered: Iterable[Value] = values
    if type_of(key) is Type.BOOLEAN:
        ordered = [value for value in (False, True) if value in values]
    elif days is not None:
        ordered = _in_order(key, list(values))
    return (*ordered, None) if null else tuple(ordered)


def _days(column: Column, key: Scalar, scope: Scope) -> Values | None:
    """Some days of a date, or moments, between bounds on which a key has all of its values: one of each stretch on which it cannot change.

    None for all other columns, and where there would be too many.
    """
    known, facts = scope.field(column), scope.facts(column)
    if known.type not in TIMES or known.keys is not None or facts.low is None or facts.high is None:
        return None
    days: Sequence[Value] | None
    if known.type is Type.DATE:
        days = stretches(day_of(facts.low), day_of(facts.high), _grain(key, column) or Grain.DAY, MOST_KEYS)
    else:
        ends = moments.moment_of(facts.low), moments.moment_of(facts.high)
        days = moments.stretches(*ends, _grain(key, column) or Grain.INSTANT, MOST_KEYS)
    return None if days is None else tuple(days)


def _grain(key: Scalar, column: Column) -> Grain | None:
    """How long an expression stays what it is while the days or moments of a column go by; None where the column is not in it."""
    finest = Grain.DAY if column.type is Type.DATE else Grain.INSTANT
    if key == column:
        return finest
    outer = finest
    if isinstance(key, Function):
        outer = function(key.name).grain
    elif isinstance(key, Cast) and key.type is Type.DATE and type_of(key.operand) is Type.TIMESTAMP:
        outer = Grain.DAY
    inside = [_within(outer, child, column) for child in children(key)]
    grains = [grain for grain in inside if grain is not None]
    return reduce(Grain.finest, grains) if grains else None


def _within(outer: Grain, child: Scalar, column: Column) -> Grain | None:
    """How long what has a grain stays what it is of an operand; of a column that is only moved, as long as its grain."""
    moves = _moves(child, column)
    return _grain(child, column) if moves is None else reduce(Grain.finest, moves, outer)


def _moves(scalar: Scalar, column: Column) -> list[Grain] | None:
    """For a column, its days, and moments that are moved by a constant: stretches of which grains stay such; else None.

    Moved by whole hours an hour is an hour, and by days a day is a day; on its day a moment stays through all that is made of days.
    """
    match scalar:
        case Column() if scalar == column:
            return []
        case Cast(operand=operand, type=Type.DATE) if type_of(operand) is Type.TIMESTAMP:
            return _moves(operand, column)
        case Function(name=name, operands=(operand, Literal(value=int(count)))) if name in MOVED:
            inside = _moves(operand, column)
            return None if inside is None else [*inside, _moved_by(MOVED[name], count)]
    return None


MOVED = {"timestamp_plus_seconds": moments.SECOND, "timestamp_plus_days": moments.DAY}


def _moved_by(unit: int, count: int) -> Grain:
    """The longest grain of moments whose stretches stay stretches when they are moved by so many units."""
    if unit * count % moments.DAY == 0:
        return Grain.DAY
    return max(
        (grain for grain, step in moments.STEPS.items() if unit * count % step == 0), key=moments.STEPS.__getitem__
    )


def _in_order(key: Scalar, values: list[Any]) -> list[Value]:
    """What comes of days in order is in order, but for what comes back every year: that has its own."""
    if isinstance(key, Function) and function(key.name).values:
        return [value for value in function(key.name).values if value in values]
    return values if type_of(key) is Type.TEXT else sorted(values)


def size_of(key: Scalar) -> int:
    """How many parts are evaluated; each counts for more where functions make texts of long constants, or of many columns."""
    nodes, letters, makes = _weight(key)
    return nodes * (1 + letters // LETTERS if makes else 1)


def _weight(key: Scalar) -> tuple[int, int, bool]:
    """The nodes of an expression, about how many letters it puts together, and whether a function makes a text."""
    inside = [_weight(each) for each in children(key)]
    letters = (
        len(key.value) if isinstance(key, Literal) and isinstance(key.value, str) else 16 * isinstance(key, Column)
    )
    makes = isinstance(key, Function) and type_of(key) is Type.TEXT
    nodes = 1 + sum(each for each, _, _ in inside)
    return nodes, letters + sum(each for _, each, _ in inside), makes or any(each for _, _, each in inside)


def _names_null(key: Scalar) -> bool:
    return (isinstance(key, Literal) and key.value is None) or any(map(_names_null, children(key)))


def _combined(key: Scalar, scope: Scope, effort: Effort) -> Values | None:
    """The values of a function of parts that have lists, evaluated on all combinations; some of them may never come."""
    if not isinstance(key, Arithmetic | Function | Cast):
        return None
    inside = children(key)
    domains = []
    for part in inside:
        values = values_of(part, scope, effort)
        if values is None:
            return None
        domains.append([constant_of(value, type_of(part)) for value in values])
    combinations = prod(map(len, domains))
    if combinations > MOST_KEYS:
        return None
    effort.take(combinations * (1 + len(domains)))
    images = (evaluate(_with_children(key, chosen), {}) for chosen in product(*domains))
    return tuple(dict.fromkeys(value for value in images if value is not None))


def constant_of(value: Value, kind: Type) -> Literal:
    """A value as a constant of a type; whole numbers among numbers are written as such."""
    return Literal(float(value) if kind is Type.NUMBER and isinstance(value, int) else value, kind)


def _with_children(key: Arithmetic | Function | Cast, parts: tuple[Literal, ...]) -> Scalar:
    match key:
        case Arithmetic():
            return replace(key, left=parts[0], right=parts[1])
        case Function():
            return replace(key, operands=parts)
        case Cast():
            return replace(key, operand=parts[0])


def _counted(key: Scalar, scope: Scope, effort: Effort) -> Values | None:
    """The whole numbers between the bounds of an expression that is rounded to whole numbers, or that is one."""
    if isinstance(key, Function) and function(key.name).values:
        return function(key.name).values
    if not (function(key.name).counted if isinstance(key, Function) else _is_whole(key, scope)):
        return None
    facts = facts_of(key, scope)
    if facts.low is None or facts.high is None or facts.high - facts.low >= MOST_KEYS:
        return None
    whole = range(int(facts.low), int(facts.high) + 1)
    return tuple(whole) if type_of(key) is Type.INTEGER else tuple(map(float, whole))


def _is_whole(key: Scalar, scope: Scope) -> bool:
    """Whether an expression is a whole number that is taken for an integer, such as LEAST(n, 20)."""
    return isinstance(key, Cast) and key.type is Type.INTEGER and facts_of(key.operand, scope).integral


def without_keys(key: Scalar, scope: Scope, why: str) -> QueryError:
    """The refusal of a key whose values are neither declared nor can be found here."""
    columns = sorted(columns_in(key), key=by_name)
    missing = [column for column in columns if values_of(column, scope) is None]
    name = missing[0].name if missing else columns[0].name if columns else "the key"
    facts = Facts() if not missing else scope.facts(missing[0])
    dated = bool(missing) and missing[0].type in TIMES
    if dated and missing[0].type is Type.TIMESTAMP and facts.bounded:
        return QueryError(
            f"GROUP BY would make more than {MOST_KEYS:,} groups of the moments between the bounds of {name!r}, and no more can be listed",
            code="too-many-groups",
            hint=f"group by DATE({name}), DATE_TRUNC('month', {name}), HOUR({name}) or STRFTIME({name}, '%Y-%m'), or declare narrower"
            f" bounds for DATE_TRUNC('hour', {name})",
        )
    if dated and facts.low is not None and facts.high is not None:
        return QueryError(
            f"GROUP BY would make a group of each of the {int(facts.high - facts.low) + 1:,} days between the bounds of {name!r},"
            f" and at most {MOST_KEYS:,} can be listed",
            code="too-many-groups",
            hint=f"group by YEAR({name}), DATE_TRUNC('month', {name}) or STRFTIME({name}, '%Y-%m'), declare narrower bounds,"
            " or bin numbers of days: FLOOR(… / 30)",
        )
    example = f'--keys {name}=A,B,C (or keys = ["A", "B", "C"] in the policy)'
    if dated:
        example = f"--bounds {name}=2020-01-01:2024-12-31 (or bounds = [2020-01-01, 2024-12-31] in the policy)"
    elif facts.integral:
        example = f"--bounds {name}=LOW:HIGH or {example}"
    return QueryError(
        f"GROUP BY needs the keys of {name!r}, which nobody declared: {why}",
        code="missing-keys",
        hint=f"declare them: {example}; {FIND_THEM}; or group by CASE bins",
    )
