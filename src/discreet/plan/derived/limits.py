"""Whether the sum over groups of an answer is what a question of its own would have estimated, and what is said where it is not.

It is where nobody's rows were limited by more than the group they are in, and each group is one of the answer: then a person counts in a
group alike, whichever other groups there are. Where limits go over groups, or groups are put together whose rows were limited one by one,
the question would keep others of a person's rows than the answer did. That is no noise, and no ± holds it. Chance that limits need is
drawn anew by each question: alike is what is kept with the same chances.
"""

from discreet.plan.catalog import Protected
from discreet.plan.derived.cells import GroupCells
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.digits import counted
from discreet.plan.draft import Draft
from discreet.plan.explain import said
from discreet.plan.gathering import query_of
from discreet.plan.relation import CapGroups, CapRows, CapTotal, ClipNorm, Totals, caps_in

Cap = tuple[str, int | tuple[int, ...]]
"""A limit by its relation, and how much it leaves."""


def alike(one: Protected, other: Protected) -> bool:
    """Whether two questions were asked under the same limits."""
    return _declared(one) == _declared(other)


def _declared(unit: Protected) -> tuple[object, ...]:
    limits = unit.max_rows, unit.max_groups, unit.max_total
    return unit.person, unit.relation, unit.people, unit.clip, *limits, "max_groups" in unit.asked


def differences(draft: Draft, stored: KeptAnswer, cells: GroupCells, *, reads: bool = False) -> tuple[str, ...] | None:
    """How the sums differ from what the question would have estimated, in words; nothing where they do not. None where that cannot be
    said, as of what is read besides (`reads`), which limits bound in ways of their own."""
    whole = not cells.merged and cells.size == len(stored.plan.domain)
    asked = None if draft.missing else _caps(query_of(draft, draft.caps))
    own = _caps(stored.plan.query)
    personal = stored.protected.person is not None and not draft.alone
    lost = tuple(
        f"the answer that it follows from leaves out rows whose {said(key)} is none of those that it has"
        for key in cells.lost
    )
    if whole and draft.missing == stored.missing:
        return lost  # the same limits of the same rows in the same groups, or those that were found of these
    if own == asked and not (_over_groups(own) or (cells.merged and own)):
        return None if reads and personal else lost
    if reads and personal:
        return None
    return (*lost, _said(stored, own)) if own else None


def _caps(query: Totals) -> tuple[Cap, ...]:
    """The limits of a query, without what they are on."""
    caps: list[Cap] = []
    for part in caps_in(query):
        match part:
            case CapRows(most=most) | CapGroups(most=most) | CapTotal(most=most):
                caps.append((type(part).__name__, most))
            case ClipNorm(limits=limits):
                caps.append((ClipNorm.__name__, limits))
    return tuple(caps)


def _over_groups(caps: tuple[Cap, ...]) -> bool:
    """Whether what is left of a person in a group depends on the other groups."""
    return any(kind != CapRows.__name__ for kind, _ in caps)


def _said(stored: KeptAnswer, caps: tuple[Cap, ...]) -> str:
    """What limits did to the answer that is summed."""
    person, groups = stored.protected.person, counted(len(stored.plan.domain), "group")
    limits = []
    for kind, most in reversed(caps):
        rows = counted(most, "row") if isinstance(most, int) else ""
        match kind:
            case "CapRows":
                limits.append(f"with at most {rows} in each group")
            case "CapGroups":
                limits.append(f"in at most {most:,} of its {groups}")
            case "CapTotal":
                limits.append(f"with at most {rows} over its {groups}")
            case _:
                limits.append(f"shortened over its {groups}")
    words = f"the answer that it follows from counts each {person} {' and '.join(limits)}"
    return f"{words}: a sum of some of that is not what the question by itself would count"
