"""Truth for the tests: δ(ε) of compositions by textbook formulas, in ball arithmetic of PRECISION bits.

Nothing here uses the code under test, nor its method: no K(t), no contour. A composition is a distribution of the loss L under P, and

    δ(ε) = E[max(0, 1 − e^(ε − L))].

Losses on a lattice convolve exactly, as polynomials. Gaussian noise has its closed form, at every real ε. Laplace noise is a sum over
how many releases sit on an atom, and over the corners of an Irwin–Hall spline. Two parts A and B make δ(ε) = E[δ_B(ε − L_A)]:
a sum where A has atoms, an integral where it has a density. A curve is a function of a real ε, negative ones too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, wraps
from itertools import combinations_with_replacement, pairwise
from math import ceil, comb, factorial, gcd
from typing import ParamSpec, TypeAlias, TypeVar

from flint import acb, arb, arb_poly, ctx, fmpq

PRECISION = 420  # bits: 126 decimal digits
NODES = 30  # of Gauss and Legendre in each panel of an integral

P = ParamSpec("P")
R = TypeVar("R")
Real: TypeAlias = Fraction | int | arb
Curve: TypeAlias = Callable[[Real], arb]


def precise(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with ctx.workprec(PRECISION):
            return function(*args, **kwargs)

    return call


def ball(x: Real) -> arb:
    if isinstance(x, arb):
        return x
    x = Fraction(x)
    return arb(fmpq(x.numerator, x.denominator))


@precise
def relative_error(found: float, truth: arb) -> float:
    """|found/truth − 1|, where the truth is known far better than that."""
    assert truth.rel_accuracy_bits() > 60, f"the oracle lost its digits: {truth}"
    return float(abs(arb(found) / truth - 1).mid())


def quantile(curve: Curve, delta: float, low: Real, high: Real, steps: int = 60) -> Fraction:
    """The ε where a curve falls to delta, by bisection."""
    a, b = Fraction(low), Fraction(high)
    for _ in range(steps):
        middle = (a + b) / 2
        a, b = (middle, b) if curve(middle) > delta else (a, middle)
    return b


@precise
def brackets(curve: Curve, epsilon: float, delta: float | Fraction, tolerance: Fraction) -> bool:
    """Whether the true ε(delta) lies within a relative tolerance of the given one."""
    exact = Fraction(epsilon)
    target = ball(Fraction(delta))
    return bool(curve(exact * (1 - tolerance)) >= target) and bool(curve(exact * (1 + tolerance)) <= target)


# Losses on a lattice.


@dataclass(frozen=True)
class Losses:
    """P(L = offset + step·i) = coefficient i of a polynomial."""

    offset: Fraction
    step: Fraction
    weights: arb_poly

    @precise
    def __add__(self, other: "Losses") -> "Losses":
        """The convolution, on a lattice that holds both."""
        a, b = self.step, other.step
        top = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
        step = Fraction(top, a.denominator * b.denominator)
        return Losses(self.offset + other.offset, step, self._spread(step) * other._spread(step))

    @precise
    def __mul__(self, times: int) -> "Losses":
        return Losses(times * self.offset, self.step, self.weights**times)

    def _spread(self, step: Fraction) -> arb_poly:
        apart = int(self.step / step)
        if apart == 1:
            return self.weights
        coefficients = [arb(0)] * (apart * self.weights.degree() + 1)
        coefficients[::apart] = self.weights.coeffs()
        return arb_poly(coefficients)

    def atoms(self) -> list[tuple[Fraction, arb]]:
        return [(self.offset + self.step * i, p) for i, p in enumerate(self.weights.coeffs())]

    @precise
    def delta(self, epsilon: Real) -> arb:
        """Σ P(L)(1 − e^(ε − L)) over L > ε; exactly 0 where there is no such L."""
        coefficients = self.weights.coeffs()
        if isinstance(epsilon, arb):  # at a loss itself either side will do: its term is 0
            place = ((epsilon - ball(self.offset)) / ball(self.step)).mid().floor().unique_fmpz()
        else:
            place = (Fraction(epsilon) - self.offset) // self.step
        first = max(0, int(place) + 1)
        factor, ratio = (ball(epsilon) - ball(self.offset + self.step * first)).exp(), (-ball(self.step)).exp()
        total = arb(0)
        for p in coefficients[first:]:
            total += p * (1 - factor)
            factor *= ratio
        return total

    @precise
    def moment(self, t: Real) -> arb:
        """K(t) = ln E[e^(tL)] for a real t."""
        return sum((p * (ball(t) * ball(loss)).exp() for loss, p in self.atoms()), arb(0)).log()


NOTHING = Losses(Fraction(0), Fraction(1), arb_poly([1]))


@precise
def response(epsilon: Fraction, k: int = 2) -> Losses:
    """k-ary randomized response: k − 2 answers are nobody's truth."""
    odds = ball(epsilon).exp()
    total = odds + k - 1
    if k == 2:
        return Losses(-epsilon, 2 * epsilon, arb_poly([1 / total, odds / total]))
    return Losses(-epsilon, epsilon, arb_poly([1 / total, (k - 2) / total, odds / total]))


