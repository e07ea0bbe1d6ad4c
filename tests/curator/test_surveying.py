"""Surveys of a curator: charged once and kept, for everybody or for one analyst alone, by version, and found again."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Curator
from discreet.audit.twins import Curators
from discreet.curator.facts import Known, key_of
from discreet.curator.survey.record import SurveyFacts
from discreet.curator.surveying import Surveyor
from discreet.errors import Fault, Invalid, Refused

PEOPLE = 60
WARDS = ["A", "B", "C"]
F = Fraction


def visits(people: int = PEOPLE, skipped: int | None = None) -> dict[str, list[Any]]:
    rows = [
        (f"p{i}", WARDS[(i + j) % 3], str(20 + i % 50)) for i in range(people) if i != skipped for j in range(1 + i % 3)
    ]
    return dict(zip(("who", "ward", "age"), map(list, zip(*rows, strict=True)), strict=True))


def curator(folder: Path | str, data: dict[str, list[Any]] | None = None, **more: Any) -> Curator:
    analysts = {"ana": {"epsilon": 400, "delta": F(1, 20)}, "bob": {"epsilon": 400}}
    declared: dict[str, Any] = {"epsilon": 900, "delta": F(1, 10), "analysts": analysts} | more
    return Curator({"visits": data or visits()}, "who", ledger=folder, **declared)


def test_a_survey_is_charged_once_and_the_same_one_again_is_free(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        first = hospital.survey(200, F(1, 100))
        assert (hospital.spent.epsilon, hospital.spent.delta) == (200, F(1, 100))
        assert hospital.survey(200, F(1, 100)) == first and hospital.spent.epsilon == 200
        other = hospital.survey(100, F(1, 100), columns=["ward"])
        assert other.number == 2 and hospital.spent.epsilon == 300 and other.left_out == ("age",)
    with curator(tmp_path) as again:
        assert again.survey(200, F(1, 100)) == first and again.spent.epsilon == 300
        assert again.surveyed().surveys == (first, other)
        assert "survey of visits (ward, age)" in [line.what for line in again.history()]
        again.verify()


def test_a_survey_where_all_is_declared_tells_of_people_and_rows(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"ward": {"keys": WARDS}, "age": {"type": "integer", "bounds": (0, 120)}}
    ids = {"who": {"keys": [f"p{i}" for i in range(PEOPLE)]}}
    for unit, declared, people in (("who", columns, PEOPLE), (None, columns | ids, 2 * PEOPLE)):
        for delta in (F(0), F(1, 100)):
            place = tmp_path / f"{unit}{bool(delta)}"
            with Curator(
                {"visits": visits()}, unit, declared, row=unit is None, epsilon=900, delta=F(1, 10), ledger=place
            ) as hospital:
                facts = hospital.survey(400, delta)
                assert not facts.columns and abs(facts.people.value - people) < 5


def test_facts_come_back_from_their_bytes_and_their_json(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital:
        facts = hospital.survey(400, F(1, 100))
    assert SurveyFacts.from_bytes(facts.to_bytes()) == facts == SurveyFacts.read(facts.to_json())
    assert facts.column("WARD") is facts.columns[0] and facts.column("who") is None
    with pytest.raises(Invalid, match="newer"):
        SurveyFacts.read(facts.as_data() | {"format": 2})


def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A survey that ends when it is to be settled."""
    with curator(tmp_path) as hospital, monkeypatch.context() as patch:

        def end(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(type(hospital._store), "settle", end)
        with pytest.raises(KeyboardInterrupt):
            hospital.survey(200, F(1, 100))
        assert hospital.spent.epsilon == 200 and hospital.surveyed().surveys == ()


def test_a_survey_that_was_killed_is_taken_again_at_no_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(tmp_path, monkeypatch)
    with curator(tmp_path) as hospital:
        facts = hospital.survey(200, F(1, 100))
        assert hospital.spent.epsilon == 200 and facts.number == 1
        assert hospital.surveyed().surveys == (facts,)


def test_a_survey_that_fails_says_nothing_and_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with curator(tmp_path) as hospital:
        hospital.load()

        def fails(*_: object) -> None:
            raise ValueError("p7 is ill")

        with monkeypatch.context() as patch:
            patch.setattr("discreet.curator.survey.per_person.rows_per_person", fails)
            with pytest.raises(Fault) as caught:
                hospital.survey(200, F(1, 100))
        assert caught.value.code == "failed" and caught.value.__cause__ is None and "p7" not in str(caught.value)
        assert hospital.spent.epsilon == 200
        with pytest.raises(Refused):
            hospital.survey(200, F(1, 100))
        assert hospital.survey(201, F(1, 100)).number == 2  # a number that failed hides none that came later
        assert [each.number for each in hospital.surveyed().surveys] == [2]


def analysts_keep_their_own(folder: Path | str) -> None:
    with curator(folder) as hospital:
        common = hospital.survey(100, F(1, 100))
        own = hospital.survey(100, F(1, 100), analyst="ana")
        assert own.analyst == "ana" and common.analyst is None and own != common
        assert hospital.analysts["ana"].spent.epsilon == 100 and hospital.spent.epsilon == 200
        assert hospital.surveyed().surveys == (common,) == hospital.surveyed("bob").surveys
        assert hospital.surveyed("ana").surveys == (common, own) and hospital.surveyed("ana").common().surveys == (
            common,
        )
        fact = hospital.surveyed("ana").column("VISITS", "Ward")
        assert fact is not None and fact.survey == own
        assert hospital.survey(100, F(1, 100), analyst="ana") == own and hospital.spent.epsilon == 200
        with pytest.raises(Refused):
            hospital.survey(100, F(1, 100), analyst="nobody")


def test_the_delta_of_a_survey_is_within_what_whoever_asks_has() -> None:
    analysts = {"some": {"epsilon": 9, "delta": F(1, 2 * 10**7)}, "none": {"epsilon": 9}}
    with curator(":memory:", delta=F(1, 1000), analysts=analysts) as hospital:
        found = [hospital.survey(1, analyst=analyst).delta for analyst in (None, "some", "none")]
        assert found == [1e-7, float(F(1, 2 * 10**7)), 0]


def test_the_facts_of_an_analyst_are_theirs_alone(tmp_path: Path) -> None:
    analysts_keep_their_own(tmp_path)


def facts_are_of_a_version(folder: Path | str) -> None:
    with curator(folder) as hospital:
        old = hospital.survey(100, F(1, 100))
        assert hospital.data_changed() == "2"
        fact = hospital.surveyed().column("visits", "ward")
        assert fact is not None and (fact.survey, fact.current) == (old, False)
        new = hospital.survey(100, F(1, 100))
        assert (new.version, hospital.spent.epsilon) == ("2", 200)
        fact = hospital.surveyed().column("visits", "ward")
        assert fact is not None and (fact.survey, fact.current) == (new, True)
        assert hospital.surveyed().table("visits") == new
        before = Known(hospital.surveyed().surveys, "1")
        found = before.column("visits", "ward")
        assert found is not None and (found.survey, found.current) == (old, True)
        assert before.column("visits", "who") is None and before.table("others") is None


def test_facts_are_of_a_version(tmp_path: Path) -> None:
    facts_are_of_a_version(tmp_path)


def test_a_preview_reads_and_makes_nothing_and_tells_what_a_survey_costs(tmp_path: Path) -> None:
    with curator(tmp_path / "ledger") as hospital:
        hospital.policy.tables["visits"].data["who"] = None  # whoever reads it fails
        coming = hospital.survey_preview(2, F(1, 10**7))
        assert hospital.surveyed().surveys == () and not (tmp_path / "ledger").exists()
    data = coming.to_json()
    assert data["columns"] == ["ward", "age"] and data["epsilon"] == 2 and data["people_to_find_a_key"] > 50
    assert str(coming.shared_key) in str(coming) and "Nothing was read or spent" in str(coming)


def only_a_few_columns_without_delta() -> None:
    data = {"who": ["a", "b"]} | {f"c{i}": ["1", "2"] for i in range(6)}
    with Curator({"visits": data}, "who", epsilon=9, ledger=":memory:") as hospital:
        with pytest.raises(Invalid, match="at most 5 columns"):
            hospital.survey(1)
        facts = hospital.survey(1, columns=[f"c{i}" for i in range(5)])
        assert facts.delta == 0 and all(column.counted is None for column in facts.columns)
        assert hospital.spent.delta == 0 and hospital.spent.epsilon == 1
        with pytest.raises(Invalid):
            hospital.survey(1, columns="c1")
        with pytest.raises(Invalid):
            hospital.survey(0)


def test_without_a_delta_there_are_no_keys_and_only_a_few_columns() -> None:
    only_a_few_columns_without_delta()


def test_what_is_declared_is_not_surveyed() -> None:
    more = {"epsilon": 9, "delta": F(1, 1000), "ledger": ":memory:"}
    with Curator({"visits": visits()}, "who", {"ward": {"keys": ["A"]}}, **more) as hospital:
        facts = hospital.survey(1)
        assert [column.name for column in facts.columns] == ["age"] and facts.left_out == ("ward",)
        with pytest.raises(Invalid, match="declared"):
            hospital.survey(1, columns=["ward"])


@pytest.mark.parametrize("accountant", ["pure", "zcdp"])
@pytest.mark.parametrize("row", [False, True])
def test_every_accountant_and_unit_is_charged(accountant: str, row: bool) -> None:
    unit: dict[str, Any] = {"row": True} if row else {"unit": "who"}
    with Curator(
        {"t": visits()}, **unit, epsilon=9, delta=F(1, 1000), accountant=accountant, ledger=":memory:"
    ) as hospital:
        facts = hospital.survey(2, F(1, 10**6))
        assert (facts.per_person is None) is row and (facts.rows is None) is row
        assert hospital.spent.epsilon == 2 if accountant == "pure" else 0 < (hospital.spent.rho or 0) < 2
        hospital.verify()
        assert str(facts) and facts.to_html()


def twins_survey_alike() -> None:
    """By whole curators, their prices and ledgers: one person less, or another one."""
    for adjacency, skipped in (("add-remove", 7), ("replace", None)):
        other = visits(skipped=skipped)
        if skipped is None:
            other["ward"][3:6], other["age"][3:6] = ["X", "Y", "Z"], ["oops", "1e9", "-4"]
        first, second = (curator(":memory:", data, adjacency=adjacency) for data in (visits(), other))
        with Curators(first, second) as pair:
            acts: list[Callable[[Curator], Any]] = [
                lambda hospital: hospital.survey(300, F(1, 100)),
                lambda hospital: hospital.survey(300, F(1, 100)),
                lambda hospital: hospital.survey(2, F(1, 10**6), columns=["age"], analyst="ana"),
                lambda hospital: hospital.survey(5, 0, analyst="bob"),
                lambda hospital: str(hospital.describe("ana")),
            ]
            for act in acts:
                report = pair.run(act)
                assert report.same, report


def test_twins_survey_alike() -> None:
    twins_survey_alike()


def test_two_that_survey_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    with curator(tmp_path) as hospital, curator(tmp_path) as other:
        named = hospital._store.named

        def slow(key: str, analyst: str | None = None) -> Any:
            """Nothing has this number yet; and then somebody takes it."""
            found = named(key, analyst)
            if key == key_of(1) and found is None:
                other.survey(50, F(1, 100))
            return found

        hospital._store.named = slow  # type: ignore[method-assign]
        assert hospital.survey(60, F(1, 100)).number == 2
        assert [each.epsilon for each in other.surveyed().surveys] == [50, 60]


def test_what_was_surveyed_is_described() -> None:
    with curator(":memory:") as hospital:
        assert "surveyed" not in str(hospital.describe()) and "ward" not in str(hospital.describe("ana"))
        hospital.survey(300, F(1, 100))
        for analyst in (None, "ana"):
            text = str(hospital.describe(analyst))
            assert "surveyed on version 1: text, " in text and "people 60" in text
            assert len(hospital.describe(analyst).as_data()["surveys"]) == 1
        hospital.data_changed()
        assert "survey them again" in str(hospital.describe())


def keys_are_escaped() -> None:
    data = {"who": [f"p{i}" for i in range(99)], "word": ["<script>alert(1)</script>"] * 99}
    with Curator({"<b>t": data}, "who", epsilon=900, delta=F(1, 10), ledger=":memory:") as hospital:
        facts = hospital.survey(500, F(1, 100))
    assert facts.columns[0].keys == ("<script>alert(1)</script>",)
    page = facts.to_html()
    assert "<script" not in page and "&lt;script&gt;" in page and "<b>t" not in page
    assert "http" not in page and "url(" not in page and "src=" not in page and "@import" not in page
    assert page.startswith("<!doctype html>") and "<svg" in page


def test_a_page_fetches_nothing_and_runs_nothing() -> None:
    keys_are_escaped()


def test_every_name_of_the_mixin_is_the_curators() -> None:
    assert issubclass(Curator, Surveyor)
    assert not getattr(Curator, "__abstractmethods__", None)
