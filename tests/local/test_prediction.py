"""Predicted errors: what is said of a campaign before anybody answers is what happens."""

from fractions import Fraction as F
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import Invalid
from discreet.local import (
    Attribute,
    Attributes,
    DistributionEstimate,
    HiddenAttribute,
    HybridMean,
    KaryResponse,
    MeanResponse,
    OneAttribute,
    PiecewiseMean,
    SquareWave,
    Words,
)
from discreet.local.estimation import estimates
from discreet.local.prediction import predicted_error
from discreet.local.prefixes import PrefixResponse
from tests.scale import repeats

RUNS, PEOPLE = repeats(1000), 240
BOTH = Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 6, "k-ary")))


def hits(errors: list[float], predicted: float) -> None:
    """As many errors are within ± of the prediction as 95 % say, but for a false alarm of 1e-6 on either side."""
    inside = sum(abs(each) <= predicted for each in errors)
    # a normal quantile is used, and sums of few hundred coins are off by about a hundredth
    assert binom.ppf(1e-6, RUNS, 0.935) <= inside <= binom.isf(1e-6, RUNS, 0.965)


def errors_of_shares_are_predicted() -> None:
    protocol = KaryResponse(3, 1)
    cells = np.arange(PEOPLE) % 3
    counts = [protocol.accumulate(protocol.randomise(cells))[0] for _ in range(RUNS)]
    gap = float(protocol.p - protocol.q)
    errors = [(count / PEOPLE - float(protocol.q)) / gap - 1 / 3 for count in counts]
    hits(errors, predicted_error(protocol, PEOPLE) or 0)


def test_errors_of_shares_are_predicted() -> None:
    errors_of_shares_are_predicted()


def errors_of_attributes_are_predicted() -> None:
    """Of the worst attribute: the one with the most answers."""
    rows = np.stack([np.arange(PEOPLE) % 2, np.arange(PEOPLE) % 6], axis=1)
    for kind in (OneAttribute, HiddenAttribute):
        protocol = kind.of(BOTH, 1)
        own, other = map(float, protocol.chances(1))
        errors = []
        for _ in range(RUNS):
            totals = protocol.accumulate(protocol.randomise(rows))
            about = protocol.by_attribute(totals, PEOPLE)[1][1]
            told = int(protocol.support(1, totals, PEOPLE)[0]) / about
            errors.append((told - other) / (own - other) - 1 / 6)
        hits(errors, predicted_error(protocol, PEOPLE) or 0)


def test_errors_of_attributes_are_predicted() -> None:
    errors_of_attributes_are_predicted()


def errors_of_means_are_those_that_estimates_have() -> None:
    """For any numbers, since the interval of a mean depends on none of them."""
    for kind in (MeanResponse, PiecewiseMean, HybridMean, SquareWave):
        for people in (1, 50):
            protocol = kind(0, 7, 1, 8)
            found = estimates(
                protocol, protocol.domain, protocol.accumulate(protocol.randomise([3] * people)), people, 0.9
            )
            mean = found.mean if isinstance(found, DistributionEstimate) else found
            assert predicted_error(protocol, people, 0.9) == pytest.approx((mean.high - mean.low) / 2, rel=1e-12)


def test_errors_of_means_are_those_that_estimates_have() -> None:
    errors_of_means_are_those_that_estimates_have()


def confidences_are_two_sided() -> None:
    protocol = KaryResponse(2, 1)
    for level, multiple in ((F(95, 100), 1.959964), (1 - F(1, 10**20), 9.336)):
        expected = multiple * sqrt(protocol.variance(F(1, 2), 400))
        assert predicted_error(protocol, 400, level) == pytest.approx(expected, rel=1e-4)


def test_confidences_are_two_sided() -> None:
    confidences_are_two_sided()


def test_of_words_nothing_is_predicted() -> None:
    assert predicted_error(PrefixResponse.of(Words.new("ab", 3), 1), 1000) is None


def test_arguments_that_cannot_be_are_refused() -> None:
    for people, confidence in ((0, 0.95), (10, 1), (10, 0), (1.5, 0.95), (10, 1 - F(1, 10**400))):
        with pytest.raises(Invalid):
            predicted_error(KaryResponse(3, 1), people, confidence)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="randomiser"):
        predicted_error(3, 10)  # type: ignore[arg-type]
