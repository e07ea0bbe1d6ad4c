"""Planted bugs of the ledger in `discreet.curator`."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.curator import test_close as closed
from tests.curator import test_disk as disk
from tests.curator import test_durable as durable
from tests.curator import test_forks as forks
from tests.curator import test_keys as keys
from tests.curator import test_large_epsilon as large_epsilon
from tests.curator import test_ledger as ledger
from tests.curator import test_marks as marks
from tests.curator import test_measure as measure
from tests.curator import test_opening as opening
from tests.curator import test_places as places
from tests.curator import test_platforms as platforms
from tests.curator import test_restored as restored
from tests.curator import test_shares as shares
from tests.curator import test_store as store
from tests.curator import test_tamper as tamper
from tests.curator.cases import Place, place
from tests.mutants import Law, Mutant

ACCOUNTS = "discreet.curator.accounts:"
ACTS = "discreet.curator.acts:"
AMOUNTS = "discreet.curator.amounts:"
DURABLE = "discreet.curator.durable:"
LEDGER = "discreet.curator.ledger:"
MARK = "discreet.curator.mark:"
MONEY = "discreet.curator.money:"
PAGE = "discreet.curator.page:"
RECORD = "discreet.mechanisms.record:"
REPLAY = "discreet.curator.replay:"
REQUEST = "discreet.curator.request:"
ROWS = "discreet.curator.rows:"
SESSION = "discreet.curator.session:"
SQLITE = "discreet.curator.sqlite:"
STORE = "discreet.curator.store:"


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


MUTANTS = (
    Mutant(
        "price-rounded-down",
        AMOUNTS + "units_up",
        "divide_up(exact.numerator * UNIT, exact.denominator)",
        "exact.numerator * UNIT // exact.denominator",
        "a price below one unit is nothing, and can be paid for ever",
        ledger.test_prices_are_rounded_up_and_caps_down,
    ),
    Mutant(
        "cap-rounded-up",
        AMOUNTS + "units_down",
        "exact.numerator * UNIT // exact.denominator",
        "divide_up(exact.numerator * UNIT, exact.denominator)",
        "a little more is spent than the owner allowed",
        ledger.test_prices_are_rounded_up_and_caps_down,
    ),
    Mutant(
        "cap-against-the-old-total",
        ACCOUNTS + "Account.affords",
        "spent + more for spent, more in",
        "spent for spent, more in",
        "the last question may cost anything",
        ledger.both_caps_are_kept,
    ),
    Mutant(
        "delta-not-capped",
        ACCOUNTS + "Account.affords",
        "self.cap.limit)",
        "Amounts(self.cap.limit.epsilon, 10**15 - 1, self.cap.limit.rho))",
        "epsilon is capped and delta is not",
        ledger.amounts_are_capped_apart,
    ),
    Mutant(
        "analyst-not-charged",
        LEDGER + "_after",
        'paid = None if account is None else _paid(account, price, price, "analyst")',
        "paid = account",
        "an analyst's own cap is never reached",
        ledger.both_caps_are_kept,
    ),
    Mutant(
        "data-set-charged-by-the-owner-only",
        LEDGER + "_after",
        "replace(after, account=_paid(book.account, price, more, whose))",
        "after if analyst else replace(after, account=_paid(book.account, price, more, whose))",
        "analysts together spend more than the data set has",
        ledger.both_caps_are_kept,
    ),
    Mutant(
        "owner-spends-what-is-reserved",
        LEDGER + "_out_of_share",
        "account is None and not price.within(book.free)",
        "False",
        "what the owner asks is seen by an analyst, who is refused within their own share",
        shares.the_owner_leaves_the_shares_alone,
    ),
    Mutant(
        "promised-twice",
        LEDGER + "_with_share",
        "any(more > free for more, free in zip(grown, book.free, strict=True))",
        "False",
        "two analysts are promised the same share, and who asks first has it",
        shares.what_does_not_fit_is_refused,
    ),
    Mutant(
        "aside-not-counted-again",
        REPLAY + "Replay._look_back",
        "aside is not None and aside != set_aside(self.accounts.values())",
        "False",
        "less is set aside than was promised to analysts",
        shares.test_a_ledger_that_sets_something_else_aside_is_found,
    ),
    Mutant(
        "a-budget-for-every-name",
        "discreet.curator.places:ledger_beside",
        "_beside(real(source))",
        "_beside(source)",
        "a link to a file has a budget of its own",
        in_folder(places.a_link_has_the_budget_of_its_file),
    ),
    Mutant(
        "a-second-budget-in-silence",
        "discreet.curator.opening:open_ledger",
        "noted(note)",
        "str(note)",
        "the same data are asked about twice as much, and nobody is told",
        in_folder(places.a_second_budget_is_told),
    ),
    Mutant(
        "key-of-anyone",
        REQUEST + "Request.is_the_one_of",
        "row.analyst",
        "self.analyst",
        "who guesses a key reads another's answer",
        ledger.same_key_same_request,
    ),
    Mutant(
        "retry-charged-again",
        LEDGER + "reserve",
        "    if entry is not None:\n        return entry\n",
        "",
        "a client that asks again after a crash pays twice",
        ledger.same_key_same_request,
    ),
    Mutant(
        "failures-not-counted",
        LEDGER + "_after",
        "failures=book.failures + 1",
        "failures=book.failures",
        "failures tell one bit each, for ever",
        ledger.test_failures_are_counted_and_stop_the_data_set,
    ),
    Mutant(
        "who-comes-back-starts-anew",
        LEDGER + "_after",
        "Account(cap) if account is None else replace(account, cap=cap, active=True)",
        "Account(cap)",
        "removing and adding an analyst refills the budget",
        ledger.test_who_comes_back_has_still_spent,
    ),
    Mutant(
        "cap-rises-by-itself",
        LEDGER + "check_lower",
        "not higher and not cap.within(now)",
        "False",
        "an edit of the policy raises a cap without the owner's explicit act",
        ledger.test_a_higher_cap_is_an_explicit_act,
    ),
    Mutant(
        "shared-for-nothing",
        LEDGER + "_after",
        'return book, None if account is None else _paid(account, price, price, "analyst")',
        "return book, account",
        "another's answer costs an analyst nothing",
        ledger.shared_answers_cost_the_analyst_only,
    ),
    Mutant(
        "hash-without-the-row-before",
        ROWS + "Row.to_json",
        '"previous": self.previous',
        '"previous": NO_HASH',
        "rows can be taken out of the chain",
        ledger.any_field_is_in_the_hash,
    ),
    Mutant(
        "price-not-checked",
        MONEY + "check_price",
        "if rho or not whole.certifies(epsilon, delta):",
        "if rho:",
        "an event is had for any price",
        ledger.price_must_cover_its_event,
    ),
    Mutant(
        "delta-of-the-event-forgotten",
        MONEY + "check_price",
        " or spent.delta > delta",
        "",
        "the concentrated accountant charges rho and forgets delta",
        ledger.test_a_delta_of_the_event_is_paid_for,
    ),
    Mutant(
        "replay-believes-prices",
        REPLAY + "Replay.add",
        "self._check(row.book, act)",
        "pass",
        "a ledger with prices that do not cover their events passes",
        lie("dearer event of what was never settled"),
    ),
    Mutant(
        "replay-believes-totals",
        REPLAY + "Replay.add",
        "if row.body() != body:",
        "if row.sequence != row.sequence:",
        "totals in rows are not recomputed",
        lie("lower total"),
    ),
    Mutant(
        "settled-twice",
        STORE + "Store.settle",
        "return page.answer(outcome)",
        "return answer",
        "a retry releases a second draw of the same charge",
        at(store.unsettled_is_computed_again),
    ),
    Mutant(
        "check-then-write",
        SQLITE + "SQLite.writing",
        '"BEGIN IMMEDIATE"',
        '"BEGIN"',
        "two processes read the same total, and both add to it",
        in_folder(store.who_writes_is_alone),
    ),
    Mutant(
        "released-before-the-mark",
        DURABLE + "Durable._commit",
        "self.mark.advance(head.sequence, head.hash)",
        "pass",
        "an old copy of the ledger is not noticed",
        at(store.mark_is_at_the_head),
    ),
    Mutant(
        "failure-told-as-success",
        DURABLE + "Durable._commit",
        "job.error = job.error or _told(error)",
        "job.error = job.error",
        "a charge is acknowledged that a full disk did not take",
        at(disk.full),
    ),
    Mutant(
        "mark-not-looked-at",
        DURABLE + "Durable._check_mark",
        "marked is not None and page.hash_at(marked[0]) != marked[1]",
        "False",
        "an old copy of the ledger gives the budget back",
        at(store.rollback_is_refused),
    ),
    Mutant(
        "mark-goes-back",
        MARK + "Mark.advance",
        "now is None or now[0] < sequence",
        "True",
        "a slow process moves the mark back, and what was released since may be rolled back",
        in_folder(store.test_a_mark_never_goes_back_by_itself),
    ),
    Mutant(
        "one-slot-of-the-mark",
        MARK + "Mark.advance",
        "_older(slots)",
        "0",
        "a crash in the middle of writing leaves no mark at all",
        in_folder(store.test_a_torn_mark_leaves_the_one_before),
    ),
    Mutant(
        "connection-of-the-parent",
        DURABLE + "Durable._here",
        "self._process != os.getpid()",
        "False",
        "two processes use one database connection",
        at(store.forked_processes_connect_anew),
    ),
    Mutant(
        "everyone-starts-anew",
        DURABLE + "Durable._arrive",
        "if self._process == os.getpid():",
        "if not self._process + 1:",
        "threads of a forked process use one connection at once, each in a turn of its own",
        at(forks.threads_of_a_child_start_anew_once),
    ),
    Mutant(
        "answer-not-checked",
        PAGE + "Page.answer",
        " or hash_of(bytes(rows[0][0])) != settled.digest",
        "",
        "an answer that was changed on disk is given out",
        tamper.test_an_answer_that_was_changed_is_not_given_out,
    ),
    Mutant(
        "rows-filed-anywhere",
        PAGE + "check_filed",
        "if columns != (row.sequence, row.key, row.analyst, row.about, row.topic):",
        "if not row.sequence:",
        "a key is moved to another row, and its question is charged again or answered for another",
        lambda: tamper.every_flip_is_found(16),
    ),
    Mutant(
        "value-handed-out-before-it-is-kept",
        RECORD + "KeptDraws.keep",
        "    self._record.keep(number, text)\n",
        "",
        "who is killed inside and enters again draws once more",
        measure.killed_inside_gives_one_draw,
    ),
    Mutant(
        "draw-marked-with-its-value",
        RECORD + "KeptDraws.begin",
        "self._record.begin(number, what)",
        "self._record.keep = lambda n, value: (self._record.begin(n, what), type(self._record).keep(self._record, n, value))",
        "the exact value is read before the draw is known to be begun, as often as somebody likes",
        measure.killed_while_reading_reads_once,
    ),
    Mutant(
        "draw-of-any-number",
        PAGE + "Page.begin_draw",
        "number != last + 1",
        "False",
        "two who got in draw beside one another",
        measure.test_another_entry_that_got_in_cannot_draw_what_was_drawn,
    ),
    Mutant(
        "drawn-after-the-end",
        STORE + "_measuring",
        "entry.ended is not None",
        "False",
        "a measurement that was settled goes on",
        measure.test_another_entry_that_got_in_cannot_draw_what_was_drawn,
    ),
    Mutant(
        "lock-not-taken",
        "discreet.curator.hold:_locked",
        "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        "a measurement is entered any number of times at once",
        measure.test_entered_200_times_at_once_it_is_granted_once,
    ),
    Mutant(
        "lock-left-to-children",
        "discreet.curator.hold:_let_go",
        "while _HELD",
        "while False",
        "a measurement whose process was killed is held by its children",
        at(measure.lock_dies_with_its_holder),
    ),
    Mutant(
        "settled-by-a-child",
        "discreet.curator.draws:entered",
        "grant.here and grant.used",
        "grant.used",
        "a forked child ends the measurement of its parent",
        measure.test_a_child_that_runs_out_of_the_block_ends_nothing,
    ),
    Mutant(
        "draws-without-a-mark",
        STORE + "Store.begin_draw",
        "self._draws_mark(self._write(step)).advance(number, hash_of(what.encode()))",
        "self._write(step)",
        "a copy of the ledger from before a draw is brought back, and the draw made again",
        measure.an_old_copy_is_drawn_on_by_nobody,
    ),
    Mutant(
        "draws-not-compared",
        "discreet.curator.draws:_again",
        "outcome.answer != summary(record.drawn)",
        "False",
        "draws that were taken out of a settled measurement are not missed",
        lambda: measure.test_draws_that_were_changed_are_not_given_out("DELETE FROM draws WHERE number = 2"),
    ),
    Mutant(
        "files-cross-a-fork",
        "discreet.curator.forks:Forks.before",
        "each.let_go()",
        "self._open.discard(each)",
        "a child believes that it holds the parent's locks; who closes first deletes what the other wrote",
        at(forks.charges_of_both_sides_are_kept),
    ),
    Mutant(
        "open-file-not-looked-for",
        SQLITE + "SQLite._check_place",
        "!= self._places",
        "== ()",
        "charges go to a file that was removed, and nobody finds them",
        at(forks.a_commit_into_nothing_is_told),
    ),
    Mutant(
        "keys-of-everyone",
        REQUEST + "filed",
        "canonical([analyst, key])",
        "canonical([None, key])",
        "who uses the key of another learns that it was used, or takes it",
        at(keys.keys_belong_to_their_analyst),
    ),
    Mutant(
        "former-keys-of-everyone",
        PAGE + "Page.former",
        "row.analyst == analyst",
        "row.sequence",
        "the same, in a ledger of release 0.1",
        keys.former_keys_belong_to_their_analyst,
    ),
    Mutant(
        "answer-of-another-file",
        SESSION + "Curator._named",
        "if origin else asked",
        "if not origin else asked",
        "one file is answered with what was said about another",
        in_folder(keys.an_answer_belongs_to_its_source),
    ),
    Mutant(
        "old-data-under-a-new-version",
        SESSION + "Curator._version",
        "if self._store.standing().version != self.policy.version:",
        "if not self.policy.version:",
        "data that were loaded before they changed are answered for those after",
        in_folder(keys.data_are_of_the_version_they_were_opened_in),
    ),
    Mutant(
        "closed-over-a-question",
        "discreet.curator.flight:Flight.close",
        "while self._questions:",
        "while False:",
        "a question loses its engine after it was charged, and counts as a failure",
        in_folder(closed.closing_waits),
    ),
    Mutant(
        "closed-over-a-measurement",
        SESSION + "Curator._measuring",
        "with self._flight.question(), entered(",
        "with entered(",
        "a measurement loses its ledger after it was charged",
        in_folder(closed.closing_waits_for_a_measurement),
    ),
    Mutant(
        "failures-of-one-not-counted",
        LEDGER + "_after",
        "failures=account.failures + 1",
        "failures=account.failures",
        "one analyst stops the data set for all",
        ledger.failures_of_one_suspend_that_one,
    ),
    Mutant(
        "failures-for-ever",
        LEDGER + "_after",
        "return replace(book, failures=0), None",
        "return book, None",
        "a data set that stopped can never go on",
        ledger.resumed_goes_on,
    ),
    Mutant(
        "failures-forgiven-by-a-charge",
        ACCOUNTS + "Account.charged",
        "self.active, self.failures)",
        "self.active)",
        "whoever asks again starts at none",
        ledger.failures_of_one_suspend_that_one,
    ),
    Mutant(
        "commits-not-synced",
        SQLITE + "SQLite._prepare",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        "a power cut takes charges back whose answers are out",
        at(durable.commits_are_synced),
    ),
    Mutant(
        "mark-not-synced",
        MARK + "Mark.advance",
        "os.fdatasync(file)",
        "pass",
        "a power cut takes the mark back, and an old copy is not noticed",
        at(durable.marks_are_locked_then_written_then_synced),
    ),
    Mutant(
        "reset-not-synced",
        MARK + "Mark.reset",
        "os.fdatasync(file)",
        "pass",
        "what the owner accepted is refused again after a power cut",
        at(durable.resets_are_synced),
    ),
    Mutant(
        "mark-not-locked",
        MARK + "Mark._lock",
        "return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "return None",
        "of two processes the slower one moves the mark back",
        at(durable.marks_are_locked_then_written_then_synced),
    ),
    Mutant(
        "names-not-synced",
        MARK + "sync_folder",
        "os.fsync(folder)",
        "pass",
        "a power cut takes a new ledger or its mark away",
        at(durable.new_names_are_synced),
    ),
    Mutant(
        "shared-before-it-is-settled",
        REPLAY + "Replay._look_back",
        "self.ended(source) is not Settled or ",
        "",
        "an answer is shared that there is none of",
        lambda: ledger.only_settled_answers_of_others_are_shared(False, False),
    ),
    Mutant(
        "shared-with-oneself",
        REPLAY + "Replay._look_back",
        " or asked_by == analyst",
        "",
        "a second answer of the same analyst costs the data set nothing",
        lambda: ledger.only_settled_answers_of_others_are_shared(True, True),
    ),
    Mutant(
        "record-not-compared",
        "discreet.curator.verified:replay_after",
        "if last is None or page.hash_at(verified.sequence) != verified.hash:",
        "if last is None:",
        "a ledger that was exchanged is believed to be the one that was verified",
        at(opening.the_record_is_compared),
    ),
    Mutant(
        "accounts-not-compared",
        "discreet.curator.verified:replay_after",
        "if digest_of(accounts) != verified.accounts:",
        "if not verified.accounts:",
        "what an analyst spent is changed in an old row, and opening does not see it",
        at(opening.old_accounts_are_compared),
    ),
    Mutant(
        "torn-record-believed",
        "discreet.curator.verified:Record.read",
        'if not body or hash_of(body).encode("ascii") != checksum:',
        "if not body:",
        "what a crash left of the record decides which rows are looked at",
        at(opening.torn_records_are_none),
    ),
    Mutant(
        "past-keys-forgotten",
        REPLAY + "Replay.used",
        " or (self._past is not None and self._past.used(key))",
        "",
        "a key is used again after the ledger was opened anew",
        lambda: opening.opened_from_any_row_it_knows_the_same(1),
    ),
    Mutant(
        "past-ends-forgotten",
        REPLAY + "Replay.ended",
        "return before or self._ended.get(sequence)",
        "return self._ended.get(sequence)",
        "what was settled before the ledger was opened is settled once more",
        lambda: opening.opened_from_any_row_it_knows_the_same(1),
    ),
    Mutant(
        "accepted-and-still-open",
        PAGE + "Page._entry",
        "return Entry(row, next((each.act for each in self.acts(opened) if isinstance(each.act, Accepted)), None))",
        "return Entry(row)",
        "what was answered in the ledger that was lost is computed again for the same charge",
        at(restored.what_was_open_is_ended),
    ),
    Mutant(
        "reason-of-accepting-lost",
        DURABLE + "Durable.accept",
        "Accepted(*max(missed, default=NO_MARK), reason)",
        "Accepted(*max(missed, default=NO_MARK))",
        "nobody can tell later why a ledger that went back was gone on with",
        at(store.rollback_is_refused),
    ),
    Mutant(
        "reason-in-every-row",
        ACTS + "to_json",
        "if name in parts and parts[name] is None:",
        "if False:",
        "a ledger of the last release in which a copy was accepted does not verify any more",
        ledger.the_reason_of_accepting_is_kept,
    ),
    Mutant(
        "dear-question-says-nothing",
        SESSION + "Curator._priced",
        "*note_on_epsilon(plan.epsilon, in_all=False)",
        "",
        "whoever asks at a price at which little is hidden is not told",
        large_epsilon.a_dear_question_says_so,
    ),
    Mutant(
        "large-total-says-nothing",
        SESSION + "Curator.notes",
        "in_all=True",
        "in_all=False",
        "a total is judged as a single question is",
        large_epsilon.large_totals_are_told,
    ),
    Mutant(
        "every-platform-locks",
        "discreet.curator.platforms:check_platform",
        "sys.platform not in LOCKING",
        "not sys.platform",
        "a ledger is opened where nothing keeps two processes from spending one budget",
        in_folder(platforms.other_platforms_are_refused),
    ),
    Mutant(
        "opened-where-nothing-locks",
        SQLITE + "SQLiteStore.open",
        "check_platform()\n",
        "pass\n",
        "on a platform without our locks two processes spend one budget twice",
        in_folder(platforms.other_platforms_are_refused),
    ),
    Mutant(
        "replay-believes-revived",
        REPLAY + "Replay._look_back",
        "if self.strict and sequence < self.accepted:",
        "if not sequence:",
        "a ledger in which a restored copy was gone on with passes",
        ledger.what_was_accepted_ends_what_was_open,
    ),
    Mutant(
        "other-mark-not-looked-for",
        SQLITE + "SQLiteStore._find_mark",
        "self._place = self._read(lambda page: page.mark_place())",
        "self._place = None",
        "with another home an old copy of the ledger gives the budget back",
        in_folder(marks.noticed_by_cron),
    ),
    Mutant(
        "lost-mark-not-missed",
        SQLITE + "SQLiteStore._find_mark",
        "self._lost = there is None and here is None",
        "self._lost = False",
        "where marks do not last an old copy of the ledger gives the budget back",
        in_folder(marks.lost_marks_are_missed),
    ),
    Mutant(
        "total-below-what-is-spent-and-reserved",
        LEDGER + "_check_total",
        "if aside and spent + aside > limit:",
        "if aside and aside > limit:",
        "a lower total leaves less than was promised to analysts",
        shares.totals_hold_what_is_spent_and_reserved,
    ),
    Mutant(
        "charged-for-another-version",
        LEDGER + "_after",
        "if version != book.version:",
        "if not version:",
        "a ledger passes in which data were asked about that were not there any more",
        lie("another version of what was never settled"),
    ),
    Mutant(
        "shared-answers-settled",
        LEDGER + "settle",
        "if not isinstance(act, Reserved):",
        "if False:",
        "an answer is written for a row that the data set was not charged for",
        ledger.only_reservations_are_settled,
    ),
    Mutant(
        "spent-delta-remains",
        ACCOUNTS + "Account.remaining",
        "max(0, limit.delta - spent.delta)",
        "limit.delta",
        "a delta that was spent is promised again",
        ledger.what_remains_can_be_spent_and_no_more,
    ),
    Mutant(
        "caps-by-their-limit",
        AMOUNTS + "Cap.within",
        " and self.budget.within(other.budget)",
        "",
        "a budget rises by itself where its limit does not",
        ledger.caps_are_compared_whole,
    ),
    Mutant(
        "any-limit-keeps-a-budget",
        MONEY + "check_cap",
        "cap.limit != cap.budget or ",
        "",
        "a ledger passes whose limit is above what it promises",
        ledger.caps_keep_their_budgets,
    ),
    Mutant(
        "delta-for-nothing-in-a-cap",
        MONEY + "check_cap",
        "ConcentratedFilter(epsilon, delta, rho, spent)",
        "ConcentratedFilter(epsilon, delta, rho, 0)",
        "the delta of a cap is kept for the conversion and spent by releases",
        ledger.caps_keep_their_budgets,
    ),
    Mutant(
        "asked-on-after-the-stop",
        REPLAY + "Replay._look_back",
        "self.head.book.failures >= self.most:",
        "False:",
        "a ledger passes in which questions went on after the data set had stopped",
        lambda: ledger.nothing_is_asked_after_a_stop(None),
    ),
    Mutant(
        "asked-on-while-suspended",
        REPLAY + "Replay._look_back",
        "self.accounts[analyst].failures >= MOST_OF_ONE:",
        "False:",
        "a ledger passes in which an analyst went on after they were suspended",
        lambda: ledger.nothing_is_asked_after_a_stop("ana"),
    ),
    Mutant(
        "delta-of-one-use",
        MONEY + "spent_by",
        "delta += times * one.delta",
        "delta += one.delta",
        "of what is repeated the delta of one use is charged",
        ledger.every_use_is_paid_for,
    ),
    Mutant(
        "rho-of-one-use",
        MONEY + "spent_by",
        "rho += times * one.rho",
        "rho += one.rho",
        "of what is repeated the rho of one use is charged",
        ledger.every_use_is_paid_for,
    ),
    Mutant(
        "shared-under-a-used-key",
        REPLAY + "Replay._look_back",
        "case Reserved(key=key) | Shared(key=key) if self.used(key):",
        "case Reserved(key=key) if self.used(key):",
        "a ledger passes in which one key names two requests",
        ledger.key_of_another_row,
    ),
    Mutant(
        "shared-with-another-question",
        REPLAY + "Replay._look_back",
        " or topic != topic_of_act(act)",
        "",
        "a ledger passes in which an answer was given to another question",
        ledger.another_question,
    ),
)
