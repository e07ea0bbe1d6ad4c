"""A data file without a policy: what was said at its first question is remembered, and nothing else can be said later."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.curator.data_file import DataFile
from discreet.curator.session import Curator
from discreet.errors import DiscreetError
from tests.curator.cases import code_of

COUNT = "SELECT COUNT(*) AS n FROM visits"
UNITS: list[dict[str, Any]] = [
    {"unit": "patient"},
    {"unit": "patient", "adjacency": "replace"},
    {"row": True},
    {"row": True, "adjacency": "replace"},
]


def file_of(folder: Path) -> Path:
    path = folder / "visits.csv"
    path.write_text("patient,ward\n1,A\n2,B\n", "utf-8")
    return path


@contextmanager
def opened(data: DataFile) -> Iterator[Curator]:
    with Curator.of(data.policy({}, {}), data.path, place=data.place) as curator:
        yield curator


@pytest.mark.parametrize("said", UNITS, ids=str)
def test_what_was_said_at_the_first_question_is_remembered(tmp_path: Path, said: dict[str, Any]) -> None:
    path = file_of(tmp_path)
    assert code_of(lambda: DataFile(path).policy({}, {})) == "unit" and DataFile(path).is_new
    with opened(DataFile(path, **said, budget=Fraction(2))) as curator:
        curator.sql(COUNT, epsilon=1)
        first = curator.policy
        curator.data_changed()
    again = DataFile(path).policy({}, {})
    assert not DataFile(path).is_new
    assert (again.protected.relation, again.protected.person) == (first.protected.relation, first.protected.person)
    assert (again.budget.epsilon, again.accountant, again.version) == (Fraction(2), "pure", "2")


@pytest.mark.parametrize("said", UNITS, ids=str)
def test_what_was_fixed_at_the_first_question_stays(tmp_path: Path, said: dict[str, Any]) -> None:
    path = file_of(tmp_path)
    with opened(DataFile(path, **said, budget=Fraction(2))) as curator:
        curator.sql(COUNT, epsilon=1)
    assert code_of(lambda: DataFile(path, budget=Fraction(20)).policy({}, {})) == "budget-fixed"
    for other in [*UNITS, {"unit": "ward"}]:
        if other == said:
            continue
        with opened(DataFile(path, **{"adjacency": "add-remove"} | other)) as curator:
            with pytest.raises(DiscreetError) as refusal:
                curator.sql(COUNT, epsilon=0.1)
            assert refusal.value.code == "relation"


def remembered_of_persons_who_are_replaced(tmp_path: Path) -> None:
    test_what_was_said_at_the_first_question_is_remembered(tmp_path, UNITS[1])


def fixed_of_persons(tmp_path: Path) -> None:
    test_what_was_fixed_at_the_first_question_stays(tmp_path, UNITS[0])
