"""Memoised local hashing: one hash function for a whole series, and a permanent bucket for each cell that a person holds."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Self

import numpy as np

from discreet.exact import Number
from discreet.fields import Exact, frozen
from discreet.local.domain import AnswerDomain
from discreet.local.hashing import FEW, LocalHashing, best_buckets
from discreet.local.memoised import UNPROTECTED, Memoised
from discreet.noise import Source, keep_or_replace
from discreet.noise.source import chosen, words

LINKED = "All reports of one person carry the same number: whoever sees them can tell that they are of one person."


@frozen
class MemoHashing(Memoised, LocalHashing):
    """A seed for the series, a permanent one of g = round(e^first) + 1 buckets for each cell, and another one of them in each round.

    (Arcolezi, Pinzón, Palamidessi and Gambs 2023, LOLOHA.) Here two cells in one bucket have two permanent answers: with one for both
    it would depend on the seed which sequences have the same pattern, and then nothing holds of all. One report is that of local
    hashing with another p, so the g that is best for `first` is best here. The seed is the same in all rounds: whoever sees it knows
    which reports are of one person.

    >>> MemoHashing(1000, 2, first=1).buckets
    4
    """

    first: Exact = field(kw_only=True)

    name, code = "memo-hashing", 13
    unprotected = f"{UNPROTECTED} {LINKED}"

    def __post_init__(self) -> None:
        Memoised.__post_init__(self)
        LocalHashing.__post_init__(self)

    @classmethod
    def small(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """With seeds of eight digits, for up to 4 cells and buckets."""
        usual = cls.of(domain, epsilon)
        return cls(usual.k, epsilon, FEW, first=usual.first)

    @property
    def buckets(self) -> int:
        """The number g of buckets: with about e^first + 1 the variance is least."""
        return best_buckets(self.first)

    @property
    def answers(self) -> int:
        """Every bucket."""
        return self.buckets

    def lasting(self, value: int, others: Sequence[Any] = (), source: Source | None = None) -> Any:
        """The seed, that of the other permanent answers where there are any, and the bucket that stands for this cell from now on."""
        bits, cell = chosen(source), np.array([value], np.uint64)
        seed = others[0][:2] if len(others) else words(bits, 2) & np.uint64((1 << self.word) - 1)
        own = self.bucket(seed[:1], seed[1:], cell).astype(np.int64)
        told = keep_or_replace(own, self.buckets, self.permanent, source=bits)
        return np.append(seed, told.astype(np.uint64))

    def again(self, lasting: Any, source: Source | None = None) -> Any:
        """The seed, and that bucket or another."""
        reports = np.array(lasting, np.uint64)
        reports[..., 2] = keep_or_replace(reports[..., 2].astype(np.int64), self.buckets, self.repeated, source=source)
        return reports
