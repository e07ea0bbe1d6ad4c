"""The reader of windows: over released numbers, and never over rows of a table.

A window over rows would make what becomes of one row depend on other people's.
"""

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.scalar import Literal, Over, Scalar, WindowFunction, released_in
from discreet.plan.sql.expressions import Clause, Expressions, reads
from discreet.plan.sql.refusals import Code

PLACES = {
    exp.Rank: WindowFunction.RANK,
    exp.DenseRank: WindowFunction.DENSE_RANK,
    exp.RowNumber: WindowFunction.ROW_NUMBER,
}
HINT = "over released numbers there are SUM(COUNT(*)) OVER (), and RANK, DENSE_RANK, ROW_NUMBER OVER (ORDER BY COUNT(*) DESC)"


def not_over_rows(read: Expressions, node: exp.Expr | None) -> QueryError:
    """The refusal of a window over rows."""
    return read.refusal(Code.WINDOW, "windows over rows of a table are not available", HINT, node)


@reads(exp.Window, args="this partition_by order over")
def _window(read: Expressions, node: exp.Window) -> Scalar:
    if read.place not in (Clause.SELECT, Clause.ORDER_BY) or node.args.get("over") != "OVER":
        raise not_over_rows(read, node)
    with read.at(Clause.OVER):
        partition = tuple(read.scalar(each) for each in node.args.get("partition_by") or ())
        order = _order(read, node.args.get("order"))
        called = node.this
        if type(called) is exp.Sum and not order:
            read.take(called, "this")
            operand = read.number(called.this)
            if not released_in(operand):
                raise not_over_rows(read, node)
            return Over(WindowFunction.SUM, (operand,), partition)
        if type(called) not in PLACES or not order:
            raise not_over_rows(read, node)
        read.take(called)
        return Over(PLACES[type(called)], (), partition, order)


def _order(read: Expressions, order: exp.Expr | None) -> tuple[tuple[Scalar, bool, bool], ...]:
    if order is None:
        return ()
    read.take(order, "expressions")
    sorts = []
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise read.unknown(node)
        read.take(node, "this", "desc", "nulls_first")
        value = read.scalar(node.this)
        if isinstance(value, Literal):
            hint = "order by a key or an aggregate"
            raise read.refusal(Code.CONSTANT, "a constant orders nothing", hint, node)
        sorts.append((value, bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
    return tuple(sorts)
