"""Showing that promises are kept, and finding where they are not.

`exact` enumerates what is finite, `joint` what draws that depend on one another release, `bayes` what an output tells of one person;
`twins` compare two neighbours on which whatever is seen must be alike; `lower_bound` and `assert_private` need nothing but outputs, and
`one_run` a single one, with canaries in the data. `zoo` holds bugs that auditors should find, and `subjects` whatever this package is
audited for. `docs/verification.md` says what each can show and what it cannot.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.audit import bayes, joint, law, subjects, tree, twins, zoo
    from discreet.audit.assertion import assert_private
    from discreet.audit.canaries import Extremes, OneRun, one_run
    from discreet.audit.enumeration import Exact, exact
    from discreet.audit.examination import Examination, examine
    from discreet.audit.guesses import one_run_bound
    from discreet.audit.sampling import LowerBound, gaussian_estimate, lower_bound

__all__ = [
    "Exact",
    "Examination",
    "Extremes",
    "LowerBound",
    "OneRun",
    "assert_private",
    "bayes",
    "exact",
    "examine",
    "gaussian_estimate",
    "joint",
    "law",
    "lower_bound",
    "one_run",
    "one_run_bound",
    "subjects",
    "tree",
    "twins",
    "zoo",
]

_HOME = {
    "Extremes": "canaries",
    "Exact": "enumeration",
    "Examination": "examination",
    "LowerBound": "sampling",
    "OneRun": "canaries",
    "assert_private": "assertion",
    "exact": "enumeration",
    "examine": "examination",
    "gaussian_estimate": "sampling",
    "lower_bound": "sampling",
    "one_run": "canaries",
    "one_run_bound": "guesses",
}

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
