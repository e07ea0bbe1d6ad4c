"""What an engine runs: relations from a scan to exact integer totals. All are frozen; none holds a value from the data.

    Totals ── CapGroups | ClipNorm ── CapRows ── Contributions ── Filter ── Filled ── Scan        one person has many rows
    Totals ── [ClipNorm] ── CapTotal ── [CapGroups] ── [CapRows] ── Contributions …               and a limit on all of them
    Totals ── Filter ── Filled ── Scan                                                            each row is a unit of its own
    Totals ── Exceeding ── [CapGroups] ── [CapRows] ── Contributions …                            how many people have more than so many
    Totals ── Apportioned ── [CapTotal] ── [CapGroups] ── [CapRows] ── Contributions …            and by a value of their rows
    Totals ── SecondMoments ── [ClipNorm] ── [CapTotal] ── [CapGroups] ── [CapRows] ── Contributions …   and squares of what is left of them
    Totals ── Contributions ── [Filter] ── PerPerson ── [Filter] ── Filled ── Scan                one row for each person, of all theirs
    Totals ── Occurring ── [KeepKeys …] ── Contributions …                                        how many values occur in each group

An engine returns the totals of each group that it found, as int64, and the keys of the group: text, integers, dates as days since
1970-01-01, moments as microseconds since then, booleans, or NULL. Who is kept in `CapRows` and `CapGroups` is decided by priorities
that the engine computes from the person, the group and a fresh salt, never from the order of rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import singledispatch
from itertools import takewhile
from typing import Any, TypeAlias

from discreet.errors import Fault
from discreet.plan.calendar import EPOCH as EPOCH
from discreet.plan.moments import number
from discreet.plan.once import once
from discreet.plan.scalar import Column, Literal, Scalar, Type, Value

MOST_ROWS = 1 << 38  # of a table, a public constant, checked at load: with at most 2^24 steps a row no sum passes 2^62


@dataclass(frozen=True, slots=True)
class Rows:
    """Any relation of rows, with the columns that are in its scope."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Any relation of one row for each person and group: the person, the keys, and an integer for each term."""


@dataclass(frozen=True, slots=True)
class Scan(Rows):
    """A declared table, and the columns of it that are read."""

    table: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Typed(Rows):
    """All rows, in which these columns, which are stored as texts, are read as values of these types; what is none is NULL."""

    source: Scan
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Filled(Rows):
    """All rows, in which these columns have these values wherever they are NULL: what is declared never to be missing is not."""

    source: Rows
    values: tuple[tuple[Column, Literal], ...]


@dataclass(frozen=True, slots=True)
class Filter(Rows):
    """The rows on which the condition is true."""

    source: Rows
    condition: Scalar


class Summary(Enum):
    """How all rows of a person become one value: of the set of them, in whatever order they are. Nothing is added up but whole numbers."""

    SUM = "sum"  # of whole numbers of few steps, NULL counting as 0
    DISTINCT = "distinct"  # how many values there are, NULL not counted
    LEAST = "least"  # the least value, false before true; NULL where there is none
    LARGEST = "largest"


@dataclass(frozen=True, slots=True)
class PersonFeature:
    """A column of people: what all rows of each give."""

    column: Column
    how: Summary
    value: Scalar


@dataclass(frozen=True, slots=True)
class PerPerson(Rows):
    """One row for each person, and for each combination of keys that a person has rows with: who it is, the keys, and the features.

    Rows without a person (NULL) are left out; a key may be NULL.
    """

    source: Rows
    person: Column
    keys: tuple[tuple[Column, Scalar], ...]
    features: tuple[PersonFeature, ...]


class How(Enum):
    """How the rows of one person in one group become one integer."""

    SUM = "sum"  # of a value per row
    ANY = "any"  # the largest of values that are 0 or more
    MEAN = "mean"  # of steps, rounded half up to a whole one; 0 where no row has any


@dataclass(frozen=True, slots=True)
class Term:
    """An integer expression of a row (`Steps`, a `Product` of two, `Indicator`, or a constant), NULL counting as 0."""

    how: How
    value: Scalar


