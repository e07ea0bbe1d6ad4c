"""The collector: counts reports, which it need not be trusted with, and says what they mean.

Its state has a fixed size, however many reports there are. The state of two collectors that saw different reports adds up to that of one
that saw all.
"""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, to_float_up, whole
from discreet.local.campaign import Campaign
from discreet.local.canonical import read, written
from discreet.local.estimation import estimates
from discreet.local.report import ClientReport, binding
from discreet.local.seen import SeenSet
from discreet.local.states import VERSION, read_state, write_state
from discreet.noise.size import Ints

KEYS = frozenset({"campaign", "n", "rejected", "seen", "totals"})
REASONS = ("campaign", "duplicate", "expired", "malformed", "version")
MOST_REPORTS = 1 << 40  # times the width of any totals that is less than 2^63: their sums are exact
_State: TypeAlias = tuple[Campaign, Callable[[], float], SeenSet, Ints, int, dict[str, int]]
PENDING, PENDING_BYTES = 1 << 12, 1 << 22  # reports, and bytes of them, that wait to be counted together


class Collector:
    """The reports of one campaign, counted: each that is whole, of this campaign, in time, and new.

    `capacity` and `false_rejects` say how large the set of seen tokens is: until so many reports at most this share of new ones is taken
    for copies. A copy that is sent to two collectors is counted by both of them: send each token to one place. Threads may share one.
    """

    __slots__ = (
        "_bound",
        "_clock",
        "_lock",
        "_n",
        "_pending",
        "_protocol",
        "_rejected",
        "_seen",
        "_totals",
        "campaign",
    )

    def __init__(
        self,
        campaign: Campaign,
        *,
        capacity: int = 1 << 20,
        false_rejects: Number = 1e-6,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(campaign, Campaign):
            raise Invalid("campaign must be a Campaign", hint="read a text by Campaign.from_json")
        seen, totals = SeenSet.of(campaign.salt, capacity, false_rejects), np.zeros(campaign.randomiser.width, np.int64)
        self.__setstate__((campaign, clock, seen, totals, 0, dict.fromkeys(REASONS, 0)))

    def __setstate__(self, state: _State) -> None:
        self.campaign, self._clock, self._seen, self._totals, self._n, self._rejected = state
        self._bound = binding(self.campaign)
        self._protocol = self.campaign.randomiser
        self._pending: list[Any] = []
        self._lock = threading.RLock()  # held while anything above is changed, or read together

    def __getstate__(self) -> _State:
        """What a copy goes on from, here or in another process: it shares nothing with this one."""
        with self._lock:
            return self.campaign, self._clock, self._seen.copy(), self.totals, self._n, self.rejected

    @property
    def n(self) -> int:
        """The number of reports that count."""
        return self._n

    @property
    def rejected(self) -> dict[str, int]:
        """The number of reports that do not count, by reason."""
        return dict(self._rejected)

    @property
    def false_rejects(self) -> float:
        """How often a new report would be taken for a copy now."""
        return self._seen.false_rejects

    def add(self, report: bytes | str) -> bool:
        """Whether this report counts, as bytes or as JSON; what does not is counted by its reason, and changes nothing else."""
        with self._lock:
            reason = self._taken(report)
            if reason:
                self._rejected[reason] += 1
        return not reason

    def extend(self, reports: Iterable[bytes | str]) -> int:
        """How many of these reports count; Invalid for one report by itself, whose bytes are none."""
        if isinstance(reports, bytes | str) or not isinstance(reports, Iterable):
            raise Invalid("reports must be several of them", hint="pass a list, or one report to add")
        return sum(self.add(each) for each in reports)

    def _taken(self, report: bytes | str) -> str:
        """Why the report does not count, or "" where it does."""
        try:
            parts = ClientReport.read(report)
            answer = parts.opened(self._protocol, self._bound)
        except Invalid as error:
            return error.code if error.code in REASONS else "malformed"
        if self._clock() >= self.campaign.expires:
            return "expired"
        if not self._seen.add(parts.token):
            return "duplicate"
        self._n += 1
        self._pending.append(answer)
        if len(self._pending) >= min(PENDING, PENDING_BYTES // np.asarray(answer).nbytes):
            self._count()
        return ""

    def _count(self) -> None:
        if self._pending:
            self._totals += self._protocol.accumulate(np.array(self._pending))
            self._pending = []

    @property
    def totals(self) -> Ints:
        """The totals of all reports that count, as the protocol has them."""
        return self._known()[0]

    def _known(self) -> tuple[Ints, int]:
        """The totals, and of how many reports they are."""
        with self._lock:
            self._count()
            return self._totals.copy(), self._n

    def merged(self, other: "Collector") -> "Collector":
        """The collector of what either has seen; Invalid where they are of two campaigns, or of two sizes.

        Invalid, too, where one has seen all reports of the other, as a later state of a collector has those of an earlier one.
        """
        if not isinstance(other, Collector) or other.campaign.to_json() != self.campaign.to_json():
            raise Invalid("collectors of two campaigns cannot be merged")
        if other is self:
            raise Invalid("a collector cannot be merged with itself", hint="each of its reports would count twice")
        both = Collector(self.campaign, capacity=1, false_rejects=0.5, clock=self._clock)
        first, second = sorted((self, other), key=id)  # two merges at once wait for each other in one order
        with first._lock, second._lock:
            both._seen = self._seen.merged(other._seen)
            if self._seen.covers(other._seen) or other._seen.covers(self._seen):
                raise Invalid(
                    "one of two collectors has seen all reports of the other: they would count twice",
                    code="copies",
                    hint="merge the later state of a collector alone",
                )
            both._totals = self.totals + other.totals
            both._n = self._n + other._n
            both._rejected = {reason: self._rejected[reason] + other._rejected[reason] for reason in REASONS}
        return both

    def to_json(self) -> str:
        """The whole state, from which `from_json` goes on; it holds randomised reports only as totals, and tokens as bits."""
        with self._lock:
            fields = {
                "campaign": self.campaign.to_json(),
                "n": self._n,
                "rejected": self.rejected,
                "seen": self._seen.record(),
                "totals": self.totals.tolist(),
            }
        return written("collector", VERSION, fields)

    @classmethod
    def from_json(cls, text: str, *, clock: Callable[[], float] = time.time) -> "Collector":
        """The collector that was saved; Invalid for anything else."""
        record = read(text, "collector", VERSION, KEYS)
        collector = cls(Campaign.from_json(record["campaign"]), capacity=1, false_rejects=0.5, clock=clock)
        collector._seen = SeenSet.of_record(collector.campaign.salt, record["seen"])
        rejected, totals, n = record["rejected"], record["totals"], whole(record["n"], "n")
        if not isinstance(rejected, dict) or rejected.keys() != set(REASONS) or n > MOST_REPORTS:
            raise _unsound()
        collector._rejected = {reason: whole(rejected[reason], "rejected") for reason in REASONS}
        if max(collector._rejected.values()) > MOST_REPORTS:
            raise _unsound()
        if not isinstance(totals, list) or len(totals) != collector._protocol.width:
            raise _unsound()
        if not all(type(each) is int and -n <= each <= n for each in totals):
            raise _unsound()
        collector._n, collector._totals = n, np.array(totals, np.int64)
        if not collector._protocol.possible(collector._totals, n):
            raise _unsound()
        return collector

    def save(self, path: str | Path) -> None:
        """Write the state into a file, as .json or as .parquet; it is replaced whole and durably, or stays as it was."""
        write_state(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path, *, clock: Callable[[], float] = time.time) -> "Collector":
        """The collector that was saved; Invalid for any other file."""
        return cls.from_json(read_state(path), clock=clock)

    def estimates(self, confidence: Number = 0.95) -> Any:
        """What those say whose reports count, with variances and intervals, as the protocol has it; Invalid where there are none.

        Of a choice these are `FrequencyEstimates`.
        """
        return estimates(self._protocol, self.campaign.domain, *self._known(), confidence)

    def influence(self, liars: int) -> float:
        """How far so many of the reports could have moved an estimate, such as the share of any one label, by saying whatever they like.

        One of n moves it by at most an n-th of the protocol's `reach`; nothing can tell who lies from who was randomised. It is said of
        unbiased estimates: of a choice consistent shares move by at most twice as much; of a square wave it is the share up to any edge,
        and the mean moves by at most k/n of the protocol's `span`.
        """
        few, (totals, n) = whole(liars, "liars"), self._known()
        if few > n or not n:
            raise Invalid("liars must be at most the number of reports")
        return to_float_up(self._protocol.influence(few, totals, n))


def _unsound() -> Invalid:
    return Invalid("this is not the state of a collector", code="malformed")
