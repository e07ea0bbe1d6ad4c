"""A choice among declared answers."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.local.canonical import is_text
from discreet.local.domain import AnswerDomain

Label: TypeAlias = str | int | bool

MOST_CELLS = 1 << 20
MOST_LETTERS = 10_000  # of a label
MOST_LABEL = (1 << 53) - 1  # every reader of JSON reads integers up to here alike


@dataclass(frozen=True)
class Choices(AnswerDomain):
    """One of declared labels; for a number k they are 0 … k−1. True and 1 are two labels.

    >>> Choices(("a", "b")).encoded("b"), Choices(3).labels
    (1, (0, 1, 2))
    """

    answers: tuple[Label, ...] | int
    kind: ClassVar[str] = "choices"

    def __post_init__(self) -> None:
        if not isinstance(self.answers, list | tuple):
            if isinstance(self.answers, bool) or not isinstance(self.answers, Integral):
                raise Invalid(
                    f"domain must be labels or their number, got {shown(self.answers)}",
                    hint="pass labels as a list or a tuple",
                )
            if whole(self.answers, "domain", least=2) > MOST_CELLS:
                raise Invalid(f"domain must have at most 2^20 cells, got {shown(self.answers)}")
            object.__setattr__(self, "answers", int(self.answers))
            return
        labels = tuple(self.answers)
        if not 2 <= len(labels) <= MOST_CELLS:
            raise Invalid("domain must have 2 to 2^20 labels")
        if not all(_is_label(each) for each in labels):
            raise Invalid(
                f"a label must be a text of at most {MOST_LETTERS} letters (none of them in two halves), an integer below 2^53 or a boolean"
            )
        if len({(type(each), each) for each in labels}) < len(labels):
            raise Invalid("domain must have labels that differ")
        object.__setattr__(self, "answers", labels)

    def __eq__(self, other: object) -> bool:
        """Whether labels are the same ones in the same order; True and 1 are two."""
        if not isinstance(other, Choices):
            return NotImplemented
        same = self.answers == other.answers
        return same and (isinstance(self.answers, int) or [*map(type, self.labels)] == [*map(type, other.labels)])

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
            numpy = type(value).__module__ == "numpy"
            hint = "pass value.item(): a plain str, int or bool" if numpy else "see campaign.domain.labels"
            raise Invalid("value is not in the domain of the campaign", hint=hint)
        return cell

    def record(self) -> Any:
        """The labels, or their number."""
        return self.answers if isinstance(self.answers, int) else list(self.answers)

    @classmethod
    def of_record(cls, record: Any) -> Self:
        """The choices of a list of labels, or of their number."""
        return cls(tuple(record) if isinstance(record, list) else record)


def _is_label(value: object) -> bool:
    if type(value) is int:
        return abs(value) <= MOST_LABEL
    return type(value) is bool or (type(value) is str and is_text(value, 0, MOST_LETTERS))
