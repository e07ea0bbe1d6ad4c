"""What a plan can tell is refused at planning, in a preview too: it costs nothing, reads nothing, and is no failure."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from discreet.answer import Answer
from discreet.curator.asked import Asked
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid, QueryError
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.plan import limits
from discreet.plan.domain import Effort
from discreet.plan.limits import width
from tests.curator.cases import code_of

COUNT = "SELECT COUNT(*) AS n FROM visits"
WARDS = [f"ward {i} \u00e9\u4e16" for i in range(40)]


def curator(folder: Path, **more: Any) -> Curator:
    people = {"patient": ["p1", "p2"], "age": [30, 40], "ward": WARDS[:2], "cell": [1, 2]}
    columns = {
        "age": {"type": "integer", "bounds": (0, 120)},
        "ward": {"keys": WARDS},
        "cell": {"type": "integer", "bounds": (0, 9_999)},
    }
    given = {"epsilon": 10, "delta": Fraction(1, 10**6), **more}
    return Curator({"visits": people}, "patient", columns, ledger=folder / "ledger", **given)


def all_ways(hospital: Curator, text: str, **price: Any) -> set[str]:
    ways: list[Callable[..., object]] = [hospital.preview, hospital.explain, hospital.sql]
    return {code_of(lambda way=way: way(text, **price)) for way in ways}


def dear_noise_is_refused(folder: Path) -> None:
    """Noise beyond what can be drawn: by rows, by bounds, by price; and just below it is drawn."""
    for max_rows in (10**4, 10**5, 10**6):
        with curator(folder / str(max_rows), max_rows=max_rows) as hospital:
            found = all_ways(hospital, "SELECT SUM(age / 7) AS s FROM visits", epsilon=Fraction(1, 10**6), delta=0)
            assert found == {"noise-too-large"}
            assert hospital.spent.epsilon == 0 and hospital._store.standing().failures == 0


def test_noise_that_cannot_be_drawn_is_refused_at_planning(tmp_path: Path) -> None:
    dear_noise_is_refused(tmp_path)


def test_whatever_noise_is_planned_is_drawn(tmp_path: Path) -> None:
    """Ever lower prices, down to the first that is refused: none of the others fails."""
    text, refused = "SELECT SUM(age / 7) AS s FROM visits", False
    with curator(tmp_path, max_rows=10**6) as hospital:
        for halvings in range(20):
            price = {"epsilon": Fraction(1, 2**halvings), "delta": 0}
            refused = code_of(lambda price=price: hospital.preview(text, **price)) == "noise-too-large"
            if refused:
                break
            hospital.sql(text, **price)
        assert refused and hospital._store.standing().failures == 0


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_the_least_price_is_a_millionth(tmp_path: Path, accountant: str) -> None:
    with curator(tmp_path, accountant=accountant) as hospital:
        for epsilon in (Fraction(1, 10**18), Fraction(1, 10**9), Fraction(99, 10**8)):
            assert all_ways(hospital, COUNT, epsilon=epsilon, delta=0, max_rows=5) == {"price"}
        assert hospital.spent.epsilon == 0 and hospital._store.standing().failures == 0
        hospital.sql(COUNT, epsilon=Fraction(1, 10**6), delta=0, max_rows=5)


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_the_least_price_of_a_measurement_is_the_same(tmp_path: Path, accountant: str) -> None:
    with curator(tmp_path, accountant=accountant) as hospital:
        low = [Geometric(10**12), Geometric(1_010_000)] + ([RoundedGaussian(10**8)] if accountant == "zcdp" else [])
        for event in (mechanism.event(1) for mechanism in low):
            with pytest.raises(Invalid) as refusal:
                hospital.measure(event, key="k")
            assert refusal.value.code == "price"
        assert hospital.spent.epsilon == 0 and not list(hospital._store.history())[1:]
        with hospital.measure(Geometric(10**6).event(1), key="k"):
            assert hospital.spent.epsilon > 0 or hospital.spent.rho


def sums(columns: int) -> str:
    """A sum of so many times one column, of little depth."""
    return "cell" if columns == 1 else f"({sums(columns // 2)} + {sums(columns - columns // 2)})"


def test_groups_that_take_too_long_to_find_are_refused_at_planning(tmp_path: Path) -> None:
    """Declared values times parts of keys, over all keys of a question; just below the limit it is planned.

    Where something is evaluated before it is refused each step counts tenfold: a tenth of them is enough to see the same.
    """
    several = ", ".join(f"{sums(3)} % {n}" for n in range(2, 8))
    take = Effort.take
    with curator(tmp_path) as hospital:
        assert all_ways(hospital, grouped(f"{sums(101)} % 2"), epsilon=1) == {"too-many-steps"}
        with mock.patch.object(Effort, "take", lambda effort, parts: take(effort, 10 * parts)):
            for keys in (f"{sums(11)} % 2", several, f"COALESCE({several})"):
                assert all_ways(hospital, grouped(keys), epsilon=1) == {"too-many-steps"}
            assert hospital.preview(grouped(f"{sums(9)} % 2"), epsilon=1).groups == 2
        assert hospital.spent.epsilon == 0


def grouped(keys: str) -> str:
    return f"SELECT COUNT(*) AS n FROM visits GROUP BY {keys}"


def test_an_accuracy_never_pays_less_than_the_least_price(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        for within in (10**6, 10**12, 10**18):
            assert hospital.preview(COUNT, within=within, max_rows=5).epsilon >= 1e-6


def test_an_answer_that_is_too_large_is_refused_at_planning(tmp_path: Path) -> None:
    columns = ", ".join(f"SUM(age + {i}) AS column_with_a_long_name_{i}" for i in range(80))
    with curator(tmp_path) as hospital:
        assert all_ways(hospital, f"SELECT cell, {columns} FROM visits GROUP BY cell", epsilon=1) == {
            "answer-too-large"
        }
        assert hospital.spent.epsilon == 0 and hospital._store.standing().failures == 0


OUTPUTS = [
    "ward, COUNT(*) AS n",
    "ward, COUNT(*), COUNT(*), SUM(age) AS s, AVG(age) AS a",
    "ward, CASE WHEN COUNT(*) > 5 THEN 'a long text about many \u4e16' ELSE 'few' END AS t",
    "ward, ward AS w2, SUM(age) * 1000000007 / COUNT(*) AS ratio, AVG(age) - 3.7 AS shifted",
]


@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**5), 5])
def test_no_answer_is_larger_than_was_planned(tmp_path: Path, outputs: str, epsilon: Any) -> None:
    with curator(tmp_path, epsilon=100) as hospital:
        text = f"SELECT {outputs} FROM visits GROUP BY ward"
        answer = hospital.sql(text, epsilon=epsilon)
        plan = next(hospital._plan(Asked(text, epsilon=epsilon)).examples())
        bare = len(Answer.to_bytes(answer)) - _rows(answer)
        assert _rows(answer) <= len(plan.domain) * width(plan) and bare < limits.BESIDE_ROWS


def _rows(answer: Answer) -> int:
    import json

    body = answer.to_json()
    return sum(
        len(json.dumps(body[part], separators=(",", ":"))) - 2 for part in ("rows", "error", "interval", "flags")
    )


def test_an_answer_that_came_out_too_large_is_a_failure_and_no_mistake_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.curator.session.LONGEST_ANSWER", 100)
    monkeypatch.setattr("discreet.curator.session.check_limits", lambda *_: None)
    with curator(tmp_path) as hospital:
        with pytest.raises(DiscreetError) as error:
            hospital.sql(COUNT, epsilon=1)
        assert error.value.code == "failed" and not isinstance(error.value, Invalid | QueryError)
        assert hospital.spent.epsilon == 1
