"""The first run of twins: draws are made as ever, and what each mechanism was given and has released is written down."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from discreet.mechanisms.additive import Ints
from discreet.mechanisms.hand import Turn, Use


@dataclass
class Drawn:
    """One use of a mechanism: what it was given, and what it released of that. A failure leaves a value without a release."""

    use: Use
    among: int | None = None
    batch: Ints | None = None
    given: list[Any] = field(default_factory=list)
    released: list[Any] = field(default_factory=list)


@dataclass
class Recorded:
    """A turn that is written down."""

    drawn: Drawn

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """The batch that is sampled now."""
        batch = draw()
        self.drawn.among, self.drawn.batch = among, batch.copy()
        return batch

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        """What the mechanism releases now; whoever has it may change it, and what is written down stays."""
        value = exact()
        self.drawn.given.append(deepcopy(value))
        released = draw(value)
        self.drawn.released.append(deepcopy(released))
        return released


@dataclass
class Recorder:
    """A hand that remembers."""

    drawn: list[Drawn] = field(default_factory=list)

    def begin(self, use: Use) -> Turn:
        """A draw is begun, and takes its place in the record."""
        drawn = Drawn(use)
        self.drawn.append(drawn)
        return Recorded(drawn)
