"""Distributions from reports of a square wave: fast sums are slow ones, intervals hold, and histograms explain what was reported."""

from collections.abc import Sequence
from fractions import Fraction as F

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from discreet.errors import Invalid
from discreet.local import DistributionEstimate, Histogram, SquareWave
from discreet.local.distribution import Sides
from discreet.local.likelihood import backward, explained, forward, smoothed
from tests.scale import repeats

FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons
CASES = [SquareWave(0, 1, epsilon, steps) for epsilon in (F(1, 2), F(1), F(6)) for steps in (2, 3, 10, 17)]


def matrix(protocol: SquareWave) -> NDArray[np.float64]:
    return np.array([[float(each) for each in row] for row in protocol.channel()])


def drawn(protocol: SquareWave, people: Sequence[int], runs: int, seed: int) -> NDArray[np.int64]:
    """Totals of many runs, by their exact law, with so many people in each cell."""
    draw, chances = np.random.default_rng(seed), matrix(protocol)
    rows = [draw.multinomial(count, row / row.sum(), runs) for count, row in zip(people, chances, strict=True)]
    return np.sum(rows, axis=0)


def fast_sums_are_slow_ones() -> None:
    for protocol in CASES:
        (totals,) = drawn(protocol, [20 + cell for cell in range(protocol.steps)], 1, seed=3)
        n = int(totals.sum())
        sides = Sides.of(protocol, totals)
        for cell in range(protocol.steps):
            value = sum((int(count) * protocol.told(code, cell) for code, count in enumerate(totals)), F(0)) / n
            assert sides.values[cell] == pytest.approx(float(value), abs=1e-9)
            variance = float(protocol.variance(cell, value, n))
            assert sides.variances(n)[cell] == pytest.approx(variance, rel=1e-6, abs=1e-12)


def test_fast_sums_are_slow_ones() -> None:
    fast_sums_are_slow_ones()


def passes_are_those_of_the_channel() -> None:
    draw = np.random.default_rng(4)
    for protocol in CASES:
        chances, window = matrix(protocol), protocol.window
        shares, weights = draw.random(protocol.steps), draw.random(protocol.codes)
        assert forward(window, shares) == pytest.approx(shares @ chances, rel=1e-9)
        assert backward(window, weights) == pytest.approx(chances @ weights, rel=1e-9)


def test_passes_are_those_of_the_channel() -> None:
    passes_are_those_of_the_channel()


def histograms_explain_what_was_reported() -> None:
    """The conditions of Karush, Kuhn and Tucker, nearly: no cell would explain more than those do that have people."""
    for protocol in CASES:
        people = [400 if cell % 3 == 0 else 50 for cell in range(protocol.steps)]
        (totals,) = drawn(protocol, people, 1, seed=8)
        shares = explained(protocol.window, totals, smooth=False)
        assert shares.min() >= 0 and shares.sum() == pytest.approx(1)
        gains = backward(protocol.window, totals / forward(protocol.window, shares)) / totals.sum()
        assert gains.max() < 1.02 and shares @ gains == pytest.approx(1)
        even = np.full(protocol.steps, 1 / protocol.steps)
        nats = [float(totals @ np.log(forward(protocol.window, each))) for each in (even, shares)]
        assert nats[1] >= nats[0]


def test_histograms_explain_what_was_reported() -> None:
    histograms_explain_what_was_reported()


def histograms_of_very_many_are_the_true_ones() -> None:
    protocol = SquareWave(0, 1, 2, 32)
    truth = np.exp(-(((np.arange(32) - 12) / 6) ** 2))
    truth /= truth.sum()
    totals = np.round(truth @ matrix(protocol) * 10**9).astype(np.int64)
    for smooth, most in ((False, 1e-3), (True, 0.025)):  # the averages of 32 cells are wide ones
        shares = explained(protocol.window, totals, smooth=smooth)
        assert abs(np.cumsum(shares - truth)).max() < most


def test_histograms_of_very_many_are_the_true_ones() -> None:
    histograms_of_very_many_are_the_true_ones()


def smoothing_moves_nobody_out() -> None:
    values = np.array([0.5, 0.0, 0.0, 0.25, 0.25])
    assert smoothed(values).tolist() == [0.375, 0.125, 0.0625, 0.1875, 0.25]


def test_smoothing_moves_nobody_out() -> None:
    smoothing_moves_nobody_out()


MISS = 0.01
PEOPLE = {
    "even": [300] * 12,
    "one": [0] * 5 + [3600] + [0] * 6,
    "ends": [1700, 100, *[0] * 8, 100, 1700],
    "rising": [50 * each for each in range(12)],
}


