"""What every mechanism is: parameters, what it costs, what it does, and how far off it may be.

A mechanism is a frozen value. Its cost is derived from its own parameters, never declared beside them: `event` says what is
drawn, `loss` what that costs. Calling it draws from a `Source` and releases. Each kind registers itself with examples, and the
contract suite runs over all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown
from discreet.noise import Source
from discreet.privacy import PrivacyLoss, events, loss

LONG = 10**6  # no numerator or denominator from here on is written out


class Mechanism(ABC):
    """Parameters, cost, release, error."""

    __slots__ = ()

    @abstractmethod
    def event(self, sensitivity: Number = 1) -> events.Event:
        """What is drawn, for a value that one unit can change by at most `sensitivity`."""

    def loss(self, sensitivity: Number = 1) -> PrivacyLoss:
        """What that costs."""
        return loss(self.event(sensitivity))

    @abstractmethod
    def __call__(self, exact: Any, source: Source | None = None) -> Any:
        """The private release of an exact value."""

    @abstractmethod
    def error(self, confidence: Number = 0.95) -> float:
        """± of one answer: the truth is within it with at least this probability, for the noise alone."""

    def _arguments(self) -> dict[str, object]:
        """What the mechanism was made of, without what stands at its default."""
        if not is_dataclass(self):
            return {}
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    def __repr__(self) -> str:
        """The mechanism as a caller would write it; a number too long for that is said to be near one (≈)."""
        return f"{type(self).__name__}({', '.join(_written(*each) for each in self._arguments().items())})"


@dataclass(frozen=True, slots=True)
class Example:
    """One setting of a mechanism for the contract suite: two neighbouring inputs, and how much they differ by."""

    mechanism: Mechanism
    sensitivity: Any
    x: Any
    y: Any


def _written(name: str, value: object) -> str:
    if isinstance(value, tuple):
        texts = [_number(each) for each in value]
        return f"{name}{_sign(texts)}({', '.join(text.lstrip('≈') for text in texts)}{',' if len(texts) == 1 else ''})"
    text = _number(value)
    return f"{name}{_sign([text])}{text.lstrip('≈')}"


def _sign(texts: list[str]) -> str:
    return "≈" if any(text.startswith("≈") for text in texts) else "="


def _number(value: object) -> str:
    """A fraction as the short decimal that it is, or as a short fraction, or else as a decimal near it, with ≈ before it."""
    if not isinstance(value, Fraction):
        return shown(value)
    if value.denominator == 1 and abs(value) < LONG:
        return str(value)
    try:
        near = float(value)
    except OverflowError:
        return shown(value)
    if Fraction(repr(near)) == value:
        return repr(near)
    return repr(value) if max(abs(value.numerator), value.denominator) < LONG else f"≈{near:.9g}"


Kind = TypeVar("Kind", bound=type[Mechanism])


class Registry:
    """Every kind of mechanism, with its examples."""

    def __init__(self) -> None:
        self._examples: dict[str, Callable[[], list[Example]]] = {}

    def add(self, examples: Callable[[], list[Example]]) -> Callable[[Kind], Kind]:
        """A decorator: the class registers itself under its name."""

        def register(kind: Kind) -> Kind:
            self._examples[kind.__name__] = examples
            return kind

        return register

    def names(self) -> list[str]:
        """All of them: every module of mechanisms is loaded first."""
        package = __name__.rpartition(".")[0]
        for module in iter_modules(import_module(package).__path__):
            import_module(f"{package}.{module.name}")
        return sorted(self._examples)

    def examples(self, name: str) -> list[Example]:
        self.names()
        return self._examples[name]()


registry = Registry()


def confidence_level(value: object) -> float:
    """A confidence strictly between 0 and 1."""
    exact = rational(value, "confidence")
    if not 0 < exact < 1:
        raise Invalid(f"confidence must lie between 0 and 1, got {shown(value)}")
    return min(float(exact), 1 - 2**-53)  # as much as a float can say


def half_width(tail: Callable[[int], float], confidence: float, near: int = 0) -> int:
    """The least integer w with Pr[|noise| > w] <= 1 − confidence, for a tail that falls; it is soon found `near` a guess."""
    step = 1
    while tail(near + step) > 1 - confidence:
        step *= 2
    high = near + step
    low = near - 1 if step > 1 or tail(near - 1) > 1 - confidence else -1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(middle) > 1 - confidence else (low, middle)
    return high
