"""`discreet noise`: draw exact noise, and set what was drawn beside the exact probabilities.

Probabilities are brackets of rationals, from integer brackets of e^-x. Floats appear only in what is printed.

What is slow to import (the noise, the tables of rich) is imported when the command runs, so that `discreet --help` need not wait.
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from time import thread_time_ns
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from discreet.cli.flags import number
from discreet.exact import divide_up, exp_neg_bounds, positive, whole

if TYPE_CHECKING:
    from rich.table import Table

    from discreet.noise.size import Ints

BITS = 192  # weights are integers in units of 2^-BITS
CELLS = 7  # on each side of zero, besides the tail
LEAST_EXPECTED = 5  # draws in a cell, for its difference to be about normal
FAR = 3.5  # standard errors
PIECE = 1_000_000
BAR = 24


class Ends(NamedTuple):
    """The truth lies between lo and hi."""

    lo: int
    hi: int

    def plus(self, other: "Ends", times: int = 1) -> "Ends":
        return Ends(self.lo + times * other.lo, self.hi + times * other.hi)


Weight: TypeAlias = Callable[[int, int | None], Ends]
"""(first, last) -> the sum of f over first … last, first >= 0; None has no end. Any constant factor will do."""


def laplace_weight(scale: Fraction) -> Weight:
    """(1 − a) times the sum of a^x, a = e^(−1/scale): a^first − a^(last + 1)."""

    def power(x: int) -> Ends:
        return Ends(*exp_neg_bounds(x / scale, BITS))

    def weight(first: int, last: int | None) -> Ends:
        begin = power(first)
        end = Ends(0, 0) if last is None else power(last + 1)
        return Ends(begin.lo - end.hi, begin.hi - end.lo)

    return weight


def gaussian_weight(scale: Fraction) -> Weight:
    """The sum of f(x) = e^(−x²/(2 scale²)), point by point up to scale 2,000, and by runs of points above."""
    variance = scale**2
    run = max(1, int(scale) // 1000)

    def f(x: Fraction) -> Ends:
        return Ends(*exp_neg_bounds(x * x / (2 * variance), BITS))

    def run_weight(first: int, last: int) -> Ends:
        """f is concave up to x = scale and convex from there: the mean lies between the middle and the chord."""
        begin = f(Fraction(first))
        if first == last:
            return begin
        end, middle = f(Fraction(last)), f(Fraction(first + last, 2))
        chord = Ends((begin.lo + end.lo) // 2, divide_up(begin.hi + end.hi, 2))
        if first >= scale:
            mean = Ends(middle.lo, chord.hi)
        elif last <= scale:
            mean = Ends(chord.lo, middle.hi)
        else:
            mean = Ends(end.lo, begin.hi)
        return Ends(0, 0).plus(mean, last - first + 1)

    def beyond(start: int) -> Ends:
        """f(start + y) <= f(start) e^(−y start/variance), a geometric series."""
        rest = (1 << BITS) - exp_neg_bounds(start / variance, BITS)[1]
        return Ends(0, divide_up(f(Fraction(start)).hi << BITS, rest))

    def weight(first: int, last: int | None) -> Ends:
        stop = max(first, int(12 * scale) + 2) if last is None else last
        total = Ends(0, 0) if last is not None else beyond(stop + 1)
        for begin in range(first, stop + 1, run):
            total = total.plus(run_weight(begin, min(begin + run - 1, stop)))
        return total

    return weight


@dataclass(frozen=True, slots=True)
class Cell:
    """The integers first … last (None: no end on that side), how often they came, and their probability."""

    first: int | None
    last: int | None
    drawn: int
    size: int
    lo: Fraction
    hi: Fraction

    @property
    def p(self) -> float:
        return float((self.lo + self.hi) / 2)

    @property
    def expected(self) -> float:
        return self.size * self.p

    @property
    def z(self) -> float | None:
        """Drawn less expected, in standard errors; None where too few are expected, inside or outside."""
        if not LEAST_EXPECTED <= self.expected <= self.size - LEAST_EXPECTED:
            return None
        return (self.drawn - self.expected) / math.sqrt(self.expected * (1 - self.p))

    @property
    def name(self) -> str:
        """The first value; the last is the one before the next cell's first."""
        if self.first is None:
            return f"≤ {self.last}"
        if self.last is None:
            return f"≥ {self.first}"
        return str(self.first)


