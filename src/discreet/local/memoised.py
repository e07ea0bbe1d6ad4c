"""What every memoised protocol is: each value that a person holds gets one permanent answer, which each round randomises anew.

(RAPPOR: Erlingsson, Pihur and Korolova 2014; with k-ary responses in both places: Arcolezi et al. 2022.)
"""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self

from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.fields import Exact
from discreet.local.domain import AnswerDomain
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.protocol import DIGITS, checked_epsilon, truth_down
from discreet.local.rounds import Rounds
from discreet.noise import Source

UNPROTECTED = (
    "That an answer changed or came back, and when, is not protected: whoever sees enough reports of one person can tell it."
    " Which answers they were is."
)


class Memoised(FrequencyProtocol):
    """A permanent answer for each distinct value, at ε, and in each round a report of that answer, of which one tells `first` < ε.

    Both are k-ary responses among `answers`. What makes a report of such an answer is that of the protocol without rounds.

    **What holds.** Two sequences of values have the same *pattern* where x_s = x_t exactly if x'_s = x'_t: values are renamed, one for
    one. Then, for any number of rounds, the chances of all reports together differ by a factor of at most e^(m ε), m being the number of
    distinct values that are renamed to another one. *Proof.* `lasting` answers for each distinct value independently of all others, given
    what it shares with them, which says nothing of values; and `again` sees a permanent answer alone. So reports are independent over
    distinct values, and those of the rounds of one value v have the chance Q_v(r) = Σ_b P(b | v) Π_t I(r_t | b). From
    P(b | v) <= e^ε P(b | v') for every b follows Q_v(r) <= e^ε Q_v'(r); m such factors differ, and those of values that stay are equal. ∎
    One round by itself loses `first` at most, whatever the values are.

    **What does not hold.** Of sequences with two patterns nothing better is said than what single reports say. It is not enough that
    they change at the same times: where one returns to an earlier value and the other goes on to a third, the one repeats a permanent
    answer and the other does not, and the loss grows with the number of rounds; so it does for a constant value against one change.
    """

    __slots__ = ()
    unprotected: ClassVar[str] = UNPROTECTED
    first: Exact

    def __post_init__(self) -> None:
        FrequencyProtocol.__post_init__(self)
        first = checked_epsilon(self.first)
        if first >= self.epsilon:
            raise Invalid(f"first must be less than epsilon, got {shown(first)} and {shown(self.epsilon)}")
        object.__setattr__(self, "first", first)

    @classmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for rounds of a series."""
        if not isinstance(domain, Rounds):
            raise Invalid(
                f"{cls.name} is for rounds of a series", hint="make its domain by Rounds.new(labels, first=…)"
            )
        return cls(domain.k, epsilon, first=domain.first)  # type: ignore[call-arg]  # the field is that of each protocol

    @property
    @abstractmethod
    def answers(self) -> int:
        """The number of answers that a permanent one is drawn among."""

    @property
    def permanent(self) -> Fraction:
        """The probability that the permanent answer is the truth."""
        return truth_down(self.epsilon, self.answers)

    @property
    def repeated(self) -> Fraction:
        """The probability that a report is the permanent answer."""
        return repeated_down(self.epsilon, self.first, self.answers)

    @property
    def p(self) -> Fraction:
        """The probability that a report is the truth."""
        return chained(self.permanent, self.repeated, self.answers)

    @property
    def once(self) -> Fraction:
        """What one report by itself tells: `first`."""
        return self.first

    @property
    def notice(self) -> str:
        """What taking part costs, and what is not protected."""
        return (
            f"One report tells at most ε = {shown(self.first)}. All rounds together tell at most ε = {shown(self.epsilon)}"
            f" for each different answer that is ever given, as long as one diary is used. {self.unprotected}"
        )

    @abstractmethod
    def lasting(self, value: int, others: Sequence[Any] = (), source: Source | None = None) -> Any:
        """The permanent answer for a value that has none; `others` are the person's permanent answers for other values.

        For any two values the chances of any answer differ by a factor of at most e^ε, whatever `others` are.
        """

    @abstractmethod
    def again(self, lasting: Any, source: Source | None = None) -> Any:
        """The report of one round, made of the permanent answer alone; or of an array of permanent answers, one report for each."""


@lru_cache(maxsize=256)
def repeated_down(epsilon: Fraction, first: Fraction, k: int) -> Fraction:
    """How likely a round repeats the permanent answer, one of k, so that a report alone tells `first`; rounded down to 64 binary digits.

    The permanent answer is the truth with p₁ = `truth_down(ε, k)`, and each other with q₁. Both steps are k-ary responses, and so is
    their chain: it tells the truth with p₁p₂ + (1 − p₁)(1 − p₂)/(k − 1) = q₁ + (p₁ − q₁) p₂, which grows with p₂. It may be
    t = `truth_down(first, k)`, at which the loss is at most `first`: p₂ <= (t − q₁)/(p₁ − q₁).

    >>> round(float(repeated_down(Fraction(1), Fraction(1, 2), 2)), 6)
    0.764996
    """
    permanent, told = truth_down(epsilon, k), truth_down(first, k)
    other = (1 - permanent) / (k - 1)
    exact = (told - other) / (permanent - other)
    return Fraction((exact.numerator << DIGITS) // exact.denominator, 1 << DIGITS)


@lru_cache(maxsize=256)
def chained(first: Fraction, second: Fraction, k: int) -> Fraction:
    """How likely the second of two k-ary responses tells the truth, where each keeps what it is given so often.

    >>> chained(Fraction(3, 4), Fraction(3, 4), 2)
    Fraction(5, 8)
    """
    return first * second + (1 - first) * (1 - second) / (k - 1)