def intervals_hold() -> None:
    """Simulated runs, each edge by itself; an interval that misses as often as it may would pass but for the chance of an alarm."""
    runs = repeats(150)
    for epsilon in (F(1, 2), F(2), F(8)):
        protocol = SquareWave(0, 1, epsilon, 12)
        for people in PEOPLE.values():
            n, truth = sum(people), np.cumsum(people) / sum(people)
            misses = np.zeros(12)
            for totals in drawn(protocol, people, runs, seed=6):
                low, high = Sides.of(protocol, totals).interval(n, MISS)
                misses += (truth < low - 1e-12) | (truth > high + 1e-12)
            assert misses.max() <= binom.isf(FALSE_ALARM / 12**2, runs, MISS), (epsilon, people, misses)


def test_intervals_hold() -> None:
    intervals_hold()


def second_reading(
    protocol: SquareWave, totals: NDArray[np.int64], miss: float, *, turned: bool = False
) -> list[float]:
    """What the share of each cell is at least, or minus what it is at most where it is `turned`, by slow sums.

    Averages over 1, 2, 4, … cells, by Bernstein's and Hoeffding's inequalities with the variance of one report at worst.
    """
    n, cells, width = int(totals.sum()), protocol.steps, protocol.window.width
    spans = [span for span in (1, 2, 4, 8, 16, 32) if span <= min(width, cells)]
    nats, found = float(np.log(2 * len(spans) / miss)), []
    told = [[protocol.told(code, cell) for code in range(protocol.codes)] for cell in range(cells)]
    values = [sum(int(count) * each for count, each in zip(totals, row, strict=True)) / n for row in told]
    order = range(cells - 1, -1, -1) if turned else range(cells)
    for at, _ in enumerate(order):
        best = -np.inf
        for span in spans:
            some = [order[each] for each in range(max(0, at - span + 1), at + 1)]
            gap, rare = protocol.difference, protocol.window.rare
            variance, sides = F(0), [protocol.sides(cell) for cell in some]
            for up_to, beyond in sides:
                mine = F(up_to, up_to + beyond)
                if beyond:  # else the share is 1 for sure
                    variance += (1 / gap - (span == 1)) * max(mine, 1 - mine) ** 2
                variance += rare / gap**2 * up_to * (1 - mine)
            variance /= len(some) ** 2
            reach = float(F(min(len(some), 2), len(some)) / gap)
            bernstein = (2 * float(variance) * nats / n) ** 0.5 + reach * nats / (3 * n)
            half = min(reach * (nats / (2 * n)) ** 0.5, bernstein)
            value = float(sum((values[cell] for cell in some), F(0)) / len(some))
            best = max(best, (-value if turned else value) - half)
        found.append(best)
    return found[::-1] if turned else found


def intervals_are_those_of_a_second_reading() -> None:
    for epsilon, steps in ((F(1), 9), (F(3), 12), (F(12), 5)):
        protocol = SquareWave(0, 1, epsilon, steps)
        (totals,) = drawn(protocol, [40 * (cell % 3) for cell in range(steps)], 1, seed=9)
        low, high = Sides.of(protocol, totals).interval(int(totals.sum()), MISS)
        least = np.clip(second_reading(protocol, totals, MISS), 0, 1)
        most = np.clip(-np.array(second_reading(protocol, totals, MISS, turned=True)), 0, 1)
        assert (least <= most).all()
        assert low == pytest.approx(least, abs=1e-12) and high == pytest.approx(most, abs=1e-12)


def test_intervals_are_those_of_a_second_reading() -> None:
    intervals_are_those_of_a_second_reading()


def test_intervals_of_narrow_cells_are_narrower_than_values_are_uncertain() -> None:
    protocol = SquareWave(0, 1, 1)
    even = np.full(1024, 1 / 1024)
    totals = np.round(forward(protocol.window, even) * 10**6).astype(np.int64)
    sides, n = Sides.of(protocol, totals), int(totals.sum())
    low, high = sides.interval(n, 0.05)
    truth = np.arange(1, 1025) / 1024
    assert ((low <= truth) & (truth <= high)).all()
    assert (high - low).mean() / 2 < 0.7 * (1.96 * sides.variances(n)[:-1] ** 0.5).mean()


