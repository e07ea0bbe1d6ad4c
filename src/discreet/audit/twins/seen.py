"""Everything that can be seen of a run: what came back or what was raised, the price, log lines, warnings, and what was printed."""

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from discreet.answer import Answer
from discreet.errors import DiscreetError, Invalid

PLAIN = (bool, int, float, complex, str, bytes, Fraction, Decimal, date, time, timedelta, UUID, Enum, type(None))
"""Values whose `repr` says all that they are."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that can be seen of one run."""

    status: str  # "answer", or the name of an exception
    body: str  # the answer, written out, or what the exception says
    price: str
    log: tuple[str, ...]  # of every logger, at any level, and warnings
    printed: str

    @property
    def answered(self) -> bool:
        """Whether the run came to its end without an exception."""
        return self.status == "answer"


@dataclass
class Watched:
    """What was logged and printed so far."""

    log: list[str]
    printed: io.StringIO


class Lines(logging.Handler):
    """A handler that keeps every line."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line as it is written, without the time."""
        self._lines.append(f"{record.name}: {record.levelname}: {record.getMessage()}")


@contextmanager
def watched() -> Iterator[Watched]:
    """Every log line, warning and printed text of the block; it is kept here, and shown nowhere."""
    root, watch = logging.getLogger(), Watched([], io.StringIO())
    level, lines = root.level, Lines(watch.log)
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        with (
            warnings.catch_warnings(record=True) as warned,
            redirect_stdout(watch.printed),
            redirect_stderr(watch.printed),
        ):
            warnings.simplefilter("always")
            yield watch
        watch.log += [f"{each.category.__name__}: {each.message}" for each in warned]
    finally:
        root.removeHandler(lines)
        root.setLevel(level)


def observed(act: Callable[[], Any], price: Callable[[], str]) -> Seen:
    """What is seen of an act; an exception is seen as any answer is, and only those that end the program go on."""
    with watched() as watch:
        try:
            result = act()
        except Exception as error:
            status, body = type(error).__name__, "\n".join(_chain(error))
        else:
            status, body = "answer", written(result)
    return Seen(status, body, price(), tuple(watch.log), watch.printed.getvalue())


def _chain(error: BaseException | None) -> Iterator[str]:
    """What an exception says, and those that it leads to: whoever catches it can read them all."""
    while error is not None:
        told = (
            [error.code, error.message, error.hint] if isinstance(error, DiscreetError) else list(map(repr, error.args))
        )
        yield f"{type(error).__qualname__} {json.dumps(told)}"
        error = error.__cause__ or error.__context__


def written(value: Any) -> str:
    """A value written out in full, so that two that differ in anything are written differently; Invalid for what cannot be."""
    name = type(value).__name__
    match value:
        case Answer():
            return value.to_bytes().decode()
        case np.ndarray() if value.dtype != np.object_:
            return f"array {value.dtype} {value.shape} {value.tolist()!r}"
        case np.ndarray():
            return f"array {value.shape} {written(value.tolist())}"
        case np.generic():
            return f"{value.dtype} {value.item()!r}"
        case _ if isinstance(value, PLAIN):
            return f"{name} {value!r}"
        case list() | tuple():
            return f"{name} [{', '.join(map(written, value))}]"
        case set() | frozenset():
            return f"{name} {{{', '.join(sorted(map(written, value)))}}}"
        case Mapping():
            return f"{name} {{{', '.join(f'{written(key)}: {written(each)}' for key, each in value.items())}}}"
        case _ if is_dataclass(value) and not isinstance(value, type):
            return f"{name} {written({each.name: getattr(value, each.name) for each in fields(value)})}"
    raise Invalid(
        f"an answer that holds a {name} cannot be compared byte for byte",
        hint="return numbers, text, lists, dicts, arrays, or an Answer; of a frame its to_dict()",
    )
