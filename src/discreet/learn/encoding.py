"""Columns as numbers that a model is trained on: how many, what they mean and between which bounds follows from what is declared, never
from data.

A *number* is one feature, between the declared bounds; a day or a moment counts in days. A column of *keys* is one feature for each key, 1
for the one that it is and else 0; two keys are one feature, 0 or 1, and where a model needs it the first key is the one that others are
told against, and has none. What is missing, and what no key names, stands in the middle: of the bounds, or with an equal share of each key.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from discreet.cells import Attribute, Binned, Category, Edge, Ints
from discreet.errors import Invalid
from discreet.learn.scaling import FeatureBounds
from discreet.mechanisms.additive import Floats

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of numbers, of days or of moments, between declared bounds: one feature."""

    name: str
    low: float
    high: float
    in_days: bool = False

    @classmethod
    def of(cls, attribute: Binned) -> "NumberColumn":
        """Between the outer edges; where the last cell is of one whole number, that is the largest."""
        before, end = attribute.edges[-2:]
        one = attribute.whole and isinstance(end, int) and isinstance(before, int) and end == before + 1
        last = number(end) - 1 if one and len(attribute.edges) > 2 else number(end)
        return cls(attribute.name, number(attribute.edges[0]), last, isinstance(end, date))

    @property
    def labels(self) -> tuple[str, ...]:
        return (f"{self.name} in days" if self.in_days else self.name,)

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        return ((self.low, self.high),)

    @property
    def widths(self) -> tuple[float, ...]:
        """How far the least value of a feature is from the largest."""
        return (self.high - self.low,)

    def cells(self, attribute: Attribute) -> Floats:
        """What stands for each cell: its middle, of whole numbers the middle of those that it has; a row each."""
        assert isinstance(attribute, Binned)
        found = [_middle(low, high, attribute.whole) for low, high in pairwise(attribute.edges)]
        found += [(self.low + self.high) / 2] * attribute.missing
        return np.array(found).reshape(-1, 1)

    def values(self, given: Sequence[Any]) -> Floats:
        """The same of values that are public: each by itself, and not by its cell."""
        found = np.array([self._number(each) for each in given], np.float64).reshape(-1, 1)
        return np.clip(found, self.low, self.high)

    def _number(self, value: Any) -> float:
        """A number; the middle for one that is missing."""
        if _is_missing(value):
            return (self.low + self.high) / 2
        try:
            found = _days(value) if self.in_days else float(value)
        except (TypeError, ValueError, OverflowError):
            kind = "days such as 2024-12-31" if self.in_days else "numbers"
            raise Invalid(f"column {self.name!r} must have {kind}", code="column") from None
        return (self.low + self.high) / 2 if found != found else found

    def to_data(self) -> dict[str, Any]:
        return {"name": self.name, "low": self.low, "high": self.high, "in_days": self.in_days}


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of declared keys. With `reference`, and of two keys always, the first has no feature of its own."""

    name: str
    keys: tuple[Category, ...]
    reference: bool = False

    @property
    def first(self) -> int:
        """The first key that has a feature."""
        return 1 if self.reference or len(self.keys) == 2 else 0

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{self.name} = {key}" for key in self.keys[self.first :])

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """One feature of two keys is scaled to −1 or 1. Of more at most one is 1, and the others stay 0 when scaled: a row is no longer
        for a column with many keys."""
        return ((0.0, 1.0),) if len(self.keys) == 2 else ((-1.0, 1.0),) * (len(self.keys) - self.first)

    @property
    def widths(self) -> tuple[float, ...]:
        return (1.0,) * (len(self.keys) - self.first)

    def cells(self, attribute: Attribute) -> Floats:
        """The features of each cell: of each key, then of all others and of what is missing, where there are such cells."""
        return self._features(np.minimum(np.arange(attribute.size), len(self.keys)))

    def values(self, given: Sequence[Any]) -> Floats:
        """The same of values that are public."""
        places = {key: i for i, key in enumerate(self.keys)}
        return self._features(np.array([places.get(self._key(each), len(self.keys)) for each in given], np.int64))

    def _features(self, places: Ints) -> Floats:
        """By the numbers of keys; one behind the last is that of a key that is not known."""
        count = len(self.keys)
        shares = np.vstack([np.eye(count), np.full(count, 1 / count)])
        return np.asarray(shares[places, self.first :])

    def _key(self, value: Any) -> Any:
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, str) and not any(isinstance(key, str) for key in self.keys):
            raise Invalid(
                f"column {self.name!r} must have values like its keys, and these are no texts",
                code="column",
                hint="convert the column first: to numbers, days, or True and False",
            )
        return plain if isinstance(plain, str | int | float | date) else None

    def to_data(self) -> dict[str, Any]:
        return {"name": self.name, "keys": [key_data(each) for each in self.keys], "reference": self.reference}


EncodedColumn: TypeAlias = NumberColumn | KeyColumn


@dataclass(frozen=True, slots=True)
class Encoding:
    """The columns that a model is trained on, in their order, as features."""

    columns: tuple[EncodedColumn, ...]

    @classmethod
    def of(cls, attributes: Iterable[Attribute], reference: bool = False) -> "Encoding":
        """Of what is declared of columns; columns of one key hold nothing and are refused."""
        found = tuple(
            NumberColumn.of(each) if isinstance(each, Binned) else KeyColumn(each.name, each.values, reference)
            for each in attributes
        )
        for column in found:
            if isinstance(column, KeyColumn) and len(column.keys) < 2:
                raise Invalid(
                    f"column {column.name!r} has fewer than two keys, and tells nothing",
                    code="column",
                    hint="leave it out of the features, or declare more keys",
                )
        return cls(found)

    @property
    def labels(self) -> tuple[str, ...]:
        """What each feature is called."""
        return tuple(label for column in self.columns for label in column.labels)

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """Between which each feature is."""
        return [pair for column in self.columns for pair in column.bounds]

    @property
    def bounds(self) -> FeatureBounds:
        """The same, as a model scales by it."""
        return FeatureBounds.of(self.pairs, len(self.pairs))

    def rows(self, attributes: Sequence[Attribute], codes: Ints) -> Floats:
        """Features of units by the numbers of their cells."""
        parts = [
            column.cells(attribute)[codes[:, i]]
            for i, (column, attribute) in enumerate(zip(self.columns, attributes, strict=True))
        ]
        return np.hstack(parts)

    def values(self, data: Any) -> Floats:
        """Features of people that are public: a dict of columns, a frame, or rows with the columns in their order."""
        parts = [
            column.values(given)
            for column, given in zip(self.columns, _given(data, [each.name for each in self.columns]), strict=True)
        ]
        if len({len(part) for part in parts}) > 1:
            raise Invalid("columns must be of one length", code="column")
        return np.hstack(parts)

    def to_data(self) -> list[dict[str, Any]]:
        return [column.to_data() for column in self.columns]

    @classmethod
    def from_data(cls, data: Any) -> "Encoding":
        """What `to_data` wrote; KeyError, TypeError, ValueError or Invalid for anything else."""
        return cls(tuple(_column_of(each) for each in data))


def _column_of(data: dict[str, Any]) -> EncodedColumn:
    if "keys" in data:
        keys = tuple(key_of(each) for each in data["keys"])
        if len(set(keys)) < max(len(keys), 2):
            raise Invalid("a column of a model has two keys or more, each once")
        return KeyColumn(str(data["name"]), keys, bool(data["reference"]))
    return NumberColumn(str(data["name"]), float(data["low"]), float(data["high"]), bool(data["in_days"]))


def _given(data: Any, names: list[str]) -> list[Sequence[Any]]:
    """Each column, as a list."""
    if isinstance(data, np.ndarray) or (isinstance(data, Sequence) and not isinstance(data, str)):
        rows = list(data)
        if any(not hasattr(row, "__len__") or len(row) != len(names) for row in rows):
            raise Invalid(
                f"rows must have {len(names)} values each: {', '.join(names)}",
                code="column",
                hint="or give a dict or a frame of columns by their names",
            )
        return [[row[i] for row in rows] for i in range(len(names))]
    try:
        return [list(data[name]) for name in names]
    except (KeyError, TypeError, IndexError, ValueError):
        raise Invalid(
            f"there must be a column for each of {', '.join(names)}",
            code="column",
            hint="give a dict or a frame of columns by their names",
        ) from None
    except Exception as error:  # frames raise errors of their own for a column that is not there
        raise Invalid(f"the columns {', '.join(names)} cannot be had: {type(error).__name__}", code="column") from None


def _is_missing(value: Any) -> bool:
    """Whether there is nothing: None, an empty text, what is no number; pandas.NA tells of nothing whether it is equal."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def number(edge: Edge) -> float:
    """An edge as a number: a day or a moment in days since the first of 1970."""
    return _days(edge) if isinstance(edge, date) else float(edge)


def _days(value: Any) -> float:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        on_clock = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return (on_clock - EPOCH) / timedelta(days=1)
    if not isinstance(value, date):
        raise TypeError("not a day")
    return float((value - EPOCH.date()).days)


def _middle(low: Edge, high: Edge, whole: bool) -> float:
    """Of a cell from `low` on, and below `high`; of whole numbers and of days the last one is one less."""
    last = number(high) - 1 if whole and not isinstance(high, datetime) else number(high)
    return (number(low) + last) / 2


def key_data(key: Category) -> Any:
    """A key as JSON: a day or a moment says what it is."""
    if isinstance(key, datetime):
        return {"moment": key.isoformat()}
    if isinstance(key, date):
        return {"day": key.isoformat()}
    return key


def key_of(data: Any) -> Category:
    """The key of what `key_data` wrote."""
    if isinstance(data, dict):
        return datetime.fromisoformat(data["moment"]) if "moment" in data else date.fromisoformat(data["day"])
    if not isinstance(data, str | int | float) or (isinstance(data, float) and not isfinite(data)):
        raise Invalid("a key must be a text, a number, a day or a truth value")
    return data
