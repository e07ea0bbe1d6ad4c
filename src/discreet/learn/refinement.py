"""Weights from noisy products, refined by noisy residuals: nothing here sees data, all is made of what was released.

With G the products of features, N their noise, b the weights that least squares seek and w those that residuals were taken with, a look
gives (G + N)⁻¹(G(b − w) + Xᵀe + η), and so w plus it is off by (G + N)⁻¹(N(w − b) + Xᵀe + η): the noise of the matrix counts for the last
step only. The covariance adds these three, by the delta method; e are the errors of the model, η the noise of the look.
"""

from dataclasses import dataclass, replace

import numpy as np

from discreet.learn.moments import Products, Residuals
from discreet.mechanisms.additive import Floats

FLOOR = 2.5
"""The least eigenvalue that is left to the matrix, in units of the noise times the root of the width: noise alone reaches 2 (Wigner)."""

FREE = 1.0
"""A look may clip farther out while its noise is below this times the deviation of sampling: with no noise nothing is clipped, and where
there are many rows the errors of a skewed model are covered too."""

WIDEST, USUAL = 2.0, 1.0
"""Where residuals of targets in [−1, 1] are clipped at the farthest, for free and else."""

SURE = 3.0
"""Deviations of noise that a line is given no credit for."""

LEAST = 2.0**-20


@dataclass(frozen=True, slots=True)
class NoisyMatrix:
    """The noisy products of features, and an inverse in which no eigenvalue is below the floor that the noise calls for.

    `ridge` is the most that was added to an eigenvalue: 0 where the noisy matrix has none below the floor. With no `intercept` the last
    row and column of the inverse are 0. `constant` is the last feature of a row.
    """

    products: Products
    constant: float
    inverse: Floats
    ridge: float

    @classmethod
    def of(cls, products: Products, constant: float, intercept: bool) -> "NoisyMatrix":
        width = len(products.inner) - (not intercept)
        values, vectors = np.linalg.eigh(products.inner[:width, :width])
        floor = max(FLOOR * float(np.sqrt(products.of_inner * width)), LEAST)
        inverse = np.zeros_like(products.inner)
        inverse[:width, :width] = (vectors / np.maximum(values, floor)) @ vectors.T
        return cls(products, constant, inverse, max(0.0, floor - float(values[0])))

    @property
    def count(self) -> float:
        """About how many rows there are."""
        return max(float(self.products.inner[-1, -1]) / self.constant**2, 1.0)

    def noise_of(self, step: Floats) -> Floats:
        """The covariance of N·step: Nᵢⱼ has one variance on the diagonal, and another beside it."""
        of = self.products
        beside = of.of_inner * (step @ step * np.eye(len(step)) + np.outer(step, step))
        return np.asarray(beside + (of.of_diagonal - 2 * of.of_inner) * np.diag(step**2))


@dataclass(frozen=True, slots=True)
class Refined:
    """Weights so far, and what is known of the residuals that they leave: the sum of their squares, and how far it may be off."""

    matrix: NoisyMatrix
    weights: Floats
    step: Floats
    of_cross: float
    left: float
    doubt: float
    clip: float = USUAL

    @classmethod
    def first(cls, matrix: NoisyMatrix) -> "Refined":
        """Weights by the products alone."""
        of = matrix.products
        start = cls(matrix, np.zeros(len(of.cross)), np.zeros(len(of.cross)), of.of_cross, 0.0, 0.0)
        return start.after(Residuals(of.cross, of.square, of.of_cross, of.of_square), USUAL)

    def next_clip(self, reach: float, unit: float) -> float:
        """Where to clip next: at so many deviations of residuals, or farther where noise of `unit` times the clip is small."""
        deviation = float(np.sqrt((max(self.left, 0.0) + self.doubt) / self.matrix.count))
        known = float(np.sqrt(max(self.left - self.doubt, 0.0) / self.matrix.count))
        sampling = known * float(np.sqrt(max(np.trace(self.matrix.products.inner), 0.0) / len(self.weights)))
        free = min(FREE * sampling / unit, WIDEST) if unit else WIDEST
        return max(min(reach * deviation, USUAL), free, LEAST)

    def after(self, found: Residuals, clip: float) -> "Refined":
        """Weights moved by a look at the residuals that these leave."""
        step, of = self.matrix.inverse @ found.cross, self.matrix.products
        size = float(step @ step)
        left = found.square - 2 * step @ found.cross + step @ of.inner @ step
        doubt = np.sqrt(found.of_square + 4 * size * found.of_cross + size**2 * of.of_diagonal)
        return replace(
            self,
            weights=self.weights + step,
            step=step,
            of_cross=found.of_cross,
            left=float(left),
            doubt=float(doubt),
            clip=clip,
        )

    @property
    def variance(self) -> float:
        """Of the residuals, with as many degrees of freedom less as there are weights."""
        return max(self.left / max(self.matrix.count - len(self.weights), 1.0), 0.0)

    @property
    def told(self) -> bool:
        """Whether what was released shows that the line is not far worse than the mean of the targets: by what is left of their squares,
        or, where no ridge was needed and so the noise is known, by how much predictions differ for another reason than noise.
        """
        of, count = self.matrix.products, self.matrix.count
        mean = float(of.cross[-1]) / self.matrix.constant / count
        spread = of.square - count * mean**2 - SURE * float(np.sqrt(of.of_square))
        if self.left + SURE * self.doubt <= 2 * spread:
            return True
        predicted = of.inner @ self.weights
        differ = self.weights @ predicted / count - (predicted[-1] / self.matrix.constant / count) ** 2
        return self.matrix.ridge == 0 and bool(2 * np.trace(self.covariance @ of.inner) / count <= differ)

    @property
    def covariance(self) -> Floats:
        """Of the weights: the model's errors, the noise of the last look, and that of the matrix times the last step."""
        inverse, of = self.matrix.inverse, self.matrix.products
        errors = self.variance * of.inner + self.of_cross * np.eye(len(self.weights))
        return np.asarray(inverse @ (errors + self.matrix.noise_of(self.step)) @ inverse)
