"""Large CSV files, judged as `engines.framing` judges them but many lines at once, and given to an engine only as it reads them rightly.

A chunk of whole lines is looked at by its bones: the delimiters, quotes and line ends, and where they are. Lines that are not surely
fine are read one by one. What an engine would read in another way is written anew in a private copy: quotes inside a field that is not
quoted, blank lines of a single column, bytes that are not UTF-8. Everything else is read in place.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from discreet.engines import framing as slow
from discreet.engines.framing import MARK, PACKED, QUOTE, Framing, Malformed, OpenRecord, codec_of, first_line, header

CHUNK = 1 << 18  # bytes that are looked at together: they fit the caches of a processor
CR, LF = b"\r\n"
CELLS, CELLS_OF_A_LINE = re.compile(rb'"[^"]*"'), re.compile(rb'"[^"\r\n]*"')


@dataclass(frozen=True, slots=True)
class Readable:
    """A file that is well-formed, in UTF-8 and not packed, and what an engine may rely on when it reads it."""

    path: Path
    names: tuple[str, ...]
    records: int
    longest: int  # no record has more bytes


@dataclass(frozen=True, slots=True)
class FileShape:
    """What all records of a file have in common."""

    framing: Framing
    end: bytes
    fields: int

    @property
    def delimiter(self) -> bytes:
        return self.framing.delimiter.encode()

    @property
    def bones(self) -> bytes:
        """What is left of a record without quotes if the flesh is taken away."""
        return self.delimiter * (self.fields - 1) + self.end

    @property
    def flesh(self) -> bytes:
        """Every byte that says nothing about where fields and records end."""
        return bytes(set(range(256)) - set(self.delimiter + QUOTE + b"\r\n"))


@dataclass(slots=True)
class Inspection:
    """What was found in a chunk, or in a whole file."""

    records: int = 0
    malformed: Malformed = field(default_factory=Malformed)
    anew: list[tuple[int, int, bytes]] = field(default_factory=list)  # of a chunk: from, to, and what is to stand there
    odd: bool = False  # an engine would read something in another way
    longest: int = 0


@contextmanager
def readable(path: Path, framing: Framing, folder: str) -> Iterator[Readable]:
    """A file that an engine reads as `framing.records` does, or raises Invalid. Copies lie in the folder, and only for a while."""
    with tempfile.TemporaryDirectory(dir=folder) as private:
        yield slow.alone(_readable, path, framing, private)


def _readable(path: Path, framing: Framing, private: str) -> Readable:
    names = tuple(header(path, framing))
    first, end = first_line(path, framing)
    shape = FileShape(framing, end, len(names))
    plain = path
    if path.name.casefold().endswith(PACKED) or codec_of(framing.encoding) != "utf-8":
        plain = Path(private, "plain.csv")
        with _new(plain) as copy:
            copy.writelines(slow.blocks(path, framing, CHUNK))
    with plain.open("rb") as file:
        marked = plain == path and file.read(len(MARK)) == MARK
        offset = len(first) + len(end) + len(MARK) * marked
        file.seek(offset)
        inspection = judged(file, shape)
        if inspection.malformed:
            raise inspection.malformed.refusal(path, framing, shape.fields)
        names_odd = (marked and QUOTE in first) or not surely_sound(first + end, shape)
        if not inspection.odd and not names_odd:
            return Readable(plain, names, inspection.records, inspection.longest + len(first))
        file.seek(offset)
        mended = Path(private, "mended.csv")
        with _new(mended) as copy:
            longest = rewritten(file, shape, copy)
    return Readable(mended, names, inspection.records, longest)


def _new(path: Path) -> BinaryIO:
    """A new file that nobody else may read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def judged(file: BinaryIO, shape: FileShape, size: int = CHUNK) -> Inspection:
    """What there is to say about all records from here on."""
    total, rest = Inspection(), chunks(file, shape, size)
    for chunk in rest:
        inspection = looked_at(chunk, shape)
        if inspection is None:
            for record in slow.taken(slow.lines(chain((chunk,), rest), shape.end), shape.end, shape.framing):
                total.malformed += record.judged(shape.fields)
            return total
        total.records += inspection.records
        total.malformed += inspection.malformed
        total.odd |= inspection.odd
        total.longest = max(total.longest, len(chunk))
    return total


def rewritten(file: BinaryIO, shape: FileShape, copy: BinaryIO) -> int:
    """Writes the records from here on as an engine reads them; returns how many bytes one of them may have."""
    longest = copy.write(quoted_record([b"name"] * shape.fields, shape))  # names are not read from a copy
    for chunk in chunks(file, shape, CHUNK):
        inspection, place, parts = looked_at(chunk, shape), 0, []
        for start, stop, text in inspection.anew if inspection else ():
            parts += [chunk[place:start], text]
            place = stop
        parts.append(chunk[place:])
        longest = max(longest, copy.write(b"".join(parts).decode("utf-8", "replace").encode()))
    return longest


def chunks(file: BinaryIO, shape: FileShape, size: int) -> Iterator[bytes]:
    """The bytes from here on, cut where records end, unless one is too long."""
    held = b""
    while block := file.read(max(size, len(held))):
        held += block
        stop = _last_end(held, shape)
        if not stop and len(held) > slow.LONGEST_LINE + len(shape.end):
            stop = len(held)
        if stop:
            yield held[:stop]
            held = held[stop:]
    if held:
        yield held + shape.end


def _last_end(held: bytes, shape: FileShape) -> int:
    """Behind the last line end, or the last one outside of quotes where they may hold line ends; 0 if there is none."""
    stop = held.rfind(shape.end)
    if shape.framing.multiline and stop >= 0:
        inside = held.count(QUOTE, 0, stop) % 2
        while inside and stop >= 0:
            quote, behind = held.rfind(QUOTE, 0, stop), stop
            stop = held.rfind(shape.end, 0, quote)
            inside ^= held.count(QUOTE, max(stop, 0), behind) % 2
    return stop + len(shape.end) if stop >= 0 else 0


