"""What a finished plan costs, computed again from the plan alone: its queries, its mechanisms, its groups.

Nothing is taken over from how the plan was made. A plan that does not hold is a Fault, before anything is spent. Every stage is
checked that a released outcome can lead to.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256

from discreet.plan.levels import coarser, summable
from discreet.plan.measurement import covers, drawn_event
from discreet.plan.once import once
from discreet.plan.parts import memberships, part_of
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import keys_of, terms_of
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Value
from discreet.plan.steps.base import Step, broken
from discreet.plan.written import written
from discreet.privacy import Relation, events, loss
from discreet.privacy.cost import cost_of


@once
def event_of(stage: Stage | Step, relation: Relation) -> events.Event:
    """What is drawn from a stage on: each mechanism on its sensitivity, all under the relation."""
    return events.Under(_drawn(stage), relation)


def _drawn(stage: Stage | Step) -> events.Event:
    if isinstance(stage, Step):
        ways = [_drawn(stage.after(outcome)) for outcome in stage.ways]
        following = _alike(ways) if stage.listed else _whatever_follows(ways)
        return events.Composed((stage.event(), following))
    drawn = drawn_event(stage.measurements)
    besides = [each.event() for each in stage.readings]
    for level in stage.levels:
        besides += [] if level is None else _leaves(_drawn(level))
    return events.Composed((*drawn.parts, *besides)) if besides else drawn


def _alike(drawn: Sequence[events.Event]) -> events.Event:
    """The one event that all of these are, or the one pure ε that they all cost, or noise that is no larger than that of any of them.

    Gaussian noise is in proportion to its sensitivity: where that is not exact, for what noise is rounded to, the least ratio counts.
    Anything else is a Fault: the price would tell which was chosen.
    """
    if drawn and all(each == drawn[0] for each in drawn):
        return drawn[0]
    prices = set(map(_pure_price, drawn))
    price = prices.pop() if len(prices) == 1 else None
    if price is not None:
        return events.Pure(price)
    leaves = [tuple(_leaves(each)) for each in drawn]
    if len({_shape(each) for each in leaves}) > 1:
        raise broken("what it costs depends on what it chooses")
    return events.Composed(tuple(_least_noise(each) for each in zip(*leaves, strict=True)))


def _whatever_follows(ways: Sequence[events.Event]) -> events.Event:
    """What is drawn after an outcome that could not be listed: the pure ε of all noise that has one, whatever it is made for, and any
    other event as it is. Ways that differ in that, but for what Gaussian noise is rounded to, are a Fault."""
    priced = list(dict.fromkeys(_priced(tuple(_leaves(each))) for each in ways))
    leaves = [tuple(_leaves(each)) for each in priced]
    if len(priced) == 1:
        # of several ways those that are not listed may still be rounded otherwise
        return events.Composed(tuple(map(_less, leaves[0]))) if len(ways) > 1 and len(leaves[0]) > 1 else priced[0]
    if len({_shape(each) for each in leaves}) > 1:
        raise broken("what it costs depends on what it finds")
    return events.Composed(tuple(_less(_least_noise(each)) for each in zip(*leaves, strict=True)))


def _less(leaf: events.Event) -> events.Event:
    """Noise that is no larger than that of any way, those among them that are not listed: what it is rounded to differs by far less."""
    return events.Gaussian(leaf.scale * (1 - ROUNDED), leaf.sensitivity) if isinstance(leaf, events.Gaussian) else leaf


ROUNDED = Fraction(1, 10**8)
"""How far the noise of ways that differ in what they are rounded to alone may be from each other."""


def _priced(leaves: Sequence[events.Event]) -> events.Event:
    prices = list(map(_pure_price, leaves))
    pure = events.Pure(sum((price for price in prices if price is not None), Fraction(0)))
    others = tuple(each for each, price in zip(leaves, prices, strict=True) if price is None)
    return events.Composed((pure, *others)) if others else pure


@once
def _pure_price(event: events.Event) -> Fraction | None:
    """The pure ε of an event, which is that of its parts added up; None where one of them has none."""
    match event:
        case events.Composed(parts):
            prices = [_pure_price(part) for part in parts]
            known = [price for price in prices if price is not None]
            return sum(known, Fraction(0)) if len(known) == len(prices) else None
        case events.Leaf():
            return cost_of(event).pure
    return loss(event).pure_epsilon()


def _leaves(event: events.Event) -> Iterator[events.Event]:
    if isinstance(event, events.Composed):
        for part in event.parts:
            yield from _leaves(part)
    else:
        yield event


def _shape(leaves: Sequence[events.Event]) -> tuple[object, ...]:
    """What all ways must have in common: Gaussian noise of any size, and everything else as it is."""
    return tuple(events.Gaussian if isinstance(each, events.Gaussian) else each for each in leaves)


def _least_noise(leaves: Sequence[events.Event]) -> events.Event:
    ratios = [each.scale / each.sensitivity for each in leaves if isinstance(each, events.Gaussian)]
    if not ratios:
        return leaves[0]
    least = min(ratios)
    if max(ratios) > least * (1 + ALIKE):
        raise broken("what it costs depends on what it chooses")
    return events.Gaussian(least, Fraction(1))


ALIKE = Fraction(1, 10**6)
"""How far the noise of two ways may be from each other, for being rounded; more would be paid for by all, and used by few."""


def check(plan: Plan) -> None:
    """For a plan that keeps what it says: returns. For any other: raises Fault."""
    _check_stage(plan.stage, plan.relation, {}, plan.question.levels)
    _check_part(plan.stage, plan)
    if plan.event != event_of(plan.stage, plan.relation):
        raise broken("its event is not what it draws")
    if not loss(plan.event).certifies(plan.epsilon, plan.delta):
        raise broken("it costs more than it says")


def check_taken(plan: Plan) -> None:
    """For a plan whose last step took a way that keeps what every plan must, at no more than its price: returns. Otherwise raises Fault.

    Before data is read not all outcomes of a step can be listed: then the way that it takes is checked here, before it is gone.
    """
    _check_stage(plan.next, plan.relation, {}, plan.question.levels)
    _check_part(plan.next, plan)
    drawn = events.Composed((*(step.event() for step, _ in plan.steps), _drawn(plan.next)))
    if not loss(drawn).certifies(plan.epsilon, plan.delta):
        raise broken("it costs more than it says, for what it found")


def _check_part(stage: Stage | Step, plan: Plan) -> None:
    """Whatever is read is read of the people of the part that the plan is charged to, in every stage and every way."""
    queries = (stage.reads,) if isinstance(stage, Step) else stage.queries
    asked = plan.question.source
    if any(part_of(each) != plan.part or not memberships(each) <= memberships(asked) for each in queries):
        raise broken("it reads others than the people of its part")
    if isinstance(stage, Step):
        for outcome in stage.ways:
            _check_part(stage.after(outcome), plan)


Sound = dict[int, tuple[tuple[Value, ...], ...]]
"""Groups that were seen to be sound, by their identity: what follows the rungs of a ladder has the same ones."""


def _check_stage(
    stage: Stage | Step, relation: Relation, sound: Sound, levels: tuple[tuple[int, ...], ...] = ()
) -> None:
    if isinstance(stage, Step):
        stage.check(relation)
        for outcome in stage.ways:
            _check_stage(stage.after(outcome), relation, sound, levels)
        return
    cells = max(1, len(stage.domain))  # where no key was found there is none, and noise is made for one
    for measurement in stage.measurements:
        covers(measurement, combined(measurement.made, stage.query, relation, cells))
    _check_groups(stage, sound)
    for reading in stage.readings:
        reading.check(relation, stage.domain)
    if not all(0 <= place < len(stage.measurements) for release in stage.releases for place in release.places):
        raise broken("a release is not of its measurements")
    if not all(0 <= place < len(stage.readings) for release in stage.releases for place in release.readings):
        raise broken("a release is not of its readings")
    _check_levels(stage, relation, sound, levels)


def _check_levels(stage: Stage, relation: Relation, sound: Sound, levels: tuple[tuple[int, ...], ...]) -> None:
    """What is measured for a level is a stage of its own, of the groups of that level; all that cannot be summed is, in its order."""
    if len(stage.levels) != len(levels):
        raise broken("its levels are not those of the question")
    terms, keys = terms_of(stage.query), keys_of(stage.query)
    apart = [each for each in stage.measurements if not summable(each.made, terms)]
    for key_places, level in zip(levels, stage.levels, strict=True):
        if len(key_places) == len(keys):
            if level is not None:
                raise broken("its finest groups are measured twice")
        elif level is None:
            if apart or stage.readings:
                raise broken("a level lacks what cannot be summed")
        else:
            groups = coarser(stage.domain, key_places)
            if keys_of(level.query) != tuple(keys[place] for place in key_places) or level.domain != groups:
                raise broken("the groups of a level are not those of its keys")
            if [each.step for each in level.measurements] != [each.step for each in apart]:
                raise broken("a level does not measure what cannot be summed")
            if len(level.readings) != len(stage.readings):
                raise broken("a level does not read what cannot be summed")
            _check_stage(level, relation, sound)


def _check_groups(stage: Stage, sound: Sound) -> None:
    keys, groups = len(keys_of(stage.query)), stage.domain
    if id(groups) not in sound:
        if len(set(map(len, groups))) > 1 or len(set(groups)) != len(groups):
            raise broken("its groups are not those of its keys")
        sound[id(groups)] = groups
    if groups and len(groups[0]) != keys:
        raise broken("its groups are not those of its keys")


def digest(plan: Plan) -> str:
    """A name for the plan: equal for equal plans, and for no others; and for good, as ledgers keep it."""
    return sha256(written(plan).encode()).hexdigest()
