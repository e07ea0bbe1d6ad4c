"""Closing: whoever closes waits for the questions in flight, and a closed curator refuses by name."""

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.flight import Flight
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid
from discreet.mechanisms import Geometric
from tests.curator.cases import code_of
from tests.scale import repeats

COUNT = "SELECT COUNT(*) AS n FROM visits"


def curator(folder: Path) -> Curator:
    people = {"patient": [f"p{i}" for i in range(50)]}
    return Curator({"visits": people}, "patient", epsilon=1000, max_rows=1, ledger=folder / "ledger")


def closing_waits(folder: Path) -> None:
    """A question that has begun is answered, settled and no failure, whoever closes meanwhile."""
    hospital = curator(folder)
    hospital.load()
    engine, begun = hospital._engine, threading.Event()

    class Slow:
        def run(self, *given: Any) -> Any:
            begun.set()
            time.sleep(0.2)
            return engine.run(*given)  # type: ignore[union-attr]

        def close(self) -> None:
            engine.close()  # type: ignore[union-attr]

    hospital.__dict__["_engine"] = Slow()
    heard: list[str] = []
    thread = threading.Thread(target=lambda: heard.append(code_of(lambda: hospital.sql(COUNT, epsilon=1))))
    thread.start()
    begun.wait(60)
    hospital.close()
    thread.join()
    with curator(folder) as anew:
        assert heard == ["no error"] and anew._store.standing().failures == 0


def closing_waits_for_a_measurement(folder: Path) -> None:
    """A measurement that was entered draws, keeps and settles, whoever closes meanwhile."""
    hospital, noise = curator(folder), Geometric(10)
    inside, closing = threading.Event(), threading.Event()
    heard: list[object] = []

    def measuring() -> None:
        with hospital.measure(noise.event(1), key="k") as grant:
            inside.set()
            closing.wait(60)
            while not hospital._flight.closed:
                time.sleep(0.001)
            time.sleep(0.05)
            heard.append(code_of(lambda: grant(noise, 1, lambda: 3)))
        heard.append("left")

    thread = threading.Thread(target=measuring)
    thread.start()
    inside.wait(60)
    closing.set()
    hospital.close()
    heard.append("closed")
    thread.join()
    assert heard[0] == "no error" and set(heard) == {"no error", "left", "closed"}
    with curator(folder) as anew, anew.measure(noise.event(1), key="k") as again:
        assert again.taken == 1 and anew.spent.epsilon == Fraction(1, 10)


def test_closing_waits_for_a_measurement_in_flight(tmp_path: Path) -> None:
    closing_waits_for_a_measurement(tmp_path)


def test_whoever_is_inside_of_a_measurement_cannot_close_and_goes_on(tmp_path: Path) -> None:
    hospital, noise = curator(tmp_path), Geometric(10)
    with hospital.measure(noise.event(1)) as grant:
        with pytest.raises(Invalid) as refusal:
            hospital.close()
        assert refusal.value.code == "in-flight"
        grant(noise, 1, lambda: 3)
    hospital.close()


def test_a_measurement_that_was_prepared_before_closing_is_not_entered_after(tmp_path: Path) -> None:
    hospital, noise = curator(tmp_path), Geometric(10)
    prepared = hospital.measure(noise.event(1))
    hospital.close()
    assert code_of(prepared.__enter__) == "closed"
    with curator(tmp_path) as anew:
        assert anew.spent.epsilon == 0


def alone_means_alone() -> None:
    """Whoever goes alone begins when nobody is inside any more, and nobody comes in before they end."""
    flight, order = Flight(), list[str]()
    inside, begun = threading.Event(), threading.Event()

    def question(name: str, go_on: threading.Event | None) -> None:
        with flight.question():
            inside.set()
            order.append(f"{name} begins")
            if go_on is not None:
                go_on.wait(60)
            order.append(f"{name} ends")

    def owner() -> None:
        with flight.alone():
            order.append("owner begins")
            begun.set()
            late.start()
            # whoever may come in has every chance to
            time.sleep(0.05)
            order.append("owner ends")

    leave = threading.Event()
    first = threading.Thread(target=question, args=("first", leave))
    late = threading.Thread(target=question, args=("late", None))
    going = threading.Thread(target=owner)
    first.start()
    inside.wait(60)
    going.start()
    # until the owner waits for the first one, or has begun beside it
    while not flight._change._waiters and not begun.is_set():  # type: ignore[attr-defined]
        time.sleep(0.001)
    leave.set()
    for thread in (first, going, late):
        thread.join()
    steps = [f"{name} {step}" for name in ("first", "owner", "late") for step in ("begins", "ends")]
    assert order == steps


def test_who_goes_alone_waits_for_all_and_lets_nobody_in() -> None:
    alone_means_alone()


ALONE: dict[str, Callable[[Curator], object]] = {
    "data_changed": lambda hospital: hospital.data_changed(),
    "accept": lambda hospital: hospital.accept("the backup was restored"),
}


@pytest.mark.parametrize("act", ALONE)
def test_what_the_owner_does_alone_is_not_done_inside_of_a_measurement(tmp_path: Path, act: str) -> None:
    noise = Geometric(10)
    with curator(tmp_path) as hospital, hospital.measure(noise.event(1)) as grant:
        assert code_of(lambda: ALONE[act](hospital)) == "in-flight"
        grant(noise, 1, lambda: 3)


def test_closing_waits_for_the_questions_in_flight(tmp_path: Path) -> None:
    closing_waits(tmp_path)


def test_a_curator_that_is_closed_while_threads_ask_answers_or_refuses_by_name(tmp_path: Path) -> None:
    for turn in range(repeats(6)):
        hospital, outcomes = curator(tmp_path), []

        def client(name: int, hospital: Curator = hospital, turn: int = turn, outcomes: Any = outcomes) -> None:
            for i in range(50):
                try:
                    hospital.sql(f"SELECT COUNT(*) AS n{turn}_{name}_{i} FROM visits", epsilon=0.1)
                    outcomes.append("answered")
                except BaseException as error:
                    outcomes.append(getattr(error, "code", repr(error)))
                    return

        threads = [threading.Thread(target=client, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        while len(outcomes) < 3:
            time.sleep(0.005)
        hospital.close()
        for thread in threads:
            thread.join()
        assert set(outcomes) == {"answered", "closed"}
    with curator(tmp_path) as anew:
        assert anew._store.standing().failures == 0


ACTS: dict[str, Callable[[Curator], object]] = {
    "sql": lambda hospital: hospital.sql(COUNT, epsilon=1),
    "measure": lambda hospital: hospital.measure(Geometric(10).event(1)),
    "load": lambda hospital: hospital.load(),
    "spent": lambda hospital: hospital.spent,
    "remaining": lambda hospital: hospital.remaining,
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("used", [False, True])
def test_a_closed_curator_refuses_by_name_and_opens_nothing(tmp_path: Path, act: str, used: bool) -> None:
    hospital = curator(tmp_path)
    if used:
        hospital.sql(COUNT, epsilon=1)
    hospital.close()
    hospital.close()
    with pytest.raises(Invalid, match="the curator was closed") as refusal:
        ACTS[act](hospital)
    assert isinstance(refusal.value, DiscreetError) and refusal.value.code == "closed"
    assert hospital._engine is None and hospital._ledger is None
