"""The way from aggregates to the integer terms that an engine sums: each clamped and put on a grid at its argument, as the last step.

Kinds of release add what they need: terms, and what is measured of them. Equal terms are summed, and equal combinations measured, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import Fault, QueryError
from discreet.plan.combination import Combination
from discreet.plan.evaluate import product_ends
from discreet.plan.grid import MOST_SIZE, ValueGrid, divisor_for, grid_for
from discreet.plan.ladder import signed
from discreet.plan.question import Aggregate
from discreet.plan.range import FoundRange
from discreet.plan.reading import ReadingAsked
from discreet.plan.relation import How, Term
from discreet.plan.rules.conditions import where
from discreet.plan.rules.relations import row_bounds, term_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import (
    And,
    Case,
    Column,
    Indicator,
    IsNull,
    Literal,
    Not,
    Pair,
    Product,
    Scalar,
    Steps,
    Type,
    by_name,
    columns_in,
)
from discreet.plan.scope import Scope

FINE_SHIFT = 8
"""A count that will be shortened or scaled is counted in steps of 1/256, so that truncating them takes next to nothing away."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measurement before it has noise: what it is made of, what a step is worth, and how far one row may be off."""

    made: Combination
    step: Fraction
    said: str
    rounding: Fraction = Fraction(0)

    def width(self, terms: tuple[Term, ...]) -> Fraction:
        """The width of the declared bounds, in steps; of a constant, such as the one of a count, its size: 0.1 may be one step wide by
        rounding. A budget is split so that errors in these widths are least.
        """
        (term, weight), *_ = self.made.parts
        low, high = term_bounds(terms[term])
        if high - low > 1:
            return Fraction(weight * (high - low), self.made.divisor)
        return Fraction(max(*map(abs, row_bounds(self.made, terms)), 1))


@dataclass(frozen=True, slots=True)
class Centred:
    """A number around the middle of its bounds: its grid, the term of it, and the place where the sum of that is measured."""

    grid: ValueGrid
    steps: Term
    total: int

    @property
    def half(self) -> Fraction:
        """The farthest that a value is from the middle."""
        low, high, middle = (Fraction(end) for end in (self.grid.low, self.grid.high, self.grid.middle))
        return max(middle - low, high - middle)

    @property
    def width(self) -> Fraction:
        """The width of the bounds."""
        return Fraction(self.grid.high) - Fraction(self.grid.low)

    def off_beside(self, other: "Centred") -> Fraction:
        """How far a product of two may be off, for both having been put on their grids."""
        one, two = self.grid.rounding, other.grid.rounding
        return self.half * two + other.half * one + one * two


