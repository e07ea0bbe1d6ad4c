"""Plans of questions whose limits nobody declared: each limit is found first, with a part of the price, then the answer is made with it.

    find max_groups ── find max_rows ── find max_total ── count people, and those beyond ── answer
    (people by groups)    (an L2 clip)                                                         (one stage for each rung)

How the price is split: a quarter finds limits (of max_rows and max_total together the first takes a third), a tenth goes to two
counts, the rest is the answer's. Kind of noise, shares of measurements and grids are the same for every rung: noise is geometric, and
Gaussian where people are shortened to an L2 norm. Figures by simulation are in docs/limits.md.
"""

from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

from discreet.errors import Fault, Invalid
from discreet.mechanisms import Geometric
from discreet.plan.about import about_persons, about_rounding, advice, more_than
from discreet.plan.caps import Caps, Limit
from discreet.plan.check import event_of
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.draft import Draft, gathered
from discreet.plan.ladder import TOP, doublings, ladder, nearest
from discreet.plan.measurement import Measurement
from discreet.plan.noise import Split, gaussian, geometric
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    Contributions,
    Exceeding,
    Filled,
    Filter,
    Rows,
    Scan,
    Totals,
    Typed,
    contributions_of,
)
from discreet.plan.stages import noise_wanted, stage_of
from discreet.plan.steps.base import Step
from discreet.plan.steps.search import Search, searching
from discreet.plan.steps.tally import Tally
from discreet.plan.written import notation

LEAST_EPSILON = Fraction(1, 10**6)
"""The least price at which limits are found."""

FINDING = Fraction(1, 4)
"""Of the price, for all limits together."""

COUNTING = Fraction(1, 10)
"""Of the price, for the two counts."""

WEIGHTS = {Limit.GROUPS: 1, Limit.ROWS: 1, Limit.TOTAL: 2}
"""How the price of limits is split over those that are found."""

FEW = Fraction(5, 2)
"""So many people, over the ε of a search, may be beyond a limit: noise hides about as many."""

TYPICAL = 32
"""The limit, or the rung next to it, at which the price of an answer is split over its measurements."""

ENOUGH = 500
"""So many people, over the ε that finds limits, make a found limit a good one."""


