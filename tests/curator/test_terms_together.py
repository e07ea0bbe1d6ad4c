"""Terms of questions beside each other: parts of the people, the people who were sampled, confidence, accuracy, and what follows."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.session import Curator
from discreet.errors import QueryError

PEOPLE = 900
REGIONS = ("north", "south", "west")
VISITS: dict[str, list[Any]] = {
    "who": [i for i in range(PEOPLE) for _ in range(1 + i % 3)],
    "region": [REGIONS[i % 2] for i in range(PEOPLE) for _ in range(1 + i % 3)],
    "ward": ["AB"[(i + j) % 2] for i in range(PEOPLE) for j in range(1 + i % 3)],
    "cost": [float((7 * i + j) % 100) for i in range(PEOPLE) for j in range(1 + i % 3)],
}
BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE region = 'north' GROUP BY ward"
IN_ALL = "SELECT COUNT(*) AS n FROM visits WHERE region = 'north' AND ward IN ('A', 'B')"
IN_ONE = "SELECT COUNT(*) AS n FROM visits WHERE region = 'north' AND ward = 'A'"
MEAN = "SELECT ward, AVG(cost) AS mean FROM visits WHERE region = 'north' GROUP BY ward"


@contextmanager
def hospital_in_parts() -> Iterator[Curator]:
    """With parts; what a person has in a group is never cut off, so that nothing that follows differs."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator(
            {"visits": VISITS},
            "who",
            {"region": {"keys": REGIONS}, "ward": {"keys": ["A", "B"]}, "cost": {"bounds": (0, 100)}},
            epsilon=8,
            delta=1e-6,
            people=PEOPLE,
            max_rows=3,
            max_groups=2,
            parts={
                "table": "visits",
                "column": "region",
                "budgets": {"north": {"epsilon": 4}, "south": {"epsilon": 1}},
            },
            analysts={"ana": {"epsilon": 3}},
            ledger=Path(folder) / "ledger",
        ) as curator,
    ):
        yield curator


@pytest.fixture(name="hospital")
def _hospital() -> Iterator[Curator]:
    with hospital_in_parts() as curator:
        yield curator


def spent(curator: Curator) -> tuple[Any, dict[str, Any]]:
    """What was spent in all, and in each part."""
    return curator.spent.epsilon, {name: each.spent.epsilon for name, each in curator.budgets().parts.items()}


def test_sampled_people_of_a_part_are_paid_for_there_and_told_at_any_confidence(hospital: Curator) -> None:
    answers = [hospital.sql(MEAN, epsilon=1, population=True, confidence=each) for each in (0.9, 0.95, 0.99)]
    assert spent(hospital) == (1, {"north": 1, "south": 0})
    assert len({answer.rows for answer in answers}) == 1
    errors = [[row["mean_error"] for row in answer.to_dicts(errors=True)] for answer in answers]
    assert errors[0] < errors[1] < errors[2]
    assert [answer.confidence for answer in answers] == [0.9, 0.95, 0.99]
    assert all("people who were sampled" in answer.cite() and "region" in answer.cite() for answer in answers)


def test_all_numbers_at_once_are_told_at_any_confidence(hospital: Curator) -> None:
    """Of counts and sums, whose ± hangs on nothing that is drawn."""
    usual, together = (
        [hospital.sql(BY_WARD, epsilon=1, simultaneous=both, confidence=each) for each in (0.9, 0.99)]
        for both in (None, True)
    )
    for alone, both in zip(usual, together, strict=True):
        pairs = zip(alone.to_dicts(errors=True), both.to_dicts(errors=True), strict=True)
        assert all(one[error] < other[error] for one, other in pairs for error in ("n_error", "s_error"))
        assert f"{100 * both.confidence:g} of 100 such releases all numbers together" in both.cite()
    assert spent(hospital)[0] == 2


