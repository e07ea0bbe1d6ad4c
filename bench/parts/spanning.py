"""MST (McKenna, Miklau and Sheldon 2021) with the estimator of mbi: one-way marginals, a private spanning tree of pairs, and these pairs.

A third of ρ goes to each of the three. Its noise is NumPy's, as in the original.
"""

from collections.abc import Callable
from itertools import combinations
from math import sqrt

import numpy as np

from .made_up import SIZES, Codes, Counts, marginal


def spanning(codes: Codes, rho: float, seed: int) -> Callable[[tuple[int, ...]], Counts]:
    """What the model answers for any attributes."""
    from mbi import Domain, LinearMeasurement, estimation

    rng, names = np.random.default_rng(seed), [f"a{axis}" for axis in range(len(SIZES))]
    domain = Domain(names, SIZES)

    def named(axes: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(names[axis] for axis in axes)

    def measured(scopes: list[tuple[int, ...]]) -> list[LinearMeasurement]:
        sigma = sqrt(3 / (2 * rho) * len(scopes))
        exact = [marginal(codes, axes).ravel() for axes in scopes]
        pairs = zip(scopes, exact, strict=True)
        return [LinearMeasurement(each + rng.normal(0, sigma, each.size), named(axes), sigma) for axes, each in pairs]

    def answers(model: object) -> Callable[[tuple[int, ...]], Counts]:
        return lambda axes: np.asarray(model.project(named(axes)).datavector()).reshape([SIZES[axis] for axis in axes])  # type: ignore[attr-defined]

    alone = measured([(axis,) for axis in range(len(SIZES))])
    guess = answers(estimation.MirrorDescent().estimate(domain, alone))
    scores = {pair: np.abs(marginal(codes, pair) - guess(pair)).sum() for pair in combinations(range(len(SIZES)), 2)}
    epsilon, part, edges = sqrt(8 * rho / 3 / (len(SIZES) - 1)), list(range(len(SIZES))), []
    while len(edges) < len(SIZES) - 1:
        able = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        logs = np.array([epsilon * scores[pair] / 2 for pair in able])
        chances = np.exp(logs - logs.max())
        edges.append(able[rng.choice(len(able), p=chances / chances.sum())])
        one, other = (part[axis] for axis in edges[-1])
        part = [other if each == one else each for each in part]
    return answers(estimation.MirrorDescent().estimate(domain, [*alone, *measured(edges)]))
