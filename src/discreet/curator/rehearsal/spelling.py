"""How a CSV file might be written instead: a delimiter, or a sign before decimals, that would read more of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.engines.base import Data, kind_of
from discreet.engines.cells import of_python
from discreet.engines.framing import Framing, header, records
from discreet.engines.reading import Reading
from discreet.errors import Invalid

LOOKED = 10_000
"""Records of a file that are looked at, from its beginning."""

DELIMITERS = ",;\t|"
SIGNS = ((".", ""), (",", ""), (",", "."), (".", ","), (",", " "), (".", "'"))
"""The sign before decimals, and the one between thousands; the likelier ones first."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A way to read a file that reads more of it, as it would be declared."""

    declared: str
    what: str
    now: int
    then: int

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"declare": self.declared, "reads": self.then, "instead_of": self.now, "what": self.what}


def spellings_of(data: Data) -> tuple[Spelling, ...]:
    """The ways to read a source that read more of it; none where it is not a CSV file."""
    if not isinstance(data.source, str | Path) or kind_of(data.source) != "csv":
        return ()
    path = Path(data.source)
    return (*_delimiters(path, data.framing), *_signs(path, data))


def _delimiters(path: Path, framing: Framing) -> Iterator[Spelling]:
    now = _fields(path, framing)
    for delimiter in DELIMITERS:
        then = _fields(path, replace(framing, delimiter=delimiter))
        if then > now:
            yield Spelling(f"--delimiter {delimiter!r}", "columns", now, then)


def _fields(path: Path, framing: Framing) -> int:
    """How many columns a file has by its first line; 0 where that cannot be, or where no record has as many."""
    try:
        names = header(path, framing)
        return len(names) if any(True for _ in islice(records(path, framing), 1)) else 0
    except Invalid:
        return 0


def _signs(path: Path, data: Data) -> Iterator[Spelling]:
    now = numbers_in(path, data, data.reading)
    signs = [each for each in SIGNS if each != (data.reading.decimal, data.reading.thousands)]
    counts = [numbers_in(path, data, replace(data.reading, decimal=each[0], thousands=each[1])) for each in signs]
    then = max(counts)
    if then > now:
        decimal, thousands = signs[counts.index(then)]
        words = f"--decimal {decimal!r}" + (f" --thousands {thousands!r}" if thousands else "")
        yield Spelling(words, f"numbers in the first {LOOKED:,} records", now, then)


def numbers_in(path: Path, data: Data, reading: Reading) -> int:
    """How many cells of number columns, in the first records of a file, are numbers when they are read in some way."""
    types = {column.name: column.type for column in data.columns if column.type.numeric}
    if not types:
        return 0
    names = header(path, data.framing)
    places = [(names.index(name), name, kind) for name, kind in types.items()]
    return sum(
        of_python(cells[place], kind, name, reading) is not None
        for cells in islice(records(path, data.framing), LOOKED)
        for place, name, kind in places
    )
