"""Laws of MWEM: what is charged, what is drawn, what is learned, and what comes back to whoever was stopped."""

import json
import os
import signal
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from discreet.audit.twins import compare
from discreet.curator.session import Curator
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms.allowance import Allowance
from discreet.mechanisms.hand import FRESH, Turn, Use
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from discreet.privacy import Relation, events, loss
from discreet.weights.arrays import ArrayTable
from discreet.weights.histogram_learning import mwem
from discreet.weights.model import Learned
from discreet.weights.workload import Workload
from discreet.weights.worst import Progress
from tests.weights.tables import ADDED, RELATIONS, REPLACED, chain, dense, domain

OFF: dict[str, Any] = {"start": False, "replay": False, "adaptive": False, "whole": False}
DELTA = F(1, 10**6)
KINDS: dict[str, dict[str, Any]] = {
    "residuals": {"delta": DELTA},
    "residuals-pure": {},
    "rounds": {"delta": DELTA, "rounds": 4},
    "rounds-pure": {"rounds": 4},
    "textbook": {"delta": DELTA, **OFF},
    "textbook-pure": {**OFF},
    "no-start": {"delta": DELTA, "rounds": 3, "start": False},
    "no-replay": {"delta": DELTA, "rounds": 3, "replay": False},
    "cells": {"rounds": 3, "whole": False},
    "steady": {"delta": DELTA, "rounds": 3, "adaptive": False},
}
SHAPE = (2, 2, 3)
ROWS = np.random.default_rng(0).integers(0, SHAPE, size=(60, 3))
KEPT: dict[str, Any] = {"key": "k"}


class Noting:
    """A hand that notes what is used, draws as every release does, and may stop before or after a draw."""

    def __init__(self, stop: int | None = None, *, lost: bool = False) -> None:
        self.uses: list[Use] = []
        self.stop, self.lost = stop, lost

    def begin(self, use: Use) -> Turn:
        self.uses.append(use)
        if self.stop == len(self.uses) and self.lost:
            raise Stopped
        return FRESH

    @property
    def events(self) -> list[events.Event]:
        """What was drawn, from the mechanisms themselves."""
        return [use.mechanism.event(use.sensitivity) for use in self.uses]  # type: ignore[arg-type]


class Stopped(Exception):
    pass


def learned(kind: str, measure: Unmetered | None = None, relation: Relation = ADDED, **more: Any) -> Learned:
    table = ArrayTable(domain(SHAPE), ROWS, measure, relation)
    return mwem(table, epsilon=1, workload=2, **{**KINDS[kind], **more})


def spending_is_the_composition_of_what_was_drawn() -> None:
    """What is charged is the loss of the event, and keeps the promise; what was drawn, composed by itself, fits and costs no more."""
    for kind in KINDS:
        for relation in RELATIONS:
            hand = Noting()
            measure = Unmetered(Tape(1), hand)
            found = learned(kind, measure, relation)
            delta = float(found.promise.delta)
            assert measure.spent.terms == loss(found.event).terms
            assert loss(found.event).certifies(*found.promise)
            assert loss(found.event).epsilon(delta) > 0.9999, "what may be spent is spent"
            left = Allowance(found.event)
            for event in hand.events:
                left.take(event)
            composed = loss(events.Composed(tuple(hand.events)))
            if all(isinstance(each, events.Gaussian) for each in hand.events) or not delta:
                assert composed.epsilon(delta) <= 1 + 1e-12, kind
            else:
                assert composed.zcdp() <= loss(found.event).zcdp(), kind
            with pytest.raises(Fault):
                left.take(hand.events[-1])


def test_spending_is_the_composition_of_what_was_drawn() -> None:
    spending_is_the_composition_of_what_was_drawn()


