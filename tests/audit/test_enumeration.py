"""Laws of the exact audit: the losses that are known by hand, what a claim may not be, and what an accountant may not say."""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.audit.chances import law_of
from discreet.audit.enumeration import Ours, exact
from discreet.audit.joint import Joint
from discreet.audit.law import Bracket, Law, delta_at
from discreet.audit.law import product as both
from discreet.errors import Invalid
from discreet.exact import exp_bounds
from discreet.mechanisms import (
    AboveThreshold,
    CoinToss,
    DiscreteGaussian,
    Exponential,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantiles,
    RandomizedResponse,
    SignedResponse,
)
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.base import Mechanism, registry
from discreet.mechanisms.exponential import Selection
from discreet.mechanisms.keys import GaussianThreshold, LaplaceThreshold, OptimalKeys
from discreet.mechanisms.unsafe import NameAndShame, RandomRow
from discreet.privacy import PrivacyLoss
from tests.scale import repeats

NEAR = 1e-12


def replaced(n: int, values: str = "ab") -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """All data sets of n rows, with every one that differs in one row."""
    for rows in product(values, repeat=n):
        for i, value in product(range(n), values):
            if rows[i] < value:
                yield rows, (*rows[:i], value, *rows[i + 1 :])


# What is known by hand.


def the_coin_toss_is_ln_3() -> None:
    found = exact(CoinToss())
    assert found.epsilon().exact and found.epsilon().ratio_low == 3
    assert found.delta().low == found.delta().high == F(1, 2)
    assert exact(CoinToss(), [((0, 1, 1), (0, 0, 1))]).epsilon().ratio_low == 3


def test_the_coin_toss_is_ln_3() -> None:
    the_coin_toss_is_ln_3()


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(4)])
def test_randomized_response_is_epsilon(epsilon: F, k: int) -> None:
    found = exact(RandomizedResponse(epsilon, k)).epsilon()
    assert found.low <= epsilon <= found.high and found.high - found.low < NEAR


def the_signed_response_is_four_eta_and_not_two() -> None:
    """The ±1 form costs ln((½ + η)/(½ − η)) = 2 artanh(2η) > 4η, for one bit and for the sum of several: 2η is no bound."""
    for eta in (F(1, 100), F(1, 10), F(2, 5)):
        found = exact(SignedResponse(eta)).epsilon()
        assert found.exact and found.ratio_low == (F(1, 2) + eta) / (F(1, 2) - eta)
        assert found.low > 4 * eta > 2 * eta

        def total(bits: tuple[int, ...], eta: F = eta) -> Law:
            law = law_of(SignedResponse(eta), bits)
            sums: dict[int, F] = {}
            for output, each in law.chances.items():
                sums[sum(output)] = sums.get(sum(output), F(0)) + each.low
            return Law.of(sums)

        neighbours = [((*rest, -1), (*rest, 1)) for rest in product((-1, 1), repeat=2)]
        assert exact(total, neighbours).epsilon().ratio_low == found.ratio_low


def test_the_signed_response_is_four_eta_and_not_two() -> None:
    the_signed_response_is_four_eta_and_not_two()


@pytest.mark.parametrize("delta", [F(0), F(1, 10), F(1)])
def test_name_and_shame_is_delta_at_epsilon_0(delta: F) -> None:
    for n in (1, 2, 3):
        found = exact(NameAndShame(delta), replaced(n))
        assert found.delta().low == found.delta().high == delta
        assert found.epsilon().low == (inf if delta else 0)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_random_row_is_one_in_n_at_epsilon_0(n: int) -> None:
    found = exact(RandomRow(n), replaced(n))
    assert found.delta().low == found.delta().high == F(1, n)
    assert found.epsilon().low == inf and found.delta(5).low == F(1, n), "no ε makes up for it"


def test_geometric_noise_is_its_distance_over_its_scale() -> None:
    for scale, distance in ((F(1), 1), (F(1, 2), 1), (F(3), 2)):
        found = exact(Geometric(scale), [(5, 5 + distance)])
        assert found.epsilon().low <= distance / scale <= found.epsilon().high < distance / scale + NEAR
        loss = Geometric(scale).loss(distance)
        for epsilon in (0.0, 0.3, 1.0):
            assert abs(float(found.delta(epsilon).high) - loss.delta(epsilon)) < 1e-9


