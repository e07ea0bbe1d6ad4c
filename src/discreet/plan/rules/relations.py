"""How much one unit can change the totals of a query: transfer functions from the scans up to the totals, one for each relation.

A unit is a row, or a person with all their rows. From a scan a person has any number of rows; `Contributions` gathers them by group;
`CapRows` and `CapGroups`, `CapTotal`, or `ClipNorm`, bound what is left. Totals of anything that is not bounded are refused, and so is a
relation without a rule of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import floor, isqrt

from discreet.errors import Fault
from discreet.exact import sqrt_up
from discreet.mechanisms import sensitivity
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.plan.combination import Combination
from discreet.plan.evaluate import product_ends, steps_of
from discreet.plan.once import once
from discreet.plan.relation import (
    ONE,
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Exceeding,
    Filled,
    Filter,
    Gathered,
    How,
    Occurring,
    Rows,
    Scan,
    SecondMoments,
    Term,
    Totals,
    Typed,
    contributions_of,
    per_person_in,
    terms_of,
)
from discreet.plan.scalar import And, Case, Indicator, IsNull, Literal, Not, Product, Scalar, Steps
from discreet.privacy import Adjacency, Relation, Unit

MOST_STEPS = 1 << 24  # of a clamped value
REMEMBERED = 1024  # sensitivities: the rungs of a ladder, for each of the bounds that a question has
MOST_TOTAL = 1 << 24  # rows of a person in all: times a table of 2^38 rows, as engines multiply them, it fits 62 bits


@once
def term_bounds(term: Term) -> tuple[int, int]:
    """The least and the largest integer that one row can give to a term, apart from 0 where it gives nothing."""
    match term.value:
        case Indicator():
            low, high = 0, 1
        case Literal(value=int(value)) if not isinstance(value, bool):
            low, high = value, value
        case Steps() as steps:
            low, high = (steps_of(bound, steps) for bound in (steps.low, steps.high))
            if max(abs(low), abs(high)) > MOST_STEPS or low > high:
                raise Fault("a clamped value has too many steps", code="rule")
        case Product(left=left, right=right) as product:
            for each in (left, right):
                term_bounds(Term(How.SUM, each))  # which has few steps, or is a fault
            low, high = product_ends(product)
            if max(abs(low), abs(high)) > MOST_STEPS:
                raise Fault("a product has too many steps", code="rule")
        case _:
            raise Fault("a term is neither clamped nor counted", code="rule")
    if term.how is How.ANY and low < 0:
        raise Fault("the largest value of a person must not be negative", code="rule")
    if term.how is How.MEAN and not isinstance(term.value, Steps):
        raise Fault("the mean of a person is of steps", code="rule")
    return low, high


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit reaches into a relation. None: without limit."""

    rows: int | None  # in one group
    groups: int | None
    surely: bool = False  # a row is there whatever it holds, and in the one group that there is
    gathered: bool = False  # one row for each person and group
    terms: tuple[Term, ...] = ()  # of the totals
    limits: tuple[int, ...] | None = None  # on the L2 norm of each term
    total: int | None = None  # rows over all groups
    apportioned: bool = False  # what is in a group is told apart by value, so that a person may be in many cells of one
    products: SecondMoments | None = None  # what is added up are products of two of the terms


@once
def reach_of(query: Totals, relation: Relation) -> Reach:
    """How far a unit of the relation reaches into what is added up, and which terms are."""
    reach = _below(query.source, relation.unit or Unit.ROW)
    if reach.gathered is not (relation.unit is Unit.PERSON):
        raise Fault("the rows of a person are gathered exactly where persons are protected", code="rule")
    terms = terms_of(query)
    if reach.limits is not None and len(reach.limits) != len(_gathered_terms(query)):
        raise Fault("a norm is clipped to one limit for each term", code="rule")
    return replace(reach, surely=reach.surely and not query.keys, terms=terms)


def _gathered_terms(query: Totals) -> tuple[Term, ...]:
    """The terms that people were gathered by, of which the totals may be products."""
    return contributions_of(query.source).terms if isinstance(query.source, SecondMoments) else terms_of(query)


@singledispatch
def reach_into(relation: Rows | Gathered | Occurring, unit: Unit) -> Reach:
    """How far a unit reaches into a relation below the totals, from how far it reaches into what that is made of.

    For any data of the declared types, and any salt: whatever rows of the relation one unit can add, remove or change are no more.
    """
    raise Fault(f"{type(relation).__name__} has no rule", code="rule")


