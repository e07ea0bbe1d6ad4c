"""The other questions a loss answers: how often it exceeds a bound, what attackers achieve, what groups and samples cost.

Each is held to its closed form or to a sum in many digits; what is known by zCDP alone is refused where it has no answer.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, e, exp, inf, log, sqrt, tanh
from random import Random
from statistics import NormalDist

import pytest

from discreet.errors import Invalid
from discreet.privacy.adjacency import Adjacency, Relation
from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    FiniteTable,
    Gaussian,
    Laplace,
    Leaf,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
    Under,
    ZeroConcentrated,
)
from discreet.privacy.loss import PrivacyLoss, loss
from discreet.privacy.numeric.finite import beyond_of_table, delta_of_table
from tests.privacy import oracle
from tests.privacy.cases import SHARPEST, Case, first
from tests.privacy.test_finite import tables
from tests.scale import repeats

F = Fraction
NEAR, NOTHING = 1e-9, 1e-40
NORMAL = NormalDist()
TABLE = FiniteTable(((F(1, 2), F(1, 3), F(1, 6)), (F(1, 5), F(2, 5), F(2, 5)), (F(1, 4), F(1, 4), F(1, 2))))
TELLING = FiniteTable(((F(99, 100), F(1, 100)), (F(1), F(0))))


# How often the loss exceeds ε.


@pytest.mark.parametrize("case", first(SHARPEST), ids=str)
def test_a_bad_event_is_no_rarer_than_a_large_loss_and_that_no_rarer_than_delta(case: Case) -> None:
    spent = loss(case.event)
    for epsilon in (0, F("0.3"), F("1.5"), 6):
        bad, exceeds, delta = spent.bad_event(epsilon), spent.exceeds(epsilon), spent.delta(epsilon)
        assert 1 >= bad >= exceeds * (1 - NEAR), epsilon
        assert exceeds >= delta * (1 - NEAR) - NOTHING, epsilon
        assert delta >= spent.catastrophe() * (1 - NEAR)


@pytest.mark.parametrize(("sigma", "k"), [("1", 1), ("0.2", 1), ("30", 100)])
def test_gaussian_losses_have_normal_tails(sigma: str, k: int) -> None:
    """L ~ N(μ²/2, μ²)."""
    spent, mu = k * loss(Gaussian(F(sigma))), sqrt(k) / float(F(sigma))
    for epsilon in (0.0, 0.3, 2.0, 5 * mu + mu * mu / 2):
        above = NORMAL.cdf(mu / 2 - epsilon / mu)
        assert spent.exceeds(epsilon) == pytest.approx(above, rel=NEAR)
        assert spent.bad_event(epsilon) == pytest.approx(above + NORMAL.cdf(-epsilon / mu - mu / 2), rel=NEAR)
    far = 40 * mu
    with oracle.ctx.workprec(oracle.PRECISION):
        truth = float(oracle.normal_tail(oracle.ball(F(far)) / oracle.ball(F(mu)) - oracle.ball(F(mu)) / 2))
    assert spent.exceeds(far) == pytest.approx(truth, rel=1e-7)


def binomial_tails(k: int, share: float, at_least: int) -> float:
    return sum(comb(k, i) * share**i * (1 - share) ** (k - i) for i in range(at_least, k + 1))


@pytest.mark.parametrize("each", [F(1, 2), F("0.37")], ids=str)
@pytest.mark.parametrize("k", [1, 2, 5, 60])
def test_responses_have_binomial_tails_and_a_loss_of_exactly_epsilon_does_not_exceed_it(k: int, each: Fraction) -> None:
    """L = (2i − k)e for i true answers, of ε = e each. At a possible loss itself the inequality is strict."""
    spent, share = k * loss(RandomizedResponse(each)), exp(each) / (1 + exp(each))
    for i in range((k + 1) // 2, k + 1):
        epsilon = (2 * i - k) * each
        above, below = binomial_tails(k, share, i + 1), binomial_tails(k, 1 - share, i + 1)
        assert spent.exceeds(epsilon) == pytest.approx(above, rel=NEAR)
        assert spent.bad_event(epsilon) == pytest.approx(above + below, rel=NEAR)
        if epsilon:
            just_below = epsilon * (1 - F(1, 10**9))
            assert spent.exceeds(just_below) == pytest.approx(binomial_tails(k, share, i), rel=NEAR)


def test_half_of_all_laplace_losses_are_epsilon_itself() -> None:
    """The density e^((l − e)/2)/4 between −e and e, and atoms of 1/2 at e and e^-e/2 at −e."""
    spent = loss(Laplace(F(1, 2)))
    assert spent.exceeds(2) == spent.bad_event(2) == 0
    assert spent.exceeds(2 - F(1, 10**12)) == pytest.approx(0.5, rel=NEAR)
    for epsilon in (0.0, 0.5, 1.9):
        above = 1 - exp((epsilon - 2) / 2) / 2
        below = exp((-epsilon - 2) / 2) / 2
        assert spent.exceeds(epsilon) == pytest.approx(above, rel=NEAR)
        assert spent.bad_event(epsilon) == pytest.approx(above + below, rel=NEAR)


def test_the_losses_of_tables_are_counted_exactly() -> None:
    random = Random(21)
    for rows in tables(22, repeats(20)):
        spent = PrivacyLoss.from_table(rows)
        for gamma in (F(1), F(random.randint(100, 900), 100)):
            most = beyond_of_table(rows, gamma)
            # ln γ is rounded; a ratio of exactly γ may fall on either side of it
            near = [float(beyond_of_table(rows, gamma * (1 + sign * F(1, 10**12)))) for sign in (-1, 0, 1)]
            assert any(spent.bad_event(log(gamma)) == pytest.approx(value, rel=1e-12, abs=1e-15) for value in near)
            assert delta_of_table(rows, gamma) <= most


@pytest.mark.parametrize(
    ("parts", "losses"),
    [
        ((DiscreteGaussian(2, 3),), oracle.discrete_gaussian(F(2), 3)),
        ((Repeated(DiscreteLaplace(2, 3), 4),), oracle.discrete_laplace(F(2), 3) * 4),
        ((Repeated(RandomizedResponse(2, 10), 7),), oracle.response(F(2), 10) * 7),
        ((RandomizedResponse(1), DiscreteLaplace(4, 3)), oracle.response(F(1)) + oracle.discrete_laplace(F(4), 3)),
    ],
    ids=str,
)
def test_losses_on_a_lattice_have_the_tails_of_their_sums(parts: Sequence[Event], losses: oracle.Losses) -> None:
    spent, atoms = loss(Composed(tuple(parts))), losses.atoms()
    for epsilon in (F(0), F("0.7"), F(3, 2), F(5)):
        with oracle.ctx.workprec(oracle.PRECISION):
            above = float(sum((p for value, p in atoms if value > epsilon), oracle.arb(0)))
            beyond = float(sum((p for value, p in atoms if abs(value) > epsilon), oracle.arb(0)))
        assert spent.exceeds(epsilon) == pytest.approx(above, rel=NEAR, abs=0)
        assert spent.bad_event(epsilon) == pytest.approx(beyond, rel=NEAR, abs=0)


def test_sampled_losses_have_the_tails_of_both_directions() -> None:
    """ln(1 − q + q e^l) of l ~ N(∓μ²/2, μ²): under the mixture against Q, and under Q against the mixture."""
    q, sigma, epsilon = 0.1, 2.0, 0.05
    mu = 1 / sigma
    up, down = (log((exp(sign * epsilon) - 1 + q) / q) for sign in (1, -1))

    def under_mixture(z: float) -> float:
        return (1 - q) * (1 - NORMAL.cdf((z + mu * mu / 2) / mu)) + q * (1 - NORMAL.cdf((z - mu * mu / 2) / mu))

    def under_q(z: float) -> float:
        return 1 - NORMAL.cdf((z + mu * mu / 2) / mu)

    spent = loss(Sampled(F("0.1"), Gaussian(2)))
    assert spent.exceeds(F("0.05")) == pytest.approx(max(under_mixture(up), 1 - under_q(down)), rel=NEAR)
    both = (under_mixture(up) + 1 - under_mixture(down), under_q(up) + 1 - under_q(down))
    assert spent.bad_event(F("0.05")) == pytest.approx(max(both), rel=NEAR)


def test_a_catastrophe_is_an_output_that_one_input_cannot_have() -> None:
    for event, chance in (
        (Gaussian(1), 0),
        (Laplace(1), 0),
        (Sampled(F("0.1"), Gaussian(1)), 0),
        (TABLE, 0),
        (TELLING, 0.01),
        (Approximate(1, F("1e-6")), 1e-6),
        (Repeated(Approximate(1, F("0.1")), 3), 1 - 0.9**3),
        (Composed((TELLING, Approximate(0, F("0.5")), Gaussian(1))), 1 - 0.99 * 0.5),
        (Composed(()), 0),
    ):
        spent = loss(event)
        assert spent.catastrophe() == pytest.approx(chance, rel=1e-14, abs=0)
        assert spent.delta(10**6) == pytest.approx(chance, rel=1e-12, abs=0)


# The trade-off of an attacker's errors.

RATES = (1e-9, 0.001, 0.05, 0.2, 0.4, 0.5, 0.7, 0.9, 0.999)


def laplace_tradeoff(epsilon: float, alpha: float) -> float:
    """1 − e^ε α until e^-ε/2, e^-ε/(4α) until 1/2, e^-ε (1 − α) beyond (Dong, Roth and Su 2022, proposition A.6)."""
    if alpha < exp(-epsilon) / 2:
        return 1 - exp(epsilon) * alpha
    return exp(-epsilon) / (4 * alpha) if alpha <= 0.5 else exp(-epsilon) * (1 - alpha)


CURVES: list[tuple[Event, Callable[[float], float]]] = [
    (Gaussian(1), lambda alpha: NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - 1)),
    (Repeated(Gaussian(4), 100), lambda alpha: NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - 2.5)),
    (Pure(1), lambda alpha: max(1 - e * alpha, (1 - alpha) / e)),
    (Approximate(1, F("0.01")), lambda alpha: max(0.0, 0.99 - e * alpha, (0.99 - alpha) / e)),
    (Laplace(1), lambda alpha: laplace_tradeoff(1.0, alpha)),
]


@pytest.mark.parametrize("alpha", RATES)
@pytest.mark.parametrize(("event", "curve"), CURVES, ids=[type(event).__name__ for event, _ in CURVES])
def test_the_least_misses_of_an_attacker_are_their_closed_form(
    event: Event, curve: Callable[[float], float], alpha: float
) -> None:
    assert loss(event).tradeoff(F(str(alpha))) == pytest.approx(curve(alpha), rel=1e-6)


TRADES = [
    Gaussian(2),
    RandomizedResponse(2, 10),
    Sampled(F("0.2"), Gaussian(1)),
    Repeated(DiscreteLaplace(3, 2), 3),
    Repeated(Approximate(F("0.2"), F("0.01")), 4),
]


@pytest.mark.parametrize("event", TRADES, ids=lambda event: type(event).__name__)
def test_the_tradeoff_is_convex_falling_symmetric_and_below_the_diagonal(event: Event) -> None:
    spent = loss(event)
    rates = [F(i, 12) for i in range(13)]
    misses = [spent.tradeoff(alpha) for alpha in rates]
    assert misses[0] == pytest.approx(1 - spent.catastrophe(), rel=1e-12) and misses[-1] == 0
    for alpha, beta in zip(rates, misses, strict=True):
        assert 0 <= beta <= 1 - alpha + 1e-12
        if 0 < beta < 1:
            assert spent.tradeoff(F(beta)) == pytest.approx(float(alpha), abs=1e-6)
    for before, here, after in zip(misses, misses[1:], misses[2:], strict=False):
        assert before >= here >= after
        assert here <= (before + after) / 2 + 1e-9


def test_no_test_on_a_response_beats_its_tradeoff_and_likelihood_ratios_reach_it() -> None:
    """Every set of answers as the rejection region, where the truth is the first of five answers or the second."""
    spent, told = loss(RandomizedResponse(1, 5)), e / (e + 4)
    first_true, second_true = [told, *[told / e] * 4], [told / e, told, *[told / e] * 3]
    reached = 0
    for chosen in range(1, 31):
        within = [answer for answer in range(5) if chosen >> answer & 1]
        alarm, miss = sum(second_true[y] for y in within), 1 - sum(first_true[y] for y in within)
        least = spent.tradeoff(F(alarm))
        assert miss >= least * (1 - 1e-9) - 1e-12
        reached += miss == pytest.approx(least, rel=1e-6)
    assert reached == 8  # the first answer is in the region, the second is not, and any of the others


# What an attacker believes after seeing the output.


def test_at_an_even_prior_the_attacker_is_right_as_often_as_bayes_allows() -> None:
    for epsilon in ("0.1", "1", "5"):
        x = float(F(epsilon))
        assert loss(Pure(F(epsilon))).posterior() == pytest.approx(exp(x) / (1 + exp(x)), rel=1e-12)
        approximate = loss(Approximate(F(epsilon), F("0.03")))
        assert approximate.posterior(F(1, 2)) == pytest.approx((exp(x) + 0.03) / (1 + exp(x)), rel=1e-12)
    assert loss(Gaussian(1)).posterior() == pytest.approx(NORMAL.cdf(0.5), rel=NEAR)
    assert loss(Laplace(1)).posterior() == pytest.approx(1 - exp(-0.5) / 2, rel=NEAR)
    assert loss(Composed(())).posterior() == 0.5


def best_guess(rows: Sequence[Sequence[Fraction]], prior: Fraction) -> Fraction:
    """max over ordered pairs of Σ_y max(π P(y), (1 − π) Q(y))."""
    pairs = [(p, q) for p in rows for q in rows if p is not q]
    return max(sum((max(prior * a, (1 - prior) * b) for a, b in zip(p, q, strict=True)), F(0)) for p, q in pairs)


def test_at_any_prior_the_attacker_is_right_as_often_as_the_best_guess_at_each_output() -> None:
    random = Random(24)
    for rows in tables(25, repeats(12)):
        spent = PrivacyLoss.from_table(rows)
        for prior in (F(1, 2), F(random.randint(1, 99), 100)):
            assert spent.posterior(prior) == pytest.approx(float(best_guess(rows, prior)), rel=1e-12)


def test_the_posterior_at_other_priors() -> None:
    """A prior as strong as the evidence is the best guess itself."""
    spent = loss(Pure(1))
    assert spent.posterior(0) == spent.posterior(1) == 1
    for prior in ("0.01", "0.2", "0.269", "0.731", "0.9"):
        wins = max(float(F(prior)), 1 - float(F(prior)), e / (1 + e))  # the truth is told with e/(1 + e)
        assert spent.posterior(F(prior)) == pytest.approx(wins, rel=1e-12)
        assert spent.posterior(F(prior)) == spent.posterior(1 - F(prior))
    told = [loss(Gaussian(1)).posterior(F(prior)) for prior in ("0.5", "0.6", "0.8", "0.99")]
    assert told == sorted(told)
    for prior in (-0.1, 1.1, float("nan"), "0.5"):
        with pytest.raises(Invalid, match="prior"):
            spent.posterior(prior)  # type: ignore[arg-type]


def test_odds_change_by_at_most_e_to_the_epsilon_for_every_prior() -> None:
    """Given what the others are. Without that, two equal bits that each answer at ε move them by e^2ε: the composition's price."""
    epsilon = 0.8
    told, lied = exp(epsilon) / (1 + exp(epsilon)), 1 / (1 + exp(epsilon))
    for prior in (1e-9, 0.1, 0.5, 0.9):
        one = prior * told / (prior * told + (1 - prior) * lied)
        assert exp(-epsilon) * prior * (1 - 1e-12) <= one <= exp(epsilon) * prior * (1 + 1e-12)
    rare = 1e-12
    both = rare * told**2 / (rare * told**2 + (1 - rare) * lied**2)
    assert both / rare == pytest.approx(exp(2 * epsilon), rel=1e-9)
    spent = loss(RandomizedResponse(F("0.8")))
    assert (2 * spent).epsilon(0) == pytest.approx(log(both / rare), rel=1e-9)
    assert spent.epsilon(0) < log(both / rare)


