"""From aggregates to the integer terms that an engine sums: each clamped and put on a grid at its argument, as the last step.

COUNT is a term of ones. SUM is a term of clamped steps. AVG is a centred one, Σ(x − middle), and a COUNT; a SUM beside it is made of
both. Equal terms are measured once.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, log2

from discreet.errors import QueryError
from discreet.exact import to_float_down, to_float_up
from discreet.plan.catalog import Table
from discreet.plan.plan import Mean, Shifted, Statistic, Total
from discreet.plan.question import Aggregate, Kind
from discreet.plan.relation import How, Term
from discreet.plan.rules.relations import MOST_STEPS, steps_of, term_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import And, Case, Column, Indicator, IsNull, Literal, Not, Scalar, Steps, Type, columns_in

MOST_SHIFT = 500
FINE_SHIFT = (
    8  # a count that will be shortened is counted in steps of 1/256, so that truncating them takes next to nothing away
)
MOST_SIZE = Fraction(10**300)


@dataclass
class Terms:
    """The terms of a question, without repeats, and what is said of each."""

    table: Table
    aggregates: tuple[Aggregate, ...]
    shortened: bool  # by an L2 clip
    terms: list[Term] = field(default_factory=list)
    steps: list[Fraction] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def statistic(self, aggregate: Aggregate) -> Statistic:
        """How an aggregate is made of terms, which are added where they are new."""
        match aggregate.kind:
            case Kind.COUNT:
                return Total(self._count(aggregate))
            case Kind.PEOPLE:
                return Total(self._add(Term(How.ANY, self._ones(aggregate.condition)), self._one, "people"))
            case Kind.SUM if replace(aggregate, kind=Kind.AVERAGE) in self.aggregates:
                # Σx = Σ(x − middle) + middle · n: less noise than a share of the budget for a sum of its own would leave
                mean = self._mean(aggregate)
                return Shifted(mean.total, mean.count, mean.middle)
            case Kind.SUM:
                steps = self._steps(aggregate, "SUM", centred=False)
                return Total(self._add(Term(How.SUM, steps), _worth(steps), "sum"))
            case Kind.AVERAGE:
                return self._mean(aggregate)

    def _count(self, aggregate: Aggregate) -> int:
        conditions = [] if aggregate.condition is None else [aggregate.condition]
        argument = aggregate.argument
        if argument is not None and facts_of(argument, self.table).nullable:
            conditions.append(Not(IsNull(argument)))
        both = And(tuple(conditions)) if len(conditions) > 1 else conditions[0] if conditions else None
        return self._add(Term(How.SUM, self._ones(both)), self._one, "count")

    @property
    def _one(self) -> Fraction:
        """What a step of a count is worth."""
        return Fraction(1, 1 << FINE_SHIFT) if self.shortened else Fraction(1)

    def _ones(self, condition: Scalar | None) -> Scalar:
        if condition is None:
            return Literal(1 << FINE_SHIFT if self.shortened else 1, Type.INTEGER)
        if not self.shortened:
            return Indicator(condition)
        one, nothing = Literal(1.0, Type.NUMBER), Literal(0.0, Type.NUMBER)
        return Steps(Case(((condition, one),), nothing), 0.0, 1.0, FINE_SHIFT, 0)

    def _mean(self, aggregate: Aggregate) -> Mean:
        steps = self._steps(aggregate, "AVG", centred=True)
        worth = _worth(steps)
        low, high = (steps_of(bound, steps) * worth for bound in (steps.low, steps.high))
        total = self._add(Term(How.SUM, steps), worth, "centred sum")
        return Mean(total, self._count(aggregate), steps.centre * worth, low, high)

    def _steps(self, aggregate: Aggregate, name: str, *, centred: bool) -> Steps:
        argument = aggregate.argument
        if argument is None:
            raise QueryError(f"{name} needs an argument", code="types")
        facts = facts_of(argument, self.table)
        if facts.low is None or facts.high is None:
            raise _without_bounds(name, argument, self.table)
        low, high, shift = grid_for(facts.low, facts.high, facts.integral)
        if isinstance(argument, Column):
            self.notes.append(f"{argument.name} is clamped to {_short(facts.low)} … {_short(facts.high)}")
        else:
            self.notes.append(f"the argument of {name} is clamped to {_short(facts.low)} … {_short(facts.high)}")
        kept = (
            argument
            if aggregate.condition is None
            else Case(((aggregate.condition, argument),), Literal(None, Type.NUMBER))
        )
        steps = Steps(kept, low, high, shift, 0)
        if not centred:
            return steps
        return Steps(kept, low, high, shift, (steps_of(low, steps) + steps_of(high, steps)) // 2)

    def _add(self, term: Term, worth: Fraction, said: str) -> int:
        if term not in self.terms:
            term_bounds(term)
            self.terms.append(term)
            self.steps.append(worth)
            self.said.append(said)
        return self.terms.index(term)


def _worth(steps: Steps) -> Fraction:
    return Fraction(2) ** -steps.shift


def grid_for(least: Fraction, most: Fraction, integral: bool) -> tuple[float, float, int]:
    """The bounds as doubles, outward, and the finest power of two with at most 2^24 steps; 1 for whole numbers if it is fine enough."""
    if max(abs(least), abs(most)) > MOST_SIZE:
        raise QueryError(
            "the argument of a sum can be larger than 1e300",
            code="missing-bounds",
            hint="clamp it: LEAST(GREATEST(…, LOW), HIGH)",
        )
    low, high = to_float_down(least), to_float_up(most)
    size = max(abs(low), abs(high))
    if size == 0 or (integral and size <= MOST_STEPS):
        return low, high, 0
    shift = min(24 - ceil(log2(size)), MOST_SHIFT)
    while size * 2.0**shift > MOST_STEPS - 1:
        shift -= 1
    return low, high, shift


def _without_bounds(name: str, argument: Scalar, table: Table) -> QueryError:
    missing = [
        each
        for each in sorted(columns_in(argument))
        if not facts_of(Column(each, table.column(each).type), table).bounded
    ]
    missing = [each for each in missing if table.column(each).type.numeric]
    if not missing:
        return QueryError(
            f"the argument of {name} has no bounds: it can be arbitrarily large",
            code="missing-bounds",
            hint="clamp it: LEAST(GREATEST(…, LOW), HIGH)",
        )
    column = missing[0]
    return QueryError(
        f"{name} needs bounds for {column!r}, which are not read from the data",
        code="missing-bounds",
        hint=f"declare them: --bounds {column}=LOW:HIGH (or bounds = [LOW, HIGH] in the policy),"
        f" or write {name}(LEAST(GREATEST({column}, LOW), HIGH))",
    )


def _short(bound: Fraction) -> str:
    return str(bound) if bound.denominator == 1 else f"{float(bound):.6g}"
