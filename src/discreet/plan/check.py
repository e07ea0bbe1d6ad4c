"""What a finished plan costs, computed again from the plan alone: its queries, its mechanisms, its groups.

Nothing is taken over from how the plan was made. A plan that does not hold is a Fault, before anything is spent. Every stage is
checked that a released outcome can lead to.
"""

from fractions import Fraction
from hashlib import sha256

from discreet.errors import Fault
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.sensitivity import Norm, Sensitivity
from discreet.plan.plan import Branching, Measurement, Plan, Stage
from discreet.plan.relation import keys_of
from discreet.plan.rules.relations import combined
from discreet.plan.written import written
from discreet.privacy import Relation, events, loss


def event_of(stage: Stage | Branching, relation: Relation) -> events.Event:
    """What is drawn from a stage on: each mechanism on its sensitivity, all under the relation."""
    return events.Under(_drawn(stage), relation)


def _drawn(stage: Stage | Branching) -> events.Event:
    if isinstance(stage, Branching):
        return events.Composed((stage.mechanism.event(stage.sensitivity), _alike([*map(_drawn, stage.stages)])))
    return events.Composed(
        tuple(each.mechanism.event(each.sensitivity) for each in stage.measurements if each.mechanism is not None)
    )


def _alike(drawn: list[events.Event]) -> events.Event:
    """The one event that all of these are, or the one pure ε that they all cost; else a Fault: the price would tell which was chosen."""
    if len(set(drawn)) == 1:
        return drawn[0]
    prices = {loss(each).pure_epsilon() for each in drawn}
    price = prices.pop() if len(prices) == 1 else None
    if price is None:
        raise _broken("what it costs depends on what it chooses")
    return events.Pure(price)


def check(plan: Plan) -> None:
    """For a plan that keeps what it says: returns. For any other: raises Fault."""
    _check_stage(plan.stage, plan.relation)
    if plan.event != event_of(plan.stage, plan.relation):
        raise _broken("its event is not what it draws")
    if not loss(plan.event).certifies(plan.epsilon, plan.delta):
        raise _broken("it costs more than it says")


def _check_stage(stage: Stage | Branching, relation: Relation) -> None:
    if isinstance(stage, Branching):
        _check_choice(stage, relation)
        for each in stage.stages:
            _check_stage(each, relation)
        return
    for measurement in stage.measurements:
        _covers(measurement, combined(measurement.made, stage.query, relation, len(stage.domain)))
    keys = keys_of(stage.query)
    if any(len(group) != len(keys) for group in stage.domain) or len(set(stage.domain)) != len(stage.domain):
        raise _broken("its groups are not those of its keys")
    if not all(0 <= place < len(stage.measurements) for release in stage.releases for place in release.places):
        raise _broken("a release is not of its measurements")


def _covers(measurement: Measurement, sensitivity: Sensitivity) -> None:
    norm = Norm.L1 if measurement.mechanism is None else measurement.mechanism.norm
    if norm is None:
        raise _broken("its noise is for single integers, and not for a vector of them")
    needed = sensitivity.of(norm)
    if measurement.sensitivity < needed:
        raise _broken("a neighbour can change a total by more than its noise is made for")
    if measurement.step <= 0 or (measurement.mechanism is None and needed > Fraction(0)):
        raise _broken("a total has no noise")


def _check_choice(choice: Branching, relation: Relation) -> None:
    """The scores are numbers that a neighbour moves by no more than the choice is made for; in which direction is not known."""
    if not isinstance(choice.mechanism, Selection) or choice.mechanism.monotone:
        raise _broken("a choice is by scores that may move in either direction")
    if not len(choice.scores) == len(choice.outcomes) == len(choice.stages) > 0 or keys_of(choice.query):
        raise _broken("a choice has a score, a name and a stage for each outcome")
    if any(choice.sensitivity < combined(score, choice.query, relation, 1).l1 for score in choice.scores):
        raise _broken("a neighbour can change a score by more than its choice is made for")


def _broken(what: str) -> Fault:
    return Fault(f"the plan does not hold: {what}", code="plan")


def digest(plan: Plan) -> str:
    """A name for the plan: equal for equal plans, and for no others; and for good, as ledgers keep it."""
    return sha256(written(plan).encode()).hexdigest()
