"""How the records of a CSV file lie in its bytes: one record changes nobody else's, and a malformed file is refused to its owner.

The line end is that of the first line. A line is a record: quotes that stay open, text after a closing quote, any other CR or LF, and
another number of fields than in the first line are malformed. `multiline` reads RFC 4180, where quotes hold line ends and nothing but a
whole field is quoted; `ragged` fills short records up with NULL and cuts long ones off. There is no other lenient reading. A blank line
is no record, an empty field is NULL, and bytes that are not text in the declared encoding become U+FFFD in their cell.

This is the slow and obvious reading, which says what is right. `engines.lines` says the same of large files, sooner.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from discreet.errors import Invalid
from discreet.exact import shown

T = TypeVar("T")
PACKED = ".gz"
LONGEST_LINE = 1 << 28  # bytes of a record; a longer one is malformed, and the next begins after its next line end
BLOCK = 1 << 16  # bytes that are read at a time
QUOTE = b'"'
MARK = codecs.BOM_UTF8
LINE_END = re.compile(rb"\r\n|\r|\n")
SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
SAMPLE = 'a,"b"\r\n'
NOT_OF_FILES = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}  # Python's own, or of names


@dataclass(frozen=True, slots=True)
class Framing:
    """How a CSV file is to be read; all of it is declared, nothing is detected."""

    delimiter: str = ","
    multiline: bool = False
    ragged: bool = False
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0' or not delimiter.isascii():
            raise Invalid(f"delimiter must be one character, got {shown(delimiter)}", hint="write ',' or ';' or a tab")
        for name in ("multiline", "ragged"):
            if not isinstance(getattr(self, name), bool):
                raise Invalid(f"{name} must be true or false, got {shown(getattr(self, name))}")
        codec_of(self.encoding)


def codec_of(encoding: str) -> str:
    """The one name of an encoding of text files, or raises Invalid; of UTF-8 with or without a byte-order mark "utf-8"."""
    try:
        codec = codecs.lookup(encoding)
        name = codec.name.replace("_", "-")
        known = name not in NOT_OF_FILES and SAMPLE.encode(name).decode(name, "replace") == SAMPLE
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise Invalid(
            f"encoding must be one that text files have, got {shown(encoding)}",
            hint='write "utf-8", "latin-1", "cp1252" or "utf-16"',
        )
    return "utf-8" if name == "utf-8-sig" else name


PLAIN = Framing()


@dataclass(slots=True)
class Malformed:
    """How many records of a file are malformed, by the way out of it."""

    framing: int = 0  # quotes and line ends
    fields: int = 0  # otherwise sound, and of another number of fields

    def __iadd__(self, other: "Malformed") -> "Malformed":
        self.framing += other.framing
        self.fields += other.fields
        return self

    def __bool__(self) -> bool:
        return self.framing + self.fields > 0

    def refusal(self, path: Path, framing: Framing, fields: int) -> Invalid:
        """What the owner is told: how many, and the ways out, the likelier one first; never what the lines hold."""
        count, fits = self.framing + self.fields, "" if framing.ragged else f" of {fields} field{'s' * (fields != 1)}"
        if framing.multiline:
            some = "1 record" if count == 1 else f"{count:,} records"
            wrong = f"malformed, or not{fits}" if fits else "malformed"
        else:
            some = "1 line" if count == 1 else f"{count:,} lines"
            wrong = f"not one record{fits}{' each' * (count != 1)}"
        ways = []
        if not framing.multiline:
            ways.append("add multiline = true (--multiline) if cells in quotes hold line ends")
        if not framing.ragged:
            ways.append("add ragged = true (--ragged) if records may be short or long")
        if self.fields > self.framing:
            ways.reverse()
        return Invalid(
            f"{some} of file {path.name!r} {'is' if count == 1 else 'are'} {wrong}",
            code="load",
            hint=", ".join([*ways, f"{'or ' * bool(ways)}write the file anew as RFC 4180 says"]),
        )


@dataclass(slots=True)
class OpenRecord:
    """One record while it is read, line by line."""

    framing: Framing
    fields: list[bytes] = field(default_factory=list)
    sound: bool = True
    inside: bool = False  # quotes
    size: int = 0
    _cell: bytearray = field(default_factory=bytearray)

    def take(self, line: bytes) -> None:
        """Reads a line without its end; where a quote is open after it, the line end is of the cell."""
        delimiter, multiline = self.framing.delimiter.encode(), self.framing.multiline
        self.size += len(line)
        if not multiline and LINE_END.search(line):
            self.sound = False
        place = 0
        while True:
            if not self.inside and line[place : place + 1] == QUOTE:
                self.inside, place = True, place + 1
            quoted = self.inside
            while self.inside:
                stop = line.find(QUOTE, place)
                if stop < 0:
                    self._cell += line[place:]
                    return
                self.inside = line[stop + 1 : stop + 2] == QUOTE  # two are one of the cell, and one is the end of it
                self._cell += line[place : stop + self.inside]
                place = stop + 1 + self.inside
            stop = line.find(delimiter, place)
            plain = line[place:] if stop < 0 else line[place:stop]
            if (quoted and plain) or (multiline and (QUOTE in plain or LINE_END.search(plain))):
                self.sound = False
            self.fields.append(bytes(self._cell) + plain)
            self._cell.clear()
            if stop < 0:
                return
            place = stop + 1

    def goes_on(self, end: bytes) -> bool:
        """Whether the next line is of this record, too."""
        if not self.inside or not self.framing.multiline or self.size > LONGEST_LINE:
            return False
        self._cell += end
        self.size += len(end)
        return True

    def judged(self, fields: int) -> Malformed:
        """What is malformed about the whole record."""
        if not self.sound or self.inside or self.size > LONGEST_LINE:
            return Malformed(framing=1)
        return Malformed(fields=int(len(self.fields) != fields and not self.framing.ragged))


def header(source: str | Path, framing: Framing = PLAIN) -> list[str]:
    """The names in the first record of a CSV file, each once and none empty, or raises Invalid. No byte of a row matters.

    Without a header line a name would be a cell of the data, so messages tell positions and no names.
    """
    path = Path(source)
    names = _names(path, framing, first_line(path, framing)[0])
    if not names:
        raise Invalid(f"file {path.name!r} is empty", hint="its first line must name the columns")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise Invalid(f"column {place} of file {path.name!r} has no name", hint="name it in the first line")
        first = seen.setdefault(name.casefold(), place)
        if first != place:
            raise Invalid(f"columns {first} and {place} of file {path.name!r} have the same name", hint="rename one")
    return names


def _names(path: Path, framing: Framing, line: bytes) -> list[str]:
    if not line:
        return []
    record = OpenRecord(framing)
    record.take(line)
    if record.judged(len(record.fields)):
        raise Invalid(
            f"the first line of file {path.name!r} is not one record of a CSV file",
            code="load",
            hint="close its quotes" if framing.multiline else "close its quotes, or add multiline = true (--multiline)",
        )
    codec = codec_of(framing.encoding)
    try:
        if codec != "utf-8" and "\ufffd" in line.decode():
            raise ValueError
        return [each.decode() for each in record.fields]
    except ValueError:
        name = "UTF-8" if codec == "utf-8" else codec
        raise Invalid(
            f"the first line of file {path.name!r} is not {name} text of a CSV file",
            hint='save it as CSV in UTF-8, or declare its encoding, as in encoding = "latin-1"',
        ) from None


def records(source: str | Path, framing: Framing = PLAIN) -> Iterator[list[str | None]]:
    """Every sound record after the first, as it comes; then Invalid with the number of all that were not."""
    path = Path(source)
    fields, malformed = len(header(path, framing)), Malformed()
    yield from _sound(path, framing, fields, malformed)
    if malformed:
        raise malformed.refusal(path, framing, fields)


def _sound(path: Path, framing: Framing, fields: int, malformed: Malformed) -> Iterator[list[str | None]]:
    first, end = first_line(path, framing)
    rest = after(blocks(path, framing), len(first) + len(end))
    for record in taken(lines(rest, end), end, framing):
        judgement = record.judged(fields)
        malformed += judgement
        if not judgement:
            cells = [cell.decode("utf-8", "replace") or None for cell in record.fields[:fields]]
            yield cells + [None] * (fields - len(cells))


def taken(lines: Iterable[bytes | None], end: bytes, framing: Framing) -> Iterator[OpenRecord]:
    """The records that lines make up; blank lines make none."""
    record = None
    for line in lines:
        if record is None and not line and line is not None:
            continue
        record = record or OpenRecord(framing)
        if line is None:
            record.size = LONGEST_LINE + 1
        else:
            record.take(line)
        if not record.goes_on(end):
            yield record
            record = None
    if record is not None:
        yield record


def first_line(path: Path, framing: Framing) -> tuple[bytes, bytes]:
    """The first line in UTF-8, and the bytes that end it, which end every line of the file."""
    return alone(_first_line, path, framing)


def alone(act: Callable[..., T], *arguments: Any) -> T:
    """What a call returns, or its Invalid by itself, without the frames that lead to it: they hold cells."""
    try:
        return act(*arguments)
    except Invalid as error:
        refusal = Invalid(error.message, code=error.code, hint=error.hint)
    raise refusal


def _first_line(path: Path, framing: Framing) -> tuple[bytes, bytes]:
    held, place, inside = bytearray(), 0, False
    for block in chain(blocks(path, framing), (b"",)):
        begin = max(place, len(held) - 1)
        held += block
        while line_end := LINE_END.search(held, begin):
            if (
                block and line_end.group() == b"\r" and line_end.end() == len(held)
            ):  # the LF may follow in the next block
                break
            inside ^= framing.multiline and held.count(QUOTE, place, line_end.start()) % 2 == 1
            begin = place = line_end.end()
            if not inside:
                return bytes(held[: line_end.start()]), line_end.group()
        if len(held) > LONGEST_LINE:
            raise Invalid(f"the first line of file {path.name!r} has no end", code="load", hint="is it a CSV file?")
    return bytes(held), b"\n"


def lines(blocks: Iterable[bytes], end: bytes) -> Iterator[bytes | None]:
    """The lines in blocks of bytes, without their ends; None for each that is longer than is read."""
    held, begin, too_long = bytearray(), 0, False
    for block in blocks:
        held += block
        place = 0
        while (stop := held.find(end, max(place, begin))) >= 0:
            yield None if too_long or stop - place > LONGEST_LINE else bytes(held[place:stop])
            place, too_long = stop + len(end), False
        del held[:place]
        if len(held) > LONGEST_LINE + 1:
            too_long = True
            del held[:-1]  # which may be the first half of a line end
        begin = max(0, len(held) - 1)
    if held or too_long:
        yield None if too_long or len(held) > LONGEST_LINE else bytes(held)


def after(blocks: Iterable[bytes], count: int) -> Iterator[bytes]:
    """Blocks of bytes without the first ones."""
    for block in blocks:
        if len(block) > count:
            yield block[count:] if count else block
        count = max(0, count - len(block))


def blocks(path: Path, framing: Framing, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a file, unpacked, in UTF-8 (but for what is malformed in a file that is declared so), without a byte-order mark."""
    held: bytes | None = b""
    for block in _recoded(_unpacked(path, size), codec_of(framing.encoding)):
        if held is None:
            yield block
            continue
        held += block
        if len(held) >= len(MARK):
            yield held.removeprefix(MARK)
            held = None
    if held:
        yield held


def _recoded(blocks: Iterable[bytes], codec: str) -> Iterator[bytes]:
    if codec == "utf-8":
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for block in chain(blocks, (b"",)):
        yield decoder.decode(block, final=not block).translate(SURROGATES).encode()


def _unpacked(path: Path, size: int) -> Iterator[bytes]:
    packed = path.name.casefold().endswith(PACKED)
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            while block := file.read(size):
                yield block
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise Invalid(f"file {path.name!r} is not whole as gzip", code="load", hint="pack it anew") from None
    except OSError as error:
        raise Invalid(f"file {path.name!r} cannot be read: {error.strerror}", code="load") from None
