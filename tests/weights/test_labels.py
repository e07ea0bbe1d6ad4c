"""A key names one request: whoever enters it again with other arguments is refused, whatever the other argument is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet import Refused, unmetered
from discreet.mechanisms.measure import Unmetered
from discreet.weights import ArrayTable, Learned, factored, independent, mwem, online, quality
from discreet.weights.labels import label
from tests.weights.tables import domain

SHAPE = (3, 2, 2)
ROWS = [[0, 0, 0], [1, 1, 0], [2, 0, 1]] * 40
PRICE: dict[str, Any] = {"epsilon": 5, "delta": 1e-6, "key": "k"}
MASK = np.zeros(SHAPE, np.bool_)
MASK[0, 1, 1] = True


def table(measure: Unmetered, names: int = 3) -> ArrayTable:
    return ArrayTable(domain(SHAPE[:names]), [row[:names] for row in ROWS], measure)


def checked(measure: Unmetered, workload: int = 1) -> Any:
    learned: Learned = independent(table(measure), epsilon=5, delta=1e-6, key="model")
    return quality(table(measure), learned, workload, **PRICE)


def asked(measure: Unmetered, **more: Any) -> Any:
    terms: dict[str, Any] = {"error": 60, "queries": 5, "updates": 1, "method": "weights", **more}
    with online(table(measure), **PRICE, **terms) as session:
        return session.event


REQUESTS: dict[str, tuple[Callable[[Unmetered], Any], Callable[[Unmetered], Any]]] = {
    "histogram, workload": (
        lambda m: mwem(table(m), workload=2, rounds=2, **PRICE),
        lambda m: mwem(table(m), workload=3, rounds=2, **PRICE),
    ),
    "histogram, impossible": (
        lambda m: mwem(table(m), rounds=2, **PRICE),
        lambda m: mwem(table(m), rounds=2, impossible=[MASK], **PRICE),
    ),
    "histogram, attributes": (
        lambda m: mwem(table(m), ["a0", "a1"], rounds=2, workload=1, **PRICE),
        lambda m: mwem(table(m), ["a0", "a2"], rounds=2, workload=1, **PRICE),
    ),
    "margins": (lambda m: factored(table(m), **PRICE), lambda m: factored(table(m), workload=1, **PRICE)),
    "product": (lambda m: independent(table(m), **PRICE), lambda m: independent(table(m), impossible=[MASK], **PRICE)),
    "quality": (checked, lambda m: checked(m, 2)),
    "session": (asked, lambda m: asked(m, queries=6)),
}


def a_key_names_one_request(name: str = "product") -> None:
    first, other = REQUESTS[name]
    measure = unmetered()
    before = first(measure)
    assert type(first(measure)) is type(before)
    with pytest.raises(Refused) as refusal:
        other(measure)
    assert refusal.value.code == "key-reused"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_key_names_one_request(name: str) -> None:
    a_key_names_one_request(name)


def test_labels_differ_where_anything_differs_and_nowhere_else() -> None:
    known, other = domain(SHAPE), domain((3, 2, 3))
    ways: list[tuple[Any, ...]] = [(), (1,), (2,), ([MASK],), ([~MASK],), ([MASK, MASK],), ((1, (2, None)),), ((1, 2),)]
    labels = [label("x", each, *asked) for each in (known, other) for asked in ways]
    assert len(set(labels)) == len(labels)
    assert label("x", known, [MASK.copy()]) == label("x", domain(SHAPE), [MASK])
    assert label("histogram", known).startswith("histogram of a0, a1, a2 (")
