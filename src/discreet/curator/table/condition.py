"""A condition of SQL as a mask over the cells of attributes: true on all of a cell, or on nothing of it; whatever splits a cell is refused.

The text is read as any WHERE is. Each attribute that it names falls into pieces, at the constants that it is compared with, and the
condition is evaluated on each in three values; where all pieces of a cell agree the cell is decided. So over the units that are
counted in cells the sum over the mask is what COUNT(*) WHERE would be, exactly, with values outside of their bounds taken for the bounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Attribute
from discreet.curator.table.pieces import Bounds, Piece, pieces, place_of
from discreet.curator.table.splitting import split
from discreet.curator.table.truth import (
    ANY,
    Sets,
    both,
    chosen,
    either,
    is_true,
    is_undecided,
    one,
    opposite,
    over_cells,
)
from discreet.errors import QueryError
from discreet.plan.catalog import Catalog
from discreet.plan.evaluate import evaluate, evaluate_each
from discreet.plan.relation import Filter
from discreet.plan.scalar import (
    KINDS,
    LARGEST,
    And,
    Case,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    Order,
    Scalar,
    Type,
    Value,
    children,
    columns_in,
)
from discreet.plan.sql import question
from discreet.plan.sql.parameters import Parameters

MOST_CELLS = 1 << 26
"""Of the attributes that one condition names, all together."""

MOST_EVALUATED = 1 << 16
"""Combinations of values on which what reads several columns at once is evaluated."""

ByColumn: TypeAlias = Mapping[str, Bounds]
NO_BOUNDS: ByColumn = {}


class Conditions:
    """Reads conditions on the rows of a table, by what is declared of it."""

    def __init__(self, table: str, catalog: Catalog) -> None:
        name = table.replace('"', '""')
        self._text, self._catalog = f'SELECT COUNT(*) FROM "{name}"', catalog
        self._plain = question(self._text, catalog)
        self._bounds = {
            each.name: (each.low, each.high)
            for each in catalog.table(table).columns
            if each.low is not None and each.high is not None
        }

    def read(self, text: str, params: Parameters = None) -> Scalar:
        """The condition that a text says; a text that says more, or less, raises QueryError."""
        asked = question(f"{self._text} WHERE {text}", self._catalog, params)
        if not isinstance(asked.source, Filter) or replace(asked, source=self._plain.source) != self._plain:
            raise QueryError(
                "cells are asked for by a condition alone", code="cells", hint="write age >= 65 AND ward = 'A'"
            )
        return asked.source.condition

    def mask(self, text: str, attributes: Sequence[Attribute], params: Parameters = None) -> NDArray[np.bool_]:
        """The cells on which the condition of a text is true."""
        return mask_of(self.read(text, params), attributes, self._bounds)


def mask_of(condition: Scalar, attributes: Sequence[Attribute], bounds: ByColumn = NO_BOUNDS) -> NDArray[np.bool_]:
    """The cells on which a condition is true: an axis for each attribute, of length 1 where the condition does not name it.

    For any condition returns the mask for which the units in its cells are exactly those on which the condition is true, whatever
    values they have, within the bounds of their columns; or raises QueryError.
    """
    cells = CellPieces(condition, attributes, bounds)
    found = cells.reduced(cells.sets(condition))
    if is_undecided(found).any():
        raise cells.blame(condition)
    return is_true(found)


@dataclass(frozen=True, slots=True)
class _Axis:
    """An attribute that a condition names: the column, and the pieces of its cells."""

    number: int
    attribute: Attribute
    column: Column
    pieces: tuple[Piece, ...]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the pieces of each cell begin."""
        cells = [piece.cell for piece in self.pieces]
        return np.flatnonzero(np.diff([-1, *cells]))


