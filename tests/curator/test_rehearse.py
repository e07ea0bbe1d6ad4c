"""A rehearsal: its numbers are those of plain Python, its proposals are round and outward, and it leaves no trace anywhere."""

import inspect
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

from discreet import Curator
from discreet.curator.rehearsal.columns import ColumnProfile, profile_of
from discreet.curator.rehearsal.counting import Counting
from discreet.curator.rehearsal.ladder import SPARED, bounds_for, limit_for, rungs
from discreet.curator.rehearsal.look import look
from discreet.curator.rehearsal.losses import Losses, losses_of
from discreet.curator.rehearsal.people import PeopleProfile, Spread, people_by, people_of
from discreet.curator.rehearsal.record import Rehearsal, TableRehearsal
from discreet.curator.rehearsal.standard import grouped_by, questions_of
from discreet.curator.rehearsal.text import MARK
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.errors import Invalid
from discreet.plan.private import draft
from discreet.plan.sql import question
from tests.rehearsed import rehearsed as on_a_tape
from tests.scale import repeats

WARDS = ["A", "B", "C", "D"]
COUNT = "SELECT COUNT(*) AS n FROM visits"


@dataclass
class Visits:
    """A made-up table, as its cells are written, and what is declared of it."""

    seed: int
    who: list[str | None] = field(default_factory=list)
    ward: list[str | None] = field(default_factory=list)
    age: list[str | None] = field(default_factory=list)
    cost: list[str | None] = field(default_factory=list)
    max_rows: int = 5
    max_groups: int = 3
    ages: tuple[int, int] = (0, 120)
    costs: tuple[int, int] = (0, 1000)

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        self.max_rows, self.max_groups = rng.randint(1, 6), rng.randint(1, 5)
        self.ages = (rng.choice([-10, 0, 18]), rng.choice([60, 100, 120]))
        self.costs = (rng.choice([-50, 0, 10]), rng.choice([100, 1000]))
        for person in range(rng.randint(20, 60)):
            for _ in range(1 + int(rng.lognormvariate(0.5, 1))):
                self.who.append(rng.choice([f"p{person}"] * 30 + [None]))
                self.ward.append(rng.choice([*WARDS, *WARDS, "elsewhere", None]))
                self.age.append(rng.choice([str(rng.randint(-30, 150))] * 4 + ["unknown", "2.5", None]))
                self.cost.append(rng.choice([repr(rng.lognormvariate(4, 3)), repr(-rng.random() * 100), "?", None]))

    def columns(self) -> dict[str, list[str | None]]:
        return {"who": self.who, "ward": self.ward, "age": self.age, "cost": self.cost}

    def write(self, path: Path, **how: Any) -> Path:
        pandas.DataFrame(self.columns(), dtype=object).to_csv(path, index=False, **how)
        return path

    def curator(self, source: Any = None, **more: Any) -> Curator:
        declared = {
            "ward": {"keys": WARDS},
            "age": {"type": "integer", "bounds": self.ages},
            "cost": {"bounds": self.costs},
        }
        given: dict[str, Any] = {"epsilon": 3, "delta": 1e-6, "ledger": ":memory:", **more}
        source = self.columns() if source is None else source
        limits = {"max_rows": self.max_rows, "max_groups": self.max_groups}
        return Curator({"visits": source}, "who", declared, **limits, **given)

    def numbers(self, column: str) -> list[float | None]:
        """The values of a column of numbers, as Python reads them."""
        read: Callable[[str], float] = int if column == "age" else float
        values = []
        for cell in self.columns()[column]:
            try:
                values.append(None if cell is None else read(cell))
            except ValueError:
                values.append(None)
        return values

    def bounds(self, column: str) -> tuple[int, int]:
        return self.ages if column == "age" else self.costs


def rehearsed(visits: Visits, source: Any = None) -> TableRehearsal:
    with visits.curator(source) as curator:
        (table,) = curator.rehearse().tables
    return table


