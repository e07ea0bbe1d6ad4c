"""The laws that every mechanism is held to, as functions: run on sound code, and by tests/mutants on code with a planted bug.

A law raises AssertionError. Laws of chance raise one on sound code with a probability of at most ALPHA each.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil, exp, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Mechanism
from discreet.mechanisms.additive import Additive, GridNoise
from discreet.mechanisms.base import Example
from discreet.noise import Tape

ALPHA = 1e-6
NEAR = 1e-9
EPSILONS = (0.0, 0.05, 0.3, 1.0, 2.5)
Floats = NDArray[np.float64]


def outputs(mechanism: Mechanism, x: Any, y: Any) -> list[int]:
    """Integers around both inputs beyond which the noise has a probability of about e^-60 at most."""
    reach = ceil(60 * float(mechanism.scale)) + 3  # type: ignore[attr-defined]
    return list(range(min(x, y) - reach, max(x, y) + reach + 1))


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.maximum(p - exp(epsilon) * q, 0.0).sum())


def cost_is_that_of_its_own_probabilities(example: Example) -> None:
    """δ(ε) by summing max(P − e^ε Q, 0) over all outputs is what `loss` says, in both directions."""
    m: Any = example.mechanism
    points = outputs(m, example.x, example.y)
    p = np.array([m.probability(z, example.x) for z in points])
    q = np.array([m.probability(z, example.y) for z in points])
    assert abs(p.sum() - 1) < NEAR and abs(q.sum() - 1) < NEAR
    spent = m.loss(example.sensitivity)
    for epsilon in EPSILONS:
        truth = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        found = spent.delta(Fraction(str(epsilon)))
        assert abs(found - truth) <= NEAR * truth + 1e-15, (epsilon, found, truth)


def drawn_as_it_says(example: Example, count: int, seed: int) -> None:
    """The frequencies of outputs are their probabilities: each within the bound of Bernstein for all outputs together."""
    m: Any = example.mechanism
    drawn = Counter(m(np.full(count, example.x), Tape(seed)).tolist())
    seen = outputs(m, example.x, example.x)
    level = log(2 * len(seen) / ALPHA)
    for z in seen:
        p = m.probability(z, example.x)
        room = sqrt(2 * count * p * (1 - p) * level) + level / 3 + 1
        assert abs(drawn.pop(z, 0) - count * p) <= room, z
    assert not drawn, "outputs that should hardly ever come"


def error_covers(example: Example, count: int, seed: int) -> None:
    """At 95 % the truth is within ± error in at least 94 % of the draws, and in at most 96 % where the noise is fine."""
    m: Any = example.mechanism
    x = example.x[0] if isinstance(example.x, list) else example.x
    noisy = m(np.full(count, float(x) if isinstance(m, GridNoise) else x), Tape(seed))
    covered = float((np.abs(noisy - float(x)) <= m.error(0.95)).mean())
    slack = sqrt(-log(ALPHA) / (2 * count))
    assert covered >= 0.95 - slack
    fine = isinstance(m, GridNoise) or m.scale >= 10
    assert not fine or covered <= 0.96 + slack


def variance_is_what_it_says(example: Example, count: int, seed: int) -> None:
    """The mean square of the noise, by Chebyshev with the fourth moment of a Laplace, which is the largest here."""
    m: Any = example.mechanism
    x = example.x[0] if isinstance(example.x, list) else example.x
    noisy = m(np.full(count, float(x) if isinstance(m, GridNoise) else x), Tape(seed)) - float(x)
    assert abs(float((noisy**2).mean()) / m.variance - 1) <= 12 * sqrt(5 / count) + 1e-9


def outputs_lie_on_the_grid(example: Example, count: int, seed: int) -> None:
    """Whatever the input, each release is a multiple of a power of two that depends on public parameters alone."""
    m = example.mechanism
    assert isinstance(m, GridNoise)
    for x in (0.0, 1 / 3, float(m.scale) * 1000.1, -1e-9 * float(m.scale)):
        released = m(np.full(count, x), Tape(seed))
        steps = released / float(m.grid.step)
        assert (steps == np.rint(steps)).all()


def low_bits_tell_nothing(example: Example, count: int, seed: int) -> None:
    """A precision attack: how often an output is a multiple of 2^k steps, under x and under y, differs by no more than e^ε + δ."""
    m: Any = example.mechanism
    x, y = (float(v[0]) if isinstance(v, list) else float(v) for v in (example.x, example.y))
    bound, delta = exp(m.loss(example.sensitivity).epsilon(Fraction(1, 10**6))), 1e-6
    step = float(m.grid.step)
    first, second = (
        np.rint(m(np.full(count, v), Tape(seed + i)) / step).astype(np.int64) for i, v in enumerate((x, y))
    )
    room = sqrt(-log(ALPHA / 88) / (2 * count))
    for k in range(1, 45):
        p, q = (float((released % (1 << k) == 0).mean()) for released in (first, second))
        assert p - room <= bound * (q + room) + delta
        assert q - room <= bound * (p + room) + delta


def no_sensitivity_costs_nothing(example: Example) -> None:
    assert isinstance(example.mechanism, Additive)
    assert example.mechanism.loss(0).epsilon() == 0


def less_noise_costs_more(example: Example) -> None:
    """And noise of next to nothing costs next to everything: a scale of Δ/1000 an ε of hundreds."""
    m = example.mechanism
    assert isinstance(m, Additive)
    kind: Any = type(m)
    scales = (m.scale, m.scale / 2, Fraction(example.sensitivity) / 1000)
    costs = [kind(scale).loss(example.sensitivity).epsilon(Fraction(1, 10**6)) for scale in scales]
    assert costs[0] < costs[1] < costs[2]
    assert costs[2] > 900


def finite_outputs(example: Example) -> list[Any]:
    """All outputs of a mechanism that has few of them."""
    m: Any = example.mechanism
    match type(m).__name__:
        case "RandomizedResponse" | "CoinToss" | "SignedResponse" as name:
            answers = range(m.k if name == "RandomizedResponse" else 2)
            many = np.size(example.x)
            return [list(each) for each in product(answers, repeat=many)] if np.ndim(example.x) else list(answers)
        case "Exponential" | "ConcentratedExponential" | "PermuteAndFlip" | "NoisyMax":
            return list(range(len(example.x)))
        case "AboveThreshold":
            lengths = range(1, len(example.x) + 1)
            return [list(answers) for n in lengths for answers in product((False, True), repeat=n)]
        case "Quantiles":
            points = [m.lower + m.step * i for i in range(m.cells)]
            return [list(chosen) for chosen in product(points, repeat=len(m.probabilities))]
        case other:
            raise TypeError(other)


def costs_at_least_its_own_probabilities(example: Example) -> None:
    """Σ max(P − e^ε Q, 0) over all outputs is at most δ(ε), both ways, and the probabilities add up to 1."""
    m: Any = example.mechanism
    outputs = finite_outputs(example)
    p = np.array([float(m.probability(output, example.x)) for output in outputs])
    q = np.array([float(m.probability(output, example.y)) for output in outputs])
    assert abs(p.sum() - 1) < NEAR and abs(q.sum() - 1) < NEAR
    spent = m.loss(example.sensitivity)
    for epsilon in EPSILONS:
        truth = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        assert truth <= spent.delta(Fraction(str(epsilon))) * (1 + NEAR) + 1e-12, epsilon
