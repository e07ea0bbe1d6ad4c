"""Choices: thresholds that are crossed without noise, winners that tell too much, and rows that are shown."""

from functools import partial
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import EXACT, SAMPLING, TWINS, Ints, Specimen
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.noisy_max import NoisyMax, at_most, exactly
from discreet.noise import bernoulli, discrete_laplace, uniform

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

LYU = "Lyu, Su and Li 2017"
MANY = 20
STREAM = 8
REACH = 100
RAISED = ((1, *[0] * MANY), (0, *[1] * MANY))
"""Scores in which one candidate loses what all others win."""


def chosen(epsilon: int) -> Any:
    """The exponential mechanism at this ε, many times over."""
    mechanism = Exponential(epsilon)
    return lambda scores, size: mechanism(np.tile(scores, (size, 1)))


def chosen_law(epsilon: int) -> Any:
    """Its probabilities."""

    def law(scores: tuple[int, ...]) -> dict[int, float]:
        weights = [exp(epsilon * score / 2) for score in scores]
        return {place: weight / sum(weights) for place, weight in enumerate(weights)}

    return law


def _one_against_all(rate: float) -> float:
    """ε of choosing by e^(rate · score) on RAISED."""
    return log(exp(rate) / (exp(rate) + MANY)) - log(1 / (1 + MANY * exp(rate)))


def largest(epsilon: int) -> Any:
    """Report noisy max at this ε, many times over."""
    mechanism = NoisyMax(epsilon)
    return lambda scores, size: mechanism(np.tile(scores, (size, 1)))


def largest_law(epsilon: int) -> Any:
    mechanism = NoisyMax(epsilon)
    return lambda scores: {place: mechanism.probability(place, scores) for place in range(len(scores))}


def largest_with_score(scores: tuple[int, ...], size: int) -> Ints:
    """The winner and its noisy score, with the noise that made it win; both in one number."""
    noisy = np.array(scores) + discrete_laplace(1, (size, len(scores)))
    winner = noisy.argmax(axis=1)
    both: Ints = len(scores) * noisy.max(axis=1) + winner
    return both


def crossings(
    scores: tuple[int, ...],
    size: int,
    *,
    threshold: int = 0,
    level_scale: float | None = 2,
    query_scale: float | None = 4,
    hits: int = 1,
) -> list[str]:
    """Answers to a stream of questions, + above and − below the threshold, which end with the last hit; None: no noise."""
    shape = (size, len(scores))
    level = threshold + (discrete_laplace(level_scale, size) if level_scale else np.zeros(size, np.int64))
    noise = discrete_laplace(query_scale, shape) if query_scale else np.zeros(shape, np.int64)
    above = np.array(scores) + noise >= level[:, None]
    shown = np.cumsum(above, axis=1) - above < hits
    words = np.where(above, "+", "-").astype("<U1")
    return ["".join(row) for row in np.where(shown, words, "").tolist()]


def with_answers(scores: tuple[int, ...], size: int) -> list[str]:
    """Below for all scores but the last, and the noisy score that hits, with the noise that it hits with."""
    level = discrete_laplace(2, size)
    noisy = np.array(scores) + discrete_laplace(4, (size, len(scores)))
    above = noisy >= level[:, None]
    first = np.where(above.any(axis=1), above.argmax(axis=1), len(scores) - 1)
    return [f"{place} {value}" for place, value in zip(first, noisy[np.arange(size), first], strict=True)]


def with_answers_law(scores: tuple[int, ...]) -> dict[Any, float]:
    """Whether the last score alone hits, and its noisy value: the threshold is at most that, and above all others."""
    level = np.arange(-REACH, REACH + 1)
    chance = exactly(level, 1 / 2)
    for score in scores[:-1]:
        chance = chance * at_most(level - 1 - score, 1 / 4)
    upto = np.cumsum(chance)
    values = exactly(level - scores[-1], 1 / 4) * upto
    return {**dict(zip(level.tolist(), values.tolist(), strict=True)), "another": 1 - float(values.sum())}


def _rows(count: int, last: int) -> tuple[int, ...]:
    return (*range(count - 1), last)


def random_row(rows: tuple[int, ...], size: int) -> Ints:
    return np.array(rows)[uniform(len(rows), size)]


def row_law(rows: tuple[int, ...]) -> dict[int, float]:
    return {row: rows.count(row) / len(rows) for row in rows}


