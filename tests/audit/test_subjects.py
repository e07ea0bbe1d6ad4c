"""The registry of subjects: everything public is in it, each holds out against its own claim, and what is broken does not."""

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import inf
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

import discreet as dp
from discreet.audit import subjects
from discreet.audit.declared import neighbours, questions
from discreet.audit.examination import examine
from discreet.audit.subjects import Provider, Subject
from discreet.curator.catalog import catalog_of
from discreet.curator.policy import Policy
from discreet.mechanisms import AboveThreshold, Mechanism, registry
from discreet.plan import steps
from discreet.plan.private import plan_for
from discreet.plan.releases.base import registry as releases
from discreet.plan.sql import question
from discreet.plan.steps.base import Step
from tests.scale import repeats

SLOW = {"Client", "OnlineSession", "Quantiles", "QuantileEnds", "QuantileIntervals", "Sampled"}
PROVIDERS = tuple(subjects._PROVIDERS)


@cache
def told_by(provider: Provider) -> list[Subject]:
    """The subjects of a provider, whose twins have been asked: once, and only where they are needed."""
    return provider()


def every() -> list[Subject]:
    return [subject for provider in PROVIDERS for subject in told_by(provider)]


@pytest.fixture(autouse=True)
def _asked_once() -> Iterator[None]:
    with mock.patch.object(subjects, "_PROVIDERS", [partial(told_by, provider) for provider in PROVIDERS]):
        yield


def public_mechanisms(space: Any, seen: set[int]) -> Iterator[type[Mechanism]]:
    """Every class of mechanisms that a public name leads to."""
    if id(space) in seen:
        return
    seen.add(id(space))
    for name in dir(space):
        found = getattr(space, name, None)
        if isinstance(found, type) and issubclass(found, Mechanism) and not inspect.isabstract(found):
            yield found
        elif isinstance(found, ModuleType) and found.__name__.startswith("discreet.mechanisms"):
            yield from public_mechanisms(found, seen)


def missing() -> list[str]:
    """Public mechanisms that no subject is about."""
    kinds = {each.kind for each in subjects.every()}
    seen: set[int] = set()
    public = {each for space in (dp, dp.mechanisms) for each in public_mechanisms(space, seen)}
    return sorted(each.__name__ for each in public if each.__name__ not in kinds)


def without(kind: str) -> list[Subject]:
    return [each for each in every() if each.kind != kind]


def test_every_public_mechanism_is_audited() -> None:
    assert missing() == []


def test_a_public_mechanism_that_is_not_audited_is_named() -> None:
    with mock.patch.object(subjects, "_PROVIDERS", [lambda: without("OptimalKeys")]):
        assert missing() == ["OptimalKeys"]
    with mock.patch.object(subjects, "_PROVIDERS", [lambda: without("Laplace")]):
        assert missing() == ["Laplace"]


def test_every_registered_mechanism_and_release_is_audited() -> None:
    kinds = {each.kind for each in every()}
    assert set(registry.names()) <= kinds
    assert set(releases.names()) <= kinds
    assert {each.part for each in every()} == {
        "mechanism",
        "keys",
        "local",
        "release",
        "session",
        "step",
        "survey",
        "table",
        "found keys",
        "training",
        "weights",
    }


UNASKED = {"Branching"}
"""Kinds of steps that no question has: audited by the joint law of plans that are made by hand."""


def steps_without_a_subject() -> list[str]:
    """Kinds of steps that no subject is about."""
    for module in iter_modules(steps.__path__, steps.__name__ + "."):
        importlib.import_module(module.name)
    kinds = {each.kind for each in subjects.every() if each.part == "step"}
    return sorted({each.__name__ for each in Step.__subclasses__() if _of_the_package(each)} - kinds - UNASKED)


def _of_the_package(kind: type) -> bool:
    return kind.__module__.startswith(steps.__name__)


def test_every_kind_of_step_is_audited() -> None:
    assert steps_without_a_subject() == []


def test_a_kind_of_step_that_is_not_audited_is_named() -> None:
    for kind in subjects.STEPS:
        with mock.patch.object(subjects, "_PROVIDERS", [partial(without, kind)]):
            assert steps_without_a_subject() == [kind]


def questions_of_steps_have_them() -> None:
    """Each question that stands for a kind of step has one, and on made-up neighbours its search is given what differs."""
    catalog, _ = catalog_of(subjects.undeclared())
    for kind, texts in subjects.STEPS.items():
        for text in texts:
            plan = next(plan_for(question(text, catalog), catalog, 1).examples())
            assert kind in {type(step).__name__ for step, _ in plan.steps}, text
    for subject in every():
        if subject.kind in subjects.STEPS:
            assert any(x != y for x, y in subject.neighbours) and not subject.differences
            assert all(isinstance(mechanism, AboveThreshold) for (mechanism, _), *_ in sum(subject.neighbours, ()))


def test_questions_of_steps_have_them() -> None:
    questions_of_steps_have_them()