def twins_see_the_same() -> None:
    """Whoever is handed what was released on one table releases the same of its neighbour, and no draw meets more than it is made for."""
    near = {
        ADDED: [ROWS[:-1], np.vstack([ROWS, [[1, 1, 2]]])],
        REPLACED: [np.vstack([ROWS[:-1], [each]]) for each in ([1, 1, 2], [0, 0, 0], [1, 0, 1])],
    }
    for kind in KINDS:
        for relation, others in near.items():
            for other in others:

                def run(rows: Any, draws: Any, kind: str = kind, relation: Relation = relation) -> Any:
                    table = ArrayTable(domain(SHAPE), rows, draws.measure, relation)
                    found = mwem(table, epsilon=1, workload=2, **KINDS[kind])
                    return found.model.weights.tolist(), [each.values.tolist() for each in found.measured]

                report = compare(ROWS, other, run, seed=3)
                assert report.same, (kind, str(relation), str(report))


def test_twins_see_the_same() -> None:
    twins_see_the_same()


def rounds_are_capped_before_data_is_seen() -> None:
    for kind, some in KINDS.items():
        hand = Noting()
        found = learned(kind, Unmetered(Tape(2), hand))
        most = some.get("rounds", 10 if "textbook" in kind else 0)
        assert len(found.rounds) <= most
        assert len(hand.uses) <= 1 + 2 + 2 * most
        assert all(each.deviation > 0 and each.error >= 0 for each in found.rounds)


def test_rounds_are_capped_before_data_is_seen() -> None:
    rounds_are_capped_before_data_is_seen()


def released(found: Learned) -> Any:
    return found.model.weights.tolist(), found.rounds, [each.values.tolist() for each in found.measured]


class Breaking(Unmetered):
    """A measure that stops whoever draws after so many draws, which are kept."""

    def __init__(self, source: Tape) -> None:
        super().__init__(source, Noting())
        self.stop: int | None = None

    def broken(self, stop: int | None, *, lost: bool = False) -> "Breaking":
        self._hand = Noting(stop, lost=lost)
        return self


def whoever_was_stopped_goes_on() -> None:
    """After an exception in any draw the next entry gets what was released before, draws the rest, and no draw is made twice."""
    for kind in ("residuals", "rounds", "rounds-pure", "textbook-pure"):
        hand = Noting()
        learned(kind, Unmetered(Tape(5), hand), **KEPT)
        draws = len(hand.uses)
        for stop in range(2, draws + 1):
            measure = Breaking(Tape(5))
            with pytest.raises(Stopped):
                learned(kind, measure.broken(stop, lost=True), **KEPT)
            before = [each.value for each in measure._records["k"].drawn]
            assert before[:-1] == [each for each in before[:-1] if each is not None] and before[-1] is None
            found = learned(kind, measure.broken(None), **KEPT)
            after = [each.value for each in measure._records["k"].drawn]
            assert after[: stop - 1] == before[:-1] and after[stop - 1] is None, "a draw that was lost was made again"
            assert released(found) == released(learned(kind, measure, **KEPT)), "it comes back under its key"
            assert len(measure._spent) == 1


def test_whoever_was_stopped_goes_on() -> None:
    whoever_was_stopped_goes_on()


def progress_may_end_a_run() -> None:
    """Between draws nothing is lost: whoever is stopped there ends with what an undisturbed run of the same noise ends with."""
    for kind in ("rounds", "textbook-pure"):
        whole = learned(kind, Unmetered(Tape(6)), **KEPT)
        for at in range(3):
            measure = Unmetered(Tape(6))

            def stop(state: Progress, at: int = at) -> None:
                if state.done == at:
                    raise Stopped

            with pytest.raises(Stopped):
                learned(kind, measure, progress=stop, **KEPT)
            assert released(learned(kind, measure, **KEPT)) == released(whole)


def test_progress_may_end_a_run() -> None:
    progress_may_end_a_run()


def test_a_lost_size_is_said() -> None:
    measure = Breaking(Tape(7))
    with pytest.raises(Stopped):
        learned("rounds", measure.broken(1, lost=True), **KEPT)
    with pytest.raises(Refused) as refusal:
        learned("rounds", measure.broken(None), **KEPT)
    assert refusal.value.code == "draw-lost"


