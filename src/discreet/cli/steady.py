"""What a command prints. Names, keys, paths and questions were written by others: nothing in them may steer a terminal.

Every command prints to streams of this kind, so that nothing is left to remember. What we send to a terminal on purpose, colours and
the line that tells of waiting, goes to the stream below, and is made of words of ours and of text that was cleaned.
"""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from discreet.errors import Fault


def steady(text: str) -> str:
    """The text, with a sign in place of every character that does something instead of showing something.

    >>> steady("ward\\x1b]0;title\\x07\\n\\x9b2J")
    'ward�]0;title�\\n�2J'
    """
    return _cleaned(text, lambda _: "�")


def escaped(text: str) -> str:
    """JSON, with such characters written as JSON writes them: it says the same.

    >>> escaped('{"ward": "\\x9b2J\\u202e", "n": 1}')
    '{"ward": "\\\\u009b2J\\\\u202e", "n": 1}'
    """
    return _cleaned(text, _as_json)


def _cleaned(text: str, instead: Callable[[str], str]) -> str:
    return "\n".join(
        line if line.isprintable() else "".join(each if _shows(each) else instead(each) for each in line)
        for line in text.split("\n")
    )


def _shows(each: str) -> bool:
    return each.isprintable() or each == "\t" or unicodedata.category(each) == "Zs"


def _as_json(each: str) -> str:
    units = each.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


class Told:
    """A stream as it is. If it takes nothing, that is a Fault, which says that nothing is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._do(lambda: self._stream.write(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._do(self._stream.flush)

    def _do(self, act: Callable[[], object]) -> None:
        try:
            act()
        except BrokenPipeError:
            raise
        except OSError as error:
            abandon(self._stream)
            raise Fault(
                f"the output cannot be written: {error.strerror or type(error).__name__}",
                code="output",
                hint="what was done stays done: an answer that was charged is kept, and asking again is free",
            ) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Steady(Told):
    """A stream that cleans what is written to it."""

    def __init__(self, stream: TextIO, clean: Callable[[str], str]) -> None:
        super().__init__(stream)
        self._clean = clean
        self.rich_proxied_file = Told(stream)  # where rich, by this name, writes its colours

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("a stream of text takes text")
        super().write(self._clean(text))
        return len(text)


@contextmanager
def steadied(as_json: bool) -> Iterator[None]:
    """stdout and stderr that clean what is printed, JSON as JSON."""
    before = sys.stdout, sys.stderr
    clean = escaped if as_json else steady
    sys.stdout, sys.stderr = Steady(before[0], clean), Steady(before[1], clean)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def below(stream: TextIO) -> TextIO:
    """The stream itself, for what steers a terminal on purpose."""
    found: TextIO = getattr(stream, "rich_proxied_file", stream)
    return found


def abandon(stream: TextIO) -> None:
    """What a stream that takes nothing still holds goes nowhere; else it would fail once more when the process ends."""
    with suppress(OSError, ValueError):  # one that is no file holds nothing
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
