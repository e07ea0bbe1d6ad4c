"""Spend and measure in one act: nothing is drawn that was not granted, and nothing is looked at before."""

import copy
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial
from math import exp
from typing import Any

import numpy as np
import pytest

from discreet.errors import DiscreetError, Fault, Invalid, Refused
from discreet.mechanisms import AboveThreshold, DiscreteGaussian, Gaussian, Geometric, Laplace, RoundedGaussian
from discreet.mechanisms.additive import GridNoise
from discreet.mechanisms.base import Example, registry
from discreet.mechanisms.guarded import Guarded
from discreet.mechanisms.measure import Grant, unmetered
from discreet.mechanisms.packed import packed, unpacked
from discreet.noise import Tape
from discreet.privacy import events, loss
from tests.scale import repeats

NOISE = Geometric(Fraction(10))


def never() -> int:
    raise AssertionError("the exact value was looked at")


def test_what_was_granted_can_be_drawn_and_is_spent() -> None:
    measure = unmetered(Tape(1))
    with measure(events.Repeated(NOISE.event(1), 2), label="two counts") as grant:
        assert isinstance(grant(NOISE, 1, lambda: 5), int)
        assert grant(NOISE, 1, lambda: np.array([5, 6])).shape == (2,)
    assert measure.spent.pure_epsilon() == Fraction(1, 5)


def test_what_was_not_drawn_is_spent_all_the_same() -> None:
    measure = unmetered()
    with measure(events.Repeated(NOISE.event(1), 3)):
        pass
    with pytest.raises(KeyError), measure(NOISE.event(1)):
        raise KeyError
    assert measure.spent.pure_epsilon() == Fraction(4, 10)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity"),
    [
        (NOISE, 2),  # more sensitivity
        (Geometric(Fraction(9)), 1),  # less noise
        (DiscreteGaussian(Fraction(10)), 1),  # other noise
        (Laplace(Fraction(10)), 1),
    ],
)
def test_a_draw_beyond_the_grant_is_a_fault_and_sees_nothing(mechanism: Geometric, sensitivity: int) -> None:
    with unmetered()(NOISE.event(1)) as grant:
        with pytest.raises(Fault, match="beyond what was granted"):
            grant(mechanism, sensitivity, never)
        assert isinstance(grant(NOISE, 1, lambda: 5), int)  # the grant itself was not touched


def test_the_second_draw_of_one_grant_is_a_fault() -> None:
    with unmetered()(NOISE.event(1)) as grant:
        grant(NOISE, 1, lambda: 5)
        with pytest.raises(Fault, match="beyond what was granted"):
            grant(NOISE, 1, never)


def test_a_grant_ends_with_its_block() -> None:
    with unmetered()(NOISE.event(1)) as grant:
        pass
    with pytest.raises(Fault, match="has ended"):
        grant(NOISE, 1, never)


def test_less_sensitivity_is_covered_by_more_and_pure_privacy_by_its_sum() -> None:
    with unmetered()(NOISE.event(5)) as grant:
        grant(NOISE, 3, lambda: 5)
    with unmetered()(events.Pure(Fraction(3, 10))) as grant:
        grant(NOISE, 1, lambda: 5)
        grant(NOISE, 2, lambda: 5)
        with pytest.raises(Fault, match="beyond"):
            grant(NOISE, 1, never)


def test_less_sensitivity_of_a_coarse_discrete_gaussian_is_not_covered() -> None:
    """There more noise may cost more, and so may less sensitivity."""
    coarse = DiscreteGaussian(Fraction(1, 2))
    with unmetered()(coarse.event(2)) as grant, pytest.raises(Fault, match="beyond"):
        grant(coarse, 1, never)


def test_gaussian_noise_is_never_covered_by_a_pure_grant() -> None:
    with unmetered()(events.Pure(Fraction(100))) as grant, pytest.raises(Fault, match="beyond"):
        grant(Gaussian(Fraction(10)), 1, never)


def test_a_longer_vector_of_reals_than_was_granted_is_a_fault() -> None:
    noise = Laplace(Fraction(10))
    with unmetered()(noise.event(1, 2)) as grant, pytest.raises(Fault, match="longer"):
        grant(noise, 1, lambda: np.zeros(3), size=2)


DISCRETE = DiscreteGaussian(Fraction(1))


