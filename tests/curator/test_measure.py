"""One charge, one draw: over threads, processes, forks, kills and copies, what is handed out never exceeds what was charged.

Draws are told apart by their values: the noise is so wide that two draws are never alike.
"""

import os
import pickle
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from discreet.curator.draws import entered
from discreet.curator.randomness import SECURE
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.errors import DiscreetError, Fault, Invalid, Refused
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.measure import Grant
from discreet.privacy import Adjacency, Relation, Unit, events
from tests.curator.cases import Place, code_of, creation, place, request
from tests.scale import repeats

WIDE, STEPS = Geometric(Fraction(10**9)), 1000
EVENT = WIDE.event(STEPS)
EXACT = 42


def curator(folder: Path, **more: Any) -> Curator:
    return Curator({"visits": {"patient": ["p1", "p2"]}}, "patient", epsilon=1, ledger=folder / "ledger", **more)


@contextmanager
def hospital() -> Iterator[Curator]:
    """A curator on a file system without a disk, where there is one."""
    with place() as spot, curator(spot.folder) as found:
        yield found


def never() -> int:
    raise AssertionError("the exact value was looked at")


def draw(grant: Grant) -> int:
    return int(grant(WIDE, STEPS, lambda: EXACT))


def told(act: Callable[[], object]) -> str:
    """What an act does in a forked child: what it returns, or the code of what it raises; "" if it says nothing."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(mouth, str(act()).encode())
        except DiscreetError as error:
            os.write(mouth, error.code.encode())
        finally:
            os._exit(0)
    os.close(mouth)
    with os.fdopen(ear, "rb") as said:
        heard = said.read().decode()
    os.waitpid(child, 0)
    return heard


# The ways in which one charge once gave many draws.


def test_entered_200_times_at_once_it_is_granted_once() -> None:
    with hospital() as found, ExitStack() as inside:
        grants, refusals = [], []
        for _ in range(200):
            try:
                grants.append(inside.enter_context(found.measure(EVENT, key="k")))
            except Refused as refusal:
                refusals.append(refusal.code)
        assert len(grants) == 1 and refusals == ["grant-held"] * 199
        draw(grants[0])
        assert found.spent.epsilon == Fraction(1, 10**6)


def entered_by_one_thread() -> None:
    with hospital() as found, ThreadPoolExecutor(8) as pool:

        def enter(_: int) -> int | None:
            try:
                with found.measure(EVENT, key="k") as grant:
                    return draw(grant)
            except Refused as refusal:
                assert refusal.code == "grant-held"
                return None

        values = list(pool.map(enter, range(repeats(40))))
    assert len({value for value in values if value is not None}) == 1


def test_threads_that_enter_under_one_key_get_one_draw() -> None:
    entered_by_one_thread()


def test_processes_that_enter_under_one_key_get_one_draw() -> None:
    """Each opens the ledger for itself; some are inside at once, some after one another."""
    with place() as spot:
        curator(spot.folder).close()
        ear, mouth = os.pipe()
        children = []
        for _ in range(4):
            children.append(os.fork())
            if children[-1] == 0:
                try:
                    with curator(spot.folder) as found:
                        for _ in range(repeats(5)):
                            with suppress(Refused), found.measure(EVENT, key="k") as grant:
                                os.write(mouth, f"{draw(grant)}\n".encode())
                finally:
                    os._exit(0)
        os.close(mouth)
        with os.fdopen(ear, "rb") as said:
            values = said.read().split()
        for child in children:
            os.waitpid(child, 0)
    assert len(values) >= 4 and len(set(values)) == 1


def killed_inside_gives_one_draw() -> None:
    with place() as spot:
        curator(spot.folder).close()

        def enter() -> None:
            with curator(spot.folder) as found, found.measure(EVENT, key="k") as grant:
                print_and_die(draw(grant))

        values = {told_by_dying(enter) for _ in range(repeats(20))}
        assert len(values) == 1 and values != {""}
        with curator(spot.folder) as found:
            assert found.spent.epsilon == Fraction(1, 10**6)
            assert found._store.verify().spent.epsilon > 0


def print_and_die(value: int) -> None:
    os.write(LOUD[-1], str(value).encode())
    os._exit(9)


LOUD: list[int] = []
"""Where a child that dies has its last word."""


def told_by_dying(act: Callable[[], object]) -> str:
    ear, mouth = os.pipe()
    LOUD.append(mouth)
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    os.close(LOUD.pop())
    with os.fdopen(ear, "rb") as said:
        heard = said.read().decode()
    os.waitpid(child, 0)
    return heard


def test_who_is_killed_inside_and_enters_again_gets_the_same_draw() -> None:
    killed_inside_gives_one_draw()


def test_what_protects_other_neighbours_is_refused_before_anything_is_spent() -> None:
    """Of rows, where the ledger protects people, whose each row is has to be said."""
    row, person = (Relation(Adjacency.ADD_REMOVE, unit) for unit in (Unit.ROW, Unit.PERSON))
    hints = {
        events.Under(EVENT, row): "ids=",
        events.Under(EVENT, Relation(Adjacency.REPLACE, Unit.PERSON)): "sensitivities",
    }
    with hospital() as found:
        for event, hint in hints.items():
            with pytest.raises(Invalid, match="ledger is kept under 'add-remove one person'") as refusal:
                found.measure(event, key="k")
            assert refusal.value.code == "relation" and hint in (refusal.value.hint or "")
        assert found.spent.epsilon == 0
        with found.measure(events.Under(EVENT, person), key="k") as grant:
            draw(grant)


def test_a_grant_cannot_be_copied() -> None:
    with hospital() as found, found.measure(EVENT, key="k") as grant:
        for copied in (deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                copied(grant)
        draw(grant)


def a_fork_inside_draws_nothing() -> None:
    with hospital() as found:
        with found.measure(events.Repeated(EVENT, 9), key="k") as grant:
            assert {told(lambda: draw(grant)) for _ in range(8)} == {"grant-process"}
            draw(grant)
        assert len(found._store.drawn(2)) == 1


def test_a_forked_child_draws_nothing() -> None:
    a_fork_inside_draws_nothing()


def test_a_child_that_runs_out_of_the_block_ends_nothing() -> None:
    """Nor does it let another in while its parent is inside, nor keep others out after its parent was killed."""
    with hospital() as found:
        with found.measure(events.Repeated(EVENT, 2), key="k") as grant:
            first = draw(grant)
            child = os.fork()
            if child:
                os.waitpid(child, 0)
                assert code_of(found.measure(events.Repeated(EVENT, 2), key="k").__enter__) == "grant-held"
                assert code_of(lambda: first == draw(grant)) == "no error"
        if not child:
            os._exit(0)
        assert len(found._store.drawn(2)) == 2


def lock_dies_with_its_holder(spot: Place) -> None:
    store = spot.open(creation())

    def enter() -> AbstractContextManager[Grant]:
        return entered(store, request("k", Fraction(1, 10**6), event=EVENT.to_json()), EVENT, SECURE, None)

    ear, mouth = os.pipe()
    if (child := os.fork()) == 0:
        with enter():
            if os.fork() == 0:
                os.close(mouth)
                os.read(ear, 1)  # lives until the test ends
            os._exit(9)
    os.waitpid(child, 0)
    try:
        with ExitStack() as inside:
            assert code_of(lambda: inside.enter_context(enter())) == "no error"
    finally:
        os.close(mouth)
        os.close(ear)


def test_a_lock_dies_with_its_holder_and_not_with_its_children(spot: Place) -> None:
    lock_dies_with_its_holder(spot)


# What whoever enters again gets.


def values_come_back() -> None:
    event = events.Repeated(EVENT, 4)
    with hospital() as found:
        with pytest.raises(KeyError), found.measure(event, key="k") as grant:
            first = [draw(grant) for _ in range(2)]
            raise KeyError
        with pytest.raises(ZeroDivisionError), found.measure(event, key="k") as grant:
            assert [grant(WIDE, STEPS, never) for _ in range(2)] == first
            grant(WIDE, STEPS, lambda: 1 // 0)
        with found.measure(event, key="k") as grant:
            assert grant.taken == 3
            assert [grant(WIDE, STEPS, never) for _ in range(2)] == first
            assert code_of(lambda: grant(WIDE, STEPS, never)) == "draw-lost"
            first.append(draw(grant))
            assert code_of(lambda: grant(WIDE, STEPS, never)) == "grant"
        with found.measure(event, key="k") as grant:
            assert [grant(WIDE, STEPS, never) for _ in range(2)] == first[:2]
            assert code_of(lambda: grant(WIDE, STEPS, never)) == "draw-lost"
            assert grant(WIDE, STEPS, never) == first[2]
            assert code_of(lambda: grant(WIDE, STEPS, never)) == "key-settled"
        assert found.spent.epsilon == Fraction(4, 10**6) and len(set(first)) == 3
        found._store.verify()


def test_draws_come_back_in_their_order_and_then_it_goes_on() -> None:
    values_come_back()


def test_vectors_and_sampled_draws_come_back() -> None:
    noise, rate = RoundedGaussian(Fraction(10**6)), Fraction(1, 2)
    event = events.Repeated(events.Sampled(rate, noise.event(1)), 3)

    def step(grant: Grant, exact: Callable[[Any], Any]) -> list[int]:
        return list(grant.sampled(noise, 1, exact, rate=rate, among=10).tolist())

    with place() as spot, curator(spot.folder, delta=1e-6) as found:
        with pytest.raises(KeyError), found.measure(event, key="k") as grant:
            first = step(grant, lambda batch: np.full(5, batch.size))
            raise KeyError
        with found.measure(event, key="k") as grant:
            assert step(grant, lambda batch: never()) == first
            step(grant, lambda batch: np.full(5, batch.size))


def test_another_entry_that_got_in_cannot_draw_what_was_drawn() -> None:
    """Where the lock fails (a pooler before a server, a file system without locks) the ledger itself refuses the second."""
    event = events.Repeated(EVENT, 3)
    with hospital() as found, pytest.MonkeyPatch.context() as broken:
        broken.setattr(Store, "hold", lambda self, sequence: NoHold())
        with suppress(KeyError), found.measure(event, key="k") as one, found.measure(event, key="k") as two:
            first = draw(one)
            assert code_of(lambda: two(WIDE, STEPS, never)) == "grant-held"
            with found.measure(event, key="k") as three:
                assert three(WIDE, STEPS, never) == first
                draw(three)
            assert code_of(lambda: one(WIDE, STEPS, never)) == "key-settled"
            raise KeyError


class NoHold:
    def release(self) -> None:
        """There is nothing to release."""


def blocks_are_taken_once() -> None:
    event = events.Repeated(EVENT, 7)
    with place() as spot:
        curator(spot.folder).close()
        handed: list[str] = []
        for times in (1, 3, 2, 7):  # of blocks of 3, 3 and 1

            def enter(times: int = times) -> None:
                with curator(spot.folder) as found, found.measure(event, key="k", kept=False, block=3) as grant:
                    for _ in range(times):
                        with suppress(Fault):
                            os.write(LOUD[-1], f"{draw(grant)} ".encode())
                    os._exit(9)

            handed += told_by_dying(enter).split()
        assert len(handed) == len(set(handed)) == 1 + 3 + 1
        with curator(spot.folder) as found:
            with found.measure(event, key="k", kept=False, block=3) as grant:
                assert grant.taken == 3 and code_of(lambda: grant(WIDE, STEPS, never)) == "grant"
            assert code_of(found.measure(event, key="k", kept=False, block=3).__enter__) == "key-settled"
            assert [each.value for each in found._store.drawn(2)] == [None] * 3


def test_a_block_that_was_taken_is_never_given_again() -> None:
    blocks_are_taken_once()


# Killed at every step.


@dataclass
class Steps:
    """Counts the steps of a measurement, and ends the process at one of them."""

    last: int = -1
    count: int = 0

    def step(self) -> None:
        if self.count == self.last:
            os._exit(9)
        self.count += 1

    @contextmanager
    def watched(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("reserve", "hold", "drawn", "begin_draw", "keep_draw", "end_draws"):
                patch.setattr(Store, name, self._around(getattr(Store, name)))
            yield

    def _around(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: Any) -> Any:
            self.step()
            done = act(*given)
            self.step()
            return done

        return stepped


DRAWS = 3


def loop(found: Curator, steps: Steps, say: Callable[[str], object]) -> None:
    """What a training loop does: it makes its draws in order, and leaves out those that are lost."""

    def exact(number: int) -> int:
        say(f"read {number}")
        steps.step()
        return EXACT

    with steps.watched(), found.measure(events.Repeated(EVENT, DRAWS), key="k") as grant:
        for number in range(DRAWS):
            try:
                say(f"out {number} {grant(WIDE, STEPS, lambda number=number: exact(number))}")
            except Refused as refusal:
                if refusal.code != "draw-lost":
                    raise
            steps.step()


def killed_at_any_step_is_one_sequence(kills: tuple[int, ...]) -> bool:
    """Entered by processes that are killed at these steps, and then to the end; whether the last kill was within the loop."""
    with place() as spot:
        curator(spot.folder).close()
        heard = ""
        for at in kills:

            def enter(at: int = at) -> None:
                with curator(spot.folder) as found:
                    loop(found, Steps(at), lambda text: os.write(LOUD[-1], f"{text}\n".encode()))
                    os.write(LOUD[-1], b"done\n")
                    os._exit(9)

            heard += told_by_dying(enter)
        lines = heard.splitlines()
        with curator(spot.folder) as found:
            loop(found, Steps(), lines.append)
            again: list[str] = []
            loop(found, Steps(), again.append)  # what has ended comes back, and reads nothing
            assert found.spent.epsilon == Fraction(DRAWS, 10**6)
            found._store.verify()
        values, reads = defaultdict(set), defaultdict(int)
        for what, number, *value in (line.split() for line in lines + again if line != "done"):
            if what == "out":
                values[number].add(value[0])
            else:
                reads[number] += 1
        assert all(len(each) == 1 for each in values.values()), "a draw had two values"
        assert all(each == 1 for each in reads.values()), "an exact value was read twice for one draw"
        assert all(line.startswith("out") for line in again) and len(values) >= DRAWS - len(kills)
        return "done" not in lines


def killed_while_reading_reads_once() -> None:
    for at in range(5, 10):
        killed_at_any_step_is_one_sequence((at,))


def test_killed_at_each_step_nothing_is_drawn_twice() -> None:
    at = 0
    while killed_at_any_step_is_one_sequence((at,)):
        at += 1
    assert at > 8 * DRAWS


def test_killed_again_and_again_nothing_is_drawn_twice() -> None:
    for at in range(repeats(10)):
        killed_at_any_step_is_one_sequence((at % 7 + 5, at % 11 + 9, at % 5 + 14))


# Anything, in any order.


@dataclass
class Model:
    """What a measurement should be: values by number, None for one that is lost."""

    values: list[int | None] = field(default_factory=list)
    ended: bool = False


GRANTED = 4


class Anything(RuleBasedStateMachine):
    """Enter, draw, fail, be killed, fork, finish; and enter again."""

    found: Curator
    keys = 0

    @initialize(counted=st.booleans())
    def start(self, counted: bool) -> None:
        type(self).keys += 1
        self.arguments = {"key": f"k{self.keys}", "kept": not counted}
        self.counted = counted
        self.model = Model()
        self.grant: Grant | None = None
        self.entry: Any = None
        self.dead: list[Any] = []
        self.at = 0

    def measure(self) -> Any:
        return self.found.measure(events.Repeated(EVENT, GRANTED), **self.arguments)

    @precondition(lambda self: self.grant is None)
    @rule()
    def enter(self) -> None:
        self.entry = self.measure()
        if self.model.ended and self.counted:
            assert code_of(self.entry.__enter__) == "key-settled"
            return
        self.grant = self.entry.__enter__()
        self.at = len(self.model.values) if self.counted else 0
        assert self.grant.taken == len(self.model.values)

    @precondition(lambda self: self.grant is not None)
    @rule(fails=st.booleans())
    def draw(self, fails: bool) -> None:
        assert self.grant is not None
        got = self.drawn(self.grant, fails)
        if self.at < len(self.model.values):
            assert got == (self.model.values[self.at] if self.model.values[self.at] is not None else "draw-lost")
        elif self.model.ended:
            assert got == "key-settled"
            return
        elif self.at == GRANTED:
            assert got == "grant"
            return
        else:
            assert got not in self.model.values and (got == "failed") is fails
            self.model.values.append(None if fails else int(got))
        self.at += 1

    @staticmethod
    def drawn(grant: Grant, fails: bool) -> Any:
        try:
            return grant(WIDE, STEPS, lambda: EXACT // (0 if fails else 1))
        except ZeroDivisionError:
            return "failed"
        except DiscreetError as error:
            return error.code

    @precondition(lambda self: self.grant is not None)
    @rule()
    def enter_twice(self) -> None:
        if not self.model.ended:
            assert code_of(self.measure().__enter__) == "grant-held"

    @precondition(lambda self: self.grant is not None)
    @rule()
    def fork(self) -> None:
        grant = self.grant
        assert grant is not None and told(lambda: draw(grant)) == "grant-process"

    @precondition(lambda self: self.grant is not None)
    @rule()
    def kill(self) -> None:
        """As if the process had ended: what it held is free, and nothing of it runs any more."""
        self.dead.append(self.entry)
        if HOLDS and not self.model.ended:
            HOLDS[-1].release()
        self.grant = None

    @precondition(lambda self: self.grant is not None)
    @rule(by_exception=st.booleans())
    def leave(self, by_exception: bool) -> None:
        if by_exception:
            with suppress(KeyError):
                self.entry.__exit__(KeyError, KeyError(), None)
        else:
            self.entry.__exit__(None, None, None)
            self.model.ended = self.model.ended or bool(self.model.values)
        self.grant = None

    def teardown(self) -> None:
        if getattr(self, "grant", None) is not None:
            self.leave(by_exception=True)
        for entry in getattr(self, "dead", []):
            with suppress(KeyError):
                entry.__exit__(KeyError, KeyError(), None)


HOLDS: list[Any] = []


def any_order_is_that_of_the_model(examples: int) -> None:
    hold = Store.hold

    def remembered(self: Store, sequence: int) -> Any:
        HOLDS.append(hold(self, sequence))
        return HOLDS[-1]

    with hospital() as found, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "hold", remembered)
        Anything.found = found
        run_state_machine_as_test(
            Anything, settings=settings(max_examples=examples, stateful_step_count=20, deadline=None)
        )
        found._store.verify()
    HOLDS.clear()


def test_any_order_of_entries_draws_and_kills_is_that_of_the_model() -> None:
    any_order_is_that_of_the_model(repeats(60))


# Where draws are kept.


def columns(folder: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "ledger" / "ledger.sqlite") as ledger:
        return ledger.execute("SELECT number, value FROM draws ORDER BY number").fetchall()


def test_what_is_kept_are_released_values_and_nothing_else() -> None:
    with place() as spot:
        with curator(spot.folder) as found, found.measure(events.Repeated(EVENT, 2), key="k") as grant:
            values = [draw(grant) for _ in range(2)]
        assert columns(spot.folder) == [(i, b"i" + hex(value).encode()) for i, value in enumerate(values, 1)]
        assert not list((spot.folder / "ledger").glob("*.lock"))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE draws SET value = x'6930783031' WHERE number = 1",
        "UPDATE draws SET value = NULL WHERE number = 1",
        "UPDATE draws SET number = 9 WHERE number = 2",
        "UPDATE draws SET what = '{}' WHERE number = 2",
        "DELETE FROM draws WHERE number = 1",
        "DELETE FROM draws WHERE number = 2",
        "UPDATE draws SET reservation = 1",
    ],
)
def test_draws_that_were_changed_are_not_given_out(change: str) -> None:
    with place() as spot:
        with curator(spot.folder) as found, found.measure(events.Repeated(EVENT, 2), key="k") as grant:
            assert draw(grant) != draw(grant)
        with sqlite3.connect(spot.folder / "ledger" / "ledger.sqlite") as ledger:
            ledger.execute(change)
        with curator(spot.folder) as found:
            assert code_of(found.measure(events.Repeated(EVENT, 2), key="k").__enter__) == "ledger-broken"
            assert code_of(found._store.verify) == "ledger-broken"


def an_old_copy_is_drawn_on_by_nobody() -> None:
    """Of a ledger that was copied inside of a measurement, and brought back after more draws were made."""
    event = events.Repeated(EVENT, 3)
    with place() as spot:
        interrupted(spot, event, 1)
        shutil.copytree(spot.ledger, spot.folder / "copy")
        interrupted(spot, event, 3)
        restored(spot)
        with curator(spot.folder) as found:
            assert code_of(found.measure(event, key="k").__enter__) == "rollback"
            with found.measure(event, key="new") as grant:
                draw(grant)


def interrupted(spot: Place, event: events.Event, times: int, key: str = "k") -> None:
    with curator(spot.folder) as found, suppress(KeyError), found.measure(event, key=key) as grant:
        for _ in range(times):
            draw(grant)
        raise KeyError


def restored(spot: Place) -> None:
    shutil.rmtree(spot.ledger)
    shutil.copytree(spot.folder / "copy", spot.ledger)


def test_a_ledger_that_was_accepted_measures_anew() -> None:
    """Its rows have the numbers of rows that are gone; what was drawn on those does not stop them."""
    event = events.Repeated(EVENT, 3)
    with place() as spot:
        curator(spot.folder).spent  # noqa: B018
        shutil.copytree(spot.ledger, spot.folder / "copy")
        interrupted(spot, event, 3, "lost")
        restored(spot)
        assert code_of(lambda: interrupted(spot, event, 1)) == "rollback"
        SQLiteStore.open(spot.ledger, creation=None, accept="the disk was replaced").close()
        for key in ("one", "two", "three"):
            interrupted(spot, event, 3, key)


def test_a_ledger_that_went_back_inside_of_a_measurement_is_not_drawn_on() -> None:
    an_old_copy_is_drawn_on_by_nobody()


def test_more_than_fits_is_lost_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.curator.page.MOST_KEPT", 100)
    with hospital() as found:
        with pytest.raises(Refused, match="kept=False"), found.measure(events.Repeated(EVENT, 2), key="k") as grant:
            draw(grant)
            grant(WIDE, STEPS, lambda: np.zeros(90, np.int64))
        with found.measure(events.Repeated(EVENT, 2), key="k") as grant:
            grant(WIDE, STEPS, never)
            assert code_of(lambda: grant(WIDE, STEPS, never)) == "draw-lost"


def test_a_ledger_of_release_0_1_is_measured_on() -> None:
    old = Path(__file__).parent.parent / "golden" / "formats" / "0.1"
    with TemporaryDirectory() as folder:
        place = Path(folder) / "kept"
        shutil.copytree(old, place)
        with SQLiteStore.open(place / "ledger", creation=None, mark=place / "mark") as store:
            store.verify()
            assert store.drawn(3) == []
        with Curator.open(place / "hospital.toml") as found:
            with found.measure(EVENT, key="new") as grant:
                value = draw(grant)
            with found.measure(EVENT, key="new") as grant:
                assert grant(WIDE, STEPS, never) == value
            found._store.verify()


def test_measurements_are_shared_with_nobody(tmp_path: Path) -> None:
    analysts = {"ana": {"epsilon": 1}, "bo": {"epsilon": 1}}
    with curator(tmp_path, analysts=analysts) as found:
        found._store.share_answers = True
        values = []
        for name in analysts:
            with found.measure(EVENT, key=f"of {name}", label="ages", analyst=name) as grant:
                values.append(draw(grant))
        assert len(set(values)) == 2 and found.spent.epsilon == Fraction(2, 10**6)


def test_every_kind_of_ledger_keeps_draws(spot: Place) -> None:
    event = events.Repeated(EVENT, 3)
    store = spot.open(creation())

    def enter(block: int | None = None) -> AbstractContextManager[Grant]:
        asked = request(f"k {block}", Fraction(3, 10**6), event=event.to_json())
        return entered(store, asked, event, SECURE, block)

    with suppress(KeyError), enter() as grant:
        first = [draw(grant)]
        assert code_of(enter().__enter__) == "grant-held"
        first += grant(WIDE, STEPS, lambda: np.arange(100)).tolist()
        raise KeyError
    store.verify()
    with enter() as grant:
        again = [grant(WIDE, STEPS, never), *grant(WIDE, STEPS, never)]
        assert again == first and draw(grant) not in first
    with enter() as grant:
        assert grant(WIDE, STEPS, never) == first[0]
    for _ in range(2):
        with suppress(KeyError), enter(2) as grant:
            draw(grant)
            raise KeyError
    with enter(2) as grant:
        assert grant.taken == 2 and code_of(lambda: grant(WIDE, STEPS, never)) == "grant"
    store.verify()