@dataclass(frozen=True, slots=True)
class DrawnHistogram:
    """Draws of one distribution, by cells that cover all integers."""

    name: str
    cells: tuple[Cell, ...]
    ns_per_sample: float  # CPU time of drawing, what is set up for a new scale included

    @property
    def freedom(self) -> int:
        """Degrees of freedom; even, since cells come in pairs around the middle one."""
        return len(self.cells) - 1

    @property
    def chi_square(self) -> float | None:
        if any(cell.z is None for cell in self.cells):
            return None
        return sum((cell.drawn - cell.expected) ** 2 / cell.expected for cell in self.cells)

    @property
    def p_value(self) -> float | None:
        """The chance of a chi-square at least this large: e^-h Σ h^i/i! over i < freedom/2, h = chi-square/2."""
        if self.chi_square is None:
            return None
        half = self.chi_square / 2
        return math.exp(-half) * math.fsum(half**i / math.factorial(i) for i in range(self.freedom // 2))


def histogram(
    name: str, draw: Callable[[Fraction, int], "int | Ints"], weight: Weight, scale: Fraction, size: int
) -> DrawnHistogram:
    """Draw, count by cells about half a scale wide, and find the exact probability of each cell."""
    width = int(scale / 2) | 1  # odd, so that the middle cell is symmetric
    starts = [width // 2 + 1 + side * width for side in range(CELLS + 1)]  # of cells 1 … CELLS, and of the tail
    edges = [*(1 - start for start in reversed(starts)), *starts]
    drawn, spent = count(draw, scale, size, edges)

    middle = weight(0, 0).plus(weight(1, starts[0] - 1), 2) if width > 1 else weight(0, 0)
    sides = [weight(start, following - 1) for start, following in pairwise(starts)]
    tail = weight(starts[-1], None)
    total = middle.plus(tail, 2)
    for side in sides:
        total = total.plus(side, 2)

    # Outer cells that expect too few draws go to the tails.
    def few(each: Ends) -> bool:
        return size * each.lo < LEAST_EXPECTED * total.hi

    while sides and (few(sides[-1]) or few(tail)):
        tail = tail.plus(sides.pop())
        drawn = [drawn[0] + drawn[1], *drawn[2:-2], drawn[-2] + drawn[-1]]
        edges = edges[1:-1]

    firsts, lasts = [None, *edges], [*(edge - 1 for edge in edges), None]
    weights = [tail, *reversed(sides), middle, *sides, tail]
    cells = tuple(
        Cell(first, last, times, size, Fraction(own.lo, total.hi), min(Fraction(1), Fraction(own.hi, total.lo)))
        for first, last, times, own in zip(firsts, lasts, drawn, weights, strict=True)
    )
    return DrawnHistogram(name, cells, spent / size)


def count(
    draw: Callable[[Fraction, int], "int | Ints"], scale: Fraction, size: int, edges: list[int]
) -> tuple[list[int], int]:
    """How many of `size` draws fall below the first edge, between the edges, and beyond; and the nanoseconds of drawing."""
    import numpy as np

    counts = np.zeros(len(edges) + 1, np.int64)
    spent = 0
    for begin in range(0, size, PIECE):
        start = thread_time_ns()
        values = draw(scale, min(PIECE, size - begin))
        spent += thread_time_ns() - start
        counts += np.bincount(np.searchsorted(edges, values, "right"), minlength=counts.size)
    return counts.tolist(), spent


def noise(
    scale: Annotated[str, typer.Option(help="The scale of the noise: a decimal or a fraction such as 1/3.")] = "2",
    size: Annotated[int, typer.Option(help="How many samples to draw.")] = 1_000_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw exact noise and print its histogram beside the exact probabilities."""
    from rich.console import Console

    from discreet.noise import discrete_gaussian, discrete_laplace

    exact, wanted = positive(number(scale, "scale"), "scale"), whole(size, "size", least=1)
    found = [
        histogram("discrete Laplace", discrete_laplace, laplace_weight(exact), exact, wanted),
        histogram("discrete Gaussian", discrete_gaussian, gaussian_weight(exact), exact, wanted),
    ]
    if as_json:
        json.dump(as_data(found, exact, wanted), sys.stdout, indent=2)
        print()
        return
    console = Console(highlight=False)
    for each in found:
        console.print(as_table(each, scale, wanted, console.width))
    console.print(verdict(found))


def as_data(found: list[DrawnHistogram], scale: Fraction, size: int) -> dict[str, object]:
    return {
        "scale": str(scale),
        "size": size,
        "distributions": [
            {
                "name": each.name,
                "cells": [
                    {
                        "first": cell.first,
                        "last": cell.last,
                        "drawn": cell.drawn,
                        "expected": cell.expected,
                        "probability": [to_float_down(cell.lo), to_float_up(cell.hi)],
                        "standard_errors": cell.z,
                    }
                    for cell in each.cells
                ],
                "chi_square": each.chi_square,
                "degrees_of_freedom": each.freedom,
                "p_value": each.p_value,
                "ns_per_sample": each.ns_per_sample,
            }
            for each in found
        ],
    }


def to_float_down(value: Fraction) -> float:
    near = float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def to_float_up(value: Fraction) -> float:
    return -to_float_down(-value)


def as_table(each: DrawnHistogram, scale: str, size: int, columns: int) -> "Table":
    from rich import box
    from rich.table import Table

    if each.chi_square is None:
        said = "too few draws for a chi-square"
    else:
        said = f"chi-square {each.chi_square:.1f}, {each.freedom} degrees of freedom, p = {each.p_value:.3f}"
    table = Table(
        title=f"{each.name} noise of scale {scale}: {size:,} draws, {each.ns_per_sample:,.1f} ns each",
        caption=f"{said}\n",
        box=box.SIMPLE_HEAD,
        title_style="bold",
        caption_style="",
        title_justify="left",
        caption_justify="left",
    )
    single = all(cell.first == cell.last for cell in each.cells[1:-1])
    heads = ("value" if single else "from", "drawn", "expected", "probability", "std err")
    rows = [
        (
            cell.name,
            f"{cell.drawn:,}",
            f"{cell.expected:,.1f}",
            f"{cell.p:.8f}",
            "" if cell.z is None else f"{cell.z:+.2f}",
        )
        for cell in each.cells
    ]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    taken = sum(max(len(text) for text in column) + 3 for column in zip(heads, *rows, strict=True))
    width = max(4, min(BAR, columns - taken - 4))
    table.add_column("", width=width, style="cyan", no_wrap=True)
    largest = max(cell.drawn for cell in each.cells)
    for cell, row in zip(each.cells, rows, strict=True):
        far = cell.z is not None and abs(cell.z) > FAR
        table.add_row(*row, bar(cell.drawn / largest, width), style="red" if far else "")
    return table


def bar(part: float, width: int) -> str:
    """A bar of `part` of the width, to an eighth of a character; something drawn never looks like nothing."""
    eighths = max(round(8 * width * part), 1 if part else 0)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def verdict(found: list[DrawnHistogram]) -> str:
    """What the differences say, in one sentence."""
    scores = [cell.z for each in found for cell in each.cells if cell.z is not None]
    if not scores:
        return "Too few draws, or too small a scale, to compare with the exact probabilities."
    beyond = sum(abs(z) > FAR for z in scores)
    chance = len(scores) * math.erfc(FAR / math.sqrt(2))
    return (
        f"Of {len(scores)} cells {beyond or 'none'} {'differ' if beyond > 1 else 'differs'} from the exact probability "
        f"by more than {FAR} standard errors; exact noise shows such a cell in about one run of {1 / chance:,.0f}."
    )