# Groups.


def test_a_group_multiplies_sensitivities() -> None:
    for leaf, bigger in (
        (Laplace(3, F(1, 2)), Laplace(3, 2)),
        (Gaussian(3, F(1, 2)), Gaussian(3, 2)),
        (DiscreteLaplace(3, 2), DiscreteLaplace(3, 8)),
        (DiscreteGaussian(3), DiscreteGaussian(3, 4)),
    ):
        assert loss(leaf).group(4) == loss(bigger)
        assert (5 * loss(leaf)).group(4) == 5 * loss(bigger)
        assert loss(leaf).group(1) == loss(leaf)


def test_a_group_multiplies_pure_epsilon() -> None:
    for leaf in (Pure(F("0.3")), RandomizedResponse(F("0.3")), RandomizedResponse(F("0.3"), 5)):
        grouped = loss(leaf).group(7)
        assert grouped.epsilon(0) == pytest.approx(2.1, rel=1e-12)
        assert grouped.delta(1) >= loss(leaf).delta(1)
    assert loss(ZeroConcentrated(F("0.1"))).group(3) == loss(ZeroConcentrated(F("0.9")))


@pytest.mark.parametrize(("epsilon", "delta", "k"), [("0.5", "1e-6", 2), ("1", "1e-3", 3), ("0", "1e-5", 10)])
def test_a_group_of_approximate_privacy_is_the_bound_and_kdelta_is_not_enough(epsilon: str, delta: str, k: int) -> None:
    """(kε, δ(e^kε − 1)/(e^ε − 1)), at least and at ε = 0 exactly kδ."""
    x, d = float(F(epsilon)), float(F(delta))
    grouped = loss(Approximate(F(epsilon), F(delta))).group(k)
    growth = sum(exp(i * x) for i in range(k))
    assert grouped.delta(k * F(epsilon)) == pytest.approx(d * growth, rel=1e-12)
    assert grouped.epsilon(F(d * growth * (1 + 1e-9))) == pytest.approx(k * x, rel=1e-9)
    assert grouped.epsilon(F(k * d) * F("0.999999")) == inf


