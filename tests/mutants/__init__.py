"""Planted bugs: each is one small wrong edit of one function, and some test must fail while it is planted.

A suite that passes says little unless it would have failed for the mistakes people make. Every mutant here is such a mistake,
told as text to replace in the source of a function. Planting swaps the function's code object in place, so every reference to
the function runs the bug, and takes it out again at the end. A mutant whose text no longer occurs exactly once
raises: an edit of the code must carry its mutants along.

There is a module for each part of the package, with a table of its mutants: a row is the bug and the law that catches it.
"""

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from typing import Any

import pytest

from discreet.errors import DiscreetError, Fault
from discreet.noise.source import OPERATING_SYSTEM

Law = Callable[[], object]
# What a law does that does not hold: it fails, or a check of the package's own stops it. Any other exception is a slip of the mutant.
FAILS = (AssertionError, pytest.fail.Exception, DiscreetError)


@dataclass(frozen=True, slots=True)
class Mutant:
    """In the function `where` ("package.module:qualified.name"), `old` becomes `new`."""

    name: str
    where: str
    old: str
    new: str
    breaks: str  # what goes wrong, in words
    law: Law  # what holds without the bug, and must fail with it

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The bug is live inside the `with` block, in this process, for every caller."""
        function = find(self.where)
        sound = function.__code__
        function.__code__ = _edited(function, self.old, self.new)
        forget()
        try:
            yield
        finally:
            function.__code__ = sound
            forget()


@cache
def by_itself(test: Callable[..., object], *arguments: object) -> Law:
    """A test as a law. What it takes of pytest, and of the fixtures in its own module, is made anew each time; the rest are arguments."""

    def law() -> None:
        with ExitStack() as stack:
            fixtures: dict[str, object] = {}
            rest = iter(arguments)
            names = inspect.signature(test).parameters
            test(**{name: _fixture(name, test, fixtures, stack) or next(rest) for name in names})

    return law


def _fixture(name: str, test: Callable[..., object], made: dict[str, object], stack: ExitStack) -> object:
    """What a test takes under a name; None where that is an argument of its own."""
    if name not in made:
        definition = getattr(sys.modules[test.__module__], name, None)
        if name == "tmp_path":
            made[name] = Path(stack.enter_context(TemporaryDirectory()))
        elif name == "monkeypatch":
            made[name] = stack.enter_context(pytest.MonkeyPatch.context())
        elif type(definition).__name__ != "FixtureFunctionDefinition":
            return None
        else:
            function = inspect.unwrap(definition)  # type: ignore[arg-type]
            parts = {each: _fixture(each, function, made, stack) for each in inspect.signature(function).parameters}
            if inspect.isgeneratorfunction(function):
                made[name] = stack.enter_context(contextmanager(function)(**parts))
            else:
                made[name] = function(**parts)
    return made[name]


def forget() -> None:
    """Empty every cache of this package, so that nothing computed before an edit is used after it."""
    for clear in _caches(len(sys.modules)):
        clear()
    OPERATING_SYSTEM.stock.clear()


@cache
def _caches(_: int) -> list[Callable[[], None]]:
    """What empties each cache, as long as no other module is loaded."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "discreet"]
    clears = [getattr(value, "cache_clear", None) for module in modules for value in vars(module).values()]
    return [clear for clear in clears if callable(clear)]


def find(where: str) -> FunctionType:
    module, _, qualified = where.partition(":")
    found: Any = importlib.import_module(module)
    for name in qualified.split("."):
        found = inspect.getattr_static(found, name)
    inner = next((getattr(found, name) for name in ("fget", "__func__", "func") if hasattr(found, name)), found)
    found = inspect.unwrap(inner)
    if not isinstance(found, FunctionType):
        raise Fault(f"{where} is not a function", code="mutant")
    return found


def _edited(function: Callable[..., object], old: str, new: str) -> CodeType:
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(old) != 1:
        raise Fault(
            f"the text to change occurs {source.count(old)} times in {function.__qualname__}, not once",
            code="mutant",
            hint="adapt the mutant to the new code",
        )
    tree = ast.parse(source.replace(old, new))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise Fault(f"{function.__qualname__} is not a plain function", code="mutant")
    definition.decorator_list = []
    space = dict(vars(sys.modules[function.__module__]))
    exec(compile(tree, f"<mutant of {function.__qualname__}>", "exec"), space)
    code: CodeType = space[definition.name].__code__
    return code
