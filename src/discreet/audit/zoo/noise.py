"""Noise of the wrong size, shape or origin, and responses at the wrong price."""

from math import log, pi
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.zoo.specimen import EXACT, SAMPLING, TWINS, Ints, Reals, Specimen, additive, rows_of, unit_floats
from discreet.mechanisms.geometric import Geometric
from discreet.noise import (
    Tape,
    bernoulli,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    keep_or_replace,
    odds,
    uniform,
)

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

COUNTS = ((0, 1),)
PLANTED = "a frequent slip; planted in every suite of auditors (Ding et al. 2018)"
MIRONOV = "Mironov 2012; diffprivlib #19, SmartNoise-core #242"
REACH = 5


def truncated(count: int, size: int) -> Ints:
    """Noise beyond ±5 is drawn again."""
    noise = discrete_laplace(1, size)
    while (far := np.flatnonzero(np.abs(noise) > REACH)).size:
        noise[far] = discrete_laplace(1, far.size)
    return count + noise


def float_laplace(count: float, size: int) -> Reals:
    """The logarithm of a float, with a random sign, added as floats are."""
    signs = 2.0 * bernoulli(0.5, size) - 1
    return np.asarray(count - signs * np.log(unit_floats(size)), np.float64)


def float_gaussian(count: float, size: int) -> Reals:
    """Box and Muller 1958, in floats; σ = 4 is enough for (1, 1e-5) among the reals."""
    noisy: Reals = count + 4 * np.sqrt(-2 * np.log(unit_floats(size))) * np.cos(2 * pi * unit_floats(size))
    return noisy


def by_rows(rows: list[int], size: int) -> Ints:
    """Noise that falls with the exact number of rows."""
    return sum(rows) + discrete_laplace(2 / len(rows), size)


def by_rows_drawn(rows: list[int], draws: "Draws") -> Any:
    return draws(Geometric(2 / len(rows)), 1, lambda: sum(rows))


def one_noise(rows: list[int], size: int) -> list[list[int]]:
    noise = discrete_laplace(1, size)
    return rows_of([len(rows) + noise, sum(rows) + noise])


def one_noise_drawn(rows: list[int], draws: "Draws") -> Any:
    noise = draws(Geometric(1), 1, lambda: 0)
    return [len(rows) + noise, sum(rows) + noise]


def two_noises(rows: list[int], size: int) -> list[list[int]]:
    return rows_of([len(rows) + discrete_laplace(1, size), sum(rows) + discrete_laplace(1, size)])


def two_noises_drawn(rows: list[int], draws: "Draws") -> Any:
    return [draws(Geometric(1), 1, lambda: len(rows)), draws(Geometric(1), 1, lambda: sum(rows))]


def forked(parts: list[list[int]], size: int) -> list[list[int]]:
    """Two workers hold the same state of one generator: what they draw is equal."""
    noise = discrete_laplace(1, size)
    return rows_of([len(part) + noise for part in parts])


def forked_drawn(parts: list[list[int]], draws: "Draws") -> Any:
    noise = draws(Geometric(1), 1, lambda: 0)
    return [len(part) + noise for part in parts]


def fresh_workers(parts: list[list[int]], size: int) -> list[list[int]]:
    return rows_of([len(part) + discrete_laplace(1, size) for part in parts])


def seeded(count: int, size: int) -> Ints:
    """The generator begins anew with seed 42 for each question."""
    answers: Ints = np.full(size, count + discrete_laplace(1, source=Tape(42)))
    return answers


def seeded_drawn(count: int, draws: "Draws") -> Any:
    return count + discrete_laplace(1, source=Tape(42))


def averaged(count: int, size: int) -> Ints:
    """One question asked nine times with fresh noise, charged for once; the answers add up here."""
    totals: Ints = 9 * count + discrete_laplace(1, (size, 9)).sum(axis=1)
    return totals


def responses(bit: int, size: int) -> Ints:
    """How many of ten responses at ε = 1 were yes."""
    answers: Ints = keep_or_replace(np.full((size, 10), bit), 2, odds(1)).sum(axis=1)
    return answers


def signed(bit: int, size: int) -> Ints:
    """The truth with probability 1/2 + η, η = 1/4."""
    return np.where(bernoulli(0.75, size), bit, 1 - bit)


