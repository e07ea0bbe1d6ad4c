"""What is proven disjoint is disjoint: by all rows of small values, for all pairs of many conditions."""

from datetime import date
from itertools import combinations, product

from discreet.plan.disjoint import are_disjoint
from discreet.plan.evaluate import evaluate
from discreet.plan.relation import Filter
from discreet.plan.scalar import Scalar
from discreet.plan.sql import question
from tests.golden.plans import CATALOGS

CATALOG = CATALOGS["row, replace"]
LARGE = 1 << 53
TEXTS = [
    *(f"age {order} {number}" for order in ("<", "<=", "=", ">=", ">", "<>") for number in (18, 65)),
    *(f"weight {order} {number}" for order in ("<", "=", ">=") for number in (0.5, 18, LARGE, LARGE + 1)),
    *(f"age {order} {number}" for order in ("<", "=", ">=") for number in (LARGE, LARGE + 1)),
    *(
        "ward = 'A'",
        "ward <> 'A'",
        "ward = 'B'",
        "ward IN ('A', 'B')",
        "ward IN ('C', 'D')",
        "ward NOT IN ('A', 'B')",
        "ward IS NULL",
    ),
    *("note < 'b'", "note >= 'b'", "note >= 'B' AND note < 'a'", "note = 'b'"),
    *("smoker", "NOT smoker", "smoker IS NULL", "smoker AND age < 18", "NOT smoker OR age >= 18", "NOT (age >= 18)"),
    *("admitted < '2024-01-01'", "admitted >= '2024-01-01'", "admitted = '2024-01-01'"),
    *("age >= 18 AND age < 65", "age BETWEEN 65 AND 70", "age > 17.5 AND age <= 18", "age * 2 < 30", "age * 2 >= 30"),
    *("TRUE", "age = age", "LEAST(age, 3) = 2"),
]
PROVEN = [
    ("age < 18", "age >= 18"),
    ("age = 18", "age = 65"),
    ("age >= 18 AND age < 65", "age BETWEEN 65 AND 70"),
    ("ward = 'A'", "ward IN ('C', 'D')"),
    ("ward = 'A'", "ward <> 'A'"),
    ("age <> 18", "age = 18 AND smoker"),
    ("ward IN ('A', 'B')", "ward NOT IN ('A', 'B')"),
    ("note < 'b'", "note >= 'b'"),
    ("smoker", "NOT smoker"),
    ("smoker AND age < 18", "NOT smoker"),
    ("age >= 18", "NOT (age >= 18)"),
    ("admitted < '2024-01-01'", "admitted = '2024-01-01'"),
    ("age * 2 < 30", "age * 2 >= 30"),
]
VALUES = {
    "age": [None, 1, 15, 17, 18, 20, 64, 65, 68, LARGE, LARGE + 1],
    "weight": [0.25, 0.5, 17.0, 18.0, float(LARGE), float(LARGE) + 2],
    "ward": [None, "A", "C"],
    "note": [None, "B", "a", "b"],
    "smoker": [None, True, False],
    "admitted": [date(2023, 12, 31), date(2024, 1, 1)],
}


def condition(text: str) -> Scalar:
    source = question(f"SELECT COUNT(*) AS n FROM visits WHERE {text}", CATALOG).source
    assert isinstance(source, Filter)
    return source.condition


def test_no_row_meets_two_conditions_that_are_said_to_be_disjoint() -> None:
    rows = [dict(zip(VALUES, row, strict=True)) for row in product(*VALUES.values())]
    met, read = {}, {}
    for text in TEXTS:
        read[text] = condition(text)
        columns = [name for name in VALUES if name in text]
        where = {tuple(row[name] for name in columns): row for row in rows}
        true = {values for values, row in where.items() if evaluate(read[text], row) is True}
        met[text] = {i for i, row in enumerate(rows) if tuple(row[name] for name in columns) in true}
    for one, other in combinations(TEXTS, 2):
        if are_disjoint([read[one], read[other]]):
            assert not met[one] & met[other], (one, other)


def test_what_is_plainly_disjoint_is_proven() -> None:
    for one, other in PROVEN:
        assert are_disjoint([condition(one), condition(other)]) and are_disjoint([condition(other), condition(one)]), (
            one
        )
    assert not are_disjoint([condition("age < 18"), condition("age >= 18"), condition("age = 3")])
