"""Walking all ways in which a program can go: it is run again and again, and each run answers its choices by a script.

A program makes its random choices through a `Walk`. What comes after the script is chosen as the likeliest alternative, and the others
are put aside, to be run later: so there is one run for each way to an end. Ways are run in the order of their probability, and what was
not run in the end is `rest`. Everything else in the program must be determined: where a run meets another choice than the one that its
script was written for, the program is refused. A run that goes on to ever less likely places is put aside itself, so that loops end.
"""

import heapq
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.audit.law import NEVER, ONE, SURE, ZERO, Bracket, Law
from discreet.errors import Invalid

RUNS = 20_000
"""Runs after which the ways that are left are not followed any more."""

LEAST = Fraction(1, 1 << 128)
"""Ways that are less likely are not followed: some coins have no end, and each toss of theirs takes longer than the one before."""

STRETCH = Fraction(1, 1 << 16)
"""A run that came to a place this much less likely than where its script ended is put aside, and goes on when its turn comes."""

Label = Hashable
Step = tuple[Label, int]


class _Paused(BaseException):
    """A run was put aside: no `except Exception` of the program may keep it."""


@dataclass(slots=True)
class Walk:
    """One run: the choices of its script, then the likeliest ones; `aside` holds the others, each with its probability."""

    script: tuple[Step, ...] = ()
    mass: Bracket = SURE
    steps: list[Step] = field(default_factory=list)
    aside: list[tuple[Bracket, tuple[Step, ...]]] = field(default_factory=list)
    lost: Fraction = ZERO
    """What alternatives that were not told of have, for chances that add up to less than 1."""

    pause: Fraction = field(init=False)

    def __post_init__(self) -> None:
        self.pause = self.mass.high * STRETCH

    def choose(self, label: Label, chances: Sequence[Bracket]) -> int:
        """The number of one of the alternatives. The label says what is chosen, and must be the same in every run that gets here.

        Chances that may add up to 1 are those of all alternatives; where they cannot, what is missing is lost.
        """
        place = len(self.steps)
        if place < len(self.script):
            return self._again(label, self.script[place][1])
        if self.mass.high < self.pause:
            self.aside.append((self.mass, tuple(self.steps)))
            raise _Paused
        taken = max(range(len(chances)), key=lambda i: chances[i].high)
        before = tuple(self.steps)
        for i, chance in enumerate(chances):
            if i != taken and chance.high:
                self.aside.append((self.mass * chance, (*before, (label, i))))
        low, high = (sum((getattr(each, end) for each in chances), ZERO) for end in ("low", "high"))
        if low > 1:
            raise Invalid("the chances of a choice must add up to at most 1")
        if high < 1:
            self.lost += self.mass.high * (ONE - low)
        self.mass *= chances[taken]
        return self._go(label, taken)

    def _again(self, label: Label, taken: int) -> int:
        if self.script[len(self.steps)][0] != label:
            raise Invalid(
                "the program is not determined by its choices: after equal ones it asked for another one",
                hint="let everything random in it come from what it is given, and start from the same state each time",
            )
        return self._go(label, taken)

    def _go(self, label: Label, taken: int) -> int:
        self.steps.append((label, taken))
        return taken


def walked(run: Callable[[Walk], Hashable], runs: int = RUNS) -> Law:
    """The law of what a run gives. For every outcome the truth lies between what was reached, and that with all that is left.

    >>> half = Bracket.of(0.5)
    >>> law = walked(lambda walk: walk.choose("a", [half, half]) + walk.choose("b", [half, half]))
    >>> [str(law.chance(heads)) for heads in range(3)]
    ['1/4', '1/2', '1/4']
    """
    reached: dict[Hashable, Bracket] = {}
    waiting: list[tuple[Fraction, int, Bracket, tuple[Step, ...]]] = [(-ONE, 0, SURE, ())]
    number, lost = 0, ZERO
    for _ in range(runs):
        if not waiting or -waiting[0][0] < LEAST:
            break
        _, _, mass, script = heapq.heappop(waiting)
        walk = Walk(script, mass)
        with suppress(_Paused):
            outcome = run(walk)
            if len(walk.steps) < len(script):
                raise Invalid("the program is not determined by its choices: after equal ones it ended early")
            reached[outcome] = reached.get(outcome, NEVER) + walk.mass
        lost += walk.lost
        for chance, steps in walk.aside:
            number += 1
            heapq.heappush(waiting, (-chance.high, number, chance, steps))
    if all(each.exact for each in reached.values()):
        rest = ONE - sum((each.low for each in reached.values()), ZERO)
    else:
        rest = min(ONE, lost + sum((mass.high for _, _, mass, _ in waiting), ZERO))
    return Law({outcome: Bracket(each.low, min(ONE, each.high + rest)) for outcome, each in reached.items()}, rest)
