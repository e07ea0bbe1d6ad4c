"""Laws of the Bayesian reading: who knows all others learns a factor of e^±ε at most, for every prior, and no less for the worst."""

import random
from fractions import Fraction as F
from itertools import product
from math import inf
from typing import Any

import pytest

from discreet.audit.bayes import belief, learned
from discreet.audit.enumeration import exact
from discreet.audit.law import Law
from discreet.errors import Invalid
from discreet.mechanisms import CoinToss, RandomizedResponse
from tests.scale import repeats

VALUES = (0, 1, 2)
DATA = list(product(VALUES, repeat=2))


def any_prior(draw: random.Random, data: list[tuple[int, ...]]) -> dict[tuple[int, ...], F]:
    parts = [draw.choice([0, 1, 1, 3, 100]) for _ in data]
    parts[draw.randrange(len(data))] += 1
    return {each: F(part, sum(parts)) for each, part in zip(data, parts, strict=True)}


def any_mechanism(draw: random.Random, outputs: int = 3) -> dict[tuple[int, ...], Law]:
    laws = {}
    for data in DATA:
        parts = [draw.randint(1, 6) for _ in range(outputs)]
        laws[data] = Law.of({i: F(part, sum(parts)) for i, part in enumerate(parts)})
    return laws


def replaced(person: int) -> list[tuple[Any, Any]]:
    """Data sets that differ in this person's value."""
    return [(x, y) for x in DATA for y in DATA if x < y and x[1 - person] == y[1 - person]]


def beliefs_move_by_epsilon_at_most() -> None:
    for seed in range(repeats(40)):
        draw = random.Random(seed)
        laws, person = any_mechanism(draw), draw.randrange(2)
        bound = exact(laws, replaced(person)).epsilon()
        found = learned(any_prior(draw, DATA), laws, person)
        assert found.epsilon.ratio_high <= bound.ratio_low
        for each in found.beliefs:
            assert sum(chance.low for chance in each.after.values()) == 1


def test_beliefs_move_by_epsilon_at_most() -> None:
    beliefs_move_by_epsilon_at_most()


def some_prior_reaches_epsilon() -> None:
    """The prior that is almost sure of the worse one of the two worst neighbours."""
    for seed in range(repeats(10)):
        laws = any_mechanism(random.Random(seed))
        found = exact(laws, replaced(0))
        assert found.neighbours is not None
        x, y = found.neighbours
        sure = F(1, 10**9)
        prior = {data: {x: sure, y: 1 - sure}.get(data, F(0)) for data in DATA}
        reached = learned(prior, laws, 0).epsilon.ratio_low
        assert found.epsilon().ratio_low * (1 - F(1, 10**6)) <= reached <= found.epsilon().ratio_low


def test_some_prior_reaches_epsilon() -> None:
    some_prior_reaches_epsilon()


def xor(bits: tuple[int, int]) -> dict[int, int]:
    return {bits[0] ^ bits[1]: 1}


def a_uniform_prior_hides_that_xor_is_not_private() -> None:
    even = {bits: F(1, 4) for bits in product((0, 1), repeat=2)}
    assert learned(even, xor, 0, informed=False).epsilon.high == 0
    assert learned(even, xor, 0).epsilon.low == inf
    assert exact(xor, [((0, 0), (1, 0))]).epsilon().low == inf
    uneven = {(0, 0): F(1, 2), (0, 1): F(0), (1, 0): F(1, 4), (1, 1): F(1, 4)}
    assert learned(uneven, xor, 0, informed=False).epsilon.low > 0, "it was the prior that hid it"


def test_a_uniform_prior_hides_that_xor_is_not_private() -> None:
    a_uniform_prior_hides_that_xor_is_not_private()


def two_equal_bits_tell_twice() -> None:
    """Pr[1] → 0 reaches e^2ε for someone who does not know the other bit, and never more than e^ε for who does."""
    toss = CoinToss()
    one = exact(toss).epsilon().ratio_low
    last = F(0)
    for power in range(1, 8):
        rare = F(1, 10**power)
        prior = {(0, 0): 1 - rare, (1, 1): rare}
        ratio = learned(prior, toss, 0, informed=False).epsilon.ratio_low
        assert last < ratio < one**2 == 9
        last = F(ratio)
        assert learned(prior, toss, 0).epsilon.high == 0, "who knows the other bit knows this one before"
        smooth = {**prior, (0, 0): 1 - rare - 2 * rare**2, (0, 1): rare**2, (1, 0): rare**2}
        assert learned(smooth, toss, 0).epsilon.ratio_high <= one
    assert last > 9 - F(1, 10**5)


def test_two_equal_bits_tell_twice() -> None:
    two_equal_bits_tell_twice()


def test_irrational_chances_come_in_brackets() -> None:
    prior = {(0, 0): F(999_999, 10**6), (1, 1): F(1, 10**6)}
    found = learned(prior, RandomizedResponse(1), 0, informed=False).epsilon
    assert 1.9999 < found.low <= found.high < 2 and found.high - found.low < 1e-12


def a_belief_is_bayes_rule_by_hand() -> None:
    for seed in range(repeats(20)):
        draw = random.Random(seed)
        laws, prior = any_mechanism(draw), any_prior(draw, DATA)
        others = next(data[1:] for data, p in prior.items() if p)
        found = belief(prior, laws, 0, 1, others)
        joint = {v: prior[v, *others] * laws[v, *others].chance(1).low for v in VALUES if prior[v, *others]}
        assert {v: each.low for v, each in found.after.items()} == {
            v: p / sum(joint.values()) for v, p in joint.items()
        }


def test_a_belief_is_bayes_rule_by_hand() -> None:
    a_belief_is_bayes_rule_by_hand()


@pytest.mark.parametrize(
    ("prior", "person"), [({(0,): 0.5}, 0), ({(0,): 1}, 1), ({0: 1}, 0), ({(0,): 0.5, (1,): 0.6}, 0), ([1], 0)]
)
def test_what_is_no_prior_is_refused(prior: Any, person: int) -> None:
    with pytest.raises(Invalid):
        learned(prior, lambda data: {0: 1}, person)


def test_what_cannot_have_been_is_refused() -> None:
    with pytest.raises(Invalid, match="output"):
        belief({(0,): 1}, lambda data: {0: 1}, 0, 1)
    with pytest.raises(Invalid, match="others"):
        belief({(0, 0): 1}, lambda data: {0: 1}, 0, 0, (1,))
