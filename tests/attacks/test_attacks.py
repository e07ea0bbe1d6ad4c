"""Every attack: it works on exact answers, stays within what ε permits on ours, and tells both as they are."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import Outcome, averaging, changes, play
from discreet.attacks.catalog import MOST
from discreet.attacks.linkage import Linkage
from discreet.attacks.membership import Means, Membership
from discreet.attacks.reconstruction import Reconstruction
from discreet.mechanisms.unsafe import NameAndShame
from tests.attacks import laws
from tests.attacks.laws import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_exact_answers_reveal(name: str) -> None:
    laws.exact_answers_reveal(name)


@pytest.mark.parametrize("name", NAMES)
def test_private_answers_stay_within_what_epsilon_permits(name: str) -> None:
    laws.private_answers_stay_within(name)


@pytest.mark.parametrize("name", NAMES)
def test_little_is_learned_at_a_low_price_and_all_at_a_high_one(name: str) -> None:
    laws.little_is_learned_at_a_low_price_and_all_at_a_high_one(name)


@pytest.mark.parametrize("name", NAMES)
def test_permitted_is_of_the_price_that_was_asked(name: str) -> None:
    laws.permitted_is_of_the_price_that_was_asked(name)


GAME = [
    laws.tails_are_binomial,
    laws.intervals_are_those_of_clopper_and_pearson,
    laws.an_outcome_exceeds_a_bound_where_a_binomial_test_says_so,
    laws.responses_do_as_well_as_is_permitted,
    laws.nobody_does_better_than_is_permitted,
    laws.right_guesses_are_counted,
    laws.nobody_changes_a_query_by_more_than_is_declared,
    laws.every_textbook_output_is_possible_for_its_own_count,
    laws.outputs_on_a_grid_are_possible_for_both_counts,
    laws.a_kept_answer_is_one_answer,
    laws.rounds_of_a_bit_are_those_of_one_permanent_answer,
    laws.answers_change_half_way_or_stay,
    laws.a_report_names_what_is_above_its_promise,
    laws.a_picture_shows_success_interval_and_what_is_permitted,
    laws.a_drawing_shows_success_and_what_is_permitted,
    laws.exact_is_what_the_query_is,
]


@pytest.mark.parametrize("law", GAME, ids=lambda law: law.__name__)
def test_the_law_holds(law: Callable[[], None]) -> None:
    law()


def test_reconstruction_finds_everybody_at_once() -> None:
    attack = Reconstruction()
    bits, _ = attack.world(1)
    assert (attack.bits(attack.query(bits)) == bits).all()


def test_tables_that_are_joined_reveal_what_one_does_not() -> None:
    report = dp.attacks.run("linkage", epsilons=[1], trials=400)
    alone, joined = report.scores[0].outcome, report.scores[1].outcome
    assert alone.interval(0.999999)[1] < joined.interval(0.999999)[0]


def test_textbook_noise_in_doubles_is_above_what_it_is_said_to_permit() -> None:
    report = dp.attacks.run("float-bits", epsilons=[0.1], trials=400)
    assert [score.name for score in report.scores if score.exceeds] == ["textbook, said to be ε = 0.1"]
    assert report.broken == ()


def test_membership_is_played_against_anything_that_is_made_from_data() -> None:
    """A model that remembers its training data gives its members away; one that remembers nothing does not."""

    def draw(size: int) -> Any:
        return dp.noise.uniform(1 << 40, size)

    def looks(model: set[int], record: int) -> float:
        return 1.0 if int(record) in model else -1.0

    attack = Membership(draw, looks, people=10)
    assert play(attack, lambda members: set(members.tolist()), 100) == Outcome(100, 100)
    assert not play(attack, lambda members: set[int](), 200).exceeds(0.5)


@pytest.mark.parametrize("trials", [0, -1, 1.5, True, 10**8])
@pytest.mark.parametrize("name", NAMES)
def test_a_number_of_trials_that_is_none_is_refused(name: str, trials: Any) -> None:
    with pytest.raises(dp.Invalid, match="trials"):
        dp.attacks.run(name, epsilons=[1], trials=trials)


@pytest.mark.parametrize("epsilon", [0, -1, 1e-9, 10 * float(MOST), float("nan"), float("inf"), "1", None])
def test_a_price_that_is_none_is_refused(epsilon: Any) -> None:
    with pytest.raises(dp.Invalid, match="epsilon"):
        dp.attacks.run("patient", epsilons=[epsilon])


@pytest.mark.parametrize(
    "make",
    [
        lambda: dp.attacks.run("nothing"),
        lambda: dp.attacks.compare("a", "b", [], 1),
        lambda: Outcome(2, 1),
        lambda: Outcome(1, 2).interval(1.0),
        lambda: dp.attacks.permitted(1, choices=1),
        lambda: dp.attacks.permitted(1, delta=2),
        lambda: Reconstruction(np.array([[0, 2]])),
        lambda: Reconstruction(np.zeros((0, 3), np.int64)),
        lambda: Means(np.array([17])),
        lambda: Means(np.array([8]), people=0),
        lambda: Linkage(tables=0),
        lambda: Linkage(diagnoses=1),
        lambda: Reconstruction().blurred(-1),
        lambda: Membership(lambda size: np.zeros(size), lambda seen, record: 0.0, people=0).world(0),
        lambda: averaging.fresh(1, 0),
        lambda: averaging.kept(0, 1),
        lambda: averaging.memoised(1, 0),
        lambda: averaging.until_refused(0),
        lambda: changes.Changes(periods=1),
        lambda: changes.Changes(answers=1),
        lambda: changes.memoised(changes.Changes(), 1, 2),
        lambda: changes.per_period(changes.Changes(), 0),
        lambda: laws.rows().draw(0),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(dp.Invalid):
        make()


def test_what_has_no_finite_price_permits_everything() -> None:
    noise = dp.Gaussian(1)
    release = dp.attacks.private(lambda count: count, noise, noise.event(), delta=0)
    assert release.permitted() == 1.0 and release.permitted(100) == 1.0
    assert dp.attacks.private(lambda count: count, noise, noise.event(), delta=0.01).permitted() < 1.0


PAGE = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text("utf-8")


def test_the_page_tells_what_is_permitted() -> None:
    claims = re.findall(r"([\d.]+) % at ε = ([\d.]+)", PAGE)
    assert len(claims) == 3
    for percent, epsilon in claims:
        assert 100 * dp.attacks.permitted(float(epsilon)) == pytest.approx(float(percent), abs=0.05)


def test_the_page_tells_how_likely_somebody_is_exposed() -> None:
    table = PAGE.partition("| δ | n = 100 |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) == 4
    for row in table:
        delta, *shares = row.strip("| ").split(" | ")
        for share, n in zip(shares, (100, 10_000, 1_000_000), strict=True):
            assert 100 * NameAndShame(delta=float(delta)).exposure(n) == pytest.approx(
                float(share.rstrip(" %")), rel=0.005
            )
