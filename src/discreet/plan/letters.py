"""Small letters and capitals, one for one: what LOWER and UPPER change, written once for the engines and for plain Python.

Engines know different editions of Unicode, and some write two letters for one. So only letters that Unicode 3.2 of 2002 had are changed,
and only to one other letter that it had: such pairs stay what they are in every later edition. All other characters stay as they
are: ß has no capital here, and İ no small letter.
"""

import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

LAST = 0x10450  # no letter of that edition lies behind it
OLD = unicodedata.ucd_3_2_0


@cache
def small_letters() -> Mapping[int, str]:
    """For each capital its small letter, as `str.translate` takes it.

    >>> small_letters()[ord("É")], small_letters()[ord("Ж")], ord("İ") in small_letters()
    ('é', 'ж', False)
    """
    return _pairs(str.lower)


@cache
def capitals() -> Mapping[int, str]:
    """For each small letter its capital.

    >>> capitals()[ord("é")], capitals()[ord("ÿ")], ord("ß") in capitals()
    ('É', 'Ÿ', False)
    """
    return _pairs(str.upper)


def _pairs(change: Callable[[str], str]) -> dict[int, str]:
    characters = map(chr, range(LAST))
    changed = ((each, change(each)) for each in characters)
    return {ord(one): other for one, other in changed if one != other and len(other) == 1 and _old(one) and _old(other)}


def _old(character: str) -> bool:
    """Whether Unicode 3.2 had it."""
    return OLD.category(character) != "Cn"
