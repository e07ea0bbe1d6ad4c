"""What a curator draws with: random bits, and the hand that makes its draws. Both are handed in, once, when the curator is made.

Every curator that anyone asks has SECURE: the bits of the operating system, and draws that are made anew. An audit hands in another, to
write draws down and to play them again on a neighbour. That must not become a way to answer without noise, so a curator takes any
other randomness only where its ledger is in memory (`ledger=":memory:"`), which no one else's questions are counted by; there is no
argument for it in `Curator(…)`, `Curator.open` or a policy; and each of its answers says that it is not private. That is decided by
whether it is SECURE, not by what the other one says of itself.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from discreet.errors import Refused
from discreet.mechanisms.hand import FRESH, Hand
from discreet.noise import Source

if TYPE_CHECKING:
    from discreet.curator.place import Place

AUDITED = "this curator is part of an audit: its draws are written down or played again, and its answers are for no one but the auditor"


class Randomness(Protocol):
    """Random bits, and who makes draws of them."""

    @property
    def source(self) -> Source | None:
        """The bits; None for those of the operating system."""

    @property
    def hand(self) -> Hand:
        """Who makes the draws."""


@dataclass(frozen=True, slots=True)
class Secure:
    """The bits of the operating system, and draws that are made anew."""

    source: None = None
    hand: Hand = FRESH


SECURE = Secure()


def check_randomness(randomness: Randomness, place: "Place") -> None:
    """For any randomness but SECURE, and a ledger that is kept: Refused, before anything is opened."""
    if randomness is not SECURE and not place.note:
        raise Refused(
            "a curator whose draws are audited has no ledger that is kept",
            code="audit-ledger",
            hint="its ledger is in memory: ledger=':memory:'",
        )
