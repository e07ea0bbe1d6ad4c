"""Tables of people in cells: one unit is in one cell, whatever engine counts; nothing exact is seen but by a draw, and no draw is free."""

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.twins.curators import Curators
from discreet.cells import Attribute, CellCounts
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.curator.table.attributes import Attributes
from discreet.curator.table.codes import code_of
from discreet.curator.table.counting import Units, counted
from discreet.curator.table.table import REMEMBERED, ProtectedTable
from discreet.engines import registry
from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine
from discreet.errors import Fault, Invalid, QueryError, Refused
from discreet.exact import sqrt_up
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.measure import Grant
from discreet.plan.evaluate import evaluate
from discreet.plan.relation import Found
from discreet.plan.scalar import Column
from discreet.privacy import Adjacency, Relation, Unit, events
from discreet.privacy.adjacency import cells_moved
from tests.curator.tables import ASKED, COLUMNS, VALUES, catalog, curator
from tests.scale import repeats

NOISE = Geometric(10)
SMALL = {"age": [0, 18, 65, 120], "ward": None, "ok": None}
REPLACED = cells_moved(Relation(Adjacency.REPLACE, Unit.PERSON))
Row = tuple[Any, ...]
NAMES = ("person", *VALUES)


def some_rows(people: int, most: int, seed: int) -> list[Row]:
    """People with up to `most` rows each, of values of every kind; and rows that are nobody's."""
    chosen = np.random.default_rng(seed)

    def row(person: str | None) -> Row:
        return (person, *(values[chosen.integers(len(values))] for values in VALUES.values()))

    rows = [row(f"p{i}") for i in range(people) for _ in range(chosen.integers(1, most + 1))]
    return [*rows, row(None)]


def as_columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def drawn(table: ProtectedTable, look: Callable[[CellCounts], Any], asked: Any = ASKED) -> Any:
    """What a test sees of exact counts: it looks while a draw is made, which a curator would let nobody do who releases it."""
    seen: list[Any] = []
    exact = table.counts(table.attributes(asked))
    with table.measure(NOISE.event(1)) as grant:
        grant(NOISE, 1, lambda: len(seen.append(look(exact())) or ()))
    return seen[0]


def dense(rows: Sequence[Row], person: str | None, asked: Any, salt: int) -> np.ndarray[Any, Any]:
    """The counts of all cells, by the usual engine."""
    table = catalog(person).tables[0]
    attributes = Attributes(table, person).read(asked)
    columns = tuple(Column(each.name, each.type) for each in table.columns)
    engine = registry.engine()([Data("visits", as_columns(rows), columns, person=person)])
    try:
        found = counted(engine.run(Units(table, person).by_cell(attributes), salt), attributes)
    finally:
        engine.close()
    return found.marginal(range(len(attributes)))


# One unit is in one cell.


def one_unit_moves_one_cell() -> None:
    """Over tables of people with several rows, without each of them in turn, and with another one in their place."""
    for seed in range(repeats(3)):
        rows = some_rows(4, 3, seed)
        for person in ("person", None):
            whole = dense(rows, person, SMALL, seed)
            for gone in range(4):
                kept = [row for row in rows if row[0] != f"p{gone}"] if person else rows[:gone] + rows[gone + 1 :]
                fewer = dense(kept, person, SMALL, seed)
                assert np.abs(whole - fewer).sum() == 1 and (whole >= fewer).all()
            others = some_rows(4, 3, seed + 100)
            if person:
                replaced = [row for row in rows if row[0] != "p0"] + [row for row in others if row[0] == "p0"]
            else:
                replaced = [others[0], *rows[1:]]
            assert np.abs(whole - dense(replaced, person, SMALL, seed)).sum() <= REPLACED


def test_one_unit_moves_one_cell() -> None:
    one_unit_moves_one_cell()


def everybody_is_counted_once() -> None:
    for seed in range(repeats(2)):
        rows = some_rows(20, 4, seed)
        assert dense(rows, "person", ASKED, seed).sum() == 20  # who is nobody is left out
        assert dense(rows, None, ASKED, seed).sum() == len(rows)


