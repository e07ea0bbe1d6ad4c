"""Groups that a condition leaves: WHERE ward IN ('A', 'B') beside GROUP BY ward asks for two groups, whichever are declared.

Which groups there are follows from the question and from what is declared; no row is looked at. A condition tells which values of a key
can be there where it must be true of every row and reads no other column. Where nobody declared the values of a key, those that a
condition lists are its groups: whoever asks has named them. So it is where a survey tells some values: it need not have found all there
are, and never makes one that is named impossible.
"""

from collections.abc import Iterator
from itertools import takewhile

from discreet.errors import QueryError
from discreet.plan.catalog import one_number
from discreet.plan.domain import Effort, Values, size_of
from discreet.plan.evaluate import evaluate
from discreet.plan.relation import Filter, PerPerson, Rows, own_rows, walk
from discreet.plan.scalar import And, Column, Comparison, In, Literal, Order, Scalar, Value, columns_in
from discreet.plan.scope import Scope


def narrowed(
    keys: tuple[Scalar, ...], domains: tuple[Values | None, ...], source: Rows, scope: Scope
) -> tuple[Values | None, ...]:
    """The values of each key that the conditions of a question leave; None where they are still to be found."""
    conditions, effort = tuple(conditions_on(source)), Effort()
    return tuple(_left(key, values, conditions, effort, scope) for key, values in zip(keys, domains, strict=True))


def undecided(keys: tuple[Scalar, ...], source: Rows) -> tuple[Scalar, ...]:
    """The conditions of a question that are of more than one of its keys: of which groups they are true, only rows can tell."""
    columns, own = [{key} for key in keys if isinstance(key, Column)], list(_filters(source))
    beside = [condition for condition in conditions_on(source) if columns_in(condition) not in columns]
    # below rows of people, and in what is joined, names are of other columns
    others = [each for each in walk(source) if isinstance(each, Filter) and not any(each is one for one in own)]
    return tuple(beside + [each.condition for each in others])


def conditions_on(source: Rows) -> Iterator[Scalar]:
    """All that must be true of a row; of rows of people what must be true of these, and not of the rows that they are made of."""
    for part in _filters(source):
        yield from part.condition.parts if isinstance(part.condition, And) else (part.condition,)


def _filters(source: Rows) -> Iterator[Filter]:
    """The filters of the rows themselves: not of what is joined to them, and not of what rows of people are made of."""
    for part in takewhile(lambda each: not isinstance(each, PerPerson), own_rows(source)):
        if isinstance(part, Filter):
            yield part


def _left(
    key: Scalar, values: Values | None, conditions: tuple[Scalar, ...], effort: Effort, scope: Scope
) -> Values | None:
    if not isinstance(key, Column):
        return values
    about = [condition for condition in conditions if columns_in(condition) == {key}]
    survey = scope.field(key).surveyed
    named = next(filter(None, (named_by(key, each) for each in about)), None)
    listed = named if named is not None and (values is None or survey) else values
    if listed is None or not about:
        return values
    effort.take(len(listed) * sum(map(size_of, about)))
    left = tuple(v for v in listed if all(evaluate(each, {key.place: v}) is True for each in about))
    if not left:
        raise _no_group(key.name, survey if listed is values else "", declared=listed is values)
    return left


def _no_group(name: str, survey: str, *, declared: bool) -> QueryError:
    """The refusal of conditions that no value meets which is known; what a survey found need not be all there is."""
    if survey:
        return QueryError(
            f"none of the values of {name!r} that are known meets its conditions: these were {survey}, and there may be others",
            code="no-groups",
            hint=f"name the values that are meant: {name} IN (…), or remove a condition",
        )
    return QueryError(
        f"no group of {name!r} is left: its conditions contradict each other{', or what is declared' if declared else ''}",
        code="no-groups",
        hint="name values that can be there, or remove a condition",
    )


def named_by(key: Column, condition: Scalar) -> Values | None:
    """The values that a condition lists of a key, each of the type of the key."""
    match condition:
        case In(operand=operand, values=values) if operand == key:
            constants = list(values)
        case Comparison(order=Order.EQUAL, left=left, right=Literal() as right) if left == key:
            constants = [right]
        case _:
            return None
    if any(each.type is not key.type for each in constants):
        return None
    return tuple(dict.fromkeys(_one(each) for each in constants))


def _one(constant: Literal) -> Value:
    """A constant as a key: there is one zero."""
    return one_number(constant.value) if isinstance(constant.value, float) else constant.value
