"""Small protocols, whose reports can all be written down, and campaigns to play with."""

from fractions import Fraction as F

from discreet.local import (
    Campaign,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    MemoHashing,
    MemoKary,
    UnaryEncoding,
)
from discreet.local.frequency_protocol import FrequencyProtocol

SMALL: tuple[FrequencyProtocol, ...] = (
    *(KaryResponse(k, e) for k in (2, 3, 7) for e in (F(1, 10), F(1), F(5))),
    *(UnaryEncoding(k, e) for k in (2, 3, 5) for e in (F(1, 10), F(1), F(5))),
    *(HadamardResponse(k, e) for k in (2, 3, 8, 17) for e in (F(1, 10), F(1), F(5))),
    *(LocalHashing(k, e, word=4) for k in (2, 4) for e in (F(1, 10), F(1, 2), F(1))),  # 3 buckets are of two sizes
    *(MemoKary(k, e, first=f) for k in (2, 3) for e, f in ((F(1, 10), F(1, 20)), (F(1), F(9, 10)), (F(5), F(1)))),
    *(MemoHashing(k, e, word=4, first=f) for k, e, f in ((4, F(1), F(1, 2)), (2, F(5), F(1)))),
)
NAMES = ("k-ary", "unary", "hashing", "hadamard")
LATER = 4_000_000_000


def campaign(protocol: str = "k-ary", domain: tuple[str | int | bool, ...] | int = 5, epsilon: F = F(1)) -> Campaign:
    return Campaign("How are you?", domain, protocol, epsilon, bytes(range(16)), LATER)