def signed_law(bit: int) -> dict[int, float]:
    return {bit: 0.75, 1 - bit: 0.25}


def cautious_signed(bit: int, size: int) -> Ints:
    """The truth with probability e^ε/(1 + e^ε), ε = 1/2."""
    return np.where(bernoulli(odds(0.5), size), bit, 1 - bit)


def cautious_law(bit: int) -> dict[int, float]:
    truth = 1 / (1 + np.exp(-0.5))
    return {bit: truth, 1 - bit: 1 - truth}


def eager(bit: int, size: int) -> Ints:
    """Nine of ten answer truly, the others toss a coin."""
    return np.where(bernoulli(0.9, size), bit, bernoulli(0.5, size))


def eager_law(bit: int) -> dict[int, float]:
    return {bit: 0.95, 1 - bit: 0.05}


NOTED_SIGMA = (2 * log(1 / 0.99)) ** 0.5


def noted_law(count: int) -> dict[str, float]:
    """Whether the output is above 1/2, with noise of the σ that the formula asks for."""
    above = 1 - NormalDist(count, NOTED_SIGMA).cdf(0.5)
    return {"above 1/2": above, "below": 1 - above}


BROKEN = (
    Specimen(
        "half-scale",
        "Laplace noise of half the scale that the claim needs.",
        PLANTED,
        lambda count, size: count + discrete_laplace(0.5, size),
        COUNTS,
        truth=2.0,
    ),
    Specimen(
        "float-laplace",
        "Laplace noise made of floating-point numbers: which outputs can be reached depends on the exact value.",
        MIRONOV,
        float_laplace,
        COUNTS,
    ),
    Specimen(
        "float-gaussian",
        "Gaussian noise made of floating-point numbers: the lowest bits tell the exact value.",
        "Jin et al. 2022; Haney et al. 2022; Opacus #616, diffprivlib #94",
        float_gaussian,
        COUNTS,
        delta=1e-5,
    ),
    Specimen(
        "one-sided",
        "Noise that never takes anything off, so that counts are not negative.",
        "a frequent slip: exponential noise in place of Laplace noise",
        lambda count, size: count + geometric(1, size),
        COUNTS,
    ),
    Specimen(
        "truncated",
        "Noise beyond ±5 is drawn again, so that answers look reasonable; sold as pure.",
        "Geng et al. 2020 give the δ that this costs",
        truncated,
        COUNTS,
    ),
    Specimen(
        "uniform",
        "Uniform noise on −5 … 5.",
        "the oldest proposal of disclosure control, still in use as 'random rounding'",
        lambda count, size: count + uniform(11, size) - 5,
        COUNTS,
    ),
    Specimen(
        "gaussian-as-pure",
        "Gaussian noise with σ = Δ/ε, sold at δ = 0.",
        "a frequent slip: the formula of Laplace noise with a Gaussian in it",
        lambda count, size: count + discrete_gaussian(1, size),
        COUNTS,
    ),
    Specimen(
        "sigma-of-the-note",
        "σ² = 2 ln(1/δ)/ε², a shortened formula, at ε = 1 and δ = 0.99: σ is 0.14, and the true δ above 0.999.",
        "lecture notes; the textbook's ln(1.25/δ) holds for ε < 1 only (Balle and Wang 2018)",
        lambda count, size: count + discrete_gaussian(NOTED_SIGMA, size),
        COUNTS,
        delta=0.99,
        law=noted_law,
        detected_by=(EXACT,),
    ),
    Specimen(
        "noise-by-rows",
        "The scale of the noise is 2/n, with the exact number of rows n.",
        "Opacus #571 and #819: noise divided by the exact size of the batch",
        by_rows,
        (([0], [0, 1]),),
        run=by_rows_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
    Specimen(
        "one-noise-for-two",
        "A count and a sum get the same noise: their difference is exact.",
        "a frequent slip: one draw that is spread over several answers",
        one_noise,
        (([1, 0], [1, 0, 0]),),
        epsilon=2,
        run=one_noise_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
    Specimen(
        "forked-workers",
        "Two workers are forked with one state of the generator, and add equal noise to their parts of the data.",
        "python-dp (`SecureURBG` holds a buffer for the process), OpenDP PCA #2934",
        forked,
        (([[1, 0], [1]], [[1, 0], [1, 1]]),),
        run=forked_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
    Specimen(
        "seeded",
        "The generator begins with the same seed each time: who knows it takes the noise off.",
        "diffprivlib `random_state=42`; Qrlew uses the database's `setseed`",
        seeded,
        COUNTS,
        run=seeded_drawn,
        detected_by=(TWINS, SAMPLING),
    ),
    Specimen(
        "nine-for-one",
        "A question is asked nine times with fresh noise, and charged for once.",
        "averaging; diffprivlib accountant pickled, OpenDP context forked",
        averaged,
        COUNTS,
        truth=9.0,
    ),
    Specimen(
        "ten-responses",
        "Randomized response at ε = 1 is given ten times by each person, and priced once.",
        "dp-accounting ignored its repeat count; reports of the same value every day",
        responses,
        COUNTS,
        truth=10.0,
    ),
    Specimen(
        "signed-response",
        "The ±1 response tells the truth with probability 1/2 + η and is priced at 2η; the truth is 2 artanh(2η).",
        "lecture notes",
        signed,
        COUNTS,
        epsilon=0.5,
        truth=log(3),
        law=signed_law,
        detected_by=(EXACT, SAMPLING),
    ),
    Specimen(
        "eager-response",
        "Randomized response in which nine of ten answers are the truth is priced as the coin toss, ln 3.",
        "a frequent slip: the probability of a true answer for that of a random one",
        eager,
        COUNTS,
        epsilon=log(3),
        truth=log(19),
        law=eager_law,
        detected_by=(EXACT, SAMPLING),
    ),
)

SOUND = (
    additive(
        "whole-scale",
        "Laplace noise of the scale that the claim needs.",
        "Dwork et al. 2006",
        lambda count: count,
        (0, 1),
        mends="half-scale",
    ),
    Specimen(
        "fresh-noise-for-two",
        "A count and a sum get noise of their own.",
        "composition",
        two_noises,
        (([1, 0], [1, 0, 1]),),
        epsilon=2,
        truth=2,
        run=two_noises_drawn,
        mends="one-noise-for-two",
    ),
    Specimen(
        "fresh-workers",
        "Two workers draw noise of their own for their parts of the data.",
        "parallel composition",
        fresh_workers,
        (([[1, 0], [1]], [[1, 0], [1, 1]]),),
        truth=1,
        mends="forked-workers",
    ),
    Specimen(
        "two-sided",
        "Noise on both sides, cut off at 0 afterwards.",
        "post-processing",
        lambda count, size: np.maximum(count + discrete_laplace(1, size), 0),
        COUNTS,
        truth=1,
        mends="one-sided",
    ),
    Specimen(
        "priced-signed-response",
        "The ±1 response at η = tanh(ε/2)/2.",
        "Warner 1965",
        cautious_signed,
        COUNTS,
        epsilon=0.5,
        truth=0.5,
        law=cautious_law,
        mends="signed-response",
    ),
    Specimen(
        "one-response",
        "Randomized response at ε = 1, once.",
        "Warner 1965",
        lambda bit, size: keep_or_replace(np.full(size, bit), 2, odds(1)),
        COUNTS,
        truth=1,
        mends="ten-responses",
    ),
    Specimen(
        "priced-repeats",
        "A question that is asked nine times is charged for nine times.",
        "composition",
        averaged,
        COUNTS,
        epsilon=9,
        truth=9,
        mends="nine-for-one",
    ),
    Specimen(
        "discrete-gaussian",
        "Discrete Gaussian noise, σ = 4, at (1, 1e-5).",
        "Canonne, Kamath and Steinke 2020",
        lambda count, size: count + discrete_gaussian(4, size),
        COUNTS,
        delta=1e-5,
        truth=1,
        mends="gaussian-as-pure",
    ),
    Specimen(
        "grid-laplace",
        "Laplace noise on a public grid of powers of two.",
        "Google's library; `Laplace` here",
        lambda count, size: (64 * count + discrete_laplace(64, size)) / 64,
        COUNTS,
        truth=1,
        mends="float-laplace",
    ),
    Specimen(
        "grid-gaussian",
        "Gaussian noise on a public grid of powers of two.",
        "`Gaussian` here",
        lambda count, size: (64 * count + discrete_gaussian(256, size)) / 64,
        COUNTS,
        delta=1e-5,
        truth=1,
        mends="float-gaussian",
    ),
)
