"""A campaign: the public terms on which answers are given. Whoever sees its identity knows that nothing of it was changed."""

import hashlib
import re
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.local.canonical import bytes_of, read, written
from discreet.local.frequency import protocol_of
from discreet.local.protocol import MOST_CELLS, FrequencyProtocol
from discreet.noise import Source
from discreet.noise.source import chosen

Label: TypeAlias = str | int | bool

VERSION = 1
KEYS = frozenset({"domain", "epsilon", "expires", "protocol", "question", "salt"})
MOST_LETTERS = 10_000  # of a question or a label
MOST_LABEL = (1 << 53) - 1  # every reader of JSON reads integers up to here alike
LEAST_SALT, MOST_SALT = 16, 64
RATIO = re.compile(r"[0-9]{1,400}(?:/[0-9]{1,400})?")


@frozen
class Campaign:
    """What is asked, the cells of an answer, how it is randomised, at which ε, and until when.

    `domain` is the labels of all possible answers, declared beforehand, or their number k for answers 0 … k−1. `expires` is in
    seconds since 1970. Two campaigns with the same terms differ in their salt.

    >>> campaign = Campaign("Which?", ("a", "b"), "k-ary", 1, bytes(16), 2_000_000_000)
    >>> Campaign.from_json(campaign.to_json()) == campaign, campaign.id[:8]
    (True, 'dd791736')
    """

    question: str
    domain: tuple[Label, ...] | int
    protocol: str
    epsilon: Exact
    salt: bytes
    expires: int

    def __post_init__(self) -> None:
        if not isinstance(self.question, str) or not 0 < len(self.question) <= MOST_LETTERS:
            raise Invalid(f"question must be a text of 1 to {MOST_LETTERS} letters")
        object.__setattr__(self, "domain", _domain(self.domain))
        object.__setattr__(self, "epsilon", rational(self.epsilon, "epsilon"))
        if not isinstance(self.salt, bytes) or not LEAST_SALT <= len(self.salt) <= MOST_SALT:
            raise Invalid(f"salt must be {LEAST_SALT} to {MOST_SALT} bytes")
        if whole(self.expires, "expires", least=1) > MOST_LABEL:
            raise Invalid(f"expires must be in seconds since 1970, got {shown(self.expires)}")
        _ = self.randomiser  # refuses a protocol or an epsilon that there is not

    @classmethod
    def new(
        cls,
        question: str,
        domain: tuple[Label, ...] | int,
        *,
        protocol: str,
        epsilon: Number,
        expires: int,
        source: Source | None = None,
    ) -> "Campaign":
        """A campaign with a salt of its own."""
        return cls(question, domain, protocol, epsilon, chosen(source).bits(128).to_bytes(16, "little"), expires)

    @property
    def k(self) -> int:
        """The number of cells."""
        return self.domain if isinstance(self.domain, int) else len(self.domain)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answer that each cell stands for."""
        return tuple(range(self.domain)) if isinstance(self.domain, int) else self.domain

    @property
    def randomiser(self) -> FrequencyProtocol:
        """The protocol, with its parameters."""
        return protocol_of(self.protocol, self.k, self.epsilon)

    @property
    def id(self) -> str:
        """The SHA-256 of the campaign's one text, in hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """The one text of this campaign."""
        return written(
            "campaign",
            VERSION,
            {
                "domain": self.domain if isinstance(self.domain, int) else list(self.domain),
                "epsilon": str(self.epsilon),
                "expires": self.expires,
                "protocol": self.protocol,
                "question": self.question,
                "salt": self.salt.hex(),
            },
        )

    @classmethod
    def from_json(cls, text: str) -> "Campaign":
        """The campaign of its text; Invalid for any other text, and for one of another version."""
        record = read(text, "campaign", VERSION, KEYS)
        domain, epsilon = record["domain"], record["epsilon"]
        if not isinstance(epsilon, str) or not RATIO.fullmatch(epsilon):
            raise Invalid("epsilon must be a ratio of two integers, as text", code="malformed")
        top, _, below = epsilon.partition("/")
        if below and not int(below):
            raise Invalid("epsilon must be finite", code="malformed")
        campaign = cls(
            record["question"],
            tuple(domain) if isinstance(domain, list) else domain,
            record["protocol"],
            Fraction(int(top), int(below or 1)),
            bytes_of(record["salt"], "campaign", LEAST_SALT, MOST_SALT),
            record["expires"],
        )
        if campaign.to_json() != text:  # an epsilon that is not in lowest terms
            raise Invalid("this is not the one text of a campaign", code="malformed")
        return campaign


def _domain(domain: Any) -> tuple[Label, ...] | int:
    """A number of cells, or distinct labels; True and 1 are two."""
    if isinstance(domain, list | tuple):
        labels = tuple(domain)
        if not 2 <= len(labels) <= MOST_CELLS:
            raise Invalid("domain must have 2 to 2^20 labels")
        if not all(_is_label(each) for each in labels):
            raise Invalid(
                f"a label must be a text of at most {MOST_LETTERS} letters, an integer below 2^53 or a boolean"
            )
        if len({(type(each), each) for each in labels}) < len(labels):
            raise Invalid("domain must have labels that differ")
        return labels
    if whole(domain, "domain", least=2) > MOST_CELLS:
        raise Invalid(f"domain must have at most 2^20 cells, got {shown(domain)}")
    return int(domain)


def _is_label(value: object) -> bool:
    if type(value) is int:
        return abs(value) <= MOST_LABEL
    return type(value) is bool or (type(value) is str and len(value) <= MOST_LETTERS)
