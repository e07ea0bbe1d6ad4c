"""Plans of questions for which something must be found first, with a part of the price: keys, ranges and limits that nobody declared.

    find keys, column by column ── find ranges, one by one ── find max_groups ── find max_rows ── find max_total ── count ── answer
                                   (of rows in the groups)    (people by groups)   (an L2 clip)               (for each rung)

Two counts come before the answer where a limit was found: of people, and of those beyond it. Ranges are of rows before any are cut by a
limit, as limits cut people and not values; and they come before limits, since what follows the rungs of a ladder is listed.

How the price is split is in `price`; of max_rows and max_total together the first takes a third of what limits have. Kind of noise, shares
of measurements and grids are the same for every rung and for all keys: noise is geometric, and Gaussian where people are shortened to an
L2 norm. The form of a plan is that for as many groups as there may be; its noise is made for those that there are, which is public once
their keys are released. Figures by simulation are in docs/limits.md, docs/keys.md and docs/ranges.md.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

from discreet.errors import Fault, Invalid
from discreet.mechanisms import Geometric
from discreet.mechanisms.keys import KeysByName, LaplaceThreshold, OptimalKeys
from discreet.plan.about import about_division, about_persons, about_readings, about_rounding, advice, more_than
from discreet.plan.caps import Caps, Limit
from discreet.plan.catalog import MOST_KEYS
from discreet.plan.check import ROUNDED, event_of
from discreet.plan.column_limits import groups_limit
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.draft import Draft, keys_each, with_keys, with_range
from discreet.plan.explain import said
from discreet.plan.gathering import gathered
from discreet.plan.ladder import TOP, doublings, ladder, nearest, signed
from discreet.plan.level_drafts import about_levels
from discreet.plan.measurement import Measurement
from discreet.plan.noise import Split, gaussian, geometric
from discreet.plan.once import once
from discreet.plan.parts import InPart
from discreet.plan.plan import Plan, Stage
from discreet.plan.price import LEAST_EPSILON, Shares, shares
from discreet.plan.range import FoundRange
from discreet.plan.reading import ReadingPrice
from discreet.plan.relation import (
    ONE,
    CapGroups,
    CapRows,
    Contributions,
    Exceeding,
    Filled,
    Filter,
    How,
    Rows,
    Scan,
    Term,
    Totals,
    Typed,
    contributions_of,
)
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import IsNull, Not, Value, type_of
from discreet.plan.stages import noise_wanted, readings_wanted, stage_of
from discreet.plan.steps.base import Step
from discreet.plan.steps.keys import FindKeys
from discreet.plan.steps.range import FindRange, beyond
from discreet.plan.steps.search import Search, searching
from discreet.plan.steps.tally import Tally
from discreet.plan.written import notation
from discreet.privacy import Adjacency

WEIGHTS = {Limit.GROUPS: 1, Limit.ROWS: 1, Limit.TOTAL: 2}
"""How the price of limits is split over those that are found."""

FEW = Fraction(5, 2)
"""So many people, over the ε of a search, may be beyond a limit: noise hides about as many."""

FEW_BEYOND = 5
"""So many people, over the ε of a search, may be beyond an end of a range. A range is on a ladder that goes on far beyond all values, and
with so many a search runs to its end once in about 17,000 times; with 2.5, as for limits, once in 3,000."""

TYPICAL = 32
"""The limit, or the rung next to it, at which the price of an answer is split over its measurements."""

ENOUGH = 500
"""So many people, over the ε that finds limits, make a found limit a good one."""


LEAST_OPTIMAL = Fraction(1, 500)
"""The ε of a key from which on the rule that keeps most is used; below it is a table of too many steps."""

FEWEST = 3
"""A ladder of groups has so many rungs at least, however few keys were found."""


@dataclass(frozen=True, slots=True)
class SplitPrice:
    """The price of a question, and how it is split."""

    epsilon: Fraction
    delta: Fraction
    """For keys."""

    shares: Shares
    split: Split | None
    """The noise of the answer; None where nothing needs noise."""

    shared: ReadingPrice
    """What is read beside the totals, and its price."""

    columns: int
    """Of how many key columns the keys are found."""

    keys: int
    """How many keys of each are used at most."""

    ranges: int
    """Of how many arguments the range is found."""


def finding(draft: Draft, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a question that lacks keys, ranges or limits. It is still to be checked."""
    relation, lacking, unknown = draft.protected.relation, draft.missing, None in draft.domains
    if epsilon < LEAST_EPSILON:
        raise Invalid(
            f"at ε = {six_digits(epsilon)} nothing can be found for a question",
            code="price",
            hint="ask at ε = 0.000001 or more, or declare what is to be found",
        )
    if draft.protected.person is None and lacking:
        raise Fault("limits are of people, and here each row is a unit of its own", code="plan")
    parts = shares(keys=unknown, ranges=bool(draft.sought), limits=bool(lacking))
    typical = _typical(draft)
    requests = noise_wanted(draft, typical)
    shared = ReadingPrice.of(readings_wanted(draft), len(requests), epsilon * parts.answer)
    rest = epsilon * parts.answer - shared.cost
    of_keys = Fraction(0) if not unknown else delta / 2 if draft.clip else delta
    split = None
    if requests:
        split = gaussian(requests, rest, delta - of_keys) if draft.clip else geometric(requests, rest)
        if draft.clip and draft.sought:
            # what noise is rounded to differs by the range that is found, and is paid for beforehand
            split = replace(split, size=split.size * (1 + 2 * ROUNDED))
    budget = SplitPrice(
        epsilon, of_keys, parts, split, shared, draft.domains.count(None), keys_each(draft.domains), len(draft.sought)
    )
    stage = _next(draft, budget)
    return Plan(
        question=draft.question,
        stage=stage,
        relation=relation,
        people=draft.protected.people,
        event=event_of(stage, relation),
        epsilon=epsilon,
        delta=delta if draft.clip or unknown else Fraction(0),
        notes=(*_about_finding(draft, parts), *draft.notes, *about_levels(draft)),
        assumed=(*advice(draft.question, stage_of(draft, typical, split, shared)), *about_division(draft.question)),
        topic=topic(draft) if lacking and not unknown else "",
        range_topics=() if unknown else tuple((said(each.argument), range_topic(draft, each)) for each in draft.sought),
    )