@once
def _below(relation: Rows | Gathered | Occurring, unit: Unit) -> Reach:
    """How far a unit reaches into what many relations may be made of: `reach_into`, computed once."""
    return reach_into(relation, unit)


@reach_into.register
def _scan(relation: Scan, unit: Unit) -> Reach:
    return Reach(rows=None, groups=None) if unit is Unit.PERSON else Reach(rows=1, groups=1, surely=True)


@reach_into.register
def _typed(relation: Typed, unit: Unit) -> Reach:
    return _of_rows(relation.source, unit)


@reach_into.register
def _filled(relation: Filled, unit: Unit) -> Reach:
    return _of_rows(relation.source, unit)


@reach_into.register
def _filter(relation: Filter, unit: Unit) -> Reach:
    below = _of_rows(relation.source, unit)
    return Reach(below.rows, below.groups)


@reach_into.register
def _contributions(relation: Contributions, unit: Unit) -> Reach:
    below = _of_rows(relation.source, unit)
    if any(each.person != relation.person for each in per_person_in(relation.source)):
        raise Fault("rows of people are gathered by who these are", code="rule")
    return Reach(below.rows, below.groups, gathered=True)


@reach_into.register
def _cap_rows(relation: CapRows, unit: Unit) -> Reach:
    below = _of_people(relation.source, unit)
    return replace(below, rows=_least(below.rows, relation.most))


@reach_into.register
def _cap_groups(relation: CapGroups, unit: Unit) -> Reach:
    below = _of_people(relation.source, unit)
    return replace(below, groups=_least(below.groups, relation.most))


@reach_into.register
def _cap_total(relation: CapTotal, unit: Unit) -> Reach:
    below = _of_people(relation.source, unit)
    if relation.most > MOST_TOTAL:
        raise Fault("a cap on all rows of a person is too wide for 64 bits", code="rule")
    return replace(below, total=_least(below.total, relation.most))


@reach_into.register
def _clip_norm(relation: ClipNorm, unit: Unit) -> Reach:
    below = _below(relation.source, unit)
    _check_gathered(below)
    return replace(below, limits=relation.limits)


@reach_into.register
def _exceeding(relation: Exceeding, unit: Unit) -> Reach:
    """A person has one 0 or 1 for each rung, however many rows and groups they have, and is in no group."""
    _of_people(relation.source, unit)
    return Reach(rows=1, groups=1, gathered=True)


@reach_into.register
def _second_moments(relation: SecondMoments, unit: Unit) -> Reach:
    """A person reaches as far as their terms do: each product is of what is left of two of them in one group."""
    below = _below(relation.source, unit)
    _check_gathered(replace(below, limits=None))
    size = len(contributions_of(relation).terms)
    if not isinstance(relation.source, Multiplied):
        raise Fault("products are of what people give to sums", code="rule")
    if len(relation.shifts) != size or not all(0 <= place < size for pair in relation.pairs for place in pair):
        raise Fault("a product is of terms that there are, each with its steps", code="rule")
    return replace(below, products=relation)


Multiplied = Contributions | CapRows | CapGroups | CapTotal | ClipNorm


def _of_rows(source: Rows, unit: Unit) -> Reach:
    """Rows are filtered and gathered before they are people's: what is a person's once is not a row again."""
    below = _below(source, unit)
    if below.gathered:
        raise Fault("what was gathered is filtered or gathered again", code="rule")
    return below


def _of_people(source: Gathered, unit: Unit) -> Reach:
    """Rows and groups are capped before the whole of a person is: what was scaled has no number of rows any more."""
    below = _below(source, unit)
    _check_gathered(below)
    if below.total is not None:
        raise Fault("rows and groups are capped before all rows of a person are", code="rule")
    return below


def _check_gathered(below: Reach) -> None:
    """Caps are on what was gathered, and the last one is on the norm: a cap on top of it would leave its limits behind."""
    multiplied = below.products is not None
    if not below.gathered or below.limits is not None or below.apportioned or multiplied:
        raise Fault(
            "a cap is on what was gathered, and comes before a norm is clipped, values told apart or terms multiplied",
            code="rule",
        )


