"""Planted bugs of the accounting: one direction, one term, one error that is forgotten. The tests of `privacy` must catch each."""

from collections.abc import Sequence
from fractions import Fraction as F
from unittest import mock

import pytest

from discreet.errors import Invalid
from discreet.privacy import loss
from discreet.privacy.events import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeated,
    Sampled,
)
from discreet.privacy.numeric import certified
from discreet.privacy.numeric.certified import Composition, Reals
from tests.mutants import Law, Mutant
from tests.privacy import oracle
from tests.privacy import test_directions as directions
from tests.privacy import test_interval as interval
from tests.privacy import test_leaves as leaves
from tests.privacy import test_loss as losses
from tests.privacy import test_mixed as mixed
from tests.privacy import test_order as order
from tests.privacy import test_theorems as theorems
from tests.privacy import test_threads as threads
from tests.privacy.cases import response

LOSS = "discreet.privacy.loss:"
PARTS = "discreet.privacy.numeric.parts:"
COST = "discreet.privacy.cost:"
KINDS = "discreet.privacy.numeric.kinds:"
CERTIFIED = "discreet.privacy.numeric.certified:"
SIDE = "discreet.privacy.numeric.side:"
DIRECTION = "discreet.privacy.numeric.direction:"
CONTOUR = "discreet.privacy.numeric.contour:"
TRANSFORM = "discreet.privacy.numeric.transform:"
MGF = "discreet.privacy.mgf:"
SAMPLED = "discreet.privacy.sampled:"
THEOREMS = "discreet.privacy.theorems."

CASE = directions.CASES[0]


def one_costs(leaf: object, truth: oracle.Curve, epsilon: F = F(1, 3)) -> Law:
    """δ(ε) of one use, and of nothing else, is what the oracle says."""

    def law() -> None:
        assert oracle.relative_error(loss(leaf).delta(epsilon), truth(epsilon)) < 1e-8  # type: ignore[arg-type]

    return law


def ends_hold(times: int, delta: float) -> Law:
    """The certified ends of Laplace noise hold the truth of the closed form between them."""

    def law() -> None:
        spent, truth = times * loss(Laplace(2)), oracle.laplace(F(1, 2), times)
        low, high = spent.interval(delta)
        with oracle.ctx.workprec(oracle.PRECISION):
            assert truth(F(low)) >= oracle.ball(F(delta)) >= truth(F(high))

    return law


EXACT = response("1", 100)  # on a lattice, where nothing is split: an end is off by its errors alone


def transforms_may_err(sign: int) -> None:
    """Every probability of a composition may be off by what `uncertain` says, here far more than it is: the ends hold."""
    compose = Composition._compose

    def worse(self: Composition, weights: Sequence[Reals], counts: Sequence[int], first: int) -> None:
        compose(self, weights, counts, first)
        off = 1e-3 * float(self.p.max())
        self.p, self.uncertain = self.p + sign * off, self.uncertain + off

    with mock.patch.object(Composition, "_compose", worse):
        the_ends_hold()


def windows_may_be_short() -> None:
    """A composition in a window that leaves out a thousandth, which is counted: the ends hold."""
    with mock.patch.object(certified, "LEFT_OUT", -7.0):
        the_ends_hold()


def the_ends_hold() -> None:
    for delta in (F(1, 100), F(1, 10**6), F(1, 10**9)):
        assert not interval.wrong(EXACT, delta), delta
    for epsilon in (F(60), F(401, 5)):
        truth, log_above = EXACT.curve(epsilon), loss(EXACT.event).log_delta_above(epsilon)
        with oracle.ctx.workprec(oracle.PRECISION):
            assert oracle.arb(log_above).exp() >= truth, epsilon


def open_failure_is_not_sampled() -> None:
    with pytest.raises(Invalid):
        loss(Sampled(F(1, 2), Approximate(1, F(1, 10))))


