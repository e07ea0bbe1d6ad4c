"""Estimates: intervals hold, variances are unbiased, what is made a distribution is the nearest one, and choices are the best."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import Invalid
from discreet.local import HadamardResponse, KaryResponse, UnaryEncoding, choose, forecasts
from discreet.local.choices import Choices
from discreet.local.estimates import projected, shares
from discreet.local.frequency import MOST_WORK
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.protocols import PROTOCOLS, protocol_of
from discreet.mechanisms.randomized_response import deviation

NORMAL = 1e-3  # by which a normal quantile may miss the chance to miss, as `deviation` says


def law(protocol: FrequencyProtocol, own: int, n: int) -> np.ndarray:
    """The exact law of how many of n reports support a cell that `own` people have."""
    p, q = float(protocol.p), float(protocol.q)
    return np.convolve(binom.pmf(np.arange(own + 1), own, p), binom.pmf(np.arange(n - own + 1), n - own, q))


CASES = [
    (protocol, own, n)
    for protocol in (
        KaryResponse(2, 1),
        KaryResponse(50, 2),
        UnaryEncoding(9, F(1, 2)),
        UnaryEncoding(9, 5),
        HadamardResponse(4, 1),
    )
    for n in (1, 20, 200, 1000)
    for own in sorted({0, n // 10, n // 2, n})
]


def intervals_hold() -> None:
    for protocol, own, n in CASES:
        for level in (0.5, 0.95, 0.999):
            counts = np.arange(n + 1)
            found = shares(protocol.p, protocol.q, tuple(range(n + 1)), counts, n, level)
            held = law(protocol, own, n)[(found.low <= own / n + 1e-12) & (own / n - 1e-12 <= found.high)].sum()
            assert held >= level - NORMAL * (1 - level) - 1e-9, (protocol, own, n, level)


def test_intervals_hold() -> None:
    intervals_hold()


def widths_are_of_the_largest_variance_within_a_first_interval() -> None:
    """Which misses with a tenth of the chance, and they with the rest; a variance is rounded up by less than a 64th of the largest one."""
    for protocol in (KaryResponse(2, 1), KaryResponse(50, 4), UnaryEncoding(9, 5), HadamardResponse(4, 1)):
        for n in (20, 2_000):
            for level in (F(1, 2), F(95, 100), F(999, 1000)):
                counts = np.arange(0, n + 1, max(1, n // 20))
                found = shares(protocol.p, protocol.q, tuple(range(len(counts))), counts, n, level)
                p, q, gap = float(protocol.p), float(protocol.q), float(protocol.p - protocol.q)
                most = max(p * (1 - p), q * (1 - q))
                first = deviation(n, most, 1 - (1 - level) / 10) / (n * gap)
                for value, high in zip(found.values, found.high, strict=True):
                    ends = np.clip((value - first, value + first), 0, 1)
                    spread = max(end * p * (1 - p) + (1 - end) * q * (1 - q) for end in ends)
                    least, larger = (
                        deviation(n, min(each, most), 1 - (1 - level) * F(9, 10)) / (n * gap)
                        for each in (spread, spread + most / 64)
                    )
                    assert least * (1 - 1e-9) <= high - value <= larger * (1 + 1e-9), (protocol, n, level)


def test_widths_are_of_the_largest_variance_within_a_first_interval() -> None:
    widths_are_of_the_largest_variance_within_a_first_interval()


def test_intervals_of_many_reports_are_nearly_as_narrow_as_they_can_be() -> None:
    for protocol in (KaryResponse(50, 2), UnaryEncoding(50, 1), UnaryEncoding(50, 4), HadamardResponse(50, 1)):
        n = 10**6
        found = shares(protocol.p, protocol.q, (0,), np.array([int(n * protocol.q)]), n)
        assert (found.high - found.low)[0] / 2 < 1.1 * 1.96 * float(protocol.variance(F(0), n)) ** 0.5


def variances_are_unbiased_and_positive() -> None:
    for protocol, own, n in CASES:
        found = shares(protocol.p, protocol.q, tuple(range(n + 1)), np.arange(n + 1), n)
        exact = law(protocol, own, n)
        assert found.variances.min() > 0
        assert exact @ found.values == pytest.approx(own / n, abs=1e-9)
        assert exact @ found.variances == pytest.approx(float(protocol.variance(F(own, n), n)), rel=1e-9)


def test_variances_are_unbiased_and_positive() -> None:
    variances_are_unbiased_and_positive()


def projections_are_the_nearest_distributions() -> None:
    """The conditions of Karush, Kuhn and Tucker: what is left over is one number where a share is positive, and no more elsewhere."""
    draw = np.random.default_rng(5)
    for size in (2, 3, 10, 200):
        for scale in (0.01, 1, 30):
            values = draw.normal(1 / size, scale, size)
            shares = projected(values)
            assert shares.sum() == pytest.approx(1) and shares.min() >= 0
            rest = values - shares
            assert np.ptp(rest[shares > 0]) < 1e-9 and (rest <= rest[shares > 0].max() + 1e-9).all()


def test_projections_are_the_nearest_distributions() -> None:
    projections_are_the_nearest_distributions()


def test_what_is_a_distribution_stays_as_it_is() -> None:
    values = np.array([0.5, 0.25, 0.25, 0.0])
    assert projected(values).tolist() == values.tolist()


def test_raw_values_are_kept_beside_consistent_ones() -> None:
    found = shares(KaryResponse(3, 1).p, KaryResponse(3, 1).q, ("a", "b", "c"), np.array([9, 1, 0]), 10)
    assert found.values.min() < 0 <= found.consistent.min()
    assert [label for label, *_ in found] == ["a", "b", "c"]
    assert [each[1] for each in found] == found.values.tolist()


def choices_are_nearly_the_best_and_small() -> None:
    for k in (2, 3, 10, 100, 5000):
        for epsilon in (F(1, 10), F(1), F(4)):
            rows = forecasts(k, epsilon, 10**6)
            best = choose(k, epsilon, 10**6)
            assert len(rows) == 4 and rows[0].variance == min(each.variance for each in rows)
            assert best.variance <= F(11, 10) * rows[0].variance
            assert all(each.bytes >= best.bytes for each in rows if each.variance <= F(11, 10) * rows[0].variance)
    names = [choose(k, 1, n).protocol.name for k, n in ((2, 100), (1000, 100), (1000, 10**11), (1 << 20, 10**9))]
    assert names == ["k-ary", "hashing", "hadamard", "hadamard"]
    assert choose(1 << 20, 1, 10**9).work <= MOST_WORK
    assert (
        choose(1 << 20, 1, 2 * MOST_WORK).protocol.name == "hadamard"
    )  # each report is looked at once, however many there are
    assert choose(2, 1, 400).deviation == pytest.approx(choose(2, 1, 100).deviation / 2)


def test_labels_are_as_good_as_their_number() -> None:
    for labels in (("a", "b", "c"), ["a", "b", "c"], Choices(("a", "b", "c"))):
        assert choose(labels, 1, 100) == choose(3, 1, 100)  # type: ignore[arg-type]
    for domain in ("abc", None, 1, ("a",)):
        with pytest.raises(Invalid, match="domain"):
            choose(domain, 1, 100)  # type: ignore[arg-type]


def test_choices_are_nearly_the_best_and_small() -> None:
    choices_are_nearly_the_best_and_small()


def test_arguments_that_cannot_be_are_refused() -> None:
    for level in (0, 1, "x"):
        with pytest.raises(Invalid):
            shares(F(2, 3), F(1, 3), (0, 1), np.array([1, 1]), 2, level)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        choose(2, 1, 0)
    with pytest.raises(Invalid, match=", ".join(sorted(PROTOCOLS))):
        protocol_of("none", Choices(2), 1)
    with pytest.raises(Invalid):
        KaryResponse(2, 1).estimate(3, 2)
