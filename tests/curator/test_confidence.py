"""Any confidence: of one release, at one price, whatever is asked first; told of kept answers as of new ones."""

import json
import shutil
import tempfile
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.answer import Answer
from discreet.answer.packed import packed, unpacked
from discreet.curator.asked import Asked
from discreet.curator.session import Curator
from discreet.errors import DiscreetError, Invalid, Refused
from discreet.plan.check import digest
from discreet.plan.measurement import checked_confidence
from tests.curator.test_formats import COUNT
from tests.curator.test_preview import ANALYSTS
from tests.curator.test_within import BY_WARD, opened
from tests.plan.asked import TABLE, questions, schemas
from tests.scale import repeats

LEVELS = (0.5, 0.8, 0.95, 0.99, 0.999)


def widths(answer: Answer) -> list[float]:
    """How wide each interval is; without end, where it has none."""
    return [
        float("inf") if span.low is None or span.high is None else float(span.high) - float(span.low)
        for row in answer.intervals
        for span in row
        if span is not None
    ]


def one_release_is_told_at_every_confidence(
    text: str, arguments: dict[str, Any], rows: dict[str, list[str]], price: Any
) -> None:
    """Whatever is asked first: the same plan, the same rows, one charge; wider at more; and what was kept is told as what was not."""
    told: dict[float, Any] = {}
    for order in (LEVELS, LEVELS[::-1]):
        with Curator(
            {TABLE: rows}, epsilon=10, delta=1e-4, ledger=":memory:", analysts=ANALYSTS, **arguments
        ) as curator:
            try:
                answers = {level: curator.sql(text, confidence=level, epsilon=price) for level in order}
            except DiscreetError as error:
                assert error.code != "confidence"
                return
            assert curator.spent.epsilon == pytest.approx(answers[0.5].epsilon)
            assert len({(answer.rows, answer.receipt["plan"]) for answer in answers.values()}) == 1
            assert [answers[level].confidence for level in LEVELS] == list(LEVELS)
            for less, more in pairwise(LEVELS):
                pairs = zip(widths(answers[less]), widths(answers[more]), strict=True)
                assert all(narrow <= wide * (1 + 1e-9) + 1e-9 for narrow, wide in pairs), (text, less, more)
            assert curator.sql(text, epsilon=price).to_bytes() == answers[0.95].to_bytes()
        told[order[0]] = answers


