"""That a survey is charged for all that it may read: how far a unit moves each query, by the rules of relations, computed anew.

Nothing is taken over from how prices were made. Every query is looked at that a survey may come to, whatever stage 1 releases; a draw that
its query moves by more than is charged for is a Fault, before anything is spent. How many rows and groups people have is read by
differences of queries, which no rule knows; there tests try all neighbours.
"""

from collections.abc import Sequence
from fractions import Fraction

from discreet.curator.survey import ladder, reading
from discreet.curator.survey.prices import FINE, LARGE, OF_PEOPLE, OF_TOTAL, SMALL, PricedDraw, Prices
from discreet.curator.survey.reading import ONE, Surveyed
from discreet.errors import Fault
from discreet.mechanisms.sensitivity import Norm, Sensitivity
from discreet.plan.combination import Combination
from discreet.plan.relation import CapTotal, Contributions, How, Term, Totals, terms_of
from discreet.plan.rules import computed as computed
from discreet.plan.rules.relations import combined, term_bounds
from discreet.plan.scalar import Type

MANY = 1 << 30
"""Cells of a query whose groups are not known."""

LIMITS = (1, 7, ladder.MOST_ROWS_OF_ONE)
"""Of rows of a person, at which the number of rows is looked at."""


def check_survey(surveyed: Surveyed, prices: Prices) -> None:
    """For a survey whose draws cover its queries: returns. For any other: raises Fault."""
    query = reading.looks(surveyed)
    people_and_looks = [OF_PEOPLE] + [1] * (len(terms_of(query)) - 1)  # there is no look where every column is declared
    _covers(prices.first, query, prices, 1, people_and_looks, 1)
    if surveyed.person is not None:
        for most in LIMITS:
            gathered = Contributions(surveyed.scan(), surveyed.person, (), (Term(How.SUM, ONE),))
            moved = combined(Combination.plain(0), Totals(CapTotal(gathered, most)), prices.relation, 1).l1
            if prices.total.sensitivity < moved * OF_TOTAL * FINE / most + 1:
                raise _beyond()
    for column in surveyed.columns:
        for kind in (Type.NUMBER, Type.DATE):
            edges = ladder.outer(kind)
            _covers(
                prices.small, reading.by_cell(surveyed, column, kind, edges), prices, SMALL, [SMALL], len(edges) + 1
            )
            query = reading.by_cell(surveyed, column, kind, ladder.inner(0.0, 64.0, kind)[1:-1])
            _covers(prices.large, query, prices, LARGE, [LARGE], ladder.BINS)
        for kind in (Type.TEXT, Type.BOOLEAN):
            query = reading.by_key(surveyed, column, kind)
            # each count of people moves by one
            if prices.keys is not None and prices.keys.groups < _moved(query, prices, [1], MANY, Norm.L1):
                raise _beyond()


def _covers(drawn: PricedDraw, query: Totals, prices: Prices, weight: int, weights: Sequence[int], cells: int) -> None:
    """For noise on what is counted with a weight, the terms of a query with theirs: returns where it is enough."""
    norm = drawn.mechanism.norm
    if norm is None or drawn.weight != weight:
        raise Fault("a survey counts a person with another weight than it draws for", code="survey")
    power = 1 if norm is Norm.L1 else 2
    if drawn.sensitivity**power < _moved(query, prices, weights, cells, norm):
        raise _beyond()


def _moved(query: Totals, prices: Prices, weights: Sequence[int], cells: int, norm: Norm) -> Fraction:
    """How far a neighbour moves all totals of a query together: in L1, or squared in L2."""
    alike: dict[object, Sensitivity] = {}
    total = Fraction(0)
    for i, (term, weight) in enumerate(zip(terms_of(query), weights, strict=True)):
        # What a rule knows of a term: those of many columns are alike.
        kind = (term.how, term_bounds(term), type(term.value))
        if kind not in alike:
            alike[kind] = combined(Combination.plain(i), query, prices.relation, cells)
        each = alike[kind]
        total += weight * each.l1 if norm is Norm.L1 else weight**2 * each.l2_squared
    return total


def _beyond() -> Fault:
    return Fault(
        "a survey does not hold: a neighbour can change a count by more than its noise is made for", code="survey"
    )
