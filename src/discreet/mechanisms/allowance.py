"""What is left of a granted event: leaves and how often, all pure ε together, and all ρ together.

What may be drawn in parts is a pool. Pure ε adds up however the parts are chosen; so does zCDP, also where the ρ of a part is chosen
by what earlier ones released, as long as the sum stays within what was granted (Feldman and Zrnic 2021, theorem 3.1; Whitehouse, Ramdas,
Rogers and Wu 2023, theorem 1).
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import Fault, Refused
from discreet.privacy import PrivacyLoss, events, loss
from discreet.privacy.cost import cost_of


@dataclass(frozen=True, slots=True)
class Remainder:
    """What may still be drawn."""

    leaves: tuple[tuple[events.Leaf, int], ...] = ()
    pure: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


class Allowance:
    """Events are taken out of it until it does not cover them any more."""

    def __init__(self, event: events.Event) -> None:
        leaves: dict[events.Leaf, int] = {}
        pure = rho = Fraction(0)
        for leaf, n in loss(event).terms:
            cost = cost_of(leaf)
            if cost.divisible is not None:
                pure += n * cost.divisible
            elif cost.concentrated is not None:
                rho += n * cost.concentrated
            else:
                leaves[leaf] = n
        self._left = Remainder(tuple(leaves.items()), pure, rho)
        self._alike: tuple[events.Event, int, int] | None = (
            None  # an event, the place of the leaf that covers it, and how often
        )

    def covers(self, event: events.Event) -> bool:
        """Whether an event could be taken out now."""
        return self._without(event) is not None

    def take(self, event: events.Event) -> None:
        """For an event that is covered: it is taken out. For any other: a Fault, and nothing is taken."""
        left = self._without(event)
        if left is None:
            raise beyond()
        self._left = left

    def _without(self, event: events.Event) -> Remainder | None:
        """What would be left; None where the event is not covered.

        The very event that was looked at last is not looked at again: it is covered by the same leaf while that has enough of it.
        """
        if (
            self._alike is not None
            and event is self._alike[0]
            and self._left.leaves[self._alike[1]][1] >= self._alike[2]
        ):
            return _fewer(self._left, *self._alike[1:])
        left: Remainder | None = self._left
        terms = loss(event).terms
        for leaf, n in terms:
            place = None if left is None else _covering(left, leaf, n)
            if len(terms) == 1 and place is not None:
                self._alike = event, place, n
            left = None if left is None else _less(left, leaf, n, place)
        return left


def _fewer(left: Remainder, place: int, n: int) -> Remainder:
    """What is left without n of the leaf at a place."""
    leaf, count = left.leaves[place]
    return Remainder((*left.leaves[:place], (leaf, count - n), *left.leaves[place + 1 :]), left.pure, left.rho)


def _covering(left: Remainder, leaf: events.Leaf, n: int) -> int | None:
    """The place of the leaf that n such leaves are taken out of; None where there is none."""
    return _least(left, [i for i, (each, count) in enumerate(left.leaves) if count >= n and cost_of(each).covers(leaf)])


def _less(left: Remainder, leaf: events.Leaf, n: int, place: int | None) -> Remainder | None:
    """What is left without n such leaves: out of a leaf that covers them, else out of pure ε, else out of ρ; None where none has it."""
    if place is not None:
        return _fewer(left, place, n)
    pure = _pure_price(leaf, n)
    if pure is not None and pure <= left.pure:
        return replace(left, pure=left.pure - pure)
    rho = _rho_price(leaf, n) if left.rho else None
    return replace(left, rho=left.rho - rho) if rho is not None and rho <= left.rho else None


def _least(left: Remainder, places: list[int]) -> int | None:
    """The place of the leaf that all others cover, too, of those that cover a draw: so what is left covers most; None of none."""
    least = places[0] if places else None
    for each in places[1:]:
        if least is not None and cost_of(left.leaves[least][0]).covers(left.leaves[each][0]):
            least = each
    return least


def beyond() -> Fault:
    return Fault(
        "a draw goes beyond what was granted",
        code="grant",
        hint="grant what will be drawn; what was granted as sampled is drawn by `grant.sampled`",
    )


def _pure_price(leaf: events.Leaf, n: int) -> Fraction | None:
    """The exact ε of n such leaves at δ = 0, or a bound; None where there is none."""
    return PrivacyLoss(((leaf, n),)).pure_epsilon()


def _rho_price(leaf: events.Leaf, n: int) -> Fraction | None:
    """The ρ of n such leaves, or a bound; None where there is none without a δ."""
    cost = cost_of(leaf)
    if cost.relation is not None:
        return None  # what is sampled is drawn as it was granted
    try:
        spent = cost.zcdp()
    except Refused:
        return None
    return None if spent.delta else n * spent.rho
