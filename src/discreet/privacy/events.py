"""Events: what was drawn, told so that its cost can be computed by anyone, at any later time.

A leaf names one release by one mechanism; Composed, Repeated, Sampled and Under put leaves together. Events are values: frozen, comparable,
and the same after a trip through JSON. They say what happened, never what it cost.

Rules of evolution, since ledgers keep events for ever:
1. The meaning of an event's name and fields never changes. A new meaning gets a new name.
2. Fields may be added to an event only with a default that keeps old records meaning what they meant.
3. A name is never removed or used again. A reader that meets an unknown name or field refuses.
4. Numbers are written as exact fractions in lowest terms ("1/10"), counts as integers, never as floats; they are read only as
   they are written.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import MISSING, field, fields
from fractions import Fraction
from functools import cache, partial
from typing import Any, ClassVar, TypeAlias

from discreet.errors import Invalid
from discreet.exact import MAX_BITS, Number, nonnegative, positive, probability, rational, shown, whole
from discreet.fields import Exact, Held, frozen, otherwise
from discreet.privacy.adjacency import Adjacency, Relation, Unit

__all__ = [
    "Approximate",
    "Composed",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "FiniteTable",
    "Gaussian",
    "Laplace",
    "Leaf",
    "Pure",
    "RandomizedResponse",
    "Repeated",
    "Sampled",
    "SampledGroup",
    "Under",
    "ZeroConcentrated",
    "from_json",
]

KINDS: dict[str, type["Event"]] = {}


class Event:
    """The root of all events. Each field of an event has a rule, its metadata, which says what the field may hold."""

    __slots__ = ()
    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            KINDS[cls.kind] = cls  # the second time for the class that dataclass makes anew with its slots

    def __post_init__(self) -> None:
        """Replace what a caller gave by the exact value it means, or raise Invalid naming the field."""
        for name, check in _checks(type(self)):  # type: ignore[arg-type]
            object.__setattr__(self, name, check(getattr(self, name), name))

    def to_json(self) -> dict[str, Any]:
        """A JSON value from which `from_json` makes an equal event."""
        body = {each.name: _to_json(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return {"event": self.kind, **body}


@cache
def _checks(kind: type[Event]) -> tuple[tuple[str, "Check"], ...]:
    """The name of each field of a kind of event, and what may be put into it."""
    return tuple((each.name, each.metadata["check"]) for each in fields(kind))  # type: ignore[arg-type]


class Leaf(Event):
    """One release; what each kind of leaf costs is written once, in `mgf.py`."""

    __slots__ = ()


# What a caller may put into a field: each check returns the value that is kept, or raises Invalid.


def _rate(value: object, name: str) -> Fraction:
    exact = probability(value, name)
    if exact == 0:
        raise Invalid(f"{name} must be greater than 0 and at most 1, got {shown(value)}")
    return exact


def _count(value: object, name: str, *, least: int = 0) -> int:
    count = whole(value, name, least=least)
    rational(count, name)  # raises for what is too long to be printed, and so to be kept by a ledger
    return count


def _in_order(value: Any, name: str) -> tuple[Any, ...]:
    """The parts of a list, a tuple or an array. Sets have no order, and the keys of a mapping are not meant."""
    if not isinstance(value, str | bytes | Set | Mapping):
        with suppress(TypeError):
            return tuple(value)
    raise Invalid(f"{name} must be in a list or a tuple, got {shown(value)}")


def _table(value: object, name: str) -> tuple[tuple[Fraction, ...], ...]:
    rows = tuple(tuple(probability(p, name) for p in _in_order(row, name)) for row in _in_order(value, name))
    if len(rows) < 2 or not rows[0] or len({len(row) for row in rows}) != 1:
        raise Invalid(f"{name} must be at least two rows of equally many probabilities")
    if any(_total(row, name) != 1 for row in rows):
        raise Invalid(f"{name} must each add up to exactly 1", hint="write probabilities as fractions or decimals")
    return rows


def _total(row: tuple[Fraction, ...], name: str) -> Fraction:
    """The sum, or Invalid before its denominator grows so long that adding up would take hours."""
    total = Fraction(0)
    for p in row:
        total = rational(total + p, name)
    return total


def _event(value: object, name: str) -> Event:
    if not isinstance(value, Event):
        raise Invalid(f"{name} must be an event, got {shown(value)}")
    return value


def _events(value: object, name: str) -> tuple[Event, ...]:
    return tuple(_event(part, f"each of {name}") for part in _in_order(value, name))


def _plain_leaf(value: object, name: str) -> Leaf:
    if not isinstance(value, Leaf) or isinstance(value, Sampled):
        raise Invalid(f"{name} must be a single leaf that is not sampled already", hint="sample each part by itself")
    return value


def _gaussian(value: object, name: str) -> object:
    if not isinstance(value, Gaussian):
        raise Invalid(f"{name} must be Gaussian noise, got {shown(value)}")
    return value


def _relation(value: object, name: str) -> Relation:
    if not isinstance(value, Relation):
        raise Invalid(f"{name} must be a Relation, got {shown(value)}")
    return value


# What a record may hold for a field: nothing but what `to_json` writes for one.

_FRACTION = re.compile(r"-?[0-9]+(/[1-9][0-9]*)?")
# Two numbers, a sign and a line; longer texts are not even looked at.
_LONGEST = 2 * len(str(1 << MAX_BITS)) + 2


def _read_fraction(value: object, name: str) -> Fraction:
    if isinstance(value, str) and len(value) <= _LONGEST and _FRACTION.fullmatch(value):
        exact = Fraction(value)
        if str(exact) == value:
            return exact
    raise Invalid(f"{name} must be a text of a fraction in lowest terms such as '1/10', got {shown(value)}")


def _read_count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid(f"{name} must be an integer, got {shown(value)}")
    return value


def _read_list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise Invalid(f"{name} must be a JSON array, got {shown(value)}")
    return value


def _read_table(value: object, name: str) -> list[list[Fraction]]:
    return [[_read_fraction(p, name) for p in _read_list(row, name)] for row in _read_list(value, name)]


def _read_events(value: object, name: str) -> list[Event]:
    return [_read_event(part, f"each of {name}") for part in _read_list(value, name)]


def _read_relation(value: object, name: str) -> Relation:
    if not isinstance(value, Mapping) or set(value) != {"adjacency", "unit"}:
        raise Invalid(f"{name} must be a JSON object of an adjacency and a unit, got {shown(value)}")
    try:
        unit = None if value["unit"] is None else Unit(value["unit"])
        return Relation(Adjacency(value["adjacency"]), unit)
    except ValueError as error:
        raise Invalid(f"{name} must name a known adjacency and unit, got {shown(value)}") from error


def _read_event(value: object, name: str) -> Event:
    if not isinstance(value, Mapping) or not isinstance(value.get("event"), str):
        raise Invalid(f"{name} must be a JSON object with the key 'event', got {shown(value)}")
    found = KINDS.get(value["event"])
    if found is None:
        raise Invalid(f"unknown event {shown(value['event'])}", code="event", hint="use a newer release to read it")
    known = {each.name: each for each in fields(found)}  # type: ignore[arg-type]
    given = {key: part for key, part in value.items() if key != "event"}
    for key in given:
        if key not in known:
            raise Invalid(f"event {found.kind!r} has no field {shown(key)}", code="event")
    for key, each in known.items():
        if key not in given and each.default is MISSING:
            raise Invalid(f"event {found.kind!r} lacks the field {key!r}", code="event")
    return found(**{key: known[key].metadata["read"](part, key) for key, part in given.items()})


# The rules: how a field is checked, and how it is read from a record.

Check: TypeAlias = Callable[[Any, str], object]
Rule: TypeAlias = dict[str, Check]
POSITIVE: Rule = {"check": positive, "read": _read_fraction}
NONNEGATIVE: Rule = {"check": nonnegative, "read": _read_fraction}
PROBABILITY: Rule = {"check": probability, "read": _read_fraction}
RATE: Rule = {"check": _rate, "read": _read_fraction}
COUNT: Rule = {"check": _count, "read": _read_count}
TWO_OR_MORE: Rule = {"check": partial(_count, least=2), "read": _read_count}
TABLE: Rule = {"check": _table, "read": _read_table}
EVENT: Rule = {"check": _event, "read": _read_event}
EVENTS: Rule = {"check": _events, "read": _read_events}
GAUSSIAN: Rule = {"check": _gaussian, "read": _read_event}
PLAIN_LEAF: Rule = {"check": _plain_leaf, "read": _read_event}
RELATION: Rule = {"check": _relation, "read": _read_relation}


@frozen
class Laplace(Leaf):
    """Continuous Laplace noise of a scale on a value of an L1 sensitivity."""

    kind: ClassVar[str] = "laplace"
    scale: Exact = field(metadata=POSITIVE)
    sensitivity: Exact = field(default=otherwise(Fraction(1)), metadata=NONNEGATIVE)


@frozen
class DiscreteLaplace(Leaf):
    """Discrete Laplace (two-sided geometric) noise of a scale on an integer of an integer sensitivity."""

    kind: ClassVar[str] = "discrete-laplace"
    scale: Exact = field(metadata=POSITIVE)
    sensitivity: int = field(default=1, metadata=COUNT)


@frozen
class Gaussian(Leaf):
    """Continuous Gaussian noise of a standard deviation on a vector of an L2 sensitivity."""

    kind: ClassVar[str] = "gaussian"
    scale: Exact = field(metadata=POSITIVE)
    sensitivity: Exact = field(default=otherwise(Fraction(1)), metadata=NONNEGATIVE)


@frozen
class DiscreteGaussian(Leaf):
    """Discrete Gaussian noise of a scale on one integer of an integer sensitivity.

    Vectors are not rotation-invariant: a shift (d_1, …, d_m) is the composition of one such event per coordinate.
    """

    kind: ClassVar[str] = "discrete-gaussian"
    scale: Exact = field(metadata=POSITIVE)
    sensitivity: int = field(default=1, metadata=COUNT)


@frozen
class RandomizedResponse(Leaf):
    """k-ary randomized response: the truth with probability e^epsilon/(e^epsilon + k − 1), else one of the others."""

    kind: ClassVar[str] = "randomized-response"
    epsilon: Exact = field(metadata=NONNEGATIVE)
    k: int = field(default=2, metadata=TWO_OR_MORE)


@frozen
class Pure(Leaf):
    """Something epsilon-DP of which nothing else is known."""

    kind: ClassVar[str] = "pure"
    epsilon: Exact = field(metadata=NONNEGATIVE)


@frozen
class Approximate(Leaf):
    """Something (epsilon, delta)-DP of which nothing else is known."""

    kind: ClassVar[str] = "approximate"
    epsilon: Exact = field(metadata=NONNEGATIVE)
    delta: Exact = field(metadata=PROBABILITY)


@frozen
class ZeroConcentrated(Leaf):
    """Something rho-zCDP of which nothing else is known; it has no dominating pair."""

    kind: ClassVar[str] = "zcdp"
    rho: Exact = field(metadata=NONNEGATIVE)


@frozen
class FiniteTable(Leaf):
    """A mechanism with finitely many inputs and outputs: rows[x][y] = Pr[y | x]; any two inputs are neighbours."""

    kind: ClassVar[str] = "finite-table"
    rows: Held[Sequence[Sequence[Number]], tuple[tuple[Fraction, ...], ...]] = field(metadata=TABLE)


@frozen
class Sampled(Leaf):
    """A leaf that sees each unit with probability `rate`, independently and anew (Poisson sampling); add/remove only."""

    kind: ClassVar[str] = "sampled"
    rate: Exact = field(metadata=RATE)
    part: Leaf = field(metadata=PLAIN_LEAF)


@frozen
class SampledGroup(Leaf):
    """Gaussian noise that sees each of `size` units with probability `rate`, as these units together see it; add/remove only."""

    kind: ClassVar[str] = "sampled-group"
    rate: Exact = field(metadata=RATE)
    part: Gaussian = field(metadata=GAUSSIAN)
    size: int = field(metadata=TWO_OR_MORE)


@frozen
class Composed(Event):
    """All parts, each possibly chosen after seeing the results of the ones before."""

    kind: ClassVar[str] = "composed"
    parts: Held[Sequence[Event], tuple[Event, ...]] = field(metadata=EVENTS)


@frozen
class Repeated(Event):
    """One event, `times` times."""

    kind: ClassVar[str] = "repeated"
    part: Event = field(metadata=EVENT)
    times: int = field(metadata=COUNT)


@frozen
class Under(Event):
    """An event whose sensitivities were computed under a neighbour relation."""

    kind: ClassVar[str] = "under"
    part: Event = field(metadata=EVENT)
    relation: Relation = field(metadata=RELATION)


def _to_json(value: object) -> Any:
    match value:
        case Event():
            return value.to_json()
        case Fraction():
            return str(value)
        case tuple():
            return [_to_json(part) for part in value]
        case Relation():
            return {"adjacency": value.adjacency.value, "unit": value.unit and value.unit.value}
        case _:
            return value


def from_json(value: object) -> Event:
    """The event that `to_json` wrote. For anything else raises Invalid; nothing is guessed.

    >>> from_json({"event": "laplace", "scale": "1/10"})
    Laplace(scale=Fraction(1, 10), sensitivity=Fraction(1, 1))
    """
    try:
        return _read_event(value, "event")
    except RecursionError as error:
        raise Invalid("event has too many parts inside parts", code="event") from error


def __dir__() -> list[str]:
    return sorted(__all__)
