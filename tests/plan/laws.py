"""Laws of the planner, as functions: run on sound code, and by tests/mutants on code with a planted bug.

Neighbours are searched on tables of a few rows with the slow engine; every total is compared, exactly, with the sensitivity that the plan
gives its noise.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine
from discreet.errors import DiscreetError, Fault
from discreet.mechanisms import DiscreteGaussian, Grant
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Tape
from discreet.plan import relation as relations
from discreet.plan import scalar
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import check, digest, event_of
from discreet.plan.combination import Combination
from discreet.plan.intervals import predicted
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.relation import How
from discreet.plan.release import exact_totals, release
from discreet.plan.releases.total import Total
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.steps.base import Outcome, Step
from discreet.plan.within import plan_within
from discreet.privacy import Adjacency, loss
from tests.plan.made import restaged

F = Fraction
TABLE = Table(
    "t",
    (
        Column("who", Type.INTEGER),
        Column("x", Type.INTEGER, F(2), F(5)),
        Column("y", Type.NUMBER, F(-1), F(3)),
        Column("g", Type.TEXT, keys=("A", "B", "C")),
        Column("note", Type.TEXT),
        Column("far", Type.NUMBER, F(10**6), F(10**6 + 1)),
        Column("deep", Type.NUMBER, F(-(10**6) - 1), F(-(10**6))),
        Column("wide", Type.INTEGER, F(0), F(2**24 + 1)),
    ),
)
COLUMNS = tuple(scalar.Column(column.name, column.type) for column in TABLE.columns)
PERSON = Protected("who", max_groups=2, max_rows=2)
ROW = Protected()
FIRST = Combination.plain(0)
CLIPPED = replace(PERSON, clip="l2")


def turned(protected: Protected) -> Protected:
    return replace(protected, adjacency=Adjacency.REPLACE)


UNITS = [PERSON, turned(PERSON), ROW, turned(ROW), CLIPPED, turned(CLIPPED)]
TEXTS = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE y > 0",
    "SELECT COUNT(x) FROM t WHERE y > 0",
    "SELECT SUM(x) FROM t",
    "SELECT SUM(x) FROM t WHERE y > 0",
    "SELECT SUM(y) FILTER (WHERE g = 'A') FROM t",
    "SELECT SUM(x * 10) FROM t",
    "SELECT AVG(y) FROM t",
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT g, SUM(y), AVG(x) FROM t GROUP BY g",
    "SELECT CASE WHEN x < 4 THEN 'low' ELSE 'high' END AS k, SUM(x) FROM t GROUP BY k",
    "SELECT SUM(far) FROM t",
    "SELECT g, SUM(far), COUNT(far) FROM t GROUP BY g",
    "SELECT SUM(deep) FILTER (WHERE g = 'A'), AVG(deep) FROM t",
    "SELECT g, SUM(wide) FROM t WHERE y > 0 GROUP BY g",
]
OF_PEOPLE = [
    "SELECT COUNT(DISTINCT who) FROM t",
    "SELECT g, COUNT(DISTINCT who), COUNT(*) FROM t WHERE x > 2 GROUP BY g",
]

Row = dict[str, Any]


class Priorities(dict[Any, int]):
    """The priority of any person in any group, from a salt."""

    def __init__(self, salt: int) -> None:
        self.salt = salt

    def __missing__(self, key: Any) -> int:
        return int.from_bytes(sha256(repr((self.salt, key)).encode()).digest()[:8], "big")


def engine(rows: list[Row]) -> MemoryEngine:
    lists = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    return MemoryEngine([Data("t", lists, COLUMNS)], lambda query, salt: Priorities(salt))


def planned(text: str, protected: Protected, epsilon: Any = 1, delta: Any = 0, table: Table = TABLE) -> Plan:
    catalog = Catalog((table,), protected)
    return plan_for(question(text, catalog), catalog, epsilon, delta)


def decided_by(plan: Plan, choose: Callable[[Step], Outcome]) -> Plan:
    """The plan whose steps have the outcomes that somebody chooses."""
    while isinstance(step := plan.next, Step):
        plan = plan.chosen(choose(step))
    return plan


def low_rungs(draw: random.Random) -> Callable[[Step], Outcome]:
    """Some outcome near the lower end, where limits cut something of people with few rows."""
    return lambda step: draw.choice(step.ways[:6])


def top_rungs(step: Step) -> Outcome:
    """The last outcome, which cuts least."""
    return step.ways[-1]


def exact(plan: Plan, rows: list[Row], salt: int = 1) -> list[list[int]]:
    return [totals.tolist() for totals in exact_totals(plan, engine(rows).run(plan.query, salt))]


def any_row(draw: random.Random, who: int | None) -> Row:
    return {
        "who": who,
        "x": draw.choice([2, 5, 5, -100, 1000, None]),
        "y": draw.choice([-1.0, 3.0, 3.0, 1e308, float("-inf"), None]),
        "g": draw.choice(["A", "B", "C", "Z", None]),
        "note": draw.choice(["7", "x", None]),
        "far": draw.choice([1e6, 1e6 + 1, -3.0, float("inf"), None]),
        "deep": draw.choice([-1e6, -1e6 - 1, 3.0, float("-inf"), None]),
        "wide": draw.choice([0, 2**24 + 1, 2**24 + 1, -1, 2**62, None]),
    }


def neighbours(draw: random.Random, protected: Protected) -> tuple[list[Row], list[Row]]:
    others = [any_row(draw, draw.choice([1, 2, None])) for _ in range(draw.randrange(4))]
    if protected.person is None:
        more = [any_row(draw, 7)]
        instead = [any_row(draw, 7)]
    else:
        more = [any_row(draw, 8) for _ in range(draw.randrange(1, 7))]
        instead = [any_row(draw, 9) for _ in range(draw.randrange(7))]
    replaced = protected.adjacency is Adjacency.REPLACE
    return others + more, others + instead if replaced else others


@dataclass(frozen=True)
class Moved:
    """The farthest that any neighbours were apart in one measurement, in its norm, squared."""

    plan: Plan
    farthest: list[Fraction]

    @property
    def allowed(self) -> list[Fraction]:
        return [measurement.sensitivity**2 for measurement in self.plan.measurements]


def searched(text: str, protected: Protected, tries: int, delta: Any = 0, table: Table = TABLE) -> Moved:
    draw = random.Random(text)
    plan = decided_by(planned(text, protected, delta=delta, table=table), low_rungs(draw))
    engines = [(neighbours(draw, protected), salt) for salt in range(tries)]
    farthest = [F(0)] * len(plan.measurements)
    for (first, second), salt in engines:
        pairs = zip(exact(plan, first, salt), exact(plan, second, salt), strict=True)
        for i, (one, other) in enumerate(pairs):
            by = [abs(a - b) for a, b in zip(one, other, strict=True)]
            mechanism = plan.measurements[i].mechanism
            squared = mechanism is not None and mechanism.norm is Norm.L2
            size = F(sum(d * d for d in by)) if squared else F(sum(by)) ** 2
            farthest[i] = max(farthest[i], size)
    return Moved(plan, farthest)


def cases() -> Iterator[tuple[str, Protected, Any]]:
    for protected in UNITS:
        texts = TEXTS if protected.person is None else TEXTS + OF_PEOPLE
        for text in texts:
            yield text, protected, F(1, 10**6) if protected.clip == "l2" else 0


def no_neighbour_moves_more(tries: int = 40) -> None:
    """No total moves by more than the sensitivity that its noise is made for."""
    for text, protected, delta in cases():
        moved = searched(text, protected, tries, delta)
        for far, allowed in zip(moved.farthest, moved.allowed, strict=True):
            assert far <= allowed, (text, protected, far, allowed)


def some_neighbour_moves_as_much(tries: int = 400) -> None:
    """Where it is claimed to be exact, the sensitivity is reached: no smaller one would do."""
    for text in (
        "SELECT COUNT(*) FROM t",
        "SELECT SUM(x) FROM t",
        "SELECT SUM(x) FROM t WHERE y > 0",
        "SELECT g, COUNT(*) FROM t GROUP BY g",
    ):
        for protected in (PERSON, ROW, turned(ROW)):
            moved = searched(text, protected, tries)
            assert moved.farthest == moved.allowed, (text, protected, moved.farthest, moved.allowed)


def honest(n: int = 12) -> list[Row]:
    return [
        {"who": i % 6, "x": 2 + i % 4, "y": (i % 5) - 1.0, "g": "ABC"[i % 3], "note": "7" if i % 2 else None}
        | {"far": 1e6 + i % 5 / 4, "deep": -1e6 - i % 3 / 2 if i % 4 else None, "wide": i % 10}
        for i in range(n)
    ]


def answers_are_right() -> None:
    """At a price where noise is nothing, the answer is that of plain arithmetic on honest rows that no cap or clamp touches."""
    from discreet.plan.post import released_rows

    rows, wide = honest(), replace(PERSON, max_groups=9, max_rows=9)
    by = {g: [row for row in rows if row["g"] == g] for g in "ABC"}
    wanted: dict[str, list[tuple[Any, ...]]] = {
        "SELECT COUNT(*), COUNT(note), COUNT(DISTINCT who) FROM t": [(12, 6, 6)],
        "SELECT SUM(x), SUM(x * 10), SUM(y) FROM t": [(42, 420, sum(row["y"] for row in rows))],
        "SELECT SUM(x) FILTER (WHERE y > 0), COUNT(*) FILTER (WHERE x = 2) FROM t": [
            (sum(row["x"] for row in rows if row["y"] > 0), 3)
        ],
        "SELECT AVG(x), AVG(y) FROM t": [(3.5, sum(row["y"] for row in rows) / 12)],
        "SELECT AVG(x) FILTER (WHERE x > 3) FROM t": [(4.5,)],
        "SELECT SUM(x), AVG(x), COUNT(x) FROM t": [(42, 3.5, 12)],
        "SELECT AVG(y), SUM(y) FROM t WHERE x > 3": [
            (sum(row["y"] for row in rows if row["x"] > 3) / 6, sum(row["y"] for row in rows if row["x"] > 3))
        ],
        "SELECT g, COUNT(*), AVG(x) FROM t GROUP BY g": [
            (g, len(b), sum(r["x"] for r in b) / len(b)) for g, b in by.items()
        ],
        "SELECT g, COUNT(*) FROM t WHERE x > 2 GROUP BY g HAVING COUNT(*) > 2 ORDER BY g DESC": [
            (g, sum(row["x"] > 2 for row in by[g])) for g in "CBA" if sum(row["x"] > 2 for row in by[g]) > 2
        ],
        "SELECT CASE WHEN x < 4 THEN 'low' ELSE 'high' END AS k, SUM(x) FROM t GROUP BY k": [
            ("low", sum(row["x"] for row in rows if row["x"] < 4)),
            ("high", sum(row["x"] for row in rows if row["x"] >= 4)),
        ],
    }
    for text, expected in wanted.items():
        plan = planned(text, wide, epsilon=10**6)
        released = release(plan, engine(rows).run, Grant(plan.event, Tape(1)), 5)
        found = released_rows(plan, released).rows
        assert len(found) == len(expected), (text, found)
        for one, other in zip(found, expected, strict=True):
            for a, b in zip(one, other, strict=True):
                assert a == b if isinstance(a, str) else abs(a - b) < 1e-3, (text, one, other)


def far_sums_are_close() -> None:
    """Without noise a sum is off by half a step of its own, and half a fine step for each row, however far its bounds are from 0."""
    rows, wide = honest(), replace(PERSON, max_groups=9, max_rows=9)
    for unit in (wide, replace(wide, clip="l2"), ROW, turned(ROW)):
        for argument, fine in (
            ("far", F(1, 2**24)),
            ("deep", F(1, 2**24)),
            ("wide", F(0)),
            ("x", F(0)),
            ("y", F(1, 2**22)),
        ):
            for text, kept in (
                (f"SELECT SUM({argument}) FROM t", rows),
                (f"SELECT SUM({argument}) FILTER (WHERE x = 2) FROM t", [row for row in rows if row["x"] == 2]),
                (f"SELECT g = 'A' AS k, SUM({argument}) FROM t GROUP BY k", [row for row in rows if row["g"] == "A"]),
            ):
                plan = planned(text, unit, 1, F(1, 10**6))
                (made,) = plan.measurements
                found = exact(plan, rows)[0][-1] * made.step
                truth = sum(F(row[argument]) for row in kept if row[argument] is not None)
                assert made.rounding == fine / 2
                allowed = (made.step / 2 if made.made.divisor > 1 else 0) + made.rounding * len(kept)
                assert abs(found - truth) <= allowed, (text, unit, float(found), float(truth))


def what_a_sum_leaves_out_is_noted() -> None:
    """Only where values are rounded, nothing tells how many there are, and the noise is so small that it could matter."""
    declared = replace(PERSON, people=100)
    for text, unit, epsilon, noted in (
        ("SELECT SUM(y) FROM t", PERSON, 1000, True),
        ("SELECT SUM(y) / COUNT(*) FROM t", PERSON, 1000, True),
        ("SELECT SUM(y) FROM t", PERSON, 1, False),
        ("SELECT SUM(y) FROM t", declared, 1000, False),
        ("SELECT SUM(y), AVG(y) FROM t", PERSON, 1000, False),
        ("SELECT SUM(x) FROM t", PERSON, 1000, False),
        ("SELECT SUM(wide) FROM t", PERSON, 1000, False),
    ):
        plan = planned(text, unit, epsilon)
        assert any("rounded" in note for note in plan.notes) is noted, (text, plan.notes)
    known, unknown = (planned("SELECT SUM(y) AS s FROM t", unit, 1000) for unit in (declared, PERSON))
    (more,), (less,) = predicted(known), predicted(unknown)
    rows = 100 * PERSON.max_rows
    assert more.error == (less.error or 0) + float(known.measurements[0].rounding * rows)


def differences_are_right() -> None:
    """x - 3 has bounds of its own: at a price where noise is nothing its sum is right, below zero too."""
    plan = planned("SELECT SUM(x - 4) FROM t WHERE x < 4", replace(PERSON, max_rows=9), 10**6)
    rows = honest()
    assert exact(plan, rows) == [[sum(row["x"] - 4 for row in rows if row["x"] < 4)]]


def a_sum_beside_its_mean_costs_nothing_more() -> None:
    """And is closer than one that has to share the budget."""
    both = planned("SELECT SUM(y) AS s, AVG(y) AS a FROM t", PERSON)
    assert len(both.measurements) == 2
    apart = planned("SELECT SUM(y) AS s, COUNT(*) AS n, SUM(x) AS t FROM t", PERSON)
    errors = [next(each.error for each in predicted(plan) if each.name == "s") for plan in (both, apart)]
    assert errors[0] is not None and errors[1] is not None and errors[0] < errors[1]


def gaussian_noise_is_split() -> None:
    """Two measurements of one norm each get half of what a single one gets: √2 times its noise."""
    one = planned("SELECT g, COUNT(*) FROM t GROUP BY g", CLIPPED, 1, F(1, 10**6)).measurements
    two = planned(
        "SELECT g, COUNT(*), COUNT(*) FILTER (WHERE x > 3) FROM t GROUP BY g", CLIPPED, 1, F(1, 10**6)
    ).measurements
    scales = [float(measurement.mechanism.scale) for measurement in one + two if measurement.mechanism]
    assert abs(scales[1] / scales[0] - 2**0.5) < 1e-6 and scales[1] == scales[2]


def groups_are_those_declared() -> None:
    """All groups that are declared are there, those without a row too, and no others, whatever the rows hold."""
    plan = planned("SELECT g, COUNT(*) FROM t GROUP BY g", PERSON)
    assert plan.domain == (("A",), ("B",), ("C",))
    assert exact(plan, []) == [[0, 0, 0]]
    rows = [{**any_row(random.Random(1), 3), "g": g} for g in ("Z", None, "Y", "A")]
    for salt in range(20):
        assert exact(plan, rows, salt) == [[1, 0, 0]], "a group that is not shown took the place of one that is"


def prices_add_up() -> None:
    """The parts of a question cost together what was asked, exactly; and its event is certified at that."""
    for text in TEXTS:
        for delta in (0, F(1, 10**6)):
            plan = planned(text, PERSON, F(1, 3), delta)
            cost = loss(plan.event)
            assert cost.certifies(plan.epsilon, plan.delta), text
            if not plan.delta:
                assert cost.pure_epsilon() == F(1, 3), text


def many_groups_take_gaussian_noise() -> None:
    """Where a person is in many groups and a δ is allowed, Gaussian noise is closer; its δ is in the price."""
    wide = replace(PERSON, max_groups=200, max_rows=1)
    text = "SELECT FLOOR(y * 100) AS k, COUNT(*) FROM t GROUP BY k"
    with_delta, without = planned(text, wide, 1, F(1, 10**6)), planned(text, wide, 1)
    assert with_delta.delta == F(1, 10**6) and without.delta == 0
    errors = [plan.measurements[0].mechanism.error() for plan in (with_delta, without)]  # type: ignore[union-attr]
    assert errors[0] < errors[1] / 2


def priced(plan: Plan) -> Plan:
    """The plan with the event that it draws."""
    return replace(plan, event=event_of(plan.stage, plan.relation))


def false_plans_are_found() -> None:
    """A plan that was tampered with is a Fault."""
    sound = planned("SELECT g, SUM(y), COUNT(*) FROM t GROUP BY g", PERSON)
    first, second = sound.measurements
    dear = planned("SELECT g, SUM(y), COUNT(*) FROM t GROUP BY g", PERSON, 2)
    gaussian = planned("SELECT g, COUNT(*) FROM t GROUP BY g", CLIPPED, 1, F(1, 10**6))
    lower = (replace(first, sensitivity=first.sensitivity - 1), second)
    bare = (replace(first, mechanism=None), second)
    single = (replace(first, mechanism=DiscreteGaussian(F(10**9))), second)
    false = [
        priced(restaged(sound, measurements=bare)),
        replace(priced(restaged(sound, measurements=single)), delta=F(1, 2)),
        priced(restaged(sound, measurements=lower)),
        replace(sound, epsilon=sound.epsilon * F(999, 1000)),
        replace(sound, event=dear.event),
        restaged(sound, measurements=dear.measurements),
        restaged(sound, measurements=(replace(first, mechanism=None), second)),
        restaged(sound, measurements=(first,)),
        restaged(sound, domain=sound.domain + sound.domain[:1]),
        restaged(sound, releases=(*sound.releases, Total(2))),
        restaged(sound, releases=(*sound.releases, Total(-1))),
        restaged(sound, measurements=(replace(first, step=F(0)), second)),
        replace(sound, relation=turned(PERSON).relation),
        replace(gaussian, delta=F(0)),
        replace(gaussian, relation=turned(PERSON).relation),
    ]
    check(sound)
    check(gaussian)
    for plan in false:
        try:
            check(plan)
        except Fault:
            continue
        raise AssertionError(plan)


def ungathered_rows_have_no_sensitivity() -> None:
    """Where persons are protected their rows are gathered first; where rows are, nothing is gathered."""
    by_row, by_person = (planned("SELECT COUNT(*) FROM t", unit) for unit in (ROW, PERSON))
    for query, relation in ((by_row.query, PERSON.relation), (by_person.query, ROW.relation)):
        found = is_a_fault(lambda query=query, relation=relation: combined(FIRST, query, relation, 1))  # type: ignore[misc]
        assert found, relation


def largest_values_are_not_negative() -> None:
    """The largest of a person's values is at least 0, the value of nobody: a negative one has no rule."""
    negative = scalar.Steps(scalar.Column("y", Type.NUMBER), -1.0, 3.0, 4, 0.0)
    query = relations.Totals(
        relations.Contributions(
            relations.Scan("t", COLUMNS), scalar.Column("who", Type.INTEGER), (), (relations.Term(How.ANY, negative),)
        )
    )
    assert is_a_fault(lambda: combined(FIRST, query, PERSON.relation, 1))


