"""What is known of a kind of leaf: its loss in both directions, and what follows for groups, for zCDP and for grants.

A new kind of leaf is its event and one class of this kind, registered by `costs`; nothing else needs to know it. What the class does
not say is derived from its sides. Those of the house are in `mgf.py` and, for sampled leaves, in `sampled.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

from discreet.accountant import Accountant
from discreet.errors import Invalid, Refused
from discreet.privacy import events
from discreet.privacy.adjacency import Relation
from discreet.privacy.filters import SpentConcentrated
from discreet.privacy.numeric.side import Side, Sides

L = TypeVar("L", bound=events.Leaf)


class Cost(ABC, Generic[L]):
    """What one leaf costs."""

    # The relation under which leaves of this kind hold, where they hold under one only.
    relation: ClassVar[Relation | None] = None

    def __init__(self, leaf: L) -> None:
        self.leaf = leaf

    @abstractmethod
    def sides(self) -> Sides:
        """The pairs (with the unit, without it) and (without it, with it)."""

    def group(self, k: int) -> events.Leaf:
        """The leaf as k units together see it: exactly, or what bounds it. By default k times its pure ε."""
        pure = self.pure
        if pure is None:
            raise Invalid(
                f"no group privacy is known for the event {self.leaf.kind!r}",
                code="event",
                hint="use noise with a sensitivity, or a mechanism that is purely private",
            )
        return events.Pure(k * pure)

    def zcdp(self) -> SpentConcentrated:
        """Its ρ, and the δ outside of which that holds, by a closed theorem, rounded up. By default that of its pure ε."""
        pure = self.pure
        if pure is None:
            raise Refused(
                f"the accountant {Accountant.ZCDP.value!r} has no theorem for the event {self.leaf.kind!r}",
                code="no-filter",
                hint=f"charge the batch as one (epsilon, delta), or use the accountant {Accountant.PURE.value!r}",
            )
        return SpentConcentrated.by_approximate(pure)

    def covers(self, other: events.Leaf) -> bool:
        """Whether whoever was granted this leaf may draw the other: its loss is dominated by this one. By default the same leaf only."""
        return self.leaf == other

    @property
    def pure(self) -> Fraction | None:
        """The ε at δ = 0, exactly or rounded up; None where there is none."""
        bounds = [side.pure for side in self.known_sides if not side.failure]
        known = [bound for bound in bounds if bound is not None]
        return max(known) if known and len(known) == len(self.known_sides) else None

    @property
    def known_sides(self) -> tuple[Side, ...]:
        """Both sides, or none where only zCDP is known."""
        return () if self.concentrated is not None else sides(self.leaf)

    @property
    def concentrated(self) -> Fraction | None:
        """The ρ of a leaf of which only zCDP is known: it has no sides, and no K off the real axis."""
        return None

    @property
    def divisible(self) -> Fraction | None:
        """An ε that may be drawn in parts, as anything that is purely private; None for leaves that are drawn as they are."""
        return None

    def beyond(self, epsilon: Fraction) -> float | None:
        """Pr[|L| > ε] over all pairs of inputs, where that is more than the sides tell."""
        return None


COSTS: dict[type[events.Leaf], type[Cost[Any]]] = {}


def costs(kind: type[L]) -> Callable[[type[Cost[L]]], type[Cost[L]]]:
    """Registers what a kind of leaf costs; each kind once."""

    def register(cost: type[Cost[L]]) -> type[Cost[L]]:
        COSTS[kind] = cost
        return cost

    return register


def cost_of(leaf: events.Leaf) -> Cost[Any]:
    """What a leaf costs; a kind that nobody registered raises Invalid."""
    if type(leaf) not in COSTS:
        raise Invalid(f"no privacy loss is known for the event {type(leaf).__name__}", code="event")
    return COSTS[type(leaf)](leaf)


@lru_cache(maxsize=4096)
def sides(leaf: events.Leaf) -> Sides:
    """Both directions of a leaf, made once."""
    return cost_of(leaf).sides()
