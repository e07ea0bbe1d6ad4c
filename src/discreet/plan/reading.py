"""What is read of the data beside the totals of a stage: what is no sum over the groups of the question, such as a quantile.

    Kind.planned ── ReadingAsked ── priced, within limits ── Reading ── columns of integers, one for each group of the stage
    (a release)     (in a draft)    (once a price is known)   (in a stage, checked, drawn under the same grant)

A reading has a query of its own, draws one event, and releases whole numbers: for each group of the stage one in each of its columns.
They stand behind those of the measurements. Its price is a pure ε, which is fixed before anything of the data is known.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from discreet.mechanisms.additive import IntegerNoise, Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.relation import Totals
from discreet.plan.scalar import Value
from discreet.plan.totals import Run
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.caps import Caps
    from discreet.plan.draft import Draft

Groups: TypeAlias = tuple[tuple[Value, ...], ...]


class Reading(ABC):
    """One reading beside the totals of a stage. Subclasses are frozen data classes."""

    __slots__ = ()

    notation: ClassVar[str]
    """In the names of plans, for good: a name, and all fields, in their order."""

    query: Totals
    """What an engine runs for it."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """How many integers it releases for each group."""

    @abstractmethod
    def event(self) -> events.Event:
        """What it draws, for all groups together."""

    @abstractmethod
    def check(self, relation: Relation, groups: Groups) -> None:
        """For a reading that keeps what its event says, in a stage of these groups: returns. For any other: raises Fault."""

    @abstractmethod
    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        """Its columns, on the data that `run` reads."""

    @abstractmethod
    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        """Its columns without noise, for the owner's eyes alone."""

    @property
    def noises(self) -> tuple[IntegerNoise | None, ...]:
        """For each column the noise that was added to a whole number of it; None for what is something else."""
        return (None,) * self.columns

    def told(self, cells: int) -> list[str]:
        """What is said of it beside an answer of so many groups: what its limits do, whatever the data are."""
        return []

    def remarks(self, alike: Sequence["Reading"]) -> list[str]:
        """What is said of what it releases, whatever the data are: of it, and of the same readings of all levels, itself among them."""
        return []

    @abstractmethod
    def explained(self) -> str:
        """What it draws, at which price, in one line."""

    @abstractmethod
    def receipt(self) -> dict[str, Any]:
        """What proves its price, in the words that measurements have."""


class ReadingAsked(ABC):
    """A reading before it has a price, or limits. Subclasses are frozen data classes; equal ones are read once."""

    __slots__ = ()

    @property
    def of_rows(self) -> bool:
        """Whether a limit on the rows of a person bounds it."""
        return True

    @property
    def of_people(self) -> bool:
        """Whether a limit on the groups of a person bounds it alone."""
        return False

    @property
    def weight(self) -> int | Fraction:
        """For how many measurements it counts where a price is split."""
        return 1

    @abstractmethod
    def priced(self, draft: "Draft", caps: "Caps", epsilon: Fraction) -> Reading:
        """The reading at a price, within limits that are enough for a bound."""


@dataclass(frozen=True, slots=True)
class ReadingPrice:
    """How the price of an answer is split between noise on totals and readings."""

    unit: Fraction
    """The ε of a reading for each of its weight."""

    cost: Fraction
    """What all readings cost together."""

    @classmethod
    def of(cls, readings: tuple[ReadingAsked, ...], measurements: int, epsilon: Fraction) -> "ReadingPrice":
        """The split beside so many measurements that need noise."""
        weight = sum(each.weight for each in readings)
        unit = epsilon / (measurements + weight) if weight else Fraction(0)
        return cls(unit, unit * weight)

    def priced(self, draft: "Draft", caps: "Caps") -> Iterator[Reading]:
        """The readings of a draft, each at its price: those that the split was made for, or the same under other limits and ranges."""
        for each in draft.readings:
            yield each.priced(draft, caps, self.unit * each.weight)
