"""How a measurement is made of the exact totals of a query."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.additive import Ints


@dataclass(frozen=True, slots=True)
class Combination:
    """floor(Σ weight · total / divisor + 1/2), in whole numbers: `parts` are the places of terms, each with its weight."""

    parts: tuple[tuple[int, int], ...]
    divisor: int = 1

    @classmethod
    def plain(cls, term: int) -> "Combination":
        """One total, as it is."""
        return cls(((term, 1),))

    @property
    def only(self) -> int | None:
        """The term that this is, if it is one as it is."""
        term, weight = self.parts[0]
        return term if len(self.parts) == weight == self.divisor == 1 else None

    def of(self, totals: Sequence[Ints]) -> Ints:
        """The combination, group by group. Sums are of Python's integers: a weight times a total need not fit 64 bits."""
        if self.only is not None:
            return totals[self.only]
        exact = np.sum([weight * totals[term].astype(object) for term, weight in self.parts], axis=0)
        rounded: Ints = ((2 * exact + self.divisor) // (2 * self.divisor)).astype(np.int64)
        return rounded