def _about_finding(draft: Draft, parts: Shares) -> list[str]:
    person, lacking = draft.protected.person, draft.missing
    notes = [] if person is None else [f"rows without a {person} are left out"]
    names = [said(asked) for asked, known in zip(draft.question.keys, draft.domains, strict=True) if known is None]
    if names:
        notes.append(
            f"nobody declared the keys of {' and '.join(names)}: found for this question, with {100 * float(parts.keys):g} % of its price"
        )
    if len(draft.domains) > 1 and names:
        notes.append("all combinations of keys are shown, also those that nobody has")
    for argument in dict.fromkeys(said(each.argument) for each in draft.sought):
        notes.append(
            f"nobody declared the range of {argument}: found for this question, with"
            f" {100 * float(parts.ranges) / len(draft.sought):g} % of its price"
        )
    if lacking:
        limits = " and ".join(limit.value for limit in lacking)
        notes.append(
            f"nobody declared {limits}: found for this question, with {100 * float(parts.limits):g} % of its price"
        )
    return notes


def _next(draft: Draft, budget: SplitPrice) -> Stage | Step:
    """The steps that find what is lacking, keys first, and the stage behind them."""
    if None in draft.domains:
        return _keys(draft, draft.domains.index(None), budget)
    if draft.sought:
        return _range(draft, draft.sought[0], budget)
    if draft.missing:
        return _limited(draft, draft.caps, budget)
    stage = stage_of(draft, draft.caps, budget.split, budget.shared)
    limits = about_persons(draft.protected, draft.caps, stage, len(draft.groups))
    return replace(stage, notes=(*limits[:-1], *about_rounding(stage, draft.protected.people), *about_readings(stage)))


# Keys.


@dataclass(frozen=True, slots=True)
class AfterKeys:
    """What comes after the keys in one place were found."""

    draft: Draft
    place: int
    budget: SplitPrice

    def filled(self, keys: tuple[Value, ...]) -> Stage | Step:
        """The rest of the plan, for these keys."""
        return _next(with_keys(self.draft, self.place, keys), self.budget)


def _keys(draft: Draft, place: int, budget: SplitPrice) -> FindKeys:
    """The step that finds the keys in one place; each place has an equal part of the price of all of them."""
    key, person = draft.keys[place], draft.protected.person
    most = _keys_of_a_person(draft, place)
    rows = Filter(draft.rows, Not(IsNull(key)))
    if person is None:
        query = Totals(rows, (key,), (Term(How.SUM, ONE),))
    else:
        each = Contributions(rows, draft.person, (key,), (Term(How.ANY, ONE),))
        query = Totals(CapGroups(each, most))
    changed = most if draft.protected.adjacency is Adjacency.ADD_REMOVE else 2 * most
    each_epsilon, each_delta = budget.epsilon * budget.shares.keys / budget.columns, budget.delta / budget.columns
    return FindKeys(
        query,
        said(draft.question.keys[place]),
        type_of(key),
        selecting(each_epsilon, each_delta, changed),
        budget.keys,
        "rows" if person is None else "people",
        AfterKeys(draft, place, budget),
    )


def selecting(epsilon: Fraction, delta: Fraction, groups: int) -> KeysByName:
    """The rule that is (ε, δ)-DP where a neighbour changes the counts of so many keys."""
    kind = OptimalKeys if epsilon >= LEAST_OPTIMAL * groups else LaplaceThreshold
    return KeysByName(kind.for_budget(epsilon, delta, groups=groups))


def _keys_of_a_person(draft: Draft, place: int) -> int:
    """A person counts in as many keys as is declared of the column, else in one; a row has one."""
    if draft.protected.person is None:
        return 1
    return min(groups_limit((draft.keys[place],), draft.scope.unfiltered) or 1, MOST_KEYS)


