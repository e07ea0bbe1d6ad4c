"""A plan says what is drawn, and all that is known of a run follows from it; what would be wrong cannot be built."""

from dataclasses import FrozenInstanceError
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.learn.training_plan import ROOM, STEPS_OF_CLIP, GradientNoise, Person, TrainingPlan
from discreet.privacy import Adjacency, Unit, events, loss
from tests.learn.cases import plan_of


@settings(max_examples=25)
@given(
    st.sampled_from([F(1, 10), F(1), F(8)]),
    st.sampled_from([F(0), F(1, 10**5)]),
    st.sampled_from([1, 3, 40]),
    st.sampled_from([F(1), F(1, 7), F(1, 100)]),
    st.sampled_from([Adjacency.ADD_REMOVE, Adjacency.REPLACE]),
)
def test_all_steps_together_keep_the_promise(epsilon: F, delta: F, steps: int, rate: F, adjacency: Adjacency) -> None:
    promise_is_kept(epsilon, delta, steps, F(1) if adjacency is Adjacency.REPLACE else rate, adjacency)


def promise_is_kept(
    epsilon: F = F(1),
    delta: F = F(1, 10**5),
    steps: int = 3,
    rate: F = F(1),
    adjacency: Adjacency = Adjacency.REPLACE,
) -> None:
    """The event, made anew from the noise alone for the sensitivity that the relation has, keeps (ε, δ), and not much less noise does."""
    plan = plan_of(epsilon=epsilon, delta=delta, steps=steps, rate=rate, adjacency=adjacency)
    clips = 2 if adjacency is Adjacency.REPLACE else 1

    def kept(share: F) -> bool:
        leaf = type(plan.noise)(plan.noise.scale * share).event(clips * STEPS_OF_CLIP)
        step = leaf if rate == 1 else events.Sampled(rate, leaf)  # type: ignore[arg-type]
        return loss(events.Repeated(step, steps)).certifies(epsilon, delta)

    assert kept(F(1)) and not kept(F(99, 100))
    assert loss(plan.event).certifies(*plan.promise)


def test_pure_noise_is_steps_times_the_clip_over_epsilon() -> None:
    pure_noise_is_as_in_the_notes()


def pure_noise_is_as_in_the_notes() -> None:
    """T steps, each of T·c/ε: in units of the gradient, with a clip that is not 1."""
    plan = plan_of(epsilon=F(1, 2), delta=0, steps=20, clip=F(3, 10))
    assert plan.shape is GradientNoise.LAPLACE
    scale = plan.noise.scale * plan.step
    assert abs(scale - 20 * F(3, 10) / F(1, 2)) <= F(1, 10**6)
    assert loss(plan.event).epsilon(0) <= 0.5


def test_the_normaliser_is_what_was_declared() -> None:
    plan = plan_of(people=1000, rate=F(1, 4))
    assert plan.batch == 250
    assert plan.noise_of_mean == pytest.approx(float(plan.noise.scale * plan.step) / 250, rel=1e-9)
    assert plan.bound == plan.clip / (1 + ROOM) < plan.clip
    assert plan.step * STEPS_OF_CLIP == plan.clip


def test_the_relation_is_part_of_the_event() -> None:
    for adjacency in Adjacency:
        for person in (None, Person(), Person(3), Person(3, each_row=True)):
            event = plan_of(adjacency=adjacency, person=person).event
            assert isinstance(event, events.Under)
            assert event.relation.adjacency is adjacency
            assert event.relation.unit is (Unit.ROW if person is None else Unit.PERSON)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"adjacency": "replace", "rate": F(1, 2)}, "not accounted for under replacement"),
    ({"rate": 0}, "rate must be above 0"),
    ({"rate": 2}, "rate"),
    ({"delta": 0, "shape": "gaussian"}, "delta must be above 0"),
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": -1}, "epsilon"),
    ({"epsilon": True}, "epsilon"),
    ({"steps": 0}, "steps"),
    ({"steps": 1.5}, "steps"),
    ({"people": 0}, "people"),
    ({"clip": 0}, "clip"),
    ({"clip": float("inf")}, "clip"),
    ({"clip": 10**400}, "clip must lie between"),
    ({"clip": F(1, 10**400)}, "clip must lie between"),
    ({"people": 10**400}, "people must be at most"),
    ({"block": 0}, "block"),
    ({"shape": "uniform"}, "'gaussian' or 'laplace'"),
    ({"adjacency": "both"}, "adjacency must be"),
    ({"person": 3}, "person must be a Person"),
]


@pytest.mark.parametrize(("said", "message"), WRONG, ids=[f"{said}" for said, _ in WRONG])
def test_what_would_be_wrong_cannot_be_built(said: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        plan_of(**said)


def test_rows_of_a_person_are_never_each_clipped_to_the_whole_clip() -> None:
    """There is no way to say it: a person's rows are clipped together, or each to its share."""
    with pytest.raises(Invalid, match="rows"):
        Person(0)
    with pytest.raises(TypeError):
        Person(3, clip=1)  # type: ignore[call-arg]


def test_a_plan_cannot_be_changed() -> None:
    plan = plan_of()
    for name in ("epsilon", "steps", "clip", "rate", "person"):
        with pytest.raises(FrozenInstanceError):
            setattr(plan, name, 1)
    with pytest.raises(TypeError):
        TrainingPlan(1, 1)  # type: ignore[misc]
