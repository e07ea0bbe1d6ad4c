"""Versions of the data: the owner's counter, never made of what is in them. They only go on."""

import re
from collections.abc import Sequence

from discreet.curator.acts import Creation, DataChanged
from discreet.curator.store import Store
from discreet.errors import Refused


def versions_in(store: Store) -> list[str]:
    """Every version that the data had, oldest first."""
    return [row.act.version for row in store.acts() if isinstance(row.act, Creation | DataChanged)]


def next_version(used: Sequence[str], version: str | None = None) -> str:
    """The version that follows: the one that is said, unless it was used before, or the next number."""
    following = following_version(used)
    if version is not None and version in used:
        raise Refused(
            f"version {version!r} of the data was there before",
            code="data-version",
            hint=f"data that changed take a version that was not used before, such as {following}",
        )
    return following if version is None else version


def following_version(used: Sequence[str]) -> str:
    """The version after the last one, which was not used before.

    >>> following_version(["1"]), following_version(["2024-09", "2024-10"])
    ('2', '2024-11')
    >>> following_version(["summer"]), following_version(["1", "3", "2"])
    ('summer-2', '4')
    """
    name = used[-1]
    while name in used:
        digits = re.search(r"[0-9]+$", name)
        if digits is None:
            name = f"{name}-2"
        else:
            name = name[: digits.start()] + str(int(digits[0]) + 1).zfill(len(digits[0]))
    return name
