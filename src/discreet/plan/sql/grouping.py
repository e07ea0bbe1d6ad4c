"""The readers of ROLLUP, CUBE, GROUPING SETS and GROUPING: which combinations of keys have rows, and which row is of which.

    ROLLUP (a, b)     (a, b), (a), ()
    CUBE (a, b)       (a, b), (a), (b), ()
    a, ROLLUP (b)     (a, b), (a): all combinations of what stands between commas

A combination that comes twice is shown once.
"""

from collections.abc import Callable
from itertools import combinations, product
from math import prod

from sqlglot import exp

from discreet.plan.scalar import Arithmetic, Grouping, Literal, Operator, Scalar, Type
from discreet.plan.sql.expressions import Clause, Expressions, reads
from discreet.plan.sql.refusals import Code

MOST_LEVELS = 64
MOST_BITS = 31
SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
RELEASED = (Clause.SELECT, Clause.HAVING, Clause.ORDER_BY, Clause.OVER)

Sets = list[tuple[int, ...]]
"""Combinations of keys, by their places."""


def levels_in(read: Expressions, nodes: list[exp.Expr], key: Callable[[exp.Expr], int]) -> Sets:
    """The grouping sets of what stands behind GROUP BY, each with its keys in order; `key` reads one and tells its place."""
    parts = [_sets(read, node, key) for node in nodes]
    if prod(map(len, parts)) > MOST_LEVELS:
        raise _too_many(read, nodes[0])
    levels = [tuple(sorted(set().union(*chosen))) for chosen in product(*parts)]
    return list(dict.fromkeys(levels))


def _sets(read: Expressions, node: exp.Expr, key: Callable[[exp.Expr], int]) -> Sets:
    """The sets of one item."""
    if not isinstance(node, SEVERAL):
        return [(key(node),)]
    read.take(node, "expressions")
    items = node.expressions
    if isinstance(node, exp.GroupingSets):
        inside = [each for item in items for each in _inside(read, item, key)]
        if not inside:
            hint = "write GROUPING SETS ((ward, smoker), (ward), ())"
            raise read.refusal(Code.GROUPING, "GROUPING SETS names no set", hint, node)
        return inside
    if not items or len(items) > (6 if isinstance(node, exp.Cube) else MOST_LEVELS - 1):
        if items:
            raise _too_many(read, node)
        name = "ROLLUP" if isinstance(node, exp.Rollup) else "CUBE"
        raise read.refusal(Code.GROUPING, f"{name} names no key", f"write GROUP BY {name} (ward, smoker)", node)
    each = [_together(read, item, key) for item in items]
    places = range(len(each))
    chosen = (
        [places[:size] for size in reversed(range(len(each) + 1))]
        if isinstance(node, exp.Rollup)
        else [some for size in reversed(range(len(each) + 1)) for some in combinations(places, size)]
    )
    return [tuple(place for i in some for place in each[i]) for some in chosen]


def _inside(read: Expressions, node: exp.Expr, key: Callable[[exp.Expr], int]) -> Sets:
    """The sets of one item of GROUPING SETS: a list in brackets is one, and so is a key alone."""
    return _sets(read, node, key) if isinstance(node, SEVERAL) else [_together(read, node, key)]


def _together(read: Expressions, node: exp.Expr, key: Callable[[exp.Expr], int]) -> tuple[int, ...]:
    """The keys of one item that are there or not together: (a, b), or a alone."""
    if isinstance(node, exp.Tuple):
        read.take(node, "expressions")
        return tuple(map(key, node.expressions))
    if isinstance(node, exp.Paren):
        read.take(node, "this")
        node = node.this
    return (key(node),)


def _too_many(read: Expressions, node: exp.Expr) -> Exception:
    message = f"GROUP BY has more than {MOST_LEVELS} grouping sets"
    return read.refusal(Code.GROUPING, message, "name the sets that are needed: GROUPING SETS ((a, b), (a), ())", node)


@reads(exp.Grouping, exp.GroupingId, args="expressions")
def _grouping(read: Expressions, node: exp.Func) -> Scalar:
    """The bits of several keys, that of the last one worth 1."""
    if read.place not in RELEASED:
        hint = "GROUPING stands in SELECT, HAVING and ORDER BY"
        raise read.refusal(Code.AGGREGATE_PLACE, f"GROUPING cannot stand in {read.place.value}", hint, node)
    if not 1 <= len(node.expressions) <= MOST_BITS:
        message = f"GROUPING needs one to {MOST_BITS} keys of GROUP BY"
        raise read.refusal(Code.FUNCTION, message, "write GROUPING(ward)", node)
    with read.at(Clause.GROUP_BY):
        bits = [Grouping(read.scalar(each)) for each in node.expressions]
    value: Scalar = bits[0]
    for bit in bits[1:]:
        twice = Arithmetic(Operator.MULTIPLY, Literal(2, Type.INTEGER), value)
        value = Arithmetic(Operator.ADD, twice, bit)
    return value
