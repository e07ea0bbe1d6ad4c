"""Selection of unknown keys: what is kept, how often, and what that costs, by enumeration of neighbours in both directions."""

from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import exp, fsum, log, sqrt
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.mechanisms import registry
from discreet.mechanisms.keys import (
    GaussianThreshold,
    LaplaceThreshold,
    OptimalKeys,
    Threshold,
)
from discreet.mechanisms.keys.chance import any_of, share
from discreet.mechanisms.keys.optimal import _rule
from discreet.noise import Tape, discrete_gaussian, discrete_laplace
from discreet.noise.source import words
from discreet.privacy import events, loss
from tests.scale import repeats

ALPHA = 1e-6  # false-alarm rate of each statistical test
NEAR = 1e-11  # of sums of floats, relative
CUT = 60  # scales of Laplace noise beyond which e^-60 is left

Floats = NDArray[np.float64]
Law = dict[int, float]  # the probability of each value of the noise
Seen = dict[Any, float]  # and of each output; None where the key is not kept

LAPLACE = [LaplaceThreshold(1, 5), LaplaceThreshold(Fraction(5, 2), 9, 2), LaplaceThreshold(Fraction(1, 3), 0)]
GAUSSIAN = [GaussianThreshold(2, 8), GaussianThreshold(Fraction(3, 4), 3, 2), GaussianThreshold(3, 0)]
OPTIMAL = [
    OptimalKeys(1, Fraction(1, 100)),
    OptimalKeys(Fraction(1, 3), Fraction(1, 1000), 2),
    OptimalKeys(Fraction(2), Fraction(1, 5)),
    OptimalKeys(Fraction(1, 100), Fraction(3, 10), 3),
]
BOTH = [*LAPLACE, *GAUSSIAN]
ALL = [*BOTH, *OPTIMAL]


# The truth, from textbook formulas.


def law(m: Any) -> Law:
    """Of the noise: by its definition, or for the optimal rule by its recursion."""
    if isinstance(m, OptimalKeys):
        rule = recursion(m)
        tau = m.threshold
        return {tau - j: float(rule[j + 1] - rule[j]) for j in range(len(rule) - 1)}
    reach = range(-int(CUT * m.scale) - 3, int(CUT * m.scale) + 4)
    if isinstance(m, LaplaceThreshold):
        weights = {z: exp(-abs(z) / float(m.scale)) for z in reach}
    else:
        weights = {z: exp(-(z * z) / float(2 * m.scale**2)) for z in reach}
    total = fsum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def recursion(m: OptimalKeys) -> list[mpf]:
    with mp.workprec(400):
        e, d = mp.exp(mpf(m.epsilon.numerator) / m.epsilon.denominator), mpf(m.delta.numerator) / m.delta.denominator
        found = [mpf(0)]
        while found[-1] < 1:
            found.append(min(e * found[-1] + d, 1 - (1 - found[-1] - d) / e, mpf(1)))
        return found


def seen(noise: Law, threshold: int, count: int, strict: bool = True) -> Seen:
    if not count:
        return {None: 1.0}
    out: Counter[Any] = Counter()
    for z, p in noise.items():
        passes = count + z > threshold if strict else count + z >= threshold
        out[count + z if passes else None] += p
    return dict(out)


def together(parts: list[Seen], outputs: list[Any]) -> Floats:
    """The probabilities of all combinations of outputs, one for each group."""
    return reduce(np.multiply.outer, (np.array([part.get(out, 0.0) for out in outputs]) for part in parts))


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.maximum(0.0, p - exp(epsilon) * q).sum())


def delta(m: Any, without: tuple[int, ...], epsilon: float, strict: bool = True) -> float:
    """δ(ε), the worse of both directions, when a person joins groups with these counts."""
    return between(m, without, tuple(n + 1 for n in without), epsilon, strict)


def between(m: Any, x: tuple[int, ...], y: tuple[int, ...], epsilon: float, strict: bool = True) -> float:
    noise = law(m)
    before, after = ([seen(noise, m.threshold, n, strict) for n in counts] for counts in (x, y))
    outputs = list({out: None for part in (*before, *after) for out in part})
    p, q = together(before, outputs), together(after, outputs)
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))


