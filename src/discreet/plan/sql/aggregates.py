"""Readers of aggregates: what is released. Names inside them are columns of the table."""

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.question import Kind
from discreet.plan.scalar import Column, Literal, Scalar
from discreet.plan.sql.expressions import READERS, RELEASED, Expressions, Place, reads
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.values import Mismatch, is_null


@reads(exp.Count, args="this expressions big_int")
@reads(exp.Sum, exp.Avg, args="this")
def _aggregate(read: Expressions, node: exp.AggFunc) -> Scalar:
    return aggregate_of(read, node, None)


@reads(exp.Filter, args="this expression")
def _filter(read: Expressions, node: exp.Filter) -> Scalar:
    where = node.expression
    if type(node.this) not in (exp.Count, exp.Sum, exp.Avg) or type(where) is not exp.Where:
        raise read.unknown(node.this)
    read.take(node.this, *READERS[type(node.this)][0])
    read.take(where, "this")
    return aggregate_of(read, node.this, where.this)


def aggregate_of(read: Expressions, node: exp.AggFunc, where: exp.Expr | None) -> Scalar:
    """The released column of an aggregate. Names inside it are columns of the table."""
    if read.place not in RELEASED:
        raise read.refusal(
            Code.AGGREGATE_PLACE,
            f"{node.key.upper()} cannot stand in {read.place.value}",
            "aggregates stand in SELECT, HAVING and ORDER BY, and not inside each other",
            node,
        )
    condition = None
    if where is not None:
        with read.at(Place.FILTER):
            condition = read.condition(where)
    if isinstance(node, exp.Count):
        return _counted(read, node, condition)
    inner = node.this
    if isinstance(inner, exp.Distinct):
        raise _not_distinct(read, node)
    with read.at(Place.ARGUMENT):
        argument = read.number(inner)
    if is_null(argument):
        raise Mismatch("NULL alone cannot be summed")
    return read.aggregated(Kind.SUM if isinstance(node, exp.Sum) else Kind.AVERAGE, argument, condition)


def _counted(read: Expressions, node: exp.Count, condition: Scalar | None) -> Scalar:
    inner = node.this
    if node.expressions:
        raise read.refusal(Code.FUNCTION, "COUNT has one argument", "write COUNT(*) or COUNT(x)", node)
    if inner is None:
        return read.aggregated(Kind.COUNT, None, condition)
    if isinstance(inner, exp.Star):
        read.take(inner)
        return read.aggregated(Kind.COUNT, None, condition)
    with read.at(Place.ARGUMENT):
        if isinstance(inner, exp.Distinct):
            read.take(inner, "expressions")
            found = [read.scalar(each) for each in inner.expressions]
            if len(found) != 1 or not isinstance(found[0], Column) or found[0].name != read.person:
                raise _not_distinct(read, node)
            return read.aggregated(Kind.PEOPLE, None, condition)
        argument = read.scalar(inner)
    if is_null(argument):
        raise Mismatch("NULL alone cannot be counted")
    return read.aggregated(Kind.COUNT, None if isinstance(argument, Literal) else argument, condition)


def _not_distinct(read: Expressions, node: exp.Expr) -> QueryError:
    hint = "use GROUP BY on a column with declared keys"
    if read.person is not None:
        hint = f"COUNT(DISTINCT {read.person}) counts people; for other columns {hint}"
    return read.refusal(Code.DISTINCT, "only people are counted as DISTINCT", hint, node)
