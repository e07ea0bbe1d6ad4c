"""The levels of a search for frequent words: how many letters each is of, and how large a table of it a collector keeps."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from discreet.errors import Invalid
from discreet.exact import shown, whole

MOST_FIRST = 1 << 20  # prefixes of the first level, each of which has a column of its own
MOST_STEP = 1 << 12  # ways to go on from one prefix, where nobody declares how many letters a level adds
MOST_WAYS = 1 << 17
MOST_TABLE = 1 << 22  # cells of all levels
HASHED_ROWS, HASHED_COLUMNS, MOST_HASHED = 1 << 9, 1 << 9, 1 << 16
MOST_LENGTH = 256


@dataclass(frozen=True, slots=True)
class PrefixLevel:
    """The first `letters` of a word, in a table of `rows` hash functions by `columns`, a power of two.

    Where every prefix has a column of its own nothing is hashed, and there is one row.
    """

    letters: int
    rows: int
    columns: int

    def __post_init__(self) -> None:
        for field in ("letters", "rows", "columns"):
            object.__setattr__(self, field, whole(getattr(self, field), field, least=1))
        if self.columns & (self.columns - 1) or self.columns < 2:
            raise Invalid(f"columns must be a power of two from 2, got {shown(self.columns)}")
        if self.rows * self.columns > MOST_TABLE:
            raise Invalid("a level has at most 2^22 cells", hint="declare fewer rows or columns")

    @property
    def cells(self) -> int:
        """The cells of the table."""
        return self.rows * self.columns

    def is_exact(self, base: int) -> bool:
        """Whether every row of so many symbols has a column of its own."""
        return self.letters <= self.columns.bit_length() and base**self.letters <= self.columns

    def record(self) -> dict[str, Any]:
        """The level as a part of JSON."""
        return {"columns": self.columns, "letters": self.letters, "rows": self.rows}

    @classmethod
    def of_record(cls, record: Any) -> "PrefixLevel":
        """The level of its record."""
        if not isinstance(record, dict) or record.keys() != {"columns", "letters", "rows"}:
            raise Invalid("this is not a level of prefixes", code="malformed")
        return cls(record["letters"], record["rows"], record["columns"])


def checked_levels(levels: object, base: int, length: int) -> tuple[PrefixLevel, ...]:
    """Levels from which words of this length can be searched; else Invalid."""
    if not isinstance(levels, tuple) or not levels or not all(isinstance(each, PrefixLevel) for each in levels):
        raise Invalid("levels must be levels of prefixes", hint="Words.new makes them")
    letters = [0, *(each.letters for each in levels)]
    if any(b <= a for a, b in pairwise(letters)) or letters[-1] != length:
        raise Invalid("each level must have more letters than the one before, and the last those of the longest word")
    if sum(each.cells for each in levels) > MOST_TABLE:
        raise Invalid("levels must have at most 2^22 cells in all", hint="declare fewer levels, rows or columns")
    if not levels[0].is_exact(base) or levels[0].columns > MOST_FIRST:
        raise Invalid(
            "the first level must have a column for each prefix, and at most 2^20", hint="declare fewer letters"
        )
    for before, level in pairwise(levels):
        if base ** (level.letters - before.letters) > MOST_WAYS:
            raise Invalid("a level must add so few letters that there are at most 2^17 ways to go on")
    for level in levels:
        if level.is_exact(base) and level.rows > 1:
            raise Invalid("a level in which each prefix has a column must have one row")
        if not level.is_exact(base) and level.columns > MOST_HASHED:
            raise Invalid("a level whose prefixes share columns must have at most 2^16 of them")
    return levels


def levels_for(base: int, length: int, chunk: int | None = None) -> tuple[PrefixLevel, ...]:
    """The levels of words of this length: as few as can be searched, and each adds about as many letters, at most `chunk`.

    The first has as many letters as 2^20 columns are enough for; each other has 512 hash functions by 512 columns, or fewer
    functions where the tables would have more than 2^22 cells. There are so many functions because words that share
    a column in one of them add noise to each other: with many it is small, and nearly normal.

    >>> [(each.letters, each.rows, each.columns) for each in levels_for(27, 8)]
    [(4, 1, 1048576), (6, 512, 512), (8, 512, 512)]
    """
    first = _power(base, MOST_FIRST, length)
    more = length - first
    step = _power(base, MOST_STEP, max(1, more)) if chunk is None else whole(chunk, "chunk", least=1)
    count = -(-more // step)
    top = PrefixLevel(first, 1, 1 << (base**first - 1).bit_length())
    rows = HASHED_ROWS
    while rows > 1 and top.cells + count * rows * HASHED_COLUMNS > MOST_TABLE:
        rows //= 2
    ends = (first - (-more * place // count) for place in range(1, count + 1))
    return (top, *(PrefixLevel(letters, rows, HASHED_COLUMNS) for letters in ends))


def _power(base: int, most: int, length: int) -> int:
    """The largest number of letters, at least one, of which there are at most so many rows."""
    letters = 1
    while letters < length and base ** (letters + 1) <= most:
        letters += 1
    return letters
