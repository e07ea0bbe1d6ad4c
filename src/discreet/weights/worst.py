"""Rounds: choose what the histogram answers worst, measure it, learn it."""

from collections.abc import Callable
from fractions import Fraction
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Ints
from discreet.errors import Refused
from discreet.mechanisms.measure import Grant
from discreet.privacy.adjacency import cells_moved
from discreet.weights.budget import LearningBudget, UnitMove, VectorNoise
from discreet.weights.evidence import AskedQuery
from discreet.weights.fit import Fit, strength, strengths
from discreet.weights.histogram import Histogram
from discreet.weights.model import Floats, Round
from discreet.weights.residual import closure
from discreet.weights.residual_start import KnownSoFar
from discreet.weights.transform import Axes, marginals
from discreet.weights.workload import Workload, cells_of

CHOICE_SHARE = Fraction(1, 4)
"""Of a round's price, for the choice; the textbook has a half."""


REFIT_STEPS = 30
"""Of a fit after a round, which begins where the last one ended."""


class Switches(NamedTuple):
    """Which improvements are on."""

    start: bool = True
    replay: bool = True
    adaptive: bool = True
    whole: bool = True


class Progress(NamedTuple):
    """Where learning stands: so many rounds of so many at most are over, and this is the model."""

    done: int
    most: int
    model: Histogram


class LearningRounds:
    """Rounds of one grant, and what they have learned."""

    def __init__(
        self,
        grant: Grant,
        budget: LearningBudget,
        exact: Callable[[], Ints],
        workload: Workload,
        switches: Switches,
        known: KnownSoFar,
    ) -> None:
        self.grant, self.budget, self.exact, self.workload, self.switches = grant, budget, exact, workload, switches
        self.known, self.model = known, known.model
        self.fit = Fit(known.evidence, known.model)
        self.rounds: list[Round] = []
        self._before = set(known.evidence.blocks)
        domain = workload.domain
        self.candidates: list[Axes] = [each.axes for each in closure(domain, workload.axes) if each.axes]

    def run(self, most: int, progress: Callable[[Progress], None] | None = None) -> Histogram:
        """At most so many rounds, as long as the price lasts; the textbook gives the average of all histograms, others the last."""
        left, each = self.known.left, self.known.left / max(1, most)
        average = np.zeros(self.model.weights.shape)
        for number in range(most):
            share = left if number == most - 1 or left < 2 * each else each
            left -= share
            told = self._round(share)
            average += self.model.weights / most
            if progress is not None:
                progress(Progress(number + 1, most, self.model))
            if not left:
                break
            if self.switches.adaptive and not told:
                each *= 2
        textbook = most and not any(self.switches)
        return Histogram(self.model.domain, average, self.model.total) if textbook else self.model

    def _round(self, share: Fraction) -> bool:
        """Whether what was measured has told more than its noise. A round whose choice or measurement was lost has told nothing."""
        choice = share * (CHOICE_SHARE if self.switches.adaptive else Fraction(1, 2))
        try:
            return (self._marginal if self.switches.whole else self._query)(choice, share - choice)
        except Refused as refusal:
            if refusal.code != "draw-lost":
                raise
            return False

    def _marginal(self, choice: Fraction, rest: Fraction) -> bool:
        """The marginal that is farthest off in L1, less the error that its noise will have, is measured as a whole."""
        moved = Fraction(cells_moved(self.budget.relation))
        noise = self.budget.noise(rest, UnitMove(moved, moved))
        expected = dict(marginals(self.model.weights * self.model.total, self.candidates))
        bias = {axes: round(sqrt(2 / pi) * noise.deviation * expected[axes].size) for axes in self.candidates}
        rounded = {axes: np.rint(counts).astype(np.int64) for axes, counts in expected.items()}

        def scores() -> Ints:
            sums = dict(marginals(self.exact(), self.candidates))
            return np.array([int(np.abs(sums[axes] - rounded[axes]).sum()) - bias[axes] for axes in self.candidates])

        axes = self.candidates[self.grant(self.budget.selection(choice, moved), moved, scores)]
        values = self.grant(
            noise.mechanism, noise.sensitivity, lambda: dict(marginals(self.exact(), [axes]))[axes].reshape(-1)
        )
        return self._learn_marginal(axes, np.asarray(values, np.float64).reshape(expected[axes].shape), noise)

    def _learn_marginal(self, axes: Axes, values: Floats, noise: VectorNoise) -> bool:
        domain, before = self.workload.domain, self.model.marginal(axes)
        self._note(axes, noise.deviation, float(np.abs(values - before).sum()))
        self.known.evidence.learn_marginal(axes, values, noise.deviation)
        if self.switches.replay:
            self._refit()
        else:
            shape = [length if axis in axes else 1 for axis, length in enumerate(domain.shape)]
            self.model = self.model.updated((values - before).reshape(shape), 1 / (2 * self.model.total))
        moved = float(np.abs(self.model.marginal(axes) - before).sum())
        return moved > sqrt(2 / pi) * noise.deviation * cells_of(domain, axes)

    def _query(self, choice: Fraction, rest: Fraction) -> bool:
        """The query that is farthest off is measured by itself."""
        unit = Fraction(self.workload.unit)
        noise = self.budget.noise(rest, UnitMove(unit**2, unit))
        expected = self.workload.steps(self.model.weights * self.model.total)
        rounded = np.rint(expected).astype(np.int64)
        number = self.grant(
            self.budget.selection(choice, unit), unit, lambda: np.abs(self.workload.steps(self.exact()) - rounded)
        )
        value = self.grant(noise.mechanism, noise.sensitivity, lambda: int(self.workload.steps(self.exact())[number]))
        group, place = self.workload.at(int(number))
        query = group.row(self.workload.domain, place) / (1 if group.steps is None else self.workload.unit)
        return self._learn_query(int(number), query, value / float(unit), noise.deviation / float(unit))

    def _learn_query(self, number: int, query: NDArray[Any], value: float, deviation: float) -> bool:
        before = float((self.model.weights * query).sum()) * self.model.total
        self._note(number, deviation, abs(value - before))
        self.known.evidence.asked.append(AskedQuery(query, value, deviation))
        if self.switches.replay:
            self._refit()
        else:
            self.model = self.model.updated(query, (value - before) / (2 * self.model.total))
        after = float((self.model.weights * query).sum()) * self.model.total
        return abs(after - before) > deviation

    def _refit(self) -> None:
        """All measurements again, from what was known before rounds."""
        evidence = self.known.evidence
        new = [axes for axes in evidence.blocks if axes not in self._before]
        self.fit.strength = strength(evidence, self.fit.base)
        self.fit.strengths |= strengths(evidence, self.fit.base, new) if new else {}
        self.model = self.fit.histogram(REFIT_STEPS)

    def _note(self, chosen: Axes | int, deviation: float, error: float) -> None:
        self.rounds.append(Round(chosen, deviation, error / self.model.total))
