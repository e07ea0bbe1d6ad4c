"""What follows from an answer is what its rows imply, to the last digit, and nothing else follows; it costs nothing, and writes nothing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from discreet.answer import Answer
from discreet.curator.asked import Asked
from discreet.curator.session import Curator
from discreet.errors import QueryError
from discreet.plan.derived.following import Derivation, following
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.draft import draft
from discreet.plan.plan import Plan, Stage
from discreet.plan.release import exact_totals
from discreet.plan.sql import question
from tests.curator.implied import LIMITS, NUMBERS, Pair, follows, implied, pair
from tests.scale import repeats

PAIRS = repeats(60)
COLUMNS: dict[str, Any] = {
    "ward": {"keys": ["A", "B", "C"]},
    "smoker": {"type": "boolean"},
    "day": {"type": "date", "bounds": (date(2023, 1, 1), date(2024, 12, 31))},
    "age": {"type": "integer", "bounds": (0, 99)},
    "cost": {"type": "integer", "bounds": (0, 100)},
}
PLACES = {"ward": ["A", "B", "C"], "region": ["east", "east", "west"]}


def people(random: Random, rows: int, dirty: bool = False) -> dict[str, list[Any]]:
    """Rows of a few people with several each; `dirty` ones have what nobody declared, too."""
    wards = ["A", "B", "C", *(["Q", None] if dirty else [])]
    first = date(2023, 1, 1) - timedelta(days=40 * dirty)
    return {
        "person": [str(random.randint(1, rows // 3)) for _ in range(rows)],
        "ward": [random.choice(wards) for _ in range(rows)],
        "smoker": [random.choice(["true", "false", *([None] if dirty else [])]) for _ in range(rows)],
        "day": [str(first + timedelta(days=random.randint(0, 730 + 60 * dirty))) for _ in range(rows)],
        "age": [str(random.randint(0, 99 + 20 * dirty)) for _ in range(rows)],
        "cost": [random.choice([None, str(random.randint(-5, 105))]) for _ in range(rows)],
    }


def curator(unit: str, rows: int = 90, analysts: int = 1, dirty: bool = False, **more: Any) -> Curator:
    names = {f"a{i}": {"epsilon": 1000, "delta": 1e-4} for i in range(analysts)}
    arguments: dict[str, Any] = {"row": True} if unit == "row" else {"unit": "person"}
    arguments |= {"columns": {"v": COLUMNS}, "public": {"places": PLACES}, "epsilon": 10**6, "delta": 0.01}
    arguments |= {"ledger": ":memory:", "analysts": names} | more
    return Curator({"v": people(Random(5), rows, dirty)}, **arguments)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def limits(unit: str, asked: Pair) -> dict[str, int]:
    return LIMITS[asked.limits] if unit == "person" else {}


def derived(each: Curator, unit: str, asked: Pair, analyst: str | None) -> Answer | None:
    try:
        return each.derive(asked.sql(), analyst=analyst, **limits(unit, asked))
    except QueryError as error:
        assert error.code == "not-derived", error
        return None


def same_number(found: Any, expected: Any) -> bool:
    return found == expected if not isinstance(expected, Fraction) else Fraction(found) == expected


def check_is_implied(first: Pair, second: Pair, rows: list[dict[str, Any]], answer: Answer) -> None:
    """All groups, with numbers that are equal to the last digit; a ratio may be NULL where its count is too small to tell."""
    expected = implied(first, second, rows)
    found = {tuple(row[key] for key in second.keys): row for row in answer.to_dicts(errors=True)}
    if not second.ends:
        assert found.keys() == expected.keys(), (first.sql(), second.sql())
    else:
        assert [*found] == sorted(found, key=lambda group: group[:1], reverse=True) or not second.keys
        assert len(found) == min(2, len(expected))
    for group, row in found.items():
        for name in second.numbers:
            told, number = row[name], expected[group][name]
            if told is None and name in "ar":
                continue
            assert same_number(told, number), (name, told, number, first.sql(), second.sql())


def test_what_follows_is_what_rows_imply() -> None:
    """Over pairs of questions; whether one follows is told from the rows of the other, too, and each reason why not occurs."""
    random, seen = Random(20), Counter[str]()
    for unit in ("row", "person"):
        with curator(unit, analysts=PAIRS) as each:
            for i in range(PAIRS):
                first, second = pair(random)
                if unit == "row" and "p" in (*first.numbers, *second.numbers):
                    continue
                answer = each.sql(first.sql(), epsilon=random.choice([1, 20]), analyst=f"a{i}", **limits(unit, first))
                before = each._store.head()
                found = derived(each, unit, second, f"a{i}")
                assert each._store.head() == before
                rows = answer.to_dicts()
                why = follows(first, second, unit, rows)
                assert (found is None) == bool(why), (why, first.sql(), second.sql())
                seen[why] += 1
                if found is not None:
                    check_is_implied(first, second, rows, found)
                    assert (found.epsilon, found.delta) == (0, 0)
                    assert found.receipt["derived"]["question"] == first.sql()
                    seen.update(f"by {each}" for each in second.numbers)
                    seen.update({f"{unit} {first.limits}": 1, "sorted": bool(second.ends), first.source: 1})
                    seen["merged"] += len(found) < len(rows)
    reasons = {"", "other rows", "a condition on no key", "a key of no key", "groups that were left out"}
    reasons |= {"a ratio of what was not asked", "a mean of means", "people over groups", "limits on what is no sum"}
    kinds = {f"by {each}" for each in (*NUMBERS, "r")} | {f"person {each}" for each in LIMITS}
    assert all(seen[each] for each in reasons | kinds | {"merged", "sorted", "join", "table"}), seen
    assert seen[""] > PAIRS / 3, seen


def test_rows_that_were_left_out_follow_from_nothing() -> None:
    with curator("row") as each:
        each.sql("SELECT ward, COUNT(*) AS n FROM v WHERE ward IN ('A', 'B') GROUP BY ward", epsilon=1)
        each.derive("SELECT COUNT(*) AS n FROM v WHERE ward = 'A'")
        for text in ("SELECT COUNT(*) AS n FROM v", "SELECT COUNT(*) AS n FROM v WHERE ward IN ('A', 'C')"):
            with pytest.raises(QueryError, match="follows from no answer"):
                each.derive(text)


# What it estimates.


def exactly(plan: Plan, each: Curator, salt: int) -> Answer:
    """The answer of a plan without any noise, under the limits that one salt gives."""
    return Answer.make(plan, exact_totals(plan, each._loaded().run(plan.query, salt)), text="")


def of_exact_numbers(
    each: Curator, first: Pair, second: Pair, unit: str, analyst: str
) -> tuple[Derivation, Plan] | None:
    """What would follow from an answer without noise, and the plan by which the question would be answered by itself."""
    asked = Asked(second.sql(), epsilon=1, analyst=analyst, **limits(unit, second))
    catalog = each._declared_for(asked)
    start = draft(question(asked.text, catalog), catalog)
    for _, (kept, _) in each._kept_answers(each._store, asked, start):
        answer = exactly(kept.plan, each, 7)
        exact = KeptAnswer.of(kept.plan, kept.protected, kept.missing, answer.rows, answer.intervals)
        found = following(start, catalog.protected, exact)
        if found is not None:
            return found, each._planned(asked, each._delta_of(analyst))
    return None


def test_where_nothing_differs_it_is_what_the_question_estimates() -> None:
    """The totals of its own plan without noise are those that follow, of data in which people have many rows, and of what nobody declared;
    where something differs, they can be others."""
    random, seen = Random(26), Counter[str]()
    for unit in ("row", "person"):
        with curator(unit, rows=240, analysts=PAIRS, dirty=True) as each:
            for i in range(PAIRS):
                first, second = (replace(pairs, numbers=("n", "m", "s"), ends="") for pairs in pair(random))
                each.sql(first.sql(), epsilon=20, analyst=f"a{i}", **limits(unit, first))
                found = of_exact_numbers(each, first, second, unit, f"a{i}")
                if found is None:
                    continue
                follows, own = found
                if not isinstance(own.stage, Stage):
                    continue  # its limits are found anew
                alike = (
                    Answer.make(follows.plan, follows.released, text="").to_dicts() == exactly(own, each, 7).to_dicts()
                )
                if unit == "person" and first.keys != second.keys and not follows.differs:
                    continue  # whose groups have other names: they are chosen alike, and not the same ones
                assert alike or follows.differs, (first.sql(), second.sql(), first.limits)
                seen[f"{unit} {'differs' if follows.differs else 'same'} {alike}"] += 1
                if not follows.differs:
                    seen[f"{unit} sums"] += max(follows.plan.decided.cells) > 1
                    seen[f"{unit} of some"] += bool(second.conditions)
    assert seen["row sums"] > 2 and seen["row of some"] > 2 and seen["person of some"] > 2, seen
    assert seen["row differs False"] and seen["person differs False"], seen
