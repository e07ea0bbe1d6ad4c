"""Bounds by guesses about canaries hold at their confidence, by exact enumeration; and none that are larger would."""

from collections.abc import Iterator
from fractions import Fraction as F
from itertools import combinations, product
from math import comb, log
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import discreet as dp
from discreet.audit import Extremes, OneRun, one_run, one_run_bound
from discreet.audit.confidence import binomial_lower
from discreet.audit.guesses import most_likely
from discreet.errors import Invalid
from discreet.noise import Tape
from tests.scale import repeats

ODDS = (F(1), F(6, 5), F(2), F(5), F(40))
DELTAS = (F(1, 1000), F(1, 50))
ALPHAS = (F(3, 10), F(1, 20), F(1, 1000))
SIZES = ((1, 1), (3, 3), (5, 9), (12, 12), (30, 40))
"""Guesses, and canaries."""

FALSE_ALARM = 1e-6
NEAR = F(1, 1 << 60)
Chances = list[F]


def binomial(guesses: int, odds: F) -> Chances:
    """The law of right guesses about randomized response."""
    return [comb(guesses, w) * odds**w / (1 + odds) ** guesses for w in range(guesses + 1)]


def worst(right: int, guesses: int, canaries: int, odds: F, delta: F) -> Chances | None:
    """The law of right guesses that rises against randomized response at `right` alone, as far as δ allows; None where that is too far."""
    plain = binomial(guesses, odds)
    rise = canaries * delta / (right * plain[right])
    rest = 1 - rise * sum(plain[right:])
    return None if rest < 0 else [each * (rest + rise * (w >= right)) for w, each in enumerate(plain)]


def sayings(canaries: int, guesses: int) -> Iterator[tuple[int, ...]]:
    """Everything that can be said of canaries with so many guesses: 1 for in, 0 for out, −1 where nothing is said."""
    for places in combinations(range(canaries), guesses):
        for bits in product((0, 1), repeat=guesses):
            said = [-1] * canaries
            for place, bit in zip(places, bits, strict=True):
                said[place] = bit
            yield tuple(said)


def right_in(said: tuple[int, ...], coins: tuple[int, ...]) -> int:
    return sum(a == b for a, b in zip(said, coins, strict=True))


def mechanism(chances: Chances, canaries: int) -> Any:
    """What says so many right guesses with these chances, about places that are drawn evenly: the law of what it says, for coins."""
    guesses = len(chances) - 1
    among = comb(canaries, guesses)

    def law(coins: tuple[int, ...]) -> dict[tuple[int, ...], F]:
        return {
            said: chances[w] / comb(guesses, w) / among
            for said in sayings(canaries, guesses)
            for w in [right_in(said, coins)]
        }

    return law


def lost(law: Any, canaries: int, odds: F) -> F:
    """The largest δ at which two neighbours of a mechanism are told apart, at ε = ln odds."""
    return max(
        sum((max(F(0), chance - odds * second[said]) for said, chance in first.items()), F(0))
        for coins in product((0, 1), repeat=canaries)
        for place in range(canaries)
        for first, second in [(law(coins), law((*coins[:place], 1 - coins[place], *coins[place + 1 :])))]
    )


def bounds_are_attained() -> None:
    """A mechanism is (ε, δ)-private, by enumeration of all that it says, and has so many right guesses as often as the bound says."""
    for (guesses, canaries), odds, delta in product(((3, 3), (2, 3), (4, 4)), (F(1), F(2)), DELTAS):
        for right in range(1, guesses + 1):
            chances = worst(right, guesses, canaries, odds, delta)
            assert chances is not None and sum(chances) == 1
            assert lost(mechanism(chances, canaries), canaries, odds) == delta
            bound = most_likely(right, guesses, odds, canaries * delta)
            assert 0 <= bound - sum(chances[right:]) < NEAR


def test_bounds_are_attained() -> None:
    bounds_are_attained()


