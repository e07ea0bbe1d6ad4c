"""Campaigns of numbers, from the client to the collector: means and distributions; the ±1 form; what liars can do; bad answers."""

import datetime
import json
from decimal import Decimal
from fractions import Fraction as F
from math import atanh
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import Campaign, Client, Collector, DistributionEstimate, MeanEstimate, MeanResponse, Numbers
from discreet.local.estimation import estimates
from discreet.local.hybrid import choose_mean
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocols import PROTOCOLS
from discreet.mechanisms import SignedResponse
from discreet.noise import Tape
from tests.local.cases import LATER

NAMES = ("mean-response", "piecewise", "hybrid", "square-wave")


def asked(protocol: str, epsilon: F = F(1), steps: int = 8) -> Campaign:
    return Campaign("How far?", Numbers(0, 100, steps), protocol, epsilon, bytes(range(16)), LATER)


def numbers_are_asked_for_and_estimated() -> None:
    """At a large ε hardly any noise is left; states add up, and go on from where they were saved."""
    for protocol in NAMES:
        one = asked(protocol, F(12), 64)
        assert Campaign.from_json(one.to_json()) == one and one.randomiser.epsilon == 12
        reports = [Client(one).report(person % 5 * 20.5) for person in range(200)]
        whole, first, second = (Collector(one, capacity=400) for _ in range(3))
        assert whole.extend(reports) == 200 and whole.extend(reports) == 0
        first.extend([*reports[:70], *reports])
        second.extend(reports[:0])
        assert first.merged(second).totals.tolist() == whole.totals.tolist()
        found = Collector.from_json(whole.to_json()).estimates()
        mean = found.mean if isinstance(found, DistributionEstimate) else found
        assert isinstance(mean, MeanEstimate) and mean.n == 200
        assert whole.estimates(0.5).confidence == 0.5 and mean.confidence == 0.95
        assert mean.low <= 41 <= mean.high
        assert mean.value == pytest.approx(41, abs=20 if protocol == "mean-response" else 2)
        if isinstance(found, DistributionEstimate):
            assert found.likeliest.below(50) == pytest.approx(0.6, abs=0.01)


def test_numbers_are_asked_for_and_estimated() -> None:
    numbers_are_asked_for_and_estimated()


RANGES = (  # (0, 1) and others, from the smallest to the largest that there are
    (F(0), F(1)),
    (F(0), F(1, 10**100)),
    (-F(10**100), F(10**100)),
    (F(3), F(10)),
    (F(1), 1 + F(1, 10**30)),  # whose numbers are all the same in floats
)


def ranges_of_any_size_have_the_same_estimates() -> None:
    """What reports say of one range is what they say of any, moved and stretched; an interval that floats cannot hold is a wider one."""
    for protocol in NAMES:
        for epsilon in (F(1, 10**6), F(1), F(20)):
            kinds = [PROTOCOLS[protocol].of(Numbers(low, high, 8), epsilon) for low, high in RANGES]
            totals = kinds[0].accumulate(kinds[0].randomise([0, F(1, 3), 1, 1]))
            found = [estimates(kind, Numbers(*ends, 8), totals, 4) for kind, ends in zip(kinds, RANGES, strict=True)]
            usual, *others = (each.mean if isinstance(each, DistributionEstimate) else each for each in found)
            for mean, (low, high) in zip(others, RANGES[1:], strict=True):
                for name in ("low", "value", "high"):
                    exact = low + (high - low) * F(getattr(usual, name))
                    assert abs(F(getattr(mean, name)) - exact) <= (high - low) / 10**6 + abs(low) / 10**15, name
                assert F(mean.low) < low + (high - low) * F(usual.value) < F(mean.high)
                assert mean.variance == pytest.approx(float(high - low) ** 2 * usual.variance, rel=1e-9)


def test_ranges_of_any_size_have_the_same_estimates() -> None:
    ranges_of_any_size_have_the_same_estimates()


OTHER_RANGES = (
    (F(0), F(10**100) + F(1, 7)),
    (-F(10**100) - 1, F(0)),
    (F(0), F(10) ** 399),
    (F(0), F(1, 10**100 + 1)),
    (F(5), F(5) + F(1, 10**399)),
    (F(5), F(5)),
    (F(5), F(4)),
)


def test_ranges_that_could_not_be_read_again_make_no_campaign() -> None:
    with pytest.raises(Invalid, match="400 digits"):
        Campaign("Q", Numbers(F(10**500 + 1, 10**500), 5), "hybrid", 1, bytes(16), LATER)


def ranges_that_floats_do_not_hold_are_refused() -> None:
    for low, high in OTHER_RANGES:
        with pytest.raises(Invalid, match=r"^low "):
            Numbers(low, high)


def test_ranges_that_floats_do_not_hold_are_refused() -> None:
    ranges_that_floats_do_not_hold_are_refused()


BAD = [-0.001, 100.1, float("nan"), float("inf"), "50", "secret", None, True, [50], datetime.date(2020, 1, 1), 1j]


