"""What may be published under a table: made of every golden question, and true to its plan; of nothing but what was released."""

import re
from dataclasses import replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.answer import Answer
from discreet.answer.citation import PROMISED
from discreet.errors import DiscreetError, Refused
from discreet.plan.counted import counted
from discreet.plan.plan import Plan
from discreet.plan.relation import CapGroups, CapRows, CapTotal, scans, walk
from discreet.plan.scalar import is_key
from discreet.privacy import Relation
from tests.curator.test_within import BY_WARD, opened, visits
from tests.golden import plans as golden
from tests.plan.test_within import one_unit_each

NUMBERS = re.compile(r"differentially private with ε = ([0-9.e+-]+)(?:, δ = ([0-9.e+-]+))?: (.*?) makes no result")


def released(plan: Plan, number: int) -> list[Any]:
    """Something that may have been released of a decided plan."""
    stages = [plan.decided, *(each for each in plan.decided.levels if each is not None)]
    return [np.full(len(stage.domain), number, np.int64) for stage in stages for _ in range(stage.width)]


def is_true_to_its_plan(plan: Plan, text: str) -> str:
    """The words for an answer of a plan: its price, never less; its relation, limits and numbers; and the same for other numbers."""
    plan = next(plan.examples())
    answer = Answer.make(plan, released(plan, 1), text=text)
    words = answer.cite()
    if plan.epsilon:
        said = NUMBERS.search(words)
        assert said is not None and said[3] == PROMISED[str(plan.relation)]
        assert Fraction(said[1]) >= plan.epsilon >= Fraction(said[1]) * Fraction(99999, 100000)
        assert Fraction(said[2] or 0) >= plan.delta >= Fraction(said[2] or 0) * Fraction(99999, 100000)
        factor = re.search(r"e\^ε = ([0-9.e+]+)", words)
        assert factor is None or float(factor[1]) >= exp(float(plan.epsilon)) * (1 - 1e-12)
    else:
        assert "public" in words and "ε" not in words
    for part in (each for query in plan.decided.queries for each in walk(query)):
        if isinstance(part, CapRows | CapGroups | CapTotal) and plan.epsilon and not plan.question.levels:
            assert f"{part.most:,}" in words, (part, words)
    assert all(scan.table in words for scan in scans(plan.question.source))
    for name, output in zip(plan.question.names, plan.question.outputs, strict=True):
        assert is_key(output.value) or name in words or output.heading
    assert words.endswith(f"Made with discreet {discreet.__version__}.")
    measured = any(span is not None for row in answer.intervals for span in row)
    assert ("in 95 of 100 such releases" in words) is measured
    assert "\n" not in words
    other = Answer.make(plan, released(plan, 0), text=text).cite()
    fixed = [each for each in words.split(". ") if "±" not in each and "no ±" not in each]
    assert [each for each in other.split(". ") if "±" not in each and "no ±" not in each] == fixed
    return words


def test_every_golden_question_has_words_that_are_true_to_its_plan() -> None:
    seen = 0
    for name, unit in one_unit_each():
        plan, text = golden.kept(name, unit, golden.EPSILON, golden.DELTA), golden.questions()[name]
        if not isinstance(plan, DiscreetError) and "MODE" not in text:
            is_true_to_its_plan(plan, text)
            seen += 1
    assert seen > 200


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("row", [False, True])
def test_each_relation_has_words_of_its_own(adjacency: str, row: bool) -> None:
    assert len(set(PROMISED.values())) == len(PROMISED) == 4
    unit: dict[str, Any] = {"unit": None, "row": True} if row else {"unit": "pid"}
    unit |= {"adjacency": adjacency, "max_rows": None if row else 2, "ledger": ":memory:"}
    with discreet.Curator({"visits": visits()}, epsilon=3, **unit) as clinic:
        words = clinic.sql("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", epsilon=1).cite()
        assert ("replacing" in words) is (adjacency == "replace") and ("row" in words.split(":")[1]) is row
        assert isinstance(clinic.catalog.protected.relation, Relation)


def test_the_words_hold_nothing_of_the_data() -> None:
    """Two data sets as different as can be: the words below their answers are the same, but that a number may have no ± by chance."""
    texts = [BY_WARD, "SELECT COUNT(*) AS n FROM visits WHERE age > 30", f"{BY_WARD} ORDER BY n LIMIT 1"]
    with opened() as one, opened(visits(people=2, cost=1)) as other:
        for text in texts:
            words = [curator.sql(text, epsilon=1).cite().split(". ") for curator in (one, other)]
            first, second = ([each for each in found if not each.startswith("Where no ±")] for found in words)
            assert first == second and len(first) > 4


def test_a_kept_answer_has_the_same_words() -> None:
    with opened() as clinic:
        first = clinic.sql(BY_WARD, epsilon=1).cite()
        assert clinic.sql(BY_WARD, epsilon=1).cite() == first
        assert "99 of 100" in clinic.sql(BY_WARD, epsilon=1, confidence=0.99).cite()
        alone = Answer.from_bytes(clinic.sql(BY_WARD, epsilon=1).to_bytes())
        assert alone.cite().startswith(BY_WARD) and alone.cite().partition(". ")[2] == first.partition(". ")[2]


def test_an_answer_that_is_not_private_has_none() -> None:
    plan = golden.kept("count", "person, add-remove", golden.EPSILON, golden.DELTA)
    assert isinstance(plan, Plan)
    answer = Answer.make(plan, released(plan, 1), text="?", receipt={"private": False})
    with pytest.raises(Refused, match="not private"):
        answer.cite()
    assert replace(answer, receipt={**answer.receipt, "private": True}).cite()


def test_a_text_cannot_steer_a_terminal() -> None:
    plan = golden.kept("count-where", "person, add-remove", golden.EPSILON, golden.DELTA)
    assert isinstance(plan, Plan)
    assert (
        "\x1b" not in Answer.from_bytes(Answer.make(plan, released(plan, 1), text="SELECT '\x1b[2J'").to_bytes()).cite()
    )
    assert counted(plan.question).startswith("n = COUNT(*) of visits; where")