def largest_chance(right: int, guesses: int, canaries: int, odds: float, delta: float) -> float:
    """The largest probability of so many right guesses over all (ln odds, δ)-private mechanisms, by linear programming."""
    worlds, said = list(product((0, 1), repeat=canaries)), list(sayings(canaries, guesses))
    near = [
        (a, b) for a, b in product(range(len(worlds)), repeat=2) if sum(np.subtract(worlds[a], worlds[b]) ** 2) == 1
    ]
    size, width = len(worlds) * len(said), len(said)
    gain = np.zeros(size + len(near) * width)
    for (a, coins), (b, one) in product(enumerate(worlds), enumerate(said)):
        gain[a * width + b] = (right_in(one, coins) >= right) / len(worlds)
    sums = np.zeros((len(worlds), len(gain)))
    for a in range(len(worlds)):
        sums[a, a * width : (a + 1) * width] = 1
    rows, most = [], []
    for k, (a, b) in enumerate(near):
        excess = slice(size + k * width, size + (k + 1) * width)
        rows.append(np.zeros(len(gain)))
        rows[-1][excess] = 1
        most.append(delta)
        for j in range(width):
            row = np.zeros(len(gain))
            row[a * width + j], row[b * width + j], row[excess.start + j] = 1, -odds, -1
            rows.append(row)
            most.append(0)
    found = optimize.linprog(-gain, np.array(rows), most, sums, np.ones(len(worlds)), bounds=(0, None))
    return float(-found.fun)


def no_mechanism_has_more_right_guesses() -> None:
    for canaries, odds, delta in product((1, 2), (F(1), F(3, 2), F(3)), (F(0), F(1, 100), F(3, 10))):
        for guesses in range(1, canaries + 1):
            for right in range(1, guesses + 1):
                found = largest_chance(right, guesses, canaries, float(odds), float(delta))
                bound = most_likely(right, guesses, odds, canaries * delta)
                assert float(bound) == pytest.approx(found, abs=1e-8)


def test_no_mechanism_has_more_right_guesses() -> None:
    no_mechanism_has_more_right_guesses()


def test_what_is_published_of_the_delta_term_is_nearly_always_larger() -> None:
    """2mδ·max (f(v−i) − f(v))/i of Steinke, Nasr and Jagielski: larger where a claim is rejected, and too small for what is nearly sure."""

    def published(right: int, guesses: int, canaries: int, odds: F, delta: F) -> F:
        chances = binomial(guesses, odds)
        between = max(sum(chances[right - i : right], F(0)) / i for i in range(1, right + 1))
        return sum(chances[right:], F(0)) + 2 * canaries * delta * between

    for (guesses, canaries), odds, delta in product(SIZES, ODDS, DELTAS):
        for right in range(1, guesses + 1):
            bound = most_likely(right, guesses, odds, canaries * delta)
            assert bound > F(1, 2) or bound <= published(right, guesses, canaries, odds, delta)
    chances = worst(1, 2, 2, F(3), F(1, 100))
    assert chances is not None and lost(mechanism(chances, 2), 2, F(3)) == F(1, 100)
    assert sum(chances[1:]) == F(602, 640) > published(1, 2, 2, F(3), F(1, 100)) == F(94, 100)


def bounds_of(guesses: int, canaries: int, delta: F, alpha: F) -> list[float]:
    """The bound for each number of right guesses."""
    return [one_run_bound(right, guesses, canaries, delta=delta, confidence=1 - alpha) for right in range(guesses + 1)]


def above(chances: Chances, bounds: list[float], odds: F) -> F:
    """How likely a bound is above ln odds, where right guesses have these chances."""
    return sum((chance for chance, bound in zip(chances, bounds, strict=True) if bound > log(odds)), F(0))


def bounds_hold_on_randomized_response() -> None:
    """Exactly ε: a bound is above it with probability α at most, and with nearly that where right guesses come in small steps."""
    for (guesses, canaries), odds, alpha in product(SIZES, ODDS, ALPHAS):
        assert above(binomial(guesses, odds), bounds_of(guesses, canaries, F(0), alpha), odds) <= alpha
    assert above(binomial(60, F(2)), bounds_of(60, 60, F(0), F(1, 20)), F(2)) > F(1, 50)


