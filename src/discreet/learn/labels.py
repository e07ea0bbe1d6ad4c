"""What a fit is called in a ledger: a key belongs to one label, so that what was drawn for one fit is never given out as another."""

from hashlib import sha256


def label_of(what: str, *declared: object) -> str:
    """A name with a digest of all that is declared and shapes what is drawn: by value, and all of it public."""
    return f"{what} ({sha256(repr(declared).encode()).hexdigest()[:16]})"
