"""A promised (ε, δ) is the price where the event is proven to keep it, on both accountants; where it is not nothing is charged."""

from fractions import Fraction as F

import pytest

from discreet.curator.session import Curator
from discreet.errors import Invalid, Refused
from discreet.mechanisms import Geometric, RoundedGaussian, unmetered
from discreet.mechanisms.measure import Promise
from discreet.privacy import events, loss

EPSILON, DELTA = F(1), F(1, 10**6)
NOISE = RoundedGaussian.for_budget(EPSILON, DELTA, sensitivity=2)
EVENT = events.Repeated(NOISE.event(1), 4)  # four times a half of the distance: as Gaussian as once the whole
KEPT = Promise(EPSILON, DELTA)
BROKEN = (
    Promise(EPSILON * F(99, 100), DELTA),
    Promise(EPSILON, DELTA * F(9, 10)),
    Promise(F(0), DELTA),
    Promise(EPSILON, F(0)),
)


def curator(accountant: str, **more: object) -> Curator:
    data = {"visits": {"person": ["p", "q"]}}
    return Curator(data, "person", epsilon=2, delta=F(1, 10**5), accountant=accountant, ledger=":memory:", **more)  # type: ignore[arg-type]


def test_the_example_is_sharp() -> None:
    assert loss(EVENT).certifies(*KEPT) and not any(loss(EVENT).certifies(*each) for each in BROKEN)


def what_is_kept_is_the_price() -> None:
    with curator("pure") as hospital:
        with hospital.measure(EVENT, promise=KEPT) as grant:
            for _ in range(4):
                grant(NOISE, 1, lambda: 5)
        spent = hospital.spent
        assert (spent.epsilon, spent.delta) == (EPSILON, DELTA)
    with curator("pure") as hospital:  # of itself it is priced at the δ that is usual
        with hospital.measure(EVENT):
            pass
        assert hospital.spent.epsilon > EPSILON and hospital.spent.delta == F(1, 10**8)


def test_what_is_kept_is_the_price() -> None:
    what_is_kept_is_the_price()


def rho_is_charged_whatever_is_promised() -> None:
    spent = []
    for promise in (None, KEPT):
        with curator("zcdp") as hospital:
            with hospital.measure(EVENT, promise=promise):
                pass
            spent.append((hospital.spent.epsilon, hospital.spent.delta, hospital.remaining.epsilon))
    assert spent[0] == spent[1]


def test_an_accountant_of_rho_charges_the_rho_of_the_event() -> None:
    rho_is_charged_whatever_is_promised()


def what_is_not_kept_is_refused() -> None:
    """Before a charge, with a curator of either kind and without one."""
    for accountant in ("pure", "zcdp"):
        with curator(accountant) as hospital:
            for promise in BROKEN:
                with pytest.raises(Invalid) as error, hospital.measure(EVENT, promise=promise):
                    pass
                assert error.value.code == "promise"
            assert hospital.spent.epsilon == 0 and len(hospital.history()) == 1  # it was made, and no more
    for promise in BROKEN:
        measure = unmetered()
        with pytest.raises(Invalid) as error, measure(EVENT, promise=promise):
            pass
        assert error.value.code == "promise" and measure.spent.pure_epsilon() == 0


def test_what_is_not_kept_is_refused_before_a_charge() -> None:
    what_is_not_kept_is_refused()


def test_without_a_curator_what_is_kept_is_granted() -> None:
    measure = unmetered()
    with measure(EVENT, promise=KEPT) as grant:
        assert isinstance(grant(NOISE, 1, lambda: 5), int)
    assert measure.spent.terms == loss(EVENT).terms


def test_a_promise_does_not_lend_more_draws() -> None:
    with curator("pure") as hospital, hospital.measure(EVENT, promise=Promise(F(2), DELTA)) as grant:
        for _ in range(4):
            grant(NOISE, 1, lambda: 5)
        with pytest.raises(Exception, match="beyond what was granted"):
            grant(NOISE, 1, lambda: 5)


def test_a_promise_of_a_replaced_unit_is_of_the_same_event() -> None:
    """The event is told under whom the ledger protects, and keeps what it keeps."""
    with curator("pure", adjacency="replace") as hospital:
        with hospital.measure(EVENT, promise=KEPT):
            pass
        assert hospital.spent.epsilon == EPSILON


def test_pure_noise_keeps_its_epsilon_without_a_delta() -> None:
    noise = Geometric(4)
    with curator("pure") as hospital:
        with hospital.measure(noise.event(1), promise=Promise(F(1, 4), F(0))):
            pass
        assert hospital.spent.epsilon == F(1, 4)
        with pytest.raises(Invalid), hospital.measure(noise.event(1), promise=Promise(F(24, 100), F(0))):
            pass


def test_a_promise_beyond_the_budget_is_refused() -> None:
    with curator("pure") as hospital:
        with pytest.raises(Refused), hospital.measure(EVENT, promise=Promise(F(3), DELTA)):
            pass
        assert hospital.spent.epsilon == 0