def from_density(density: Callable[[int], arb], outputs: Iterable[int], sensitivity: int, loss: Losses) -> Losses:
    """The loss of integer noise, output by output: P(x) is the density at x, Q(x) the one at x − sensitivity.

    `loss` gives offset and step; the loss of an output must be log P/Q and on that lattice, which is checked.
    """
    weights: dict[int, arb] = {}
    for x in outputs:
        p, q = density(x), density(x - sensitivity)
        place = ((p / q).log() - ball(loss.offset)) / ball(loss.step)
        index = int((place + arb("0.5")).floor().unique_fmpz())
        assert abs(place - index) < 1e-30
        weights[index] = weights.get(index, arb(0)) + p
    return Losses(loss.offset, loss.step, arb_poly([weights.get(i, arb(0)) for i in range(max(weights) + 1)]))


@cache
@precise
def discrete_laplace(scale: Fraction, sensitivity: int = 1) -> Losses:
    """P(x) = (1 − α)/(1 + α)·α^|x|, α = e^(−1/scale), every output from far below to far above."""
    alpha = (-1 / ball(scale)).exp()
    reach = int(PRECISION * scale) + 1
    place = Losses(-sensitivity / scale, 1 / scale, arb_poly([1]))
    return from_density(
        lambda x: (1 - alpha) / (1 + alpha) * alpha ** abs(x), range(-reach, reach + sensitivity), sensitivity, place
    )


@cache
@precise
def discrete_gaussian(scale: Fraction, sensitivity: int = 1) -> Losses:
    """P(x) ∝ e^(−x²/2σ²), L(x) = Δ(Δ − 2x)/2σ²; what is cut off is below e^-250."""
    reach = ceil(scale * 23) + 2
    weight = [(-ball(Fraction(x * x) / (2 * scale**2))).exp() for x in range(reach + 1)]
    total = 2 * sum(weight, arb(0)) - 1
    step = sensitivity / scale**2
    lowest = sensitivity * (sensitivity - 2 * reach) / (2 * scale**2)
    return Losses(lowest, step, arb_poly([weight[abs(x)] / total for x in range(reach, -reach - 1, -1)]))


# Noise with a density.