def vectors_are_not_drawn_for_one_integer() -> None:
    """Nor for any number of integers at a price for fewer, prepared or not."""
    draws: list[Callable[[Grant], object]] = [
        lambda grant: grant(DISCRETE, 2, lambda: [0, 0]),
        lambda grant: grant(DISCRETE, 2, lambda: np.zeros(3, np.int64), size=2),
        lambda grant: grant.prepare(DISCRETE, 2, 2)(np.zeros(2, np.int64)),
    ]
    for draw in draws:
        with unmetered()(DISCRETE.event(2)) as grant, pytest.raises(Fault):
            draw(grant)
    with unmetered()(DISCRETE.event(2, 2)) as grant, pytest.raises(Fault, match="longer"):
        draws[1](grant)
    for draw in (lambda grant: grant(DISCRETE, 2, lambda: [0, 0], size=2), draws[2]):
        with unmetered()(DISCRETE.event(2, 2)) as grant:
            assert np.size(draw(grant)) == 2  # type: ignore[call-overload]


def test_a_vector_is_not_drawn_at_the_price_of_one_integer() -> None:
    vectors_are_not_drawn_for_one_integer()


@pytest.mark.parametrize(("shift", "norm"), [((1, 1, 1, 1), 2), ((2, 2, 1), 3), ((1,) * 9, 3)])
def test_a_vector_of_integers_costs_at_most_the_price_of_its_norm(shift: tuple[int, ...], norm: int) -> None:
    """By enumeration of its losses, at σ = 1. One integer that changes by the norm is no bound."""
    z = np.arange(-14, 15)
    p = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    losses = {0: 1.0}  # twice the loss of the coordinates so far, which is an integer
    for d in shift:
        sums: dict[int, float] = {}
        for so_far, chance in losses.items():
            for more, one in zip((d * d - 2 * d * z).tolist(), p.tolist(), strict=True):
                sums[so_far + more] = sums.get(so_far + more, 0.0) + chance * one
        losses = sums
    dearer = 0
    for epsilon in (0, 1, 2, 3, 4, 5):
        truth = sum(chance * max(0.0, 1 - exp(epsilon - twice / 2)) for twice, chance in losses.items())
        assert truth <= loss(DISCRETE.event(norm, len(shift))).delta(epsilon)
        dearer += truth > loss(DISCRETE.event(norm)).delta(epsilon)
    assert dearer


def test_what_is_no_mechanism_is_refused_by_name() -> None:
    with unmetered()(NOISE.event(1)) as grant, pytest.raises(Invalid, match="mechanism must be"):
        grant("laplace", 1, never)  # type: ignore[arg-type]


# One charge, one sequence of draws.

WIDE = Geometric(Fraction(10**9))
"""Noise so wide that two draws are never alike."""


def drawn(grant: Grant, times: int) -> list[int]:
    return [grant(WIDE, 1, lambda: 42) for _ in range(times)]


def code_of(act: Callable[[], object]) -> str:
    try:
        act()
    except DiscreetError as error:
        return error.code
    return "no error"


def test_who_enters_again_gets_what_was_drawn_and_goes_on() -> None:
    measure, event = unmetered(), events.Repeated(WIDE.event(1), 5)
    with pytest.raises(KeyError), measure(event, key="k") as grant:
        first = drawn(grant, 3)
        raise KeyError
    with measure(event, key="k") as grant:
        assert grant.taken == 3
        assert [grant(WIDE, 1, never) for _ in range(3)] == first
        rest = drawn(grant, 2)
        assert code_of(lambda: grant(WIDE, 1, never)) == "grant"
    with measure(event, key="k") as grant:  # which has ended
        assert [grant(WIDE, 1, never) for _ in range(5)] == first + rest
        assert code_of(lambda: grant(WIDE, 1, never)) == "key-settled"
    assert len(set(first + rest)) == 5 and measure.spent.pure_epsilon() == 5 * WIDE.loss(1).pure_epsilon()


