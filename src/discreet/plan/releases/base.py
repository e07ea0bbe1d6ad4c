"""What every kind of release is: how a question asks for it, and what is made of its measurements.

    SQL name ── Kind.read ── Aggregate ── Kind.planned ── Release ── values, intervals
                 (a Call)    (a question)   (Terms)         (a plan)

A *kind* is what can be asked for; it is a frozen value, with fields where there are several of it, such as the order of a quantile. A
*release* is one aggregate of a finished plan: the places of its measurements, and public numbers. What is measured is integers, with
noise: which terms an engine sums, how far a neighbour moves them, what noise they get and what that costs follows from the terms, by
the same rules for all kinds (`terms`, `rules.relations`, `noise`, `check`). What is made of released integers is a kind's own.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from discreet.errors import Fault, QueryError
from discreet.plan.question import Aggregate
from discreet.plan.scalar import Column, Literal, Pair, Scalar, Type, Value

if TYPE_CHECKING:
    from discreet.plan.affine import AffineForm, Span
    from discreet.plan.derived.statistics import TakenOver
    from discreet.plan.forms import Reader
    from discreet.plan.interval import IntervalColumn
    from discreet.plan.plan import Plan, Stage
    from discreet.plan.releases.terms import MeasuredTerms

Number = int | float


class Call(Protocol):
    """A call of an aggregate in the text of a question, as its kind reads it. What is asked for and not read is refused."""

    @property
    def name(self) -> str:
        """The name that it is called by, in capitals."""

    @property
    def size(self) -> int:
        """How many arguments there are."""

    @property
    def rows(self) -> bool:
        """Whether it is of whole rows: of * or of nothing."""

    @property
    def distinct(self) -> bool:
        """Whether it is of DISTINCT values."""

    @property
    def ordered(self) -> bool:
        """Whether it is of what WITHIN GROUP orders by, which then is the first argument."""

    @property
    def descending(self) -> bool:
        """Whether that falls."""

    @property
    def person(self) -> str | None:
        """The column that says who a person is."""

    @property
    def condition(self) -> Scalar | None:
        """The condition of FILTER."""

    def scalar(self, at: int = 0) -> Scalar:
        """An argument; of DISTINCT values the only one."""

    def number(self, at: int = 0) -> Scalar:
        """An argument that is a number, and not DISTINCT; a flag is 1 or 0."""

    def truth(self, at: int = 0) -> Scalar:
        """An argument that is a condition."""

    def refusal(self, code: str, message: str, hint: str) -> QueryError:
        """The error to raise, with a caret under the call."""

    def not_distinct(self) -> QueryError:
        """The error to raise where DISTINCT values cannot be counted."""

    def mismatch(self, message: str) -> Exception:
        """The error to raise where an argument has another type than is needed."""


class Kind(ABC):
    """What can be asked for. Subclasses are frozen data classes."""

    __slots__ = ()

    name: ClassVar[str]
    """In the names of plans, for good; behind it stand the fields, if there are any."""

    calls: ClassVar[tuple[str, ...]] = ()
    """The SQL functions that `read` reads, in capitals."""

    word: ClassVar[str]
    """What it is called in explanations."""

    heading: ClassVar[str]
    """What a column of an answer is called that has no name of its own; behind it stands the column that it is of."""

    arguments: ClassVar[int] = 1
    """How many numbers of a row it is of."""

    of_all: ClassVar[bool] = False
    """Whether it counts all rows, or all people, where it has no argument and no condition."""

    of_truths: ClassVar[bool] = False
    """Whether its argument is a condition, and no number."""

    counting: ClassVar[bool] = False
    """Whether it counts rows or people: all that it measures are counts."""

    beside: ClassVar[bool] = False
    """Whether it is read beside the totals, and adds no term to them."""

    valued: ClassVar[bool] = False
    """Whether it is one of the known values of its argument, and no number: it is shown and ordered by as it is, and nothing else."""

    evenly: ClassVar[str] = ""
    """The SQL function of the same in which everybody weighs the same, however many rows they have; empty where there is none."""

    centred: ClassVar[bool] = False
    """Whether it measures the sum of its argument around the middle of its bounds, and the count of that: what SUM is made of, too."""

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        """The aggregate that a call asks for, of this kind or of a sister; or raises QueryError."""
        raise Fault(f"{cls.__name__} cannot be called", code="release")

    @classmethod
    def example(cls, name: str, *arguments: str) -> str:
        """A call by one of its names, as SQL writes it; arguments beyond those that it is of are left out."""
        return f"{name}({', '.join(arguments[: cls.arguments])})"

    @abstractmethod
    def planned(self, aggregate: Aggregate, terms: "MeasuredTerms") -> "Release":
        """How an aggregate is made of measurements, which are added to the terms where they are new; or raises QueryError."""

    def type_of(self, aggregate: Aggregate) -> Type:
        """The type of what is released."""
        return Type.NUMBER

    def said(self, inside: str) -> str:
        """The aggregate of what is written inside, for people."""
        return f"{self.word}({inside})"

    def headed(self, aggregate: Aggregate) -> str:
        """The name of a column of an answer."""
        match aggregate.argument:
            case Column(name=name):
                return f"{self.heading}_{name}"
            case Pair(left=Column(name=first), right=Column(name=second)):
                return f"{self.heading}_{first}_{second}"
        return self.heading

    def advice(self, aggregate: Aggregate, beside: tuple[Aggregate, ...], stage: "Stage") -> list[str]:
        """What would have cost less, in words: an aggregate of this kind beside all others of its question, as they are measured."""
        return []

    def following(self, aggregate: Aggregate, taken: "TakenOver") -> "Release | None":
        """An aggregate as it is made of sums of what another answer told, whose places are taken over; None where it is not."""
        return None

    def part_of(self, some: Aggregate, whole: Aggregate) -> bool:
        """Whether whatever `some`, of this kind, counts is surely counted by `whole`, so that their ratio is at most 1."""
        return False


class Release(ABC):
    """One aggregate of a finished plan. Subclasses are frozen data classes, of places of measurements and of public numbers."""

    __slots__ = ()

    notation: ClassVar[str]
    """In the names of plans, for good: a name, and all fields, in their order."""

    unknown: ClassVar[str | None] = None
    """What is said where its interval has no end; None where nothing can be said but that it is divided by too little."""

    few: ClassVar[str | None] = None
    """What is said where it is NULL; None where that can only be for being of too few."""

    ahead: ClassVar[str | None] = None
    """Why no ± of it is told before anything is measured, whatever is declared; None where one is."""

    of_totals: ClassVar[bool] = False
    """Whether it is a total, or a ratio of totals, so that second moments of these tell how it varies with the people who were sampled."""

    parts: ClassVar[int] = 1
    """How many intervals of its own `span` asks for: each gets its share of what may be missed."""

    @property
    @abstractmethod
    def places(self) -> tuple[int, ...]:
        """The measurements that it is made of."""

    @property
    def readings(self) -> tuple[int, ...]:
        """The readings beside the measurements that it is made of."""
        return ()

    @property
    def shift(self) -> Fraction:
        """What each row adds besides to what its first measurement says of it."""
        return Fraction(0)

    @property
    def counted(self) -> Mapping[int, int]:
        """For each measurement whose rows another one counts, the place of that."""
        return {}

    @abstractmethod
    def values(self, plan: "Plan", released: Sequence[Sequence[int]]) -> Sequence[Value]:
        """For each group its value, from what was released for each measurement, and behind those for each column of each reading; NULL
        where it is of too few."""

    def exactly(
        self, plan: "Plan", totals: Sequence[Sequence[int]], beyond: Sequence[Fraction]
    ) -> list[Fraction | None]:
        """For each group its value from exact totals and what its values are beyond their bounds; for the owner's eyes alone."""
        (place,) = self.places
        step = plan.measurements[place].step
        return [step * int(total) + more for total, more in zip(totals[place], beyond, strict=True)]

    def evenly(self, plan: "Plan") -> Mapping[int, Fraction]:
        """For what is told of it before anything is measured: what a row gives to each measurement, in its steps, if values are spread
        evenly between their bounds; empty where the ends of the bounds tell enough."""
        return {}

    def whole(self, plan: "Plan") -> bool:
        """Whether it is a whole number, whatever is released, and nothing of it was rounded."""
        return False

    def never_negative(self, plan: "Plan") -> bool:
        """Whether the truth is surely 0 or more."""
        return False

    def error(self, plan: "Plan", confidence: float) -> Number | None:
        """Its ±, where that is the same whatever is released, and exact; None where `form` or `span` tells it."""
        return None

    def form(self, reader: "Reader") -> "AffineForm | None":
        """The truth as a ratio of affine functions of the measurements; None where it is something else, which `span` tells."""
        return None

    def span(self, reader: "Reader", confidence: float) -> "Span | None":
        """The span that the truth lies in: for what has no form, made of intervals of `parts` forms, each with this confidence."""
        return None

    def read_back(
        self, plan: "Plan", values: Sequence[Value], known: Mapping[int, Sequence[int | None]]
    ) -> Mapping[int, Sequence[int | None]]:
        """What its values tell of its measurements, by their places: for each value an integer, or None; `known` is what others told.
        Nothing of what is shown rounded."""
        return {}

    def told_before(self, reader: "Reader") -> "IntervalColumn | None":
        """Its intervals where they were told already, of what follows from another answer; None: they are made."""
        return None


