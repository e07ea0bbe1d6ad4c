"""Whatever this package is audited for: every mechanism, every rule for keys, every kind of release; and questions of a policy.

Each registers itself, or is found in the registry of its part, with neighbours and with the loss that it claims. What lands later adds a
function that tells its subjects: `@subjects.add`. A test names every public mechanism that none of them is about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite
from typing import Any, TypeAlias

from discreet.audit.declared import neighbours, questions
from discreet.audit.learned import of_histograms, of_margins, of_models, of_sessions
from discreet.audit.reported import of_reports
from discreet.audit.subject import PRICE, Finding, FlatKeys, Subject, given_in, noisy
from discreet.audit.trained import of_training
from discreet.audit.twins.curators import Curators
from discreet.audit.twins.report import Report
from discreet.curator.planning import DEFAULT_DELTA
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.mechanisms import Geometric, keys
from discreet.mechanisms.base import Example, Mechanism
from discreet.mechanisms.base import registry as mechanisms
from discreet.plan.releases.base import registry as releases
from discreet.privacy.adjacency import cells_moved

__all__ = ["Finding", "Subject", "add", "every", "of_policy"]

# The δ at which a claim is tried: the first at which there is an ε.
DELTAS = (0.0, 1e-6, 1e-3, 0.02, 0.1)
# How many pairs of neighbours a release is tried on.
SURVEY_DELTA = 1e-6
# The δ of questions whose keys are found: so large that some are.
FOUND_DELTA = 0.02
PAIRS = 3
# Questions of a policy that are tried: evenly, of all that its declarations allow.
MOST_QUESTIONS = 24
Provider: TypeAlias = "Callable[[], list[Subject]]"


_PROVIDERS: list[Provider] = []


def add(provider: Provider) -> Provider:
    """A decorator: what the function tells is audited from now on."""
    _PROVIDERS.append(provider)
    return provider


def every() -> list[Subject]:
    """All subjects, in the order of their parts."""
    return [subject for provider in _PROVIDERS for subject in provider()]


@add
def of_mechanisms() -> list[Subject]:
    """Every example of every registered mechanism; rules for keys are a part of their own."""
    return [_of_example(example) for name in mechanisms.names() for example in mechanisms.examples(name)]


def _of_example(example: Example) -> Subject:
    kind = type(example.mechanism).__name__
    part = "keys" if kind in dir(keys) else "mechanism"
    epsilon, delta = claim(example.mechanism, example.sensitivity)
    run: Callable[..., Any] = example.mechanism
    if part == "keys":
        run = FlatKeys(example.mechanism)
    return Subject(part, kind, repr(example.mechanism), epsilon, delta, run, ((example.x, example.y),))


def claim(mechanism: Mechanism, sensitivity: Any) -> tuple[float, float]:
    """(ε, δ) that a mechanism claims by its own loss."""
    loss = mechanism.loss(sensitivity)
    for delta in DELTAS:
        if isfinite(epsilon := loss.epsilon(delta)):
            return epsilon, delta
    return inf, DELTAS[-1]


@add
def of_named_keys() -> list[Subject]:
    """The rule for keys that come by name, as a survey has them: one person more has a key alone, or is in as many as count."""
    trials = (
        (keys.NamedKeys(3, 17), {"A": 30}, {"A": 30, "B": 1}),
        (keys.NamedKeys(2, 9, 2), {"A": 3, "B": 7}, {"A": 4, "B": 7, "C": 1}),
        (keys.NamedKeys(3, 12, 3), {"A": 20, "B": 11}, {"A": 21, "B": 12, "C": 1}),
    )
    return [
        Subject(
            "keys", "NamedKeys", repr(rule), *claim(rule, 1), _ByName(rule, tuple(sorted(second))), ((first, second),)
        )
        for rule, first, second in trials
    ]


@dataclass(frozen=True, slots=True)
class _ByName:
    """A rule for keys by name, whose counts are one list of numbers: 0, which is below its threshold, where a key is not kept."""

    mechanism: keys.NamedKeys
    names: tuple[str, ...]

    def __call__(self, exact: Any) -> list[int]:
        kept = self.mechanism(exact)
        return [kept.get(name, 0) for name in self.names]


def _made_up(release: str) -> tuple[str, ...]:
    """Questions for a SQL function that asks for a release: alone, and by group."""
    kind = releases.named(release)
    argument = "*" if release == "COUNT" else "value > 5" if kind is not None and kind.of_truths else "value"
    asked = f"{release}({argument})" if kind is None else kind.example(release, argument, "value + amount")
    calls = [asked, *(["COUNT(DISTINCT person)"] if release == "COUNT" else [])]
    return (
        *(f"SELECT {call} AS a FROM people" for call in calls),
        f"SELECT ward, {calls[0]} AS a FROM people GROUP BY ward",
    )


@add
def of_releases() -> list[Subject]:
    """Every kind of release, asked of a made-up table."""
    return list(_of_releases(tuple(releases.names())))


@lru_cache(maxsize=4)
def _of_releases(names: tuple[str, ...]) -> tuple[Subject, ...]:
    """The subjects of these releases: their twins have been asked, which takes a while, and need not be again."""
    columns = {
        "value": {"type": "integer", "bounds": (0, 10)},
        "amount": {"bounds": (0, 1)},
        "ward": {"keys": ["A", "B"]},
    }
    empty: dict[str, Any] = {"people": {"person": [], "value": [], "amount": [], "ward": []}}
    policy = Policy.declare(empty, "person", columns, epsilon=1, ledger=":memory:", max_rows=2, max_groups=2)
    return tuple(
        subject for release in names for subject in of_policy(policy, _made_up(release), part="release", kind=release)
    )


@add
def of_surveys() -> list[Subject]:
    """A survey of made-up people, with and without one who has many rows: twins of it, and its first stage, which all else hangs on."""
    rows = [(f"p{i}", "AB"[i % 2], str(20 + i)) for i in range(40)]
    more = [*rows, *(("q", f"own {i}", "none" if i % 2 else "1e9") for i in range(12))]
    pair = [
        Policy.declare(
            {"people": dict(zip(("person", "ward", "age"), map(list, zip(*each, strict=True)), strict=True))},
            "person",
            epsilon=PRICE,
            delta=SURVEY_DELTA,
            ledger=":memory:",
        )
        for each in (rows, more)
    ]
    with Curators(*pair) as curators:
        report = curators.run(lambda curator: curator.survey(PRICE, SURVEY_DELTA))
    refused = () if report.first.answered else (f"it is not answered: {report.first.body}",)
    (first, second) = (given[:1] for given in given_in(report))
    differences = (*report.differences, *refused)
    name = "survey of people"
    return [
        Subject(
            "survey", "survey", name, PRICE, SURVEY_DELTA, noisy, ((first, second),), many=True, differences=differences
        )
    ]


@add
def of_tables() -> list[Subject]:
    """All cells of a table of made-up people, with noise, with and without one who has many rows, each in another cell."""
    rows = [(f"p{i}", "AB"[i % 2], i % 4) for i in range(12)]
    more = [*rows, *(("q", "ABC"[i % 3], i % 5) for i in range(12))]
    columns = {"ward": {"keys": ["A", "B"]}, "level": {"type": "integer", "bounds": (0, 3)}}
    pair = [
        Policy.declare(
            {"people": dict(zip(("person", "ward", "level"), map(list, zip(*each, strict=True)), strict=True))},
            "person",
            columns,
            epsilon=PRICE,
            ledger=":memory:",
        )
        for each in (rows, more)
    ]
    with Curators(*pair) as curators:
        report = curators.run(_noisy_cells)
    refused = () if report.first.answered else (f"it is not answered: {report.first.body}",)
    differences = (*report.differences, *refused)
    return [
        Subject(
            "table",
            "table",
            "cells of people",
            PRICE,
            0.0,
            noisy,
            (given_in(report),),
            many=True,
            differences=differences,
        )
    ]


def _noisy_cells(curator: Curator) -> Any:
    table = curator.table("people")
    moved = cells_moved(table.relation)
    noise = Geometric.for_epsilon(PRICE, moved)
    exact = table.counts(table.attributes(["ward", "level"]))
    with table.measure(noise.event(moved), label="cells") as grant:
        return grant(noise, moved, lambda: exact().marginal((0, 1)).ravel()).tolist()


add(of_models)
add(of_sessions)
add(of_histograms)
add(of_margins)
add(of_training)
add(of_reports)

STEPS = {
    "Search": (
        "SELECT COUNT(*) AS a FROM people",
        "SELECT ward, COUNT(DISTINCT person) AS a, SUM(value) AS b FROM people GROUP BY ward",
    ),
    "Tally": ("SELECT AVG(value) AS a FROM people",),
}
"""For each kind of step before an answer questions that have it, where nobody declared how much of a person counts."""


@add
def of_steps() -> list[Subject]:
    """Every kind of step that a question may have before its answer is made, asked of a made-up table."""
    policy = undeclared()
    return [
        subject
        for kind, texts in STEPS.items()
        for subject in of_policy(policy, texts, part="step", kind=kind, pairs=2)
    ]


def undeclared() -> Policy:
    """A policy without limits: they are found."""
    columns = {"value": {"type": "integer", "bounds": (0, 10)}, "ward": {"keys": ["A", "B", "C"]}}
    empty: dict[str, Any] = {"people": {"person": [], "value": [], "ward": []}}
    return Policy.declare(empty, "person", columns, epsilon=1, ledger=":memory:")


FOUND = (
    "SELECT ward, COUNT(*) AS a FROM people GROUP BY ward",
    "SELECT day, smoker, COUNT(DISTINCT person) AS a FROM people GROUP BY day, smoker",
)
"""Questions whose keys are found."""


@add
def of_found_keys() -> list[Subject]:
    """Questions whose keys are found, with limits that are declared, and with one that is found as well."""
    columns = {"ward": {"type": "text", "max_groups": 2}, "day": {"type": "date"}, "smoker": {"type": "boolean"}}
    empty: dict[str, Any] = {"people": {"person": [], "ward": [], "day": [], "smoker": []}}
    limits: tuple[dict[str, Any], ...] = ({"max_rows": 2, "max_groups": 2}, {"adjacency": "replace"})
    policies = (
        Policy.declare(empty, "person", columns, epsilon=1, delta=3 * FOUND_DELTA, ledger=":memory:", **each)
        for each in limits
    )
    parts = (("found keys", "KeysByName"), ("step", "FindKeys"))
    return [
        subject
        for policy, (part, kind) in zip(policies, parts, strict=True)
        for subject in of_policy(policy, FOUND, part=part, kind=kind, pairs=1, delta=FOUND_DELTA)
    ]


@add
def of_found_ranges() -> list[Subject]:
    """Questions whose ranges are found, with limits that are declared, and with one that is found as well."""
    columns = {"value": {"type": "integer", "bounds": "auto"}, "cost": {"bounds": "auto"}}
    empty: dict[str, Any] = {"people": {"person": [], "value": [], "cost": []}}
    asked = ("SELECT SUM(value) AS a FROM people", "SELECT AVG(cost) AS a, SUM(value) AS b FROM people WHERE cost > 1")
    limits: tuple[dict[str, Any], ...] = ({"max_rows": 2, "max_groups": 2}, {"adjacency": "replace"})
    policies = (Policy.declare(empty, "person", columns, epsilon=1, ledger=":memory:", **each) for each in limits)
    return [
        subject for policy in policies for subject in of_policy(policy, asked, part="step", kind="FindRange", pairs=1)
    ]


def of_policy(
    policy: Policy,
    asked: Sequence[str] | None = None,
    *,
    part: str = "question",
    kind: str = "",
    pairs: int = PAIRS,
    delta: float | None = None,
) -> list[Subject]:
    """Questions of a policy, on made-up neighbours: twins of each, and what its mechanisms were given, to be sampled.

    `delta` is of each question; without one it is what a question of the policy has.

    Neither the data of the policy nor its ledger is opened. `asked` are questions; without them some of those that its declarations
    allow, evenly, but for what cannot be asked after all. A question that is named and not answered has failed.
    """
    texts = _some(questions(policy)) if asked is None else list(asked)
    usual = policy.budget.delta if policy.accountant != "pure" else min(DEFAULT_DELTA, policy.budget.delta)
    claimed = float(usual) if delta is None else delta
    reports: dict[str, list[Report]] = {text: [] for text in texts}
    for seed in range(pairs):
        with Curators(*neighbours(policy, seed)) as curators:
            for text in texts:
                reports[text].append(curators.ask(text, epsilon=PRICE, delta=delta))
    if asked is None:
        reports = {text: each for text, each in reports.items() if _different(each) or _answered(each)}
    return [_of_reports(part, kind, text, claimed, each) for text, each in reports.items()]


def _some(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: max(1, -(-len(texts) // MOST_QUESTIONS))]


def _different(reports: Sequence[Report]) -> bool:
    return not all(each.same for each in reports)


def _answered(reports: Sequence[Report]) -> bool:
    return all(each.first.answered for each in reports)


def _of_reports(part: str, kind: str, text: str, delta: float, reports: Sequence[Report]) -> Subject:
    differences = tuple(difference for report in reports for difference in report.differences)
    refused = tuple(f"it is not answered: {each.first.body}" for each in reports if not each.first.answered)
    pairs = tuple(given_in(report) for report in reports)
    return Subject(part, kind, text, PRICE, delta, noisy, pairs, many=True, differences=(*differences, *refused))


def __dir__() -> list[str]:
    return sorted(__all__)