def looked_at(chunk: bytes, shape: FileShape) -> Inspection | None:
    """What there is to say about whole records; None where a malformed one leaves open where the next begins."""
    if not chunk.endswith(shape.end):
        return None
    text = True
    if not chunk.isascii():
        try:
            chunk.decode()
        except UnicodeDecodeError:
            text = False
    count = surely_sound(chunk, shape)
    if count and len(chunk) <= slow.LONGEST_LINE:
        return Inspection(count, odd=not text)
    inspection = _one_by_one(chunk, shape)
    if inspection is not None:
        inspection.odd = not text or bool(inspection.anew)
    return inspection


def surely_sound(chunk: bytes, shape: FileShape) -> int:
    """How many records there are, if all are well-formed as they stand; 0 where that cannot be told at a glance."""
    if shape.fields == 1 and (chunk.startswith(shape.end) or shape.end * 2 in chunk):
        return 0  # a blank line
    bones = chunk.translate(None, shape.flesh)
    if len(shape.end) == 2 and not bones.count(CR) == bones.count(LF) == chunk.count(shape.end):
        return 0
    times, first = 1, bones[: bones.find(shape.end) + len(shape.end)]
    if first.count(QUOTE) % 2 == 0 and bones == first * (len(bones) // len(first)):  # all lines are alike
        times, bones = len(bones) // len(first), first
    if QUOTE in bones:
        if not _quotes_stand_well(np.frombuffer(chunk, np.uint8), shape):
            return 0
        bones = bones.replace(QUOTE * 2, b"")  # next to each other they change nothing about what is inside of which
        bones = (CELLS if shape.framing.multiline else CELLS_OF_A_LINE).sub(b"", bones)
    count = len(bones) // len(shape.bones)
    return count * times if bones == shape.bones * count else 0


def _quotes_stand_well(data: NDArray[np.uint8], shape: FileShape) -> bool:
    """Whether every other quote opens a field, or follows a quote, and every one between closes a field, or precedes a quote."""
    quotes = np.flatnonzero(data == ord(QUOTE))
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) != len(closing):
        return False
    before, behind = data[opening - 1], data[closing + 1]  # the byte before the first one is the last, a line end
    return all(
        bool(((neighbour == ord(shape.delimiter)) | (neighbour == ord(QUOTE)) | (neighbour == end)).all())
        for neighbour, end in ((before, shape.end[-1]), (behind, shape.end[0]))
    )


def _one_by_one(chunk: bytes, shape: FileShape) -> Inspection | None:
    """A chunk where something is odd: the records that are not surely fine are read one by one."""
    data = np.frombuffer(chunk, np.uint8)
    delimiter, quote, multiline = ord(shape.delimiter), ord(QUOTE), shape.framing.multiline
    quotes = np.flatnonzero(data == quote)
    ends = np.flatnonzero(data[: len(data) + 1 - len(shape.end)] == shape.end[0])
    if len(shape.end) == 2:
        ends = ends[data[ends + 1] == shape.end[1]]
    if multiline:
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        if not len(ends) or ends[-1] + len(shape.end) < len(data):
            return None  # a quote is open at the end of the file
    starts = np.concatenate(([0], ends[:-1] + len(shape.end)))
    first = np.searchsorted(quotes, starts)  # quote of each record
    doubtful = (np.searchsorted(quotes, ends) - first) % 2 == 1
    doubtful |= ends - starts > slow.LONGEST_LINE

    record = np.searchsorted(ends, quotes)  # of each quote
    opens = (np.arange(len(quotes)) - first[record]) % 2 == 0
    beside = data[np.where(opens, quotes - 1, quotes + 1)]
    border = np.where(opens, quotes == starts[record], quotes + 1 == ends[record])
    doubtful[record[~(border | (beside == delimiter) | (beside == quote))]] = True

    stray = (data == CR) | (data == LF)
    for i in range(len(shape.end)):
        stray[ends + i] = False
    strays = np.flatnonzero(stray)
    if multiline:
        strays = strays[np.searchsorted(quotes, strays) % 2 == 0]
    doubtful[np.searchsorted(ends, strays)] = True

    between = np.flatnonzero(data == delimiter)
    between = between[(np.searchsorted(quotes, between) - first[np.searchsorted(ends, between)]) % 2 == 0]
    fields = np.searchsorted(between, ends) - np.searchsorted(between, starts) + 1
    blank = starts == ends
    other = (fields != shape.fields) & ~blank & ~doubtful
    if multiline and doubtful.any():
        return None
    inspection = Inspection(len(ends) - int(blank.sum()))
    if not shape.framing.ragged:
        inspection.malformed.fields = int(other.sum())
    for i in np.flatnonzero(doubtful | blank if shape.fields == 1 else doubtful).tolist():
        start, stop = int(starts[i]), int(ends[i])
        text = b""
        if not blank[i]:
            odd = OpenRecord(shape.framing)
            odd.take(chunk[start:stop])
            inspection.malformed += odd.judged(shape.fields)
            text = quoted_record(odd.fields, shape)
        inspection.anew.append((start, stop + len(shape.end), text))
    return inspection


def quoted_record(fields: list[bytes], shape: FileShape) -> bytes:
    """A record as every engine reads it: every field in quotes."""
    padded = fields[: shape.fields] + [b""] * (shape.fields - len(fields))
    return shape.delimiter.join(QUOTE + each.replace(QUOTE, QUOTE * 2) + QUOTE for each in padded) + shape.end
