"""Values bound to `?` and `:name`: each becomes a typed constant, and nothing else can be bound."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from discreet.errors import QueryError
from discreet.exact import shown
from discreet.plan.plain import LEAST_INTEGER, MOST_INTEGER, Unusable, plain, plain_moment
from discreet.plan.scalar import Literal, Type
from discreet.plan.sql.refusals import Code, quoted, refusal
from discreet.plan.sql.text import MOST_BYTES, MOST_ITEMS

TYPES = {
    bool: Type.BOOLEAN,
    int: Type.INTEGER,
    float: Type.NUMBER,
    date: Type.DATE,
    datetime: Type.TIMESTAMP,
    str: Type.TEXT,
    type(None): Type.TEXT,  # a NULL takes the type that it is used as
}
Parameters = Sequence[object] | Mapping[str, object] | None


def bound(names: tuple[str, ...], values: Parameters, moments: bool = False) -> dict[str, Literal]:
    """The constant for each name that occurs in the text, or raises QueryError: none is missing, none is left over.

    `moments`: there are columns of timestamps, and an object with a time of day is one; else it is its day.
    """
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
        bindings = dict(values)
        if any(name.isdigit() for name in names):
            raise _refused("a dictionary is bound, and the text has ?", "write :name in the text, or bind a list")
        required = set(names)
    else:
        bindings = dict(zip(map(str, range(len(values))), values, strict=True))
        if names != positions:
            raise _refused("a list is bound, and the text has names", 'write ? for each, or bind {"name": value}')
        required = set(positions)
    if missing := sorted(required - set(bindings)):
        raise _refused(f"no value is bound to {_called(missing[0])}", "bind one value to each parameter")
    if left := sorted(map(str, set(bindings) - required)):
        raise _refused(f"a value is bound to {_called(left[0])}, which the text does not have", "remove it")
    return {name: bound_literal(value, _called(name), moments) for name, value in bindings.items()}


def bound_literal(value: object, name: str, moments: bool = False) -> Literal:
    """The typed constant that a bound object stands for."""
    try:
        constant = plain_moment(value) if moments else plain(value)
    except Unusable as unusable:
        raise _refused(f"{name} {unusable.what}", unusable.hint) from None
    if isinstance(constant, int) and not LEAST_INTEGER <= constant <= MOST_INTEGER:
        raise _refused(f"{name} is an integer of more than 64 bits", "bind a float")
    if isinstance(constant, str):
        constant = _checked(constant, name)
    return Literal(constant, TYPES[type(constant)])


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