def test_gaussian_noise_is_what_its_loss_says() -> None:
    found, loss = exact(DiscreteGaussian(2), [(0, 1)]), DiscreteGaussian(2).loss(1)
    assert found.epsilon().high == inf and found.hidden < 1e-60
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert float(found.delta(epsilon).low) <= loss.delta(epsilon) * (1 + 1e-9)
        assert abs(float(found.delta(epsilon).high) - loss.delta(epsilon)) < 1e-9


# Nothing costs more than it says, and its law is what it says.

SCORES = [-1, 0, 2]
KINDS: list[type[Selection]] = [Exponential, PermuteAndFlip, NoisyMax]


def scores(count: int) -> list[tuple[Any, Any]]:
    steps = [each for each in product((-1, 0, 1), repeat=count) if any(each)]
    return [
        (x, tuple(a + b for a, b in zip(x, step, strict=True))) for x in product(SCORES, repeat=count) for step in steps
    ]


def selections_cost_epsilon_at_most(kind: type[Selection]) -> None:
    for mechanism, count in ((kind(F(2)), 2), (kind(F(1)), 3)):
        pairs = scores(count)
        found = exact(mechanism, random.Random(1).sample(pairs, min(len(pairs), repeats(24))))
        assert found.epsilon().high <= mechanism.epsilon + NEAR


@pytest.mark.parametrize("kind", KINDS)
def test_selections_cost_epsilon_at_most(kind: type[Selection]) -> None:
    selections_cost_epsilon_at_most(kind)


def monotone_selections_cost_epsilon_at_most() -> None:
    for kind in KINDS:
        mechanism = kind(F(1), monotone=True)
        pairs = [(x, y) for x, y in scores(2) if all(a <= b for a, b in zip(x, y, strict=True))]
        assert exact(mechanism, pairs).epsilon().high <= 1 + NEAR


def test_monotone_selections_cost_epsilon_at_most() -> None:
    monotone_selections_cost_epsilon_at_most()


def thresholds_cost_epsilon_at_most() -> None:
    for mechanism in (AboveThreshold(F(2), 1), AboveThreshold(F(1), 0, hits=2)):
        found = exact(mechanism, random.Random(2).sample(scores(3), repeats(8)))
        assert found.epsilon().high <= mechanism.loss().epsilon() + NEAR


def test_thresholds_cost_epsilon_at_most() -> None:
    thresholds_cost_epsilon_at_most()


def quantiles_cost_epsilon_at_most() -> None:
    for shares in ([F(1, 2)], [F(1, 10)], [F(1, 4), F(3, 4)]):
        mechanism = Quantiles(F(2), shares, 0, 1, cells=3)
        tables = list(product(range(3), repeat=3))
        neighbours = [(x, tuple(n + (i == at) for i, n in enumerate(x))) for x in tables for at in range(3)]
        found = exact(mechanism, random.Random(3).sample(neighbours, min(len(neighbours), repeats(12))))
        assert found.epsilon().high <= 2 + NEAR


def test_quantiles_cost_epsilon_at_most() -> None:
    quantiles_cost_epsilon_at_most()


LISTED: list[tuple[Any, Any]] = [
    (CoinToss(), [0, 1, 1]),
    (RandomizedResponse(F(1), 3), 2),
    (SignedResponse(F(1, 10)), [1, -1]),
    (NameAndShame(F(1, 10)), ["a", "b", "a"]),
    (RandomRow(3), ["a", "b", "a"]),
    (Exponential(F(1)), [3, 5, 4, 0]),
    (PermuteAndFlip(F(1)), [3, 5, 4, 0]),
    (NoisyMax(F(1)), [3, 5, 4]),
    (NoisyMax(F(4)), [0, 0, 1]),
    (AboveThreshold(F(1), 5), [3, 6, 4]),
    (AboveThreshold(F(2), 0, hits=2), [-1, 0, 1]),
    (Quantiles(F(1), [F(1, 2)], 0, 4, cells=5), [1, 0, 4, 2, 0]),
    (Quantiles(F(2), [F(1, 4), F(3, 4)], 0, 1, cells=3), [3, 0, 1]),
]


