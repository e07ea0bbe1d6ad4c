"""Every channel outside of ε: what somebody may see that depends on the data, or on what others did, and that no price pays for.

One list, so that nothing of the kind is added in silence. The page on security is made of it; the numbers are those of the code.
"""

from dataclasses import dataclass

from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE
from discreet.curator.mark import PATIENCE


@dataclass(frozen=True, slots=True)
class Channel:
    """One thing that is seen, by whom, and what keeps it small."""

    what: str
    seen_by: str
    bits: str  # of the data, an event
    counter: str  # where events are counted
    bound: str  # on the events, or on what they tell
    test: str  # that shows it, or why there is none

    def row(self) -> str:
        """As the page on security has it."""
        return f"| {' | '.join((self.what, self.seen_by, self.bits, self.counter, self.bound, self.test))} |"


CHANNELS = (
    Channel(
        "a failure after data was touched: no memory, a fault of the engine",
        "who asked",
        "1",
        "a row `failed` of the ledger, and the number of them in every row after it",
        f"one constant message, and the charge is kept; of {MOST_OF_ONE} the last suspends its analyst, of {MOST_FAILURES} the data set",
        "`tests/curator/test_session.py::test_after_data_was_touched_there_is_one_constant_error_and_the_charge_stays`",
    ),
    Channel(
        "a late answer: how long a question runs depends on the rows",
        "who asked, and can time it",
        "not bounded",
        "none",
        "none: answers do not leave at fixed times",
        "none; a [known gap](known-gaps.md)",
    ),
    Channel(
        "a source that does not load",
        "who asked",
        "1: that a line is malformed, or the source is not there",
        "none: nothing is charged",
        "one constant message; the owner loads first, and sees why",
        "`tests/laws/test_data_in.py::test_a_source_that_does_not_load_is_one_constant_fault_at_no_charge`",
    ),
    Channel(
        "a refusal because the data set has nothing left, where shares are common",
        "an analyst with something left of their own cap",
        "0; that others asked, and how much about",
        "what others are charged",
        'none; `shares = "reserved"` closes it: each cap is set aside, and nobody is refused for what another spent',
        "`tests/curator/test_shares.py::test_what_an_analyst_is_told_is_the_same_whatever_others_do`",
    ),
    Channel(
        "waiting for others who write, and a ledger that is busy",
        "who asks at the same time",
        "0; that others ask",
        "none",
        f"after {PATIENCE:g} seconds one message; nothing is charged",
        "`tests/curator/test_disk.py::test_a_locked_database_releases_nothing`",
    ),
    Channel(
        "an analyst who is suspended, or a data set that has stopped, after failures",
        "the analyst; all analysts",
        "1, that of its last failure",
        "the failures before it",
        "once: no question is charged or computed until the owner resumes it, which a row says",
        "`tests/curator/test_store.py::test_an_analyst_who_fails_is_suspended_and_stops_nobody_else`"
        " `tests/curator/test_session.py::test_a_data_set_stops_after_ten_failures_until_it_is_resumed`",
    ),
    Channel(
        "a rehearsal, and what is declared after it",
        "the owner; whoever asks sees the declarations",
        "to the owner exact numbers; in a declaration that follows a proposal, which round number it is",
        "none: nothing is charged or recorded",
        "shown in a terminal, elsewhere by `--yes` alone, never for a named analyst; every line says that it must not be published;"
        " proposals are public round numbers, rounded outward",
        "`tests/cli/test_rehearse.py::test_a_named_analyst_is_refused_whatever_they_say`"
        " `tests/curator/test_rehearse.py::test_a_rehearsal_charges_nothing_keeps_nothing_and_leaves_every_byte_of_a_ledger`",
    ),
    Channel(
        "the version of the data",
        "who asks before and after",
        "0; that the owner changed the data, and when",
        "a row `data-changed` of the ledger",
        "the owner's own counter, never made of contents; the budget goes on",
        "`tests/curator/test_session.py::test_versions_of_the_data_only_go_on`",
    ),
)

HEADING = (
    "| what is seen | by whom | bits of the data, an event | counted by | bound | test |",
    "|---|---|---|---|---|---|",
)


def table() -> str:
    """The list as the page on security has it."""
    return "\n".join((*HEADING, *(channel.row() for channel in CHANNELS)))
