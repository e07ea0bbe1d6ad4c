"""Long lists of values, such as the keys of a column: parameters of a query, instead of a part of its text."""

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from discreet.engines.render.nodes import E, chain
from discreet.engines.render.scalars import ScalarWriter
from discreet.plan.scalar import In, Or, Scalar, Value, type_of

LONG = 1_000  # values of a list that is handed over
Lists: TypeAlias = dict[str, Sequence[Value]]


def in_a_long_list(condition: Scalar, over: ScalarWriter, lists: Lists) -> E | None:
    """Whether a value is one of many, or missing where that is asked too; None for any other condition.

    An engine is handed such a list, which it would take longer to read than to go through all rows: it is added to `lists`, under the
    name of its parameter.
    """
    if isinstance(condition, Or):
        parts = [in_a_long_list(each, over, lists) for each in condition.parts]
        if all(part is None for part in parts):
            return None
        others = zip(condition.parts, parts, strict=True)
        return chain(exp.Or, [over.clean(part).sql if sql is None else sql for part, sql in others])
    if not isinstance(condition, In) or len(condition.values) < LONG:
        return None
    type = type_of(condition.operand)
    name, values = f"list{len(lists)}", [each.value for each in condition.values if each.type is type]
    if len(values) < len(condition.values) or None in values:
        return None
    test = over.words.in_list(over.clean(condition.operand).sql, name, type)
    if test is not None:
        lists[name] = values
    return test
