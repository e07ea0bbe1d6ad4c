"""What of one person counts in one question: which of the limits apply to it."""

from dataclasses import dataclass
from math import isqrt

from discreet.plan.catalog import Protected
from discreet.plan.relation import How, Term
from discreet.plan.rules.relations import term_bounds


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
        rows = 1 if term.how is How.ANY else self.rows
        norms = [] if rows is None else [isqrt((self.groups or 1) * (rows * size) ** 2)]
        if self.total is not None and term.how is How.SUM:
            square = min(rows or self.total, self.total) * self.total * size**2
            norms.append(isqrt(square - 1) + 1 if square else 0)
        return max(1, min(norms))


def caps_of(protected: Protected, cells: int, people: bool) -> Caps:
    """The limits that apply to a question about so many groups; `people`: some of its terms count them.

    Where a limit on all rows was declared, it takes the place of those that nobody declared; only people, whom it does not limit, need
    one on their groups. Where rows and groups are within it anyhow, there is nothing for it to do; whoever is shortened to an L2 norm
    stays in all groups.
    """
    total = protected.max_total
    if total is None:
        return Caps(protected.max_rows, protected.max_groups, None)
    rows = None if "max_rows" in protected.assumed else protected.max_rows
    groups = None if "max_groups" in protected.assumed else protected.max_groups
    most_groups = cells if groups is None or protected.clip == "l2" else min(groups, cells)
    if groups is None and people:
        groups = protected.max_groups
    return Caps(rows, groups, None if rows is not None and rows * most_groups <= total else total)
