"""What a public table holds: read once, looked at while questions are planned, and handed to the engine as it was looked at.

It is about nobody, and may be read at will. So what is known of its columns is taken from it, and a question depends on it by the digest of
its rows: whatever was found to be so of the rows is so of those that an engine joins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from discreet.plan.types import Value

MOST_PUBLIC = 1_000_000
"""Rows of a public table."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The values of each column of a public table, row by row; two are equal where their digests are."""

    digest: str
    columns: Mapping[str, Sequence[Value]] = field(compare=False, repr=False)

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Value]]) -> "Contents":
        """The digest does not depend on the order of the rows, as no answer does.

        >>> Contents.of({"a": [1, 2]}) == Contents.of({"a": [2, 1]})
        True
        """
        rows = sorted(map(repr, zip(*columns.values(), strict=True)))
        text = repr((tuple(columns), rows))
        return cls(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32], dict(columns))

    def unique(self, names: Iterable[str]) -> bool:
        """Whether no two rows have the same values in these columns; rows without one of them, which match nothing, may be alike.

        >>> held = Contents.of({"port": ["A", "B", "B", None, None], "gate": [1, 1, 2, 3, 3]})
        >>> held.unique(["port"]), held.unique(["port", "gate"])
        (False, True)
        """
        keys = [key for key in zip(*(self.columns[name] for name in names), strict=True) if None not in key]
        return len(set(keys)) == len(keys)
