"""Accuracy first, at every door: `sql`, `preview`, `explain`, the builder, statistical queries and the command line plan and charge alike.

Nothing of it depends on the data but through what was released and paid for.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid, QueryError
from discreet.plan.digits import six_digits
from discreet.plan.sizes import middle_size

F = Fraction
COLUMNS = {"ward": {"keys": ["A", "B", "C"]}, "age": {"bounds": (18, 100)}, "cost": {"bounds": (0, 1000)}}
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age, SUM(cost) AS cost FROM visits GROUP BY ward"
WORD = {"epsilon": 50, "delta": 1e-5}


def visits(people: int = 300, cost: int = 400) -> dict[str, list[Any]]:
    rows = range(2 * people)
    return {
        "pid": [i % people for i in rows],
        "ward": ["ABC"[i % 3] for i in rows],
        "age": [20 + i % 60 for i in rows],
        "cost": [cost + i % 7 for i in rows],
    }


def opened(rows: dict[str, list[Any]] | None = None, **more: Any) -> Curator:
    given: dict[str, Any] = {"max_rows": 2, "max_groups": 2, "people": 300, "ledger": ":memory:", **WORD, **more}
    return Curator({"visits": rows or visits()}, "pid", COLUMNS, **given)


@pytest.fixture
def clinic() -> Iterator[Curator]:
    with opened() as curator:
        yield curator


FORMS: list[Any] = [
    25,
    F(25, 2),
    {"n": 25},
    {"n": 25, "cost": 9000},
    {"n": "20%"},
    {"n": "20%", "age": 9, "cost": 9000},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_every_door_has_the_same_plan_and_price(clinic: Curator, form: Any, confidence: Any) -> None:
    terms = {"within": form, "confidence": confidence}
    built = clinic.table("visits").group_by("ward").agg(n=dp.count(), age=dp.mean("age"), cost=dp.sum("cost"))
    previews = [clinic.preview(BY_WARD, **terms), built.preview(**terms)]
    assert previews[0].to_json() | {"question": ""} == previews[1].to_json() | {"question": ""}
    assert f"costs ε = {six_digits(F(previews[0].epsilon))}" in clinic.explain(BY_WARD, **terms)
    if previews[0].epsilon > 40:
        return
    before = clinic.spent.epsilon
    answer = clinic.sql(BY_WARD, **terms)
    assert answer.epsilon == previews[0].epsilon and float(clinic.spent.epsilon - before) == pytest.approx(
        answer.epsilon
    )
    assert built.ask(**terms).rows == answer.rows == clinic.sql(BY_WARD, **terms).rows
    assert float(clinic.spent.epsilon - before) == pytest.approx(answer.epsilon)
    assert answer.confidence == previews[0].confidence == (confidence or 0.95)
    told = {each.name: each.error for each in previews[0].predicted}
    for row in answer.to_json()["error"]:
        assert row["n"] == told["n"] and row["cost"] == pytest.approx(told["cost"])


def test_statistical_queries_take_an_accuracy(clinic: Curator) -> None:
    queries = ("age >= 65", "cost / 1000")
    told = clinic.table("visits").statistical(*queries).preview(within={"q1": 20, "q2": 30})
    found = clinic.statistical(*queries, within={"q1": 20, "q2": 30})
    assert found.answer.epsilon == told.epsilon
    assert (found.errors[0] or 99) <= 20 and (found.errors[1] or 99) <= 30
    wide = clinic.statistical(*queries, epsilon=found.answer.epsilon, confidence=0.99)
    found = clinic.statistical(*queries, epsilon=found.answer.epsilon)
    assert wide.values == found.values and (wide.errors[0] or 0) > (found.errors[0] or 99)


# The command line.


@pytest.fixture
def file(tmp_path: Path) -> str:
    rows = visits()
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    policy = """
        version = "1"
        [budget]
        epsilon = 50
        delta = 1e-5
        [unit]
        column = "pid"
        max_rows = 2
        max_groups = 2
        people = 300
        [tables.visits]
        source = "visits.csv"
        [tables.visits.columns]
        ward = { keys = ["A", "B", "C"] }
        age = { bounds = [18, 100] }
        cost = { bounds = [0, 1000] }
    """
    (tmp_path / "visits.toml").write_text(policy.replace("        ", ""))
    return str(tmp_path / "visits.toml")


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


WRITTEN = [
    (["--within", "25"], 25),
    (["--within", "12.5"], F(25, 2)),
    (["--within", "n=25", "--within", "cost=9000"], {"n": 25, "cost": 9000}),
    (["--within", "n=20%", "--within", " cost = 9000"], {"n": "20%", "cost": 9000}),
]


@pytest.mark.parametrize(("words", "form"), WRITTEN, ids=str)
def test_the_command_line_asks_the_same(file: str, clinic: Curator, words: list[str], form: Any) -> None:
    told = run("ask", file, BY_WARD, *words, "--preview", "--json", "--confidence", "0.9")
    assert told == clinic.preview(BY_WARD, within=form, confidence=0.9).to_json()


HOSTILE = [
    ["--within", "0"], ["--within=-5"], ["--within", "nan"], ["--within", "0%"], ["--within", "abc%"], ["--within", "x=1"],
    ["--within", "ward=1"], ["--within", "n=1", "--within", "n=2"], ["--within", "n=1", "--within", "2"], ["--within", "=1"],
    ["--within", "n="], ["--within", ""], ["--within", "5", "--epsilon", "1"], ["--within", "true"], ["--within", "N=1", "--within", "n=1"],
    ["--confidence", "2", "--epsilon", "1"], ["--confidence", "nan", "--epsilon", "1"], ["--confidence", "1", "--epsilon", "1"],
    ["--quote", ""], ["--quote", "1,"], ["--quote", "0"], ["--quote", "1", "--epsilon", "1"], ["--quote", "a"], ["--quote", "1", "--cite"],
    ["--quote", "1", "--within", "5"], ["--quote", "1", "--preview"], ["--epsilon", "1", "--preview", "--cite"],
]  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: " ".join(words))
def test_what_is_no_accuracy_is_refused_before_anything_is_spent(file: str, words: list[str]) -> None:
    result = CliRunner().invoke(app, ["ask", file, BY_WARD, *words, "--json"])
    assert result.exit_code == 2 and result.stdout == "", result.output
    assert json.loads(result.stderr)["error"]["message"]
    assert not Path(f"{file}.ledger").exists()


# Sizes.


def test_a_price_hangs_on_nothing_in_the_data() -> None:
    """Two data sets as different as can be, with one declaration: equal previews, in every form."""
    with opened() as one, opened(visits(people=1, cost=0)) as other:
        for form in FORMS:
            assert one.preview(BY_WARD, within=form).to_json() == other.preview(BY_WARD, within=form).to_json()
        for text in ("5%", {"cost": "5%"}):
            refusals = []
            for curator in (one, other):
                with pytest.raises(QueryError) as refused:
                    curator.preview(BY_WARD, within=text)
                refusals.append(str(refused.value))
            assert refusals[0] == refusals[1]


def test_a_size_may_come_from_an_answer_that_was_released(clinic: Curator) -> None:
    """Of the same analyst, text and version; it is named, and the same question stays the same, whatever is released later."""
    with pytest.raises(QueryError, match="at a price first"):
        clinic.sql(BY_WARD, within={"cost": "10%"})
    first = clinic.sql(BY_WARD, epsilon=2)
    middle = sorted(first["cost"])[1]
    told = clinic.preview(BY_WARD, within={"cost": "10%"})
    assert any("an answer at ε = 2 told" in note and f"{middle:g}"[:3] in note for note in told.notes)
    assert dict(zip("wnac", (each.error for each in told.predicted), strict=True))["c"] == pytest.approx(
        middle / 10, rel=0.01
    )
    answer = clinic.sql(BY_WARD, within={"cost": "10%"})
    spent = clinic.spent
    clinic.sql(BY_WARD, epsilon=0.5)
    after = clinic.spent
    assert clinic.sql(f"  {BY_WARD} ;", within={"cost": "10%"}).rows == answer.rows
    again = clinic.preview(BY_WARD, within={"cost": "10%"})
    assert again.to_json() | {"free": None} == told.to_json() | {"free": None}  # what follows for nothing is nearer now
    assert clinic.spent == after and after.epsilon == spent.epsilon + F(1, 2)
    with pytest.raises(QueryError, match="at a price first"):
        clinic.preview(BY_WARD.replace("SUM", "sum"), within={"cost": "10%"})  # another text


def test_a_size_is_never_from_what_another_was_told() -> None:
    analysts = {"ana": {"epsilon": 20, "delta": 1e-6}, "bob": {"epsilon": 20, "delta": 1e-6}}
    with opened(analysts=analysts) as clinic:
        clinic.sql(BY_WARD, epsilon=2, analyst="ana")
        assert clinic.preview(BY_WARD, within={"cost": "10%"}, analyst="ana").epsilon > 0
        for analyst in ("bob", None):
            with pytest.raises(QueryError, match="at a price first"):
                clinic.preview(BY_WARD, within={"cost": "10%"}, analyst=analyst)


def sizes_are_of_what_can_be_told_from_0() -> None:
    """The middle one of the numbers that are farther from 0 than their ±; of an even number the smaller of two."""
    size = middle_size([-900, 20, None, 300, "x", 100], [50, 30, 1, 50, 1, None], "it")
    assert size is not None and (size.most, size.known_by) == (300, "the middle one of 2 that it told")
    assert middle_size([5, -7], [6, 7], "it") is None and middle_size([], [], "it") is None


def test_sizes_are_of_what_can_be_told_from_0() -> None:
    sizes_are_of_what_can_be_told_from_0()


def test_with_parameters_no_answer_tells_a_size(clinic: Curator) -> None:
    text = "SELECT SUM(cost) AS cost FROM visits WHERE age > ?"
    clinic.sql(text, [20], epsilon=5)
    with pytest.raises(QueryError, match="at a price first"):
        clinic.preview(text, [90], within="10%")


def test_people_who_were_surveyed_tell_a_size() -> None:
    with opened(people=None) as clinic:
        text = "SELECT COUNT(DISTINCT pid) AS n FROM visits"
        with pytest.raises(QueryError, match="--people N"):
            clinic.preview(text, within="10%")
        clinic.survey(5)
        assert (clinic.preview(text, within="10%").predicted[0].error or 99) <= 33


# Quotes.


def test_a_quote_is_the_previews_of_its_prices(clinic: Curator) -> None:
    prices = [0.1, F(1, 3), 3, 60]
    quote = clinic.quote(BY_WARD, epsilons=prices, confidence=0.9)
    for row, price in zip(quote, prices, strict=True):
        preview = clinic.preview(BY_WARD, epsilon=price, confidence=0.9)
        assert (row["epsilon"], row["delta"]) == (preview.epsilon, preview.delta)
        assert row["error"] == {
            each.name: each.error for each in preview.predicted if each.error is not None or each.reason
        }
    assert [row["fits"] for row in quote] == [True, True, True, False] and len(quote) == 4
    assert clinic._ledger_if_made() is None or clinic.spent.epsilon == 0
    assert clinic.table("visits").group_by("ward").agg(n=dp.count()).quote(epsilons=[1]).to_json()["quotes"]
    for shown in (str(quote), quote.to_html(), json.dumps(quote.to_json())):
        assert "60" in shown and "90" in shown


def test_a_quote_says_what_its_errors_are_of(clinic: Curator) -> None:
    mean = "SELECT AVG(age) AS age FROM visits"
    for text, more, words in (
        (mean, {}, "people, as declared"),
        (mean, {"population": True}, "the noise alone"),
        ("SELECT COUNT(*) AS age FROM visits", {"population": True}, "the noise alone"),
    ):
        quote = clinic.quote(text, epsilons=[1, 3], **more)
        assert words in quote.to_json()["assumes"]["age"] and words in str(quote) and words in quote.to_html()
        for note in (*quote.notes, *clinic.preview(text, epsilon=1, **more).notes):
            assert not note.startswith("± holds"), "what is foreseen holds the noise alone"
    assert not clinic.quote("SELECT COUNT(*) AS n FROM visits", epsilons=[1]).assumes


def test_a_quote_spends_nothing_reads_nothing_and_makes_no_ledger(tmp_path: Path) -> None:
    path, ledger = tmp_path / "visits.csv", tmp_path / "ledger"
    path.write_text("pid,ward,age,cost\n")
    with Curator({"visits": path}, "pid", COLUMNS, max_rows=2, max_groups=2, ledger=ledger, **WORD) as curator:
        path.write_text('"')  # what cannot be read
        assert [row["fits"] for row in curator.quote(BY_WARD, epsilons=[1, 51])] == [True, False]
    assert not ledger.exists()


def what_is_left_is_told(most: float = 3.0) -> None:
    """What others spent is no part of it: it would tell of them."""
    with opened(analysts={"ana": {"epsilon": 3, "delta": 1e-6}}) as clinic:
        before = clinic.quote(BY_WARD, epsilons=[2, 3.5], analyst="ana").to_json()
        clinic.sql(BY_WARD, epsilon=49)
        assert clinic.quote(BY_WARD, epsilons=[2, 3.5], analyst="ana").to_json() == before
        assert before["remaining"]["epsilon"] == most
        assert [row["fits"] for row in before["quotes"]] == [True, False]
        clinic_left = clinic.quote(BY_WARD, epsilons=[0.5, 2])
        assert [row["fits"] for row in clinic_left] == [True, False]


def test_what_fits_is_told_of_ones_own_budget_alone() -> None:
    what_is_left_is_told()


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
def test_what_fits_is_charged_and_what_does_not_is_refused(accountant: str) -> None:
    with opened(epsilon=8, accountant=accountant) as clinic:
        clinic.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
        for row in clinic.quote(BY_WARD, epsilons=[0.2, 1, 2, 7.45, 7.55, 9]):
            left = clinic.remaining
            with opened(epsilon=8, accountant=accountant) as other:
                other.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
                assert other.remaining == left
                try:
                    other.sql(BY_WARD, epsilon=row["epsilon"])
                    charged = True
                except dp.Refused:
                    charged = False
            assert charged is row["fits"]


@pytest.mark.parametrize(
    "prices", [[], [0], [-1], ["1"], [None], "1", 5, {"a": 1}, [1] * 33, [True], [float("nan")], [10**7]], ids=str
)
def test_what_is_no_list_of_prices_is_refused(clinic: Curator, prices: Any) -> None:
    with pytest.raises(DiscreetError):
        clinic.quote(BY_WARD, epsilons=prices)
    for more in ({"epsilon": 1}, {"within": 5}):
        with pytest.raises(Invalid, match="epsilons"):
            clinic.quote(BY_WARD, epsilons=[1], **more)


def test_the_command_line_quotes(file: str, clinic: Curator) -> None:
    told = run("ask", file, BY_WARD, "--quote", "0.1, 1,60", "--json")
    assert told == clinic.quote(BY_WARD, epsilons=[0.1, 1, 60]).to_json()
    assert not Path(f"{file}.ledger").exists()


def test_the_command_line_cites(file: str) -> None:
    told = run("ask", file, BY_WARD, "--epsilon", "1", "--cite", "--json")
    result = CliRunner().invoke(app, ["ask", file, BY_WARD, "--epsilon", "1", "--cite", "--confidence", "0.99"])
    assert result.exit_code == 0 and told["citation"].split(" ± is")[0] in result.stdout.replace("\n", " ")
    assert "differentially private with ε = 1" in told["citation"] and "99 of 100" in result.stdout
    assert "citation" not in run("ask", file, BY_WARD, "--epsilon", "1", "--json")
