"""A preview is of what would be charged: the same plan, at the same price, in the same words; for the owner and for analysts with and
without a δ, with the limits of the policy and with those of whoever asks."""

import inspect
import tempfile
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.curator.asked import Asked, Terms
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid, Refused
from tests.plan.asked import TABLE, questions, schemas
from tests.scale import repeats

ANALYSTS = {"ana": {"epsilon": 5, "delta": 1e-5}, "bo": {"epsilon": 5}}
PRICES: list[dict[str, Any]] = [
    {"epsilon": 1},
    {"epsilon": 0.1, "delta": 1e-6},
    {"epsilon": 2, "delta": 0},
    {"within": 50},
    {"within": "20%", "confidence": 0.9},
]


LIMITS = st.fixed_dictionaries(
    {}, optional={"max_rows": st.integers(1, 40), "max_groups": st.integers(1, 6), "max_total": st.integers(1, 90)}
)


def outcome(ask: Any) -> Any:
    try:
        return ask()
    except DiscreetError as error:
        return type(error), error.code, error.message, error.hint


@settings(
    max_examples=repeats(40),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_a_preview_is_of_what_is_charged(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    text, price = data.draw(questions(schema)), data.draw(st.sampled_from(PRICES))
    analyst = data.draw(st.sampled_from([None, "ana", "bo"]))
    first, then = data.draw(LIMITS), data.draw(LIMITS)
    rows: dict[str, list[str]] = {"person": ["1", "2"], **{name: ["1", ""] for name in schema.columns}}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        arguments = {"epsilon": 10, "delta": 1e-4, "ledger": ledger, "analysts": ANALYSTS} | schema.arguments()
        with Curator({TABLE: rows}, **arguments) as curator:
            before = outcome(lambda: curator.preview(text, **price, **first, analyst=analyst))
            told = outcome(lambda: curator.explain(text, **price, **first, analyst=analyst))
            assert not ledger.exists()
            for limits in (
                first,
                then,
                {},
            ):  # the later ones may find the answer of an earlier one, in words of their own
                spent = curator._store.standing(analyst).spent.exact
                answer = outcome(lambda limits=limits: curator.sql(text, **price, **limits, analyst=analyst))
                after = outcome(lambda limits=limits: curator.preview(text, **price, **limits, analyst=analyst))
                if limits is first and isinstance(answer, tuple):
                    assert answer == before == after == told or answer[1] in ("budget", "analyst-budget")
                elif limits is first:
                    assert (before.explain(), before.notes) == (after.explain(), after.notes)
                    assert before == replace(
                        after, free=None
                    )  # what follows for nothing is there once there is an answer
                    assert told == before.explain()
                if isinstance(answer, tuple):
                    assert answer == after or answer[1] in ("budget", "analyst-budget")
                    continue
                assert (answer.epsilon, answer.delta) == (after.epsilon, after.delta)
                if "found" in answer.receipt:  # in words of the limits that it found
                    assert set(after.notes) <= set(answer.notes)
                else:
                    assert answer.explain() == after.explain() and answer.notes[: len(after.notes)] == after.notes
                now = curator._store.standing(analyst).spent.exact
                charged = tuple(float(a - b) for a, b in zip(now[:2], spent[:2], strict=True))
                free = {} if limits is first else {(0.0, 0.0)}
                assert charged in {(after.epsilon, after.delta), *free}


def test_a_preview_for_nobody_is_refused_and_makes_no_ledger(tmp_path: Path) -> None:
    with Curator({"t": {"pid": ["a"]}}, "pid", epsilon=1, ledger=tmp_path / "l", analysts=ANALYSTS) as curator:
        for ask in (curator.preview, curator.explain):
            with pytest.raises(Refused) as refusal:
                ask("SELECT COUNT(*) AS n FROM t", epsilon=1, analyst="cy")
            assert refusal.value.code == "analyst-unknown"
    assert not (tmp_path / "l").exists()


def limited(folder: Path, **more: Any) -> Curator:
    rows = {"pid": ["a"] * 30 + ["b"], "x": ["5"] * 31, "w": ["u", "v", "w"] * 10 + ["u"]}
    columns = {"x": {"bounds": (0, 9)}, "w": {"keys": ["u", "v", "w"]}}
    given = {"epsilon": 100, "delta": 1e-5, "analysts": ANALYSTS, **more}
    return Curator({"t": rows}, "pid", columns, ledger=folder / "l", **given)


QUESTIONS = ["SELECT COUNT(*) AS n FROM t", "SELECT w, SUM(x) AS s FROM t GROUP BY w", "SELECT AVG(x) AS a FROM t"]
WAYS = ["sql", "preview", "explain"]


def price_follows_the_limit(folder: Path) -> None:
    """What a person may change is what the limit of the question allows, whatever the policy says; and the answer is another one."""
    for declared in ({}, {"max_rows": 2, "max_groups": 1}):
        with limited(folder / str(len(declared)), **declared) as curator:
            names = set()
            for rows in (1, 2, 5, 40):
                for groups in (1, 2, 3):
                    found = curator.sql(
                        "SELECT w, COUNT(*) AS n FROM t GROUP BY w",
                        epsilon=1,
                        delta=0,
                        max_rows=rows,
                        max_groups=groups,
                    )
                    (measured,) = found.receipt["measurements"]
                    assert measured["sensitivity"] == str(rows * groups)
                    names.add(found.receipt["plan"])
            assert len(names) == 12 and curator.spent.epsilon == 12


def test_the_price_follows_the_limit_of_the_question(tmp_path: Path) -> None:
    price_follows_the_limit(tmp_path)


def price_follows_the_total(folder: Path) -> None:
    """A limit on all rows takes the place of those that nobody declared, and is the least of it all beside those that somebody did."""
    text = "SELECT w, COUNT(*) AS n FROM t GROUP BY w"
    for name, declared, most in (("none", {}, 10**6), ("both", {"max_rows": 5, "max_groups": 2}, 10)):
        for total in (1, 7, 40):
            for where, limits in (({}, {"max_total": total}), ({"max_total": total}, {})):
                with limited(folder / f"{name} {total} {len(where)}", **declared, **where) as curator:
                    answer = curator.sql(text, epsilon=1, delta=0, **limits)
                    (measured,) = answer.receipt["measurements"]
                    steps = Fraction(measured["sensitivity"]) * Fraction(measured["step"])
                    assert steps == min(total, most)
                    applied = f"counts with at most {total} row{'s' if total > 1 else ''} in all"
                    assert (applied in answer.notes[0]) is (total < most)
                    assert not any("nobody declared" in note for note in answer.notes)


def test_the_price_follows_the_limit_on_all_rows(tmp_path: Path) -> None:
    price_follows_the_total(tmp_path)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_limit_that_whoever_asks_sets_is_declared(tmp_path: Path, text: str) -> None:
    with limited(tmp_path) as curator:
        silent = curator.sql(text, epsilon=1)
        assert any(note.startswith("nobody declared") for note in silent.notes)
        for spent, max_rows in enumerate((5, 7), 2):
            said = curator.sql(text, epsilon=1, max_rows=max_rows, max_groups=3)
            assert not any("nobody declared" in line for line in (*said.notes, said.explain()))
            assert curator.spent.epsilon == spent
        assert curator.sql(text, epsilon=1) == replace(silent, remaining=curator.sql(text, epsilon=1).remaining)
        assert curator.spent.epsilon == 3


BAD = [0, -1, -(10**30), 2.0, 1.5, True, "3", 10**7, 10**400, float("nan"), [3]]


@pytest.mark.parametrize("name", ["max_rows", "max_groups", "max_total"])
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{type(bad).__name__} {str(bad)[:9]}")
@pytest.mark.parametrize("way", WAYS)
def test_a_limit_that_is_none_is_refused_by_name_and_nothing_is_spent(
    tmp_path: Path, name: str, bad: Any, way: str
) -> None:
    with limited(tmp_path) as curator:
        with pytest.raises(Invalid, match=name):
            getattr(curator, way)(QUESTIONS[0], epsilon=1, **{name: bad})
        assert not (tmp_path / "l").exists() or curator.spent.epsilon == 0


def test_rows_by_themselves_take_no_limit(tmp_path: Path) -> None:
    with Curator({"t": {"x": ["1"]}}, row=True, epsilon=1, ledger=tmp_path / "l") as curator:
        for way in WAYS:
            with pytest.raises(Invalid, match="max_rows limits what of a person counts"):
                getattr(curator, way)("SELECT COUNT(*) AS n FROM t", epsilon=1, max_rows=3)
        assert not (tmp_path / "l").exists()


def test_the_three_ways_to_ask_take_the_same() -> None:
    found = {way: dict(inspect.signature(getattr(Curator, way)).parameters) for way in WAYS}
    assert found["sql"].pop("key").default is None
    assert found["sql"] == found["preview"] == found["explain"]
    assert set(found["sql"]) == {"self", "text", "params", *Terms.__annotations__}
    assert {each.name for each in fields(Asked)} == {"text", "params", "key", *Terms.__annotations__}


MANY = "SELECT w, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY w, CASE WHEN x > 3 THEN 'high' ELSE 'low' END"


def test_an_analyst_without_a_delta_is_told_what_that_costs(tmp_path: Path) -> None:
    """Where a δ would give less noise, or a lower price; and not where it would not, nor to whoever chose to have none."""

    def lacking(found: Any) -> list[str]:
        return [note for note in found.notes if note.startswith("without a δ")]

    with limited(tmp_path, max_rows=1, max_groups=6) as curator:
        for price, word in (({"epsilon": 0.1}, "the noise is"), ({"within": {"n": 3000}}, "the price is")):
            told = curator.preview(MANY, **price, analyst="bo")
            better = curator.preview(MANY, **price, analyst="ana")
            (said,) = lacking(told)
            assert word in said and "δ = 1e-08" in said and better.delta == 1e-8 and told.delta == 0
            ratio = float(said.partition(word)[2].split()[0])
            worse = [(a.error, b.error) for a, b in zip(told.predicted, better.predicted, strict=True) if a.error]
            widest = max(a / b for a, b in worse) if "epsilon" in price else told.epsilon / better.epsilon
            assert ratio > 1 and abs(ratio / widest - 1) < 0.1
            assert f"note: {said}" in curator.explain(MANY, **price, analyst="bo")
            assert lacking(curator.sql(MANY, **price, analyst="bo")) == [said]
            assert not lacking(better) and not lacking(curator.preview(MANY, **price))
            assert not lacking(curator.preview(MANY, **price, delta=0, analyst="ana"))
        assert not lacking(curator.preview(QUESTIONS[0], epsilon=1, analyst="bo"))


def test_no_one_is_told_of_the_delta_of_another(tmp_path: Path) -> None:
    """Two may ask for one plan in other terms; where answers are shared each hears of their own."""
    with limited(tmp_path, max_rows=1, max_groups=6) as curator:
        curator.policy = replace(curator.policy, share_answers=True)
        first = curator.sql(MANY, epsilon=0.1, analyst="bo")
        other = curator.sql(MANY, epsilon=0.1, delta=0, analyst="ana")
        assert other.rows == first.rows and len(first.notes) == len(other.notes) + 1
        assert not any("without a δ" in text for text in (*other.notes, other.explain()))