def _least(first: int | None, second: int) -> int:
    if second < 1:
        raise Fault("a cap is at least 1", code="rule")
    return second if first is None else min(first, second)


def _of_place(place: int, reach: Reach, relation: Relation, cells: int) -> Sensitivity:
    """How far a neighbour can move the vector of a term over all `cells` groups."""
    if reach.products is not None:
        return _of_product(reach.products.pairs[place], reach.products, reach, relation, cells)
    if reach.limits is not None:
        return _of_norm(reach.terms[place], reach.limits[place], relation, cells)
    return _of_term(reach.terms[place], reach, relation, cells)


def _of_term(term: Term, reach: Reach, relation: Relation, cells: int) -> Sensitivity:
    low, high = term_bounds(term)
    groups = cells if reach.groups is None else min(reach.groups, cells)
    # of a person there is one largest value, and one mean, which lies between the bounds of all rows
    rows = reach.rows if term.how is How.SUM else 1
    if reach.total is not None and term.how is How.SUM:
        whole = _of_total(min(low, 0), max(high, 0), reach.total, reach.rows, relation, cells)
        if rows is None:
            return whole
        capped = sensitivity.grouped_sum(relation, low, high, rows=rows, groups=groups, cells=cells)
        return Sensitivity(min(whole.l1, capped.l1), min(whole.l2_squared, capped.l2_squared), relation)
    if rows is None:
        raise Fault("the rows of a person in a group have no cap", code="rule")
    if reach.surely and _within_bounds_always(term):
        return sensitivity.bounded_sum(relation, low, high, rows=rows, surely=True)
    return sensitivity.grouped_sum(relation, low, high, rows=rows, groups=groups, cells=cells)


@lru_cache(maxsize=REMEMBERED)
def _of_total(low: int, high: int, total: int, rows: int | None, relation: Relation, cells: int) -> Sensitivity:
    """What a person with at most C rows over all groups, and r in each, can move a sum of rows by: each gives between A <= 0 <= B.

    A person's vector has c_g·A <= v_g <= c_g·B in group g, for some c_g >= 0 with c_g <= r and Σc_g <= C: true of the rows before they
    are scaled, with n for C, and truncating toward 0 leaves v_g within. With M = max(−A, B) so Σ|v_g| <= C·M, and
    Σv_g² <= M²·Σc_g² <= M²·max c_g·Σc_g <= M²·min(r, C)·C.
    Replaced: in one group by min(r, C)·(B − A). Over several, L1 by twice as much; L2 by twice as much, or where all of a person have
    one sign, so that no product v_g·w_g is negative, by √2 times.
    """
    most, size = total if rows is None else min(rows, total), max(-low, high)
    if relation.adjacency is Adjacency.REPLACE and cells == 1:
        return Sensitivity(most * (high - low), (most * (high - low)) ** 2, relation)
    l1, square = total * size, most * total * size**2
    if relation.adjacency is Adjacency.ADD_REMOVE:
        return Sensitivity(l1, square, relation)
    return Sensitivity(2 * l1, (4 if low < 0 < high else 2) * square, relation)


def _within_bounds_always(term: Term) -> bool:
    """Whether every row gives a value within the bounds, the 0 of a NULL included."""
    low, high = term_bounds(term)
    return not isinstance(term.value, Steps | Product) or low <= 0 <= high


def _of_norm(term: Term, limit: int, relation: Relation, cells: int) -> Sensitivity:
    """Vectors of norm at most C: added or removed C; replaced 2C, or √2·C where no coordinate is negative. L1 <= √cells · L2."""
    if limit < 1:
        raise Fault("a limit is at least 1", code="rule")
    low, _ = term_bounds(term)
    square = Fraction(limit) ** 2
    if relation.adjacency is Adjacency.REPLACE:
        square *= 2 if low >= 0 else 4
    return Sensitivity(sqrt_up(square * cells), square, relation)