def failure_is_in_every_certificate() -> None:
    spent = 2 * loss(Approximate(1, F(1, 10)))
    assert not spent.certifies(2, F(1, 10))
    assert spent.certifies(2, F(19, 100))
    assert not (spent + loss(Gaussian(3))).certifies(20, F(1, 10))
    assert spent.delta(2) == pytest.approx(0.19, rel=1e-12)


def a_group_moves_farther() -> None:
    assert loss(Laplace(2)).group(2).pure_epsilon() == 1


def tiny_deltas_are_answered() -> None:
    try:
        mixed.test_extreme_questions_are_answered(Laplace(2), 3)
    except ValueError as raw:
        pytest.fail(f"a raw exception: {raw}")


def two_kinds_are_answered() -> None:
    try:
        mixed.test_ordinary_sums_of_two_kinds_are_answered()
    except ValueError as raw:
        pytest.fail(f"a raw exception: {raw}")


def lulls_are_passed() -> None:
    mixed.test_points_beside_a_gaussian_are_exact("1000", 100)


def zero_is_no_answer_below_its_delta() -> None:
    """A hundredth below δ(0) ε is more than 0, and at δ(0) it is 0."""
    spent = 3 * loss(Laplace(2)) + loss(Laplace(3))
    assert spent.epsilon(0.99 * spent.delta(0)) > 0 == spent.epsilon(1.01 * spent.delta(0))


def repeats_add_up() -> None:
    assert loss(Repeated(Laplace(1), 3)).pure_epsilon() == 3


