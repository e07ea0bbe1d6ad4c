"""Bugs that were published of other systems' plans, each a test that it is not here, over every shape of question that there is.

A test is named by what the bug was. Most of them were no bugs of noise, but of what stood around it: a bound that belonged to a name, a
number of rows that was taken for public, a function of one row that was none, a factor.
"""

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import exp, sqrt
from pathlib import Path
from statistics import NormalDist

import pytest

from discreet.errors import QueryError
from discreet.mechanisms import Geometric
from discreet.mechanisms.additive import NoiseShape
from discreet.plan.catalog import Catalog
from discreet.plan.finding import selecting
from discreet.plan.post import released_rows
from discreet.plan.private import plan_for
from discreet.plan.releases.distinct import DistinctValues
from discreet.plan.sql import question
from discreet.plan.steps.keys import FindKeys
from discreet.privacy import Adjacency
from tests.attacks.shapes import PERSON, ROW, SHAPES, UNITS, T, any_row, engine, exact, moved, neighbours, planned
from tests.plan.asked import Twins
from tests.plan.pipeline import curator, write
from tests.plan.test_security import OTHERS, nothing_tells, pair, row
from tests.plan.test_security import PERSON as PEOPLE
from tests.plan.test_security import UNITS as SCHEMAS
from tests.rehearsed import rehearsed
from tests.scale import repeats


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def refused(text: str, *codes: str) -> None:
    """A question is refused before anything is planned or read, with one of some codes and a hint."""
    for unit in (PERSON, ROW):
        with pytest.raises(QueryError) as caught:
            planned(text, unit)
        assert not codes or caught.value.code in codes, (text, caught.value.code)
        assert caught.value.hint


# A sensitivity that is wrong by a factor; a clamp on the column and not on the argument; a bound that a new column of an old name keeps.


def a_wrong_factor(tries: int = 6) -> None:
    """No neighbour moves a measurement by more than its noise is made for, whatever the shape, under both relations and each limit."""
    draw = random.Random(19)
    for text, unit in product(SHAPES, UNITS):
        plan = planned(text, unit) if "DISTINCT" not in text or unit.person else None
        for salt in range(repeats(tries) if plan else 0):
            first, second = (exact(plan, rows, salt) for rows in neighbours(draw, unit))  # type: ignore[arg-type]
            for far, allowed in moved(plan, first, second):  # type: ignore[arg-type]
                assert far <= allowed, (text, unit)


def test_a_sensitivity_that_is_wrong_by_a_factor() -> None:
    a_wrong_factor()


def a_clamp_on_the_column() -> None:
    """What a row gives to a sum is within the bounds of the argument, and these are as wide as the argument is."""
    for argument, width in (
        ("x * 1000", 3000),
        ("x", 3),
        ("x * x", 21),
        ("CASE WHEN x > 3 THEN 1000 ELSE x END", 998),
        ("POWER(x, 3)", 117),
    ):
        for text in (f"SELECT SUM({argument}) FROM t", f"SELECT SUM(x) FROM (SELECT {argument} AS x FROM t)"):
            (each,) = planned(text, replace(ROW, adjacency=Adjacency.REPLACE)).measurements
            assert each.sensitivity * each.step >= width, (text, float(each.sensitivity * each.step))
        (spread,) = (
            each
            for each in planned(f"SELECT VAR_POP({argument}) FROM t", ROW).measurements
            if each.said == "centred squares"
        )
        assert float(spread.sensitivity * spread.step) >= 0.9 * F(width, 2) ** 2 / 2, argument


def test_a_clamp_on_the_column_and_not_on_the_argument() -> None:
    a_clamp_on_the_column()
    far = row(age="99999", cost="1e300")
    texts = [
        "SELECT SUM(age) AS s FROM (SELECT age * 1000 AS age FROM visits) AS v",
        "WITH v AS (SELECT cost AS age, age AS cost, ward FROM visits) SELECT ward, SUM(age) AS s, AVG(cost) AS a FROM v GROUP BY ward",
        "SELECT STDDEV(cost * 1000) AS d, CORR(cost, age * age) AS r FROM visits",
    ]
    for schema in SCHEMAS:
        nothing_tells(schema, pair(schema, far, far), texts)