def near(found: float, truth: float, room: float = NEAR) -> bool:
    return abs(found - truth) <= room * truth + 1e-15


# What is kept.


@pytest.mark.parametrize("m", BOTH, ids=str)
def test_a_key_is_kept_where_its_noisy_count_is_above_the_threshold(m: Threshold) -> None:
    """Strictly above, with that very noise, and with ties among them."""
    draw = discrete_laplace if isinstance(m, LaplaceThreshold) else discrete_gaussian
    counts = np.arange(4_000) % (m.threshold + 8)
    noisy = counts + draw(m.scale, 4_000, source=Tape(1))
    kept = m(counts, Tape(1))
    assert np.array_equal(kept.mask, (noisy > m.threshold) & (counts > 0))
    assert np.array_equal(kept.counts, np.where(kept.mask, noisy, 0))
    assert ((noisy == m.threshold) & (counts > 0)).any()


@pytest.mark.parametrize("m", [LaplaceThreshold(4, 0), GaussianThreshold(4, 0), OptimalKeys(1, 0.9)], ids=str)
def test_a_count_of_zero_is_never_kept(m: Any) -> None:
    """Though its noise alone would pass about every second time."""
    assert not m(np.zeros(2_000, np.int64), Tape(1)).mask.any()
    assert m.keeps(0) == (0, 0)
    assert m(np.ones(2_000, np.int64), Tape(1)).mask.mean() > 0.4


@pytest.mark.parametrize("m", OPTIMAL, ids=str)
def test_the_optimal_rule_keeps_a_key_where_fewer_steps_than_its_count_lie_below_a_uniform_number(
    m: OptimalKeys,
) -> None:
    rule = recursion(m)
    counts = np.arange(600) % (len(rule) + 3)
    fallen = [sum(step * 2**64 <= int(word) for step in rule[1:]) for word in words(Tape(2), 600)]
    kept = m(counts, Tape(2))
    assert np.array_equal(kept.mask, np.array(fallen) < counts)
    assert np.array_equal(kept.counts, np.where(kept.mask, counts + m.threshold - fallen, 0))
    assert kept.counts[kept.mask].min() > m.threshold
    assert not kept.mask[counts == 0].any()


@pytest.mark.parametrize("m", ALL, ids=str)
def test_keys_and_counts_come_as_often_as_they_should(m: Any) -> None:
    """Each output within the bound of Bernstein for all of them together: power near 1 against one that is off by 1 in 20."""
    n, count = repeats(20_000), max(1, m.threshold - 1)
    kept = m(np.full(n, count), Tape(3))
    drawn: Counter[Any] = Counter(kept.counts[kept.mask].tolist())
    drawn[None] = int((~kept.mask).sum())
    truth = seen(law(m), m.threshold, count)
    level = log(2 * len(truth) / ALPHA)
    for out, p in truth.items():
        room = sqrt(2 * n * p * max(0.0, 1 - p) * level) + level / 3 + 1
        assert abs(drawn.pop(out, 0) - n * p) <= room, out
    assert not +drawn


def test_a_word_that_ties_is_settled_by_the_digits_that_follow() -> None:
    """Whatever they are: the digits of π(3) themselves, and one more or less."""
    m = OPTIMAL[0]
    with mp.workprec(400):
        digits = int(mp.floor(recursion(m)[3] * mpf(2) ** 128))
    low, high = _rule(m.epsilon, m.delta, 64)[3]
    assert low <= digits >> 64 < high
    for shift, kept in ((-1, True), (1, False)):
        first, second = divmod(digits + shift, 1 << 64)
        tape = Tape.of(first.to_bytes(8, "little") + second.to_bytes(8, "little"))
        assert m([3], tape).mask.tolist() == [kept] and tape.used == 16


# How often, in bounds.


@pytest.mark.parametrize("m", BOTH, ids=str)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
def test_bounds_hold_the_probability_of_being_kept(m: Threshold, count: int) -> None:
    with mp.workprec(300):
        scale = mpf(m.scale.numerator) / m.scale.denominator
        shape = (lambda z: mp.exp(-abs(z) / scale)) if m in LAPLACE else (lambda z: mp.exp(-(z * z) / (2 * scale**2)))
        reach = int(220 * m.scale) + 40  # beyond it less than 2^-300
        weights = {z: shape(mpf(z)) for z in range(-reach, reach + 1)}
        kept = sum(w for z, w in weights.items() if count + z > m.threshold) if count else mpf(0)
        truth = kept / sum(weights.values())
        low, high = (mpf(bound.numerator) / bound.denominator for bound in m.keeps(count))
        assert low <= truth <= high
        assert high - low <= truth * mpf(2) ** -80


