"""Twins: random schema, data, neighbour and questions, through the whole path. Nothing that is seen may tell the neighbours apart.

500 questions in `make test`, 10,000 in `make soak`.
"""

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.plan.asked import questions, schemas, twins
from tests.plan.pipeline import told_apart
from tests.scale import repeats

TOGETHER = 4  # questions to one pair of tables
OUTCOMES: Counter[str] = Counter()


@st.composite
def cases(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    schema = draw(schemas())
    price = draw(
        st.sampled_from([{"epsilon": 1}, {"epsilon": 0.1, "delta": 1e-6}, {"epsilon": 2, "delta": 0}, {"within": 50}])
    )
    texts = draw(st.lists(questions(schema), min_size=TOGETHER, max_size=TOGETHER))
    return schema, draw(twins(schema)), texts, price


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@settings(
    max_examples=repeats(125),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
@given(case=cases())
def test_no_question_tells_neighbours_apart(case) -> None:  # type: ignore[no-untyped-def]
    schema, pair, texts, price = case
    with tempfile.TemporaryDirectory() as folder:
        for text, (found, first) in zip(texts, told_apart(schema, pair, texts, Path(folder), **price), strict=True):
            assert found == [], (text, schema, pair)
            OUTCOMES[first.status] += 1


def test_most_of_the_questions_were_answered() -> None:
    if not OUTCOMES:
        pytest.skip("the twins ran in another process")
    assert OUTCOMES["answer"] >= sum(OUTCOMES.values()) / 3, OUTCOMES
    assert set(OUTCOMES) <= {"answer", "QueryError", "Refused"}, OUTCOMES