def totals_are_64_bit_integers() -> None:
    """Whatever else an engine hands over, though it be the same number, is a Fault."""
    plan = planned("SELECT COUNT(*) FROM t", ROW)
    for kind in (np.float64, np.int32, np.uint64, object):
        found = relations.Found(((),), (np.array([3], kind),))
        assert is_a_fault(lambda found=found: exact_totals(plan, found)), kind  # type: ignore[misc]


def is_a_fault(act: Callable[[], object]) -> bool:
    try:
        act()
    except Fault:
        return True
    return False


def least_price_is_least() -> None:
    """`within` is met, in every column, and would not be at 1 % less."""
    catalog = Catalog((TABLE,), replace(PERSON, people=1000))
    for text in (
        "SELECT COUNT(*) AS n FROM t",
        "SELECT COUNT(*) AS n, SUM(x * 100) AS s FROM t",
        "SELECT g, SUM(y) AS s FROM t GROUP BY g",
        "SELECT SUM(x * 100) / COUNT(*) AS r, AVG(x * 100) AS a FROM t",
    ):
        asked = question(text, catalog)
        plan = plan_within(asked, catalog, 25)
        assert all(each.error is None or each.error <= 25 for each in predicted(plan)), text
        cheaper = plan_for(asked, catalog, plan.epsilon * F(99, 100))
        assert any(each.reason or (each.error or 0) > 25 for each in predicted(cheaper)), text


