"""What is left of a granted event: leaves and how often, and all pure ε together."""

from fractions import Fraction

from discreet.errors import Fault
from discreet.privacy import PrivacyLoss, events, loss
from discreet.privacy.cost import cost_of


class Allowance:
    """Events are taken out of it until it does not cover them any more."""

    def __init__(self, event: events.Event) -> None:
        self._leaves: dict[events.Leaf, int] = {}
        self._pure = Fraction(0)
        for leaf, n in loss(event).terms:
            divisible = cost_of(leaf).divisible
            if divisible is not None:
                self._pure += n * divisible
            else:
                self._leaves[leaf] = n

    def covers(self, event: events.Event) -> bool:
        """Whether an event could be taken out now."""
        return self._without(event) is not None

    def take(self, event: events.Event) -> None:
        """For an event that is covered: it is taken out. For any other: a Fault, and nothing is taken."""
        left = self._without(event)
        if left is None:
            raise beyond()
        self._leaves, self._pure = left

    def _without(self, event: events.Event) -> tuple[dict[events.Leaf, int], Fraction] | None:
        """What would be left; None where the event is not covered."""
        leaves, pure = dict(self._leaves), self._pure
        for leaf, n in loss(event).terms:
            by = _least([each for each, count in leaves.items() if count >= n and cost_of(each).covers(leaf)])
            price = None if by is not None else _pure_price(leaf, n)
            if by is not None:
                leaves[by] -= n
            elif price is not None and price <= pure:
                pure -= price
            else:
                return None
        return leaves, pure


def _least(leaves: list[events.Leaf]) -> events.Leaf | None:
    """The one of leaves that all cover a draw that the others cover, too: so what is left covers most. None where there is none."""
    least = leaves[0] if leaves else None
    for each in leaves[1:]:
        if least is not None and cost_of(least).covers(each):
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
