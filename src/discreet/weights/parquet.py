"""Synthetic rows as a Parquet file: version 1 pages, not compressed, words by dictionary. Nothing but NumPy is needed to write one.

The format is that of parquet-format 2.10: its `parquet.thrift` has the numbers of fields and of enumerations, its `Encodings.md` how values
lie in a page. Metadata are in Thrift's compact protocol (`thrift-compact-protocol.md`).
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Ints
from discreet.weights.columns import ColumnType, SyntheticColumn
from discreet.weights.domain import Mask

MAGIC = b"PAR1"
ROWS = 1 << 18
"""Rows of a group."""

# Types of fields in the compact protocol.
TRUE, FALSE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 5, 6, 8, 9, 12
# Enumerations of parquet.thrift.
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2
OPTIONAL, UNCOMPRESSED = 1, 0


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first.

    >>> _varint(300).hex()
    'ac02'
    """
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _signed(number: int) -> bytes:
    return _varint(number << 1 ^ number >> 63)


def _binary(content: bytes) -> bytes:
    return _varint(len(content)) + content


def _list(kind: int, items: Sequence[bytes]) -> bytes:
    head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + _varint(len(items))
    return head + b"".join(items)


def _record(*fields: tuple[int, int, bytes]) -> bytes:
    """A struct: its fields by rising number, each with its type and its bytes."""
    parts, last = [], 0
    for number, kind, content in fields:
        parts.append(bytes([number - last << 4 | kind]) + content)
        last = number
    return b"".join(parts) + b"\0"


def _i32(number: int, value: int) -> tuple[int, int, bytes]:
    return number, I32, _signed(value)


def _i64(number: int, value: int) -> tuple[int, int, bytes]:
    return number, I64, _signed(value)


@dataclass(frozen=True, slots=True)
class Physical:
    """How values of a type lie in a file: a physical type, how its numbers are written, and what they mean, to newer and older readers."""

    physical: int
    width: str
    logical: bytes | None = None
    converted: int | None = None


# STRING is member 1 of LogicalType, DATE 6, TIMESTAMP 8: of no zone, in microseconds.
_MICROSECONDS = _record((1, FALSE, b""), (2, STRUCT, _record((2, STRUCT, _record()))))
_STORED = {
    ColumnType.BOOLEAN: Physical(0, "bits"),
    ColumnType.INTEGER: Physical(2, "<i8"),
    ColumnType.NUMBER: Physical(5, "<f8"),
    ColumnType.DATE: Physical(1, "<i4", _record((6, STRUCT, _record())), 6),
    ColumnType.TIMESTAMP: Physical(2, "<i8", _record((8, STRUCT, _MICROSECONDS))),
    ColumnType.TEXT: Physical(6, "words", _record((1, STRUCT, _record())), 0),
}


def write_parquet(columns: Sequence[SyntheticColumn], rows: int, file: BinaryIO) -> None:
    """Write a file of these columns; every value may be NULL."""
    file.write(MAGIC)
    groups, at = [], len(MAGIC)
    for begin in range(0, rows, ROWS):
        part, chunks = slice(begin, min(begin + ROWS, rows)), []
        for column in columns:
            chunk = _Chunk(column, part, at)
            file.write(chunk.content)
            chunks.append(chunk)
            at += len(chunk.content)
        groups.append(
            _record(
                (1, LIST, _list(STRUCT, [chunk.described for chunk in chunks])),
                _i64(2, sum(len(chunk.content) for chunk in chunks)),
                _i64(3, part.stop - part.start),
            )
        )
    schema = [_record((4, BINARY, _binary(b"schema")), _i32(5, len(columns))), *map(_described, columns)]
    foot = _record(
        _i32(1, 1),
        (2, LIST, _list(STRUCT, schema)),
        _i64(3, rows),
        (4, LIST, _list(STRUCT, groups)),
        (6, BINARY, _binary(b"discreet")),
    )
    file.write(foot + struct.pack("<I", len(foot)) + MAGIC)


def _described(column: SyntheticColumn) -> bytes:
    stored = _STORED[column.type]
    meaning = [] if stored.converted is None else [_i32(6, stored.converted)]
    meaning += [] if stored.logical is None else [(10, STRUCT, stored.logical)]
    return _record(_i32(1, stored.physical), _i32(3, OPTIONAL), (4, BINARY, _binary(column.name.encode())), *meaning)


class _Chunk:
    """A column within a group of rows: a dictionary of its words, where it has any, and one page of its values."""

    def __init__(self, column: SyntheticColumn, rows: slice, at: int) -> None:
        numbers, present = column.numbers[rows], column.present[rows]
        by_word = column.type is ColumnType.TEXT
        words = column.words or ("",)
        first = _dictionary(words) if by_word else b""
        values = _places(numbers[present], len(words)) if by_word else _plain(numbers[present], column.type)
        encoding = RLE_DICTIONARY if by_word else PLAIN
        head = _record(_i32(1, present.size), _i32(2, encoding), _i32(3, RLE), _i32(4, RLE))
        page = _page(DATA_PAGE, _levels(present) + values, (5, STRUCT, head))
        self.content = first + page
        places = [_i64(9, at + len(first)), *([_i64(11, at)] if by_word else [])]
        self.described = _record(
            _i64(2, at),
            (
                3,
                STRUCT,
                _record(
                    _i32(1, _STORED[column.type].physical),
                    (2, LIST, _list(I32, [_signed(each) for each in sorted({PLAIN, RLE, encoding})])),
                    (3, LIST, _list(BINARY, [_binary(column.name.encode())])),
                    _i32(4, UNCOMPRESSED),
                    _i64(5, present.size),
                    _i64(6, len(self.content)),
                    _i64(7, len(self.content)),
                    *places,
                ),
            ),
        )


def _page(kind: int, content: bytes, head: tuple[int, int, bytes]) -> bytes:
    return _record(_i32(1, kind), _i32(2, len(content)), _i32(3, len(content)), head) + content


def _dictionary(words: Sequence[str]) -> bytes:
    content = b"".join(struct.pack("<I", len(word)) + word for word in (each.encode() for each in words))
    return _page(DICTIONARY_PAGE, content, (7, STRUCT, _record(_i32(1, len(words)), _i32(2, PLAIN))))


def _plain(numbers: NDArray[Any], kind: ColumnType) -> bytes:
    if kind is ColumnType.BOOLEAN:
        return np.packbits(numbers, bitorder="little").tobytes()
    return numbers.astype(_STORED[kind].width).tobytes()


def _places(places: Ints, count: int) -> bytes:
    width = max(1, (count - 1).bit_length())
    return bytes([width]) + _packed(places, width)


def _levels(present: Mask) -> bytes:
    """Which rows have a value, with the length before it."""
    bits = _packed(present.astype(np.int64), 1)
    return struct.pack("<I", len(bits)) + bits


def _packed(numbers: Ints, width: int) -> bytes:
    """One run of numbers of so many bits, in groups of eight."""
    groups = -(-numbers.size // 8)
    padded = np.zeros(8 * groups, np.int64)
    padded[: numbers.size] = numbers
    bits = (padded[:, None] >> np.arange(width) & 1).astype(np.uint8)
    return _varint(groups << 1 | 1) + np.packbits(bits.reshape(-1), bitorder="little").tobytes()