@pytest.mark.parametrize(
    "m", [*OPTIMAL, OptimalKeys(Fraction(1, 10), Fraction(1, 10**12)), OptimalKeys(40, 0.5)], ids=str
)
def test_bounds_hold_the_probability_of_the_optimal_rule(m: OptimalKeys) -> None:
    """By the recursion, and up to about the middle by the closed form (e^nε − 1)/(e^ε − 1) δ."""
    rule = recursion(m)
    with mp.workprec(400):
        e, d = mp.exp(mpf(m.epsilon.numerator) / m.epsilon.denominator), mpf(m.delta.numerator) / m.delta.denominator
        for n in range(len(rule) + 2):
            truth = rule[min(n, len(rule) - 1)]
            low, high = (mpf(bound.numerator) / bound.denominator for bound in m.keeps(n))
            assert low <= truth <= high <= low + truth * mpf(2) ** -60
            if n < m.threshold:
                assert abs((e**n - 1) / (e - 1) * d / truth - 1) < mpf(2) ** -300 if n else truth == 0


def test_reaching_the_threshold_is_not_passing_it() -> None:
    """At scale 1 and threshold 5 a key of one person is above it with 0.0049; it reaches it with 0.0134, which is what `>=` would cost."""
    m = LaplaceThreshold(1, 5)
    assert round(float(m.delta_keys), 4) == 0.0049
    assert near(delta(m, (0,), 1.0), float(m.delta_keys))
    reached = delta(m, (0,), 1.0, strict=False)
    assert round(reached, 4) == 0.0134
    assert near(reached, float(LaplaceThreshold(1, 4).delta_keys))
    assert reached > 2.7 * float(m.delta_keys)


@pytest.mark.parametrize("k", [1, 2, 7, 1000])
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 10**7), Fraction(1, 10**30), Fraction(999, 1000)])
def test_any_of_many_and_the_share_of_each(p: Fraction, k: int) -> None:
    low, high = any_of(p, k)
    truth = 1 - (1 - p) ** k
    assert low <= truth <= high
    assert high - low <= truth / 2**60
    each = share(p, k)
    assert 1 - (1 - each) ** k <= p
    assert 1 - (1 - each * (1 + Fraction(1, 10**12))) ** k > p
    assert each * (1 + Fraction(1, 10**12)) >= p / k


# What it costs.


@pytest.mark.parametrize("m", LAPLACE, ids=str)
def test_laplace_thresholds_cost_exactly_epsilon_and_delta(m: LaplaceThreshold) -> None:
    """At ε = groups/scale, over new, small, and large groups: the most is δ_keys, where all are new; and at no ε is it above the loss."""
    epsilon, spent = float(m.groups / m.scale), m.loss()
    joined = list(product((0, 1, m.threshold, 40), repeat=m.groups))
    worst = max(delta(m, counts, epsilon) for counts in joined)
    assert near(worst, float(m.delta_keys)) and near(delta(m, (0,) * m.groups, epsilon), worst)
    assert spent.certifies(m.groups / m.scale, m.delta_keys)
    assert not spent.certifies(m.groups / m.scale * Fraction(999, 1000), m.delta_keys)
    assert not spent.certifies(m.groups / m.scale, m.delta_keys * Fraction(999, 1000))
    for part in (0.0, 0.3, 0.9):
        most = spent.delta(Fraction(part) * m.groups / m.scale)
        assert all(delta(m, counts, part * epsilon) <= most * (1 + NEAR) for counts in joined)


@pytest.mark.parametrize("m", GAUSSIAN, ids=str)
def test_gaussian_thresholds_cost_no_more_than_the_noise_and_the_keys(m: GaussianThreshold) -> None:
    spent, noise = m.loss(), events.DiscreteGaussian(m.scale, 1)
    for epsilon in (0.0, 0.5, 1.5):
        most = spent.delta(Fraction(epsilon))
        for counts in product((0, 1, m.threshold + 1, 40), repeat=m.groups):
            assert delta(m, counts, epsilon) <= most * (1 + NEAR)
        assert near(delta(m, (0,) * m.groups, epsilon), float(m.delta_keys), 1e-9)
        far = delta(m, (m.threshold + 200,), epsilon)
        assert near(far, loss(noise).delta(Fraction(epsilon)), 1e-8)


