"""Run a plan: draw the noise, then read the data, then add. The one place where exact totals meet noise."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from discreet.errors import Fault
from discreet.mechanisms.additive import IntegerNoise, Ints
from discreet.plan.plan import Plan, terms_of
from discreet.plan.relation import Found, Totals, days


class Draws(Protocol):
    """Whoever may draw noise that was charged for: `Grant`, or what a test puts in its place."""

    def prepare(self, mechanism: IntegerNoise, sensitivity: Any, size: int) -> Callable[[Ints], Ints]: ...


def release(plan: Plan, run: Callable[[Totals, int], Found], grant: Draws, salt: int) -> tuple[Ints, ...]:
    """For each measurement the released integers, one for each group of the plan's domain.

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
    """For each measurement its combination of what an engine found, in the order of the domain; 0 for a group that no row is in."""
    place = {tuple(map(days, group)): i for i, group in enumerate(plan.domain)}
    if len(found.totals) != len(terms_of(plan.query)):
        raise Fault("an engine returned another number of totals", code="engine")
    places = np.array([place.get(keys, -1) for keys in found.keys], np.int64)
    known = places >= 0
    exact = []
    for totals in found.totals:
        if totals.dtype != np.int64 or totals.shape != places.shape:
            raise Fault("an engine returned totals that are not 64-bit integers", code="engine")
        vector = np.zeros(len(plan.domain), np.int64)
        np.add.at(vector, places[known], totals[known])
        exact.append(vector)
    return tuple(measurement.made.of(exact) for measurement in plan.measurements)


def _as_it_is(exact: Ints) -> Ints:
    return exact
