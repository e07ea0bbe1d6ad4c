"""The sparse vector technique on a grant: each round, from a new noisy threshold to its hit, is one draw.

The threshold lives in memory only. What is kept of a round is at which question it hit, so that whoever enters again and asks the same
gets the same answers. A round that was begun and has not hit when its process ends is lost, and costs as much as a hit.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import Invalid, Refused
from discreet.exact import Number, shown
from discreet.mechanisms.above_threshold import AboveThreshold, Session
from discreet.mechanisms.hand import Turn, Use
from discreet.mechanisms.packed import unpacked

if TYPE_CHECKING:
    from discreet.mechanisms.measure import Grant
    from discreet.mechanisms.record import Course


class Rounds:
    """Scores one by one, until the hits are used up; then it refuses."""

    def __init__(self, grant: "Grant", mechanism: AboveThreshold, sensitivity: Number | None) -> None:
        if not isinstance(mechanism, AboveThreshold):
            raise Invalid(f"mechanism must be AboveThreshold, got {shown(mechanism)}")
        self._grant = grant
        self._each = replace(mechanism, hits=1)
        self._event = self._each.event(sensitivity)
        self._use = Use(self._each, sensitivity, in_turn=True)
        self._left = mechanism.hits
        self._number = self._asked = 0
        # of the round that goes on; None between rounds, and in one that comes back
        self._round: tuple[Session, Turn] | None = None
        self._hit: int | None = None  # at which question a round hit in an earlier entry

    @property
    def left(self) -> int:
        """How many hits are left; a round that was lost is one."""
        return self._left

    def ask(self, exact: Callable[[], int]) -> bool:
        """Whether this score is above the threshold, with fresh noise; of a round of an earlier entry, what was said then.

        The first question of a round that was lost is Refused (code "draw-lost"); the next begins the next round.
        """
        with self._grant.alone() as course:
            if self._round is None and self._hit is None:
                self._begin(course)
            self._asked += 1
            if not self._hits(exact):
                return False
            fresh, self._round, self._hit = self._round is not None, None, None
            return bool(course.keep(self._number, self._asked)) if fresh else True

    def _hits(self, exact: Callable[[], int]) -> bool:
        if self._round is None:
            return self._asked == self._hit
        session, turn = self._round
        return bool(turn.release(exact, session.ask))

    def _begin(self, course: "Course") -> None:
        if not self._left:
            raise Refused("this grant has used up its hits", hint="begin a new one, and charge for it")
        self._asked = 0
        try:
            self._number, before = course.begin(self._event)
        except Refused as refusal:
            self._left -= refusal.code == "draw-lost"
            raise
        self._left -= 1
        if before is None:
            self._round = self._each.session(self._grant.source), self._grant.hand.begin(self._use)
        else:
            self._hit = int(unpacked(before))
