"""Means of numbers: every report of small grids is enumerated for every place, and estimates are held against exact moments."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from discreet.errors import Invalid
from discreet.exact import log_down, log_up
from discreet.local import HybridMean, MeanEstimate, MeanResponse, PiecewiseMean, choose_mean
from discreet.local.mean_protocol import MeanProtocol
from discreet.noise import Tape

NEAR = F(1, 10**9)
FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons
EPSILONS = (F(1, 10**6), F(1, 10), F(1), F(5), F(20))
RANGES = ((F(-1), F(1)), (F(3), F(10)))
KINDS: tuple[type[MeanProtocol], ...] = (MeanResponse, PiecewiseMean, HybridMean)
SMALL = [
    kind(low, high, epsilon, steps)
    for kind in KINDS
    for low, high in RANGES
    for epsilon in EPSILONS
    for steps in (1, 2, 7)
]


def test_rows_are_distributions() -> None:
    for protocol in SMALL:
        assert all(sum(row) == 1 for row in protocol.channel()), protocol


def no_report_tells_more_than_is_declared_or_much_less() -> None:
    for protocol in SMALL:
        assert all(min(row) > 0 for row in protocol.channel()), protocol
        loss = max(max(column) / min(column) for column in zip(*protocol.channel(), strict=True))
        assert log_up(loss) <= protocol.epsilon, protocol
        assert log_down(loss) >= protocol.epsilon - NEAR, protocol


def test_no_report_tells_more_than_is_declared_or_much_less() -> None:
    no_report_tells_more_than_is_declared_or_much_less()


def means_are_unbiased_with_the_variance_that_is_said() -> None:
    """Moments of one report from the whole channel, at every place of the grid."""
    for protocol in SMALL:
        numbers = [protocol.stands_for(each) for each in range(protocol.codes)]
        assert protocol.span == max(numbers) - min(numbers)
        for place, chances in enumerate(protocol.channel()):
            mean = sum(chance * each for chance, each in zip(chances, numbers, strict=True))
            second = sum(chance * (each - mean) ** 2 for chance, each in zip(chances, numbers, strict=True))
            assert mean == protocol.point(place), protocol
            assert second == protocol.variance(mean) <= protocol.worst, protocol


def test_means_are_unbiased_with_the_variance_that_is_said() -> None:
    means_are_unbiased_with_the_variance_that_is_said()


def numbers_between_places_are_unbiased_with_the_variance_that_is_said() -> None:
    """What is between two places is a mixture of them; rounding is part of the variance, and of its bound."""
    for protocol in SMALL:
        numbers = [protocol.stands_for(each) for each in range(protocol.codes)]
        rows = protocol.channel()
        for rest in (F(1, 3), F(1, 2), F(9, 10)):
            for place in range(protocol.steps):
                pairs = zip(rows[place], rows[place + 1], strict=True)
                chances = [(1 - rest) * below + rest * above for below, above in pairs]
                mean = sum(chance * each for chance, each in zip(chances, numbers, strict=True))
                second = sum(chance * (each - mean) ** 2 for chance, each in zip(chances, numbers, strict=True))
                assert mean == protocol.point(place + rest), protocol
                assert second == protocol.variance(mean) <= protocol.worst, protocol


def test_numbers_between_places_are_unbiased_with_the_variance_that_is_said() -> None:
    numbers_between_places_are_unbiased_with_the_variance_that_is_said()


def reports_are_drawn_as_they_are_enumerated() -> None:
    """Pearson's test of drawn reports against the channel, at both ends and between two places; 5 of each expected at least."""
    cases = [each for each in SMALL if each.epsilon == 1 and each.steps > 1 and each.low == 3]
    for protocol in cases:
        rows = protocol.channel()
        for place, rest in ((0, F(0)), (1, F(1, 3)), (protocol.steps - 1, F(1))):
            pairs = zip(rows[place], rows[place + 1], strict=True)
            expected = np.array([float((1 - rest) * below + rest * above) for below, above in pairs])
            draws = max(10_000, int(50 / expected.min()))
            reports = protocol.randomise([protocol.point(place + rest)] * draws)
            found = np.bincount(reports, minlength=protocol.codes)
            alarm = FALSE_ALARM / (3 * len(cases))
            assert chisquare(found, expected * draws, sum_check=False).pvalue > alarm, protocol


