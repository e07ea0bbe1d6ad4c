"""What answers a campaign takes: its domain, which is declared beforehand, and how a person's answer becomes what a protocol randomises."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown, whole
from discreet.fields import Exact, Held, frozen
from discreet.local.canonical import bytes_of, ratio_of
from discreet.local.prefix_levels import MOST_LENGTH, PrefixLevel, checked_levels, levels_for
from discreet.local.spelling import Spelling, Symbols, checked_alphabet
from discreet.noise import Source
from discreet.noise.source import chosen

Label: TypeAlias = str | int | bool

MOST_CELLS = 1 << 20
MOST_LETTERS = 10_000  # of a label
MOST_LABEL = (1 << 53) - 1  # every reader of JSON reads integers up to here alike
MOST_STEPS = 1 << 16  # of a grid of numbers
MOST_ATTRIBUTES = 256  # of which a report names one in a byte
SERIES = 16  # bytes that name a series of rounds
SALT = 16  # bytes that name the hash functions of prefixes


class Domain(ABC):
    """The answers that can be given: all of them are known before anybody is asked."""

    __slots__ = ()
    kind: ClassVar[str]  # in a campaign's text

    @abstractmethod
    def encoded(self, value: Any) -> Any:
        """What a protocol randomises for a person's answer; Invalid, which does not say the answer, for one that is not in the domain."""

    @abstractmethod
    def record(self) -> Any:
        """The domain as a part of JSON."""

    @classmethod
    @abstractmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The domain of its record, which has this `kind`; Invalid for any other."""


@dataclass(frozen=True)
class Choices(Domain):
    """One of declared labels; for a number k they are 0 … k−1. True and 1 are two labels.

    >>> Choices(("a", "b")).encoded("b"), Choices(3).labels
    (1, (0, 1, 2))
    """

    answers: tuple[Label, ...] | int
    kind: ClassVar[str] = "choices"

    def __post_init__(self) -> None:
        if not isinstance(self.answers, list | tuple):
            if whole(self.answers, "domain", least=2) > MOST_CELLS:
                raise Invalid(f"domain must have at most 2^20 cells, got {shown(self.answers)}")
            object.__setattr__(self, "answers", int(self.answers))
            return
        labels = tuple(self.answers)
        if not 2 <= len(labels) <= MOST_CELLS:
            raise Invalid("domain must have 2 to 2^20 labels")
        if not all(_is_label(each) for each in labels):
            raise Invalid(
                f"a label must be a text of at most {MOST_LETTERS} letters, an integer below 2^53 or a boolean"
            )
        if len({(type(each), each) for each in labels}) < len(labels):
            raise Invalid("domain must have labels that differ")
        object.__setattr__(self, "answers", labels)

    @property
    def k(self) -> int:
        """The number of cells."""
        return self.answers if isinstance(self.answers, int) else len(self.answers)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answer that each cell stands for."""
        return tuple(range(self.answers)) if isinstance(self.answers, int) else self.answers

    @cached_property
    def _cells(self) -> dict[tuple[type, Label], int]:
        return {(type(label), label): cell for cell, label in enumerate(self.labels)}

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        try:
            cell = self._cells.get((type(value), value))
        except TypeError:  # what cannot be looked up is no label
            cell = None
        if cell is None:
            raise Invalid("value is not in the domain of the campaign", hint="see campaign.domain.labels")
        return cell

    def record(self) -> Any:
        """The labels, or their number."""
        return self.answers if isinstance(self.answers, int) else list(self.answers)

    @classmethod
    def of_record(cls, record: Any) -> Self:
        """The choices of a list of labels, or of their number."""
        return cls(tuple(record) if isinstance(record, list) else record)


