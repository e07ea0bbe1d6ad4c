"""The joint law of a session, with every draw made in every way: it costs what its event says, with a kill in between too.

Noise is geometric here, so that all laws are exact and the price is a sum; the session is the one that sessions of Gaussian noise are.
"""

from collections.abc import Iterator
from fractions import Fraction as F
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from discreet.audit.enumeration import Exact, exact
from discreet.audit.joint import Draws, Joint, _Asked
from discreet.errors import Fault, Invalid
from discreet.mechanisms import AboveThreshold, Geometric
from discreet.privacy import Adjacency, Relation, loss
from discreet.weights.margins import HeldCounts
from discreet.weights.online_answer import OnlineAnswer
from discreet.weights.online_terms import DirectTerms, WeightsTerms
from discreet.weights.online_ways import DirectAnswers, WeightsAnswers
from tests.weights.online_tables import Kill, table_of

NEAR = 1e-9
REACH = 2
SHARP = Geometric(F(1, 4))
TEST = F(4)
PRICE = 12
Data = tuple[int, ...]


def tables(adjacency: Adjacency, cells: int = 2, most: int = 1) -> Iterator[tuple[Data, Data]]:
    """All tables of up to `most` units in so many cells, and one unit more; or of one more, of which one is exchanged."""
    for n in range(most + 1):
        for rows in combinations_with_replacement(range(cells), n):
            for value in range(cells):
                if adjacency is Adjacency.ADD_REMOVE:
                    yield rows, (*rows, value)
                elif value:
                    yield (*rows, 0), (*rows, value)


def terms(adjacency: Adjacency, *, start: bool = False, hits: int = 1, threshold: int = 1) -> WeightsTerms:
    """Geometric noise: the size and measurements move by 1, a histogram by the cells that move."""
    moved = F(2 if adjacency is Adjacency.REPLACE else 1)
    return WeightsTerms(
        Relation(adjacency),
        moved,
        SHARP,
        ((0,),) if start else (),
        SHARP,
        AboveThreshold(TEST, threshold, hits=hits) if hits else None,
        SHARP,
    )


def cell(place: int, cells: int) -> Any:
    return np.arange(cells) == place


def told(answer: OnlineAnswer) -> tuple[Any, ...]:
    return round(answer.value, 6), answer.free, answer.checked


def session(
    found: WeightsTerms, asked: tuple[int, ...], *, cells: int = 2, queries: int = 9, kill: int | None = None
) -> Any:
    """A program: the questions in their order; killed after so many, it enters again and asks from the other end."""

    def run(data: Data, draws: Draws) -> Any:
        table = table_of((cells,), data, draws.measure, found.relation)

        def entry(places: tuple[int, ...], stop: int | None) -> Any:
            with table.measure(found.event, key="k") as grant:
                counts = HeldCounts(table.counts(table.domain.attributes))
                way = WeightsAnswers(found, grant, counts, table.domain, queries, 1.0)
                answers = []
                for at, place in enumerate(places):
                    if at == stop:
                        raise Kill
                    answers.append(told(way.count(cell(place, cells))))
                if stop is not None:
                    raise Kill
                return answers, way.updates_left, way.queries_left

        try:
            return entry(asked, kill)
        except Kill:
            return entry(asked[::-1], None)

    return run


def costs(found: Exact, price: float) -> None:
    assert found.epsilon().low <= price + NEAR
    assert found.hidden < 2e-2 and found.epsilon(found.hidden).high <= price + NEAR


def sessions_cost_what_is_granted() -> None:
    """Of either relation, for two questions on two cells and three on three: a size, one round, one measurement, and never more."""
    for adjacency in Adjacency:
        found = terms(adjacency)
        price = loss(found.event).epsilon()
        assert price == PRICE
        costs(exact(Joint(session(found, (0, 1)), reach=REACH), tables(adjacency, 2, 0)), price)
        costs(exact(Joint(session(found, (0, 1, 2), cells=3), reach=2), tables(adjacency, 3, 0)), price)


def test_sessions_cost_what_is_granted() -> None:
    sessions_cost_what_is_granted()


def tests_and_measurements_cost_all_that_they_are_priced_at() -> None:
    """Who is exchanged does not change the size, which then costs nothing. Where one question passes four times and the other one
    hits, nearly all of the rest is lost: what had any less noise would be found."""
    found = terms(Adjacency.REPLACE)
    law = exact(Joint(session(found, (1, 1, 1, 1, 0)), reach=REACH), [((0, 0), (0, 1))])
    costs(law, PRICE - 4)
    assert law.epsilon().low > PRICE - 4.1


def test_tests_and_measurements_cost_all_that_they_are_priced_at() -> None:
    tests_and_measurements_cost_all_that_they_are_priced_at()


def test_a_start_costs_its_marginals() -> None:
    for adjacency in Adjacency:
        found = terms(adjacency, start=True)
        price = loss(found.event).epsilon()
        law = exact(
            Joint(session(found, (0,)), reach=1, runs=2000),
            [((), (0,))] if adjacency is Adjacency.ADD_REMOVE else [((0,), (1,))],
        )
        assert price / 2 < law.epsilon().low <= price + NEAR


