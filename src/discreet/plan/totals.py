"""Exact totals as a plan has them: combinations of what an engine found, in the order of the groups. None may leave without noise."""

from collections.abc import Callable, Sequence
from datetime import date
from itertools import repeat

import numpy as np

from discreet.errors import Fault
from discreet.mechanisms.additive import Ints
from discreet.plan.combination import Combination
from discreet.plan.relation import Found, Totals, days, terms_of
from discreet.plan.scalar import Value

ALL_ROWS: tuple[tuple[Value, ...], ...] = ((),)
"""The groups of a query without keys."""

Run = Callable[[Totals, int], Found]
"""What an engine finds for a query and a salt."""


def combined_totals(
    combinations: Sequence[Combination], query: Totals, domain: tuple[tuple[Value, ...], ...], sums: Found
) -> tuple[Ints, ...]:
    """Combinations of what an engine found for a query, in the order of the domain; 0 for a group that no row is in."""
    vectors = checked_totals(query, sums)
    place = dict(zip(_as_found(domain), range(len(domain)), strict=True))
    places = np.fromiter(map(place.get, sums.keys, repeat(-1)), np.int64, len(sums.keys))
    known = places >= 0
    exact = []
    for totals in vectors:
        vector = np.zeros(len(domain), np.int64)
        np.add.at(vector, places[known], totals[known])
        exact.append(vector)
    return tuple(combination.of(exact) for combination in combinations)


def checked_totals(query: Totals, sums: Found) -> tuple[Ints, ...]:
    """What an engine found for each term of a query, in its own order of the groups; what can be none of that raises Fault."""
    if len(sums.totals) != len(terms_of(query)):
        raise Fault("an engine returned another number of totals", code="engine")
    if any(totals.dtype != np.int64 or totals.shape != (len(sums.keys),) for totals in sums.totals):
        raise Fault("an engine returned totals that are not 64-bit integers", code="engine")
    return sums.totals


def _as_found(domain: tuple[tuple[Value, ...], ...]) -> tuple[tuple[Value, ...], ...]:
    """The groups as an engine has them: dates are days, and everything else is as it is."""
    kinds = {kind for column in zip(*domain, strict=True) for kind in set(map(type, column))}
    return (
        tuple(tuple(map(days, group)) for group in domain) if any(issubclass(each, date) for each in kinds) else domain
    )


def one_group(combinations: Sequence[Combination], query: Totals, sums: Found) -> list[int]:
    """Combinations of what an engine found for a query without keys."""
    return [int(each[0]) for each in combined_totals(combinations, query, ALL_ROWS, sums)]
