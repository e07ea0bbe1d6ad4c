"""Columns of synthetic data: the cells that were drawn as values of the attributes' own types.

A category is the value that was declared. A bin is a value drawn evenly inside of it: a whole number for whole bins, a day, a moment, else
a number with as many digits as the width of the bin has use for. What is missing is NULL; what is in no category is the word "other"
among words, and NULL among anything else, since no other value is known to be one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cells import OTHER, Attribute, Binned, Categorical, Category, Edge, Ints
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.noise import Source, uniform
from discreet.weights.domain import Mask
from discreet.weights.model import Floats

SECOND = 1_000_000
"""Microseconds: moments are drawn to the second where a bin is wider than one."""

DIGITS = 3
"""Places of a number behind the first one of the width of its bin."""

MOST_PLACES = 15
BITS = 53
NO_DAY = date(1970, 1, 1)
NO_TIME = datetime(1970, 1, 1)


class ColumnType(Enum):
    """What the values of a synthetic column are."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class SyntheticColumn:
    """One column: numbers that stand for its values, and which rows have one.

    A date is the days since 1970, a timestamp the microseconds, a text its place in `words`.
    """

    name: str
    type: ColumnType
    numbers: NDArray[Any]
    present: Mask
    words: tuple[str, ...] = ()

    def values(self, rows: slice = slice(None)) -> list[Category | None]:
        """The values as Python has them; None where there is none."""
        numbers, present = self.numbers[rows], self.present[rows]
        plain: list[Any]
        match self.type:
            case ColumnType.TEXT:
                plain = [self.words[number] for number in numbers.tolist()]
            case ColumnType.DATE:
                plain = numbers.astype("datetime64[D]").tolist()
            case ColumnType.TIMESTAMP:
                plain = numbers.astype("datetime64[us]").tolist()
            case _:
                plain = numbers.tolist()
        return [value if there else None for value, there in zip(plain, present.tolist(), strict=True)]


def column_of(attribute: Attribute, codes: Ints, source: Source | None = None) -> SyntheticColumn:
    """The column of an attribute, by the number of the cell that each row is in."""
    if isinstance(attribute, Categorical):
        return _of_categories(attribute, codes)
    return _of_bins(attribute, codes, source)


def _of_categories(attribute: Categorical, codes: Ints) -> SyntheticColumn:
    kind = _type_of(attribute.values)
    values: list[Category | None] = list(attribute.values)
    values += [OTHER if kind is ColumnType.TEXT else None] * attribute.other + [None] * attribute.missing
    present = np.array([value is not None for value in values], np.bool_)
    words: dict[str, int] = {}
    if kind is ColumnType.TEXT:
        numbers = np.array([words.setdefault(str(value), len(words)) if value is not None else 0 for value in values])
    else:
        numbers = np.array([_number(value, kind) if value is not None else 0 for value in values], _STORED[kind])
    return SyntheticColumn(attribute.name, kind, numbers[codes], present[codes], tuple(words))


_STORED = {
    ColumnType.INTEGER: np.int64,
    ColumnType.NUMBER: np.float64,
    ColumnType.BOOLEAN: np.bool_,
    ColumnType.DATE: np.int64,
    ColumnType.TIMESTAMP: np.int64,
}
_TYPES: tuple[tuple[set[type], ColumnType], ...] = (
    ({str}, ColumnType.TEXT),
    ({bool}, ColumnType.BOOLEAN),
    ({int}, ColumnType.INTEGER),
    ({int, float}, ColumnType.NUMBER),
    ({datetime}, ColumnType.TIMESTAMP),
    ({date}, ColumnType.DATE),
)


def _type_of(values: Sequence[Category]) -> ColumnType:
    """The type that all values are of; text where there is none, or where an integer is too long for any other."""
    types = {type(value) for value in values}
    kind = next((kind for allowed, kind in _TYPES if types and types <= allowed), ColumnType.TEXT)
    return kind if kind is not ColumnType.INTEGER or all(map(_fits, values)) else ColumnType.TEXT


def _fits(value: Any) -> bool:
    return bool(-(2**63) <= value < 2**63)


def _number(value: Any, kind: ColumnType) -> Any:
    """The number that stands for a value."""
    if kind is ColumnType.TIMESTAMP:
        plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        apart = plain - NO_TIME
        return (apart.days * 86_400 + apart.seconds) * SECOND + apart.microseconds
    return (value - NO_DAY).days if kind is ColumnType.DATE else value


def _of_bins(attribute: Binned, codes: Ints, source: Source | None) -> SyntheticColumn:
    kind = _type_of_edges(attribute)
    edges = [_number(edge, kind) for edge in attribute.edges]
    numbers: NDArray[Any] = np.zeros(codes.size, _STORED[kind])
    for place, (low, high) in enumerate(pairwise(edges)):
        here = np.flatnonzero(codes == place)
        numbers[here] = _between(low, high, kind, here.size, source)
    return SyntheticColumn(attribute.name, kind, numbers, codes < len(edges) - 1)


def _type_of_edges(attribute: Binned) -> ColumnType:
    kind = _type_of(attribute.edges)
    if kind not in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.TIMESTAMP) or not all(
        map(_is_finite, attribute.edges)
    ):
        raise Invalid(
            f"bins of {attribute.name!r} must lie between finite numbers, days or moments, got {shown(attribute.edges)}",
            hint="values are drawn inside of a bin, which needs two ends",
        )
    if kind in (ColumnType.DATE, ColumnType.TIMESTAMP):
        return kind
    return ColumnType.INTEGER if attribute.whole and all(map(_fits, attribute.edges)) else ColumnType.NUMBER


def _is_finite(edge: Edge) -> bool:
    return not isinstance(edge, float) or isfinite(edge)


def _between(low: Any, high: Any, kind: ColumnType, count: int, source: Source | None) -> "Ints | Floats":
    """So many numbers from a lower end to an upper one, that excluded."""
    if kind is ColumnType.NUMBER:
        return _reals(float(low), float(high), count, source)
    step = SECOND if kind is ColumnType.TIMESTAMP and high - low > SECOND else 1
    first = ceil(low)
    # a bin of whole numbers in which there is none stands for the next one, as the last bin does for all beyond its end
    values: Ints = first + step * uniform(max(1, -((first - ceil(high)) // step)), count, source=source)
    return values


def _shortened(values: Floats, power: int) -> Floats:
    """The values without what is less than a power of ten; where that is too small to matter to them, as they are."""
    if power < -MOST_PLACES:
        return values
    step: float = 10.0 ** abs(power)
    # a division by a power of ten gives the decimal that is written so, where a product with its inverse may not
    shorter: Floats = np.floor(values * step) / step if power < 0 else np.floor(values / step) * step
    return shorter


def _reals(low: float, high: float, count: int, source: Source | None) -> Floats:
    share = uniform(1 << BITS, count, source=source) * 2.0**-BITS
    values = low * (1 - share) + high * share
    if isfinite(high - low) and high > low:  # integers may be so long that they are one float
        values = _shortened(values, floor(log10(high - low)) - DIGITS)
    last: Floats = np.clip(values, low, np.nextafter(high, low))
    return last