@pytest.mark.parametrize("m", OPTIMAL[:3], ids=str)
def test_the_optimal_rule_costs_exactly_epsilon_and_delta_at_every_count(m: OptimalKeys) -> None:
    """Not less either: at some counts the noisy count uses up all of δ, at ε; and with every group new, all of what groups add up to."""
    steps = len(recursion(m))
    found = [delta(m, (n,), float(m.epsilon)) for n in range(steps + 3)]
    assert all(one <= float(m.delta) * (1 + 1e-9) for one in found)
    assert near(found[0], float(m.delta)) and near(found[-1], float(m.delta), 1e-9)
    all_new = delta(m, (0,) * m.groups, float(m.groups * m.epsilon))
    assert near(all_new, float(any_of(m.delta, m.groups)[1]), 1e-9)
    assert m.loss().certifies(m.groups * m.epsilon, any_of(m.delta, m.groups)[1])


def test_groups_of_different_sizes_cost_no_more_than_the_optimal_rule_says() -> None:
    m = OptimalKeys(Fraction(2, 3), Fraction(1, 50), 2)
    spent = m.loss()
    for epsilon in (0.0, 0.5, 2 / 3, 1.0, 4 / 3):
        most = spent.delta(Fraction(epsilon))
        assert all(delta(m, pair, epsilon) <= most * (1 + NEAR) for pair in product((0, 1, 4, 40), repeat=2))


@pytest.mark.parametrize("m", [LAPLACE[1], GAUSSIAN[1], OPTIMAL[1]], ids=str)
def test_a_person_who_is_replaced_is_in_twice_as_many_groups(m: Any) -> None:
    """Leaves one and joins another, where either may be theirs alone: no more than two groups of a person who is added cost."""
    for epsilon in (0.0, 0.5, float(Fraction(4, 5))):
        most = m.loss().delta(Fraction(epsilon))
        for left, joined in product((1, 3, 30), (0, 2, 30)):
            assert between(m, (left, joined), (left - 1, joined + 1), epsilon) <= most * (1 + NEAR)


def test_no_rule_keeps_more_than_the_optimal_one() -> None:
    """At the same (ε, δ): both thresholds keep every count less often; and a step more at any count would break (ε, δ)."""
    target = (1, Fraction(1, 10**4))
    best = OptimalKeys.for_budget(*target)
    for m in (LaplaceThreshold.for_budget(*target), GaussianThreshold.for_budget(*target)):
        assert all(m.keeps(n)[0] <= best.keeps(n)[1] for n in range(60))
        assert m.keeps(7)[1] < best.keeps(7)[0] * Fraction(3, 5)
    rule, e, d = [float(best.keeps(n)[0]) for n in range(40)], exp(1), 1e-4
    for now, after in pairwise(rule):
        slack = min(e * now + d - after, e * (1 - after) + d - (1 - now), 1 - after)
        assert abs(slack) < 1e-12


@pytest.mark.parametrize("groups", [1, 3, 20])
@pytest.mark.parametrize(("epsilon", "d"), [(1, Fraction(1, 10**6)), (Fraction(1, 10), Fraction(1, 1000))])
def test_a_budget_is_met_by_the_lowest_threshold(epsilon: Fraction, d: Fraction, groups: int) -> None:
    laplace = LaplaceThreshold.for_budget(epsilon, d, groups=groups)
    assert laplace.groups == groups and laplace.loss().certifies(epsilon, d)
    assert not LaplaceThreshold(laplace.scale, laplace.threshold - 1, groups).loss().certifies(epsilon, d)
    optimal = OptimalKeys.for_budget(epsilon, d, groups=groups)
    assert optimal.groups == groups and optimal.loss().certifies(epsilon, d)
    assert not optimal.loss().certifies(epsilon, d * Fraction(999, 1000))
    assert not optimal.loss().certifies(epsilon * Fraction(999, 1000), d)