class Looking:
    """The parts of a rehearsal, each by itself."""

    def __init__(self, visits: Visits) -> None:
        with visits.curator() as curator:
            self.catalog, self.engine = curator.catalog, DuckDB(curator._loads, threads=1)
        self.counting, (self.table,) = Counting(self.engine), self.catalog.tables
        self.rows = len(visits.who)

    def __enter__(self) -> "Looking":
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def column(self, name: str) -> ColumnProfile:
        return profile_of(self.counting, "visits", self.table.column(name), self.rows, self.engine.lost)

    def everybody(self) -> tuple[PeopleProfile, int]:
        return people_of(self.counting, self.catalog, self.table)

    def by_ward(self) -> PeopleProfile:
        asked = question(grouped_by(self.table, self.table.column("ward")), self.catalog)
        return people_by(self.counting, self.catalog, self.table, "ward", draft(asked, self.catalog))

    def asked(self, start: str, epsilon: Fraction = Fraction(1)) -> Losses:
        asked = next(each for each in questions_of(self.catalog, self.table) if each.text.startswith(start))
        return losses_of(self.counting, self.catalog, "visits", asked, epsilon, Fraction(0))


def asked(table: TableRehearsal, start: str) -> Losses:
    return next(each for each in table.questions if each.text.startswith(start))


def generated(many: int = 4) -> list[Visits]:
    return [Visits(seed) for seed in range(repeats(many))]


def test_values_of_a_column_are_counted_as_plain_python_counts_them() -> None:
    for visits in generated():
        with Looking(visits) as looking:
            profiles = {name: looking.column(name) for name in ("age", "cost", "ward")}
        for name in ("age", "cost"):
            values, cells, (low, high) = visits.numbers(name), visits.columns()[name], visits.bounds(name)
            numbers = [value for value in values if value is not None]
            column = profiles[name]
            assert column.values == len(numbers)
            assert column.missing == sum(cell is None for cell in cells)
            assert column.lost == len(cells) - len(numbers) - column.missing
            assert column.below == sum(value < low for value in numbers)
            assert column.above == sum(value > high for value in numbers)
            proposed = column.proposed
            assert proposed is not None and {*proposed} <= {*rungs(whole=name == "age")}
            assert sum(value < proposed[0] for value in numbers) * SPARED <= len(numbers)
            assert sum(value > proposed[1] for value in numbers) * SPARED <= len(numbers)
        ward = profiles["ward"]
        assert (ward.values, ward.keyed) == (
            sum(each is not None for each in visits.ward),
            sum(each in WARDS for each in visits.ward),
        )


def rank(counts: list[int], percent: int) -> int:
    """The first of the sorted counts that so many of a hundred are not above."""
    ordered = sorted(counts)
    return next(each for each in ordered if 100 * sum(other <= each for other in ordered) >= percent * len(ordered))


def spread(counts: list[int]) -> Spread:
    return Spread(min(counts), rank(counts, 50), rank(counts, 95), max(counts)) if counts else Spread()


def test_a_limit_on_all_rows_leaves_out_what_is_beyond_it() -> None:
    """Limits that somebody declared beside it count first; by one factor a person is brought down to it."""
    for visits in generated():
        visits.max_rows, visits.max_groups = 10**4, 10**4
        rows = Counter(who for who in visits.who if who is not None)
        with Looking(visits) as looking:
            declared = looking.catalog
            for most in (1, 2, 3):
                looking.catalog = replace(declared, protected=declared.protected.limited(max_total=most))
                everybody, _ = looking.everybody()
                beyond = sum(max(0, each - most) for each in rows.values())
                assert everybody.rows_left_out == Fraction(beyond, sum(rows.values()) or 1)
                assert everybody.people_cut == sum(each > most for each in rows.values())
    with visits.curator() as curator:
        (table,) = curator.rehearse(max_total=2).tables
    assert [each.as_data()["max_total"] for each in table.people] == [2] * len(table.people)


