"""Planted bugs of the curator around its ledger: who may ask and is told what, declarations, places, versions, prices, proofs."""

from tests.curator import test_close as close
from tests.curator import test_data_file as data_file
from tests.curator import test_keys as keys
from tests.curator import test_limits as limits
from tests.curator import test_looking as looking
from tests.curator import test_owner as owner
from tests.curator import test_policy as policy
from tests.curator import test_session as session
from tests.curator import test_shares as shares
from tests.curator import test_store as store
from tests.curator import test_turns as turns
from tests.mutants import Mutant, by_itself
from tests.mutants.curator import at

CURATOR = "discreet.curator."
BUDGETS = CURATOR + "budgets:"
DATA_FILE = CURATOR + "data_file:"
DECLARATION = CURATOR + "declaration:"
FLIGHT = CURATOR + "flight:"
HISTORY = CURATOR + "history:"
LOOKING = CURATOR + "looking:"
OWNER = CURATOR + "owner:"
PLACE = CURATOR + "place:"
POLICY = CURATOR + "policy:"
POLICY_TEXT = CURATOR + "policy_text:"
PRICING = CURATOR + "pricing:"
SESSION = CURATOR + "session:"
VERSIONS = CURATOR + "versions:"

OWN = by_itself(owner.test_an_analyst_sees_their_own_budget_and_charges_alone)
EXPLICIT = by_itself(owner.test_a_higher_budget_is_an_explicit_act_and_never_above_the_policy)
REMEMBERED = by_itself(data_file.remembered_of_persons_who_are_replaced)
FIXED = by_itself(data_file.fixed_of_persons)
DECLARED = by_itself(owner.test_an_analyst_is_told_of_what_was_declared_alone)
SHOWN = owner.test_what_was_spent_is_never_shown_as_less_nor_what_is_left_as_more


