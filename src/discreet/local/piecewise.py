"""The mean of bounded numbers from reports near them: a window of reports moves with the number, and each in it is likelier."""

from fractions import Fraction
from functools import lru_cache

from discreet.exact import exp_neg_bounds
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.protocol import DIGITS
from discreet.local.window import ReportWindow
from discreet.noise import Source
from discreet.noise.size import Ints


@lru_cache(maxsize=256)
def near_window(epsilon: Fraction, steps: int) -> ReportWindow:
    """The window about each of steps + 1 places: its width is steps · e^(−ε/2), rounded, and at least one; which it is tells nothing."""
    near = (exp_neg_bounds(epsilon / 2, DIGITS)[0] * steps + (1 << DIGITS - 1)) >> DIGITS
    return ReportWindow.of(steps + 1, max(1, near), epsilon)


class PiecewiseMean(MeanProtocol):
    """One of steps + w reports: each of the w in the person's window is e^ε times as likely as any other.

    (Wang et al. 2019, the piecewise mechanism, on a grid.) The width w is near steps · e^(−ε/2), as in the continuous mechanism, where the
    window has the width C − 1 and moves by C + 1 in all. Its ends move by one report with each place, so means have no bias.

    >>> PiecewiseMean(-1, 1, 2, steps=8).window.width
    3
    """

    __slots__ = ()
    name, code = "piecewise", 6

    @property
    def window(self) -> ReportWindow:
        """The window about each place."""
        return near_window(Fraction(self.epsilon), self.steps)

    @property
    def codes(self) -> int:
        """The reports of all windows."""
        return self.window.codes

    def chance(self, report: int, place: int) -> Fraction:
        """The same for all reports in the window, and for all outside."""
        return self.window.chance(report, place)

    def stands_for(self, report: int) -> Fraction:
        """Linear in the report; the middle one stands for the midpoint."""
        return self.midpoint + self.step * self.window.unbiased(report)

    def moment(self, place: int | Fraction) -> Fraction:
        """That of the window, in squared steps."""
        return self.step**2 * self.window.moment(place)

    def _randomised(self, places: Ints, source: Source) -> Ints:
        return self.window.randomised(places, source)
