"""What holds for every privacy loss: a contract suite over one example or more of each event.

`make test` takes the head of the list of events, where each kind has a place, and `make soak` all of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise
from math import exp, inf, isnan, log, tanh
from random import Random

import pytest

from discreet.errors import Invalid
from discreet.privacy.adjacency import Adjacency, Relation, Unit
from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Leaf,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    Under,
    ZeroConcentrated,
)
from discreet.privacy.loss import PrivacyLoss, loss
from tests.privacy import oracle
from tests.scale import repeats

F = Fraction
NEAR = 1e-9
TABLE = FiniteTable(((F(1, 2), F(1, 3), F(1, 6)), (F(1, 5), F(2, 5), F(2, 5)), (F(1, 4), F(1, 4), F(1, 2))))
TELLING = FiniteTable(((F(99, 100), F(1, 100)), (F(1), F(0))))
ADD_REMOVE, REPLACE = Relation(Adjacency.ADD_REMOVE), Relation(Adjacency.REPLACE)

# Each with its pure ε; the sharpest first.
LEAVES: list[tuple[Leaf, float]] = [
    (RandomizedResponse(2, 10), 2),
    (Sampled(F("0.1"), Gaussian(1)), inf),
    (Laplace(2), 0.5),
    (DiscreteGaussian(2, 1), inf),
    (Approximate(F("0.4"), F("1e-7")), inf),
    (ZeroConcentrated(F("0.02")), inf),
    (DiscreteLaplace(3, 4), 4 / 3),
    (TABLE, log(3)),
    (Gaussian(2), inf),
    (TELLING, inf),
    (Sampled(F("0.2"), RandomizedResponse(1)), log(0.8 + 0.2 * exp(1))),
    (RandomizedResponse(F("0.7")), 0.7),
    (Pure(F("0.3")), 0.3),
    (Sampled(F("0.2"), Laplace(1)), log(0.8 + 0.2 * exp(1))),
    (Sampled(F("0.2"), DiscreteLaplace(1, 2)), log(0.8 + 0.2 * exp(2))),
    (Sampled(F("0.2"), DiscreteGaussian(1)), inf),
]
EVENTS: list[tuple[Event, float]] = [
    *LEAVES[:8],
    (Repeated(RandomizedResponse(F("0.1")), 100), 10),
    (Composed((TABLE, Gaussian(2))), inf),
    (Repeated(Sampled(F("0.01"), Gaussian(1)), 1000), inf),
    (Composed((Approximate(F("0.1"), F("1e-6")), Repeated(Gaussian(5), 3), Pure(F("0.2")))), inf),
    (Repeated(Laplace(10), 7), 0.7),
    (Composed((ZeroConcentrated(F("0.01")), Laplace(5), Gaussian(4))), inf),
    (Composed((Laplace(1), RandomizedResponse(F("0.3")))), 1.3),
    (Composed((RandomizedResponse(1), RandomizedResponse(F("0.7"), 3), DiscreteLaplace(3))), 1.7 + 1 / 3),
    *LEAVES[8:],
    (Composed(()), 0),
    (Under(Laplace(1), REPLACE), 1),
    (Repeated(Laplace(10), 500), 50),
    (Repeated(DiscreteGaussian(10), 30), inf),
    (Repeated(TABLE, 3), 3 * log(3)),
    (Composed((Laplace(2), Gaussian(3), RandomizedResponse(1))), inf),
    (Composed((Laplace(2), Laplace(3), Laplace(5))), 31 / 30),
    (Composed((Repeated(Gaussian(4), 3), Gaussian(1, F("0.5")))), inf),
    (Composed((TABLE, RandomizedResponse(1))), log(3) + 1),
    (Composed((Repeated(Sampled(F("0.1"), Gaussian(2)), 50), Gaussian(10))), inf),
]


def name(value: object) -> str:
    """A short name for the report."""
    match value:
        case Repeated(part, times):
            return f"{times} x {name(part)}"
        case Composed(parts):
            return " + ".join(map(name, parts)) or "nothing"
        case Sampled(rate, part):
            return f"{name(part)} at {float(rate)}"
        case Under(part, relation):
            return f"{name(part)} under {relation}"
        case FiniteTable(rows):
            return f"table {len(rows)} by {len(rows[0])}"
        case Leaf():
            return " ".join([value.kind, *(str(getattr(value, field.name)) for field in fields(value))])  # type: ignore[arg-type]
        case _:
            return ""


def first(n: int) -> pytest.MarkDecorator:
    """The law holds for as many events as a run of this scale looks at, where `make test` looks at n."""
    events = EVENTS[: repeats(n)]
    return pytest.mark.parametrize(("event", "pure"), events, ids=[name(event) for event, _ in events])


every_event = first(len(EVENTS))


def probes(spent: PrivacyLoss, pure: float) -> list[float]:
    """Some ε from 0 to nearly the largest loss, or to where δ is tiny."""
    far = min(pure, 3 * spent.epsilon(F("0.03")) + 1)
    return [far * share for share in (0, 0.05, 0.3, 0.6, 0.95)]


def leaves_of(event: Event) -> Iterator[Leaf]:
    match event:
        case Composed(parts):
            for part in parts:
                yield from leaves_of(part)
        case Repeated(part, times):
            for _ in range(times):
                yield from leaves_of(part)
        case Under(part, _):
            yield from leaves_of(part)
        case Leaf():
            yield event


def has(event: Event, kind: type) -> bool:
    return any(isinstance(leaf, kind) for leaf in set(leaves_of(event)))


def failing(event: Event) -> float:
    """The chance of an infinite loss."""
    kept = 1.0
    for leaf in leaves_of(event):
        kept *= 1 - (float(leaf.delta) if isinstance(leaf, Approximate) else 0.01 if leaf == TELLING else 0)
    return 1 - kept


# Composition.


@every_event
def test_repeating_is_composing_copies(event: Event, pure: float) -> None:
    repeated, copies = loss(Repeated(event, 3)), loss(Composed((event, event, event)))
    assert repeated == copies == 3 * loss(event) == loss(event) * 3 == loss(event) + loss(event) + loss(event)
    assert repeated.epsilon(0) == copies.epsilon(0) == pytest.approx(3 * pure, rel=1e-13)


@first(4)
def test_copies_cost_what_repeating_costs(event: Event, pure: float) -> None:
    repeated, copies = loss(Repeated(event, 3)), loss(Composed((event, event, event)))
    assert repeated.epsilon(1e-6) == copies.epsilon(1e-6) >= loss(event).epsilon(1e-6) * (1 - NEAR)
    assert repeated.delta(0.5) == copies.delta(0.5)


@every_event
def test_composing_none_costs_nothing(event: Event, pure: float) -> None:
    for nothing in (loss(Repeated(event, 0)), 0 * loss(event)):
        assert (nothing.epsilon(0), nothing.delta(0), nothing.zcdp(), nothing.rdp(3)) == (0, 0, 0, 0)
        assert nothing.interval(0) == nothing.interval(1e-6) == (0, 0)
        assert nothing + loss(event) == loss(event)


def test_the_order_of_parts_does_not_matter() -> None:
    random = Random(11)
    parts = [event for event, _ in EVENTS if not has(event, Sampled) and not isinstance(event, Under)]
    for _ in range(repeats(2)):
        chosen = random.sample(parts, 3)
        there, back = loss(Composed(tuple(chosen))), loss(Composed(tuple(reversed(chosen))))
        nested = loss(Composed((chosen[1], Composed((chosen[2], chosen[0])))))
        assert there == back == nested
        assert hash(there) == hash(back)
        values = [spent.epsilon(F("0.015")) for spent in (there, back, nested)]
        assert values == pytest.approx([values[0]] * 3, rel=NEAR)


@first(5)
def test_one_more_release_never_costs_less(event: Event, pure: float) -> None:
    spent = loss(event)
    for more in (Laplace(3), Gaussian(3), RandomizedResponse(F("0.2"))):
        both = spent + loss(more)
        for epsilon in (0.0, 1.0):
            assert both.delta(epsilon) >= spent.delta(epsilon) * (1 - NEAR)


@every_event
def test_the_event_of_a_loss_has_the_same_loss(event: Event, pure: float) -> None:
    spent = loss(event)
    assert loss(spent.event) == spent


# The shape of δ(ε) and ε(δ).


@first(18)
def test_delta_never_rises_and_is_convex_in_the_ratio(event: Event, pure: float) -> None:
    """δ as a function of γ = e^ε: non-increasing, convex, never steeper than −1."""
    spent = loss(event)
    points = [(exp(e), spent.delta(e)) for e in probes(spent, pure)]
    assert all(0 <= delta <= 1 for _, delta in points)
    for (g1, d1), (g2, d2), (g3, d3) in zip(points, points[1:], points[2:], strict=False):
        assert d1 * (1 + NEAR) >= d2 and d2 * (1 + NEAR) >= d3
        assert d1 - d2 <= (g2 - g1) * (1 + NEAR) + 1e-15
        if g1 < g2 < g3:
            line = d1 + (d3 - d1) * (g2 - g1) / (g3 - g1)
            assert d2 <= line * (1 + NEAR) + 1e-15


@first(14)
def test_epsilon_of_delta_of_epsilon_is_epsilon(event: Event, pure: float) -> None:
    spent, lost = loss(event), failing(event)
    tolerance = 1e-6 if has(event, ZeroConcentrated) else NEAR
    for epsilon in probes(spent, pure)[1:]:
        delta = spent.delta(epsilon)
        if delta > 2 * lost and 0 < delta < 1 - 1e-6:  # elsewhere δ no longer tells ε to that many digits
            assert spent.epsilon(delta) == pytest.approx(epsilon, rel=tolerance)


@first(14)
def test_epsilon_is_at_most_the_sum_of_pure_epsilons_and_that_at_zero(event: Event, pure: float) -> None:
    spent = loss(event)
    assert spent.epsilon(0) == spent.epsilon() == pytest.approx(pure, rel=1e-14)
    values = [spent.epsilon(delta) for delta in (0, 1e-30, 1e-12, 1e-3, 0.1, 0.5, 1)]
    for earlier, later in pairwise(values):
        assert later <= earlier * (1 + NEAR)
    if pure < inf:
        assert spent.delta(F(pure) * (1 + F(1, 10**13))) == 0


@first(14)
def test_epsilon_is_zero_from_delta_of_zero_on(event: Event, pure: float) -> None:
    spent = loss(event)
    at_zero = spent.delta(0)
    for delta in (min(1.0, at_zero * (1 + 1e-9)), (1 + at_zero) / 2, 1):
        assert spent.epsilon(delta) == 0
    if at_zero > 0 and not has(event, ZeroConcentrated):
        assert spent.epsilon(at_zero * (1 - 1e-3)) > 0


@first(18)
def test_nothing_is_ever_nan_or_negative(event: Event, pure: float) -> None:
    spent = loss(event)
    for epsilon in (0, 1e-300, 1e-12, 0.1, 3, 50, 1e3, 1e6):
        delta = spent.delta(epsilon)
        assert isinstance(delta, float) and 0 <= delta <= 1, epsilon
    for delta in (1, 0.5, 1e-15, 1e-300, 0):
        epsilon = spent.epsilon(delta)
        assert isinstance(epsilon, float) and epsilon >= 0, delta
    for order in (1 + 1e-9, 1.5, 2, 32, 1e4):
        assert spent.rdp(order) >= 0 and not isnan(spent.rdp(order)), order
    assert spent.zcdp() >= 0 and not isnan(spent.zcdp())


@pytest.mark.parametrize("leaf", [leaf for leaf, _ in LEAVES], ids=name)
def test_the_ends_of_the_floats_are_numbers_too(leaf: Leaf) -> None:
    lost = failing(leaf)
    assert loss(leaf).delta(1e300) == pytest.approx(lost, rel=1e-12)
    assert (2 * loss(leaf)).delta(1.7e308) == pytest.approx(1 - (1 - lost) ** 2, rel=1e-12)
    assert loss(leaf).epsilon(5e-324) >= 0
    assert loss(leaf).delta(5e-324) == pytest.approx(loss(leaf).delta(0), rel=NEAR)


@first(12)
def test_an_answer_does_not_depend_on_what_was_asked_before(event: Event, pure: float) -> None:
    """Whether the neighbourhood of a small δ was looked at before, that of a large one, or none."""
    tolerance = 1e-6 if has(event, ZeroConcentrated) else NEAR
    used = loss(event)
    used.epsilon(0.03), used.delta(0.7), used.zcdp()
    for epsilon in (0, F("0.2")):
        assert used.delta(epsilon) == pytest.approx(loss(event).delta(epsilon), rel=tolerance, abs=0)
    assert used.epsilon(F("0.02")) == pytest.approx(loss(event).epsilon(F("0.02")), rel=tolerance, abs=0)


@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "0.001", "0.3", "1e-7", "3e-5", "0.07"])
def test_an_approximate_event_costs_what_it_says(delta: str) -> None:
    spent = loss(Approximate(F("0.8"), F(delta)))
    assert spent.epsilon(F(delta)) == spent.epsilon(float(delta)) == pytest.approx(0.8, rel=1e-14)
    assert spent.epsilon(F(delta) * F("0.999")) == inf
    assert spent.delta(F("0.8")) == pytest.approx(float(delta), rel=1e-14)
    twice = 2 * spent
    assert twice.epsilon(1 - (1 - F(delta)) ** 2) == pytest.approx(1.6, rel=1e-9)
    assert twice.delta(2) == pytest.approx(float(1 - (1 - F(delta)) ** 2), rel=1e-14)


def test_certain_failure_is_certain() -> None:
    spent = loss(Approximate(1, 1))
    assert (spent.delta(100), spent.epsilon(0.5), spent.epsilon(1)) == (1, inf, 0)


# More noise.

NOISIER: list[tuple[str, Callable[[Fraction], Event]]] = [
    ("Laplace", lambda b: Laplace(b)),
    ("discrete Laplace", lambda b: DiscreteLaplace(b, 2)),
    ("discrete Laplace by one step", lambda b: DiscreteLaplace(b)),
    ("Gaussian", lambda b: Gaussian(b)),
    ("response", lambda b: RandomizedResponse(1 / b)),
    ("response of 7", lambda b: RandomizedResponse(1 / b, 7)),
]


@pytest.mark.parametrize("k", [5, 100, 1][: repeats(1)])
@pytest.mark.parametrize("kind", NOISIER, ids=lambda kind: kind[0])
def test_more_noise_never_costs_more(kind: tuple[str, Callable[[Fraction], Event]], k: int) -> None:
    scales = [F(s) for s in ("0.2", "0.21", "1", "4", "30", "30.01")]
    losses = [k * loss(kind[1](scale)) for scale in scales]
    for noisy, noisier in pairwise(losses):
        for epsilon in (0, F("0.1"), 4):
            assert noisier.delta(epsilon) <= noisy.delta(epsilon) * (1 + NEAR)
        assert noisier.epsilon(1e-6) <= noisy.epsilon(1e-6) * (1 + NEAR)


def test_a_larger_sensitivity_never_costs_less() -> None:
    for kind in (Laplace, DiscreteLaplace, Gaussian):
        values = [loss(kind(3, s)).delta(F("0.2")) for s in (0, 1, 2, 5, 20)]
        assert values == sorted(values)


@pytest.mark.parametrize(
    "event",
    [
        Laplace(1, 0),
        DiscreteLaplace(1, 0),
        Gaussian(1, 0),
        DiscreteGaussian(1, 0),
        RandomizedResponse(0),
        RandomizedResponse(0, 9),
        Pure(0),
        Approximate(0, 0),
        ZeroConcentrated(0),
        FiniteTable(((F(1, 3), F(2, 3)), (F(1, 3), F(2, 3)))),
        Sampled(F(1, 2), Gaussian(1, 0)),
        Sampled(F(1, 2), Laplace(1, 0)),
        Sampled(F(1, 2), RandomizedResponse(0)),
        Composed((Gaussian(1, 0), Laplace(1, 0))),
    ],
    ids=name,
)
def test_no_sensitivity_costs_nothing(event: Event) -> None:
    for spent in (loss(event), 100 * loss(event)):
        assert (spent.epsilon(0), spent.epsilon(1e-6), spent.delta(0), spent.delta(1)) == (0, 0, 0, 0)
        assert (spent.rdp(2), spent.zcdp()) == (0, 0)


def test_an_approximate_event_without_epsilon_still_fails() -> None:
    spent = loss(Approximate(0, F("0.01")))
    assert (spent.epsilon(F("0.01")), spent.epsilon(F("0.009")), spent.delta(0)) == (0, inf, 0.01)


@pytest.mark.parametrize("k", [3, 1, 100][: repeats(1)])
@pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace, Gaussian], ids=lambda kind: kind.__name__)
def test_huge_noise_costs_next_to_nothing_and_tiny_noise_nearly_everything(kind: type[Laplace], k: int) -> None:
    quiet = k * loss(kind(10**9))
    assert 0 < quiet.delta(0) < 1e-7
    assert quiet.epsilon(1e-7) == 0
    loud = k * loss(kind(F(1, 1000)))
    assert loud.delta(1) == pytest.approx(1, abs=1e-12)
    assert loud.epsilon(F("1e-6")) > 900


# Sampling.

SAMPLED = [
    Gaussian(2),
    RandomizedResponse(2, 10),
    Laplace(2),
    Pure(F("0.3")),
    DiscreteGaussian(2),
    DiscreteLaplace(3, 4),
]


@pytest.mark.parametrize("leaf", SAMPLED[: repeats(2)], ids=name)
def test_sampling_never_costs_more_and_at_rate_one_the_same(leaf: Leaf) -> None:
    plain = loss(leaf)
    for k in (1, 40):
        for epsilon in (0, F("0.3")):
            values = [(k * plain.sampled(q)).delta(epsilon) for q in (F("0.05"), F("0.5"), 1)]
            assert values[0] <= values[1] * (1 + NEAR) and values[1] <= values[2] * (1 + NEAR)
            assert values[2] == (k * plain).delta(epsilon)
        assert (k * plain.sampled(F("0.5"))).epsilon(1e-6) <= (k * plain).epsilon(1e-6) * (1 + NEAR)


def test_sampling_is_for_one_leaf() -> None:
    for several in (2 * loss(Laplace(1)), loss(Laplace(1)) + loss(Gaussian(1)), 0 * loss(Laplace(1))):
        with pytest.raises(Invalid, match="single leaf"):
            several.sampled(F("0.1"))
    for part in (Composed((Laplace(1), Laplace(1))), Repeated(Laplace(1), 2), Sampled(F(1, 2), Laplace(1))):
        with pytest.raises(Invalid, match="part"):
            Sampled(F("0.1"), part)  # type: ignore[arg-type]


def test_what_has_no_dominating_pair_is_not_sampled() -> None:
    with pytest.raises(Invalid):
        loss(Sampled(F("0.1"), ZeroConcentrated(1)))
    with pytest.raises(Invalid):
        loss(ZeroConcentrated(1)).sampled(F("0.1"))


# Neighbour relations.


def test_two_different_relations_never_compose() -> None:
    here, there = loss(Under(Laplace(1), ADD_REMOVE)), loss(Under(Laplace(1), REPLACE))
    with pytest.raises(Invalid, match=r"add-remove.*replace"):
        here + there
    with pytest.raises(Invalid):
        loss(Composed((Under(Laplace(1), REPLACE), Under(Gaussian(1), ADD_REMOVE))))
    with pytest.raises(Invalid):
        loss(Under(Under(Laplace(1), REPLACE), ADD_REMOVE))
    row, person = (loss(Under(Laplace(1), Relation(Adjacency.REPLACE, unit))) for unit in Unit)
    with pytest.raises(Invalid):
        row + person
    assert (there + person).relation == person.relation
    assert (loss(Gaussian(1)) + there).relation == (3 * there + loss(Gaussian(1))).relation == REPLACE


def test_sampling_is_tagged_and_does_not_compose_with_replacement() -> None:
    spent = loss(Sampled(F("0.1"), Gaussian(1)))
    assert spent.relation == ADD_REMOVE
    assert (5 * spent + loss(Laplace(1))).relation == ADD_REMOVE
    with pytest.raises(Invalid):
        spent + loss(Under(Laplace(1), REPLACE))
    with pytest.raises(Invalid):
        loss(Under(Sampled(F("0.1"), Gaussian(1)), REPLACE))
    with pytest.raises(Invalid):
        loss(Under(Gaussian(1), REPLACE)).sampled(F("0.1"))


def test_sampling_keeps_the_unit_it_is_told() -> None:
    tag = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)
    spent = loss(Under(Gaussian(1), tag)).sampled(F("0.1"))
    assert spent.relation == tag
    assert loss(Under(Sampled(F("0.1"), Gaussian(1)), tag)) == spent


def test_a_relation_changes_no_price() -> None:
    for event in (
        Laplace(2),
        DiscreteGaussian(2),
        Approximate(F("0.4"), F("1e-7")),
        ZeroConcentrated(F("0.02")),
        TABLE,
    ):
        assert loss(Under(event, REPLACE)).epsilon(1e-6) == loss(event).epsilon(1e-6)


# Rényi and concentrated privacy.


@pytest.mark.parametrize("order", ["1.001", "1.5", "2", "3", "32", "500"])
def test_renyi_privacy_is_the_moment_of_the_loss(order: str) -> None:
    """K(α − 1)/(α − 1), with K summed or integrated over outputs."""
    t = F(order) - 1
    moments = [
        (Gaussian(2), oracle.ball(t * (t + 1) / 8)),
        (Laplace(2), oracle.laplace_moment(F(1, 2), t)),
        (DiscreteLaplace(3, 4), oracle.discrete_laplace(F(3), 4).moment(t)),
        (RandomizedResponse(F("0.7")), oracle.response(F("0.7")).moment(t)),
        (RandomizedResponse(2, 10), oracle.response(F(2), 10).moment(t)),
        (Pure(F("0.3")), oracle.response(F("0.3")).moment(t)),
    ]
    if t < 50:
        moments.append((DiscreteGaussian(2), oracle.discrete_gaussian(F(2)).moment(t)))
        moments.append((Sampled(F("0.1"), Gaussian(1)), oracle.sampled_gaussian_moment(F("0.1"), F(1), t + 1)))
    for leaf, moment in moments:
        assert loss(leaf).rdp(F(order)) == pytest.approx(float(moment) / float(t), rel=NEAR), leaf
        assert (7 * loss(leaf)).rdp(F(order)) == pytest.approx(7 * float(moment) / float(t), rel=NEAR), leaf


@first(16)
def test_renyi_privacy_bounds_delta_and_rises_with_the_order(event: Event, pure: float) -> None:
    """δ <= e^((α−1)(R − ε)) (1 − 1/α)^α/(α − 1) at every order, and R(α) <= αρ."""
    spent = loss(event)
    orders = [1.01, 1.3, 2, 5, 20, 100]
    values = [spent.rdp(order) for order in orders]
    for earlier, later in pairwise(values):
        assert earlier <= later * (1 + NEAR) + 1e-15
    rho = spent.zcdp()
    for order, value in zip(orders, values, strict=True):
        assert value <= pure * (1 + NEAR)
        assert value <= order * rho * (1 + NEAR) + 1e-15
        for epsilon in (0.0, 0.2, 1.0, 4.0):
            log_bound = (order - 1) * (value - epsilon) + order * log(1 - 1 / order) - log(order - 1)
            assert spent.delta(epsilon) <= exp(min(log_bound, 0.0)) * (1 + NEAR)


def supremum(moment: Callable[[Fraction], object]) -> float:
    """Of K(c)/(c(c + 1)), on a fine grid and then by a parabola's worth of points around its peak."""

    def at(x: float) -> float:
        c = F(exp(x))
        return float(moment(c)) / float(c * (c + 1))  # type: ignore[arg-type]

    low, high = -40.0, 8.0
    for _ in range(9):
        grid = [low + (high - low) * i / 16 for i in range(17)]
        best = max(range(17), key=lambda i: at(grid[i]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 16)]
    return at((low + high) / 2)


