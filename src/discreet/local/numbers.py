"""A number in a declared range."""

from fractions import Fraction
from typing import Any, ClassVar, Self

from discreet.errors import Invalid
from discreet.exact import rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.local.canonical import ratio_of, ratio_text
from discreet.local.domain import AnswerDomain

MOST_STEPS = 1 << 16  # of a grid of numbers
LARGEST = (
    10**100
)  # of a number; a range is no narrower than one over this: floats hold the squares of all that is estimated


@frozen
class Numbers(AnswerDomain):
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
        if max(-self.low, self.high) > LARGEST or (self.high - self.low) * LARGEST < 1:
            raise Invalid(
                "low and high must lie within 10^100, and be at least 10^-100 apart", hint="take another unit"
            )
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
        return {
            "high": ratio_text(self.high, "high"),
            "kind": self.kind,
            "low": ratio_text(self.low, "low"),
            "steps": self.steps,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The numbers of a range and its steps."""
        if record.keys() != {"high", "kind", "low", "steps"}:
            raise Invalid("this is not a domain of numbers", code="malformed")
        return cls(ratio_of(record["low"], "low"), ratio_of(record["high"], "high"), record["steps"])
