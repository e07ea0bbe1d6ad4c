"""The distribution of bounded numbers: a window of reports moves with the person's cell, so that near numbers have like reports."""

from fractions import Fraction
from functools import lru_cache

from discreet.errors import Invalid
from discreet.exact import exp_neg_bounds
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import DIGITS
from discreet.local.window import ReportWindow
from discreet.noise import Source
from discreet.noise.size import Ints


def best_width(epsilon: Fraction, cells: int) -> int:
    """The number of reports next to cells · (εe^ε − e^ε + 1)/(e^ε(e^ε − 1 − ε)), and at least one.

    That is twice the b of Li et al. 2020 (section 5.3), with which a report could tell the most: where reports are spread evenly it has
    the most mutual information with the number. For small ε it is all cells; digits of e^ε beyond those of 2^-64 make up for what is
    cancelled there. It is that of a lower bound of e^ε, by steps in integers that every client can take.

    >>> [best_width(Fraction(each), 1024) for each in (1, 4)]
    [524, 62]
    """
    e = Fraction(1 << 4 * DIGITS, exp_neg_bounds(epsilon, 4 * DIGITS)[1])
    share = (epsilon * e - e + 1) / (e * (e - 1 - epsilon))
    return max(1, int(share * cells + Fraction(1, 2)))


@lru_cache(maxsize=256)
def best_window(epsilon: Fraction, cells: int) -> ReportWindow:
    """The window of each cell, with the width that tells the most."""
    return ReportWindow.of(cells, best_width(epsilon, cells), epsilon)


class SquareWave(NumberProtocol):
    """One of steps + w − 1 reports: each of the w in the window of the person's cell is e^ε times as likely as any other.

    (Li, Wang, Lopuhaä-Zwakenberg, Škorić and Li 2020, the square wave mechanism, with the range cut into `steps` cells beforehand.) The
    cell is that in which the number lies, and the window is of its cell alone: the loss is at most ε.

    Of the share of people in the cells up to x there is an unbiased estimate, `told`. Reports x, x − w, x − 2w, … have as much more than
    others as there are people up to x; reports x + w, x + 2w, … as there are beyond x. With a reports of the first kind and b of
    the second, each weighs as much as the others of its kind are few, which makes the variance due to people elsewhere the least.

    >>> SquareWave(0, 1, 1, steps=8).window.width
    4
    """

    __slots__ = ()
    name, code = "square-wave", 8

    def __post_init__(self) -> None:
        NumberProtocol.__post_init__(self)
        if self.steps < 2:
            raise Invalid("steps must be at least 2 for square-wave")

    @property
    def window(self) -> ReportWindow:
        """The window of each cell."""
        return best_window(Fraction(self.epsilon), self.steps)

    @property
    def places(self) -> int:
        """The cells."""
        return self.steps

    def point(self, place: int | Fraction) -> Fraction:
        """The middle of a cell."""
        return self.low + self.step * (place + Fraction(1, 2))

    @property
    def blur(self) -> Fraction:
        """Half a cell."""
        return self.step / 2

    def place(self, value: Fraction, source: Source) -> int:
        """The cell that a number lies in; of two that meet there it is the upper one, save at the end of the range."""
        return min(int((value - self.low) / self.step), self.steps - 1)

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

    @property
    def worst(self) -> Fraction:
        """The variance at the ends or in the middle, whichever is larger: it is a polynomial of degree 2, the same from both ends."""
        ends = self.window.moment(0) - Fraction(self.steps - 1, 2) ** 2
        return self.step**2 * max(ends, self.window.moment(Fraction(self.steps - 1, 2)))

    def sides(self, cell: int) -> tuple[int, int]:
        """How many reports there are that say of people up to this cell, and how many that say of people beyond it."""
        return cell // self.window.width + 1, (self.codes - 1 - cell) // self.window.width

    def told(self, report: int, cell: int) -> Fraction:
        """What one report says of the share of people in the cells up to this one, without bias."""
        up_to, beyond = self.sides(cell)
        weight = 0
        if (report - cell) % self.window.width == 0:
            weight = beyond if report <= cell else -up_to
        return (up_to + weight / self.difference) / (up_to + beyond)

    @property
    def difference(self) -> Fraction:
        """How much likelier a report is in the window than outside of it."""
        return self.window.likely - self.window.rare

    def variance(self, cell: int, share: Fraction, n: int) -> Fraction:
        """The exact variance of the mean of `told`, for the noise alone, where this share of n people is in the cells up to this one.

        It is linear in the share: with an unbiased estimate in place of the share it is unbiased itself.
        """
        up_to, beyond = self.sides(cell)
        mine = Fraction(up_to, up_to + beyond)
        own = (1 / self.difference - 1) * (share * (1 - mine) ** 2 + (1 - share) * mine**2)
        return (own + self.window.rare / self.difference**2 * up_to * (1 - mine)) / n

    @property
    def reach(self) -> Fraction:
        """A report is of people up to a cell or beyond it, so the only one moves their share by 1/(likely − rare)."""
        return 1 / self.difference

    def _randomised(self, places: Ints, source: Source) -> Ints:
        return self.window.randomised(places, source)
