"""MWEM: learn a histogram from its worst queries (Hardt, Ligett and McSherry 2012), and what makes that accurate in practice.

In each round the exponential mechanism chooses a query that the histogram answers badly; it is measured with noise; and the weights of its
cells are multiplied so that the histogram answers better. That is the textbook, and what is left when all switches are off:

- `start`: low-order residuals are measured first, as one vector, and the histogram is fitted to them;
- `replay`: after each measurement the histogram is fitted to all of them, not only moved by the last;
- `adaptive`: a choice has less of a round's price than the measurement, and rounds have more where noise hides what is left to learn;
- `whole`: a workload of marginals is learned by whole marginals, not cell by cell.

Without rounds the residuals of the whole workload are measured, in two draws: of low orders first, then what is worth most by what was
told until then. There noise is Gaussian and fixed up front, so that its price is composed exactly.

Privacy: whatever looks at data is a draw of one grant, whose price is fixed before any data is read, as is the cap on rounds. What is drawn
next depends on released values alone. The histogram is rounded to integers before scores are computed, so that scores are exact integers,
and one unit moves each by at most the sensitivity that the choice is made for.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from discreet.cells import CellCounts, Ints
from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.exact import whole as whole_number
from discreet.mechanisms.guarded import Guarded
from discreet.weights.budget import LearningBudget
from discreet.weights.domain import Domain, Mask, UnitTable
from discreet.weights.histogram import Histogram, check_size
from discreet.weights.labels import label
from discreet.weights.model import Learned
from discreet.weights.residual import closure
from discreet.weights.residual_start import Start
from discreet.weights.workload import Workload
from discreet.weights.worst import LearningRounds, Progress, Switches

TEXTBOOK_ROUNDS = 10
MOST_ROUNDS = 1_000


def mwem(
    table: UnitTable,
    attributes: Any = None,
    *,
    epsilon: Number,
    delta: Number = 0,
    workload: int | Workload = 3,
    rounds: int | None = None,
    key: str | None = None,
    impossible: Sequence[Mask] = (),
    progress: Callable[[Progress], None] | None = None,
    start: bool = True,
    replay: bool = True,
    adaptive: bool = True,
    whole: bool = True,
) -> Learned:
    """A histogram of a table's units by these attributes, learned with (ε, δ)-differential privacy so that it answers a workload.

    `workload` is an order, for all marginals of so many attributes, or a `Workload`. `rounds` is the most rounds of choosing and
    measuring; None leaves it to `rounds_for`, and 0 measures residuals only. Cells in a mask of `impossible` have no weight. Whoever
    was stopped calls again with the same `key`, and gets what was released before. `progress` is called after each measurement.
    """
    domain = Domain(table.attributes(attributes))
    check_size(domain)
    asked = _workload(domain, workload)
    switches = Switches(start, replay, adaptive, whole and asked.whole)
    most = rounds_for(asked, switches) if rounds is None else _rounds(rounds)
    base = Histogram.even(domain, 1.0, impossible)
    starting = Start.of(asked, switches.start)
    if not most and not starting.residuals:
        raise Invalid(
            "without a start and without rounds nothing is measured", hint="leave out start=False, or rounds=0"
        )
    if most or not delta:
        budget = LearningBudget.in_parts(table.relation, epsilon, delta)
    else:
        budget = LearningBudget.in_shares(table.relation, epsilon, delta, starting.shares)
    exact = cells_once(table.counts(domain.attributes), len(domain.shape))
    queries = [(group.axes, group.steps) for group in asked.groups]
    said = label("histogram", domain, queries, asked.unit, most, tuple(switches), list(impossible))
    with table.measure(budget.event, label=said, key=key, promise=budget.promise) as grant:
        known = starting.learned(grant, budget, exact, base, rounds=most)
        if progress is not None:
            progress(Progress(0, most, known.model))
        learning = LearningRounds(grant, budget, exact, asked, switches, known)
        model = learning.run(most, progress)
    inside = [each.axes for each in closure(domain, starting.targets) if each.axes]
    measured = tuple(known.evidence.marginals(inside))
    return Learned(model, measured, budget.event, budget.promise, table.relation, tuple(learning.rounds))


def rounds_for(workload: Workload, switches: Switches) -> int:
    """The most rounds where nobody says: none for marginals, which residuals told best on nearly all data that were tried
    (docs/weights.md); else as many as there are attributes, and not fewer than in the textbook."""
    if switches.start and workload.whole:
        return 0
    return max(TEXTBOOK_ROUNDS, len(workload.domain.shape))


def _rounds(rounds: object) -> int:
    most = whole_number(rounds, "rounds")
    if most > MOST_ROUNDS:
        raise Invalid(f"rounds must be at most {MOST_ROUNDS}, got {shown(rounds)}")
    return most


def _workload(domain: Domain, workload: object) -> Workload:
    if not isinstance(workload, Workload):
        return Workload.margins(domain, whole_number(workload, "workload", least=1))
    if workload.domain != domain:
        raise Invalid(
            "the workload is of another domain than the attributes",
            code="workload",
            hint="make it for Domain(table.attributes(…)) of the same attributes",
        )
    return workload


def cells_once(counts: Callable[[], CellCounts], axes: int) -> Callable[[], Ints]:
    """The exact counts of all cells as one array, read once, and for draws alone."""
    return Guarded(cache(lambda: counts().marginal(range(axes))))
