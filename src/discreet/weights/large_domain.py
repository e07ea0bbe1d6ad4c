"""Learn a model of a large domain: the attributes alone, then a look at all pairs, then the pairs that are worth their noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod, sqrt
from typing import Any

import numpy as np

from discreet.cells import CellCounts
from discreet.errors import Invalid, Refused
from discreet.exact import Number, shown, whole
from discreet.mechanisms.measure import Grant
from discreet.weights.domain import Domain, Mask, UnitTable
from discreet.weights.estimation import Barred, Potentials, barriers, estimated, parted, pooled, total_of
from discreet.weights.factors import Axes
from discreet.weights.graphical import Factored
from discreet.weights.junction import JunctionTree, junction_tree
from discreet.weights.labels import label
from discreet.weights.model import Learned, NoisyMarginal, Round
from discreet.weights.pairs import Chooser, anything_shows
from discreet.weights.propagation import Cliques, propagated
from discreet.weights.stages import NORM, Stages, VectorStage, Weighed, drawn, noted, stages_for, weighed_by

MOST_CELLS = 1 << 18
"""Cells of all cliques together, if nothing else is said: a fit takes about that many times 10 µs."""

LOOKED, MEASURED = 1 / 3, 2 / 3
"""The power of a pair's number of cells that its precision is proportional to, when it is looked at and when it is measured."""

ROUGH, FINE = 60, 250
"""Steps of a fit by which pairs are chosen, and of the last one."""

Progress = Callable[[str], object]


def factored(
    table: UnitTable,
    attributes: Any = None,
    *,
    epsilon: Number,
    delta: Number,
    workload: int = 3,
    rounds: int | None = None,
    most_cells: int = MOST_CELLS,
    key: str | None = None,
    impossible: Sequence[str | Mask] = (),
    progress: Progress | None = None,
) -> Learned:
    """A model of the margins of a table by these attributes, whose domain may be far too large to be listed.

    It is (epsilon, delta)-DP: four draws of Gaussian noise, which are charged before the first one. `workload` is how many attributes
    questions are about: with 1 attributes are measured alone, with more also in pairs. At most `rounds` pairs are chosen, and the
    cliques of the model have `most_cells` cells together at most; both bound time and memory, not privacy. `impossible` are
    conditions that nobody meets, as text that the table knows or as masks over the domain: the model has no mass there. Under a `key`
    whoever is stopped enters again, and goes on. `progress` is told in words what is being done.
    """
    domain = Domain(table.attributes(attributes))
    whole(workload, "workload", least=1)
    if rounds is not None:
        whole(rounds, "rounds", least=0)
    barred = tuple(_barred(domain, each, table) for each in impossible)
    _possible(domain, barred, whole(most_cells, "most_cells", least=1))
    stages = stages_for(table.relation, epsilon, delta)
    alone = tuple((axis,) for axis in range(len(domain.shape)))
    pairs = () if workload == 1 or rounds == 0 else _pairs(domain, most_cells)
    weighed_by(
        (*alone, *pairs), domain.shape, MEASURED
    )  # more than one draw can weigh is refused before anything is spent
    said = label("model of margins", domain, workload, rounds, most_cells, [(each.axes, each.cells) for each in barred])
    with table.measure(stages.event, label=said, key=key, promise=stages.promise) as grant:
        learning = _Learning(
            domain, stages, grant, table.counts(domain.attributes), barred, most_cells, rounds, progress or _silent
        )
        return learning.learned(alone, pairs)


def _silent(words: str) -> None:
    """Nobody listens."""


def _pairs(domain: Domain, most_cells: int) -> tuple[Axes, ...]:
    """All pairs that are small enough to be in a model at all."""
    every = combinations(range(len(domain.shape)), 2)
    return tuple(pair for pair in every if prod(domain.shape[axis] for axis in pair) <= most_cells)


def _barred(domain: Domain, condition: "str | Mask", table: UnitTable) -> Barred:
    """A condition that nobody meets, over the attributes that it depends on."""
    mask = table.cells(condition, domain.attributes) if isinstance(condition, str) else np.asarray(condition)
    lengths = tuple(zip(mask.shape, domain.shape, strict=False))
    if mask.dtype != bool or mask.ndim != len(domain.shape) or any(length not in (1, size) for length, size in lengths):
        raise Invalid(
            f"an impossible condition must be a mask of True and False over {len(domain.shape)} attributes, got {shown(mask.shape)}",
            hint="one axis for each attribute, of its number of cells, or of length 1 where it does not matter",
        )
    axes = tuple(axis for axis, length in enumerate(mask.shape) if length > 1)
    return Barred(axes, mask.reshape([domain.shape[axis] for axis in axes]))


def _possible(domain: Domain, barred: tuple[Barred, ...], most_cells: int) -> None:
    """Invalid where the domain, or what is said to be impossible, needs more cells than are allowed, or where nothing is possible."""
    tree = junction_tree([each.axes for each in barred], domain.shape)
    if tree.cells(domain.shape) > most_cells:
        raise Invalid(
            f"attributes and impossible conditions need {tree.cells(domain.shape):,} cells at least; most_cells is {most_cells:,}",
            hint="allow more cells, or give conditions on fewer attributes",
        )
    cliques = Cliques(tree, domain.shape)
    log_total, _ = propagated(cliques, barriers(cliques, barred))
    if log_total == -np.inf:
        raise Invalid("the impossible conditions leave no cell of the domain", hint="leave one of them out")