def test_a_redefined_column_keeps_its_old_bound() -> None:
    """Through as many levels as there are, whichever way it is written: the noise is that of what is meant."""
    for levels in range(1, 5):
        inner = "t"
        for _ in range(levels):
            inner = f"(SELECT x * 10 AS x FROM {inner})"
        names = ", ".join(f"v{i} AS (SELECT x * 10 AS x FROM {'t' if i == 0 else f'v{i - 1}'})" for i in range(levels))
        for text in (f"SELECT SUM(x) FROM {inner}", f"WITH {names} SELECT SUM(x) FROM v{levels - 1}"):
            (each,) = planned(text, ROW).measurements
            assert each.sensitivity * each.step >= 5 * 10**levels
    refused("SELECT SUM(x) FROM (SELECT open AS x FROM t)", "missing-bounds")
    refused("WITH t AS (SELECT open AS x, x AS open FROM t) SELECT VARIANCE(x) FROM t", "missing-bounds")


# Bounds that are missing.

UNBOUNDED = [
    "SUM(open)",
    "AVG(open)",
    "VARIANCE(open)",
    "STDDEV_POP(open * 2)",
    "CORR(x, open)",
    "REGR_SLOPE(open, x)",
    "COVAR_POP(open, open)",
    "SUM(COALESCE(open, 0))",
    "SUM(CASE WHEN flag THEN open ELSE 0 END)",
    "SUM(x / open)",
    "SUM(EXP(open))",
    "SUM(POWER(x, open))",
    "SUM(LENGTH(note))",
    "SUM(CAST(note AS DOUBLE))",
    "SUM(x) + SUM(open)",
    "SUM(SUM(open)) OVER ()",
    "RANK() OVER (ORDER BY SUM(open))",
]


def missing_bounds() -> None:
    for call in UNBOUNDED:
        refused(f"SELECT g, {call} FROM t GROUP BY g", "missing-bounds")
        refused(f"SELECT g, {call} FROM (SELECT * FROM t WHERE flag) GROUP BY g", "missing-bounds")
    for clause in ("HAVING SUM(open) > 3", "ORDER BY SUM(open)"):
        refused(f"SELECT g, COUNT(*) FROM t GROUP BY g {clause}", "missing-bounds")


def test_bounds_that_are_missing_mean_no_noise_or_those_of_the_data() -> None:
    missing_bounds()


def test_bounds_that_are_missing_are_not_read_from_the_data(tmp_path: Path) -> None:
    data = write(OTHERS, tmp_path / "visits.csv")
    with curator(PEOPLE, data, tmp_path / "ledger") as hospital:
        for text in (
            "SELECT VARIANCE(CAST(note AS DOUBLE)) AS v FROM visits",
            "SELECT SUM(n) AS s FROM (SELECT LENGTH(note) AS n FROM visits) AS v",
            "SELECT LOWER(note) AS k, COUNT(*) AS n FROM visits GROUP BY k",
        ):
            with pytest.raises(QueryError) as caught:
                hospital.sql(text, epsilon=1, delta=0)
            assert caught.value.code in ("missing-bounds", "missing-keys") and hospital._engine is None


# Keys.


def keys_that_only_somebody_has() -> None:
    """The rows of an answer are those of the declaration and of the question, in their order, whatever the data are."""
    draw = random.Random(13)
    for text in SHAPES:
        unit = PERSON
        plan = planned(text, unit)
        first, second = neighbours(draw, unit)
        rare = [{**any_row(draw, "victim"), "g": "RARE", "note": "rare"}]
        seen = [
            [
                tuple(key for key in shown if isinstance(key, str))
                for shown in released_rows(plan, exact(plan, rows)).rows
            ]
            for rows in (first, second, [*second, *rare], list(reversed(first)))
        ]
        assert all("RARE" not in keys and "rare" not in keys for rows in seen for keys in rows)
        if "HAVING" not in text:
            assert seen[0] == seen[1] == seen[2] == seen[3], text


