"""Prefixes of words from a large domain: a person tells of one level one coefficient, by randomized response."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.fields import Exact, frozen
from discreet.local.domain import AnswerDomain
from discreet.local.hadamard import parity
from discreet.local.prefix_hashing import WORD, factors, factors_of, places_of
from discreet.local.prefix_levels import PrefixLevel
from discreet.local.protocol import (
    LocalProtocol,
    Reports,
    checked_codes,
    checked_epsilon,
    packed_code,
    truth_down,
    unpacked_code,
)
from discreet.local.spelling import Symbols
from discreet.local.words import Words
from discreet.noise import Source, keep_or_replace, uniform
from discreet.noise.size import Ints
from discreet.noise.source import chosen

MOST_CHANCES = 1 << 20  # that a channel is written down for
ROWS_OF_ONE = 8  # so many rows for each word, or fewer, are all made, and kept for other words


@frozen
class PrefixResponse(LocalProtocol):
    """A uniform level, a uniform row and coefficient j of its table, and the parity of j & column, kept with probability e^ε/(e^ε + 1).

    The column is that of the first letters of the person's word, as many as the level has. Level, row and j are drawn apart from the word;
    given them the report is randomized response on one bit, so the loss is at most ε, whatever the hash functions are. Somebody who
    reported on every level would tell ε on each of them: a person reports on one.

    Reports of a level say how many people there have a prefix, by the Hadamard transform of each row (Acharya, Sun and Zhang 2019). Where
    prefixes share columns, another prefix counts as this one in a row with the chance 1/columns, which is subtracted (Cormode, Kulkarni and
    Srivastava 2019): on average over the hash functions there is no bias. A report is the integer 2·cell + bit; the cells of a level are
    row·columns + j, behind those of the levels before it.

    >>> PrefixResponse(Words.new("abcdefghijklmnopqrstuvwxyz", 8), 1).bits
    22
    """

    words: Words
    epsilon: Exact

    name, code = "prefixes", 11

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @classmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for the words of a domain."""
        if not isinstance(domain, Words):
            raise Invalid(f"{cls.name} is for words over an alphabet", hint="declare the domain by Words.new")
        return cls(domain, epsilon)

    @property
    def levels(self) -> tuple[PrefixLevel, ...]:
        """The levels, of which each person reports on one."""
        return self.words.levels

    @property
    def p(self) -> Fraction:
        """The probability of the true sign."""
        return truth_down(Fraction(self.epsilon), 2)

    @property
    def gap(self) -> Fraction:
        """The expectation of the sign that is told, times the true sign."""
        return 2 * self.p - 1

    @property
    def cells(self) -> int:
        """The cells of the tables of all levels."""
        return sum(level.cells for level in self.levels)

    @property
    def bits(self) -> int:
        """A cell and a sign."""
        return (2 * self.cells - 1).bit_length()

    @property
    def width(self) -> int:
        """The number of reports on each level, and one total for each cell."""
        return len(self.levels) + self.cells

    def parts(self) -> Iterator[tuple[int, PrefixLevel, int]]:
        """The place of each level, the level, and its first cell."""
        cell = 0
        for place, level in enumerate(self.levels):
            yield place, level, cell
            cell += level.cells

    def functions(self, place: int) -> tuple[NDArray[np.uint32], np.uint32]:
        """The factors of each row of a level, and by how many digits the sum of the products is shifted to be a column."""
        level, spelling = self.levels[place], self.words.spelling
        if level.is_exact(spelling.base):
            return places_of(spelling.base, level.letters), np.uint32(0)
        return factors(self.words.salt, place, level.rows, level.letters), _shift(level)

    def columns(self, place: int, symbols: Symbols, rows: Ints) -> Ints:
        """The column of the prefix of each word in one row, of the level at this place."""
        level = self.levels[place]
        if (
            ROWS_OF_ONE * len(rows) < level.rows
        ):  # else a client would make millions of functions for the one that it draws
            needed, rows = np.unique(rows, return_inverse=True)
            each, shift = factors_of(self.words.salt, place, needed.tolist(), level.letters), _shift(level)
        else:
            each, shift = self.functions(place)
        sums = each[rows, 0]
        for letter in range(level.letters):
            sums += each[rows, letter + 1] * symbols[:, letter].astype(np.uint32)
        columns: Ints = (sums >> shift).astype(np.int64)
        return columns

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of the symbols of one word, or reports of rows of them, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where something is not what `Words.encoded` or `Words.symbols` gives.
        """
        try:
            rows = np.asarray(values)
        except ValueError:  # rows of several lengths
            rows = np.empty(0)
        spelling = self.words.spelling
        if rows.ndim not in (1, 2) or rows.shape[-1] != spelling.length or rows.dtype.kind not in "iu":
            raise Invalid("values must be the symbols of a word, or rows of them", hint="Words.symbols makes them")
        table = rows.reshape(-1, spelling.length)
        if not spelling.is_sound(table):
            raise Invalid("values must be the symbols of words of the domain", hint="Words.symbols makes them")
        reports = self._randomised(table.astype(np.uint16), chosen(source))
        return reports if rows.ndim == 2 else reports[0]

    def _randomised(self, symbols: Symbols, source: Source) -> Reports:
        chosen_level = uniform(len(self.levels), len(symbols), source=source)
        cells = np.empty(len(symbols), np.int64)
        signs = np.empty(len(symbols), np.int64)
        for place, level, first in self.parts():
            who = np.flatnonzero(chosen_level == place)
            drawn = uniform(level.cells, len(who), source=source)
            columns = self.columns(place, symbols[who], drawn // level.columns)
            signs[who] = parity(drawn % level.columns & columns)
            cells[who] = first + drawn
        return 2 * cells + keep_or_replace(signs, 2, self.p, source=source)

    def accumulate(self, reports: Reports) -> Ints:
        """The number of reports on each level, and the sum of the signs, 1 or −1, that were told of each cell."""
        told = np.bincount(checked_codes(reports, 2 * self.cells), minlength=2 * self.cells)
        both = told[::2] + told[1::2]
        people = [both[first : first + level.cells].sum() for _, level, first in self.parts()]
        return np.concatenate((people, told[::2] - told[1::2])).astype(np.int64)

    def of_level(self, totals: Ints, place: int) -> tuple[int, Ints]:
        """The number of reports on the level at this place, and the totals of its cells."""
        level, first = next((level, first) for at, level, first in self.parts() if at == place)
        begin = len(self.levels) + first
        return int(totals[place]), totals[begin : begin + level.cells]

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: each is on one level, and adds 1 or −1 to one of its cells."""
        parts = [self.of_level(totals, place) for place in range(len(self.levels))]
        sizes = [(people, int(np.abs(signs).sum())) for people, signs in parts]
        sound = all(size <= people and (people - size) % 2 == 0 for people, size in sizes)
        return sound and sum(people for people, _ in sizes) == n

    def pack(self, report: Any) -> bytes:
        """The integer 2·cell + bit, the least byte first."""
        return packed_code(report, self.size)

    def unpack(self, data: bytes) -> Any:
        """The integer 2·cell + bit; Invalid where there is no such cell."""
        return unpacked_code(data, self.size, 2 * self.cells)

    @property
    def reach(self) -> Fraction:
        """A sign of the last level counts 1 or −1, over the gap and for the columns that are shared."""
        return 2 * self.scale(len(self.levels) - 1) / self.gap

    def influence(self, liars: int, totals: Ints, n: int) -> Fraction:
        """How far so many of the n reports could have moved the share of a word, which those on the last level say.

        Liars choose their level: all of them may be there, or all be missing there. With m reports on it k of them move an estimate by at
        most k/m of `reach`, and they move it farthest if they are there.
        """
        people = max(1, int(totals[len(self.levels) - 1]))
        return min(Fraction(1), Fraction(liars, people)) * self.reach

    def scale(self, place: int) -> Fraction:
        """By how much the share of a level is stretched, as other prefixes have the columns of this one now and then."""
        level = self.levels[place]
        return Fraction(1) if level.is_exact(self.words.spelling.base) else Fraction(level.columns, level.columns - 1)

    def outcomes(self) -> Reports:
        """Every cell with either sign."""
        if 2 * self.cells > MOST_CHANCES:
            raise Invalid("there are too many reports to write them down", hint="enumerate a smaller domain")
        return np.arange(2 * self.cells)

    def chance(self, report: Any, symbols: Symbols) -> Fraction:
        """The probability of level, row and coefficient, by that of the sign given them and the word."""
        cell, bit = divmod(int(report), 2)
        place, level, first = next(part for part in self.parts() if cell < part[2] + part[1].cells)
        row, coefficient = divmod(cell - first, level.columns)
        (column,) = self.columns(place, symbols[None], np.array([row])).tolist()
        told = bit == (coefficient & column).bit_count() % 2
        return (self.p if told else 1 - self.p) / (len(self.levels) * level.cells)

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each word of the domain: what an auditor enumerates."""
        spelling, reports = self.words.spelling, self.outcomes()
        if spelling.base**spelling.length * len(reports) > MOST_CHANCES:
            raise Invalid("there are too many chances to write them down", hint="enumerate a smaller domain")
        rows = spelling.runs(spelling.length)
        words = rows[spelling.sizes(rows) >= spelling.shortest]
        return tuple(tuple(self.chance(each, word) for each in reports) for word in words)


def _shift(level: PrefixLevel) -> np.uint32:
    """By how many digits a sum is shifted to be a column of this level, in which prefixes are hashed."""
    return np.uint32(WORD + 1 - level.columns.bit_length())
