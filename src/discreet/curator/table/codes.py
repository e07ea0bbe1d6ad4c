"""The number of the cell that a row is in, as an expression of the row: an engine returns numbers of cells, and no values."""

from discreet.cells import Attribute, Binned, Categorical
from discreet.curator.halves import by_halves
from discreet.plan.scalar import Case, Column, Comparison, IsNull, Literal, Order, Scalar, Type


def code_of(attribute: Attribute, column: Column) -> Scalar:
    """The number of the cell of an attribute that the value of a column is in.

    For any value, NULL and NaN among them, it is the number of one cell, or NULL where the attribute has none for it.
    """
    missing = _code(attribute.size - 1 if attribute.missing else None)
    inside = _bin(attribute, column) if isinstance(attribute, Binned) else _category(attribute, column)
    return Case(((IsNull(column), missing),), inside)


def _bin(attribute: Binned, column: Column) -> Scalar:
    """What is below the first edge is in the first bin, and what is at the last edge or above it in the last."""
    inner = [Literal(edge, column.type) for edge in attribute.edges[1:-1]]
    return by_halves(column, inner, _code)


def _category(attribute: Categorical, column: Column) -> Scalar:
    other = _code(len(attribute.values) if attribute.other else None)

    def branch(place: int) -> tuple[Scalar, Scalar]:
        value = Literal(attribute.values[place], column.type)
        return Comparison(Order.EQUAL, column, value), _code(place)

    places = list(range(len(attribute.values)))
    if not places:
        return other
    if column.type is Type.BOOLEAN:  # false and true are in no order
        return Case(tuple(map(branch, places)), other)
    places.sort(key=attribute.values.__getitem__)
    ends = [Literal(attribute.values[place], column.type) for place in places[1:]]
    return by_halves(column, ends, lambda i: Case((branch(places[i]),), other))


def _code(place: int | None) -> Scalar:
    return Literal(place, Type.INTEGER)