@pytest.mark.parametrize("value", BAD, ids=str)
def test_what_is_no_number_of_the_range_is_refused_and_not_said(value: Any) -> None:
    client = Client(asked("piecewise"))
    with pytest.raises(Invalid) as refusal:
        client.report(value)
    assert not any(text in str(refusal.value) for text in ("0.001", "100.1", "nan", "secret", "2020", "True"))
    client.report(50)  # nothing was spent


def numbers_of_any_kind_are_one_number() -> None:
    """What a client takes is what a protocol takes: one check, of the domain."""
    for protocol in NAMES:
        one = asked(protocol)
        for seed, value in enumerate((0.5, F(1, 2), Decimal("0.5"), np.float64(0.5), np.float32(0.5))):
            assert one.domain.encoded(value) == F(1, 2)
            randomiser = one.randomiser
            told = {randomiser.randomise(each, Tape(seed)) for each in (value, one.domain.encoded(value), 0.5)}
            assert len(told) == 1


def test_numbers_of_any_kind_are_one_number() -> None:
    numbers_of_any_kind_are_one_number()


def liars_move_a_mean_so_far_and_no_farther() -> None:
    """One report of three is exchanged for any other: the largest move of the mean is the influence of one."""
    for protocol in ("mean-response", "piecewise", "hybrid"):
        collector = Collector(asked(protocol))
        collector.extend(Client(asked(protocol)).report(30) for _ in range(3))
        randomiser = PROTOCOLS[protocol].of(Numbers(0, 100, 8), 1)
        assert isinstance(randomiser, NumberProtocol)
        said = [float(randomiser.stands_for(each)) for each in range(randomiser.codes)]
        assert collector.influence(1) == pytest.approx((max(said) - min(said)) / 3, rel=1e-12)
        assert collector.influence(2) == pytest.approx(2 * collector.influence(1))


def test_liars_move_a_mean_so_far_and_no_farther() -> None:
    liars_move_a_mean_so_far_and_no_farther()


def states_of_more_than_was_sent_are_refused() -> None:
    for protocol in NAMES:
        collector = Collector(asked(protocol), capacity=8)
        collector.extend(Client(asked(protocol)).report(30) for _ in range(4))
        record = json.loads(collector.to_json())
        rest = [0] * (len(record["totals"]) - 2)
        for totals in ([4, 1, *rest], [3, 0, *rest], [5, -1, *rest]):
            with pytest.raises(Invalid):
                Collector.from_json(json.dumps(record | {"totals": totals}, sort_keys=True, separators=(",", ":")))


def test_states_of_more_than_was_sent_are_refused() -> None:
    states_of_more_than_was_sent_are_refused()


@pytest.mark.parametrize("protocol", NAMES)
def test_memory_does_not_grow_with_reports(protocol: str) -> None:
    randomiser = asked(protocol, steps=1024).randomiser
    totals = randomiser.accumulate(randomiser.randomise(np.linspace(0, 100, 300)))
    assert totals.shape == (randomiser.width,) and randomiser.width <= 3 * 1024
    assert (totals + totals).nbytes == totals.nbytes and randomiser.possible(totals * 10**9, 300 * 10**9)


def the_response_to_signs_is_the_one_of_its_formulas() -> None:
    """Bern(½ + ηb) for b = ±1, the sum Σb′ of its reports, and the loss 2 artanh(2η), beside the mechanism of that name."""
    for eta in (F(1, 4), F(1, 8), F(3, 1 << 20), F(499, 1000), F(1, 10), 0.3):
        protocol = MeanResponse.for_eta(eta)
        exact = F(str(eta))
        assert 0 <= exact - protocol.eta < F(1, 1 << 64)
        if exact.denominator & (exact.denominator - 1) == 0:
            assert protocol.eta == exact
        assert 0 <= float(protocol.epsilon) - 2 * atanh(2 * float(protocol.eta)) < 1e-12
        assert [protocol.chance(1, place) for place in (0, 1)] == [F(1, 2) - protocol.eta, F(1, 2) + protocol.eta]
        twin, n, ones = SignedResponse(protocol.eta), 1000, 600
        told = twin.estimate(ones, n)
        assert (
            n * sum(count * protocol.stands_for(bit) for bit, count in enumerate((n - ones, ones))) / n
            == told.value
            == (ones - F(n, 2)) / protocol.eta
        )
        assert n * protocol.variance(1) == told.variance == (F(n, 4) - protocol.eta**2 * n) / protocol.eta**2


def test_the_response_to_signs_is_the_one_of_its_formulas() -> None:
    the_response_to_signs_is_the_one_of_its_formulas()


@pytest.mark.parametrize(
    "eta", [0, F(1, 2), -0.1, 1, "x", F(1, 1 << 70), F(1, 2) - F(1, 1 << 70), F(1, 10**8)], ids=str
)
def test_responses_that_tell_nothing_or_all_are_refused(eta: Any) -> None:
    with pytest.raises(Invalid):
        MeanResponse.for_eta(eta)


def test_the_best_protocol_has_the_grid_that_was_declared() -> None:
    assert choose_mean(1, 3, 10, 5) == choose_mean(1, 3, 10, 5) != choose_mean(1, 3, 10)
    assert choose_mean(1, 3, 10, 5).steps == 5 and choose_mean(1).steps == 1024
