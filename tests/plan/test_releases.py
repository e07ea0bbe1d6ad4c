"""What holds for every kind of release, those that are registered here and a new one; and that a new one takes one file."""

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction as F
from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.curator.session import Curator
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Grant
from discreet.noise import Tape
from discreet.plan.check import check, digest
from discreet.plan.explain import explain
from discreet.plan.intervals import TOO_FEW, intervals, predicted
from discreet.plan.plan import Plan
from discreet.plan.post import released_rows
from discreet.plan.release import exact_totals, release
from discreet.plan.releases.base import Kind, registry
from discreet.plan.sql.refusals import known
from tests.plan import laws
from tests.plan.laws import PERSON, ROW, engine, honest, planned, turned
from tests.plan.toy import RootMeanSquare
from tests.scale import repeats

VALUED = {name for name in registry.names() if (kind := registry.named(name)) is not None and kind.valued}
"""What is a value, and no number: tests of its own tell what holds for it (test_modes)."""

NAMES = [*(name for name in registry.names() if name not in VALUED), *RootMeanSquare.calls]
RUNS = 200


def of(name: str, argument: str, other: str = "y") -> str:
    """A call of a release, of as many numbers as it is of, or of a condition."""
    kind = registry.named(name)
    if kind is None:
        return f"{name}({argument})"
    return kind.example(name, f"{argument} > 2" if kind.of_truths else argument, other)


MISSED = 0.30
"""Of 200 draws at 95 % more than 60 miss with a chance below 1e-30, if the interval is right."""


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    """The toy can be asked for, in these tests alone."""
    registry.add(RootMeanSquare)
    yield
    registry.remove(RootMeanSquare)


def test_the_registry_holds_the_files_of_the_folder() -> None:
    assert {"AVG", "COUNT", "SUM", "RMS"} <= set(registry.names())
    assert all(name.isupper() for name in registry.names())
    assert registry.named("COUNT").__module__ == "discreet.plan.releases.total"  # type: ignore[union-attr]
    assert registry.named("NOTHING") is None


def test_a_name_asks_for_one_kind() -> None:
    class Other(RootMeanSquare):
        pass

    with pytest.raises(Fault):
        registry.add(Other)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", [PERSON, turned(PERSON), ROW, turned(ROW)], ids=str)
def test_every_kind_is_planned_checked_named_and_told(name: str, unit: object) -> None:
    """For every unit: a plan that holds, whose releases are of measurements that there are, and whose name is its own."""
    texts = [
        f"SELECT {of(name, 'x')} FROM t",
        f"SELECT {of(name, 'x')} FILTER (WHERE y > 0) FROM t",
        f"SELECT g, {of(name, 'y', 'x')} FROM t GROUP BY g HAVING {of(name, 'y', 'x')} > 1 ORDER BY {of(name, 'y', 'x')} DESC",
        f"SELECT {of(name, 'x')} / COUNT(*), 2 * {of(name, 'x')} + AVG(y) FROM t WHERE x > 2",
    ]
    plans = [planned(text, unit) for text in texts]  # type: ignore[arg-type]
    for plan in plans:
        check(plan)
        for aggregate, each in zip(plan.question.aggregates, plan.releases, strict=True):
            assert {*each.counted, *each.counted.values()} <= set(each.places)
            assert each.notation.split()[1:] == [field.name for field in fields(each)]  # type: ignore[arg-type]
            assert isinstance(aggregate.kind, Kind)
            assert f"├─ {aggregate.kind.word}" in explain(plan)
        assert len(predicted(plan)) == len(plan.question.outputs)
    assert len({digest(plan) for plan in plans}) == len(plans)


@pytest.mark.parametrize("name", NAMES)
def test_every_interval_holds_its_truth(name: str) -> None:
    """As often as it says, where there are some to be told of: the truth is the value without noise."""
    rows = [{**row, "who": 100 * i + row["who"]} for i in range(40) for row in honest()]
    for argument in ("x", "y"):
        plan = planned(f"SELECT {of(name, argument, 'far')} AS v FROM t", replace(PERSON, max_rows=9, people=480), F(2))
        run, missed = cache(engine(rows).run), 0
        exact = list(exact_totals(plan, run(plan.query, 1)))
        exact += [column for each in plan.decided.readings for column in each.exactly(run, 1, plan.domain)]
        (truth,) = without_noise(plan).releases[0].values(without_noise(plan), [each.tolist() for each in exact])
        for seed in range(repeats(RUNS)):
            noise = release(plan, run, Grant(plan.event, Tape(seed)), 1)
            shown = released_rows(plan, noise)
            ((interval,),) = intervals(plan, noise, shown)
            assert interval is not None and interval.low is not None and interval.high is not None
            assert interval.low <= shown.rows[0][0] <= interval.high  # type: ignore[operator]
            missed += not interval.low - 1e-6 <= truth <= interval.high + 1e-6
        assert missed <= MISSED * repeats(RUNS), (name, argument)


def without_noise(plan: Plan) -> Plan:
    public = tuple(replace(each, mechanism=None) for each in plan.measurements)
    return replace(plan, stage=replace(plan.decided, measurements=public))


@pytest.mark.parametrize("name", NAMES)
def test_no_neighbour_moves_a_measurement_farther_than_its_noise_is_made_for(name: str) -> None:
    for unit in laws.UNITS:
        text = f"SELECT {of(name, 'y', 'far')}, {of(name, 'x')} FILTER (WHERE y > 0) FROM t"
        moved = laws.searched(text, unit, repeats(40), F(1, 10**6))
        assert all(far <= allowed for far, allowed in zip(moved.farthest, moved.allowed, strict=True)), (text, unit)


