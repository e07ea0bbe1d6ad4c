"""PrivacyLoss: what a release, or many, costs. Losses add, multiply by counts, and answer every question about the price.

`loss(event)` is the one place that knows how events combine. Both directions, removing a unit and adding one, are kept always,
and every answer is the worse of the two. `epsilon` and `delta` are near-exact values, or else certified from above; of a sum of a
few kinds they are compared with certified ends.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, reduce, wraps
from math import exp, inf, log, nextafter
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, probability, rational, shown, to_float_up, whole
from discreet.privacy import events
from discreet.privacy import mgf as _plain  # noqa: F401 - these two register what each leaf costs
from discreet.privacy import sampled as _sampled  # noqa: F401
from discreet.privacy.adjacency import Adjacency, Relation, joined
from discreet.privacy.cost import cost_of, sides
from discreet.privacy.numeric.bounds import LEAST_DELTA, PRECISION, ROUNDING
from discreet.privacy.numeric.direction import Direction, with_failure, without_failure
from discreet.privacy.numeric.search import minimum
from discreet.privacy.numeric.unresolved import Unresolved

# K'(0) is had from K at this height above 0, off by a third of its square; and the least α − 1 at which K/(α − 1) is not all rounding.
NEAR_ZERO, LEAST_ORDER = 1e-6, 1e-4
# Beyond this ε e^ε is hardly a float, and a trade-off curve has long ended.
FARTHEST = 700.0
# A larger ε counts as this, so that no tilt of it overflows.
MOST_LOSS = Fraction(10**290)
# Times that a text counts.
MOST_WRITTEN = 10**15
# A precision that is enough to see that a direction is not the worse one: most often they differ by far more.
COARSE = 3e-3


def loss(event: events.Event) -> "PrivacyLoss":
    """The privacy loss of an event; an unknown event raises."""
    counts: dict[events.Leaf, int] = {}
    relation = _collect(event, 1, counts)
    return PrivacyLoss(tuple(counts.items()), relation)


def _collect(event: events.Event, times: int, counts: dict[events.Leaf, int]) -> Relation | None:
    """Add the leaves of an event to the counts; the relation under which they were computed, if one is known."""
    match event:
        case events.Composed(parts):
            return reduce(joined, (_collect(part, times, counts) for part in parts), None)
        case events.Repeated(part, more):
            return _collect(part, times * more, counts)
        case events.Under(part, relation):
            return joined(_collect(part, times, counts), relation)
        case events.Leaf():
            counts[event] = counts.get(event, 0) + times
            return cost_of(event).relation
        case _:
            raise Invalid(f"no privacy loss is known for {shown(event)}", code="event")


P = ParamSpec("P")
R = TypeVar("R")


def _one_at_a_time(
    question: Callable[Concatenate["PrivacyLoss", P], R],
) -> Callable[Concatenate["PrivacyLoss", P], R]:
    """A question that no other thread asks of the same loss meanwhile: what is computed on the way is kept, and shared."""

    @wraps(question)
    def asked(self: "PrivacyLoss", /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return question(self, *args, **kwargs)

    return asked


class PrivacyLoss:
    """The loss of leaves, each some number of times, under a neighbour relation where one is known. Threads may share it."""

    def __init__(self, terms: Sequence[tuple[events.Leaf, int]] = (), relation: Relation | None = None) -> None:
        counts: dict[events.Leaf, int] = {}
        for leaf, n in terms:
            counts[leaf] = counts.get(leaf, 0) + whole(n, "times")
        self.terms = tuple((leaf, n) for leaf, n in counts.items() if n)
        # an unknown leaf raises here, before anything is computed
        self._known = [(sides(leaf), n) for leaf, n in self.terms if cost_of(leaf).concentrated is None]
        self.relation = relation
        self._lock = RLock()

    def __reduce__(self) -> tuple[object, ...]:
        """A copy computes everything anew."""
        return PrivacyLoss, (self.terms, self.relation)

    @classmethod
    def from_table(cls, rows: Sequence[Sequence[Number]]) -> "PrivacyLoss":
        """The loss of a mechanism given by rows[x][y] = Pr[y | x]; any two inputs x are neighbours."""
        return cls(((events.FiniteTable(rows), 1),))

    @property
    def event(self) -> events.Event:
        """The event this is the loss of, in a standard form."""
        parts = tuple(leaf if n == 1 else events.Repeated(leaf, n) for leaf, n in self.terms)
        inner: events.Event = parts[0] if len(parts) == 1 else events.Composed(parts)
        return inner if self.relation is None else events.Under(inner, self.relation)

    def __repr__(self) -> str:
        """The ε where one holds at δ = 0, and the kinds of what was drawn: known at once, without a search and without the lock."""
        counts: dict[str, int] = {}
        for leaf, n in self.terms:
            counts[leaf.kind] = counts.get(leaf.kind, 0) + n
        several = {kind: f"{n:,}" if n < MOST_WRITTEN else f"{MOST_WRITTEN:.0e} or more" for kind, n in counts.items()}
        kinds = " + ".join(kind if n == "1" else f"{n} × {kind}" for kind, n in several.items())
        bounded = len(self._known) == len(self.terms) and not any(
            side.failure or side.pure is None for pair, _ in self._known for side in pair
        )
        tops = [[(n if n < MOST_WRITTEN else inf, pair[i].largest) for pair, n in self._known] for i in range(2)]
        most = max(sum(n * top for n, top in side if top) for side in tops)
        price = f"ε = {most:.6g}" if bounded else "ε depends on δ"
        under = f", {self.relation}" if self.relation else ""
        return f"PrivacyLoss({price}: {kinds or 'nothing'}{under})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        return dict(self.terms) == dict(other.terms) and self.relation == other.relation

    def __hash__(self) -> int:
        return hash((frozenset(self.terms), self.relation))

    def __add__(self, other: object) -> "PrivacyLoss":
        """Composition, adaptive too: the second mechanism may be chosen after seeing the first result."""
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        return PrivacyLoss(self.terms + other.terms, joined(self.relation, other.relation))

    def __radd__(self, other: int) -> "PrivacyLoss":
        """0 + loss, so that `sum` adds losses up."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __mul__(self, times: int) -> "PrivacyLoss":
        """The loss of `times` such releases."""
        n = whole(times, "times")
        return PrivacyLoss([(leaf, n * count) for leaf, count in self.terms], self.relation)

    __rmul__ = __mul__

    @cached_property
    def _directions(self) -> tuple[Direction, ...]:
        rho = sum((n * (cost_of(leaf).concentrated or Fraction(0)) for leaf, n in self.terms), Fraction(0))
        same = all(pair[0] is pair[1] for pair, _ in self._known)
        return tuple(Direction([(pair[i], n) for pair, n in self._known], rho) for i in range(1 if same else 2))

    @_one_at_a_time
    def epsilon(self, delta: Number = 0) -> float:
        """The least ε >= 0 such that this is (ε, δ)-DP; infinity where there is none."""
        wanted = probability(delta, "delta")
        first, *others = self._directions
        least = _epsilon(first, wanted)
        for other in others:  # most often no worse than the first, which one look tells
            if not wanted or with_failure(_resolved(other.log_delta, least), other.failure) > wanted:
                least = max(least, _epsilon(other, wanted))
        return least

    @_one_at_a_time
    def pure_epsilon(self) -> Fraction | None:
        """The ε at δ = 0, exactly where that is a rational number, else rounded up; None where there is none."""
        if any(direction.failure or direction.pure is None for direction in self._directions):
            return None
        return max(direction.pure for direction in self._directions if direction.pure is not None)

    @_one_at_a_time
    def delta(self, epsilon: Number) -> float:
        """The least δ such that this is (ε, δ)-DP: the hockey-stick divergence, the worse of both directions."""
        wanted = _loss_float(epsilon)
        return max(
            with_failure(_resolved(direction.log_delta, wanted), direction.failure) for direction in self._directions
        )

    @_one_at_a_time
    def interval(self, delta: Number = 0) -> tuple[float, float]:
        """Certified (lower, upper) ends of epsilon(delta): the truth lies between them. Only the upper end is ever charged.

        Their distance is about 1e-4 of ε at most, where lattices of a million points allow it. A sum with a part of which only zCDP
        is known has no lower end, and is refused.
        """
        wanted = probability(delta, "delta")
        if any(direction.rho for direction in self._directions):
            raise Invalid(
                "what is known by zCDP alone has no lower end", hint="use epsilon(delta), which is an upper bound"
            )
        low, high = 0.0, 0.0
        for direction in self._directions:
            if not high or _above(direction, wanted, COARSE) > high:
                ends = _interval(direction, wanted)
                low, high = max(low, ends[0]), max(high, ends[1])
        return low, high

    @_one_at_a_time
    def worse_direction(self, epsilon: Number) -> int:
        """Which direction decides δ(ε): 0 for removing a unit, 1 for adding one."""
        wanted = _loss_float(epsilon)
        deltas = [direction.log_delta(wanted) for direction in self._directions]
        return deltas.index(max(deltas))

    @_one_at_a_time
    def log_delta(self, epsilon: Number, direction: int) -> float:
        """ln δ(ε) in one direction, apart from open failure."""
        return self._directions[direction].log_delta(_loss_float(epsilon))

    @_one_at_a_time
    def log_delta_above(self, epsilon: Number) -> float:
        """ln of a certified upper bound on δ(ε)."""
        wanted = _loss_float(epsilon)
        first, *others = self._directions
        most = _log_of_all(first.log_delta_above(wanted), first)
        for other in others:
            if _log_of_all(other.log_delta_above(wanted, COARSE), other) > most:
                most = max(most, _log_of_all(other.log_delta_above(wanted), other))
        return most

    @_one_at_a_time
    def certifies(self, epsilon: Number, delta: Number) -> bool:
        """Whether a certified bound shows that this is (epsilon, delta)-DP."""
        wanted, allowed = nonnegative(epsilon, "epsilon"), probability(delta, "delta")
        if all(direction.pure is not None and direction.pure <= wanted for direction in self._directions):
            return all(direction.failure <= allowed for direction in self._directions)
        return allowed > 0 and self.log_delta_above(wanted) <= log(allowed.numerator) - log(allowed.denominator)

    @_one_at_a_time
    def rdp(self, order: Number) -> float:
        """Rényi differential privacy of an order α > 1: K(α − 1)/(α − 1)."""
        exact = rational(order, "order")
        if exact <= 1:
            raise Invalid(f"order must be greater than 1, got {shown(order)}")
        c = float(exact - 1)
        if any(direction.failure for direction in self._directions):
            return inf
        return max(0.0, *(min(direction.axis.at(c) / c, direction.largest) for direction in self._directions))

    @_one_at_a_time
    def zcdp(self) -> float:
        """The least ρ such that this is ρ-zCDP: the supremum of K(α − 1)/(α(α − 1)) over all orders."""
        if any(direction.failure for direction in self._directions):
            return inf
        return max(_zcdp(direction) for direction in self._directions)

    @_one_at_a_time
    def bad_event(self, epsilon: Number) -> float:
        """Pr[|L| > ε]: how often the loss exceeds ε either way, the worse of both directions.

        At least `exceeds(ε)`, which is at least δ(ε): a bad event of probability δ is enough for (ε, δ)-DP, and not necessary.
        """
        wanted = nonnegative(epsilon, "epsilon")
        if len(self.terms) == 1 and self.terms[0][1] == 1:
            exact = cost_of(self.terms[0][0]).beyond(wanted)
            if exact is not None:
                return exact
        pairs = zip(self._with_loss, reversed(self._with_loss), strict=True)
        return max(_beyond(direction, reverse, _loss_float(wanted)) for direction, reverse in pairs)

    @_one_at_a_time
    def exceeds(self, epsilon: Number) -> float:
        """Pr[L > ε], the worse of both directions."""
        wanted = _loss_float(epsilon)
        return max(with_failure(direction.log_tail(wanted), direction.failure) for direction in self._with_loss)

    @_one_at_a_time
    def catastrophe(self) -> float:
        """Pr[L = ∞]: that an output shows for certain that the unit is there, or is not. At most δ(ε), whatever ε is."""
        return max(float(direction.failure) for direction in self._with_loss)

    @property
    def _with_loss(self) -> tuple[Direction, ...]:
        if any(direction.rho for direction in self._directions):
            raise Invalid("what is known by zCDP alone has no distribution of the loss", hint="use delta(epsilon)")
        return self._directions

    @_one_at_a_time
    def tradeoff(self, alpha: Number) -> float:
        """The least false-negative rate of any attacker whose false-positive rate is `alpha`.

        The convex conjugate of δ(ε): sup over ε >= 0 of 1 − δ(ε) − e^ε α and of e^-ε (1 − δ(ε) − α) (Dong, Roth and Su 2022).
        """
        rate = float(probability(alpha, "alpha"))
        directions = self._with_loss
        if rate in (0.0, 1.0):
            return 0.0 if rate else 1.0 - float(max(direction.failure for direction in directions))

        def steep(epsilon: float) -> float:
            return exp(epsilon) * rate - (1 - self.delta(epsilon))

        def flat(epsilon: float) -> float:
            return exp(-epsilon) * (rate - (1 - self.delta(epsilon)))

        far = self.epsilon(Fraction(1 - probability(alpha, "alpha"), 100)) + 1
        low = minimum(steep, 0.0, -log(rate), along=exp)  # a line plus δ, which is convex in e^ε
        return max(0.0, -low, -minimum(flat, 0.0, min(far, FARTHEST), along=lambda epsilon: -exp(-epsilon)))

    @_one_at_a_time
    def posterior(self, prior: Number = Fraction(1, 2)) -> float:
        """How often the best attacker is right about one unit's presence, who held it for likely with probability `prior`.

        The Bayes success m + (1 − m) δ(ln(m/(1 − m))), m the larger of prior and 1 − prior; at an even prior ½ + δ(0)/2, for pure ε
        e^ε/(1 + e^ε).
        """
        exact = probability(prior, "prior")
        more = max(exact, 1 - exact)
        if more == 1:
            return 1.0
        return float(more) + float(1 - more) * self.delta(log(more / (1 - more)))

    @_one_at_a_time
    def plot(self) -> dict[str, Any]:
        """A Vega-Lite picture: the distribution of the loss, δ(ε), and an attacker's error rates."""
        from discreet.privacy.picture import specification  # only who looks at pictures waits for them

        return specification(self)

    @_one_at_a_time
    def draw(self, width: int = 72) -> str:
        """A picture for a terminal, in at most `width` columns: the distribution of the loss, ε at three δ, and what attackers achieve."""
        from discreet.privacy.picture import drawing

        return drawing(self, width)

    def group(self, k: int) -> "PrivacyLoss":
        """The loss for k units together: sensitivities grow k-fold, and what has none is bounded by group privacy."""
        n = whole(k, "k", least=1)
        return self if n == 1 else PrivacyLoss([(cost_of(leaf).group(n), m) for leaf, m in self.terms], self.relation)

    def sampled(self, q: Number) -> "PrivacyLoss":
        """The loss when each unit is seen with probability q only (Poisson), under add/remove; for a single leaf."""
        if len(self.terms) != 1 or self.terms[0][1] != 1:
            raise Invalid("only a single leaf can be sampled", hint="sample each part by itself, then add and multiply")
        relation = joined(self.relation, Relation(Adjacency.ADD_REMOVE))
        return PrivacyLoss(((events.Sampled(q, self.terms[0][0]), 1),), relation)