def finding(draft: Draft, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a question that lacks limits. It is still to be checked."""
    person, relation, lacking = draft.protected.person, draft.protected.relation, draft.missing
    if epsilon < LEAST_EPSILON:
        raise Invalid(
            f"at ε = {six_digits(epsilon)} no limit can be found on what of a {person} counts",
            code="price",
            hint="ask at ε = 0.000001 or more, or declare the limit",
        )
    if person is None:
        raise Fault("limits are of people, and here each row is a unit of its own", code="plan")
    typical = _typical(draft)
    requests, rest = noise_wanted(draft, typical), epsilon * (1 - FINDING - COUNTING)
    split = gaussian(requests, rest, delta) if draft.clip else geometric(requests, rest)
    stage = _found(draft, draft.caps, epsilon, split)
    example = stage_of(draft, typical, split)
    limits = " and ".join(limit.value for limit in lacking)
    return Plan(
        question=draft.question,
        stage=stage,
        relation=relation,
        people=draft.protected.people,
        event=event_of(stage, relation),
        epsilon=epsilon,
        delta=delta if draft.clip else Fraction(0),
        notes=(
            f"rows without a {person} are left out",
            f"nobody declared {limits}: found for this question, with {100 * float(FINDING):g} % of its price",
            *draft.notes,
        ),
        assumed=tuple(advice(draft.question, example)),
        topic=topic(draft),
    )


def _found(draft: Draft, caps: Caps, epsilon: Fraction, split: Split) -> Stage | Step:
    """The steps that find what is lacking, within limits that are known or were found, and the stage behind them."""
    lacking = draft.missing
    left = [limit for limit in lacking if _known(caps, limit) is None]
    if not left:
        return _counted(draft, lacking[-1], caps, epsilon, split)
    limit, rungs = left[0], _rungs(left[0], caps, draft.cells, draft.protected.top_total)
    share = Fraction(WEIGHTS[limit], sum(WEIGHTS[each] for each in lacking))
    stages = tuple(_found(draft, caps.limited(limit, rung), epsilon, split) for rung in rungs)
    query = Totals(Exceeding(_people(draft, caps, limit), limit.extent, rungs[:-1]))
    price = epsilon * FINDING * share
    return Search(query, limit.value, rungs, searching(price, _few(price, epsilon, draft.cells)), stages)


def _people(draft: Draft, caps: Caps, limit: Limit) -> Contributions | CapRows | CapGroups:
    """What people have, within limits that are known. All rows of a person are counted without groups, where none are capped."""
    capped = gathered(draft, caps, ())
    return replace(capped, keys=()) if limit is Limit.TOTAL and isinstance(capped, Contributions) else capped


def topic(draft: Draft) -> str:
    """A name for what is found for a draft that lacks limits: equal where the same limits are found of the same rows of people."""
    people = _people(draft, draft.caps, draft.missing[0])
    everybody = contributions_of(people)
    known = (draft.caps.rows, draft.caps.groups, draft.caps.total, *(each.value for each in draft.missing))
    asked = notation((_rows_alone(everybody.source), everybody.person, everybody.keys, known))
    return sha256(asked.encode()).hexdigest()


def _rows_alone(rows: Rows) -> Rows:
    """A relation, whichever columns are read of it besides those of its conditions, and as what."""
    match rows:
        case Scan():
            return replace(rows, columns=())
        case Filled() | Typed():
            return _rows_alone(rows.source)
        case Filter():
            return replace(rows, source=_rows_alone(rows.source))
    return rows


def _few(price: Fraction, epsilon: Fraction, cells: int) -> int:
    """How many people may be beyond a limit. What it cuts is shared by all groups, each of which has noise of its own: the more there
    are, the more people are better cut. That is public, so the search may know it."""
    return round(max(FEW / price, cells / (4 * epsilon * (1 - FINDING - COUNTING))))


def _counted(draft: Draft, limit: Limit, caps: Caps, epsilon: Fraction, split: Split) -> Tally:
    """Two counts of people, then the answer."""
    stage = stage_of(draft, caps, split)
    limits = about_persons(draft.protected, caps, stage.query, draft.cells)[:-1]
    told = replace(stage, notes=(*limits, *about_rounding(stage, draft.protected.people)))
    below = _people(draft, draft.caps, limit)
    most = _known(caps, limit) or 0
    query = Totals(Exceeding(below, limit.extent, (0, most)))
    noise = Geometric(2 / (epsilon * COUNTING))
    counts = tuple(
        Measurement(noise, Fraction(1), Fraction(1), name, Combination.plain(i))
        for i, name in enumerate(("people", "people beyond"))
    )
    enough = int(ENOUGH / (epsilon * FINDING))
    return Tally(query, counts, more_than(most, limit.extent, draft.cells), enough, told)


def _known(caps: Caps, limit: Limit) -> int | None:
    return {Limit.ROWS: caps.rows, Limit.GROUPS: caps.groups, Limit.TOTAL: caps.total}[limit]


def _rungs(limit: Limit, caps: Caps, cells: int, top: int | None) -> tuple[int, ...]:
    """The public ladder of a limit, up to where it would leave nothing out, or to a top that a survey tells."""
    match limit:
        case Limit.GROUPS:
            return ladder(cells)
        case Limit.ROWS:
            # below the top, so that all rows can be more than those in a group
            return doublings(TOP >> 1)
    groups = cells if caps.groups is None else min(caps.groups, cells)
    if caps.rows is None:
        return ladder(max(2, top or TOP))
    return ladder(min(TOP, max(caps.rows + 1, caps.rows * groups)), least=caps.rows)


def _typical(draft: Draft) -> Caps:
    """Limits as they may be found, for what is fixed for all of them."""
    caps = draft.caps
    for limit in draft.missing:
        rungs = _rungs(limit, caps, draft.cells, draft.protected.top_total)
        caps = caps.limited(limit, rungs[nearest(rungs, TYPICAL)])
    return caps
