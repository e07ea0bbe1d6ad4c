"""Planted bugs of shuffled reports."""

from tests.local import test_shuffled as shuffled
from tests.mutants import Mutant

MUTANTS = (
    Mutant(
        "more-clones-than-there-are",
        "discreet.local.shuffled:shuffled_epsilon",
        "binary=protocol.bits == TWO",
        "binary=True",
        "protocols of many reports are said to hide people as well as those of two",
        shuffled.shuffled_reports_keep_what_is_said,
    ),
    Mutant(
        "a-shuffler-before-the-randomiser",
        "discreet.local.shuffled:shuffled_epsilon",
        "theorems.shuffled_epsilon(protocol.once, n, delta,",
        "theorems.shuffled_epsilon(protocol.once, n * 4, delta,",
        "more people are said to hide each other than there are",
        shuffled.shuffled_reports_keep_what_is_said,
    ),
)