def plans_have_names_of_their_own() -> None:
    """Different questions, prices and promises have different digests."""
    texts = [
        *TEXTS,
        "SELECT COUNT(*) FROM t WHERE x < 3",
        "SELECT COUNT(*) FROM t WHERE x <= 3",
        "SELECT COUNT(*) FROM t WHERE x < 3.0",
    ]
    plans = [
        planned(text, unit, epsilon) for text in texts for unit in (PERSON, turned(PERSON), ROW) for epsilon in (1, 2)
    ]
    public = sum(plan.epsilon == 0 for plan in plans) // 2  # what costs nothing costs nothing at any price
    assert len({digest(plan) for plan in plans}) == len(plans) - public


def noise_is_of_its_own() -> None:
    """Each group of each measurement has noise of its own, drawn before the data is read."""
    plan = planned("SELECT g, SUM(y), COUNT(*) FROM t GROUP BY g", PERSON, F(1, 100))
    order: list[str] = []

    class Watched(Grant):
        def prepare(self, *args: Any) -> Any:
            order.append("noise")
            return super().prepare(*args)

    def run(query: Any, salt: int) -> Any:
        order.append("data")
        return engine([]).run(query, salt)

    released = release(plan, run, Watched(plan.event, Tape(3)), 1)
    assert order == ["noise", "noise", "data"]
    drawn = np.concatenate(list(released)).tolist()
    assert len(set(drawn)) == len(drawn)