def _of_product(
    pair: tuple[int, int], products: SecondMoments, reach: Reach, relation: Relation, cells: int
) -> Sensitivity:
    """How far a neighbour can move the sums over people of a product of two terms a and b, in coarser steps.

    A person's vectors over groups have norms A and B at most: those are the L2 sensitivities of the two sums where somebody is added or
    removed. In steps of 2^s a number t becomes one within 1/2 of t/2^s, and 0 stays 0; so the vector has a norm of A/2^s + √g/2 at
    most, g being the groups that they may be in (Minkowski). Σ|a_g b_g| is at most the product of both norms (Cauchy and Schwarz), and
    in one group |ab| that of the largest of each; so Σ(a_g b_g)² is at most the one times the other.
    Replaced: the sum of both people's, which is twice as much; of one group and a square, which is never negative, the larger of both.
    """
    added = Relation(Adjacency.ADD_REMOVE, relation.unit)
    below = replace(reach, products=None, terms=contributions_of(products).terms)

    def norm(place: int, cells: int) -> Fraction:
        shift = products.shifts[place]
        whole: Fraction = sqrt_up(_of_place(place, below, added, cells).l2_squared) / 2**shift
        groups = cells if below.groups is None else min(below.groups, cells)
        return whole + sqrt_up(Fraction(groups)) / 2 if shift else whole

    one, other = pair
    l1 = floor(norm(one, cells) * norm(other, cells))
    most = floor(norm(one, 1)) * floor(norm(other, 1))
    if most > MOST_STEPS:
        raise Fault("a product of two terms has too many steps", code="rule")
    square = most * l1
    if relation.adjacency is Adjacency.REPLACE and (cells > 1 or one != other):
        return Sensitivity(2 * l1, 4 * square, relation)
    return Sensitivity(l1, square, relation)


def most_of_one(place: int, query: Totals, relation: Relation) -> Fraction:
    """The most that one unit gives to a term in one group, in size."""
    reach = reach_of(query, relation)
    return sqrt_up(_of_place(place, reach, Relation(Adjacency.ADD_REMOVE, relation.unit), 1).l2_squared)


def steps_shift(most: Fraction) -> int:
    """The least shift by which numbers of this size have at most 2^12 steps, so that products of two have at most 2^24."""
    shift = 0
    while most / 2**shift + (Fraction(1, 2) if shift else 0) > isqrt(MOST_STEPS):
        shift += 1
    return shift


# What is made of several terms.


def combined(combination: Combination, query: Totals, relation: Relation, cells: int) -> Sensitivity:
    """How far a neighbour can move a combination of the totals, as a vector over all `cells` groups.

    For any data of the declared types, and any two neighbours under the relation, exact combinations differ by at most this, for any salt.
    One term as it is: what it moves by. Steps and the count of those that have them, Σy + W·n: see `_shifted`. Anything else, and
    whatever is shortened to a norm or scaled to a number of rows: by the triangle inequality, the weights times what each term moves by.

    Rounding t to floor(t/D + 1/2) moves each coordinate that moves at all by less than 1 more than t/D.
    """
    reach = reach_of(query, relation)
    _fits(combination, reach.terms)
    moved = {place: _of_place(place, reach, relation, cells) for place, _ in combination.parts}
    if combination.only is not None:
        return moved[combination.only]
    weight = shift_of(combination, reach.terms)
    if weight is not None and reach.limits is None and reach.total is None:
        return _shifted(combination, weight, reach, relation, cells)
    l1 = sum((abs(by) * moved[i].l1 for i, by in combination.parts), Fraction(0)) / combination.divisor
    l2 = sum((abs(by) * moved[i].l2 for i, by in combination.parts), Fraction(0)) / combination.divisor
    more = 1 - Fraction(1, combination.divisor) if l1 else Fraction(0)
    l1 += more * cells
    if reach.limits is None:
        # of whole numbers, which geometric noise is made for
        l1 = Fraction(floor(l1))
    return Sensitivity(l1, (l2 + more * sqrt_up(Fraction(cells))) ** 2, relation)


def _fits(combination: Combination, terms: Sequence[Term]) -> None:
    """No combination of 2^38 rows passes 2^62; for one that might raises Fault."""
    if combination.divisor < 1 or not combination.parts or not all(0 <= i < len(terms) for i, _ in combination.parts):
        raise Fault("a combination is of terms that there are", code="rule")
    size = sum(abs(weight) * max(map(abs, term_bounds(terms[i]))) for i, weight in combination.parts)
    if size > MOST_STEPS * combination.divisor:
        raise Fault("a combination has too many steps", code="rule")


