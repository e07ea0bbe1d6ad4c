"""Run a plan: choose, draw the noise, then read the data, then add. The one place where exact totals meet noise."""

from collections.abc import Callable, Iterator, Sequence

from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.check import check_taken
from discreet.plan.plan import Plan, Stage
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
    """For each measurement of a decided plan, and for each column of its readings, the released integers, one for each group of its domain;
    behind them what is measured for each of its levels alone, over the groups of that.

    All noise of measurements is drawn before the data is read. Whatever goes wrong after that is for the caller to turn into one constant
    error.
    """
    stages = (plan.decided, *(each for each in plan.decided.levels if each is not None))
    prepared = [_adders(stage, grant) for stage in stages]
    return tuple(
        column
        for stage, adders in zip(stages, prepared, strict=True)
        for column in _released(stage, adders, run, grant, salt)
    )


def _adders(stage: Stage, grant: Grant) -> list[Callable[[Ints], Ints]]:
    size = len(stage.domain)
    return [
        grant.prepare(measurement.mechanism, measurement.sensitivity, size)
        if measurement.mechanism is not None
        else _as_it_is
        for measurement in stage.measurements
    ]


def _released(
    stage: Stage, adders: Sequence[Callable[[Ints], Ints]], run: Run, grant: Grant, salt: int
) -> Iterator[Ints]:
    """What is released of one stage, over its groups."""
    exact = stage_totals(stage, run(stage.query, salt)) if adders else ()
    yield from (add(totals) for add, totals in zip(adders, exact, strict=True))
    for reading in stage.readings:
        yield from reading.drawn(run, grant, salt, stage.domain)


def exact_totals(plan: Plan, totals: Found) -> tuple[Ints, ...]:
    """For each measurement its combination of what an engine found, in the order of the domain."""
    return stage_totals(plan.decided, totals)


def stage_totals(stage: Stage, totals: Found) -> tuple[Ints, ...]:
    """For each measurement of one stage, which may be of a level, its combination of what an engine found for it."""
    return combined_totals([each.made for each in stage.measurements], stage.query, stage.domain, totals)


def _as_it_is(exact: Ints) -> Ints:
    return exact
