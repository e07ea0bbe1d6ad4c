"""Records as JSON of which there is one spelling only: what is read is what was written, or it is refused."""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid

HEX = re.compile(r"(?:[0-9a-f]{2})*")
MOST_DIGITS = 400  # of each part of a ratio
RATIO = re.compile(f"(-?[0-9]{{1,{MOST_DIGITS}}})(?:/([0-9]{{1,{MOST_DIGITS}}}))?")
HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # of one letter, which JSON gives back as that letter


def written(kind: str, version: int, fields: Mapping[str, Any]) -> str:
    """The one text of a record: keys sorted, no spaces, ASCII alone."""
    record = {"format": f"discreet.local.{kind}", "version": version, **fields}
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def read(text: object, kind: str, version: int, keys: frozenset[str], most: int | None = None) -> dict[str, Any]:
    """The fields of a record of this kind; Invalid for any other text, and nothing else is raised.

    A text of more than `most` letters is refused unread, so that it costs nobody's time or memory.
    """
    if not isinstance(text, str) or (most is not None and len(text) > most):
        raise _malformed(kind)
    try:
        record = json.loads(text)
        again = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (ValueError, RecursionError) as error:
        raise _malformed(kind) from error
    if not isinstance(record, dict) or record.get("format") != f"discreet.local.{kind}":
        raise _malformed(kind)
    if type(record.get("version")) is not int or record["version"] != version:
        raise Invalid(f"this {kind} has another version", code="version", hint="read it with the release that wrote it")
    if record.keys() != keys | {"format", "version"} or again != text:
        raise _malformed(kind, " and without white space around it" if again == text.strip() else "")
    return record


def is_text(value: object, least: int, most: int) -> bool:
    """Whether a value is a text of so many letters that is read as it was written: two halves of a letter become one."""
    return isinstance(value, str) and least <= len(value) <= most and not HALVES.search(value)


def bytes_of(value: object, kind: str, least: int = 0, most: int = 1 << 24) -> bytes:
    """The bytes that a field spells in hexadecimal digits."""
    if not isinstance(value, str) or not least <= len(value) // 2 <= most or not HEX.fullmatch(value):
        raise _malformed(kind)
    return bytes.fromhex(value)


def ratio_text(value: Fraction, name: str) -> str:
    """The one text of a fraction, which `ratio_of` reads again; Invalid where that has too many digits."""
    text = str(value)
    if RATIO.fullmatch(text) is None:
        raise Invalid(f"{name} has more than {MOST_DIGITS} digits", hint="round it to a shorter fraction first")
    return text


def ratio_of(value: object, name: str) -> Fraction:
    """The fraction that a field spells as one integer or two; whether in lowest terms shows when it is written again."""
    found = RATIO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise Invalid(f"{name} must be a ratio of two integers, as text", code="malformed")
    top, below = int(found[1]), int(found[2] or 1)
    if not below:
        raise Invalid(f"{name} must be finite", code="malformed")
    return Fraction(top, below)


def _malformed(kind: str, how: str = "") -> Invalid:
    return Invalid(f"this is not a {kind}", code="malformed", hint=f"pass the text of a {kind}, unchanged{how}")
