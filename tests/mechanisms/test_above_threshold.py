"""The sparse vector technique: ε over all short transcripts, the code run on every noise, and the published mistakes caught.

False alarms: 1e-6 for each statistical test (`fits`). Power: 8,000 transcripts see one that comes a quarter too often.
"""

import copy
import itertools
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from math import ceil, exp
from unittest import mock

import numpy as np
import pytest

from discreet.errors import Invalid, Refused
from discreet.exact import exp_bounds
from discreet.mechanisms import above_threshold
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.noise import SecureBits, Tape
from discreet.privacy import events
from tests.mechanisms.test_exponential import Nothing, fits, neighbours
from tests.noise.counting import Counting
from tests.scale import repeats

BITS = 200
ONE = 1 << BITS
TIGHT = 1 + Fraction(1, 10**9)

Transcript = tuple[bool, ...]
Law = dict[Transcript, Fraction]


@cache
def alphas(scale: Fraction) -> tuple[Fraction, Fraction]:
    """Brackets of e^(−1/scale), of few digits."""
    low, high = exp_bounds(-1 / scale, BITS)
    return Fraction(int(low * ONE), ONE), Fraction(int(high * ONE) + 1, ONE)


@cache
def exactly(z: int, scale: Fraction) -> Fraction:
    """Pr[noise = z], from below."""
    low, high = alphas(scale)
    return Fraction(int((1 - high) / (1 + high) * low ** abs(z) * ONE), ONE)


@cache
def at_most(z: int, scale: Fraction) -> Fraction:
    """Pr[noise <= z], from below."""
    low, high = alphas(scale)
    below = low**-z / (1 + high) if z < 0 else 1 - high ** (z + 1) / (1 + low)
    return Fraction(int(below * ONE), ONE)


def transcripts(count: int, hits: int) -> Iterator[Transcript]:
    """All that `count` questions can give: they end with the last hit that is allowed."""
    for answers in itertools.product((False, True), repeat=count):
        if sum(answers) < hits:
            yield answers
        elif sum(answers) == hits:
            yield answers[: count - answers[::-1].index(True)]


def textbook(m: AboveThreshold, scores: Sequence[int]) -> Law:
    """Pr of every transcript, from below, by the formula: from hit to hit, a sum over the noise of the threshold."""
    return {answers: _textbook(m, scores, answers) for answers in set(transcripts(len(scores), m.hits))}


def _textbook(m: AboveThreshold, scores: Sequence[int], answers: Transcript) -> Fraction:
    rho, nu = 2 * m.sensitivity / m.epsilon, (2 if m.monotone else 4) * m.sensitivity / m.epsilon
    total, start = Fraction(1), 0
    ends = [at + 1 for at, answer in enumerate(answers) if answer]
    for end in ends if answers and answers[-1] else [*ends, len(answers)]:
        sums = 0
        for z in range(-ceil(40 * rho), ceil(40 * rho) + 1):
            chance = exactly(z, rho)
            for score, answer in zip(scores[start:end], answers[start:end], strict=True):
                short = m.threshold + z - score
                chance *= at_most(-short, nu) if answer else at_most(short - 1, nu)
            sums += int(chance * ONE)
        total, start = total * Fraction(sums, ONE), end
    return Fraction(int(total * ONE), ONE)


def keeps_epsilon(
    law: Callable[[tuple[int, ...]], Law], m: AboveThreshold, count: int, span: range = range(-1, 2)
) -> float:
    """Over all scores of a span and their neighbours, no transcript is more than e^(hits·ε) times as likely; the ratio's log."""
    known, most = cache(law), Fraction(1)
    for x in itertools.product(span, repeat=count):
        for y in neighbours(x, m.sensitivity, m.monotone):
            p, q = known(x), known(y)
            for answers in p:
                if not min(p[answers], q[answers]):
                    raise AssertionError(f"a ratio of infinity: {answers} is impossible on one of two neighbours")
                most = max(most, p[answers] / q[answers], q[answers] / p[answers])
    assert most <= exp_bounds(m.hits * m.epsilon)[1] * TIGHT, (
        f"a ratio of {float(most)}, e^ε = {exp(m.hits * m.epsilon)}"
    )
    return float(most)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("epsilon", "count", "hits"), [("1/2", 2, 1), ("1", 3, 1), ("4", 3, 2), ("8", 3, 3)])