def answers_of_a_search_are_in_full() -> None:
    """As many as there are scores, and no two answers become one."""
    scores = [-9, -1, 0, 0, 3]
    for hits in (1, 2, 3):
        mechanism = AboveThreshold(Fraction(1), 0, hits)
        table = subjects.noisy([(mechanism, scores)], 50)
        assert {len(row) for row in table} == {len(scores)} and {list(row).count(1) for row in table} <= {
            *range(hits + 1)
        }
        assert len({tuple(row) for row in table}) > hits
    assert subjects.noisy([(AboveThreshold(Fraction(10**4), 0), scores)], 1)[0] == [0, 0, 1, -1, -1]


def test_answers_of_a_search_are_in_full() -> None:
    answers_of_a_search_are_in_full()


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.__name__)
def test_every_subject_holds_out(provider: Provider) -> None:
    for subject in told_by(provider):
        assert subject.epsilon < inf
        for _ in range(repeats(1)):
            finding = subject.audit(500 if subject.kind in SLOW else 4_000)
            assert not finding.fails, (subject.name, finding.verdict)
            assert finding.verdict == "holds out", subject.name


def test_what_lands_later_registers_itself() -> None:
    extra = replace(told_by(PROVIDERS[0])[0], kind="Later", name="a thing of tomorrow")
    with mock.patch.object(subjects, "_PROVIDERS", list(subjects._PROVIDERS)):

        @subjects.add
        def of_tomorrow() -> list[Subject]:
            return [extra]

        assert extra in subjects.every()
    assert extra not in subjects.every()


def lying(mechanism: Mechanism, **change: float) -> Subject:
    """A subject that claims a part of what it costs."""
    subject = next(each for each in told_by(PROVIDERS[0]) if each.mechanism == mechanism)
    return replace(subject, **change)


def test_a_claim_that_is_too_small_fails_with_its_evidence() -> None:
    finding = lying(dp.Geometric(Fraction(1, 2)), epsilon=2.0).audit(20_000)
    assert finding.fails and finding.bound > 2
    assert finding.verdict.startswith("FAILS: the output")
    assert finding.as_data()["fails"] and finding.as_data()["certified"] == float(finding.bound)


def test_claims_are_those_of_the_mechanism_itself() -> None:
    assert subjects.claim(dp.Geometric(10), 1) == (0.1, 0)
    epsilon, delta = subjects.claim(dp.Gaussian(10), 1)
    assert delta == 1e-6 and epsilon == dp.Gaussian(10).loss(1).epsilon(1e-6)
    assert subjects.claim(dp.mechanisms.keys.OptimalKeys(1, 0.5), 1) == (inf, 0.1)


def made_policy(**caps: Any) -> Policy:
    columns = {
        "age": {"type": "integer", "bounds": (0, 120)},
        "ward": {"keys": ["A", "B"]},
        "born": {"type": "date", "format": "%d.%m.%Y"},
        "sane": {"type": "boolean"},
        "cost": {"bounds": (0, 10), "nullable": False},
    }
    source = {"visits": Path("nowhere", "visits.csv")}
    return Policy.declare(source, None if caps.get("row") else "person", columns, epsilon=1, ledger=":memory:", **caps)


CAPS: list[dict[str, Any]] = [
    {},
    {"row": True},
    {"adjacency": "replace"},
    {"max_rows": 1, "max_groups": 1},
    {"max_total": 3},
    {"max_total": 3, "adjacency": "replace"},
]


@pytest.mark.parametrize("caps", CAPS, ids=str)
def test_made_up_tables_are_neighbours(caps: dict[str, Any]) -> None:
    """They differ in the rows of one person, or of one and another; the second table ends with theirs."""
    policy = made_policy(**caps)
    for seed in range(repeats(6)):
        first, second = (
            list(zip(*each.tables["visits"].data.values(), strict=True)) for each in neighbours(policy, seed)
        )
        common = 0
        while common < min(len(first), len(second)) and first[common] == second[common]:
            common += 1
        assert len(second) > common
        if policy.protected.person is None:
            assert len(second) - common == 1 and len(first) - common == (caps.get("adjacency") == "replace")
        else:
            at = list(neighbours(policy, seed)[1].tables["visits"].data).index("person")
            assert len({row[at] for row in second[common:]}) == 1
            assert len({row[at] for row in first[common:]}) == (caps.get("adjacency") == "replace")
            assert {row[at] for row in first[common:]}.isdisjoint(row[at] for row in second)


def searched(subject: Subject) -> bool:
    """Whether a question found a limit, on made-up data."""
    return any(
        isinstance(mechanism, dp.AboveThreshold)
        for side in subject.neighbours
        for given in side
        for mechanism, _ in given
    )


@pytest.mark.parametrize("caps", CAPS[1:], ids=str)
def test_questions_of_a_policy_hold_out_and_its_data_are_not_there_at_all(caps: dict[str, Any]) -> None:
    """Limits are found where none are declared: then a search is among what is sampled, and only then."""
    policy = made_policy(**caps)
    found = subjects.of_policy(policy, questions(policy)[:8], pairs=1)
    assert [each.differences for each in found] == [()] * 8
    declared = bool({"row", "max_rows", "max_total"} & caps.keys())
    assert any(searched(each) for each in found) is not declared
    assert not any(each.audit(1_000).fails for each in found)


