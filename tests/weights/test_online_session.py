"""Laws of online sessions: what is asked is answered, what is left is counted, and whoever is killed finds again what was released."""

from collections.abc import Iterator
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from discreet.audit.twins import compare
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from discreet.privacy import Adjacency, Relation, loss
from discreet.weights import ArrayTable, OnlineSession, online
from discreet.weights.online_terms import DirectTerms, WeightsTerms
from discreet.weights.prediction import Way
from tests.weights.online_tables import Kill, domain_of, killed_at, masks, table_of

SHAPE = (2, 3, 2)
RNG = np.random.default_rng(7)
# nothing but one triple of values: each pair of attributes is told by a start, and a session without one is surprised
ROWS = np.array([[0, 0, 0]] * 600 + [[1, 2, 1]] * 400)
SHARP: dict[str, Any] = {"epsilon": 60, "delta": 1e-3, "error": 60, "queries": 40, "method": "weights"}
CELLS = [mask for mask in masks(SHAPE) if mask.size > 1]


def truth(cells: Any, rows: Any = ROWS) -> int:
    full = np.zeros(SHAPE, np.int64)
    np.add.at(full, tuple(rows.T), 1)
    return int(full[np.broadcast_to(cells, SHAPE)].sum())


def fresh() -> Unmetered:
    """A measure whose noise is the same whenever the tests are run: one hit in some hundred is one by chance."""
    return Unmetered(Tape(11))


def session(measure: Any = None, rows: Any = ROWS, **options: Any) -> OnlineSession:
    return online(table_of(SHAPE, rows, measure or fresh()), **{**SHARP, **options})


# Answers.


def answers_keep_their_errors_and_say_what_they_cost() -> None:
    """Every question is answered in each way; a hit uses up an update, and nothing else does. Errors are far below 95 % ones here."""
    for options in ({"updates": 6, "start": False}, {}, {"method": "histogram"}, {"method": "direct"}):
        with session(**options) as asked:
            before = asked.updates_left
            answers = [asked.count(mask) for mask in CELLS[:30]]
            hits = sum(not answer.free for answer in answers)
            if asked.way is Way.DIRECT:
                assert hits == 30 and asked.queries_left == SHARP["queries"] - 30
            else:
                assert asked.updates_left == before - hits and asked.queries_left >= SHARP["queries"] - 30
            for mask, answer in zip(CELLS, answers, strict=False):
                if answer.checked:
                    assert answer.error is not None
                    assert abs(float(answer) - truth(mask)) <= 4 * answer.error + 2
                else:
                    assert answer.error is None and asked.updates_left == 0
                assert str(answer).endswith(answer.said)


def test_answers_keep_their_errors_and_say_what_they_cost() -> None:
    answers_keep_their_errors_and_say_what_they_cost()


def surprises_are_measured_and_learned() -> None:
    """Without a start every cell surprises until it is learned; then it is free, and what was measured is answered as it was."""
    with session(start=False, updates=4) as asked:
        first = CELLS[0]
        surprised = asked.count(first)
        assert not surprised.free and surprised.checked and asked.updates_left == 3
        assert abs(float(surprised) - truth(first)) < 40
        assert asked.model is not None and abs(asked.model.count(first) - float(surprised)) < 1
        again = asked.count(first)
        assert again.free and again.checked and again.value == surprised.value and asked.queries_left == 39


def test_surprises_are_measured_and_learned() -> None:
    surprises_are_measured_and_learned()


def all_go_on_unchecked_when_nothing_is_left() -> None:
    """Updates or questions used up: no test is made any more, and answers say so."""
    with session(start=False, updates=1) as asked:
        answers = [asked.count(mask) for mask in CELLS]
        assert sum(not answer.free for answer in answers) == 1 and asked.updates_left == 0
        after = answers[next(i for i, each in enumerate(answers) if not each.free) + 1 :]
        assert after and not any(answer.checked for answer in after)
        assert all("no update is left" in answer.said for answer in after)
    with session(queries=5) as asked:
        answers = [asked.count(mask) for mask in CELLS[:9]]
        assert [answer.checked for answer in answers] == [True] * 5 + [False] * 4
        assert "more questions" in answers[-1].said and asked.queries_left == 0
    with session(updates=0) as asked:
        assert not any(asked.count(mask).checked for mask in CELLS)


def test_all_go_on_unchecked_when_nothing_is_left() -> None:
    all_go_on_unchecked_when_nothing_is_left()


def direct_answers_end_with_the_questions() -> None:
    with session(method="direct", queries=3) as asked:
        values = [asked.count(mask).value for mask in CELLS[:3]]
        for _ in range(2):
            with pytest.raises(Refused) as refused:
                asked.count(CELLS[3])
            assert refused.value.code == "queries"
        assert [asked.count(mask).value for mask in CELLS[:3]] == values and asked.count(CELLS[0]).free


