"""What holds for every relation, those that there are and a new one: each has a rule of its own, and what has none is refused."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import partial
from typing import Any

import pytest

from discreet.engines import memory
from discreet.engines.render import relations as rendering
from discreet.engines.render.duckdb import DUCKDB
from discreet.plan import relation
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.check import check, digest
from discreet.plan.explain import explain, told
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    ClipNorm,
    Contributions,
    Filter,
    Gathered,
    How,
    Relation,
    Rows,
    Scan,
    Term,
    Totals,
    base_of,
    children,
    contributions_in,
    contributions_of,
    keys_of,
    scans,
    terms_of,
    walk,
)
from discreet.plan.release import exact_totals
from discreet.plan.rules.relations import Reach, combined, reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.written import notation
from discreet.privacy import Unit
from tests.plan import laws
from tests.plan.laws import (
    COLUMNS,
    FIRST,
    PERSON,
    ROW,
    TABLE,
    UNITS,
    exact,
    honest,
    is_a_fault,
    neighbours,
    planned,
    turned,
)
from tests.plan.toy_relation import Both
from tests.scale import repeats

SCAN = Scan("t", COLUMNS)
WHO = s.Column("who", Type.INTEGER)
ONE = Term(How.SUM, s.Literal(1, Type.INTEGER))

GATHERED = Contributions(SCAN, WHO, (), (ONE,))
CATALOG = Catalog((TABLE,), PERSON)
READING = memory.RunData({}, {})
WRITER = rendering.Writer({}, DUCKDB)


@dataclass(frozen=True, slots=True)
class BareRows(Rows):
    """Rows that nobody wrote a rule for. It looks like a filter, and is none."""

    source: Rows = SCAN


@dataclass(frozen=True, slots=True)
class BarePeople(Gathered):
    """People that nobody wrote a rule for."""

    source: Gathered = GATHERED


RULES: dict[str, tuple[Any, Callable[[Any, Relation], object], tuple[type, ...]]] = {
    "children": (children, lambda rule, each: rule(each), (Rows, Gathered)),
    "reach": (reach_into, lambda rule, each: rule(each, Unit.PERSON), (Rows, Gathered)),
    "words": (told, lambda rule, each: rule(each), (Rows, Gathered)),
    "scope": (scope_of, lambda rule, each: rule(each, CATALOG), (Rows,)),
    "meaning of rows": (memory.rows_in, lambda rule, each: rule(each, READING), (Rows,)),
    "meaning of people": (memory.people_in, lambda rule, each: rule(each, READING), (Gathered,)),
    "text of rows": (rendering.rows_of, lambda rule, each: rule(each, WRITER), (Rows,)),
    "text of people": (rendering.people_of, lambda rule, each: rule(each, WRITER), (Gathered,)),
}
"""Whatever is told of a relation by its kind: the function, how it is called, and of which relations."""


@pytest.mark.parametrize("name", RULES)
def test_every_relation_has_every_rule(name: str) -> None:
    rule, _, kinds = RULES[name]
    own = [each for each in vars(relation).values() if isinstance(each, type) and issubclass(each, kinds)]
    assert len(own) > len(kinds) and all(each in rule.registry for each in own if each not in kinds)


def relations_without_a_rule_are_refused() -> None:
    for rule, called, kinds in RULES.values():
        for bare in (BareRows(), BarePeople()):
            if isinstance(bare, kinds):
                assert is_a_fault(partial(called, rule, bare)), (rule, bare)
    assert is_a_fault(lambda: notation(BareRows()))


def queries_with_a_relation_without_a_rule_are_refused() -> None:
    """Wherever it stands in the tree, and whatever caps are above it: it has no sensitivity, and no terms."""
    bare = BareRows()
    for rows in (bare, Filter(bare, s.Literal(True, Type.BOOLEAN)), Both(SCAN, bare), Both(bare, SCAN)):
        gathered = Contributions(rows, WHO, (), (ONE,))
        by_person = (Totals(CapRows(gathered, 1)), Totals(ClipNorm(CapRows(gathered, 1), (1,))))
        cases = [*((query, PERSON) for query in by_person), (Totals(rows, (), (ONE,)), ROW)]
        for query, unit in cases:
            assert is_a_fault(lambda query=query, unit=unit: combined(FIRST, query, unit.relation, 1)), query  # type: ignore[misc]
        assert is_a_fault(lambda rows=rows: scans(rows)), rows  # type: ignore[misc]
    assert is_a_fault(lambda: combined(FIRST, Totals(BarePeople()), PERSON.relation, 1))


def test_what_has_no_rule_is_refused() -> None:
    relations_without_a_rule_are_refused()


def test_a_query_with_what_has_no_rule_is_refused() -> None:
    queries_with_a_relation_without_a_rule_are_refused()


def caps_are_on_people() -> None:
    """Nothing is capped before it is gathered, gathered twice, capped once its norm is clipped, or to nothing; totals are on top alone."""
    clipped = ClipNorm(CapRows(GATHERED, 1), (1,))
    wrong: list[Any] = [
        *(kind(SCAN, most) for kind, most in ((CapRows, 1), (CapGroups, 1), (ClipNorm, (1,)))),  # type: ignore[operator]
        Contributions(CapRows(GATHERED, 1), WHO, (), (ONE,)),  # type: ignore[arg-type]
        Filter(CapRows(GATHERED, 1), s.Literal(True, Type.BOOLEAN)),  # type: ignore[arg-type]
        CapGroups(clipped, 1),  # type: ignore[arg-type]
        CapRows(clipped, 1),  # type: ignore[arg-type]
        Totals(SCAN, (), (ONE,)),
        CapRows(GATHERED, 0),
        CapGroups(CapRows(GATHERED, 1), 0),
        ClipNorm(CapRows(GATHERED, 1), (0,)),
    ]
    for source in wrong:
        for unit in (PERSON, turned(PERSON), ROW, turned(ROW)):
            query = Totals(source, (), (ONE,))
            assert is_a_fault(lambda query=query, unit=unit: combined(FIRST, query, unit.relation, 1)), query  # type: ignore[misc]


def test_caps_are_on_people() -> None:
    caps_are_on_people()


# A query is a tree.


def trees_are_walked_whole() -> None:
    """Each relation comes once, before its children; scans and contributions are found on every side."""
    leaves: list[Rows] = [Scan(f"t{i}", COLUMNS) for i in range(5)]
    tree = Both(Both(leaves[0], leaves[1]), Filter(Both(leaves[2], Both(leaves[3], leaves[4])), s.IsNull(WHO)))
    query = Totals(CapRows(Contributions(tree, WHO, (WHO,), (ONE,)), 2))
    nodes = list(walk(query))
    assert list(scans(query)) == leaves and len(nodes) == 3 + 5 + 4 + 1
    assert nodes[0] is query
    for node in nodes:
        assert all(nodes.index(node) < nodes.index(child) for child in children(node))
    assert contributions_in(query) == (query.source.source,)  # type: ignore[union-attr, attr-defined]
    assert (terms_of(query), keys_of(query)) == ((ONE,), (WHO,))


def test_a_tree_is_walked_whole() -> None:
    trees_are_walked_whole()


def test_terms_and_keys_are_those_of_the_rows_or_of_the_contributions() -> None:
    assert (terms_of(Totals(SCAN, (WHO,), (ONE,))), keys_of(Totals(SCAN, (WHO,), (ONE,)))) == ((ONE,), (WHO,))
    for source in (GATHERED, CapRows(GATHERED, 1), ClipNorm(CapRows(GATHERED, 1), (1,))):
        assert contributions_of(source) is GATHERED and terms_of(Totals(source)) == (ONE,)


def test_whoever_knows_one_table_refuses_others() -> None:
    """And so does whoever knows people that are gathered once."""
    assert base_of(GATHERED) is SCAN
    twice = Contributions(CapRows(GATHERED, 1), WHO, (), (ONE,))  # type: ignore[arg-type]
    for refuse in (lambda: base_of(Both(SCAN, SCAN)), lambda: contributions_of(SCAN), lambda: contributions_of(twice)):
        assert is_a_fault(refuse)


# A new relation, in one file.

TEXTS = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(x), AVG(y) FROM t",
    "SELECT g, COUNT(*), SUM(y) FROM t GROUP BY g",
    "SELECT SUM(far) FROM t WHERE y > 0",
]


def doubled(words: str, unit: Protected) -> Plan:
    """The plan of a question about all rows of a table, and about those above 2 once more."""
    catalog = Catalog((TABLE,), unit)
    asked = question(words, catalog)
    scan = base_of(asked.source)
    columns = tuple({*scan.columns, s.Column("x", Type.INTEGER)})
    some = Filter(
        Scan("t", columns), s.Comparison(s.Order.GREATER, s.Column("x", Type.INTEGER), s.Literal(2, Type.INTEGER))
    )
    source: Rows = Both(Scan("t", columns), some)
    if isinstance(asked.source, Filter):
        source = Filter(source, asked.source.condition)
    changed: Question = replace(asked, source=source)
    return plan_for(changed, catalog, 1, F(1, 10**6) if unit.clip == "l2" else 0)


def units_reach_into_both() -> None:
    """No neighbour moves a total of both by more than its noise is made for, whichever unit is protected."""
    for unit in UNITS:
        for words in TEXTS:
            plan, draw = doubled(words, unit), random.Random(words)
            for salt in range(repeats(20)):
                first, second = (exact(plan, rows, salt) for rows in neighbours(draw, unit))
                for measurement, one, other in zip(plan.measurements, first, second, strict=True):
                    by = [abs(a - b) for a, b in zip(one, other, strict=True)]
                    far = F(sum(d * d for d in by)) if unit.clip == "l2" else F(sum(by)) ** 2
                    assert far <= measurement.sensitivity**2, (words, unit)


def test_a_new_relation_has_its_reach() -> None:
    units_reach_into_both()
    assert reach_into(Both(SCAN, Both(SCAN, SCAN)), Unit.ROW) == Reach(3, 1)
    assert reach_into(Both(SCAN, SCAN), Unit.PERSON) == Reach(None, None)
    once, twice = (combined(FIRST, Totals(each, (), (ONE,)), ROW.relation, 1) for each in (SCAN, Both(SCAN, SCAN)))
    assert twice.l1 == 2 * once.l1


def test_a_new_relation_is_planned_checked_named_told_and_run() -> None:
    rows, unit = honest(), replace(PERSON, max_rows=99, max_groups=3)
    for protected in (unit, ROW):
        plan = doubled("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", protected)
        check(plan)
        assert digest(plan) not in (digest(planned("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", protected)), "")
        lines = explain(plan).splitlines()
        (at,) = (i for i, line in enumerate(lines) if line.strip() == "└─ both of")
        depth = lines[at].index("└")
        assert [line.index("└") - depth for line in lines[at + 1 : at + 4]] == [3, 3, 6]
        some = [row for row in rows if row["x"] > 2]
        found = exact_totals(plan, laws.engine(rows).run(plan.query, 1))
        assert found[0].tolist() == [len(rows) + len(some)]


def test_what_is_known_of_both_is_known_of_each() -> None:
    """A column that only one side filters may be missing in the other."""
    some = Filter(SCAN, s.Not(s.IsNull(s.Column("y", Type.NUMBER))))
    for source, nullable in ((SCAN, True), (some, False), (Both(SCAN, some), True), (Both(some, some), False)):
        assert scope_of(source, CATALOG).facts(s.Column("y", Type.NUMBER)).nullable is nullable