def _loss_float(epsilon: Number) -> float:
    """ε as a float; one beyond all floats counts as less, which is never too good."""
    return float(min(nonnegative(epsilon, "epsilon"), MOST_LOSS))


def _epsilon(direction: Direction, delta: Fraction) -> float:
    if delta >= 1:
        return 0.0
    left = without_failure(delta, direction.failure)
    if left < 0:
        return inf
    if left == 0:
        return direction.largest
    return _resolved(direction.epsilon, left)


def _interval(direction: Direction, delta: Fraction) -> tuple[float, float]:
    if delta >= 1:
        return 0.0, 0.0
    left = delta - direction.failure
    if left <= 0:
        return (direction.largest * (1 - ROUNDING), direction.largest * (1 + ROUNDING)) if left == 0 else (inf, inf)
    if not float(left):  # a δ below all floats: next to nothing is allowed above, and more is below
        return direction.interval(LEAST_DELTA, PRECISION)[0], direction.largest * (1 + ROUNDING)
    low, high = direction.interval(float(left), PRECISION)
    return min(low, direction.largest * (1 - ROUNDING)), high  # a bound may be that of a pair which is a little worse


def _above(direction: Direction, delta: Fraction, precision: float) -> float:
    left = delta - direction.failure
    return direction.epsilon_above(float(left), precision) if float(left) > 0 else inf