@dataclass(frozen=True, slots=True)
class Contributions(Gathered):
    """One row for each person and group: the person, the keys, how many rows they have there, and each term.

    Rows without a person (NULL) are left out.
    """

    source: Rows
    person: Column
    keys: tuple[Scalar, ...]
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class CapRows(Gathered):
    """A person with n > most rows in a group counts as `most` of them: each SUM s becomes floor((s·most + u)/n).

    u is the priority of the person in the group, modulo n. So the expected contribution is most/n of the whole, in numerators and
    denominators alike, and none is larger than `most` rows can give. ANY stays as it is.
    """

    source: Contributions
    most: int


@dataclass(frozen=True, slots=True)
class CapGroups(Gathered):
    """The groups of a person with the `most` smallest priorities; ties are broken by the keys."""

    source: Contributions | CapRows
    most: int


@dataclass(frozen=True, slots=True)
class CapTotal(Gathered):
    """A person who counts with n > most rows over all groups counts as `most` of them: each SUM s becomes sign(s)·(|s|·most div n).

    n is of the rows and groups that the caps below left. All groups and all SUMs of a person are scaled by the one factor most/n, and
    truncated toward 0, so that they never add up to more than `most` rows can give. ANY, which is of people, stays as it is.
    """

    source: Contributions | CapRows | CapGroups
    most: int


@dataclass(frozen=True, slots=True)
class ClipNorm(Gathered):
    """Each person's vector over all groups is shortened to an L2 norm of at most limits[j] for each term j, all terms by one factor.

    Who is within all limits is left alone. For anyone else the factor is the least of limit/norm over the terms; the norm is
    rounded up, and what it gives is truncated toward 0.
    """

    source: Contributions | CapRows | CapTotal
    limits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SecondMoments(Gathered):
    """For each person and group products of what the caps below left of two terms, or the square of one, in coarser steps.

    A term t becomes floor(t / 2^shift + 1/2), by the shift of its place; `pairs` are the places of the factors of each product. A product
    is of at most 2^24 steps.
    """

    source: Contributions | CapRows | CapGroups | CapTotal | ClipNorm
    pairs: tuple[tuple[int, int], ...]
    shifts: tuple[int, ...]


class Extent(Enum):
    """What a person has much or little of in a question."""

    ROWS = "rows in all"
    ROWS_IN_A_GROUP = "rows in a group"  # in the one where they have most
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class Exceeding(Gathered):
    """For each person, without groups: for each rung 1 where they have more than that, and 0 elsewhere.

    What is counted is of the rows and groups that the caps below left.
    """

    source: Contributions | CapRows | CapGroups
    extent: Extent
    rungs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeepKeys(Gathered):
    """The combinations of the first `of` keys with the `most` smallest priorities, of each person and among what has the first `within`
    keys alike, with whatever is gathered under these; ties are broken by the keys.

    The priority is of the person and these `of` keys, so that groups are kept which `CapGroups` would keep.
    """

    source: "Contributions | KeepKeys"
    within: int
    of: int
    most: int


@dataclass(frozen=True, slots=True)
class Occurring:
    """For each group one row of 1 for each value that occurs there, however many people or rows have it: the last key is the value, and
    those before it are of the group. Values stay in the engine.

    `keys` are read from the rows where `source` is of rows; otherwise they were made by Contributions, and are empty here.
    """

    source: Rows | Contributions | KeepKeys
    keys: tuple[Scalar, ...] = ()


@dataclass(frozen=True, slots=True)
class Totals:
    """For each group: the keys, and the sum over all persons (or rows) of each term.

    `keys` and `terms` are read from the rows where `source` is of rows; otherwise they were made by Contributions, and
    are empty here.
    """

    source: Rows | Gathered | Occurring
    keys: tuple[Scalar, ...] = ()
    terms: tuple[Term, ...] = ()


