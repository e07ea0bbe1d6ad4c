"""What a question found is kept with its answer: for whoever paid for it, for the same rows, and for the data as they are."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.answer import Answer
from discreet.curator.found import FOUND, fact_of, is_fact, limits_in
from discreet.curator.request import filed
from discreet.curator.session import Curator
from discreet.errors import Fault, QueryError
from discreet.plan.catalog import MOST_LIMITS

ROWS = {
    "who": [str(who) for who in range(60) for _ in range(1 + who % 4)],
    "x": [str(who % 7) for who in range(60) for _ in range(1 + who % 4)],
    "g": ["ABCDE"[(who + i) % 5] for who in range(60) for i in range(1 + who % 4)],
}
COLUMNS: dict[str, Any] = {"x": {"type": "integer", "bounds": (0, 9)}, "g": {"keys": list("ABCDE")}}
ANALYSTS = {"ana": {"epsilon": 50}, "bob": {"epsilon": 50}}
COUNT = "SELECT COUNT(*) AS n FROM t WHERE x > 1"
SUM = "SELECT SUM(x) AS s FROM t WHERE x > 1"
BY_GROUP = "SELECT g, COUNT(DISTINCT who) AS p FROM t GROUP BY g"


def curator(folder: Path, **more: Any) -> Curator:
    arguments: dict[str, Any] = {"epsilon": 200, "analysts": ANALYSTS, **more}
    return Curator({"t": ROWS}, "who", COLUMNS, ledger=folder / "ledger", **arguments)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Curator]:
    with curator(tmp_path) as opened:
        yield opened


def finds(answer: Answer) -> dict[str, int]:
    """The limits that an answer found, none where it used what was known."""
    return {name: most for name, most in answer.receipt.get("found", {}).items() if name in MOST_LIMITS}


def a_fact_is_used_by_whom_it_belongs_to(folder: Path) -> None:
    """By the same analyst, about the same rows, under any aggregate and any price: the limit is that, and the whole price the answer's."""
    with curator(folder) as hospital:
        first = hospital.sql(COUNT, epsilon=1, analyst="ana")
        (most,) = finds(first).values()
        for text, price in (
            (SUM, {"epsilon": 1}),
            (COUNT, {"epsilon": 2}),
            (COUNT, {"within": most / 2}),
        ):  # nearer than what was answered
            again = hospital.sql(text, analyst="ana", **price)
            assert not finds(again) and again.receipt["limits"] == {"max_total": most}
            assert again.notes[0].startswith(f"max_total = {most:,} was found by an earlier question"), again.notes
            assert hospital.preview(text, analyst="ana", **price).notes[0] == again.notes[0]
        for text, analyst in ((SUM, "bob"), (SUM, None), (SUM.replace("> 1", "> 2"), "ana"), (SUM, "ana")):
            found = hospital.sql(text, epsilon=0.5, analyst=analyst)
            assert bool(finds(found)) is ((text, analyst) != (SUM, "ana")), (text, analyst)


def test_a_fact_is_used_by_whom_it_belongs_to(tmp_path: Path) -> None:
    a_fact_is_used_by_whom_it_belongs_to(tmp_path)


def the_same_question_is_free(folder: Path) -> None:
    """What it found does not make it another question: asked again, with or without its key, after others and anew, it is the same."""
    with curator(folder) as hospital:
        first = hospital.sql(COUNT, epsilon=1)
        named = hospital.sql(COUNT, epsilon=1, key="mine")
        hospital.sql(SUM, epsilon=1)
        spent = hospital.spent
        assert (hospital.sql(COUNT, epsilon=1).rows, hospital.sql(COUNT, epsilon=1, key="mine").rows) == (
            first.rows,
            named.rows,
        )
        assert hospital.spent == spent
    with curator(folder) as hospital:
        again = hospital.sql(COUNT, epsilon=1)
        assert (again.rows, again.notes, again.explain(), hospital.spent) == (
            first.rows,
            first.notes,
            first.explain(),
            spent,
        )


def test_the_same_question_is_free(tmp_path: Path) -> None:
    the_same_question_is_free(tmp_path)


def facts_are_of_a_version(folder: Path) -> None:
    with curator(folder) as hospital:
        assert finds(hospital.sql(COUNT, epsilon=1)) and not finds(hospital.sql(SUM, epsilon=1))
        hospital.data_changed("2")
    with curator(folder, version="2") as hospital:
        assert finds(hospital.sql(SUM, epsilon=1)), "of other data nothing is known"


def test_facts_are_of_a_version(tmp_path: Path) -> None:
    facts_are_of_a_version(tmp_path)


def test_a_fact_is_of_the_limits_that_were_known(hospital: Curator) -> None:
    """Within limits that were declared other rows of people are left: what was found without them is another fact."""
    assert set(finds(hospital.sql(BY_GROUP, epsilon=1))) == {"max_groups"}
    by_group = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    assert set(finds(hospital.sql(by_group, epsilon=1))) == {"max_total"}
    assert set(finds(hospital.sql(by_group, epsilon=1, max_rows=1))) == {"max_total"}
    assert not finds(hospital.sql(by_group.replace("COUNT(*) AS n", "SUM(x) AS s"), epsilon=1))


def facts_cost_nothing_and_are_verified(folder: Path) -> None:
    with curator(folder) as hospital:
        hospital.sql(COUNT, epsilon=1, analyst="ana")
        hospital.sql(BY_GROUP, epsilon=2)
        assert hospital.spent.epsilon == 3 and [line.what for line in hospital.history()[-2:]] == [COUNT, BY_GROUP]
        kept = [row for row in hospital._store.history() if is_fact(row.key or "")]
        assert len(kept) == 2 and all(not any(row.act.price.exact) for row in kept)  # type: ignore[union-attr]
        assert hospital.verify() and all("found" not in line.what for line in hospital.history("ana"))


def test_facts_cost_nothing_and_are_verified(tmp_path: Path) -> None:
    facts_cost_nothing_and_are_verified(tmp_path)


def test_nobody_writes_a_fact_by_hand(hospital: Curator) -> None:
    with pytest.raises(ValueError, match="must not begin"):
        hospital.sql(COUNT, epsilon=1, key=f"{FOUND}{'0' * 64}")
    assert is_fact(filed("ana", f"{FOUND}1")) and not is_fact(filed(FOUND, "mine")) and not is_fact("mine")


def test_what_is_no_fact_is_none() -> None:
    request, stored = fact_of(f"{FOUND}1", None, {"max_total": 7, "people": 30, "beyond": 2}, "1")
    assert limits_in(stored) == {"max_total": 7} and request.label == "-- found: max_total = 7"
    for broken in (b"[]", b"{", json.dumps({"max_total": None}).encode()):
        with pytest.raises(Fault):
            limits_in(broken)


def test_an_accuracy_can_be_asked_for_once_the_limit_is_known(hospital: Curator) -> None:
    with pytest.raises(QueryError, match="within needs max_total") as refusal:
        hospital.preview(COUNT, within=50)
    assert "--max-total N" in str(refusal.value) and "survey" in str(refusal.value)
    (most,) = finds(hospital.sql(COUNT, epsilon=1)).values()
    assert hospital.preview(COUNT, within=10 * most).to_json()["error"]["n"] <= 10 * most
