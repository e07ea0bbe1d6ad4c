"""Sources of randomness: the Source protocol, SecureBits for releases, Tape for tests.

Everything random in this package is an argument of type Source. `SecureBits` expands fresh operating-system entropy
with AES-256 in counter mode under a new key for every refill. It has no seed, keeps no key, and is safe to
use from many threads and across `fork`. There is no other generator to fall back to: when the operating system cannot give
entropy, drawing raises.

The claim "exact" everywhere in `noise` is relative to ideal bits; with AES as the expander the whole is computational.
"""

import hashlib
import os
import threading
from collections.abc import Hashable
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.errors import Fault

KEY_BYTES = 32
POOL_BYTES = 16_384
SPARE_BYTES = 1024  # read from the pool at a time for single draws
DIRECT_BYTES = 4_096  # requests of this size and more get a key of their own; smaller ones share a pool


class Bits(Protocol):
    """Independent, uniform random bits."""

    def bits(self, count: int) -> int:
        """A uniform integer below 2^count."""


class Source(Bits, Protocol):
    """Random bits, one by one or many at once, and the place where samples drawn ahead wait."""

    @property
    def private(self) -> bool:
        """False when someone could know these bits, so that no privacy may be claimed for what is made of them."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite all of `out` with random bytes."""

    @property
    def stock(self) -> dict[Hashable, Any]:
        """Samples drawn ahead from this source (see `stock.py`), for this thread of this process alone."""


class _Uncopyable:
    """Two copies of a source would share their noise, which cancels it."""

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: two copies would give the same noise; make a new one"
        )

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse


_forks = 0  # how many forks lie between this process and the one that imported the module


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class _Held:
    """What one thread of one process holds: unread pool bytes, spare bits, samples drawn ahead."""

    __slots__ = ("forks", "pid", "pool", "read", "spare", "spare_bits", "stock")

    def __init__(self) -> None:
        self.forks = _forks  # counts every fork made through Python
        self.pid = os.getpid()  # tells those made past it
        self.pool = np.zeros(POOL_BYTES, np.uint8)
        self.read = POOL_BYTES  # bytes of the pool used up
        self.spare = 0
        self.spare_bits = 0
        self.stock: dict[Hashable, Any] = {}


class _Threads(threading.local):
    held: _Held | None = None


class SecureBits(_Uncopyable):
    """Random bits for releases: OS entropy, expanded by AES-256-CTR, a new key for every refill.

    For any number of threads and forked processes no two ever receive the same bits: unread bits belong to one thread
    and are dropped by a child process at its first draw. Used pool bytes are overwritten with zeros.
    """

    private = True

    def __init__(self) -> None:
        self._threads = _Threads()

    def _held(self) -> _Held:
        held = self._threads.held
        if held is None or held.pid != os.getpid() or held.forks != _forks:
            held = self._threads.held = _Held()
        return held

    @property
    def stock(self) -> dict[Hashable, Any]:
        """Samples drawn ahead, for this thread of this process alone."""
        return self._held().stock

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite all of `out` with random bytes, from the pool or, for many, from a new key."""
        held = self._held()
        if out.size >= DIRECT_BYTES:
            _expand(_new_key(), out)
            return
        if held.read + out.size > POOL_BYTES:
            held.read = POOL_BYTES  # if entropy fails now, nothing of the old pool can be served again
            _expand(_new_key(), held.pool)
            held.read = 0
        begin, held.read = held.read, held.read + out.size
        used = held.pool[begin : held.read]
        out[:] = used
        used[:] = 0

    def bits(self, count: int) -> int:
        """A uniform integer below 2^count."""
        held = self._held()
        if held.spare_bits < count:
            fresh = np.empty(max(SPARE_BYTES, (count - held.spare_bits + 7) // 8), np.uint8)
            self.fill(fresh)
            held.spare |= int.from_bytes(fresh.tobytes(), "little") << held.spare_bits
            held.spare_bits += 8 * fresh.size
        value = held.spare & ((1 << count) - 1)
        held.spare >>= count
        held.spare_bits -= count
        return value


def _new_key() -> bytes:
    """A fresh key, or Fault: entropy that is missing, short or repeated stops every release."""
    key = _entropy()
    if key == _entropy():
        raise Fault(
            "the operating system's entropy source returned the same bytes twice; no noise can be drawn",
            code="entropy",
            hint="repair the machine's random source, then start again",
        )
    return key


def _entropy() -> bytes:
    try:
        key = os.urandom(KEY_BYTES)
    except (OSError, NotImplementedError) as error:
        raise Fault("the operating system gave no entropy; no noise can be drawn", code="entropy") from error
    if len(key) != KEY_BYTES:
        raise Fault("the operating system gave too little entropy; no noise can be drawn", code="entropy")
    return key


def _expand(key: bytes, out: NDArray[np.uint8]) -> None:
    """Fill `out` with the AES-256-CTR keystream of a key that is used for this alone."""
    out[:] = 0
    Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update_into(out.data, out.data)


class Tape(_Uncopyable):
    """Repeatable bits for tests: the same seed gives the same noise, so nothing drawn from a Tape is private.

    `Tape(7)` is endless. `Tape.of(data)` plays the given bytes and raises Fault at their end. `used` counts bytes read.
    """

    private = False

    def __init__(self, seed: int) -> None:
        key = hashlib.sha256(b"discreet tape %d" % seed).digest()
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._data: bytes | None = None
        self.used = 0
        self.stock: dict[Hashable, Any] = {}

    @classmethod
    def of(cls, data: bytes) -> "Tape":
        """The tape of these bytes, which ends after them."""
        tape = cls(0)
        tape._data = bytes(data)
        return tape

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite all of `out` with the next bytes of the tape; a Fault where it ends."""
        if self._data is None:
            out[:] = 0
            self._stream.update_into(out.data, out.data)
        elif self.used + out.size > len(self._data):
            raise Fault(f"the tape ends after {len(self._data)} bytes", code="tape_end")
        else:
            out[:] = np.frombuffer(self._data, np.uint8, out.size, self.used)
        self.used += out.size

    def bits(self, count: int) -> int:
        """A uniform integer below 2^count, of whole bytes whose excess is dropped: replay does not depend on earlier requests."""
        fresh = np.empty((count + 7) // 8, np.uint8)
        self.fill(fresh)
        return int.from_bytes(fresh.tobytes(), "little") & ((1 << count) - 1)


OPERATING_SYSTEM = SecureBits()
"""The source used when a caller names none."""


def chosen(source: Source | None) -> Source:
    """The caller's source, or the operating system's."""
    return OPERATING_SYSTEM if source is None else source


def words(source: Source, count: int) -> NDArray[np.uint64]:
    """`count` uniform 64-bit words."""
    out = np.empty(count, np.uint64)
    source.fill(out.view(np.uint8))
    return out


def half_words(source: Source, count: int) -> NDArray[np.uint32]:
    """`count` uniform 32-bit words."""
    out = np.empty(count, np.uint32)
    source.fill(out.view(np.uint8))
    return out
