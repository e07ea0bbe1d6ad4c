"""What a survey released: facts that are public from then on, each with its ±. As they are kept, and as a planner asks for them.

A planner asks `facts.column(name)` for its `type`, `keys`, `bounds` and `max_groups`, and `facts.people`, `facts.rows` and
`facts.per_person`, a ladder of how many rows people have. All of it is of the version of the data that is said.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid
from discreet.exact import rational
from discreet.plan.calendar import day_of, number_of
from discreet.plan.scalar import Type

FORMAT = 1
"""Of the bytes that a ledger keeps; a newer one is refused by name."""

ENOUGH = 0.01
"""The share of people that a proposed limit may leave with more, beside the noise."""


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A released number, and its ± at 95 %: of the noise alone."""

    value: float
    error: float

    def as_data(self) -> dict[str, float]:
        return {"value": self.value, "error": self.error}


@dataclass(frozen=True, slots=True)
class Ladder:
    """How many people have how much of something: `counts` has one more than `rungs`, for those beyond the last rung."""

    rungs: tuple[int, ...]
    counts: tuple[float, ...]
    deviation: float
    """Of the noise in each of the counts."""

    people: NoisyNumber | None = None
    """How many there are in all, where that was released by itself."""

    def beyond(self, most: int) -> NoisyNumber:
        """How many people have more than a rung: those from there on, or all but those before, whichever has less noise."""
        at = self.rungs.index(most) + 1
        after, before = self.counts[at:], self.counts[:at]
        found = NoisyNumber(max(0.0, sum(after)), 1.96 * self.deviation * len(after) ** 0.5)
        if self.people is None:
            return found
        error = (self.people.error**2 + (1.96 * self.deviation) ** 2 * at) ** 0.5
        return min(found, NoisyNumber(max(0.0, self.people.value - sum(before)), error), key=lambda each: each.error)

    def limit(self) -> int:
        """The least rung that about everybody is within: beyond it nobody can be told from the noise, but for one in a hundred."""
        together, few = 0.0, ENOUGH * sum(self.counts)
        for at in range(len(self.rungs) - 1, -1, -1):
            together = max(0.0, together + self.counts[at + 1] - self.deviation / 2)
            if together > max(few, 3 * self.deviation):
                return self.rungs[min(at + 1, len(self.rungs) - 1)]
        return self.rungs[0]

    def as_data(self) -> dict[str, Any]:
        people = self.people and self.people.as_data()
        return {"rungs": list(self.rungs), "counts": list(self.counts), "deviation": self.deviation, "people": people}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Ladder":
        people = data["people"] and NoisyNumber(**data["people"])
        return cls(tuple(data["rungs"]), tuple(data["counts"]), data["deviation"], people)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers or dates: the bounds that few people are beyond, and people by bin between edges; dates are days since 1970."""

    low: float
    high: float
    edges: tuple[float, ...]
    counts: tuple[float, ...]
    error: float
    quantiles: tuple[tuple[float, float, float, float], ...]
    """Each with its share, its value, and the ends of its interval."""

    def as_data(self) -> dict[str, Any]:
        return {
            "low": self.low,
            "high": self.high,
            "edges": list(self.edges),
            "counts": list(self.counts),
            "error": self.error,
            "quantiles": [list(each) for each in self.quantiles],
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Range":
        return cls(
            data["low"],
            data["high"],
            tuple(data["edges"]),
            tuple(data["counts"]),
            data["error"],
            tuple(tuple(each) for each in data["quantiles"]),
        )


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """The keys of a column that were found, with how many people each has; who has several keys counts in a few of them."""

    people: tuple[tuple[str | bool, float], ...]
    error: float
    threshold: int
    """What a count must exceed, noise and all, to be found."""

    def as_data(self) -> dict[str, Any]:
        return {"people": [list(each) for each in self.people], "error": self.error, "threshold": self.threshold}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "KeyCounts":
        return cls(tuple((key, count) for key, count in data["people"]), data["error"], data["threshold"])


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What is known of a column by a survey."""

    name: str
    type: Type
    present: NoisyNumber
    """People with a value."""

    range: Range | None = None
    counted: KeyCounts | None = None
    groups: Ladder | None = None
    """In how many of the found keys people are; None where there are none, or where nobody has several rows."""

    @property
    def keys(self) -> tuple[str | bool, ...] | None:
        """The keys that were found, in their order; None where none were looked for, or found."""
        return tuple(sorted(key for key, _ in self.counted.people)) if self.counted and self.counted.people else None

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """The bounds of a number; of a date the numbers of its first and of its last day."""
        if self.days is not None:
            return Fraction(number_of(self.days[0])), Fraction(number_of(self.days[1]))
        if self.range is None or self.type is not Type.NUMBER:
            return None
        return rational(self.range.low, "low"), rational(self.range.high, "high")

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day of a date."""
        if self.range is None or self.type is not Type.DATE:
            return None
        return day_of(round(self.range.low)), day_of(round(self.range.high))

    @property
    def max_groups(self) -> int | None:
        """The keys of a person that a question by this column may count: almost everybody has no more."""
        return None if self.groups is None else self.groups.limit()

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "type": self.type.value,
            "present": self.present.as_data(),
            "range": self.range and self.range.as_data(),
            "keys": self.counted and self.counted.as_data(),
            "groups": self.groups and self.groups.as_data(),
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "ColumnFacts":
        return cls(
            data["name"],
            Type(data["type"]),
            NoisyNumber(**data["present"]),
            data["range"] and Range.read(data["range"]),
            data["keys"] and KeyCounts.read(data["keys"]),
            data["groups"] and Ladder.read(data["groups"]),
        )


@dataclass(frozen=True, slots=True, repr=False)
class SurveyFacts:
    """What a survey released of a table."""

    table: str
    version: str
    person: str | None
    relation: str
    epsilon: float
    delta: float
    people: NoisyNumber
    rows: NoisyNumber | None
    rows_limit: int | None
    """The rows of a person that were counted at most in `rows`."""

    per_person: Ladder | None
    columns: tuple[ColumnFacts, ...]
    left_out: tuple[str, ...] = ()
    """Columns that were not asked about: declared, or not chosen."""

    notes: tuple[str, ...] = ()
    analyst: str | None = None
    """Whose facts these are; None: everybody's."""

    number: int = field(default=0, compare=False)
    """Which survey of its ledger this is."""

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column; None where it was not surveyed."""
        return next((each for each in self.columns if each.name.casefold() == name.casefold()), None)

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "format": FORMAT,
            "table": self.table,
            "version": self.version,
            "person": self.person,
            "relation": self.relation,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "confidence": 0.95,
            "people": self.people.as_data(),
            "rows": self.rows and self.rows.as_data(),
            "rows_limit": self.rows_limit,
            "per_person": self.per_person and self.per_person.as_data(),
            "columns": [each.as_data() for each in self.columns],
            "left_out": list(self.left_out),
            "notes": list(self.notes),
            "analyst": self.analyst,
            "number": self.number,
        }

    def to_json(self) -> dict[str, Any]:
        return self.as_data()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "SurveyFacts":
        """The facts that `as_data` wrote; those of a newer format are Invalid."""
        if data.get("format") != FORMAT:
            raise Invalid(
                "these facts were written by a newer release", code="format", hint="install it, or survey again"
            )
        return cls(
            data["table"],
            data["version"],
            data["person"],
            data["relation"],
            data["epsilon"],
            data["delta"],
            NoisyNumber(**data["people"]),
            data["rows"] and NoisyNumber(**data["rows"]),
            data["rows_limit"],
            data["per_person"] and Ladder.read(data["per_person"]),
            tuple(map(ColumnFacts.read, data["columns"])),
            tuple(data["left_out"]),
            tuple(data["notes"]),
            data["analyst"],
            data["number"],
        )

    def to_bytes(self) -> bytes:
        return json.dumps(self.as_data(), sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")

    @classmethod
    def from_bytes(cls, encoded: bytes) -> "SurveyFacts":
        return cls.read(json.loads(encoded))

    def lines(self) -> list[str]:
        """As it is read in a terminal."""
        from discreet.curator.survey.text import lines_of

        return lines_of(self)

    def to_html(self) -> str:
        """A page with pictures, which needs nothing from anywhere else."""
        from discreet.curator.survey.page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)
