"""Questions about parts of the people, over small tables about people and a public one; and laws of parts, as functions."""

import random
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any
from unittest.mock import patch

from discreet.engines import duckdb
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine, RunData, rows_in
from discreet.errors import DiscreetError, Fault
from discreet.mechanisms.sensitivity import Norm
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import check, check_taken, digest
from discreet.plan.joins import PersonJoin
from discreet.plan.parting import in_part
from discreet.plan.partition import Part, Partition
from discreet.plan.parts import InPart, part_of
from discreet.plan.plan import Plan, Stage
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.relation import Filter, Relation, Scan, Totals, Typed, children, scans, walk
from discreet.plan.rules.relations import reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import Literal, Type
from discreet.plan.sql import question
from discreet.plan.steps.base import Step
from discreet.plan.written import notation
from discreet.privacy import Adjacency, Unit
from tests.plan import joined
from tests.plan.joined import PERSON, ROWS, Row, Rows, data_of, exact, together
from tests.plan.laws import Priorities, decided_by, low_rungs

PARTS = Partition("visits", "port", Type.TEXT, ("A", "B"))
FOUND = Protected("who", people=1000)
UNITS = [*joined.UNITS, FOUND, replace(FOUND, adjacency=Adjacency.REPLACE)]

NAMED: list[tuple[str, str | None]] = [
    ("SELECT COUNT(*), SUM(x) FROM visits WHERE port = 'A'", "A"),
    ("SELECT COUNT(*) FROM visits v WHERE x > 2 AND 'B' = v.port", "B"),
    ("SELECT COUNT(*) FROM (SELECT x AS a, port AS b FROM visits WHERE x > 2) WHERE b = 'A' AND a < 5", "A"),
    ("WITH v AS (SELECT * FROM visits WHERE port = 'A') SELECT x, COUNT(*) FROM v WHERE x IS NOT NULL GROUP BY x", "A"),
    ("SELECT port, COUNT(*) FROM visits WHERE port = 'A' GROUP BY port", "A"),
    ("SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits WHERE port = 'A' GROUP BY who) WHERE n > 1", "A"),
    (
        "SELECT COUNT(*) FROM (SELECT who, port, COUNT(*) AS n FROM visits GROUP BY who, port) WHERE port = 'B' AND n > 1",
        "B",
    ),
    ("SELECT lab, COUNT(*) FROM tests t JOIN visits v USING (who) WHERE v.port = 'A' GROUP BY lab", "A"),
    ("SELECT lab, SUM(x) FROM visits v LEFT JOIN tests t USING (who) WHERE v.port = 'B' GROUP BY lab", "B"),
    ("SELECT COUNT(*) FROM visits a JOIN visits b USING (who) WHERE a.port = 'A' AND b.x > 2", "A"),
    ("SELECT land, COUNT(*) FROM visits v JOIN ports p USING (port) WHERE v.port = 'A' GROUP BY land", "A"),
    ("SELECT COUNT(*) FROM visits WHERE port = 'A' AND port = 'A'", "A"),
    # what names none, and is charged to all
    ("SELECT COUNT(*) FROM visits", None),
    ("SELECT COUNT(*) FROM visits WHERE port IN ('A')", None),
    ("SELECT COUNT(*) FROM visits WHERE port IN ('A', 'B')", None),
    ("SELECT COUNT(*) FROM visits WHERE port = 'A' OR port = 'B'", None),
    ("SELECT COUNT(*) FROM visits WHERE port = 'A' OR x > 4", None),
    ("SELECT COUNT(*) FROM visits WHERE port = 'A' AND port = 'B'", None),
    ("SELECT COUNT(*) FROM visits WHERE NOT (port = 'A')", None),
    ("SELECT COUNT(*) FROM visits WHERE port <> 'A'", None),
    ("SELECT COUNT(*) FROM visits WHERE port LIKE 'A'", None),
    ("SELECT COUNT(*) FROM visits WHERE UPPER(port) = 'A'", None),
    ("SELECT COUNT(*) FROM visits WHERE port = 'C'", None),
    ("SELECT COUNT(*) FROM visits WHERE x = 3", None),
    ("SELECT COUNT(*) FILTER (WHERE port = 'A') FROM visits", None),
    ("SELECT SUM(CASE WHEN port = 'A' THEN x END) FROM visits", None),
    ("SELECT port, COUNT(*) FROM visits GROUP BY port HAVING port = 'A'", None),
    ("SELECT COUNT(*) FROM tests WHERE lab = 'p'", None),
    ("SELECT COUNT(*) FROM (SELECT who, lab AS port FROM tests) WHERE port = 'p'", None),
    ("SELECT COUNT(*) FROM (SELECT who, MAX(port) AS port FROM visits GROUP BY who) WHERE port = 'A'", None),
    ("SELECT COUNT(*) FROM (SELECT who, MIN(x) AS x, MAX(port = 'A') AS a FROM visits GROUP BY who) WHERE a", None),
    ("SELECT COUNT(*) FROM visits v JOIN ports p USING (port) WHERE p.land = 'u'", None),
    ("SELECT COUNT(*) FROM visits v JOIN (SELECT port AS q FROM ports WHERE port = 'A') p ON v.port = p.q", None),
    ("SELECT COUNT(*) FROM visits v JOIN ports p USING (port) WHERE p.port = 'A'", None),
    ("SELECT COUNT(*) FROM tests t LEFT JOIN (SELECT who FROM visits WHERE port = 'A') v USING (who)", None),
    ("SELECT COUNT(*) FROM tests t JOIN (SELECT who FROM visits WHERE port = 'A') v USING (who)", None),
    ("SELECT COUNT(*) FROM visits a JOIN visits b USING (who) WHERE a.port = 'A' AND b.port = 'B'", None),
    (
        "SELECT COUNT(*) FROM visits a JOIN (SELECT who FROM visits WHERE port = 'B') b USING (who) WHERE a.port = 'A'",
        None,
    ),
]
"""Questions, and the part that the conditions of each name."""

