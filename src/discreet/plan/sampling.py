"""How much released totals vary with the people who were sampled, by the second moments that were released beside them.

The variance of a form Σ a_k · total_k is Σ a_j a_k M_jk over second moments M of the terms, each with noise. What is released of it is
unbiased, and so as often too small as too large. Let s be the standard deviation of its noise, which is public. Intervals take

    V⁺ = max(V, 0) + √(a² + b²),  a = s · (1 + ln 1/α)/6,  b = max(3, 3z²/4) · m²

for a confidence of 1 − α, and its normal quantile z.

**Noise.** a is enough for every true variance: for Laplace and for Gaussian noise the least number of s that holds 1 − α was computed for
true variances from s/50 to 3000 s, and is 0.56 at 95 %, 0.79 at 99 % and 1.9 at 1 − 10^−5, where this has 0.67, 0.93 and 2.1.

**Few people.** A sample that happens to lack those who give most has a small total and a small variance. In b m is the most that one
person may give to the form, which is public: at 95 % it is as if three people more had come who give that. The worst there is are rare
events, a few people who give m among many who give nothing: their number is Poisson, and for every mean of it, at 95 % and without any
noise, the interval holds 94.3 % or more (computed, for means of 0.02 to 3000). With (z/2)², a part of the variance of Wilson's interval
(1927), it would be 85.7 % at a mean of 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import NormalDist

import numpy as np

from discreet.plan.affine import Affine, AffineForm, Reals, Span, inside
from discreet.plan.combination import Combination
from discreet.plan.moment_reading import SampledMoments
from discreet.plan.plan import Plan
from discreet.plan.population import Pair, RowsEach, needed
from discreet.plan.relation import CapRows, Contributions, Rows, walk
from discreet.plan.rules.relations import most_of_one, reach_of, term_bounds
from discreet.plan.spread import Noise, deviation, regions, slopes, smooth_widths


@dataclass(frozen=True, slots=True)
class ReleasedMoment:
    """A second moment that was released: its place, what a step of it is worth, and the standard deviation of its noise."""

    place: int
    step: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Sampling:
    """The second moments that were released for a plan."""

    combinations: Sequence[Combination]
    moments: Mapping[Pair, ReleasedMoment]
    most: Mapping[int, float]
    """The most that one person gives to each term in a group, in size; of terms that are never negative as it is, of others below 0."""

    @classmethod
    def of(cls, plan: Plan) -> "Sampling":
        """Those of a decided plan whose question asks for a population."""
        stage, combinations = plan.decided, [each.made for each in plan.measurements]
        needs = needed(plan.question, plan.releases, combinations, plan.terms, _rows_each(plan))
        moments = {
            pair: ReleasedMoment(place, 1.0, deviation(stage.noise_of(place))) for pair, place in needs.known.items()
        }
        for i, reading in enumerate(stage.readings):
            if isinstance(reading, SampledMoments):
                for place, pair, shift in zip(stage.columns_of(i), reading.pairs, reading.shifts, strict=True):
                    moments[pair] = ReleasedMoment(place, 2.0**shift, deviation(stage.noise_of(place)))
        used = {term for pair in moments for term in pair}
        return cls(combinations, moments, {term: _most(plan, term) for term in used})

    def deviations(self, affine: Affine, totals: Mapping[int, Reals], confidence: float) -> Reals:
        """For each row the standard deviation of an affine function of totals over samples of people, upward."""
        size = affine.constant.shape
        by_term: dict[int, Reals] = {}
        for place, slope in affine.slopes.items():
            combination = self.combinations[place]
            for term, whole in combination.parts:
                by_term[term] = by_term.get(term, np.zeros(size)) + slope * (whole / combination.divisor)
        weights: dict[int, tuple[Reals, ReleasedMoment]] = {}
        largest = np.zeros(size)
        for (one, other), moment in self.moments.items():
            if one in by_term and other in by_term:
                product = by_term[one] * by_term[other] * (1 if one == other else 2)
                before = weights[moment.place][0] if moment.place in weights else np.zeros(size)
                weights[moment.place] = before + product * moment.step, moment
                largest = largest + self._largest(one, other, product)
        variance, noise = np.zeros(size), np.zeros(size)
        for place, (weight, moment) in weights.items():
            variance = variance + weight * totals[place].reshape(-1, *[1] * (len(size) - 1))
            noise = noise + (weight * moment.deviation) ** 2
        more = several(confidence) * largest
        upward: Reals = np.maximum(variance, 0.0) + np.hypot(margin(confidence) * np.sqrt(noise), more)
        return np.sqrt(upward)

    def _largest(self, one: int, other: int, product: Reals) -> Reals:
        """What a product of two terms may add to the square of what one person gives: nothing where both are never negative and it is taken
        away."""
        first, second = self.most.get(one, 0.0), self.most.get(other, 0.0)
        size = np.maximum(product, 0.0) if first >= 0 and second >= 0 else np.abs(product)
        return np.asarray(size * abs(first * second), np.float64)

    def span(
        self,
        form: AffineForm,
        slopes_of: tuple[Reals | None, Reals | None],
        noises: Sequence[Noise],
        totals: Mapping[int, Reals],
        confidence: float,
    ) -> Span:
        """The interval of a form. `slopes_of` are those of its top and of its bottom, by rows and noises; each row has its own spread."""
        top, bottom = slopes_of
        centre, size = form.top.at(totals), form.low.shape
        if top is None or bottom is None or form.bottom is None:
            spread = self.deviations(form.top, totals, confidence)
            widths = smooth_widths(np.abs(np.asarray(top)), noises, confidence, spread) + form.top.off
            return Span(*inside(centre - widths, centre + widths, form), np.zeros(size, np.bool_), widths)
        divisor = form.bottom

        def beside(u: Reals, v: Reals) -> Reals:
            return self.deviations(form.top.along(u).plus(divisor.along(v)), totals, confidence)

        corners = regions(top, bottom, noises, confidence, beside)
        off = np.stack([np.broadcast_to(np.asarray(each.off), size) for each in (form.top, divisor)])
        ends = slopes(centre, divisor.at(totals), corners, form.low - form.base, form.high - form.base, off)
        return Span(form.base + ends[0], form.base + ends[1], ends[2])


def margin(confidence: float) -> float:
    """How many standard deviations of its noise are added to a variance.

    >>> round(margin(0.95), 2)
    0.67
    """
    return (1 - log(1 - confidence)) / 6


def several(confidence: float) -> float:
    """How many people who give the most are added to those who came.

    >>> several(0.95), round(several(0.99), 2)
    (3.0, 4.98)
    """
    return max(3.0, 3 * NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / 4)


def _rows_each(plan: Plan) -> RowsEach:
    """How many rows of a unit count in a group, by what an engine runs."""
    source = plan.query.source
    gathered = isinstance(source, Contributions) and reach_of(plan.query, plan.relation).rows == 1
    limits = [part.most for part in walk(source) if isinstance(part, CapRows)]
    return RowsEach.of(single=gathered or isinstance(source, Rows), limit=min(limits, default=None))


def _most(plan: Plan, term: int) -> float:
    """What one person gives to a term in a group at most, below 0 where that may be negative."""
    most = float(most_of_one(term, plan.query, plan.relation))
    return -most if term_bounds(plan.terms[term])[0] < 0 else most
