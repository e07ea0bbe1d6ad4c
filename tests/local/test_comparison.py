"""Local against central: both errors are those of the exact laws, at the same ε, and their ratio grows like √n."""

import re
from fractions import Fraction as F
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.local import LocalComparison, compare

CASES = [(k, epsilon) for k in (2, 3, 4) for epsilon in (F(1, 2), F(1), F(3))]


def enumerated(comparison: LocalComparison) -> F:
    """The variance of a share, on average over cells, where each cell has as many people: from all reports of the channel."""
    protocol, n = comparison.local.protocol, comparison.local.people
    backs = [protocol.support(protocol.accumulate(np.array([each])), 1).tolist() for each in protocol.outcomes()]
    rows = protocol.channel()
    told = [[sum(c * back[x] for c, back in zip(row, backs, strict=True)) for x in range(protocol.k)] for row in rows]
    spread = sum(each * (1 - each) for row in told for each in row) / F(protocol.k**2)
    return spread / (n * (told[0][0] - told[0][1]) ** 2)


def test_local_errors_are_those_of_the_channel() -> None:
    for k, epsilon in CASES:
        found = compare(12 * 10**4, k, epsilon)
        assert found.local.protocol.k == k and found.local.protocol.epsilon == epsilon
        assert found.local_error == pytest.approx(sqrt(enumerated(found)), rel=1e-12)


def central_errors_are_those_of_the_geometric_law() -> None:
    for k, epsilon in CASES:
        for n in (10, 1000):
            rate = float(epsilon) / (1 if k == 2 else 2)
            weights = {z: exp(-rate * abs(z)) for z in range(-400, 401)}  # beyond them there is less than e^-100
            second = sum(z * z * weight for z, weight in weights.items()) / sum(weights.values())
            assert compare(n, k, epsilon).central_error == pytest.approx(sqrt(second) / n, rel=1e-9)


def test_central_errors_are_those_of_the_geometric_law() -> None:
    central_errors_are_those_of_the_geometric_law()


def both_have_the_same_loss() -> None:
    """The most that any answer tells of two neighbours, by enumeration: of reports locally, of noisy counts centrally."""
    for k, epsilon in CASES:
        found = compare(100, k, epsilon)
        channel = found.local.protocol.channel()
        local = max(log(a / b) for one in channel for other in channel for a, b in zip(one, other, strict=True))
        before, after = ((1,), (0,)) if k == 2 else ((1, 0), (0, 1))
        chance = found.central.probability
        central = max(
            sum(log(chance(z, a) / chance(z, b)) for z, a, b in zip(noisy, before, after, strict=True))
            for noisy in product(range(-4, 6), repeat=len(before))
        )
        assert local == pytest.approx(float(epsilon), abs=1e-9)
        assert central == pytest.approx(float(epsilon), abs=1e-9)


def test_both_have_the_same_loss() -> None:
    both_have_the_same_loss()


def the_price_grows_like_the_root_of_n() -> None:
    for k, epsilon in ((2, F(1)), (1000, F(1)), (1000, F(1, 10)), (50, F(4))):
        prices = [compare(10**power, k, epsilon).ratio for power in (4, 6, 8)]
        assert prices[1] / prices[0] == pytest.approx(10) and prices[2] / prices[1] == pytest.approx(10)


def test_the_price_grows_like_the_root_of_n() -> None:
    the_price_grows_like_the_root_of_n()


def test_it_is_said_in_words() -> None:
    assert str(compare(10**6, 1000, 1)) == (
        "1,000,000 people, 1,000 cells, ε = 1: the standard error of a share is 0.19 % where each person randomises their answer (hashing),"
        " and 0.00028 % with a trusted curator; not to trust costs 687 times the error"
    )
    assert "1 person, " in str(compare(1, 2, 1)) and "costs 0.71 times" in str(compare(1, 2, 1))


def test_arguments_that_cannot_be_are_refused() -> None:
    for n, domain, epsilon in ((0, 2, 1), (10**101, 2, 1), (10, 1, 1), (10, 2, 0), (10, 2, 21)):
        with pytest.raises(Invalid):
            compare(n, domain, epsilon)


def the_picture_has_both_errors() -> None:
    """Locally errors fall half as steeply as centrally, and dots lie on the lines."""
    picture = compare(10**6, 1000, 1).to_svg()
    local, central = (
        [tuple(map(float, point.split(","))) for point in line.split()]
        for line in re.findall('points="([^"]*)"', picture)
    )
    assert len(local) == len(central) == 7 and local[0][0] == central[0][0] < local[-1][0]
    falls = [line[-1][1] - line[0][1] for line in (local, central)]
    assert falls[0] > 0 and falls[1] == pytest.approx(2 * falls[0], rel=0.01)
    dots = [tuple(map(float, dot)) for dot in re.findall('cx="([^"]*)" cy="([^"]*)"', picture)]
    assert dots == [local[3], central[3]]
    assert "0.19 %" in picture and "0.00028 %" in picture and picture.startswith("<svg ")


def test_the_picture_has_both_errors() -> None:
    the_picture_has_both_errors()


@pytest.mark.parametrize(("n", "k"), [(1, 2), (10**12, 3), (1000, 1 << 20)])
def test_there_is_a_picture_for_any_number_of_people(n: int, k: int) -> None:
    assert compare(n, k, F(1, 10)).to_svg().count("<circle") == 2
