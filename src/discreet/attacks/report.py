"""What an attack achieved, set beside what is permitted: a table for people, JSON for programs, and a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import discreet as dp
from discreet.attacks import picture
from discreet.attacks.game import ALPHA, Attack, Outcome, Publication, play
from discreet.exact import whole


@dataclass(frozen=True, slots=True)
class Score:
    """How often an attack on one release was right, how often a blind guess is, and how often anybody may be."""

    name: str
    outcome: Outcome
    chance: float
    permitted: float
    epsilon: float | None = None
    delta: float = 0.0
    ours: bool = False
    note: str = ""

    @property
    def exceeds(self) -> bool:
        """Whether more guesses were right than what was promised permits; of a promise that holds it is said once in a million."""
        return self.outcome.exceeds(self.permitted)

    def to_json(self) -> dict[str, Any]:
        """A JSON value: what `discreet attack --json` prints of it."""
        return {
            "name": self.name,
            "right": self.outcome.right,
            "trials": self.outcome.trials,
            "success": self.outcome.rate,
            "interval": list(self.outcome.interval()),
            "chance": self.chance,
            "permitted": self.permitted,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "ours": self.ours,
            "exceeds": self.exceeds,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class AttackReport:
    """One attack on several releases: exact answers, and private ones at several ε."""

    attack: str
    question: str
    scores: tuple[Score, ...]

    @property
    def broken(self) -> tuple[Score, ...]:
        """The scores of our own releases that are above what is permitted: there are none in a sound build."""
        return tuple(score for score in self.scores if score.ours and score.exceeds)

    def __str__(self) -> str:
        heads = ("", "right", "95 % interval", "permitted", "blind")
        rows = [heads, *(_cells(score) for score in self.scores)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
        notes = [f"{score.name}: {score.note}" for score in self.scores if score.note]
        alarms = [
            f"{score.name}: above what is promised; chance alone does that in {ALPHA:g} of all runs"
            for score in self.scores
            if score.exceeds
        ]
        trials = sorted({score.outcome.trials for score in self.scores})
        counted = f"{' or '.join(f'{each:,}' for each in trials)} trials each."
        return "\n".join(
            [
                f"{self.attack}: {self.question}",
                counted,
                "",
                *lines,
                *([""] if notes or alarms else []),
                *notes,
                *alarms,
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON value: what `discreet attack --json` prints."""
        return {
            "attack": self.attack,
            "question": self.question,
            "scores": [score.to_json() for score in self.scores],
        }

    def to_svg(self) -> str:
        """A picture: a bar for each release with its interval, and a mark at what is permitted."""
        return picture.svg(f"{self.attack}: {self.question}", self._bars())

    def draw(self, width: int = 72) -> str:
        """The picture for a terminal, in about as many columns."""
        return picture.text(self._bars(), whole(width, "width", least=1))

    def _bars(self) -> list[picture.RateBar]:
        return [
            picture.RateBar(score.name, score.outcome.rate, score.outcome.interval(), score.permitted, score.chance)
            for score in self.scores
        ]

    _repr_svg_ = to_svg


def _cells(score: Score) -> tuple[str, ...]:
    low, high = score.outcome.interval()
    promise = "no promise" if score.epsilon is None else percent(score.permitted)
    between = f"{percent(low)} … {percent(high)}"
    return score.name, percent(score.outcome.rate), between, promise, percent(score.chance)


def percent(share: float) -> str:
    """
    >>> percent(0.7311), percent(1.0), percent(0.00662)
    ('73.1 %', '100 %', '0.662 %')
    """
    return f"{100 * share:.3g} %"


def compare(
    name: str, question: str, rounds: Sequence[tuple[Attack, Publication]], trials: int, notes: Sequence[str] = ()
) -> AttackReport:
    """A report on attacks, each on its release, with as many trials."""
    if not rounds:
        raise dp.Invalid("there must be a release to attack, got none")
    scores = [
        Score(
            release.name,
            play(attack, release.publish, trials),
            1 / attack.choices,
            release.permitted(attack.choices),
            release.epsilon,
            release.delta,
            release.ours,
            note,
        )
        for (attack, release), note in zip(rounds, [*notes, *[""] * (len(rounds) - len(notes))], strict=True)
    ]
    return AttackReport(name, question, tuple(scores))
