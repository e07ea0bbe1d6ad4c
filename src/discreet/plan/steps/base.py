"""What every step is: a draw whose outcome is released, and picks one of finitely many ways to go on, all known before data is read.

Whichever way is taken, what follows draws the same event, or costs the same pure ε: so the price is known before any data is read, and
tells nothing. `check` walks all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import Fault
from discreet.mechanisms.measure import Grant
from discreet.plan.relation import Totals
from discreet.plan.totals import Run
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage

Outcome: TypeAlias = int | tuple[Any, ...]
"""What a step released: which way was chosen, or noisy counts, or keys with noisy counts."""


class Step(ABC):
    """A draw before the last stage. Subclasses are frozen data classes."""

    __slots__ = ()

    @property
    @abstractmethod
    def reads(self) -> Totals:
        """What an engine runs for it."""

    @property
    @abstractmethod
    def ways(self) -> Sequence[Outcome]:
        """One outcome for each way that it may go on; where they cannot be listed, the one whose way is largest."""

    @property
    def listed(self) -> bool:
        """Whether `ways` are all ways that there are; if not, the one that is taken is checked before it is gone."""
        return True

    @property
    def examples(self) -> Sequence[Outcome]:
        """A few of the outcomes, for whoever wants to know ahead what may come, one that is usual first; by default all."""
        return self.ways

    @abstractmethod
    def after(self, outcome: Outcome) -> "Stage | Step":
        """What comes next; for what is no outcome raises Fault."""

    @abstractmethod
    def event(self) -> events.Event:
        """What it draws itself."""

    @abstractmethod
    def check(self, relation: Relation) -> None:
        """For a step that keeps what its event says: returns. For any other: raises Fault."""

    @abstractmethod
    def drawn(self, run: Run, grant: Grant, salt: int) -> Outcome:
        """The outcome, on the data that `run` reads."""

    @abstractmethod
    def explained(self) -> str:
        """What it does, at which price, in one line."""

    @abstractmethod
    def named(self, outcome: Outcome) -> str:
        """What was released, in a few words."""

    def supposed(self, outcome: Outcome) -> str:
        """How an example of what follows begins, in words."""
        return f"if it is {self.named(outcome)}"

    def facts(self, outcome: Outcome) -> Mapping[str, Any]:
        """What the outcome tells of the data for good, by name: released, and so free to use from then on. Limits and counts are
        integers; keys are a mapping from what has them to pairs of a key and its noisy count, ranges one to pairs of ends."""
        return {}

    def kept(self, outcome: Outcome) -> Any:
        """The outcome as JSON can hold it."""
        return list(outcome) if isinstance(outcome, tuple) else outcome

    def again(self, stored: Any) -> Outcome:
        """The outcome that was kept so."""
        return tuple(stored) if isinstance(stored, list) else stored

    def ahead(self) -> tuple[str, ...]:
        """What whoever asks should know before it is made."""
        return ()

    def notes(self, outcome: Outcome) -> tuple[str, ...]:
        """What whoever reads the answer should know of it."""
        return ()


def no_such_outcome() -> Fault:
    return Fault("an outcome is one of a choice that there is", code="plan")


def broken(what: str) -> Fault:
    """The plan is wrong, which is found before anything is spent."""
    return Fault(f"the plan does not hold: {what}", code="plan")