def _beyond(direction: Direction, reverse: Direction, epsilon: float) -> float:
    """P(L > ε) + P(L < −ε). The loss of the reverse pair under Q is −L, and there Q(−L > ε) − δ(ε) = e^ε P(−L > ε)."""
    below = exp(reverse.log_tail(epsilon)) - exp(reverse.log_delta(epsilon))
    return min(1.0, float(direction.failure) + exp(direction.log_tail(epsilon)) + exp(-epsilon) * max(0.0, below))


def _log_of_all(log_delta: float, direction: Direction) -> float:
    """With what fails openly."""
    failure = to_float_up(direction.failure)
    return min(0.0, nextafter(float(np.logaddexp(log_delta, log(failure))), inf)) if failure else log_delta


def _resolved(function: object, value: float) -> float:
    try:
        return function(value)  # type: ignore[operator, no-any-return]
    except Unresolved as error:
        raise Invalid(
            "this composition has too few parts of too different kinds for a near-exact value",
            code="unresolved",
            hint="bound it from above by the sum of its parts, or compose it with more of the same kinds",
        ) from error


def _zcdp(direction: Direction) -> float:
    """The supremum is inside, or where the order goes to 1 or to infinity."""
    axis = direction.axis

    def rate(log_c: float) -> float:
        c = exp(log_c)
        k = axis.at(c)
        return -k / (c * (c + 1)) if k < inf else 0.0

    best = axis.least(lambda seen: np.where(seen.c > LEAST_ORDER, -seen.k / (seen.c * (seen.c + 1)), inf))
    low, high = map(log, best.neighbours)
    limit = direction.rho + sum(n * side.rho for side, n in direction.parts)
    mean = float(direction.k(np.array([NEAR_ZERO * 1j]))[0].imag) / NEAR_ZERO  # K'(0), the limit at order 1
    return max(0.0, limit, mean, -minimum(rate, max(low, log(LEAST_ORDER)), high))