ASKED = [
    ("SELECT COUNT(*) FROM tests", "A"),
    ("SELECT lab, SUM(y), COUNT(*) FROM tests GROUP BY lab", "B"),
    ("SELECT COUNT(*), COUNT(DISTINCT who) FROM visits JOIN tests USING (who)", "A"),
    ("SELECT port, AVG(x) FROM visits GROUP BY port", "A"),
    (
        "SELECT COUNT(*) FROM tests t LEFT JOIN (SELECT who FROM visits WHERE port = 'B') v USING (who) WHERE v.who IS NULL",
        "A",
    ),
    ("SELECT lab, COUNT(*) FROM (SELECT who, MAX(lab) AS lab FROM tests GROUP BY who) GROUP BY lab", "B"),
]
"""Questions that name no part, which whoever asks does."""


OF_ROWS = [
    "SELECT COUNT(*), SUM(x) FROM visits",
    "SELECT land, COUNT(*) FROM visits v JOIN ports p USING (port) GROUP BY land",
]
"""Such questions of rows that are units."""


def catalog(protected: Protected = PERSON) -> Catalog:
    return replace(joined.catalog(protected), parts=PARTS)


def asked(text: str, part: str | None = None, protected: Protected = PERSON) -> Question:
    known = catalog(protected)
    return in_part(question(text, known), known, part)


def planned(
    text: str, part: str | None = None, protected: Protected = PERSON, epsilon: Any = 1, delta: Any = 0
) -> Plan:
    delta = delta or (1e-6 if protected.clip == "l2" else 0)
    return plan_for(asked(text, part, protected), catalog(protected), epsilon, delta)


def cases() -> Iterator[tuple[str, str, Protected]]:
    named = [(text, part) for text, part in NAMED if part is not None]
    for (text, part), protected in product([*named, *ASKED], UNITS):
        yield text, part, protected
    for text, part in named:
        if "tests" not in text and "who" not in text:
            yield from ((text, part, protected) for protected in ROWS)
    yield from ((text, "B", protected) for text in OF_ROWS for protected in ROWS)