def test_reports_are_drawn_as_they_are_enumerated() -> None:
    reports_are_drawn_as_they_are_enumerated()


def test_single_reports_are_those_of_arrays() -> None:
    for protocol in SMALL[::5]:
        for seed in range(8):
            value = float(protocol.low) + seed / 16
            single = protocol.randomise(value, Tape(seed))
            assert type(single) is int and single == protocol.randomise(np.array([value]), Tape(seed))[0]


def test_how_many_bits_are_drawn_for_a_number_does_not_depend_on_it() -> None:
    protocol = MeanResponse(0, 1, 1)
    after = set()
    for value in (0, 1, 0.5, 1e-9, F(1, 3)):
        tape = Tape(5)
        protocol.place(F(value), tape)
        after.add(tape.bits(64))
    assert len(after) == 1


def intervals_hold() -> None:
    """The exact law of how many of n say high, n people having the same number."""
    for epsilon in (F(1, 2), F(3)):
        protocol = MeanResponse(-1, 1, epsilon, 4)
        for n in (1, 10, 300):
            for place in range(5):
                chances = binom.pmf(np.arange(n + 1), n, float(protocol.chance(1, place)))
                for level in (0.5, 0.95):
                    found = [MeanEstimate.of(protocol, np.array([n - high, high]), level) for high in range(n + 1)]
                    truth = float(protocol.point(place))
                    held = sum(c for c, each in zip(chances, found, strict=True) if each.low <= truth <= each.high)
                    assert held >= level, (epsilon, n, place, level)
                mean = sum(c * each.value for c, each in zip(chances, found, strict=True))
                assert mean == pytest.approx(truth, abs=1e-9)
                if n > 1:
                    variance = sum(c * each.variance for c, each in zip(chances, found, strict=True))
                    assert variance == pytest.approx(float(protocol.variance(F(place - 2, 2))) / n, rel=1e-9)


def test_of_one_report_the_variance_is_the_worst_one() -> None:
    for kind in KINDS:
        protocol = kind(0, 1, 2, 4)
        found = MeanEstimate.of(protocol, protocol.accumulate(np.array([1])))
        assert found.n == 1 and found.variance == pytest.approx(float(protocol.worst)) and found.variance > 0


def test_intervals_hold() -> None:
    intervals_hold()


def intervals_by_windows_hold() -> None:
    """The exact law of the sum of n reports, of which half are from people at either of two places; the mean is linear in the sum."""
    for epsilon in (F(1), F(6), F(20)):
        protocol = PiecewiseMean(-1, 1, epsilon, 4)
        rows = [np.array([float(each) for each in row]) for row in protocol.channel()]
        for pair in ((0, 0), (0, 4), (2, 3)):
            law, truth = np.ones(1), float(protocol.point(pair[0]) + protocol.point(pair[1])) / 2
            for n in range(2, 101, 2):
                law = np.convolve(np.convolve(law, rows[pair[0]]), rows[pair[1]])
                first, last = float(protocol.stands_for(0)), float(protocol.stands_for(protocol.codes - 1))
                values = np.linspace(first, last, len(law))
                assert law @ values == pytest.approx(truth, abs=1e-9)
                for level in (0.5, 0.95):
                    found = MeanEstimate.of(protocol, protocol.accumulate(np.zeros(n, np.int64)), level)
                    half = (found.high - found.low) / 2
                    assert law[abs(values - truth) <= half].sum() >= level, (epsilon, pair, n, level)


def test_intervals_by_windows_hold() -> None:
    intervals_by_windows_hold()


def test_errors_of_many_are_those_that_are_said() -> None:
    """1000 people, 20,000 runs by their exact laws; the chance of an alarm is below 1e-6: the relative error is 0.01, five times over."""
    draw = np.random.default_rng(19)
    for kind in KINDS:
        for epsilon in (F(1, 2), F(1), F(4)):
            protocol = kind(0, 1, epsilon, 4)
            people = (500, 0, 0, 300, 200)
            numbers = np.array([float(protocol.stands_for(each)) for each in range(protocol.codes)])
            totals = np.zeros(20_000)
            for count, row in zip(people, protocol.channel(), strict=True):
                chances = np.array([float(each) for each in row])
                totals += draw.multinomial(count, chances / chances.sum(), 20_000) @ numbers
            truth = sum(count * float(protocol.point(at)) for at, count in enumerate(people)) / 1000
            said = sum(count * protocol.variance(protocol.point(at)) for at, count in enumerate(people)) / 1000**2
            assert np.mean((totals / 1000 - truth) ** 2) == pytest.approx(float(said), rel=0.05)


