"""What a person counts with in a group, over the values that their rows have there: for what is no sum, such as a quantile or a mode.

    Totals ── Apportioned ── [CapTotal] ── [CapGroups] ── [CapRows] ── Contributions …

Groups are capped as groups, and rows as rows, before anything is told apart by value: so every limit, declared or found, means what it
means beside a sum. A table whose rows are units of their own has no need of it: there a value is one more key.
"""

from dataclasses import dataclass

from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    Contributions,
    Gathered,
    Relation,
    children,
    keys_besides,
)
from discreet.plan.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Apportioned(Gathered):
    """One row for each person, group and value: the share that the value has of what the person counts with in the group.

    Of the person's rows in the group n have a value, and n_v of them this one. A term, after all caps t, becomes floor(t·n_v/n). Rows
    without a value (NULL) have no share. The value is one more key, behind those of the group.
    """

    source: Contributions | CapRows | CapGroups | CapTotal
    value: Scalar


@children.register
def _children(relation: Apportioned) -> tuple[Relation, ...]:
    return (relation.source,)


@keys_besides.register
def _value(relation: Apportioned) -> tuple[Scalar, ...]:
    return (relation.value,)
