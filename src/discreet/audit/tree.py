"""Programs over coins: every string of random bits that they can read, and so the exact law of what they give.

`Coins` is a source that branches at each bit. Many bits at once (a word of 64) would be too many branches, so they are handed out as a
`Word`: a uniform integer that is not decided yet. It is decided as far as the program looks: a comparison with a number splits the
integers that it may still be in two, each side with its exact probability; where the program needs the integer itself, all that are left
are branched over, if they are not too many. Whole arrays (`fill`) are branched over byte by byte; longer
ones are refused, since a program may do anything with them.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.law import Bracket, Law
from discreet.audit.walk import RUNS, Walk, walked
from discreet.errors import Invalid
from discreet.exact import divide_up, shown, whole

__all__ = ["Coins", "Program", "Word"]

MOST_VALUES = 1 << 12
"""That a word may still have when the program needs its value."""

MOST_BYTES = 2
"""Of an array that is filled."""


@dataclass(slots=True)
class _Range:
    """A uniform integer from `low` to `high` − 1, of which no more is decided yet."""

    low: int
    high: int
    merged: bool = False


class Word:
    """A multiple of a uniform integer, and a number more: decided only as far as the program looks.

    It can be compared with integers, shifted to the left, added to and multiplied with positive integers, and put below another word; for
    everything else it becomes an integer.
    """

    __slots__ = ("_more", "_range", "_times", "_walk")

    def __init__(self, walk: Walk, range_: _Range, times: int = 1, more: int = 0) -> None:
        self._walk, self._range, self._times, self._more = walk, range_, times, more

    def _split(self, cut: int) -> bool:
        """Whether the uniform integer is below the cut."""
        bounds = self._open()
        if cut <= bounds.low:
            return False
        if cut >= bounds.high:
            return True
        size = bounds.high - bounds.low
        below, above = Fraction(cut - bounds.low, size), Fraction(bounds.high - cut, size)
        label = ("word", bounds.low, bounds.high, cut)
        if self._walk.choose(label, [Bracket(below, below), Bracket(above, above)]) == 0:
            bounds.high = cut
            return True
        bounds.low = cut
        return False

    def _open(self) -> _Range:
        if self._range.merged:
            raise Invalid("a word of random bits was put into a longer one, and used again by itself")
        return self._range

    def __index__(self) -> int:
        bounds = self._open()
        size = bounds.high - bounds.low
        if size > MOST_VALUES:
            raise Invalid(
                f"the program needs the value of a word of random bits that has more than {MOST_VALUES} values left",
                hint="compare words with numbers, or read fewer bits at a time",
            )
        if size > 1:
            each = Fraction(1, size)
            taken = self._walk.choose(("value", bounds.low, bounds.high), [Bracket(each, each)] * size)
            bounds.low += taken
            bounds.high = bounds.low + 1
        return self._times * bounds.low + self._more

    __int__ = __index__

    def __hash__(self) -> int:
        return hash(self.__index__())

    # Comparisons: with value = times·u + more and times > 0, value < x is u < ⌈(x − more)/times⌉.

    def __lt__(self, other: int) -> bool:
        return self._split(divide_up(int(other) - self._more, self._times))

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __le__(self, other: int) -> bool:
        return self < int(other) + 1

    def __gt__(self, other: int) -> bool:
        return not self <= other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Word):
            return self is other or int(self) == int(other)
        return isinstance(other, int | np.integer) and self <= int(other) and self >= int(other)

    def __bool__(self) -> bool:
        return self != 0

    # What leaves it undecided.

    def __add__(self, other: int) -> "Word":
        return Word(self._walk, self._open(), self._times, self._more + int(other))

    __radd__ = __add__

    def __sub__(self, other: int) -> "Word":
        return self + -int(other)

    def __rsub__(self, other: int) -> int:
        return other - int(self)

    def __neg__(self) -> int:
        return -int(self)

    def __mul__(self, by: int) -> "int | Word":
        if int(by) < 1:
            return int(self) * int(by)
        return Word(self._walk, self._open(), self._times * int(by), self._more * int(by))

    __rmul__ = __mul__

    def __lshift__(self, bits: int) -> "Word":
        return Word(self._walk, self._open(), self._times << bits, self._more << bits)

    def __or__(self, other: "int | Word") -> "int | Word":
        """Bits put below a word that was shifted by as many, or a word below the zeros of a number; what overlaps is decided."""
        if isinstance(other, Word):
            return other._below(self)
        bounds = self._open()
        most = self._times * (bounds.high - 1) + self._more
        if self._more < 0 or other < 0 or other & ((1 << most.bit_length()) - 1):
            return int(self) | other
        return self + other

    __ror__ = __or__

    def _below(self, upper: "Word") -> "int | Word":
        """Both as one uniform integer, where neither may be used by itself any more; a decided one where they do not fit together."""
        mine, theirs = self._open(), upper._open()
        if (self._times, self._more, mine.low) != (1, 0, 0) or upper._times != mine.high or upper._more % mine.high:
            return int(upper) | int(self)
        merged = _Range(theirs.low * mine.high, theirs.high * mine.high)
        mine.merged = theirs.merged = True
        return Word(self._walk, merged, 1, upper._more)

    # What decides it.

    def __and__(self, other: int) -> int:
        return int(self) & other

    __rand__ = __and__

    def __xor__(self, other: int) -> int:
        return int(self) ^ other

    __rxor__ = __xor__

    def __rshift__(self, bits: int) -> int:
        return int(self) >> bits

    def __mod__(self, by: int) -> int:
        return int(self) % by

    def __floordiv__(self, by: int) -> int:
        return int(self) // by

    def __truediv__(self, by: int) -> float:
        return int(self) / by

    def __repr__(self) -> str:
        return "Word(undecided)"


@dataclass(slots=True)
class Coins:
    """A source whose bits are branched over; nothing drawn from it is private."""

    walk: Walk
    stock: dict[Hashable, Any] = field(default_factory=dict)
    private: bool = False

    def bits(self, count: int) -> Any:
        """A uniform integer below 2^count: an int of one bit, a `Word` of several."""
        word = Word(self.walk, _Range(0, 1 << count))
        return word if count > 1 else int(word)

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite an array of very few bytes, each of which is branched over; a longer one is Invalid."""
        if out.size > MOST_BYTES:
            raise Invalid(
                f"the program fills {out.size} bytes at once, which are too many to follow all of them",
                hint="draw single values: they read their bits one after the other",
            )
        for at in range(out.size):
            out[at] = int(self.bits(8))


