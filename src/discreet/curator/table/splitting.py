"""What is said of a condition that is true for a part of a cell only, and what to do: which edge or category is lacking."""

from fractions import Fraction
from math import ceil, floor

from discreet.cells import Attribute, Binned, Categorical, Edge
from discreet.curator.table.pieces import place_of
from discreet.errors import QueryError
from discreet.exact import shown
from discreet.plan.catalog import WHOLE, value_of
from discreet.plan.scalar import Column, Comparison, In, Literal, Order, Scalar, Type

FEW = 30
"""So many edges are written out."""


def split(leaf: Scalar, attribute: Attribute, column: Column, cell: int) -> QueryError:
    """The error for a part of a condition that splits a cell of an attribute."""
    if not isinstance(attribute, Binned):
        return QueryError(
            f"all values of {column.name!r} that are no category are in one cell, and the condition is true for some of them only",
            code="cells",
            hint=_advice_on_others(attribute, column),
        )
    low, high = attribute.edges[cell], attribute.edges[cell + 1]
    return QueryError(
        f"the condition splits the bin {_word(low)} to {_word(high)} of {column.name!r}",
        code="cells",
        hint=_advice(leaf, attribute, column),
    )


def _advice_on_others(attribute: Categorical, column: Column) -> str:
    values = [place_of(value) for value in attribute.values]
    places = [place for place in values if place is not None]
    if places:
        ends = " AND ".join(_word(value_of(column.type, end)) for end in (min(places), max(places)))
        return f"say both ends, such as {column.name} BETWEEN {ends}, or compare with the categories by = and IN"
    return f"make what it names categories, or compare with them by = and IN: {', '.join(attribute.labels[:10])}"


def _advice(leaf: Scalar, attribute: Binned, column: Column) -> str:
    lacking = lacking_edges(leaf, column)
    if lacking is None:
        return f"compare {column.name} with constants: a bin holds many values"
    if not lacking:
        return f"bins hold their lower edge and not their upper one: write {column.name} >= … or {column.name} < …"
    inside = [place_of(edge) for edge in attribute.edges[1:-1]]
    outside = [place for place in lacking if not _lies_inside(place, attribute)]
    if outside:
        edge = _word(value_of(column.type, outside[0]))
        return (
            f"the first bin also has all that is below it, and the last all that is above: "
            f"leave the comparison out, or give {column.name} edges on both sides of {edge}"
        )
    fresh = [_edge(column, place) for place in lacking if place not in inside]
    return f"give {column.name} an edge at {' and '.join(map(_word, fresh))}{_example(column, attribute, fresh)}"


def lacking_edges(leaf: Scalar, column: Column) -> list[Fraction] | None:
    """The edges at which a part of a condition changes; none where bins of numbers cannot have one there, None where that is not known.

    >>> age = Column("age", Type.INTEGER)
    >>> lacking_edges(Comparison(Order.GREATER, age, Literal(64, Type.INTEGER)), age)
    [Fraction(65, 1)]
    """
    match leaf:
        case Comparison(order, Column(), Literal(value)) if (place := place_of(value)) is not None:
            return _changes(order, place, column.type)
        case In(Column(), values):
            places = [place for each in values if (place := place_of(each.value)) is not None]
            return sorted({edge for place in places for edge in _changes(Order.EQUAL, place, column.type)})
    return None


def _changes(order: Order, place: Fraction, type: Type) -> list[Fraction]:
    after = Fraction(floor(place) + 1)
    match order:
        case Order.GREATER_OR_EQUAL | Order.LESS:
            return [Fraction(ceil(place)) if type in WHOLE else place]
        case Order.GREATER | Order.LESS_OR_EQUAL:
            return [after] if type in WHOLE else []
    return [place, after] if type in WHOLE else []


def _lies_inside(place: Fraction, attribute: Binned) -> bool:
    first, last = place_of(attribute.edges[0]), place_of(attribute.edges[-1])
    return first is not None and last is not None and first < place < last


def _edge(column: Column, place: Fraction) -> Edge:
    return value_of(column.type, place)  # type: ignore[return-value]


def _example(column: Column, attribute: Binned, fresh: list[Edge]) -> str:
    edges = sorted({*attribute.edges, *fresh}, key=place_of)  # type: ignore[arg-type]
    if len(edges) > FEW or column.type in (Type.DATE, Type.TIMESTAMP):
        return ""
    return f": attributes={{{column.name!r}: [{', '.join(map(_word, edges))}]}}"


def _word(edge: object) -> str:
    return f"{edge:g}" if isinstance(edge, float) else str(edge) if not isinstance(edge, str) else shown(edge)
