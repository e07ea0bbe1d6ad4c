"""How texts over a declared alphabet become rows of symbols, and back: the letters of a word, and padding behind the last.

Letters are taken as they are: nothing is folded, trimmed or normalised. Whoever asks says in the question how a word is spelt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid

Symbols: TypeAlias = NDArray[np.uint16]
"""A row of symbols for each word, or for each prefix of one."""

PAD = 0  # where words may be shorter than the longest


@lru_cache(maxsize=16)
def _sorted(alphabet: str) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The letters in the order of their code points, and the place of each in the alphabet."""
    points = np.array([ord(letter) for letter in alphabet], np.uint32)
    order = np.argsort(points)
    return points[order], order


@dataclass(frozen=True, slots=True)
class WordSpelling:
    """Words of `shortest` to `length` letters. Where these differ symbol 0 pads, and letter i of the alphabet is i + 1, else it is i.

    >>> WordSpelling("ab", 3, 1).symbols(["ba", "b"]).tolist()
    [[2, 1, 0], [2, 0, 0]]
    """

    alphabet: str
    length: int
    shortest: int

    @property
    def pads(self) -> bool:
        """Whether words differ in length."""
        return self.shortest < self.length

    @property
    def base(self) -> int:
        """The number of symbols."""
        return len(self.alphabet) + self.pads

    def symbols(self, words: Sequence[Any]) -> Symbols:
        """The symbols of texts; Invalid, which does not say any, where one is not in the domain."""
        if not all(type(word) is str and self.shortest <= len(word) <= self.length for word in words):
            raise self._refusal()
        lengths = np.array([len(word) for word in words], np.int64)
        points = np.array(words, f"<U{self.length}").view(np.uint32).reshape(-1, self.length)
        letters, places = _sorted(self.alphabet)
        found = np.minimum(np.searchsorted(letters, points), len(letters) - 1)
        inside = np.arange(self.length) < lengths[:, None]
        if (letters[found] != points)[inside].any():
            raise self._refusal()
        return np.where(inside, places[found] + self.pads, PAD).astype(np.uint16)

    def _refusal(self) -> Invalid:
        several = f"{self.shortest} to {self.length}" if self.pads else str(self.length)
        return Invalid(
            f"value must be a text of {several} letters of the declared alphabet", hint="see campaign.domain.alphabet"
        )

    def words(self, rows: Symbols) -> list[str]:
        """The texts of symbols: what `symbols` was given."""
        letters = self.alphabet
        return ["".join(letters[each - self.pads] for each in row if each or not self.pads) for row in rows.tolist()]

    def sizes(self, rows: Symbols) -> NDArray[np.int64]:
        """The number of letters of each word or prefix."""
        return (rows != PAD).sum(axis=1) if self.pads else np.full(len(rows), rows.shape[1])

    def is_sound(self, rows: Symbols) -> bool:
        """Whether these are symbols of words: in range, with enough letters, and padded only behind the last."""
        if rows.size and not (int(rows.min()) >= 0 and int(rows.max()) < self.base):
            return False
        sizes = self.sizes(rows)
        padded = self.pads and ((rows == PAD) != (np.arange(self.length) >= sizes[:, None])).any()
        return not padded and bool((sizes >= self.shortest).all())

    def runs(self, letters: int) -> Symbols:
        """Every row of so many symbols in which padding is behind the last letter."""
        count = np.arange(self.base**letters)
        rows = np.empty((len(count), letters), np.uint16)
        for place in range(letters):
            rows[:, place] = count // self.base ** (letters - 1 - place) % self.base
        if not self.pads:
            return rows
        kept: Symbols = rows[((rows[:, :-1] != PAD) | (rows[:, 1:] == PAD)).all(axis=1)]
        return kept

    def extends(self, prefixes: Symbols, runs: Symbols) -> NDArray[np.bool_]:
        """Which run may come after which prefix: behind the end of a word there is padding alone, and no word ends too early."""
        before, more = self.sizes(prefixes)[:, None], self.sizes(runs)
        open_ended = before == prefixes.shape[1]
        full = before + more == prefixes.shape[1] + runs.shape[1]
        allowed: NDArray[np.bool_] = (open_ended | (more == 0)) & (full | (before + more >= self.shortest))
        return allowed


def checked_alphabet(alphabet: object) -> str:
    """An alphabet of letters that differ; else Invalid."""
    if type(alphabet) is not str or not 2 <= len(alphabet) < 1 << 16:
        raise Invalid("alphabet must be a text of 2 to 65535 letters")
    if len(set(alphabet)) < len(alphabet):
        raise Invalid("alphabet must have letters that differ")
    if any(_is_no_letter(ord(letter)) for letter in alphabet):
        raise Invalid("alphabet must have no null letter, and no half of a letter (a surrogate)")
    return alphabet


def _is_no_letter(point: int) -> bool:
    return point == 0 or 0xD800 <= point < 0xE000
