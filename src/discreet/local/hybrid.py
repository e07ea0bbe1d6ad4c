"""The mean of bounded numbers by either of two protocols, drawn for each person, and which of them is the best."""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.exact import Number, exp_neg_bounds
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.mean_response import MeanResponse
from discreet.local.piecewise import PiecewiseMean
from discreet.local.protocol import DIGITS
from discreet.noise import Source, bernoulli
from discreet.noise.size import Ints

TURN = Fraction(61, 100)  # the ε up to which one bit is better than any mixture: ε* of Wang et al. 2019


@lru_cache(maxsize=256)
def best_share(epsilon: Fraction) -> Fraction:
    """The probability 1 − e^(−ε/2) of a window where ε is above 0.61, to 64 binary digits; 0 elsewhere."""
    if epsilon <= TURN:
        return Fraction(0)
    return 1 - Fraction(exp_neg_bounds(epsilon / 2, DIGITS)[0], 1 << DIGITS)


class HybridMean(MeanProtocol):
    """A report of `PiecewiseMean` with probability `share`, else one of `MeanResponse`; a report says which.

    (Wang et al. 2019, the hybrid mechanism.) Which protocol it is does not depend on the number, so the loss is at most the larger
    of both: ε. The variance of the one is largest where that of the other is least. Reports 0 and 1 are of `MeanResponse`.

    >>> HybridMean(-1, 1, 0.5).share
    Fraction(0, 1)
    """

    __slots__ = ()
    name, code = "hybrid", 7

    @property
    def bit(self) -> MeanResponse:
        """The protocol of one bit."""
        return _parts(self)[0]

    @property
    def pieces(self) -> PiecewiseMean:
        """The protocol of windows."""
        return _parts(self)[1]

    @property
    def share(self) -> Fraction:
        """The probability of a window."""
        return best_share(Fraction(self.epsilon))

    @property
    def codes(self) -> int:
        """Those of both; those of one bit alone where no window is drawn."""
        return 2 + (self.pieces.codes if self.share else 0)

    def chance(self, report: int, place: int) -> Fraction:
        """That of its protocol, times the share of it."""
        if report < 2:
            return (1 - self.share) * self.bit.chance(report, place)
        return self.share * self.pieces.chance(report - 2, place)

    def stands_for(self, report: int) -> Fraction:
        """What it stands for in its protocol."""
        return self.bit.stands_for(report) if report < 2 else self.pieces.stands_for(report - 2)

    @property
    def span(self) -> Fraction:
        """The larger one of both, as both have one midpoint."""
        return max(self.bit.span, self.pieces.span) if self.share else self.bit.span

    def moment(self, place: int | Fraction) -> Fraction:
        """That of a mixture."""
        return (1 - self.share) * self.bit.moment(place) + self.share * self.pieces.moment(place)

    def _randomised(self, places: Ints, source: Source) -> Ints:
        """Both reports are drawn, whichever is told."""
        one = self.bit._randomised(places, source)
        if not self.share:
            return one
        other = self.pieces._randomised(places, source) + 2
        return np.where(bernoulli(self.share, len(places), source=source), other, one)


@lru_cache(maxsize=256)
def _parts(both: HybridMean) -> tuple[MeanResponse, PiecewiseMean]:
    terms = both.low, both.high, both.epsilon, both.steps
    return MeanResponse(*terms), PiecewiseMean(*terms)


def choose_mean(epsilon: Number, low: Number = -1, high: Number = 1, steps: int = 1024) -> MeanProtocol:
    """The protocol of the least variance in the worst case; the simplest one of several. Only what is public is asked for.

    >>> [choose_mean(each).name for each in (0.5, 1)]
    ['mean-response', 'hybrid']
    """
    kinds = (MeanResponse, PiecewiseMean, HybridMean)
    return min((kind(low, high, epsilon, steps) for kind in kinds), key=lambda one: one.worst)