def test_direct_answers_end_with_the_questions() -> None:
    direct_answers_end_with_the_questions()


# The price.


@pytest.mark.parametrize("relation", [Relation(each) for each in Adjacency], ids=str)
@pytest.mark.parametrize("method", ["weights", "direct", "histogram"])
def test_what_is_spent_is_the_event_once(method: str, relation: Relation) -> None:
    """Whatever was asked; and the promise is what the event keeps."""
    measure = fresh()
    table = ArrayTable(domain_of(SHAPE), ROWS, measure, relation)
    with online(table, **{**SHARP, "method": method}) as asked:
        for mask in CELLS[:20]:
            asked.count(mask)
    assert measure.spent.terms == loss(asked.event).terms
    assert loss(asked.event).certifies(*asked.promise) and asked.promise == (60, F(1, 1000))


def refused_before_anything_is_spent() -> None:
    measure = fresh()
    table = table_of(SHAPE, ROWS, measure)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 0}, "delta must be above 0"),
        ({"delta": 1}, "delta must be above 0"),
        ({"error": 0}, "error must be positive"),
        ({"error": 0.5}, "at least 1 unit"),
        ({"error": 2, "epsilon": 0.1}, "cannot be kept"),
        ({"queries": 0}, "queries"),
        ({"queries": 1.5}, "queries"),
        ({"updates": -1}, "updates"),
        ({"updates": 10**4}, "cannot be kept"),
        ({"start": 1}, "start must be"),
        ({"method": "all"}, "method"),
    ]
    for options, words in wrong:
        with pytest.raises((Invalid, Refused), match=words):
            online(table, **{**SHARP, **options})
    with pytest.raises(Invalid):
        online(table, ["nothing"], **SHARP)
    assert measure.spent.terms == ()


def test_refused_before_anything_is_spent() -> None:
    refused_before_anything_is_spent()


def test_questions_that_fit_no_cells_cost_nothing() -> None:
    with session() as asked:
        for wrong in (np.ones(3, np.bool_), np.ones(SHAPE), "a0 = 1"):
            with pytest.raises(Invalid):
                asked.count(wrong)
        assert asked.queries_left == SHARP["queries"]


def test_attributes_are_chosen_by_name() -> None:
    with online(table_of(SHAPE, ROWS, fresh()), ["a2", "a0"], **SHARP) as asked:
        assert asked.domain.names == ("a2", "a0")
        only = np.zeros((2, 1), np.bool_)
        only[1] = True
        assert abs(float(asked.count(only)) - 400) < 60


# Ends, and entering again.


def test_a_session_ends_once() -> None:
    asked = session()
    asked.count(CELLS[0])
    asked.close()
    asked.close()
    with pytest.raises(Refused) as refused:
        asked.count(CELLS[0])
    assert refused.value.code == "session-closed"


def kinds() -> Iterator[dict[str, Any]]:
    yield {"start": False, "updates": 2}
    yield {"updates": 1, "error": 30}
    yield {"method": "direct", "queries": 5}
    yield {"method": "histogram"}


def state_of(asked: OnlineSession) -> tuple[Any, ...]:
    cells = None if asked.model is None else asked.model.cells.tolist()
    return cells, asked.updates_left, asked.queries_left, getattr(asked._way, "_known", None)


def whoever_is_killed_goes_on() -> None:
    """Killed at every step of every draw, and then asked other questions: nothing is spent anew, what was measured comes back, no
    more is drawn than was granted, and entering a third and a fourth time finds one and the same."""
    for options in kinds():
        step, came = 1, True
        while came:
            measure = Unmetered(Tape(step))
            first: dict[int, float] = {}
            with killed_at(step) as reached:
                try:
                    with session(measure, key="k", **options) as asked:
                        for at, mask in enumerate(CELLS[:4]):
                            answer = asked.count(mask)
                            if not answer.free:
                                first[at] = answer.value
                        raise Kill
                except Kill:
                    came = reached()
            price = measure.spent.terms
            try:
                again_and_again(measure, options, first)
            except Refused as refusal:
                # all that a session rests on was lost
                assert (refusal.code == "draw-lost" and options.get("start") is False) or options.get(
                    "method"
                ) == "histogram"
            assert measure.spent.terms == price
            step += 1
        assert step > 3


def again_and_again(measure: Unmetered, options: dict[str, Any], first: dict[int, float]) -> None:
    """Entered again, asked from the other end, and killed; then entered twice more."""
    try:
        with session(measure, key="k", **options) as asked:
            for at, value in first.items():
                answer = asked.count(CELLS[at])
                assert answer.free and answer.value == value, "what was measured before"
            left = asked.updates_left
            answers = [asked.count(mask) for mask in CELLS[:-4:-1] if asked.queries_left]
            if asked.way is Way.WEIGHTS:
                assert left - sum(not answer.free for answer in answers) == asked.updates_left >= 0
            raise Kill
    except Kill:
        pass
    with pytest.raises(Kill), session(measure, key="k", **options) as asked:
        third = state_of(asked)
        for answer, mask in zip(answers, CELLS[:-4:-1], strict=False):
            if not answer.free:
                assert asked.count(mask).value == answer.value
        raise Kill
    with session(measure, key="k", **options) as asked:
        assert state_of(asked) == third
        for at, value in first.items():
            assert asked.count(CELLS[at]).value == value


