"""Random and spoiled text over the whole grammar, planned to the end: a plan, or a refusal with a code and a hint; and never for long."""

import random
import time

import pytest

from discreet.errors import DiscreetError, Fault
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


@pytest.mark.parametrize("text", BOMBS, ids=[f"{text[:30]}…{text[-20:]}" for text in BOMBS])
def test_what_asks_for_very_much_is_planned_or_refused(text: str) -> None:
    outcome(text, CATALOGS["person, add-remove"])
