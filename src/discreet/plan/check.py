"""What a finished plan costs, computed again from the plan alone: its query, its mechanisms, its groups.

Nothing is taken over from how the plan was made. A plan that does not hold is a Fault, before anything is spent.
"""

from fractions import Fraction
from hashlib import sha256

from discreet.errors import Fault
from discreet.mechanisms.sensitivity import Norm, Sensitivity
from discreet.plan.plan import Measurement, Plan
from discreet.plan.relation import Contributions, parts
from discreet.plan.rules.relations import combined
from discreet.plan.written import written
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
    norm = Norm.L1 if measurement.mechanism is None else measurement.mechanism.norm
    if norm is None:
        raise _broken("its noise is for single integers, and not for a vector of them")
    needed = sensitivity.of(norm)
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
    return sha256(written(plan).encode()).hexdigest()
