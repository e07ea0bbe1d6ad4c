"""Fit a histogram to all evidence: the one that is nearest to a base in relative entropy, and near to what was measured.

It minimises Σ (measured − answered)²/2σ² + λ·n·KL(h ‖ base). Its dual has a number a for each measured value, and the histogram is
base·e^(Σ a·query): multiplicative weights, replayed until all measurements agree (Hardt, Ligett and McSherry 2012; Dudík,
Phillips and Schapire 2007 for the dual). The dual is smooth and convex, and is minimised by limited-memory BFGS.

λ is what the base is worth. Units that were drawn from the base are beside its expectation by what sampling does, which is λ = 1; how much
farther they are is told by the measurements themselves (`strengths`). All of this is computed from what was released.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.weights.evidence import Evidence
from discreet.weights.histogram import Histogram
from discreet.weights.model import Floats
from discreet.weights.transform import Axes, Basis

LEAST_STEPS, MOST_STEPS, WORK = 80, 800, 1 << 25
"""Steps of a fit, at most: many where cells are few, since attributes that are skewed need them."""

NEAR = 1e-3
"""Of a deviation of the noise: a fit ends where no measurement is pulled harder."""

REMEMBERED = 30
"""Steps that tell of the curvature."""

RENEWED = 25
"""Steps after which the curvature along each number by itself is computed anew."""

LEAST_STRENGTH = 1e-4

EXPECTATIONS = 40
"""Passes that tell how many blocks a base predicts."""


@dataclass(slots=True)
class Fit:
    """Evidence, a base, and the dual numbers that were found last, from which the next fit begins."""

    evidence: Evidence
    base: Histogram
    strength: float = 1.0
    strengths: dict[Axes, float] = field(default_factory=dict)
    """Of blocks that have one of their own."""

    duals: dict[Axes, Floats] = field(default_factory=dict)
    asked: list[float] = field(default_factory=list)

    def histogram(self, steps: int | None = None) -> Histogram:
        """The fitted histogram, after so many steps at most, or as many as there is time for."""
        total = self.evidence.total
        if steps is None:
            steps = min(MOST_STEPS, max(LEAST_STEPS, WORK // self.base.domain.size))
        problem = _Problem(self, total)
        dual, weights = _minimised(problem, problem.packed(self.duals, self.asked), steps)
        self.duals, self.asked = problem.unpacked(dual)
        return Histogram(self.base.domain, weights, total)


def strength(evidence: Evidence, base: Histogram) -> float:
    """What a base is worth, told by all queries: 1 where they are as far from it as sampling makes them.

    The square of what was measured less what the base expects has the variance of the noise in it, which is taken out.
    """
    excess = 0.0
    for each in evidence.asked:
        share = float((base.weights * each.query).sum())
        square = (each.value - share * evidence.total) ** 2 - each.deviation**2
        excess += square / (evidence.total * max(share * (1 - share), 1e-6))
    return min(1.0, max(LEAST_STRENGTH, len(evidence.asked) / excess)) if excess > 0 else 1.0


def strengths(evidence: Evidence, base: Histogram, blocks: list[Axes]) -> dict[Axes, float]:
    """What a base is worth for each of these blocks by itself.

    A block is as the base predicts it, but for sampling, or it is not: two kinds, each normal around the prediction. How many there are
    of the second kind, and how far off these are, is what is most likely given all blocks (by expectation and maximisation; Dempster,
    Laird and Rubin 1977). λ is such that a coefficient moves from the prediction towards what was measured as far as its expectation does.
    """
    basis, cell = Basis(base.domain.shape), evidence.total / base.domain.size
    expected = basis.coefficients(base.weights * evidence.total)
    gaps = [evidence.blocks[axes].values - expected[basis.block(axes)] for axes in blocks]
    count = np.array([gap.size for gap in gaps], np.float64)
    square = np.array([float((gap**2).mean()) for gap in gaps])
    noise = np.array([1 / evidence.blocks[axes].precision for axes in blocks])
    share, far = 0.2, 4 * max(cell, float((square - noise).mean()))
    for _ in range(EXPECTATIONS):
        beside = (count / 2) * (
            np.log((noise + cell) / (noise + far)) + square / (noise + cell) - square / (noise + far)
        )
        odds = np.exp(np.clip(beside + np.log(share / (1 - share)), -50, 50))
        second = odds / (1 + odds)
        share = float(np.clip(second.mean(), 1e-3, 1 - 1e-3))
        weight = second * count
        far = max(4 * cell, float((weight * (square - noise)).sum() / max(float(weight.sum()), 1e-9)))
    part = (1 - second) * cell / (cell + noise) + second * far / (far + noise)
    found = np.clip(cell / noise * (1 / part - 1), LEAST_STRENGTH, 1.0)
    return dict(zip(blocks, found.tolist(), strict=True))


class _Problem:
    """The dual of a fit: values, gradients and the histogram of numbers for all measurements."""

    def __init__(self, fit: Fit, total: float) -> None:
        evidence = fit.evidence
        self.total = total
        with np.errstate(divide="ignore"):  # what is impossible has the logarithm −∞, and stays so
            self.logs = np.log(fit.base.weights)
        self.basis = Basis(fit.base.domain.shape)
        self.blocks = [axes for axes in evidence.blocks if axes]
        self.queries = [each.query for each in evidence.asked]
        self.slices = [self.basis.block(axes) for axes in self.blocks]
        known = [evidence.blocks[axes] for axes in self.blocks]
        self.sizes = [each.values.size for each in known]
        self.target = np.concatenate(
            [*(each.values.reshape(-1) for each in known), [each.value for each in evidence.asked]]
        )
        worth = [fit.strengths.get(axes, fit.strength) for axes in self.blocks]
        slack = [np.full(each.values.size, w / each.precision) for each, w in zip(known, worth, strict=True)]
        self.slack = np.concatenate([*slack, [fit.strength * each.deviation**2 for each in evidence.asked]])
        self.spread = [total * max(float(q.mean()) * (1 - float(q.mean())), 1e-6) for q in self.queries]

    def scale(self, cells: Floats) -> Floats:
        """One over the curvature along each number by itself, about, where the histogram has these counts."""
        squares = self.basis.squares(cells) if self.slices else cells
        parts = [squares[inside].reshape(-1) for inside in self.slices]
        found: Floats = 1 / (np.concatenate([*parts, self.spread]) + self.slack)
        return found

    def packed(self, duals: dict[Axes, Floats], asked: list[float]) -> Floats:
        """One vector of all dual numbers; 0 for what is new."""
        parts = [
            duals[axes].reshape(-1) if axes in duals else np.zeros(size)
            for axes, size in zip(self.blocks, self.sizes, strict=True)
        ]
        return np.concatenate([*parts, asked, np.zeros(len(self.queries) - len(asked))])

    def unpacked(self, dual: Floats) -> tuple[dict[Axes, Floats], list[float]]:
        """The dual numbers by block, and those of queries."""
        return dict(zip(self.blocks, self._parts(dual), strict=True)), dual[sum(self.sizes) :].tolist()

    def _parts(self, dual: Floats) -> Iterator[Floats]:
        begin = 0
        for size in self.sizes:
            yield dual[begin : begin + size]
            begin += size

    def at(self, dual: Floats) -> tuple[float, Floats, Floats]:
        """n·log Σ base·e^exponent − dual·target + slack·dual²/2, its gradient, and the weights."""
        exponent = self._exponent(dual)
        exponent += self.logs
        top = float(exponent.max())
        exponent -= top
        np.exp(exponent, out=exponent)
        mass = float(exponent.sum())
        exponent *= self.total / mass
        value = self.total * (top + float(np.log(mass))) - float(dual @ self.target)
        gradient = self._answers(exponent) - self.target + self.slack * dual
        return value + float(self.slack @ dual**2) / 2, gradient, exponent

    def _exponent(self, dual: Floats) -> Floats:
        coefficients = np.zeros(self.logs.shape)
        for inside, part in zip(self.slices, self._parts(dual), strict=True):
            coefficients[inside] = part.reshape(coefficients[inside].shape)
        exponent = self.basis.cells(coefficients) if self.slices else coefficients
        for query, number in zip(self.queries, dual[sum(self.sizes) :], strict=True):
            exponent += query * number
        return exponent

    def _answers(self, cells: Floats) -> Floats:
        coefficients = self.basis.coefficients(cells) if self.slices else cells
        parts = [coefficients[inside].reshape(-1) for inside in self.slices]
        return np.concatenate([*parts, [_sum(cells, query) for query in self.queries]])


def _sum(cells: Floats, query: Floats) -> float:
    """The answer of a query, from the marginal of those attributes that it depends on."""
    others = tuple(axis for axis, length in enumerate(query.shape) if length == 1)
    return float((cells.sum(axis=others, keepdims=True) * query).sum())


def _minimised(problem: _Problem, dual: Floats, steps: int) -> tuple[Floats, Floats]:
    """The dual numbers where the gradient vanishes, nearly, and the weights there (Liu and Nocedal 1989)."""
    pairs: deque[tuple[Floats, Floats]] = deque(maxlen=REMEMBERED)
    value, gradient, weights = problem.at(dual)
    enough = NEAR * np.sqrt(problem.slack)
    for number in range(steps):
        if bool((np.abs(gradient) <= enough).all()):
            break
        if number % RENEWED == 0:
            scale = problem.scale(weights)
        direction = _direction(pairs, gradient, scale)
        slope, step = float(gradient @ direction), 1.0
        while True:
            ahead = dual - step * direction
            lower, turned, cells = problem.at(ahead)
            falls = lower <= value - 1e-4 * step * slope
            if falls or step < 1e-8 or _is_flat(lower - value, value, float(turned @ direction) / slope):
                break
            step /= 2
        if step < 1e-8 and not falls:
            break  # what floats can tell apart is used up
        if float((ahead - dual) @ (turned - gradient)) > 0:
            pairs.append((ahead - dual, turned - gradient))
        dual, value, gradient, weights = ahead, lower, turned, cells
    return dual, weights


def _is_flat(change: float, value: float, slope: float) -> bool:
    """Whether values differ by no more than floats can tell, and the slope shows that a step was good (Hager and Zhang 2005)."""
    return change <= 1e-10 * abs(value) and abs(slope) <= 0.9


def _direction(pairs: "deque[tuple[Floats, Floats]]", gradient: Floats, scale: Floats) -> Floats:
    """The gradient times about the inverse of the curvature: two loops over what was remembered (Nocedal 1980)."""
    out, shares = gradient.copy(), []
    for moved, turned in reversed(pairs):
        share = float(moved @ out) / float(moved @ turned)
        out -= share * turned
        shares.append(share)
    out *= scale
    if pairs:
        moved, turned = pairs[-1]
        out *= float(moved @ turned) / float(turned @ (scale * turned))
    for (moved, turned), share in zip(pairs, reversed(shares), strict=True):
        out += moved * (share - float(turned @ out) / float(moved @ turned))
    return out