@dataclass
class MeasuredTerms:
    """The terms of a question, what is measured of them, both without repeats, and what is said of them."""

    scope: Scope
    aggregates: tuple[Aggregate, ...]
    shortened: bool
    """Whether people are, to an L2 norm."""

    scaled: bool = False
    """Whether the rows of people are, to a number of them."""

    ranges: Sequence[FoundRange] = ()
    """Those that were found."""

    sought: list[FoundRange] = field(default_factory=list)
    """What has no range yet, and the widest one that may be found of it, which stands for what will be."""

    terms: list[Term] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    readings: list[ReadingAsked] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def parts(self) -> int:
        """How many steps a count of one row has."""
        return 1 << FINE_SHIFT if self.shortened or self.scaled else 1

    @property
    def one(self) -> Fraction:
        """What a step of a count of rows is worth."""
        return Fraction(1, self.parts)

    def ones(self, condition: Scalar | None) -> Scalar:
        """One for each row on which a condition is true, in steps of a count of rows."""
        return ones_of(condition, self.parts)

    def people(self, condition: Scalar | None) -> int:
        """The measurement of how many people there are with a row on which a condition is true. What scales rows leaves people whole."""
        parts = 1 << FINE_SHIFT if self.shortened else 1
        place = self.add(Term(How.ANY, ones_of(condition, parts)))
        return self.measure(Measured(Combination.plain(place), Fraction(1, parts), "people"))

    def people_of(self, aggregate: Aggregate) -> int:
        """The measurement of how many people have a row of an aggregate."""
        return self.people(self.counts(aggregate))

    def count(self, aggregate: Aggregate) -> int:
        """The term that counts the rows of an aggregate: those that FILTER keeps, and on which its argument is not NULL."""
        return self.add(Term(How.SUM, self.ones(self.counts(aggregate))))

    def counts(self, aggregate: Aggregate) -> Scalar | None:
        """What must be true of a row of an aggregate; None where all are its rows."""
        return _all(self._conditions(aggregate))

    def _conditions(self, aggregate: Aggregate, beside: Scalar | None = None) -> list[Scalar]:
        """What must be true of a row of an aggregate, beside that one part of its argument is not NULL. All that may be NULL must not."""
        conditions = [] if aggregate.condition is None else [aggregate.condition]
        parts = [part for part in parts_of(aggregate.argument) if part != beside]
        conditions += [Not(IsNull(part)) for part in parts if facts_of(part, self.scope).nullable]
        return list(dict.fromkeys(conditions))

    def counted(self, aggregate: Aggregate) -> int:
        """The measurement of that count."""
        return self.measure(Measured(Combination.plain(self.count(aggregate)), self.one, "count"))

    def steps(self, operand: Scalar, grid: ValueGrid, middle: float) -> Term:
        """The sum of an operand, clamped and in steps of a grid, less a middle in each row."""
        return Term(How.SUM, Steps(operand, grid.low, grid.high, grid.shift, middle))

    def grid(self, aggregate: Aggregate, name: str) -> tuple[ValueGrid, Scalar]:
        """The grid of an aggregate's argument, and the argument where the aggregate is of that row."""
        argument = aggregate.argument
        if argument is None:
            raise QueryError(f"{name} needs an argument", code="types")
        return self._grid(aggregate, argument, name), self.where(aggregate, argument)

    def _grid(self, aggregate: Aggregate, argument: Scalar, name: str) -> ValueGrid:
        scope = self.scope if aggregate.condition is None else where(self.scope, aggregate.condition)
        facts = scope.within(argument, facts_of(argument, scope))
        low, high = (
            self._found(name, argument, scope) if facts.low is None or facts.high is None else (facts.low, facts.high)
        )
        grid = grid_for(low, high, facts.integral)
        if self.scaled:
            grid = grid.finer(FINE_SHIFT)
        if facts.bounded:
            what = argument.name if isinstance(argument, Column) else f"the argument of {name}"
            self.notes.append(
                f"{what} is taken as {_short(low)} wherever it is there: both of its bounds are that"
                if low == high and isinstance(argument, Column)
                else f"{what} is clamped to {_short(low)} … {_short(high)}{self._surveyed(argument)}"
            )
        return grid

    def centred(self, aggregate: Aggregate, argument: Scalar, name: str) -> "Centred":
        """An argument of an aggregate, or a part of one, around the middle of its bounds, on the rows of the aggregate."""
        grid = self._grid(aggregate, argument, name)
        steps = self.steps(self.where(aggregate, argument), grid, grid.middle)
        return Centred(
            grid,
            steps,
            self.measure(Measured(Combination.plain(self.add(steps)), grid.step, "centred sum", grid.rounding)),
        )

    def products(self, one: "Centred", other: "Centred") -> tuple[int, Fraction]:
        """The measurement of Σ(ab − middle) of two that are centred, and what the middle is worth: half way between the ends of a
        product, so that a row gives no more than half of what lies between them. It is on a grid of 2^24 steps.
        """
        factors = (_steps_in(one.steps), _steps_in(other.steps))
        if one.width * other.width > MOST_SIZE:
            raise QueryError(
                "the squares or products of the arguments can be larger than 1e300",
                code="missing-bounds",
                hint="clamp them: LEAST(GREATEST(…, LOW), HIGH)",
            )
        size = max(map(abs, product_ends(Product(*factors, 0, 0))))
        shift = divisor_for(size).bit_length() - 1
        middle = sum(product_ends(Product(*factors, shift, 0))) // 2
        step = one.grid.step * other.grid.step * 2**shift
        place = self.add(Term(How.SUM, Product(*factors, shift, middle)))
        rounding = one.off_beside(other) + (step / 2 if shift else 0)
        what = "centred squares" if factors[0] == factors[1] else "centred products"
        return self.measure(Measured(Combination.plain(place), step, what, rounding)), middle * step

    def integral(self, aggregate: Aggregate) -> bool:
        """Whether the argument of an aggregate is a whole number."""
        return aggregate.argument is not None and facts_of(aggregate.argument, self.scope).integral

    def _found(self, name: str, argument: Scalar, scope: Scope) -> tuple[Fraction, Fraction]:
        """The range that was found of an argument; before that the widest one. Only what it is clamped to is taken from it: whether the
        argument may be NULL is asked of its facts, which know no more than is declared.
        """
        unbounded = [each for each in columns_in(argument) if each.type.numeric and not scope.facts(each).bounded]
        if not unbounded or not all(scope.field(each).auto for each in unbounded):
            raise without_bounds(name, argument, scope)
        known = [each for each in (*self.ranges, *self.sought) if each.argument == argument]
        if not known:
            rungs = signed(whole=facts_of(argument, scope).integral)
            known = [FoundRange(argument, Fraction(rungs[0]), Fraction(rungs[-1]))]
            self.sought += known
        return known[0].low, known[0].high

    def _surveyed(self, argument: Scalar) -> str:
        """The survey by which the bounds of an argument are known, where they were not declared."""
        surveys = {self.scope.field(column).surveyed for column in columns_in(argument)} - {""}
        return f", as {min(surveys)}" if surveys else ""

    def where(self, aggregate: Aggregate, operand: Scalar) -> Scalar:
        """An operand on the rows that FILTER keeps, and on which the other part of a pair is not NULL; and NULL on all others."""
        condition = _all(self._conditions(aggregate, beside=operand))
        return operand if condition is None else Case(((condition, operand),), Literal(None, Type.NUMBER))

    def add(self, term: Term) -> int:
        """The place of a term."""
        if term not in self.terms:
            term_bounds(term)
            self.terms.append(term)
        return self.terms.index(term)

    def measure(self, measured: Measured) -> int:
        """The place of a measurement."""
        combinations = [each.made for each in self.measured]
        if measured.made not in combinations:
            self.measured.append(measured)
            return len(combinations)
        return combinations.index(measured.made)

    def read(self, asked: ReadingAsked) -> int:
        """The place of a reading beside the measurements."""
        if asked not in self.readings:
            self.readings.append(asked)
        return self.readings.index(asked)


