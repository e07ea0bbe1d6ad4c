"""Readers of aggregates: what is released. Which there are, and how the arguments of each are read, the kinds of release say.

Names inside an aggregate are columns of the table.
"""

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.scalar import Cast, Scalar, Type
from discreet.plan.sql.expressions import RELEASED, Clause, Expressions, reads
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.values import Mismatch, checked_number, kind

INNER = "aggregate in the outermost SELECT: a sub-query filters rows, and computes columns of each"
NOTED = ("big_int",)
"""What the parser notes on a call for itself; its arguments apart, nothing else may be set."""


@reads(exp.AggFunc, args="")
def _aggregate(read: Expressions, node: exp.Func) -> Scalar:
    return aggregate_of(read, node, None)


@reads(exp.Filter, args="this expression")
def _filter(read: Expressions, node: exp.Filter) -> Scalar:
    where = node.expression
    if isinstance(node.this, exp.WithinGroup) and type(where) is exp.Where:
        read.take(where, "this")
        return _ordered(read, node.this, where.this)
    if read.release_name(node.this) is None or type(where) is not exp.Where:
        raise read.unknown(node.this)
    read.take(where, "this")
    return aggregate_of(read, node.this, where.this)


@reads(exp.WithinGroup, args="this expression")
def _within_group(read: Expressions, node: exp.WithinGroup) -> Scalar:
    return _ordered(read, node, None)


def _ordered(read: Expressions, node: exp.WithinGroup, where: exp.Expr | None) -> Scalar:
    """An aggregate of what WITHIN GROUP orders by."""
    read.take(node, "this", "expression")
    order = node.expression
    name = read.release_name(node.this)
    if name is None or type(order) is not exp.Order:
        raise read.unknown(node.this)
    if len(order.expressions) != 1:
        hint = f"write {name}(0.5) WITHIN GROUP (ORDER BY x)"
        raise read.refusal(Code.FUNCTION, f"{name} orders by one number", hint, node)
    read.take(order, "expressions")
    (by,) = order.expressions
    if type(by) is not exp.Ordered:
        raise read.unknown(by)
    read.take(by, "this", "desc", "nulls_first")
    return aggregate_of(read, node.this, where, by)


def aggregate_of(read: Expressions, node: exp.Func, where: exp.Expr | None, by: exp.Ordered | None = None) -> Scalar:
    """The released number of an aggregate."""
    name = read.release_name(node) or ""
    read.take(node, *(each for each, value in node.args.items() if _arguments(value)), *NOTED, *_name(node))
    if read.place not in RELEASED:
        raise read.refusal(
            Code.AGGREGATE_PLACE,
            f"{name} cannot stand in {read.place.value}",
            INNER
            if read.place is Clause.INNER
            else "aggregates stand in SELECT, HAVING and ORDER BY, and not inside each other",
            node,
        )
    condition = None
    if where is not None:
        with read.at(Clause.FILTER):
            condition = read.condition(where)
    call = AggregateCall(read, node, name, condition, by)
    with read.at(Clause.ARGUMENT):
        called = read.called(name, call)
        call.check_read()
    return called


class AggregateCall:
    """A call of an aggregate: what its kind reads of it."""

    def __init__(
        self, read: Expressions, node: exp.Func, name: str, condition: Scalar | None, by: exp.Ordered | None = None
    ) -> None:
        self.name = name
        self.condition = condition
        self._read, self._node = read, node
        self._arguments = [part for value in node.args.values() for part in _arguments(value)]
        if by is not None:
            self._arguments.insert(0, by.this)
        self._by = by
        self._unread = set(range(len(self._arguments)))

    @property
    def size(self) -> int:
        return len(self._arguments)

    @property
    def rows(self) -> bool:
        if self.size == 1 and isinstance(self._arguments[0], exp.Star):
            self._read.take(self._arguments[0])
            self._unread.clear()
            return True
        return not self.size

    @property
    def distinct(self) -> bool:
        return any(isinstance(each, exp.Distinct) for each in self._arguments)

    @property
    def ordered(self) -> bool:
        return self._by is not None

    @property
    def descending(self) -> bool:
        return self._by is not None and bool(self._by.args.get("desc"))

    @property
    def person(self) -> str | None:
        return self._read.person

    def scalar(self, at: int = 0) -> Scalar:
        node = self._argument(at)
        if not isinstance(node, exp.Distinct):
            return self._read.scalar(node)
        self._read.take(node, "expressions")
        values = [self._read.scalar(each) for each in node.expressions]
        if len(values) != 1:
            raise self.not_distinct()
        return values[0]

    def number(self, at: int = 0) -> Scalar:
        """A flag is 1 or 0."""
        node = self._argument(at)
        if isinstance(node, exp.Distinct):
            raise self.not_distinct()
        scalar = self._read.scalar(node)
        return Cast(scalar, Type.INTEGER) if kind(scalar) is Type.BOOLEAN else checked_number(scalar)

    def truth(self, at: int = 0) -> Scalar:
        node = self._argument(at)
        if isinstance(node, exp.Distinct):
            raise self.not_distinct()
        return self._read.condition(node)

    def _argument(self, at: int) -> exp.Expr:
        if at >= self.size:
            raise self.refusal(Code.FUNCTION, f"{self.name} has too few arguments", f"write {self.name}(x)")
        self._unread.discard(at)
        return self._arguments[at]

    def check_read(self) -> None:
        """Whatever was written has been read, or is refused."""
        if self._unread:
            read = self.size - len(self._unread)
            raise self.refusal(
                Code.FUNCTION,
                f"{self.name} has {read} argument{'s' if read != 1 else ''}, and not {self.size}",
                "leave the others out",
            )

    def refusal(self, code: str, message: str, hint: str) -> QueryError:
        return self._read.refusal(Code(code), message, hint, self._node)

    def not_distinct(self) -> QueryError:
        if self.name == "COUNT":
            hint = "put them together: COUNT(DISTINCT a || '/' || b), with a sign between them that neither has"
            return self.refusal(Code.DISTINCT, "COUNT(DISTINCT …) is of one column or expression", hint)
        hint = f"leave DISTINCT out; COUNT(DISTINCT x) counts values, and GROUP BY x with {self.name}(y) takes them one by one"
        return self.refusal(Code.DISTINCT, f"DISTINCT values are counted, and {self.name} takes all rows", hint)

    def mismatch(self, message: str) -> Exception:
        return Mismatch(message)


def _name(node: exp.Func) -> tuple[str, ...]:
    """The place where the name of a function stands that the parser does not know."""
    return ("this",) if isinstance(node, exp.Anonymous) else ()


def _arguments(value: object) -> list[exp.Expr]:
    """The arguments that the parser has put into one place of a node."""
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, exp.Expr)]