def names_are_read() -> None:
    for text, part in NAMED:
        found = part_of(asked(text).source)
        assert found == (None if part is None else Part("visits", "port", part)), text
        assert planned(text, protected=PERSON).part == found
    # a column of another table that is called so, and has these keys
    lab = replace(joined.TESTS, columns=(*joined.TESTS.columns, Column("port", Type.TEXT, keys=("A", "B"))))
    known = replace(catalog(), tables=(joined.VISITS, lab, joined.ENTRY))
    for text in (
        "SELECT COUNT(*) FROM tests WHERE port = 'A'",
        "SELECT COUNT(*) FROM visits v JOIN tests t USING (who) WHERE t.port = 'A'",
    ):
        assert part_of(in_part(question(text, known), known).source) is None, text
    for text, part in ASKED:
        assert part_of(asked(text).source) is None
        plan = planned(text, part)
        assert plan.part == Part("visits", "port", part) and digest(plan) != digest(planned(text)), text
        assert any(f"port = '{part}' alone" in note for note in plan.told)


TEXT, INTEGER = "type=<Type.TEXT: 'text'>", "type=<Type.INTEGER: 'integer'>"
PORT, WHO, X = f"Column(name='port', {TEXT})", f"Column(name='who', {INTEGER})", f"Column(name='x', {INTEGER})"
WRITTEN = (
    f"InPart(source=Scan(table='visits', columns=({PORT}, {WHO}, {X})), person={WHO},"
    f" members=Scan(table='visits', columns=({WHO}, {PORT})), column={PORT}, key=Literal(value='A', {TEXT}))"
)


def a_part_is_written_as_it_was() -> None:
    """Names of plans are kept for good."""
    source = asked(NAMED[0][0]).source
    assert isinstance(source, Filter) and notation(source.source) == WRITTEN


# Who is in a part, who is not, and how far anybody reaches.


def of_one(draw: random.Random, who: int | None, ports: list[str | None]) -> Rows:
    """The rows of somebody, with these ports."""
    visits: list[Row] = [{"who": who, "x": draw.choice([2, 5, 5, -9, None]), "port": port} for port in ports]
    tests: list[Row] = [
        {"who": who, "y": draw.choice([-1.0, 3.0, 1e9, None]), "lab": draw.choice(["p", "q", "z", None])}
        for _ in range(draw.randrange(3))
    ]
    return {"visits": visits, "tests": tests}


PORTS: list[list[str | None]] = [
    *([], ["A"], ["A", "A", "A"], ["B"], ["B", "B"], ["C"], ["Z"]),
    *(["A", "B"], ["A", None], [None], ["B", "B", "A"], ["A", "Z"], [None, "B"]),
]
"""The ports of a person: in one part or the other, in several, in none, with a cell missing, or without a row."""


def where(ports: list[str | None]) -> str | None:
    """The part that somebody with these ports is in."""
    return ports[0] if ports and len(set(ports)) == 1 and ports[0] in PARTS.names else None


def population(draw: random.Random) -> Rows:
    people = (of_one(draw, draw.choice([1, 2, 3, None]), draw.choice(PORTS)) for _ in range(draw.randrange(4)))
    return together(*people)


def neighbours(draw: random.Random, protected: Protected) -> tuple[Rows, Rows, set[str | None]]:
    """Tables that differ in somebody, and the parts in which they are before and after."""
    others = population(draw)
    one, other = draw.choice(PORTS), draw.choice(PORTS)
    if protected.person is None:
        one, other = (each[:1] or ["A"] for each in (one, other))
    first, second = of_one(draw, 8, one), of_one(draw, 9, other)
    if protected.person is None:
        first["tests"] = second["tests"] = others["tests"] = []
    if protected.adjacency is Adjacency.REPLACE:
        return together(others, first), together(others, second), {where(one), where(other)}
    return together(others, first), others, {where(one)}


def no_neighbour_moves_more(tries: int) -> None:
    """No total moves by more than noise is made for; and none at all for whoever is not in the part, before and after."""
    moved, still = 0, 0
    for text, part, protected in cases():
        draw = random.Random(text)
        plan = decided_by(planned(text, part, protected), low_rungs(draw))
        for salt in range(tries):
            first, second, parts = neighbours(draw, protected)
            pairs = list(zip(exact(plan, first, salt), exact(plan, second, salt), strict=True))
            if part not in parts:
                assert all(one == other for one, other in pairs), (text, part, protected, first, second)
                still += 1
            moved += any(one != other for one, other in pairs)
            for made, (one, other) in zip(plan.measurements, pairs, strict=True):
                by = [abs(a - b) for a, b in zip(one, other, strict=True)]
                squared = made.mechanism is not None and made.mechanism.norm is Norm.L2
                size = sum(d * d for d in by) if squared else sum(by) ** 2
                assert size <= made.sensitivity**2, (text, part, protected, first, second, salt)
    assert moved and still


