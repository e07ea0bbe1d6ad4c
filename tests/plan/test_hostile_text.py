"""Random and spoiled text over the whole grammar, planned to the end: a plan, or a refusal with a code and a hint; and never for long."""

import random
import time
from typing import Any

import pytest

from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Fault, QueryError
from discreet.plan.catalog import Catalog
from discreet.plan.explain import explain
from discreet.plan.private import plan_for
from discreet.plan.sql import question
from tests.golden.plans import CATALOGS, NOTHING_DECLARED, WITH_DATES
from tests.plan.grammar import BOMBS, Grammar
from tests.plan.test_malformed import LONGEST
from tests.scale import repeats

PLANNED = {**CATALOGS, **NOTHING_DECLARED, **WITH_DATES}
DELTA = 1e-6


def outcome(text: str, catalog: Catalog, params: object = None) -> str:
    """The code of the refusal, or "" for a plan."""
    start = time.thread_time()
    try:
        plan = plan_for(question(text, catalog, params), catalog, 1, DELTA)  # type: ignore[arg-type]
        explain(plan)
    except Fault:
        raise
    except DiscreetError as error:
        assert error.code and error.message and error.hint, (text, error)
        code = error.code
    else:
        code = ""
    assert time.thread_time() - start < 2 * LONGEST, text[:500]
    return code


def all_end_well(seed: int, many: int, spoil: bool) -> dict[str, int]:
    draw = random.Random(seed)
    grammar, units = Grammar(draw), list(PLANNED)
    seen: dict[str, int] = {}
    for i in range(many):
        text = grammar.question()
        if spoil:
            text = grammar.spoiled(text)
        code = outcome(text, PLANNED[units[i % len(units)]])
        seen[code] = seen.get(code, 0) + 1
    return seen


def test_random_questions_are_planned_or_refused() -> None:
    seen = all_end_well(1, repeats(250), False)
    assert seen.get("", 0) > 10 and len(seen) > 10, seen


def test_spoiled_questions_are_planned_or_refused() -> None:
    seen = all_end_well(2, repeats(350), True)
    assert len(seen) > 10, seen


HOSTILE = {
    "age": ("7", "40", "-5", "999", ""),
    "cost": ("0", "1.5", "1e300", "-inf", "nan", ""),
    "weight": ("1",),
    "ward": ("A", "B", "Z", "", "Ä"),
    "admitted": ("2024-01-05", "0001-01-01", "9999-12-31", "2023-02-29", ""),
    "smoker": ("true", "false", "", "maybe"),
    "note": ("x", "%", "'", "\\", "7", "", "Ä🙂"),
}
DECLARED = {
    "age": {"type": "integer", "bounds": (0, 120)},
    "cost": {"type": "number", "bounds": (0, 10_000)},
    "weight": {"type": "number", "bounds": "auto"},
    "ward": {"keys": ["A", "B", "C"]},
    "admitted": {"type": "date", "bounds": ("2023-11-15", "2025-02-10")},
    "smoker": {"type": "boolean"},
}
WHOM: list[dict[str, Any]] = [
    {"unit": "patient_id", "max_groups": 2, "max_rows": 3},
    {"row": True, "adjacency": "replace"},
    {"unit": "patient_id", "clip": "l2", "max_groups": 2, "max_rows": 2},
    {"unit": "patient_id"},
]


def test_random_questions_are_answered_or_refused() -> None:
    """Through the whole path, over hostile cells: no fault, whatever is asked."""
    draw = random.Random(4)
    rows = {"patient_id": [str(i % 25) for i in range(60)]}
    rows |= {name: [draw.choice(values) for _ in range(60)] for name, values in HOSTILE.items()}
    grammar, answered = Grammar(draw), 0
    for whom in WHOM:
        with Curator(
            {"visits": rows}, columns=DECLARED, epsilon=10**6, delta=1e-2, ledger=":memory:", **whom
        ) as hospital:
            for _ in range(repeats(25)):
                text = grammar.question()
                try:
                    answer = hospital.sql(text, epsilon=1, delta=DELTA)
                except QueryError as error:
                    assert error.code and error.hint, text
                else:
                    answered += bool(str(answer) and answer.explain())
    assert answered > 10


@pytest.mark.parametrize("text", BOMBS, ids=[f"{text[:30]}…{text[-20:]}" for text in BOMBS])
def test_what_asks_for_very_much_is_planned_or_refused(text: str) -> None:
    outcome(text, CATALOGS["person, add-remove"])
