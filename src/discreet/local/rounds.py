"""A choice that is asked for again and again."""

from typing import Any, ClassVar, Self

from discreet.errors import Invalid
from discreet.exact import Number, rational
from discreet.fields import Exact, Held, frozen
from discreet.local.canonical import bytes_of, ratio_of, ratio_text
from discreet.local.choices import Choices, Label
from discreet.local.domain import AnswerDomain
from discreet.noise import Source
from discreet.noise.source import chosen

SERIES = 16  # bytes that name a series of rounds


@frozen
class Rounds(AnswerDomain):
    """A choice that the same people are asked for again and again: one round of a series.

    `first` is what one report by itself tells. A person's permanent answers are kept under `series`, which all rounds share.

    >>> Rounds(3, 0.5, bytes(16)).labels
    (0, 1, 2)
    """

    choices: Held[Choices | tuple[Label, ...] | int, Choices]
    first: Exact
    series: bytes
    kind: ClassVar[str] = "rounds"

    def __post_init__(self) -> None:
        given = self.choices
        object.__setattr__(self, "choices", given if isinstance(given, Choices) else Choices(given))
        object.__setattr__(self, "first", rational(self.first, "first"))
        if not isinstance(self.series, bytes) or len(self.series) != SERIES:
            raise Invalid(f"series must be {SERIES} bytes", hint="Rounds.new draws them")

    @classmethod
    def new(cls, choices: "Choices | tuple[Label, ...] | int", *, first: Number, source: Source | None = None) -> Self:
        """Rounds of a series of their own."""
        return cls(choices, first, chosen(source).bits(8 * SERIES).to_bytes(SERIES, "little"))

    @property
    def k(self) -> int:
        """The number of cells."""
        return self.choices.k

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answer that each cell stands for."""
        return self.choices.labels

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        return self.choices.encoded(value)

    def record(self) -> dict[str, Any]:
        """The labels, what one report tells, and the series."""
        return {
            "choices": self.choices.record(),
            "first": ratio_text(self.first, "first"),
            "kind": self.kind,
            "series": self.series.hex(),
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The round of its labels and series."""
        if record.keys() != {"choices", "first", "kind", "series"}:
            raise Invalid("this is not a domain of rounds", code="malformed")
        return cls(
            Choices.of_record(record["choices"]),
            ratio_of(record["first"], "first"),
            bytes_of(record["series"], "series", SERIES, SERIES),
        )
