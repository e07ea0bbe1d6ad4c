"""What is said of a plan besides its numbers: what limits do, what was rounded, what would have cost less."""

import re

from discreet.plan.caps import Caps
from discreet.plan.catalog import Protected
from discreet.plan.digits import counted, six_digits
from discreet.plan.explain import said
from discreet.plan.plan import Stage
from discreet.plan.question import Question
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Extent,
    Filter,
    Occurring,
    Totals,
    caps_in,
    walk,
)
from discreet.plan.scalar import Arithmetic, Cast, Operator, Scalar, Type, children, type_of

MANY_ROWS = 10**7  # whose values, all rounded in one direction, a sum should not be off by more than its noise for


MANY_TIMES = 10  # the noise; less need not be said

LIMITS = re.compile(r"each .* counts (with|in) ")
"""How the note begins that says how much of a person counts."""


def about_persons(protected: Protected, caps: Caps, stage: Stage, cells: int) -> list[str]:
    """What the caps do, said of the question and not of the data."""
    if protected.person is None:
        return []
    *limits, without = _about_totals(protected, caps, stage.queries[0], cells)
    return [*limits, *dict.fromkeys(line for reading in stage.readings for line in reading.told(cells)), without]


def about_readings(stage: Stage) -> list[str]:
    """What is said of what is read besides, at its price."""
    levels = [stage, *(each for each in stage.levels if each is not None)]
    return [
        line
        for i, reading in enumerate(stage.readings)
        for line in reading.remarks([level.readings[i] for level in levels])
    ]


def _about_totals(protected: Protected, caps: Caps, query: Totals, cells: int) -> list[str]:
    """What the caps on what is added up do."""
    without = f"rows without a {protected.person} are left out"
    if isinstance(query.source, Occurring):
        return [without]
    rows, groups = protected.max_rows, protected.max_groups
    if rows is None or groups is None or (protected.max_total is not None and not _idle_total(protected, query)):
        return [*_about_caps(str(protected.person), caps, query, cells), without]
    counts = f"each {protected.person} counts with at most {counted(rows, 'row')}"
    if isinstance(query.source, ClipNorm):
        length = f"in all with the length of as many in each of {counted(groups, 'group')}"
        return [f"{counts} in a group, and {length}", without]
    for part in caps_in(query):
        if isinstance(part, CapGroups):
            return [f"{counts} in a group, and in at most {part.most} of the {cells:,} groups", without]
    return [f"{counts} in a group" if cells > 1 else counts, without]


def _idle_total(protected: Protected, query: Totals) -> bool:
    """Whether a limit on all rows was declared, and the others that were allow no more of the rows that are counted."""
    kinds = {type(part) for part in caps_in(query)}
    return protected.max_total is not None and CapRows in kinds and CapTotal not in kinds


def _about_caps(person: str, caps: Caps, query: Totals, cells: int) -> list[str]:
    """What the caps do that are in a query, which depends on what is counted."""
    parts = {type(part): part for part in caps_in(query)}
    limits = []
    match parts.get(CapTotal):
        case CapTotal(most=most):
            limits.append(f"with at most {counted(most, 'row')}{' in all' if cells > 1 else ''}")
    match parts.get(CapRows):
        case CapRows(most=most):
            limits.append(f"with at most {counted(most, 'row')}{' in a group' if cells > 1 else ''}")
    match parts.get(CapGroups):
        case CapGroups(most=most):
            limits.append(f"in at most {most:,} of the {cells:,} groups")
    if ClipNorm in parts and caps.groups is not None:
        limits.append(f"in all with the length of {counted(caps.groups, 'group')}")
    return [f"each {person} counts {', and '.join(limits)}"] if limits else []


def more_than(most: int, extent: Extent, cells: int) -> str:
    """What somebody has who is beyond a limit, in a question about so many groups; nothing where nobody can be."""
    match extent:
        case Extent.GROUPS:
            return f"more than {counted(most, 'group')}" if most < cells else ""
        case Extent.ROWS_IN_A_GROUP:
            return f"more than {counted(most, 'row')} in a group"
    return f"more than {counted(most, 'row')}{' in all' if cells > 1 else ''}"


def about_idle(protected: Protected, query: Totals) -> list[str]:
    """Which limit does nothing."""
    if not _idle_total(protected, query):
        return []
    return [f"max_total = {protected.max_total} changes nothing here: max_rows and the groups allow no more rows"]


def about_rounding(stage: Stage, people: int | None) -> list[str]:
    """What the ± of a sum leaves out where nothing tells how many rows there are, if fewer than are usual could make up its noise."""
    if people is not None:
        return []
    told = {place for release in stage.releases for pair in release.counted.items() for place in pair}
    return [
        f"each value of a sum is rounded by up to {six_digits(each.rounding)}, which its ± leaves out: nothing declares how many"
        " there are; add --people N, or people = N under [unit]"
        for i, each in enumerate(stage.measurements)
        if i not in told
        and each.rounding
        and each.mechanism
        and each.mechanism.error() * each.step < MANY_ROWS * each.rounding
    ]


def about_division(question: Question) -> list[str]:
    """What a cast of a quotient of integers does, as other dialects cut its decimals off before."""
    asked = [scalar for each in question.aggregates for scalar in (each.argument, each.condition)]
    asked += [*question.keys, question.having, *(output.value for output in question.outputs)]
    asked += [sort.value for sort in question.order]
    asked += [node.condition for node in walk(question.source) if isinstance(node, Filter)]
    if not any(_rounds_quotient(each) for each in asked if each is not None):
        return []
    return [
        "/ is no integer division, and a cast to INTEGER rounds: 7 / 2 is 3.5 and becomes 4; write x // y to cut the decimals off"
    ]


def _rounds_quotient(scalar: Scalar) -> bool:
    match scalar:
        case Cast(operand=Arithmetic(operator=Operator.DIVIDE, left=left, right=right), type=Type.INTEGER):
            if type_of(left) is type_of(right) is Type.INTEGER:
                return True
    return any(map(_rounds_quotient, children(scalar)))


def about_means(question: Question, query: Totals) -> list[str]:
    """Which means have noise for people with many rows, where one in which everybody weighs the same would have far less."""
    rows = min((part.most for part in caps_in(query) if isinstance(part, CapRows | CapTotal)), default=1)
    means = [
        (each.kind.word, each.kind.evenly, each.argument)
        for each in question.aggregates
        if each.kind.evenly and each.argument is not None
    ]
    if rows < MANY_TIMES:
        return []
    return [
        f"{name}({said(each)}) has noise for people with {rows:,} rows: {evenly}({said(each)}), in which everybody weighs the same,"
        f" has about 1/{rows:,} of it"
        for name, evenly, each in dict.fromkeys(means)
    ]


def advice(question: Question, stage: Stage) -> list[str]:
    """What would have cost less, as the kinds of release tell it."""
    return [line for each in question.aggregates for line in each.kind.advice(each, question.aggregates, stage)]
