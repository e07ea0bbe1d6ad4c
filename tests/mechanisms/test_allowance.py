"""Laws of what is left of a grant: ρ and ε are drawn in parts of any size, chosen as one goes, and never beyond what was granted."""

from fractions import Fraction as F
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.curator.session import Curator
from discreet.errors import Fault
from discreet.mechanisms import Exponential, Geometric, RoundedGaussian, unmetered
from discreet.mechanisms.allowance import Allowance
from discreet.mechanisms.concentrated import ConcentratedExponential
from discreet.mechanisms.measure import Measure
from discreet.privacy import events, loss
from discreet.privacy.theorems import zcdp_rho

RHO = F(1, 50)
PARTS: list[events.Event] = [
    RoundedGaussian(F(20)).event(1),
    RoundedGaussian(F(9)).event(F(1, 3)),
    ConcentratedExponential(F(1, 10)).event(),
    Exponential(F(1, 20)).event(),
    Geometric(F(30)).event(1),
    events.ZeroConcentrated(F(1, 3000)),
]


def price(event: events.Event) -> F:
    """The ρ of an event, by closed theorems: Δ²/2σ² of Gaussians, ε²/2 of what is purely private, or what it says; rounded up a little."""
    return F(loss(event).zcdp())


@settings(max_examples=60)
@given(st.lists(st.integers(0, len(PARTS) - 1), min_size=1, max_size=60))
def test_parts_of_any_kind_add_up_to_what_was_granted(places: list[int]) -> None:
    parts_add_up(places)


def parts_add_up(places: list[int] | None = None) -> None:
    """What is taken is never more than the grant, and what is not covered would have been more."""
    left, spent = Allowance(events.ZeroConcentrated(RHO)), F(0)
    for place in places or [0, 2, 0, 3, 1, 4, 5] * 8:
        event = PARTS[place]
        if left.covers(event):
            left.take(event)
            spent += price(event)
            assert spent <= RHO * (1 + F(1, 10**9))
        else:
            assert spent + price(event) > RHO * (1 - F(1, 10**6))
            with pytest.raises(Fault, match="beyond"):
                left.take(event)


def test_parts_add_up() -> None:
    parts_add_up()


def what_was_refused_takes_nothing() -> None:
    left = Allowance(events.ZeroConcentrated(RHO))
    with pytest.raises(Fault):
        left.take(events.ZeroConcentrated(RHO * 2))
    with pytest.raises(Fault):
        left.take(events.Composed((events.ZeroConcentrated(RHO / 2), events.ZeroConcentrated(RHO))))
    left.take(events.ZeroConcentrated(RHO))
    with pytest.raises(Fault):
        left.take(events.ZeroConcentrated(F(1, 10**12)))


def test_what_was_refused_takes_nothing() -> None:
    what_was_refused_takes_nothing()


def repeated_leaves_cost_each() -> None:
    left = Allowance(events.ZeroConcentrated(RHO))
    left.take(events.Repeated(events.ZeroConcentrated(RHO / 4), 3))
    assert left.covers(events.ZeroConcentrated(RHO / 4))
    assert not left.covers(events.Repeated(events.ZeroConcentrated(RHO / 4), 2))
    granted = Allowance(events.Repeated(events.ZeroConcentrated(RHO), 3))
    granted.take(events.ZeroConcentrated(3 * RHO))
    assert not granted.covers(events.ZeroConcentrated(RHO / 100))


def test_repeated_leaves_cost_each() -> None:
    repeated_leaves_cost_each()


def pools_do_not_lend_to_one_another() -> None:
    """Of ε and ρ beside one another pure draws take ε first, and what is not pure takes none of it."""
    left = Allowance(events.Composed((events.Pure(1), events.ZeroConcentrated(RHO))))
    noise = RoundedGaussian(F(5)).event(1)
    assert price(noise) <= RHO * (1 + F(1, 10**6)) and not left.covers(events.ZeroConcentrated(RHO + F(1, 10**6)))
    left.take(events.Pure(1))
    assert left.covers(events.ZeroConcentrated(RHO)) and not left.covers(events.Pure(1))
    left.take(events.ZeroConcentrated(RHO))
    assert not left.covers(events.Pure(F(1, 10**6)))
    only = Allowance(events.Pure(1))
    assert not only.covers(events.ZeroConcentrated(F(1, 10**6))) and not only.covers(noise)


def test_pools_do_not_lend_to_one_another() -> None:
    pools_do_not_lend_to_one_another()


def what_needs_a_delta_or_was_sampled_is_not_drawn_of_rho() -> None:
    left = Allowance(events.ZeroConcentrated(F(10)))
    assert not left.covers(events.Approximate(F(1, 10), F(1, 10**6)))
    assert not left.covers(events.Sampled(F(1, 100), RoundedGaussian(F(20)).event(1)))
    assert left.covers(RoundedGaussian(F(20)).event(1))


def test_what_needs_a_delta_or_was_sampled_is_not_drawn_of_rho() -> None:
    what_needs_a_delta_or_was_sampled_is_not_drawn_of_rho()


def adaptive(measure: Measure) -> None:
    """The next part depends on what was released; whatever it is, the sum of parts is within the grant, and more is a Fault."""
    rho = zcdp_rho(F(1, 2), F(1, 10**6))
    with measure(events.ZeroConcentrated(rho), key="k") as grant:
        left = rho
        for _ in range(6):
            share = left / 3
            noise = RoundedGaussian(F(10**6, 10**6 - 1) / F(float(2 * share) ** 0.5))
            value = grant(noise, 1, lambda: 42)
            left -= F(loss(noise.event(1)).zcdp())
            kind = ConcentratedExponential.for_rho(left / (4 if value > 42 else 8))
            grant(kind, 1, lambda: [1, 2, 3])
            left -= kind.event().rho
        with pytest.raises(Fault, match="beyond"):
            grant(ConcentratedExponential.for_rho(2 * left), 1, lambda: [1, 2, 3])
        grant(ConcentratedExponential.for_rho(left * F(99, 100)), 1, lambda: [1, 2, 3])


def adaptive_parts_are_held_to_the_grant() -> None:
    adaptive(unmetered())
    with TemporaryDirectory() as folder:
        people = {"visits": {"patient": ["p1"]}}
        budget = {"epsilon": 1, "delta": 1e-5}
        with Curator(people, "patient", ledger=Path(folder) / "ledger", accountant="zcdp", **budget) as found:
            adaptive(found.measure)


def test_adaptive_parts_are_held_to_the_grant() -> None:
    adaptive_parts_are_held_to_the_grant()


def alike_draws_are_told_from_others() -> None:
    """The very same draw again and again is covered as often as was granted, and the same noise for more is another draw."""
    noise, event = RoundedGaussian(F(20)), RoundedGaussian(F(20)).event(1)
    left = Allowance(events.Repeated(event, 3))  # type: ignore[arg-type]
    for _ in range(3):
        assert left.covers(event)
        left.take(event)
    assert not left.covers(event)
    with pytest.raises(Fault, match="beyond"):
        left.take(event)
    three, two = 3, 2
    with unmetered()(events.Repeated(noise.event(two), 4)) as grant:  # type: ignore[arg-type]
        for _ in range(2):
            grant(noise, two, lambda: 1)
            with pytest.raises(Fault, match="beyond"):
                grant(noise, three, lambda: 1)
            with pytest.raises(Fault, match="beyond"):
                grant.sampled(noise, three, lambda _: 1, rate=F(1, 2), among=1)


def test_alike_draws_are_told_from_others() -> None:
    alike_draws_are_told_from_others()
