"""The way from a question to a private plan: the groups, the terms, the caps, the noise and the price. All of it from what is declared."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import Invalid, QueryError, Refused
from discreet.exact import Number, positive, probability, rational, shown
from discreet.plan.caps import Caps, caps_of
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.check import check, event_of
from discreet.plan.column_limits import within_columns
from discreet.plan.domain import complete, constant_of, groups_of, whole_key
from discreet.plan.explain import said, six_digits
from discreet.plan.intervals import predicted
from discreet.plan.noise import PricedNoise, Wanted, allocate, gaussian
from discreet.plan.plan import Measurement, Plan, Stage
from discreet.plan.question import Aggregate, Question
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Filled,
    Filter,
    How,
    Rows,
    Term,
    Totals,
    walk,
)
from discreet.plan.releases.base import Release
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.rules.relations import combined
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column, In, IsNull, Or, Scalar, Value, type_of
from discreet.plan.scope import Scope

MOST_EPSILON = Fraction(10**6)
PUBLIC = (
    "what replacing a row cannot change, such as the number of all rows, is public: it has no noise and costs nothing"
)
MANY_ROWS = 10**7  # whose values, all rounded in one direction, a sum should not be off by more than its noise for
MOST_WITHIN = Fraction(10**18)
LEAST_EPSILON = Fraction(1, 10**6)  # of an accuracy that is asked for


@dataclass(frozen=True, slots=True)
class Draft:
    """All of a plan that does not depend on the budget."""

    question: Question
    scope: Scope
    protected: Protected
    caps: Caps
    source: Rows
    keys: tuple[Scalar, ...]
    groups: tuple[tuple[Value, ...], ...]
    terms: tuple[Term, ...]
    measured: tuple[Measured, ...]
    releases: tuple[Release, ...]
    notes: tuple[str, ...]


def plan_for(question: Question, catalog: Catalog, epsilon: Number, delta: Number = 0) -> Plan:
    """The plan whose answer is (epsilon, delta)-DP under the catalog's relation.

    δ is spent only by Gaussian noise, where that is predicted to be closer.
    """
    asked = rational(epsilon, "epsilon")
    if asked <= 0:
        raise Invalid(
            f"epsilon must be above 0, got {shown(epsilon)}",
            hint="0.1 to 1 a question is usual: less tells less of anyone, and has more noise",
        )
    if asked > MOST_EPSILON:
        raise QueryError(
            f"epsilon must be at most {MOST_EPSILON}", code="epsilon", hint="there is no privacy at such a price"
        )
    return _finished(draft(question, catalog), asked, probability(delta, "delta"))


def plan_within(question: Question, catalog: Catalog, within: Number, delta: Number = 0) -> Plan:
    """The plan of the least epsilon, to four digits, whose predicted ± at 95 % is at most `within` in every column."""
    most, allowed = positive(within, "within"), probability(delta, "delta")
    if most > MOST_WITHIN:
        raise QueryError("within must be at most 10^18", code="within", hint="that is no accuracy; ask for a smaller ±")
    start = draft(question, catalog)

    def meets(epsilon: Fraction) -> bool:
        errors = predicted(_finished(start, epsilon, allowed))
        for each in errors:
            if each.error is None and each.reason and start.protected.people is None:
                raise QueryError(f"within cannot be promised for {each.name!r}: {each.reason}", code="within")
        few = any(each.error is None and each.reason for each in errors)  # at this price
        return not few and all(each.error is None or Fraction(each.error) <= most for each in errors)

    return _finished(start, _least(meets), allowed)


def _least(meets: Callable[[Fraction], bool]) -> Fraction:
    """The least ε, rounded up to four digits, that meets a demand which more ε meets better."""
    high = Fraction(1)
    while not meets(high):
        high *= 10
        if high > MOST_EPSILON:
            raise QueryError("no noise is small enough for this accuracy", code="within", hint="ask for a larger ±")
    low = high / 10
    while low > LEAST_EPSILON and meets(low):
        low, high = low / 10, low
    unit = low / 1000  # low is 1,000 units and high 10,000: four digits
    below, above = 1000, 10_000
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if meets(middle * unit) else (middle, above)
    return above * unit


def draft(question: Question, catalog: Catalog) -> Draft:
    """Groups and terms, or raises QueryError where something is not declared."""
    scope = scope_of(question.source, catalog)
    everything = scope.unfiltered
    keys = tuple(whole_key(key, everything) for key in question.keys)
    groups = groups_of(keys, everything)
    protected = within_columns(catalog.protected, keys, everything)
    shortened, scaled = _shortens(protected, len(groups)), _scales(protected, question.aggregates, len(groups))
    terms = MeasuredTerms(scope, question.aggregates, shortened, scaled)
    releases = tuple(aggregate.kind.planned(aggregate, terms) for aggregate in question.aggregates)
    people = any(term.how is How.ANY for term in terms.terms)
    source, left_out = _within_groups(question, keys, groups)
    notes = (*left_out, *_about_missing(question), *dict.fromkeys(terms.notes))
    return Draft(
        question,
        scope,
        protected,
        caps_of(protected, len(groups), people),
        source,
        keys,
        groups,
        tuple(terms.terms),
        tuple(terms.measured),
        releases,
        notes,
    )


def _shortens(protected: Protected, cells: int) -> bool:
    """Whether people are shortened to an L2 norm, instead of being kept in a few groups."""
    return protected.clip == "l2" and protected.person is not None and cells > 1


def _scales(protected: Protected, aggregates: tuple[Aggregate, ...], cells: int) -> bool:
    """Whether scaling rows to a number of them may leave a fraction: not of all rows, in the one group that there is."""
    if protected.person is None or caps_of(protected, cells, people=False).total is None:
        return False
    return cells > 1 or any(each.argument is not None or each.condition is not None for each in aggregates)


def _within_groups(
    question: Question, keys: tuple[Scalar, ...], groups: tuple[tuple[Value, ...], ...]
) -> tuple[Rows, list[str]]:
    """Leave out rows in no group before anyone's groups are capped, so that a group which is not shown takes no one's place."""
    source, notes = question.source, []
    for i, (key, asked) in enumerate(zip(keys, question.keys, strict=True)):
        if complete(key):
            continue
        values = list(dict.fromkeys(group[i] for group in groups))
        known: Scalar = In(key, tuple(constant_of(value, type_of(key)) for value in values if value is not None))
        source = Filter(source, Or((IsNull(key), known)) if None in values else known)
        notes.append(f"rows whose {said(asked)} is none of its {len(values):,} declared keys are left out")
    return source, notes


def _about_missing(question: Question) -> list[str]:
    """What a row counts with that lacks what is declared never to be missing."""
    return [
        f"a row without {column.name} counts with {said(value)}, the middle of its bounds"
        for part in walk(question.source)
        if isinstance(part, Filled)
        for column, value in part.values
    ]


def _advice(question: Question, stage: Stage) -> list[str]:
    """What would have cost less, as the kinds of release tell it."""
    return [line for each in question.aggregates for line in each.kind.advice(each, question.aggregates, stage)]


def _about_persons(protected: Protected, query: Totals, cells: int) -> list[str]:
    """What the caps do, said of the question and not of the data."""
    if protected.person is None:
        return []
    without = f"rows without a {protected.person} are left out"
    if protected.max_total is not None and not _idle_total(protected, query):
        return [*_about_total(protected.person, protected.max_groups, query, cells), without]
    rows = f"{protected.max_rows} row{'s' if protected.max_rows > 1 else ''}"
    if isinstance(query.source, ClipNorm):
        most = f"{protected.max_groups} group{'s' if protected.max_groups > 1 else ''}"
        length = f"in all with the length of as many in each of {most}"
        return [f"each {protected.person} counts with at most {rows} in a group, and {length}", without]
    counts = f"each {protected.person} counts with at most {rows}"
    if isinstance(query.source, CapGroups):
        return [f"{counts} in a group, and in at most {query.source.most} of the {cells:,} groups", without]
    return [f"{counts} in a group" if cells > 1 else counts, without]


def _idle_total(protected: Protected, query: Totals) -> bool:
    """Whether a limit on all rows was declared, and the others that were allow no more of the rows that are counted."""
    kinds = {type(part) for part in walk(query)}
    return protected.max_total is not None and CapRows in kinds and CapTotal not in kinds


def _about_total(person: str, groups: int, query: Totals, cells: int) -> list[str]:
    """What the caps do that are in a query, where one on all rows was declared. Which of them are depends on what is counted."""
    caps = {type(part): part for part in walk(query)}
    limits = []
    match caps.get(CapTotal):
        case CapTotal(most=most):
            limits.append(f"with at most {most:,} row{'s' if most > 1 else ''}{' in all' if cells > 1 else ''}")
    match caps.get(CapRows):
        case CapRows(most=most):
            limits.append(f"with at most {most:,} row{'s' if most > 1 else ''}{' in a group' if cells > 1 else ''}")
    match caps.get(CapGroups):
        case CapGroups(most=most):
            limits.append(f"in at most {most:,} of the {cells:,} groups")
    if ClipNorm in caps:
        limits.append(f"in all with the length of {groups:,} group{'s' if groups > 1 else ''}")
    return [f"each {person} counts {', and '.join(limits)}"] if limits else []


def _about_assumed(protected: Protected, query: Totals) -> tuple[str, ...]:
    """What the limits leave out that nobody declared, as far as they are in this query, and which limit does nothing.

    The ± tells nothing of what is left out.
    """
    kinds = {type(part) for part in walk(query)}
    applied = [
        ("max_rows", kinds & {CapRows}, "rows in a group"),
        ("max_groups", kinds & {CapGroups, ClipNorm}, "groups"),
    ]
    left_out = [
        f"nobody declared {name}: what a {protected.person} has beyond {getattr(protected, name)} {what} is left out, and the ± does"
        f" not contain it; declare {name} under [unit], by --{name.replace('_', '-')} N, or as an argument"
        for name, value, what in applied
        if value and name in protected.assumed
    ]
    if _idle_total(protected, query):
        left_out.append(
            f"max_total = {protected.max_total} changes nothing here: max_rows and the groups allow no more rows"
        )
    return tuple(left_out)


def query_of(draft: Draft, clip: bool) -> Totals:
    """What an engine will run; with `clip` the norm of each person is limited, instead of the number of groups."""
    protected, caps = draft.protected, draft.caps
    if protected.person is None:
        return Totals(draft.source, draft.keys, draft.terms)
    # as the table spells it, which a unit may be written unlike
    named = draft.scope.named(protected.person)
    person = Column(named.name, named.type)
    gathered = Contributions(draft.source, person, draft.keys, draft.terms)
    of_rows = any(term.how is How.SUM for term in draft.terms)
    capped: Contributions | CapRows = gathered
    if of_rows and caps.rows is not None:
        capped = CapRows(gathered, caps.rows)
    in_groups: Contributions | CapRows | CapGroups = capped
    if not clip and caps.groups is not None and len(draft.groups) > caps.groups:
        in_groups = CapGroups(capped, caps.groups)
    total = CapTotal(in_groups, caps.total) if of_rows and caps.total is not None else None
    if clip and caps.groups is not None:
        return Totals(ClipNorm(total or capped, tuple(map(caps.norm, draft.terms))))
    return Totals(total or in_groups)


def _finished(draft: Draft, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a price, checked."""
    stage, protected = stage_of(draft, epsilon, delta), draft.protected
    losses = [each.mechanism.loss(each.sensitivity) for each in stage.measurements if each.mechanism is not None]
    uses_delta = any(each.pure_epsilon() is None for each in losses)
    plan = Plan(
        question=draft.question,
        stage=stage,
        relation=protected.relation,
        people=protected.people,
        event=event_of(stage, protected.relation),
        epsilon=epsilon if losses else Fraction(0),
        delta=delta if uses_delta else Fraction(0),
        notes=(
            *_about_persons(protected, stage.query, len(stage.domain)),
            *([PUBLIC] if len(losses) < len(stage.measurements) else []),
            *draft.notes,
            *_about_rounding(stage, protected.people),
        ),
        assumed=(*_about_assumed(protected, stage.query), *_advice(draft.question, stage)),
    )
    check(plan)
    return plan