@frozen
class Numbers(Domain):
    """A number from `low` to `high`, put on a public grid of so many steps, up or down at random.

    >>> Numbers(0, 10).record()["steps"]
    1024
    """

    low: Exact
    high: Exact
    steps: int = 1024
    kind: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        for field in ("low", "high"):
            object.__setattr__(self, field, rational(getattr(self, field), field))
        object.__setattr__(self, "steps", whole(self.steps, "steps", least=1))
        if self.low >= self.high:
            raise Invalid("low must be less than high", hint="declare a range that is known without the data")
        if self.steps > MOST_STEPS:
            raise Invalid(f"steps must be at most 2^16, got {shown(self.steps)}")

    def encoded(self, value: Any) -> Fraction:
        """The number itself, exactly."""
        try:
            exact = rational(value, "value")
        except Invalid:
            raise Invalid("value must be a finite number") from None  # the message of the first says the value
        if not self.low <= exact <= self.high:
            raise Invalid(f"value must lie between {shown(self.low)} and {shown(self.high)}", hint="clip it first")
        return exact

    def record(self) -> dict[str, Any]:
        """The range, as ratios in text, and the steps."""
        return {"high": str(self.high), "kind": self.kind, "low": str(self.low), "steps": self.steps}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The numbers of a range and its steps."""
        if record.keys() != {"high", "kind", "low", "steps"}:
            raise Invalid("this is not a domain of numbers", code="malformed")
        return cls(ratio_of(record["low"], "low"), ratio_of(record["high"], "high"), record["steps"])


@frozen
class Rounds(Domain):
    """A choice that the same people are asked for again and again: one round of a series.

    `first` is what one report by itself tells. A person's permanent answers are kept under `series`, which all rounds share.

    >>> Rounds(3, Fraction(1, 2), bytes(16)).labels
    (0, 1, 2)
    """

    choices: Held[Choices | tuple[Label, ...] | int, Choices]
    first: Exact
    series: bytes
    kind: ClassVar[str] = "rounds"

    def __post_init__(self) -> None:
        given = self.choices
        object.__setattr__(self, "choices", given if isinstance(given, Choices) else Choices(given))
        object.__setattr__(self, "first", rational(self.first, "first"))
        if not isinstance(self.series, bytes) or len(self.series) != SERIES:
            raise Invalid(f"series must be {SERIES} bytes", hint="Rounds.new draws them")

    @classmethod
    def new(cls, choices: "Choices | tuple[Label, ...] | int", *, first: Number, source: Source | None = None) -> Self:
        """Rounds of a series of their own."""
        return cls(choices, first, chosen(source).bits(8 * SERIES).to_bytes(SERIES, "little"))

    @property
    def k(self) -> int:
        """The number of cells."""
        return self.choices.k

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answer that each cell stands for."""
        return self.choices.labels

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        return self.choices.encoded(value)

    def record(self) -> dict[str, Any]:
        """The labels, what one report tells, and the series."""
        return {
            "choices": self.choices.record(),
            "first": str(self.first),
            "kind": self.kind,
            "series": self.series.hex(),
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The round of its labels and series."""
        if record.keys() != {"choices", "first", "kind", "series"}:
            raise Invalid("this is not a domain of rounds", code="malformed")
        return cls(
            Choices.of_record(record["choices"]),
            ratio_of(record["first"], "first"),
            bytes_of(record["series"], "series", SERIES, SERIES),
        )


@frozen
class Attribute:
    """One attribute of a person: its name, its declared answers, and the protocol that randomises it."""

    name: str
    answers: Held[Choices | tuple[Label, ...] | int, Choices]
    protocol: str

    def __post_init__(self) -> None:
        if type(self.name) is not str or not 0 < len(self.name) <= MOST_LETTERS:
            raise Invalid(f"the name of an attribute must be a text of 1 to {MOST_LETTERS} letters")
        if type(self.protocol) is not str:
            raise Invalid(f"protocol must be the name of one, got {shown(self.protocol)}")
        if not isinstance(self.answers, Choices):
            object.__setattr__(self, "answers", Choices(self.answers))

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        try:
            return self.answers.encoded(value)
        except Invalid:
            raise Invalid(f"the answer for {shown(self.name)} is not one of its labels") from None

    def record(self) -> dict[str, Any]:
        """The attribute as a part of JSON."""
        return {"answers": self.answers.record(), "name": self.name, "protocol": self.protocol}

    @classmethod
    def of_record(cls, record: Any) -> Self:
        """The attribute of its record; Invalid for anything else."""
        if not isinstance(record, dict) or record.keys() != {"answers", "name", "protocol"}:
            raise Invalid("this is not an attribute", code="malformed")
        return cls(record["name"], Choices.of_record(record["answers"]), record["protocol"])


@frozen
class Attributes(Domain):
    """A label of each of several attributes; an answer says all of them by name.

    The protocol of each attribute is a part of the public terms, so that no later release can take another for it; `choose_attributes`
    fills it in.

    >>> Attributes((Attribute("sex", ("f", "m"), "k-ary"), Attribute("ward", 9, "unary"))).encoded({"ward": 3, "sex": "m"})
    (1, 3)
    """

    attributes: tuple[Attribute, ...]
    kind: ClassVar[str] = "attributes"

    def __post_init__(self) -> None:
        if not isinstance(self.attributes, list | tuple):
            raise Invalid("attributes must be a list of them")
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not 2 <= len(self.attributes) <= MOST_ATTRIBUTES:
            raise Invalid(
                f"there must be 2 to {MOST_ATTRIBUTES} attributes", hint="for one of them declare its labels alone"
            )
        if not all(isinstance(each, Attribute) for each in self.attributes):
            raise Invalid("attributes must be a list of Attribute")
        if len(set(self.names)) < len(self.names):
            raise Invalid("attributes must have names that differ")
        if sum(each.answers.k for each in self.attributes) > MOST_CELLS // 2:  # so that any report of all of them fits
            raise Invalid("attributes must have at most 2^19 cells in all")

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each attribute."""
        return tuple(each.name for each in self.attributes)

    def encoded(self, value: Any) -> tuple[int, ...]:
        """The cell of the label of each attribute."""
        if not isinstance(value, dict) or value.keys() != set(self.names):
            raise Invalid("value must give an answer for each attribute by its name", hint="see campaign.domain.names")
        return tuple(each.encoded(value[each.name]) for each in self.attributes)

    def record(self) -> dict[str, Any]:
        """The attributes in their order."""
        return {"attributes": [each.record() for each in self.attributes], "kind": self.kind}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The attributes of a list of their records."""
        if record.keys() != {"attributes", "kind"} or not isinstance(record["attributes"], list):
            raise Invalid("this is not a domain of attributes", code="malformed")
        return cls(tuple(Attribute.of_record(each) for each in record["attributes"]))


@frozen
class Words(Domain):
    """A word over a declared alphabet, of `shortest` to `length` letters: far more words than anybody could list.

    `levels` are the prefixes that people report, each person one, and the tables that they are counted in; `salt` names the hash
    functions of these tables.

    >>> Words.new("abc", 5).encoded("cab")
    (3, 1, 2, 0, 0)
    """

    alphabet: str
    length: int
    salt: bytes
    levels: tuple[PrefixLevel, ...]
    shortest: int = 1
    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        checked_alphabet(self.alphabet)
        object.__setattr__(self, "length", whole(self.length, "length", least=1))
        object.__setattr__(self, "shortest", whole(self.shortest, "shortest", least=1))
        if not self.shortest <= self.length <= MOST_LENGTH:
            raise Invalid(f"length must be from shortest to {MOST_LENGTH}, got {shown(self.length)}")
        if not isinstance(self.salt, bytes) or len(self.salt) != SALT:
            raise Invalid(f"salt must be {SALT} bytes", hint="Words.new draws them")
        levels = tuple(self.levels) if isinstance(self.levels, list | tuple) else self.levels
        object.__setattr__(self, "levels", checked_levels(levels, self.spelling.base, self.length))

    @classmethod
    def new(
        cls, alphabet: str, length: int, *, shortest: int = 1, chunk: int | None = None, source: Source | None = None
    ) -> Self:
        """Words with a salt of their own, and with few levels, each of which adds at most `chunk` letters to the one before."""
        base = len(checked_alphabet(alphabet)) + (whole(shortest, "shortest", least=1) < whole(length, "length"))
        salt = chosen(source).bits(8 * SALT).to_bytes(SALT, "little")
        return cls(alphabet, length, salt, levels_for(base, min(length, MOST_LENGTH), chunk), shortest)

    @property
    def spelling(self) -> Spelling:
        """How words become symbols."""
        return Spelling(self.alphabet, self.length, self.shortest)

    def encoded(self, value: Any) -> tuple[int, ...]:
        """The symbols of a word, as many as the longest has."""
        return tuple(self.symbols([value])[0].tolist())

    def symbols(self, words: Sequence[Any]) -> Symbols:
        """The symbols of many words, a row for each."""
        return self.spelling.symbols(words)

    def record(self) -> dict[str, Any]:
        """The alphabet, the lengths, the levels and the salt."""
        return {
            "alphabet": self.alphabet,
            "kind": self.kind,
            "length": self.length,
            "levels": [each.record() for each in self.levels],
            "salt": self.salt.hex(),
            "shortest": self.shortest,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The words of an alphabet and its levels."""
        keys = {"alphabet", "kind", "length", "levels", "salt", "shortest"}
        if record.keys() != keys or not isinstance(record["levels"], list):
            raise Invalid("this is not a domain of words", code="malformed")
        levels = tuple(PrefixLevel.of_record(each) for each in record["levels"])
        salt = bytes_of(record["salt"], "salt", SALT, SALT)
        return cls(record["alphabet"], record["length"], salt, levels, record["shortest"])


KINDS: Mapping[str, type[Domain]] = {each.kind: each for each in (Attributes, Numbers, Rounds, Words)}


def domain_of(value: Any) -> Domain:
    """The domain itself, of labels, of the number of them, or of a record; Invalid for anything else."""
    if isinstance(value, Domain):
        return value
    if isinstance(value, dict):
        kind = KINDS.get(value["kind"]) if isinstance(value.get("kind"), str) else None
        if kind is None:
            raise Invalid("this is not a domain", code="malformed")
        return kind.of_record(value)
    return Choices(value)


def _is_label(value: object) -> bool:
    if type(value) is int:
        return abs(value) <= MOST_LABEL
    return type(value) is bool or (type(value) is str and len(value) <= MOST_LETTERS)