def test_keys_that_only_somebody_has_are_shown_or_come_in_the_order_of_rows() -> None:
    keys_that_only_somebody_has()
    mine = [row(ward="RARE", note="rare"), row(ward="", note="")]
    texts = [
        "SELECT LOWER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w",
        "SELECT w, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM (SELECT ward AS w FROM visits) AS v GROUP BY w",
        "SELECT note, COUNT(*) AS n FROM visits WHERE note IN ('n', 'rare') GROUP BY note",
        "SELECT CASE WHEN ward = 'A' THEN 'a' ELSE COALESCE(ward, 'none') END AS w, STDDEV(age) AS d FROM visits GROUP BY w",
        "SELECT DISTINCT ward FROM visits",
    ]
    for schema in SCHEMAS:
        nothing_tells(schema, pair(schema, *mine), texts)


NEARLY = 1 + F(1, 10**9)
"""What is told of a chance is a bound of it."""


def a_threshold_for_another_noise() -> None:
    """Whoever is alone under a key, in a computed one too, is shown with no more than the δ that is paid for it."""
    delta = F(1, 10**4)
    for text in (
        "SELECT note, COUNT(*) FROM t GROUP BY note",
        "SELECT k, AVG(x) FROM (SELECT UPPER(note) AS k, x FROM t) GROUP BY k",
        "SELECT CONCAT(note, '/', g) AS k, VARIANCE(y) FROM t GROUP BY k",
    ):
        for unit in (PERSON, ROW, replace(PERSON, adjacency=Adjacency.REPLACE)):
            catalog = Catalog((T,), unit)
            plan = plan_for(question(text, catalog), catalog, 1, delta)
            assert isinstance(plan.stage, FindKeys)
            rule = plan.stage.mechanism.rule
            assert rule.keeps(0)[1] == 0 and 1 - (1 - rule.keeps(1)[1]) ** rule.groups <= delta * NEARLY, (text, unit)
    for epsilon, allowed, groups in product((F(1, 1000), F(1, 10), F(3)), (F(1, 10**3), F(1, 10**9)), (1, 2, 7)):
        rule = selecting(epsilon, allowed, groups).rule
        assert 1 - (1 - rule.keeps(1)[1]) ** groups <= allowed * NEARLY


def test_a_threshold_that_was_made_for_another_noise() -> None:
    a_threshold_for_another_noise()


# Functions of one row that are none; what depends on an order, or on chance.

OVER_ROWS = [
    "SELECT SUM(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY x) AS r FROM t)",
    "SELECT SUM(r) FROM (SELECT RANK() OVER (ORDER BY y) AS r, x FROM t)",
    "SELECT COUNT(*) FROM (SELECT LAG(x) OVER (ORDER BY y) AS before FROM t) WHERE before > 3",
    "SELECT SUM(s) FROM (SELECT SUM(x) OVER (PARTITION BY g) AS s FROM t)",
    "WITH v AS (SELECT COUNT(*) OVER () AS n, x FROM t) SELECT SUM(LEAST(n, 9)) FROM v",
    "SELECT COUNT(*) FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY x) = 1",
    "SELECT SUM(x - AVG(x) OVER ()) FROM t",
    "SELECT COUNT(*) FROM t WHERE x > AVG(x)",
    "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.x > t.x)",
    "SELECT COUNT(*) FROM t WHERE x IN (SELECT x FROM t)",
    "SELECT SUM(x) FROM (SELECT DISTINCT x FROM t)",
    "SELECT SUM(x) FROM (SELECT MAX(x) AS x FROM t)",
    "SELECT NTILE(4) OVER (ORDER BY x) AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT DENSE_RANK() OVER (ORDER BY g) AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT SUM(x) OVER (ORDER BY x) FROM t",
    "SELECT FIRST_VALUE(x) OVER (ORDER BY COUNT(*)) FROM t GROUP BY g",
    "SELECT SUM(rowid) FROM t",
    "SELECT LIST(x) FROM t",
    "SELECT STRING_AGG(note, ',') FROM t",
    "SELECT ANY_VALUE(x) FROM t",
    "SELECT FIRST(x) FROM t",
]
"""What becomes of one row here depends on others."""

