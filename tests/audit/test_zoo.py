"""The bug zoo: what is broken is caught, what is sound is not accused, and what is said of each specimen is true."""

from collections import Counter
from dataclasses import replace
from math import inf, isfinite, log, sqrt

import numpy as np
import pytest

from discreet.audit import zoo
from discreet.audit.zoo.specimen import EXACT, METHODS, SAMPLING, TWINS, Specimen
from discreet.audit.zoo.trial import benchmark, exact_epsilon, sampled, told
from discreet.errors import Invalid
from discreet.mechanisms import registry
from tests.scale import repeats

SIZES = (10_000, 100_000, 100_000)
BROKEN = [pytest.param(each, id=each.name) for each in zoo.BROKEN]
SOUND = [pytest.param(each, id=each.name) for each in zoo.SOUND]


def found(specimen: Specimen, method: str) -> bool:
    """Whether a method tells, with more outputs where few do not."""
    return any(told(specimen, method, size) for size in (SIZES if method == SAMPLING else SIZES[:1]))


@pytest.mark.parametrize("specimen", BROKEN)
def test_what_is_broken_is_told_by_each_method_that_is_said_to(specimen: Specimen) -> None:
    assert specimen.detected_by
    assert [method for method in specimen.detected_by if not found(specimen, method)] == []


def test_of_forty_broken_ones_thirty_eight_are_caught_by_any_method() -> None:
    caught = sum(any(found(each, method) for method in each.methods) for each in zoo.BROKEN)
    assert caught * 40 >= 38 * len(zoo.BROKEN)


@pytest.mark.parametrize("specimen", SOUND)
def test_what_is_sound_is_never_accused(specimen: Specimen) -> None:
    for method in specimen.methods:
        for _ in range(repeats(1) if method == SAMPLING else 1):
            assert not told(specimen, method, 10_000), method


@pytest.mark.parametrize("specimen", [*BROKEN, *SOUND])
def test_no_bound_is_above_what_is_true(specimen: Specimen) -> None:
    if specimen.truth is None:
        return
    for _ in range(repeats(1)):
        assert sampled(specimen, 10_000) <= specimen.truth
    if specimen.law is not None and not specimen.delta:
        assert exact_epsilon(specimen) <= specimen.truth + 1e-9


@pytest.mark.parametrize("specimen", [*BROKEN, *SOUND])
def test_every_specimen_tells_its_story(specimen: Specimen) -> None:
    assert specimen.story.endswith(".") and specimen.source and specimen.neighbours
    assert set(specimen.detected_by) <= set(METHODS)
    assert specimen.epsilon > 0 and isfinite(specimen.epsilon) and 0 <= specimen.delta < 1


def test_the_zoo_has_enough_of_both() -> None:
    names = Counter(each.name for each in (*zoo.BROKEN, *zoo.SOUND))
    assert len(zoo.BROKEN) >= 45 and len(zoo.SOUND) >= 15
    assert names.most_common(1)[0][1] == 1
    assert sum(TWINS in each.detected_by for each in zoo.BROKEN) >= 25
    assert sum(EXACT in each.detected_by for each in zoo.BROKEN) >= 6


def test_every_sound_one_mends_a_broken_one_and_keeps_its_claim() -> None:
    broken = {each.name for each in zoo.BROKEN}
    assert all(not each.mends for each in zoo.BROKEN)
    for each in zoo.SOUND:
        assert each.mends in broken
        assert each.truth is not None and each.truth <= each.epsilon + 1e-9


def test_no_broken_one_keeps_its_claim() -> None:
    assert [each.name for each in zoo.BROKEN if each.truth is not None and each.truth <= each.epsilon] == []


def test_nothing_of_the_zoo_is_a_mechanism_of_the_package() -> None:
    assert {each.name for each in (*zoo.BROKEN, *zoo.SOUND)}.isdisjoint(registry.names())