@pytest.mark.parametrize(("mechanism", "value"), LISTED, ids=lambda each: type(each).__name__)
def test_laws_are_near_what_mechanisms_say_of_themselves(mechanism: Mechanism, value: Any) -> None:
    law = law_of(mechanism, value)
    for output, each in law.chances.items():
        shown = list(output) if isinstance(output, tuple) else output
        assert abs(float(each.low) - float(mechanism.probability(shown, value))) < 1e-9  # type: ignore[attr-defined]
        assert each.high - each.low < F(1, 10**20)


RULES = [LaplaceThreshold(F(1), 4, 2), GaussianThreshold(F(2), 6, 2), OptimalKeys(F(1), F(1, 50), 2)]


def key_rules_keep_their_promise(rule: Any) -> None:
    """Keys and their noisy counts, for a person in two groups: among others, alone, and both."""
    neighbours = [((0, 0), (1, 1)), ((3, 0), (4, 1)), ((2, 2), (2, 3))]
    found, loss = exact(Ours(rule, 12), neighbours), rule.loss()
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        assert float(found.delta(epsilon).high) <= loss.delta(epsilon) * (1 + 1e-9) + 1e-6
    one = exact(replace(rule, groups=1), [((0,), (1,))]).delta(20)
    assert one.low <= rule.keeps(1)[1] and one.high >= rule.keeps(1)[0], "alone, a key that is seen tells all"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_key_rules_keep_their_promise(rule: Any) -> None:
    key_rules_keep_their_promise(rule)


WITHOUT = {
    "BernoulliCount",
    "BernoulliMean",
    "Gaussian",
    "Laplace",
    "QuantileEnds",
    "QuantileIntervals",
}
"""Registered mechanisms without an exact law: reals on a grid, and what is made of them. They are left to sampling."""


@pytest.mark.parametrize("name", registry.names())
def test_every_registered_mechanism_keeps_its_promise_or_is_named_as_unknown(name: str) -> None:
    for example in registry.examples(name):
        mechanism, sensitivity = example.mechanism, example.sensitivity
        vector = isinstance(mechanism, IntegerNoise) and np.ndim(example.x)
        fine = name == "RoundedGaussian"  # tails on its fine grid take a while each
        told: Any = Ours(mechanism, 2 if fine else 12)
        if vector:
            told = Joint(lambda x, draws, m=mechanism, s=sensitivity: draws(m, s, lambda: x), reach=1 if fine else 2)
        if name in WITHOUT:
            with pytest.raises(Invalid):
                exact(told, [(example.x, example.y)])
            continue
        found, loss = exact(told, [(example.x, example.y)]), mechanism.loss(sensitivity)
        for epsilon in (0.0, 0.5, 1.0, 3.0):
            assert float(found.delta(epsilon).low) <= loss.delta(epsilon) * (1 + 1e-9)


# An accountant may not say less than what is true.


def any_table(draw: random.Random, inputs: int = 2, outputs: int = 3) -> list[list[F]]:
    table = []
    for _ in range(inputs):
        parts = [draw.choice([0, 1, 1, 2, 3, 8]) for _ in range(outputs)]
        parts[draw.randrange(outputs)] += 1
        table.append([F(part, sum(parts)) for part in parts])
    return table


def reported_delta_is_not_below_the_truth() -> None:
    """Compositions of random tables, over all pairs of inputs of each part: what the accountant reports, and what is."""
    for seed in range(repeats(10)):
        draw = random.Random(seed)
        tables = [any_table(draw, draw.choice([2, 3])) for _ in range(draw.choice([1, 2, 3]))]
        loss = sum((PrivacyLoss.from_table(table) for table in tables), start=0 * PrivacyLoss.from_table(tables[0]))
        rows: dict[tuple[int, ...], Law] = {(): Law.of({(): 1})}
        for table in tables:
            rows = {
                (*inputs, i): both(law, Law.of(dict(enumerate(row))))
                for inputs, law in rows.items()
                for i, row in enumerate(table)
            }
        found = exact(rows)
        for epsilon in (0.0, 0.2, 1.0, 2.5):
            truth = found.delta(epsilon)
            assert loss.delta(epsilon) >= float(truth.low) * (1 - 1e-12), (seed, epsilon)
        assert loss.epsilon() >= found.epsilon().low