# Ranges.


@dataclass(frozen=True, slots=True)
class AfterRange:
    """What comes after a range was found."""

    draft: Draft
    budget: SplitPrice

    def filled(self, span: FoundRange) -> Stage | Step:
        """The rest of the plan, for this range."""
        return _next(with_range(self.draft, span), self.budget)


def _range(draft: Draft, sought: FoundRange, budget: SplitPrice) -> FindRange:
    """The step that finds one range; each has an equal part of the price of all of them, and half of that each end."""
    argument, person = sought.argument, draft.protected.person
    rungs = signed(whole=facts_of(argument, draft.scope).integral)
    if person is None:
        query = Totals(draft.source, (), beyond(argument, rungs, How.SUM))
    else:
        query = Totals(Contributions(draft.source, draft.person, (), beyond(argument, rungs, How.ANY)))
    price = budget.epsilon * budget.shares.ranges / (2 * budget.ranges)
    return FindRange(
        query,
        argument,
        said(argument),
        rungs,
        searching(price, round(FEW_BEYOND / price)),
        "rows" if person is None else "people",
        AfterRange(draft, budget),
    )


def range_topic(draft: Draft, sought: FoundRange) -> str:
    """A name for a range: equal where it is of the same argument of the same rows of people."""
    person = draft.protected.person
    rows = _rows_alone(draft.source)
    asked = notation((rows, None if person is None else draft.person, sought.argument))
    return sha256(f"range {asked}".encode()).hexdigest()


# Limits.


def _limited(draft: Draft, caps: Caps, budget: SplitPrice) -> Stage | Step:
    """The steps that find the limits that are lacking, within limits that are known or were found, and the stage behind them."""
    lacking = draft.missing
    left = [limit for limit in lacking if _known(caps, limit) is None]
    if not left:
        return _counted(draft, lacking[-1], caps, budget)
    limit, rungs = left[0], _rungs(left[0], caps, draft.known, draft.protected.top_total)
    share = Fraction(WEIGHTS[limit], sum(WEIGHTS[each] for each in lacking))
    stages = tuple(_limited(draft, caps.limited(limit, rung), budget) for rung in rungs)
    query = Totals(Exceeding(_people(draft, caps, limit), limit.extent, rungs[:-1]))
    price = budget.epsilon * budget.shares.limits * share
    return Search(query, limit.value, rungs, searching(price, _few(price, len(draft.groups), budget)), stages)


@once
def _people(draft: Draft, caps: Caps, limit: Limit) -> Contributions | CapRows | CapGroups:
    """What people have, within limits that are known. All rows of a person are counted without groups, where none are capped."""
    capped = gathered(draft, caps.rows, caps.groups, terms=False)
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
        case Filter() | InPart():
            return replace(rows, source=_rows_alone(rows.source))
    return rows


def _few(price: Fraction, cells: int, budget: SplitPrice) -> int:
    """How many people may be beyond a limit. What it cuts is shared by all groups, each of which has noise of its own: the more there
    are, the more people are better cut. That is public, so the search may know it."""
    return round(max(FEW / price, cells / (4 * budget.epsilon * budget.shares.answer)))


def _counted(draft: Draft, limit: Limit, caps: Caps, budget: SplitPrice) -> Tally:
    """Two counts of people, then the answer."""
    stage = stage_of(draft, caps, budget.split, budget.shared)
    limits = about_persons(draft.protected, caps, stage, len(draft.groups))[:-1]
    told = replace(stage, notes=(*limits, *about_rounding(stage, draft.protected.people), *about_readings(stage)))
    below = _people(draft, draft.caps, limit)
    most = _known(caps, limit) or 0
    query = Totals(Exceeding(below, limit.extent, (0, most)))
    enough = int(ENOUGH / (budget.epsilon * budget.shares.limits))
    return Tally(query, _counts(budget), more_than(most, limit.extent, len(draft.groups)), enough, told)


@once
def _counts(budget: SplitPrice) -> tuple[Measurement, ...]:
    noise = Geometric(2 / (budget.epsilon * budget.shares.counts))
    return tuple(
        Measurement(noise, Fraction(1), Fraction(1), name, Combination.plain(i))
        for i, name in enumerate(("people", "people beyond"))
    )


def _known(caps: Caps, limit: Limit) -> int | None:
    return {Limit.ROWS: caps.rows, Limit.GROUPS: caps.groups, Limit.TOTAL: caps.total}[limit]


def _rungs(limit: Limit, caps: Caps, cells: int, top: int | None) -> tuple[int, ...]:
    """The public ladder of a limit, up to where it would leave nothing out, or to a top that a survey tells."""
    match limit:
        case Limit.GROUPS:
            return ladder(max(cells, FEWEST))
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
        rungs = _rungs(limit, caps, draft.known, draft.protected.top_total)
        caps = caps.limited(limit, rungs[nearest(rungs, TYPICAL)])
    return caps
