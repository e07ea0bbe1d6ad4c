"""What is measured for each level of a question by itself, before it has a price: all that cannot be summed from the finest groups."""

from dataclasses import replace
from math import prod

from discreet.errors import QueryError
from discreet.plan.combination import Combination
from discreet.plan.digits import counted
from discreet.plan.domain import MOST_GROUPS, Values, groups_of
from discreet.plan.draft import Draft
from discreet.plan.explain import said, said_aggregate
from discreet.plan.levels import summable
from discreet.plan.question import Aggregate
from discreet.plan.releases.terms import Measured


def level_drafts(draft: Draft) -> tuple[Draft | None, ...]:
    """For each level of a question the draft of what is measured for it alone, over the same rows; None for nothing, as for the finest.

    Terms are as they are in the finest groups, in the same steps, so that releases are made of either in one way.
    """
    levels = draft.question.levels
    apart = [each for each in draft.measured if not summable(each.made, draft.terms)]
    if not levels or not (apart or draft.readings):
        return (None,) * len(levels)
    return tuple(None if len(key_places) == len(draft.keys) else _at(draft, key_places, apart) for key_places in levels)


def _at(draft: Draft, key_places: tuple[int, ...], apart: list[Measured]) -> Draft:
    used = sorted({place for each in apart for place, _ in each.made.parts})
    places = {place: i for i, place in enumerate(used)}
    measured = tuple(
        replace(
            each, made=Combination(tuple((places[at], weight) for at, weight in each.made.parts), each.made.divisor)
        )
        for each in apart
    )
    domains = tuple(draft.domains[key] for key in key_places)
    known = [each for each in domains if each is not None]
    groups = groups_of(known) if len(known) == len(domains) else ()
    return replace(
        draft,
        keys=tuple(draft.keys[key] for key in key_places),
        domains=domains,
        groups=groups,
        cells=prod(map(len, known)),
        terms=tuple(draft.terms[place] for place in used),
        measured=measured,
    )


def check_levels(draft: Draft) -> None:
    """For a draft whose levels can be planned: returns. For any other: raises QueryError."""
    levels = draft.question.levels
    if not levels:
        return
    rows = sum(prod(_size(draft.domains[key]) for key in key_places) for key_places in levels)
    if rows > MOST_GROUPS:
        raise QueryError(
            f"the levels of GROUP BY have {rows:,} rows, and at most {MOST_GROUPS:,} can be answered",
            code="too-many-groups",
            hint="group by fewer columns, or ask for fewer levels",
        )
    names = " and ".join(dict.fromkeys(map(said_aggregate, _apart(draft))))
    if not names:
        return
    if _lacks_finest(draft):
        raise QueryError(
            f"{names} cannot be summed over groups, and the finest groups, by all keys, are not asked for",
            code="grouping",
            hint=f"add all keys as one of the GROUPING SETS, or {_one_by_one(draft)}",
        )
    if None in draft.domains:
        raise QueryError(
            f"{names} cannot be summed over groups, and at several levels needs keys that are known",
            code="grouping",
            hint=f"declare the keys, survey the data first (discreet survey), or {_one_by_one(draft)}",
        )


def _one_by_one(draft: Draft) -> str:
    names = [", ".join(said(draft.question.keys[key]) for key in key_places) for key_places in draft.question.levels]
    asked = dict.fromkeys(f"GROUP BY {each}" if each else "without GROUP BY" for each in names)
    return f"ask for each level by itself: {', then '.join(asked)}"


def _lacks_finest(draft: Draft) -> bool:
    return all(len(key_places) < len(draft.keys) for key_places in draft.question.levels)


def _apart(draft: Draft) -> list[Aggregate]:
    """The aggregates that cannot be summed."""
    return [
        aggregate
        for aggregate, release in zip(draft.question.aggregates, draft.releases, strict=True)
        if release.readings or not all(summable(draft.measured[place].made, draft.terms) for place in release.places)
    ]


def _size(values: Values | None) -> int:
    """How many values a key has; where they are still to be found their number is limited elsewhere."""
    return 1 if values is None else len(values)


def about_levels(draft: Draft) -> list[str]:
    """What is said of levels, once."""
    levels = draft.question.levels
    if not levels or not draft.asks:
        return []
    cells = max(
        prod(_size(values) for i, values in enumerate(draft.domains) if i not in key_places) for key_places in levels
    )
    sums = len(draft.measured) > len([each for each in draft.measured if not summable(each.made, draft.terms)])
    known = None not in draft.domains
    notes = []
    if sums:
        notes.append(
            "subtotals are sums of the released numbers of their groups, at no further price, and so is their noise"
            + (
                f": the ± of a sum of {cells:,} groups is about {cells**0.5:.2g} times that of one"
                if known and cells > 1
                else ""
            )
        )
    names = " and ".join(dict.fromkeys(map(said_aggregate, _apart(draft))))
    if names:
        notes.append(
            f"{names} cannot be summed over groups: measured at each of {counted(len(levels), 'level')}, which share the price"
        )
    return notes
