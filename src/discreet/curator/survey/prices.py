"""What a survey draws, and what that costs: fixed before any data is read, the same whatever stage 1 tells of a column.

In stage 1 a person is in at most 4 counts a column, which moves them by 2 in L2. In stage 2 a column is drawn twice: a *large* draw, which
one person moves by 2, and a *small* one, which they move by 1. For keys the large one counts the people of each, with KEYS keys a person
at most, and the small one in how many of the found keys they are; for a range the small one finds the outer range, and the large
one is the histogram within it, of one value a person, counted in halves. All draws of a stage have noise of one scale,
so that they are one Gaussian vector, whose price is of its L2 norm. Without a δ noise is geometric, and priced by L1 norms.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from discreet.errors import Fault
from discreet.exact import sqrt_up
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.keys import NamedKeys
from discreet.mechanisms.sensitivity import Norm
from discreet.privacy import Relation, events, loss
from discreet.privacy.adjacency import cells_moved

KEYS = 4
"""Keys of a column that one person counts with."""

TERMS = 4
"""Counts of a column in stage 1 that one person may be in."""

SHARE = Fraction(1, 5)
"""Of the price, for stage 1: of μ² where noise is Gaussian, of ε where it is geometric. Simulated: see docs/survey.md."""

OF_PEOPLE, OF_ROWS, OF_TOTAL = 2, 4, 4
"""What one person weighs in the number of people, in how many rows a person has, and in the number of rows."""

LARGE, SMALL = 2, 1
"""What one person weighs in the histogram of a range, and in its outer range or in how many keys they have."""

FINE = 1 << 20
"""Steps of one person in the number of rows: that is divided by the limit on rows, which is found, so that the noise is not."""

MOST_COLUMNS = 5
"""Without a δ."""

TRIES = 32


@dataclass(frozen=True, slots=True)
class PricedDraw:
    """Noise on a vector of integers, and how far one unit may move that: a draw of a survey, before it is made."""

    mechanism: IntegerNoise
    sensitivity: Fraction
    weight: int
    """What one count is worth, in steps."""

    @property
    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)

    @property
    def deviation(self) -> float:
        """Of a released count."""
        return sqrt(self.mechanism.variance) / self.weight

    @property
    def error(self) -> float:
        """The ± of a released count, at 95 %."""
        return self.mechanism.error() / self.weight


@dataclass(frozen=True, slots=True)
class Prices:
    """The draws of a survey of so many columns; where rows are protected nobody has several."""

    relation: Relation
    columns: int
    several: bool
    epsilon: Fraction
    delta: Fraction
    first: PricedDraw
    rows: PricedDraw
    total: PricedDraw
    large: PricedDraw
    small: PricedDraw
    keys: NamedKeys | None
    """The rule by which keys are selected, in the place of the large draw; None without a δ."""

    @property
    def event(self) -> events.Event:
        """Whatever is drawn, composed: what is charged, and what the grant is for."""
        return events.Under(events.Composed(tuple(self._parts())), self.relation)

    def _parts(self) -> Iterator[events.Event]:
        yield self.first.event
        if self.several:
            yield from (self.rows.event, self.total.event)
        column = [self.large.event, self.small.event]
        if self.keys is not None:
            # A range uses the noise of this only, and has paid for the keys that it might have had.
            column[0] = self.keys.event()
        if self.columns:
            yield from (events.Repeated(each, self.columns) for part in column for each in _leaves(part))


def _leaves(event: events.Event) -> tuple[events.Event, ...]:
    return event.parts if isinstance(event, events.Composed) else (event,)


def prices_for(relation: Relation, columns: int, epsilon: Fraction, delta: Fraction, *, several: bool) -> Prices:
    """The draws that are (ε, δ)-DP together; half of δ is for keys that nobody else has, in equal parts a column."""
    if not delta:
        return _prices(relation, columns, several, epsilon, delta, (epsilon, 1))
    sigma = RoundedGaussian.for_budget(epsilon, delta / 2, sensitivity=1).scale
    for tries in range(TRIES):
        found = _prices(relation, columns, several, epsilon, delta, (1 / sigma**2, 2))
        if loss(found.event).certifies(epsilon, delta):
            return found
        sigma *= 1 + Fraction(1 << tries, 10**9)  # that bounds are rounded up, and where noise is tiny by much
    raise Fault("no noise was found for this price", code="survey")


def _prices(
    relation: Relation,
    columns: int,
    several: bool,
    epsilon: Fraction,
    delta: Fraction,
    worth: tuple[Fraction, int],
) -> Prices:
    """The draws for a price, which is ε, or μ²: in both what is drawn with one scale adds up."""
    price, power = worth
    norm = Norm.L2 if delta else Norm.L1
    moved = cells_moved(relation)
    first = OF_PEOPLE**power + TERMS * columns
    later = Fraction(moved * max(1, columns) * (LARGE**power + SMALL**power))
    # the division of the number of rows rounds down, which may add a step
    counted = OF_TOTAL * FINE + 1
    later += moved * OF_ROWS**power + Fraction(counted, FINE) ** power if several else 0
    one, other = _noise(SHARE * price / first, norm), _noise((1 - SHARE) * price / later, norm)
    keys = NamedKeys.for_noise(other.scale, delta / 2 / max(1, columns), groups=KEYS * moved) if delta else None

    def drawn(weight: int) -> PricedDraw:
        return PricedDraw(other, _size(moved * weight**power, norm), weight)

    total = type(other)(other.scale * FINE)
    return Prices(
        relation,
        columns,
        several,
        epsilon,
        delta,
        PricedDraw(one, _size(first, norm), 1),
        drawn(OF_ROWS),
        PricedDraw(total, Fraction(counted), OF_TOTAL * FINE),
        drawn(LARGE),
        drawn(SMALL),
        keys,
    )


def _noise(each: Fraction, norm: Norm) -> IntegerNoise:
    """Noise for a price of so much per step of the (squared) norm."""
    return Geometric(1 / each) if norm is Norm.L1 else RoundedGaussian(sqrt_up(1 / each))


def _size(norm_to_its_power: int, norm: Norm) -> Fraction:
    return Fraction(norm_to_its_power) if norm is Norm.L1 else sqrt_up(Fraction(norm_to_its_power))