@pytest.mark.parametrize("bad", [1.5, -0.1, float("nan"), "0.5", None, True, [0.5, 2], [[0.5]], np.zeros((2, 2))])
def test_what_is_no_number_of_the_range_is_refused_and_not_said(bad: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        MeanResponse(0, 1, 1).randomise(bad)
    assert "1.5" not in str(refusal.value) and "nan" not in str(refusal.value) and "-0.1" not in str(refusal.value)


@pytest.mark.parametrize(
    "terms",
    [(1, 1, 1), (2, 1, 1), (0, 1, 0), (0, 1, 21), (0, 1, 1, 0), (0, 1, 1, 1 << 17), (0, 1, 1, 2.0), ("0", 1, 1)],
    ids=str,
)
def test_terms_that_cannot_be_are_refused(terms: tuple[Any, ...]) -> None:
    for kind in KINDS:
        with pytest.raises(Invalid):
            kind(*terms)


def test_reports_that_cannot_be_are_refused() -> None:
    protocol = MeanResponse(0, 1, 1)
    for reports in ([2], [-1], [0.5], [[1]]):
        with pytest.raises(Invalid):
            protocol.accumulate(np.array(reports))
    for level in (0, 1, "x"):
        with pytest.raises(Invalid):
            MeanEstimate.of(protocol, np.array([0, 1]), level)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="no reports"):
        MeanEstimate.of(protocol, np.array([0, 0]))


def grids_of_many_steps_lose_no_more_and_not_much_less() -> None:
    """Two chances are all that there are."""
    for steps in (1, 1024, 1 << 16):
        for epsilon in EPSILONS:
            protocol = PiecewiseMean(0, 1, epsilon, steps)
            ratio = protocol.chance(0, 0) / protocol.chance(0, steps)
            assert epsilon - NEAR <= log_down(ratio) and log_up(ratio) <= epsilon, protocol


def test_grids_of_many_steps_lose_no_more_and_not_much_less() -> None:
    grids_of_many_steps_lose_no_more_and_not_much_less()


def variances_are_those_of_continuous_mechanisms() -> None:
    """Wang et al. 2019, lemma 1 and equations 4 and 10 on [−1, 1], which a grid of 1024 steps is near to."""
    for epsilon in (F(1, 2), F(1), F(2), F(4)):
        e = float(epsilon)
        half, bit = np.exp(e / 2), (np.exp(e) + 1) / (np.exp(e) - 1)
        for t in (0, F(1, 2), 1):
            pieces = float(t**2) / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
            assert float(PiecewiseMean(-1, 1, epsilon).variance(t)) == pytest.approx(pieces, rel=0.005)
            assert float(MeanResponse(-1, 1, epsilon).variance(t)) == pytest.approx(bit**2 - float(t**2), rel=1e-9)
        share = 1 - np.exp(-e / 2) if e > 0.61 else 0
        worst = share * (half + 3) / (3 * (half - 1) ** 2) + (1 - share) * bit**2
        assert float(HybridMean(-1, 1, epsilon).worst) == pytest.approx(worst, rel=0.005)


def test_variances_are_those_of_continuous_mechanisms() -> None:
    variances_are_those_of_continuous_mechanisms()


def choices_are_the_best_in_the_worst_case() -> None:
    for epsilon in (F(1, 10), F(61, 100), F(62, 100), F(1), F(129, 100), F(3), F(8)):
        best = choose_mean(epsilon, 3, 10)
        assert best.worst == min(kind(3, 10, epsilon).worst for kind in KINDS)
        assert best.name == ("mean-response" if epsilon <= F(61, 100) else "hybrid")


def test_choices_are_the_best_in_the_worst_case() -> None:
    choices_are_the_best_in_the_worst_case()


def test_intervals_of_many_reports_are_by_the_variance() -> None:
    protocol, n = PiecewiseMean(0, 1, 4), 10**6
    found = MeanEstimate.of(protocol, protocol.accumulate(protocol.randomise([0.5] * 1000)) * 1000)
    assert found.n == n
    assert (found.high - found.low) / 2 == pytest.approx((2 * float(protocol.worst) * np.log(40) / n) ** 0.5, rel=0.05)
