"""Curators in memory with a randomness of the tests' own: a tape of bits, or draws without noise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.curator.place import Memory
from discreet.curator.session import Curator
from discreet.mechanisms.hand import FRESH, Hand, Turn, Use
from discreet.noise import Source, Tape


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """Bits and a hand, as they are given."""

    source: Source
    hand: Hand = FRESH


class Exactly:
    """A hand whose draws add nothing: what is released is exact."""

    def begin(self, use: Use) -> Turn:
        return self

    def batch(self, among: int, draw: Callable[[], Any]) -> Any:
        return draw()

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        return exact()


def rehearsed(curator: Curator, hand: Hand = FRESH, seed: int = 7) -> Curator:
    """A curator of the same policy, whose ledger is in memory."""
    return Curator.of(curator.policy, place=Memory(), randomness=Rehearsed(Tape(seed), hand))


def without_noise(curator: Curator) -> Curator:
    """A curator of the same policy whose answers have no noise; everything else of it is real."""
    return rehearsed(curator, Exactly())
