"""The way from a question to a private plan: the groups, the terms, the caps, the noise and the price. All of it from what is declared."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from discreet.errors import Invalid, QueryError, Refused
from discreet.exact import Number, probability, rational, shown
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
from discreet.plan.finding import finding
from discreet.plan.level_drafts import about_levels, check_levels
from discreet.plan.noise import allocate, gaussian
from discreet.plan.plan import Plan
from discreet.plan.question import Question
from discreet.plan.reading import ReadingPrice
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
    return finished(draft(question, catalog), epsilon, delta)


def finished(draft: Draft, epsilon: Fraction, delta: Fraction, weights: tuple[Fraction, ...] = ()) -> Plan:
    """The plan of a price, checked. `weights` say how much more than its share each of what needs noise is wanted, if they say anything."""
    if draft.clip and not delta:
        raise Refused(
            "an L2 clip needs Gaussian noise, and so a delta above 0",
            code="clip",
            hint="allow a delta, or set clip = 'groups'",
        )
    check_levels(draft)
    _check_keys(draft, delta)
    lacks = draft.missing or draft.sought or None in draft.domains
    plan = finding(draft, epsilon, delta) if lacks else _of_one_stage(draft, epsilon, delta, weights)
    check(plan)
    return plan


def _check_keys(draft: Draft, delta: Fraction) -> None:
    """Keys that nobody declared are found where there is a δ."""
    for key, values in zip(draft.keys, draft.domains, strict=True):
        if values is None and not delta:
            raise without_keys(key, draft.scope.unfiltered, "without a delta they are not found in the data")


def _of_one_stage(draft: Draft, epsilon: Fraction, delta: Fraction, weights: tuple[Fraction, ...]) -> Plan:
    """The plan of a question whose limits are known. An L2 clip needs Gaussian noise; elsewhere `allocate` chooses."""
    requests = noise_wanted(draft, draft.caps)
    if weights:
        pairs = zip(requests, weights, strict=True)
        requests = tuple(replace(request, width=request.width / more) for request, more in pairs)
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
