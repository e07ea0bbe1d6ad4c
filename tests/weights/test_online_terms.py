"""Terms of sessions: what is drawn costs what is asked and hardly less, and a test notices what it promises and little else."""

from dataclasses import replace
from fractions import Fraction as F
from math import log

import numpy as np
import pytest

from discreet.mechanisms import RoundedGaussian
from discreet.noise import Tape
from discreet.privacy import Adjacency, Relation, events, loss
from discreet.weights.online_terms import (
    OnlineAsked,
    WeightsTerms,
    direct_terms,
    histogram_terms,
    noticing,
    updates_for,
    weights_terms,
)
from tests.scale import repeats

RELATIONS = tuple(Relation(each) for each in Adjacency)
ASKED = OnlineAsked((4, 4, 4, 4), RELATIONS[0], F(1), F(1, 10**7), 400.0, 10_000, None, True)
KINDS = {
    "usual": ASKED,
    "replaced": replace(ASKED, relation=RELATIONS[1]),
    "no start": replace(ASKED, start=False),
    "no tests": replace(ASKED, updates=0),
    "nothing": replace(ASKED, updates=0, start=False),
    "many": replace(ASKED, error=20_000.0),
    "dear": replace(ASKED, epsilon=F(8), delta=F(1, 10**3), error=30.0),
}


def leaves(event: events.Event) -> list[tuple[events.Leaf, int]]:
    return list(loss(event).terms)


def what_is_drawn_costs_what_is_asked() -> None:
    """Certified by the composition of each draw as it will be made; with a thousandth less noise it is not."""
    for asked in KINDS.values():
        for terms in (direct_terms(asked), histogram_terms(asked), weights_terms(asked)):
            assert terms is not None
            assert loss(terms.event).certifies(asked.epsilon, asked.delta)
            assert loss(terms.event).epsilon(asked.delta) > 0.998 * asked.epsilon


def test_what_is_drawn_costs_what_is_asked() -> None:
    what_is_drawn_costs_what_is_asked()


def the_event_is_that_of_every_draw() -> None:
    """Composed anew of the mechanisms, one by one: a size, each marginal, and for each update a test and a measurement."""
    for name, asked in KINDS.items():
        terms = weights_terms(asked)
        assert isinstance(terms, WeightsTerms)
        moved = 2 if asked.relation.adjacency is Adjacency.REPLACE else 1
        assert moved <= terms.moved**2 < moved + 1e-9
        parts = [terms.size.event(1), *(terms.marginal.event(terms.moved) for _ in terms.marginals)]
        for _ in range(terms.updates):
            assert terms.test is not None
            parts += [events.Pure(terms.test.epsilon), terms.fresh.event(1)]
        composed = loss(events.Composed(tuple(parts)))
        assert sorted(map(repr, composed.terms)) == sorted(map(repr, leaves(terms.event))), name
        assert bool(terms.marginals) == asked.start
        assert (terms.test is None) == (asked.updates == 0)


def test_the_event_is_that_of_every_draw() -> None:
    the_event_is_that_of_every_draw()


def tests_are_as_dear_as_their_promise_asks_for() -> None:
    """The threshold is not below (4/ε₀)(ln(Q/2T) + ln 20), and with the noise of a test it stays within the error."""
    for error in (20, 400, 10_000):
        for queries in (1, 10, 10**5):
            for updates in (1, 3, 24):
                test = noticing(error, queries, updates)
                least = 4 / test.epsilon * (max(0, log(queries / 2 / updates)) + log(20))
                assert test.hits == updates and test.sensitivity == 1
                assert least <= test.threshold < least + 1
                assert test.threshold + test.error(F(9, 10)) <= error
                assert test.threshold >= 0.5 * error


def test_tests_are_as_dear_as_their_promise_asks_for() -> None:
    tests_are_as_dear_as_their_promise_asks_for()


def test_little_else_is_noticed_and_what_is_promised_is() -> None:
    """Of Q questions without an error fewer than T/10 hit in the mean; of errors as large as promised 95 % do.

    α = 1e-6 each, by Poisson's law with mean T/10 and by the binomial law; ln 20 left out would give about T false hits.
    """
    queries, updates, runs = 20_000, 10, repeats(3)
    test = noticing(400, queries, updates)
    bits = Tape(9)
    false = sum(int(test(np.zeros(queries, np.int64), bits).sum()) for _ in range(runs))
    assert false <= runs * updates / 10 + 6 * (runs * updates / 10) ** 0.5 + 6
    once, tries = replace(test, hits=1), repeats(400)
    seen = sum(bool(once([400], bits)[0]) for _ in range(tries))
    assert seen >= 0.95 * tries - 5 * (0.0475 * tries) ** 0.5


def updates_are_as_many_as_are_paid_for() -> None:
    """A third of ε, and where that pays for none up to a half; as many as asked up to a half."""
    few = updates_for(ASKED)
    assert few is not None
    assert few * noticing(400, 10_000, few).epsilon <= F(1, 3) * F(101, 100)
    assert (few + 1) * noticing(400, 10_000, few + 1).epsilon > F(1, 3)
    assert updates_for(replace(ASKED, error=120.0)) == 1
    assert updates_for(replace(ASKED, error=90.0)) is None and weights_terms(replace(ASKED, error=90.0)) is None
    assert updates_for(replace(ASKED, error=90.0, updates=0)) == 0
    assert updates_for(replace(ASKED, updates=50)) is None
    assert updates_for(replace(ASKED, error=1e6)) == 24
    assert updates_for(replace(ASKED, error=1e6, queries=3)) == 3


def test_updates_are_as_many_as_are_paid_for() -> None:
    updates_are_as_many_as_are_paid_for()


@pytest.mark.parametrize("asked", KINDS.values(), ids=KINDS)
def test_a_fresh_measurement_keeps_the_error(asked: OnlineAsked) -> None:
    terms = weights_terms(asked)
    assert terms is not None and (not terms.updates or terms.fresh.error() <= asked.error)
    assert isinstance(terms.size, RoundedGaussian)