def test_epsilon_is_kept_over_all_short_transcripts(epsilon: str, count: int, hits: int, monotone: bool) -> None:
    m = AboveThreshold(Fraction(epsilon), 0, hits, monotone=monotone)
    span = range(-1, 1) if count == 3 else range(-2, 3)
    assert keeps_epsilon(lambda scores: textbook(m, scores), m, count, span) > exp(0.2 * hits * m.epsilon)


def test_epsilon_is_kept_for_a_sensitivity_of_two() -> None:
    m = AboveThreshold(Fraction(2), 1, 1, 2)
    assert keeps_epsilon(lambda scores: textbook(m, scores), m, 2, range(0, 3)) > exp(0.8)


def test_the_smaller_noise_is_not_private_for_scores_that_move_both_ways() -> None:
    m = AboveThreshold(Fraction(6), 0, monotone=True)
    p, q = (textbook(m, scores)[False, False, True] for scores in ((0, 0, -1), (1, 1, -2)))
    assert p / q > exp_bounds(Fraction(6))[1]


class More(Exception):
    def __init__(self, scale: Fraction) -> None:
        super().__init__()
        self.scale = scale


def on_every_noise(run: Callable[[], Transcript]) -> Law:
    """The probability of every result, from below: `run` with each noise of up to 20 scales, of the scales it asks for."""
    found: Law = {}
    open_: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while open_:
        drawn, weight = open_.pop()
        left = list(drawn)

        def one(scale: Fraction, left: list[int] = left) -> int:
            if not left:
                raise More(scale)
            return left.pop(0)

        def discrete_laplace(scale: Fraction, size: int | None = None, *, source: object, one=one) -> object:  # type: ignore[no-untyped-def]
            return one(scale) if size is None else np.array([one(scale) for _ in range(size)], np.int64)

        try:
            with mock.patch.object(above_threshold, "discrete_laplace", discrete_laplace):
                result = run()
        except More as more:
            reach = ceil(20 * more.scale)
            for z in range(-reach, reach + 1):
                open_.append(((*drawn, z), Fraction(int(weight * exactly(z, more.scale) * ONE), ONE)))
        else:
            found[result] = found.get(result, Fraction(0)) + weight
    return found


def in_a_session(m: AboveThreshold, scores: Sequence[int]) -> Transcript:
    session, answers = m.session(Tape(0)), []
    for score in scores:
        if not session.left:
            break
        answers.append(session.ask(score))
    return tuple(answers)


def at_once(m: AboveThreshold, scores: Sequence[int]) -> Transcript:
    return tuple(m(list(scores), Tape(0)).tolist())


WAYS = {"session": in_a_session, "batch": at_once}


def runs_as_the_textbook_says(way: str, monotone: bool = False) -> None:
    for hits, scores in ((1, (0, 1)), (2, (-1, -1)), (3, (0,))):
        m = AboveThreshold(Fraction(20), 0, hits, monotone=monotone)
        expected, found = textbook(m, scores), on_every_noise(lambda m=m, scores=scores: WAYS[way](m, scores))  # type: ignore[misc]
        assert set(found) == set(expected)
        for answers, chance in expected.items():
            assert float(found[answers]) == pytest.approx(float(chance), rel=1e-3), (hits, scores, answers)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_on_every_noise_it_runs_as_the_textbook_says(way: str, monotone: bool) -> None:
    runs_as_the_textbook_says(way, monotone)


def session_keeps_epsilon() -> None:
    """Run on every noise: two questions, one hit, and scores that move against each other."""
    m = AboveThreshold(Fraction(20), 1)
    p, q = (on_every_noise(lambda scores=scores: in_a_session(m, scores)) for scores in ((0, 1), (1, 0)))  # type: ignore[misc]
    assert set(p) == set(q), "a ratio of infinity"
    most = max(max(p[answers] / q[answers], q[answers] / p[answers]) for answers in p)
    assert most <= exp_bounds(m.epsilon)[1] * (1 + Fraction(1, 1000)), f"a ratio of {float(most)}"


