"""Choices among candidates: exact shares word by word, ε over all small neighbours, fits of what is drawn.

Laws that other files use, too, are functions. False alarms: ALPHA = 1e-6 for each statistical test. Power: with n draws a candidate
of probability p that is off by a relative r adds n p r² to the statistic, and about 60 of them are seen at 8 candidates; so at
100,000 draws a relative error of 5 % in half of the mass.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import exp
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtrc

from discreet.errors import Invalid
from discreet.exact import exp_bounds, exp_neg_bounds
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.falls import Falls, _near
from discreet.mechanisms.permute_and_flip import _tosses
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.wheel import Wheel, _choose, among
from discreet.noise import SecureBits, Tape
from discreet.privacy import events
from tests.noise.counting import Counting
from tests.noise.scripted import Scripted
from tests.scale import repeats

ALPHA = 1e-6
WHEEL, FLIP = "discreet.mechanisms.wheel", "discreet.mechanisms.permute_and_flip"
TIGHT = 1 + Fraction(1, 1 << 60)
"""Brackets of the tests are narrower than this."""

Weights = Sequence[tuple[Fraction, Fraction]]


def fits(observed: NDArray[np.int64], chances: Sequence[float]) -> None:
    """Chi-square of counts against probabilities; outcomes that expect fewer than 10 are taken together."""
    expected = observed.sum() * np.array(chances)
    assert abs(sum(chances) - 1) < 1e-9
    rare = expected < 10
    seen, wanted = observed[~rare], expected[~rare]
    if rare.any():
        seen, wanted = np.append(seen, observed[rare].sum()), np.append(wanted, max(expected[rare].sum(), 1.0))
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    assert chdtrc(max(1, seen.size - 1), statistic) > ALPHA, f"chi-square {statistic:.1f} in {seen.size} cells"


def weights_of(scores: Sequence[Fraction | int], rate: Fraction) -> list[Fraction]:
    """e^(rate·(score − best)) by rational arithmetic, off by 2^-100 of themselves."""
    return [exp_bounds(rate * (Fraction(score) - max(scores)), 100)[0] for score in scores]


def shares_of(scores: Sequence[Fraction | int], rate: Fraction) -> list[Fraction]:
    """The exponential mechanism by its formula."""
    weights = weights_of(scores, rate)
    return [weight / sum(weights) for weight in weights]


def flip_shares_of(scores: Sequence[Fraction | int], rate: Fraction) -> list[Fraction]:
    """Permute-and-flip by its definition: in each order, the first candidate whose coin shows heads."""
    weights, orders = weights_of(scores, rate), list(itertools.permutations(range(len(scores))))
    chances = [Fraction(0)] * len(scores)
    for order in orders:
        left = Fraction(1, len(orders))
        for at in order:
            chances[at] += left * weights[at]
            left *= 1 - weights[at]
    return chances


def neighbours(scores: Sequence[int], size: int, monotone: bool) -> Iterator[tuple[int, ...]]:
    """All scores in which each differs by at most `size`, or, for monotone ones, is larger by at most that."""
    moves = range(0, size + 1) if monotone else range(-size, size + 1)
    for move in itertools.product(moves, repeat=len(scores)):
        yield tuple(score + m for score, m in zip(scores, move, strict=True))


def keeps_epsilon(
    law: Callable[[tuple[int, ...]], Sequence[Fraction]], epsilon: Fraction, size: int, monotone: bool, count: int = 3
) -> Fraction:
    """Over all scores below 3 and all their neighbours, no probability is more than e^ε times the other, either way.

    Returns the largest ratio.
    """
    most, known = Fraction(0), cache(law)
    for x in itertools.product(range(3), repeat=count):
        for y in neighbours(x, size, monotone):
            for p, q in zip(known(x), known(y), strict=True):
                most = max(most, p / q, q / p)
    assert most <= exp_bounds(epsilon)[1] * TIGHT, f"a ratio of {float(most)} where e^ε = {exp(epsilon)}"
    return most


KINDS = [(Exponential, shares_of), (PermuteAndFlip, flip_shares_of)]


def epsilon_is_kept(kind: type[Selection], law: Callable[..., list[Fraction]], monotone: bool) -> None:
    for epsilon, size in ((Fraction(1), 1), (Fraction(3), 1), (Fraction(1, 4), 2)):
        rate = kind(epsilon, Fraction(size), monotone).rate
        most = keeps_epsilon(lambda scores, rate=rate: law(scores, rate), epsilon, size, monotone)  # type: ignore[misc]
        assert most > exp_bounds(epsilon / 2)[1], "far less than ε is used"


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("kind", "law"), KINDS)
def test_epsilon_is_kept_over_all_small_neighbours(
    kind: type[Selection], law: Callable[..., list[Fraction]], monotone: bool
) -> None:
    epsilon_is_kept(kind, law, monotone)


@pytest.mark.parametrize(("kind", "law"), KINDS)
def test_the_sharper_choice_is_not_private_for_scores_that_move_both_ways(
    kind: type[Selection], law: Callable[..., list[Fraction]]
) -> None:
    rate = kind(Fraction(1), Fraction(1), True).rate
    with pytest.raises(AssertionError, match="a ratio of"):
        keeps_epsilon(lambda scores: law(scores, rate), Fraction(1), 1, False)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_of_the_exponential_mechanism_has_bounded_range(monotone: bool) -> None:
    """The largest ratio over the smallest is at most e^ε, which is what makes it ε²/8-zCDP; of permute-and-flip it is not."""
    epsilon = Fraction(2)
    for kind, law in KINDS:
        rate, widest = kind(epsilon, Fraction(1), monotone).rate, Fraction(0)
        known = cache(lambda scores, law=law, rate=rate: law(scores, rate))
        for x in itertools.product(range(2), repeat=3):
            for y in neighbours(x, 1, monotone):
                ratios = [p / q for p, q in zip(known(x), known(y), strict=True)]
                widest = max(widest, max(ratios) / min(ratios))
        assert (widest <= exp_bounds(epsilon)[1] * TIGHT) == (kind is Exponential)


def words_fall_on_exact_shares(scores: Sequence[Fraction | int], epsilon: Fraction = Fraction(1)) -> None:
    """Random words just below and just above the edge of each share, and digits after them, choose what the formula says."""
    mechanism = Exponential(epsilon)
    edges = list(itertools.accumulate(shares_of(scores, mechanism.rate)))[:-1]
    assert mechanism(scores, Scripted([np.zeros(1, np.uint64)])) == 0
    for at, edge in enumerate(edges):
        digits = int(edge * (1 << 96))
        for move in (-1, 1):
            word, rest = divmod(digits + move * 4, 1 << 32)
            source = Scripted([np.array([word], np.uint64)], integers=[rest << 32])
            assert mechanism(scores, source) == at + (move > 0), (scores, at, move)
            far = word + move * (1 << 34)
            if 0 <= far < 1 << 64:
                chosen = mechanism(scores, Scripted([np.array([far], np.uint64)]))
                assert chosen == sum(Fraction(far, 1 << 64) >= edge for edge in edges)


SCORES: list[list[Fraction | int]] = [
    [0, 0, 0],
    [3, 5, 4, 0],
    [10, 0, 9, 1, 8],
    [2**40 - 20, 2**40, 2**40 - 3, 2**40 - 7],
    [Fraction(1, 3), Fraction(2, 7), Fraction(-5, 11), 0],
    [2**70, 2**70 - 1, 2**70 - 4],
    [1, 2, 1, 2, 1],
]


@pytest.mark.parametrize("scores", SCORES, ids=str)
def test_words_fall_on_exact_shares(scores: list[Fraction | int]) -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(7, 3)):
        words_fall_on_exact_shares(scores, epsilon)


def weights_are_near(rate: Fraction, gaps: NDArray[np.int64]) -> None:
    """The floats are as near to e^(−rate·gap) as `Wheel` says, by integer brackets."""
    for gap, near in zip(gaps.tolist(), _near(gaps, rate).tolist(), strict=True):
        low, high = (Fraction(end, 1 << 256) for end in exp_neg_bounds(rate * gap, 256))
        room = high / (1 << 48) + Fraction(1, 1 << 128)
        assert low - room <= Fraction(near) <= high + room, (rate, gap)


@pytest.mark.parametrize("rate", ["1e-30", "1e-12", "1/1000", "1/7", "1", "100/3", "1e6"])
def test_weights_are_near(rate: str) -> None:
    exact = Fraction(rate)
    reach = min(int(100 / exact) + 2, 1 << 62)
    spread = [int(Fraction(i, 97) * reach) for i in range(98)]
    weights_are_near(exact, np.array([*range(30), 1023, 1024, 1 << 40, (1 << 62) - 1, *spread], np.int64))


def groups_are_chosen_by_their_sums() -> None:
    """With groups of three, all pairs of words on a coarse lattice choose the group and the candidate that exact sums say."""
    scores, rate = [4, 0, 3, 5, 5, 2, 1], Fraction(1, 2)
    weights = weights_of(scores, rate)
    groups = [weights[i : i + 3] for i in range(0, 7, 3)]
    edges = list(itertools.accumulate(sum(group) / sum(weights) for group in groups))[:-1]
    with mock.patch(f"{WHEEL}.FAN", 3):
        for first, second in itertools.product(range(1, 64, 2), repeat=2):
            group = sum(Fraction(first, 64) >= edge for edge in edges)
            inside = list(itertools.accumulate(weight / sum(groups[group]) for weight in groups[group]))[:-1]
            words = [np.array([word << 58], np.uint64) for word in (first, second)]
            expected = 3 * group + sum(Fraction(second, 64) >= edge for edge in inside)
            assert Exponential(1)(scores, Scripted(words)) == expected


def test_groups_are_chosen_by_their_sums() -> None:
    groups_are_chosen_by_their_sums()


def floats_agree_with_integers(count: int) -> None:
    """On the same bits, integers that decide everything choose what floats choose; through groups and without them."""
    random = np.random.default_rng(5)
    for seed in range(count):
        n = int(random.integers(1, 24))
        scores = random.integers(-20, 20, n)
        mechanism = (Exponential, PermuteAndFlip)[seed % 2](Fraction(int(random.integers(1, 300)), 100))
        with mock.patch(f"{WHEEL}.FAN", 4 if seed % 3 else 1024):
            quick = mechanism(scores, Tape(seed))
            with mock.patch(f"{WHEEL}.BAND", 2.0), mock.patch(f"{FLIP}.COIN_BAND", 2.0):
                assert mechanism(scores, Tape(seed)) == quick, (scores, seed)


def test_floats_agree_with_integers() -> None:
    floats_agree_with_integers(repeats(150))


def test_tiny_totals_are_left_to_integers() -> None:
    """A group whose best candidate weighs e^-200: floats know nothing of it, and its shares are exact all the same."""
    wheel = Falls.of(np.array([0, 0, 0, 0, -400, -401, -400, -402]), Fraction(1, 2)).wheel
    shares = list(itertools.accumulate(shares_of([2, 1, 2, 0], Fraction(1, 2))))
    inside = wheel.near[:, 4:]
    for word in range(1, 32, 2):
        source = Scripted([np.array([word << 59], np.uint64)])
        place = _choose(inside, lambda row, at, bits: wheel.bounds(row, 4 + at, bits), source)
        assert place.tolist() == [sum(Fraction(word, 32) >= share for share in shares)]


def coins_have_their_chance() -> None:
    """Permute-and-flip's coins show heads just below e^-x and tails just above, at 64 digits and at 96."""
    falls = Falls.of(np.array([[0, 1, 5, 30]]), Fraction(1, 3))
    for at, gap in enumerate((30, 29, 25, 0)):
        digits = exp_neg_bounds(Fraction(gap, 3), 96)[0]
        for move in (-9, 9):
            word, rest = divmod(min(max(digits + move, 0), (1 << 96) - 1), 1 << 32)
            row = np.zeros(4, np.uint64)
            row[at] = word
            source = Scripted([row], integers=[rest << 32])
            with mock.patch(f"{FLIP}.COIN_BAND", 2.0**-52):
                heads = _tosses(
                    Falls(falls.near[:, at : at + 1], lambda r, i, at=at: falls.exponent(r, at)),  # type: ignore[misc]
                    Scripted([row[at : at + 1]], integers=source.integers),
                )
            assert heads.tolist() == [[move < 0 or gap == 0]]


