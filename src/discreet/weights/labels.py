"""What a ledger's history says of a measurement; with a mark of all that it was asked with, so that a key names one request only."""

from collections.abc import Iterable
from hashlib import sha256

import numpy as np

from discreet.weights.domain import Domain


def label(what: str, domain: Domain, *asked: object) -> str:
    """A label that differs wherever the domain or anything that was asked for differs: whoever enters a key again with other arguments is
    refused, instead of being given what was released for others."""
    mark = sha256(repr(domain.attributes).encode())
    for each in _parts(asked):
        mark.update(each)
    return f"{what} of {', '.join(domain.names)} ({mark.hexdigest()[:12]})"


def _parts(asked: Iterable[object]) -> Iterable[bytes]:
    """Arrays by all of their values, lists by what they hold, anything else as it is written."""
    for each in asked:
        if isinstance(each, np.ndarray):
            yield repr((each.shape, each.dtype.str)).encode() + np.ascontiguousarray(each).tobytes()
        elif isinstance(each, list | tuple) and any(isinstance(part, np.ndarray | list | tuple) for part in each):
            yield f"[{len(each)}".encode()
            yield from _parts(each)
        else:
            yield repr(each).encode() + b";"
