"""How much one unit can change the totals of a query: transfer functions from the scan up to the totals.

A unit is a row, or a person with all their rows. From a scan a person has any number of rows; `Contributions` gathers them by group;
`CapRows` and `CapGroups`, or `ClipNorm`, bound what is left. Totals of anything that is not bounded are refused.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from discreet.errors import Fault
from discreet.exact import sqrt_up
from discreet.mechanisms import sensitivity
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    ClipNorm,
    Contributions,
    Filter,
    How,
    Scan,
    Term,
    Totals,
    parts,
)
from discreet.plan.scalar import Indicator, Literal, Steps
from discreet.privacy import Adjacency, Relation, Unit

MOST_STEPS = 1 << 24  # of a clamped value


def steps_of(x: float, term: Steps) -> int:
    """Where a double lies on the grid of a term, before it is centred: what an engine computes, in the same operations."""
    return floor(x * 2.0**term.shift + 0.5)


def term_bounds(term: Term) -> tuple[int, int]:
    """The least and the largest integer that one row can give to a term, apart from 0 where it gives nothing."""
    match term.value:
        case Indicator():
            low, high = 0, 1
        case Literal(value=int(value)) if not isinstance(value, bool):
            low, high = value, value
        case Steps() as steps:
            low, high = (steps_of(bound, steps) - steps.centre for bound in (steps.low, steps.high))
            if max(abs(low), abs(high)) > MOST_STEPS or low > high:
                raise Fault("a clamped value has too many steps", code="rule")
        case _:
            raise Fault("a term is neither clamped nor counted", code="rule")
    if term.how is How.ANY and low < 0:
        raise Fault("the largest value of a person must not be negative", code="rule")
    return low, high


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit reaches into a relation. None: without limit."""

    rows: int | None  # in one group
    groups: int | None
    surely: bool = False  # a row is there whatever it holds
    gathered: bool = False  # one row for each person and group
    terms: tuple[Term, ...] = ()
    limits: tuple[int, ...] | None = None  # on the L2 norm of each term


def reach_of(query: Totals, relation: Relation) -> Reach:
    """Fold the relations below the totals, from the scan up."""
    person = relation.unit is Unit.PERSON
    reach = Reach(rows=None, groups=None) if person else Reach(rows=1, groups=1, surely=True)
    for part in reversed(parts(query)[1:]):
        match part:
            case Scan():
                continue
            case Filter():
                reach = Reach(reach.rows, reach.groups)
            case Contributions(terms=terms):
                reach = Reach(reach.rows, reach.groups, gathered=True, terms=terms)
            case CapRows(most=most):
                reach = Reach(_least(reach.rows, most), reach.groups, gathered=reach.gathered, terms=reach.terms)
            case CapGroups(most=most):
                reach = Reach(reach.rows, _least(reach.groups, most), gathered=reach.gathered, terms=reach.terms)
            case ClipNorm(limits=limits):
                reach = Reach(reach.rows, reach.groups, gathered=reach.gathered, terms=reach.terms, limits=limits)
            case _:
                raise Fault(f"{type(part).__name__} has no rule", code="rule")
    if person is not reach.gathered:
        raise Fault("the rows of a person are gathered exactly where persons are protected", code="rule")
    return reach


def _least(first: int | None, second: int) -> int:
    if second < 1:
        raise Fault("a cap is at least 1", code="rule")
    return second if first is None else min(first, second)


def sensitivities(query: Totals, relation: Relation, cells: int) -> tuple[Sensitivity, ...]:
    """For each term of the totals: how far a neighbour can move the vector over all `cells` groups.

    For any data of the declared types, and any two neighbours under the relation, the exact totals differ by at most this, for
    any salt.
    """
    reach = reach_of(query, relation)
    if reach.limits is not None:
        return tuple(
            _of_norm(term, limit, relation, cells) for term, limit in zip(reach.terms, reach.limits, strict=True)
        )
    terms = reach.terms if reach.gathered else query.terms
    return tuple(_of_term(term, reach, relation, cells, query) for term in terms)


def _of_term(term: Term, reach: Reach, relation: Relation, cells: int, query: Totals) -> Sensitivity:
    low, high = term_bounds(term)
    groups = cells if reach.groups is None else min(reach.groups, cells)
    rows = 1 if term.how is How.ANY else reach.rows
    if rows is None:
        raise Fault("the rows of a person in a group have no cap", code="rule")
    if reach.surely and not query.keys and _within_bounds_always(term):
        return sensitivity.bounded_sum(relation, low, high, rows=rows, surely=True)
    return sensitivity.grouped_sum(relation, low, high, rows=rows, groups=groups, cells=cells)


def _within_bounds_always(term: Term) -> bool:
    """Whether every row gives a value within the bounds, the 0 of a NULL included."""
    low, high = term_bounds(term)
    return not isinstance(term.value, Steps) or low <= 0 <= high


def _of_norm(term: Term, limit: int, relation: Relation, cells: int) -> Sensitivity:
    """Vectors of norm at most C: added or removed C; replaced 2C, or √2·C where no coordinate is negative. L1 <= √cells · L2."""
    if limit < 1:
        raise Fault("a limit is at least 1", code="rule")
    low, _ = term_bounds(term)
    square = Fraction(limit) ** 2
    if relation.adjacency is Adjacency.REPLACE:
        square *= 2 if low >= 0 else 4
    return Sensitivity(sqrt_up(square * cells), square, relation)
