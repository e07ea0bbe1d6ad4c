"""A product of independents: the marginal of each attribute with noise, and nothing of how they go together.

It is the baseline that every other model must beat, and all there is to learn where a domain has one attribute. Where combinations are
impossible, the attributes that these are about go together in one block, and only there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod, sqrt
from typing import Any

import numpy as np

from discreet.cells import Ints
from discreet.errors import Invalid, Refused
from discreet.exact import Number, nonnegative, positive, sqrt_up
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.measure import Grant, Promise
from discreet.noise import Source, uniform
from discreet.privacy import events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights.domain import Domain, Mask, UnitTable
from discreet.weights.labels import label
from discreet.weights.model import Floats, Learned, NoisyMarginal

MOST_CELLS = 1 << 22
"""Cells of a block: the combinations of attributes that impossible ones tie together."""

FINE = 1 << 40
"""Steps of the largest weight, on the public grid that rows are drawn by."""

RAKINGS = 50


@dataclass(frozen=True, slots=True)
class Block:
    """The probabilities of all combinations of a few attributes; their axes rise."""

    axes: tuple[int, ...]
    chances: Floats

    def drawn(self, rows: int, source: Source | None) -> Ints:
        """The cells of so many units, a row each, with chances on a grid of which what is impossible has no step."""
        flat = self.chances.reshape(-1)
        steps = np.cumsum(np.rint(flat * (FINE / flat.max())).astype(np.int64))
        place = np.searchsorted(steps, uniform(int(steps[-1]), rows, source=source), side="right")
        return np.stack(np.unravel_index(place, self.chances.shape), axis=1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Independent:
    """A model in which blocks of attributes tell nothing of each other."""

    domain: Domain
    total: float
    blocks: tuple[Block, ...]

    def marginal(self, axes: Sequence[int]) -> Floats:
        """The counts that are expected by these attributes, in their order."""
        counts, order = np.array(self.total), list[int]()
        for block in self.blocks:
            mine = [axis for axis in block.axes if axis in axes]
            rest = tuple(place for place, axis in enumerate(block.axes) if axis not in axes)
            counts = np.multiply.outer(counts, block.chances.sum(axis=rest))
            order += mine
        return counts.transpose([order.index(axis) for axis in axes])

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        """The cells of so many units, drawn independently."""
        codes = np.empty((rows, len(self.domain.shape)), np.int64)
        for block in self.blocks:
            codes[:, list(block.axes)] = block.drawn(rows, source)
        return codes


def independent(
    table: UnitTable,
    attributes: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    impossible: Iterable[Mask] = (),
    key: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Learned:
    """Measure the marginal of each attribute, all with noise of one scale, and take attributes for independent.

    It is (epsilon, delta)-DP under the table's relation: a unit is in one cell of each of the d marginals, so that they are
    one vector, of L2 sensitivity √(d · cells moved) for Gaussian noise, and of L1 sensitivity d · cells moved without a δ.
    `impossible` has the cells that nobody can be in, as masks over the domain.
    """
    domain = Domain(table.attributes(attributes))
    barred = tuple(impossible)
    blocks = _blocks(domain, barred)
    promise = Promise(positive(epsilon, "epsilon"), nonnegative(delta, "delta"))
    noise, sensitivity = _noise(promise, len(domain.shape), cells_moved(table.relation))
    event = events.Under(events.Repeated(noise.event(sensitivity), len(domain.shape)), table.relation)
    measured: list[NoisyMarginal] = []
    said = label("product", domain, list(barred))
    with table.measure(event, label=said, key=key, promise=promise) as grant:
        exact = table.counts(domain.attributes)
        for axis, name in enumerate(domain.names):
            measured += _measured(grant, noise, sensitivity, exact, axis)
            if progress is not None:
                progress(f"measured {name}")
    if not measured:
        raise Refused(
            "all that was measured was lost when its process ended; it stays spent",
            code="draw-lost",
            hint="measure again under a new key, which is charged",
        )
    return Learned(_fitted(domain, measured, blocks), tuple(measured), event, promise, table.relation)


def _noise(promise: Promise, count: int, moved: int) -> tuple[IntegerNoise, Fraction]:
    """The noise on each marginal, and how far a unit moves one of them."""
    if not promise.delta:
        return Geometric(Fraction(count * moved) / promise.epsilon), Fraction(moved)
    size = sqrt_up(Fraction(moved))
    noise = RoundedGaussian.for_budget(*promise, sensitivity=sqrt_up(Fraction(count * moved)))
    while not loss(events.Repeated(noise.event(size), count)).certifies(*promise):
        noise = RoundedGaussian(noise.scale * (1 + Fraction(1, 10**9)))  # square roots are rounded up
    return noise, size


def _measured(
    grant: Grant, noise: IntegerNoise, sensitivity: Fraction, exact: Callable[[], Any], axis: int
) -> list[NoisyMarginal]:
    """The marginal of an attribute; none where it was lost with the process that drew it."""
    try:
        values = grant(noise, sensitivity, lambda: exact().marginal((axis,)))
    except Refused as refusal:
        if refusal.code != "draw-lost":
            raise
        return []
    return [NoisyMarginal((axis,), values.astype(np.float64), sqrt(noise.variance))]


def _blocks(domain: Domain, impossible: tuple[Mask, ...]) -> list[tuple[tuple[int, ...], Mask]]:
    """The axes that impossible cells tie together, and which of their cells are possible; Invalid where none is."""
    groups = [{axis} for axis in range(len(domain.shape))]
    fits = {(length, size) for size in domain.shape for length in (1, size)}
    for mask in impossible:
        if mask.ndim != len(domain.shape) or {*zip(mask.shape, domain.shape, strict=True)} - fits:
            raise Invalid(
                "impossible cells must be a mask over the domain",
                hint=f"an array of True and False with {len(domain.shape)} axes, each as long as its attribute has cells, or 1",
            )
        ties = {axis for axis, length in enumerate(mask.shape) if length > 1}
        joined = set[int]().union(ties, *(group for group in groups if group & ties))
        groups = [group for group in groups if not group & ties] + ([joined] if joined else [])
    return [_block(domain, tuple(sorted(group)), impossible) for group in groups]


def _block(domain: Domain, axes: tuple[int, ...], impossible: tuple[Mask, ...]) -> tuple[tuple[int, ...], Mask]:
    shape = tuple(domain.shape[axis] for axis in axes)
    if prod(shape) > MOST_CELLS:
        raise Invalid(
            f"impossible cells tie {len(axes)} attributes of {prod(shape):,} combinations together; {MOST_CELLS:,} are the most",
            hint="say it with fewer attributes at a time, or with fewer cells of each",
        )
    rest = tuple(axis for axis in range(len(domain.shape)) if axis not in axes)
    possible: Mask = np.ones(shape, np.bool_)
    for mask in impossible:
        if all(mask.shape[axis] == 1 for axis in rest):
            possible = possible & ~np.squeeze(mask, rest)
    if not possible.any():
        raise Invalid("every cell is impossible, so that nobody could be anywhere", hint="look at what is impossible")
    return axes, possible


def _fitted(
    domain: Domain, measured: Sequence[NoisyMarginal], blocks: Sequence[tuple[tuple[int, ...], Mask]]
) -> Independent:
    """The model of what was measured: a marginal that was lost is taken for even."""
    # each sum estimates the same number of units, with as many times the variance as there are cells
    worth = [1 / (each.values.size * each.deviation**2) for each in measured]
    sums = [float(each.values.sum()) for each in measured]
    total = max(0.0, float(np.average(sums, weights=worth)))
    chances = [np.full(size, 1 / size) for size in domain.shape]
    for each in measured:
        (axis,) = each.axes
        chances[axis] = _on_simplex(each.values, total) if total else chances[axis]
    return Independent(domain, total, tuple(_raked(axes, possible, chances) for axes, possible in blocks))


def _on_simplex(values: Floats, total: float) -> Floats:
    """The nearest shares that are not negative and add up to 1 (Duchi, Shalev-Shwartz, Singer and Chandra 2008, figure 1)."""
    falling = np.sort(values / total)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, falling.size + 1)
    shares: Floats = np.maximum(values / total - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    shares /= shares.sum()
    return shares


def _raked(axes: tuple[int, ...], possible: Mask, chances: Sequence[Floats]) -> Block:
    """The joint chances of a block: of independent ones what is possible, its marginals brought back to what was measured."""
    joint = possible * reduce(np.multiply.outer, [chances[axis] for axis in axes])
    if not joint.sum():
        joint = possible.astype(np.float64)
    for _ in range(RAKINGS if len(axes) > 1 else 1):
        for place, axis in enumerate(axes):
            rest = tuple(other for other in range(len(axes)) if other != place)
            now = joint.sum(axis=rest)
            factor = np.divide(chances[axis], now, out=np.zeros_like(now), where=now > 0)
            shape = [-1 if other == place else 1 for other in range(len(axes))]
            scaled = joint * factor.reshape(shape)
            joint = scaled if scaled.sum() else joint
    return Block(axes, joint / joint.sum())