def shamed(rows: tuple[int, ...], size: int) -> list[list[int]]:
    shown = bernoulli(0.01, (size, len(rows)))
    return [[row for row, told in zip(rows, each, strict=True) if told] for each in shown.tolist()]


def first_rows(rows: list[int], size: int) -> Ints:
    """A 'sample' of a tenth of the rows: the first ones."""
    return sum(rows[: max(1, len(rows) // 10)]) + discrete_laplace(1, size)


def sampled_rows(rows: list[int], size: int) -> Ints:
    taken = bernoulli(0.1, (size, len(rows)))
    totals: Ints = (taken * np.array(rows)).sum(axis=1) + discrete_laplace(1, size)
    return totals


AMPLIFIED = log(1 + 0.1 * (exp(1) - 1))


def raises_above(rows: int) -> int:
    """The median of so many rows: weights e^n overflow from some n on."""
    if rows > 2982:
        raise OverflowError("math range error")
    return int(discrete_laplace(1))


def raises_above_drawn(rows: int, draws: "Draws") -> Any:
    if rows > 2982:
        raise OverflowError("math range error")
    return draws(Geometric(1), 1, lambda: 0)


def ordered(counts: dict[str, int], size: int) -> list[list[Any]]:
    """Groups in the order of their exact counts, each with a noisy one."""
    names = sorted(counts, key=lambda name: -counts[name])
    noisy = [(counts[name] + discrete_laplace(1, size)).tolist() for name in names]
    return [[names[0], *each] for each in zip(*noisy, strict=True)]


def ordered_drawn(counts: dict[str, int], draws: "Draws") -> Any:
    names = sorted(counts, key=lambda name: -counts[name])
    return [(name, draws(Geometric(1), 1, partial(counts.get, name))) for name in names]


def ordered_by_noise(counts: dict[str, int], size: int) -> list[list[Any]]:
    noisy = {name: (count + discrete_laplace(1, size)).tolist() for name, count in counts.items()}
    rows = zip(*noisy.values(), strict=True)
    return [
        [name for name, _ in sorted(zip(counts, row, strict=True), key=lambda each: -each[1])] + sorted(row)
        for row in rows
    ]


LOW, HIGH = (0,) * STREAM, (1,) * STREAM
SIX = (0, 0, 0, 0, 0, 1), (1, 1, 1, 1, 1, 0)

BROKEN = (
    Specimen(
        "exponential-without-the-two",
        "The exponential mechanism with weights e^(ε u/Δ) in place of e^(ε u/2Δ), for scores that move both ways.",
        "a frequent slip; scores off by a factor in MWEM, smartnoise #472",
        chosen(2),
        (RAISED,),
        truth=_one_against_all(1),
        law=chosen_law(2),
        detected_by=(EXACT, SAMPLING),
    ),
    Specimen(
        "noisy-max-with-half-noise",
        "Report noisy max with noise of scale Δ/ε, for scores that move both ways.",
        "OpenDP #2911: the price of noisy max",
        largest(2),
        (RAISED,),
        truth=2.0,
        law=largest_law(2),
        detected_by=(EXACT, SAMPLING),
    ),
    Specimen(
        "noisy-max-with-its-score",
        "Report noisy max tells the winning score too, with the noise that made it win.",
        "a bug that Ding et al. 2018 plant; the gap to the second is free, the score is not (Ding et al. 2019)",
        largest_with_score,
        (((0, 0, 0, 0), (1, 1, 1, 1)),),
        truth=4.0,
    ),
    Specimen(
        "sparse-without-query-noise",
        "Sparse vector whose threshold has noise, and whose scores have none.",
        f"Stoddard et al. 2014, as told by {LYU}, algorithm 5",
        lambda scores, size: crossings(scores, size, query_scale=None),
        (((0, 1), (1, 0)),),
    ),
    Specimen(
        "sparse-without-limit",
        "Sparse vector that goes on after hits without end, and without a new threshold.",
        f"Chen et al. 2015, as told by {LYU}, algorithm 6",
        lambda scores, size: crossings(scores, size, level_scale=2, query_scale=2, hits=STREAM),
        (((0,) * 4 + (1,) * 4, (1,) * 4 + (0,) * 4),),
        truth=None,
    ),
    Specimen(
        "sparse-with-its-noise",
        "Sparse vector that answers with the noisy score that hit.",
        f"lecture notes of 2011, as told by {LYU}, algorithm 3",
        with_answers,
        (((*LOW, 1), (*HIGH, 0)),),
        truth=None,
        law=with_answers_law,
        detected_by=(EXACT,),
    ),
    Specimen(
        "sparse-noise-not-for-hits",
        "Sparse vector with six hits whose noise is not scaled with them: (1 + 6c)/4 · ε for c hits.",
        f"Lee and Clifton 2014, as told by {LYU}, algorithm 4",
        lambda scores, size: crossings(scores, size, level_scale=4, query_scale=4 / 3, hits=6),
        (((0,) * 6, (1,) * 6), (SIX[0], SIX[1]), ((0,) * 3 + (1,) * 3, (1,) * 3 + (0,) * 3)),
        truth=(1 + 6 * 6) / 4,
    ),
    Specimen(
        "sparse-without-threshold-noise",
        "Sparse vector whose scores have noise, and whose threshold has none: every question before the hit costs.",
        f"a frequent slip; both noises are needed ({LYU})",
        lambda scores, size: crossings(scores, size, level_scale=None, query_scale=2),
        ((LOW, HIGH),),
        truth=STREAM / 2,
    ),
    Specimen(
        "random-row",
        "One row in ten is published as it is, and sold at δ = 1e-6.",
        "the warning against δ of the order of 1/n in Dwork and Roth 2014",
        random_row,
        ((_rows(10, 9), _rows(10, 99)),),
        delta=1e-6,
        law=row_law,
        detected_by=(EXACT, SAMPLING),
    ),
    Specimen(
        "name-and-shame",
        "Each row is published as it is with probability 1 %, and sold at δ = 1e-6.",
        "folklore; (0, δ) is met with δ = 0.01",
        shamed,
        ((_rows(5, 4), _rows(5, 99)),),
        delta=1e-6,
    ),
    Specimen(
        "first-rows-as-a-sample",
        "The first tenth of the rows is taken for a random tenth, and priced so.",
        "Opacus: the sampler and the accountant may disagree silently; shuffled batches priced as Poisson ones",
        first_rows,
        (([0] * 10, [1] + [0] * 9),),
        epsilon=AMPLIFIED,
        truth=1.0,
    ),
    Specimen(
        "raises-on-many-rows",
        "A quantile whose weights overflow: 2982 rows are answered, and 2983 raise.",
        "diffprivlib #107",
        raises_above,
        ((2982, 2983),),
        many=False,
        run=raises_above_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
    Specimen(
        "ordered-by-exact-counts",
        "Groups stand in the order of their exact counts, each with a noisy one.",
        "ORDER BY before the noise; OpenDP shuffles rows since #1827 and #2185",
        ordered,
        (({"a": 2, "b": 2}, {"a": 2, "b": 3}),),
        run=ordered_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
)

SOUND = (
    Specimen(
        "exponential-with-the-two",
        "The exponential mechanism with weights e^(ε u/2Δ).",
        "McSherry and Talwar 2007",
        chosen(1),
        (RAISED,),
        truth=1,
        law=chosen_law(1),
        mends="exponential-without-the-two",
    ),
    Specimen(
        "noisy-max-with-all-noise",
        "Report noisy max with noise of scale 2Δ/ε.",
        "Dwork and Roth 2014",
        largest(1),
        (RAISED,),
        truth=1,
        law=largest_law(1),
        mends="noisy-max-with-half-noise",
    ),
    Specimen(
        "sparse-vector",
        "Noise on the threshold, noise on each score, and an end after the hit.",
        f"{LYU}, algorithm 1",
        lambda scores, size: crossings(scores, size),
        ((LOW, HIGH), ((0, 1), (1, 0))),
        truth=1,
        mends="sparse-without-query-noise",
    ),
    Specimen(
        "sampled-rows",
        "Each row is taken with probability 1/10.",
        "amplification by sampling",
        sampled_rows,
        (([0] * 10, [1] + [0] * 9),),
        epsilon=AMPLIFIED,
        truth=AMPLIFIED,
        mends="first-rows-as-a-sample",
    ),
    Specimen(
        "ordered-by-noisy-counts",
        "Groups stand in the order of their noisy counts.",
        "post-processing",
        ordered_by_noise,
        (({"a": 2, "b": 2}, {"a": 2, "b": 3}),),
        truth=1,
        mends="ordered-by-exact-counts",
    ),
)
