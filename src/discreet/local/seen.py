"""The tokens that were seen, in a set of bits of a declared size: one that was seen is always known again."""

import base64
import hashlib
from math import ceil, expm1, log, log1p, log2
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown, whole

MOST_BITS = 1 << 32
MOST_HASHES = 8  # words of 32 bits in a digest
CHANCE = 1e-9  # at which sets of different tokens are taken for sets of the same ones
ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)  # of each byte


class SeenSet:
    """A set of tokens (Bloom 1970) that never forgets one, and takes a new one for a seen one at a stated rate.

    Which new tokens are taken for seen ones depends on tokens alone, which say nothing of answers: estimates stay unbiased.
    Where somebody else chooses tokens they can choose such that fill the set faster.
    """

    __slots__ = ("bits", "hashes", "salt", "size")

    def __init__(self, salt: bytes, size: int, hashes: int) -> None:
        self.salt = salt
        self.size = whole(size, "size", least=8)
        self.hashes = whole(hashes, "hashes", least=1)
        if self.size > MOST_BITS or self.size & (self.size - 1) or self.hashes > MOST_HASHES:
            raise Invalid("a seen-set has a power of two of bits, up to 2^32, and up to 8 hashes")
        self.bits = np.zeros(self.size // 8, np.uint8)

    @classmethod
    def of(cls, salt: bytes, capacity: int, false_rejects: Number) -> "SeenSet":
        """The smallest set in which a new token is taken for a seen one at most this often, on average, until `capacity` were seen."""
        tokens = whole(capacity, "capacity", least=1)
        rate = float(rational(false_rejects, "false_rejects"))
        if not 1e-9 <= rate < 1:
            raise Invalid(f"false_rejects must lie between 1e-9 and 1, got {shown(false_rejects)}")
        size = 1 << max(3, ceil(log2(tokens) + log2(-log(rate) / log(2) ** 2)))
        while size <= MOST_BITS:
            for hashes in range(1, MOST_HASHES + 1):
                if most_rejects(size, hashes, tokens) <= rate:
                    return cls(salt, size, hashes)
            size *= 2
        raise Invalid(f"capacity must be smaller for this rate, got {shown(capacity)}")

    def _places(self, token: bytes) -> list[int]:
        digest = hashlib.sha256(self.salt + token).digest()
        words = (digest[4 * each : 4 * each + 4] for each in range(self.hashes))
        return [int.from_bytes(word, "little") & (self.size - 1) for word in words]

    def add(self, token: bytes) -> bool:
        """Whether the token is new; from now on it is not."""
        new = False
        for place in self._places(token):
            byte, bit = place >> 3, 1 << (place & 7)
            if not int(self.bits[byte]) & bit:
                new = True
                self.bits[byte] |= bit
        return new

    @property
    def false_rejects(self) -> float:
        """How often a new random token would be taken for a seen one now."""
        return float((self._ones / self.size) ** self.hashes)

    def covers(self, other: "SeenSet") -> bool:
        """Whether all tokens of the other, of the same size, were seen here too, and that is no chance: one of less than 1e-9.

        So many bits that are set by chance are all among the set ones of a share f with a chance of at most f to their number.
        """
        own, theirs = self._ones, other._ones
        if own < theirs or not theirs or (other.bits & ~self.bits).any():
            return False
        return theirs * log(own / self.size) < log(CHANCE)

    @property
    def _ones(self) -> int:
        return int(ONES[self.bits].sum(dtype=np.int64))

    def copy(self) -> "SeenSet":
        """Another set with the same tokens."""
        return self.merged(self)

    def merged(self, other: "SeenSet") -> "SeenSet":
        """The set of what either has seen; both have one size."""
        if (self.salt, self.size, self.hashes) != (other.salt, other.size, other.hashes):
            raise Invalid(
                "seen-sets of two sizes cannot be merged", hint="declare the same capacity for all collectors"
            )
        both = SeenSet(self.salt, self.size, self.hashes)
        both.bits = self.bits | other.bits
        return both

    def record(self) -> dict[str, Any]:
        """The set as a part of JSON."""
        return {"bits": base64.b64encode(self.bits.tobytes()).decode("ascii"), "hashes": self.hashes, "size": self.size}

    @classmethod
    def of_record(cls, salt: bytes, record: Any) -> "SeenSet":
        """The set that was recorded; Invalid for anything else."""
        if not isinstance(record, dict) or record.keys() != {"bits", "hashes", "size"}:
            raise Invalid("this is not a seen-set", code="malformed")
        if not isinstance(record["bits"], str) or len(record["bits"]) > MOST_BITS // 4:
            raise Invalid("this is not a seen-set", code="malformed")
        try:
            bits = np.frombuffer(base64.b64decode(record["bits"], validate=True), np.uint8)
        except ValueError as error:
            raise Invalid("this is not a seen-set", code="malformed") from error
        if whole(record["size"], "size") != 8 * len(bits):
            raise Invalid("this is not a seen-set", code="malformed")
        seen = cls(salt, record["size"], record["hashes"])
        seen.bits = bits.copy()
        if seen.record() != record:  # the last letter of bits has digits that mean nothing
            raise Invalid("this is not a seen-set", code="malformed")
        return seen


def most_rejects(size: int, hashes: int, tokens: int) -> float:
    """At most how often a new token is taken for a seen one, on average over the places of all, where they are uniform: a model of SHA-256.

    A bit is set with the chance ρ = 1 − (1 − 1/m)^(hn) for m bits, h hashes and n tokens. Which bits are set is negatively associated
    (Dubhashi and Ranjan 1998), so any d of them are with a chance of at most ρ^d; and d is the number of different places of the new one.

    >>> most_rejects(8, 1, 1), round(most_rejects(1 << 26, 6, 1 << 20), 9)
    (0.125, 5.14e-07)
    """
    chance = -expm1(hashes * tokens * log1p(-1 / size))
    different = [1.0]  # the chance of each number of different places
    for _ in range(hashes):
        again = [each * d / size for d, each in enumerate(different)] + [0.0]
        new = [0.0, *(each * (1 - d / size) for d, each in enumerate(different))]
        different = [a + b for a, b in zip(again, new, strict=True)]
    return sum(each * chance**d for d, each in enumerate(different))