BY_CHANCE = [
    f"SELECT {select} FROM {source}"
    for call in (
        "random()",
        "gen_random_uuid()",
        "now()",
        "CURRENT_DATE",
        "CURRENT_TIMESTAMP",
        "nextval('s')",
        "setseed(0.5)",
    )
    for select, source in (
        (f"SUM(LEAST(LENGTH(CAST({call} AS VARCHAR)), 9))", "t"),
        ("COUNT(*)", f"(SELECT {call} AS r, x FROM t) WHERE r IS NOT NULL"),
        (f"COUNT(*) FILTER (WHERE {call} IS NULL)", "t"),
        (f"CASE WHEN {call} IS NULL THEN 1 ELSE 2 END AS k, COUNT(*)", "t GROUP BY k"),
    )
] + [
    "SELECT COUNT(*) FROM t TABLESAMPLE 10 PERCENT",
    "SELECT COUNT(*) FROM (SELECT * FROM t USING SAMPLE 3)",
    "SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 3)",
    "SELECT COUNT(*) FROM (SELECT * FROM t ORDER BY x)",
    "SELECT COUNT(*) FROM (SELECT * FROM t OFFSET 3)",
    "SELECT COUNT(*) FROM (SELECT * FROM t FETCH FIRST 3 ROWS ONLY)",
    "SELECT COUNT(*) FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 3)",
]


def not_row_wise() -> None:
    for text in OVER_ROWS:
        refused(text)


def a_place_is_no_key() -> None:
    for key in ("DENSE_RANK() OVER (ORDER BY g)", "ROW_NUMBER() OVER (PARTITION BY flag ORDER BY x)"):
        try:
            planned(f"SELECT {key} AS k, COUNT(*) FROM t GROUP BY k", PERSON)
        except QueryError as error:
            assert error.code == "window"
        except Exception as error:
            raise AssertionError("no other exception leaves") from error
        else:
            raise AssertionError("rows are grouped by their place among all rows")
    shown = planned("SELECT g, COUNT(*), RANK() OVER (ORDER BY g DESC) AS r FROM t GROUP BY ALL", PERSON)
    assert len(shown.question.keys) == 1


def test_a_function_of_all_rows_is_taken_for_one_of_each_row() -> None:
    not_row_wise()
    a_place_is_no_key()


def by_chance() -> None:
    for text in BY_CHANCE:
        refused(text)


def test_preparation_of_rows_by_chance_or_by_their_order() -> None:
    by_chance()


def the_order_of_rows() -> None:
    """The same rows in another order have the same totals, whoever is cut off: which rows are kept is decided by a secret priority."""
    draw = random.Random(35)
    for text, unit in product(SHAPES, UNITS):
        if unit.person is None and "DISTINCT" in text:
            continue
        plan = planned(text, unit)
        rows = [any_row(draw, "victim") for _ in range(12)] + neighbours(draw, unit)[0]
        if unit.person is not None:
            assert exact(plan, rows, 7) == exact(plan, rows[::-1], 7) == exact(plan, draw.sample(rows, len(rows)), 7), (
                text
            )


def test_what_is_kept_of_a_person_depends_on_the_order_of_rows() -> None:
    the_order_of_rows()


# Prices.


def a_price_that_is_too_low() -> None:
    """By arithmetic of our own: geometric noise costs Σ Δ/scale, Gaussian noise what its mean shift tells; and less noise costs more."""
    for text, unit in product(SHAPES, UNITS):
        if unit.person is None and "DISTINCT" in text:
            continue
        for epsilon in (F(1, 2), F(3)):
            plan = planned(text, unit, epsilon)
            noisy = [each for each in plan.measurements if each.mechanism is not None]
            shapes = {each.mechanism.shape for each in noisy}  # type: ignore[union-attr]
            if shapes == {NoiseShape.GAUSSIAN}:
                mu = sqrt(sum(float(each.sensitivity / each.mechanism.scale) ** 2 for each in noisy))  # type: ignore[union-attr]
                e, phi = float(epsilon), NormalDist().cdf
                delta = phi(mu / 2 - e / mu) - exp(e) * phi(-mu / 2 - e / mu)
                assert delta <= float(plan.delta) * (1 + 1e-6) and plan.epsilon == epsilon
            else:
                assert all(isinstance(each.mechanism, Geometric) for each in noisy)
                assert sum((each.sensitivity / each.mechanism.scale for each in noisy), F(0)) == plan.epsilon == epsilon  # type: ignore[union-attr]
        scales = [
            [each.mechanism.scale for each in planned(text, unit, price).measurements if each.mechanism]
            for price in (1, 2)
        ]
        assert all(much > little for much, little in zip(*scales, strict=True))