@pytest.mark.parametrize(
    "policy",
    [
        Policy.declare({"t": "t.csv"}, row=True, epsilon=1),
        Policy.declare({"t": "t.csv"}, "who", {"WHO": {"type": "integer"}}, epsilon=1),
        Policy.declare({"t": "t.csv"}, "who", {"v": {"bounds": (0, 1)}}, epsilon=1, delta=1e-6, accountant="zcdp"),
        Policy.declare({"t": "t.csv", "u": "u.csv"}, "who", {"t": {"v": {"bounds": (-5, 5)}}}, epsilon=1),
    ],
    ids=["rows", "spelt otherwise", "zcdp", "two tables"],
)
def test_every_kind_of_policy_can_be_audited(policy: Policy) -> None:
    found = subjects.of_policy(policy, pairs=3)
    assert found and [each.differences for each in found] == [()] * len(found)
    assert not any(each.audit(1_000).fails for each in found)


def test_the_length_of_a_person_is_tried_to_the_limit() -> None:
    """Somebody has more rows than count, so that a count that forgets the limit is told."""
    policy = made_policy(max_rows=2)
    _, second = neighbours(policy, 0)
    people = second.tables["visits"].data["person"]
    assert people.count(people[-1]) > 2


def test_questions_stay_within_the_limits_of_the_policy() -> None:
    """Somebody with more rows, in more groups and with larger values than count moves nothing by more than is paid for."""
    asked = ["SELECT COUNT(*) AS n FROM visits", "SELECT ward, SUM(age) AS s FROM visits GROUP BY ward"]
    for limit in (1, 2):
        found = subjects.of_policy(made_policy(max_rows=limit, max_groups=limit), asked)
        assert [each.differences for each in found] == [(), ()]


def test_a_question_that_cannot_be_answered_is_told() -> None:
    (found,) = subjects.of_policy(made_policy(), ["SELECT MAX(age) FROM visits"], pairs=1)
    assert [each.partition(": ")[0] for each in found.differences] == ["it is not answered"]
    assert found.audit(200).fails
    with mock.patch.object(subjects, "questions", lambda policy: ["SELECT MAX(age) FROM visits"]):
        assert subjects.of_policy(made_policy(), pairs=1) == []


def test_names_that_others_wrote_stay_on_their_line() -> None:
    found = examine(samples=200, subjects=[replace(told_by(PROVIDERS[0])[0], name="SELECT\nFORGED\x1b[2J\u2028FORGED")])
    assert len(str(found).splitlines()) == 4 and "\x1b" not in str(found) and "\x1b" not in found.to_svg()


def test_what_is_sampled_of_a_question_is_what_its_mechanisms_were_given() -> None:
    given = ((dp.Geometric(1), np.array([5, 7])), (dp.Exponential(1), [0, 900]))
    rows = np.array(subjects.noisy(given, 2_000))
    assert rows.shape == (2_000, 3) and abs(rows[:, :2].mean(axis=0) - [5, 7]).max() < 0.5 and (rows[:, 2] == 1).all()
    assert subjects.noisy(((dp.Geometric(1), 5),), 10).shape == (10,)
    search = dp.AboveThreshold(
        100, -1, monotone=True
    )  # it ends with its first hit, and is as wide as its scores all the same
    assert subjects.noisy(((search, [-90, -90, 90, -90]),), 3) == [[0, 0, 1, -1]] * 3
    assert subjects.noisy((), 3) == [(), (), ()]


def test_an_examination_is_a_table_and_a_picture() -> None:
    some = [lying(dp.Geometric(10)), lying(dp.Geometric(Fraction(1, 2)), epsilon=1.0)]
    steps: list[tuple[int, int, str]] = []
    found = examine(samples=5_000, subjects=some, step=lambda *each: steps.append(each))
    assert [each[:2] for each in steps] == [(0, 2), (1, 2)]
    assert [each.fails for each in found.findings] == [False, True] and len(found.fails) == 1
    text = str(found).splitlines()
    assert text[0].split() == ["part", "what", "claimed", "ε", "δ", "certified", "verdict"]
    assert "holds out" in text[1] and "FAILS" in text[2] and "1 FAILS" in text[-1] and "not proven" in text[-1]
    assert [each["fails"] for each in found.as_data()] == [False, True]
    picture = found.to_svg()
    assert picture.startswith("<svg ") and picture.endswith("</svg>")
    assert picture.count("<rect") == 2 and "Geometric(scale=10)" in picture and picture.count(" FAILS") == 1


def test_questions_with_policy_are_sampled_evenly_and_time_is_kept() -> None:
    wide = made_policy()
    found = examine(wide, samples=300, seconds=0.5, subjects=[])
    assert 10 <= len(found.findings) <= 24 and not found.fails
    assert {each.part for each in found.findings} == {"question"}