def test_reported_delta_is_not_below_the_truth() -> None:
    reported_delta_is_not_below_the_truth()


# The front door.


def all_forms_agree() -> None:
    """A table, a mapping, an array, a function and a program over coins of the same mechanism have the same loss."""

    def told(bit: int) -> dict[int, F]:
        return {bit: F(3, 4), 1 - bit: F(1, 4)}

    def tossed(bit: int, source: Any) -> int:
        return bit if source.bits(1) else source.bits(1)

    quarters = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    forms: list[tuple[Any, Any]] = [
        (quarters, None),
        (np.array([[0.75, 0.25], [0.25, 0.75]]), None),
        ({0: told(0), 1: told(1)}, None),
        (told, [(0, 1)]),
        (tossed, [(0, 1)]),
        (CoinToss(), None),
        (lambda bit, source: CoinToss()(bit, source), [(1, 0)]),
    ]
    for form, neighbours in forms:
        found = exact(form, neighbours)
        assert found.epsilon().ratio_low == found.epsilon().ratio_high == 3
        assert found.delta().low == F(1, 2) and found.delta(0.5).low <= found.delta(0.5).high
        assert set(found.neighbours or ()) == {0, 1} and found.output in (0, 1)


def test_all_forms_agree() -> None:
    all_forms_agree()


def both_directions_are_compared() -> None:
    """An output that is impossible on one side only is found from both sides."""
    some, other = {"a": F(1, 2), "b": F(1, 2)}, {"a": F(1)}
    for rows in ([some, other], [other, some]):
        found = exact(dict(enumerate(rows)))
        assert found.epsilon().low == inf and found.output == "b"
        assert found.delta().low == F(1, 2)


def test_both_directions_are_compared() -> None:
    both_directions_are_compared()


def test_delta_and_epsilon_are_each_others_inverse() -> None:
    found = exact(any_table(random.Random(3), inputs=4, outputs=5))
    for allowed in (F(0), F(1, 10), F(1, 3)):
        ratio = found.epsilon(allowed).ratio_high
        if isinstance(ratio, F):
            worst = max(delta_at(*each.laws, Bracket(ratio, ratio)).high for each in found.pairs)
            assert worst <= allowed
    assert found.delta(2).high >= found.delta(3).low and exp_bounds(F(1))[0] > 2


def test_the_result_is_told_in_words() -> None:
    assert str(exact(CoinToss())) == ("ε = ln 3 = 1.09861229\nδ = 1/2 at ε = 0\nworst output 0: 3/4 for 0, 1/4 for 1")
    assert "ε = ∞" in str(exact(NameAndShame(F(1, 10)), [(["a"], ["b"])]))
    assert "not listed" in str(exact(DiscreteGaussian(1), [(0, 1)]))
    assert "nothing to compare" in str(exact(CoinToss(), []))


@pytest.mark.parametrize("mechanism", ["text", 7, [[1, 1]], [0.5, 0.5], NoisyMax(1), lambda data: {0: 1}])
def test_what_is_no_mechanism_or_lacks_neighbours_is_refused(mechanism: Any) -> None:
    with pytest.raises(Invalid):
        exact(mechanism)


def test_what_has_no_finite_law_is_refused() -> None:
    with pytest.raises(Invalid, match="no finite law"):
        exact(Laplace(1), [(0, 1)])
    with pytest.raises(Invalid, match="outputs"):
        exact(CoinToss(), [([0] * 40, [1] * 40)])


def test_arguments_out_of_range_are_refused() -> None:
    with pytest.raises(Invalid, match="single integers"):
        exact(Geometric(1), [([1, 2], [1, 3])])
    with pytest.raises(Invalid, match="at most"):
        exact(CoinToss()).delta(10**6)
    for bad in (-1, float("nan"), "1"):
        with pytest.raises(Invalid):
            exact(CoinToss()).delta(bad)  # type: ignore[arg-type]
        with pytest.raises(Invalid):
            exact(CoinToss()).epsilon(bad)  # type: ignore[arg-type]
    assert exact(LaplaceThreshold(1, 3), [([], [])]).epsilon().high == 0


def test_it_is_public() -> None:
    assert audit.exact is exact and audit.law.Law is Law
