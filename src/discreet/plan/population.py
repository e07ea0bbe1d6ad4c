"""Intervals for a population: which second moments they need, and how much of a price those get.

**The model.** The people of a data set came in independently of one another, each by a small chance, out of a large population: so how many
came is a Poisson number, and what each gives is a draw of its own. Let c_i be what person i gives to a total, after every limit, clamp and
scaling. Then Var(Σc_i) = E Σc_i² (Campbell's theorem), and Σc_i² over the people who came estimates that without bias. Where the number of
people was fixed beforehand the variance is smaller, by the square of the sum over that number, and the interval is too wide, never too
narrow. Of two totals the covariance is E Σc_i d_i, so that the error of a ratio, which is that of its residual Σ(y_i − t·n_i), has the
variance M_yy − 2t·M_yn + t²·M_nn, whether the number of people is fixed or not.

**What is measured.** For each pair of terms that a column of the answer is made of, Σ over people of the product of what each gives to the
two (`SecondMoments`). Where that is equal to a total which is measured anyhow, it is read from there and costs nothing:

    1 · 1 = 1, y · 1 = y      for who counts as 1 or not at all: rows as units, people with one row, COUNT(DISTINCT person)
    a · b = a                 for conditions a that imply b

So counts and shares of rows as units cost no more than without, and of sums and means only the squares are measured.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import QueryError
from discreet.plan.combination import Combination
from discreet.plan.evaluate import product_ends
from discreet.plan.explain import said_aggregate
from discreet.plan.grid import divisor_for
from discreet.plan.question import Question
from discreet.plan.relation import ONE, How, Term
from discreet.plan.rules.relations import counts_all
from discreet.plan.scalar import (
    And,
    Case,
    Indicator,
    Literal,
    Product,
    Scalar,
    Steps,
    Type,
    released_in,
    type_of,
    windows_in,
)

if TYPE_CHECKING:
    from discreet.plan.releases.base import Release

Pair: TypeAlias = tuple[int, int]
"""The places of two terms, in order."""

SHARE = Fraction(1, 4)
"""Of the price, for second moments that must be measured. Figures by simulation are in docs/asking.md."""

CODE = "population"


class RowsEach(Enum):
    """How many rows of a unit count in a group."""

    ONE = "one"  # there is one, and nothing of it is limited
    CAPPED = "capped"  # as one, whatever there are: each count of them is 0 or 1, and none is above one that it implies
    SEVERAL = "several"

    @classmethod
    def of(cls, *, single: bool, limit: int | None) -> "RowsEach":
        """The one for units that have one row, or with this limit on their rows in a group."""
        return cls.ONE if single else cls.CAPPED if limit == 1 else cls.SEVERAL


@dataclass(frozen=True, slots=True)
class Needed:
    """The second moments that intervals need."""

    known: dict[Pair, int]
    """Those that are equal to what is measured anyhow, and the place of that measurement."""

    asked: tuple[Pair, ...]
    """Those that are measured by themselves, in their order."""


def needed(
    question: Question,
    releases: "Sequence[Release]",
    combinations: Sequence[Combination],
    terms: Sequence[Term],
    rows: RowsEach,
) -> Needed:
    """The second moments for a question whose measurements are made so."""
    plain = {combination.only: i for i, combination in enumerate(combinations) if combination.only is not None}
    known, asked = {}, []
    for pair in dict.fromkeys(_pairs(question, releases, combinations)):
        equal = next((plain[i] for i in _equal(pair, terms, rows) if i in plain), None)
        if equal is None:
            asked.append(pair)
        else:
            known[pair] = equal
    return Needed(known, tuple(asked))


def _pairs(question: Question, releases: "Sequence[Release]", combinations: Sequence[Combination]) -> Iterator[Pair]:
    """The pairs of terms that one column is made of, each term with itself among them."""
    for output in question.outputs:
        places = {place for i in released_in(output.value) for place in releases[i].places}
        used = {term for place in places for term, _ in combinations[place].parts}
        yield from combinations_with_replacement(sorted(used), 2)


def _equal(pair: Pair, terms: Sequence[Term], rows: RowsEach) -> Iterator[int]:
    """The terms that the product of two is equal to, in every unit."""
    for one, other in (pair, pair[::-1]):
        if _counts_once(terms[other], rows) and _within(terms[one], terms[other], rows):
            yield one
    if rows is RowsEach.ONE:
        product = product_of(terms[pair[0]], terms[pair[1]])
        yield from (i for i, each in enumerate(terms) if each.value == product.value)


def _counts_once(term: Term, rows: RowsEach) -> bool:
    """Whether a unit gives 1 or nothing, whatever range is found of a number."""
    return (term.how is How.ANY or rows is not RowsEach.SEVERAL) and (
        term.value == ONE or isinstance(term.value, Indicator)
    )


def _within(one: Term, whole: Term, rows: RowsEach) -> bool:
    """Whether whoever gives anything to a term surely counts in the other.

    Of rows that are counted as one by lot, the lot may leave out all on which a condition is true: then only what is counted by the same
    lot is surely left out, too.
    """
    if one == whole or whole.value == ONE:
        return True
    by_lot = rows is RowsEach.CAPPED and whole.how is How.SUM
    if isinstance(one.value, Indicator) and isinstance(whole.value, Indicator):
        return set(_parts(whole.value)) <= set(_parts(one.value)) and (not by_lot or one.how is How.SUM)
    return isinstance(one.value, Steps) and not by_lot and counts_all(whole.value, one.value.operand)


def product_of(one: Term, other: Term) -> Term:
    """The product of two terms of one row; with `shift_of_product` it is in steps that are as much coarser."""
    return Term(How.SUM, _product(one.value, other.value))


def _product(one: Scalar, other: Scalar) -> Scalar:
    match one, other:
        case (Literal(), _):
            return other
        case (_, Literal()):
            return one
        case Indicator(), Indicator():
            more = [each for each in _parts(other) if each not in _parts(one)]
            return Indicator(And((*_parts(one), *more))) if more else one
        case Indicator(), Steps():
            return _product(other, one)
        case Steps(), Indicator():
            operand = Case(((other.condition, one.operand),), Literal(None, Type.NUMBER))
            return Steps(operand, one.low, one.high, one.shift, one.middle)
        case Steps(), Steps():
            return Product(one, other, _shift(one, other), 0)
    raise unsupported("this")


def _parts(indicator: Indicator) -> tuple[Scalar, ...]:
    condition = indicator.condition
    return condition.parts if isinstance(condition, And) else (condition,)


def _shift(one: Steps, other: Steps) -> int:
    size = max(map(abs, product_ends(Product(one, other, 0, 0))))
    return divisor_for(size).bit_length() - 1


def shift_of_product(term: Term) -> int:
    """The powers of two by which the steps of a product of one row are coarser than those of its factors."""
    return term.value.shift if isinstance(term.value, Product) else 0


def weight_of(moments: int, measurements: int) -> Fraction:
    """For how many measurements second moments count where a price is split, so that they get their share of it."""
    return measurements * SHARE / (1 - SHARE) if moments else Fraction(0)


# What has no such interval.


def check_supported(question: Question, releases: "Sequence[Release]") -> None:
    """For a question whose intervals can be for a population: returns. For any other: raises QueryError."""
    for aggregate, release in zip(question.aggregates, releases, strict=True):
        if not release.of_totals:
            raise unsupported(said_aggregate(aggregate))
    if question.levels:
        raise QueryError(
            "population intervals are of one level of GROUP BY: how far subtotals vary is not measured",
            code=CODE,
            hint="ask for one level at a time, or leave population out",
        )
    if any(windows_in(output.value) for output in question.outputs):
        raise QueryError(
            "population intervals are of each group by itself: how far groups vary together is not measured",
            code=CODE,
            hint="leave the window (OVER) out and divide what is released, or leave population out",
        )
    if not any(released_in(output.value) and type_of(output.value).numeric for output in question.outputs):
        raise QueryError(
            "population intervals are of released numbers, and there is none", code=CODE, hint="leave population out"
        )


def unsupported(what: str) -> QueryError:
    """What to say of an aggregate whose variance over samples of people is not measured."""
    return QueryError(
        f"there is no population interval of {what}: counts, sums, means and what is computed from these have one",
        code=CODE,
        hint="leave population out, or ask for this by itself: then its ± is for the noise alone",
    )


def without_prediction() -> QueryError:
    """What to say where an accuracy is asked for that no plan can promise."""
    return QueryError(
        "within cannot be promised with population: how much people differ is not known before it is measured",
        code=CODE,
        hint="ask at a price, epsilon = 1, say; or ask within without population: that is for the noise alone",
    )


NOTE = (
    "± holds the noise and the chance of who was sampled, as if people had come independently out of a large population; bias from"
    " limits and clamping, and people who were not drawn by chance, are not in it"
)

AHEAD = NOTE.replace("± holds", "the ± of the answer will hold", 1)
"""The same before anything is measured: what is foreseen is of the noise alone."""