MUTANTS = (
    Mutant(
        "epsilon-of-removing-only",
        LOSS + "PrivacyLoss.epsilon",
        "for other in others:",
        "for other in others[:0]:",
        "epsilon looks at the removal of a unit only",
        lambda: directions.test_epsilon_is_that_of_adding(CASE),
    ),
    Mutant(
        "delta-of-removing-only",
        LOSS + "PrivacyLoss.delta",
        "for direction in self._directions",
        "for direction in self._directions[:1]",
        "delta looks at the removal of a unit only",
        lambda: directions.test_delta_is_that_of_adding(CASE),
    ),
    Mutant(
        "interval-of-removing-only",
        LOSS + "PrivacyLoss.interval",
        "if not high or _above(direction, wanted, COARSE) > high:",
        "if not high:",
        "the certified interval looks at the removal of a unit only",
        lambda: directions.test_the_certified_interval_holds_the_epsilon_of_adding(CASE),
    ),
    Mutant(
        "certificate-of-removing-only",
        LOSS + "PrivacyLoss.log_delta_above",
        "if _log_of_all(other.log_delta_above(wanted, COARSE), other) > most:",
        "if False:",
        "a certificate looks at the removal of a unit only",
        lambda: directions.test_nothing_below_the_delta_of_adding_is_certified(CASE),
    ),
    Mutant(
        "worse-direction-is-the-first",
        LOSS + "PrivacyLoss.worse_direction",
        "return deltas.index(max(deltas))",
        "return 0",
        "the direction that decides is always said to be removal",
        lambda: directions.test_delta_is_that_of_adding(CASE),
    ),
    Mutant(
        "certificate-of-adding-for-both",
        LOSS + "PrivacyLoss.log_delta_above",
        "most = max(most, ",
        "most = min(most, ",
        "a certificate takes the better of the two directions",
        lambda: directions.test_the_certified_delta_is_at_least_that_of_adding(CASE),
    ),
    Mutant(
        "certifies-by-epsilon-alone",
        LOSS + "PrivacyLoss.certifies",
        "return all(direction.failure <= allowed for direction in self._directions)",
        "return True",
        "open failure is not held against the delta of a certificate",
        failure_is_in_every_certificate,
    ),
    Mutant(
        "open-failure-not-counted",
        LOSS + "_log_of_all",
        "if failure else log_delta",
        "if not failure else log_delta",
        "a certified delta leaves out what fails openly",
        failure_is_in_every_certificate,
    ),
    Mutant(
        "delta-below-floats-is-some",
        LOSS + "_interval",
        "    if not float(left):  #",
        "    if False:  #",
        "a delta below all floats ends in an exception",
        tiny_deltas_are_answered,
    ),
    Mutant(
        "any-density-decays-for-good",
        PARTS + "Parts._log_cover",
        "total = np.zeros_like(heights)",
        "total = np.full_like(heights, -99.0)",
        "a contour is cut off at a lull, and the lattice comes back behind it",
        lulls_are_passed,
    ),
    Mutant(
        "gaussian-cover-too-steep",
        KINDS + "GaussianLoss.log_cover",
        "return -float(self.gaussian) * heights**2 / 2",
        "return np.full_like(heights, -1e9)",
        "a narrow Gaussian is said to end every integrand",
        lulls_are_passed,
    ),
    Mutant(
        "no-agreement-is-an-agreement",
        TRANSFORM + "TransformLine.log_delta",
        "if not (fine > 0 and abs(fine - coarse) <= AGREE * coarse):",
        "if not abs(fine - coarse) <= AGREE * coarse:",
        "the logarithm of 0 is taken",
        two_kinds_are_answered,
    ),
    Mutant(
        "sampling-of-open-failure",
        SAMPLED + "SampledCost.sides",
        "    if part.failure:\n",
        "    if False:\n",
        "what fails openly is dropped when it is sampled",
        open_failure_is_not_sampled,
    ),
    Mutant(
        "sampled-rate-squared",
        SAMPLED + "SampledCost.sides",
        "q = float(leaf.rate)",
        "q = float(leaf.rate) ** 2",
        "a rate of q counts as q squared",
        lambda: directions.test_delta_is_that_of_adding(CASE),
    ),
    Mutant(
        "sampled-part-at-full-rate-costs-nothing",
        SAMPLED + "SampledCost.sides",
        "        return sides(leaf.part)\n",
        "        return symmetric(NOTHING)\n",
        "what is sampled for certain is free",
        one_costs(Sampled(F(1), Gaussian(1)), oracle.gaussian(F(1))),
    ),
    Mutant(
        "laplace-of-half-the-loss",
        MGF + "LaplaceCost.sides",
        "ratio = self.leaf.sensitivity / self.leaf.scale",
        "ratio = self.leaf.sensitivity / self.leaf.scale / 2",
        "Laplace noise costs half",
        one_costs(Laplace(1), oracle.laplace(F(1), 1)),
    ),
    Mutant(
        "gaussian-not-squared",
        MGF + "GaussianCost.sides",
        "(self.leaf.sensitivity / self.leaf.scale) ** 2",
        "self.leaf.sensitivity / self.leaf.scale",
        "the loss of a Gaussian grows like its root",
        one_costs(Gaussian(2), oracle.gaussian(F(1, 4))),
    ),
    Mutant(
        "response-of-two-for-all",
        MGF + "RandomizedResponseCost.sides",
        "_response(self.leaf.epsilon, self.leaf.k)",
        "_response(self.leaf.epsilon, max(self.leaf.k, 10**6))",
        "a response of two answers is that of a million",
        one_costs(RandomizedResponse(1), oracle.response(F(1)).delta),
    ),
    Mutant(
        "pure-is-a-laplace",
        MGF + "PureCost.sides",
        "events.RandomizedResponse(self.leaf.epsilon)",
        "events.Laplace(1 / self.leaf.epsilon)",
        "an unknown mechanism is taken for Laplace noise, which is cheaper",
        one_costs(Pure(1), oracle.response(F(1)).delta),
    ),
    Mutant(
        "approximate-without-failure",
        MGF + "ApproximateCost.sides",
        "_response(epsilon, 2, delta)",
        "_response(epsilon, 2, delta / 2)",
        "half of what fails openly is counted",
        failure_is_in_every_certificate,
    ),
    Mutant(
        "geometric-end-forgotten",
        MGF + "DiscreteLaplaceCost.sides",
        "log_p[0] = -np.log1p(np.exp(-a))",
        "log_p[0] += 0.0",
        "all outputs on one side count as one of them",
        one_costs(DiscreteLaplace(2, 3), oracle.discrete_laplace(F(2), 3).delta),
    ),
    Mutant(
        "uses-not-counted",
        LOSS + "_collect",
        "times * more",
        "times",
        "a mechanism that is repeated costs as much as one",
        repeats_add_up,
    ),
    Mutant(
        "lower-end-above",
        CERTIFIED + "epsilon_below",
        "rest = (wanted + error[j - 1]) / (1 - found.relative)",
        "rest = (wanted + error[j - 1]) * (1 - 1e-3)",
        "the lower end lies above the truth",
        ends_hold(20, 1e-6),
    ),
    Mutant(
        "upper-end-below",
        CERTIFIED + "epsilon_above",
        "rest = (wanted - error[j - 1]) / (1 + found.relative)",
        "rest = (wanted - error[j - 1]) * (1 + 1e-3)",
        "the upper end lies below the truth",
        ends_hold(20, 1e-6),
    ),
    Mutant(
        "mass-above-the-last-cell-dropped",
        CERTIFIED + "Cells.__init__",
        "high = side.high_end(0.0, log(tiny))",
        "high = side.high_end(0.0, log(1e-3))",
        "large losses are left out of a bound",
        lambda: mixed.check_answers(20 * loss(Gaussian(1)) + 5 * loss(Laplace(1)), 1e-9),
    ),
    Mutant(
        "group-of-two-is-one",
        MGF + "_of_group",
        "return replace(leaf, sensitivity=k * leaf.sensitivity)",
        "return replace(leaf, sensitivity=leaf.sensitivity)",
        "two units move a result no farther than one",
        a_group_moves_farther,
    ),
    Mutant(
        "error-of-the-transform-not-added",
        CERTIFIED + "Composition.curve",
        "left_out + self.uncertain * many",
        "left_out",
        "what a Fourier transform may be off is not in the certified ends",
        lambda: transforms_may_err(-1),
    ),
    Mutant(
        "what-was-left-out-not-added",
        CERTIFIED + "Composition.curve",
        "left_out = 4 * exp(LEFT_OUT) * peak",
        "left_out = 0.0",
        "what lies outside the window of a composition is not in the certified ends",
        windows_may_be_short,
    ),
    Mutant(
        "upper-end-between-nodes-without-error",
        CERTIFIED + "epsilon_above",
        "rest = (wanted - error[j - 1])",
        "rest = wanted",
        "errors are counted at the nodes, and not between them",
        lambda: transforms_may_err(-1),
    ),
    Mutant(
        "lower-end-between-nodes-without-error",
        CERTIFIED + "epsilon_below",
        "rest = (wanted + error[j - 1])",
        "rest = wanted",
        "errors are counted at the nodes, and not between them",
        lambda: transforms_may_err(1),
    ),
    Mutant(
        "certified-delta-without-error",
        CERTIFIED + "log_delta_above",
        " + float(error[j - 1])",
        "",
        "the error of a transform is not in a certified delta",
        lambda: transforms_may_err(-1),
    ),
    Mutant(
        "threads-ask-at-once",
        LOSS + "PrivacyLoss.__init__",
        "self._lock = RLock()",
        "self._lock = __import__('contextlib').nullcontext()",
        "two threads change what is kept of one loss at once",
        lambda: threads.waits_for_its_turn(threads.QUESTIONS["epsilon"], 1),
    ),
    Mutant(
        "laplace-cover-too-steep",
        KINDS + "LaplaceLoss.log_cover",
        "- np.log(heights)",
        "- 2 * np.log(heights)",
        "the density of Laplace noise is said to fall like the square of the height",
        lambda: mixed.test_a_cover_holds_at_all_larger_heights(Laplace(F(1, 5))),
    ),
    Mutant(
        "points-beside-a-density-are-gone",
        SIDE + "Side._beside_points",
        "np.logaddexp(log_dense, self.log_atomic(c))",
        "log_dense",
        "points are said to fall with the density beside them, and they come back",
        lambda: mixed.test_a_cover_holds_at_all_larger_heights(Laplace(2)),
    ),
    Mutant(
        "replaced-people-in-one-part",
        THEOREMS + "composition:parallel_composition",
        "1 if adjacency is Adjacency.ADD_REMOVE else 2",
        "1",
        "who is replaced moves between two parts, and one is counted",
        theorems.test_parallel_composition_takes_the_largest_or_the_two_largest,
    ),
    Mutant(
        "a-grant-covers-more-noise-only-in-name",
        MGF + "_same_noise",
        "leaf.sensitivity >= other.sensitivity",
        "leaf.sensitivity <= other.sensitivity",
        "whoever was granted noise on a small sensitivity draws it on a larger one",
        leaves.test_a_grant_covers_the_same_noise_on_less,
    ),
    Mutant(
        "sampling-at-any-rate-is-covered",
        SAMPLED + "SampledCost.covers",
        "self.leaf.rate == other.rate and",
        "",
        "whoever was granted a sample draws from everybody",
        leaves.test_a_grant_of_a_sample_covers_that_rate_only,
    ),
    Mutant(
        "group-by-one-pure-epsilon",
        COST + "Cost.group",
        "events.Pure(k * pure)",
        "events.Pure(pure)",
        "two units cost what one costs, where only a pure epsilon is known",
        leaves.test_a_new_leaf_is_grouped,
    ),
    Mutant(
        "the-last-line-serves-whoever-comes",
        CONTOUR + "Sampler.nodes",
        "    nodes = self._kept[key]\n",
        "    nodes = next(iter(self._kept.values()))\n",
        "a value is had by the nodes of the question before it",
        order.test_values_do_not_hang_on_the_questions_before,
    ),
    Mutant(
        "certified-by-the-better-direction",
        LOSS + "PrivacyLoss.certifies",
        "if all(direction.pure is not None",
        "if any(direction.pure is not None",
        "a pure epsilon is certified that one direction keeps, and the other does not",
        directions.nothing_below_the_worse_direction_is_certified,
    ),
    Mutant(
        "one-direction-for-the-sum",
        LOSS + "PrivacyLoss._directions",
        "same = all(pair[0] is pair[1]",
        "same = any(pair[0] is pair[1]",
        "beside a release for which both directions are the same, the worse one is forgotten",
        directions.a_release_beside_it_hides_no_direction,
    ),
    Mutant(
        "rho-counted-once",
        LOSS + "PrivacyLoss._directions",
        "(n * (cost_of(leaf).concentrated or Fraction(0))",
        "((cost_of(leaf).concentrated or Fraction(0))",
        "what is known by zCDP alone costs as much a hundred times as once",
        directions.concentrated_parts_add_up,
    ),
    Mutant(
        "corners-are-not-looked-at",
        CONTOUR + "Line.root",
        "if abs(gap) < NEXT_IS_LAST and self._sampler.smooth:",
        "if abs(gap) < NEXT_IS_LAST:",
        "the last step of a search crosses a corner of delta, and nobody looks where it ends",
        lambda: losses.test_epsilon_inverts_delta_next_to_the_corners_of_a_lattice(RandomizedResponse(2), 20),
    ),
    Mutant(
        "zero-is-enough-by-a-value-in-doubt",
        DIRECTION + "Direction._zero_is_enough",
        "self._first_log_delta_at_zero <= target and self._log_delta_at_zero <= target",
        "self._first_log_delta_at_zero <= target + 1",
        "an epsilon of 0 is said to do where delta is larger",
        zero_is_no_answer_below_its_delta,
    ),
)
