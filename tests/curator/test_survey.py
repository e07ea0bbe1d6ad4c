"""A survey: nobody moves what it draws by more than is charged, nothing but released numbers chooses, and what is found is there.

On tiny tables all neighbours are tried, under both relations and units, at prices so high that a survey goes all of its ways. What
it tells of larger ones is measured with noise from a tape, so that it is the same in every run.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from discreet.audit.twins.record import Recorder
from discreet.audit.twins.replay import Replayer
from discreet.curator.survey import ladder, per_person, reading
from discreet.curator.survey.check import check_survey
from discreet.curator.survey.choosing import bounds, outer_range, quantiles, type_of
from discreet.curator.survey.prices import KEYS, Prices, prices_for
from discreet.curator.survey.record import Ladder, NoisyNumber
from discreet.errors import Fault
from discreet.mechanisms.keys import GaussianThreshold, NamedKeys
from discreet.mechanisms.measure import Grant
from discreet.noise import Tape
from discreet.plan.evaluate import evaluate
from discreet.plan.relation import EPOCH
from discreet.plan.scalar import Column, Literal, Type
from discreet.privacy import Adjacency, Relation, Unit, events, loss
from tests.curator.surveys import CELLS, COLUMNS, RELATIONS, TinySurvey, data_of, fine, neighbours, table
from tests.engines.twins import agree, arranged
from tests.scale import repeats

PERSON = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)
NO_DELTA = Fraction(0)


def twins(relation: Relation, seed: int, prices: Prices) -> int:
    """On all neighbours of a table a survey that releases the same draws the same, within what each is charged for."""
    survey, rows = TinySurvey(relation, prices, COLUMNS[: prices.columns]), table(seed)
    recorder = Recorder()
    first = survey.taken(rows, recorder)
    for other in neighbours(rows, relation, seed):
        replayer = Replayer(recorder.drawn)
        second = survey.taken(other, replayer)
        replayer.finish()
        assert replayer.problems == []
        assert first == second
    return len(recorder.drawn)


def nothing_tells_neighbours_apart() -> None:
    draws = {twins(relation, seed, fine(relation)) for relation in RELATIONS for seed in range(repeats(4))}
    assert len(draws) > 1  # ranges without a second draw, and keys that were not found
    for relation in RELATIONS:
        twins(relation, 1, prices_for(relation, 3, Fraction(900), NO_DELTA, several=relation.unit is Unit.PERSON))


def test_nothing_tells_neighbours_apart() -> None:
    nothing_tells_neighbours_apart()


def whole_price_is_drawn() -> None:
    """Where every column finds something, the draws are what was charged; a range leaves the δ of its keys."""
    for relation in RELATIONS:
        prices = fine(relation)
        recorder = Recorder()
        rows = [(f"p{i}", str(i % 7), "2023-05-06", "a", "yes") for i in range(60)]
        TinySurvey(relation, prices).taken(rows, recorder)
        uses = [each.use for each in recorder.drawn]
        drawn = events.Composed(tuple(use.mechanism.event(use.sensitivity) for use in uses))
        charged, spent = (Counter(dict(loss(each).terms)) for each in (prices.event, drawn))
        left = charged - spent
        assert spent <= charged
        if relation.unit is Unit.PERSON:
            assert {type(leaf) for leaf in left} == {events.Approximate} and left.total() == 2
        assert loss(prices.event).certifies(prices.epsilon, prices.delta)


def test_the_whole_price_is_drawn_and_nothing_beyond_it() -> None:
    whole_price_is_drawn()


def test_prices_are_the_promise() -> None:
    for relation in RELATIONS:
        several = relation.unit is Unit.PERSON
        for columns, epsilon, delta in [(20, 2, "1e-7"), (1, "0.1", "1e-9"), (5, 2, 0), (0, 1, "1e-6"), (0, 1, 0)]:
            prices = prices_for(relation, columns, Fraction(epsilon), Fraction(delta), several=several)
            cost = loss(prices.event)
            assert cost.certifies(prices.epsilon, prices.delta)
            # the half of δ that is for keys buys no noise; nothing else is wasted
            assert columns == 0 or not cost.certifies(prices.epsilon * Fraction(9, 10), prices.delta / 2)
            assert cost.relation == relation


def a_column_beyond_the_price_is_a_fault() -> None:
    rows = [(f"p{i}", str(i % 7), "2023-05-06", "a", "yes") for i in range(60)]
    for relation, columns in zip(RELATIONS, (3, 1, 2, 3), strict=True):
        survey = TinySurvey(relation, fine(relation, columns), COLUMNS)
        with pytest.raises(Fault) as caught:
            survey.taken(rows)
        assert caught.value.code == "grant"


def test_a_column_beyond_the_price_is_a_fault() -> None:
    a_column_beyond_the_price_is_a_fault()


def draws_cover_their_queries() -> None:
    """By the rules of relations; and any draw for less is a Fault before anything is read."""
    for relation in RELATIONS:
        surveyed = TinySurvey(relation, fine(relation)).surveyed
        for prices in (
            fine(relation),
            prices_for(relation, 4, Fraction(2), NO_DELTA, several=surveyed.person is not None),
        ):
            check_survey(surveyed, prices)
            for name in ("first", "small", "large"):
                draw = getattr(prices, name)
                less = replace(draw, sensitivity=draw.sensitivity * Fraction(999, 1000))
                if (relation.unit, relation.adjacency, name) == (Unit.ROW, Adjacency.REPLACE, "first"):
                    continue  # how many rows there are is moved by nobody, and has noise all the same
                with pytest.raises(Fault):
                    check_survey(surveyed, replace(prices, **{name: less}))
            if surveyed.person is None:
                continue
            with pytest.raises(Fault):
                check_survey(surveyed, replace(prices, total=replace(prices.total, sensitivity=Fraction(4 << 20))))
            if prices.keys is not None:
                rule = replace(prices.keys, groups=prices.keys.groups - 1)
                with pytest.raises(Fault):
                    check_survey(surveyed, replace(prices, keys=rule))


def test_draws_cover_their_queries() -> None:
    draws_cover_their_queries()


def a_survey_of_no_column_counts_people_and_rows() -> None:
    """Where every column is declared a survey still tells how many people there are, and how many rows they have."""
    for relation in RELATIONS:
        for delta in (NO_DELTA, Fraction(1, 10**6)):
            prices = prices_for(relation, 0, Fraction(2), delta, several=relation.unit is Unit.PERSON)
            survey = TinySurvey(relation, prices, ())
            check_survey(survey.surveyed, prices)
            twins(relation, 1, prices)
            less = replace(prices.first, sensitivity=prices.first.sensitivity / 2)
            if (relation.unit, relation.adjacency) != (Unit.ROW, Adjacency.REPLACE):
                with pytest.raises(Fault):
                    check_survey(survey.surveyed, replace(prices, first=less))


def test_a_survey_of_no_column_counts_people_and_rows() -> None:
    a_survey_of_no_column_counts_people_and_rows()


# What is counted exactly.


def people_are_counted_by_what_they_have() -> None:
    survey = TinySurvey(PERSON, fine(PERSON))
    for seed in range(repeats(6)):
        rows = table(seed, people=9)
        run = survey.engine(rows).run
        mine = Counter(row[0] for row in rows)
        found = per_person.rows_per_person(run, survey.surveyed, 1)
        ends = [0, *ladder.ROWS, float("inf")]
        assert found.tolist() == [sum(low < n <= high for n in mine.values()) for low, high in pairwise(ends)]
        for most in (1, 2, 5):
            assert per_person.rows_within(run, survey.surveyed, most, 1) == sum(min(n, most) for n in mine.values())
        names = ["a", "c", "d"]
        groups = Counter(who for who, _ in {(row[0], row[3]) for row in rows if row[3] in names})
        counted = per_person.groups_per_person(run, survey.surveyed, COLUMNS[2], Type.TEXT, names, 1)
        assert counted.tolist() == [sum(n == i for n in groups.values()) for i in (1, 2, 3)] + [0]


def test_people_are_counted_by_what_they_have() -> None:
    people_are_counted_by_what_they_have()


def engines_agree() -> None:
    """On every query of a survey, with everything that a cell may hold."""
    for seed, relation in enumerate(RELATIONS[:2]):
        surveyed = TinySurvey(relation, fine(relation)).surveyed
        size, day, word, flag = COLUMNS
        queries = [
            reading.looks(surveyed),
            reading.by_cell(surveyed, size, Type.NUMBER, ladder.NUMBERS),
            reading.by_cell(surveyed, size, Type.NUMBER, ladder.inner(0.0, 64.0, Type.NUMBER)[1:-1]),
            reading.by_cell(surveyed, day, Type.DATE, ladder.YEARS),
            reading.by_key(surveyed, word, Type.TEXT),
            reading.by_key(surveyed, flag, Type.BOOLEAN),
        ]
        agree([data_of(table(seed))], queries)
        with arranged():
            agree([data_of(table(seed + 4))], queries[-2:])


def test_engines_agree_on_what_a_survey_reads() -> None:
    engines_agree()


def cells_are_between_their_edges() -> None:
    rng = Random(5)
    for edges in (ladder.NUMBERS, ladder.inner(-2.0, 16.0, Type.NUMBER), (0.0,), ()):
        for value in [*edges, *(rng.uniform(-99, 99) for _ in range(50)), -1e300, 1e300]:
            cell = ladder.cell_of(Literal(value, Type.NUMBER), edges, Type.NUMBER)
            assert evaluate(cell, {}) == bisect_right(edges, value)
    for days in (-40_000.0, *ladder.YEARS[:3], 19_000.0, 90_000.0):
        day = Literal(EPOCH.fromordinal(EPOCH.toordinal() + round(days)), Type.DATE)
        assert evaluate(ladder.cell_of(day, ladder.YEARS, Type.DATE), {}) == bisect_right(ladder.YEARS, days)


def test_cells_are_between_their_edges() -> None:
    cells_are_between_their_edges()


# What is made of released numbers.


def test_the_type_is_what_almost_everybody_has() -> None:
    assert type_of(1000, [20, 900, 1000], 10) is Type.NUMBER
    assert type_of(1000, [1000, 90, 1000], 10) is Type.DATE
    assert type_of(1000, [900, 1000, 3], 10) is Type.BOOLEAN
    assert type_of(1000, [150, 1000, 1000], 10) is Type.TEXT
    assert type_of(50, [0, 0, 0], 10) is Type.TEXT  # too few to tell


def test_ranges_are_of_whoever_is_there() -> None:
    edges = ladder.NUMBERS
    at = edges.index(64.0)
    counts = [0.0] * (len(edges) + 1)
    counts[at], counts[at + 1], counts[at + 3] = 500.0, 500.0, 15.0
    assert outer_range(counts, edges, 10) == (32.0, 128.0)
    counts[at + 2] = 15.0
    assert outer_range(counts, edges, 10) == (32.0, 512.0)
    assert outer_range([0.0] * len(counts), edges, 10) is None
    beyond = [0.0] * len(counts)
    beyond[0] = beyond[-1] = 500.0
    assert outer_range(beyond, edges, 10) == (edges[0], edges[-1])
    bins = [0.0, 0.0, 300.0, 400.0, 300.0, 0.0]
    assert bounds(bins, tuple(map(float, range(7))), 2) == (2.0, 5.0)
    unlucky = [-60.0, -60.0, 50.0, 400.0, 400.0, 50.0, -60.0, -60.0]
    assert bounds(unlucky, tuple(map(float, range(9))), 10) == (2.0, 6.0)
    assert [round(each[1], 2) for each in quantiles(bins, tuple(map(float, range(7))), 2)] == [
        2.17,
        2.83,
        3.5,
        4.17,
        4.83,
    ]


def ladders_tell_who_has_more() -> None:
    rng = Random(3)
    for _ in range(repeats(30)):
        rungs = ladder.ladder(rng.choice([1, 4, 30, 500]))
        people = [1 + int(rng.lognormvariate(1, 1)) for _ in range(1000)]
        ends = [0, *rungs, float("inf")]
        counts = tuple(float(sum(low < n <= high for n in people)) for low, high in pairwise(ends))
        for known in (None, NoisyNumber(1000.0, 0.1)):
            found = Ladder(rungs, counts, 0.01, known)
            assert all(round(found.beyond(rung).value) == sum(n > rung for n in people) for rung in rungs)
            assert sum(n > found.limit() for n in people) <= 10 or found.limit() == rungs[-1]
            below = [rung for rung in rungs if rung < found.limit()]
            assert not below or sum(n > below[-1] for n in people) > 8


def test_ladders_tell_who_has_more() -> None:
    ladders_tell_who_has_more()


# Keys by name.


def named_keys_are_hidden_as_thresholds_hide_them() -> None:
    for scale, delta, groups in [(32, "2.5e-9", 4), (5, "1e-6", 1), (200, "1e-12", 8), ("0.3", "1e-4", 2)]:
        rule = NamedKeys.for_noise(Fraction(scale), Fraction(delta), groups=groups)
        other = GaussianThreshold(Fraction(scale), rule.threshold, groups)
        assert rule.delta_keys <= Fraction(delta)
        lower = NamedKeys(Fraction(scale), rule.threshold - 1, groups)
        assert lower.delta_keys > Fraction(delta)
        if scale != "0.3":  # where noise on integers is no other than rounded noise
            assert 1 <= float(rule.delta_keys / other.delta_keys) < 1.1
        (noise, hidden) = loss(rule.event()).terms
        assert float(noise[0].sensitivity) == pytest.approx(groups**0.5, rel=1e-7)  # type: ignore[attr-defined]
        assert hidden[0] == events.Approximate(0, rule.delta_keys)


def test_named_keys_are_hidden_as_thresholds_hide_them() -> None:
    named_keys_are_hidden_as_thresholds_hide_them()


def keys_near_the_threshold_are_left_to_the_noise() -> None:
    rule = NamedKeys(10, 50)
    kept = [rule({"near": 50, "far": 500, "none": 0, "few": 1}, Tape(seed)) for seed in range(200)]
    assert all("far" in each and "none" not in each and "few" not in each for each in kept)
    assert 60 < sum("near" in each for each in kept) < 140
    assert len({each["far"] for each in kept}) > 20 and abs(np.mean([each["far"] for each in kept]) - 500) < 4
    assert all(count > 50 for each in kept for count in each.values())


def test_keys_near_the_threshold_are_left_to_the_noise() -> None:
    keys_near_the_threshold_are_left_to_the_noise()


# Usefulness, on a table of a size that is usual, with noise from a tape.


def many(people: int, seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    n = np.maximum(1, rng.lognormal(0.5, 0.7, people).astype(int))
    who = np.repeat(np.arange(people), n)
    rows = len(who)
    share = rng.random(people)
    return {
        "who": [f"p{i}" for i in who],
        "age": [str(int(a)) for a in np.repeat(rng.normal(50, 18, people).clip(0, 99), n)],
        "cost": [f"{c:.2f}" for c in np.repeat(rng.lognormal(6, 1, people), n)],
        "day": [str(np.datetime64("2023-01-01") + int(d)) for d in rng.integers(0, 365, rows)],
        "word": np.repeat(
            np.select([share < 0.09, share < 0.2, share < 0.5], ["rare", "some", "many"], "most"), n
        ).tolist(),
    }


def what_many_have_is_found() -> None:
    """4 columns of 1,250 people at ε = 2 are about as fine as 20 columns of 5,000."""
    from discreet.engines.base import Data
    from discreet.engines.duckdb import DuckDB

    data = many(2500, 1)
    columns = tuple(Column(name, Type.TEXT) for name in list(data)[1:])
    surveyed = reading.Surveyed("t", Column("who", Type.TEXT), columns)
    prices = prices_for(PERSON, len(columns), Fraction(2), Fraction(1, 10**7), several=True)
    values = {name: np.array([float(each) for each in data[name]]) for name in ("age", "cost")}
    from discreet.curator.survey.taking import Taking

    with DuckDB([Data("t", data, (Column("who", Type.TEXT), *columns), person="who")], threads=1) as engine:
        for seed in range(repeats(3)):
            grant = Grant(prices.event, Tape(seed))
            found = Taking(surveyed, prices, engine.run, grant, seed).taken()
            age, cost, day, word = found.columns
            assert [each.type for each in found.columns] == [Type.NUMBER, Type.NUMBER, Type.DATE, Type.TEXT]
            assert word.keys == ("many", "most", "rare", "some") and word.max_groups == 1
            for column in (age, cost):
                assert column.range is not None
                cells = values[column.name]
                below, above = (cells < column.range.low).mean(), (cells > column.range.high).mean()
                assert max(below, above) <= 0.05
                width = np.quantile(cells, 0.99) - np.quantile(cells, 0.01)
                assert column.range.high - column.range.low < 6 * width
                middle = next(each for each in column.range.quantiles if each[0] == 0.5)
                assert abs((cells < middle[1]).mean() - 0.5) < 0.08
            assert day.days is not None
            assert day.days[0].year >= 2022 and day.days[1].year <= 2024
            assert abs(found.people.value - 2500) < 3 * found.people.error
            assert found.rows is not None and found.per_person is not None
            rows = Counter(data["who"])
            assert (
                abs(found.rows.value - sum(min(n, found.rows_limit or 0) for n in rows.values())) < 3 * found.rows.error
            )
            assert sum(n > found.per_person.limit() for n in rows.values()) < 0.05 * 2500


def test_what_many_have_is_found() -> None:
    what_many_have_is_found()


def test_the_tables_of_these_tests_hold_more_keys_than_a_person_counts_with() -> None:
    assert len([each for each in CELLS[2] if each is not None and len(each) <= reading.LONGEST_KEY]) > KEYS
    mine: dict[Any, set[Any]] = {}
    for row in table(1) + table(3):
        mine.setdefault(row[0], set()).add(row[3])
    assert max(map(len, mine.values())) > KEYS