def test_rows_and_groups_of_people_and_what_limits_leave_out_are_those_of_plain_python() -> None:
    for visits in generated():
        with Looking(visits) as looking:
            (everybody, nobody), by_ward = looking.everybody(), looking.by_ward()
        rows = Counter(who for who in visits.who if who is not None)
        assert nobody == visits.who.count(None)
        assert (everybody.people, everybody.rows_each) == (len(rows), spread(list(rows.values())))
        left = sum(max(0, each - visits.max_rows) for each in rows.values())
        assert everybody.rows_left_out == Fraction(left, sum(rows.values()) or 1)
        assert everybody.people_cut == sum(each > visits.max_rows for each in rows.values())
        pairs = Counter(
            (who, ward)
            for who, ward in zip(visits.who, visits.ward, strict=True)
            if who is not None and (ward in WARDS)
        )
        wards = Counter(who for who, _ in pairs)
        assert by_ward.rows_each == spread(list(pairs.values())) and by_ward.groups_each == spread(list(wards.values()))
        expected = sum(
            Fraction(min(each, visits.max_rows)) * min(Fraction(1), Fraction(visits.max_groups, wards[who]))
            for (who, _), each in pairs.items()
        )
        assert by_ward.rows_left_out == 1 - expected / (sum(pairs.values()) or 1)
        cut = {who for (who, _), each in pairs.items() if each > visits.max_rows or wards[who] > visits.max_groups}
        assert by_ward.people_cut == len(cut)
        for each in (everybody, by_ward):
            assert each.proposed_rows >= each.rows_each.usual and each.proposed_groups >= each.groups_each.usual


def test_exact_numbers_and_what_clamping_takes_are_those_of_plain_python() -> None:
    for visits in generated():
        with Looking(visits) as looking:
            (rows,), (people,) = (
                looking.asked("SELECT COUNT(*)").numbers,
                looking.asked("SELECT COUNT(DISTINCT").numbers,
            )
            by_ward = {each.group: each.exact for each in looking.asked('SELECT "ward"').numbers}
            totals = {name: looking.asked(f'SELECT SUM("{name}")').numbers[0] for name in ("age", "cost")}
            means = {name: looking.asked(f'SELECT AVG("{name}")').numbers[0] for name in ("age", "cost")}
            (older,) = looking.asked('SELECT COUNT(*) AS n FROM "visits" WHERE "age"').numbers
        assert (rows.exact, people.exact) == (len(visits.who), len({*visits.who} - {None}))
        assert by_ward == {(key,): visits.ward.count(key) for key in WARDS}
        for name, total in totals.items():
            values = [value for value in visits.numbers(name) if value is not None]
            low, high = visits.bounds(name)
            clamped = sum(min(max(value, low), high) for value in values)
            near = 1e-5 * (sum(map(abs, values)) + 1)
            assert total.exact == pytest.approx(sum(values), abs=near)
            assert total.by_clamping == pytest.approx(clamped - sum(values), abs=near)
            assert means[name].exact == pytest.approx(sum(values) / len(values), abs=near / len(values))
            assert means[name].by_clamping == pytest.approx(
                (clamped - sum(values)) / len(values), abs=near / len(values)
            )
        middle = sum(visits.ages) / 2
        assert older.exact == sum(age is not None and age >= middle for age in visits.numbers("age"))


def test_limits_take_away_what_plain_python_says() -> None:
    for visits in generated():
        with Looking(visits) as looking:
            (count,), (people,) = (
                looking.asked("SELECT COUNT(*)").numbers,
                looking.asked("SELECT COUNT(DISTINCT").numbers,
            )
            (total,) = looking.asked('SELECT SUM("age")').numbers
        rows = Counter(who for who in visits.who if who is not None)
        counted = sum(min(each, visits.max_rows) for each in rows.values())
        assert (count.by_limits, people.by_limits) == (counted - len(visits.who), 0)
        low, high = visits.ages
        ages = [
            (who, min(max(age, low), high))
            for who, age in zip(visits.who, visits.numbers("age"), strict=True)
            if age is not None
        ]
        expected = sum(age * min(1, visits.max_rows / rows[who]) for who, age in ages if who is not None)
        # What is left of a person is rounded to a whole number, at random.
        near = len(rows) + 1e-6
        assert total.by_limits == pytest.approx(expected - sum(age for _, age in ages), abs=near)


def test_groups_beyond_the_limit_are_left_out_of_counts_by_key() -> None:
    for visits in generated():
        visits.max_groups, visits.max_rows = 1, 10**6
        with Looking(visits) as looking:
            by_ward = looking.asked('SELECT "ward"').numbers
        pairs = {(who, ward) for who, ward in zip(visits.who, visits.ward, strict=True) if who and ward in WARDS}
        several = {who for who, many in Counter(who for who, _ in pairs).items() if many > 1}
        nobody = sum(who is None and ward in WARDS for who, ward in zip(visits.who, visits.ward, strict=True))
        assert -sum(each.by_limits or 0 for each in by_ward) >= nobody + len(several)


