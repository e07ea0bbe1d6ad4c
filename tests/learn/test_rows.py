"""What a unit adds to a sum of gradients is its own, bit for bit, and never longer than the clip: for rows and people, of any values."""

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.learn import rows
from discreet.learn.people import RowsOfPeople
from discreet.learn.problems import LeastSquares, LinearProblem, Logistic
from discreet.learn.rows import FEATURE_STEPS, MOST_WEIGHT, SCORE_STEPS, FeatureRows, whole_weights
from discreet.learn.training_plan import STEPS_OF_CLIP, GradientNoise, Person, TrainingPlan
from tests.learn.cases import KINDS, ODD, PLANS, features, plan_of, problem
from tests.scale import repeats

SIZES = (1, 2, 3, 7, 16, 33, 130)


def exact_norm(vector: Any, shape: GradientNoise) -> int:
    """The norm of integers, rounded up: L1, or L2 squared against the clip squared."""
    numbers = [int(x) for x in np.asarray(vector).ravel()]
    return sum(map(abs, numbers)) if shape is GradientNoise.LAPLACE else sum(x * x for x in numbers)


def within_clip(vector: Any, plan: TrainingPlan, share: int = 1) -> bool:
    most = F(STEPS_OF_CLIP, share)
    return exact_norm(vector, plan.shape) <= (most if plan.shape is GradientNoise.LAPLACE else most**2)


def weights_of(seed: int, made: LinearProblem) -> Any:
    random = np.random.default_rng(seed)
    return random.standard_normal(made.shape) * random.choice([0.0, 0.1, 1, 50, 1e7])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("said", PLANS)
def test_a_unit_adds_the_same_in_every_batch(said: str, kind: str) -> None:
    a_unit_adds_the_same(said, kind)


def a_unit_adds_the_same(said: str = "rows", kind: str = "binary") -> None:
    """The sum over any batch is the sum of what its units add alone: exactly, whatever the size and the order."""
    for seed in range(repeats(6)):
        random = np.random.default_rng(seed)
        made = problem(
            kind, seed, int(random.choice(SIZES)), plan_of(**PLANS[said]), width=int(random.choice([1, 3, 17]))
        )
        weights = weights_of(seed, made)
        alone = np.array([made.clipped(weights, np.array([i])) for i in range(made.units)]).reshape(-1, *made.shape)
        assert (made.clipped(weights, slice(None)) == alone.sum(axis=0)).all()
        for _ in range(4):
            batch = np.flatnonzero(random.random(made.units) < 0.5)
            assert (made.clipped(weights, batch) == alone[batch].sum(axis=0)).all()
            assert (made.clipped(weights, batch[::-1].copy()) == alone[batch].sum(axis=0)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("said", PLANS)
def test_no_unit_adds_more_than_the_clip(said: str, kind: str) -> None:
    no_unit_adds_more(said, kind)


def no_unit_adds_more(said: str = "rows", kind: str = "binary") -> None:
    plan = plan_of(**PLANS[said])
    longest = F(0)
    for seed in range(repeats(10)):
        made = problem(kind, seed, 24, plan, odd=0.15)
        weights = weights_of(seed, made)
        for unit in range(made.units):
            added = made.clipped(weights, np.array([unit]))
            assert within_clip(added, plan)
            longest = max(longest, F(exact_norm(added, plan.shape)))
    most = STEPS_OF_CLIP if plan.shape is GradientNoise.LAPLACE else STEPS_OF_CLIP**2
    assert longest > F(99, 100) * most or said == "each-row"  # clipping did occur


def test_without_clipping_a_person_adds_the_sum_of_their_rows() -> None:
    """A person with three rows, none of them clipped: the sum of the rows' own gradients, to the grid."""
    random = np.random.default_rng(3)
    x, y = random.uniform(-0.3, 0.3, (30, 4)), random.uniform(-0.5, 0.5, 30)
    ids = np.repeat(np.arange(10), 3)
    wide = FeatureRows(x, GradientNoise.GAUSSIAN)
    together = LeastSquares(wide, y, plan_of(person=Person(3), clip=100), RowsOfPeople(ids, 3))
    rows = LeastSquares(wide, y, plan_of(clip=100))
    weights = random.standard_normal((1, 4)) * 0.1
    apart = rows.clipped(weights, slice(None))
    assert np.abs(together.clipped(weights, slice(None)) - apart).max() <= 30
    truth = (x @ weights[0] - y) @ x
    assert np.abs(apart[0] * float(rows.plan.step) - truth).max() < 1e-2


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.floats(width=64), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(GradientNoise),
)
def test_features_are_in_the_unit_ball(values: list[list[float]], shape: GradientNoise) -> None:
    features_are_in_the_ball(values, shape)


def features_are_in_the_ball(
    values: list[list[float]] | None = None, shape: GradientNoise = GradientNoise.GAUSSIAN
) -> None:
    table = [[3.0, -4.0, 1e308], [0.1, 0.2, 0.2], [np.nan, 0.1, 0.1], [1e308, 1e308, 0]] if values is None else values
    rows = FeatureRows(np.array(table), shape)
    for steps, norm, row in zip(rows.steps, rows.norms, table, strict=True):
        size = exact_norm(steps, shape)
        assert size <= (FEATURE_STEPS if shape is GradientNoise.LAPLACE else FEATURE_STEPS**2)
        assert abs((size if shape is GradientNoise.LAPLACE else size**0.5) / FEATURE_STEPS - norm) < 1e-12
        if not np.isfinite(row).all():
            assert not steps.any()