class CellPieces:
    """The cells of attributes, in the pieces that a condition tells apart."""

    def __init__(self, condition: Scalar, attributes: Sequence[Attribute], bounds: ByColumn = NO_BOUNDS) -> None:
        self._rank = len(attributes)
        places = {each.name: i for i, each in enumerate(attributes)}
        self._axes: dict[Column, _Axis] = {}
        for column in sorted(columns_in(condition), key=lambda each: each.name):
            if column.name not in places:
                raise QueryError(
                    f"column {column.name!r} is no attribute of this histogram",
                    code="cells",
                    hint=f"its attributes are {', '.join(places)}",
                )
            attribute = attributes[places[column.name]]
            parts = pieces(attribute, column.type, constants_of(condition, column), bounds.get(column.name))
            self._axes[column] = _Axis(places[column.name], attribute, column, tuple(parts))
        if prod(len(axis.pieces) for axis in self._axes.values()) > MOST_CELLS:
            raise QueryError(
                f"the attributes of this condition have more than {MOST_CELLS:,} cells together",
                code="cells",
                hint="name fewer attributes in one condition, or give them fewer cells",
            )

    def sets(self, scalar: Scalar) -> Sets:
        """What a condition may be on each combination of pieces."""
        match scalar:
            case And(parts):
                return reduce(both, map(self.sets, parts))
            case Or(parts):
                return reduce(either, map(self.sets, parts))
            case Not(operand):
                return opposite(self.sets(operand))
            case Case(branches, otherwise) if columns_in(scalar):
                return reduce(
                    lambda rest, branch: chosen(self.sets(branch[0]), self.sets(branch[1]), rest),
                    reversed(branches),
                    self.sets(otherwise),
                )
        return self._leaf(scalar)

    def reduced(self, sets: Sets) -> Sets:
        """What a condition may be on each combination of cells."""
        for axis in self._axes.values():
            if sets.shape[axis.number] > 1:
                sets = over_cells(sets, axis.starts, axis.number)
        return sets

    def _leaf(self, scalar: Scalar) -> Sets:
        """What cannot be taken apart: on a piece of many values it is known where it compares a column with constants."""
        axes = [self._axes[column] for column in sorted(columns_in(scalar), key=lambda each: each.name)]
        if len(axes) == 1:
            return self._shaped(_on_pieces(scalar, axes[0]), axes)
        if prod(len(axis.pieces) for axis in axes) > MOST_EVALUATED:
            raise QueryError(
                "a part of the condition computes with several attributes that have many cells",
                code="cells",
                hint="compare each attribute with constants, or give them fewer cells",
            )
        found = [
            one(evaluate(scalar, {axis.column.place: piece.value for axis, piece in zip(axes, combined, strict=True)}))
            if all(piece.alone for piece in combined)
            else ANY
            for combined in product(*(axis.pieces for axis in axes))
        ]
        return self._shaped(found, axes)

    def _shaped(self, found: Sequence[int], axes: Sequence[_Axis]) -> Sets:
        """With an axis for each attribute."""
        ordered = sorted(range(len(axes)), key=lambda i: axes[i].number)
        shape = [1] * self._rank
        for axis in axes:
            shape[axis.number] = len(axis.pieces)
        sets = np.array(found, np.uint8).reshape([len(axis.pieces) for axis in axes])
        return sets.transpose(ordered).reshape(shape)

    def blame(self, condition: Scalar) -> QueryError:
        """The first part of a condition that splits a cell, in words."""
        for leaf in _leaves(condition):
            columns = columns_in(leaf)
            if len(columns) == 1:
                axis = self._axes[columns.pop()]
                torn = np.flatnonzero(is_undecided(self.reduced(self._leaf(leaf))))
                if torn.size:
                    return split(leaf, axis.attribute, axis.column, int(torn[0]))
        return QueryError(
            "the condition is true for a part of a cell only",
            code="cells",
            hint="compare each attribute with constants, at its edges",
        )


def _on_pieces(scalar: Scalar, axis: _Axis) -> list[int]:
    values = evaluate_each(scalar, axis.column.place, [piece.value for piece in axis.pieces])
    known = is_plain(scalar)
    return [one(value) if known or piece.alone else ANY for value, piece in zip(values, axis.pieces, strict=True)]


def is_plain(scalar: Scalar) -> bool:
    """Whether something is the same on all of a piece: a column, compared with constants between which pieces lie."""
    match scalar:
        case IsNull(Column()):
            return True
        case Comparison(order, Column() as column, Literal(value)):
            equal = order in (Order.EQUAL, Order.NOT_EQUAL)
            return _parts_at(column, value) if column.type is not Type.TEXT else equal
        case In(Column() as column, values):
            return column.type is Type.TEXT or all(_parts_at(column, each.value) for each in values)
    return False


def _parts_at(column: Column, value: Value) -> bool:
    """Whether a column is on one side of a constant on all of a piece. A whole number and a number are compared as doubles, which do not
    tell large whole numbers from their neighbours."""
    place, mixed = place_of(value), column.type.numeric and not isinstance(value, KINDS[column.type])
    return place is not None and not (mixed and abs(place) >= LARGEST)


def constants_of(scalar: Scalar, column: Column) -> Iterator[Value]:
    """The constants that a column is compared with somewhere in a condition."""
    match scalar:
        case Comparison(_, left, Literal(value)) if left == column:
            yield value
        case In(operand, values) if operand == column:
            yield from (each.value for each in values)
        case _:
            for child in children(scalar):
                yield from constants_of(child, column)


def _leaves(scalar: Scalar) -> Iterator[Scalar]:
    match scalar:
        case And() | Or() | Not() | Case():
            for child in children(scalar):
                yield from _leaves(child)
        case _:
            yield scalar