def errors_of_shares_are_those_that_are_said() -> None:
    """20,000 runs by their exact laws; the relative error of a mean square is 0.01, so 5 % is five times that."""
    for epsilon in (F(1), F(4)):
        protocol = SquareWave(0, 1, epsilon, 4)
        people = [500, 0, 300, 200]
        totals = drawn(protocol, people, 20_000, seed=12)
        for cell in range(3):
            told = np.array([float(protocol.told(code, cell)) for code in range(protocol.codes)])
            share = F(sum(people[: cell + 1]), 1000)
            found = np.mean((totals @ told / 1000 - float(share)) ** 2)
            assert found == pytest.approx(float(protocol.variance(cell, share, 1000)), rel=0.05)


def test_errors_of_shares_are_those_that_are_said() -> None:
    errors_of_shares_are_those_that_are_said()


def quantiles_hold() -> None:
    """Where a quantile lies is within its interval, for people of whom some are at one number; the chance to miss is a half at most."""
    protocol, people, runs = SquareWave(10, 22, 3, 12), [300, 0, 0, 700, 0, 500, 500, 0, 0, 0, 0, 1000], repeats(60)
    sums = np.cumsum(people) / sum(people)
    misses = dict.fromkeys((F(1, 20), F(1, 2), F(9, 10)), 0)
    for totals in drawn(protocol, people, runs, seed=2):
        found = DistributionEstimate.of(protocol, totals, 0.5)
        for share in misses:
            cell = int(np.flatnonzero(sums >= float(share))[0])
            value, low, high = found.quantile(share)
            assert 10 <= low <= high <= 22 and 10 <= value <= 22
            misses[share] += not low <= 10 + cell + 0.5 <= high
    assert max(misses.values()) <= binom.isf(FALSE_ALARM / 3, runs, 0.5)
    value, low, high = found.quantile(F(1, 2))
    assert high - low < 8 and low <= value <= high


def test_quantiles_of_any_share_have_an_interval() -> None:
    protocol = SquareWave(0, 1, 1, 4)
    found = DistributionEstimate.of(protocol, protocol.accumulate(protocol.randomise([0.1] * 20)))
    for share in (F(1, 10**400), 1 - F(1, 10**400)):
        value, low, high = found.quantile(share)
        assert 0 <= low <= value <= high <= 1
    for share in (0, 1, "x", None, float("nan")):
        with pytest.raises(Invalid):
            found.quantile(share)  # type: ignore[arg-type]


def test_quantiles_hold() -> None:
    quantiles_hold()


def histograms_are_read_between_edges() -> None:
    one = Histogram(np.array([0.0, 1.0, 2.0, 4.0]), np.array([0.5, 0.0, 0.5]))
    assert one.cdf.tolist() == [0, 0.5, 0.5, 1]
    assert (one.mean, one.below(0.5), one.below(1.5), one.below(3), one.below(9)) == (1.75, 0.25, 0.5, 0.75, 1)
    assert (one.quantile(0.25), one.quantile(0.75), one.quantile(1)) == (0.5, 3, 4)


def test_histograms_are_read_between_edges() -> None:
    histograms_are_read_between_edges()


def estimates_say_one_thing_in_several_ways() -> None:
    protocol = SquareWave(100, 200, 6, 20)
    (totals,) = drawn(protocol, [1000 if cell < 10 else 500 for cell in range(20)], 1, seed=1)
    found = DistributionEstimate.of(protocol, totals, 0.9)
    assert (found.n, found.confidence, len(found.edges)) == (15_000, 0.9, 21)
    assert found.edges[0] == 100 and found.edges[-1] == 200 and found.values[-1] == 1
    truth = 1000 / 15 * (125 - 175) / 100 + 175
    for mean in (found.mean.value, found.likeliest.mean, found.smoothed.mean):
        assert mean == pytest.approx(truth, abs=1.5)
    assert found.mean.low + 2.5 <= truth <= found.mean.high - 2.5  # half a cell is added at either end
    assert abs(found.values - found.smoothed.cdf[1:]).max() < 0.03
    assert abs(found.values - found.likeliest.cdf[1:]).max() < 0.03
    assert (found.low <= found.high).all() and found.low.min() >= 0 and found.high.max() <= 1


def test_estimates_say_one_thing_in_several_ways() -> None:
    estimates_say_one_thing_in_several_ways()


def test_arguments_that_cannot_be_are_refused() -> None:
    protocol = SquareWave(0, 1, 1, 4)
    with pytest.raises(Invalid, match="no reports"):
        DistributionEstimate.of(protocol, np.zeros(protocol.codes, np.int64))
    found = DistributionEstimate.of(protocol, np.ones(protocol.codes, np.int64))
    for share in (0, 1, "x", 1.5):
        with pytest.raises(Invalid):
            found.quantile(share)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        found.smoothed.quantile(1.5)