def stage_of(draft: Draft, epsilon: Fraction, delta: Fraction) -> Stage:
    """One reading of the data, with noise for a price. An L2 clip needs Gaussian noise; elsewhere `allocate` chooses."""
    clip = _shortens(draft.protected, len(draft.groups))
    if clip and not delta:
        raise Refused(
            "an L2 clip needs Gaussian noise, and so a delta above 0",
            code="clip",
            hint="allow a delta, or set clip = 'groups'",
        )
    query = query_of(draft, clip)
    requests = _wanted(draft, query)
    noise = (gaussian if clip else allocate)(tuple(requests.values()), epsilon, delta) if requests else ()
    noises = dict(zip(requests, noise, strict=True))
    measurements = tuple(_measurement(each, noises.get(i)) for i, each in enumerate(draft.measured))
    return Stage(query, draft.groups, measurements, draft.releases)


def _measurement(measured: Measured, noise: PricedNoise | None) -> Measurement:
    mechanism, sensitivity = (None, Fraction(0)) if noise is None else (noise.mechanism, noise.sensitivity)
    return Measurement(mechanism, sensitivity, measured.step, measured.said, measured.made, measured.rounding)


def _wanted(draft: Draft, query: Totals) -> dict[int, Wanted]:
    """Which measurements need noise, by their place: all that a neighbour can move."""
    relation, cells = draft.protected.relation, len(draft.groups)
    moved = [combined(each.made, query, relation, cells) for each in draft.measured]
    return {i: Wanted(each, draft.measured[i].width(draft.terms)) for i, each in enumerate(moved) if each.l1}


def _about_rounding(stage: Stage, people: int | None) -> list[str]:
    """What the ± of a sum leaves out where nothing tells how many rows there are, if fewer than are usual could make up its noise."""
    if people is not None:
        return []
    told = {place for release in stage.releases for pair in release.counted.items() for place in pair}
    return [
        f"each value of a sum is rounded by up to {six_digits(each.rounding)}, which its ± leaves out: nothing declares how many"
        " there are; add --people N, or people = N under [unit]"
        for i, each in enumerate(stage.measurements)
        if i not in told
        and each.rounding
        and each.mechanism
        and each.mechanism.error() * each.step < MANY_ROWS * each.rounding
    ]