def test_everybody_is_counted_once() -> None:
    everybody_is_counted_once()


def margins_agree() -> None:
    """Which row of a person counts does not depend on what is asked about."""
    rows = some_rows(30, 5, 7)
    joint = dense(rows, "person", SMALL, 3)
    for axis, name in enumerate(SMALL):
        rest = tuple(each for each in range(3) if each != axis)
        assert (dense(rows, "person", {name: SMALL[name]}, 3) == joint.sum(axis=rest)).all()


def test_margins_agree_with_one_another() -> None:
    margins_agree()


def test_another_salt_chooses_other_rows() -> None:
    """Of a person with two rows each counts about half of the time; α = 2·10^-9 for 300 fair coins to be 100 off the middle."""
    rows = [(f"p{i}", 30 * j, *(None for _ in NAMES[2:])) for i in range(300) for j in (0, 1)]
    first = dense(rows, "person", {"age": [0, 18, 120]}, 11)
    assert 50 < first[0] < 250 and first.sum() == 300
    assert (first != dense(rows, "person", {"age": [0, 18, 120]}, 12)).any()


def engines_agree() -> None:
    """With the engine in plain Python, which is handed the priorities of the other."""
    rows = some_rows(25, 4, 2)
    declared = catalog().tables[0]
    filled = replace(declared, columns=tuple(replace(each, nullable=False) for each in declared.columns))
    for person, table in ((None, declared), ("person", declared), ("person", filled)):
        attributes = Attributes(table, person).read(ASKED)
        columns = tuple(Column(each.name, each.type) for each in table.columns)
        data = [Data("visits", as_columns(rows), columns, person=person)]
        query, fast = Units(table, person).by_cell(attributes), registry.engine()(data)
        try:
            slow = MemoryEngine(data, fast.priorities)
            assert _found(fast.run(query, 5)) == _found(slow.run(query, 5))
        finally:
            fast.close()


def _found(found: Found) -> dict[Any, int]:
    return dict(zip(found.keys, found.totals[0].tolist(), strict=True))


def test_engines_agree() -> None:
    engines_agree()


def test_what_is_declared_never_to_be_missing_is_its_middle_or_left_out() -> None:
    columns = COLUMNS | {
        "age": {"type": "integer", "bounds": (0, 120), "nullable": False},
        "ward": {"keys": ["A", "B"], "nullable": False},
    }
    rows = {"person": ["p", "q", "r"], "age": [None, 10, 70], "ward": ["A", "A", None]}
    with curator(rows, columns={name: columns[name] for name in ("age", "ward")}) as hospital:
        table = hospital.table("visits")
        assert not any(each.missing for each in table.attributes(["age", "ward"]))
        ages = drawn(table, lambda counts: counts.marginal((0,)).tolist(), {"age": [0, 18, 65, 120]})
        assert ages == [1, 1, 1]  # 60 stands for the one that is missing
        wards = drawn(table, lambda counts: counts.marginal((0,)).tolist(), ["ward"])
        assert wards == [2, 0, 0]


def test_an_engine_that_returns_what_is_no_cell_is_stopped() -> None:
    attributes = ProtectedTable("visits", catalog(), None, None, 0).attributes({"ok": None})  # type: ignore[arg-type]
    for codes, totals in (
        (((3,),), np.ones(1, np.int64)),
        (((-1,),), np.ones(1, np.int64)),
        (((0,),), np.ones(1)),
    ):
        with pytest.raises(Fault):
            counted(Found(codes, (totals,)), attributes)


# Nothing exact is seen but by a draw.


@contextmanager
def hospital(**more: Any) -> Iterator[Curator]:
    with curator(as_columns(some_rows(12, 3, 1)), **more) as found:
        yield found


def test_counts_are_for_draws_alone() -> None:
    with hospital() as found:
        table = found.table("visits")
        exact = table.counts(table.attributes(SMALL))
        with pytest.raises(Refused) as error:
            exact()
        assert error.value.code == "exact"
        assert drawn(table, lambda counts: counts.total, SMALL) == 12
        with pytest.raises(Refused):  # also where they are remembered
            exact()
        for act in (copy, deepcopy, pickle.dumps):
            for secret in (table, exact):
                with pytest.raises(TypeError):
                    act(secret)
        assert "p1" not in repr(table) and repr(table).startswith("ProtectedTable(visits: ")
        assert "add-remove one person" in repr(table)


