"""Planted bugs: each is one small wrong edit of one function, and some test must fail while it is planted.

A suite that passes says little unless it would have failed for the mistakes people make. Every mutant here is such a mistake,
told as text to replace in the source of a function. Planting swaps the function's code object in place, so every reference to
the function runs the bug, and takes it out again at the end. A mutant whose text no longer occurs exactly once
raises: an edit of the code must carry its mutants along.
"""

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from discreet.errors import Fault, Invalid
from discreet.noise.source import OPERATING_SYSTEM

REGISTRY: dict[str, "Mutant"] = {}


@dataclass(frozen=True, slots=True)
class Mutant:
    """In the function `where` ("package.module:qualified.name"), `old` becomes `new`."""

    name: str
    part: str  # the folder whose tests must catch it
    where: str
    old: str
    new: str
    breaks: str  # what goes wrong, in words

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The bug is live inside the `with` block, in this process, for every caller."""
        function = _find(self.where)
        sound = function.__code__
        function.__code__ = _edited(function, self.old, self.new)
        forget()
        try:
            yield
        finally:
            function.__code__ = sound
            forget()


def register(*mutants: Mutant) -> None:
    for mutant in mutants:
        if mutant.name in REGISTRY:
            raise Invalid(f"name {mutant.name!r} is taken by another mutant")
        REGISTRY[mutant.name] = mutant


def of_part(part: str) -> list[Mutant]:
    return [mutant for mutant in REGISTRY.values() if mutant.part == part]


def forget() -> None:
    """Empty every cache of this package, so that nothing computed before an edit is used after it."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "discreet":
            continue
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()
    OPERATING_SYSTEM.stock.clear()


def _find(where: str) -> FunctionType:
    module, _, qualified = where.partition(":")
    found: Any = importlib.import_module(module)
    for name in qualified.split("."):
        found = inspect.getattr_static(found, name)
    found = inspect.unwrap(getattr(found, "fget", None) or getattr(found, "__func__", None) or found)
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


