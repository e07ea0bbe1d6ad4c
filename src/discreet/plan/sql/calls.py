"""Calls of the functions of the table, whatever the parser makes of them.

The parser has a class of its own for most functions, and sets more than the operands in some. So each function of the table is
parsed once with operands of no meaning: where these then stand, the operands of a question are read, and whatever else is set there must be
set alike. Nothing else is read, so that a newer parser cannot change what a call means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.errors import Fault
from discreet.plan.functions import FUNCTIONS, FunctionRow
from discreet.plan.scalar import Function, Scalar, Type
from discreet.plan.sql.refusals import SHORT, Code
from discreet.plan.sql.text import DUCKDB
from discreet.plan.sql.values import as_type, kind
from discreet.plan.times import OF_MOMENTS

if TYPE_CHECKING:
    from discreet.plan.sql.expressions import Expressions

SEVERAL = 3  # operands of a function of many, when it is parsed for its shape


@dataclass(frozen=True, slots=True)
class CallShape:
    """What the parser makes of a call: the arguments that hold operands, in their order, and the values of all others."""

    row: FunctionRow
    places: tuple[str, ...]
    fixed: tuple[tuple[str, Any], ...]

    def fits(self, node: exp.Expr) -> bool:
        return all(_folded(node.args.get(name)) == value for name, value in self.fixed)

    def operands(self, node: exp.Expr) -> list[exp.Expr]:
        operands: list[exp.Expr] = []
        for place in self.places:
            value = node.args.get(place)
            operands += value if isinstance(value, list) else [] if value is None else [value]
        return operands

    def read(self, read: "Expressions", node: exp.Expr) -> Scalar:
        row, nodes = self.row, self.operands(node)
        if len(nodes) != len(row.takes) and not (row.many and nodes):
            if row.name.upper() in SHORT and len(nodes) < len(row.takes):
                code, why, hint = SHORT[row.name.upper()]
                raise read.refusal(code, f"{row.name.upper()} with {len(nodes)} value {why}", hint, node)
            count = f"{len(row.takes)} value{'s' if len(row.takes) > 1 else ''}"
            hint = f"write {row.name.upper()}({', '.join('…' for _ in row.takes)})"
            raise read.refusal(Code.FUNCTION, f"{row.name.upper()} takes {count}", hint, node)
        if row.name in OF_MOMENTS:
            return _of_times(read, row, [read.scalar(each) for each in nodes])
        operands = [_operand(read, each, row.operand(i)) for i, each in enumerate(nodes)]
        return operands[0] if row.many and len(operands) == 1 else Function(row.name, tuple(operands))


def _of_times(read: "Expressions", row: FunctionRow, operands: list[Scalar]) -> Scalar:
    """A function of dates, or that of timestamps where one of its operands is one."""
    if Type.TIMESTAMP not in map(kind, operands):
        return Function(row.name, tuple(read.typed(each, Type.DATE) for each in operands))
    moments = (read.typed(as_type(each, Type.TIMESTAMP), Type.TIMESTAMP) for each in operands)
    return Function(OF_MOMENTS[row.name], tuple(moments))


def _operand(read: "Expressions", node: exp.Expr, kind: Type) -> Scalar:
    return read.number(node) if kind is Type.NUMBER else read.of_type(node, kind)


def called(node: exp.Expr) -> tuple[frozenset[str], Callable[["Expressions", Any], Scalar]] | None:
    """The arguments that are read of a call of a function of the table, and its reader; None for all other nodes."""
    for shape in _shapes(tuple(FUNCTIONS.values())).get(type(node), ()):
        if shape.fits(node):
            return frozenset({*shape.places, *(name for name, _ in shape.fixed)}), shape.read
    return None


@lru_cache(maxsize=4)
def _shapes(rows: tuple[FunctionRow, ...]) -> dict[type[exp.Expr], list[CallShape]]:
    shapes: dict[type[exp.Expr], list[CallShape]] = {}
    for row in rows:
        for name in row.spellings:
            node, shape = _shape(row, name)
            shapes.setdefault(type(node), []).append(shape)
    return shapes


def _shape(row: FunctionRow, name: str) -> tuple[exp.Expr, CallShape]:
    count = SEVERAL if row.many else len(row.takes)
    names = [f"operand{i}" for i in range(count)]
    (select,) = DUCKDB.parse(f"SELECT {name}({', '.join(names)})")
    if not isinstance(select, exp.Select):
        raise Fault(f"the parser has no call of {name}", code="sql")
    node = select.expressions[0]
    held = {key: _names(value) for key, value in node.args.items()}
    places = sorted((key for key in held if set(held[key]) & set(names)), key=lambda key: names.index(held[key][0]))
    fixed = tuple(
        (key, _folded(value)) for key, value in node.args.items() if key not in places and value not in (None, [])
    )
    return node, CallShape(row, tuple(places), fixed)


def _names(value: Any) -> list[str]:
    """The names of columns that an argument is, or is a list of."""
    parts = value if isinstance(value, list) else [value]
    return [each.name for each in parts if isinstance(each, exp.Column)]


def _folded(value: Any) -> Any:
    """The name of a function that the parser has no class for is a text, in any case."""
    return value.upper() if isinstance(value, str) else value
