"""Two tables about people and a public one, small, with neighbours in either or in both; and laws of joins, as functions."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from typing import Any

import duckdb

from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine, RunData, rows_in
from discreet.errors import DiscreetError, Fault
from discreet.mechanisms.sensitivity import Norm
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import digest
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.public import Contents
from discreet.plan.relation import Scan, walk
from discreet.plan.release import exact_totals
from discreet.plan.rules.relations import reach_into
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.privacy import Adjacency, Unit
from tests.plan.laws import Priorities, decided_by, low_rungs

Row = dict[str, Any]
Rows = dict[str, list[Row]]
KEPT = 2

PORTS: dict[str, list[Any]] = {
    "port": ["A", "B", "C", "D", None, None],
    "land": ["u", "v", "u", None, "w", "w"],
    "size": [1, 5, 3, 2, 9, 9],
}
VISITS = Table(
    "visits",
    (
        Column("who", Type.INTEGER),
        Column("x", Type.INTEGER, F(2), F(5)),
        Column("port", Type.TEXT, keys=("A", "B", "C")),
    ),
    join_rows=KEPT,
)
TESTS = Table(
    "tests",
    (
        Column("who", Type.INTEGER),
        Column("y", Type.NUMBER, F(-1), F(3)),
        Column("lab", Type.TEXT, keys=("p", "q")),
    ),
    join_rows=KEPT,
)


def public(columns: dict[str, list[Any]], name: str = "ports") -> Table:
    """A public table with what it holds, as the curator makes it: texts, and whole numbers."""
    known = []
    for column, values in columns.items():
        there = sorted({value for value in values if value is not None})
        whole = all(isinstance(value, int) for value in there)
        ends = (F(there[0]), F(there[-1])) if whole and there else (None, None)
        kind = Type.INTEGER if whole and there else Type.TEXT
        known.append(Column(column, kind, *ends, keys=tuple(there) or None, nullable=None in values))
    return Table(name, tuple(known), public=Contents.of(columns))


ENTRY = public(PORTS)
PERSON = Protected("who", max_groups=2, max_rows=2, people=1000)
UNITS = [PERSON, replace(PERSON, clip="l2"), replace(PERSON, max_rows=None, max_groups=None, max_total=3)]
UNITS += [replace(each, adjacency=Adjacency.REPLACE) for each in UNITS]
ROWS = [Protected(), Protected(adjacency=Adjacency.REPLACE)]

WITH_PUBLIC = [
    "SELECT COUNT(*) FROM visits JOIN ports ON visits.port = ports.port",
    "SELECT COUNT(*), SUM(size) FROM visits v LEFT JOIN ports p USING (port)",
    "SELECT land, COUNT(*), SUM(x) FROM visits v JOIN ports p ON v.port = p.port GROUP BY land",
    "SELECT land, AVG(size) FROM visits v LEFT JOIN ports p ON p.port = v.port WHERE x > 2 GROUP BY land",
    "SELECT SUM(x * size) FROM ports p JOIN visits v ON v.port = p.port",
    "SELECT o.land, SUM(d.size) FROM visits v JOIN ports o ON v.port = o.port LEFT JOIN ports d ON v.port = d.port"
    " WHERE o.size = d.size GROUP BY o.land",
    "SELECT COUNT(*), COUNT(size) FROM visits v LEFT JOIN (SELECT port, size FROM ports WHERE size > 1) p USING (port)",
]
OF_PEOPLE = [
    "SELECT COUNT(*), COUNT(DISTINCT who) FROM visits JOIN tests USING (who)",
    "SELECT lab, SUM(x), SUM(y) FROM visits v JOIN tests t ON v.who = t.who GROUP BY lab",
    "SELECT port, COUNT(*), COUNT(y) FROM visits v LEFT JOIN tests t ON t.who = v.who GROUP BY port",
    "SELECT COUNT(*) FROM visits v LEFT JOIN tests t USING (who) WHERE t.who IS NULL",
    "SELECT land, AVG(y) FROM tests t JOIN visits v USING (who) JOIN ports p ON v.port = p.port GROUP BY land",
    "SELECT a.port, COUNT(*) FROM visits a JOIN visits b ON a.who = b.who WHERE a.x < b.x GROUP BY a.port",
    "SELECT COUNT(*) FROM visits v JOIN (SELECT who, y * 2 AS z FROM tests WHERE lab = 'p') t USING (who) WHERE z > 1",
    "SELECT AVG(LEAST(n, 4)) FROM (SELECT v.who, COUNT(size) AS n FROM visits v LEFT JOIN ports p USING (port) GROUP BY v.who)",
    "SELECT lab, SUM(LEAST(n, 3)) FROM tests t JOIN (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) v USING (who) GROUP BY lab",
    "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT who FROM tests GROUP BY who HAVING COUNT(*) > 1) t USING (who) WHERE t.who IS NULL",
    "SELECT land, COUNT(*) FROM (SELECT who, MAX(port) AS port FROM visits GROUP BY who) v JOIN ports p ON v.port = p.port GROUP BY land",
    "SELECT COUNT(*), SUM(LEAST(n, 5)) FROM (SELECT v.who, COUNT(y) AS n FROM visits v JOIN tests t ON v.who = t.who GROUP BY v.who)",
    "SELECT COUNT(*) FROM visits a JOIN (SELECT who, x - 1 AS z FROM visits) b USING (who) WHERE z > a.x",
]


def catalog(protected: Protected, entry: Table = ENTRY) -> Catalog:
    private = (VISITS,) if protected.person is None else (VISITS, TESTS)
    return Catalog((*private, entry), protected)


def planned(text: str, protected: Protected, entry: Table = ENTRY, epsilon: Any = 1) -> Plan:
    known = catalog(protected, entry)
    return plan_for(question(text, known), known, epsilon, F(1, 10**6) if protected.clip == "l2" else 0)


def data_of(rows: Rows, entry: dict[str, list[Any]] | None = None) -> list[Data]:
    """What engines load of these rows."""
    tables = [
        Data(
            table.name,
            {column.name: [row[column.name] for row in rows[table.name]] for column in table.columns},
            tuple(Node(column.name, column.type) for column in table.columns),
            person="who",
        )
        for table in (VISITS, TESTS)
    ]
    columns = PORTS if entry is None else entry
    kinds = {column.name: column.type for column in public(columns).columns}
    return [*tables, Data("ports", columns, tuple(Node(name, kind) for name, kind in kinds.items()))]


def engine(rows: Rows) -> MemoryEngine:
    return MemoryEngine(data_of(rows), lambda query, salt: Priorities(salt))


def some_rows(draw: random.Random, who: int | None, most: int) -> Rows:
    return {
        "visits": [
            {"who": who, "x": draw.choice([2, 5, 5, -9, None]), "port": draw.choice(["A", "B", "C", "D", "Z", None])}
            for _ in range(draw.randrange(most + 1))
        ],
        "tests": [
            {"who": who, "y": draw.choice([-1.0, 3.0, 3.0, 1e9, None]), "lab": draw.choice(["p", "q", "z", None])}
            for _ in range(draw.randrange(most + 1))
        ],
    }


def together(*parts: Rows) -> Rows:
    return {name: [row for part in parts for row in part[name]] for name in ("visits", "tests")}


def neighbours(draw: random.Random, protected: Protected) -> tuple[Rows, Rows]:
    """Tables that differ in one row, or in all rows of one person: in either table, or in both."""
    others = together(*(some_rows(draw, draw.choice([1, 2, None]), 2) for _ in range(draw.randrange(3))))
    one, other = some_rows(draw, 8, 5), some_rows(draw, 9, 5)
    if protected.person is None:
        one, other = (
            {"visits": (each["visits"] or some_rows(draw, 8, 9)["visits"])[:1], "tests": []} for each in (one, other)
        )
        if not (one["visits"] and other["visits"]):
            return neighbours(draw, protected)
    replaced = protected.adjacency is Adjacency.REPLACE
    return together(others, one), together(others, other) if replaced else others


def exact(plan: Plan, rows: Rows, salt: int) -> list[list[int]]:
    return [totals.tolist() for totals in exact_totals(plan, engine(rows).run(plan.query, salt))]


def cases() -> Iterator[tuple[str, Protected]]:
    yield from product([*WITH_PUBLIC, *OF_PEOPLE], UNITS)
    yield from product(WITH_PUBLIC, ROWS)


def no_neighbour_moves_more(tries: int = 25) -> None:
    """No total moves by more than the sensitivity that its noise is made for, whatever the salt."""
    for text, protected in cases():
        draw = random.Random(text)
        plan = decided_by(planned(text, protected), low_rungs(draw))
        for salt in range(tries):
            first, second = neighbours(draw, protected)
            pairs = zip(exact(plan, first, salt), exact(plan, second, salt), strict=True)
            for made, (one, other) in zip(plan.measurements, pairs, strict=True):
                by = [abs(a - b) for a, b in zip(one, other, strict=True)]
                squared = made.mechanism is not None and made.mechanism.norm is Norm.L2
                size = sum(d * d for d in by) if squared else sum(by) ** 2
                assert size <= made.sensitivity**2, (text, protected, first, second, salt)


def no_answer_is_exact() -> None:
    """What a neighbour can change has noise, but for the number of rows that replacing one cannot change."""
    for text, protected in cases():
        plan = decided_by(planned(text, protected), low_rungs(random.Random(1)))
        for made in plan.measurements:
            rows_alone = protected == ROWS[1] and "LEFT" in text and made.said == "count"
            assert made.mechanism is not None or rows_alone, (text, protected)


def what_is_kept_is_a_persons_own(tries: int = 40) -> None:
    """Which rows of a person are kept depends on nobody else, and on no order; and there are no more of them than that."""
    columns = tuple(Node(column.name, column.type) for column in VISITS.columns)
    kept = KeepRows(Scan("visits", columns), columns[0], columns, KEPT)
    draw = random.Random(3)
    for salt in range(tries):
        mine, others = some_rows(draw, 8, 6), some_rows(draw, draw.choice([1, 7]), 6)
        alone = _kept(kept, mine["visits"], salt)
        assert len(alone) <= KEPT and not Counter(alone) - Counter(map(_said, mine["visits"]))
        assert len(alone) == min(KEPT, len(mine["visits"]))
        both = [*mine["visits"], *others["visits"], {"who": None, "x": 3, "port": "A"}]
        draw.shuffle(both)
        again = [row for row in _kept(kept, both, salt) if row[0] == 8]
        assert Counter(again) == Counter(alone), (salt, both)


def _kept(relation: KeepRows, rows: list[Row], salt: int) -> list[tuple[Any, ...]]:
    return [_said(row) for row in rows_in(relation, RunData({"visits": rows}, Priorities(salt)))]  # type: ignore[arg-type]


def _said(row: Any) -> tuple[Any, ...]:
    return tuple(row.values())


AS_DUCKDB = tuple(text for text in [*WITH_PUBLIC, *OF_PEOPLE] if "AVG" not in text)


def joins_are_those_of_duckdb(tries: int = 4, texts: tuple[str, ...] = AS_DUCKDB) -> None:
    """With limits that cut nothing, every group has what DuckDB finds in tables of the same rows, all within their bounds."""
    wide = Protected("who", max_groups=99, max_rows=99, people=1000)
    known = catalog(wide)
    tables = tuple(replace(table, join_rows=99) for table in known.tables if table.public is None)
    known = replace(known, tables=(*tables, ENTRY))
    draw = random.Random(5)
    for _ in range(tries):
        rows = _honest(together(*(some_rows(draw, who, 4) for who in (1, 2, 3))))
        for text in texts:
            plan = plan_for(question(text, known), known, 1)
            found = exact(plan, rows, 1)
            truth = _truth(text, rows)
            for group, *totals in zip(plan.domain, *found, strict=True):
                expected = truth.get(group, (0,) * len(totals))
                made = [total * each.step for total, each in zip(totals, plan.measurements, strict=True)]
                assert len(made) == len(expected), (text, expected)
                close = (abs(float(a) - float(b or 0)) < 1e-3 for a, b in zip(made, expected, strict=True))
                assert all(close), (text, group, made, expected, rows)


def _honest(rows: Rows) -> Rows:
    within = {-9: 2, 1e9: 3.0}
    return {name: [{k: within.get(v, v) for k, v in row.items()} for row in each] for name, each in rows.items()}


def _truth(text: str, rows: Rows) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What DuckDB says of the same text, for each group."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits (who BIGINT, x BIGINT, port VARCHAR)")
        connection.execute("CREATE TABLE tests (who BIGINT, y DOUBLE, lab VARCHAR)")
        connection.execute("CREATE TABLE ports (port VARCHAR, land VARCHAR, size BIGINT)")
        for name in ("visits", "tests"):
            for row in rows[name]:
                connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?)", list(row.values()))
        for entry in zip(*PORTS.values(), strict=True):
            connection.execute("INSERT INTO ports VALUES (?, ?, ?)", list(entry))
        found = connection.execute(text).fetchall()
    keys = 1 if "GROUP BY" in text.rpartition(")")[2] else 0  # of the outermost SELECT
    return {tuple(row[:keys]): tuple(row[keys:]) for row in found}


def a_public_key_is_unique_or_refused(tries: int = 60) -> None:
    """A question is planned where no two rows of the public table are alike in what is joined on; NULL is like nothing."""
    draw, met = random.Random(11), set()
    for _ in range(tries):
        size = draw.randrange(1, 4)
        entry = {
            "port": [draw.choice(["A", "B", "C", None]) for _ in range(size)],
            "gate": [draw.choice([1, 2, None]) for _ in range(size)],
        }
        for on in (["port"], ["port", "gate"]):
            keys = [key for key in zip(*(entry[name] for name in on), strict=True) if None not in key]
            unique = len(keys) == len(set(keys))
            condition = " AND ".join({"port": "v.port = p.port", "gate": "v.x = p.gate"}[name] for name in on)
            for side in ("", "LEFT "):
                text = f"SELECT COUNT(*) FROM visits v {side}JOIN ports p ON {condition}"
                try:
                    planned(text, PERSON, public(entry))
                    answered = True
                except DiscreetError as error:
                    assert error.code in ("join", "types") and error.hint, error
                    if error.code == "types":
                        continue
                    answered = False
                assert answered is unique, (entry, on)
                met.add(answered)
    assert met == {True, False}


def a_filter_may_make_a_key_unique() -> None:
    entry = {"port": ["A", "A", "B"], "year": [2023, 2024, 2024]}
    text = "SELECT COUNT(*) FROM visits v JOIN (SELECT * FROM ports WHERE year {}) p ON v.port = p.port"
    planned(text.format("= 2024"), PERSON, public(entry))
    try:
        planned(text.format(">= 2023"), PERSON, public(entry))
    except DiscreetError as error:
        assert error.code == "join"
        return
    raise AssertionError("a key is joined that is not unique")


def a_plan_is_of_the_table_that_was_looked_at() -> None:
    """Other rows are another question, and a plan of them is no plan for these; in another order they are the same."""
    text = WITH_PUBLIC[0]
    turned = {name: values[::-1] for name, values in PORTS.items()}
    other = PORTS | {"land": ["u", "v", "v", None, "w", "w"]}
    names = [digest(planned(text, PERSON, public(entry))) for entry in (PORTS, turned, other)]
    assert names[0] == names[1] != names[2]
    asked = question(text, catalog(PERSON))
    assert _is_a_fault(lambda: plan_for(asked, catalog(PERSON, public(other)), 1))


def rules_refuse_what_is_not_bounded() -> None:
    """Sides of which not so many rows are kept, rows that are units of their own, and joins on nothing have no reach."""
    columns = tuple(Node(column.name, column.type) for column in VISITS.columns)
    scan, who = Scan("visits", columns), columns[0]
    kept = KeepRows(scan, who, columns, KEPT)
    for one, other in ((scan, kept), (kept, scan), (scan, scan)):
        join = PersonJoin(one, other, "b", (who, who), False)
        assert _is_a_fault(lambda join=join: reach_into(join, Unit.PERSON))  # type: ignore[misc]
    sound = PersonJoin(kept, kept, "b", (who, who), False)
    assert reach_into(sound, Unit.PERSON).rows is None
    assert _is_a_fault(lambda: reach_into(sound, Unit.ROW)) and _is_a_fault(lambda: reach_into(kept, Unit.ROW))
    assert _is_a_fault(lambda: reach_into(replace(kept, most=0), Unit.PERSON))
    assert _is_a_fault(lambda: reach_into(PublicJoin(scan, scan, "b", (), False, ""), Unit.ROW))
    inner, outer = (PublicJoin(scan, scan, "b", ((who, who),), each, "") for each in (False, True))
    assert (reach_into(inner, Unit.ROW).surely, reach_into(outer, Unit.ROW).surely) == (False, True)


def _is_a_fault(call: Any) -> bool:
    try:
        call()
    except Fault:
        return True
    return False


def sides_keep_as_many_rows_as_are_declared() -> None:
    plan = planned(OF_PEOPLE[1], PERSON)
    kept = [each for each in walk(plan.query) if isinstance(each, KeepRows)]
    assert [each.most for each in kept] == [KEPT, KEPT]


def size_is_bounded() -> None:
    """By the people that are declared, times what each side keeps; a side that is asked twice counts twice."""
    most = (1 << 38) // KEPT**2
    for people, answered in ((most, True), (most + 1, False), (None, False)):
        for text in (OF_PEOPLE[0], OF_PEOPLE[5]):
            try:
                planned(text, replace(PERSON, people=people))
                assert answered, people
            except DiscreetError as error:
                assert not answered and error.code == "join" and ("people" in error.hint or "join_rows" in error.hint)
