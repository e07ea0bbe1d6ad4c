"""Words over a declared alphabet, of which there are too many to list, and the prefixes of them that people report."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.fields import frozen
from discreet.local.canonical import bytes_of
from discreet.local.domain import AnswerDomain
from discreet.local.prefix_levels import MOST_LENGTH, PrefixLevel, checked_levels, levels_for
from discreet.local.spelling import Symbols, WordSpelling, checked_alphabet
from discreet.noise import Source
from discreet.noise.source import chosen

SALT = 16  # bytes that name the hash functions of prefixes


@frozen
class Words(AnswerDomain):
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
        longest = whole(length, "length")
        base = len(checked_alphabet(alphabet)) + (whole(shortest, "shortest", least=1) < longest)
        salt = chosen(source).bits(8 * SALT).to_bytes(SALT, "little")
        return cls(alphabet, length, salt, levels_for(base, min(longest, MOST_LENGTH), chunk), shortest)

    @property
    def spelling(self) -> WordSpelling:
        """How words become symbols."""
        return WordSpelling(self.alphabet, self.length, self.shortest)

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