def test_a_mean_of_nothing_is_none() -> None:
    visits = Visits(1)
    visits.age = ["unknown"] * len(visits.who)
    with Looking(visits) as looking:
        (mean,) = looking.asked('SELECT AVG("age")').numbers
    assert (mean.exact, mean.by_clamping, mean.by_limits) == (None, None, None)


def test_a_rehearsal_is_made_of_its_parts() -> None:
    visits = Visits(4)
    table = rehearsed(visits)
    with Looking(visits) as looking:
        everybody, nobody = looking.everybody()
        assert table.people == (everybody, looking.by_ward()) and table.nobody == nobody
        assert table.columns == tuple(looking.column(name) for name in ("who", "ward", "age", "cost"))
        assert table.rows == len(visits.who) and any(each.lost for each in table.columns)
        for each in questions_of(looking.catalog, looking.table):
            one, two = looking.asked(each.text), asked(table, each.text)
            assert [(each.group, each.exact) for each in one.numbers] == [
                (each.group, each.exact) for each in two.numbers
            ]


def test_a_draw_has_the_noise_that_a_question_of_its_price_would_have() -> None:
    visits = Visits(3)
    with Looking(visits) as looking, visits.curator(delta=0) as curator:
        price = Fraction(1, 1000)
        numbers = [looking.asked("SELECT COUNT(*)", price).numbers[0] for _ in range(5)]
        assert len({each.private for each in numbers}) > 1
        assert {each.noise for each in numbers} == {curator.preview(COUNT, epsilon=price).predicted[0].error}


@pytest.mark.parametrize("source", ["csv", "frame", "lists"])
def test_engine_and_plain_python_see_the_same(tmp_path: Path, source: str) -> None:
    for visits in generated(1):
        path = visits.write(tmp_path / f"visits{visits.seed}.csv")
        frame = pandas.DataFrame(visits.columns(), dtype=object)
        with visits.curator({"csv": path, "frame": frame, "lists": visits.columns()}[source]) as curator:
            (table,) = curator.rehearse().tables
            loads = visits.curator(visits.columns())._loads
        with DuckDB(loads) as duck:
            slow = MemoryEngine(loads, duck.priorities)
            slow.lost = duck.lost
            (other,) = look(curator.catalog, loads, slow, Fraction(1), Fraction(0)).tables
        assert (table.columns, table.people, table.nobody, table.repeated) == (
            other.columns,
            other.people,
            other.nobody,
            other.repeated,
        )
        for one, two in zip(table.questions, other.questions, strict=True):
            assert [(each.exact, each.by_clamping) for each in one.numbers] == [
                (each.exact, each.by_clamping) for each in two.numbers
            ]


def test_proposed_limits_are_on_the_ladder_and_not_below_what_they_are_for() -> None:
    ladder = sorted({limit_for(most) for most in range(1, 5000)})
    assert ladder[:7] == [1, 2, 3, 4, 5, 7, 9]
    assert all(one < two <= max(one + 1, one * 1.25 + 1) for one, two in pairwise(ladder))
    for most in range(1, 5000):
        assert limit_for(most) == min(rung for rung in ladder if rung >= most)


def test_proposed_bounds_are_round_and_hold_all_but_one_value_in_two_hundred_at_each_end() -> None:
    rng = Random(5)
    ladder = rungs(whole=False)
    for _ in range(repeats(100)):
        size = 10 ** rng.uniform(-3, 12)
        values = [rng.gauss(rng.choice([0, 1, -1]), 1) * size for _ in range(rng.randint(1, 600))]
        ordered = sorted(values)
        below = [bisect_left(ordered, float(rung)) for rung in ladder]
        above = [len(values) - bisect_right(ordered, float(rung)) for rung in ladder]
        bounds = bounds_for(ladder, below, above, len(values))
        assert bounds is not None
        low, high = map(float, bounds)
        assert {*bounds} <= {*ladder} and low <= high
        assert sum(value < low for value in values) * SPARED <= len(values)
        assert sum(value > high for value in values) * SPARED <= len(values)
    assert bounds_for(rungs(whole=True), [0] * 93, [0] * 93, 0) is None


