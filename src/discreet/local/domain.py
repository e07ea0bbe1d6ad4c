"""What answers a campaign takes: its domain, which is declared beforehand, and how a person's answer becomes what a protocol randomises."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

from discreet.errors import Invalid
from discreet.exact import rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.local.canonical import ratio_of

Label: TypeAlias = str | int | bool

MOST_CELLS = 1 << 20
MOST_LETTERS = 10_000  # of a label
MOST_LABEL = (1 << 53) - 1  # every reader of JSON reads integers up to here alike
MOST_STEPS = 1 << 16  # of a grid of numbers


class Domain(ABC):
    """The answers that can be given: all of them are known before anybody is asked."""

    __slots__ = ()
    kind: ClassVar[str]  # in a campaign's text

    @abstractmethod
    def encoded(self, value: Any) -> Any:
        """What a protocol randomises for a person's answer; Invalid, which does not say the answer, for one that is not in the domain."""

    @abstractmethod
    def record(self) -> Any:
        """The domain as a part of JSON."""

    @classmethod
    @abstractmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The domain of its record, which has this `kind`; Invalid for any other."""


@dataclass(frozen=True)
class Choices(Domain):
    """One of declared labels; for a number k they are 0 … k−1. True and 1 are two labels.

    >>> Choices(("a", "b")).encoded("b"), Choices(3).labels
    (1, (0, 1, 2))
    """

    answers: tuple[Label, ...] | int
    kind: ClassVar[str] = "choices"

    def __post_init__(self) -> None:
        if not isinstance(self.answers, list | tuple):
            if whole(self.answers, "domain", least=2) > MOST_CELLS:
                raise Invalid(f"domain must have at most 2^20 cells, got {shown(self.answers)}")
            object.__setattr__(self, "answers", int(self.answers))
            return
        labels = tuple(self.answers)
        if not 2 <= len(labels) <= MOST_CELLS:
            raise Invalid("domain must have 2 to 2^20 labels")
        if not all(_is_label(each) for each in labels):
            raise Invalid(
                f"a label must be a text of at most {MOST_LETTERS} letters, an integer below 2^53 or a boolean"
            )
        if len({(type(each), each) for each in labels}) < len(labels):
            raise Invalid("domain must have labels that differ")
        object.__setattr__(self, "answers", labels)

    @property
    def k(self) -> int:
        """The number of cells."""
        return self.answers if isinstance(self.answers, int) else len(self.answers)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answer that each cell stands for."""
        return tuple(range(self.answers)) if isinstance(self.answers, int) else self.answers

    @cached_property
    def _cells(self) -> dict[tuple[type, Label], int]:
        return {(type(label), label): cell for cell, label in enumerate(self.labels)}

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        try:
            cell = self._cells.get((type(value), value))
        except TypeError:  # what cannot be looked up is no label
            cell = None
        if cell is None:
            raise Invalid("value is not in the domain of the campaign", hint="see campaign.domain.labels")
        return cell

    def record(self) -> Any:
        """The labels, or their number."""
        return self.answers if isinstance(self.answers, int) else list(self.answers)

    @classmethod
    def of_record(cls, record: Any) -> Self:
        """The choices of a list of labels, or of their number."""
        return cls(tuple(record) if isinstance(record, list) else record)


@frozen
class Numbers(Domain):
    """A number from `low` to `high`, put on a public grid of so many steps, up or down at random.

    >>> Numbers(0, 10).record()["steps"]
    1024
    """

    low: Exact
    high: Exact
    steps: int = 1024
    kind: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        for field in ("low", "high"):
            object.__setattr__(self, field, rational(getattr(self, field), field))
        object.__setattr__(self, "steps", whole(self.steps, "steps", least=1))
        if self.low >= self.high:
            raise Invalid("low must be less than high", hint="declare a range that is known without the data")
        if self.steps > MOST_STEPS:
            raise Invalid(f"steps must be at most 2^16, got {shown(self.steps)}")

    def encoded(self, value: Any) -> Fraction:
        """The number itself, exactly."""
        try:
            exact = rational(value, "value")
        except Invalid:
            raise Invalid("value must be a finite number") from None  # the message of the first says the value
        if not self.low <= exact <= self.high:
            raise Invalid(f"value must lie between {shown(self.low)} and {shown(self.high)}", hint="clip it first")
        return exact

    def record(self) -> dict[str, Any]:
        """The range, as ratios in text, and the steps."""
        return {"high": str(self.high), "kind": self.kind, "low": str(self.low), "steps": self.steps}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The numbers of a range and its steps."""
        if record.keys() != {"high", "kind", "low", "steps"}:
            raise Invalid("this is not a domain of numbers", code="malformed")
        return cls(ratio_of(record["low"], "low"), ratio_of(record["high"], "high"), record["steps"])


KINDS: Mapping[str, type[Domain]] = {each.kind: each for each in (Numbers,)}


def domain_of(value: Any) -> Domain:
    """The domain itself, of labels, of the number of them, or of a record; Invalid for anything else."""
    if isinstance(value, Domain):
        return value
    if isinstance(value, dict):
        kind = KINDS.get(value["kind"]) if isinstance(value.get("kind"), str) else None
        if kind is None:
            raise Invalid("this is not a domain", code="malformed")
        return kind.of_record(value)
    return Choices(value)


def _is_label(value: object) -> bool:
    if type(value) is int:
        return abs(value) <= MOST_LABEL
    return type(value) is bool or (type(value) is str and len(value) <= MOST_LETTERS)