def accuracy(kind: dict[str, Any], epsilon: float = 1, seed: int = 0) -> float:
    """The mean L1 error of pairs, as a share of all units: 6 binary attributes, a chain of 20,000 units."""
    shape, rows = (2,) * 6, chain(20_000, 6, seed)
    workload = Workload.margins(domain(shape), 2)
    table = ArrayTable(domain(shape), rows, Unmetered(Tape(seed)))
    found = mwem(table, epsilon=epsilon, workload=workload, **kind)
    exact = workload.steps(dense(tuple(map(tuple, rows.tolist())), shape))
    return float(np.abs(workload.answers(found.model) - exact).sum() / len(workload.groups) / len(rows))


def improvements_improve() -> None:
    """Far more than noise could: each bound is several times what was seen with ten other seeds."""
    assert accuracy({"delta": DELTA}) < 0.004
    assert accuracy({}) < 0.006
    assert accuracy({"delta": DELTA, "rounds": 6}) < 0.008
    assert accuracy({"delta": DELTA, "rounds": 12, "start": False}) < 0.03
    assert accuracy({"delta": DELTA, "rounds": 30, "start": False, "whole": False, "adaptive": False}) < 0.1
    assert 0.1 < accuracy({"delta": DELTA, "rounds": 60, **OFF}) < accuracy({"delta": DELTA, **OFF}) < 0.75


def test_improvements_improve() -> None:
    improvements_improve()


def other_workloads_are_learned() -> None:
    shape = (16, 2)
    random = np.random.default_rng(1)
    rows = np.stack([np.minimum(random.geometric(0.2, 30_000) - 1, 15), random.integers(0, 2, 30_000)], axis=1)
    place = domain(shape)
    workload = Workload.ranges(place, "a0") + Workload.predicates(place, 50, 2, Tape(2))
    cells = dense(tuple(map(tuple, rows.tolist())), shape)
    for more in ({}, {"start": False, "rounds": 20}, {"delta": DELTA}):
        found = mwem(ArrayTable(place, rows, Unmetered(Tape(3))), epsilon=1, workload=workload, **more)
        error = np.abs(workload.answers(found.model) - workload.steps(cells) / workload.unit).max() / len(rows)
        assert error < 0.05, more
    weighted = Workload.listed(place, [np.linspace(0, 1, 16).reshape(16, 1)])
    found = mwem(ArrayTable(place, rows, Unmetered(Tape(4))), epsilon=1, workload=weighted, start=False, rounds=2)
    exact = weighted.steps(cells) / weighted.unit
    assert abs(weighted.answers(found.model) - exact).item() < 30


def test_other_workloads_are_learned() -> None:
    other_workloads_are_learned()


def impossible_combinations_stay_so() -> None:
    mask = np.zeros((2, 2, 1), bool)
    mask[1, 1] = True
    for kind in KINDS:
        found = learned(kind, Unmetered(Tape(9)), impossible=[mask])
        assert not found.model.marginal((0, 1))[1, 1]
        rows = found.model.draw(500, Tape(1))
        assert not ((rows[:, 0] == 1) & (rows[:, 1] == 1)).any()


def test_impossible_combinations_stay_so() -> None:
    impossible_combinations_stay_so()


def test_measured_marginals_are_near_the_truth() -> None:
    """Within 6 of their deviations, all of them."""
    cells = dense(tuple(map(tuple, ROWS.tolist())), SHAPE)
    found = mwem(ArrayTable(domain(SHAPE), ROWS, Unmetered(Tape(4))), epsilon=50, delta=DELTA, workload=2)
    assert {each.axes for each in found.measured} == {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)}
    for each in found.measured:
        others = tuple(set(range(3)) - set(each.axes))
        assert np.abs(each.values - cells.sum(axis=others)).max() < 6 * each.deviation


