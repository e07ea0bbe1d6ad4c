"""Exact values that only draws look at: over all ways to hold one, nobody else reads it."""

import contextvars
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import Refused
from discreet.mechanisms import AboveThreshold, Geometric, unmetered
from discreet.mechanisms.guarded import Guarded, under_way
from discreet.noise import Tape
from discreet.privacy import events

NOISE = Geometric(Fraction(10))


def is_closed(exact: Guarded[int]) -> bool:
    try:
        exact()
    except Refused as error:
        return error.code == "exact"
    return False


def read_by_draws_alone() -> None:
    looks: list[int] = []
    exact = Guarded(lambda: looks.append(1) or 42)
    assert is_closed(exact) and not looks
    with unmetered(Tape(1))(events.Repeated(NOISE.event(1), 2)) as grant:
        assert is_closed(exact)  # a grant alone opens nothing
        grant(NOISE, 1, exact)
        assert is_closed(exact) and len(looks) == 1
        grant(NOISE, 1, lambda: exact() + 1)  # what is made of it inside of the draw is the draw's
        assert len(looks) == 2
    assert is_closed(exact)


def test_it_is_read_by_draws_alone() -> None:
    read_by_draws_alone()


def closed_again_after_a_failure() -> None:
    exact = Guarded(lambda: 42)

    def fails() -> int:
        exact()
        raise KeyError

    with unmetered()(NOISE.event(1)) as grant, pytest.raises(KeyError):
        grant(NOISE, 1, fails)
    assert is_closed(exact)


def test_it_is_closed_again_after_a_draw_that_failed() -> None:
    closed_again_after_a_failure()


def test_questions_to_a_threshold_are_draws() -> None:
    exact, rule = Guarded(lambda: 10**6), AboveThreshold(1, 0)
    with unmetered(Tape(1))(rule.event(1)) as grant:
        rounds = grant.rounds(rule, 1)
        assert is_closed(exact)
        rounds.ask(exact)
        assert is_closed(exact)


def test_another_thread_is_not_inside_of_a_draw() -> None:
    """Nor is a context that was copied before the draw began; one that runs inside of it is."""
    exact, before = Guarded(lambda: 42), contextvars.copy_context()
    with under_way():
        assert exact() == 42
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(is_closed, exact).result()
        assert before.run(is_closed, exact)
        with under_way():
            pass
        assert exact() == 42
    assert is_closed(exact)


def test_a_batch_is_drawn_of_what_is_guarded() -> None:
    exact = Guarded(lambda: np.arange(4))
    event = events.Sampled(Fraction(1, 2), NOISE.event(1))  # type: ignore[arg-type]
    with unmetered(Tape(1))(event) as grant:
        grant.sampled(NOISE, 1, lambda batch: int(np.isin(exact(), batch).sum()), rate=Fraction(1, 2), among=4)
    assert is_closed(exact)  # type: ignore[arg-type]


def nothing_is_told_by_its_looks() -> None:
    exact = Guarded(lambda: 42)
    assert repr(exact) == str(exact) == "Guarded(…)"
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied or pickled"):
            act(exact)
    assert not hasattr(exact, "__dict__")


def test_nothing_is_told_by_its_looks() -> None:
    nothing_is_told_by_its_looks()
