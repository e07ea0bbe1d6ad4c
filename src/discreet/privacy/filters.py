"""Which accountant may stop an analyst who chooses each question, and its price, after seeing earlier answers.

That needs a *filter*: a rule with a theorem that its cap holds for prices chosen adaptively, at any stopping time. Sums of ε and δ have
one, zCDP has one, Gaussian privacy has one. Numerical composition has none in general; it is for work that is fixed in advance.

A filter's guarantee is its cap. It is not an odometer: what has been spent so far is no (ε, δ) statement by itself. All arithmetic
is on exact fractions; prices that are not rational are rounded up, caps down.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from discreet.accountant import Accountant as Accountant
from discreet.accountant import within
from discreet.errors import Invalid, Refused
from discreet.exact import MAX_BITS, Number, nonnegative, probability, rational, round_up, shown
from discreet.fields import Exact, frozen, otherwise
from discreet.privacy.theorems import (
    gaussian_delta,
    gaussian_mu,
    gaussian_rho,
    laplace_rho,
    pure_rho,
    zcdp_implies,
    zcdp_rho,
)

__all__ = [
    "Accountant",
    "ConcentratedFilter",
    "Filter",
    "GaussianFilter",
    "PureFilter",
    "Spent",
    "SpentConcentrated",
    "SpentGaussian",
    "filter_for",
]


def _read(value: object, name: str, check: Callable[[object, str], Fraction]) -> None:
    """Replace a field of a frozen dataclass by the exact number it means."""
    object.__setattr__(value, name, check(getattr(value, name), name))


def _add_up(x: Fraction, y: Fraction) -> Fraction:
    """x + y; rounded up where prices of very many different denominators would make it longer than numbers may be."""
    total = x + y
    return total if total.denominator.bit_length() < MAX_BITS // 2 else round_up(total, MAX_BITS // 4)


@frozen
class Spent:
    """An amount of (ε, δ), of one release or of many."""

    epsilon: Exact = otherwise(Fraction(0))
    delta: Exact = otherwise(Fraction(0))

    def __post_init__(self) -> None:
        _read(self, "epsilon", nonnegative)
        _read(self, "delta", nonnegative)  # a sum may exceed 1; a filter refuses it

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(_add_up(self.epsilon, other.epsilon), _add_up(self.delta, other.delta))


@frozen
class SpentConcentrated:
    """An amount of δ-approximate ρ-zCDP (Bun and Steinke 2016, definition 8.1), of one release or of many."""

    rho: Exact = otherwise(Fraction(0))
    delta: Exact = otherwise(Fraction(0))

    def __post_init__(self) -> None:
        _read(self, "rho", nonnegative)
        _read(self, "delta", nonnegative)

    def __add__(self, other: "SpentConcentrated") -> "SpentConcentrated":
        return SpentConcentrated(_add_up(self.rho, other.rho), _add_up(self.delta, other.delta))

    @classmethod
    def by_gaussian(cls, mu: Number) -> "SpentConcentrated":
        """Gaussian noise, continuous or discrete, of standard deviation Δ₂/μ: ρ = μ²/2."""
        return cls(gaussian_rho(mu))

    @classmethod
    def by_laplace(cls, epsilon: Number) -> "SpentConcentrated":
        """Laplace noise of scale Δ/ε, continuous or on a grid far finer than that: ρ = ε + e^-ε − 1, rounded up."""
        return cls(laplace_rho(epsilon))

    @classmethod
    def by_approximate(cls, epsilon: Number, delta: Number = 0) -> "SpentConcentrated":
        """Any (ε, δ)-private mechanism: ρ = ε tanh(ε/2), rounded up, and δ.

        Outside of an event of probability δ it is ε-private (Kairouz, Oh and Viswanath 2015).
        """
        return cls(pure_rho(epsilon), probability(delta, "delta"))


@frozen
class SpentGaussian:
    """An amount of Gaussian privacy as μ², which adds up; of one release or of many."""

    mu_squared: Exact = otherwise(Fraction(0))

    def __post_init__(self) -> None:
        _read(self, "mu_squared", nonnegative)

    def __add__(self, other: "SpentGaussian") -> "SpentGaussian":
        return SpentGaussian(_add_up(self.mu_squared, other.mu_squared))

    @classmethod
    def by_gaussian(cls, mu: Number) -> "SpentGaussian":
        """Continuous Gaussian noise of standard deviation Δ₂/μ."""
        return cls(nonnegative(mu, "mu") ** 2)


@frozen
class PureFilter:
    """Stops before Σε exceeds epsilon or Σδ exceeds delta.

    Rogers, Roth, Ullman and Vadhan 2016: whatever the adaptive choice of mechanisms and prices, everything released up to any stopping time
    is (epsilon, delta)-private.

    >>> filter, spent, price = PureFilter(1), Spent(), Spent(0.1)
    >>> while filter.admits(spent, price):
    ...     spent += price
    >>> spent.epsilon
    Fraction(1, 1)
    """

    epsilon: Exact
    delta: Exact = otherwise(Fraction(0))

    def __post_init__(self) -> None:
        _read(self, "epsilon", nonnegative)
        _read(self, "delta", probability)

    def admits(self, spent: Spent, next: Spent) -> bool:
        """Whether a release at the price `next` may follow what was spent."""
        total = spent + next
        return within((total.epsilon, total.delta), (self.epsilon, self.delta))


@frozen
class ConcentratedFilter:
    """Stops before Σρ exceeds rho or Σδ exceeds delta_spent: the zCDP filter of an (epsilon, delta) budget.

    Whitehouse, Ramdas, Rogers and Wu 2023 (approximate zCDP), Feldman and Zrnic 2021 (Rényi): whatever the adaptive choice of mechanisms
    and prices, everything released up to any stopping time is delta_spent-approximate rho-zCDP. So it is (epsilon, delta)-private, as
    rho-zCDP is (epsilon, delta − delta_spent)-private, which is checked here. `for_budget` makes the largest rho.

    >>> filter = ConcentratedFilter.for_budget(1, 2e-7)
    >>> float(filter.rho), filter.delta_spent
    (0.020187132441824948, Fraction(1, 10000000))
    >>> filter.admits(SpentConcentrated(), SpentConcentrated.by_gaussian(0.2))
    True
    >>> filter.admits(SpentConcentrated.by_gaussian(0.2), SpentConcentrated.by_laplace(0.1))
    False
    """

    epsilon: Exact
    delta: Exact
    rho: Exact
    delta_spent: Exact

    def __post_init__(self) -> None:
        _read(self, "epsilon", nonnegative)
        _read(self, "delta", probability)
        _read(self, "rho", nonnegative)
        _read(self, "delta_spent", probability)
        if self.delta_spent > self.delta:
            raise Invalid(f"delta_spent must be at most delta, got {shown(self.delta_spent)}")
        if not zcdp_implies(self.rho, self.epsilon, self.delta - self.delta_spent):
            raise Invalid(
                f"rho is too large for epsilon {float(self.epsilon):.6g} and delta {float(self.delta):.6g},"
                f" got {float(self.rho):.6g}",
                hint="ConcentratedFilter.for_budget gives the largest",
            )

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, share: Number = Fraction(1, 2)) -> "ConcentratedFilter":
        """The filter with the largest rho; `share` of delta is kept for what releases spend themselves."""
        part = probability(share, "share")
        total = probability(delta, "delta")
        if total == 0 or part == 1:
            raise Invalid(
                "the zcdp accountant needs a delta above 0 for its conversion, got"
                f" delta {shown(delta)} and share {shown(share)}",
                hint="use the pure accountant, or allow a delta",
            )
        rho = zcdp_rho(epsilon, total * (1 - part))
        return cls(rational(epsilon, "epsilon"), total, rho, total * part)

    def admits(self, spent: SpentConcentrated, next: SpentConcentrated) -> bool:
        """Whether a release at the price `next` may follow what was spent."""
        total = spent + next
        return within((total.rho, total.delta), (self.rho, self.delta_spent))


@frozen
class GaussianFilter:
    """Stops before Σμ² exceeds mu²: the filter of an (epsilon, delta) budget for Gaussian mechanisms only.

    Koskela, Tobaben and Honkela 2022, Smith and Thakurta 2022: whatever the adaptive choice of mechanisms, each Gaussian private with its
    own μ, everything released up to any stopping time is mu-Gaussian private. So it is (epsilon, delta)-private, which is checked
    here. `for_budget` makes the largest mu.

    >>> filter = GaussianFilter.for_budget(1, 1e-5)
    >>> [filter.admits(SpentGaussian(), SpentGaussian.by_gaussian(1 / Fraction(sigma))) for sigma in ("3.7306", "3.7307")]
    [False, True]
    """

    epsilon: Exact
    delta: Exact
    mu: Exact

    def __post_init__(self) -> None:
        _read(self, "epsilon", nonnegative)
        _read(self, "delta", probability)
        _read(self, "mu", nonnegative)
        if rational(gaussian_delta(self.mu, self.epsilon), "delta") > self.delta:
            raise Invalid(
                f"mu is too large for epsilon {float(self.epsilon):.6g} and delta {float(self.delta):.6g}, got {float(self.mu):.6g}",
                hint="GaussianFilter.for_budget gives the largest",
            )

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number) -> "GaussianFilter":
        """The filter with the largest mu."""
        total = probability(delta, "delta")
        if total == 0:
            raise Invalid(
                "the gaussian accountant needs a delta above 0, got 0", hint="use the pure accountant, or allow a delta"
            )
        return cls(rational(epsilon, "epsilon"), total, gaussian_mu(epsilon, total))

    def admits(self, spent: SpentGaussian, next: SpentGaussian) -> bool:
        """Whether a release at the price `next` may follow what was spent."""
        return within(((spent + next).mu_squared,), (self.mu**2,))


Filter: TypeAlias = PureFilter | ConcentratedFilter | GaussianFilter


def filter_for(accountant: Accountant | str, epsilon: Number, delta: Number = 0) -> Filter:
    """The filter of an (epsilon, delta) budget, for an accountant that has a theorem for adaptive prices; else raises Refused.

    >>> filter_for("pure", 1)
    PureFilter(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    >>> filter_for("numerical", 1, 1e-6)
    Traceback (most recent call last):
    ...
    discreet.errors.Refused: the numerical accountant has no filter: ...
    """
    match _accountant(accountant):
        case Accountant.PURE:
            return PureFilter(rational(epsilon, "epsilon"), rational(delta, "delta"))
        case Accountant.ZCDP:
            return ConcentratedFilter.for_budget(epsilon, delta)
        case Accountant.GAUSSIAN:
            return GaussianFilter.for_budget(epsilon, delta)
        case Accountant.NUMERICAL:
            raise Refused(
                "the numerical accountant has no filter: no theorem lets it stop an analyst who chooses questions and prices by"
                " earlier answers; it is for work that is fixed in advance",
                code="no-filter",
                hint=f"use {Accountant.PURE.value!r} or {Accountant.ZCDP.value!r}, or "
                "price the whole batch at once and charge it to a pure sum",
            )


def _accountant(value: Accountant | str) -> Accountant:
    try:
        return Accountant(value)
    except ValueError:
        names = ", ".join(repr(each.value) for each in Accountant)
        raise Invalid(f"accountant must be one of {names}, got {shown(value)}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