def no_count_of_a_part_is_public() -> None:
    """How many there are in a part changes where one is replaced by somebody who is in another."""
    for text, part, protected in cases():
        plan = decided_by(planned(text, part, protected), low_rungs(random.Random(1)))
        assert all(each.mechanism is not None for each in plan.measurements), (text, protected)


def engines_agree(tries: int, texts: list[tuple[str, str]] | None = None) -> None:
    """DuckDB finds what the slow engine does, whoever is in several parts, in none, or without an id."""
    draw, some = random.Random(7), 0
    for text, part, protected in cases():
        if (texts is not None and (text, part) not in texts) or protected not in (PERSON, ROWS[0]):
            continue
        plan = planned(text, part, protected)
        for salt in range(tries):
            rows = together(population(draw), of_one(draw, None, ["A", "B"]), of_one(draw, 5, [part, part]))
            # with people that are numbered, in slices of two rows, and without
            small = patch.multiple(duckdb, ROWS_TO_ARRANGE=1, ROWS_OF_A_SLICE=2) if salt % 2 else nullcontext()
            with small, DuckDB(data_of(rows)) as fast:
                slow = MemoryEngine(data_of(rows), fast.priorities)
                for query in plan.decided.queries:
                    one, other = fast.run(query, salt), slow.run(query, salt)
                    assert _as_dict(one) == _as_dict(other), (text, part, rows)
                    some += sum(map(int, one.totals[0])) if one.totals else 0
    assert some


def _as_dict(found: Any) -> dict[Any, list[int]]:
    groups = {key: [int(total[i]) for total in found.totals] for i, key in enumerate(found.keys)}
    return {key: totals for key, totals in groups.items() if any(totals)}


# Every stage of a plan.

STAGED = [
    "SELECT COUNT(*), SUM(x) FROM visits WHERE port = 'A'",
    "SELECT lab, MEDIAN(y), MODE(lab), COUNT(DISTINCT x) FROM visits v JOIN tests t USING (who) WHERE v.port = 'A' GROUP BY lab",
    "SELECT note, COUNT(*) FROM visits WHERE port = 'A' GROUP BY note",
    "SELECT SUM(far), AVG(far) FROM visits WHERE port = 'A'",
    "SELECT port, x, COUNT(*), COUNT(DISTINCT who) FROM visits WHERE port = 'A' GROUP BY ROLLUP (port, x)",
]


def staged() -> Iterator[Plan]:
    """Plans with steps, readings and levels, of the people of a part."""
    visits = replace(
        joined.VISITS,
        columns=(*joined.VISITS.columns, Column("note", Type.TEXT), Column("far", Type.INTEGER, auto=True)),
    )
    for text in STAGED:
        for protected in (PERSON, FOUND, replace(FOUND, adjacency=Adjacency.REPLACE)):
            known = Catalog((visits, joined.TESTS, joined.ENTRY), protected, parts=PARTS)
            yield plan_for(in_part(question(text, known), known), known, 2, 1e-6)


def every_stage_reads_the_part() -> None:
    """All that is run, whatever was found before, reads nobody else; and the plans have steps, readings and levels to look at."""
    kinds = set[str]()
    for plan in staged():
        assert plan.part == Part("visits", "port", "A")
        for query in _queries(plan.stage, kinds):
            assert part_of(query) == plan.part
            for scan in _people_read(query):
                assert scan, "a table about people is read whole"
    assert {"Search", "Tally", "FindKeys", "FindRange", "reading", "level"} <= kinds, kinds