NOISE = "discreet.noise."
register(
    Mutant(
        "tail-starts-late",
        "noise",
        NOISE + "table:_tail_start",
        "return blocks * width + side",
        "return blocks * width + side + 1",
        "the first point beyond the blocks never comes up",
    ),
    Mutant(
        "left-tail-starts-early",
        "noise",
        NOISE + "table:_tail_start",
        "return blocks * width + side",
        "return blocks * width",
        "the left tail begins at a point that its last block holds already",
    ),
    Mutant(
        "tail-always-entered",
        "noise",
        NOISE + "envelope:tail",
        "if not decide(table.accept_tail(owner), source):",
        "if decide(table.accept_tail(owner), source) is None:",
        "the rounding of the tail's share is not undone",
    ),
    Mutant(
        "tail-without-curve",
        "noise",
        NOISE + "envelope:tail",
        "if not bernoulli_exp(curve.numerator, curve.denominator, source):",
        "if bernoulli_exp(curve.numerator, curve.denominator, source) is None:",
        "a Gaussian tail decays like an exponential",
    ),
    Mutant(
        "tail-on-one-side",
        "noise",
        NOISE + "envelope:tail",
        "return x if owner == table.block_owners else -x",
        "return x",
        "both tails land on the right",
    ),
    Mutant(
        "last-unit-always-accepted",
        "noise",
        NOISE + "envelope:settle_units",
        "rejected[at] = not decide(table.accept_last(int(owners[at])), source)",
        "rejected[at] = False",
        "every probability is rounded up to a whole unit",
    ),
    Mutant(
        "last-unit-missed",
        "noise",
        NOISE + "envelope:settle_units",
        "units + np.uint64(1) == table.ends[owners]",
        "units == table.ends[owners]",
        "an off-by-one in looking for the last unit: it is never found",
    ),
    Mutant(
        "block-looked-up-one-too-low",
        "noise",
        NOISE + "envelope:look_up",
        'searchsorted(units[shared], "right")',
        'searchsorted(units[shared], "left")',
        "the first left-over unit of a block goes to the block before it",
    ),
    Mutant(
        "negative-blocks-shifted",
        "noise",
        NOISE + "table:table",
        "[-1 - m for m in range(blocks)]",
        "[-2 - m for m in range(blocks)]",
        "every negative value is one block too far out",
    ),
    Mutant(
        "negative-tops-unshifted",
        "noise",
        NOISE + "table:_shares",
        "_tops(shape, 1, width, blocks, p)",
        "_tops(shape, 0, width, blocks, p)",
        "block −1 owns the mass of block 0",
    ),
    Mutant(
        "ratio-not-shrunk",
        "noise",
        NOISE + "table:_tops",
        "if shape.square:",
        "if shape.square and not shape.two_sided:",
        "Gaussian blocks fall off like Laplace ones",
    ),
    Mutant(
        "acceptance-limit-high",
        "noise",
        NOISE + "table:_limit",
        "bound = min(bound, lo * (least - 1) // least)",
        "bound = min(bound, lo * 101 // 100)",
        "points at the far end of a block are accepted too often, by up to 1 %",
    ),
    Mutant(
        "series-off",
        "noise",
        NOISE + "table:_filter",
        "(-1) ** i / factorial(i)",
        "(-1) ** i / factorial(i) * (1 - 1e-4 * (i == 1))",
        "the float filter's exponential is wrong by up to 1e-4",
    ),
    Mutant(
        "band-forgotten",
        "noise",
        NOISE + "table:_filter",
        "band = 2.0 ** (b - 64) + 1.0 / least + FLOAT_SLACK",
        "band = 0.0",
        "close calls are decided by rounding errors",
    ),
    Mutant(
        "sides-confused",
        "noise",
        NOISE + "envelope:closeness",
        "^ (x >> 63 & inside)",
        "^ (0 & inside)",
        "blocks below zero fall off in the wrong direction",
    ),
    Mutant(
        "zero-twice",
        "noise",
        NOISE + "deviate:_laplace",
        "if size or not negative:",
        "if size or negative or True:",
        "zero comes up under both signs, twice as often as it should",
    ),
    Mutant(
        "gaussian-test-inverted",
        "noise",
        NOISE + "deviate:_gaussian",
        "if deviate().at_least(",
        "if not deviate().at_least(",
        "the rejection step keeps what it should drop",
    ),
    Mutant(
        "digits-uniform",
        "noise",
        NOISE + "deviate:Exponential.refine",
        "while not bernoulli_exp(k := self.bits.bits(DIGITS), 1 << self.digits, self.bits):",
        "while (k := self.bits.bits(DIGITS)) < 0:",
        "later digits of an exponential deviate are not tilted",
    ),
    Mutant(
        "coin-parity",
        "noise",
        NOISE + "walk:_exp_of_at_most_one",
        "return k & 1 == 1",
        "return k & 1 == 0",
        "Bernoulli(e^-x) comes out as its complement",
    ),
    Mutant(
        "variance-for-scale",
        "noise",
        NOISE + "gaussian:gaussian_shape",
        "Shape.gaussian(n * n, d * d)",
        "Shape.gaussian(n, d)",
        "the scale is taken for the variance",
    ),
    Mutant(
        "tie-is-heads",
        "noise",
        NOISE + "bernoulli:tosses",
        "flag[tie] = each.settle((heads + int(u[tie]) << 48) | source.bits(48), source)",
        "flag[tie] = True",
        "the probability is rounded up to 16 bits",
    ),
    Mutant(
        "replacement-may-be-the-truth",
        "noise",
        NOISE + "response:_replace",
        "other += other >= true[places]",
        "other += other > true[places]",
        "a replaced answer can equal the true one",
    ),
    Mutant(
        "uniform-without-rejection",
        "noise",
        NOISE + "uniform:_multiply",
        "np.uint64((1 << 32) % n)",
        "np.uint64(0)",
        "some integers come up more often than others",
    ),
    Mutant(
        "samples-served-twice",
        "noise",
        NOISE + "stock:Stock.one",
        "self.next = at + 1",
        "self.next = at + (at & 1)",
        "one noise value is added to two answers",
    ),
    Mutant(
        "fork-unnoticed",
        "noise",
        NOISE + "source:SecureBits._held",
        "if held is None or held.pid != os.getpid() or held.forks != _forks:",
        "if held is None:",
        "a forked worker repeats its parent's noise",
    ),
    Mutant(
        "key-kept",
        "noise",
        NOISE + "source:_new_key",
        "key = _entropy()",
        "key = bytes(32)",
        "every refill of the pool repeats the one before",
    ),
)