def test_bounds_hold_on_randomized_response() -> None:
    bounds_hold_on_randomized_response()


def bounds_hold_where_delta_is_used() -> None:
    """The worst of (ε, δ) for each number of right guesses, and with no ε at all so many canaries as are published at a time."""
    for (guesses, canaries), delta, alpha in product(SIZES, DELTAS, ALPHAS):
        bounds = bounds_of(guesses, canaries, delta, alpha)
        for odds in ODDS:
            for right in range(1, guesses + 1):
                chances = worst(right, guesses, canaries, odds, delta)
                assert chances is None or above(chances, bounds, odds) <= alpha
        for number in range(1, guesses + 1):
            chances = shamed(number, guesses, canaries, delta)
            assert above(chances, bounds, F(1)) <= alpha


def shamed(number: int, guesses: int, canaries: int, delta: F) -> Chances:
    """Right guesses where so many canaries, drawn evenly, are published at times, so that each is with probability δ; (0, δ)-private."""
    often = min(F(1), canaries * delta / number)
    chances = [each * (1 - often) for each in binomial(guesses, F(1))]
    for w, each in enumerate(binomial(guesses - number, F(1))):
        chances[number + w] += often * each
    return chances


def test_bounds_hold_where_delta_is_used() -> None:
    bounds_hold_where_delta_is_used()


def test_without_the_delta_term_bounds_would_not_hold() -> None:
    chances = shamed(12, 12, 12, F(1, 50))
    assert above(chances, bounds_of(12, 12, F(0), F(1, 1000)), F(1)) > F(1, 50)
    assert above(chances, bounds_of(12, 12, F(1, 50), F(1, 1000)), F(1)) == 0


def rounding_is_upward() -> None:
    """The exact sum of the theorem is at most what is computed, and nearly that."""
    for (guesses, canaries), odds, delta in product((*SIZES, (70, 70)), (*ODDS, F(10**9)), (F(0), *DELTAS)):
        chances = binomial(guesses, odds)
        for right in range(1, guesses + 1):
            tail = sum(chances[right:])
            exact = min(F(1), tail + canaries * delta * tail * (1 - tail) / (right * chances[right]))
            assert 0 <= most_likely(right, guesses, odds, canaries * delta) - exact < NEAR


def test_rounding_is_upward() -> None:
    rounding_is_upward()


def many_guesses_are_those_of_clopper_and_pearson() -> None:
    for guesses in (1, 40, 1_000, 100_000):
        for share in (0.4, 0.51, 0.6, 0.9, 0.999, 1.0):
            for alpha in (0.05, 1e-6):
                right = round(share * guesses)
                rate = binomial_lower(guesses, right, alpha)
                expected = max(0.0, log(rate / (1 - rate))) if rate else 0.0
                found = one_run_bound(right, guesses, guesses, confidence=1 - F(str(alpha)))
                assert found == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_many_guesses_are_those_of_clopper_and_pearson() -> None:
    many_guesses_are_those_of_clopper_and_pearson()


def a_thousand_canaries_certify_no_more_than_they_can() -> None:
    """All right: (e^ε/(1 + e^ε))^1000 = 0.05."""
    assert one_run_bound(1000, 1000, 1000) == pytest.approx(5.809068, abs=1e-6)
    assert one_run_bound(1000, 1000, 1000, delta=1e-5) == pytest.approx(5.809005, abs=1e-6)
    # what publishes all with probability δ has all guesses right so often: little is left of 1e-6, or nothing
    share = ((1e-6 - 1e-7) / (1 - 1e-7)) ** (1 / 1000)
    found = one_run_bound(1000, 1000, 1000, delta=1e-7, confidence=1 - 1e-6)
    assert found == pytest.approx(log(share / (1 - share)), abs=1e-6) and 4.26 < found < 4.27
    assert one_run_bound(1000, 1000, 1000, delta=1e-5, confidence=1 - 1e-6) == 0


def test_a_thousand_canaries_certify_no_more_than_they_can() -> None:
    a_thousand_canaries_certify_no_more_than_they_can()


