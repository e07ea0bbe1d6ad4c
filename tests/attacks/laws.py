"""What holds of every attack and of the game it plays; the planted bugs break these laws one by one.

A sound build fails a law with probability at most ALPHA for each release that is attacked.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import beta, binom

import discreet as dp
from discreet import binomial
from discreet.attacks import AttackReport, Outcome, Publication, Score, exact, permitted, picture, play
from discreet.attacks.averaging import SHARES, TIMES, Averaging, fresh, kept, memoised, until_refused
from discreet.attacks.changes import Changes
from discreet.attacks.changes import memoised as memoised_periods
from discreet.attacks.differencing import SENSITIVITY, counts
from discreet.attacks.float_bits import FloatBits
from discreet.attacks.linkage import Linkage
from discreet.attacks.membership import Means
from discreet.attacks.patient import PatientAverage, PatientCount
from discreet.attacks.reconstruction import Reconstruction
from tests.scale import repeats

ALPHA = 1e-6
NAMES = sorted(dp.attacks.names())


def tails_are_binomial() -> None:
    for n in (1, 2, 7, 100, 1_000, 100_000):
        for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for p in (0.0, 1e-9, 0.01, 0.3, 0.5, 0.731, 0.999, 1.0):
                wanted = 1.0 if k == 0 else float(binom.sf(k - 1, n, p))
                assert binomial.tail(k, n, p) == pytest.approx(wanted, rel=1e-8, abs=1e-13), (k, n, p)


def intervals_are_those_of_clopper_and_pearson() -> None:
    for n, confidence in product((1, 5, 40, 1_000, 20_000), (0.5, 0.95, 0.999)):
        miss = (1 - confidence) / 2
        for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            low, high = Outcome(k, n).interval(confidence)
            assert low == pytest.approx(beta.ppf(miss, k, n - k + 1) if k else 0.0, rel=1e-7)
            assert high == pytest.approx(beta.ppf(1 - miss, k + 1, n - k) if k < n else 1.0, rel=1e-7)


def an_outcome_exceeds_a_bound_where_a_binomial_test_says_so() -> None:
    for n, bound in product((50, 500, 5_000), (0.01, 0.5, 0.731, 0.98)):
        first = int(binom.isf(ALPHA, n, bound)) + 1  # the least number whose tail is below ALPHA
        assert binom.sf(first - 1, n, bound) < ALPHA <= binom.sf(first - 2, n, bound)
        assert not Outcome(min(first - 1, n), n).exceeds(bound)
        assert first > n or Outcome(first, n).exceeds(bound)
    assert not Outcome(50, 50).exceeds(1.0)


def responses_do_as_well_as_is_permitted() -> None:
    """The response that keeps the secret with the largest odds, and tells all with probability δ, is as good as anybody can be."""
    for epsilon, delta, k in product((0.1, 1, 5), (0, 1e-6, 0.1), (2, 3, 100)):
        right = float(dp.RandomizedResponse(epsilon, k).probability(0, 0))
        assert permitted(epsilon, delta, k) == pytest.approx(delta + (1 - delta) * right, rel=1e-12)
    for epsilon, delta in product((0, 0.1, 1, 30), (0, 1e-6, 0.1, 1)):
        assert permitted(epsilon, delta) == pytest.approx(dp.theorems.bayes_success(epsilon, delta), rel=1e-15)


def nobody_does_better_than_is_permitted() -> None:
    """The best guess from any table of probabilities, against the ε that its largest ratio is, and against any smaller one with its δ."""
    generator = np.random.default_rng(5)
    for k, outputs in product((2, 3, 10), (2, 5, 30)):
        table = generator.dirichlet(np.full(outputs, 0.7), size=k) + 1e-9
        table /= table.sum(axis=1, keepdims=True)
        success = table.max(axis=0).sum() / k
        largest = float(np.log(table[:, None] / table[None]).max())
        for share in (1.0, 0.5, 0.1):
            epsilon = share * largest
            excess = np.maximum(table[:, None] - exp(epsilon) * table[None], 0).sum(axis=2)
            assert success <= permitted(epsilon, min(1.0, float(excess.max())), k) + 1e-9


class Scripted:
    """An attack that knows the secret, and says what it is told to say about it."""

    def __init__(self, choices: int, says: Callable[[int], int]) -> None:
        self.choices, self.says, self.secrets = choices, says, list[int]()

    def world(self, secret: int) -> tuple[str, int]:
        self.secrets.append(secret)
        return f"data of {secret}", secret

    def guess(self, seen: Any, known: int) -> int:
        assert seen == f"released data of {known}"
        return self.says(known)


def right_guesses_are_counted() -> None:
    def release(data: str) -> str:
        return f"released {data}"

    for k in (2, 5):
        knows, errs, blind = (
            Scripted(k, lambda secret: secret),
            Scripted(k, lambda secret, k=k: (secret + 1) % k),  # type: ignore[misc]
            Scripted(k, lambda secret, k=k: k - 1),  # type: ignore[misc]
        )
        n = 2_000
        assert play(knows, release, n) == Outcome(n, n)
        assert play(errs, release, n) == Outcome(0, n)
        assert play(blind, release, n).right == blind.secrets.count(k - 1)
        for attack in (knows, errs, blind):
            for value in range(k):
                times = attack.secrets.count(value)
                assert min(binom.cdf(times, n, 1 / k), binom.sf(times - 1, n, 1 / k)) > ALPHA


# The least share of right guesses on exact answers, by the name of what is released; 1 where it is not named.
NEARLY = {
    "exact means": 0.97,
    "two exact tables, joined": 0.85,
    "each count off by up to 2": 0.95,
    "memoised, ε = 1 for each answer": 0.93,
}


def exact_answers_reveal(name: str) -> None:
    report = dp.attacks.run(name, epsilons=[1], trials=repeats(200))
    open_rows = [score for score in report.scores if score.epsilon is None and score.name != "one exact table"]
    assert open_rows
    for score in open_rows:
        least = NEARLY.get(score.name, 1.0)
        n = score.outcome.trials
        assert binom.cdf(score.outcome.right, n, least) > ALPHA if least < 1 else score.outcome.right == n, score


def private_answers_stay_within(name: str) -> None:
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        report = dp.attacks.run(name, epsilons=[epsilon], trials=repeats(400))
        assert any(score.ours for score in report.scores)
        for score in report.scores:
            if score.ours:
                assert binom.sf(score.outcome.right - 1, score.outcome.trials, score.permitted) > ALPHA, score
        assert report.broken == ()


def little_is_learned_at_a_low_price_and_all_at_a_high_one(name: str) -> None:
    low, high = (dp.attacks.run(name, epsilons=[epsilon], trials=repeats(400)) for epsilon in (0.001, 1_000))
    for score in low.scores:
        # What was asked a thousand times at full price has a price of its own.
        if score.ours and score.epsilon is not None and score.epsilon < 0.01:
            n, right = score.outcome.trials, score.outcome.right
            # At ε = 0.001 nobody can be off by more than a thousandth.
            assert (
                binom.sf(right - 1, n, score.chance * 1.002) > ALPHA
                and binom.cdf(right, n, score.chance / 1.002) > ALPHA
            )
    for score in high.scores:
        if score.ours:
            assert binom.cdf(score.outcome.right, score.outcome.trials, 0.85) > ALPHA, score


def permitted_is_of_the_price_that_was_asked(name: str) -> None:
    """Within a hundredth below, and never above."""
    for epsilon in (0.1, 1.0, 7.5):
        for score in dp.attacks.run(name, epsilons=[epsilon], trials=1).scores:
            if score.ours:
                assert score.epsilon is not None
                price = epsilon * (TIMES if f"{TIMES:,} fresh" in score.name else 1)
                assert 0.99 * price < score.epsilon <= price * (1 + 1e-12), score
                k = round(1 / score.chance)
                p = exp(score.epsilon) / (exp(score.epsilon) + k - 1) if score.epsilon < 700 else 1.0
                assert score.permitted == pytest.approx(p + score.delta * (1 - p), rel=1e-9)


def _distance(x: Any, y: Any, norm: int = 1) -> float:
    return float(np.linalg.norm((np.asarray(x, float) - np.asarray(y, float)).ravel(), norm))


def nobody_changes_a_query_by_more_than_is_declared() -> None:
    """Somebody is replaced by anybody, everywhere; the largest change is the declared one, unless that is rounded up."""
    patients, ages = PatientCount(), PatientAverage()
    for attack, query, values in ((patients, patients.query, (0, 1)), (ages, ages.sums, (0, 150))):
        changes = []
        for who in (0, 50, -1):
            pair = []
            for value in values:
                data = attack.world(values[0])[0]
                data[who] = value
                pair.append(query(data))
            changes.append(_distance(*pair))
        assert max(changes) == attack.sensitivity

    bits = Reconstruction()
    data = bits.world(0)[0]
    changes = [_distance(bits.query(np.where(np.arange(64) == i, 1 - data, data)), bits.query(data)) for i in range(64)]
    assert max(changes) == bits.sensitivity

    means = Means.made_up()
    members = means.draw(means.people)
    other = members.copy()
    other[3] = 1 - other[3]
    change = _distance(means.query(members), means.query(other), 2)
    assert change == pytest.approx(float(means.sensitivity), rel=1e-9)

    for tables in (1, 2, 3):
        attack = Linkage(tables=tables)
        x, places = attack.world(0)
        y = x.copy()
        y[np.arange(tables), places, 0] = 1
        assert _distance(attack.query(x), attack.query(y)) == attack.sensitivity

    everybody = [20, 30, 101]
    assert (
        max(_distance(counts(everybody), counts(everybody[:-1])), _distance(counts(everybody), counts(everybody[1:])))
        == SENSITIVITY
    )


def every_textbook_output_is_possible_for_its_own_count() -> None:
    for scale in (0.3, 1.0, 10.0, 1234.5):
        attack = FloatBits(scale)
        for count in (0.0, 1.0):
            assert all(attack.possible(attack.textbook(count), count) for _ in range(repeats(200)))


def outputs_on_a_grid_are_possible_for_both_counts() -> None:
    noise = dp.Laplace.for_epsilon(1)
    attack = FloatBits(float(noise.scale), float(noise.grid.step))
    release = Publication("ours", noise)
    assert attack.share(release, repeats(500)) == 0.0
    textbook = FloatBits(1.0)
    assert textbook.share(Publication("textbook", textbook.textbook), 500) > 0.4


def a_kept_answer_is_one_answer() -> None:
    release = kept(Fraction(1, 2), 100)
    values = [release.publish(1_000) for _ in range(20)]
    assert all(len(each) == 100 and len(set(each.tolist())) == 1 for each in values)
    assert len({int(each[0]) for each in values}) > 1
    assert release.epsilon == 0.5
    again = fresh(Fraction(1, 2), 100)
    assert again.epsilon == 50 and len(set(again.publish(1_000).tolist())) > 1
    assert Averaging().choices == 2


def rounds_of_a_bit_are_those_of_one_permanent_answer() -> None:
    """At a large ε nearly all reports are the bit, and differ from each other all the same; a diary lets a few of them out."""
    release = memoised(14, 20_000)
    for bit in (0, 1):
        told = release.publish(bit)
        assert len(told) == 20_000 and 0 < int(np.abs(told - bit).sum()) < 60  # 18 are expected
    assert release.epsilon == 14 and memoised(1000, 1).epsilon == 20 and memoised(Fraction(1, 2), 5).epsilon == 0.5
    assert float(np.mean([memoised(Fraction(1, 10), 1).publish(0)[0] for _ in range(400)])) > 0.3
    assert [len(until_refused(epsilon).publish(1)) for epsilon in (0.1, 1, 1000)] == [SHARES] * 3


def answers_change_half_way_or_stay() -> None:
    attack = Changes(periods=6, answers=3)
    pairs = set()
    for secret in (0, 1):
        for _ in range(100):
            held = attack.world(secret)[0].tolist()
            assert held == [held[0]] * 3 + [held[-1]] * 3 and (held[0] != held[-1]) == secret
            pairs.add((held[0], held[-1]))
    assert len(pairs) == 9
    told = memoised_periods(Changes(400, 3), 20, 10).publish(np.repeat([0, 2], 200))
    assert (told[:200] == 0).mean() > 0.9 and (told[200:] == 2).mean() > 0.9


def rows() -> AttackReport:
    """One of each kind: no promise, a promise of somebody else that is broken, ours that is kept, and ours that is broken."""
    return AttackReport(
        "made-up",
        "which <is> it?",
        (
            Score("exact", Outcome(100, 100), 0.5, 1.0),
            Score("textbook", Outcome(100, 100), 0.5, 0.55, 0.2),
            Score("kept", Outcome(60, 100), 0.5, 0.7310585786300049, 1.0, ours=True),
            Score("broken", Outcome(100, 100), 0.5, 0.7310585786300049, 1.0, ours=True),
        ),
    )


def a_report_names_what_is_above_its_promise() -> None:
    report = rows()
    assert [score.name for score in report.scores if score.exceeds] == ["textbook", "broken"]
    assert [score.name for score in report.broken] == ["broken"]
    text = str(report)
    assert re.search(r"kept +60 % +49\.7 % … 69\.7 % +73\.1 % +50 %", text)
    assert re.search(r"exact +100 % +96\.4 % … 100 % +no promise", text)
    assert "broken: above what is promised" in text and "textbook: above" in text and "kept: above" not in text
    said = report.to_json()
    assert [each["exceeds"] for each in said["scores"]] == [False, True, False, True]
    assert [each["success"] for each in said["scores"]] == [1.0, 1.0, 0.6, 1.0]


def a_picture_shows_success_interval_and_what_is_permitted() -> None:
    report = rows()
    root = ElementTree.fromstring(report.to_svg())
    space = "{http://www.w3.org/2000/svg}"
    bars = [float(each.attrib["width"]) for each in root.iter(f"{space}rect")]
    assert bars == pytest.approx([picture.WIDE * score.outcome.rate for score in report.scores], abs=0.1)
    start = float(next(root.iter(f"{space}rect")).attrib["x"])
    marks = [each.attrib["d"] for each in root.iter(f"{space}path") if each.attrib.get("stroke") == picture.MARK]
    places = [float(mark[1:].split()[0]) - start for mark in marks]
    bounds = [score.permitted for score in report.scores if score.permitted < 1]
    assert places == pytest.approx([picture.WIDE * bound for bound in bounds], abs=0.1)
    words = "".join(root.itertext())
    assert "which <is> it?" in words and all(score.name in words for score in report.scores)
    ends = [score.outcome.interval()[0] for score in report.scores]
    lines = [each.attrib["d"] for each in root.iter(f"{space}path") if "H" in each.attrib["d"]]
    lows = [float(line[1:].split()[0]) - start for line in lines]
    assert lows == pytest.approx([picture.WIDE * end for end in ends], abs=0.1)


def a_drawing_shows_success_and_what_is_permitted() -> None:
    report = rows()
    for width in (40, 72, 200):
        lines = report.draw(width).splitlines()
        cells = width - len("textbook") - 1
        assert len(lines) == len(report.scores) and all(len(line) <= width for line in lines)
        for line, score in zip(lines, report.scores, strict=True):
            assert line.startswith(score.name)
            hidden = "│" in line and score.permitted < score.outcome.rate  # the line stands in the bar
            assert line.count("█") + hidden == round(cells * score.outcome.rate)
            assert ("│" in line) == (score.permitted < 1)
            if score.permitted < 1:
                assert line.index("│") - len("textbook") - 1 == int(cells * score.permitted)


def exact_is_what_the_query_is() -> None:
    release = exact(lambda data: data + 1)
    assert (release.publish(1), release.epsilon, release.permitted(), release.ours) == (2, None, 1.0, False)
