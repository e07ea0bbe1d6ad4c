"""What a report tells: every report of small protocols is enumerated, with its exact probability, for every value."""

from fractions import Fraction as F
from math import exp

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from discreet.errors import Invalid
from discreet.exact import log_down, log_up
from discreet.local import HadamardResponse, KaryResponse, LocalHashing, UnaryEncoding
from discreet.local.frequency import ALL
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.noise import Tape
from tests.local.cases import SMALL

NEAR = F(1, 10**9)
FALSE_ALARM = 1e-6  # of each statistical test, over all of its comparisons


def supported(protocol: FrequencyProtocol) -> list[list[int]]:
    """Which cells each report supports, each counted by itself."""
    return [protocol.support(protocol.accumulate(np.array([each])), 1).tolist() for each in protocol.outcomes()]


def rows_are_distributions() -> None:
    for protocol in SMALL:
        assert all(sum(row) == 1 for row in protocol.channel())


def test_rows_are_distributions() -> None:
    rows_are_distributions()


def no_report_tells_more_than_is_declared_or_much_less() -> None:
    for protocol in SMALL:
        loss = max(max(column) / min(column) for column in zip(*protocol.channel(), strict=True))
        assert log_up(loss) <= protocol.once, protocol
        assert log_down(loss) >= protocol.once - NEAR, protocol


def test_no_report_tells_more_than_is_declared_or_much_less() -> None:
    no_report_tells_more_than_is_declared_or_much_less()


def estimates_are_unbiased_with_the_variance_that_is_said() -> None:
    """Moments of one report's estimate, for every value and cell, from the whole channel."""
    for protocol in SMALL:
        rows = supported(protocol)
        for value, chances in enumerate(protocol.channel()):
            for cell in range(protocol.k):
                share = F(cell == value)
                heads = sum((chance for chance, row in zip(chances, rows, strict=True) if row[cell]), F(0))
                zero, one = protocol.estimate(0, 1), protocol.estimate(1, 1)
                mean = heads * one + (1 - heads) * zero
                assert mean == share, protocol
                assert heads * one**2 + (1 - heads) * zero**2 - mean**2 == protocol.variance(share, 1), protocol


def test_estimates_are_unbiased_with_the_variance_that_is_said() -> None:
    estimates_are_unbiased_with_the_variance_that_is_said()


def test_variances_of_two_people_are_those_of_their_shares() -> None:
    protocol = KaryResponse(3, 1)
    own, other = protocol.channel()[:2]
    told = [(a * b, (i == 0) + (j == 0)) for i, a in enumerate(own) for j, b in enumerate(other)]
    mean = sum(chance * protocol.estimate(count, 2) for chance, count in told)
    second = sum(chance * protocol.estimate(count, 2) ** 2 for chance, count in told)
    assert mean == F(1, 2) and second - mean**2 == protocol.variance(F(1, 2), 2)


def reports_are_drawn_as_they_are_enumerated() -> None:
    """Pearson's test of drawn reports against the channel, with at least five of each expected."""
    cases = [each for each in SMALL if F(1) <= each.epsilon < 5]
    for protocol in cases:
        order = {protocol.pack(each): place for place, each in enumerate(protocol.outcomes())}
        value = protocol.k - 1
        expected = np.array([float(each) for each in protocol.channel()[value]])
        draws = int(20 / expected.min())
        rows = protocol.randomise(np.full(draws, value))
        found = np.bincount([order[protocol.pack(each)] for each in rows], minlength=len(order))
        assert chisquare(found, expected * draws, sum_check=False).pvalue > FALSE_ALARM / len(cases), protocol


def test_reports_are_drawn_as_they_are_enumerated() -> None:
    reports_are_drawn_as_they_are_enumerated()


def single_reports_are_those_of_arrays() -> None:
    for protocol in SMALL:
        for seed in range(8):
            value = seed % protocol.k
            single = protocol.randomise(value, Tape(seed))
            assert np.array_equal(single, protocol.randomise(np.array([value]), Tape(seed))[0])


def test_single_reports_are_those_of_arrays() -> None:
    single_reports_are_those_of_arrays()


def test_rows_of_several_lengths_are_refused() -> None:
    for kind in ALL:
        for call in (kind(3, 1).randomise, kind(3, 1).accumulate):
            with pytest.raises(Invalid, match="as long"):
                call([[1, 2], [1]])  # type: ignore[arg-type]


def test_reports_that_no_client_hashes_are_refused() -> None:
    for protocol, report in (
        (LocalHashing(5, 1), [0, 0, 4]),
        (LocalHashing(4, 1, word=4), [16, 0, 0]),
        (LocalHashing(4, 1, word=4), [0, 16, 0]),
    ):
        with pytest.raises(Invalid):
            protocol.accumulate(np.array([[0, 0, 0], report], np.uint64))


