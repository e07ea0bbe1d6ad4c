"""All attacks by their names."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module

import discreet as dp
from discreet.attacks.game import number_of_trials
from discreet.attacks.report import AttackReport
from discreet.exact import Number, positive, shown

# The name of each attack, and what it shows in a line. Its module is called by the same name.
NAMES = {
    "differencing": "two counts that differ in one person reveal that person",
    "patient": "two questions reveal a patient's disease, or age: by a count, and by an average",
    "averaging": "repeats average noise away, unless each is charged or the answer is kept",
    "changes": "memoised reports reveal that an answer changed, unless all periods share a budget",
    "reconstruction": "counts of random subsets reveal everybody's bit, even with a little noise",
    "membership": "means of many attributes reveal who was among the people",
    "float-bits": "textbook noise in doubles reveals by its last bits what it was added to",
    "linkage": "two anonymous tables reveal, joined, what neither does",
}


LEAST, MOST = Fraction(1, 1_000), Fraction(1_000)
"""Prices at which a few hundred trials show anything; beyond them noise may not fit into 64 bits."""


def names() -> dict[str, str]:
    """The name of each attack, and what it shows."""
    return dict(NAMES)


def run(name: str, epsilons: Sequence[Number] | None = None, trials: int | None = None) -> AttackReport:
    """Play an attack with made-up data: on exact answers, and on private ones at each ε.

    >>> report = run("differencing", epsilons=[1], trials=100)
    >>> [score.outcome.trials for score in report.scores], report.scores[0].outcome.rate, report.broken
    ([100, 100], 1.0, ())
    """
    if name not in NAMES:
        raise dp.Invalid(f"there is no attack {shown(name)}", code="usage", hint=f"there are {', '.join(NAMES)}")
    chosen = {} if epsilons is None else {"epsilons": [_price(each) for each in epsilons]}
    number = {} if trials is None else {"trials": number_of_trials(trials)}
    play: Callable[..., AttackReport] = import_module(f"{__package__}.{name.replace('-', '_')}").run
    return play(**chosen, **number)


def _price(epsilon: Number) -> Fraction:
    price = positive(epsilon, "epsilon")
    if not LEAST <= price <= MOST:
        raise dp.Invalid(f"epsilon must be from {float(LEAST):g} to {float(MOST):g} here, got {shown(epsilon)}")
    return price
