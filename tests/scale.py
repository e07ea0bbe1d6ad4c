"""The one constant that multiplies every repeat count of the tests: 1 in `make test`, 20 in `make soak`."""

import os
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item")

SCALE = int(os.environ.get("DISCREET_SCALE", "1"))

if SCALE < 1:
    raise ValueError(f"DISCREET_SCALE must be at least 1, got {SCALE}")


def repeats(n: int) -> int:
    """The number of repeats to run where `make test` runs `n`."""
    return n * SCALE


def covering(items: Iterable[Item], features: Callable[[Item], Iterable[Hashable]]) -> list[Item]:
    """The items that show a feature which none before them shows: together they show all. A soak takes every item."""
    seen: set[Hashable] = set()
    chosen = []
    for item in items:
        new = set(features(item)) - seen
        if new or SCALE > 1:
            chosen.append(item)
        seen |= new
    return chosen
