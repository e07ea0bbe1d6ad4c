"""From aggregates to the integer terms that an engine sums: each clamped and put on a grid at its argument, as the last step.

COUNT is a term of ones. AVG is a centred sum, Σ(x − middle), and a COUNT; a SUM beside it is made of both. SUM is a term of clamped
steps where its bounds are near 0. Elsewhere steps of the largest bound would be far coarser than those of the width; there it is
Σ(x − middle) + middle · n, both exact from the engine, added up before there is any noise. Equal terms are summed, and equal
combinations measured, once.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.errors import QueryError
from discreet.plan.catalog import Table
from discreet.plan.combination import Combination
from discreet.plan.grid import Grid, divisor_for, grid_for
from discreet.plan.plan import Mean, Shifted, Statistic, Total
from discreet.plan.question import Aggregate, Kind
from discreet.plan.relation import How, Term
from discreet.plan.rules.relations import term_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import And, Case, Column, Indicator, IsNull, Literal, Not, Scalar, Steps, Type, columns_in

FINE_SHIFT = (
    8  # a count that will be shortened is counted in steps of 1/256, so that truncating them takes next to nothing away
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measurement before it has noise: what it is made of, what a step is worth, and how far one row may be off."""

    made: Combination
    step: Fraction
    said: str
    rounding: Fraction = Fraction(0)


@dataclass
class Terms:
    """The terms of a question, what is measured of them, both without repeats, and what is said of them."""

    table: Table
    aggregates: tuple[Aggregate, ...]
    shortened: bool  # by an L2 clip
    terms: list[Term] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def statistic(self, aggregate: Aggregate) -> Statistic:
        """How an aggregate is made of measurements, which are added where they are new."""
        match aggregate.kind:
            case Kind.COUNT:
                return Total(self._counted(aggregate))
            case Kind.PEOPLE:
                people = self._add(Term(How.ANY, self._ones(aggregate.condition)))
                return Total(self._measure(Measured(Combination.plain(people), self._one, "people")))
            case Kind.SUM if replace(aggregate, kind=Kind.AVERAGE) in self.aggregates:
                # Σx = Σ(x − middle) + middle · n: less noise than a share of the budget for a sum of its own would leave
                mean = self._mean(aggregate)
                return Shifted(mean.total, mean.count, mean.middle)
            case Kind.SUM:
                return self._sum(aggregate)
            case Kind.AVERAGE:
                return self._mean(aggregate)

    def _counted(self, aggregate: Aggregate) -> int:
        return self._measure(Measured(Combination.plain(self._count(aggregate)), self._one, "count"))

    def _count(self, aggregate: Aggregate) -> int:
        conditions = [] if aggregate.condition is None else [aggregate.condition]
        argument = aggregate.argument
        if argument is not None and facts_of(argument, self.table).nullable:
            conditions.append(Not(IsNull(argument)))
        both = And(tuple(conditions)) if len(conditions) > 1 else conditions[0] if conditions else None
        return self._add(Term(How.SUM, self._ones(both)))

    @property
    def _parts(self) -> int:
        """How many steps a count of one has."""
        return 1 << FINE_SHIFT if self.shortened else 1

    @property
    def _one(self) -> Fraction:
        """What a step of a count is worth."""
        return Fraction(1, self._parts)

    def _ones(self, condition: Scalar | None) -> Scalar:
        if condition is None:
            return Literal(self._parts, Type.INTEGER)
        if not self.shortened:
            return Indicator(condition)
        one, nothing = Literal(1.0, Type.NUMBER), Literal(0.0, Type.NUMBER)
        return Steps(Case(((condition, one),), nothing), 0.0, 1.0, FINE_SHIFT, 0.0)

    def _sum(self, aggregate: Aggregate) -> Total:
        grid, kept = self._grid(aggregate, "SUM")
        if grid.near:
            term = self._add(Term(How.SUM, Steps(kept, grid.low, grid.high, grid.shift, 0.0)))
            return Total(self._measure(Measured(Combination.plain(term), grid.step, "sum", grid.rounding)))
        centred = Term(How.SUM, Steps(kept, grid.low, grid.high, grid.shift, grid.middle))
        coarse = divisor_for(abs(grid.whole_middle) + max(map(abs, term_bounds(centred))))
        parts = (self._add(centred), self._parts), (self._count(aggregate), grid.whole_middle)
        made = Combination(parts, coarse * self._parts)
        return Total(self._measure(Measured(made, coarse * grid.step, "sum", grid.rounding)))

    def _mean(self, aggregate: Aggregate) -> Mean:
        grid, kept = self._grid(aggregate, "AVG")
        term = self._add(Term(How.SUM, Steps(kept, grid.low, grid.high, grid.shift, grid.middle)))
        total = self._measure(Measured(Combination.plain(term), grid.step, "centred sum", grid.rounding))
        ends = (Fraction(end) for end in (grid.middle, grid.low, grid.high))
        return Mean(total, self._counted(aggregate), *ends)

    def _grid(self, aggregate: Aggregate, name: str) -> tuple[Grid, Scalar]:
        """The grid of an aggregate's argument, and the argument where the aggregate is of that row."""
        argument = aggregate.argument
        if argument is None:
            raise QueryError(f"{name} needs an argument", code="types")
        facts = facts_of(argument, self.table)
        if facts.low is None or facts.high is None:
            raise _without_bounds(name, argument, self.table)
        grid = grid_for(facts.low, facts.high, facts.integral)
        if isinstance(argument, Column):
            self.notes.append(f"{argument.name} is clamped to {_short(facts.low)} … {_short(facts.high)}")
        else:
            self.notes.append(f"the argument of {name} is clamped to {_short(facts.low)} … {_short(facts.high)}")
        kept = (
            argument
            if aggregate.condition is None
            else Case(((aggregate.condition, argument),), Literal(None, Type.NUMBER))
        )
        return grid, kept

    def _add(self, term: Term) -> int:
        if term not in self.terms:
            term_bounds(term)
            self.terms.append(term)
        return self.terms.index(term)

    def _measure(self, measured: Measured) -> int:
        made = [each.made for each in self.measured]
        if measured.made not in made:
            self.measured.append(measured)
            return len(made)
        return made.index(measured.made)


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
