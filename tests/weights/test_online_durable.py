"""Sessions on a curator's ledger: charged once, and what was released comes back in another process's curator."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.session import Curator
from discreet.errors import Refused
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights import online
from tests.weights.online_tables import Kill, table_of
from tests.weights.test_online_session import CELLS, ROWS, SHAPE

OPTIONS: dict[str, Any] = {"epsilon": 60, "delta": 1e-3, "error": 60, "queries": 40, "updates": 3, "start": False}


def curator(folder: Path, epsilon: int = 100) -> Curator:
    people = {"patient": [f"p{i}" for i in range(5)]}
    return Curator({"visits": people}, "patient", epsilon=epsilon, delta=1e-2, max_rows=1, ledger=folder / "ledger")


def session(hospital: Curator) -> Any:
    table = table_of(SHAPE, ROWS, hospital.measure, Relation(Adjacency.ADD_REMOVE, Unit.PERSON))
    return online(table, **OPTIONS, method="weights", key="k")


def test_a_session_is_charged_once_and_comes_back(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital, pytest.raises(Kill), session(hospital) as asked:
        first = {at: asked.count(mask) for at, mask in enumerate(CELLS[:6])}
        hits = {at: answer.value for at, answer in first.items() if not answer.free}
        assert hits and hospital.spent.epsilon == 60
        raise Kill
    for _ in range(2):
        with curator(tmp_path) as hospital, session(hospital) as asked:
            assert {at: asked.count(CELLS[at]).value for at in hits} == hits
            assert (hospital.spent.epsilon, hospital.spent.delta) == (60, Fraction(1, 1000))


def test_a_session_that_is_too_dear_is_refused(tmp_path: Path) -> None:
    with curator(tmp_path, epsilon=10) as hospital:
        with pytest.raises(Refused):
            session(hospital)
        assert hospital.spent.epsilon == 0