@pytest.mark.parametrize("name", ["signed-response", "eager-response", "priced-signed-response", "random-row"])
def test_laws_are_those_of_the_outputs(name: str) -> None:
    specimen, count = zoo.find(name), repeats(20_000)
    for data in specimen.neighbours[0]:
        assert specimen.law is not None
        counts = Counter(np.asarray(specimen.mechanism(data, count)).tolist())
        law = specimen.law(data)
        assert sum(law.values()) == pytest.approx(1)
        room = sqrt(log(2e6 * len(law)) / (2 * count))
        assert all(abs(counts[output] / count - chance) <= room for output, chance in law.items())


def noisy(epsilon: float) -> Specimen:
    """The right noise for ε = 1, at any claim."""
    return replace(zoo.find("whole-scale"), name=f"noise at {epsilon:g}", epsilon=epsilon)


def tossed(epsilon: float, *, delta: float = 0.0, rare: float = 0.25) -> Specimen:
    """A response with a law that is claimed to be (ε, δ)."""
    law = {0: {"no": 1.0}, 1: {"no": 1 - rare, "yes": rare}}
    return Specimen(
        "a toss", "A toss.", "tests", lambda data, size: [], ((0, 1),), epsilon, delta, law=lambda data: law[data]
    )


def test_laws_are_compared_in_both_directions_at_their_delta() -> None:
    assert told(tossed(1), EXACT) and exact_epsilon(tossed(1)) == inf
    swapped = replace(tossed(1), neighbours=((1, 0),))
    assert told(swapped, EXACT)
    assert told(tossed(1, delta=0.24), EXACT) and not told(tossed(1, delta=0.25), EXACT)
    coin = zoo.find("signed-response")
    assert not told(replace(coin, epsilon=log(3)), EXACT) and told(replace(coin, epsilon=log(3) - 1e-6), EXACT)
    assert exact_epsilon(coin) == pytest.approx(log(3))
    with pytest.raises(Invalid, match="has no law"):
        exact_epsilon(zoo.find("half-scale"))


def test_a_method_that_cannot_be_tried_says_nothing() -> None:
    assert told(zoo.find("half-scale"), EXACT) is None and told(zoo.find("half-scale"), TWINS) is None


def test_a_benchmark_counts_what_is_detected_missed_and_wrongly_accused() -> None:
    # of 2,000 outputs one benchmark in 250 misses what it should find
    result = benchmark(
        samples=(20_000,), repeats=3, broken=[noisy(0.3), noisy(2)], sound=[noisy(0.2), zoo.find("one-response")]
    )
    exact, twins, sampling = result.scores
    assert (exact.broken, exact.sound, exact.samples) == (0, 0, None)
    assert (twins.broken, twins.detected, twins.sound, twins.alarms) == (2, 0, 1, ())
    assert (sampling.broken, sampling.detected, sampling.sound, sampling.samples) == (6, 3, 6, 20_000)
    assert sampling.missed == ("noise at 2",) * 3 and sampling.alarms == ("noise at 0.2",) * 3
    assert [each["detected"] for each in result.as_data()] == [0, 0, 3]
    head, *lines = str(result).splitlines()
    assert head.split() == ["method", "outputs", "tried", "detected", "missed", "sound", "false", "alarms"]
    assert lines[2].split() == ["sampling", "20,000", "6", "3", "3", "6", "3"]


def test_an_auditor_of_ones_own_is_compared_by_the_same_table() -> None:
    result = benchmark(["suspicious"], samples=(10,), tell=lambda specimen, method, samples: True)
    (score,) = result.scores
    assert score.detected == len(zoo.BROKEN) and len(score.alarms) == len(zoo.SOUND)
    with pytest.raises(Invalid, match="methods must be among exact, twins, sampling"):
        benchmark(["guessing"])


def test_an_unknown_name_is_refused() -> None:
    assert zoo.find("float-laplace") in zoo.BROKEN
    with pytest.raises(Invalid, match="no specimen 'nothing'"):
        zoo.find("nothing")
