"""Randomized response: exact by enumeration, priced as drawn, estimated without bias, refused by name.

Statistical tests draw from the operating system and raise a false alarm with probability ALPHA at most, each.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import atanh, exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import exp_neg_bounds, log_bounds, log_up, shown
from discreet.mechanisms.base import Example, Mechanism, registry
from discreet.mechanisms.randomized_response import (
    CoinToss,
    Estimate,
    RandomizedResponse,
    Response,
    SignedResponse,
    deviation,
)
from discreet.noise import Tape
from discreet.privacy import events
from discreet.privacy.numeric.finite import delta_of_table, ratio_of_table
from tests.noise.scripted import Scripted
from tests.scale import repeats

ALPHA = 1e-6
HALF = Fraction(1, 2)
EVERY_WORD = np.arange(1 << 16, dtype=np.uint16)
EXAMPLES = [
    pytest.param(example, id=f"{name}-{i}")
    for name in ("CoinToss", "RandomizedResponse", "SignedResponse")
    for i, example in enumerate(registry.examples(name))
]
ETAS = [Fraction(1, 100), Fraction(1, 10), Fraction(1, 4), Fraction(49, 100)]


def refused(ask: Callable[[Tape], object], name: str) -> None:
    """Invalid, which begins with the name and holds no data value; nothing was drawn."""
    tape = Tape(1)
    try:
        ask(tape)
    except Invalid as error:
        assert str(error).startswith(f"{name} ") and "31337" not in str(error), error
    else:
        raise AssertionError(f"{name} was not refused")
    assert tape.used == 0


def outputs(mechanism: Mechanism, exact: Any) -> Iterator[Any]:
    """All that can be released."""
    k = getattr(mechanism, "k", 2)
    if isinstance(exact, list):
        return map(list, product(range(k), repeat=len(exact)))
    return iter(range(k))


# What is drawn.


def every_first_word_decides(mechanism: Response, exact: int, lie: Fraction) -> None:
    """Of all 65,536 first words of a draw exactly 65,536·lie replace the answer; the one that ties is settled by what follows."""
    for rest, lies in (((1 << 48) - 1, int(lie * 65_536)), (0, -int(-lie * 65_536 // 1))):
        released = mechanism(np.full(1 << 16, exact), Scripted([EVERY_WORD], integers=[rest, rest, rest]))
        truth = (exact + 1) // 2 if isinstance(mechanism, SignedResponse) else exact
        assert int((released != truth).sum()) == lies, (mechanism, rest)


def odds_of_lie(epsilon: Fraction) -> Fraction:
    """1/(e^ε + 1), to 2^-100; so that the 16 digits looked at are those of the truth."""
    low, _ = exp_neg_bounds(epsilon, 100)
    return Fraction(low, low + (1 << 100))


DRAWN = [
    (CoinToss(), Fraction(1, 4)),
    *((SignedResponse(eta), HALF - eta) for eta in ETAS),
    *((RandomizedResponse(e), odds_of_lie(e)) for e in (Fraction(1, 3), Fraction(1), Fraction(5))),
]


@pytest.mark.parametrize(("mechanism", "lie"), DRAWN, ids=str)
def test_every_first_word_of_a_draw_decides_as_it_should(mechanism: Response, lie: Fraction) -> None:
    for exact in (-1, 1) if isinstance(mechanism, SignedResponse) else (0, 1):
        every_first_word_decides(mechanism, exact, lie)


def test_a_single_toss_is_decided_at_the_64th_digit() -> None:
    edge = 3 << 62
    for exact in (0, 1):
        assert CoinToss()(exact, Scripted(integers=[edge - 1])) == exact
        assert CoinToss()(exact, Scripted(integers=[edge])) == 1 - exact
    for bit in (-1, 1):
        truth = (bit + 1) // 2
        assert SignedResponse(Fraction(1, 4))(bit, Scripted(integers=[edge - 1])) == truth
        assert SignedResponse(Fraction(1, 4))(bit, Scripted(integers=[edge])) == 1 - truth
    edge = int((1 - odds_of_lie(Fraction(1))) * 2**64)
    assert RandomizedResponse(Fraction(1))(1, Scripted(integers=[edge - 1])) == 1
    assert RandomizedResponse(Fraction(1))(1, Scripted(integers=[edge + 1])) == 0


def drawn_as_it_says(mechanism: Any, exact: int, count: int) -> None:
    """Each output as often as its probability, within Bernstein's bound at ALPHA for all outputs together.

    Power at 30,000 draws: a probability near 1/2 that is off by 0.03 is seen with probability 1 − 1e-6.
    """
    released = np.bincount(mechanism(np.full(count, exact)), minlength=2).tolist()
    level = log(2 * len(released) / ALPHA)
    for output, times in enumerate(released):
        p = float(mechanism.probability(output, exact))
        assert abs(times - count * p) <= sqrt(2 * count * p * (1 - p) * level) + level / 3, output


@pytest.mark.parametrize(
    ("mechanism", "inputs"),
    [
        (CoinToss(), (0, 1)),
        (SignedResponse(Fraction(1, 5)), (-1, 1)),
        (RandomizedResponse(Fraction(1)), (0, 1)),
        (RandomizedResponse(Fraction(3, 2), 5), (0, 2, 4)),
        (RandomizedResponse(Fraction(0), 3), (1,)),
    ],
    ids=str,
)
def test_it_draws_what_it_says(mechanism: Response, inputs: tuple[int, ...]) -> None:
    for exact in inputs:
        drawn_as_it_says(mechanism, exact, repeats(30_000))


def test_probabilities_are_exact_and_add_up_to_one() -> None:
    assert CoinToss().probability(1, 1) == Fraction(3, 4) == CoinToss().probability(0, 0)
    assert CoinToss().probability(1, 0) == Fraction(1, 4) == CoinToss().probability(0, 1)
    for eta in ETAS:
        for b in (-1, 1):
            assert SignedResponse(eta).probability(1, b) == HALF + eta * b
            assert SignedResponse(eta).probability(0, b) == HALF - eta * b
    assert CoinToss().probability([1, 0, 1], [1, 1, 0]) == Fraction(3, 64)
    response = RandomizedResponse(Fraction(1), 4)
    assert response.probability(2, 2) == pytest.approx(exp(1) / (exp(1) + 3), rel=1e-15)
    assert response.probability(0, 2) == pytest.approx(1 / (exp(1) + 3), rel=1e-15)
    assert response.probability(4, 2) == response.probability(-1, 2) == 0


# What it costs.


def cost_is_that_of_its_own_probabilities(example: Example) -> None:
    """δ(ε) = Σ max(P − e^ε Q, 0) over all outputs is what `loss` says, the worse of both directions."""
    m: Any = example.mechanism
    rows = [[Fraction(m.probability(z, v)) for z in outputs(m, v)] for v in (example.x, example.y)]
    assert all(abs(sum(row) - 1) < 1e-14 for row in rows)
    spent = m.loss(example.sensitivity)
    for epsilon in (0.0, 0.05, 0.3, 1.0, 1.9, 3.5):
        truth = float(delta_of_table(rows, Fraction(exp(epsilon))))
        assert spent.delta(Fraction(str(epsilon))) == pytest.approx(truth, rel=1e-9, abs=1e-14), epsilon


@pytest.mark.parametrize("example", EXAMPLES)
def test_cost_is_that_of_its_own_probabilities(example: Example) -> None:
    cost_is_that_of_its_own_probabilities(example)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_differ_in_as_many_answers_as_they_say(example: Example) -> None:
    assert int(np.sum(np.asarray(example.x) != np.asarray(example.y))) == example.sensitivity


def test_the_coin_toss_costs_ln_3_exactly() -> None:
    event = CoinToss().event()
    assert event == events.FiniteTable(((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))))
    assert ratio_of_table(event.rows) == 3
    assert CoinToss().loss().epsilon() == pytest.approx(log(3), rel=1e-13)


@pytest.mark.parametrize("eta", ETAS)
def test_a_signed_response_costs_about_four_eta_not_two(eta: Fraction) -> None:
    ratio = ratio_of_table(SignedResponse(eta).event().rows)  # type: ignore[attr-defined]
    assert ratio == (HALF + eta) / (HALF - eta)
    low, high = log_bounds(ratio)
    assert 4 * eta < low and float(low) == pytest.approx(2 * atanh(2 * float(eta)), rel=1e-13)
    assert high > 2 * eta, "2η, as one reads at times, is too little"
    assert SignedResponse(eta).loss().epsilon() == pytest.approx(float(high), rel=1e-12)


def law_of_total(mechanism: SignedResponse, bits: tuple[int, ...]) -> list[Fraction]:
    law = [Fraction(0)] * (len(bits) + 1)
    for released in product((0, 1), repeat=len(bits)):
        law[sum(released)] += mechanism.probability(list(released), list(bits))  # type: ignore[operator]
    return law


@pytest.mark.parametrize("eta", ETAS)
def test_the_sum_costs_what_one_bit_costs(eta: Fraction) -> None:
    """Over all bits and all neighbours, n <= 4: the largest ratio of probabilities of a sum is that of one bit."""
    mechanism = SignedResponse(eta)
    for n in range(1, 5):
        largest = Fraction(0)
        for bits in product((-1, 1), repeat=n):
            neighbour = (-bits[0], *bits[1:])  # the sum does not tell which bit is which
            pairs = zip(law_of_total(mechanism, bits), law_of_total(mechanism, neighbour), strict=True)
            largest = max(largest, *(p / q for p, q in pairs))
        assert largest == (HALF + eta) / (HALF - eta)


def test_no_answer_costs_nothing_and_many_cost_more() -> None:
    for mechanism in (CoinToss(), RandomizedResponse(Fraction(1)), SignedResponse(Fraction(1, 4))):
        assert mechanism.loss(0).epsilon() == 0
        assert mechanism.loss(3).epsilon() == pytest.approx(3 * mechanism.loss().epsilon(), rel=1e-9)
        assert mechanism.loss(Fraction(5, 2)) == mechanism.loss(3)
    assert RandomizedResponse(Fraction(0), 7).loss().epsilon() == 0


# What it is made for.


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), 1, 3, 40])
def test_responses_for_an_epsilon_meet_it_and_are_the_truest(epsilon: Fraction) -> None:
    assert RandomizedResponse.for_epsilon(epsilon, 3, k=4) == RandomizedResponse(Fraction(epsilon) / 3, 4)
    assert RandomizedResponse.for_budget(epsilon, sensitivity=3, k=4) == RandomizedResponse(Fraction(epsilon) / 3, 4)
    for sensitivity in (1, 3):
        eta = SignedResponse.for_epsilon(epsilon, sensitivity).eta
        assert SignedResponse.for_budget(epsilon, sensitivity=sensitivity).eta == eta
        assert SignedResponse(eta).loss(sensitivity).certifies(epsilon, 0)
        assert sensitivity * log_up((HALF + eta) / (HALF - eta), 200) <= epsilon
        beyond = eta + min(eta, HALF - eta) / 10**8  # a unit of the ninth digit
        assert sensitivity * log_bounds((HALF + beyond) / (HALF - beyond), 200)[0] > epsilon


@pytest.mark.parametrize(
    "epsilon", [5e-324, 1e-100, 700, 1e308, 10**400], ids=["5e-324", "1e-100", "700", "1e308", "long"]
)
def test_extreme_epsilons_are_met(epsilon: Any) -> None:
    eta = SignedResponse.for_epsilon(epsilon).eta
    assert log_up((HALF + eta) / (HALF - eta), 1200) <= Fraction(str(epsilon))
    assert SignedResponse(eta)(1, Tape(1)) in (0, 1)
    assert RandomizedResponse.for_epsilon(epsilon, k=3)(np.array([0, 2]), Tape(1)).shape == (2,)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, Fraction(1, 100)), (Fraction(1, 2), Fraction(1, 10**6))])
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_responses_for_a_budget_are_certified_and_nearly_fill_it(
    epsilon: Fraction, delta: Fraction, sensitivity: int
) -> None:
    response = RandomizedResponse.for_budget(epsilon, delta, sensitivity=sensitivity, k=3)
    signed = SignedResponse.for_budget(epsilon, delta, sensitivity=sensitivity)
    more = (
        RandomizedResponse(response.epsilon * Fraction(1001, 1000), 3),
        SignedResponse(signed.eta * Fraction(1001, 1000)),
    )
    for found, truer in zip((response, signed), more, strict=True):
        assert found.loss(sensitivity).certifies(epsilon, delta)
        assert truer.loss(sensitivity).delta(epsilon) > delta


def test_the_coin_toss_is_given_where_it_fits_only() -> None:
    """δ(1) = 3/4 − e/4 = 0.07043…"""
    assert CoinToss.for_epsilon(1.0987) == CoinToss.for_epsilon(2.1973, 2) == CoinToss.for_budget(1.0987) == CoinToss()
    assert CoinToss.for_budget(1, 0.07044) == CoinToss()
    refused(lambda _: CoinToss.for_epsilon(1.0986), "epsilon")
    refused(lambda _: CoinToss.for_epsilon(1.0987, 2), "epsilon")
    refused(lambda _: CoinToss.for_budget(1, 0.07042), "epsilon")
    refused(lambda _: CoinToss.for_budget(1, 0.07044, sensitivity=2), "epsilon")


# What can be learnt from it.


def estimates_the_sum(mechanism: SignedResponse, n: int) -> None:
    """Over all bits, and over all that can be released: no bias, and the variance that is stated, exactly."""
    for bits in product((-1, 1), repeat=n):
        law = law_of_total(mechanism, bits)
        found = [mechanism.estimate(total, n) for total in range(n + 1)]
        assert sum(p * each.value for p, each in zip(law, found, strict=True)) == sum(bits)
        spread = sum(p * (each.value - sum(bits)) ** 2 for p, each in zip(law, found, strict=True))
        assert (
            {each.variance for each in found}
            == {spread}
            == {(Fraction(n, 4) - mechanism.eta**2 * n) / mechanism.eta**2}
        )


@pytest.mark.parametrize("eta", ETAS)
def test_the_estimate_of_a_sum_has_no_bias_and_its_variance(eta: Fraction) -> None:
    for n in range(1, 5):
        estimates_the_sum(SignedResponse(eta), n)


def estimates_the_shares(mechanism: Any, exact: list[int]) -> None:
    """The mean of each share over all that can be released is the truth, and its variance is the formula's at the truth."""
    k, n = getattr(mechanism, "k", 2), len(exact)
    released = list(outputs(mechanism, exact))
    chances = [mechanism.probability(each, exact) for each in released]
    shares = [[each.value for each in mechanism.frequencies(one)] for one in released]
    p, q = float(mechanism.probability(0, 0)), float(mechanism.probability(1, 0))
    for j in range(k):
        f = exact.count(j) / n
        values = [share[j] for share in shares]
        assert float(sum(a * b for a, b in zip(chances, values, strict=True))) == pytest.approx(f, abs=1e-12)
        spread = float(sum(a * (b - f) ** 2 for a, b in zip(chances, values, strict=True)))
        assert spread == pytest.approx((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2), rel=1e-11)


