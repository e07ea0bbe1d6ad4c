"""Attacks on answers, as anyone could run them: what a curator must withstand. They use public names only.

Every attack plays one game (`play`): a secret is drawn, data that hold it are released, and the secret is guessed from the release.
What comes out stands beside what ε permits.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.attacks import (
        averaging,
        changes,
        differencing,
        float_bits,
        linkage,
        membership,
        patient,
        reconstruction,
    )
    from discreet.attacks.catalog import names, run
    from discreet.attacks.game import Attack, Outcome, Publication, exact, permitted, play, private
    from discreet.attacks.report import AttackReport, Score, compare

__all__ = [
    "Attack",
    "AttackReport",
    "Outcome",
    "Publication",
    "Score",
    "averaging",
    "changes",
    "compare",
    "differencing",
    "exact",
    "float_bits",
    "linkage",
    "membership",
    "names",
    "patient",
    "permitted",
    "play",
    "private",
    "reconstruction",
    "run",
]

# The module of each name that is not itself a module.
_HOME = dict.fromkeys(["Attack", "Outcome", "Publication", "exact", "permitted", "play", "private"], "game")
_HOME |= dict.fromkeys(["AttackReport", "Score", "compare"], "report")
_HOME |= dict.fromkeys(["names", "run"], "catalog")

# Type checkers read the import above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