def _queries(stage: Stage | Step, kinds: set[str]) -> Iterator[Totals]:
    if isinstance(stage, Step):
        kinds.add(type(stage).__name__)
        yield stage.reads
        for outcome in list(stage.ways)[:3]:
            yield from _queries(stage.after(outcome), kinds)
        return
    kinds |= ({"reading"} if stage.readings else set()) | ({"level"} if any(stage.levels) else set())
    yield from stage.queries


def _people_read(relation: Relation, inside: bool = False) -> Iterator[bool]:
    """For each scan of a table about people, whether it stands below a part; found by another way than `part_of`."""
    if isinstance(relation, InPart):
        yield from _people_read(relation.source, True)
    elif isinstance(relation, Scan):
        if relation.table != "ports":
            yield inside
    else:
        for each in children(relation):
            yield from _people_read(each, inside)


def a_stage_that_reads_others_is_a_fault() -> None:
    """A plan is charged to the part of its question: one that reads everybody, or another part, in any stage, does not hold."""
    for plan in staged():
        whole = _with_source(plan.stage, lambda each: each.source)
        other = _with_source(plan.stage, lambda each: replace(each, key=Literal("B", Type.TEXT)))
        moved = _with_source(plan.stage, lambda each: replace(each, members=replace(each.members, table="tests")))
        person = _with_source(plan.stage, lambda each: replace(each, person=replace(each.person, name="x")))
        for stage in (whole, other, moved, person):
            if stage is not None:
                _faulty(replace(plan, stage=stage))
        source = plan.question.source
        bare = replace(plan.question, source=_stripped(source, lambda each: each.source))
        _faulty(replace(plan, question=bare))


def _faulty(plan: Plan) -> None:
    for law in (check, check_taken):
        try:
            law(plan)
        except Fault as fault:
            assert fault.code == "plan", fault
        else:
            raise AssertionError("a plan that reads others than it is charged for holds")


def _with_source(stage: Stage | Step, change: Any) -> Any:
    """A stage whose own query is made of other rows; None where it has none."""
    if isinstance(stage, Stage) and not stage.measurements:
        first, *rest = stage.readings
        return replace(stage, readings=(replace(first, query=_stripped(first.query, change)), *rest))  # type: ignore[call-arg]
    if hasattr(stage, "query"):
        return replace(stage, query=_stripped(stage.query, change))
    return None


def _stripped(relation: Any, change: Any) -> Any:
    """The relation with something else wherever it reads a part."""
    if isinstance(relation, InPart):
        return change(relation)
    changed = {}
    for name in ("source", "other"):
        if isinstance(getattr(relation, name, None), Relation):
            changed[name] = _stripped(getattr(relation, name), change)
    return replace(relation, **changed)


def rules_refuse_what_is_no_part() -> None:
    source = asked(NAMED[0][0]).source
    (node,) = (each for each in walk(source) if isinstance(each, InPart))
    who, lab = Node("who", Type.INTEGER), Node("lab", Type.TEXT)
    wrong = [
        replace(node, key=Literal("C", Type.TEXT)),
        replace(node, key=Literal(1, Type.INTEGER)),
        replace(node, column=Node("x", Type.INTEGER)),
        replace(node, members=Scan("tests", (who, lab)), column=lab),
        replace(node, members=Scan("visits", (Node("x", Type.INTEGER), node.column))),
        replace(node, person=Node("x", Type.INTEGER)),
        replace(node, person=None),
    ]
    for each in wrong:
        _refused(lambda each=each: scope_of(each, catalog()), each)
    _refused(lambda: scope_of(node, replace(catalog(), parts=None)), node)
    _refused(lambda: scope_of(node, catalog(ROWS[0])), node)
    numbered = replace(catalog(), parts=Partition("visits", "x", Type.INTEGER, ("2",)))
    spelt = replace(node, column=Node("x", Type.INTEGER), key=Literal("2", Type.TEXT))
    _refused(lambda: scope_of(spelt, numbered), spelt)
    _refused(lambda: reach_into(node, Unit.ROW), node)
    _refused(lambda: reach_into(replace(node, person=None), Unit.PERSON), node)
    assert part_of(replace(node, source=Filter(node.source, node.all_in))) is None, "a part is one of a table's rows"
    scan = node.source
    assert isinstance(scan, Scan)
    assert part_of(replace(node, source=Typed(scan, scan.columns))) == node.part
    assert {each.table for each in scans(node)} == {"visits"}
    both = asked("SELECT COUNT(*) FROM visits a JOIN visits b USING (who) WHERE a.port = 'A'").source
    assert isinstance(both, Filter) and isinstance(both.source, PersonJoin)
    bare = _stripped(both.source.other, lambda each: each.source)
    assert part_of(both) == node.part
    assert part_of(replace(both, source=replace(both.source, other=bare))) is None, "one side is of everybody"