def test_the_shape_is_that_of_the_attributes_whatever_the_data_are() -> None:
    """Nothing but counts differs between neighbours: cells are those that are declared, where nobody is too."""
    with hospital() as full, curator({name: [] for name in NAMES}) as empty:
        shapes = {drawn(each.table("visits"), lambda counts: counts.marginal(range(7)).shape) for each in (full, empty)}
        assert shapes == {tuple(each.size for each in full.table("visits").attributes(ASKED))}


def test_counts_are_read_once_for_each_list_of_attributes() -> None:
    runs: list[int] = []
    with hospital() as found:
        table = found.table("visits")
        run = table._run
        table._run = lambda query, salt: (runs.append(salt), run(query, salt))[1]
        for _ in range(3):
            drawn(table, lambda counts: counts.total, SMALL)
            drawn(table, lambda counts: counts.total, ["ok"])
        assert len(runs) == 2 and len(set(runs)) == 1
        for bins in range(1, REMEMBERED + 3):
            drawn(table, lambda counts: counts.total, {"age": bins})
        assert len(table._remembered) == REMEMBERED


def failures_are_constant() -> None:
    """Whatever happens after the charge is one error, of which nothing can be learned."""

    def broken(*_: object) -> Found:
        raise ValueError("patient p7 is odd")

    with hospital() as found:
        table = found.table("visits")
        table._run = broken
        with pytest.raises(Exception) as error:
            drawn(table, lambda counts: counts.total)
        assert isinstance(error.value, Fault) and error.value.code == "failed" and error.value.__context__ is None
        assert found.spent.epsilon == Fraction(1, 10)


def test_failures_are_constant() -> None:
    failures_are_constant()


def bad_sources_show_before_a_charge(folder: Path) -> None:
    gone = folder / "visits.csv"
    gone.write_text("person,ward\np,A\n")
    with Curator({"visits": gone}, "person", {"ward": {"keys": ["A"]}}, epsilon=1, ledger=folder / "l") as found:
        table = found.table("visits")
        gone.unlink()
        with pytest.raises(Fault, match="nothing was charged"), table.measure(NOISE.event(1)):
            pass
        assert found.spent.epsilon == 0


def test_a_bad_source_shows_before_a_charge(tmp_path: Path) -> None:
    bad_sources_show_before_a_charge(tmp_path)


def twins_are_told_apart_by_noise_alone(asked: Any = SMALL) -> None:
    for adjacency in ("add-remove", "replace"):
        rows = some_rows(8, 3, 4)
        kept = [row for row in rows if row[0] != "p3"]
        others = kept if adjacency == "add-remove" else [*kept, ("p9", *rows[0][1:])]
        pair = [
            Policy.declare(
                {"visits": as_columns(each)}, "person", COLUMNS, epsilon=9, ledger=":memory:", adjacency=adjacency
            )
            for each in (rows, others)
        ]

        def act(found: Curator) -> list[int]:
            table = found.table("visits")
            attributes = table.attributes(asked)
            moved = cells_moved(table.relation)
            exact = table.counts(attributes)
            with table.measure(events.Repeated(NOISE.event(moved), 2), key="margins") as grant:
                first = grant(NOISE, moved, lambda: exact().marginal((0, 1)).ravel())
                second = grant(NOISE, moved, lambda: exact().marginal(range(len(attributes))).ravel())
            return [*first.tolist(), *second.tolist()]

        with Curators(*pair) as curators:
            report = curators.run(act)
        assert report.first.answered and not report.differences, report


def test_twins_are_told_apart_by_noise_alone() -> None:
    twins_are_told_apart_by_noise_alone()


# No draw is free.


def noisy(table: ProtectedTable, key: str | None = None) -> list[int]:
    exact = table.counts(table.attributes(["ok"]))
    with table.measure(NOISE.event(1), key=key) as grant:
        released: list[int] = grant(NOISE, 1, lambda: exact().marginal((0,))).tolist()
    return released


