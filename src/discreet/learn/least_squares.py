"""Private least squares in a few draws: products of rows once, and then looks at what is left of the targets, each with less noise.

One matrix of noisy products gives first weights (Vu and Slavković 2009), whose noise is of the size of the declared bounds. A look sums
features times residuals, clipped at what the draws before say that residuals are: its noise is as much smaller as they are, and the weights
move by the inverse of the same noisy matrix. That is Newton's method on the squared loss. Before that, where no norm is declared, features
are centred at noisy means, and their norm is found by noisy counts. All of it is charged as one event: noise and sensitivities are fixed
before the first draw, and what a draw sums may follow from what was released before (adaptive composition; Dong, Roth and Su 2022, 3.2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, shown
from discreet.learn.moments import (
    MeansSum,
    Products,
    ProductsSum,
    ResidualsSum,
    RowView,
    ScaledExamples,
    SizesSum,
    ViewedRows,
    longest,
)
from discreet.learn.refinement import NoisyMatrix, Refined
from discreet.learn.rows import FEATURE_STEPS
from discreet.learn.shares import DrawShares, Part
from discreet.learn.training_plan import GradientNoise
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Grant, Measure
from discreet.privacy import Relation

MEANS, SIZES, PRODUCTS = Fraction(5, 100), Fraction(5, 100), Fraction(40, 100)
LOOKS = Fraction(15, 100), Fraction(15, 100), Fraction(20, 100)
"""Shares of the draws. These and the figures of `refinement` were chosen on seven kinds of made rows (docs/learn.md)."""

REACH = 2.0, 2.0, 5.0
"""Where a look clips residuals, in their estimated standard deviations; the last is the widest, so that little is clipped for good."""

LEAST_NORM = 2.0**-30
"""Of the longest row: what a row is divided by and multiplied with stays far within the numbers of a computer."""


def checked_norm(norm: Number | None, width: int, shape: GradientNoise) -> float | None:
    """A norm that rows within bounds can have, or none."""
    if norm is None:
        return None
    most = longest(width, shape)
    size = float(positive(norm, "norm"))
    if not LEAST_NORM * most <= size <= most * (1 + 2.0**-20):
        raise Invalid(f"norm must be at least {LEAST_NORM * most:.3g} and at most {most:g}, got {shown(norm)}")
    return size


@dataclass(frozen=True, slots=True)
class LeastSquaresFit:
    """What is drawn for rows of so many features, and in which shares. With no `intercept` the constant has no weight."""

    width: int
    shares: DrawShares
    norm: float | None
    intercept: bool

    @classmethod
    def of(
        cls, width: int, *, epsilon: Number, delta: Number, norm: Number | None, intercept: bool, relation: Relation
    ) -> "LeastSquaresFit":
        """For any declared width, norm and relation returns draws that are (epsilon, delta)-DP together, or raises Invalid."""
        shape = GradientNoise.GAUSSIAN if nonnegative(delta, "delta") else GradientNoise.LAPLACE
        if width < 1:
            raise Invalid("there must be at least one feature")
        length = checked_norm(norm, width, shape)
        parts = [Part(PRODUCTS, ProductsSum(width + 1, shape).most)]
        parts += [Part(share, ResidualsSum(shape, np.zeros(width + 1), 1.0).most) for share in LOOKS]
        if norm is None:
            parts.insert(0, Part(SIZES, SizesSum(width, shape, np.zeros(width)).most))
            if intercept:
                parts.insert(0, Part(MEANS, MeansSum(width, shape).most))
        return cls(width, DrawShares.of(epsilon, delta, parts, relation), length, intercept)

    def fitted(
        self, read: Callable[[], ScaledExamples], measure: Measure, label: str, key: str | None
    ) -> tuple[Refined, RowView]:
        """Weights for rows as they were viewed, from draws alone; `read` is called inside of them, and nowhere else."""
        with measure(self.shares.event, label=label, key=key, promise=self.shares.promise) as grant:
            draws = _Draws(grant, self.shares, read)
            view = self._viewed(draws)
            products = draws.products(ProductsSum(self.width + 1, self.shares.shape), view)
            state = Refined.first(NoisyMatrix.of(products, view.constant / FEATURE_STEPS, self.intercept))
            for reach in REACH:
                state = draws.look(state, view, reach)
        return state, view

    def _viewed(self, draws: "_Draws") -> RowView:
        shape, middle = self.shares.shape, np.zeros(self.width)
        if self.norm is not None:
            return RowView(middle, self.norm, shape)
        if self.intercept:
            middle = draws.means(MeansSum(self.width, shape))
        return RowView(middle, draws.norm(SizesSum(self.width, shape, middle)), shape)


class _Draws:
    """The draws of a grant, one after the other, each with the noise of its part."""

    def __init__(self, grant: Grant, shares: DrawShares, read: Callable[[], ScaledExamples]) -> None:
        self._grant, self._shares, self._read = grant, shares, read
        self._made = 0
        self._seen: ViewedRows | None = None

    @property
    def _variance(self) -> float:
        return self._shares.draws[self._made].noise.variance

    def _drawn(self, exact: Callable[[], Any]) -> tuple[Any, float]:
        """What is released, and the variance of its noise."""
        noise, sensitivity = self._shares.draws[self._made]
        self._made += 1
        return self._grant(noise, sensitivity, exact), noise.variance

    def _rows(self, view: RowView) -> ViewedRows:
        if self._seen is None:
            self._seen = view.rows(self._read())
        return self._seen

    def means(self, of: MeansSum) -> Floats:
        return of.read(self._drawn(lambda: of.exact(self._read()))[0])

    def norm(self, of: SizesSum) -> float:
        released, variance = self._drawn(lambda: of.exact(self._read()))
        return of.read(released, variance**0.5)

    def products(self, of: ProductsSum, view: RowView) -> Products:
        return of.read(*self._drawn(lambda: of.exact(self._rows(view))))

    def look(self, state: Refined, view: RowView, reach: float) -> Refined:
        clip = state.next_clip(reach, self._variance**0.5 / FEATURE_STEPS**2)
        of = ResidualsSum(self._shares.shape, state.weights, clip)
        return state.after(of.read(*self._drawn(lambda: of.exact(self._rows(view)))), clip)
