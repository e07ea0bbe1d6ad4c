"""What proves a price: the question, its plan, and the noise of each measurement."""

import sys
from typing import Any

from discreet.plan.check import digest
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import CapGroups, CapRows, CapTotal, walk


def receipt_for(plan: Plan, text: str, name: str | None = None) -> dict[str, Any]:
    """Everything that is needed to check the price again, as far as the plan knows it; `name` is the plan's, where that is known."""
    return {
        "question": text,
        "plan": digest(plan) if name is None else name,
        "measurements": [
            {
                "said": measurement.said,
                "mechanism": None if measurement.mechanism is None else type(measurement.mechanism).__name__,
                "scale": None if measurement.mechanism is None else str(measurement.mechanism.scale),
                "sensitivity": str(measurement.sensitivity),
                "step": str(measurement.step),
            }
            for stage in _stages(plan)
            for measurement in stage.measurements
        ]
        + [reading.receipt() for stage in _stages(plan) for reading in stage.readings],
        "limits": limits_of(plan),
        **{name: True for name in ("population", "simultaneous") if getattr(plan.question, name)},
        **(_of_steps(plan) if plan.taken else {}),
        "event": plan.event.to_json(),
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "relation": str(plan.relation),
        "private": True,
        "data_version": None,
        "version": sys.modules["discreet"].__version__,
        "ledger": None,
    }


def _stages(plan: Plan) -> list[Stage]:
    """What is measured: the finest groups, and what is of each level alone."""
    return [plan.decided, *(level for level in plan.decided.levels if level is not None)]


def limits_of(plan: Plan) -> dict[str, int]:
    """The limits that applied, by name. Receipts of earlier releases tell none."""
    names = {CapRows: "max_rows", CapGroups: "max_groups", CapTotal: "max_total"}
    parts = [part for query in plan.decided.queries for part in walk(query)]
    return {names[type(part)]: part.most for part in parts if isinstance(part, CapRows | CapGroups | CapTotal)}


def _of_steps(plan: Plan) -> dict[str, Any]:
    """What the steps released before the answer: for people, for later questions, and to tell the same again."""
    return {
        "choices": [step.named(outcome) for step, outcome in plan.steps],
        "found": plan.found,
        "outcomes": [step.kept(outcome) for step, outcome in plan.steps],
    }
