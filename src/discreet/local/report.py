"""A report as it travels: its version, protocol, campaign, one-time token and randomised answer, as bytes or as JSON.

The bytes are: version, protocol, the first 16 bytes of the campaign's identity, 16 of the token, and the packed answer.
"""

from dataclasses import dataclass
from typing import Any

from discreet.errors import Invalid
from discreet.local.campaign import Campaign
from discreet.local.canonical import bytes_of, read, written
from discreet.local.choices import MOST_CELLS
from discreet.local.protocol import LocalProtocol
from discreet.local.protocols import CODES, PROTOCOLS

VERSION = 1
BOUND = 16  # bytes of a campaign's identity in a report
TOKEN = 16  # bytes of a one-time token
MOST_ANSWER = MOST_CELLS // 8  # bytes: a bit for each cell
MOST_TEXT = 2 * MOST_ANSWER + 1000  # letters of a report's JSON
HEAD = 2 + BOUND + TOKEN
KEYS = frozenset({"answer", "campaign", "protocol", "token"})


def binding(campaign: Campaign) -> bytes:
    """What of a campaign's identity its reports carry."""
    return bytes.fromhex(campaign.id)[:BOUND]


@dataclass(frozen=True, slots=True)
class ClientReport:
    """A report by its parts; it holds no more of a person than the randomised answer."""

    protocol: str
    campaign: bytes
    token: bytes
    answer: bytes

    def __post_init__(self) -> None:
        lengths = (self.campaign, BOUND, BOUND), (self.token, TOKEN, TOKEN), (self.answer, 1, MOST_ANSWER)
        if not isinstance(self.protocol, str) or self.protocol not in PROTOCOLS:
            raise _malformed()
        if not all(isinstance(part, bytes) and least <= len(part) <= most for part, least, most in lengths):
            raise _malformed()

    def to_bytes(self) -> bytes:
        """The report as bytes: 34 and the packed answer."""
        return bytes([VERSION, PROTOCOLS[self.protocol].code]) + self.campaign + self.token + self.answer

    @classmethod
    def from_bytes(cls, data: bytes) -> "ClientReport":
        """The report of its bytes; Invalid for anything else, and nothing else is raised."""
        if not isinstance(data, bytes) or len(data) < 2:
            raise _malformed()
        if data[0] != VERSION:
            raise Invalid("this report has another version", code="version")
        if data[1] not in CODES:
            raise _malformed()
        return cls(CODES[data[1]], data[2 : 2 + BOUND], data[2 + BOUND : HEAD], data[HEAD:])

    def to_json(self) -> str:
        """The report as JSON, of which there is one spelling."""
        parts = {"answer": self.answer.hex(), "campaign": self.campaign.hex(), "token": self.token.hex()}
        return written("report", VERSION, {"protocol": self.protocol, **parts})

    @classmethod
    def from_json(cls, text: str) -> "ClientReport":
        """The report of its JSON; Invalid for anything else, and nothing else is raised."""
        record = read(text, "report", VERSION, KEYS, MOST_TEXT)
        parts = (bytes_of(record[part], "report") for part in ("campaign", "token", "answer"))
        return cls(record["protocol"], *parts)

    @classmethod
    def read(cls, data: bytes | str) -> "ClientReport":
        """The report of its bytes or of its JSON."""
        return cls.from_json(data) if isinstance(data, str) else cls.from_bytes(data)

    def opened(self, protocol: LocalProtocol, bound: bytes) -> Any:
        """The randomised answer, as the protocol has it; Invalid where the report is of another campaign or domain.

        `protocol` is the campaign's, and `bound` is `binding(campaign)`: both are made once for many reports.
        """
        if self.campaign != bound or self.protocol != protocol.name:
            raise Invalid("this report is of another campaign", code="campaign")
        try:
            return protocol.unpack(self.answer)
        except Invalid as error:
            raise _malformed() from error


def _malformed() -> Invalid:
    return Invalid("this is not a report", code="malformed")