def analysts_are_charged() -> None:
    with hospital(analysts={"ana": {"epsilon": Fraction(1, 5)}}) as found:
        table = found.table("visits", analyst="ana")
        assert "p1" not in repr(table)
        for _ in range(2):
            noisy(table)
        assert found.budgets("ana").whole.spent.epsilon == Fraction(1, 5)
        with pytest.raises(Refused) as error:
            noisy(table)
        assert error.value.code == "analyst-budget"
        with pytest.raises(Refused):
            found.table("visits", analyst="bob")


def test_analysts_are_charged() -> None:
    analysts_are_charged()


def analysts_see_what_is_declared() -> None:
    """A column that nobody declared does not exist for them; for the owner it is a text without keys."""
    with hospital(columns={"ward": {"keys": ["A", "B"]}}, analysts={"ana": {"epsilon": 1}}) as found:
        theirs = found.table("visits", analyst="ana")
        for act in (lambda: theirs.attributes({"ok": ["true"]}), lambda: theirs.cells("ok = 'x'", theirs.attributes())):
            with pytest.raises(QueryError) as error:
                act()
            assert error.value.code == "unknown-column"
        (own,) = found.table("visits").attributes({"ok": ["true"]})
        assert own.size == 3


def test_analysts_see_what_is_declared() -> None:
    analysts_see_what_is_declared()


def test_what_was_measured_under_a_key_comes_back(tmp_path: Path) -> None:
    """Also to whoever was killed in between, who has another table with another salt."""
    rows = as_columns(some_rows(12, 3, 1))
    wide, event = Geometric(10**6), events.Repeated(Geometric(10**6).event(1000), 2)

    def open_() -> Curator:
        return curator(rows, ledger=tmp_path / "ledger")

    def first(table: ProtectedTable, grant: Grant) -> Any:
        exact = table.counts(table.attributes(["ok"]))
        return grant(wide, 1000, lambda: exact().marginal((0,))).tolist()

    with open_() as found:
        table = found.table("visits")
        with pytest.raises(KeyError), table.measure(event, key="k") as grant:
            before = first(table, grant)
            raise KeyError
    with open_() as found:
        table = found.table("visits")
        with table.measure(event, key="k") as grant:
            assert first(table, grant) == before
            assert first(table, grant) != before
        assert found.spent.epsilon == Fraction(2, 1000)
    with open_() as found, found.table("visits").measure(event, key="k") as grant:
        assert first(found.table("visits"), grant) == before


def test_threads_and_forks_draw_as_they_may() -> None:
    with hospital() as found:
        table = found.table("visits")
        exact = table.counts(table.attributes(["ok"]))
        with table.measure(events.Repeated(NOISE.event(1), 8)) as grant:
            with ThreadPoolExecutor(4) as pool:
                jobs = [pool.submit(grant, NOISE, 1, lambda: exact().marginal((0,))) for _ in range(8)]
                assert all(job.result().shape == (3,) for job in jobs)
            with ThreadPoolExecutor(1) as pool, pytest.raises(Refused):
                pool.submit(exact).result()
            child = os.fork()
            if child == 0:  # a grant belongs to who entered, and counts to draws
                code = 1
                try:
                    grant(NOISE, 1, exact)
                except Refused as error:
                    code = 0 if error.code == "grant-process" else 2
                os._exit(code)
            assert os.waitpid(child, 0)[1] == 0


# Which tables there are.


def test_tables_that_are_not_there_or_about_nobody_are_refused() -> None:
    tables = {"visits": {"person": ["p"], "ward": ["A"]}, "Labs": {"person": ["p"], "test": ["x"]}}
    wards = {"name": ["A", "B"], "floor": [1, 2]}
    with Curator(
        tables,
        "person",
        {"visits": {"ward": {"keys": {"table": "wards", "column": "name"}}}, "Labs": {"test": {"keys": ["x", "y"]}}},
        epsilon=1,
        ledger=":memory:",
        public={"wards": wards},
    ) as found:
        with pytest.raises(QueryError, match="visits"):
            found.table("visit")
        with pytest.raises(Invalid, match="about nobody"):
            found.table("wards")
        assert found.table("labs").attributes()[0].labels == ("x", "y", "other", "missing")
        assert found.table("VISITS").attributes(["ward"])[0].labels == ("A", "B", "other", "missing")
        with pytest.raises(QueryError, match="test"):
            found.table("visits").cells("test = 'x'", found.table("visits").attributes())
        assert drawn(found.table("Labs"), lambda counts: counts.marginal((0,)).tolist(), ["test"]) == [1, 0, 0, 0]