class ReadRelease(Release):
    """A release that is made of one reading, and of no measurement."""

    __slots__ = ()

    reading: int
    """The place of it."""

    @property
    def places(self) -> tuple[int, ...]:
        return ()

    @property
    def readings(self) -> tuple[int, ...]:
        return (self.reading,)


K = TypeVar("K", bound=type[Kind])


class KindRegistry:
    """Every kind that can be called, by its SQL names. It is filled by the files of this folder, each of which adds its own."""

    def __init__(self) -> None:
        self._kinds: dict[str, type[Kind]] = {}
        self._loaded = False

    def add(self, kind: K) -> K:
        """A decorator: the class can be called by its names from now on."""
        for name in kind.calls:
            if self._kinds.setdefault(name, kind) is not kind:
                raise Fault(f"two kinds of release are called {name}", code="release")
        return kind

    def remove(self, kind: type[Kind]) -> None:
        """The class cannot be called any more."""
        self._kinds = {name: each for name, each in self._kinds.items() if each is not kind}

    def named(self, name: str) -> type[Kind] | None:
        """The kind that a SQL function, in capitals, asks for."""
        return self._all().get(name)

    def names(self) -> list[str]:
        """All SQL functions that ask for a release."""
        return sorted(self._all())

    def _all(self) -> dict[str, type[Kind]]:
        if not self._loaded:
            package = __name__.rpartition(".")[0]
            for module in iter_modules(import_module(package).__path__):
                import_module(f"{package}.{module.name}")
            self._loaded = True
        return self._kinds


registry = KindRegistry()


def of_one_number(kind: Kind, call: Call) -> Aggregate:
    """The aggregate of one number in each row."""
    return Aggregate(kind, _number(call, 0), call.condition)


def of_two_numbers(kind: Kind, call: Call) -> Aggregate:
    """The aggregate of a pair of numbers in each row."""
    if call.size == 1 and not call.distinct:
        raise call.refusal("function", f"{call.name} has two arguments", f"write {call.name}(y, x)")
    return Aggregate(kind, Pair(_number(call, 0), _number(call, 1)), call.condition)


def _number(call: Call, at: int) -> Scalar:
    argument = call.number(at)
    if isinstance(argument, Literal) and argument.value is None:
        raise call.mismatch("NULL alone cannot be summed")
    return argument
