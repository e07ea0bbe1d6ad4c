"""Laws of choosing pairs: what noise alone shows is nothing, what depends is chosen, what follows from that is not, and limits hold."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from discreet.weights import Factored, NoisyMarginal
from discreet.weights.estimation import estimated
from discreet.weights.factors import summed
from discreet.weights.junction import junction_tree
from discreet.weights.model import Floats
from discreet.weights.pairs import SURE, Chooser, anything_shows, evidence
from discreet.weights.propagation import Cliques
from tests.scale import repeats
from tests.weights.test_graphical import domain_of

SHAPE = (3, 3, 3, 3)
EVERY = tuple(range(4))
PAIRS = tuple(combinations(EVERY, 2))
UNITS = 30_000.0


def chain(strength: float) -> Floats:
    """Counts of a chain 0 – 1 – 2, and an attribute that nothing depends on."""
    step = (1 - strength) / 3 + strength * np.eye(3)
    return np.einsum("a,ab,bc,d->abcd", np.full(3, UNITS / 3), step, step, np.array([0.5, 0.3, 0.2]))


def looks_at(counts: Floats, deviation: float, seed: int = 0) -> list[NoisyMarginal]:
    rng = np.random.default_rng(seed)
    exact = {pair: summed(counts, EVERY, pair) for pair in PAIRS}
    return [NoisyMarginal(pair, each + rng.normal(0, deviation, each.shape), deviation) for pair, each in exact.items()]


def chooser(counts: Floats, deviation: float, *, most_cells: int = 10**6, rounds: int | None = None) -> Chooser:
    """Pairs are chosen by looks of this deviation, and would be measured with a third of it."""
    looks, exact = looks_at(counts, deviation), looks_at(counts, 1.0)
    alone = [NoisyMarginal((axis,), summed(counts, EVERY, (axis,)), 1.0) for axis in EVERY]

    def fitted(pairs: Sequence[tuple[int, ...]]) -> Factored:
        tree = junction_tree(pairs, SHAPE)
        inside = [each for each in exact if tree.home(each.axes) is not None]
        fit = estimated(Cliques(tree, SHAPE), [*alone, *inside], UNITS)
        return Factored(domain_of(SHAPE), UNITS, fit.shares)

    return Chooser(looks, SHAPE, most_cells, (), fitted, lambda chosen, pair: deviation / 3, rounds)


def noise_shows_nothing(samples: int = 400) -> None:
    """Of a true model the gain has mean 0 and the deviation that is said: 400 looks, both within 6 of their own deviations."""
    rng = np.random.default_rng(5)
    expected = rng.uniform(50, 500, (6, 6))
    found = [
        evidence(NoisyMarginal((0, 1), expected + rng.normal(0, 80, (6, 6)), 80.0), expected, 40.0)
        for _ in range(samples)
    ]
    sureness = np.array([each.sureness for each in found])
    assert abs(sureness.mean()) < 6 / sqrt(samples)
    assert abs(sureness.std() - 1) < 6 / sqrt(2 * samples)


def test_noise_shows_nothing() -> None:
    noise_shows_nothing(repeats(400))


def evidence_is_counted_where_fits_follow() -> None:
    """Cells far below the deviation of a measurement count for little, and what a measurement leaves is its noise on the others."""
    expected = np.array([[10_000.0, 0.0], [0.0, 10_000.0]])
    seen = NoisyMarginal((0, 1), expected + 50, 1.0)
    found = evidence(seen, expected, 1.0)
    assert abs(found.gain - 98.4) < 0.1 and abs(found.left - 2 * sqrt(2 / np.pi)) < 0.01
    assert evidence(seen, np.zeros((2, 2)), 1.0).sureness == 0.0


def test_evidence_is_counted_where_fits_follow() -> None:
    evidence_is_counted_where_fits_follow()


def what_follows_is_not_chosen() -> None:
    """Of a chain both links are chosen, the stronger evidence first, and nothing else."""
    found = chooser(chain(0.6), 30.0).choice()
    assert set(found) == {(0, 1), (1, 2)}
    assert all(gain > 0.2 * UNITS for gain in found.values())


def test_what_follows_is_not_chosen() -> None:
    what_follows_is_not_chosen()


def strangers_are_not_chosen() -> None:
    """Of attributes that have nothing to do with one another no pair is chosen, though noise makes them look so."""
    for deviation in (30.0, 300.0, 3000.0):
        assert not chooser(chain(0.0), deviation).choice()


def test_strangers_are_not_chosen() -> None:
    strangers_are_not_chosen()


def pairs_below_their_noise_are_not_chosen() -> None:
    """What is surely there, and less than half of the noise that its measurement would leave, is left out: a little in many cells."""
    expected = np.full((20, 20), 1e6)
    seen = NoisyMarginal((0, 1), expected + 100 * (sqrt(2 / np.pi) + 0.1), 100.0)
    found = evidence(seen, expected, 100.0)
    assert found.sureness > SURE and found.surplus < 0
    assert evidence(seen, expected, 10.0).surplus > 0


def test_pairs_below_their_noise_are_not_chosen() -> None:
    pairs_below_their_noise_are_not_chosen()


def limits_hold() -> None:
    """No more pairs than rounds, and no more cells than are allowed."""
    assert len(chooser(chain(0.6), 30.0, rounds=1).choice()) == 1
    assert not chooser(chain(0.6), 30.0, rounds=0).choice()
    for most, pairs in ((12, 0), (14, 0), (15, 1), (21, 2)):
        found = chooser(chain(0.6), 30.0, most_cells=most).choice()
        assert len(found) == pairs and junction_tree(found, SHAPE).cells(SHAPE) <= most


def test_limits_hold() -> None:
    limits_hold()


def a_second_look_is_for_what_shows() -> None:
    """One strong pair is enough, or a little in all of them; of strangers nothing shows in nine of ten tables."""
    alone = junction_tree((), SHAPE)
    model = chooser(chain(0.0), 30.0).fitted(())
    assert len(alone.cliques) == 4
    assert anything_shows(looks_at(chain(0.6), 300.0), model)
    assert anything_shows(looks_at(chain(0.6), 300.0)[:1], model)
    assert not anything_shows([], model)
    shown = [anything_shows(looks_at(chain(0.0), 300.0, seed), model) for seed in range(50)]
    assert sum(shown) < 20


def test_a_second_look_is_for_what_shows() -> None:
    a_second_look_is_for_what_shows()


@pytest.mark.parametrize("strength", [0.6])
def test_pairs_chosen_at_once_share_nothing(strength: float) -> None:
    step = (1 - strength) / 3 + strength * np.eye(3)
    counts = np.einsum("ab,cd->abcd", step, step) * UNITS / 9
    picker = chooser(counts, 30.0)
    assert set(picker._next()) == {(0, 1), (2, 3)}
    assert SURE > 2
