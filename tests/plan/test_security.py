"""Known attacks, one by one, as twins: with the victim and without, nothing that is seen may differ.

The letters are those of the catalogue of threats in docs/security.md.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.errors import Invalid, QueryError, Refused
from tests.plan.asked import NAMES, Row, Schema, Twins
from tests.plan.pipeline import curator, told_apart, write
from tests.rehearsed import rehearsed
from tests.scale import repeats

COLUMNS = {
    "age": {"type": "integer", "bounds": (0, 120)},
    "cost": {"type": "number", "bounds": (0, 1000)},
    "ward": {"keys": ["A", "B", "C", "D"]},
    "day": {"type": "date"},
    "smoker": {"type": "boolean"},
}
PERSON = Schema(False, "add-remove", 2, 2, "groups", COLUMNS)
UNITS = [
    PERSON,
    replace(PERSON, adjacency="replace"),
    replace(PERSON, row=True),
    replace(PERSON, row=True, adjacency="replace"),
]


def row(person: str = "1", **values: str) -> Row:
    plain = {
        "person": person,
        "age": "40",
        "cost": "10.5",
        "ward": "A",
        "day": "2024-03-01",
        "smoker": "true",
        "dose": "0.5",
        "note": "n",
    }
    return {name: values.get(name, plain[name]) for name in NAMES}


OTHERS = [
    row("1"),
    row("1", ward="B"),
    row("2", age="17", cost=""),
    row("3", ward="C", smoker="false"),
    row("", age="5"),
]


def pair(schema: Schema, *mine: Row) -> Twins:
    victim = [{**each, "person": "victim"} for each in mine]
    instead = [row("newcomer", ward="D", age="99", cost="999")] if schema.adjacency == "replace" else []
    if schema.row:
        victim, instead = victim[:1], instead[:1]
    return Twins([*OTHERS, *victim], [*OTHERS, *instead])


def nothing_tells(schema: Schema, twins: Twins, texts: list[str], answered: bool = True) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for text, report in zip(texts, told_apart(schema, twins, texts, Path(folder), epsilon=0.1), strict=True):
            assert report.same, (text, schema, report)
            assert not answered or report.first.answered, (text, report.first.body)


ORACLES = [
    "SELECT COUNT(*) AS n FROM visits WHERE 1 / (age - 19) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE 10 % (age - 19) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS INTEGER) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS DATE) > day",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(cost * 1e300 AS INTEGER) = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE SQRT(age - 19) > 0 AND cost * 1e308 * 1e308 > 0",
    "SELECT SUM(LEAST(GREATEST(1 / (age - 19), 0), 1)) AS s FROM visits",
    "SELECT COUNT(1 / (age - 19)) AS n FROM visits",
    "SELECT ward, COUNT(*) FILTER (WHERE CASE WHEN age = 19 THEN CAST(note AS INTEGER) ELSE 0 END = 0) AS n FROM visits GROUP BY ward",
    "SELECT CASE WHEN 1 / (age - 19) > 0 THEN 'a' ELSE 'b' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%\\%' AND EXTRACT(YEAR FROM day) = 2024",
]


@pytest.mark.parametrize("schema", UNITS, ids=str)
def test_q7_errors_on_some_row_tell_nothing(schema: Schema) -> None:
    victim = row(age="19", note="x\\", cost="1e400", day="2024-02-30")
    nothing_tells(schema, pair(schema, victim), ORACLES)


@pytest.mark.parametrize(
    "value", ["nan", "NaN", "", "inf", "-inf", "-0.0", "5e-324", "1e308", "9" * 18, "9" * 19, "0x1F", "1_000", "１２"]
)
@pytest.mark.parametrize("schema", UNITS[::3], ids=str)
def test_s1_s2_s3_odd_numbers_stay_within_the_sensitivity(schema: Schema, value: str) -> None:
    texts = [
        "SELECT SUM(cost) AS s, AVG(age) AS a, COUNT(cost) AS n FROM visits",
        "SELECT ward, SUM(age) AS s FROM visits GROUP BY ward",
        "SELECT SUM(cost * 1e300) AS s FROM visits WHERE age < 1e18",
    ]
    nothing_tells(schema, pair(schema, row(age=value, cost=value)), texts[:2])
    nothing_tells(schema, pair(schema, row(age=value, cost=value)), texts[2:], answered=False)


@pytest.mark.parametrize("schema", UNITS, ids=str)
def test_s5_the_bound_is_on_the_argument(schema: Schema) -> None:
    texts = [
        "SELECT SUM(cost * 1000) AS s FROM visits",
        "SELECT SUM(CASE WHEN age = 19 THEN 1e6 ELSE cost END) AS s FROM visits",
        "SELECT AVG(age * age) AS a FROM visits",
        "SELECT SUM(age - 200) AS s FROM visits",
    ]
    nothing_tells(schema, pair(schema, row(age="1000000", cost="1e9"), row(age="19")), texts)


@pytest.mark.parametrize("schema", UNITS, ids=str)
def test_s6_s7_nulls_and_names_are_bounded_anew(schema: Schema) -> None:
    texts = [
        "SELECT COUNT(NULLIF(age, 40)) AS n FROM visits",
        "SELECT SUM(COALESCE(NULLIF(age, 40), 5)) AS age FROM visits",
        "SELECT COUNT(CASE WHEN age > 30 THEN NULL ELSE 1 END) AS ward FROM visits",
        "SELECT ward AS smoker, COUNT(*) AS person FROM visits GROUP BY ward",
        "SELECT SUM(age) AS s FROM (SELECT age * 1000 AS age FROM visits)",
        "SELECT person, COUNT(*) AS n FROM (SELECT ward AS person FROM visits) GROUP BY person",
        "SELECT AVG(person) AS a FROM (SELECT age AS person, person AS age FROM visits) WHERE age <> 'victim'",
        "WITH visits AS (SELECT * FROM visits WHERE person = 'victim') SELECT COUNT(*) AS n FROM visits",
        "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward",
        "SELECT note, COUNT(*) AS n FROM visits WHERE note IN ('n', 'victim') GROUP BY note",
        "SELECT DISTINCT ward FROM visits",
    ]
    nothing_tells(schema, pair(schema, row(age=""), row(age="40")), texts, answered=False)


@pytest.mark.parametrize(
    "day", ["0001-01-01", "1969-12-31", "9999-12-31", "0000-01-01", "10000-01-01", "2023-02-29", "2016-12-31 23:59:60"]
)
def test_s9_dates_never_wrap(day: str) -> None:
    texts = [
        "SELECT COUNT(*) AS n FROM visits WHERE day < DATE '1970-01-01'",
        "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
        "SELECT SUM(EXTRACT(YEAR FROM day)) AS s FROM visits",
    ]
    nothing_tells(PERSON, pair(PERSON, row(day=day)), texts)


@pytest.mark.parametrize("many", [1, 2, 3, 50, repeats(500)])
def test_s10_a_heavy_contributor_is_capped(many: int) -> None:
    mine = [row(ward="ABCD"[i % 4], cost=str(i % 7 * 300), age=str(i % 100)) for i in range(many)]
    texts = [
        "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS a FROM visits",
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT person) AS p FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) FILTER (WHERE age < 3) AS n FROM visits GROUP BY ward",
    ]
    for schema in (UNITS[0], UNITS[1], replace(PERSON, clip="l2"), replace(UNITS[1], clip="l2")):
        nothing_tells(schema, pair(schema, *mine), texts)


@pytest.mark.parametrize("name", ["", " ", "1", "01", "1.0", "é", "e\u0301", "NULL", "nan", "0", "-0", "a" * 5000])
def test_s11_persons_are_told_apart_by_value(name: str) -> None:
    """Whoever has a name like this is one person, or nobody where it is empty, and never somebody else."""
    texts = [
        "SELECT COUNT(DISTINCT person) AS n, COUNT(*) AS m FROM visits",
        "SELECT ward, SUM(age) AS s FROM visits GROUP BY ward",
    ]
    mine = [{**row(ward="B"), "person": name}, {**row(ward="C"), "person": name}]
    kept = [each for each in OTHERS if each["person"] != name]
    nothing_tells(PERSON, Twins([*kept, *mine], kept), texts)


def test_s12_two_relations_do_not_compose(tmp_path: Path) -> None:
    data = write(OTHERS, tmp_path / "visits.csv")
    with curator(PERSON, data, tmp_path / "ledger") as hospital:
        hospital.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    with curator(UNITS[1], data, tmp_path / "ledger") as other, pytest.raises(Refused, match="protects"):
        other.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)


@pytest.mark.parametrize(
    "text",
    ["SELECT SUM(CAST(note AS DOUBLE)) AS s FROM visits", "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"],
)
def test_s13_what_is_not_declared_is_refused_and_the_data_is_not_read(tmp_path: Path, text: str) -> None:
    data = write(OTHERS, tmp_path / "visits.csv")
    with curator(PERSON, data, tmp_path / "ledger") as hospital:
        with pytest.raises(QueryError) as refusal:
            hospital.sql(text, epsilon=1, delta=0)
        assert refusal.value.code in ("missing-bounds", "missing-keys") and refusal.value.hint
        assert hospital._engine is None


def test_s15_declared_keys_appear_all_and_alone_in_their_order(tmp_path: Path) -> None:
    data = write([*OTHERS, row("9", ward="RARE")], tmp_path / "visits.csv")
    with curator(PERSON, data, tmp_path / "ledger") as hospital:
        answer = hospital.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
    assert [each["ward"] for each in answer.to_dicts()] == ["A", "B", "C", "D"]


def test_q10_having_order_and_limit_act_on_released_values(tmp_path: Path) -> None:
    """What is selected is what a client would select from the whole answer: same draws, same rows."""
    data = write(OTHERS, tmp_path / "visits.csv")
    whole = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    for seed, (more, choose) in enumerate(
        [
            (" HAVING COUNT(*) > 0", lambda rows: [each for each in rows if each["n"] > 0]),
            (
                " ORDER BY n DESC, ward LIMIT 2",
                lambda rows: sorted(rows, key=lambda each: (-each["n"], each["ward"]))[:2],
            ),
            (
                " ORDER BY ward DESC LIMIT 2 OFFSET 1",
                lambda rows: sorted(rows, key=lambda each: each["ward"], reverse=True)[1:3],
            ),
        ]
    ):
        found = []
        for text in (whole, whole + more):
            # both draw from the same tape
            with rehearsed(curator(PERSON, data, ":memory:"), seed=seed) as hospital:
                found.append(hospital.sql(text, epsilon=0.5).to_dicts())
        assert found[1] == choose(found[0])


def test_q15_the_data_file_is_never_written(tmp_path: Path) -> None:
    data = write(OTHERS, tmp_path / "visits.csv")
    before = data.read_bytes()
    with curator(PERSON, data, tmp_path / "ledger") as hospital:
        for text in [
            "COPY visits TO 'visits.csv'",
            "DROP TABLE visits",
            "INSERT INTO visits VALUES (1)",
            "SELECT COUNT(*) AS n FROM visits",
        ]:
            try:
                hospital.sql(text, epsilon=0.1)
            except QueryError:
                continue
    assert data.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "visits.csv"]


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def test_l7_budgets_that_are_no_budgets_are_refused(tmp_path: Path) -> None:
    data = write(OTHERS, tmp_path / "visits.csv")
    for epsilon in (0, -1, float("nan"), float("inf"), "1", True):
        with pytest.raises(Invalid):
            curator(PERSON, data, tmp_path / "ledger", epsilon=epsilon)
