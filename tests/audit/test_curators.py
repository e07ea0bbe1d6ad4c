"""Twins of a curator: questions and measurements on neighbours; and that an audit is no way to an answer without noise."""

import inspect
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.audit.twins import Curators, Report, ask
from discreet.curator import session
from discreet.curator.place import Folder, Memory
from discreet.curator.randomness import SECURE, Secure
from discreet.curator.session import Curator
from discreet.errors import Refused
from discreet.plan import release
from tests.rehearsed import Exactly, Rehearsed, rehearsed
from tests.scale import repeats

COUNT = "SELECT COUNT(*) AS n FROM visits"
TEXTS = (
    COUNT,
    "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward",
    "SELECT AVG(age) AS a FROM visits WHERE ward = 'A'",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 3 ORDER BY n",
    "SELECT COUNT(DISTINCT person) AS n FROM visits",
    "SELECT wrd FROM visits",
    "SELECT COUNT(*) AS n FROM nobody",
)
COLUMNS = {"age": {"type": "integer", "bounds": (0, 120)}, "ward": {"keys": ["A", "B"]}}
NOISE = dp.Geometric(10)


def curator(people: list[int], ledger: Any = ":memory:", **more: Any) -> Curator:
    """Each person has a row for each time that they occur."""
    visits = {"person": people, "age": [20 + each for each in people], "ward": ["AB"[each % 2] for each in people]}
    declared: dict[str, Any] = {"epsilon": 9, "max_rows": 2, "max_groups": 2} | more
    return Curator({"visits": visits}, "person", COLUMNS, ledger=ledger, **declared)


PEOPLE = [1, 1, 2, 3, 4, 9, 9, 9]
OTHERS = [each for each in PEOPLE if each != 9]
INSTEAD = [*OTHERS, 8, 8]


@settings(max_examples=repeats(8), deadline=None)
@given(
    people=st.lists(st.integers(0, 12), max_size=12),
    text=st.sampled_from(TEXTS),
    adjacency=st.sampled_from(["add-remove", "replace"]),
)
def test_nothing_tells_of_anybody(people: list[int], text: str, adjacency: str) -> None:
    others = [each for each in people if each != 3] + ([13, 13] if adjacency == "replace" else [])
    report = ask(curator(people, adjacency=adjacency), curator(others, adjacency=adjacency), text, epsilon=1)
    assert report.same, report
    assert report.first.status == ("QueryError" if text in TEXTS[-2:] else "answer"), report.first


def test_questions_follow_one_another_on_one_budget() -> None:
    with Curators(curator(PEOPLE, epsilon=1), curator(OTHERS, epsilon=1)) as pair:
        reports = [pair.ask(text, epsilon=0.5) for text in TEXTS[:3]]
    assert [each.same for each in reports] == [True] * 3
    assert [each.first.status for each in reports] == ["answer", "answer", "Refused"]
    assert reports[0].first.price == "ε = 1/2, δ = 0" and reports[0].draws == 1


def test_measurements_have_twins_too() -> None:
    def measured(size: int) -> Report:
        def act(each: Curator) -> Any:
            rows = each.policy.tables["visits"].data["person"]
            with each.measure(dp.privacy.events.Repeated(NOISE.event(2), 2), key="k") as grant:
                return [grant(NOISE, 2, lambda: size * min(2, rows.count(9))) for _ in range(2)]

        with Curators(curator(PEOPLE), curator(OTHERS)) as pair:
            return pair.run(act)

    assert measured(1).same and measured(1).draws == 2
    assert measured(2).differences[0].startswith("draw 1 ") and "differ by 4 in L1" in measured(2).differences[0]


def a_sum_of_all_is_logged(*arguments: Any) -> Any:
    totals = SOUND_TOTALS(*arguments)
    logging.getLogger("discreet").debug("%s", [int(each.sum()) for each in totals])
    return totals


def totals_are_doubled(*arguments: Any) -> Any:
    return tuple(3 * each for each in SOUND_TOTALS(*arguments))


def some_totals_fail(*arguments: Any) -> Any:
    totals = SOUND_TOTALS(*arguments)
    if int(totals[0].sum()) == 7:
        raise OverflowError
    return totals


SOUND_TOTALS = release.stage_totals


@pytest.mark.parametrize(
    ("planted", "told"),
    [
        (a_sum_of_all_is_logged, "log lines differ"),
        (totals_are_doubled, "in L1"),
        (some_totals_fail, "the outcome differs"),
    ],
)
@pytest.mark.parametrize("others", [OTHERS, INSTEAD[:-1]], ids=["add-remove", "replace"])
def test_a_leak_of_the_curator_is_reported(planted: Any, told: str, others: list[int]) -> None:
    adjacency = "add-remove" if others is OTHERS else "replace"
    first, second = (curator(each, adjacency=adjacency) for each in (PEOPLE, others))
    with patch.object(release, "stage_totals", planted):
        assert told in str(ask(first, second, COUNT, epsilon=1))
    assert ask(first, second, COUNT, epsilon=1).same


