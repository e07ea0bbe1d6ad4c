"""How the price of a question is split where something must be found for it first.

    one kind of thing is found (keys, or limits)       a quarter
    several kinds                                      half, in equal parts; each again in equal parts a column
    a limit is found                                   a tenth besides, for two counts: of all people, and of those beyond it
    the answer                                         the rest: 40 % at least

δ is needed by keys, and by Gaussian noise: where both are, each has half of it. Figures by simulation are in docs/keys.md.
"""

from dataclasses import dataclass
from fractions import Fraction

ALONE = Fraction(1, 4)
"""Of the price, for the one kind of thing that is found."""

TOGETHER = Fraction(1, 2)
"""Of the price, for all kinds of things that are found, where there are several."""

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

    >>> [float(shares(keys=keys, limits=True).answer) for keys in (False, True)]
    [0.65, 0.4]
    """
    kinds = keys + limits
    each = ALONE if kinds == 1 else TOGETHER / max(kinds, 1)
    nothing = Fraction(0)
    return Shares(each if keys else nothing, each if limits else nothing, COUNTING if limits else nothing)
