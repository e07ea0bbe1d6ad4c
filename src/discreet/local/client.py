"""The client: what runs on a person's own machine. It holds the true value, and knows nothing of collectors."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from discreet.errors import Invalid, Refused
from discreet.local.campaign import Campaign
from discreet.local.diary import Diary
from discreet.local.memoised import Memoised
from discreet.local.report import TOKEN, ClientReport, binding
from discreet.noise import Source
from discreet.noise.source import chosen


class Client:
    """One person in one campaign, who reports once.

    For any two values the chances of any bytes that `report` gives differ by a factor of at most e^ε of the campaign: the token is drawn
    apart from the value, and the answer is randomised by the campaign's protocol. A second report would cost ε again, so there is none:
    whoever asks again gets the same bytes. The `diary` remembers them, and what all campaigns cost; without one the client remembers as
    long as it lives, and its campaign alone: that is not enough for a round of a series, whose permanent answers outlive it. `source` is
    for tests: what is drawn from a `Tape` is not private.
    """

    __slots__ = ("_clock", "_forgets", "_identity", "_protocol", "_source", "campaign", "diary")

    def __init__(
        self,
        campaign: Campaign,
        *,
        diary: Diary | None = None,
        source: Source | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(campaign, Campaign):
            raise Invalid("campaign must be a Campaign", hint="Campaign.from_json(text) reads one")
        if not (diary is None or isinstance(diary, Diary)):
            raise Invalid("diary must be a Diary", hint="pass diary=Diary.open(path, epsilon=…)")
        self.campaign = campaign
        self.diary, self._forgets = (Diary(campaign.epsilon), True) if diary is None else (diary, False)
        self._protocol, self._identity = campaign.randomiser, campaign.id
        self._source = chosen(source)
        self._clock = clock

    @property
    def notice(self) -> str:
        """What taking part costs, and what is not protected: an application shows it before it asks."""
        return self.campaign.notice

    def report(self, value: Any, token: bytes | None = None) -> bytes:
        """The report of this person, randomised; the first one again, if there is one, whatever the value and the token are now.

        `token` is the one that whoever runs the campaign has given to this person, or None for a random one. Invalid where the value is
        not in the domain; Refused where the campaign is over, or costs more than is left in the diary, or is a round and there is none.
        """
        if self._forgets and isinstance(self._protocol, Memoised):
            raise Refused(
                "a round of a series needs a diary, which keeps the permanent answers of all rounds",
                code="diary",
                hint="pass diary=Diary.open(path, epsilon=…)",
            )
        if token is not None and (not isinstance(token, bytes) or len(token) != TOKEN):
            raise Invalid(f"token must be {TOKEN} bytes")
        encoded = self.campaign.domain.encoded(value)
        if self._clock() >= self.campaign.expires:
            raise Refused("the campaign is over", code="expired")
        holds = (self.campaign.series, encoded) if isinstance(self._protocol, Memoised) else None
        return self.diary.report(self._identity, self.campaign.epsilon, partial(self._drawn, encoded, token), holds)

    def _drawn(
        self, value: Any, token: bytes | None, known: bytes | None, others: list[bytes]
    ) -> tuple[bytes, bytes | None]:
        """A report; and the permanent answer that it was made of, where that is new."""
        protocol, new = self._protocol, None
        if isinstance(protocol, Memoised):
            if known is None:
                lasting = protocol.lasting(value, [protocol.unpack(each) for each in others], self._source)
                known = new = protocol.pack(lasting)
            answer = protocol.again(protocol.unpack(known), self._source)
        else:
            answer = protocol.randomise(value, self._source)
        ticket = self._source.bits(8 * TOKEN).to_bytes(TOKEN, "little") if token is None else token
        report = ClientReport(self.campaign.protocol, binding(self.campaign), ticket, protocol.pack(answer))
        return report.to_bytes(), new
