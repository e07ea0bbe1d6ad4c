"""Values bound to `?` and `:name`: each becomes a typed constant, and nothing else can be bound."""

import math
from collections.abc import Mapping, Sequence
from datetime import date

from discreet.errors import QueryError
from discreet.exact import shown
from discreet.plan.scalar import Literal, Type
from discreet.plan.sql.refusals import Code, quoted, refusal
from discreet.plan.sql.text import MOST_BYTES, MOST_ITEMS

LEAST_INTEGER, MOST_INTEGER = -(1 << 63), (1 << 63) - 1

Parameters = Sequence[object] | Mapping[str, object] | None


def bound(names: tuple[str, ...], values: Parameters) -> dict[str, Literal]:
    """The constant for each name that occurs in the text, or raises QueryError: none is missing, none is left over."""
    positions = tuple(str(i) for i in range(len(names)))
    if values is None:
        values = ()
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | Mapping):
        raise _refused(
            f"parameters must be a list or a dictionary, got {shown(values)}", 'bind {"name": value} or [value]'
        )
    if len(values) > MOST_ITEMS:
        raise _refused(f"more than {MOST_ITEMS:,} parameters are bound", "bind fewer")
    if isinstance(values, Mapping):
        given = dict(values)
        if any(name.isdigit() for name in names):
            raise _refused("a dictionary is bound, and the text has ?", "write :name in the text, or bind a list")
        wanted = set(names)
    else:
        given = dict(zip(map(str, range(len(values))), values, strict=True))
        if names != positions:
            raise _refused("a list is bound, and the text has names", 'write ? for each, or bind {"name": value}')
        wanted = set(positions)
    if missing := sorted(wanted - set(given)):
        raise _refused(f"no value is bound to {_called(missing[0])}", "bind one value to each parameter")
    if left := sorted(map(str, set(given) - wanted)):
        raise _refused(f"a value is bound to {_called(left[0])}, which the text does not have", "remove it")
    return {name: literal(value, _called(name)) for name, value in given.items()}


def literal(value: object, name: str) -> Literal:
    """The constant for a value of exactly one of the types that can be bound."""
    if value is None:
        return Literal(None, Type.TEXT)
    if type(value) is bool:
        return Literal(value, Type.BOOLEAN)
    if type(value) is int:
        if not LEAST_INTEGER <= value <= MOST_INTEGER:
            raise _refused(f"{name} is an integer of more than 64 bits", "bind a float")
        return Literal(value, Type.INTEGER)
    if type(value) is float:
        if not math.isfinite(value):
            raise _refused(f"{name} is not a finite number", "bind None for a missing value")
        return Literal(value, Type.NUMBER)
    if type(value) is date:
        return Literal(value, Type.DATE)
    if type(value) is str:
        return Literal(_checked(value, name), Type.TEXT)
    raise _refused(
        f"{name} is a {quoted(type(value).__name__)}", "bind an int, a float, a text, a date, a bool or None"
    )


def _checked(value: str, name: str) -> str:
    if len(value) > MOST_BYTES or len(value.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise _refused(f"{name} is longer than 64 KiB", "bind a shorter text")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise _refused(f"{name} holds a character that no table can hold", "remove NUL and lone surrogates")
    return value


def _called(name: str) -> str:
    return f"parameter {int(name) + 1}" if name.isdigit() else f"parameter {quoted(name)}"


def _refused(message: str, hint: str) -> QueryError:
    return refusal(Code.PARAMETER, message, hint)
