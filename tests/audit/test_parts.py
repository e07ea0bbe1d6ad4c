"""Twins and parts of the people: nothing tells two neighbours apart, whichever part somebody is in, in several, in none, or elsewhere."""

from typing import Any

import pytest

from discreet import Curator
from discreet.audit.twins import Curators
from tests.plan.parted import PORTS, where
from tests.scale import covering

PARTS = {"table": "visits", "column": "port", "budgets": {"A": {"epsilon": 30}, "B": {"epsilon": 30}}}
COLUMNS: dict[str, dict[str, dict[str, object]]] = {
    "visits": {"port": {"keys": ["A", "B", "C"]}, "x": {"bounds": (0, 9)}},
    "tests": {"y": {"bounds": (0, 9)}},
}
QUESTIONS: list[tuple[str, str | None]] = [
    ("SELECT COUNT(*) AS n, SUM(x) AS s, MEDIAN(x) AS m FROM visits WHERE port = 'A'", None),
    ("SELECT note, COUNT(*) AS n FROM visits WHERE port = 'B' GROUP BY note", None),
    ("SELECT COUNT(*) AS n, AVG(y) AS y FROM tests", "A"),
    ("SELECT COUNT(DISTINCT who) AS n FROM visits v JOIN tests t USING (who) WHERE v.port = 'A'", None),
    ("SELECT COUNT(*) AS n FROM (SELECT who, COUNT(*) AS k FROM visits GROUP BY who) WHERE k > 1", "B"),
    ("SELECT COUNT(*) AS n FROM visits WHERE port IN ('A')", None),
]


def held(rows: list[tuple[str, str | None]], adjacency: str) -> Curator:
    """A curator of these visits, each with a test beside it."""
    visits = {
        "who": [who for who, _ in rows],
        "port": [port for _, port in rows],
        "x": [3] * len(rows),
        "note": ["a"] * len(rows),
    }
    tests = {"who": [who for who, _ in rows], "y": [2] * len(rows)}
    return Curator(
        {"visits": visits, "tests": tests},
        "who",
        COLUMNS,
        epsilon=100,
        delta=1e-5,
        adjacency=adjacency,
        ledger=":memory:",
        people=1000,
        parts=PARTS,
    )


def kind(ports: list[str | None]) -> tuple[object, ...]:
    """Where somebody is: in a part, in none for their values, for several of them, or for a cell without one."""
    return where(ports), not ports, len(set(ports)) > 1, None in ports


def pairs(adjacency: str) -> list[tuple[list[str | None], list[str | None]]]:
    """The ports of a victim, and of who is there instead, so that each place is met on both sides."""
    if adjacency == "add-remove":
        return covering([(ports, []) for ports in PORTS], lambda pair: [kind(pair[0])])
    both = [(a, b) for a in PORTS for b in reversed(PORTS) if kind(a) != kind(b)]
    return covering(both, lambda pair: [("one", kind(pair[0])), ("other", kind(pair[1]))])


def nothing_tells_twins_apart(adjacency: str, most: int | None = None) -> None:
    others: list[tuple[str, str | None]] = [("o", "A"), ("o", "A"), ("p", "B"), ("q", "A"), ("q", "B")]
    for turn, (one, other) in enumerate(pairs(adjacency)[:most]):
        data = [
            held([*others, *((who, port) for port in ports)], adjacency) for who, ports in (("v", one), ("w", other))
        ]
        with Curators(*data) as twins:
            for text, part in QUESTIONS[turn % 2 :: 2]:
                terms: dict[str, Any] = {"epsilon": 2, "part": part}
                report = twins.ask(text, **terms)
                assert report.same, (text, part, one, other, report)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_nothing_tells_twins_apart_wherever_somebody_is(adjacency: str) -> None:
    nothing_tells_twins_apart(adjacency)
