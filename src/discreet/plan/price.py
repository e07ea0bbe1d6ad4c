"""How the price of a question is split where something must be found for it first.

    limits alone                 a quarter
    keys, and limits with them   half, in equal parts of keys and of limits; each again in equal parts a column
    a limit is found             a tenth besides, for two counts: of all people, and of those beyond it
    the answer                   the rest: 40 % at least

A key that is not found is a group that is missing, which is worse than some more noise: so keys have half where they are alone. δ is needed
by keys, and by Gaussian noise: where both are, each has half of it. Figures by simulation are in docs/keys.md.
"""

from dataclasses import dataclass
from fractions import Fraction

LEAST_EPSILON = Fraction(1, 10**6)
"""The least price of anything: at less, rows could be added to a ledger almost without end."""

ALONE = Fraction(1, 4)
"""Of the price, for limits where nothing else is found."""

TOGETHER = Fraction(1, 2)
"""Of the price, for keys, and for limits that are found besides."""

COUNTING = Fraction(1, 10)
"""Of the price, for the two counts."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a price, which add up to 1."""

    keys: Fraction
    """For all key columns together."""

    limits: Fraction
    counts: Fraction

    @property
    def answer(self) -> Fraction:
        return 1 - self.keys - self.limits - self.counts


def shares(*, keys: bool, limits: bool) -> Shares:
    """The split for what is found.

    >>> [float(shares(keys=keys, limits=limits).answer) for keys, limits in ((False, True), (True, True), (True, False))]
    [0.65, 0.4, 0.5]
    """
    each = TOGETHER / (keys + limits) if keys else ALONE
    nothing = Fraction(0)
    return Shares(each if keys else nothing, each if limits else nothing, COUNTING if limits else nothing)
