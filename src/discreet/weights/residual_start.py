"""What is measured before any round: how many units there are, and residuals of low order, or of the whole workload."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

import numpy as np

from discreet.cells import Ints
from discreet.errors import Refused
from discreet.mechanisms.measure import Grant
from discreet.privacy import Relation
from discreet.weights.budget import LearningBudget, UnitMove, VectorNoise
from discreet.weights.evidence import Evidence
from discreet.weights.fit import Fit, strengths
from discreet.weights.histogram import Histogram
from discreet.weights.model import Floats
from discreet.weights.proportional import nearest_counts, scaled
from discreet.weights.residual import Residual, ResidualDraw, closure, importance, weighed, weighed_by_sums
from discreet.weights.transform import Axes, marginals
from discreet.weights.workload import Workload

SIZE_SHARE = Fraction(1, 50)
"""Of the price, for how many units there are."""

START_SHARE = Fraction(1, 2)
"""Of the price, for what is measured before rounds, where there are rounds."""

WORTH_MEASURING = 0.2
"""Residuals are measured up to the order at which marginals have at most this much noise in L1, as a share of all units."""

HEDGE = 0.02
"""What lower orders are taken to be worth in predicting higher ones, before these are measured: 1 would be that only sampling tells them
apart, as on data that are a tree; on others much is missed by that. Simulated: see docs/weights.md."""

FLOORS = {1: 0.15, 2: 0.25}
"""Of the price, what residuals of single attributes have at least, and those of pairs: whoever asks for triples looks at these, too."""

PASSES = 3
"""Over the marginals that a histogram is brought to."""

EVEN = 1e-6
"""Of all units, what is spread evenly over the cells of an attribute: so that none is without weight for ever."""

ONE = UnitMove(Fraction(1), Fraction(1))


@dataclass(slots=True)
class KnownSoFar:
    """What has been released, the histogram fitted to it, and the share of the price that is left."""

    evidence: Evidence
    model: Histogram
    left: Fraction


@dataclass(frozen=True, slots=True)
class Start:
    """The residuals inside of a workload's marginals; without any, only the number of units is measured."""

    workload: Workload
    targets: tuple[Axes, ...]
    residuals: tuple[Residual, ...]

    @classmethod
    def of(cls, workload: Workload, residuals: bool) -> "Start":
        """For marginals all inside of them, for other queries single attributes and pairs that are asked together."""
        domain = workload.domain
        targets = {tuple(axis for axis in axes if domain.shape[axis] > 1) for axes in workload.axes} - {()}
        parts = [each for each in closure(domain, sorted(targets)) if each.axes] if residuals else []
        if not workload.whole:
            parts = [each for each in parts if len(each.axes) <= 2]
        return cls(workload, tuple(sorted(targets)), tuple(parts))

    @property
    def order(self) -> int:
        """The most attributes of a residual."""
        return max((len(each.axes) for each in self.residuals), default=0)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of the price, where there are no rounds: for the number of units, for lower orders, and for the highest one.

        As the optimum for all residuals has it, where nothing is known before.
        """
        precisions = self._weighed(np.zeros(len(self.residuals)), 1.0)
        price = [x * prod(1 - 1 / m for m in each.lengths) for each, x in zip(self.residuals, precisions, strict=True)]
        top = sum(p for p, each in zip(price, self.residuals, strict=True) if len(each.axes) == self.order)
        last = Fraction(top / sum(price)).limit_denominator(1000) if self.order > 1 else Fraction(0)
        rest = 1 - SIZE_SHARE
        return tuple(share for share in (SIZE_SHARE, rest * (1 - last), rest * last) if share)

    def learned(
        self, grant: Grant, budget: LearningBudget, exact: Callable[[], Ints], base: Histogram, *, rounds: int
    ) -> KnownSoFar:
        """All draws before rounds, and the histogram that is fitted to them."""
        evidence = Evidence(self.workload.domain)
        noise = budget.noise(SIZE_SHARE, ONE)
        size = grant(noise.mechanism, noise.sensitivity, lambda: int(exact().sum()))
        evidence.learn((), (), np.array([float(size)]), noise.deviation)
        if rounds or budget.pure:
            left = self._in_parts(grant, budget, exact, evidence, START_SHARE if rounds else 1 - SIZE_SHARE)
        else:
            self._in_shares(grant, budget, exact, evidence)
            left = Fraction(0)
        return KnownSoFar(evidence, fitted_by_order(evidence, base), left)

    def _in_shares(self, grant: Grant, budget: LearningBudget, exact: Callable[[], Ints], evidence: Evidence) -> None:
        """Lower orders, then whatever is worth most: the highest order, or lower ones once more."""
        _, first, *last = self.shares
        lower = [each for each in self.residuals if len(each.axes) < self.order or self.order == 1]
        share = float(first * budget.worth)
        worth = raised(lower, importance(lower, self.targets))
        draw = ResidualDraw.of_precisions(lower, weighed(lower, worth, np.zeros(len(lower)), share))
        measure(grant, budget.noise(first, move_of(draw, budget.relation)), draw, exact, evidence)
        for share_left in last:
            precisions = self._weighed(self._known(evidence), float(share_left * budget.worth))
            draw = ResidualDraw.of_precisions(self.residuals, precisions)
            measure(grant, budget.noise(share_left, move_of(draw, budget.relation)), draw, exact, evidence)

    def _in_parts(
        self,
        grant: Grant,
        budget: LearningBudget,
        exact: Callable[[], Ints],
        evidence: Evidence,
        share: Fraction,
    ) -> Fraction:
        """Residuals up to the highest order whose marginals have little noise; the share of the price that is left."""
        for order in range(self.order, 0, -1):
            some = [each for each in self.residuals if len(each.axes) <= order]
            draw = self._draw(some, budget)
            noise = budget.noise(share, move_of(draw, budget.relation))
            if order == 1 or self._error(draw, noise, order) <= WORTH_MEASURING * evidence.total:
                measure(grant, noise, draw, exact, evidence)
                return 1 - SIZE_SHARE - share
        return 1 - SIZE_SHARE

    def _draw(self, some: Sequence[Residual], budget: LearningBudget) -> ResidualDraw:
        worth = importance(some, self.targets)
        if budget.pure:
            return ResidualDraw.of_precisions(some, weighed_by_sums(some, worth))
        return ResidualDraw.of_precisions(some, weighed(some, worth, np.zeros(len(some)), 1.0))

    def _error(self, draw: ResidualDraw, noise: VectorNoise, order: int) -> float:
        """About the L1 error of a marginal of this order that noise makes, on average."""
        marginals = [each for each in self.residuals if len(each.axes) == order]
        spread = {each.axes: deviation for each, deviation in draw.deviations(noise.deviation)}
        errors = []
        for whole in marginals:
            inside = [each for each in draw.residuals if set(each.axes) <= set(whole.axes)]
            cells = prod(whole.lengths)
            square = sum(each.freedom * spread[each.axes] ** 2 * prod(each.lengths) / cells for each in inside)
            errors.append(sqrt(2 / np.pi * cells * square))
        return float(np.mean(errors))

    def _weighed(self, known: Floats, budget: float) -> Floats:
        worth = raised(self.residuals, importance(self.residuals, self.targets))
        return weighed(self.residuals, worth, known, budget)

    def _known(self, evidence: Evidence) -> Floats:
        """The precision of each residual's coefficients, in the basis of its marginal: as it was measured, or as sampling alone has it.

        A residual that nothing is known of is as near to what lower ones predict as a sample is to its distribution, or farther.
        """
        known = []
        for each in self.residuals:
            cells = prod(each.lengths)
            before = evidence.blocks.get(each.axes)
            sampled = HEDGE * cells / evidence.total
            known.append(sampled if before is None else before.precision * cells / evidence.domain.size)
        return np.array(known)


def raised(residuals: Sequence[Residual], worth: Floats) -> Floats:
    """What residuals are worth, such that those of low orders have their floor of the price where anything of a higher order is measured.

    At the optimum the price of a residual is in proportion to √(worth · price of one).
    """
    orders = np.array([len(each.axes) for each in residuals])
    price = np.sqrt(worth * np.array([prod(1 - 1 / m for m in each.lengths) for each in residuals]))
    found = worth.copy()
    for order in sorted(FLOORS, reverse=True):
        inside, above = price[orders == order].sum(), price[orders > order].sum()
        if inside and above and inside < FLOORS[order] * (inside + above):
            factor = FLOORS[order] / (1 - FLOORS[order]) * above / inside
            found[orders == order] *= factor**2
            price[orders == order] *= factor
    return found


def move_of(draw: ResidualDraw, relation: Relation) -> UnitMove:
    """How far one unit moves the vector of a draw."""
    return UnitMove(draw.squared(relation), draw.mass(relation))


def measure(
    grant: Grant, noise: VectorNoise, draw: ResidualDraw, exact: Callable[[], Ints], evidence: Evidence
) -> None:
    """Draw a vector of residuals, and take in what it says. One that was lost with its process is left out."""
    try:
        vector = grant(noise.mechanism, noise.sensitivity, lambda: draw.exact(exact()))
    except Refused as refusal:
        if refusal.code != "draw-lost":
            raise
        return
    for each, coefficients, deviation in draw.parts(vector, noise.deviation):
        evidence.learn(each.axes, each.axes, coefficients, deviation)


def fitted_by_order(evidence: Evidence, base: Histogram) -> Histogram:
    """The histogram that is fitted to single attributes, then on top of that to pairs, and so on: each is the base of the next.

    So what lower orders predict of higher ones counts as much as measurements show that it is worth. Residuals of a higher order say
    nothing of lower marginals; that no cell is negative would move these all the same, by the noise of many nearly empty cells, so they
    are brought back.
    """
    model = _alone(evidence, base)
    worth: dict[Axes, float] = {}
    for order in sorted({len(axes) for axes in evidence.blocks} - {0}):
        upto = {axes: known for axes, known in evidence.blocks.items() if len(axes) <= order}
        new = [axes for axes in upto if len(axes) == order]
        worth |= strengths(evidence, model if order > 1 else base, new)
        if order > 1:
            fitted = Fit(Evidence(evidence.domain, upto), model, strengths=worth).histogram()
            lower = [axes for axes in upto if len(axes) == order - 1]
            before = [*marginals(model.weights, lower)]
            model = Histogram(model.domain, scaled(fitted.weights.copy(), before, PASSES), model.total)
    return model


def _alone(evidence: Evidence, base: Histogram) -> Histogram:
    """The base with the marginal of each attribute as it was measured; no cell that was possible is without weight."""
    total, targets = evidence.total, []
    for each in evidence.marginals([axes for axes in evidence.blocks if len(axes) == 1]):
        counts = nearest_counts(each.values, total) / total
        targets.append((each.axes, counts * (1 - EVEN) + EVEN / counts.size))
    cells = scaled(base.weights.copy(), targets, PASSES)
    return Histogram(base.domain, cells if float(cells.sum()) > 0 else base.weights, total)