MUTANTS = (
    Mutant(
        "alone-beside-questions",
        FLIGHT + "Flight.alone",
        "while self._questions:",
        "while False:",
        "the data change, or a ledger is given back, under a question that was charged",
        close.alone_means_alone,
    ),
    Mutant(
        "questions-beside-who-is-alone",
        FLIGHT + "Flight.alone",
        "        yield\n",
        "        pass\n    yield\n",
        "a question takes off while the data change, and is answered for the wrong ones",
        close.alone_means_alone,
    ),
    Mutant(
        "taking-off-after-the-end",
        FLIGHT + "Flight.question",
        "if self.closed:",
        "if False:",
        "a question opens a ledger anew that its owner closed",
        by_itself(close.test_a_measurement_that_was_prepared_before_closing_is_not_entered_after),
    ),
    Mutant(
        "data-changed-in-flight",
        OWNER + "Owner.data_changed",
        "with self._alone():",
        "if True:",
        "the data change inside of a measurement that was begun on the old ones",
        by_itself(close.test_what_the_owner_does_alone_is_not_done_inside_of_a_measurement, "data_changed"),
    ),
    Mutant(
        "accepted-in-flight",
        OWNER + "Owner.accept",
        "with self._alone():",
        "if True:",
        "a ledger is exchanged under a measurement",
        by_itself(close.test_what_the_owner_does_alone_is_not_done_inside_of_a_measurement, "accept"),
    ),
    Mutant(
        "accepted-without-the-act",
        CURATOR + "accepting:accept_at",
        "accept=reason",
        "accept=None",
        "what the owner accepted is refused for ever",
        by_itself(owner.test_a_frame_s_ledger_is_accepted_by_the_call_and_by_the_command_that_a_refusal_names),
    ),
    Mutant(
        "nothing-set-aside-when-read",
        CURATOR + "acts:_read_aside",
        "None if value is None else Amounts.from_json(value)",
        "None",
        "shares are common again when the ledger is read",
        shares.test_shares_are_reserved_until_the_owner_says_otherwise_and_only_where_they_fit,
    ),
    Mutant(
        "address-with-more-behind-it",
        CURATOR + "address:Address.of",
        "re.fullmatch",
        "re.match",
        "a password stands in a policy behind the name of a variable, and nobody says so",
        by_itself(owner.test_an_address_is_named_by_one_variable_and_never_shown),
    ),
    Mutant(
        "address-shown",
        CURATOR + "address:Address.__str__",
        'f"the variable {self.variable}"',
        "str(os.environ.get(self.variable))",
        "a message quotes the password of the ledger",
        by_itself(owner.test_an_address_is_named_by_one_variable_and_never_shown),
    ),
    Mutant(
        "keys-like-our-own",
        CURATOR + "asked:check_key",
        "if key.startswith(GENERATED):",
        "if False:",
        "who knows a question takes the key that is made for it",
        by_itself(keys.test_generated_keys_lie_where_no_caller_can_write, "auto:"),
    ),
    Mutant(
        "spent-rounded-down",
        BUDGETS + "Balance.as_data",
        "as_numbers(self.spent, up=True)",
        "as_numbers(self.spent)",
        "less is said to be spent than was",
        SHOWN,
    ),
    Mutant(
        "left-rounded-up",
        BUDGETS + "as_numbers",
        "to_float_up if up else to_float_down",
        "to_float_up",
        "more is said to be left than is",
        SHOWN,
    ),
    Mutant(
        "balance-of-all",
        BUDGETS + "budgets_of",
        "store.standing(analyst), burned",
        "store.standing(), burned",
        "an analyst sees what the others spent",
        OWN,
    ),
    Mutant(
        "analysts-see-each-other",
        BUDGETS + "budgets_of",
        "{} if analyst is not None else store.analysts()",
        "store.analysts()",
        "an analyst sees who else asks, and how much",
        OWN,
    ),
    Mutant(
        "higher-without-a-word",
        BUDGETS + "Change._set_cap",
        "store.set_cap(cap, self.analyst, higher=self.higher)",
        "store.set_cap(cap, self.analyst, higher=True)",
        "a total rises without the owner's explicit act",
        EXPLICIT,
    ),
    Mutant(
        "above-the-policy",
        BUDGETS + "Change.check",
        "(self.epsilon or 0) > declared.epsilon or ",
        "",
        "a total is set that the policy forbids",
        EXPLICIT,
    ),
    Mutant(
        "delta-above-the-policy",
        BUDGETS + "Change.check",
        " or (self.delta or 0) > declared.delta",
        "",
        "a delta is set that the policy forbids",
        EXPLICIT,
    ),
    Mutant(
        "back-with-more",
        BUDGETS + "add_analyst",
        "higher=higher)",
        "higher=True)",
        "who was removed comes back with a higher cap, and nobody said so",
        by_itself(owner.test_analysts_come_and_go_and_what_they_spent_stays),
    ),
    Mutant(
        "budget-by-asking",
        DATA_FILE + "DataFile._budget",
        "self.budget != remembered.epsilon",
        "False",
        "whoever asks says a budget of their own, and it is passed over in silence",
        FIXED,
    ),
    Mutant(
        "adjacency-forgotten",
        DATA_FILE + "DataFile._unit",
        "adjacency = remembered.unit[2]",
        "pass",
        "the price of the next question is that of another relation",
        REMEMBERED,
    ),
    Mutant(
        "version-forgotten",
        DATA_FILE + "DataFile.policy",
        '"1" if remembered is None else remembered.version',
        '"1"',
        "answers about old data are given for new ones",
        REMEMBERED,
    ),
    Mutant(
        "another-person-of-one-name",
        DECLARATION + "relation_kept",
        'said if protected.person is None else f"{said} by {protected.person}"',
        "said",
        "a ledger that protects patients is gone on with for wards",
        by_itself(session.test_the_unit_is_fixed_when_a_ledger_is_made),
    ),
    Mutant(
        "delta-that-promises-nothing",
        DECLARATION + "advice_on",
        "if advice.verdict is Verdict.REFUSAL:",
        "if False:",
        "a delta passes at which the row of somebody may be published",
        by_itself(session.test_delta_is_judged_by_the_declared_people, 100, "1e-2", "refused"),
    ),
    Mutant(
        "nobody-is-protected",
        DECLARATION + "protected",
        "(column is None) is not row",
        "column is not None and row",
        "where nobody says who is protected, rows are",
        by_itself(session.test_a_policy_that_cannot_be_used_says_what_to_do, 'column = "patient"', "", "must be said"),
    ),
    Mutant(
        "undeclared-described",
        CURATOR + "description:_told_of",
        "each.declared or",
        "True or",
        "an analyst is told of columns that nobody declared",
        DECLARED,
    ),
    Mutant(
        "undeclared-asked-about",
        CURATOR + "planning:Planning._unsurveyed",
        "catalog if asked.analyst is None else catalog.declared()",
        "catalog",
        "an analyst asks about columns that nobody declared",
        DECLARED,
    ),
    Mutant(
        "history-of-all",
        HISTORY + "_lines",
        "(analyst is not None and row.analyst != analyst)",
        "False",
        "an analyst reads what the others asked",
        OWN,
    ),
    Mutant(
        "copy-without-its-log",
        LOOKING + "_copy_whole",
        '("ledger.sqlite", "ledger.sqlite-wal")',
        '("ledger.sqlite",)',
        "who only looks at a ledger misses what was spent last",
        looking.test_the_log_of_who_writes_is_read_too,
    ),
    Mutant(
        "copy-without-its-mark",
        LOOKING + "Copy.of",
        "store._check_marks(page)",
        "page",
        "an old copy of a ledger is shown as the newest",
        by_itself(looking.test_an_old_copy_is_refused_when_it_is_looked_at),
    ),
    Mutant(
        "an-analyst-called-owner",
        CURATOR + "names:check_analyst",
        "name.casefold() == OWNER",
        "name == OWNER",
        "an analyst is taken for the owner where people read",
        at(lambda spot: store.test_nobody_is_called_like_the_owner(spot, "Owner")),
    ),
    Mutant(
        "policy-wins-over-what-is-said",
        PLACE + "place_of",
        "folder = policy.ledger if ledger is None and policy is not None else ledger",
        "folder = policy.ledger if policy is not None else ledger",
        "a question is charged to another ledger than was named",
        by_itself(owner.test_one_function_decides_where_a_ledger_lies),
    ),
    Mutant(
        "experiments-look-kept",
        PLACE + "Memory.note",
        "return NOT_KEPT",
        'return ""',
        "an answer does not say that its budget ends with the process",
        by_itself(owner.test_a_budget_in_memory_is_counted_and_every_answer_says_that_it_is_not_kept),
    ),
    Mutant(
        "promised-more-than-there-is",
        POLICY + "Policy.__post_init__",
        'overdrawn(caps, total) if self.shares == "reserved" else ""',
        '""',
        "reserved shares are promised that the total does not hold",
        by_itself(shares.test_a_policy_whose_caps_do_not_fit_reserved_shares_is_refused_before_a_ledger_is_made),
    ),
    Mutant(
        "unknown-fields-passed-over",
        POLICY_TEXT + "_Reader._known",
        "if name not in known:",
        "if False:",
        "a limit that is misspelt does not hold",
        by_itself(
            session.test_a_policy_that_cannot_be_used_says_what_to_do,
            "max_groups = 2",
            "max_group = 2",
            "did you mean 'max_groups'",
        ),
    ),
    Mutant(
        "policy-written-over",
        POLICY_TEXT + "save",
        'path.open("x"',
        'path.open("w"',
        "what an owner declared is gone",
        by_itself(policy.test_a_policy_is_never_written_over),
    ),
    Mutant(
        "rho-of-next-to-nothing",
        PRICING + "check_least",
        " or 0 < price.rho < LEAST_RHO",
        "",
        "rows are added to a ledger almost without end",
        by_itself(limits.test_the_least_price_is_a_millionth, "zcdp"),
    ),
    Mutant(
        "priced-by-another-accountant",
        PRICING + "price_of_promise",
        "if accountant is Accountant.ZCDP:",
        "if not accountant:",
        "a ledger of rho is charged epsilon",
        by_itself(session.test_the_zcdp_accountant_charges_rho),
    ),
    Mutant(
        "export-believed",
        CURATOR + "proof:proof_of_export",
        "replay(dict(document))",
        'replay({**document, "rows": document["rows"][:1]})',
        "of an export the first row is computed again, and the rest is believed",
        by_itself(owner.test_an_export_that_was_changed_proves_nothing),
    ),
    Mutant(
        "two-turns-at-once",
        CURATOR + "turns:Turns._wait",
        "self._busy = True\n",
        "self._busy = False\n",
        "two threads read the same total, and both add to it",
        turns.test_each_job_is_done_once_by_one_thread_at_a_time,
    ),
    Mutant(
        "version-used-again",
        VERSIONS + "next_version",
        "version in used",
        "version == used[-1]",
        "answers about the data of then are given for the data of now",
        by_itself(owner.test_after_the_data_changed_an_old_question_is_charged_anew),
    ),
    Mutant(
        "old-data-loaded-still",
        SESSION + "Curator._reopened",
        "        self._engine = None\n",
        "",
        "questions under the new version are answered by the old data",
        by_itself(owner.test_after_the_data_changed_the_new_ones_are_read),
    ),
    Mutant(
        "row-told-to-analysts",
        SESSION + "_receipted",
        "if analyst is None:",
        "if True:",
        "an analyst counts what others ask by the numbers of rows",
        by_itself(keys.test_what_an_analyst_is_told_is_the_same_whatever_others_do),
    ),
)
