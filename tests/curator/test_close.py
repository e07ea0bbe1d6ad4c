"""Closing: whoever closes waits for the questions in flight, and a closed curator refuses by name."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid
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
        assert heard == ["no error"] and anew._store.totals().failures == 0


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
        assert anew._store.totals().failures == 0


ACTS: dict[str, Callable[[Curator], object]] = {
    "sql": lambda hospital: hospital.sql(COUNT, epsilon=1),
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
    assert hospital._engine is None and hospital._kept is None