@settings(
    max_examples=repeats(12),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_one_release_is_told_at_every_confidence(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    rows: dict[str, list[str]] = {"person": ["1", "2"], **{name: ["1", ""] for name in schema.columns}}
    one_release_is_told_at_every_confidence(
        data.draw(questions(schema)), schema.arguments(), rows, data.draw(st.sampled_from([0.5, 5]))
    )


def a_confidence_is_told_of_the_same_release() -> None:
    with opened() as clinic:
        first = clinic.sql(BY_WARD, epsilon=1, confidence=0.99)
        spent = clinic.spent
        usual = clinic.sql(BY_WARD, epsilon=1)
        assert usual.rows == first.rows and clinic.spent == spent
        assert (usual.confidence, first.confidence) == (0.95, 0.99)
        assert all(one < other for one, other in zip(widths(usual), widths(first), strict=True))
        preview = {each.name: each.error for each in clinic.preview(BY_WARD, epsilon=1, confidence=0.99).predicted}
        assert {row["n"] for row in first.to_json()["error"]} == {preview["n"]}
        again = clinic.sql(BY_WARD, epsilon=1, confidence=0.99)
        assert again.intervals == first.intervals and "at 99 %" in str(again) and "99 %" in again.plot()["description"]
        plans = (clinic._plan(Asked(BY_WARD, epsilon=1, confidence=each)) for each in (None, 0.99, 0.5))
        assert len(set(map(digest, plans))) == 1


def test_a_confidence_is_told_of_the_same_release() -> None:
    a_confidence_is_told_of_the_same_release()


def test_another_analyst_who_shares_an_answer_has_a_confidence_of_their_own() -> None:
    analysts = {"ana": {"epsilon": 5, "delta": 1e-6}, "bob": {"epsilon": 5, "delta": 1e-6}}
    with opened(analysts=analysts) as clinic:
        clinic.policy = replace(clinic.policy, share_answers=True)
        one = clinic.sql(BY_WARD, epsilon=1, confidence=0.99, analyst="ana")
        other = clinic.sql(BY_WARD, epsilon=1, confidence=0.8, analyst="bob")
        assert one.rows == other.rows and (one.confidence, other.confidence) == (0.99, 0.8)
        assert clinic.spent.epsilon == 1


@pytest.mark.parametrize(
    "wrong", [0, 1, 95, 0.49, 0.99995, -0.9, float("nan"), float("inf"), True, "0.9", [0.9], 10**400], ids=str
)
def test_what_is_no_confidence_is_refused_before_anything_is_spent(wrong: Any) -> None:
    with opened() as clinic:
        for ask in (clinic.sql, clinic.preview, clinic.explain):
            with pytest.raises(Invalid, match="confidence"):
                ask(BY_WARD, epsilon=1, confidence=wrong)
        with pytest.raises(Invalid, match="confidence"):
            clinic.quote(BY_WARD, epsilons=[1], confidence=wrong)
        assert clinic._ledger_if_made() is None or clinic.spent.epsilon == 0
    with pytest.raises(Invalid):
        checked_confidence(wrong)


FORMATS = Path(__file__).parents[1] / "golden" / "formats"


@pytest.mark.parametrize("release", sorted(path.name for path in FORMATS.iterdir()))
def test_answers_of_earlier_releases_are_told_at_another_confidence_where_they_can_be(release: str) -> None:
    """Counts and sums have a ± that hangs on nothing released, and are told free."""
    told = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / release
        shutil.copytree(FORMATS / release, place)
        for path in (place, *place.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        expected = json.loads((place / "expected.json").read_text("utf-8"))["hospital"]["questions"]
        with Curator.open(place / "hospital.toml") as curator:
            for asked in expected:
                terms = {"epsilon": Fraction(asked["epsilon"]), "analyst": asked["analyst"]}
                terms |= {"delta": None if asked["delta"] is None else Fraction(asked["delta"]), "key": asked["key"]}
                if asked["key"] is None and asked["text"] != COUNT:
                    continue  # by its plan alone, which another release may have made otherwise
                spent = curator.spent
                usual = curator.sql(asked["text"], asked["params"], **terms)
                assert curator.spent == spent
                other = curator.sql(asked["text"], asked["params"], confidence=0.99, **terms)
                assert other.rows == usual.rows and other.confidence == 0.99
                assert all(one <= two for one, two in zip(widths(usual), widths(other), strict=True))
                told += 1
                assert curator.spent == spent
    assert told > 3


def kept_before_is_told_or_refused() -> None:
    """An answer in the first format: what hangs on released numbers is refused at another confidence, and told at its own."""
    totals = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ward"
    with opened() as clinic:
        for text, is_told in ((totals, True), (BY_WARD, False), (totals + " ORDER BY n DESC LIMIT 2", True)):
            answer, plan = clinic.sql(text, epsilon=1), clinic._plan(Asked(text, epsilon=1))
            before = Answer.from_bytes(replace(answer, _released=None).to_bytes())
            assert b'"format":1' in before.to_bytes() and before.at(plan, 0.95) == before
            if is_told:
                assert before.at(plan, 0.99).intervals == answer.at(plan, 0.99).intervals
                continue
            with pytest.raises(Refused, match="earlier release"):
                before.at(plan, 0.99)


def test_what_was_kept_before_is_told_or_refused() -> None:
    kept_before_is_told_or_refused()


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=4))
def test_what_is_packed_is_unpacked(numbers: list[list[int]]) -> None:
    kept = packed(numbers)
    assert [each.tolist() for each in unpacked(kept)] == numbers
    for text in ("", "<i4", "<i3:AAAA", "<i4:AAA", "<i4:é", "<f8:AAAAAAAAAAA="):
        with pytest.raises((Invalid, ValueError)):
            unpacked((text,))