def test_the_bound_of_a_group_is_attained() -> None:
    """Three inputs in a row, neighbours at (ln 2, 1/10): the ends are (2 ln 2, 3/10) and no better."""
    rows = ((F(0), F(3, 10), F(7, 10)), (F(1, 10), F(3, 10), F(6, 10)), (F(3, 10), F(3, 10), F(4, 10)))
    for near in (rows[:2], rows[1:]):
        assert delta_of_table(near, F(2)) == F(1, 10)
    assert delta_of_table((rows[0], rows[2]), F(4)) == F(3, 10)
    ends = loss(Approximate(F(log(2)), F(1, 10))).group(2)
    assert ends.delta(F(2 * log(2))) == pytest.approx(0.3, rel=1e-12)


def test_a_group_is_of_one_or_more() -> None:
    for k in (0, -1, 1.5, True):
        with pytest.raises(Invalid, match="k must be"):
            loss(Laplace(1)).group(k)  # type: ignore[arg-type]


def test_a_sampled_group_costs_the_mixture_of_how_many_are_seen() -> None:
    """Two units of unit sensitivity, each seen at rate q: N(0), N(1), N(2) with (1−q)², 2q(1−q), q², against N(0)."""
    q, sigma = F(1, 10), 2.0
    shares = [float(share) for share in ((1 - q) ** 2, 2 * q * (1 - q), q**2)]
    spent = loss(Sampled(q, Gaussian(2))).group(2)
    for epsilon in (0.0, 0.1, 1.0):

        def gain(x: float, epsilon: float = epsilon) -> float:
            ratio = sum(share * exp((2 * j * x - j * j) / (2 * sigma**2)) for j, share in enumerate(shares))
            return max(0.0, ratio - exp(epsilon)) * NORMAL.pdf(x / sigma) / sigma

        width = 1 / 100
        truth = width * sum(gain(-16 + i * width) for i in range(3_300))
        assert spent.delta(epsilon) == pytest.approx(truth, rel=1e-4)
        assert spent.delta(epsilon) <= loss(Gaussian(2, 2)).delta(epsilon) * (1 + NEAR)


