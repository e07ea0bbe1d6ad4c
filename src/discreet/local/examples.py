"""Small settings of every registered protocol: what contract tests enumerate, and what audits sample.

A protocol that lands later is among them by itself, on each domain here that it is for; a new kind of domain adds a row.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid
from discreet.local.choices import Choices
from discreet.local.domain import AnswerDomain
from discreet.local.named_attributes import Attribute, Attributes
from discreet.local.numbers import Numbers
from discreet.local.prefix_levels import PrefixLevel
from discreet.local.protocol import LocalProtocol
from discreet.local.protocols import PROTOCOLS
from discreet.local.rounds import Rounds
from discreet.local.words import Words

EPSILONS = (Fraction(1, 10), Fraction(1))
# A small domain, and two answers in it that are told apart as well as any two.
SMALL: tuple[tuple[str, AnswerDomain, Any, Any], ...] = (
    ("2 answers", Choices(2), 0, 1),
    ("3 answers", Choices(("a", "b", "c")), "a", "c"),
    ("numbers", Numbers(0, 1, 3), 0, 1),
    ("rounds", Rounds(3, Fraction(1, 20), bytes(16)), 0, 1),
    (
        "2 attributes",
        Attributes((Attribute("a", 2, "k-ary"), Attribute("b", 3, "unary"))),
        {"a": 0, "b": 0},
        {"a": 1, "b": 2},
    ),
    ("words", Words("ab", 2, bytes(16), (PrefixLevel(1, 1, 4), PrefixLevel(2, 2, 4))), "a", "bb"),
)


@dataclass(frozen=True, slots=True)
class LocalExample:
    """A protocol for a small domain, and two answers that it has to hide."""

    name: str
    protocol: LocalProtocol
    domain: AnswerDomain
    first: Any
    second: Any

    def reports(self, answer: Any, size: int) -> list[list[int]]:
        """So many packed reports of one answer, each drawn by itself, as the numbers of their bytes."""
        rows = self.protocol.randomise([self.domain.encoded(answer)] * size)
        return [list(self.protocol.pack(row)) for row in rows]


def examples() -> Iterator[LocalExample]:
    """Every registered protocol, for each small domain that it is for, at each ε."""
    for kind in PROTOCOLS.values():
        for words, domain, first, second in SMALL:
            for epsilon in EPSILONS:
                name = f"{kind.name}, {words}, ε = {float(epsilon):g}"
                with suppress(Invalid):  # a domain of another kind
                    yield LocalExample(name, kind.small(domain, epsilon), domain, first, second)