def test_values_that_are_all_one_number_are_not_told_by_the_bounds() -> None:
    for rung in (ladder := rungs(whole=False)):
        bounds = bounds_for(ladder, [int(rung < each) for each in ladder], [int(rung > each) for each in ladder], 1)
        assert bounds is not None and bounds[0] <= rung <= bounds[1] and bounds[0] < bounds[1]
        assert Fraction(0) in bounds
    assert all(rung.denominator == 1 for rung in rungs(whole=True))


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(each): each.read_bytes() if each.is_file() else None for each in sorted(folder.rglob("*"))}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Visits(7).write(tmp_path / "visits.csv")


def test_a_rehearsal_makes_no_ledger(data: Path) -> None:
    before = snapshot(data.parent)
    with Visits(7).curator(data, ledger=None) as curator:
        curator.rehearse()
    assert snapshot(data.parent) == before


def test_a_rehearsal_charges_nothing_keeps_nothing_and_leaves_every_byte_of_a_ledger(data: Path) -> None:
    with Visits(7).curator(data, ledger=None) as curator:
        curator.sql(COUNT, epsilon=0.5)
        spent, history = curator.spent, curator.history()
    before = snapshot(data.parent)
    with Visits(7).curator(data, ledger=None) as curator:
        curator.rehearse(0.5)
    assert snapshot(data.parent) == before
    with Visits(7).curator(data, ledger=None) as curator:
        curator.rehearse(0.5)
        assert (curator.spent, curator.history()) == (spent, history)
        # Nothing was kept: what a rehearsal drew is charged when it is asked.
        curator.sql('SELECT COUNT(*) AS n FROM "visits" WHERE age >= 1', epsilon=0.5)
        assert curator.spent.epsilon == spent.epsilon + Fraction(1, 2)


def test_a_budget_that_is_spent_does_not_keep_the_owner_from_a_rehearsal(data: Path) -> None:
    with Visits(7).curator(data, ledger=None) as curator:
        curator.sql(COUNT, epsilon=3)
        assert curator.rehearse().tables


def test_every_line_says_that_it_must_not_be_published_and_the_data_say_it_first() -> None:
    visits = Visits(2)
    with visits.curator() as curator:
        rehearsal = curator.rehearse()
    for text in (str(rehearsal), repr(rehearsal)):
        lines = text.splitlines()
        assert len(lines) > 30 and all(line.startswith(MARK) for line in lines)
    assert "round numbers that you would have guessed are better" in lines[-1] and "given the declarations" in lines[-1]
    (first, private), (second, notice), *_ = rehearsal.as_data().items()
    assert (first, private, second) == ("private", False, "notice") and "must not be published" in notice


def test_a_rehearsal_is_nobody_s_but_the_owner_s() -> None:
    assert {*inspect.signature(Curator.rehearse).parameters} == {
        "self",
        "epsilon",
        "max_rows",
        "max_groups",
        "max_total",
    }
    with Visits(1).curator() as curator:
        curator.close()
        with pytest.raises(Invalid, match="closed"):
            curator.rehearse()


def test_ten_questions_are_asked_with_some_of_each_kind() -> None:
    questions = [each.text for each in rehearsed(Visits(1)).questions]
    assert len(questions) == len({*questions}) == 10
    for part in ("COUNT(*)", "COUNT(DISTINCT", "GROUP BY", "SUM(", "AVG(", "WHERE"):
        assert any(part in each for each in questions), part


def test_limits_may_be_tried_that_the_policy_does_not_have() -> None:
    visits = Visits(5)
    with visits.curator() as curator:
        (tried,) = curator.rehearse(max_rows=2, max_groups=1).tables
        assert curator.catalog.protected.max_rows == visits.max_rows
    visits.max_rows, visits.max_groups = 2, 1
    assert tried.people == rehearsed(visits).people
    with (
        Curator({"t": {"x": ["1"]}}, row=True, epsilon=1, ledger=":memory:") as rows,
        pytest.raises(Invalid, match="every row is about another person"),
    ):
        rows.rehearse(max_rows=2)