def test_a_quote_fits_the_budget_of_its_part_and_that_of_the_data(hospital: Curator) -> None:
    south, whole = (
        [row["fits"] for row in hospital.quote(text, epsilons=[0.5, 2, 9]).to_json()["quotes"]]
        for text in (
            "SELECT COUNT(*) AS n FROM visits WHERE region = 'south'",
            "SELECT COUNT(*) AS n FROM visits",
        )
    )
    assert (south, whole) == ([True, False, False], [True, True, False])
    answer = hospital.sql("SELECT COUNT(*) AS n FROM visits WHERE region = 'south'", epsilon=0.75)
    assert answer.remaining == {"epsilon": 0.25, "delta": 0.0}
    left = hospital.quote("SELECT COUNT(*) AS m FROM visits WHERE region = 'south'", epsilons=[0.25, 0.5])
    assert [row["fits"] for row in left.to_json()["quotes"]] == [True, False]
    # north may still take all of its budget: what was spent in the south is spent on others
    north = hospital.quote("SELECT COUNT(*) AS n FROM visits WHERE region = 'north'", epsilons=[4, 5])
    assert [row["fits"] for row in north.to_json()["quotes"]] == [True, False]
    # how much is left in a part would tell an analyst what others did there
    theirs = hospital.quote("SELECT COUNT(*) AS m FROM visits WHERE region = 'south'", epsilons=[0.5], analyst="ana")
    assert [row["fits"] for row in theirs.to_json()["quotes"]] == [True]


def test_what_follows_is_of_the_same_part_alone(hospital: Curator) -> None:
    stored = hospital.sql(BY_WARD, epsilon=1)
    before = spent(hospital)
    found = hospital.derive(IN_ALL)
    assert found["n"] == [sum(stored["n"])] and spent(hospital) == before
    for text, part in (
        ("SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B')", None),
        ("SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B')", "south"),
        (IN_ALL.replace("north", "south"), None),
        (IN_ALL.replace("region = 'north'", "region IN ('north')"), None),
    ):
        with pytest.raises(QueryError) as error:
            hospital.derive(text, part=part)
        assert error.value.code == "not-derived"


def test_what_follows_is_not_taken_for_more_than_it_is(hospital: Curator) -> None:
    """Its ± is for the noise of what was released, at 95 %: who asks for other ± pays, and who names a column is told of it."""
    hospital.sql(BY_WARD, epsilon=1)
    paid = spent(hospital)[0]
    free = hospital.derive(IN_ONE)
    error = free.to_dicts(errors=True)[0]["n_error"]
    assert not free.receipt["derived"]["differs"], "the deciding case"
    assert hospital.sql(IN_ONE, within={"n": error}).rows == free.rows and spent(hospital)[0] == paid
    for number, terms in enumerate(({"confidence": 0.9}, {"within": {"n": error - 1}}, {"simultaneous": True}), 1):
        asked = {"within": {"n": error}} | terms
        answer = hospital.sql(IN_ONE, **asked)
        assert answer.epsilon > 0 and "derived" not in answer.receipt, terms
        assert len(hospital.history()) > number
    assert spent(hospital)[0] > paid
    with pytest.raises(QueryError) as refused:
        hospital.derive(IN_ONE, within={"m": 3})
    assert refused.value.code == "within"


def test_a_citation_of_what_follows_promises_what_was_paid(hospital: Curator) -> None:
    hospital.sql(BY_WARD, epsilon=2)
    words = hospital.derive(IN_ALL).cite()
    assert "follows from an earlier release" in words and "ε = 2" in words and "Nothing here was measured" not in words
    hospital.sql(
        "SELECT ward, COUNT(*) AS n FROM visits WHERE region = 'south' GROUP BY ward", epsilon=0.5, max_groups=1
    )
    differing = hospital.derive(IN_ALL.replace("north", "south"), max_groups=1)
    assert differing.receipt["derived"]["differs"]
    assert all(each in differing.cite() for each in differing.receipt["derived"]["differs"])


def test_a_size_is_that_of_the_people_who_are_asked_about(hospital: Curator) -> None:
    """The same text about a part, by `part`, and about all, has two sizes: an answer to one does not tell the other."""
    text = "SELECT COUNT(*) AS n FROM visits WHERE cost >= 20"
    hospital.sql(text, epsilon=1)
    hospital.preview(text, within="5%")
    with pytest.raises(QueryError) as error:
        hospital.preview(text, within="5%", part="north")
    assert error.value.code == "within"
    hospital.sql(text, epsilon=1, part="north")
    part, whole = (hospital.preview(text, within="5%", part=each).epsilon for each in ("north", None))
    assert part > whole
