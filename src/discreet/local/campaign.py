"""A campaign: the public terms on which answers are given. Whoever sees its identity knows that nothing of it was changed."""

import hashlib
from datetime import UTC, datetime
from typing import Any, TypeAlias

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown, whole
from discreet.fields import Exact, Held, frozen
from discreet.local.canonical import bytes_of, is_text, ratio_of, ratio_text, read, written
from discreet.local.choices import MOST_LABEL, MOST_LETTERS, Label
from discreet.local.domain import AnswerDomain
from discreet.local.domains import domain_of
from discreet.local.protocol import LocalProtocol
from discreet.local.protocols import protocol_of
from discreet.noise import Source
from discreet.noise.source import chosen

Answers: TypeAlias = AnswerDomain | tuple[Label, ...] | int
"""A domain; labels, or the number of them, for a choice among them."""

VERSION = 1
KEYS = frozenset({"domain", "epsilon", "expires", "protocol", "question", "salt"})
LEAST_SALT, MOST_SALT = 16, 64
MOST_YEARS = 1 << 37  # seconds, beyond which dates have more than four digits
MOST_TEXT = 1 << 25  # letters of a campaign's text: whoever is sent more refuses it unread


@frozen
class Campaign:
    """What is asked, which answers there are, how they are randomised, at which ε, and until when.

    `domain` says all possible answers beforehand: the labels of a choice, or their number k for answers 0 … k−1, or another domain,
    such as `Numbers`. `expires` is in seconds since 1970. Two campaigns with the same terms differ in their salt.

    >>> campaign = Campaign("Which?", ("a", "b"), "k-ary", 1, bytes(16), 2_000_000_000)
    >>> Campaign.from_json(campaign.to_json()) == campaign, campaign.id[:8]
    (True, 'dd791736')
    """

    question: str
    domain: Held[Answers, AnswerDomain]
    protocol: str
    epsilon: Exact
    salt: bytes
    expires: int

    def __post_init__(self) -> None:
        if not is_text(self.question, 1, MOST_LETTERS):
            raise Invalid(f"question must be a text of 1 to {MOST_LETTERS} letters, none of them in two halves")
        object.__setattr__(self, "domain", domain_of(self.domain))
        object.__setattr__(self, "epsilon", rational(self.epsilon, "epsilon"))
        if not isinstance(self.salt, bytes) or not LEAST_SALT <= len(self.salt) <= MOST_SALT:
            raise Invalid(f"salt must be {LEAST_SALT} to {MOST_SALT} bytes")
        object.__setattr__(self, "expires", _seconds(self.expires))
        _ = self.randomiser  # refuses a protocol or an epsilon that there is not
        if len(self.to_json()) > MOST_TEXT:
            raise Invalid("the text of a campaign must have at most 2^25 letters", hint="declare shorter labels")

    @classmethod
    def new(
        cls,
        question: str,
        domain: Answers,
        *,
        protocol: str,
        epsilon: Number,
        expires: int,
        source: Source | None = None,
    ) -> "Campaign":
        """A campaign with a salt of its own."""
        return cls(question, domain, protocol, epsilon, chosen(source).bits(128).to_bytes(16, "little"), expires)

    @property
    def randomiser(self) -> LocalProtocol:
        """The protocol, with its parameters."""
        return protocol_of(self.protocol, self.domain, self.epsilon)

    @property
    def id(self) -> str:
        """The SHA-256 of the campaign's one text, in hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    @property
    def series(self) -> str:
        """What rounds of one series share: the SHA-256 of all terms but salt and expiry. Any other change makes another series."""
        return hashlib.sha256(written("series", VERSION, self._shared()).encode("ascii")).hexdigest()

    @property
    def notice(self) -> str:
        """What taking part costs, and what is not protected: for people to read before they answer."""
        return self.randomiser.notice

    def __str__(self) -> str:
        ends = datetime.fromtimestamp(self.expires, UTC) if self.expires < MOST_YEARS else None
        until = f"until {ends:%Y-%m-%d %H:%M} UTC" if ends else "for ever"
        asked = "".join(
            each if each.isprintable() else " " for each in self.question
        )  # which begins no line of its own
        return f"{asked}\n{self.protocol}, ε = {shown(self.epsilon)}, {until}\n{self.notice}"

    def _shared(self) -> dict[str, Any]:
        return {
            "domain": self.domain.record(),
            "epsilon": ratio_text(self.epsilon, "epsilon"),
            "protocol": self.protocol,
            "question": self.question,
        }

    def to_json(self) -> str:
        """The one text of this campaign."""
        return written("campaign", VERSION, self._shared() | {"expires": self.expires, "salt": self.salt.hex()})

    @classmethod
    def from_json(cls, text: str) -> "Campaign":
        """The campaign of its text; Invalid for any other text, and for one of another version."""
        record = read(text, "campaign", VERSION, KEYS, MOST_TEXT)
        campaign = cls(
            record["question"],
            domain_of(record["domain"]),
            record["protocol"],
            ratio_of(record["epsilon"], "epsilon"),
            bytes_of(record["salt"], "campaign", LEAST_SALT, MOST_SALT),
            record["expires"],
        )
        if campaign.to_json() != text:  # an epsilon that is not in lowest terms
            raise Invalid("this is not the one text of a campaign", code="malformed")
        return campaign


def _seconds(value: object) -> int:
    try:
        seconds = whole(value, "expires", least=1)
    except Invalid as error:
        raise Invalid(error.message, hint="say it in whole seconds since 1970: int(date.timestamp())") from None
    if seconds > MOST_LABEL:
        raise Invalid(f"expires must be in seconds since 1970, got {shown(seconds)}")
    return seconds