def test_a_session_keeps_epsilon() -> None:
    session_keeps_epsilon()


def test_releasing_the_noisy_score_that_hit_breaks_epsilon() -> None:
    """Lyu, Su and Li 2017, algorithm 3: no's up to a hit, and then the noisy score by which it hit, which the threshold was below."""
    m = AboveThreshold(Fraction(2), 0)
    rho, nu = m.threshold_scale, m.query_scale

    def chance(scores: tuple[int, ...], value: int) -> Fraction:
        total = Fraction(0)
        for z in range(-60, value + 1):
            below = exactly(z, rho)
            for score in scores[:-1]:
                below *= at_most(z - score - 1, nu)
            total += below
        return total * exactly(value - scores[-1], nu)

    ratio = chance((0,) * 9, 0) / chance((1,) * 8 + (-1,), 0)
    assert ratio > exp_bounds(m.epsilon)[1] * 2


def test_one_price_for_many_hits_is_not_enough() -> None:
    """Six hits by scores far below the threshold cost more than one."""
    many = AboveThreshold(Fraction(8), 0, hits=6)
    p, q = (_textbook(many, scores, (True,) * 6) for scores in ((-4,) * 6, (-5,) * 6))
    assert p / q > exp_bounds(many.epsilon)[1]


def probabilities_are_those_of_the_textbook() -> None:
    for m, scores in (
        (AboveThreshold(Fraction(2), 2, 2), [1, 2, 3]),
        (AboveThreshold(Fraction(1), -1, 3, 2), [0, -3, 1]),
        (AboveThreshold(Fraction(3), 0, 1, monotone=True), [0, 0, -1, 2]),
    ):
        for answers, chance in textbook(m, scores).items():
            assert m.probability(answers, scores) == pytest.approx(float(chance), rel=1e-9)
        for impossible in ([], [True] * 5, [True] * m.hits + [False]):
            assert m.probability(impossible, scores) == 0


def test_probabilities_are_those_of_the_textbook() -> None:
    probabilities_are_those_of_the_textbook()


@pytest.mark.parametrize("way", WAYS)
def test_transcripts_are_drawn_as_they_say(way: str) -> None:
    source, scores = SecureBits(), [1, 4, 2, 3]
    m = AboveThreshold(Fraction(2), 2, 2)
    outcomes = sorted(set(transcripts(4, 2)))
    if way == "batch":
        drawn = Counter(tuple(m(scores, source).tolist()) for _ in range(repeats(8_000)))
    else:
        with mock.patch.object(above_threshold, "chosen", lambda _: source):
            drawn = Counter(in_a_session(m, scores) for _ in range(repeats(8_000)))
    assert set(drawn) <= set(outcomes)
    fits(np.array([drawn[each] for each in outcomes]), [m.probability(each, scores) for each in outcomes])


def test_a_session_refuses_after_its_hits() -> None:
    session = AboveThreshold(Fraction(100), 0, hits=2).session(Tape(1))
    assert [session.ask(score) for score in (1000, -1000, -1000, 1000)] == [True, False, False, True]
    assert session.left == 0
    with pytest.raises(Refused, match="hits"):
        session.ask(1000)
    with pytest.raises(Refused, match="hits"):
        session.ask(-1000)


def test_a_session_cannot_be_had_twice() -> None:
    session = AboveThreshold(Fraction(1), 0).session()
    for twice in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="twice"):
            twice(session)
    child = os.fork()
    if not child:
        try:
            session.ask(0)
        except Refused:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads_share_the_hits_of_a_session() -> None:
    session = AboveThreshold(Fraction(100), 0, hits=20).session()

    def ask(_: int) -> int:
        try:
            return session.ask(1000)
        except Refused:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(400))) == 20


