"""COUNT(DISTINCT x): how many values of a column, or of an expression, occur in each group; NULL is none of them.

What is counted is the values that somebody has among what is kept of them (`Occurring`): of a row its one value, and of a person at most
`max_rows` values in a group, in at most `max_groups` groups, and `max_total` pairs of a group and a value in all, chosen at random from
their own. Nobody is scaled, as they are for counts of rows: half of a value is none. How far a neighbour moves the counts is proven in
`rules.occurring`; geometric noise hides that much in L1, over all groups at once.

Of a column whose values are known, k of them, nobody has more than k in a group: then that is a limit, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from discreet.errors import Fault, QueryError
from discreet.mechanisms import Geometric
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.affine import AffineForm
from discreet.plan.caps import FEW_GROUPS, Caps
from discreet.plan.combination import Combination
from discreet.plan.digits import counted, six_digits
from discreet.plan.domain import values_of
from discreet.plan.explain import said
from discreet.plan.question import Aggregate
from discreet.plan.reading import Groups, Reading, ReadingAsked
from discreet.plan.relation import (
    Contributions,
    Filter,
    KeepKeys,
    Occurring,
    Totals,
    caps_in,
    contributions_of,
    paired_keys,
)
from discreet.plan.releases.base import Kind, Number, ReadRelease
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import And, Arithmetic, IsNull, Literal, Not, Operator, Scalar, Type, type_of
from discreet.plan.scope import Scope
from discreet.plan.steps.base import broken
from discreet.plan.totals import Run, combined_totals
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.draft import Draft
    from discreet.plan.forms import Reader
    from discreet.plan.plan import Plan

COUNTED = Combination.plain(0)


@dataclass(frozen=True, slots=True)
class Distinct(Kind):
    """How many values of the argument there are, NULL not counted."""

    name = "distinct"
    word = "COUNT DISTINCT"
    heading = "distinct"
    counting = True
    beside = True

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "DistinctCount":
        if aggregate.argument is None:
            raise Fault("values are of an argument", code="release")
        possible = _possible(aggregate.argument, terms.scope.unfiltered)
        return DistinctCount(terms.read(DistinctAsked(aggregate.argument, aggregate.condition, possible)))


DISTINCT = Distinct()


def _possible(argument: Scalar, scope: Scope) -> int | None:
    """How many values an argument can have; None where there is no list of them, or it takes too long to make it."""
    try:
        values = values_of(argument, scope)
    except QueryError:
        return None
    return None if values is None else max(1, len({*values} - {None}))


@dataclass(frozen=True, slots=True)
class DistinctAsked(ReadingAsked):
    """A count of values, before it has a price."""

    argument: Scalar
    condition: Scalar | None
    possible: int | None
    """How many values there can be, where that is known."""

    @property
    def of_rows(self) -> bool:
        """Few possible values limit by themselves how many a person has in a group."""
        return self.possible is None or self.possible > FEW_GROUPS

    @property
    def of_people(self) -> bool:
        return not self.of_rows

    def priced(self, draft: "Draft", caps: Caps, epsilon: Fraction) -> "DistinctValues":
        query = Totals(self._occurring(draft, caps))
        moved = Fraction(ceil(combined(COUNTED, query, draft.protected.relation, draft.known).l1))
        return DistinctValues(query, Geometric(moved / epsilon), moved)

    def _occurring(self, draft: "Draft", caps: Caps) -> Occurring:
        present: Scalar = Not(IsNull(self.argument))
        rows = Filter(draft.source, present if self.condition is None else And((self.condition, present)))
        keys = (*draft.keys, _one_zero(self.argument))
        if draft.protected.person is None:
            return Occurring(rows, keys)
        everything = Contributions(rows, draft.person, keys, ())
        return Occurring(everything if draft.alone else self._kept(everything, caps, draft.known))

    def _kept(self, everything: Contributions, caps: Caps, cells: int) -> Contributions | KeepKeys:
        """What is kept of each person: groups first, then values in each, then pairs of both. A limit that does nothing is left out."""
        groups = cells if caps.groups is None else min(caps.groups, cells)
        values = min((each for each in (caps.rows, self.possible) if each is not None), default=None)
        total = caps.total
        if values is not None and total is not None:
            values, total = (None, total) if total <= values else (values, total if total < values * groups else None)
        size = len(everything.keys)
        rest: Contributions | KeepKeys = everything
        if groups < cells:
            rest = KeepKeys(rest, 0, size - 1, groups)
        if values is not None:
            rest = KeepKeys(rest, size - 1, size, values)
        return rest if total is None else KeepKeys(rest, 0, size, total)


def _one_zero(argument: Scalar) -> Scalar:
    """The argument, in which 0 is one number, whatever its sign."""
    if type_of(argument) is not Type.NUMBER:
        return argument
    return Arithmetic(Operator.ADD, argument, Literal(0.0, Type.NUMBER))


@dataclass(frozen=True, slots=True)
class DistinctValues(Reading):
    """How many values occur in each group, with noise."""

    notation = "DistinctValues query mechanism sensitivity"

    query: Totals
    mechanism: Geometric
    sensitivity: Fraction

    @property
    def columns(self) -> int:
        return 1

    @property
    def noises(self) -> tuple[Geometric, ...]:
        return (self.mechanism,)

    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)

    def check(self, relation: Relation, groups: Groups) -> None:
        """For a count with noise that is made for what a neighbour can do: returns. For any other: raises Fault."""
        if self.sensitivity < combined(COUNTED, self.query, relation, max(1, len(groups))).l1:
            raise broken("a neighbour can change a count of values by more than its noise is made for")

    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        add = grant.prepare(self.mechanism, self.sensitivity, len(groups))
        (exact,) = self.exactly(run, salt, groups)
        return (add(exact),)

    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        return combined_totals([COUNTED], self.query, groups, run(self.query, salt))

    def explained(self) -> str:
        return (
            f"values of {self.said}: geometric noise of scale {six_digits(self.mechanism.scale)}, sensitivity"
            f" {six_digits(self.sensitivity)} (L1), ± {six_digits(Fraction(self.mechanism.error()))} at 95 %,"
            f" costs ε = {six_digits(self.sensitivity / self.mechanism.scale)}"
        )

    def receipt(self) -> dict[str, Any]:
        return {
            "said": f"distinct {self.said}",
            "mechanism": "Geometric",
            "scale": str(self.mechanism.scale),
            "sensitivity": str(self.sensitivity),
            "step": "1",
        }

    @property
    def said(self) -> str:
        """What has the values, for people."""
        occurring = self.query.source
        argument = paired_keys(occurring)[-1] if isinstance(occurring, Occurring) else None
        match argument:
            case Arithmetic(left=left, right=Literal(value=0.0)) if type_of(left) is Type.NUMBER:
                return said(left)
        return "" if argument is None else said(argument)

    def told(self, cells: int) -> list[str]:
        caps = {(each.within, each.of): each.most for each in caps_in(self.query) if isinstance(each, KeepKeys)}
        if not caps:
            return []
        everything = contributions_of(self.query)
        size = len(everything.keys)
        places = {(size - 1, size): " in a group", (0, size): " in all"}
        limits = [(caps[at], where if cells > 1 else "") for at, where in places.items() if at in caps]
        parts = [f"at most {most:,}{where}" for most, where in limits[1:]]
        if (0, size - 1) in caps:
            parts.append(f"in at most {caps[0, size - 1]:,} of the {cells:,} groups")
        first = f"values of {self.said} count"
        if limits:
            ((most, where), *_) = limits
            first = f"at most {counted(most, 'value')} of {self.said} {'counts' if most == 1 else 'count'}{where}"
        return [f"of each {everything.person.name} {', and '.join([first, *parts])}, chosen at random"]


@dataclass(frozen=True, slots=True)
class DistinctCount(ReadRelease):
    """A count of values, as it was released."""

    notation = "DistinctCount reading"

    reading: int

    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        (place,) = plan.decided.columns_of(self.reading)
        return list(released[place])

    def whole(self, plan: "Plan") -> bool:
        return True

    def never_negative(self, plan: "Plan") -> bool:
        return True

    def error(self, plan: "Plan", confidence: float) -> Number:
        """The exact ± of its noise."""
        (place,) = plan.decided.columns_of(self.reading)
        noise = plan.decided.noise_of(place)
        return 0 if noise is None else noise.error(confidence)

    def form(self, reader: "Reader") -> AffineForm:
        (place,) = reader.plan.decided.columns_of(self.reading)
        return AffineForm(reader.read(place), None, *reader.unbounded())
