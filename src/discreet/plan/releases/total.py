"""COUNT, COUNT(DISTINCT person) and SUM: one released total each, or for a sum beside its mean the two that the mean has.

COUNT is a term of ones. SUM is a term of clamped steps where its bounds are near 0. Elsewhere steps of the largest bound would be far
coarser than those of the width; there it is Σ(x − middle) + middle · n, both exact from the engine, added up before there is any noise.
Totals are exact multiples of their step, and whole numbers are ints.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, ulp
from typing import TYPE_CHECKING

from discreet.plan.affine import AffineForm
from discreet.plan.combination import Combination
from discreet.plan.explain import said
from discreet.plan.grid import ValueGrid, divisor_for
from discreet.plan.numbers import quotient
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, Kind, Number, Release, of_one_number, registry
from discreet.plan.releases.distinct import DISTINCT
from discreet.plan.releases.mean import AVERAGE
from discreet.plan.releases.terms import Measured, MeasuredTerms
from discreet.plan.rules.relations import row_bounds, term_bounds
from discreet.plan.scalar import And, Column, Literal, Scalar, Value

if TYPE_CHECKING:
    from discreet.plan.derived.statistics import TakenOver
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan, Stage


@registry.add
@dataclass(frozen=True, slots=True)
class Count(Kind):
    """How many rows there are, or how many on which the argument is not NULL; with DISTINCT how many values it has, or people."""

    name = "count"
    calls = ("COUNT",)
    word = "COUNT"
    heading = "count"
    counting = True
    of_all = True

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        if call.size > 1:
            raise call.refusal("function", "COUNT has one argument", "write COUNT(*) or COUNT(x)")
        if call.rows:
            return Aggregate(COUNT, None, call.condition)
        if call.distinct:
            return _distinct(call)
        argument = call.scalar()
        if isinstance(argument, Literal) and argument.value is None:
            raise call.mismatch("NULL alone cannot be counted")
        return Aggregate(COUNT, None if isinstance(argument, Literal) else argument, call.condition)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Total":
        return Total(terms.counted(aggregate))

    def following(self, aggregate: Aggregate, taken: "TakenOver") -> "Total | None":
        """The count of the same rows, in whatever words."""
        rows = taken.rows(aggregate)
        alike = (release for each, release in taken.answered if each.kind == self and taken.rows(each) == rows)
        return _as_it_is(alike, taken)

    def advice(self, aggregate: Aggregate, beside: tuple[Aggregate, ...], stage: "Stage") -> list[str]:
        """COUNT(*) beside AVG(x) costs a count of its own where x may be missing."""
        (place,) = stage.releases[beside.index(aggregate)].places
        if aggregate.argument is not None or stage.measurements[place].mechanism is None:
            return []
        return [
            _second_count(mean.argument, mean.kind.word)
            for mean, release in zip(beside, stage.releases, strict=True)
            if mean.kind.centred and mean.condition == aggregate.condition and mean.argument is not None
            if place not in release.places and replace(mean, kind=self) not in beside
        ]

    def part_of(self, some: Aggregate, whole: Aggregate) -> bool:
        return is_part(some, whole)


@registry.add
@dataclass(frozen=True, slots=True)
class CountIf(Kind):
    """How many rows there are on which a condition is true."""

    name = "count_if"
    calls = ("COUNT_IF", "COUNTIF")
    word = "COUNT"
    heading = "count"
    counting = True
    of_truths = True

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        """The count that FILTER makes."""
        return Aggregate(COUNT, None, _both(call.condition, call.truth()))

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Total":
        return COUNT.planned(aggregate, terms)


def _distinct(call: Call) -> Aggregate:
    """The count of the values of an argument; of people where that says who they are."""
    argument = call.scalar()
    if isinstance(argument, Literal) and argument.value is None:
        raise call.mismatch("NULL alone cannot be counted")
    # what is joined may have a column of that name, which says nothing of whose rows these are
    if isinstance(argument, Column) and not argument.table and argument.name == call.person:
        return Aggregate(PEOPLE, None, call.condition)
    return Aggregate(DISTINCT, argument, call.condition)


@registry.add
@dataclass(frozen=True, slots=True)
class ApproximateDistinct(Kind):
    """How many values the argument has, as COUNT(DISTINCT x)."""

    name = "approximate_distinct"
    calls = ("APPROX_COUNT_DISTINCT",)
    word = "COUNT DISTINCT"
    heading = "distinct"
    counting = True
    beside = True

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        if call.rows:
            raise call.refusal("function", f"{call.name} counts values of a column", f"write {call.name}(x)")
        return _distinct(call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> Release:
        return DISTINCT.planned(aggregate, terms)


def _both(first: Scalar | None, second: Scalar) -> Scalar:
    """The condition that both are true."""
    parts = [
        part
        for each in (first, second)
        if each is not None
        for part in (each.parts if isinstance(each, And) else (each,))
    ]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


@dataclass(frozen=True, slots=True)
class People(Kind):
    """How many people there are: COUNT(DISTINCT person)."""

    name = "people"
    word = "COUNT DISTINCT"
    heading = "people"
    counting = True
    of_all = True

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Total":
        return Total(terms.people(aggregate.condition))

    def following(self, aggregate: Aggregate, taken: "TakenOver") -> "Total | None":
        return _as_it_is(taken.alike(aggregate), taken)

    def said(self, inside: str) -> str:
        return f"{self.word}(person)"

    def part_of(self, some: Aggregate, whole: Aggregate) -> bool:
        return is_part(some, whole)


@registry.add
@dataclass(frozen=True, slots=True)
class Sum(Kind):
    """The sum of a number, clamped to its bounds."""

    name = "sum"
    calls = ("SUM",)
    word = "SUM"
    heading = "sum"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        return of_one_number(SUM, call)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Total | Shifted":
        if any(replace(aggregate, kind=each.kind) == each for each in terms.aggregates if each.kind.centred):
            # Σx = Σ(x − middle) + middle · n: less noise than a share of the budget for a sum of its own would leave
            mean = AVERAGE.planned(aggregate, terms)
            return Shifted(mean.total, mean.count, mean.middle)
        grid, operand = terms.grid(aggregate, self.word)
        return self._near(grid, operand, terms) if grid.near else self._far(aggregate, grid, operand, terms)

    def following(self, aggregate: Aggregate, taken: "TakenOver") -> "Total | Shifted | None":
        for own in taken.alike(aggregate):
            if isinstance(own, Shifted) and taken.told(own.total) and taken.told(own.count):
                return Shifted(taken.place(own.total), taken.place(own.count), own.middle)
        return _as_it_is(taken.alike(aggregate), taken)

    def _near(self, grid: ValueGrid, operand: Scalar, terms: MeasuredTerms) -> "Total":
        place = terms.add(terms.steps(operand, grid, 0.0))
        return Total(terms.measure(Measured(Combination.plain(place), grid.step, "sum", grid.rounding)))

    def _far(self, aggregate: Aggregate, grid: ValueGrid, operand: Scalar, terms: MeasuredTerms) -> "Total":
        centred = terms.steps(operand, grid, grid.middle)
        coarse = divisor_for(abs(grid.whole_middle) + max(map(abs, term_bounds(centred))))
        parts = (terms.add(centred), terms.parts), (terms.count(aggregate), grid.whole_middle)
        combination = Combination(parts, coarse * terms.parts)
        return Total(terms.measure(Measured(combination, coarse * grid.step, "sum", grid.rounding)))


COUNT, PEOPLE, SUM = Count(), People(), Sum()


@dataclass(frozen=True, slots=True)
class Total(Release):
    """A count or a sum: step · released."""

    notation = "Total measurement"
    of_totals = True

    measurement: int

    @property
    def places(self) -> tuple[int, ...]:
        return (self.measurement,)

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        step = plan.measurements[self.measurement].step
        tops = [step.numerator * total for total in released[self.measurement]]
        return quotients(tops, step.denominator, self.whole(plan))

    def read_back(
        self, plan: "Plan", values: Sequence[Value], known: Mapping[int, Sequence[int | None]]
    ) -> Mapping[int, Sequence[int | None]]:
        step, whole = plan.measurements[self.measurement].step, self.whole(plan)
        return {self.measurement: [_steps(value, Fraction(0), step, whole) for value in values]}

    def whole(self, plan: "Plan") -> bool:
        return is_whole(self, plan)

    def never_negative(self, plan: "Plan") -> bool:
        return row_bounds(plan.measurements[self.measurement].made, plan.terms)[0] >= 0

    def error(self, plan: "Plan", confidence: float) -> Number:
        """The ± of its noise, and of what was rounded."""
        measurement = plan.measurements[self.measurement]
        steps = measurement.error(confidence)
        error = (
            steps * measurement.step + measurement.half_step + measurement.rounding * plan.most_rows(measurement.cells)
        )
        return quotient(error.numerator, error.denominator)

    def form(self, reader: "Reader") -> AffineForm:
        return AffineForm(reader.total(self.measurement), None, *reader.unbounded())


@dataclass(frozen=True, slots=True)
class Shifted(Release):
    """A sum that is asked for beside its mean: step · released sum + middle · released count, at no price of its own."""

    notation = "Shifted total count middle"
    of_totals = True

    total: int
    count: int
    middle: Fraction

    @property
    def places(self) -> tuple[int, ...]:
        return self.total, self.count

    @property
    def shift(self) -> Fraction:
        return self.middle

    @property
    def counted(self) -> Mapping[int, int]:
        return {self.total: self.count}

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        step, shift = plan.measurements[self.total].step, self.middle * plan.measurements[self.count].step
        bottom = lcm(step.denominator, shift.denominator)
        per_total, per_count = int(step * bottom), int(shift * bottom)
        pairs = zip(released[self.total], released[self.count], strict=True)
        return quotients([per_total * total + per_count * count for total, count in pairs], bottom, self.whole(plan))

    def read_back(
        self, plan: "Plan", values: Sequence[Value], known: Mapping[int, Sequence[int | None]]
    ) -> Mapping[int, Sequence[int | None]]:
        """Its total, where its count is told too."""
        step, whole = plan.measurements[self.total].step, self.whole(plan)
        each = self.middle * plan.measurements[self.count].step
        pairs = zip(values, known.get(self.count, ()), strict=False)
        return {self.total: [None if n is None else _steps(value, each * n, step, whole) for value, n in pairs]}

    def whole(self, plan: "Plan") -> bool:
        return self.middle.denominator == 1 and is_whole(self, plan)

    def form(self, reader: "Reader") -> AffineForm:
        shift = reader.total(self.count).times(reader.full(self.middle))
        return AffineForm(reader.total(self.total).plus(shift), None, *reader.unbounded())


def is_whole(release: Release, plan: "Plan") -> bool:
    """Whether a sum of measurements is of whole numbers, none of which was rounded."""
    return not any(plan.measurements[i].rounding or plan.measurements[i].step.denominator > 1 for i in release.places)


def quotients(tops: Sequence[int], bottom: int, whole: bool) -> Sequence[Number | None]:
    """Exact quotients of integers, which have one divisor."""
    exact = [quotient(top, bottom) for top in tops]
    return exact if whole else [float(each) for each in exact]


def _as_it_is(releases: Iterable[Release], taken: "TakenOver") -> Total | None:
    """The first of these that is one total, and told."""
    place = next(
        (each.measurement for each in releases if isinstance(each, Total) and taken.told(each.measurement)), None
    )
    return None if place is None else Total(taken.place(place))


def _steps(value: Value, shift: Fraction, step: Fraction, whole: bool) -> int | None:
    """The one integer that is shown as this value, shift + step · integer; None where several are, which doubles do not tell apart."""
    if not isinstance(value, int | float):
        return None
    if (
        whole and isinstance(value, int) and shift.denominator == step.denominator == 1
    ):  # as most are: of thousands of groups
        steps, rest = divmod(value - shift.numerator, step.numerator)
        return None if rest else steps
    nearest = round((Fraction(value) - shift) / step)

    def shown(steps: int) -> Number | None:
        exact = shift + step * steps
        (number,) = quotients([exact.numerator], exact.denominator, whole)
        return number

    if shown(nearest) != value:
        return None
    apart = 2 * ulp(value) < step  # doubles are denser than what may be shown
    return nearest if apart or value not in (shown(nearest - 1), shown(nearest + 1)) else None


def is_part(some: Aggregate, whole: Aggregate) -> bool:
    """Whether one count is of some of those that another of its kind counts."""
    return some.kind == whole.kind and whole.argument in (None, some.argument) and conditions(whole) <= conditions(some)


def _second_count(argument: Scalar, word: str) -> str:
    what = said(argument)
    declared = f"; so is COUNT(*) if {what} is declared nullable = false" if isinstance(argument, Column) else ""
    return (
        f"COUNT(*) takes a part of the price for a count of its own beside {word}({what}), which may be missing:"
        f" COUNT({what}) is free beside it{declared}"
    )


def conditions(aggregate: Aggregate) -> set[Scalar]:
    """What must all be true of a row that is counted."""
    condition = aggregate.condition
    if condition is None:
        return set()
    return set(condition.parts) if isinstance(condition, And) else {condition}