def shift_of(combination: Combination, terms: Sequence[Term]) -> int | None:
    """W, where a combination is Σy + W·n: of steps y, around 0, and of a count n of all rows that have them."""
    if len(combination.parts) != 2 or combination.parts[0][1] != 1:
        return None
    (total, _), (count, weight) = combination.parts
    steps, counted = terms[total], terms[count]
    if not isinstance(steps.value, Steps) or (steps.how, counted.how) != (How.SUM, How.SUM):
        return None
    low, high = term_bounds(steps)
    return weight if low <= 0 <= high and counts_all(counted.value, steps.value.operand) else None


def counts_all(count: Scalar, operand: Scalar) -> bool:
    """Whether a count has every row on which an operand is not NULL: all conditions of the one are conditions of the other."""
    if count == ONE:
        return True
    conditions: set[Scalar] = {Not(IsNull(operand))}
    match operand:
        case Case(branches=((condition, value),), otherwise=Literal(value=None)):
            conditions |= {Not(IsNull(value)), condition} | _conjuncts(condition)
    return isinstance(count, Indicator) and _conjuncts(count.condition) <= conditions


def _conjuncts(condition: Scalar) -> set[Scalar]:
    return set(condition.parts) if isinstance(condition, And) else {condition}


def _shifted(combination: Combination, weight: int, reach: Reach, relation: Relation, cells: int) -> Sensitivity:
    """How far t = Σy + W·n can be moved, where n counts all rows that have a y, each between a <= 0 <= b; L = W + a and H = W + b.

    A row gives y + W, within L and H, or 0. So does a row that is counted without having a y, since a <= 0 <= b. Where rows are not
    gathered a unit gives as much for each of its rows.

    A person has k such rows among r, Σy = s between k·a and k·b. For r <= m, the cap, t lies between k·L and k·H. For r > m it is
    S + W·C with S = floor((s·m + u)/r) and C = floor((k·m + u)/r), for one u with 0 <= u < r. Then 0 <= C <= m.
    C = m: s lies between r·a and r·b, so S between m·a and m·b, and t between m·L and m·H.
    C < m: k·m + u < (C + 1)·r. So s·m + u <= b·(k·m + u) + (1 − b)·u <= b·(C + 1)·r for b >= 1, and S <= b·(C + 1), which
    holds for b = 0 as well; and s·m + u >= a·(k·m + u) + (1 − a)·u >= a·(C + 1)·r, S >= a·(C + 1). So t lies between C·L + a and
    C·H + b, both of which are extreme at C = 0 or C = m − 1.
    With 0 < L that is between a and m·H: somebody whose count is rounded down to 0 may still have a sum below 0.

    Other people's totals are a shift, and rounding (t + t')/D moves by no more than |t'|/D, rounded up, in each group. Outward
    rounding of both ends says that for all that a person may be replaced by.
    """
    total, count = (reach.terms[i] for i, _ in combination.parts)
    low, high = term_bounds(total)
    least, most, rows = weight + low, weight + high, reach.rows
    if rows is None:
        raise Fault("the rows of a person in a group have no cap", code="rule")
    replaced = relation.adjacency is Adjacency.REPLACE
    if replaced and reach.surely and count.value == ONE:  # a row leaves W, and W comes
        return sensitivity.bounded_sum(relation, 0, _up(high - low, combination.divisor), rows=rows, surely=True)
    if reach.gathered:
        least, most = (
            min(0, rows * least, low + min(0, (rows - 1) * least)),
            max(0, rows * most, high + max(0, (rows - 1) * most)),
        )
    else:
        least, most = rows * least, rows * most
    groups = cells if reach.groups is None else min(reach.groups, cells)
    ends = -_up(-least, combination.divisor), _up(most, combination.divisor)
    return sensitivity.grouped_sum(relation, *ends, groups=groups, cells=cells)


def _up(size: int, divisor: int) -> int:
    return -(-size // divisor)


def row_bounds(combination: Combination, terms: Sequence[Term]) -> tuple[int, int]:
    """Between what one row that counts gives to a combination, outward; what is added to its steps is a count."""
    bounds = [[weight * end for end in term_bounds(terms[i])] for i, weight in combination.parts]
    bounds[1:] = [[weight * max(term_bounds(terms[i]))] for i, weight in combination.parts[1:]]
    return sum(map(min, bounds)) // combination.divisor, _up(sum(map(max, bounds)), combination.divisor)
