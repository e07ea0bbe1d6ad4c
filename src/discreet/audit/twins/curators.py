"""Twins of questions: two curators that differ in their data alone, each in memory, are asked the same.

The curators that are handed in lend their policies and are not asked: their ledgers are neither opened nor charged. Those that are asked
are made here, for the audit, with a budget in memory; nothing that they answer is private, and every answer says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack

from discreet.audit.twins.record import Recorder
from discreet.audit.twins.replay import Replayer
from discreet.audit.twins.report import Report, reported
from discreet.audit.twins.seen import Seen, observed
from discreet.curator.asked import Params, Terms, spelled_out
from discreet.curator.place import Memory
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.mechanisms.hand import FRESH, Hand
from discreet.noise import Source, Tape


@dataclass
class Rehearsed:
    """The randomness of a curator under audit: the bits and the hand are others for each act."""

    source: Source = field(default_factory=lambda: Tape(0))
    hand: Hand = FRESH


class Curators:
    """Two curators on neighbouring data, to be asked the same: `with Curators(first, second) as pair: pair.ask("SELECT …", epsilon=1)`.

    Both go on from one question to the next, with a budget of their own that is what the policy says.
    """

    def __init__(self, first: Curator | Policy, second: Curator | Policy) -> None:
        self._randomness = Rehearsed(), Rehearsed()
        self._curators = tuple(
            _audited(of, randomness) for of, randomness in zip((first, second), self._randomness, strict=True)
        )
        self._acts = 0

    @spelled_out
    def ask(self, text: str, params: Params = None, **terms: Unpack[Terms]) -> Report:
        """What tells the neighbours apart in the answer to a question, or in its refusal; `terms` as in `Curator.sql`."""
        return self.run(lambda curator: curator.sql(text, params, **terms))

    def run(self, act: Callable[[Curator], Any]) -> Report:
        """What tells the neighbours apart in whatever is done with a curator, such as a measurement."""
        recorder = Recorder()
        first = self._seen(0, act, recorder)
        replayer = Replayer(recorder.drawn)
        second = self._seen(1, act, replayer)
        self._acts += 1
        return reported(first, second, replayer)

    def _seen(self, which: int, act: Callable[[Curator], Any], hand: Hand) -> Seen:
        randomness, curator = self._randomness[which], self._curators[which]
        randomness.source, randomness.hand = Tape(self._acts), hand
        before = curator.spent

        def price() -> str:
            after = curator.spent
            return f"ε = {after.epsilon - before.epsilon}, δ = {after.delta - before.delta}"

        return observed(lambda: act(curator), price)

    def close(self) -> None:
        """Give back both curators."""
        for curator in self._curators:
            curator.close()

    def __enter__(self) -> "Curators":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@spelled_out
def ask(
    first: Curator | Policy, second: Curator | Policy, text: str, params: Params = None, **terms: Unpack[Terms]
) -> Report:
    """What tells two neighbours apart in the answer to one question; the curators themselves are neither asked nor charged.

    >>> from discreet import Curator
    >>> visits = {"person": [1, 1, 2, 3], "ward": ["A", "B", "A", "A"]}
    >>> others = {name: values[:3] for name, values in visits.items()}
    >>> first, second = (
    ...     Curator({"visits": rows}, "person", epsilon=1, ledger=":memory:", max_rows=2) for rows in (visits, others)
    ... )
    >>> ask(first, second, "SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    nothing tells the twins apart (1 draw, answer)
    """
    with Curators(first, second) as pair:
        return pair.run(lambda curator: curator.sql(text, params, **terms))


def _audited(of: Curator | Policy, randomness: Rehearsed) -> Curator:
    policy = of.policy if isinstance(of, Curator) else of
    # no budget begins that the owner would have to hear of
    return Curator.of(policy, noted=_unheard, place=Memory(), randomness=randomness)


def _unheard(_: str) -> None:
    """Nobody is told."""