def test_zcdp_is_the_supremum_over_all_orders() -> None:
    known = [
        (Gaussian(2), 1 / 8),
        (Laplace(2), 0.5 + exp(-0.5) - 1),
        (Laplace(F("0.1")), 10 + exp(-10) - 1),
        (RandomizedResponse(1), tanh(0.5)),
        (Pure(F("0.3")), 0.3 * tanh(0.15)),
        (RandomizedResponse(3, 1000), supremum(oracle.response(F(3), 1000).moment)),
        (RandomizedResponse(1, 20), supremum(oracle.response(F(1), 20).moment)),
        (DiscreteLaplace(1, 3), supremum(oracle.discrete_laplace(F(1), 3).moment)),
    ]
    for leaf, rho in known:
        assert loss(leaf).zcdp() == pytest.approx(rho, rel=NEAR), leaf
        assert (9 * loss(leaf)).zcdp() == pytest.approx(9 * rho, rel=NEAR), leaf
    assert loss(RandomizedResponse(3, 1000)).zcdp() == pytest.approx(0.4233, abs=5e-5)  # its KL divergence is 0.056
    assert loss(ZeroConcentrated(F("0.3"))).zcdp() == pytest.approx(0.3, rel=1e-15)


def test_an_infinite_loss_has_no_renyi_privacy() -> None:
    for leaf in (Approximate(1, F("1e-9")), TELLING):
        assert (loss(leaf).rdp(2), loss(leaf).zcdp()) == (inf, inf)


