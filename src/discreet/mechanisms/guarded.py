"""Exact values that nobody can look at but a draw: whoever holds one can hand it to a grant, and learn nothing else from it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, NoReturn, TypeVar

from discreet.errors import Refused

Value = TypeVar("Value")

_UNDER_WAY: ContextVar[bool] = ContextVar("a draw is under way", default=False)


@contextmanager
def under_way() -> Iterator[None]:
    """While the block lasts a draw is made here, and what is guarded may be read for it."""
    before = _UNDER_WAY.set(True)
    try:
        yield
    finally:
        _UNDER_WAY.reset(before)


class Guarded(Generic[Value]):
    """An exact value that is read inside of a draw, and nowhere else; what is made of it there is noise's to hide.

    >>> count = Guarded(lambda: 42)
    >>> count()
    Traceback (most recent call last):
    discreet.errors.Refused: an exact value can be looked at by a draw only; hand it to a grant: grant(mechanism, sensitivity, exact)
    """

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], Value]) -> None:
        self._read = read

    def __call__(self) -> Value:
        """The value, for a draw that is under way."""
        if not _UNDER_WAY.get():
            raise Refused(
                "an exact value can be looked at by a draw only",
                code="exact",
                hint="hand it to a grant: grant(mechanism, sensitivity, exact)",
            )
        return self._read()

    def __repr__(self) -> str:
        return "Guarded(…)"

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("an exact value cannot be copied or pickled")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse
