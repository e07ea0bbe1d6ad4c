"""Planted bugs of audits: each makes the harness blind to a leak, or an audit a way around noise."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from discreet.audit.twins import compare
from tests.audit import runs, test_curators
from tests.audit.runs import LEAKS, SOUND, VICTIM, Rows, Run
from tests.mutants import Law, Mutant

REPLAY = "discreet.audit.twins.replay:"
DISTANCE = "discreet.audit.twins.distance:"
SEEN = "discreet.audit.twins.seen:"
RANDOMNESS = "discreet.curator.randomness:"
SESSION = "discreet.curator.session:"

PAIR = Rows((0, 1, VICTIM), (3, 4, 50)), Rows((0, 1), (3, 4))


def found(run: Run) -> Law:
    """The leak is reported for what it is, in both directions."""

    def law() -> None:
        for pair in (PAIR, PAIR[::-1]):
            assert LEAKS[run] in str(compare(*pair, run))

    return law


def sound(run: Run) -> Law:
    assert run in SOUND

    def law() -> None:
        for pair in (PAIR, PAIR[::-1]):
            for seed in range(60):
                assert compare(*pair, run, seed=seed).same

    return law


def in_folder(law: Callable[[Path], None]) -> Law:
    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            law(Path(folder))

    return check


def sampled_newcomers_count() -> None:
    """Whoever is only in the second data set is in every batch: a value that is not clamped shows, whatever is drawn."""
    for seed in range(20):
        assert "in L1" in str(compare(*PAIR[::-1], sampled_without_a_clamp, seed=seed))


def sampled_without_a_clamp(rows: Rows, draws: runs.Draws) -> object:
    values = rows.values
    return draws.sampled(
        runs.NOISE, runs.MOST, lambda batch: sum(values[i] for i in batch), rate=0.5, among=len(values)
    )


MUTANTS = (
    Mutant(
        "noise-is-replayed",
        REPLAY + "Replayed.release",
        "return deepcopy(self.before.released[at])",
        "return draw(value)",
        "the neighbour has noise of its own, and every answer differs",
        sound(runs.count),
    ),
    Mutant(
        "distances-not-looked-at",
        REPLAY + "Replayed._measured",
        'self.hand.problems.append(f"{self.name}: {words}")',
        "pass",
        "a wrong sensitivity is not reported",
        found(runs.a_sum_that_is_not_clamped),
    ),
    Mutant(
        "another-sensitivity-is-the-same-draw",
        REPLAY + "_identity",
        "_sensitivity(use), ",
        "",
        "a price that follows the data is not seen where it is drawn",
        found(runs.another_sensitivity),
    ),
    Mutant(
        "fewer-draws-are-not-missed",
        REPLAY + "Replayer.finish",
        "self.used < len(self.record)",
        "False",
        "a draw that only the first data set has is not reported",
        found(runs.another_number_of_draws),
    ),
    Mutant(
        "fewer-questions-are-not-missed",
        REPLAY + "Replayer.finish",
        "len(turn.given) < len(turn.before.given)",
        "False",
        "how many questions a round has may follow the data",
        found(runs.another_number_of_questions),
    ),
    Mutant(
        "values-are-not-tried",
        REPLAY + "Replayed._is_taken",
        "draw(value)",
        "pass",
        "a value that a mechanism refuses on the neighbour alone is not noticed",
        found(runs.a_failure_that_is_hidden),
    ),
    Mutant(
        "rounds-end-by-themselves",
        REPLAY + "Replayed._is_taken",
        "mechanism.session(Tape(0)).ask(value)",
        "draw(value)",
        "a hit on the neighbour ends a round that goes on",
        sound(runs.rounds),
    ),
    Mutant(
        "other-units-left-out",
        REPLAY + "Replayed.batch",
        "np.arange(self.before.among, among, dtype=np.int64)",
        "np.arange(0, dtype=np.int64)",
        "whoever only the neighbour has is in no batch, and what they change is not seen",
        sampled_newcomers_count,
    ),
    Mutant(
        "l2-by-the-largest",
        DISTANCE + "_beyond_l2",
        "sum((move**2 for move in moves), Fraction(0))",
        "max((move**2 for move in moves), default=Fraction(0))",
        "a vector that moves in many coordinates passes",
        found(runs.a_vector_of_wrong_l2),
    ),
    Mutant(
        "choices-charged-once-count-once",
        DISTANCE + "scores_too_far",
        "_total([_largest(row) for row in rows])",
        "max(_largest(row) for row in rows)",
        "several choices at the price of one pass",
        found(runs.scores_of_several_choices),
    ),
    Mutant(
        "both-directions-are-monotone",
        DISTANCE + "_both_ways",
        ") and any(",
        ") and not any(",
        "scores that are not monotone pass for such",
        found(runs.scores_that_are_not_monotone),
    ),
    Mutant(
        "errors-without-their-causes",
        SEEN + "_chain",
        "error = error.__cause__ or error.__context__",
        "error = None",
        "what an exception was raised for is not looked at",
        found(runs.an_error_that_tells_where_it_comes_from),
    ),
    Mutant(
        "quiet-lines-not-seen",
        SEEN + "watched",
        "root.setLevel(logging.DEBUG)",
        "root.setLevel(logging.ERROR)",
        "a count in a log line for developers is not seen",
        found(runs.logs),
    ),
    Mutant(
        "audits-on-a-ledger",
        RANDOMNESS + "check_randomness",
        "not place.note",
        "False",
        "a curator without noise answers on a budget that is kept",
        in_folder(test_curators.kept_ledgers_refuse_an_audit),
    ),
    Mutant(
        "audits-look-private",
        SESSION + "Curator._answered",
        "bits.private and randomness is SECURE",
        "bits.private",
        "an answer without noise says that it is private",
        test_curators.audited_answers_say_so,
    ),
)
