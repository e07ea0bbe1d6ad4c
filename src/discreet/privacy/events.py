"""Events: what was drawn, told so that its cost can be computed by anyone, at any later time.

A leaf names one release by one mechanism; Composed, Repeated, Sampled and Under put leaves together. Events are values: frozen, comparable,
and the same after a trip through JSON. They say what happened, never what it cost.

Rules of evolution, since ledgers keep events for ever:
1. The meaning of an event's name and fields never changes. A new meaning gets a new name.
2. Fields may be added to an event only with a default that keeps old records meaning what they meant.
3. A name is never removed or used again. A reader that meets an unknown name or field refuses.
4. Numbers are written as exact fractions ("1/10"), never as floats.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import Invalid
from discreet.exact import nonnegative, positive, probability, shown, whole
from discreet.privacy.adjacency import Adjacency, Relation, Unit

KINDS: dict[str, type["Event"]] = {}


class Event:
    """The root of all events."""

    __slots__ = ()
    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            KINDS[cls.kind] = cls  # the second time for the class that dataclass makes anew with its slots

    def to_json(self) -> dict[str, Any]:
        """A JSON value from which `from_json` makes an equal event."""
        body = {field.name: _to_json(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]
        return {"event": self.kind, **body}


class Leaf(Event):
    """One release; the loss of each kind of leaf is written once, in `mgf.py`."""

    __slots__ = ()


def _exact(event: Event, name: str, check: Any, **limits: int) -> None:
    """Replace a caller's number by the exact value it means."""
    object.__setattr__(event, name, check(getattr(event, name), name, **limits))


def _rate(value: object, name: str) -> Fraction:
    exact = probability(value, name)
    if exact == 0:
        raise Invalid(f"{name} must be greater than 0 and at most 1, got {shown(value)}")
    return exact


@dataclass(frozen=True, slots=True)
class Laplace(Leaf):
    """Continuous Laplace noise of a scale on a value of an L1 sensitivity."""

    kind: ClassVar[str] = "laplace"
    scale: Fraction
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        _exact(self, "scale", positive)
        _exact(self, "sensitivity", nonnegative)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Leaf):
    """Discrete Laplace (two-sided geometric) noise of a scale on an integer of an integer sensitivity."""

    kind: ClassVar[str] = "discrete-laplace"
    scale: Fraction
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _exact(self, "scale", positive)
        _exact(self, "sensitivity", whole, least=0)


@dataclass(frozen=True, slots=True)
class Gaussian(Leaf):
    """Continuous Gaussian noise of a standard deviation on a vector of an L2 sensitivity."""

    kind: ClassVar[str] = "gaussian"
    scale: Fraction
    sensitivity: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        _exact(self, "scale", positive)
        _exact(self, "sensitivity", nonnegative)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Leaf):
    """Discrete Gaussian noise of a scale on one integer of an integer sensitivity.

    Vectors are not rotation-invariant: a shift (d_1, …, d_m) is the composition of one such event per coordinate.
    """

    kind: ClassVar[str] = "discrete-gaussian"
    scale: Fraction
    sensitivity: int = 1

    def __post_init__(self) -> None:
        _exact(self, "scale", positive)
        _exact(self, "sensitivity", whole, least=0)


@dataclass(frozen=True, slots=True)
class RandomizedResponse(Leaf):
    """k-ary randomized response: the truth with probability e^epsilon/(e^epsilon + k − 1), else one of the others."""

    kind: ClassVar[str] = "randomized-response"
    epsilon: Fraction
    k: int = 2

    def __post_init__(self) -> None:
        _exact(self, "epsilon", nonnegative)
        _exact(self, "k", whole, least=2)


@dataclass(frozen=True, slots=True)
class Pure(Leaf):
    """Something epsilon-DP of which nothing else is known."""

    kind: ClassVar[str] = "pure"
    epsilon: Fraction

    def __post_init__(self) -> None:
        _exact(self, "epsilon", nonnegative)


@dataclass(frozen=True, slots=True)
class Approximate(Leaf):
    """Something (epsilon, delta)-DP of which nothing else is known."""

    kind: ClassVar[str] = "approximate"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        _exact(self, "epsilon", nonnegative)
        _exact(self, "delta", probability)