def test_a_price_that_is_too_low_or_falls_with_the_noise() -> None:
    a_price_that_is_too_low()


# The number of rows.

SIZES = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM (SELECT * FROM t)",
    "SELECT SUM(1) FROM (SELECT 1 AS one FROM t)",
    "SELECT COUNT(*) FROM (SELECT * FROM t WHERE x > 3)",
    "SELECT COUNT(who) FROM t",
    "SELECT COUNT_IF(TRUE) FROM t",
    "SELECT REGR_COUNT(y, x) FROM t",
    "SELECT COUNT(x IS NULL) FROM t",
    "SELECT COUNT(CASE WHEN x > 3 THEN 1 ELSE 0 END) FROM t",
    "SELECT COUNT(*) FROM t WHERE x IS NOT NULL OR x IS NULL",
    "SELECT g, COUNT(*), SUM(COUNT(*)) OVER () FROM t GROUP BY g",
    "SELECT COALESCE(g, 'none') AS k, COUNT(*) FROM t GROUP BY k",
]


def the_number_of_rows() -> None:
    """It has noise wherever a neighbour can change it; and where it has none, none can."""
    draw = random.Random(21)
    for text, unit in product(SIZES, UNITS):
        plan = planned(text, unit)
        for i, each in enumerate(plan.measurements):
            if each.mechanism is None:
                assert unit.person is None and unit.adjacency is Adjacency.REPLACE, (text, unit)
                for salt in range(20):
                    first, second = (exact(plan, rows, salt)[i] for rows in neighbours(draw, unit))
                    assert first == second, text


def test_the_number_of_rows_is_taken_for_public() -> None:
    the_number_of_rows()


# Joins.

JOINS = [
    "SELECT COUNT(*) FROM t, t AS u",
    "SELECT COUNT(*) FROM t CROSS JOIN t AS u",
    "SELECT COUNT(*) FROM t JOIN t AS u ON t.g = u.g",
    "SELECT COUNT(*) FROM t JOIN t AS u USING (g)",
    "SELECT COUNT(*) FROM t NATURAL JOIN t AS u",
    "SELECT COUNT(*) FROM t JOIN t AS u ON t.x < u.x",
    "SELECT COUNT(*) FROM t LEFT JOIN t AS u ON TRUE",
    "SELECT COUNT(*) FROM t FULL JOIN t AS u ON t.g = u.g",
    "SELECT COUNT(*) FROM t, LATERAL (SELECT * FROM t AS u WHERE u.g = t.g) AS v",
    "SELECT COUNT(*) FROM t, UNNEST([1, 2, 3]) AS v",
    "SELECT COUNT(*) FROM (SELECT t.x FROM t JOIN t AS u ON t.g = u.g)",
    "WITH u AS (SELECT * FROM t) SELECT COUNT(*) FROM t JOIN u ON t.note = u.note",
    "SELECT SUM(x) FROM (SELECT x FROM t UNION ALL SELECT x FROM t)",
    "SELECT SUM(x) FROM t, (SELECT 1 AS one UNION ALL SELECT 2) AS twice",
    "WITH RECURSIVE u AS (SELECT x FROM t UNION ALL SELECT x FROM u) SELECT COUNT(*) FROM u",
]
"""Joins of rows of one person with those of others, or of a row with many."""


def many_to_many() -> None:
    for text in JOINS:
        refused(text)


def test_a_join_that_multiplies_the_rows_of_a_person() -> None:
    many_to_many()


# What stands behind the answer.


