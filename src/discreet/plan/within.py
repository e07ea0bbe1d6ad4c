"""The least price of an accuracy: what is paid where ± is asked for, and not ε.

How a price is split over several measurements is a part of it. At any price the split makes the sum of all errors least, in widths of
declared bounds. Here it is moved toward the columns that are hardest to meet, until all are as hard: a measurement whose ± is r times as
far off as it may be gets r times its share, as its ± falls with it. What nobody demands anything of keeps its share beside the hardest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from discreet.errors import QueryError
from discreet.exact import Number, probability
from discreet.plan.accuracy import Demand, Demands, Within
from discreet.plan.catalog import Catalog
from discreet.plan.digits import six_digits
from discreet.plan.domain import without_keys
from discreet.plan.draft import Draft, draft
from discreet.plan.explain import said
from discreet.plan.intervals import Predicted, predicted, used_by
from discreet.plan.levels import summable
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.plan import Plan
from discreet.plan.population import without_prediction
from discreet.plan.price import LEAST_EPSILON
from discreet.plan.private import MOST_EPSILON, REMEMBERED, finished
from discreet.plan.question import Question
from discreet.plan.scalar import columns_in, released_in
from discreet.plan.sizes import Size, sizes_by_people
from discreet.plan.written import notation

ROUNDS = 6
"""Of moving a split. For noise that falls with its share one is enough; for Gaussian noise each leaves a third of what is missing."""

NEVER = 2.0
"""How far off a number is taken to be where it may be NULL: a mean of too few."""

NEXT_TO_NONE = Fraction(1000)
"""A price at which noise is next to none."""

ASK_FIRST = "ask the same question at a price first, epsilon = 0.1 say: then its answer tells"

Most = tuple[Fraction | None, ...]
"""How far off each output may be; None: by anything."""

Sizes = tuple[Size | None, ...]


def plan_within(
    question: Question,
    catalog: Catalog,
    within: Within,
    delta: Number = 0,
    *,
    confidence: float = CONFIDENCE,
    released: Callable[[], Sizes] | None = None,
) -> Plan:
    """The plan of the least epsilon, to four digits, whose predicted ± is at most `within`: in every column, or in those that it names.

    `released` tells the sizes of columns by an earlier answer, where the people who are known do not.
    """
    asked, allowed = Demands.read(within), probability(delta, "delta")
    if question.population:
        raise without_prediction()
    demands, start = asked.of(question), draft(question, catalog)
    _check_limits_known(start)
    _check_foreseen(start, [True if asked.every else demand is not None for demand in demands])
    if start.releases and not any(demands):
        raise QueryError(
            "within demands nothing here: no column is a number with a ±",
            code="within",
            hint="ask at a price: epsilon = 1, say",
        )
    most, words = _absolute(start, demands, allowed, released)
    plan = _remembered(question, notation(question), catalog, most, allowed, confidence)
    # headings, which are the words of whoever asks, are no part of what makes questions equal
    return replace(plan, question=question, assumed=(*words, *plan.assumed))


def _absolute(
    start: Draft, demands: Sequence[Demand | None], delta: Fraction, released: Callable[[], Sizes] | None
) -> tuple[Most, tuple[str, ...]]:
    """How far off each output may be, as a number; and what is said of the sizes that this was made of."""
    asked = [j for j, demand in enumerate(demands) if demand is not None and demand.relative]
    sizes: list[Size | None] = [None] * len(demands)
    if asked:
        sizes = list(sizes_by_people(finished(start, NEXT_TO_NONE, delta)))
    if released is not None and any(sizes[j] is None for j in asked):
        sizes = [by_people or before for by_people, before in zip(sizes, released(), strict=True)]
    most, words = list[Fraction | None](), list[str]()
    for demand, size, name in zip(demands, sizes, start.question.names, strict=True):
        if demand is None or not demand.relative:
            most.append(None if demand is None else demand.most)
            continue
        if size is None:
            raise QueryError(
                f"within {demand} cannot be promised for {name!r}: nothing public tells how large it is",
                code="within",
                hint=ASK_FIRST
                if start.protected.people is not None
                else f"add --people N, or people = N under [unit]; or {ASK_FIRST}",
            )
        most.append(demand.most * size.most)
        words.append(f"{name} is asked for to within {demand} of {size}: ± {six_digits(demand.most * size.most)}")
    return tuple(most), tuple(words)


@lru_cache(maxsize=REMEMBERED)
def _remembered(
    question: Question, name: str, catalog: Catalog, most: Most, delta: Fraction, confidence: float
) -> Plan:
    """The plan of an accuracy, or the same one as before: a preview, and the question that follows it, ask for one plan.

    `name` tells questions apart that are equal and written otherwise, as with −0 and 0.
    """
    start = draft(question, catalog)
    best = _best(LeastPrice(start, most, delta, confidence))
    if not best.delta or start.clip:
        return best
    # at any price a δ is spent where that makes the sum of errors less, which need not be the errors that are demanded
    return min(best, _best(LeastPrice(start, most, Fraction(0), confidence)), key=lambda plan: plan.epsilon)


def _best(search: "LeastPrice") -> Plan:
    """The cheaper one of two plans: with the split that there is at any price, and with the split moved."""
    plain = search.least(())
    weights = search.moved(plain)
    return min(plain, search.least(weights), key=lambda plan: plan.epsilon) if weights else plain


@dataclass(frozen=True, slots=True)
class LeastPrice:
    """The search for the least price of what is demanded of a question, within a split of the price."""

    draft: Draft
    most: Most
    delta: Fraction
    confidence: float

    def plan(self, epsilon: Fraction, weights: Sequence[Fraction]) -> Plan:
        return finished(self.draft, epsilon, self.delta, tuple(weights))

    def least(self, weights: Sequence[Fraction]) -> Plan:
        """The plan of the least ε, to four digits, that meets the demands when the price is split so."""
        return self.plan(least_price(lambda epsilon: self._meets(self.plan(epsilon, weights))), weights)

    def _meets(self, plan: Plan) -> bool:
        return all(off is None or off <= 1 for off in self._off(plan))

    def _off(self, plan: Plan) -> list[Fraction | None]:
        """For each output its predicted ±, in units of what it may be; None where nothing is demanded of it."""
        errors = predicted(plan, self.confidence)
        return [self._share(each, most) for each, most in zip(errors, self.most, strict=True)]

    def _share(self, each: Predicted, most: Fraction | None) -> Fraction | None:
        if most is None:
            return None
        if each.error is not None:
            return Fraction(each.error) / most
        if each.reason is None or self.draft.protected.people is None:
            reason = each.reason or "no ± is told of it before it is asked"
            raise QueryError(f"within cannot be promised for {each.name!r}: {reason}", code="within")
        return Fraction(NEVER)  # of too few, at this price

    def moved(self, plan: Plan) -> tuple[Fraction, ...]:
        """What each measurement that needs noise is wanted more than by its share of a plan; nothing where there is nothing to move."""
        places = _noisy_places(plan)
        if len(places) < 2:
            return ()
        demanded = self._demanded(plan, places)
        if not demanded:  # of a number that is read by itself, as values of a column that are counted are
            return ()
        weights = [Fraction(1)] * len(places)
        for _ in range(ROUNDS):
            off = self._off(self.plan(plan.epsilon, weights))
            hardest = max((each for each in off if each is not None), default=Fraction(0))
            if not hardest:
                return ()
            for i, its in demanded.items():
                ratio = float(max(each for j in its if (each := off[j]) is not None) / hardest)
                weights[i] = _three_digits(float(weights[i]) * max(ratio, FAR) ** 2)
            most = max(weights[i] for i in demanded)
            weights = [each / most if i in demanded else Fraction(1) for i, each in enumerate(weights)]
        return tuple(weights)

    def _demanded(self, plan: Plan, places: Sequence[int]) -> dict[int, list[int]]:
        """For each measurement that needs noise, by its number, the outputs that are made of it and that something is demanded of."""
        used = [used_by(plan, output.value) for output in plan.question.outputs]
        by_number = {
            i: [j for j, most in enumerate(self.most) if most is not None and place in used[j]]
            for i, place in enumerate(places)
        }
        return {i: outputs for i, outputs in by_number.items() if outputs}


FAR = 0.02
"""A measurement whose ± is far smaller than it may be gives up no more of its share than this at once."""


def _three_digits(number: float) -> Fraction:
    """A number as every machine computes it, whatever its last bits are."""
    return Fraction(f"{min(max(number, 1e-12), 1e12):.2e}")


def _noisy_places(plan: Plan) -> list[int]:
    """For each measurement that needs noise, in their order, its place in the finest groups, which those of a level have too."""
    stage, terms = plan.decided, plan.terms
    places = [i for i, each in enumerate(stage.measurements) if each.mechanism is not None]
    apart = [i for i, each in enumerate(stage.measurements) if not summable(each.made, terms)]
    for level in stage.levels:
        if level is not None:
            places += [i for i, each in zip(apart, level.measurements, strict=True) if each.mechanism is not None]
    return places


def least_price(meets: Callable[[Fraction], bool]) -> Fraction:
    """The least ε, rounded up to four digits, that meets a demand which more ε meets better; never less than the least price."""
    high = Fraction(1)
    while not meets(high):
        high *= 10
        if high > MOST_EPSILON:
            raise QueryError("no noise is small enough for this accuracy", code="within", hint="ask for a larger ±")
    low = high / 10
    while low >= LEAST_EPSILON and meets(low):
        low, high = low / 10, low
    if high <= LEAST_EPSILON:
        return LEAST_EPSILON
    unit = low / 1000  # low is 1,000 units and high 10,000: four digits
    below, above = 1000, 10_000
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if meets(middle * unit) else (middle, above)
    return above * unit


def _check_foreseen(draft: Draft, demanded: Sequence[bool]) -> None:
    """What an accuracy costs is not known of what depends on how values lie."""
    for output, is_demanded in zip(draft.question.outputs, demanded, strict=True):
        for i in released_in(output.value) if is_demanded else ():
            ahead = draft.releases[i].ahead
            if ahead is not None:
                raise QueryError(
                    f"within cannot be promised for {draft.question.aggregates[i].kind.word}: {ahead}",
                    code="within",
                    hint="ask at a price: epsilon = 1, say; the answer tells how near it is",
                )


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