def _refused(law: Any, what: Any) -> None:
    try:
        law()
    except DiscreetError:
        return
    raise AssertionError(f"this is taken for a part: {what}")


# Whoever is in several is charged for all of them.


@dataclass
class Spending:
    """What a ledger of the law adds up: everything, but for parts, of which the largest counts in each time, or the two largest."""

    touched: int
    whole: float = 0
    before: float = 0
    parts: dict[str, float] | None = None

    def charge(self, part: Part | None, price: float) -> None:
        if part is None:
            self.whole += price
        else:
            self.parts = (self.parts or {}) | {part.name: (self.parts or {}).get(part.name, 0) + price}

    def move(self) -> None:
        self.before, self.parts = self.total - self.whole, None

    @property
    def total(self) -> float:
        return self.whole + self.before + sum(sorted((self.parts or {}).values(), reverse=True)[: self.touched])


POOL = [text for text, _ in NAMED if "ports" not in text]


remembered = cache(asked)
"""What questions ask, which are asked again and again."""


def overlap_is_summed(seed: int, *, replaced: bool) -> tuple[bool, bool]:
    """Whatever questions are asked, of parts or of rows that only look like some: whoever changes the rows of several is charged for all.

    Everybody is looked at: in each time what questions read is read with them and without. Whether somebody was in several
    questions, and whether parts saved anything.
    """
    draw = random.Random(seed)
    spending, people = Spending(2 if replaced else 1), (1, 2, 3, 4)
    met = dict.fromkeys(people, 0.0)
    several, paid = False, 0.0
    for _ in range(2):
        tables = together(*(of_one(draw, who, draw.choice(PORTS)) for who in people))
        for _ in range(draw.randrange(1, 5)):
            if draw.random() < 0.8:
                text, part = draw.choice(POOL), None
            else:
                text, part = draw.choice(ASKED)
            source, price = remembered(text, part).source, draw.choice([1.0, 2.0, 4.0])
            spending.charge(part_of(source), price)
            paid += price
            for who in people:
                if _read(source, tables) != _read(source, _without(tables, who)):
                    several |= met[who] > 0
                    met[who] += price
        spending.move()
    worst = sorted(met.values(), reverse=True)
    # of who is replaced and whoever comes in their place no question is counted twice
    assert worst[0] <= spending.total <= paid, (seed, met, spending)
    return several, spending.total < paid


def pairs_are_summed(seed: int) -> bool:
    """The same where one is replaced by another, over all pairs: a question counts once that either of them is in."""
    draw = random.Random(seed)
    spending, people = Spending(2), (1, 2, 3, 4)
    touched: list[tuple[float, set[int]]] = []
    for _ in range(2):
        tables = together(*(of_one(draw, who, draw.choice(PORTS)) for who in people))
        for _ in range(draw.randrange(1, 5)):
            source, price = remembered(draw.choice(POOL)).source, draw.choice([1.0, 2.0, 4.0])
            spending.charge(part_of(source), price)
            touched.append(
                (price, {who for who in people if _read(source, tables) != _read(source, _without(tables, who))})
            )
        spending.move()
    worst = max(sum(price for price, whom in touched if whom & set(pair)) for pair in product(people, people))
    assert worst <= spending.total, (seed, touched, spending)
    return worst == spending.total


def _read(source: Any, tables: Rows) -> list[str]:
    rows = rows_in(source, RunData(tables, Priorities(1)))  # type: ignore[arg-type]
    return sorted(map(repr, (sorted(row.items(), key=repr) for row in rows)))


def _without(tables: Rows, who: int) -> Rows:
    return {name: [row for row in rows if row["who"] != who] for name, rows in tables.items()}


def table_of(name: str) -> Table:
    return catalog().table(name)