def test_whoever_is_killed_goes_on() -> None:
    whoever_is_killed_goes_on()


def a_lost_round_costs_an_update() -> None:
    """Killed within a round, which is not kept: it comes back as one update less."""
    measure = fresh()
    everybody = np.ones((1,) * len(SHAPE), np.bool_)
    with pytest.raises(Kill), session(measure, start=False, updates=2, key="k") as asked:
        assert asked.count(everybody).checked and asked.updates_left == 2
        raise Kill
    with session(measure, start=False, updates=2, key="k") as asked:
        assert asked.updates_left == 1
        assert not asked.count(CELLS[0]).free and asked.updates_left == 0
        assert not asked.count(everybody).checked


def test_a_lost_round_costs_an_update() -> None:
    a_lost_round_costs_an_update()


def what_was_closed_is_answered_for_ever() -> None:
    """Under its key a session that has ended answers what it knows, and draws no more."""
    for options in kinds():
        measure = fresh()
        with session(measure, key="k", **options) as asked:
            values = [asked.count(mask) for mask in CELLS[:3]]
            hits = [i for i, answer in enumerate(values) if not answer.free]
        with session(measure, key="k", **options) as asked:
            assert all(asked.count(CELLS[i]).value == values[i].value for i in hits)
            if asked.way is Way.DIRECT:
                with pytest.raises(Refused) as refused:
                    asked.count(CELLS[4])
                assert refused.value.code == "key-settled"
            else:
                assert asked.count(CELLS[4]).free
                assert asked.way is Way.HISTOGRAM or not asked.count(CELLS[5]).checked


def test_what_was_closed_is_answered_for_ever() -> None:
    what_was_closed_is_answered_for_ever()


def test_a_sequence_that_was_cut_is_not_gone_on_with() -> None:
    """An engine that fails within a draw: the session refuses until it is entered again."""
    measure = fresh()
    asked = session(measure, start=False, updates=2, key="k")
    fails = [True]
    exact = asked._way._counts.count  # type: ignore[attr-defined]

    def count(cells: Any) -> Any:
        if fails[0]:
            raise Fault("the engine is gone", code="engine")
        return exact(cells)

    asked._way._counts.count = count  # type: ignore[attr-defined]
    with pytest.raises(Fault, match="engine"):
        asked.count(CELLS[0])
    fails[0] = False
    with pytest.raises(Refused) as refused:
        asked.count(CELLS[0])
    assert refused.value.code == "session-cut"


def test_a_key_is_of_one_session() -> None:
    measure = fresh()
    with session(measure, key="k"):
        with pytest.raises(Refused, match="elsewhere"):
            session(measure, key="k")
        with pytest.raises(Refused, match="another request"):
            session(measure, key="k", epsilon=50)


# Twins: nothing but draws tells neighbours apart, and each draw is given what it is made for.


def neighbours(adjacency: Adjacency) -> Iterator[tuple[Any, Any]]:
    rows = ROWS[::100]
    for code in ([0, 0, 0], [1, 1, 0], [1, 2, 1]):
        other = np.vstack([rows, [code]])
        yield (rows, other) if adjacency is Adjacency.ADD_REMOVE else (np.vstack([rows, [[0, 1, 1]]]), other)
    if adjacency is Adjacency.ADD_REMOVE:
        yield rows[:1], rows[:0]


def nothing_tells_neighbours_apart() -> None:
    for adjacency in Adjacency:
        for options in kinds():
            for first, second in neighbours(adjacency):

                def run(rows: Any, draws: Any, options: Any = options, adjacency: Any = adjacency) -> Any:
                    table = table_of(SHAPE, rows, draws.measure, Relation(adjacency))
                    with online(table, **{**SHARP, **options, "error": 10, "epsilon": 100}) as asked:
                        answers = [asked.count(mask) for mask in CELLS[:5]]
                        return [[each.value, each.free, each.checked] for each in answers], asked.updates_left

                report = compare(first, second, run)
                assert report.same and report.first.answered, str(report)


def test_nothing_tells_neighbours_apart() -> None:
    nothing_tells_neighbours_apart()


def test_terms_are_those_of_the_way() -> None:
    with session() as asked:
        assert isinstance(asked.terms, WeightsTerms) and "weights" in repr(asked) and "→ weights" in str(asked.plan)
    with session(method="direct") as asked:
        assert isinstance(asked.terms, DirectTerms) and asked.model is None