def test_the_noise_is_that_of_the_operating_system_also_where_a_curator_has_a_tape() -> None:
    price, visits = Fraction(1, 1000), Visits(5)
    draws = []
    for _ in range(2):
        with on_a_tape(visits.curator()) as curator:
            draws.append(
                [each.private for part in curator.rehearse(price).tables[0].questions for each in part.numbers]
            )
    assert draws[0] != draws[1]


def test_a_question_that_cannot_be_asked_says_why() -> None:
    with Visits(1).curator(clip="l2", delta=0) as curator:
        (table,) = curator.rehearse().tables
    assert "L2 clip needs Gaussian noise" in asked(table, 'SELECT "ward"').refusal
    assert asked(table, "SELECT COUNT(*)").refusal == ""


@pytest.mark.parametrize("several", [False, True])
def test_rows_are_told_from_people(several: bool) -> None:
    people = [f"p{i // 2 if several else i}" for i in range(20)]
    source = {"who": people, "user_id": people, "x": ["1"] * 20}

    def seen(*unit: str, row: bool = False) -> Rehearsal:
        with Curator({"t": source}, *unit, row=row, epsilon=1, ledger=":memory:") as curator:
            return curator.rehearse()

    told = "--row would be wrong: 10 of 10 have several rows, one 2" if several else "--row is plausible"
    assert told in str(seen("who"))
    by_row = seen(row=True)
    assert ("--unit user_id" in str(by_row)) is several
    assert by_row.tables[0].people == ()


@pytest.mark.parametrize(
    ("decimal", "thousands", "cells"),
    [(",", "", ("1,5", "2,25", "30")), (",", ".", ("1.234,5", "7,5", "3")), (".", ",", ("1,234.5", "7.5", "3"))],
)
def test_signs_that_read_more_numbers_are_named(
    tmp_path: Path, decimal: str, thousands: str, cells: tuple[str, ...]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who;x\n" + "".join(f"p{i};{cell}\n" for i, cell in enumerate(cells)), "utf-8")

    def suggested(reading: dict[str, str]) -> list[str]:
        declared = {"x": {"bounds": (0, 2000)}}
        given: dict[str, Any] = {"epsilon": 1, "ledger": ":memory:", "reading": {"delimiter": ";", **reading}}
        with Curator({"t": path}, "who", declared, **given) as curator:
            return [each.declared for each in curator.rehearse().tables[0].spellings]

    words = f"--decimal {decimal!r}" + (f" --thousands {thousands!r}" if thousands else "")
    assert suggested({}) == [words]
    assert suggested({"decimal": decimal, **({"thousands": thousands} if thousands else {})}) == []


def test_a_delimiter_that_reads_more_columns_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,x;y;z\n1,2;3;4\n", "utf-8")
    with Curator({"t": path}, "who", epsilon=1, ledger=":memory:") as curator:
        assert [each.declared for each in curator.rehearse().tables[0].spellings] == ["--delimiter ';'"]


def test_a_table_without_rows_has_a_rehearsal() -> None:
    empty: dict[str, list[str]] = {"who": [], "ward": [], "age": [], "cost": []}
    table = rehearsed(Visits(1), empty)
    assert table.rows == 0 and all(each.proposed is None for each in table.columns)
    assert asked(table, "SELECT COUNT(*)").numbers[0].exact == 0


def test_a_limit_of_a_column_is_beside_what_people_have_in_it() -> None:
    """As if it were that of the unit, in questions by this column."""
    for seed, most in ((5, 1), (6, 2)):
        visits = Visits(seed)
        visits.max_groups = most
        wanted = next(each for each in rehearsed(visits).people if each.column == "ward")
        columns = {"ward": {"keys": WARDS, "max_groups": most}}
        unit = {"max_rows": visits.max_rows, "max_groups": 5, "epsilon": 3, "ledger": ":memory:"}
        with Curator({"visits": visits.columns()}, "who", columns, **unit) as curator:
            (table,) = curator.rehearse().tables
        assert next(each for each in table.people if each.column == "ward") == wanted and wanted.max_groups == most