def test_coins_have_their_chance() -> None:
    coins_have_their_chance()


def test_one_of_the_flagged_is_chosen_uniformly() -> None:
    flags = np.array([[False, True, True, False, True, False]])
    for word, place in ((0, 1), (1 << 62, 1), (3 << 61, 2), ((1 << 64) - 1, 4)):
        assert among(flags, Scripted([np.array([word], np.uint64)])).tolist() == [place]
    for size in (1, 3, 1500):
        last = np.zeros((1, size), np.bool_)
        last[0, size // 2] = True
        assert among(last, Tape(1)).tolist() == [size // 2]


@pytest.mark.parametrize(("kind", "law"), KINDS)
def test_probabilities_are_those_of_the_formula(kind: type[Exponential], law: Callable[..., list[Fraction]]) -> None:
    for scores in ([3, 5, 4, 0], [0, 0], [7], [Fraction(1, 3), 0, Fraction(-4, 7)], [9, 8, 7, 6, 5]):
        for monotone in (False, True):
            mechanism = kind(Fraction(3, 2), Fraction(2), monotone)
            for at, share in enumerate(law(scores, mechanism.rate)):
                assert mechanism.probability(at, scores) == pytest.approx(float(share), rel=1e-12)


def test_permute_and_flip_is_never_a_worse_choice() -> None:
    for scores in itertools.combinations_with_replacement(range(0, 13, 3), 4):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
            mean = [
                sum(kind(epsilon).probability(at, list(scores)) * score for at, score in enumerate(scores))
                for kind in (Exponential, PermuteAndFlip)
            ]
            assert mean[0] <= mean[1] * (1 + 1e-12)


def drawn(mechanism: Selection, scores: Sequence[int], count: int) -> NDArray[np.int64]:
    """How often each candidate is chosen, in rows of at most 50,000 choices at a time."""
    source, found = SecureBits(), np.zeros(len(scores), np.int64)
    for begin in range(0, count, 50_000):
        choices = mechanism(np.tile(scores, (min(50_000, count - begin), 1)), source)
        found += np.bincount(choices, minlength=len(scores))
    return found


def drawn_as_they_say(kind: type[Exponential], count: int) -> None:
    for scores, mechanism in (
        ([3, 5, 4, 0, 5, 1], kind(Fraction(1))),
        ([12, 0, 5, 11], kind(Fraction(2), Fraction(3), True)),
    ):
        fits(drawn(mechanism, scores, count), [mechanism.probability(at, scores) for at in range(len(scores))])


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_choices_are_drawn_as_they_say(kind: type[Exponential]) -> None:
    drawn_as_they_say(kind, repeats(100_000))


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_choices_among_many_are_drawn_as_they_say(kind: type[Exponential]) -> None:
    """3,000 candidates, so a group first; chi-square over 30 bands of candidates. 3,000 draws see a band that is off by a third."""
    scores, mechanism = np.arange(3_000) % 37, kind(Fraction(1, 5))
    near = Falls.of(scores, mechanism.rate).near[0]
    if kind is Exponential:
        chances = near / near.sum()
    else:
        of_score = [mechanism.probability(at, scores) for at in range(37)]
        chances = np.array(of_score)[scores]
    band = np.arange(3_000) // 100
    source = SecureBits()
    found = np.array([mechanism(scores, source) for _ in range(repeats(3_000))])
    fits(np.bincount(band[found], minlength=30), np.bincount(band, weights=chances).tolist())
    fits(np.bincount(scores[found], minlength=37), np.bincount(scores, weights=chances).tolist())


def test_the_fit_sees_an_epsilon_that_is_off_by_a_tenth() -> None:
    scores = [3, 5, 4, 0, 5, 1]
    for kind in (Exponential, PermuteAndFlip):
        chances = [kind(Fraction(1)).probability(at, scores) for at in range(6)]
        with pytest.raises(AssertionError, match="chi-square"):
            fits(drawn(kind(Fraction(11, 10)), scores, 100_000), chances)


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("count", [5, 3_000])
def test_random_bits_do_not_depend_on_scores(kind: type[Exponential], count: int) -> None:
    used = set()
    for scores in (np.zeros(count, np.int64), np.arange(count), np.arange(count)[::-1] ** 2, np.arange(count) == 3):
        for seed in range(5):
            source = Counting(seed)
            kind(Fraction(1))(scores.astype(np.int64), source)
            used.add(source.used)
    assert len(used) == 1


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("epsilon", [5e-324, 1e-9, 1e-3, 50, 1e308])
def test_extreme_parameters_and_scores_are_served(kind: type[Exponential], epsilon: float) -> None:
    mechanism = kind(epsilon)  # type: ignore[arg-type]
    for scores in ([0], [0, 0], [-(2**61), 2**61], [2**63 - 1, -(2**63)], [10**1000, 1], [Fraction(1, 10**1000), 0]):
        assert mechanism(scores, Tape(1)) in range(len(scores))
        assert mechanism.probability(0, scores) <= 1
    assert mechanism.error(0.95, 10) >= 0


def test_a_million_candidates_are_served() -> None:
    scores = np.arange(1_000_000) * 7919 % 1_000_003
    for kind in (Exponential, PermuteAndFlip):
        sharp = kind(Fraction(2), Fraction(1, 100))
        assert scores[sharp(scores)] >= scores.max() - 1
        assert kind(Fraction(1, 10**6))(scores) in range(1_000_000)


def test_rows_are_choices_of_their_own() -> None:
    for kind in (Exponential, PermuteAndFlip):
        sharp = kind(Fraction(1000))
        assert sharp([[1, 2, 3], [9, 5, 4]], Tape(1)).tolist() == [2, 0]
        assert sharp(np.zeros((0, 3), np.int64), Tape(1)).shape == (0,)
        assert sharp([[Fraction(1, 2), 0], [0, Fraction(1, 2)]], Tape(1)).tolist() == [0, 1]
        assert type(sharp([3, 4], Tape(1))) is int


def test_cost_follows_from_the_parameters() -> None:
    for kind in (Exponential, PermuteAndFlip):
        mechanism = kind(Fraction(1), Fraction(2))
        assert mechanism.event() == mechanism.event(2) == events.Pure(1)
        assert mechanism.event(1) == events.Pure(Fraction(1, 2))
        assert mechanism.event(0) == events.Pure(0)
        assert mechanism.loss().epsilon() == 1 and mechanism.loss(6).epsilon() == 3
        assert (
            kind.for_epsilon(0.1, 3) == kind.for_budget(0.1, 1e-6, sensitivity=3) == kind(Fraction(1, 10), Fraction(3))
        )
        assert kind.for_epsilon(1, monotone=True).rate == 2 * kind.for_epsilon(1).rate
    assert Exponential(Fraction(2), Fraction(3)).concentrated() == events.ZeroConcentrated(Fraction(1, 2))
    assert Exponential(Fraction(2), Fraction(3)).concentrated(6) == events.ZeroConcentrated(2)
    assert not hasattr(PermuteAndFlip, "concentrated")


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_error_is_what_the_worst_scores_give(kind: type[Exponential], n: int) -> None:
    mechanism = kind(Fraction(1, 3), Fraction(2))
    for confidence in (0.5, 0.95, 0.999):
        t = Fraction(mechanism.error(confidence, n))
        just_beyond = [t + Fraction(1, 10**6), *[Fraction(0)] * (n - 1)]
        best = mechanism.probability(0, just_beyond)
        assert best >= confidence and (t == 0 or best < confidence + 1e-5)
    assert mechanism.error(0.95, 1) == 0


class Nothing:
    """A source that fails the test when it is asked."""

    private = False

    def __getattr__(self, name: str) -> object:
        raise AssertionError("bits were drawn")


@pytest.mark.parametrize(
    "bad",
    [
        [1.5],
        [0.1, 2],
        ["a"],
        None,
        3,
        [],
        [[]],
        [[1], [2, 3]],
        {"a": 1},
        [None],
        [True, False],
        [Fraction(1), 0.5],
        [[[1]]],
    ],
)
def test_bad_scores_are_refused_before_anything_is_drawn(bad: object) -> None:
    for kind in (Exponential, PermuteAndFlip):
        with pytest.raises(Invalid, match="exact"):
            kind(Fraction(1))(bad, Nothing())


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True, 10**2000], ids=repr)
def test_bad_parameters_are_refused_by_name(bad: object) -> None:
    for kind in (Exponential, PermuteAndFlip):
        with pytest.raises(Invalid, match="epsilon"):
            kind(bad)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="sensitivity"):
            kind(Fraction(1), bad)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="monotone"):
        Exponential(Fraction(1), Fraction(1), 1)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="sensitivity"):
        Exponential(Fraction(1)).event(-1)
    with pytest.raises(Invalid, match="output"):
        Exponential(Fraction(1)).probability(2, [1, 2])
    with pytest.raises(Invalid, match="one list"):
        PermuteAndFlip(Fraction(1)).probability(0, [[1, 2], [3, 4]])
    with pytest.raises(Invalid, match="confidence"):
        PermuteAndFlip(Fraction(1)).error(1)
    with pytest.raises(Invalid, match="delta"):
        Exponential.for_budget(1, 2)


def test_messages_hold_no_score() -> None:
    for bad in ([1.5, 424242.25], [Fraction(1, 424242), 0.5], [[424242], [1, 2]]):
        with pytest.raises(Invalid) as caught:
            Exponential(Fraction(1))(bad)
        assert "424242" not in str(caught.value)


def test_a_wheel_is_exact_whatever_its_floats_say_within_their_error() -> None:
    """Floats moved by as much as they may be wrong choose the same on the same bits."""
    falls = Falls.of(np.array([3, 5, 4, 0, 5]), Fraction(1, 2))
    for seed in range(100):
        moved = falls.near * (1 + 2.0**-48 * np.array([[1, -1, 1, -1, 1]]))
        assert Wheel(moved, falls.wheel.bounds).spin(Tape(seed)) == falls.wheel.spin(Tape(seed))