def missing_declarations_are_refused() -> None:
    for text, code in (
        ("SELECT SUM(CAST(note AS DOUBLE)) FROM t", "missing-bounds"),
        ("SELECT SUM(x / y) FROM t", "missing-bounds"),
        ("SELECT note, COUNT(*) FROM t GROUP BY note", "missing-keys"),
        ("SELECT y, COUNT(*) FROM t GROUP BY y", "missing-keys"),
    ):
        try:
            planned(text, PERSON)
        except DiscreetError as error:
            assert error.code == code, (text, error.code)
        else:
            raise AssertionError(text)


LAWS = [
    no_neighbour_moves_more,
    some_neighbour_moves_as_much,
    answers_are_right,
    far_sums_are_close,
    what_a_sum_leaves_out_is_noted,
    differences_are_right,
    a_sum_beside_its_mean_costs_nothing_more,
    gaussian_noise_is_split,
    groups_are_those_declared,
    prices_add_up,
    many_groups_take_gaussian_noise,
    false_plans_are_found,
    ungathered_rows_have_no_sensitivity,
    largest_values_are_not_negative,
    totals_are_64_bit_integers,
    least_price_is_least,
    plans_have_names_of_their_own,
    noise_is_of_its_own,
    missing_declarations_are_refused,
]