def test_features_within_the_ball_are_as_they_were() -> None:
    values = features(5, 40, 6, odd=0)
    values /= np.maximum(1, np.linalg.norm(values, axis=1, keepdims=True) * 1.01)
    assert np.abs(FeatureRows(values, GradientNoise.GAUSSIAN).values - values).max() <= 1.3 / FEATURE_STEPS
    long = np.array([[30.0, 40.0]])
    assert np.abs(FeatureRows(long, GradientNoise.GAUSSIAN).values - [[0.6, 0.8]]).max() < 1e-4


def test_scores_are_exact_in_whole_numbers() -> None:
    scores_are_exact()


def scores_are_exact() -> None:
    """Weights of any length are scaled down so far that products with rows stay within 2^52."""
    random = np.random.default_rng(1)
    for scale in (1e-3, 1, 1e4, 1e9, 1e300):
        weights = random.standard_normal((3, 50)) * scale
        whole = whole_weights(weights)
        assert (whole == np.trunc(whole)).all()
        for each in whole:
            assert exact_norm(each, GradientNoise.GAUSSIAN) <= (MOST_WEIGHT << 20) ** 2
        rows = FeatureRows(random.standard_normal((7, 50)), GradientNoise.GAUSSIAN)
        found = rows.of(slice(None)).scores(weights)
        steps = [[int(x) for x in row] for row in rows.steps]
        for i, row in enumerate(steps):
            for j, each in enumerate(whole):
                exact = sum(x * int(w) for x, w in zip(row, each, strict=True))
                assert abs(exact) <= 1 << 53 and F(found[i, j]) == F(exact, SCORE_STEPS)


def test_sums_are_exact_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of so many rows is exact, a sum of all rows that there may be fits, and pieces together are the whole."""
    assert rows.CHUNK * FEATURE_STEPS * rows.RESIDUAL_STEPS <= 1 << 52
    assert rows.MOST_ROWS * STEPS_OF_CLIP <= 1 << 61
    assert rows.MOST_FEATURES * rows.FIRST_STEPS**2 <= 1 << 53 and MOST_WEIGHT * SCORE_STEPS <= 1 << 52
    for kind in KINDS:
        made = problem(kind, 1, 20, plan_of())
        weights = weights_of(1, made)
        whole = made.clipped(weights, slice(None))
        with monkeypatch.context() as short:
            short.setattr(rows, "CHUNK", 7)
            assert (made.clipped(weights, slice(None)) == whole).all() and whole.any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_is_no_row_adds_nothing(kind: str) -> None:
    """Odd values in the features, a target that is no number, a class that nobody declared."""
    plan = plan_of()
    for odd in ODD[:3]:
        made = problem(kind, 1, 6, plan, odd=0)
        values = made.rows.values
        values[2, 1] = odd
        made.rows = FeatureRows(values, plan.shape)
        weights = weights_of(1, made)
        assert not made.clipped(weights, np.array([2])).any()
    squares = LeastSquares(FeatureRows(np.ones((3, 2)), plan.shape), np.array([np.nan, np.inf, -np.inf]), plan)
    assert not squares.clipped(np.ones((1, 2)), slice(None)).any()
    for classes in (2, 3):
        strange = Logistic(FeatureRows(np.ones((3, 2)), plan.shape), np.array([-1, -1, -1]), classes, plan)
        assert not strange.clipped(np.ones(strange.shape), slice(None)).any()


def test_empty_batches_and_tables_of_nobody() -> None:
    for kind in KINDS:
        for said in PLANS.values():
            made = problem(kind, 0, 0, plan_of(**said))
            assert not made.clipped(np.ones(made.shape), slice(None)).any()
            some = problem(kind, 0, 9, plan_of(**said))
            assert not some.clipped(np.ones(some.shape), np.zeros(0, np.int64)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_loss(kind: str) -> None:
    gradients_are_of_the_loss(kind)


def gradients_are_of_the_loss(kind: str = "binary") -> None:
    """Against differences of the loss, without clipping."""
    plan = plan_of(clip=50)
    made = problem(kind, 4, 40, plan, odd=0)
    weights = np.random.default_rng(2).standard_normal(made.shape)
    found = made.clipped(weights, slice(None)) * float(plan.step)
    for place in np.ndindex(made.shape):
        step = np.zeros(made.shape)
        step[place] = 1e-3
        slope = (loss_of(made, weights + step) - loss_of(made, weights - step)) / 2e-3
        assert abs(slope - found[place]) < 0.02


def loss_of(made: LinearProblem, weights: Any) -> float:
    scores = made.rows.values @ weights.T
    if isinstance(made, LeastSquares):
        return float(((scores - made._targets) ** 2).sum() / 2)
    assert isinstance(made, Logistic)
    codes, known = made._codes, made._codes >= 0
    if made.shape[0] == 1:
        signs = np.where(codes == 1, -1, 1)[known]
        return float(np.log1p(np.exp(signs * scores[known, 0])).sum())
    total = np.log(np.exp(scores).sum(axis=1))
    return float((total - scores[np.arange(len(codes)), codes])[known].sum())


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(Invalid, match="dimensions"):
        FeatureRows(np.zeros(3), GradientNoise.GAUSSIAN)
    with pytest.raises(Invalid, match="at most"):
        FeatureRows(np.zeros((1, (1 << 16) + 1)), GradientNoise.GAUSSIAN)
    with pytest.raises(Invalid, match="several rows"):
        LeastSquares(FeatureRows(np.zeros((1, 1)), GradientNoise.GAUSSIAN), np.zeros(1), plan_of(person=Person(2)))
    with pytest.raises(Invalid, match="classes"):
        Logistic(FeatureRows(np.zeros((1, 1)), GradientNoise.GAUSSIAN), np.zeros(1, np.int64), 5000, plan_of())
