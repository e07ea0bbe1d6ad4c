"""Joins: what neighbours can change, what is joined, which names mean what, and what is refused."""

import pytest

from discreet.errors import DiscreetError
from discreet.plan.check import digest
from discreet.plan.sql import question
from tests.plan import joined
from tests.plan.joined import PERSON, catalog, planned
from tests.scale import repeats


def test_no_neighbour_moves_more() -> None:
    joined.no_neighbour_moves_more(repeats(25))


@pytest.mark.parametrize(
    "law",
    [
        joined.no_answer_is_exact,
        joined.what_is_kept_is_a_persons_own,
        joined.joins_are_those_of_duckdb,
        joined.a_public_key_is_unique_or_refused,
        joined.a_filter_may_make_a_key_unique,
        joined.a_plan_is_of_the_table_that_was_looked_at,
        joined.rules_refuse_what_is_not_bounded,
        joined.sides_keep_as_many_rows_as_are_declared,
        joined.size_is_bounded,
    ],
    ids=lambda law: law.__name__,
)
def test_law(law) -> None:  # type: ignore[no-untyped-def]
    law()


SAME = [
    (
        "SELECT land, COUNT(*) AS n FROM visits v JOIN ports p ON v.port = p.port GROUP BY land",
        "SELECT p.land, COUNT(*) AS n FROM visits JOIN ports AS p ON (p.port = visits.port) GROUP BY p.land",
    ),
    (
        "SELECT land, COUNT(*) AS n FROM visits v INNER JOIN ports p USING (port) GROUP BY land",
        "SELECT land, COUNT(*) AS n FROM ports p JOIN visits v USING (port) GROUP BY land",
    ),
    (
        "SELECT COUNT(size) AS n FROM visits v LEFT OUTER JOIN ports p USING (port) WHERE x > 2",
        "SELECT COUNT(size) AS n FROM (SELECT port, x FROM visits WHERE x > 2) a LEFT JOIN ports b ON a.port = b.port",
    ),
    (
        "SELECT SUM(s) AS n FROM (SELECT v.x * p.size AS s FROM visits v JOIN ports p USING (port))",
        "SELECT SUM(x * size) AS n FROM visits JOIN ports USING (port)",
    ),
    (
        "WITH p AS (SELECT * FROM ports) SELECT COUNT(DISTINCT visits.who) AS n FROM visits JOIN p USING (port)",
        "SELECT COUNT(DISTINCT who) AS n FROM visits JOIN ports ON visits.port = ports.port",
    ),
    (
        "SELECT COUNT(DISTINCT t.who) AS n FROM visits v JOIN tests t ON v.who = t.who",
        "SELECT COUNT(DISTINCT v.who) AS n FROM visits v JOIN tests t USING (who)",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_names_of_tables_mean_nothing_to_a_plan(one: str, other: str) -> None:
    assert digest(planned(one, PERSON)) == digest(planned(other, PERSON))


REFUSED = [
    ("join", "SELECT COUNT(*) FROM visits, ports"),
    ("join", "SELECT COUNT(*) FROM visits JOIN ports"),
    ("join", "SELECT COUNT(*) FROM visits CROSS JOIN ports"),
    ("join", "SELECT COUNT(*) FROM visits NATURAL JOIN ports"),
    ("join", "SELECT COUNT(*) FROM visits RIGHT JOIN ports USING (port)"),
    ("join", "SELECT COUNT(*) FROM visits FULL OUTER JOIN ports USING (port)"),
    ("join", "SELECT COUNT(*) FROM visits SEMI JOIN ports USING (port)"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON v.port < p.port"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON v.port = p.port OR x = size"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON UPPER(v.port) = p.port"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON p.port = 'A'"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON v.port = v.port"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN ports p ON v.port = p.land"),
    ("join", "SELECT COUNT(*) FROM ports p LEFT JOIN visits v ON v.port = p.port"),
    ("join", "SELECT COUNT(*) FROM ports p JOIN ports q ON q.port = p.port"),
    ("join", "SELECT COUNT(*) FROM ports"),
    ("join", "SELECT COUNT(*) FROM (SELECT port FROM ports WHERE size > 1)"),
    ("subquery", "SELECT COUNT(*) FROM (visits v JOIN ports p USING (port))"),
    (
        "join",
        "SELECT COUNT(*) FROM visits v JOIN (SELECT t.who FROM tests t JOIN ports p ON t.lab = p.port) u USING (who)",
    ),
    ("join", "SELECT COUNT(*) FROM visits v JOIN tests t ON v.port = t.lab"),
    ("join", "SELECT COUNT(*) FROM visits a JOIN visits b ON a.port = b.port"),
    ("join", "SELECT COUNT(*) FROM visits v JOIN tests t ON v.who = t.who AND v.port = t.lab"),
    ("join", "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT port, size + 1 AS s FROM ports) p USING (port)"),
    ("types", "SELECT COUNT(*) FROM visits v JOIN ports p ON v.x = p.port"),
    ("duplicate-name", "SELECT COUNT(*) FROM visits v JOIN ports v ON v.port = v.port"),
    ("ambiguous-name", "SELECT port, COUNT(*) FROM visits v JOIN ports p ON v.port = p.port GROUP BY port"),
    ("unknown-table", "SELECT COUNT(*) FROM visits v JOIN ports p ON visits.port = p.port"),
    ("unknown-column", "SELECT COUNT(*) FROM visits v JOIN ports p USING (x)"),
    ("unknown-column", "SELECT v.land, COUNT(*) FROM visits v JOIN ports p USING (port) GROUP BY v.land"),
    ("person", "SELECT t.who, COUNT(*) FROM visits v JOIN tests t USING (who) GROUP BY t.who"),
    ("person", "SELECT t.who, COUNT(*) FROM visits v LEFT JOIN tests t USING (who) GROUP BY t.who"),
    ("distinct", "SELECT DISTINCT ON (port) COUNT(*) FROM visits"),
    ("subquery", "SELECT COUNT(*) FROM visits WHERE port IN (SELECT port FROM ports)"),
    ("subquery", "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM ports)"),
]


@pytest.mark.parametrize(("code", "text"), REFUSED, ids=range(len(REFUSED)))
def test_everything_else_is_refused_with_what_to_do(code: str, text: str) -> None:
    with pytest.raises(DiscreetError) as refused:
        question(text, catalog(PERSON))
    assert refused.value.code == code and refused.value.hint


def test_rows_that_are_units_are_joined_with_public_tables_alone() -> None:
    with pytest.raises(DiscreetError) as refused:
        question("SELECT COUNT(*) FROM visits a JOIN visits b USING (who)", catalog(joined.ROWS[0]))
    assert refused.value.code == "join" and "public" in refused.value.hint


def test_a_public_column_that_is_called_like_the_person_is_a_column() -> None:
    entry = joined.public({"port": ["A", "B"], "who": [7, 8]})
    text = "SELECT p.who, COUNT(*) AS n, COUNT(DISTINCT v.who) AS people FROM visits v JOIN ports p USING (port) GROUP BY p.who"
    assert planned(text, PERSON, entry).domain == ((7,), (8,))
    assert not planned(text, PERSON, entry).decided.readings
    values = planned(text.replace("DISTINCT v.who", "DISTINCT p.who"), PERSON, entry)
    assert values.decided.readings, "its values are counted, and no people"


def test_a_condition_on_the_other_side_narrows_no_groups_of_this_one() -> None:
    """Both sides have a column of the name."""
    text = "SELECT v.port, COUNT(*) FROM visits v LEFT JOIN (SELECT port FROM ports WHERE port = 'A') p ON v.port = p.port GROUP BY v.port"
    assert planned(text, PERSON).domain == (("A",), ("B",), ("C",))