def test_nothing_of_a_session_shows_its_noise() -> None:
    session = AboveThreshold(Fraction(1), 424242).session()
    assert "424" not in repr(session).replace(hex(id(session)), "") and not hasattr(session, "__dict__")


def test_random_bits_of_a_batch_do_not_depend_on_scores() -> None:
    used = set()
    for scores in (np.zeros(300, np.int64), np.arange(300) * 1000, -np.arange(300) * 1000):
        source = Counting(1)
        AboveThreshold(Fraction(1), 500, hits=5)(scores, source)
        used.add(source.used)
    assert len(used) == 1


def test_cost_follows_from_the_parameters() -> None:
    m = AboveThreshold(Fraction(1, 10), 7, 3, 2)
    assert m.event() == m.event(2) == events.Repeated(events.Pure(Fraction(1, 10)), 3)
    assert m.event(1) == events.Repeated(events.Pure(Fraction(1, 20)), 3)
    assert m.loss().epsilon() == pytest.approx(0.3, rel=1e-12) and m.loss(0).epsilon() == 0
    assert (m.threshold_scale, m.query_scale) == (40, 80)
    assert AboveThreshold.for_epsilon(0.3, 1.5, threshold=7, hits=3) == m
    assert AboveThreshold.for_budget(0.3, 1e-9, sensitivity=2, threshold=7, hits=3) == m
    assert AboveThreshold(Fraction(1), 0).event() == events.Pure(1)


def error_is_kept() -> None:
    for monotone in (False, True):
        m = AboveThreshold(Fraction(1, 2), 0, monotone=monotone)
        for confidence in (0.5, 0.95, 0.999):
            w = int(m.error(confidence))
            wrong = [m.probability([True], [-far]) + m.probability([False], [far - 1]) for far in (w + 1, w)]
            assert wrong[0] <= (1 - confidence) * (1 + 1e-9) < wrong[1]


def test_error_is_kept() -> None:
    error_is_kept()


def test_extreme_parameters_are_served_or_refused() -> None:
    for epsilon in (1e-12, 50, 1e308):
        m = AboveThreshold(epsilon, 0, hits=2)  # type: ignore[arg-type]
        assert len(m([2**61, -(2**61), 2**61])) == 3
        assert m.session().ask(-(2**61)) is False
        assert m.error() >= 0
    assert AboveThreshold(1e308, 5).probability([False, True], [4, 5]) == 1  # type: ignore[arg-type]
    for bad in (0, -1, float("nan"), float("inf"), 5e-324, "1", None):
        with pytest.raises(Invalid, match="epsilon"):
            AboveThreshold(bad, 0)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="epsilon"):
        AboveThreshold(Fraction(1, 10**9), 0).probability([True], [0])


@pytest.mark.parametrize("bad", [[1.5], ["a"], None, 3, [], [[1, 2]], [Fraction(1, 2)], [2**62], [True]])
def test_bad_scores_are_refused_before_anything_is_drawn(bad: object) -> None:
    with pytest.raises(Invalid, match="exact"):
        AboveThreshold(Fraction(1), 0)(bad, Nothing())


def test_bad_arguments_are_refused_by_name_and_cost_nothing() -> None:
    session = AboveThreshold(Fraction(1), 0).session(Tape(1))
    session._source = Nothing()
    for bad in (1.5, "1", None, True, 2**62):
        with pytest.raises(Invalid, match="exact"):
            session.ask(bad)  # type: ignore[arg-type]
        with pytest.raises(Invalid, match="threshold"):
            AboveThreshold(Fraction(1), bad)  # type: ignore[arg-type]
    for bad in (0, -1, 1.5, None):
        with pytest.raises(Invalid, match="hits"):
            AboveThreshold(Fraction(1), 0, bad)  # type: ignore[arg-type]
    for bad in (0, -1, float("nan"), None):
        with pytest.raises(Invalid, match="sensitivity"):
            AboveThreshold(Fraction(1), 0, 1, bad)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="monotone"):
        AboveThreshold(Fraction(1), 0, 1, 1, "no")  # type: ignore[arg-type]
