"""Liars: whoever exchanges some of few reports for any others moves an estimate as far as is said, and no farther."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.local import (
    AttributeEstimates,
    DistributionEstimate,
    FrequencyEstimates,
    HeavyHitters,
    MeanEstimate,
    PrefixResponse,
    Words,
)
from discreet.local.estimates import projected
from discreet.local.estimation import estimates
from discreet.local.examples import LocalExample, examples
from discreet.local.number_protocol import NumberProtocol
from tests.scale import SCALE

PEOPLE = 3
OUTCOMES = 12 if SCALE == 1 else 30  # of which crowds are made


def outcomes(protocol: Any) -> list[NDArray[np.int64]]:
    """The totals of each report by itself, of those that differ."""
    codes = range(protocol.codes) if isinstance(protocol, NumberProtocol) else protocol.outcomes()
    each = [protocol.accumulate(np.array([code])) for code in codes]
    return list({totals.tobytes(): totals for totals in each}.values())


def values_of(found: Any, example: LocalExample) -> list[float]:
    """All unbiased estimates; NaN where there are none yet."""
    match found:
        case FrequencyEstimates() | DistributionEstimate():
            return found.values.tolist()
        case MeanEstimate():
            return [found.value]
        case AttributeEstimates():
            domain: Any = example.domain
            rows = (
                found.by_name[each.name].values if each.name in found.by_name else np.full(each.answers.k, np.nan)
                for each in domain.attributes
            )
            return [value for row in rows for value in row]
        case HeavyHitters():
            assert isinstance(example.domain, Words)
            sizes = range(example.domain.shortest, example.domain.length + 1)
            words = ["".join(each) for size in sizes for each in product(example.domain.alphabet, repeat=size)]
            return [each.value for each in found.shares(words)]
    raise NotImplementedError(f"say here what {found} estimates")


def crowds(example: LocalExample) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], list[float]]]:
    """Every choice of so many reports: how often each was chosen, the totals, and what they say."""
    told = outcomes(example.protocol)[:OUTCOMES]
    for places in combinations_with_replacement(range(len(told)), PEOPLE):
        counts = np.bincount(places, minlength=len(told))
        totals = np.sum([told[place] for place in places], axis=0)
        try:
            found = estimates(example.protocol, example.domain, totals, PEOPLE)
        except Invalid:  # nobody reported on some level of words
            assert isinstance(example.protocol, PrefixResponse)
            continue
        yield counts, totals, values_of(found, example)


def liars_move_any_estimate_so_far_and_no_farther(names: str = "") -> None:
    """Of every registered protocol, any number of liars, whatever all others say; and some get as far as is said."""
    for example in (each for each in examples() if each.name.startswith(names)):
        rows = list(crowds(example))
        counts, values = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
        farthest = 0.0
        for mine, totals, said in rows:
            changed = PEOPLE - np.minimum(counts, mine).sum(axis=1)
            moves = np.nan_to_num(abs(values - np.array(said))).max(axis=1)
            for liars in range(1, PEOPLE + 1):
                most = float(example.protocol.influence(liars, totals, PEOPLE))
                move = moves[changed <= liars].max()
                assert move <= most * (1 + 1e-9), (example.name, liars)
                farthest = max(farthest, move / most)
            assert example.protocol.influence(0, totals, PEOPLE) == 0
        assert farthest == pytest.approx(1), example.name


def test_liars_move_any_estimate_so_far_and_no_farther() -> None:
    liars_move_any_estimate_so_far_and_no_farther()


def consistent_shares_move_twice_as_far_at_most() -> None:
    """A change of all shares by d moves what is subtracted from all of them by d, and each by d."""
    draw, farthest = np.random.default_rng(7), 0.0
    for size in (2, 3, 10, 200):
        for _ in range(50):
            shares = draw.dirichlet(np.ones(size)) + draw.normal(0, 0.3 / size, size)
            step = draw.choice([-1.0, 1.0], size) * draw.choice([1e-3, 1e-5])
            if draw.random() < 0.5:
                step = np.where(np.arange(size) == 0, -1e-5, 1e-5)  # one falls, and all others rise
            move = abs(projected(shares + step) - projected(shares)).max()
            assert move <= 2 * abs(step).max() * (1 + 1e-9)
            farthest = max(farthest, move / abs(step).max())
    assert farthest > 1.8


def test_consistent_shares_move_twice_as_far_at_most() -> None:
    consistent_shares_move_twice_as_far_at_most()