@precise
def normal_tail(x: arb) -> arb:
    """1 − Φ(x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def gaussian(squared: Fraction) -> Curve:
    """All-Gaussian compositions, from the sum of (Δ/σ)²: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) at every real ε."""

    @precise
    def curve(epsilon: Real) -> arb:
        mu = ball(squared).sqrt()
        e = ball(epsilon)
        return normal_tail(e / mu - mu / 2) - e.exp() * normal_tail(e / mu + mu / 2)

    return curve


def laplace(e: Fraction, n: int) -> Curve:
    """n releases of Laplace noise with Δ/b = e.

    One loss is e with probability 1/2, −e with probability e^-e/2, and has density e^((l − e)/2)/4 between. Where m of them are
    between, their sum has the density 4^-m e^((s − me)/2) Σ_r (−1)^r C(m, r) (s + me − 2er)₊^(m−1)/(m−1)!, an alternating
    sum that only many digits can bear.
    """

    def curve(epsilon: Real) -> arb:
        with ctx.workprec(PRECISION + 8 * n):
            return _FewLaplace(e, ball(epsilon)).delta(n)

    return curve


class _FewLaplace:
    """At one ε. A loss is compared with ε as balls: an ε on a corner may fall on either side of it, with the same result."""

    def __init__(self, e: Fraction, epsilon: arb) -> None:
        self.e, self.epsilon = e, epsilon
        self.primitive = cache(self._primitive)

    def delta(self, n: int) -> arb:
        half, down, total = arb(1) / 2, (-ball(self.e)).exp() / 2, arb(0)
        for m in range(n + 1):
            between = (-ball(self.e) / 2).exp() / 4
            for up in range(n - m + 1):
                lower = n - m - up
                ways = comb(n, m) * comb(n - m, up)
                total += ways * half**up * down**lower * between**m * self.gain(m, up - lower)
        return total

    def gain(self, m: int, at: int) -> arb:
        """∫ e^(s/2) (1 − e^(ε − s − at·e))₊ g_m(s) ds over −me … me; for m = 0 a single point at 0."""
        left = self.epsilon - ball(at * self.e)
        if not left < ball(m * self.e):
            return arb(0)
        if m == 0:
            return 1 - left.exp()
        plus, minus = arb(0), arb(0)
        for r in range(m + 1):
            sign = (-1) ** r * comb(m, r)
            start = (at + 2 * r - m) if left < ball((2 * r - m) * self.e) else None
            plus += sign * self.piece(m, r, at, start, 1)
            minus += sign * self.piece(m, r, at, start, -1)
        return (plus - left.exp() * minus) / factorial(m - 1)

    def piece(self, m: int, r: int, at: int, start: int | None, sign: int) -> arb:
        """∫ (s − corner)^(m−1) e^(±s/2) ds from the corner, or from ε, to me; s is shifted by at·e."""
        corner = at + 2 * r - m
        high, low = self.primitive(at + m, corner, m - 1, sign), self.primitive(start, corner, m - 1, sign)
        return (high - low) * (-sign * ball(at * self.e) / 2).exp()

    def _primitive(self, place: int | None, corner: int, power: int, sign: int) -> arb:
        """Of (s − corner·e)^power e^(±s/2), at place·e or, for None, at ε."""
        s = self.epsilon if place is None else ball(place * self.e)
        return self.polynomial(s - ball(corner * self.e), power, sign) * (sign * s / 2).exp()

    @staticmethod
    def polynomial(x: arb, power: int, sign: int) -> arb:
        """Σ_j x^j (−1)^(power−j) power!/j! / rate^(power−j+1), rate = ±1/2, by Horner's rule."""
        value, rate = arb(0), sign * arb(1) / 2
        for j in range(power, -1, -1):
            value = value * x + arb((-1) ** (power - j) * (factorial(power) // factorial(j))) / rate ** (power - j + 1)
        return value


# Putting parts together.


def together(first: Losses, second: Curve) -> Curve:
    """E[δ_B(ε − L_A)] where A has atoms."""

    @precise
    def curve(epsilon: Real) -> arb:
        e = ball(epsilon)
        return sum((p * second(e - ball(loss)) for loss, p in first.atoms()), arb(0))

    return curve


def with_laplace(e: Fraction, second: Curve) -> Curve:
    """E[δ_B(ε − L)], L that of one Laplace release: two atoms and an integral over what is between, for a smooth B."""

    @precise
    def curve(epsilon: Real) -> arb:
        eps, unit = ball(epsilon), ball(e)
        atoms = second(eps - unit) / 2 + (-unit).exp() * second(eps + unit) / 2
        corners = [unit * i / 4 for i in range(-4, 5)]
        return atoms + integral(lambda s: ((s - unit) / 2).exp() / 4 * second(eps - s), corners)

    return curve


def with_failure(delta0: Fraction, curve: Curve) -> Curve:
    """δ₀ + (1 − δ₀)·δ(ε)."""

    @precise
    def total(epsilon: Real) -> arb:
        return ball(delta0) + (1 - ball(delta0)) * curve(epsilon)

    return total


def worse(*curves: Curve) -> Curve:
    @precise
    def most(epsilon: Real) -> arb:
        first, *rest = (curve(epsilon) for curve in curves)
        for value in rest:
            first = first.max(value)
        return first

    return most


@cache
@precise
def _legendre(nodes: int) -> list[tuple[arb, arb]]:
    return [arb.legendre_p_root(nodes, i, weight=True) for i in range(nodes)]


@precise
def integral(function: Callable[[arb], arb], corners: Sequence[arb], nodes: int = NODES) -> arb:
    """Gauss and Legendre between the corners. The error is not in the ball: callers compare with another number of nodes."""
    total = arb(0)
    for low, high in pairwise(corners):
        half, middle = (high - low) / 2, (high + low) / 2
        for x, w in _legendre(nodes):
            total += w * half * function(middle + half * x)
    return total


# Poisson sampling at rate q: P' = (1 − q)Q + qP against Q (remove), and Q against P' (add).


def sampled_remove(q: Fraction, part: Curve) -> Curve:
    """(P' − γQ)₊ = q(P − (1 + (γ−1)/q)Q)₊, at every real ε: below γ = 1 − q nothing is cut off."""

    @precise
    def curve(epsilon: Real) -> arb:
        gamma, rate = ball(epsilon).exp(), ball(q)
        inner = 1 + (gamma - 1) / rate
        return rate * part(inner.log()) if inner > 0 else 1 - gamma

    return curve


def sampled_add(q: Fraction, part: Curve) -> Curve:
    """(Q − γP')₊ = ((1 − γ(1−q))Q − γqP)₊; `part` is the curve of Q against P."""

    @precise
    def curve(epsilon: Real) -> arb:
        gamma, rate = ball(epsilon).exp(), ball(q)
        left = 1 - gamma * (1 - rate)
        return left * part((gamma * rate / left).log()) if left > 0 else arb(0)

    return curve


def sampled(q: Fraction, part: Curve) -> Curve:
    """The worse of the two, for a part that is the same both ways."""
    return worse(sampled_remove(q, part), sampled_add(q, part))


def sampled_gaussian(q: Fraction, sigma: Fraction, k: int, panels: int = 16) -> Curve:
    """k steps of the sampled Gaussian (Δ = 1), both directions: E[δ_(k−1)(ε − L(x))] by quadrature over the first step's output x.

    One step has its closed form; two take a fifth of a second, three some minutes.
    """
    return worse(_removals(q, sigma, k, panels), _additions(q, sigma, k, panels))


def _log_ratio(q: Fraction, sigma: Fraction, x: arb) -> arb:
    """ln dP'/dQ at x, Q = N(0, σ²) and P = N(1, σ²)."""
    return (1 - ball(q) + ball(q) * ((2 * x - 1) / (2 * ball(sigma**2))).exp()).log()


def _density(sigma: Fraction, x: arb) -> arb:
    return (-x * x / (2 * ball(sigma**2))).exp() / (2 * arb.pi() * ball(sigma**2)).sqrt()


def _where(q: Fraction, sigma: Fraction, log_ratio: arb) -> arb | None:
    """The x with that ratio; None where there is none."""
    inside = (log_ratio.exp() - 1 + ball(q)) / ball(q)
    return ball(sigma**2) * inside.log() + arb(1) / 2 if inside > 0 else None


def _corners(sigma: Fraction, cut: arb | None, panels: int) -> list[arb]:
    """Even panels, and ever smaller ones towards a cut, where the integrand is smooth but not analytic."""
    low, high = -17 * ball(sigma), 17 * ball(sigma) + 1
    width = (high - low) / panels
    corners = [low + width * i for i in range(panels + 1)]
    if cut is None or not low < cut < high:
        return corners
    left, right = [x for x in corners if x < cut - width], [x for x in corners if x > cut + width]
    nearer = [width / 2**i for i in range(panels)]
    return [*left, *(cut - d for d in nearer), cut, *(cut + d for d in reversed(nearer)), *right]


def _removals(q: Fraction, sigma: Fraction, k: int, panels: int) -> Curve:
    """The steps that are left cut nothing off where ε − L(x) <= (k−1) ln(1 − q): a corner of the integrand."""
    if k == 1:
        return sampled_remove(q, gaussian(1 / sigma**2))
    others = _removals(q, sigma, k - 1, panels)

    @precise
    def curve(epsilon: Real) -> arb:
        e, least = ball(epsilon), (k - 1) * (1 - ball(q)).log()

        def integrand(x: arb) -> arb:
            loss = _log_ratio(q, sigma, x)
            after = e - loss
            value = 1 - after.exp() if after < least else others(after)
            return loss.exp() * _density(sigma, x) * value

        return integral(integrand, _corners(sigma, _where(q, sigma, e - least), panels))

    return curve


def _additions(q: Fraction, sigma: Fraction, k: int, panels: int) -> Curve:
    """The steps that are left lose at most −(k−1) ln(1 − q)."""
    if k == 1:
        return sampled_add(q, gaussian(1 / sigma**2))
    others = _additions(q, sigma, k - 1, panels)

    @precise
    def curve(epsilon: Real) -> arb:
        e, most = ball(epsilon), -(k - 1) * (1 - ball(q)).log()

        def integrand(x: arb) -> arb:
            after = e + _log_ratio(q, sigma, x)
            return _density(sigma, x) * others(after) if after < most else arb(0)

        return integral(integrand, _corners(sigma, _where(q, sigma, most - e), panels))

    return curve


@precise
def sampled_gaussian_line(q: Fraction, sigma: Fraction, k: int, epsilon: Fraction, c: Fraction, step: Fraction) -> arb:
    """Many steps, removal only, by the one formula that the code under test uses too: ∫ e^(kK(t) − tε)/(t(t+1)) dt on Re t = c.

    In many digits, with K by quadrature; how good it is shows when c and step are changed. Takes minutes.
    """
    corners = [ball(sigma) * i / 2 for i in range(-34, 34 + 2 * ceil((c + 1) / sigma))]
    nodes = []
    for low, high in pairwise(corners):
        half, middle = (high - low) / 2, (high + low) / 2
        for x, w in _legendre(NODES):
            at = middle + half * x
            nodes.append((w * half * _density(sigma, at), _log_ratio(q, sigma, at)))
    total, i, size = arb(0), 0, arb(1)
    with ctx.workprec(160):
        rest = [(w * (ball(c + 1) * loss).exp(), loss) for w, loss in nodes]
        rest = [(w, loss) for w, loss in rest if w > 1e-40]
        while size > 1e-25 * total:
            t = acb(ball(c), ball(step * i))
            moment = sum((w * acb(0, ball(step * i) * loss).exp() for w, loss in rest), acb(0))
            term = moment**k * (-t * ball(epsilon)).exp() / (t * (t + 1))
            total += term.real * (1 if i == 0 else 2)
            size, i = abs(term), i + 1
        return total * ball(step) / (2 * arb.pi())


@precise
def sampled_atom_sides(q: Fraction, part: Losses, k: int) -> tuple[Curve, Curve]:
    """k sampled releases of something with few atoms: every multiset of outcomes; for removing a unit, and for adding one."""
    rate = ball(q)
    remove, add = [], []
    for loss, p in part.atoms():
        under_q = p * (-ball(loss)).exp()
        ratio = 1 - rate + rate * ball(loss).exp()
        remove.append((ratio.log(), under_q * ratio))
        add.append((-ratio.log(), under_q))
    return _multisets(remove, k), _multisets(add, k)


def sampled_atoms(q: Fraction, part: Losses, k: int) -> Curve:
    """The worse of both directions."""
    return worse(*sampled_atom_sides(q, part, k))


@precise
def sampled_laplace_sides(q: Fraction, e: Fraction, panels: int = 24) -> tuple[Curve, Curve]:
    """Two sampled Laplace releases, by quadrature over the loss x of the first: for removing a unit, and for adding one.

    Under Q the loss is e with e^-e/2, −e with 1/2, and between them has the density e^(−(x + e)/2)/4.
    """
    unit, rate = ball(e), ball(q)
    remove, add = sampled_remove(q, laplace(e, 1)), sampled_add(q, laplace(e, 1))
    corners = [unit * (2 * i - panels) / panels for i in range(panels + 1)]

    def over(value: Callable[[arb], arb]) -> arb:
        inner = integral(lambda x: (-(x + unit) / 2).exp() / 4 * value(x), corners, 8)
        return inner + value(-unit) / 2 + (-unit).exp() / 2 * value(unit)

    def ratio(x: arb) -> arb:
        return 1 - rate + rate * x.exp()

    @precise
    def removals(epsilon: Real) -> arb:
        return over(lambda x: ratio(x) * remove(ball(epsilon) - ratio(x).log()))

    @precise
    def additions(epsilon: Real) -> arb:
        return over(lambda x: add(ball(epsilon) + ratio(x).log()))

    return removals, additions


def _multisets(atoms: Sequence[tuple[arb, arb]], k: int) -> Curve:
    sums = []
    for chosen in combinations_with_replacement(range(len(atoms)), k):
        loss, weight, ways = arb(0), arb(1), factorial(k)
        for i in set(chosen):
            n = chosen.count(i)
            loss, weight, ways = loss + n * atoms[i][0], weight * atoms[i][1] ** n, ways // factorial(n)
        sums.append((loss, ways * weight))

    @precise
    def curve(epsilon: Real) -> arb:
        e = ball(epsilon)
        return sum((p * (1 - (e - loss).exp()) for loss, p in sums if loss > e), arb(0))

    return curve


# K on the real axis.


@precise
def sampled_gaussian_moment(q: Fraction, sigma: Fraction, order: Fraction) -> arb:
    """ln E_Q[(P'/Q)^order], by quadrature."""
    reach = 17 * ball(sigma) + ball(order)
    corners = [-17 * ball(sigma) + (reach + 17 * ball(sigma)) * i / 60 for i in range(61)]
    total = integral(lambda x: _density(sigma, x) * (ball(order) * _log_ratio(q, sigma, x)).exp(), corners)
    return total.log()


@precise
def laplace_moment(e: Fraction, t: Fraction) -> arb:
    """K(t) of one Laplace release, by quadrature over its output: (b = 1) ln E[e^(t(|x − e| − |x|))]."""
    unit = ball(e)
    inner = integral(lambda x: (-x).exp() / 2 * (ball(t) * (unit - 2 * x)).exp(), [unit * i / 8 for i in range(9)])
    return ((ball(t) * unit).exp() / 2 + (-unit - ball(t) * unit).exp() / 2 + inner).log()


# Tables, and conversions.


@precise
def table(p: Sequence[Fraction], q: Sequence[Fraction], k: int) -> Curve:
    """k uses of a mechanism with two inputs, all of them in the direction P against Q; outputs of Q = 0 are certain losses."""
    atoms = [(ball(a / b).log(), ball(a)) for a, b in zip(p, q, strict=True) if a and b]
    certain = sum(a for a, b in zip(p, q, strict=True) if not b)
    return _with_certain(1 - (1 - certain) ** k, _multisets(atoms, k))


def _with_certain(certain: Fraction, curve: Curve) -> Curve:
    """Unlike `with_failure` the curve is already the part that is left."""

    @precise
    def total(epsilon: Real) -> arb:
        return ball(certain) + curve(epsilon)

    return total


@precise
def least_conversion(rho: Fraction, epsilon: Fraction) -> float:
    """δ of ρ-zCDP: the least of e^((α−1)(αρ − ε)) (1 − 1/α)^α / (α − 1) over α > 1 (Canonne, Kamath and Steinke 2020).

    The logarithm has one minimum in ln(α − 1): golden section.
    """

    def log_bound(x: arb) -> arb:
        c = x.exp()
        return c * ((c + 1) * ball(rho) - ball(epsilon)) + c * c.log() - (c + 1) * (1 + c).log()

    low, high = arb(-40), arb(40)
    golden = (arb(5).sqrt() - 1) / 2
    for _ in range(120):
        a, b = (high - golden * (high - low)).mid(), (low + golden * (high - low)).mid()
        low, high = (low, b) if log_bound(a) < log_bound(b) else (a, high)
    return min(1.0, float(log_bound(low).exp()))