@dataclass(frozen=True, slots=True)
class ZeroConcentrated(Leaf):
    """Something rho-zCDP of which nothing else is known; it has no dominating pair."""

    kind: ClassVar[str] = "zcdp"
    rho: Fraction

    def __post_init__(self) -> None:
        _exact(self, "rho", nonnegative)


@dataclass(frozen=True, slots=True)
class FiniteTable(Leaf):
    """A mechanism with finitely many inputs and outputs: rows[x][y] = Pr[y | x]; any two inputs are neighbours."""

    kind: ClassVar[str] = "finite-table"
    rows: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        try:
            rows = tuple(tuple(probability(p, "rows") for p in row) for row in self.rows)
        except TypeError as error:
            raise Invalid(f"rows must be rows of probabilities, got {shown(self.rows)}") from error
        if len(rows) < 2 or not rows[0] or len({len(row) for row in rows}) != 1:
            raise Invalid("rows must be at least two rows of equally many probabilities")
        if any(sum(row) != 1 for row in rows):
            raise Invalid("rows must each add up to exactly 1", hint="write probabilities as fractions or decimals")
        object.__setattr__(self, "rows", rows)


@dataclass(frozen=True, slots=True)
class Sampled(Leaf):
    """A leaf that sees each unit with probability `rate`, independently and anew (Poisson sampling); add/remove only."""

    kind: ClassVar[str] = "sampled"
    rate: Fraction
    part: Leaf

    def __post_init__(self) -> None:
        _exact(self, "rate", _rate)
        if not isinstance(self.part, Leaf) or isinstance(self.part, Sampled):
            raise Invalid("part must be a single leaf that is not sampled already", hint="sample each part by itself")


@dataclass(frozen=True, slots=True)
class Composed(Event):
    """All parts, each possibly chosen after seeing the results of the ones before."""

    kind: ClassVar[str] = "composed"
    parts: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not all(isinstance(part, Event) for part in self.parts):
            raise Invalid("parts must be events")


@dataclass(frozen=True, slots=True)
class Repeated(Event):
    """One event, `times` times."""

    kind: ClassVar[str] = "repeated"
    part: Event
    times: int

    def __post_init__(self) -> None:
        _exact(self, "times", whole, least=0)
        if not isinstance(self.part, Event):
            raise Invalid("part must be an event")


@dataclass(frozen=True, slots=True)
class Under(Event):
    """An event whose sensitivities were computed under a neighbour relation."""

    kind: ClassVar[str] = "under"
    part: Event
    relation: Relation


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
    """The event that `to_json` wrote. For anything else raises Invalid; nothing is guessed."""
    if not isinstance(value, Mapping) or not isinstance(value.get("event"), str):
        raise Invalid("an event must be a JSON object with the key 'event'")
    found = KINDS.get(value["event"])
    if found is None:
        raise Invalid(f"unknown event {shown(value['event'])}", code="event", hint="use a newer release to read it")
    known = {field.name: field for field in fields(found)}  # type: ignore[arg-type]
    given = {name: part for name, part in value.items() if name != "event"}
    if strange := sorted(set(given) - set(known)):
        raise Invalid(f"event {found.kind!r} has no field {shown(strange[0])}", code="event")
    for name, field in known.items():
        if name not in given and field.default is MISSING:
            raise Invalid(f"event {found.kind!r} lacks the field {name!r}", code="event")
    return found(**{name: _from_json(name, part) for name, part in given.items()})


def _from_json(name: str, value: object) -> Any:
    if name == "relation":
        return _relation(value)
    match value:
        case Mapping():
            return from_json(value)
        case str():
            try:
                return Fraction(value)
            except (ValueError, ZeroDivisionError) as error:
                raise Invalid(f"{name} must be a fraction such as '1/10', got {shown(value)}") from error
        case list():
            return tuple(_from_json(name, part) for part in value)
        case _:
            return value


def _relation(value: object) -> Relation:
    try:
        unit = value["unit"]  # type: ignore[index]
        return Relation(Adjacency(value["adjacency"]), None if unit is None else Unit(unit))  # type: ignore[index]
    except (TypeError, KeyError, ValueError) as error:
        raise Invalid(f"relation must name an adjacency and a unit, got {shown(value)}") from error
