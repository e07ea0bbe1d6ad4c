"""The limit on the groups of a person in a question, as far as its key columns declare it.

This only chooses a number. That nobody counts in more groups is seen to by `CapGroups`, and noise is made for it, whatever the data hold:
where somebody has more values of a column than is declared, some of their groups are left out, and nothing else is lost.
"""

from dataclasses import replace
from math import prod

from discreet.plan.catalog import MOST_KEYS, Protected
from discreet.plan.scalar import Scalar, columns_in
from discreet.plan.scope import Scope


def groups_limit(keys: tuple[Scalar, ...], scope: Scope) -> int | None:
    """The product of what is declared of each column that the keys are made of; None where nothing is declared of one of them.

    Whoever has at most mᵢ values of column i, a missing value being one of them, has at most ∏mᵢ combinations of values, and the group of
    a row is a function of its combination. So a column counts once, however many keys are made of it, and constants do not count: without
    a column there is one group.
    """
    fields = [scope.field(column) for column in set().union(*map(columns_in, keys))]
    limits = {(field.table, field.name): field.max_groups for field in fields}
    declared = [limit for limit in limits.values() if limit is not None]
    return prod(declared) if len(declared) == len(limits) else None


def within_columns(protected: Protected, keys: tuple[Scalar, ...], scope: Scope) -> Protected:
    """Who is protected in a question by these keys, with its limit on groups.

    That is what whoever asks set; else the smaller one of what its columns declare and of the default of every question, as far as either
    is declared; and never more than a limit can be.
    """
    limit = groups_limit(keys, scope)
    if limit is None or protected.person is None or "max_groups" in protected.asked:
        return protected
    return replace(protected, max_groups=min(limit, protected.max_groups or MOST_KEYS))
