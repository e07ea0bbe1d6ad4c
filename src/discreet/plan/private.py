"""The way from a question to a private plan: the groups, the terms, the caps, the noise and the price. All of it from what is declared."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from discreet.errors import Invalid, QueryError, Refused
from discreet.exact import Number, positive, probability, rational, shown
from discreet.plan.about import (
    about_division,
    about_idle,
    about_means,
    about_persons,
    about_readings,
    about_rounding,
    advice,
)
from discreet.plan.catalog import Catalog
from discreet.plan.check import check, event_of
from discreet.plan.domain import without_keys
from discreet.plan.draft import Draft, draft
from discreet.plan.explain import said
from discreet.plan.finding import finding
from discreet.plan.intervals import predicted
from discreet.plan.level_drafts import about_levels, check_levels
from discreet.plan.noise import allocate, gaussian
from discreet.plan.plan import Plan
from discreet.plan.population import without_prediction
from discreet.plan.price import LEAST_EPSILON
from discreet.plan.question import Question
from discreet.plan.reading import ReadingPrice
from discreet.plan.scalar import columns_in
from discreet.plan.stages import noise_wanted, readings_wanted, stage_of
from discreet.plan.written import notation

DECLARED = (
    "the groups are those that are declared, whether or not anybody is in them: nothing is read, and nothing spent"
)
MOST_EPSILON = Fraction(10**6)
PUBLIC = (
    "what replacing a row cannot change, such as the number of all rows, is public: it has no noise and costs nothing"
)
REMEMBERED = 16  # plans
MOST_WITHIN = Fraction(10**18)


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
    plan = _remembered(question, notation(question), catalog, asked, probability(delta, "delta"))
    # headings, which are the words of whoever asks, are no part of what makes questions equal
    return replace(plan, question=question)


@lru_cache(maxsize=REMEMBERED)
def _remembered(question: Question, name: str, catalog: Catalog, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a price, or the same one as before: a preview, and the question that follows it, ask for one plan.

    `name` tells questions apart that are equal and written otherwise, as with −0 and 0.
    """
    return _finished(draft(question, catalog), epsilon, delta)


def plan_within(question: Question, catalog: Catalog, within: Number, delta: Number = 0) -> Plan:
    """The plan of the least epsilon, to four digits, whose predicted ± at 95 % is at most `within` in every column."""
    most, allowed = positive(within, "within"), probability(delta, "delta")
    if most > MOST_WITHIN:
        raise QueryError("within must be at most 10^18", code="within", hint="that is no accuracy; ask for a smaller ±")
    if question.population:
        raise without_prediction()
    start = draft(question, catalog)
    _check_limits_known(start)
    _check_foreseen(start)

    def meets(epsilon: Fraction) -> bool:
        errors = predicted(_finished(start, epsilon, allowed))
        for each in errors:
            if each.error is None and each.reason and start.protected.people is None:
                raise QueryError(f"within cannot be promised for {each.name!r}: {each.reason}", code="within")
        few = any(each.error is None and each.reason for each in errors)  # at this price
        return not few and all(each.error is None or Fraction(each.error) <= most for each in errors)

    return _finished(start, _least(meets), allowed)


def _check_foreseen(draft: Draft) -> None:
    """What an accuracy costs is not known of what depends on how values lie."""
    for aggregate, release in zip(draft.question.aggregates, draft.releases, strict=True):
        if release.ahead is not None:
            raise QueryError(
                f"within cannot be promised for {aggregate.kind.word}: {release.ahead}",
                code="within",
                hint="ask at a price: epsilon = 1, say; the answer tells how near it is",
            )


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


def _check_limits_known(draft: Draft) -> None:
    """What an accuracy costs is not known where a limit is still to be found: it is as unknown as the limit."""
    lacking = draft.missing
    for key, values in zip(draft.keys, draft.domains, strict=True):
        if values is None:
            raise without_keys(
                key, draft.scope.unfiltered, "within needs to know them, ask at a price and they are found"
            )
    for each in draft.sought:
        columns = sorted({column.name for column in columns_in(each.argument) if column.type.numeric})
        bounds = " ".join(f"--bounds {name}=LOW:HIGH" for name in columns)
        raise QueryError(
            f"within needs the range of {said(each.argument)}: what it costs depends on how large its values are, which nobody declared",
            code="within",
            hint=f"declare it ({bounds}), survey the data before it is declared (discreet survey), or ask at a price and it is found",
        )
    if lacking:
        names = " and ".join(limit.value for limit in lacking)
        flags = " ".join(f"--{limit.value.replace('_', '-')} N" for limit in lacking)
        raise QueryError(
            f"within needs {names}: what it costs depends on how much of a person counts, which nobody declared",
            code="within",
            hint=f"add {flags} (an argument, or a line under [unit]), survey the data first (discreet survey), or ask at a price",
        )


def _finished(draft: Draft, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a price, checked."""
    if draft.clip and not delta:
        raise Refused(
            "an L2 clip needs Gaussian noise, and so a delta above 0",
            code="clip",
            hint="allow a delta, or set clip = 'groups'",
        )
    check_levels(draft)
    _check_keys(draft, delta)
    plan = (finding if draft.missing or draft.sought or None in draft.domains else _of_one_stage)(draft, epsilon, delta)
    check(plan)
    return plan


def _check_keys(draft: Draft, delta: Fraction) -> None:
    """Keys that nobody declared are found where there is a δ."""
    for key, values in zip(draft.keys, draft.domains, strict=True):
        if values is None and not delta:
            raise without_keys(key, draft.scope.unfiltered, "without a delta they are not found in the data")


def _of_one_stage(draft: Draft, epsilon: Fraction, delta: Fraction) -> Plan:
    """The plan of a question whose limits are known. An L2 clip needs Gaussian noise; elsewhere `allocate` chooses."""
    requests = noise_wanted(draft, draft.caps)
    shared = ReadingPrice.of(readings_wanted(draft), len(requests), epsilon)
    split = (gaussian if draft.clip else allocate)(requests, epsilon - shared.cost, delta) if requests else None
    stage, protected = stage_of(draft, draft.caps, split, shared), draft.protected
    measured = [
        *stage.measurements,
        *(each for level in stage.levels if level is not None for each in level.measurements),
    ]
    losses = [each.mechanism.loss(each.sensitivity) for each in measured if each.mechanism is not None]
    uses_delta = any(each.pure_epsilon() is None for each in losses)
    return Plan(
        question=draft.question,
        stage=stage,
        relation=protected.relation,
        people=protected.people,
        event=event_of(stage, protected.relation),
        epsilon=epsilon if losses or stage.readings else Fraction(0),
        delta=delta if uses_delta else Fraction(0),
        notes=(DECLARED,)
        if not draft.asks
        else (
            *about_persons(protected, draft.caps, stage, len(stage.domain)),
            *([PUBLIC] if len(losses) < len(measured) else []),
            *draft.notes,
            *about_levels(draft),
            *about_rounding(stage, protected.people),
            *about_readings(stage),
        ),
        assumed=(
            *about_idle(protected, stage.queries[0]),
            *advice(draft.question, stage),
            *about_means(draft.question, stage.queries[0]),
            *about_division(draft.question),
        ),
    )
