"""What a finished plan costs, computed again from the plan alone: its query, its mechanisms, its groups.

Nothing is taken over from how the plan was made. A plan that does not hold is a Fault, before anything is spent.
"""

from dataclasses import fields
from fractions import Fraction
from hashlib import sha256
from typing import Any

from discreet.errors import Fault
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.plan.combination import Combination
from discreet.plan.plan import Measurement, Plan
from discreet.plan.relation import Contributions, parts
from discreet.plan.rules.relations import combined
from discreet.privacy import Relation, events, loss


def event_of(measurements: tuple[Measurement, ...], relation: Relation) -> events.Event:
    """What is drawn: each mechanism on its sensitivity, all under the relation."""
    drawn = tuple(
        measurement.mechanism.event(measurement.sensitivity)
        for measurement in measurements
        if measurement.mechanism is not None
    )
    return events.Under(events.Composed(drawn), relation)


def check(plan: Plan) -> None:
    """For a plan that keeps what it says: returns. For any other: raises Fault."""
    for measurement in plan.measurements:
        _covers(measurement, combined(measurement.made, plan.query, plan.relation, len(plan.domain)))
    _columns(plan)
    if plan.event != event_of(plan.measurements, plan.relation):
        raise _broken("its event is not what it draws")
    if not loss(plan.event).certifies(plan.epsilon, plan.delta):
        raise _broken("it costs more than it says")


def _covers(measurement: Measurement, sensitivity: Sensitivity) -> None:
    match measurement.mechanism:
        case None:
            needed = sensitivity.l1
        case Geometric():
            needed = sensitivity.l1
        case RoundedGaussian():
            needed = sensitivity.l2
        case _:
            raise _broken("its noise is of a kind without a rule")
    if measurement.sensitivity < needed:
        raise _broken("a neighbour can change a total by more than its noise is made for")
    if measurement.step <= 0 or (measurement.mechanism is None and needed > Fraction(0)):
        raise _broken("a total has no noise")


def _columns(plan: Plan) -> None:
    """Keys come from the same place as the groups."""
    gathered = [part for part in parts(plan.query) if isinstance(part, Contributions)]
    keys = gathered[0].keys if gathered else plan.query.keys
    if any(len(group) != len(keys) for group in plan.domain) or len(set(plan.domain)) != len(plan.domain):
        raise _broken("its groups are not those of its keys")


def _broken(what: str) -> Fault:
    return Fault(f"the plan does not hold: {what}", code="plan")


def digest(plan: Plan) -> str:
    """A name for the plan: equal for equal plans, and for no others; and for good, as ledgers keep it."""
    return sha256(_written(plan).encode()).hexdigest()


def _written(plan: Plan) -> str:
    """The plan as text. Measurements that are the terms of the query, one by one, are written as release 0.1 wrote them, and so is
    whether limits were declared: it changes what is said of an answer, and not the answer.
    """
    plain = all(each.made == Combination.plain(i) and not each.rounding for i, each in enumerate(plan.measurements))
    later = ("made", "rounding") if plain else ()
    measurements = [_without(each, *later, mechanism=_noise(each.mechanism)) for each in plan.measurements]
    end = "," if len(measurements) == 1 else ""
    return _without(plan, "assumed", measurements=f"({', '.join(measurements)}{end})")


def _noise(mechanism: Any) -> str:
    return "None" if mechanism is None else _without(mechanism)


def _without(record: Any, *names: str, **written: str) -> str:
    """What `repr` says of a data class, without these fields, and with these written as given."""
    found = [each.name for each in fields(record) if each.name not in names]
    texts = (f"{name}={written.get(name) or repr(getattr(record, name))}" for name in found)
    return f"{type(record).__name__}({', '.join(texts)})"
