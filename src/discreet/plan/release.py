"""Run a plan: choose, draw the noise, then read the data, then add. The one place where exact totals meet noise."""

from collections.abc import Callable, Sequence

import numpy as np

from discreet.errors import Fault
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.combination import Combination
from discreet.plan.plan import Choice, Plan
from discreet.plan.relation import Found, Totals, days, terms_of
from discreet.plan.scalar import Value

ALL_ROWS: tuple[tuple[Value, ...], ...] = ((),)
"""The groups of a query without keys."""


Run = Callable[[Totals, int], Found]


def decided(plan: Plan, run: Run, grant: Grant, salt: int) -> Plan:
    """The plan after all of its choices were made, one after the other: which stage is next depends on what was released before."""
    while isinstance(stage := plan.next, Choice):
        plan = plan.chosen(_chosen(stage, run, grant, salt))
    return plan


def _chosen(choice: Choice, run: Run, grant: Grant, salt: int) -> int:
    def scores() -> list[int]:
        totals = combined_totals(choice.scores, choice.query, ALL_ROWS, run(choice.query, salt))
        return [int(each[0]) for each in totals]

    return int(grant(choice.mechanism, choice.sensitivity, scores))


def release(plan: Plan, run: Run, grant: Grant, salt: int) -> tuple[Ints, ...]:
    """For each measurement of a decided plan the released integers, one for each group of its domain.

    All noise is drawn before the data is read. Whatever goes wrong after that is for the caller to turn into one constant error.
    """
    size = len(plan.domain)
    adders = [
        grant.prepare(measurement.mechanism, measurement.sensitivity, size)
        if measurement.mechanism is not None
        else _as_it_is
        for measurement in plan.measurements
    ]
    exact = exact_totals(plan, run(plan.query, salt))
    return tuple(add(totals) for add, totals in zip(adders, exact, strict=True))


def exact_totals(plan: Plan, found: Found) -> tuple[Ints, ...]:
    """For each measurement its combination of what an engine found, in the order of the domain."""
    return combined_totals([each.made for each in plan.measurements], plan.query, plan.domain, found)


def combined_totals(
    combinations: Sequence[Combination], query: Totals, domain: tuple[tuple[Value, ...], ...], found: Found
) -> tuple[Ints, ...]:
    """Combinations of what an engine found for a query, in the order of the domain; 0 for a group that no row is in."""
    place = {tuple(map(days, group)): i for i, group in enumerate(domain)}
    if len(found.totals) != len(terms_of(query)):
        raise Fault("an engine returned another number of totals", code="engine")
    places = np.array([place.get(keys, -1) for keys in found.keys], np.int64)
    known = places >= 0
    exact = []
    for totals in found.totals:
        if totals.dtype != np.int64 or totals.shape != places.shape:
            raise Fault("an engine returned totals that are not 64-bit integers", code="engine")
        vector = np.zeros(len(domain), np.int64)
        np.add.at(vector, places[known], totals[known])
        exact.append(vector)
    return tuple(combination.of(exact) for combination in combinations)


def _as_it_is(exact: Ints) -> Ints:
    return exact
