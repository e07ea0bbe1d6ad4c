"""What was surveyed is used wherever a declaration is missing, and for nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.facts import Known
from discreet.curator.session import Curator
from discreet.curator.survey.record import Ladder, NoisyNumber
from discreet.curator.surveyed import best, overlaid
from discreet.errors import QueryError
from discreet.plan.scalar import Type

PEOPLE = 300
WARDS = ("A", "B", "C")
ROWS = {
    "who": [f"p{who}" for who in range(PEOPLE) for _ in range(1 + who % 5)],
    "cost": [str(10 + (who * 7) % 90) for who in range(PEOPLE) for _ in range(1 + who % 5)],
    "ward": [WARDS[(who + i) % 3] for who in range(PEOPLE) for i in range(1 + who % 5)],
    "day": [f"2024-03-{1 + who % 28:02}" for who in range(PEOPLE) for _ in range(1 + who % 5)],
}
LARGE = {"epsilon": 10**5, "delta": 1e-7}
ANALYSTS = {"ana": {"epsilon": 3 * 10**5, "delta": 1e-5}, "bob": {"epsilon": 10**5, "delta": 1e-5}}
BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM t GROUP BY ward"


def curator(folder: Path, columns: dict[str, Any] | None = None, **more: Any) -> Curator:
    arguments: dict[str, Any] = {"epsilon": 10**6, "delta": 1e-4, "analysts": ANALYSTS, **more}
    return Curator({"t": ROWS}, "who", columns, ledger=folder / "ledger", **arguments)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Curator]:
    with curator(tmp_path) as opened:
        opened.survey(**LARGE)
        yield opened


def what_was_surveyed_answers(folder: Path) -> None:
    """Keys, types, bounds and limits: questions that had no answer have one, and it is right where noise is next to nothing."""
    with curator(folder) as hospital:
        with pytest.raises(QueryError):
            hospital.preview(BY_WARD, epsilon=1)
        hospital.survey(**LARGE)
        answer = hospital.sql(BY_WARD, epsilon=1000)
        exact = {
            ward: [float(c) for c, w in zip(ROWS["cost"], ROWS["ward"], strict=True) if w == ward] for ward in WARDS
        }
        for row in answer:
            costs = exact[str(row["ward"])]
            assert abs(row["n"] - len(costs)) < 3 and abs(row["s"] - sum(costs)) < 0.02 * sum(costs)  # type: ignore[operator]
        assert any("is from the survey of version 1" in note for note in answer.notes) and "found" not in answer.receipt
        assert any("as they were surveyed on version 1" in note for note in answer.notes)
        assert any(note.startswith("cost is clamped") and "surveyed" in note for note in answer.notes)
        assert answer.receipt["limits"] == {"max_total": 5}
        assert hospital.preview("SELECT COUNT(*) AS n FROM t", within=20).epsilon < 5


def test_what_was_surveyed_answers(tmp_path: Path) -> None:
    what_was_surveyed_answers(tmp_path)


def no_literal_is_impossible(folder: Path) -> None:
    """A survey finds what many share: what it did not find may be there, and may be asked about. Nothing is known never to be missing."""
    with curator(folder) as hospital:
        hospital.survey(**LARGE)
        answer = hospital.sql("SELECT COUNT(*) AS n FROM t WHERE ward = 'Z' OR ward IS NULL", epsilon=100)
        assert abs(answer["n"][0]) < 20  # type: ignore[arg-type, operator]
        table = overlaid(hospital.catalog, hospital.surveyed()).table("t")
        assert all(column.nullable for column in table.columns)
    with curator(folder / "declared", {"ward": {"keys": list(WARDS)}}) as hospital, pytest.raises(QueryError):
        hospital.preview("SELECT COUNT(*) AS n FROM t WHERE ward = 'Z'", epsilon=1)


def test_no_literal_is_impossible(tmp_path: Path) -> None:
    no_literal_is_impossible(tmp_path)


def declarations_come_first(folder: Path) -> None:
    said = {"ward": {"keys": ["A", "Q"]}, "cost": {"type": "number", "bounds": (0, 20)}}
    with curator(folder) as hospital:
        hospital.survey(**LARGE)
    with curator(folder, said, max_rows=2, max_groups=1) as hospital:
        answer = hospital.sql(BY_WARD, epsilon=1000)
        assert answer["ward"] == ["A", "Q"] and "cost is clamped to 0 … 20" in answer.notes
        assert answer.receipt["limits"] == {"max_rows": 2, "max_groups": 1}
        assert hospital.sql("SELECT COUNT(*) AS n FROM t", epsilon=1, max_total=3).receipt["limits"] == {"max_rows": 2}


def test_declarations_come_first(tmp_path: Path) -> None:
    declarations_come_first(tmp_path)


def a_survey_is_for_whom_it_was_charged_to(folder: Path) -> None:
    """What the owner surveys is there for everybody; what an analyst does is theirs alone."""
    with curator(folder) as hospital:
        hospital.survey(**LARGE, columns=["ward"], analyst="ana")
        count = "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"
        for analyst in ("bob", None):
            with pytest.raises(QueryError):
                hospital.preview(count, epsilon=1, delta=0, analyst=analyst)
        hospital.survey(**LARGE)
        for analyst in ("bob", "ana", None):
            assert hospital.sql(count, epsilon=1, analyst=analyst)["ward"] == list(WARDS)


def test_a_survey_is_for_whom_it_was_charged_to(tmp_path: Path) -> None:
    a_survey_is_for_whom_it_was_charged_to(tmp_path)


def older_facts_are_marked(folder: Path) -> None:
    """Of an older version keys are used and marked; a range is not known any more, and a limit is the top of the ladder alone."""
    with curator(folder) as hospital:
        hospital.survey(**LARGE)
        hospital.data_changed("2")
    with curator(folder, version="2") as hospital:
        answer = hospital.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=100)
        assert answer["ward"] == list(WARDS) and any("surveyed on version 1" in note for note in answer.notes)
        assert "max_total" in answer.receipt.get("found", {})
        assert "from 1 to 5 rows" in answer.explain(), "nearly nobody had more"
        with pytest.raises(QueryError, match="bounds"):
            hospital.preview("SELECT SUM(cost) AS s FROM t", epsilon=1)
        hospital.survey(**LARGE)
        assert "found" not in hospital.sql(BY_WARD, epsilon=1).receipt


def test_older_facts_are_marked(tmp_path: Path) -> None:
    older_facts_are_marked(tmp_path)


def test_what_is_filtered_has_the_surveyed_limit_for_its_top(hospital: Curator) -> None:
    answer = hospital.sql("SELECT COUNT(*) AS n FROM t WHERE ward = 'A'", epsilon=100)
    assert answer.receipt["found"]["max_total"] <= 5 and "from 1 to 5 rows" in answer.explain()


def a_question_from_before_is_free(folder: Path) -> None:
    text = "SELECT COUNT(*) AS n FROM t"
    with curator(folder) as hospital:
        first = hospital.sql(text, epsilon=1)
        hospital.survey(**LARGE)
        spent = hospital.spent
        assert (hospital.sql(text, epsilon=1).rows, hospital.spent) == (first.rows, spent)
        hospital.sql(text, epsilon=2)
        assert hospital.spent.epsilon == spent.epsilon + 2


def test_a_question_from_before_is_free(tmp_path: Path) -> None:
    a_question_from_before_is_free(tmp_path)


def test_a_preview_is_what_is_charged(hospital: Curator) -> None:
    for text in (BY_WARD, "SELECT AVG(cost) AS a FROM t", "SELECT COUNT(*) AS n FROM t WHERE day > DATE '2024-03-05'"):
        preview, before = hospital.preview(text, epsilon=1), hospital.spent.epsilon
        answer = hospital.sql(text, epsilon=1)
        assert hospital.spent.epsilon - before == 1 == preview.epsilon == answer.epsilon
        assert set(preview.notes) <= set(answer.notes)


def test_types_are_read_from_texts(hospital: Curator) -> None:
    table = overlaid(hospital.catalog, hospital.surveyed()).table("t")
    kinds = {column.name: (column.type, column.stored) for column in table.columns}
    assert kinds["cost"] == (Type.NUMBER, Type.TEXT) and kinds["day"] == (Type.DATE, Type.TEXT)
    assert kinds["ward"] == (Type.TEXT, None) == kinds["who"]
    late = hospital.sql("SELECT COUNT(*) AS n FROM t WHERE day >= DATE '2024-03-15' AND cost < 50", epsilon=10**4)
    exact = sum(d >= "2024-03-15" and float(c) < 50 for d, c in zip(ROWS["day"], ROWS["cost"], strict=True))
    assert abs(late["n"][0] - exact) < 3  # type: ignore[operator]


def the_best_rung_weighs_cut_against_noise() -> None:
    """The more groups, the less is cut of each, and the more noise there is in all: the limit falls. So does it with the price."""
    ladder = Ladder((1, 2, 4, 8, 16, 32), (50.0, 200.0, 400.0, 200.0, 40.0, 9.0, 0.0), 1.0, NoisyNumber(900.0, 2.0))
    rungs = [best(ladder, cells, epsilon) for cells, epsilon in ((1, 10), (1, 0.1), (20, 0.1), (500, 0.1))]  # type: ignore[arg-type]
    assert rungs == sorted(rungs, reverse=True) and rungs[0] > rungs[-1]
    noise = Ladder(ladder.rungs, (900.0, 0.0, 0.0, 0.0, 3.0, 0.0, 3.0), 2.0)
    assert best(noise, 1, 10) == 1, "noise is taken for nobody"  # type: ignore[arg-type]


def test_the_best_rung_weighs_cut_against_noise() -> None:
    the_best_rung_weighs_cut_against_noise()


def test_without_a_survey_a_catalog_is_what_was_declared(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        assert overlaid(hospital.catalog, Known((), "1")) == hospital.catalog


def test_a_named_key_that_no_survey_found_is_a_group(hospital: Curator) -> None:
    """Whoever names a value is answered about it, whatever a survey found."""
    text = "SELECT ward, COUNT(*) AS n FROM t WHERE ward IN ('A', 'Z') GROUP BY ward"
    answer = hospital.sql(text, epsilon=1000, max_total=5)
    assert answer["ward"] == ["A", "Z"]
    exact = ROWS["ward"].count("A")
    assert abs(answer["n"][0] - exact) < 3 and abs(answer["n"][1]) < 3  # type: ignore[operator]
    with pytest.raises(QueryError, match="there may be others"):
        hospital.preview("SELECT ward, COUNT(*) AS n FROM t WHERE ward > 'X' GROUP BY ward", epsilon=1)