def test_having_order_limit_and_windows_on_exact_values(tmp_path: Path) -> None:
    """What is selected and ranked is what a client would have selected and ranked of the whole answer: same draws, same rows."""
    data = write(OTHERS, tmp_path / "visits.csv")
    whole = "SELECT w, COUNT(*) AS n FROM (SELECT ward AS w FROM visits) AS v GROUP BY w"
    ranked = "SELECT w, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM (SELECT ward AS w FROM visits) AS v GROUP BY w"
    for seed in range(3):
        found = []
        for text in (
            whole,
            f"{whole} HAVING n > 0",
            f"{whole} ORDER BY n DESC, w LIMIT 2",
            f"{whole} ORDER BY n DESC, w FETCH FIRST 2 ROWS ONLY",
            ranked,
        ):
            with rehearsed(curator(PEOPLE, data, ":memory:"), seed=seed) as hospital:
                found.append([tuple(each.values()) for each in hospital.sql(text, epsilon=0.5).to_dicts()])
        rows = found[0]
        assert found[1] == [each for each in rows if each[1] > 0]
        assert found[2] == found[3] == sorted(rows, key=lambda each: (-each[1], each[0]))[:2]
        assert found[4] == [(key, 1 + sum(other > n for _, other in rows)) for key, n in rows]


# Who a person is.


@pytest.mark.parametrize("name", ["", "1", "01", "1.0", "é", "e\u0301", "NULL", "nan", "VICTIM"])
def test_variants_of_an_id_are_one_person_or_nobody_is_one(name: str) -> None:
    """Also where a sub-query passes it on under another name, drops it, or calls something else like it."""
    texts = [
        "SELECT COUNT(DISTINCT who) AS n FROM (SELECT person AS who FROM visits) AS v",
        "SELECT SUM(person) AS s FROM (SELECT age AS person FROM visits) AS v",
        "SELECT person, COUNT(*) AS n FROM (SELECT ward AS person FROM visits) AS v GROUP BY person",
        "SELECT STDDEV(age) AS d FROM (SELECT age FROM visits) AS v",
    ]
    mine = [{**row(ward=ward), "person": name} for ward in "BCD"]
    kept = [each for each in OTHERS if each["person"] != name]
    nothing_tells(PEOPLE, Twins([*kept, *mine], kept), texts)


VALUES = [
    "SELECT COUNT(DISTINCT LOWER(who)) FROM t",
    "SELECT COUNT(DISTINCT who || 'x') FROM t",
    "SELECT COUNT(DISTINCT who) FROM (SELECT LEFT(who, 1) AS who FROM t)",
    "SELECT COUNT(DISTINCT who) FROM (SELECT x AS who FROM t)",
]
"""What is no person is counted as a value, of which each person has as many as are kept of theirs."""

SHADOWS = [
    "SELECT who, COUNT(*) FROM t GROUP BY who",
    "SELECT id, COUNT(*) FROM (SELECT who AS id FROM t) GROUP BY id",
    "SELECT LEFT(id, 1) AS k, COUNT(*) FROM (SELECT who AS id FROM t) GROUP BY k",
    "SELECT CASE WHEN who = 'victim' THEN g ELSE 'B' END AS k, COUNT(*) FROM t GROUP BY k",
    "SELECT id FROM (SELECT who AS id FROM t) WHERE id = 'victim' GROUP BY id",
    "SELECT DISTINCT who FROM t WHERE who IN ('1', '01')",
]


def a_shadow_of_the_person() -> None:
    for text in SHADOWS:
        with pytest.raises(QueryError) as caught:
            planned(text, PERSON)
        assert caught.value.code == "person", (text, caught.value.code)
    for text in VALUES:
        plan = planned(text, PERSON)
        (reading,) = plan.decided.readings
        assert isinstance(reading, DistinctValues)
        many = [{**any_row(random.Random(i), "victim"), "x": i % 12} for i in range(50)]
        (here,), (gone,) = (reading.exactly(engine(rows).run, 7, plan.domain) for rows in (many, []))
        assert abs(here - gone).sum() <= reading.sensitivity and not plan.measurements, text
    for text in (
        "SELECT COUNT(*) FROM (SELECT x AS who FROM t)",
        "SELECT SUM(who) FROM (SELECT x AS who, who AS x FROM t)",
    ):
        many = [{**any_row(random.Random(1), "victim"), "x": 5} for _ in range(50)]
        plan = planned(text, PERSON)
        for far, allowed in moved(plan, exact(plan, many), exact(plan, [])):
            assert far <= allowed, text


def test_a_column_that_is_called_like_the_person_is_taken_for_people() -> None:
    a_shadow_of_the_person()
