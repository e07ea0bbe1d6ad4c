"""Shuffled reports of a campaign tell no more than is said: every histogram of reports of few people, for every pair of neighbours."""

from fractions import Fraction as F
from itertools import combinations, permutations

import pytest

from discreet.errors import Invalid
from discreet.exact import exp_down
from discreet.local import Campaign, HadamardResponse, KaryResponse, Rounds, UnaryEncoding, shuffled_epsilon
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.privacy import theorems
from discreet.privacy.numeric.finite import hockey_stick
from tests.local.cases import LATER
from tests.privacy.test_shuffling import neighbours

DELTAS = (F(1, 10), F(1, 100), F(1, 1000))
CASES: tuple[tuple[str, int, FrequencyProtocol, int], ...] = (
    ("k-ary", 2, KaryResponse(2, 1), 6),
    ("k-ary", 3, KaryResponse(3, F(3, 2)), 4),
    ("unary", 2, UnaryEncoding(2, 1), 4),
    ("hadamard", 2, HadamardResponse(2, 2), 4),
)


def campaign(protocol: str, domain: object, epsilon: F) -> Campaign:
    return Campaign("How are you?", domain, protocol, epsilon, bytes(16), LATER)  # type: ignore[arg-type]


def shuffled_reports_keep_what_is_said() -> None:
    """δ at the ε that is said, for any values of the others, is at most the δ that was asked for; and ε falls with n."""
    for name, k, protocol, most in CASES:
        told = []
        for n in range(1, most + 1):
            laws = list(neighbours(protocol.channel(), n, list(permutations(range(k), 2))))
            for delta in DELTAS:
                central = shuffled_epsilon(campaign(name, k, F(protocol.epsilon)), n, delta)
                factor = exp_down(F(central))  # δ is more where the factor is less: no rounding helps
                assert max(hockey_stick(p, q, factor) for p, q in laws) <= delta, (name, k, n, delta)
                assert central <= float(protocol.epsilon)
                told.append(central)
        assert all(later <= earlier for earlier, later in combinations(told[:: len(DELTAS)], 2))
        assert told[-len(DELTAS)] < told[0]


def test_shuffled_reports_keep_what_is_said() -> None:
    shuffled_reports_keep_what_is_said()


def only_protocols_of_two_reports_have_more_clones() -> None:
    for name, k, protocol, _ in CASES:
        two = len(protocol.outcomes()) == 2
        stated = shuffled_epsilon(campaign(name, k, F(protocol.epsilon)), 1000, F(1, 10**6))
        assert stated == theorems.shuffled_epsilon(protocol.epsilon, 1000, F(1, 10**6), binary=two), name
    assert {len(protocol.outcomes()) == 2 for _, _, protocol, _ in CASES} == {True, False}


def test_only_protocols_of_two_reports_have_more_clones() -> None:
    only_protocols_of_two_reports_have_more_clones()


def test_of_a_series_one_round_is_shuffled() -> None:
    rounds = campaign("memo-k-ary", Rounds.new((0, 1, 2), first=1), F(3))
    assert shuffled_epsilon(rounds, 10**4, F(1, 10**6)) == theorems.shuffled_epsilon(1, 10**4, F(1, 10**6))


@pytest.mark.parametrize(("n", "delta"), [(0, F(1, 100)), (1.5, F(1, 100)), (10, -1), (10, 2), (10, "a")])
def test_what_is_no_number_of_people_or_delta_is_refused(n: object, delta: object) -> None:
    with pytest.raises(Invalid):
        shuffled_epsilon(campaign("k-ary", 3, F(1)), n, delta)  # type: ignore[arg-type]


def test_an_epsilon_alone_is_no_campaign() -> None:
    with pytest.raises(Invalid, match="theorems"):
        shuffled_epsilon(1, 10, F(1, 100))  # type: ignore[arg-type]
