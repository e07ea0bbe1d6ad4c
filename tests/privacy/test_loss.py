"""Privacy loss at known values, its laws on the commonest losses, and events through JSON."""

import json
from fractions import Fraction
from math import e, exp, inf, isclose, log

import pytest

from discreet.errors import Invalid
from discreet.privacy import Adjacency, PrivacyLoss, Relation, Unit, events, loss
from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    Under,
    ZeroConcentrated,
)
from discreet.privacy.numeric.bounds import Bounds
from discreet.privacy.numeric.direction import Direction
from discreet.privacy.numeric.parts import Parts
from discreet.privacy.numeric.routes import BySplines, ByTransform, DeltaQuestion
from tests.scale import repeats

DESCENT = Sampled(Fraction(1, 100), Gaussian(Fraction(1)))

REFERENCE = [
    (Gaussian(Fraction(50)), 1000, "1e-6", 2.92160059),
    (RandomizedResponse(Fraction(1, 10)), 10_000, "1e-6", 96.57184003),
    (Laplace(Fraction(10)), 100, "1e-6", 4.692667415),
    (Laplace(Fraction(10)), 10_000, "1e-6", 94.23586539),
    (DESCENT, 10_000, "1e-5", 6.18771239),
    (DESCENT, 10_000, "1e-9", 8.765438592),
    (DESCENT, 10_000, "1e-12", 10.34668984),
    (DESCENT, 10_000, "1e-15", 11.7599785),
    (Sampled(Fraction(1, 1000), Gaussian(Fraction(1))), 100_000, "1e-5", 1.637175532),
    (Sampled(Fraction(1, 5), Gaussian(Fraction(5))), 1000, "1e-5", 5.871605223),
    (DiscreteGaussian(Fraction(10)), 100, "1e-6", 4.886570746),
    (DiscreteGaussian(Fraction(3, 10)), 10, "1e-6", 88.72759653),
]


@pytest.mark.parametrize(("leaf", "times", "delta", "epsilon"), REFERENCE)
def test_epsilon_at_reference_values(leaf: events.Leaf, times: int, delta: str, epsilon: float) -> None:
    spent = times * loss(leaf)
    assert spent.epsilon(Fraction(delta)) == pytest.approx(epsilon, rel=1e-9)
    assert spent.delta(spent.epsilon(Fraction(delta))) == pytest.approx(float(Fraction(delta)), rel=1e-9)


def test_geometric_noise_of_one_step_is_randomized_response_and_worse_than_laplace() -> None:
    geometric, laplace = 100 * loss(DiscreteLaplace(Fraction(10))), 100 * loss(Laplace(Fraction(10)))
    response = 100 * loss(RandomizedResponse(Fraction(1, 10)))
    assert geometric.epsilon(Fraction(1, 10**6)) == pytest.approx(response.epsilon(Fraction(1, 10**6)), rel=1e-12)
    assert geometric.epsilon(Fraction(1, 10**6)) == pytest.approx(4.774567588, rel=1e-9)
    assert laplace.epsilon(Fraction(1, 10**6)) < geometric.epsilon(Fraction(1, 10**6))


def test_two_laplace_releases_of_different_scales() -> None:
    """δ = E[δ₂(ε − L₁)] by quadrature to 15 digits, for Δ/b of 1/10 and 1/7."""
    both = loss(Laplace(Fraction(10))) + loss(Laplace(Fraction(7)))
    for epsilon, delta in ((0, 0.0700629722825127), (0.15, 0.0232061364897378), (0.24, 0.000714285471504854)):
        assert both.delta(epsilon) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(("times", "scale"), [(5, 10), (20, 10), (60, 2)])
def test_splines_and_transforms_agree_on_few_laplace_releases(times: int, scale: int) -> None:
    """Two routes that share nothing but the density."""
    (direction,) = (times * loss(Laplace(Fraction(scale))))._directions
    parts = Parts(direction.parts)
    splines, transform = (route(parts, Bounds(parts)) for route in (BySplines, ByTransform))
    for share in (0.0, 0.3, 0.6, 0.95):
        question = DeltaQuestion(parts, share * direction.largest, tail=False)
        assert splines.value(question) == pytest.approx(transform.value(question), abs=1e-9)


