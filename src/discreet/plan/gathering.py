"""What an engine runs for a draft, within limits: its terms, gathered by person where persons are protected."""

from typing import TYPE_CHECKING

from discreet.plan.caps import Caps
from discreet.plan.once import once
from discreet.plan.relation import CapGroups, CapRows, CapTotal, ClipNorm, Contributions, How, Totals

if TYPE_CHECKING:
    from discreet.plan.draft import Draft


def query_of(draft: "Draft", caps: Caps) -> Totals:
    """What an engine will run; where a draft clips, the norm of each person is limited, instead of the number of groups."""
    if draft.protected.person is None:
        return Totals(draft.source, draft.keys, draft.terms)
    of_rows = any(term.how is How.SUM for term in draft.terms)
    capped = gathered(draft, caps.rows if of_rows else None, caps.groups)
    in_all = CapTotal(capped, caps.total) if of_rows and caps.total is not None else None
    if draft.clip and caps.groups is not None and not isinstance(capped, CapGroups):
        return Totals(ClipNorm(in_all or capped, tuple(map(caps.norm, draft.terms))))
    return Totals(in_all or capped)


@once
def gathered(
    draft: "Draft", rows: int | None, groups: int | None, *, terms: bool = True
) -> Contributions | CapRows | CapGroups:
    """The terms of each person in each group, or none of them, within limits on rows and groups."""
    everything = Contributions(draft.source, draft.person, draft.keys, draft.terms if terms else ())
    each = everything if rows is None else CapRows(everything, rows)
    if draft.clip or groups is None or draft.known <= groups:
        return each
    return CapGroups(each, groups)