def test_more_right_guesses_show_more_and_more_canaries_less() -> None:
    bounds = [one_run_bound(right, 200, 300, delta=1e-4) for right in range(201)]
    assert bounds == sorted(bounds) and bounds[100] == 0 < bounds[125] < bounds[200]
    assert one_run_bound(180, 200, 10**5, delta=1e-4) < bounds[180]
    assert one_run_bound(180, 200, 300, delta=1e-3) < bounds[180]


# Runs.


def responses(epsilon: float) -> Any:
    def train(mask: Any) -> Any:
        return np.asarray(dp.RandomizedResponse(epsilon)(mask.astype(int)))

    return train


def centred(bits: Any) -> Any:
    return bits - 0.5


def bounds_of_runs_are_below_the_truth_and_near_it() -> None:
    """Of randomized response, whose guesses are independent: above ε = 2 with probability FALSE_ALARM at most; and above 1.5 but with
    probability 1e-9, as of 4,000 guesses 88 % are right, and 85.5 % are enough (6 deviations of 0.5 % less)."""
    assert stats.binom.cdf(3_420, 4_000, 1 / (1 + np.exp(-2))) < FALSE_ALARM
    assert one_run_bound(3_421, 4_000, 4_000, confidence=0.975) > 1.65
    for _ in range(repeats(5)):
        found = one_run(responses(2), centred, canaries=4_000, delta=0)
        assert found.at(1 - FALSE_ALARM) <= 2 and found.epsilon_lower > 1.65


def test_bounds_of_runs_are_below_the_truth_and_near_it() -> None:
    bounds_of_runs_are_below_the_truth_and_near_it()


def coins_are_fair_and_each_its_own() -> None:
    """Heads of 4,000 coins, and pairs of neighbours that agree, are within 5 deviations of the half: a false alarm in a million."""
    seen: list[Any] = []
    one_run(lambda mask: seen.append(mask) or mask, lambda mask: mask - 0.5, canaries=4_000, delta=0)
    (mask,) = seen
    assert mask.shape == (4_000,) and mask.dtype == bool
    assert abs(mask.sum() - 2_000) < 160 and abs((mask[1:] == mask[:-1]).sum() - 2_000) < 160


def test_coins_are_fair_and_each_its_own() -> None:
    coins_are_fair_and_each_its_own()


def test_coins_come_from_the_source_that_is_named() -> None:
    masks: list[Any] = []
    for seed in (1, 1, 2):
        one_run(lambda mask: masks.append(mask) or mask, lambda mask: mask * 1, canaries=64, delta=0, source=Tape(seed))
    assert (masks[0] == masks[1]).all() and (masks[0] != masks[2]).any()


def guesses_are_counted_against_the_coins() -> None:
    """By each rule: who is guessed, as what, and how many of that is right."""
    mask: Any = np.array([True, False, True, True, False, False])

    def tried(scores: list[float], rules: Any) -> Any:
        found = one_run(
            lambda drawn: drawn, lambda drawn: scores, canaries=6, delta=0, guesses=rules, source=Fixed(mask)
        )
        return found.tried

    clear = [3.0, -2.0, 1.0, 0.5, -0.1, -4.0]
    assert tried(clear, [6, 2, Extremes(3, 3), Extremes(1, 0), Extremes(0, 2)]) == (
        (6, 6),
        (2, 2),
        (6, 6),
        (1, 1),
        (2, 2),
    )
    wrong = [-each for each in clear]
    assert tried(wrong, [6, 2, Extremes(3, 3), Extremes(1, 0)]) == ((0, 6), (0, 2), (0, 6), (0, 1))
    # the clearest ones are −4 and 3; the second says "out" of one who is in; 0 says "out"
    assert tried([3.0, 0.0, 0.0, 1.0, 2.5, -4.0], [1, 2, 3, 6]) == ((1, 1), (2, 2), (2, 3), (4, 6))
    # equal scores are taken in their order, whoever is in
    assert tried([0.0] * 6, [Extremes(2, 1), Extremes(1, 0)]) == ((2, 3), (1, 1))