# What is known less well never costs less.


@pytest.mark.parametrize("leaf", [leaf for leaf, pure in LEAVES if pure < inf][: repeats(2)], ids=name)
def test_zcdp_alone_costs_at_least_what_any_mechanism_of_that_rho_does(leaf: Leaf) -> None:
    spent = loss(leaf)
    bound = loss(ZeroConcentrated(F(spent.zcdp() * (1 + NEAR))))
    for k in (1, 10):
        for epsilon in (0, F("0.2"), 1, 3):
            assert (k * bound).delta(epsilon) >= (k * spent).delta(epsilon) * (1 - NEAR)
            mixed = loss(Laplace(3)) + k * bound
            assert mixed.delta(epsilon) >= (loss(Laplace(3)) + k * spent).delta(epsilon) * (1 - NEAR)


@pytest.mark.parametrize("k", [2, 10, 1][: repeats(1)])
def test_pure_privacy_costs_at_least_what_any_mechanism_of_that_epsilon_does(k: int) -> None:
    for leaf, pure in LEAVES:
        if pure < inf:
            bound, spent = k * loss(Pure(F(pure))), k * loss(leaf)
            for epsilon in (0, F("0.1"), F("0.5"), 1):
                assert bound.delta(epsilon) >= spent.delta(epsilon) * (1 - NEAR)


# Random compositions.


def test_random_compositions_obey_the_laws() -> None:
    """ε falls as δ grows, lies between its certified ends, and no part costs more than all."""
    random = Random(12)
    leaves = [leaf for leaf, _ in LEAVES if not isinstance(leaf, ZeroConcentrated)]
    for _ in range(repeats(3)):
        parts = [Repeated(leaf, random.choice((1, 2, 10, 200))) for leaf in random.sample(leaves, random.randint(1, 4))]
        spent = loss(Composed(tuple(parts)))
        values = {delta: spent.epsilon(delta) for delta in (F("1e-12"), F("1e-6"), F("0.2"), F("0.9"))}
        assert sorted(values.values(), reverse=True) == list(values.values())
        for delta in (F("1e-6"), F("0.2")):
            lower, upper = spent.interval(delta)
            assert lower * (1 - NEAR) <= values[delta] <= upper * (1 + NEAR), (parts, delta)
            assert max(loss(part).interval(delta)[0] for part in parts) <= upper, (parts, delta)