@pytest.mark.parametrize(("leaf", "times"), [(RandomizedResponse(2), 20), (DiscreteLaplace(1), 30)], ids=str)
def test_epsilon_inverts_delta_next_to_the_corners_of_a_lattice(leaf: events.Leaf, times: int) -> None:
    """δ(ε) has a corner at every loss, and a search for ε that comes from one side of it ends on the other."""
    spent = times * loss(leaf)
    (direction,) = spent._directions
    assert direction.lattice is not None
    losses = [direction.lattice.offset + direction.lattice.step * i for i in range(2 * times)]
    for corner in [each for each in losses if 0 < each < spent.pure_epsilon()][: repeats(10)]:
        for away in (-1e-8, -1e-9, 0.0, 1e-9, 1e-8):
            delta = exp(direction.log_delta(float(corner)) + away)
            assert direction.log_delta(spent.epsilon(delta)) == pytest.approx(log(delta), abs=1e-9)


@pytest.mark.parametrize("leaf", [Laplace(Fraction(2)), Gaussian(Fraction(3)), Pure(Fraction(1)), DESCENT], ids=str)
def test_repeated_equals_composed_of_copies(leaf: events.Leaf) -> None:
    assert loss(Repeated(leaf, 100)) == loss(Composed((leaf,) * 100)) == 100 * loss(leaf)


def test_pure_privacy_adds_up_at_delta_zero_and_never_exceeds_it() -> None:
    spent = 10 * loss(Laplace(Fraction(10))) + 5 * loss(Pure(Fraction(1, 5)))
    assert spent.epsilon() == pytest.approx(2.0, rel=1e-12)
    assert spent.epsilon(Fraction(1, 1000)) < 2


def test_no_noise_costs_everything_and_no_sensitivity_nothing() -> None:
    assert loss(Gaussian(Fraction(1), Fraction(0))).epsilon() == 0
    assert loss(Laplace(Fraction(1), Fraction(0))).delta(0) == 0
    assert loss(Gaussian(Fraction(1))).epsilon() == inf
    with pytest.raises(Invalid, match="scale must be positive"):
        Gaussian(Fraction(0))


def test_a_failure_that_is_kept_apart_is_added_up_exactly() -> None:
    spent = 3 * loss(Approximate(Fraction(1), Fraction(1, 10)))
    assert spent.delta(3) == pytest.approx(1 - 0.9**3, rel=1e-12)
    assert spent.epsilon(1 - Fraction(9, 10) ** 3) == 3
    assert spent.epsilon(Fraction(1, 5)) == inf


def test_sampling_never_costs_more_and_at_rate_one_the_same() -> None:
    plain, sampled = loss(Gaussian(Fraction(1))), loss(Sampled(Fraction(1, 10), Gaussian(Fraction(1))))
    assert sampled.delta(1) < plain.delta(1)
    assert plain.sampled(1).delta(1) == plain.delta(1)
    with pytest.raises(Invalid, match="single leaf"):
        (plain + plain).sampled(Fraction(1, 2))


def test_tables_are_exact() -> None:
    coin = PrivacyLoss.from_table([[0.75, 0.25], [0.25, 0.75]])
    assert coin.epsilon() == pytest.approx(log(3), rel=1e-15)
    assert coin.delta(0) == pytest.approx(0.5, rel=1e-12)
    with pytest.raises(Invalid, match="add up to exactly 1"):
        PrivacyLoss.from_table([[0.5, 0.4], [0.5, 0.5]])


def test_concentrated_privacy_is_the_supremum_over_orders() -> None:
    assert loss(RandomizedResponse(Fraction(3), 1000)).zcdp() == pytest.approx(0.42330581, rel=1e-8)
    assert loss(Gaussian(Fraction(2))).zcdp() == pytest.approx(1 / 8, rel=1e-12)
    assert loss(Gaussian(Fraction(2))).rdp(5) == pytest.approx(5 / 8, rel=1e-12)
    assert loss(Laplace(Fraction(1))).zcdp() == pytest.approx(exp(-1), rel=1e-9)  # ε + e^-ε − 1


def test_concentrated_privacy_alone_is_not_priced_as_gaussian_noise() -> None:
    """Randomized response at ε = 1 has ρ = tanh(1/2) and δ(0) = tanh(1/2); a Gaussian of that ρ says less."""
    response = loss(RandomizedResponse(Fraction(1)))
    alone = loss(ZeroConcentrated(response.zcdp()))
    assert alone.delta(0) >= response.delta(0) > loss(Gaussian(1 / (2 * response.zcdp()) ** 0.5)).delta(0)


