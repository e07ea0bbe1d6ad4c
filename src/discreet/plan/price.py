"""How the price of a question is split where something must be found for it first.

    limits alone                         a quarter
    keys or ranges, and what is beside   half, in equal parts of keys, of ranges and of limits; each again in equal parts a column
    a limit is found                     a tenth besides, for two counts: of all people, and of those beyond it
    the answer                           the rest: 40 % at least

A key that is not found is a group that is missing, which is worse than some more noise: so keys have half where they are alone. So have
ranges, whose two ends are two searches: with a quarter a range of 200 people at ε = 0.5 is next to never found, and with half it nearly
always is. δ is needed by keys, and by Gaussian noise: where both are, each has half of it. Figures by simulation are in docs/keys.md,
docs/limits.md and docs/ranges.md.
"""

from dataclasses import dataclass
from fractions import Fraction

LEAST_EPSILON = Fraction(1, 10**6)
"""The least price of anything: at less, rows could be added to a ledger almost without end."""

ALONE = Fraction(1, 4)
"""Of the price, for limits where nothing else is found."""

TOGETHER = Fraction(1, 2)
"""Of the price, for keys and ranges, and for limits that are found besides."""

COUNTING = Fraction(1, 10)
"""Of the price, for the two counts."""

NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a price, which add up to 1."""

    keys: Fraction
    """For all key columns together."""

    ranges: Fraction
    """For both ends of all ranges together."""

    limits: Fraction
    counts: Fraction

    @property
    def answer(self) -> Fraction:
        return 1 - self.keys - self.ranges - self.limits - self.counts


def shares(*, keys: bool = False, ranges: bool = False, limits: bool = False) -> Shares:
    """The split for what is found.

    >>> [float(shares(keys=keys, limits=limits).answer) for keys, limits in ((False, True), (True, True), (True, False))]
    [0.65, 0.4, 0.5]
    >>> [float(shares(keys=keys, ranges=True, limits=limits).answer) for keys, limits in ((False, False), (False, True), (True, True))]
    [0.5, 0.4, 0.4]
    """
    each = TOGETHER / (keys + ranges + limits) if keys or ranges else ALONE
    return Shares(
        each if keys else NOTHING,
        each if ranges else NOTHING,
        each if limits else NOTHING,
        COUNTING if limits else NOTHING,
    )
