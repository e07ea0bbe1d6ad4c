"""How much of a person counts in one question: which of the limits apply to it, and which are missing for a bound."""

from dataclasses import dataclass
from enum import Enum
from math import isqrt

from discreet.plan.catalog import Protected
from discreet.plan.relation import Extent, How, Term
from discreet.plan.rules.relations import term_bounds

FEW_GROUPS, FEW_CLIPPED = 2, 5
"""So few groups limit by themselves in how many of them a person is: of norms, which grow with a root, more than of sums. For more of
them a limit is found: by simulation that is never much worse then, and often better. Figures are in docs/limits.md.
"""


class Limit(Enum):
    """A limit, by its name."""

    GROUPS = "max_groups"
    ROWS = "max_rows"
    TOTAL = "max_total"

    @property
    def extent(self) -> Extent:
        """What of a person it limits."""
        return {Limit.GROUPS: Extent.GROUPS, Limit.ROWS: Extent.ROWS_IN_A_GROUP, Limit.TOTAL: Extent.ROWS}[self]


@dataclass(frozen=True, slots=True)
class Caps:
    """The limits of a question. None: there is none of this kind.

    A term that sums or counts rows is bounded by `total` alone, or by `rows` together with `groups` or with the number of groups that
    there are. A term that counts people is bounded by `groups`, or by that number.
    """

    rows: int | None  # in one group
    groups: int | None
    total: int | None  # rows over all groups

    def norm(self, term: Term) -> int:
        """The L2 norm that a person may have in a term, in steps, where groups are limited by it.

        That is of someone in `groups` groups with `rows` rows in each, rounded down; or, where that is less, of `total` rows, rounded up,
        so that whoever was scaled to them is within.
        """
        size = max(map(abs, term_bounds(term)))
        rows = self.rows if term.how is How.SUM else 1
        norms = [] if rows is None else [isqrt((self.groups or 1) * (rows * size) ** 2)]
        if self.total is not None and term.how is How.SUM:
            square = min(rows or self.total, self.total) * self.total * size**2
            norms.append(isqrt(square - 1) + 1 if square else 0)
        return max(1, min(norms))

    def limited(self, limit: Limit, most: int) -> "Caps":
        """These limits and one more, that was found."""
        known = {Limit.ROWS: self.rows, Limit.GROUPS: self.groups, Limit.TOTAL: self.total} | {limit: most}
        return Caps(known[Limit.ROWS], known[Limit.GROUPS], known[Limit.TOTAL])


def caps_of(protected: Protected, cells: int) -> Caps:
    """The declared limits that apply to a question about so many groups.

    Where rows and groups are within a limit on all rows anyhow, there is nothing for it to do; whoever is shortened to an L2 norm
    stays in all groups.
    """
    rows, groups, total = protected.max_rows, protected.max_groups, protected.max_total
    most_groups = cells if groups is None or protected.clip == "l2" else min(groups, cells)
    idle = total is not None and rows is not None and rows * most_groups <= total
    return Caps(rows, groups, None if idle else total)


def missing(caps: Caps, cells: int, *, of_rows: bool, of_people: bool, clip: bool) -> tuple[Limit, ...]:
    """Which limits must be found for a bound of what is asked, in the order in which they are.

    Geometric noise is in proportion to all rows of a person, and one on all rows is enough. With an L2 clip noise is Gaussian, and smaller
    the less of them are in one group: there a limit on that is found as well; where one on groups is found too, both make up for one on
    all rows.
    """
    groups_bounded = caps.groups is not None or cells <= (FEW_CLIPPED if clip else FEW_GROUPS)
    rows_bounded = caps.total is not None or (caps.rows is not None and groups_bounded)
    finds_groups, finds_rows = of_people and not groups_bounded, of_rows and not rows_bounded
    lacks = {
        Limit.GROUPS: finds_groups,
        Limit.ROWS: finds_rows and clip and caps.rows is None,
        Limit.TOTAL: finds_rows and not (finds_groups and clip),
    }
    return tuple(limit for limit, is_missing in lacks.items() if is_missing)
