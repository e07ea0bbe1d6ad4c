"""Every planted bug of the ledger makes the law named here fail; without the bug the same law holds."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from discreet.curator.ledger import Amounts
from discreet.curator.money import parallel
from discreet.privacy.adjacency import Adjacency
from tests.curator import test_close as closed
from tests.curator import test_disk as disk
from tests.curator import test_durable as durable
from tests.curator import test_forks as forks
from tests.curator import test_keys as keys
from tests.curator import test_ledger as ledger
from tests.curator import test_measure as measure
from tests.curator import test_store as store
from tests.curator import test_tamper as tamper
from tests.curator.cases import Place, place
from tests.mutants import Mutant, of_part

Law = Callable[[], object]


def at(law: Callable[[Place], object]) -> Law:
    """A law of stores, on SQLite."""

    def check() -> None:
        with place() as spot:
            law(spot)

    return check


def in_folder(law: Callable[[Path], object]) -> Law:
    def check() -> None:
        with TemporaryDirectory() as folder:
            law(Path(folder))

    return check


def lie(name: str) -> Law:
    return lambda: ledger.a_lie_is_found(ledger.LIES[name])


def parallel_is_the_worst_neighbour() -> None:
    prices = [Amounts(3), Amounts(5), Amounts(4)]
    assert parallel(prices, Adjacency.REPLACE) == Amounts(9) and parallel(prices, Adjacency.ADD_REMOVE) == Amounts(5)


CAUGHT_BY: dict[str, Law] = {
    "price-rounded-down": ledger.test_prices_are_rounded_up_and_caps_down,
    "cap-rounded-up": ledger.test_prices_are_rounded_up_and_caps_down,
    "cap-against-the-old-total": ledger.both_caps_are_kept,
    "delta-not-capped": ledger.amounts_are_capped_apart,
    "analyst-not-charged": ledger.both_caps_are_kept,
    "data-set-charged-by-the-owner-only": ledger.both_caps_are_kept,
    "key-of-anyone": ledger.same_key_same_request,
    "retry-charged-again": ledger.same_key_same_request,
    "failures-not-counted": ledger.test_failures_are_counted_and_stop_the_data_set,
    "who-comes-back-starts-anew": ledger.test_who_comes_back_has_still_spent,
    "cap-rises-by-itself": ledger.test_a_higher_cap_is_an_explicit_act,
    "shared-for-nothing": ledger.shared_answers_cost_the_analyst_only,
    "hash-without-the-row-before": ledger.any_field_is_in_the_hash,
    "price-not-checked": ledger.price_must_cover_its_event,
    "delta-of-the-event-forgotten": ledger.test_a_delta_of_the_event_is_paid_for,
    "replaced-people-in-one-part": parallel_is_the_worst_neighbour,
    "replay-believes-prices": lie("dearer event of what was never settled"),
    "replay-believes-totals": lie("lower total"),
    "settled-twice": at(store.unsettled_is_computed_again),
    "check-then-write": in_folder(store.who_writes_is_alone),
    "released-before-the-mark": at(store.mark_is_at_the_head),
    "failure-told-as-success": at(disk.full),
    "mark-not-looked-at": at(store.rollback_is_refused),
    "mark-goes-back": in_folder(store.test_a_mark_never_goes_back_by_itself),
    "one-slot-of-the-mark": in_folder(store.test_a_torn_mark_leaves_the_one_before),
    "connection-of-the-parent": at(store.forked_processes_connect_anew),
    "answer-not-checked": tamper.test_an_answer_that_was_changed_is_not_given_out,
    "value-handed-out-before-it-is-kept": measure.killed_inside_gives_one_draw,
    "draw-marked-with-its-value": measure.killed_while_reading_reads_once,
    "draw-of-any-number": measure.test_another_entry_that_got_in_cannot_draw_what_was_drawn,
    "drawn-after-the-end": measure.test_another_entry_that_got_in_cannot_draw_what_was_drawn,
    "lock-not-taken": measure.test_entered_200_times_at_once_it_is_granted_once,
    "lock-left-to-children": at(measure.lock_dies_with_its_holder),
    "settled-by-a-child": measure.test_a_child_that_runs_out_of_the_block_ends_nothing,
    "draws-without-a-mark": measure.an_old_copy_is_drawn_on_by_nobody,
    "draws-not-compared": lambda: measure.test_draws_that_were_changed_are_not_given_out(
        "DELETE FROM draws WHERE number = 2"
    ),
    "rows-filed-anywhere": lambda: tamper.every_flip_is_found(16),
    "files-cross-a-fork": at(forks.charges_of_both_sides_are_kept),
    "open-file-not-looked-for": at(forks.a_commit_into_nothing_is_told),
    "keys-of-everyone": at(keys.keys_belong_to_their_analyst),
    "former-keys-of-everyone": keys.former_keys_belong_to_their_analyst,
    "answer-of-another-file": in_folder(keys.an_answer_belongs_to_its_source),
    "old-data-under-a-new-version": in_folder(keys.data_are_of_the_version_they_were_opened_in),
    "closed-over-a-question": in_folder(closed.closing_waits),
    "failures-of-one-not-counted": ledger.failures_of_one_suspend_that_one,
    "failures-for-ever": ledger.resumed_goes_on,
    "failures-forgiven-by-a-charge": ledger.failures_of_one_suspend_that_one,
    "commits-not-synced": at(durable.commits_are_synced),
    "mark-not-synced": at(durable.marks_are_locked_then_written_then_synced),
    "reset-not-synced": at(durable.resets_are_synced),
    "mark-not-locked": at(durable.marks_are_locked_then_written_then_synced),
    "names-not-synced": at(durable.new_names_are_synced),
    "shared-before-it-is-settled": lambda: ledger.only_settled_answers_of_others_are_shared(False, False),
    "shared-with-oneself": lambda: ledger.only_settled_answers_of_others_are_shared(True, True),
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("curator")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 10


@pytest.mark.parametrize("mutant", of_part("curator"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((AssertionError, pytest.fail.Exception)):
        law()
    law()