# Samples.


def test_a_sample_of_a_loss_is_the_sampled_event() -> None:
    for leaf in (Gaussian(2), Laplace(1), RandomizedResponse(1), DiscreteGaussian(2), DiscreteLaplace(2, 3)):
        spent = loss(leaf).sampled(F("0.1"))
        assert spent == loss(Sampled(F("0.1"), leaf))
        assert spent.relation == Relation(Adjacency.ADD_REMOVE)
        for gamma in (F("1.01"), F("1.2")):  # γ' = 1 + q(γ − 1): q δ(γ) of the part, in the worse direction at least
            outer = log(1 + F("0.1") * (gamma - 1))
            assert spent.delta(outer) >= 0.1 * loss(leaf).delta(log(gamma)) * (1 - NEAR)
    pure = loss(Pure(1)).sampled(F("0.1")).epsilon(0)
    assert pure == pytest.approx(log(0.9 + 0.1 * e), rel=1e-12)


@pytest.mark.parametrize("rate", [0, -0.5, 1.5, float("nan"), None])
def test_a_bad_rate_is_refused_by_name(rate: object) -> None:
    with pytest.raises(Invalid, match="rate"):
        loss(Gaussian(1)).sampled(rate)  # type: ignore[arg-type]


# What is known by zCDP alone.

