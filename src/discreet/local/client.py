"""The client: what runs on a person's own machine. It holds the true value, and knows nothing of collectors."""

import threading
import time
from collections.abc import Callable
from typing import Any

from discreet.errors import Invalid, Refused
from discreet.local.campaign import Campaign
from discreet.local.report import TOKEN, ClientReport, binding
from discreet.noise import Source
from discreet.noise.source import chosen


class Client:
    """One person in one campaign, who reports once.

    For any two values the chances of any bytes that `report` gives differ by a factor of at most e^ε of the campaign: the token is drawn
    apart from the value, and the answer is randomised by the campaign's protocol. A second report would cost ε again, so there is none: who
    has to send again sends the same bytes. `source` is for tests: what is drawn from a `Tape` is not private.
    """

    __slots__ = ("_clock", "_lock", "_source", "_spent", "campaign")

    def __init__(
        self, campaign: Campaign, *, source: Source | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.campaign = campaign
        self._source = chosen(source)
        self._clock = clock
        self._lock = threading.Lock()
        self._spent = False

    def report(self, value: Any, token: bytes | None = None) -> bytes:
        """The report of this person, randomised; the only one.

        `token` is the one that whoever runs the campaign has given to this person, or None for a random one. Invalid where the value is
        not in the domain; Refused where the campaign is over or the person has reported.
        """
        if token is not None and (not isinstance(token, bytes) or len(token) != TOKEN):
            raise Invalid(f"token must be {TOKEN} bytes")
        encoded = self.campaign.domain.encoded(value)
        if self._clock() >= self.campaign.expires:
            raise Refused("the campaign is over", code="expired")
        with self._lock:
            if self._spent:
                raise Refused("this person has reported", code="spent", hint="send the bytes of the first report again")
            self._spent = True  # before anything is drawn: what fails after this has cost its ε
        protocol = self.campaign.randomiser
        answer = protocol.pack(protocol.randomise(encoded, self._source))
        ticket = self._source.bits(8 * TOKEN).to_bytes(TOKEN, "little") if token is None else token
        return ClientReport(self.campaign.protocol, binding(self.campaign), ticket, answer).to_bytes()
