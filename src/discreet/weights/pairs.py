"""Which pairs of attributes a model should know together: by noisy looks at all of them, which are paid for once, choices are free.

A pair is worth its noise where the model is off by more. Both are estimated from the looks, cell by cell, each cell by the share
c/(c + σ) that a fit would follow it (`estimation`); a sum of absolute noise has a mean and a deviation that are known, so a pair is
chosen only where what shows is more than noise alone would show. Then the model is fitted with the pairs chosen so far, and what it
implies of the others is not chosen any more.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import pi, sqrt

import numpy as np

from discreet.weights.factors import Axes
from discreet.weights.junction import junction_tree
from discreet.weights.model import Floats, Model, NoisyMarginal

MEAN, VARIANCE = sqrt(2 / pi), 1 - 2 / pi
"""Of the absolute value of a standard normal."""

SURE = 3.0
"""Deviations of noise that a chosen pair shows at least."""

SOME, TOGETHER = 2.5, 1.0
"""Deviations of noise in one pair, or in all together, from where on a second look is worth its price."""

WORTH = 0.5
"""A pair must gain this part of the noise that its measurement would leave."""

AT_ONCE = 3
"""Pairs that are chosen before the model is fitted anew: no two of them share an attribute, and each gains half of the best."""


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """What a noisy pair shows against a model: the distance beyond noise, how much that varies, and what a measurement would leave."""

    gain: float
    deviation: float
    left: float

    @property
    def sureness(self) -> float:
        """How many deviations of noise the gain is above 0."""
        return self.gain / self.deviation if self.deviation else 0.0

    @property
    def surplus(self) -> float:
        """What is won by measuring."""
        return self.gain - WORTH * self.left


def evidence(seen: NoisyMarginal, expected: Floats, deviation: float) -> PairEvidence:
    """What a look shows against the counts that a model expects, for a fit to counts of this deviation."""
    followed = expected / (expected + deviation)
    distance = float((followed * np.abs(seen.values - expected)).sum())
    return PairEvidence(
        distance - MEAN * seen.deviation * float(followed.sum()),
        seen.deviation * sqrt(VARIANCE * float((followed**2).sum())),
        MEAN * deviation * float(followed.sum()),
    )


def anything_shows(looks: Sequence[NoisyMarginal], model: Model) -> bool:
    """Whether a first look shows enough against independence for a second one."""
    found = [evidence(each, model.marginal(each.axes), each.deviation).sureness for each in looks]
    return bool(found) and (max(found) > SOME or sum(found) / sqrt(len(found)) > TOGETHER)


@dataclass(slots=True)
class Chooser:
    """Chooses pairs one after another, as long as the junction tree has no more than so many cells.

    `fitted` gives the model of a set of pairs, `deviation` that of the measurement of a pair beside others.
    """

    looks: Sequence[NoisyMarginal]
    shape: tuple[int, ...]
    most_cells: int
    fixed: tuple[Axes, ...]
    fitted: Callable[[Sequence[Axes]], Model]
    deviation: Callable[[Sequence[Axes], Axes], float]
    rounds: int | None = None
    chosen: dict[Axes, float] = field(default_factory=dict)

    def choice(self) -> dict[Axes, float]:
        """All pairs that are worth their noise, in order, each with the distance that it showed."""
        while found := self._next():
            self.chosen |= found
        return self.chosen

    def _next(self) -> dict[Axes, float]:
        """The pairs that are chosen next: the best, and others that have nothing to do with it."""
        if self.rounds is not None and len(self.chosen) >= self.rounds:
            return {}
        worth = self._worth(self.fitted(tuple(self.chosen)))
        found: dict[Axes, float] = {}
        room = AT_ONCE if self.rounds is None else min(AT_ONCE, self.rounds - len(self.chosen))
        best = 0.0
        for pair, each in sorted(worth.items(), key=lambda item: (-item[1].surplus, item[0])):
            if len(found) == room or each.surplus < best / 2:
                break
            if not _touches(pair, found) and self._fits((*found, pair)):
                found[pair] = each.gain
                best = best or each.surplus
        return found

    def _worth(self, model: Model) -> dict[Axes, PairEvidence]:
        """The pairs that show more than noise would, and more than their measurement would leave."""
        others = [each for each in self.looks if each.axes not in self.chosen]
        found = {
            each.axes: evidence(
                each, model.marginal(each.axes), _joint(self.deviation(tuple(self.chosen), each.axes), each.deviation)
            )
            for each in others
        }
        return {pair: each for pair, each in found.items() if each.sureness > SURE and each.surplus > 0}

    def _fits(self, more: Iterable[Axes]) -> bool:
        tree = junction_tree((*self.fixed, *self.chosen, *more), self.shape)
        return tree.cells(self.shape) <= self.most_cells


def _touches(pair: Axes, others: Iterable[Axes]) -> bool:
    return any(set(pair) & set(other) for other in others)


def _joint(one: float, other: float) -> float:
    """The deviation of the best mean of two measurements."""
    return float((one**-2 + other**-2) ** -0.5)
