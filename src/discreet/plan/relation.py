"""What an engine runs: relations from a scan to exact integer totals. All are frozen; none holds a value from the data.

    Totals ── CapGroups | ClipNorm ── CapRows ── Contributions ── Filter ── Scan        one person has many rows
    Totals ── Filter ── Scan                                                            each row is a unit of its own

An engine returns the totals of each group that it found, as int64, and the keys of the group: text, integers, dates as days since
1970-01-01, booleans, or NULL. Who is kept in `CapRows` and `CapGroups` is decided by priorities that the engine computes from
the person, the group and a fresh salt, never from the order of rows.
"""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, TypeAlias

from discreet.plan.scalar import Column, Scalar, Value

MOST_ROWS = 1 << 38  # of a table, a public constant, checked at load: with at most 2^24 steps a row no sum passes 2^62
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Scan:
    """A declared table, and the columns of it that are read."""

    table: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows on which the condition is true."""

    source: "Rows"
    condition: Scalar


class How(Enum):
    """How the rows of one person in one group become one integer."""

    SUM = "sum"  # of a value per row
    ANY = "any"  # the largest of values that are 0 or more


@dataclass(frozen=True, slots=True)
class Term:
    """An integer expression of a row (`Steps`, `Indicator`, or a constant), NULL counting as 0."""

    how: How
    value: Scalar


@dataclass(frozen=True, slots=True)
class Contributions:
    """One row for each person and group: the person, the keys, how many rows they have there, and each term.

    Rows without a person (NULL) are left out.
    """

    source: "Rows"
    person: Column
    keys: tuple[Scalar, ...]
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class CapRows:
    """A person with n > most rows in a group counts as `most` of them: each SUM s becomes floor((s·most + u)/n).

    u is the priority of the person in the group, modulo n. So the expected contribution is most/n of the whole, in numerators and
    denominators alike, and none is larger than `most` rows can give. ANY stays as it is.
    """

    source: Contributions
    most: int


@dataclass(frozen=True, slots=True)
class CapGroups:
    """The groups of a person with the `most` smallest priorities; ties are broken by the keys."""

    source: Contributions | CapRows
    most: int


@dataclass(frozen=True, slots=True)
class ClipNorm:
    """Each person's vector over all groups is shortened to an L2 norm of at most limits[j] for each term j, all terms by one factor.

    Who is within all limits is left alone. For anyone else the factor is the least of limit/norm over the terms; the norm is
    rounded up, and what it gives is truncated toward 0.
    """

    source: Contributions | CapRows
    limits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """For each group: the keys, and the sum over all persons (or rows) of each term.

    `keys` and `terms` are read from the rows where `source` is a scan or a filter; otherwise they were made by Contributions, and
    are empty here.
    """

    source: "Rows | Contributions | CapRows | CapGroups | ClipNorm"
    keys: tuple[Scalar, ...] = ()
    terms: tuple[Term, ...] = ()


Rows: TypeAlias = Scan | Filter
Relation: TypeAlias = Scan | Filter | Contributions | CapRows | CapGroups | ClipNorm | Totals


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine returns: for each group its keys, and for each term one int64 array over the groups. In no order."""

    keys: tuple[tuple[Any, ...], ...]
    totals: tuple[Any, ...]


def days(value: Value) -> Value:
    """A key as an engine returns it: a date as the days since the first of 1970, and all others as they are."""
    return value.toordinal() - EPOCH.toordinal() if isinstance(value, date) else value


def parts(query: Relation) -> list[Relation]:
    """The relation and everything below it, from the top to the scan."""
    found: list[Relation] = [query]
    while not isinstance(found[-1], Scan):
        found.append(found[-1].source)
    return found
