"""Released values as bytes, and back: integers, reals, truth values, and arrays of them. Nothing else is ever kept of a draw."""

import json
import struct
from math import prod
from typing import Any

import numpy as np

from discreet.errors import Fault

NARROW = ("int8", "int16", "int32", "int64")
LONGEST_HEADER = 1000


def packed(value: Any) -> bytes:
    """The bytes of a released value; whole numbers of an array in as few bytes each as hold them all."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        little = value.dtype.newbyteorder("<")
        narrow = np.dtype(_narrowest(value)).newbyteorder("<") if value.dtype.kind == "i" else little
        header = json.dumps([little.str, narrow.str, list(value.shape)])
        return b"a" + header.encode("ascii") + b"\n" + value.astype(narrow).tobytes()
    if isinstance(value, bool | np.bool_):
        return b"b1" if value else b"b0"
    if isinstance(value, int | np.integer):
        return b"i" + hex(int(value)).encode("ascii")
    if isinstance(value, float | np.floating):
        return b"f" + struct.pack("<d", value)
    raise Fault(
        f"a draw that releases a {type(value).__name__} cannot be kept",
        code="grant",
        hint="measure it with kept=False, which counts draws and keeps none",
    )


def _narrowest(value: Any) -> str:
    low, high = (int(value.min()), int(value.max())) if value.size else (0, 0)
    return next(name for name in NARROW if np.iinfo(name).min <= low and high <= np.iinfo(name).max)


def unpacked(data: bytes) -> Any:
    """The released value of these bytes; for any others a Fault."""
    kind, rest = data[:1], data[1:]
    try:
        if kind == b"i":
            return int(rest, 16)
        if kind == b"f":
            return float(struct.unpack("<d", rest)[0])
        if kind == b"b" and rest in (b"0", b"1"):
            return rest == b"1"
        if kind == b"a":
            return _array(rest)
    except (ValueError, TypeError, struct.error) as error:
        raise _damaged() from error
    raise _damaged()


def _array(rest: bytes) -> Any:
    at = rest.index(b"\n", 0, LONGEST_HEADER)
    dtype, narrow, shape = json.loads(rest[:at])
    if np.dtype(narrow).kind not in "biuf" or np.dtype(dtype).kind not in "biuf":
        raise _damaged()
    array = np.frombuffer(rest, narrow, prod(shape), at + 1).reshape(shape)
    return array.astype(np.dtype(dtype).newbyteorder("="))


def _damaged() -> Fault:
    return Fault("a draw that was kept is damaged", code="ledger-broken", hint="restore the ledger from a backup")