def test_the_attacker_is_right_as_often_as_bayes_allows() -> None:
    assert loss(Pure(Fraction(1))).posterior() == pytest.approx(e / (1 + e), rel=1e-12)
    assert loss(Approximate(Fraction(1), Fraction(1, 100))).posterior() == pytest.approx(
        (e + 0.01) / (1 + e), rel=1e-12
    )
    assert loss(Gaussian(Fraction(1))).tradeoff(Fraction(1, 20)) == pytest.approx(0.74048897716, rel=1e-9)


def test_a_group_multiplies_the_sensitivity() -> None:
    assert loss(Gaussian(Fraction(1))).group(3).delta(1) == loss(Gaussian(Fraction(1), Fraction(3))).delta(1)
    assert loss(Pure(Fraction(1, 2))).group(4).epsilon() == 2
    with pytest.raises(Invalid, match="no group privacy is known"):
        loss(Sampled(Fraction(1, 10), DiscreteGaussian(Fraction(1)))).group(2)


def test_a_group_of_two_in_a_sample_is_a_mixture_of_three() -> None:
    """δ by a fine sum over x of the mixture with 0, 1 or 2 of them seen, against none."""
    pair = loss(Sampled(Fraction(1, 100), Gaussian(Fraction(1)))).group(2)
    assert pair.delta(Fraction(1, 20)) == pytest.approx(0.00169761018, rel=1e-7)
    assert pair.delta(Fraction(3, 10)) == pytest.approx(4.58124337e-05, rel=1e-7)
    assert loss(Sampled(Fraction(1), Gaussian(Fraction(1)))).group(3).delta(1) == pytest.approx(
        loss(Gaussian(Fraction(1), Fraction(3))).delta(1), rel=1e-12
    )


def test_what_has_no_near_exact_route_is_bounded_from_above() -> None:
    """A lattice of fine steps and two points that are not on it: too many points to tell apart, and none that fades."""
    spent = 30 * loss(DiscreteGaussian(Fraction(10))) + loss(Laplace(Fraction(3)))
    lower, upper = spent.interval(Fraction(1, 10**6))
    assert lower <= spent.epsilon(Fraction(1, 10**6)) <= upper <= lower * (1 + 1e-2)
    assert upper <= spent.epsilon(Fraction(1, 10**6)) * (1 + 1e-4)


def test_two_different_relations_never_compose() -> None:
    person = Under(Pure(Fraction(1)), Relation(Adjacency.REPLACE, Unit.PERSON))
    assert (loss(person) + loss(Pure(Fraction(1)))).relation == Relation(Adjacency.REPLACE, Unit.PERSON)
    with pytest.raises(Invalid, match="cannot be composed"):
        loss(person) + loss(DESCENT)


@pytest.mark.parametrize("bad", [-1, float("nan"), inf, "1", True, None])
def test_bad_arguments_are_refused_by_name(bad: object) -> None:
    spent = loss(Pure(Fraction(1)))
    for name, call in (
        ("epsilon", spent.delta),
        ("delta", spent.epsilon),
        ("order", spent.rdp),
        ("prior", spent.posterior),
    ):
        with pytest.raises(Invalid, match=name):
            call(bad)  # type: ignore[operator]


EVENTS: list[Event] = [
    DESCENT,
    Composed((Repeated(DESCENT, 7), Laplace(Fraction(1, 3), Fraction(2)), DiscreteLaplace(Fraction(5), 3))),
    Under(Approximate(Fraction(1, 2), Fraction(1, 10**7)), Relation(Adjacency.ADD_REMOVE, Unit.ROW)),
    events.FiniteTable(((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))),
    Composed((ZeroConcentrated(Fraction(1, 9)), RandomizedResponse(Fraction(1), 5), DiscreteGaussian(Fraction(2)))),
]


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_an_event_is_the_same_after_json(event: Event) -> None:
    assert events.from_json(json.loads(json.dumps(event.to_json()))) == event


def test_unknown_events_and_fields_are_refused() -> None:
    for value in (
        {"event": "moon"},
        {"event": "pure", "epsilon": "1", "extra": 1},
        {"event": "pure"},
        [],
        {"scale": "1"},
    ):
        with pytest.raises(Invalid):
            events.from_json(value)


def test_nothing_costs_nothing() -> None:
    assert PrivacyLoss().epsilon() == 0.0 and PrivacyLoss().delta(0) == 0.0
    assert isclose((0 * loss(DESCENT)).epsilon(), 0.0)
    assert Direction([]).largest == 0
