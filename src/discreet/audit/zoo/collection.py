"""All of the zoo: what is broken, and what is sound."""

from discreet.audit.zoo import counts, keys, noise, plans, selection, sums
from discreet.audit.zoo.specimen import Specimen
from discreet.errors import Invalid

_PARTS = (noise, counts, sums, selection, keys, plans)

BROKEN: tuple[Specimen, ...] = tuple(each for part in _PARTS for each in part.BROKEN)
"""Specimens that break their promise."""

SOUND: tuple[Specimen, ...] = tuple(each for part in _PARTS for each in part.SOUND)
"""Specimens that keep it: each is the mended twin of a broken one."""


def find(name: str) -> Specimen:
    """The specimen of this name.

    >>> find("half-scale").truth
    2.0
    """
    for each in (*BROKEN, *SOUND):
        if each.name == name:
            return each
    raise Invalid(f"there is no specimen {name!r} in the zoo", hint="see BROKEN and SOUND for their names")