@dataclass(frozen=True, slots=True)
class ChosenPairs:
    """The pairs that were chosen, in order, each with the distance that it showed."""

    pairs: tuple[Axes, ...] = ()
    gains: tuple[float, ...] = ()


@dataclass(slots=True)
class _Learning:
    """A model that is being learned: what was measured so far, and where the next fit may start."""

    domain: Domain
    stages: Stages
    grant: Grant
    counts: Callable[[], CellCounts]
    barred: tuple[Barred, ...]
    most_cells: int
    rounds: int | None
    progress: Progress
    measured: list[NoisyMarginal] = field(default_factory=list)
    start: Potentials = field(default_factory=dict)

    def learned(self, attributes: tuple[Axes, ...], pairs: tuple[Axes, ...]) -> Learned:
        """All draws, in their order, and the model that they give."""
        alone = weighed_by(attributes, self.domain.shape, MEASURED)
        self._draw(self.stages.margins, alone, "each attribute alone")
        choice = self._choice(pairs, alone) if pairs and self.measured else self._no_choice(alone)
        last = self._draw(self.stages.last, self._last(alone, pairs, choice), "what was chosen")
        if not self.measured:
            raise Refused("all draws were lost; they stay spent", code="draw-lost", hint="learn under a new key")
        self.progress("the last fit")
        model, stages = self._fitted(choice.pairs, FINE), self.stages
        rounds = _rounds(choice, (*self.measured, *last), model.total)
        return Learned(model, tuple(self.measured), stages.event, stages.promise, stages.relation, rounds)

    def _draw(self, stage: VectorStage, weighed: Weighed, words: str) -> list[NoisyMarginal]:
        self.progress(words)
        found = drawn(self.grant, stage, self.counts, weighed)
        self.measured += found
        return found

    def _no_choice(self, alone: Weighed) -> ChosenPairs:
        """What would have been a second look is of attributes alone."""
        self._draw(self.stages.second, alone, "each attribute alone, again")
        return ChosenPairs()

    def _choice(self, pairs: tuple[Axes, ...], alone: Weighed) -> ChosenPairs:
        """One look at all pairs, a second one where the first shows anything, and what both say is worth measuring."""
        weighed = weighed_by(pairs, self.domain.shape, LOOKED)
        looks = self._draw(self.stages.look, weighed, f"a look at {len(pairs)} pairs")
        shows = anything_shows(looks, self._fitted((), ROUGH))
        if not noted(self.grant, [shows])[0]:
            return self._no_choice(alone)
        looks += self._draw(self.stages.second, weighed, "a second look")
        self.progress("choosing pairs")
        found = self._chooser(looks).choice()
        flat = noted(self.grant, [each for pair, gain in found.items() for each in (pairs.index(pair), round(gain))])
        return ChosenPairs(tuple(pairs[each] for each in flat[::2]), tuple(map(float, flat[1::2])))

    def _chooser(self, looks: list[NoisyMarginal]) -> Chooser:
        shape = self.domain.shape
        base = sum(length**MEASURED for length in shape)

        def deviation(chosen: Sequence[Axes], pair: Axes) -> float:
            """Of a pair that is measured last, beside others and each attribute alone."""
            sizes = [prod(shape[axis] for axis in each) ** MEASURED for each in (pair, *chosen)]
            return self.stages.last.deviation(1) / (NORM * sqrt(sizes[0] / (base + sum(sizes))))

        fixed = tuple(each.axes for each in self.barred)
        return Chooser(pooled(looks), shape, self.most_cells, fixed, self._rough, deviation, self.rounds)

    def _last(self, alone: Weighed, pairs: tuple[Axes, ...], choice: ChosenPairs) -> Weighed:
        """Attributes alone, and all pairs that lie in a clique: once a clique is there, a pair more in it takes no more time."""
        tree = self._tree(choice.pairs)
        inside = [pair for pair in pairs if choice.pairs and tree.home(pair) is not None]
        return weighed_by((*alone.scopes, *inside), self.domain.shape, MEASURED)

    def _tree(self, pairs: Sequence[Axes]) -> JunctionTree:
        return junction_tree((*(each.axes for each in self.barred), *pairs), self.domain.shape)

    def _rough(self, pairs: Sequence[Axes]) -> Factored:
        return self._fitted(pairs, ROUGH)

    def _fitted(self, pairs: Sequence[Axes], steps: int) -> Factored:
        """The model of a tree, by whatever was measured; it starts where the one before ended.

        A pair that is in no clique tells of its two attributes alone.
        """
        tree, total = self._tree(pairs), total_of(self.measured)
        inside = [
            part for each in self.measured for part in ([each] if tree.home(each.axes) is not None else parted(each))
        ]
        cliques = Cliques(tree, self.domain.shape)
        fit = estimated(cliques, inside, total, self.barred, start=self.start, steps=steps)
        self.start = fit.potentials
        return Factored(self.domain, total, fit.shares)


def _rounds(choice: ChosenPairs, measured: Sequence[NoisyMarginal], total: float) -> tuple[Round, ...]:
    """The pairs that were chosen, with the last deviation that each was measured with."""
    deviations = {each.axes: each.deviation for each in measured}
    chosen = zip(choice.pairs, choice.gains, strict=True)
    return tuple(Round(pair, deviations[pair], gain / total) for pair, gain in chosen)