def test_a_draw_that_was_begun_and_has_no_value_is_used() -> None:
    measure, event = unmetered(), events.Repeated(WIDE.event(1), 3)
    with pytest.raises(ZeroDivisionError), measure(event, key="k") as grant:
        first = drawn(grant, 1)
        grant(WIDE, 1, lambda: 1 // 0)
    with measure(event, key="k") as grant:
        assert drawn(grant, 1) == first
        assert code_of(lambda: grant(WIDE, 1, never)) == "draw-lost"
        drawn(grant, 1)
        assert code_of(lambda: grant(WIDE, 1, never)) == "grant"


def test_draws_come_back_in_the_order_of_the_first_entry_only() -> None:
    measure, event = unmetered(), events.Composed((WIDE.event(1), NOISE.event(1)))
    with pytest.raises(KeyError), measure(event, key="k") as grant:
        first = drawn(grant, 1)
        raise KeyError
    with measure(event, key="k") as grant:
        assert code_of(lambda: grant(NOISE, 1, never)) == "draw-other"
        assert drawn(grant, 1) == first


def test_a_key_names_one_measurement() -> None:
    measure = unmetered()
    with measure(WIDE.event(1), key="k"):
        assert code_of(lambda: measure(WIDE.event(1), key="k").__enter__()) == "grant-held"
    assert code_of(lambda: measure(WIDE.event(2), key="k").__enter__()) == "key-reused"
    assert code_of(lambda: measure(WIDE.event(1), key="k", kept=False).__enter__()) == "key-reused"


def what_has_ended_is_not_counted_on() -> None:
    """Draws that are counted, and not kept, cannot come back: who enters again after the end is refused."""
    measure = unmetered()
    with measure(events.Repeated(WIDE.event(1), 7), key="k", kept=False, block=3) as grant:
        drawn(grant, 1)
    again = measure(events.Repeated(WIDE.event(1), 7), key="k", kept=False, block=3)
    assert code_of(again.__enter__) not in ("no error", "")


def test_what_has_ended_is_not_counted_on() -> None:
    what_has_ended_is_not_counted_on()


def blocks_are_taken_once() -> None:
    measure, event = unmetered(), events.Repeated(WIDE.event(1), 7)
    handed: list[int] = []
    for times in (1, 3, 2, 7):  # of blocks of 3, 3 and 1
        with suppress(KeyError, Fault), measure(event, key="k", kept=False, block=3) as grant:
            for _ in range(times):
                handed += drawn(grant, 1)
            raise KeyError
    assert len(handed) == 1 + 3 + 1 and len(set(handed)) == len(handed)
    with measure(event, key="k", kept=False, block=3) as grant:
        assert grant.taken == 3 and code_of(lambda: grant(WIDE, 1, never)) == "grant"


def test_a_block_that_was_taken_is_never_given_again() -> None:
    blocks_are_taken_once()


def test_what_is_not_alike_cannot_be_counted_and_is_not_spent() -> None:
    measure = unmetered()
    with pytest.raises(Invalid, match="alike"), measure(events.Composed((WIDE.event(1), NOISE.event(1))), kept=False):
        pass
    assert measure.spent.epsilon() == 0


COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "of a list": lambda grant: copy.deepcopy([grant]),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_grant_cannot_be_copied(way: str) -> None:
    with unmetered()(NOISE.event(1)) as grant, pytest.raises(TypeError, match="cannot be copied"):
        COPIES[way](grant)


def a_forked_child_draws_nothing() -> None:
    with unmetered()(events.Repeated(WIDE.event(1), 2), key="k") as grant:
        add = grant.prepare(WIDE, 1, 1)
        vector = np.zeros(1, np.int64)
        for act in (lambda: grant(WIDE, 1, lambda: 42), lambda: add(vector), lambda: grant.prepare(WIDE, 1, 1)):
            child = os.fork()
            if child == 0:
                os._exit(0 if code_of(act) == "grant-process" else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "a forked child drew"
        add(vector)
        drawn(grant, 1)


def test_a_grant_belongs_to_its_process() -> None:
    a_forked_child_draws_nothing()


def test_a_forked_child_cannot_enter_what_its_parent_was_granted() -> None:
    measure = unmetered()
    with pytest.raises(KeyError), measure(WIDE.event(1), key="k"):
        raise KeyError
    child = os.fork()
    if child == 0:
        os._exit(0 if code_of(lambda: measure(WIDE.event(1), key="k").__enter__()) == "grant-held" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_draw_what_was_granted_together() -> None:
    with unmetered()(events.Repeated(WIDE.event(1), 20), key="k") as grant, ThreadPoolExecutor(8) as pool:

        def draw(_: int) -> int | None:
            try:
                return drawn(grant, 1)[0]
            except Fault:
                return None

        found = [each for each in pool.map(draw, range(100)) if each is not None]
    assert len(found) == 20 == len(set(found))


def prepared_noise_serves_once() -> None:
    vector = np.zeros(3, np.int64)
    with unmetered()(WIDE.event(1)) as grant:
        add = grant.prepare(WIDE, 1, 3)
        for wrong in (np.zeros(2, np.int64), np.zeros(3), np.zeros((3, 1), np.int64)):
            with pytest.raises(Fault, match="one vector of 3"):
                add(wrong)
        assert len(set(add(vector).tolist())) == 3
        with pytest.raises(Fault, match="one vector of 3"):
            add(vector + 1)
    with pytest.raises(Fault, match="has ended"):
        add(vector)


def test_noise_that_was_prepared_serves_one_vector_once() -> None:
    prepared_noise_serves_once()


def test_what_was_prepared_comes_back_too() -> None:
    measure, vector = unmetered(), np.zeros(3, np.int64)
    with pytest.raises(KeyError), measure(WIDE.event(1), key="k") as grant:
        first = grant.prepare(WIDE, 1, 3)(vector)
        raise KeyError
    with measure(WIDE.event(1), key="k") as grant:
        assert (grant.prepare(WIDE, 1, 3)(vector) == first).all()


def test_a_draw_inside_of_a_draw_is_a_fault() -> None:
    with unmetered()(events.Repeated(NOISE.event(1), 2)) as grant, pytest.raises(Fault, match="inside"):
        grant(NOISE, 1, lambda: grant(NOISE, 1, never))


def test_every_mechanism_that_releases_numbers_comes_back_as_it_was() -> None:
    """Selections are draws as any other. What a rule for keys returns tells of keys that were not kept, and is not kept."""
    unkept = set()
    for name in registry.names():
        for example in registry.examples(name):
            measure, draw = unmetered(), partial(release_of, example)
            event = events.Repeated(event_of(example), 2)
            with suppress(KeyError), measure(event, key="k") as grant:
                try:
                    first = draw(grant, lambda example=example: example.x)
                except Fault:
                    unkept.add(name)
                    continue
                raise KeyError
            with measure(event, key="k") as grant:
                again = draw(grant, never)
            assert type(again) is type(first) and np.array_equal(again, first), name
    assert unkept == {"GaussianThreshold", "LaplaceThreshold", "OptimalKeys"}


def release_of(example: Example, grant: Grant, exact: Callable[[], Any]) -> Any:
    return grant(example.mechanism, example.sensitivity, exact, np.size(example.x))


def event_of(example: Example) -> events.Event:
    if isinstance(example.mechanism, GridNoise):
        return example.mechanism.event(example.sensitivity, np.size(example.x))
    return example.mechanism.event(example.sensitivity)


# Sampled: the grant itself takes the batch.

RATE = Fraction(1, 10)


def batches_are_of_their_rate() -> None:
    """Each unit is in a batch with probability `rate`, by itself and anew: counts of units and of pairs, within 6 deviations."""
    units, times = 40, repeats(1000)
    noise = RoundedGaussian(Fraction(10))
    event = events.Repeated(events.Sampled(RATE, noise.event(1)), times)
    seen = np.zeros((times, units))
    with unmetered()(event) as grant:
        for at in range(times):

            def exact(batch: Any, at: int = at) -> Any:
                seen[at, batch] = 1
                return np.array([batch.size])

            assert grant.sampled(noise, 1, exact, rate=RATE, among=units).shape == (1,)
        assert code_of(lambda: grant.sampled(noise, 1, never_of, rate=RATE, among=units)) == "grant"
    q, pairs = float(RATE), np.triu(seen.T @ seen, 1)[np.triu_indices(units, 1)]
    assert (abs(seen.sum(0) - times * q) < 6 * (times * q * (1 - q)) ** 0.5).all()
    assert (abs(pairs - times * q * q) < 6 * (times * q * q) ** 0.5 + 6).all()
    assert len({row.tobytes() for row in seen}) > times // 2


def test_what_was_granted_as_sampled_is_drawn_on_batches_of_the_grant() -> None:
    batches_are_of_their_rate()


def sampled_beyond_is_a_fault() -> None:
    noise = RoundedGaussian(Fraction(10))
    with unmetered()(events.Sampled(RATE, noise.event(2))) as grant:
        assert code_of(lambda: grant(noise, 1, never)) == "grant"
        assert code_of(lambda: grant.sampled(noise, 1, never_of, rate=2 * RATE, among=9)) == "grant"
        assert code_of(lambda: grant.sampled(noise, 3, never_of, rate=RATE, among=9)) == "grant"
        assert code_of(lambda: grant.sampled(RoundedGaussian(9), 2, never_of, rate=RATE, among=9)) == "grant"
        grant.sampled(noise, 1, lambda batch: np.zeros(4, np.int64), rate=RATE, among=0)
    with unmetered()(noise.event(1)) as grant:
        assert code_of(lambda: grant.sampled(noise, 1, never_of, rate=RATE, among=9)) == "grant"


def test_a_sampled_draw_beyond_the_grant_is_a_fault_and_sees_nothing() -> None:
    sampled_beyond_is_a_fault()


def never_of(batch: object) -> object:
    raise AssertionError("the exact value was looked at")


def test_a_sampled_draw_comes_back_without_a_batch() -> None:
    measure, noise = unmetered(), RoundedGaussian(Fraction(10**6))
    event = events.Repeated(events.Sampled(RATE, noise.event(1)), 2)
    with pytest.raises(KeyError), measure(event, key="k") as grant:
        first = grant.sampled(noise, 1, lambda batch: np.array([batch.size]), rate=RATE, among=100)
        raise KeyError
    with measure(event, key="k") as grant:
        assert (grant.sampled(noise, 1, never_of, rate=RATE, among=100) == first).all()


# Rounds of a noisy threshold.


def test_rounds_come_back_and_one_that_was_lost_is_a_hit() -> None:
    found = AboveThreshold(epsilon=100, threshold=10, hits=3)
    measure, scores = unmetered(), [0, 0, 99, 0, 99, 0, 99, 0]
    with pytest.raises(KeyError), measure(found.event(), key="k") as grant:
        rounds = grant.rounds(found)
        assert [rounds.ask(partial(int, score)) for score in scores[:4]] == [False, False, True, False]
        raise KeyError  # within the second round
    with measure(found.event(), key="k") as grant:
        rounds = grant.rounds(found)
        assert [rounds.ask(never) for _ in range(3)] == [False, False, True]
        assert code_of(lambda: rounds.ask(never)) == "draw-lost" and rounds.left == 1
        assert [rounds.ask(partial(int, score)) for score in (0, 99)] == [False, True]
        with pytest.raises(Refused, match="used up"):
            rounds.ask(never)


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        10**40,
        True,
        False,
        0.1,
        -0.0,
        float("inf"),
        np.arange(-3, 3),
        np.array([2**62, -(2**62)]),
        np.zeros((2, 0, 3)),
        np.array([True, False]),
        np.array([[0.5, 1e300]]),
        np.array(7),
        np.arange(3, dtype=np.uint64),
        np.arange(300),
    ],
    ids=repr,
)
def test_values_are_the_same_after_packing(value: Any) -> None:
    again = unpacked(packed(value))
    assert type(again) is type(value) and repr(again) == repr(value)
    assert np.asarray(again).dtype == np.asarray(value).dtype and np.shape(again) == np.shape(value)


def test_integers_of_every_width_are_the_same_after_packing() -> None:
    """At the ends of each width, where one more needs the next."""
    for bits in (8, 16, 32, 64):
        low, high = -(1 << bits - 1), (1 << bits - 1) - 1
        ends = [low, low + 1, high, *([] if bits == 64 else [low - 1, high + 1])]
        for value in [np.array([each]) for each in ends] + [np.array(ends)]:
            again = unpacked(packed(value))
            assert again.dtype == value.dtype and again.tolist() == value.tolist()


@pytest.mark.parametrize(
    "data", [b"", b"x", b"i", b"izz", b"f123", b"b2", b"a", b"a[]\n", b'a["<i8","O",[1]]\n12345678'], ids=repr
)
def test_bytes_that_are_no_value_are_a_fault(data: bytes) -> None:
    with pytest.raises(Fault, match="damaged"):
        unpacked(data)


def test_what_is_no_number_cannot_be_kept() -> None:
    with pytest.raises(Fault, match="cannot be kept"):
        packed("text")


# Notes: what is public, in its place among the draws.


def test_notes_cost_nothing_and_come_back_in_their_place() -> None:
    measure, noise, public = unmetered(), Geometric(3), np.arange(5)
    with pytest.raises(KeyError), measure(events.Repeated(noise.event(1), 2), key="k") as grant:
        assert not grant.again
        first = grant(noise, 1, lambda: 7)
        assert (grant.note(public) == public).all() and grant.taken == 2
        raise KeyError
    with measure(events.Repeated(noise.event(1), 2), key="k") as grant:
        assert grant.again and grant(noise, 1, never) == first
        assert grant.again and (grant.note(np.zeros(1)) == public).all(), "what was noted, whatever is noted now"
        assert not grant.again
        grant(noise, 1, lambda: 7)
        assert grant.note(3) == 3
    assert measure.spent.epsilon() == pytest.approx(2 / 3)


def test_a_note_in_the_place_of_a_draw_is_a_fault() -> None:
    measure, noise = unmetered(), Geometric(3)
    with pytest.raises(KeyError), measure(noise.event(1), key="k") as grant:
        grant(noise, 1, lambda: 7)
        raise KeyError
    with measure(noise.event(1), key="k") as grant, pytest.raises(Fault, match="another one"):
        grant.note(1)


def test_nothing_exact_is_noted() -> None:
    with unmetered()(events.Composed(())) as grant, pytest.raises(Refused, match="by a draw only"):
        grant.note(Guarded(lambda: 7)())