def test_progress_tells_each_round() -> None:
    seen: list[Progress] = []
    found = learned("steady", Unmetered(Tape(3)), progress=seen.append)
    assert [each.done for each in seen] == [0, 1, 2, 3] and {each.most for each in seen} == {3}
    assert (seen[-1].model.weights == found.model.weights).all()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"workload": 0}, "workload"),
        ({"workload": 2.5}, "workload"),
        ({"workload": Workload.margins(domain((2, 2)), 1)}, "another domain"),
        ({"rounds": -1}, "rounds"),
        ({"rounds": 5000}, "at most"),
        ({"rounds": 0, "start": False}, "nothing is measured"),
        ({"rounds": 0, "workload": Workload.listed(domain(SHAPE), [np.ones((1, 1, 1), bool)])}, "nothing is measured"),
        ({"attributes": ["nothing"]}, "no attribute"),
        ({"impossible": [np.ones(SHAPE, bool)]}, "impossible"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_spent(more: dict[str, Any], words: str) -> None:
    measure = Unmetered(Tape(0))
    table = ArrayTable(domain(SHAPE), ROWS, measure)
    with pytest.raises(Invalid, match=words):
        mwem(table, **{"epsilon": 1, **more})
    assert not measure._spent


def test_an_empty_table_is_learned() -> None:
    for kind in KINDS:
        table = ArrayTable(domain(SHAPE), np.zeros((0, 3), int), Unmetered(Tape(1)))
        found = mwem(table, epsilon=1, workload=2, **KINDS[kind])
        assert np.isfinite(found.model.weights).all()


def test_attributes_of_one_cell_are_no_trouble() -> None:
    shape = (2, 1, 3)
    rows = np.random.default_rng(0).integers(0, shape, size=(50, 3))
    for kind in KINDS:
        found = mwem(ArrayTable(domain(shape), rows, Unmetered(Tape(1))), epsilon=1, workload=3, **KINDS[kind])
        assert found.model.weights.shape == shape


def test_some_attributes_are_learned() -> None:
    found = learned("residuals", Unmetered(Tape(1)), attributes=["a2", "a0"])
    assert found.model.domain.names == ("a2", "a0")


def killed_runs_go_on() -> None:
    """A process that is killed between draws, with a ledger on disk: the next one is told the same models and goes on at no new charge."""
    with TemporaryDirectory() as folder:

        def run(progress: Callable[[Progress], None]) -> tuple[Learned, Curator]:
            people = {"visits": {"patient": ["p1", "p2"]}}
            with Curator(people, "patient", epsilon=1, ledger=Path(folder) / "ledger") as found:
                table = ArrayTable(domain(SHAPE), ROWS, found.measure, found.catalog.protected.relation)
                return mwem(
                    table, epsilon=F(1, 2), workload=2, rounds=4, adaptive=False, key="k", progress=progress
                ), found

        told: list[list[list[float]]] = []
        for at in (1, 3):
            ear, mouth = os.pipe()
            child = os.fork()
            if not child:

                def tell(state: Progress, mouth: int = mouth, at: int = at) -> None:
                    os.write(mouth, json.dumps(state.model.weights.reshape(-1).tolist()).encode() + b"\n")
                    if state.done == at:
                        os.kill(os.getpid(), signal.SIGKILL)

                try:
                    run(tell)
                finally:
                    os._exit(0)
            os.close(mouth)
            with os.fdopen(ear) as said:
                told.append([json.loads(line) for line in said])
            _, status = os.waitpid(child, 0)
            assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        models: list[list[float]] = []
        run(lambda state: models.append(state.model.weights.reshape(-1).tolist()))
        assert told[0] == models[:2] and told[1] == models[:4]
        with Curator(
            {"visits": {"patient": ["p1", "p2"]}}, "patient", epsilon=1, ledger=Path(folder) / "ledger"
        ) as last:
            assert last.spent.epsilon == F(1, 2)


def test_killed_runs_go_on() -> None:
    killed_runs_go_on()
