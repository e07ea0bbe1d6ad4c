"""Frozen records, and fields that take one thing and hold another: a number of any kind, and the exact fraction that it means.

A class that adds fields is `@frozen`; one that adds none says `__slots__ = ()` and inherits everything. Type checkers see a `Held` field as
a descriptor: the constructor takes what may be set, and reading gives what is held. In the program there is no descriptor: the record's
own `__post_init__` replaces what was taken.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, dataclass_transform

from discreet.exact import Number

Record = TypeVar("Record")
Taken = TypeVar("Taken")
Kept = TypeVar("Kept")


# A transform of its own: for type checkers a field of a plain data class without a default is no descriptor.
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[Record]) -> type[Record]:
    """A frozen data class with slots; a `__repr__` that it inherits stays.

    >>> @frozen
    ... class Noise:
    ...     scale: Exact
    >>> Noise(2)
    Noise(scale=2)
    """
    return dataclass(frozen=True, slots=True, repr=kind.__repr__ is object.__repr__)(kind)


if TYPE_CHECKING:

    class Held(Generic[Taken, Kept]):
        """A field that takes the first and holds the second."""

        def __get__(self, record: object, kind: type | None = None) -> Kept: ...
        def __set__(self, record: object, value: Taken) -> None: ...

    Exact: TypeAlias = Held[Number, Fraction]

else:

    class Held:
        """A field that takes the first and holds the second; its annotation is what the constructor takes."""

        def __class_getitem__(cls, types: tuple[Any, Any]) -> Any:
            return types[0]

    Exact = Held[Number, Fraction]


def otherwise(value: object) -> Any:
    """The default of a `Held` field, which type checkers would compare with the field instead of with what it takes."""
    return value
