"""Two questions that differ in one patient reveal that patient, unless the answers are private."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.attacks import Outcome, play
from discreet.attacks.averaging import Averaging
from discreet.attacks.differencing import Ask, Differencing
from discreet.privacy.theorems import bayes_success
from tests.scale import repeats

# A sound build fails one of these tests with at most this probability.
ALPHA = 1e-6

EPSILON = 0.5  # of each of the two questions
BOUND = bayes_success(2 * EPSILON)  # by Bayes' rule, from the sum of both

# At ε = 1 in all the bound is 0.731: of 150 guesses 134 or more are right with probability below ALPHA. The attack on private answers
# is right in 56 % of them. The planted bugs make it right in 98.7 % and 100 %: each is noticed with probability above 1 − 1e-9.
TRIALS = 150

PEOPLE = 60
ATTACK = Differencing(
    "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE ward = 'Psychiatry'",
    "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE ward = 'Psychiatry' AND age <> 101",
)


def visits(present: bool) -> dict[str, list[Any]]:
    """Some patients with two visits each; the one of 101 years is there, or is not."""
    people = range(PEOPLE + 1 if present else PEOPLE)
    rows = [(who, 101 if who == PEOPLE else 20 + who, ward) for who in people for ward in ("Psychiatry", "Surgery")]
    patients, ages, wards = (list(column) for column in zip(*rows, strict=True))
    return {"patient_id": patients, "age": ages, "ward": wards}


def exact(table: dict[str, list[Any]]) -> Ask:
    """The two questions, without a curator."""

    def ask(text: str) -> float:
        rows = zip(*table.values(), strict=True)
        return len({who for who, age, ward in rows if ward == "Psychiatry" and (text == ATTACK.everyone or age != 101)})

    return ask


World = Callable[[bool], dp.Curator]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    opened = []

    def curator(present: bool) -> dp.Curator:
        made = dp.Curator(
            {"visits": visits(present)},
            unit="patient_id",
            columns={"age": {"bounds": (0, 120)}},
            epsilon=100_000,
            ledger=tmp_path / f"{len(opened)}.ledger",
        )
        opened.append(made)
        return made

    yield curator
    for each in opened:
        each.close()


def anew(curator: dp.Curator) -> Ask:
    """Each call is another request, with noise of its own, at its full price."""
    keys = count()

    def ask(text: str) -> float:
        (row,) = curator.sql(text, epsilon=EPSILON, key=f"trial {next(keys)}").to_dicts()
        return float(row["n"])  # type: ignore[arg-type]

    return ask


def test_on_exact_answers_the_attack_never_fails() -> None:
    assert play(ATTACK, lambda there: exact(visits(there)), 200) == Outcome(200, 200)


def test_on_private_answers_it_stays_within_the_bayes_bound(world: World) -> None:
    trials = repeats(TRIALS)
    here, gone = world(True), world(False)
    outcome = play(ATTACK, {True: anew(here), False: anew(gone)}.__getitem__, trials)
    assert not outcome.exceeds(BOUND, ALPHA), outcome
    assert here.spent.epsilon + gone.spent.epsilon == 2 * trials * Fraction(EPSILON)


def test_asking_the_same_again_adds_nothing(world: World) -> None:
    """Without keys of their own the repeats are one answer, free: there is nothing to average."""
    curator = world(True)

    def ask(text: str) -> float:
        (row,) = curator.sql(text, epsilon=EPSILON).to_dicts()
        return float(row["n"])  # type: ignore[arg-type]

    assert len({ATTACK.difference(ask) for _ in range(5)}) == 1
    assert curator.spent.epsilon == 2 * Fraction(EPSILON)


def test_repeats_to_a_curator_cannot_be_averaged(world: World) -> None:
    """Under one key a question has one answer, however often it is asked: a trial costs ε once, and permits no more than that."""
    here, gone, keys, trials = world(True), world(False), count(), repeats(40)

    def release(people: int) -> list[float]:
        curator, key = (here if people > PEOPLE else gone), f"trial {next(keys)}"
        answers = [curator.sql(ATTACK.everyone, epsilon=EPSILON, key=key).to_dicts()[0]["n"] for _ in range(4)]
        assert len(set(answers)) == 1
        return answers  # type: ignore[return-value]

    outcome = play(Averaging(others=PEOPLE), release, trials)
    assert not outcome.exceeds(bayes_success(EPSILON), ALPHA), outcome
    assert here.spent.epsilon + gone.spent.epsilon == trials * Fraction(EPSILON)


def too_little_noise(curator: dp.Curator) -> Ask:
    """Planted: noise for ten times the price that is charged."""
    keys = count()

    def ask(text: str) -> float:
        (row,) = curator.sql(text, epsilon=10 * EPSILON, key=f"trial {next(keys)}").to_dicts()
        return float(row["n"])  # type: ignore[arg-type]

    return ask


def the_same_noise_twice(table: dict[str, list[Any]]) -> Ask:
    """Planted: both questions of a trial get the same noise, which their difference takes away again."""
    truth, noise, calls = exact(table), dp.Geometric.for_epsilon(EPSILON), count()
    kept = [0]

    def ask(text: str) -> float:
        if next(calls) % 2 == 0:
            kept[0] = noise(0)
        return truth(text) + kept[0]

    return ask


def test_too_little_noise_is_noticed(world: World) -> None:
    asks = {True: too_little_noise(world(True)), False: too_little_noise(world(False))}
    outcome = play(ATTACK, asks.__getitem__, TRIALS)
    assert outcome.exceeds(BOUND, ALPHA), outcome


def test_noise_that_is_used_twice_is_noticed() -> None:
    outcome = play(ATTACK, lambda there: the_same_noise_twice(visits(there)), TRIALS)
    assert outcome.exceeds(BOUND, ALPHA), outcome


def test_the_bound_is_that_of_the_accounting() -> None:
    both = 2 * dp.Geometric.for_epsilon(EPSILON).loss()
    assert both.posterior() < BOUND
    assert dp.privacy.loss(dp.privacy.events.Pure(2 * EPSILON)).posterior() == pytest.approx(BOUND)


@pytest.mark.parametrize("trials", [0, -1, 1.5, True])
def test_a_number_of_trials_that_is_none_is_refused(trials: Any) -> None:
    with pytest.raises(dp.Invalid, match="trials"):
        play(ATTACK, lambda there: lambda text: 0, trials)