@pytest.mark.parametrize(
    ("mechanism", "exact"),
    [
        (CoinToss(), [0]),
        (CoinToss(), [1, 1, 0, 1]),
        (RandomizedResponse(Fraction(1)), [0, 1, 1]),
        (RandomizedResponse(Fraction(1, 2), 4), [3, 0, 3]),
    ],
    ids=str,
)
def test_estimates_of_shares_have_no_bias_and_their_variance(mechanism: Response, exact: list[int]) -> None:
    estimates_the_shares(mechanism, exact)


def test_the_variance_stated_is_that_at_the_estimated_share() -> None:
    mechanism = RandomizedResponse(Fraction(1), 4)
    p, q = float(mechanism.probability(0, 0)), float(mechanism.probability(1, 0))
    for count, f in ((0, 0.0), (1000, 1.0), (200, (0.2 - q) / (p - q))):
        expected = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (1000 * (p - q) ** 2)
        assert mechanism.frequency(count, 1000).variance == pytest.approx(expected, rel=1e-12)
    assert {CoinToss().frequency(count, 100).variance for count in range(101)} == {Fraction(3, 400)}


def binomial(n: int, p: float) -> NDArray[np.float64]:
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [1 - p, p])
    return law


def errors_cover(n: int, told: int, p: float, q: float, confidence: Fraction) -> float:
    """A sum of `told` coins of probability p and n − told of probability q: how often it is farther from its mean."""
    law = np.convolve(binomial(told, p), binomial(n - told, q))
    away = np.abs(np.arange(n + 1) - told * p - (n - told) * q)
    missed = float(law[away > deviation(n, max(p * (1 - p), q * (1 - q)), confidence) * (1 + 1e-12)].sum())
    assert missed <= float(1 - confidence) * 1.001, (n, told, p, q)
    return missed