def parts_of(argument: Scalar | None) -> tuple[Scalar, ...]:
    """The numbers that an aggregate is of."""
    match argument:
        case None:
            return ()
        case Pair(left=left, right=right):
            return left, right
    return (argument,)


def _all(conditions: list[Scalar]) -> Scalar | None:
    """One condition for all of some; None for none."""
    return And(tuple(conditions)) if len(conditions) > 1 else conditions[0] if conditions else None


def _steps_in(term: Term) -> Steps:
    if not isinstance(term.value, Steps):
        raise Fault("a factor is in steps", code="release")
    return term.value


def ones_of(condition: Scalar | None, parts: int) -> Scalar:
    """One for each row on which a condition is true, in so many steps."""
    if condition is None:
        return Literal(parts, Type.INTEGER)
    if parts == 1:
        return Indicator(condition)
    one, nothing = Literal(1.0, Type.NUMBER), Literal(0.0, Type.NUMBER)
    return Steps(Case(((condition, one),), nothing), 0.0, 1.0, FINE_SHIFT, 0.0)


def without_bounds(name: str, argument: Scalar, scope: Scope, *, finds: bool = True) -> QueryError:
    """What to say of an argument that has no bounds, neither declared nor to be found, and that a range is found, where that is so."""
    columns = sorted(columns_in(argument), key=by_name)
    missing = [
        each.name
        for each in columns
        if each.type.numeric and not scope.facts(each).bounded and not scope.field(each).auto
    ]
    times = (Type.DATE, Type.TIMESTAMP)
    dates = [each.name for each in columns if each.type in times and not scope.facts(each).bounded]
    if dates and not missing:
        kind = next(each.type.value for each in columns if each.name == dates[0])
        return QueryError(
            f"{name} needs bounds for the {kind} {dates[0]!r}, which are not read from the data",
            code="missing-bounds",
            hint=f"declare them: --bounds {dates[0]}=2020-01-01:2024-12-31 (or bounds = [2020-01-01, 2024-12-31] in the policy),"
            f" or clamp the number: {name}(LEAST(GREATEST(…, LOW), HIGH))",
        )
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
        f" write {name}(LEAST(GREATEST({column}, LOW), HIGH)),"
        + (f' let them be found: --bounds {column}=auto (bounds = "auto"),' if finds else "")
        + " or survey the data first: discreet survey",
    )


def _short(bound: Fraction) -> str:
    return str(bound) if bound.denominator == 1 else f"{float(bound):.6g}"