@dataclass(frozen=True, slots=True)
class Program:
    """A program over coins, `program(data, source)`, whose law is found by walking all coins that it can toss.

    Everything else in it must be determined by its data. After `runs` ways to an end the rest is left open, which makes brackets wider.

    >>> def toss(bit, source):
    ...     return source.bits(1) if source.bits(1) else bit
    >>> str(Program(toss).law(1).chance(1))
    '3/4'
    """

    function: Callable[[Any, Any], Any]
    runs: int = RUNS

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise Invalid(f"a program must be callable, got {shown(self.function)}")
        whole(self.runs, "runs", least=1)

    def law(self, data: Any) -> Law:
        """The law of what the program gives for these data."""
        return walked(lambda walk: outcome_of(self.function(data, Coins(walk))), self.runs)

    def laws(self, x: Any, y: Any) -> tuple[Law, Law]:
        """The laws for two data sets."""
        return self.law(x), self.law(y)


def outcome_of(value: Any) -> Hashable:
    """What a program gave, as something that can be compared: arrays and lists become tuples, words become integers."""
    match value:
        case Word():
            return int(value)
        case np.generic():
            return outcome_of(value.item())
        case np.ndarray():
            return tuple(outcome_of(each) for each in value) if value.ndim else outcome_of(value.item())
        case list() | tuple():
            return tuple(outcome_of(each) for each in value)
        case dict():
            return tuple((outcome_of(key), outcome_of(each)) for key, each in value.items())
        case set() | frozenset():
            return frozenset(outcome_of(each) for each in value)
        case Hashable():
            return value
        case _:
            raise Invalid(f"a program must give something that can be compared, got a {type(value).__name__}")


def __dir__() -> list[str]:
    return sorted(__all__)