CONFIDENCES = [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(999, 1000), 1 - Fraction(1, 10**6)]


@pytest.mark.parametrize("confidence", CONFIDENCES, ids=str)
@pytest.mark.parametrize(("p", "q"), [(0.51, 0.49), (0.75, 0.25), (0.99, 0.01), (0.5, 0.05), (0.3, 0.1)])
def test_errors_cover_whatever_the_data_are(p: float, q: float, confidence: Fraction) -> None:
    for n in (1, 2, 3, 5, 10, 42, 60, 160):
        for told in {0, n // 3, n // 2, n}:
            errors_cover(n, told, p, q, confidence)


def test_errors_are_not_much_too_large() -> None:
    """With a variance of 100 and more an error at 95 % covers at most 96 %, and for one bit it is at most the range."""
    for n, p in ((404, 0.55), (536, 0.75), (1120, 0.9)):
        assert errors_cover(n, n // 2, p, 1 - p, Fraction(19, 20)) >= 0.04
    assert SignedResponse(Fraction(1, 4)).estimate(1, 1).error() == 4
    assert deviation(10**6, 0.25, 0.95) == pytest.approx(980.5, abs=0.1)


@pytest.mark.parametrize("confidence", [0.5, 0.7, 0.76, 0.95, 1 - Fraction(1, 10**30)])
def test_the_error_of_one_answer_covers(confidence: Any) -> None:
    level = Fraction(str(confidence))
    for mechanism in (CoinToss(), RandomizedResponse(Fraction(1)), RandomizedResponse(Fraction(3), 5)):
        for x in (0, 1):
            away = [(abs(z - x), mechanism.probability(z, x)) for z in outputs(mechanism, x)]
            assert sum(Fraction(p) for d, p in away if d <= mechanism.error(confidence)) >= level * (
                1 - Fraction(1, 10**15)
            )
    for eta in ETAS:
        signed = SignedResponse(eta)
        for b in (-1, 1):
            away = [(abs(signed.estimate(z, 1).value - b), signed.probability(z, b)) for z in (0, 1)]
            assert sum(p for d, p in away if d <= Fraction(signed.error(confidence)) + Fraction(1, 10**12)) >= level
    assert CoinToss().error(Fraction(3, 4)) == 0 and CoinToss().error(0.7500001) == 1


def estimates_come_true(estimate: Estimate, truth: Fraction) -> None:
    """Off by more than its error at confidence 1 − ALPHA with probability ALPHA at most."""
    assert abs(float(estimate.value - truth)) <= estimate.error(1 - Fraction(1, 10**6))


def test_estimates_come_true() -> None:
    """Power: an error at 1 − ALPHA is at most 0.04 of the people here; noise of the wrong odds moves shares by more."""
    n = repeats(20_000)
    people = np.repeat([0, 1, 2, 3], [n // 2, n // 4, n // 8, n - n // 2 - n // 4 - n // 8])
    mechanism = RandomizedResponse(Fraction(3, 2), 4)
    for j, estimate in enumerate(mechanism.frequencies(mechanism(people))):
        estimates_come_true(estimate, Fraction(int((people == j).sum()), n))
    estimates_come_true(CoinToss().frequencies(CoinToss()(people % 2))[1], Fraction(int((people % 2).sum()), n))
    bits = np.where(people == 1, 1, -1)
    signed = SignedResponse(Fraction(1, 5))
    estimates_come_true(signed.estimate(signed.total(bits), n), Fraction(int(bits.sum())))


# What is taken and what is not.


def test_arrays_keep_their_shape_and_numbers_are_integers() -> None:
    for mechanism in (CoinToss(), RandomizedResponse(Fraction(1), 3), SignedResponse(Fraction(1, 4))):
        given = np.ones((2, 3), np.int8)
        released = mechanism(given, Tape(1))
        assert released.shape == (2, 3) and released.dtype == np.int64 and (given == 1).all()
        assert type(mechanism(1)) is int and type(mechanism(np.uint8(1), Tape(1))) is int
        assert mechanism([1, 1], Tape(1)).shape == (2,) and mechanism((), Tape(1)).shape == (0,)
    assert SignedResponse(Fraction(1, 4)).total([1, -1, 1], Tape(1)) in range(4)
    assert SignedResponse(0.1).eta == Fraction(1, 10) and RandomizedResponse(0.1).epsilon == Fraction(1, 10)


BAD_ANSWERS = [
    -1,
    31337,
    1.0,
    True,
    "1",
    None,
    [0, 31337],
    [0.5],
    [True],
    [[1], [1, 0]],
    np.array([0, -31337]),
    10**30,
    {1},
]


@pytest.mark.parametrize("bad", BAD_ANSWERS, ids=repr)
def test_bad_answers_are_refused_before_anything_is_drawn(bad: object) -> None:
    refused(lambda tape: CoinToss()(bad, tape), "exact")
    refused(lambda tape: RandomizedResponse(Fraction(1), 3)(bad, tape), "exact")
    refused(lambda _: CoinToss().frequencies(bad), "released")
    if not (isinstance(bad, int) and bad == -1):
        refused(lambda tape: SignedResponse(Fraction(1, 4))(bad, tape), "exact")


@pytest.mark.parametrize("bad", [0, [1, 0], np.array([-1, 0]), 2, -2], ids=repr)
def test_what_is_no_sign_is_refused(bad: object) -> None:
    refused(lambda tape: SignedResponse(Fraction(1, 4))(bad, tape), "exact")


NO_NUMBERS = [-1, float("nan"), float("inf"), "1", None, True, Fraction(10**9_999, 3)]


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=shown)
def test_bad_parameters_are_refused_by_name(bad: Any) -> None:
    refused(lambda _: RandomizedResponse(bad), "epsilon")
    refused(lambda _: RandomizedResponse.for_epsilon(bad), "epsilon")
    refused(lambda _: RandomizedResponse.for_budget(1, bad), "delta")
    refused(lambda _: RandomizedResponse.for_epsilon(1, bad), "sensitivity")
    refused(lambda _: RandomizedResponse(Fraction(1), bad), "k")
    refused(lambda _: SignedResponse(bad), "eta")
    refused(lambda _: SignedResponse.for_epsilon(bad), "epsilon")
    refused(lambda _: CoinToss.for_epsilon(bad), "epsilon")
    refused(lambda _: CoinToss.for_budget(1, bad), "delta")
    refused(lambda _: CoinToss().event(bad), "sensitivity")
    refused(lambda _: CoinToss().error(bad), "confidence")
    refused(lambda _: CoinToss().frequency(1, 2).error(bad), "confidence")
    refused(lambda _: CoinToss().frequency(bad, 2), "count")
    refused(lambda _: CoinToss().frequency(0, bad), "n")
    refused(lambda _: SignedResponse(Fraction(1, 4)).estimate(bad, 2), "total")
    refused(lambda _: SignedResponse(Fraction(1, 4)).estimate(0, bad), "n")


def test_other_parameters_out_of_range_are_refused_by_name() -> None:
    for eta in (0, HALF, 0.5, 1):
        refused(lambda _, eta=eta: SignedResponse(eta), "eta")
    for k in (0, 1, 2**62 + 1):
        refused(lambda _, k=k: RandomizedResponse(Fraction(1), k), "k")
    refused(lambda _: RandomizedResponse.for_epsilon(0), "epsilon")
    refused(lambda _: CoinToss().frequency(3, 2), "count")
    refused(lambda _: CoinToss().frequency(0, 0), "n")
    refused(lambda _: CoinToss().frequency(0, 10**400), "n")
    refused(lambda _: CoinToss().frequencies([]), "released")
    refused(lambda _: RandomizedResponse(Fraction(1), 2**40).frequencies([1]), "k")
    refused(lambda _: RandomizedResponse(Fraction(0)).frequency(1, 2), "epsilon")
    refused(lambda _: SignedResponse(Fraction(1, 4)).estimate(3, 2), "total")
    refused(lambda _: CoinToss().probability([1, 1], [1]), "output")
    assert RandomizedResponse(Fraction(1), 2**62)(2**62 - 1, Tape(1)) < 2**62