def test_a_file_from_its_policy_to_noisy_cells(tmp_path: Path) -> None:
    """All the way: a CSV, a policy, a table, its cells, Gaussian noise, and a count of released cells that a condition names."""
    chosen = np.random.default_rng(0)
    lines = [
        f"p{i},{chosen.integers(0, 100)},{'AB'[i % 2]},{'' if i % 10 == 0 else chosen.integers(1, 4)}"
        for i in range(400)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["person,age,ward,level", *lines, ""]))
    (tmp_path / "policy.toml").write_text(
        """
        [budget]
        epsilon = 3
        delta = 1e-6
        [unit]
        column = "person"
        [tables.visits]
        source = "visits.csv"
        [tables.visits.columns]
        age = {type = "integer", bounds = [0, 100]}
        ward = {keys = ["A", "B"]}
        level = {type = "integer", bounds = [1, 3]}
        """
    )
    with Curator.open(tmp_path / "policy.toml") as found:
        table = found.table("visits")
        attributes = table.attributes(["age=10", "ward", "level"])
        exact, noise = table.counts(attributes), RoundedGaussian(2)
        sensitivity = sqrt_up(Fraction(cells_moved(table.relation)))
        with table.measure(noise.event(sensitivity), label="cells", key="cells") as grant:
            cells = grant(noise, sensitivity, lambda: exact().marginal((0, 1, 2)))
        assert cells.shape == tuple(each.size for each in attributes)
        old = np.broadcast_to(table.cells("age >= 50 AND ward = 'A'", attributes), cells.shape)
        assert (
            abs(int(cells[old].sum()) - 100) < 80
        )  # 400 people, of whom a quarter; 20 cells with noise of 2: 5σ is 45
        assert found.spent.epsilon > 0


def cells_are_what_expressions_say() -> None:
    """The number of a cell by the expression that an engine runs, against cells that are looked up one by one."""
    table = catalog().tables[0]
    for attribute in ProtectedTable("visits", catalog(), None, None, 0).attributes(ASKED):  # type: ignore[arg-type]
        column = Units(table, "person").column(attribute.name)
        code = code_of(attribute, column)
        for value in VALUES[attribute.name]:
            assert evaluate(code, {column.place: value}) == _looked_up(attribute, value), (attribute, value)


def _looked_up(attribute: Attribute, value: Any) -> int:
    if value is None or value != value:
        return attribute.size - 1
    if hasattr(attribute, "edges"):
        inside = [i for i, (low, high) in enumerate(pairwise(attribute.edges)) if low <= value < high]
        return inside[0] if inside else 0 if value < attribute.edges[0] else len(attribute.edges) - 2
    return attribute.values.index(value) if value in attribute.values else len(attribute.values)


def test_cells_are_what_expressions_say() -> None:
    cells_are_what_expressions_say()


def test_a_row_of_a_person_is_one_that_they_have() -> None:
    """Counts are of rows as they are: a person is in no combination of cells that none of their rows has."""
    rows = some_rows(30, 4, 9)
    found = dense(rows, "person", SMALL, 1)
    there = Counter(
        tuple(_looked_up(each, row[NAMES.index(each.name)]) for each in _small()) for row in rows if row[0] is not None
    )
    assert all(found[cell] <= there[cell] for cell in there) and found.sum() == 30
    assert {tuple(map(int, cell)) for cell in np.argwhere(found)} <= there.keys()


def _small() -> tuple[Attribute, ...]:
    return ProtectedTable("visits", catalog(), None, None, 0).attributes(SMALL)  # type: ignore[arg-type]
