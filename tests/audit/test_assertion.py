"""`assert_private` and the pytest plugin: what holds passes, what does not is told with its evidence."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit.assertion import assert_private
from discreet.audit.neighbours import tables
from discreet.privacy.adjacency import Adjacency
from tests.scale import repeats

pytest_plugins = ["pytester"]


def noisy_count(rows: list[int]) -> int:
    return len(rows) + int(dp.noise.discrete_laplace(1))


def noisy_mean(rows: list[int]) -> float:
    """Noise for a sum, of a mean: not private where rows are few; raises on no rows at all."""
    return sum(rows) / len(rows) + float(np.random.default_rng().normal()) * 0.01


def test_what_is_private_passes() -> None:
    for _ in range(repeats(2)):
        assert assert_private(dp.Geometric.for_epsilon(1), epsilon=1, samples=5_000) <= 1
        assert assert_private(noisy_count, epsilon=1, samples=2_000) <= 1


def test_what_is_not_private_fails_with_its_evidence() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_private(noisy_mean, epsilon=1, samples=2_000)
    text = str(failure.value)
    assert "not (1, 0)-differentially private" in text
    assert "one data set:  [" in text
    assert "its neighbour: [" in text
    assert "the event:     the " in text


def test_half_the_noise_is_noticed() -> None:
    with pytest.raises(AssertionError):
        assert_private(dp.Geometric.for_epsilon(2), epsilon=1, samples=50_000)


def test_a_mechanism_that_takes_neither_numbers_nor_rows_needs_neighbours() -> None:
    def counted(table: dict[str, int]) -> int:
        return table["n"]

    with pytest.raises(dp.Invalid, match="neighbours="):
        assert_private(counted)
    with pytest.raises(AssertionError):
        assert_private(counted, neighbours=[({"n": 1}, {"n": 2})], samples=1_000)


def test_relations_are_tried_as_they_are_said() -> None:
    """A mean of a public number of rows is private under replace, and not if a row may come and go."""

    def length(rows: list[int]) -> int:
        return len(rows)

    assert assert_private(length, relation="replace", samples=500) == 0
    with pytest.raises(AssertionError):
        assert_private(length, relation="add-remove", samples=500)
    with pytest.raises(dp.Invalid, match="relation must be"):
        assert_private(length, relation="swap")


@pytest.mark.parametrize("relation", Adjacency)
def test_tables_are_neighbours_each_once(relation: Adjacency) -> None:
    pairs = list(tables((0, 1, 2), 3, relation))
    assert len({repr(sorted(map(repr, pair))) for pair in pairs}) == len(pairs)
    for first, second in pairs:
        if relation is Adjacency.ADD_REMOVE:
            assert second[:-1] == first
        else:
            assert len(first) == len(second)
            assert sum(a != b for a, b in zip(first, second, strict=True)) == 1
    expected = sum(3**n * 3 for n in range(3)) if relation is Adjacency.ADD_REMOVE else sum(n * 3**n for n in (1, 2, 3))
    assert len(pairs) == expected


TESTS = """
import pytest, random

@pytest.mark.private(epsilon=1, samples=2000)
def test_sound():
    return lambda x: 7

@pytest.mark.private(epsilon=1, samples=2000)
def test_broken(request):
    return lambda x: x

@pytest.mark.private
def test_nothing():
    pass

def test_by_hand(assert_private):
    with pytest.raises(AssertionError):
        assert_private(lambda x: x, samples=500)

def test_other():
    assert True
"""


def test_marked_tests_are_audited(pytester: Any) -> None:
    pytester.makepyfile(TESTS)
    # The plugin is found by its entry point, as in any environment where the package is installed.
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        ["*not (1, 0)-differentially private*", "*one data set:*", "*the event:*", "*must return its mechanism*"]
    )


def test_the_plugin_loads_nothing_until_it_is_asked(tmp_path: Path) -> None:
    code = "import sys, discreet.audit.pytest_plugin; print(sorted(m for m in sys.modules if m.partition('.')[0] in ('discreet', 'numpy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["discreet", "discreet.audit", "discreet.audit.pytest_plugin", "discreet.lazy"])