@pytest.mark.parametrize("groups", [1, 20])
def test_a_budget_is_met_by_gaussian_noise_with_less_of_it_for_many_groups(groups: int) -> None:
    m = GaussianThreshold.for_budget(1, 1e-6, groups=groups)
    assert m.loss().certifies(1, 1e-6)
    assert not GaussianThreshold(m.scale, m.threshold - 1, groups).loss().certifies(1, 1e-6)
    assert (m.threshold < LaplaceThreshold.for_budget(1, 1e-6, groups=groups).threshold) == (groups == 20)


def test_thresholds_for_noise_that_is_given() -> None:
    for kind in (LaplaceThreshold, GaussianThreshold):
        m = kind.for_noise(4, 1e-5, groups=2)
        assert m.scale == 4 and m.delta_keys <= Fraction(1, 10**5) < kind(4, m.threshold - 1, 2).delta_keys
        assert kind.for_noise(4, 0.999).threshold == 0


def test_more_groups_cost_more_and_higher_thresholds_less() -> None:
    for kind in (LaplaceThreshold, GaussianThreshold):
        assert kind(2, 8).delta_keys > kind(2, 9).delta_keys
        deltas = [kind(2, 9, k).delta_keys for k in (1, 2, 30)]
        p = deltas[0]
        assert deltas == sorted(deltas)
        assert all(near(float(d), float(1 - (1 - p) ** k)) for d, k in zip(deltas, (1, 2, 30), strict=True))
        assert kind(2, 9, 30).loss().epsilon(Fraction(1, 10)) > kind(2, 9).loss().epsilon(Fraction(1, 10))
    assert 0 < LaplaceThreshold(1, 10**7).delta_keys < Fraction(1, 10**900)


@pytest.mark.parametrize("m", ALL, ids=str)
def test_errors_cover_the_noise(m: Any) -> None:
    noise, width = law(m), m.error(0.95)
    inside = fsum(p for z, p in noise.items() if abs(z) <= width)
    less = fsum(p for z, p in noise.items() if abs(z) <= width - 1)
    assert inside >= 0.95 - 1e-9 and less < 0.95 + 1e-9


# What is refused.


@pytest.mark.parametrize("m", ALL, ids=str)
def test_what_is_no_count_of_people_is_refused(m: Any) -> None:
    for counts in ([-1], [1.5], ["a"], 3, [[1]], [True], [1 << 63]):
        with pytest.raises(Invalid, match="counts must"):
            m(counts, Tape(1))
    assert m.loss(0).epsilon() == 0
    with pytest.raises(Invalid, match="sensitivity must be at most 1"):
        m.event(2)
    with pytest.raises(Invalid, match="count must"):
        m.keeps(-1)
    empty = m([], Tape(1))
    assert empty.mask.shape == empty.counts.shape == (0,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LaplaceThreshold(0, 5), "scale must be positive"),
        (lambda: LaplaceThreshold(1, 5.5), "threshold must be an integer"),
        (lambda: LaplaceThreshold(1, -1), "threshold must be at least 0"),
        (lambda: LaplaceThreshold(1, 5, 0), "groups must be at least 1"),
        (lambda: LaplaceThreshold.for_budget(1, 0), "delta must lie between 0 and 1"),
        (lambda: GaussianThreshold(1 << 17, 5), "scale must be at most 65536"),
        (lambda: GaussianThreshold.for_budget(1, 1), "delta must lie between 0 and 1"),
        (lambda: OptimalKeys(0, 0.1), "epsilon must be positive"),
        (lambda: OptimalKeys(10**6, 0.1), "epsilon must be at most"),
        (lambda: OptimalKeys(1, 0), "delta must lie between 0 and 1"),
        (lambda: OptimalKeys(1, 0.1, 0), "groups must be at least 1"),
    ],
)
def test_wrong_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        make()


def test_they_are_registered_with_neighbours_as_examples() -> None:
    for name in ("LaplaceThreshold", "GaussianThreshold", "OptimalKeys"):
        for example in registry.examples(name):
            moved = np.abs(np.array(example.x) - np.array(example.y))
            assert moved.max() == example.sensitivity == 1
            assert 1 <= moved.sum() <= example.mechanism.groups  # type: ignore[attr-defined]