class Fixed:
    """Coins that show what is said."""

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def fill(self, out: Any) -> None:
        """Sixteen bits a coin, heads where they are below a half."""
        out.view(np.uint16)[: len(self.mask)] = np.where(self.mask, 0, (1 << 16) - 1)

    def bits(self, k: int) -> int:
        """No coin ties."""
        raise AssertionError(k)


def test_guesses_are_counted_against_the_coins() -> None:
    guesses_are_counted_against_the_coins()


def who_trains_cannot_change_the_coins() -> None:
    def everybody(mask: Any) -> Any:
        mask[:] = True
        return mask

    found = one_run(everybody, lambda mask: mask - 0.5, canaries=1_000, delta=0, guesses=[1_000])
    assert 0 < found.correct < 1_000


def test_who_trains_cannot_change_the_coins() -> None:
    who_trains_cannot_change_the_coins()


def rules_share_what_may_fail() -> None:
    """Of several rules the best one counts, at a confidence that makes up for the choice."""
    found = OneRun(1_000, 0.0, 0.95, ((600, 1_000), (250, 250)))
    assert (found.correct, found.guesses) == (250, 250)
    assert found.epsilon_lower == one_run_bound(250, 250, 1_000, confidence=0.975)
    assert found.at(0.9) == one_run_bound(250, 250, 1_000, confidence=0.95)
    alone = OneRun(1_000, 0.0, 0.95, ((600, 1_000),))
    assert alone.epsilon_lower == one_run_bound(600, 1_000, 1_000)
    assert OneRun(1_000, 1e-4, 0.95, ((250, 250),)).epsilon_lower < OneRun(250, 1e-4, 0.95, ((250, 250),)).epsilon_lower


def test_rules_share_what_may_fail() -> None:
    rules_share_what_may_fail()


def test_a_report_tells_where_it_comes_from() -> None:
    found = OneRun(1_000, 1e-5, 0.95, ((1_000, 1_000),))
    assert str(found) == (
        "ε ≥ 5.809 at δ = 1e-05, with confidence 0.95: 1,000 of 1,000 guesses about 1,000 canaries were right"
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"canaries": 0}, "canaries must be at least 1"),
        ({"guesses": []}, "at least one rule"),
        ({"guesses": 5}, "a list of rules"),
        ({"guesses": Extremes(5, 5)}, "a list of rules"),
        ({"guesses": "5"}, "a list of rules"),
        ({"guesses": [(2, 2, 2)]}, "a pair of them"),
        ({"score": 3}, "must be functions"),
        ({"guesses": [11]}, "at most the 10 canaries"),
        ({"guesses": [0]}, "at least 1"),
        ({"guesses": [Extremes(6, 5)]}, "at most the 10 canaries"),
        ({"guesses": [Extremes(-1, 5)]}, "at least 0"),
        ({"confidence": 1}, "between 0 and 1"),
        ({"delta": 2}, "delta must be between 0 and 1"),
    ],
    ids=str,
)
def test_wrong_requests_are_refused_before_anything_is_run(wrong: dict[str, Any], message: str) -> None:
    def train(mask: Any) -> Any:
        raise AssertionError("it was run")

    with pytest.raises(Invalid, match=message):
        one_run(train, **{"score": centred, "canaries": 10, "delta": 0, **wrong})


@pytest.mark.parametrize(
    "scores", [[1.0] * 9, [[1.0] * 10], [float("nan"), *[1.0] * 9], ["a"] * 10, [[1], [1, 2]]], ids=str
)
def test_scores_are_one_number_for_each_canary(scores: Any) -> None:
    with pytest.raises(Invalid, match="one number for each of the 10 canaries"):
        one_run(lambda mask: mask, lambda mask: scores, canaries=10, delta=0)


def counts_that_cannot_be_are_refused() -> None:
    for right, said, among in ((3, 2, 4), (2, 5, 4), (-1, 2, 4), (0, 0, 4)):
        with pytest.raises(Invalid):
            one_run_bound(right, said, among)


def test_counts_that_cannot_be_are_refused() -> None:
    counts_that_cannot_be_are_refused()
