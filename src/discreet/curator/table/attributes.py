"""Attributes as they are asked for: the cells of each follow from what is declared or surveyed, or from what whoever asks gives.

    ["ward", "age"]                                         as they are declared
    {"ward": None, "age": 10, "bmi": [0, 18.5, 25, 60]}     ten equal bins between the bounds; bins between edges
    ["ward=A,B", "age=10", "bmi=0,18.5,25,60"]              the same as words of a command line

Nothing is taken from the data: what no category names is in the cell of all others, and what is outside of the edges in
the first or the last bin. What is declared never to be missing has no cell for that: where it has bounds their middle stands for what is,
and else it is left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite
from numbers import Integral, Real
from typing import Any

from discreet.cells import Attribute, Binned, Categorical, Category
from discreet.curator.table.bins import USUAL, equal_edges, given_edges, unbounded
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.catalog import MOST_KEYS, WHOLE, Column, Table, one_number
from discreet.plan.facts import MOST
from discreet.plan.scalar import KINDS, WIDEST, Type
from discreet.plan.texts import plain_day, truth_in

MOST_ATTRIBUTES = 200
ONE_BY_ONE = 32
"""So many whole numbers have a cell each, where nobody says how many bins there are."""


class Attributes:
    """Reads what is asked for, by what is known of a table."""

    def __init__(self, table: Table, person: str | None) -> None:
        self._table, self._person = table, (person or "").casefold()

    def read(self, asked: Any = None) -> tuple[Attribute, ...]:
        """The attributes that are asked for, in their order; where nothing is, all whose cells are known.

        For any input returns attributes of columns of this table, each once, or raises Invalid or QueryError.
        """
        found = tuple(self._all() if asked is None else (self._one(name, said) for name, said in _items(asked)))
        names = [each.name for each in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Invalid(f"attribute {twice!r} is asked for twice", code="cells", hint="name it once")
        if not 1 <= len(found) <= MOST_ATTRIBUTES:
            raise Invalid(
                f"a histogram has between 1 and {MOST_ATTRIBUTES} attributes, got {len(found)}",
                code="cells",
                hint="name columns whose keys or bounds are declared or surveyed: attributes=['ward', 'age']",
            )
        return found

    def _all(self) -> Iterator[Attribute]:
        for column in self._table.columns:
            if column.name.casefold() != self._person and _is_known(column):
                yield self._usual(column)

    def _one(self, name: str, said: Any) -> Attribute:
        name, said = self._parted(name, said)
        column = self._table.column(name)
        if column.name.casefold() == self._person:
            raise Invalid(
                f"column {column.name!r} says who a row is about, and is no attribute",
                code="cells",
                hint="name other columns",
            )
        if isinstance(said, Categorical | Binned):
            return self._checked(column, said)
        if said is None:
            return self._usual(column)
        if isinstance(said, bool | str | Mapping):
            raise _unusable(column, said)
        if isinstance(said, Iterable):
            return self._listed(column, list(said))
        if not column.type.numeric and column.type not in WHOLE:
            raise Invalid(
                f"column {column.name!r} is {column.type.value} and has no bins",
                code="cells",
                hint=f"give its categories: {{{column.name!r}: ['A', 'B']}}",
            )
        return self._binned(column, equal_edges(column, said))

    def _parted(self, name: str, said: Any) -> tuple[str, Any]:
        """A name and what is said of it; a text "age=10" says both, unless a column is called so."""
        folded = {each.name.casefold() for each in self._table.columns}
        if said is not None or "=" not in name or name.casefold() in folded:
            return name, said
        name, _, words = name.partition("=")
        if not words.strip():
            raise Invalid(f"nothing is said behind {shown(name + '=')}", code="cells", hint="write age=10 or ward=A,B")
        parts = [each.strip() for each in words.split(",")]
        column = self._table.column(name.strip())
        bins = len(parts) == 1 and parts[0].isascii() and parts[0].isdigit() and column.type is not Type.TEXT
        return name.strip(), int(parts[0]) if bins and len(parts[0]) < 10 else parts

    def _usual(self, column: Column) -> Attribute:
        """The cells of a column by what is declared or surveyed of it alone."""
        if column.keys is not None:
            return self._categories(column, column.keys)
        if column.type is Type.BOOLEAN:
            return self._categories(column, (False, True))
        if column.low is None or column.high is None:
            if column.type is Type.TEXT:
                raise Invalid(
                    f"nobody declared or surveyed which keys column {column.name!r} has",
                    code="cells",
                    hint=f"declare keys, take a survey (`discreet survey`), or give categories: attributes={{{column.name!r}: ['A', 'B']}}",
                )
            raise unbounded(column)
        few = column.type is Type.INTEGER and column.high - column.low < ONE_BY_ONE
        return self._binned(column, equal_edges(column, ONE_BY_ONE if few else USUAL))

    def _listed(self, column: Column, said: list[Any]) -> Attribute:
        """Categories of what has no order or has keys, edges of all else."""
        if column.type in (Type.TEXT, Type.BOOLEAN) or column.keys is not None:
            return self._categories(column, tuple(_category(column, each) for each in said))
        return self._binned(column, given_edges(column, said))

    def _categories(self, column: Column, values: Sequence[Category]) -> Categorical:
        if not 1 <= len(values) <= MOST_KEYS:
            raise Invalid(
                f"an attribute has between 1 and {MOST_KEYS:,} categories, and {column.name!r} has {len(values):,}",
                code="cells",
                hint=f"give those that matter: attributes={{{column.name!r}: ['A', 'B']}}",
            )
        rest = column.type is not Type.BOOLEAN or len(values) < 2
        return Categorical(column.name, tuple(values), other=rest, missing=column.nullable)

    def _binned(self, column: Column, edges: Sequence[Any]) -> Binned:
        if len(edges) > MOST_KEYS:
            raise Invalid(f"at most {MOST_KEYS:,} edges are given, got {len(edges):,}", code="cells")
        return Binned(column.name, tuple(edges), whole=column.type in WHOLE, missing=column.nullable)

    def _checked(self, column: Column, said: Attribute) -> Attribute:
        """An attribute that whoever asks has made, with values as the column holds them."""
        if isinstance(said, Binned):
            return replace(self._binned(column, given_edges(column, said.edges)), missing=said.missing)
        values = tuple(_category(column, each) for each in said.values)
        return replace(self._categories(column, values), other=said.other, missing=said.missing)


def _items(asked: Any) -> Iterator[tuple[str, Any]]:
    """Names, and what is said of each."""
    if isinstance(asked, Mapping):
        pairs: Iterable[tuple[Any, Any]] = asked.items()
    elif isinstance(asked, Iterable) and not isinstance(asked, str | bytes):
        pairs = ((each.name, each) if isinstance(each, Categorical | Binned) else (each, None) for each in asked)
    else:
        raise Invalid(
            f"attributes must be names, or names with their cells, got {shown(asked)}",
            code="cells",
            hint='write ["age", "ward"] or {"age": 10, "ward": None}',
        )
    for name, said in pairs:
        if not isinstance(name, str):
            raise Invalid(f"the name of an attribute must be a text, got {shown(name)}", code="cells")
        yield name, said


def _is_known(column: Column) -> bool:
    """Whether a column has cells without anything being said of it."""
    return column.keys is not None or column.low is not None or column.type is Type.BOOLEAN


def _category(column: Column, value: Any) -> Category:
    """A category as its column holds it; a text of one as it is written."""
    found = _spelt(column.type, str(value)) if isinstance(value, str) else _plain(column.type, value)
    if type(found) is not KINDS[column.type] or not _can_be_held(found):
        raise Invalid(
            f"categories of {column.name!r} must be {column.type.value} values, got {shown(value)}", code="cells"
        )
    return found  # type: ignore[return-value]


def _plain(type: Type, value: Any) -> Any:
    """A number of any kind as that of a column."""
    if type is Type.INTEGER and isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if type is Type.NUMBER and isinstance(value, Real) and not isinstance(value, bool):
        return one_number(float(value)) if abs(value) <= MOST else None  # type: ignore[operator]
    return value


def _can_be_held(value: Any) -> bool:
    """Whether a column of its type can hold a value; an engine would fail on any other, after a charge."""
    match value:
        case str():
            return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
        case float():
            return isfinite(value)
        case datetime():
            return value.tzinfo is None
        case int():
            return abs(value) < WIDEST
    return True


def _spelt(type: Type, text: str) -> Any:
    try:
        match type:
            case Type.INTEGER:
                return int(text)
            case Type.NUMBER:
                return one_number(float(text))
            case Type.DATE:
                return plain_day(text)
            case Type.TIMESTAMP:
                return datetime.fromisoformat(text)
            case Type.BOOLEAN:
                return truth_in(text)
    except ValueError:
        return None
    return text


def _unusable(column: Column, said: Any) -> Invalid:
    return Invalid(
        f"the cells of {column.name!r} must be a number of bins, edges, or categories, got {shown(said)}",
        code="cells",
        hint=f"write {{{column.name!r}: 10}}, or a list",
    )
