"""Laws of laws: what is said of two of them is what brute force over all sets of outputs says."""

import random
from collections.abc import Iterator
from fractions import Fraction as F
from itertools import combinations
from math import exp, inf, log

import pytest

from discreet.audit.law import Bracket, Epsilon, Law, delta, delta_at, epsilon, product, worst
from discreet.errors import Invalid
from tests.scale import repeats

RUNS = 60


def any_law(draw: random.Random, outcomes: int = 4) -> Law:
    parts = [draw.choice([0, 1, 1, 2, 5, 9]) for _ in range(outcomes)]
    parts[draw.randrange(outcomes)] += 1
    return Law.of({i: F(part, sum(parts)) for i, part in enumerate(parts)})


def pairs(runs: int = RUNS) -> Iterator[tuple[random.Random, Law, Law]]:
    for seed in range(repeats(runs)):
        draw = random.Random(seed)
        yield draw, any_law(draw), any_law(draw)


def by_all_sets(p: Law, q: Law, t: F) -> F:
    """max P(A) − t Q(A), over every set A."""
    outcomes = list(p.chances)
    sets = [each for size in range(len(outcomes) + 1) for each in combinations(outcomes, size)]
    return max(sum((p.chances[o].low - t * q.chances[o].low for o in each), F(0)) for each in sets)


def delta_is_that_of_the_worst_set() -> None:
    for draw, p, q in pairs():
        t = F(draw.randint(4, 20), 4)
        found = delta_at(p, q, Bracket(t, t))
        assert found.exact and found.low == by_all_sets(p, q, t)


def test_delta_is_that_of_the_worst_set() -> None:
    delta_is_that_of_the_worst_set()


def epsilon_is_where_delta_is_reached() -> None:
    """δ at the least ratio is δ, or less where the ratio is 1; and at any smaller ratio it is more."""
    for draw, p, q in pairs():
        allowed = F(draw.choice([0, 0, 1, 3, 10]), 20)
        found = epsilon(p, q, allowed)
        assert found.exact
        if found.ratio_low == inf:
            assert sum((p.chances[o].low for o in p.chances if not q.chances[o].low), F(0)) > allowed
            continue
        t = F(found.ratio_low)
        assert by_all_sets(p, q, t) <= allowed
        if t > 1:
            assert by_all_sets(p, q, max(F(1), t - F(1, 10**9))) > allowed


def test_epsilon_is_where_delta_is_reached() -> None:
    epsilon_is_where_delta_is_reached()


def blurred(draw: random.Random, law: Law) -> Law:
    """A law of which the given one is a possible truth: brackets, outcomes that are not listed, and a lump of two outcomes."""
    chances: dict[object, Bracket] = {}
    rest = F(0)
    for outcome, each in law.chances.items():
        if draw.random() < 0.2:
            rest += each.low
        else:
            low, high = (each.low * F(draw.randint(15, 20), 20), min(F(1), each.low * F(draw.randint(20, 25), 20)))
            chances[outcome] = Bracket(low, high)
    return Law(chances, rest)


def lumped(law: Law) -> Law:
    """The law with its last two outcomes as one."""
    *first, a, b = law.chances
    both = law.chances[a].low + law.chances[b].low
    return Law({**{o: law.chances[o] for o in first}, "lump": Bracket(both, both)}, lumps=frozenset({"lump"}))


def what_is_unknown_never_excludes_the_truth() -> None:
    for draw, p, q in pairs(4 * RUNS):
        t, allowed = F(draw.randint(4, 12), 4), F(draw.choice([0, 1, 3]), 20)
        truth, least = by_all_sets(p, q, t), epsilon(p, q, allowed).ratio_low
        for first, second in (
            (blurred(draw, p), blurred(draw, q)),
            (lumped(p), lumped(q)),
            (lumped(p), q),
            (p, lumped(q)),
        ):
            found, ratio = delta_at(first, second, Bracket(t, t)), epsilon(first, second, allowed)
            assert found.low <= truth <= found.high
            assert ratio.ratio_low <= least <= ratio.ratio_high


def test_what_is_unknown_never_excludes_the_truth() -> None:
    what_is_unknown_never_excludes_the_truth()


def test_logarithms_are_rounded_outward() -> None:
    for n in range(2, 2 + repeats(50)):
        found = Epsilon(F(n), F(n))
        assert found.low <= log(n) <= found.high and found.high - found.low <= 1e-14 * log(n)
    assert Epsilon(F(1), inf).low == 0 and Epsilon(F(1), inf).high == inf


def test_delta_falls_in_epsilon_by_floats_too() -> None:
    for draw, p, q in pairs(20):
        e = draw.choice([0.1, 0.5, 1.0, 2.0])
        found = delta(p, q, e)
        by_floats = sum(max(0.0, float(p.chances[o].low) - exp(e) * float(q.chances[o].low)) for o in p.chances)
        assert found.low <= F(by_floats) + F(1, 10**12) and found.high >= F(by_floats) - F(1, 10**12)


def test_the_worst_output_has_the_largest_ratio() -> None:
    for _, p, q in pairs():
        outcome, ratio = worst(p, q)
        assert ratio == max(
            (p.chances[o].low / q.chances[o].low if q.chances[o].low else (inf if p.chances[o].low else F(0)))
            for o in p.chances
        )
        assert p.chances[outcome].low


def test_a_product_is_the_law_of_both() -> None:
    for _, p, q in pairs(10):
        both = product(p, q)
        assert all(both.chance((a, b)).low == p.chances[a].low * q.chances[b].low for a, b in both.chances)


@pytest.mark.parametrize("chances", [{0: 0.5}, {0: 0.5, 1: 0.6}, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, {0: -1, 1: 2}, [1]])
def test_what_is_no_law_is_refused(chances: object) -> None:
    with pytest.raises(Invalid):
        Law.of(chances)  # type: ignore[arg-type]