def kills_cost_nothing_more(most: int = 3) -> None:
    """Killed after each question, and asked from the other end: all that was seen before and after costs what is granted."""
    for kill in range(most):
        found = terms(Adjacency.ADD_REMOVE, hits=1)
        costs(exact(Joint(session(found, (0, 1), kill=kill), reach=REACH), tables(Adjacency.ADD_REMOVE, 2, 0)), PRICE)


def test_kills_cost_nothing_more() -> None:
    kills_cost_nothing_more()


def every_release_is_possible_on_neighbours() -> None:
    """What may be seen on one of two neighbours may be seen on the other."""
    for adjacency in Adjacency:
        joint = Joint(session(terms(adjacency), (0, 1)), reach=3)
        for x, y in tables(adjacency, 2, 0):
            first, second = joint.laws(x, y)
            assert {each.drawn for each in first.chances} == {each.drawn for each in second.chances}
            assert first.chances.keys() == second.chances.keys()


def test_every_release_is_possible_on_neighbours() -> None:
    every_release_is_possible_on_neighbours()


def a_round_ends_with_its_hit() -> None:
    """No more updates than were granted, and no more tests: what is seen has at most two hits, and three questions of rounds."""
    found = terms(Adjacency.ADD_REMOVE, hits=2, threshold=0)
    joint = Joint(session(found, (0, 1, 0, 1), queries=3), reach=1, runs=4000)
    law = joint.law((0, 0, 0))
    for seen in law.chances:
        answers = [each for each in seen.drawn if isinstance(each, bool)]
        assert sum(answers) <= 2 and len(answers) <= 3
        if not seen.lump:
            _, updates, questions = seen.result
            assert updates == 2 - sum(answers) and questions == 3 - len(answers)


def test_a_round_ends_with_its_hit() -> None:
    a_round_ends_with_its_hit()


def direct_answers_cost_their_number() -> None:
    """Two questions; killed after the first, and the other one is asked first then."""
    for kill in (None, 1):

        def run(data: Data, draws: Draws, kill: int | None = kill) -> Any:
            found = DirectTerms(Relation(Adjacency.ADD_REMOVE), SHARP, 2)
            table = table_of((2,), data, draws.measure)

            def entry(places: tuple[int, ...], stop: int | None) -> Any:
                with table.measure(found.event, key="k") as grant:
                    way = DirectAnswers(found, grant, HeldCounts(table.counts(table.domain.attributes)))
                    for at, place in enumerate(places):
                        if at == stop:
                            raise Kill
                        way.count(cell(place, 2))
                    return [told(way.count(cell(place, 2))) for place in (0, 1)]

            try:
                return entry((0, 1), kill)
            except Kill:
                return entry((1, 0), None)

        costs(exact(Joint(run, reach=REACH), tables(Adjacency.ADD_REMOVE, 2, 0)), 8)


def test_direct_answers_cost_their_number() -> None:
    direct_answers_cost_their_number()


# Rounds, as they are enumerated.


def rounds_have_the_law_of_their_mechanism() -> None:
    """Question by question, or all at once: the same chances, for scores that depend on nothing."""
    mechanism = AboveThreshold(F(1), 1, hits=2)
    scores = (0, 2, 1)

    def one_by_one(data: Data, draws: Draws) -> Any:
        rounds, answers = draws.rounds(mechanism, 1), []
        for score in scores:
            if sum(answers) < 2:
                answers.append(rounds.ask(lambda score=score: score))
        return answers

    law = Joint(one_by_one, reach=2).law(())
    whole = Joint(lambda data, draws: draws(mechanism, 1, lambda: list(scores)), reach=2).law(())
    expected = {tuple(map(bool, seen.result)): chance for seen, chance in whole.chances.items()}
    assert len(expected) == len(law.chances) == 7
    for seen, chance in law.chances.items():
        other = expected[seen.result]
        assert chance.low <= other.high and other.low <= chance.high and chance.high - chance.low < F(1, 10**20)


def test_rounds_have_the_law_of_their_mechanism() -> None:
    rounds_have_the_law_of_their_mechanism()


def test_kills_within_rounds_are_played_by_measures() -> None:
    joint = Joint(lambda data, draws: draws.rounds(AboveThreshold(F(1), 1), 1).ask(lambda: 1), stop=1)
    with pytest.raises(Invalid, match="not played by `stop`"):
        joint.law(())


# What is planted in a session is found by its joint law.


def exceeds(run: Any, price: float, adjacency: Adjacency = Adjacency.ADD_REMOVE) -> None:
    assert exact(Joint(run, reach=3), tables(adjacency, 2, 1)).epsilon().low > price + NEAR


def test_a_hit_that_tells_its_noisy_score_is_found() -> None:
    """The measurement of a hit must have noise of its own: here it has that of the test, which is paid for as a truth value."""
    noise = Geometric(F(4))

    def run(data: Data, draws: Draws) -> Any:
        score = draws(noise, 1, lambda: 4 * data.count(0))
        return score, score >= 4

    exceeds(run, 0.5)


def test_a_round_goes_no_further_than_its_hit() -> None:
    with pytest.raises(Fault, match="hit"):
        _Asked(None, AboveThreshold(F(1), 0), over=True).release(lambda: 1, lambda value: value)  # type: ignore[arg-type]