def test_nobody_is_told_apart_from_too_few() -> None:
    """NULL, and said to be so, for whatever is divided by a count."""
    plan = planned("SELECT AVG(x) AS a, RMS(x) AS r FROM t", PERSON)
    nobody = [np.zeros(1, np.int64)] * len(plan.measurements)
    shown = released_rows(plan, nobody)
    assert shown.rows == ((None, None),)
    for interval in intervals(plan, nobody, shown)[0]:
        assert interval is not None and interval.flag == TOO_FEW


def test_nobody_else_knows_a_kind_by_name() -> None:
    """Whoever wants a kind looks it up in the registry; only kinds may know their sisters."""
    folder = Path(discreet.__file__).parent
    kinds = {path.stem for path in (folder / "plan" / "releases").glob("*.py")} - {"__init__", "base", "terms"}
    assert {"mean", "total"} <= kinds
    for path in folder.rglob("*.py"):
        if path.parent.name != "releases":
            text = path.read_text("utf-8")
            assert not any(f"releases.{kind}" in text or f"releases import {kind}" in text for kind in kinds), path


# A new kind, in one file.


def test_a_new_kind_is_asked_through_sql_to_the_end(tmp_path: Path) -> None:
    """Planned, checked, charged, released, answered, shown, explained and previewed; kept answers come back."""
    rows = {
        "who": [i // 3 for i in range(3000)],
        "x": [i % 11 for i in range(3000)],
        "g": ["AB"[i % 2] for i in range(3000)],
    }
    columns = {"x": {"type": "integer", "bounds": (0, 10)}, "g": {"keys": ["A", "B"]}}
    with Curator({"t": rows}, "who", columns, epsilon=100, ledger=tmp_path / "l", max_rows=3, max_groups=2) as curator:
        text = "SELECT g, RMS(x), quadratic_mean(x) FILTER (WHERE x > 5) AS high FROM t GROUP BY g HAVING RMS(x) > 1 ORDER BY 2"
        assert "RMS(x)" in curator.explain(text, epsilon=20) and "squares: geometric noise" in curator.explain(
            text, epsilon=20
        )
        assert "how many are counted" in str(curator.preview(text, epsilon=20))
        answer = curator.sql(text, epsilon=20)
        assert [column.name for column in answer.columns] == ["g", "rms_x", "high"]
        assert curator.sql(text, epsilon=20).to_bytes() == answer.to_bytes()
        for row, spans in zip(answer.rows, answer.intervals, strict=True):
            kept = [x for x, g in zip(rows["x"], rows["g"], strict=True) if g == row[0]]
            for value, span, values in zip(row[1:], spans[1:], (kept, [x for x in kept if x > 5]), strict=True):
                truth = sqrt(sum(x * x for x in values) / len(values))
                assert span is not None and span.low - 0.1 <= truth <= span.high + 0.1 and abs(value - truth) < 0.5
        assert "RMS" in answer.explain() and "±" in str(answer)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("RMS(DISTINCT x)", "distinct"),
        ("RMS(x, x)", "function"),
        ("RMS()", "function"),
        ("RMS(*)", "star"),
        ("RMS(g)", "types"),
        ("RMS(NULL)", "types"),
        ("RMS(SUM(x))", "aggregate-place"),
        ("RMS(x) OVER ()", "window"),
        ("other.RMS(x)", "schema"),
    ],
)
def test_what_a_new_kind_does_not_read_is_refused(call: str, code: str) -> None:
    with pytest.raises(QueryError) as refusal:
        planned(f"SELECT {call} FROM t", PERSON)
    assert refusal.value.code == code


@pytest.mark.parametrize("name", [name for name in NAMES if "COUNT" not in name and of(name, "x") == f"{name}(x)"])
def test_distinct_values_are_counted_and_nothing_else(name: str) -> None:
    with pytest.raises(QueryError, match="DISTINCT values are counted") as refusal:
        planned(f"SELECT {name}(DISTINCT x) FROM t", PERSON)
    assert refusal.value.code == "distinct" and "COUNT(DISTINCT x) counts values" in refusal.value.hint


def test_a_kind_that_is_not_registered_is_not_known() -> None:
    assert "RMS" in known()
    registry.remove(RootMeanSquare)
    assert "RMS" not in known()
    with pytest.raises(QueryError) as refusal:
        planned("SELECT RMS(x) FROM t", PERSON)
    assert refusal.value.code == "function"


def test_a_new_kind_is_released_from_one_grant() -> None:
    plan = planned("SELECT RMS(x), COUNT(x) FROM t", PERSON)
    grant = Grant(plan.event, Tape(1))
    assert len(release(plan, engine(honest()).run, grant, 1)) == len(plan.measurements) == 2


# The page.

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"
BEGIN, END = "<!-- made from the kinds of release -->\n", "<!-- until there -->"


def page_table() -> str:
    """The aggregates, as the page has them: the names of each kind, how many numbers it is of, and what it says of itself."""
    kinds = dict.fromkeys(registry.named(name) for name in registry.names())
    lines = ["| aggregate | of | is |", "|---|---|---|"]
    for kind in kinds:
        assert kind is not None
        names = ", ".join(f"`{name}`" for name in kind.calls)
        of = "rows" if kind.name == "count" else "pairs of numbers, y first" if kind.arguments > 1 else "numbers"
        of_values = kind.valued or (kind.beside and kind.counting)
        of = "conditions" if kind.of_truths else "values of any type" if of_values else of
        (first, *_) = (kind.__doc__ or "").splitlines()
        lines.append(f"| {names} | {of} | {first[0].lower()}{first[1:].rstrip('.')} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_the_aggregates_of_the_registry() -> None:
    registry.remove(RootMeanSquare)
    assert PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0] == page_table()
