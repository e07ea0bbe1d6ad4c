"""Memoised k-ary response: a permanent cell for each cell that a person holds, told in each round by another k-ary response."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from discreet.fields import Exact, frozen
from discreet.local.kary import KaryResponse
from discreet.local.memoised import Memoised
from discreet.noise import Source, keep_or_replace


@frozen
class MemoKary(Memoised, KaryResponse):
    """k-ary response twice: once for each distinct cell at ε, then in each round, so that one report tells `first`.

    (Arcolezi et al. 2022, L-GRR.) One report is that of a k-ary response with another p.

    >>> protocol = MemoKary(4, 1, first=0.5)
    >>> 1.6487 < protocol.p / protocol.q < 1.6488  # e^(1/2)
    True
    """

    first: Exact = field(kw_only=True)

    name, code = "memo-k-ary", 12

    @property
    def answers(self) -> int:
        """Every cell."""
        return self.k

    def lasting(self, value: int, others: Sequence[Any] = (), source: Source | None = None) -> Any:
        """The cell that stands for this one from now on."""
        return keep_or_replace(np.array([value]), self.k, self.permanent, source=source)[0]

    def again(self, lasting: Any, source: Source | None = None) -> Any:
        """That cell, or another."""
        return keep_or_replace(np.asarray(lasting), self.k, self.repeated, source=source)