Relation: TypeAlias = Rows | Gathered | Occurring | Totals


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine returns: for each group its keys, and for each term one int64 array over the groups. In no order."""

    keys: tuple[tuple[Any, ...], ...]
    totals: tuple[Any, ...]


def days(value: Value) -> Value:
    """A key as an engine returns it: a date as the days, a moment as the microseconds since 1970 began, and all others as they are."""
    place = number(value)
    return value if place is None else place


# A query is a tree of relations.


@singledispatch
def children(relation: Relation) -> tuple[Relation, ...]:
    """The relations that a relation is directly made of."""
    raise Fault(f"{type(relation).__name__} has no rule for its children", code="relation")


@children.register
def _children_of_a_scan(relation: Scan) -> tuple[Relation, ...]:
    return ()


@children.register
def _children_of_a_source(
    relation: Typed
    | Filled
    | Filter
    | PerPerson
    | Contributions
    | CapRows
    | CapGroups
    | CapTotal
    | ClipNorm
    | SecondMoments
    | Exceeding
    | KeepKeys
    | Occurring
    | Totals,
) -> tuple[Relation, ...]:
    return (relation.source,)


def walk(relation: Relation) -> Iterator[Relation]:
    """The relation and everything below it, each before its children."""
    yield relation
    for child in children(relation):
        yield from walk(child)


def caps_in(query: Totals) -> Iterator[Relation]:
    """The query and the caps on what was gathered, each before what it is on."""
    return takewhile(lambda part: not isinstance(part, Contributions), walk(query))


def per_person_in(relation: Relation) -> tuple[PerPerson, ...]:
    """All places of a relation where the rows of each person become one, from the outermost on."""
    return tuple(each for each in walk(relation) if isinstance(each, PerPerson))


def scans(relation: Relation) -> tuple[Scan, ...]:
    """All that a relation reads."""
    return tuple(each for each in walk(relation) if isinstance(each, Scan))


def own_rows(relation: Relation) -> Iterator[Relation]:
    """The relation, what it has its rows from, what that has them from, and so on: of a join the side whose rows have columns more."""
    yield relation
    below = rows_from(relation)
    if below is not None:
        yield from own_rows(below)


@singledispatch
def rows_from(relation: Relation) -> Relation | None:
    """What a relation has its rows from: the one that it is made of; of what is made of several a rule of its own tells, or none."""
    below = children(relation)
    return below[0] if len(below) == 1 else None


def base_of(relation: Relation) -> Scan:
    """The table whose rows these are, with whatever was joined to them; where there is none raises Fault."""
    last = list(own_rows(relation))[-1]
    if not isinstance(last, Scan):
        raise Fault(f"{type(last).__name__} has no rows of a table", code="relation")
    return last


@once
def contributions_in(relation: Relation) -> tuple[Contributions, ...]:
    """All places of a relation where the rows of each person are gathered."""
    own = (relation,) if isinstance(relation, Contributions) else ()
    return sum(map(contributions_in, children(relation)), own)


def contributions_of(relation: Relation) -> Contributions:
    """The contributions that a relation of people is made of; for none or several raises Fault."""
    gathered = contributions_in(relation)
    if len(gathered) != 1:
        raise Fault(f"a relation of people is gathered once, and this one {len(gathered)} times", code="relation")
    return gathered[0]


ONE = Literal(1, Type.INTEGER)
"""Counts every row, or every person."""

OF_PRODUCTS = Term(How.SUM, Literal(1 << 24, Type.INTEGER))
"""Stands for the sum of products of two terms: no product is larger."""


def terms_of(query: Totals) -> tuple[Term, ...]:
    """The terms of a query, in the order of the totals that an engine returns."""
    match query.source:
        case Exceeding(rungs=rungs):
            return (Term(How.ANY, ONE),) * len(rungs)
        case Occurring():
            return (Term(How.SUM, ONE),)
        case SecondMoments(pairs=pairs):
            return (OF_PRODUCTS,) * len(pairs)
        case Gathered() as gathered:
            return contributions_of(gathered).terms
    return query.terms


def keys_of(query: Totals) -> tuple[Scalar, ...]:
    """The keys of a query, in the order in which an engine returns those of a group."""
    match query.source:
        case Exceeding():
            return ()
        case Occurring() as occurring:
            return paired_keys(occurring)[:-1]
        case Gathered() as gathered:
            return (*contributions_of(gathered).keys, *keys_besides(gathered))
    return query.keys


def paired_keys(relation: Occurring) -> tuple[Scalar, ...]:
    """The keys of a group and a value that occurs there."""
    return relation.keys if isinstance(relation.source, Rows) else contributions_of(relation.source).keys


@singledispatch
def keys_besides(relation: Gathered) -> tuple[Scalar, ...]:
    """The keys that a relation of people has behind those that it was gathered by."""
    return ()
