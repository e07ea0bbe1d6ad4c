"""Run a plan: choose, draw the noise, then read the data, then add. The one place where exact totals meet noise."""

from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.check import check_taken
from discreet.plan.plan import Plan
from discreet.plan.relation import Found
from discreet.plan.steps.base import Step
from discreet.plan.totals import Run, combined_totals


def decided(plan: Plan, run: Run, grant: Grant, salt: int) -> Plan:
    """The plan after all of its steps were made, one after the other: which stage is next depends on what was released before."""
    while isinstance(step := plan.next, Step):
        plan = plan.chosen(step.drawn(run, grant, salt))
        if not step.listed:
            check_taken(plan)
    return plan


def release(plan: Plan, run: Run, grant: Grant, salt: int) -> tuple[Ints, ...]:
    """For each measurement of a decided plan, and for each column of its readings, the released integers, one for each group of its domain.

    All noise of measurements is drawn before the data is read. Whatever goes wrong after that is for the caller to turn into one constant
    error.
    """
    size = len(plan.domain)
    adders = [
        grant.prepare(measurement.mechanism, measurement.sensitivity, size)
        if measurement.mechanism is not None
        else _as_it_is
        for measurement in plan.measurements
    ]
    exact = exact_totals(plan, run(plan.query, salt)) if adders else ()
    noisy = [add(totals) for add, totals in zip(adders, exact, strict=True)]
    for reading in plan.decided.readings:
        noisy += reading.drawn(run, grant, salt, plan.domain)
    return tuple(noisy)


def exact_totals(plan: Plan, totals: Found) -> tuple[Ints, ...]:
    """For each measurement its combination of what an engine found, in the order of the domain."""
    return combined_totals([each.made for each in plan.measurements], plan.query, plan.domain, totals)


def _as_it_is(exact: Ints) -> Ints:
    return exact