ALONE: list[Event] = [ZeroConcentrated(F("0.1")), Composed((Laplace(1), ZeroConcentrated(F("0.1")), Gaussian(2)))]


@pytest.mark.parametrize("event", ALONE, ids=["alone", "in a sum"])
def test_zcdp_alone_has_no_distribution_of_the_loss(event: Event) -> None:
    spent = loss(event)
    for ask in (spent.bad_event, spent.exceeds, spent.interval):
        with pytest.raises(Invalid, match="zCDP"):
            ask(F("0.1"))
    with pytest.raises(Invalid, match="zCDP"):
        spent.catastrophe()
    with pytest.raises(Invalid):
        spent.sampled(F("0.1"))


def test_zcdp_alone_bounds_the_attacker_from_the_safe_side() -> None:
    """Randomized response at ε = 1 has ρ = tanh(1/2); its attacker is no better than the bound of ρ says."""
    bound, truth = loss(ZeroConcentrated(F(tanh(0.5) * (1 + NEAR)))), loss(RandomizedResponse(1))
    for prior in (F(1, 2), F(1, 5)):
        assert bound.posterior(prior) >= truth.posterior(prior) * (1 - NEAR)


@pytest.mark.parametrize("ask", ["bad_event", "exceeds"])
def test_a_bad_epsilon_is_refused_by_name(ask: str) -> None:
    for epsilon in (-1, float("nan"), inf, "1", True):
        with pytest.raises(Invalid, match="epsilon"):
            getattr(loss(Laplace(1)), ask)(epsilon)


def test_a_bad_alpha_is_refused_by_name() -> None:
    for alpha in (-0.1, 1.1, float("nan"), "0.5"):
        with pytest.raises(Invalid, match="alpha"):
            loss(Laplace(1)).tradeoff(alpha)  # type: ignore[arg-type]


# The price of a relation stays with the answer.


def test_a_relation_is_kept_by_groups_and_refused_by_samples() -> None:
    replaced: Leaf = Laplace(1)
    spent = loss(Under(replaced, Relation(Adjacency.REPLACE)))
    assert spent.group(3).relation == Relation(Adjacency.REPLACE)
    with pytest.raises(Invalid, match="cannot be composed"):
        spent.sampled(F("0.1"))


def test_exceeding_falls_as_epsilon_grows() -> None:
    for event in (Repeated(Laplace(3), 5), Repeated(Sampled(F("0.1"), Gaussian(1)), 20), Repeated(TABLE, 4)):
        spent = loss(event)
        for ask in (spent.exceeds, spent.bad_event):
            values = [ask(F(i, 4)) for i in range(9)]
            assert all(later <= earlier * (1 + NEAR) + 1e-15 for earlier, later in pairwise(values))