def test_policies_that_differ_are_told_apart() -> None:
    report = ask(curator(OTHERS), curator(OTHERS, max_rows=3), COUNT, epsilon=1)
    assert "draw 1 is" in str(report) and "the answer differs" in str(report)


def test_the_curators_that_are_handed_in_are_neither_asked_nor_charged(tmp_path: Path) -> None:
    for name, lender in (("curators", lambda each: each), ("policies", lambda each: each.policy)):
        ledgers = [tmp_path / name / each for each in ("first", "second")]
        with curator(PEOPLE, ledgers[0]) as first, curator(OTHERS, ledgers[1]) as second:
            assert ask(lender(first), lender(second), COUNT, epsilon=1).first.answered
            assert first._engine is None and not any(each.exists() for each in ledgers)
            assert first.spent.epsilon == second.spent.epsilon == 0


def test_a_policy_in_a_file_has_twins(tmp_path: Path) -> None:
    policies = []
    for name, people in (("first", PEOPLE), ("second", OTHERS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "visits.csv").write_text("person\n" + "".join(f"{each}\n" for each in people), "utf-8")
        policy = tmp_path / name / "policy.toml"
        policy.write_text(
            '[budget]\nepsilon = 1\n[unit]\ncolumn = "person"\n[tables.visits]\nsource = "visits.csv"\n', "utf-8"
        )
        policies.append(Curator.open(policy))
    assert ask(*policies, COUNT, epsilon=1).same
    assert sorted(each.name for each in tmp_path.rglob("*.*")) == ["policy.toml"] * 2 + ["visits.csv"] * 2


# An audit is no way to an answer without noise.


def another_randomness(folder: Path) -> Iterator[Any]:
    """Anything but the one and only, however it calls itself."""
    yield from (
        Rehearsed(dp.noise.Tape(1)),
        Rehearsed(dp.noise.SecureBits()),
        Rehearsed(dp.noise.SecureBits(), Exactly()),
        Secure(),
    )


def kept_ledgers_refuse_an_audit(folder: Path) -> None:
    policy = curator(PEOPLE, folder / "ledger").policy
    for randomness in another_randomness(folder):
        for place in (None, Folder(folder / "other")):
            with pytest.raises(Refused) as refusal:
                Curator.of(policy, place=place, randomness=randomness)
            assert refusal.value.code == "audit-ledger"
    assert not list(folder.iterdir())


def test_no_ledger_that_is_kept_takes_audited_draws(tmp_path: Path) -> None:
    kept_ledgers_refuse_an_audit(tmp_path)


def audited_answers_say_so() -> None:
    policy = curator(PEOPLE).policy
    for randomness in another_randomness(Path()):
        with Curator.of(policy, place=Memory(), randomness=randomness) as audited:
            answer = audited.sql(COUNT, epsilon=1)
            assert answer.receipt["private"] is False
            assert answer.notes[0].startswith("NOT PRIVATE") and any(
                "part of an audit" in note for note in answer.notes
            )
            assert audited.sql(COUNT, epsilon=1).notes == answer.notes


def test_every_answer_of_an_audit_says_so() -> None:
    audited_answers_say_so()


def test_who_asks_a_curator_has_no_say_in_its_randomness(tmp_path: Path) -> None:
    assert "randomness" not in inspect.signature(Curator).parameters
    assert "randomness" not in inspect.signature(Curator.open).parameters
    with curator(PEOPLE, tmp_path / "ledger") as usual:
        assert usual._randomness is SECURE and session.SECURE is SECURE
        assert usual.sql(COUNT, epsilon=1).receipt["private"] is True


def test_the_hand_of_an_audit_makes_the_draws_of_questions_and_of_measurements() -> None:
    """Without a hand of its own an audit would compare nothing."""
    with rehearsed(curator(OTHERS, max_rows=9), Exactly()) as exact:
        assert exact.sql(COUNT, epsilon=1).rows[0][0] == len(OTHERS)
        with exact.measure(NOISE.event(1)) as grant:
            assert grant(NOISE, 1, lambda: 5) == 5


def test_a_report_is_a_value() -> None:
    report = ask(curator(PEOPLE), curator(OTHERS), COUNT, epsilon=1)
    assert replace(report, draws=2) != report and hash(report.differences) == hash(())
