"""Who makes a draw: a grant settles what may be drawn, and leaves it to a hand to hand the exact value to the mechanism.

There is one hand for releases, `FRESH`, which does just that. An audit puts another in its place, which writes down what a mechanism was
given and what it released, or hands out what was released before. A hand never decides what is charged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from discreet.exact import Number
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.base import Mechanism


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a mechanism: what it is made for, before anything exact is known."""

    mechanism: Mechanism
    sensitivity: Number | None  # None: what the mechanism was declared for
    size: int = 1
    rate: Fraction | None = None  # at which units are sampled into a batch
    in_turn: bool = False  # whether exact values come one by one, as the questions of a round do


class Turn(Protocol):
    """A use of a mechanism that was begun."""

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """The numbers of the units that are in a batch, out of so many; `draw` samples them."""

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        """What the mechanism releases; `draw` makes it of an exact value."""


class Hand(Protocol):
    """Whoever makes draws."""

    def begin(self, use: Use) -> Turn:
        """A draw is begun; nothing exact has been looked at for it."""


class Fresh:
    """Makes each draw anew: the hand of every release."""

    __slots__ = ()

    def begin(self, use: Use) -> Turn:
        """The turn of any use is the same, since nothing is remembered."""
        return self

    def batch(self, among: int, draw: Callable[[], Ints]) -> Ints:
        """The batch that is sampled now."""
        return draw()

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        """What the mechanism makes of the exact value now."""
        return draw(exact())


FRESH = Fresh()