def large_protocols_lose_no_more_and_not_much_less() -> None:
    """Two chances are all that there are, given what says nothing of a person."""
    for kind in ALL:
        for k in (2, 1000, 1 << 20):
            for epsilon in (F(1, 10**6), F(1, 100), F(1), F(7, 2), F(20)):
                protocol = kind(k, epsilon)
                if isinstance(protocol, UnaryEncoding):
                    ratio = protocol.p * (1 - protocol.q) / (protocol.q * (1 - protocol.p))
                else:
                    answers = {"k-ary": k, "hadamard": 2}.get(kind.name) or int(exp(epsilon) + 0.5) + 1
                    ratio = protocol.p * (answers - 1) / (1 - protocol.p)
                    told = protocol.randomise(0, Tape(1))
                    chances = {protocol.chance(told, value) for value in range(min(k, 300))}
                    assert max(chances) / min(chances) in {1, ratio}
                assert log_up(ratio) <= epsilon, protocol
                assert log_down(ratio) >= epsilon - NEAR, protocol
                assert protocol.p > protocol.q


def test_large_protocols_lose_no_more_and_not_much_less() -> None:
    large_protocols_lose_no_more_and_not_much_less()


RUNS, PEOPLE, CELLS = 4000, 500, 16
SHARE = F(3, 10)


def errors_are_those_of_theory() -> None:
    """Squared errors of 4000 runs, over their variance, are nearly chi-squared: within 13 % of theory at the false alarm of 1e-6."""
    truth = np.tile(np.r_[np.zeros(int(SHARE * PEOPLE), int), np.full(PEOPLE - int(SHARE * PEOPLE), 7)], RUNS)
    tail = FALSE_ALARM / (2 * 2 * len(ALL))
    low, high = chi2.ppf(tail, RUNS) / RUNS, chi2.isf(tail, RUNS) / RUNS
    for kind in ALL:
        protocol = kind(CELLS, 1)
        rows = protocol.randomise(truth)
        runs = [protocol.accumulate(each) for each in np.split(rows, RUNS)]
        told = np.array([protocol.support(each, PEOPLE) for each in runs])
        for cell, share in ((0, SHARE), (3, F(0))):
            values = (told[:, cell] / PEOPLE - float(protocol.q)) / float(protocol.p - protocol.q)
            ratio = np.mean((values - float(share)) ** 2) / float(protocol.variance(share, PEOPLE))
            assert low < ratio < high, (protocol, cell, ratio)


def test_errors_are_those_of_theory() -> None:
    errors_are_those_of_theory()


def totals_add_up() -> None:
    for protocol in SMALL:
        reports = protocol.randomise(np.arange(60) % protocol.k)
        parts = protocol.accumulate(reports[:23]) + protocol.accumulate(reports[23:])
        assert np.array_equal(parts, protocol.accumulate(reports)) and parts.shape == (protocol.width,)
        one_by_one = [protocol.support(protocol.accumulate(each[None]), 1) for each in reports]
        assert np.array_equal(protocol.support(parts, 60), np.sum(one_by_one, axis=0))


def test_totals_add_up() -> None:
    totals_add_up()


def hashes_of_two_cells_are_independent() -> None:
    """Over all seeds, the hashes of two cells take every pair of values equally often."""
    protocol = LocalHashing(4, F(1), word=4)  # four buckets: a hash is its bucket
    seeds = np.arange(16, dtype=np.uint64)
    a, b = np.repeat(seeds, 16), np.tile(seeds, 16)
    cells = [protocol.bucket(a, b, np.full(256, cell, np.uint64)) for cell in range(4)]
    for one in range(4):
        for other in range(one):
            pairs = np.bincount((4 * cells[one] + cells[other]).astype(int), minlength=16)
            assert pairs.tolist() == [16] * 16


def test_hashes_of_two_cells_are_independent() -> None:
    hashes_of_two_cells_are_independent()


@pytest.mark.parametrize("protocol", [kind(10, 1) for kind in ALL], ids=lambda each: each.name)
def test_what_is_no_cell_or_report_is_refused(protocol: FrequencyProtocol) -> None:
    for value in (-1, 10, 1.0, "a", [[1]], [0, 10], None):
        with pytest.raises(Invalid) as refusal:
            protocol.randomise(value)
        assert "10" not in str(refusal.value)
    for reports in (np.array([-1]), np.array([[1]]), np.array([1 << 40]), np.array(["a"])):
        with pytest.raises(Invalid):
            protocol.accumulate(reports)


@pytest.mark.parametrize("kind", ALL, ids=lambda each: each.name)
def test_parameters_beyond_what_is_proven_are_refused(kind: type[FrequencyProtocol]) -> None:
    for k, epsilon in ((1, 1), (1 << 21, 1), (2, 0), (2, 21), (2, -1), (2, F(1, 10**7)), (2.0, 1), (2, "1")):
        with pytest.raises(Invalid):
            kind(k, epsilon)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="too many reports"):
        (UnaryEncoding(40, 1) if kind is UnaryEncoding else kind(1 << 17, 1)).outcomes()


@pytest.mark.parametrize("word", [3, 66, 0, 6])
def test_hashes_of_too_few_digits_are_refused(word: int) -> None:
    with pytest.raises(Invalid):
        LocalHashing(9, 1, word=word)


def test_coefficients_are_those_of_the_next_power_of_two() -> None:
    assert [HadamardResponse(k, 1).width for k in (2, 3, 4, 5, 1000, 1 << 20)] == [2, 4, 4, 8, 1024, 1 << 20]
