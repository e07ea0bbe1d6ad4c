"""Texts that a ledger holds: names, keys, reasons and labels, and how long each may be."""

from discreet.errors import Invalid
from discreet.exact import shown

OWNER = "owner"
LONGEST_NAME, LONGEST_REASON, LONGEST_LABEL = 200, 1000, 1 << 16


def check_name(value: object, name: str, most: int = LONGEST_NAME) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise Invalid(f"{name} must be a text of 1 to {most} printable characters, got {shown(value)}")
    _utf8(value, name)


def check_reason(value: object) -> None:
    """Why an owner lets something go on, in their own words."""
    check_name(value, "reason", LONGEST_REASON)


def check_analyst(name: object) -> None:
    """The name of an analyst who is to be added."""
    check_name(name, "analyst")
    if isinstance(name, str) and name.casefold() == OWNER:
        raise Invalid(f"an analyst cannot be called {shown(name)}: who has no name is the owner", code="analyst")


def check_label(value: object, name: str) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_LABEL:
        raise Invalid(f"{name} must be a text of at most {LONGEST_LABEL} characters, got {shown(value)}")
    _utf8(value, name)


def _utf8(value: str, name: str) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid(f"{name} must be text that can be written as UTF-8") from None
    if "\0" in value:
        raise Invalid(f"{name} must not hold a null character")
