"""Linear regression: no row moves a draw farther than it is made for, what is drawn is what was charged, and models are good.

Accuracies were seen far from their bounds: a false alarm is rarer than 1e-6. Other tests have no chance in them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.session import Curator
from discreet.errors import Invalid, Refused
from discreet.learn import LinearModel, linear, moments
from discreet.learn.descent import Descent
from discreet.learn.linear_regression import LinearDescent, LinearUnits, linear_of
from discreet.learn.moments import (
    MOST_ROWS,
    SIZES,
    MeansSum,
    ProductsSum,
    ResidualsSum,
    RowView,
    ScaledExamples,
    SizesSum,
    Weights,
    longest,
    summed,
)
from discreet.learn.private_scaling import SpreadSum
from discreet.learn.rows import FEATURE_STEPS
from discreet.learn.scaling import FeatureBounds
from discreet.learn.shares import DrawShares, Part
from discreet.learn.training_plan import GradientNoise
from discreet.mechanisms.hand import Turn, Use
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from discreet.privacy import Adjacency, Relation, Unit, loss
from tests.learn.cases import ODD, features
from tests.learn.test_descent import Watched
from tests.scale import repeats

SMALL = F(1, 10**5)
SHAPES = (GradientNoise.GAUSSIAN, GradientNoise.LAPLACE)
WIDTH = 3
SAID: dict[str, Any] = {"bounds": (-2, 3), "target_bounds": (-5, 4), "epsilon": 1, "delta": SMALL}
PATHS: dict[str, dict[str, Any]] = {
    "as it ships": {},
    "pure": {"delta": 0},
    "declared norm": {"norm": 1.0},
    "through zero": {"intercept": False},
    "replaced": {"adjacency": "replace"},
    "pure, replaced, declared norm": {"delta": 0, "norm": 1.0, "adjacency": "replace"},
    "descent": {"descent": LinearDescent(people=30, steps=5)},
    "descent, pure": {"delta": 0, "descent": LinearDescent(people=30, steps=5)},
    "descent, sampled": {"descent": LinearDescent(people=30, steps=5, rate=F(1, 3))},
    "descent, replaced": {"adjacency": "replace", "descent": LinearDescent(people=30, steps=5)},
}


def norm(vector: Any, shape: GradientNoise) -> F:
    """The norm of a vector of integers; of L2 the square, exactly."""
    values = [int(each) for each in vector]
    return F(sum(map(abs, values))) if shape is GradientNoise.LAPLACE else F(sum(each**2 for each in values))


def within(vector: Any, most: int, shape: GradientNoise) -> bool:
    return norm(vector, shape) <= (most if shape is GradientNoise.LAPLACE else most**2)


def rows_of(seed: int, rows: int, odd: float = 0.15) -> ScaledExamples:
    """Rows, some of them far out or no numbers at all, as bounds make them."""
    random = np.random.default_rng(seed)
    targets = np.where(random.random(rows) < odd, random.choice(ODD, rows), random.standard_normal(rows) * 4)
    units = LinearUnits.of((-2, 3), (-5, 4), WIDTH, True)
    return units.examples(features(seed, rows, WIDTH, odd), targets)


def sums(shape: GradientNoise) -> dict[str, tuple[Callable[[ScaledExamples], Any], int]]:
    """Every sum that is released, with the most that a row may add to it."""
    middle = np.array([0.3, -0.9, 0.0])
    view, tight = RowView(middle, 1.1, shape), RowView(np.zeros(WIDTH), 0.05, shape)
    means, sizes = MeansSum(WIDTH, shape), SizesSum(WIDTH, shape, middle)
    products, spread = ProductsSum(WIDTH + 1, shape), SpreadSum(WIDTH, shape)
    found: dict[str, tuple[Callable[[ScaledExamples], Any], int]] = {
        "means": (means.exact, means.most),
        "sizes": (sizes.exact, sizes.most),
        "spread": (lambda rows: spread.exact(rows.features), spread.most),
    }
    for name, each in {"": view, ", scaled down": tight}.items():
        found[f"products{name}"] = (lambda rows, each=each: products.exact(each.rows(rows)), products.most)
        for clip, weights in ((1e-6, [1e9, -3.0, 0.2, 5.0]), (0.4, [0.1, 0.2, -0.3, 0.4]), (2.0, [0.0] * 4)):
            looks = ResidualsSum(shape, np.array(weights), clip)
            found[f"residuals{name} at {clip}"] = (
                lambda rows, of=looks, each=each: of.exact(each.rows(rows)),
                looks.most,
            )
    return found


SUMS = tuple(sums(GradientNoise.GAUSSIAN))


@given(st.integers(0, 10**6), st.integers(0, 30))
def no_row_moves_a_sum_farther(seed: int, rows: int) -> None:
    """One row more adds to each sum what it adds by itself, bit for bit, and no more than is declared."""
    table = rows_of(seed, rows + 1)
    kept = len(table.targets)
    for shape in SHAPES:
        for name, (exact, most) in sums(shape).items():
            whole = exact(table)
            assert whole.dtype == np.int64, name
            if kept:
                rest, last = (
                    ScaledExamples(table.features[i], table.targets[i])
                    for i in (slice(kept - 1), slice(kept - 1, None))
                )
                moved = whole - exact(rest)
                assert np.array_equal(moved, exact(last)), name
                assert within(moved, most, shape), name


def test_no_row_moves_a_sum_farther_than_is_declared() -> None:
    no_row_moves_a_sum_farther()


def worst_rows_reach_what_is_declared() -> None:
    """Rows in corners and on axes, targets at bounds: none moves a sum by more, and some nearly by as much. So the bounds are
    neither false nor loose."""
    corners = np.array(np.meshgrid(*[[-1.0, 0.0, 0.5, 1.0]] * WIDTH)).reshape(WIDTH, -1).T
    rows = ScaledExamples(np.tile(corners, (2, 1)), np.repeat([-1.0, 1.0], len(corners)))
    for shape in SHAPES:
        for name, (exact, most) in sums(shape).items():
            moved = [exact(ScaledExamples(rows.features[[i]], rows.targets[[i]])) for i in range(len(rows.targets))]
            assert all(within(each, most, shape) for each in moved), name
            longest_move = max(
                float(norm(each, shape)) ** (1 if shape is GradientNoise.LAPLACE else 0.5) for each in moved
            )
            if "scaled down" not in name and "at 2.0" not in name:  # there residuals do not reach the clip
                assert longest_move > 0.6 * most, (name, shape)


def test_worst_rows_reach_what_is_declared() -> None:
    worst_rows_reach_what_is_declared()


@given(st.integers(1, 12), st.integers(0, 10**6))
def weighted_squares_are_as_long_as_the_square_of_a_row(width: int, seed: int) -> None:
    """For whole numbers, exactly: weights of squares and products make a vector no longer than ‖x‖² times the weight of squares."""
    row = np.random.default_rng(seed).integers(-(1 << 16), 1 << 16, width).astype(object)
    upper = np.triu_indices(width)
    for shape in SHAPES:
        weights = Weights.of(shape)
        vector = np.outer(row, row)[upper] * weights.table(width).astype(object)[upper]
        square = (sum(abs(each) for each in row) if shape is GradientNoise.LAPLACE else 0) ** 2 or sum(
            each**2 for each in row
        )
        assert norm(vector, shape) <= (weights.square * square) ** (1 if shape is GradientNoise.LAPLACE else 2)


def test_weighted_squares_are_as_long_as_the_square_of_a_row() -> None:
    weighted_squares_are_as_long_as_the_square_of_a_row()


def rows_that_are_no_numbers_add_nothing() -> None:
    for odd in (np.nan, np.inf, -np.inf):
        for place in range(WIDTH + 1):
            row = np.full(WIDTH + 1, 0.5)
            row[place] = odd
            made = LinearUnits.of((-2, 3), (-5, 4), WIDTH, True).examples(row[None, :WIDTH], row[WIDTH:])
            for shape in SHAPES:
                for name, (exact, _) in sums(shape).items():
                    if name != "spread" or place < WIDTH:
                        assert not exact(made).any(), name


def test_rows_that_are_no_numbers_add_nothing() -> None:
    rows_that_are_no_numbers_add_nothing()


def table_of(seed: int, rows: int, odd: float = 0.1) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    targets = np.where(random.random(rows) < odd, random.choice(ODD, rows), random.standard_normal(rows) * 4)
    return features(seed, rows, WIDTH, odd), targets


@pytest.mark.parametrize("path", PATHS)
def test_what_is_drawn_is_what_was_charged(path: str) -> None:
    drawn_is_charged(path)


def drawn_is_charged(path: str = "as it ships") -> None:
    """The event made anew from the mechanisms that were used is the one that was granted, and it keeps the promise."""
    watched = Watched()
    measure = Unmetered(hand=watched)
    said = {**SAID, **PATHS[path]}
    found = linear(*table_of(1, 30), **said, measure=measure)
    assert loss(watched.event).terms == measure.spent.terms
    assert measure.spent.certifies(said["epsilon"], said["delta"])
    assert not measure.spent.certifies(F(9, 10) * said["epsilon"], said["delta"]), "noise that nobody asked for"
    assert (found.epsilon, found.delta) == (said["epsilon"], said["delta"])


def one_row_more_changes_nothing() -> None:
    """On n, n + 1 and no rows: the same uses of the same mechanisms, and the same shapes; sums alone differ."""
    for said in PATHS.values():
        seen = []
        for rows in (30, 31, 0):
            watched = Watched()
            found = linear(*table_of(2, rows), **{**SAID, **said}, measure=Unmetered(hand=watched))
            assert np.isfinite(found.coefficients).all() and np.isfinite(found.intercept)
            seen.append((watched.uses, found.coefficients.shape, found.covariance.shape, len(found.path)))
        assert seen[0] == seen[1] == seen[2]


def test_one_row_more_changes_no_constant() -> None:
    one_row_more_changes_nothing()


@dataclass
class Replayed:
    """A hand that hands out what was released on a first table, and writes down what the mechanisms were given on each."""

    released: list[Any] = field(default_factory=list)
    given: list[list[Any]] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    at: int = 0

    def begin(self, use: Use) -> Turn:
        self.uses.append(use)
        return self

    def batch(self, among: int, draw: Callable[[], Any]) -> Any:
        raise AssertionError("nothing is sampled here")

    def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
        if self.at == len(self.released):
            self.released.append(draw(exact()))
            self.given.append([])
        self.given[self.at].append(exact())
        self.at += 1
        return self.released[self.at - 1]


def neighbours_differ_by_the_sensitivity() -> None:
    """With the releases of one table handed out on its neighbour, no mechanism is given what differs by more than it is made for, and
    the model is the same."""
    for path in ("as it ships", "pure", "declared norm", "through zero", "replaced"):
        said = {**SAID, **PATHS[path]}
        for seed in range(repeats(6)):
            values, targets = table_of(seed, 12)
            other = (values[:-1], targets[:-1])
            if path == "replaced":
                changed, far = values.copy(), targets.copy()
                changed[-1], far[-1] = -values[-1], 1e9
                other = (changed, far)
            hand = Replayed()
            first = linear(values, targets, **said, measure=Unmetered(Tape(seed), hand))
            hand.at = 0
            second = linear(*other, **said, measure=Unmetered(Tape(seed + 1), hand))
            assert np.array_equal(first.coefficients, second.coefficients) and first.intercept == second.intercept
            assert np.array_equal(first.covariance, second.covariance)
            for use, (one, two) in zip(hand.uses, hand.given, strict=False):
                shape = GradientNoise.GAUSSIAN if said["delta"] else GradientNoise.LAPLACE
                assert within(one - two, int(use.sensitivity or 0), shape), path


def test_neighbours_differ_by_the_sensitivity() -> None:
    neighbours_differ_by_the_sensitivity()


def shares_keep_their_promise() -> None:
    """Composed, for any parts, both kinds of noise and both relations; a part of a larger share has less noise."""
    for delta in (F(0), SMALL):
        for adjacency in Adjacency:
            parts = [Part(F(1, 10), 7), Part(F(3, 10), 1000), Part(F(6, 10), 1)]
            found = DrawShares.of(F(1, 2), delta, parts, Relation(adjacency, Unit.ROW))
            assert loss(found.event).certifies(F(1, 2), delta) and not loss(found.event).certifies(F(49, 100), delta)
            times = 2 if adjacency is Adjacency.REPLACE else 1
            assert [each.sensitivity for each in found.draws] == [7 * times, 1000 * times, times]
            sizes = [each.noise.scale / each.sensitivity for each in found.draws]
            assert sizes == sorted(sizes, reverse=True)


def test_shares_keep_their_promise() -> None:
    shares_keep_their_promise()


def made(seed: int, rows: int, width: int, noise: float = 0.05) -> tuple[Any, Any, Any]:
    """Rows within (−1, 1), targets within (−2, 2), and the slopes."""
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, (rows, width))
    slopes = random.uniform(-1, 1, width) / width
    return values, values @ slopes + 0.3 + random.standard_normal(rows) * noise, slopes


def least_squares(values: Any, targets: Any, intercept: bool = True) -> Any:
    table = np.hstack([values, np.full((len(values), 1), float(intercept))])
    return np.linalg.lstsq(table, targets, rcond=None)[0]


def without_noise_it_is_least_squares() -> None:
    """At a price that leaves no noise: in any units, with any norm, through zero, and with pure noise."""
    for path in ({}, {"delta": 0}, {"norm": 1.5}, {"intercept": False}, {"adjacency": "replace"}):
        values, targets, _ = made(3, 2000, 4)
        shift = 3.0 if path.get("intercept", True) else 0.0
        values, targets = values * 10 + shift, targets * 50 - shift
        said = {"bounds": (-10 + shift, 10 + shift), "target_bounds": (-100, 100), "epsilon": 10**15, "delta": SMALL}
        found = linear(values, targets, **{**said, **path})
        exact = least_squares(values, targets, bool(shift))
        assert np.abs(found.coefficients - exact[:-1]).max() < 2e-3, path
        assert abs(found.intercept - exact[-1]) < 2e-2, path
        assert shift or found.intercept == 0
        assert found.ridge == 0 and np.abs(found.predict(values) - targets).std() < 3


def test_without_noise_it_is_least_squares() -> None:
    without_noise_it_is_least_squares()


def long_rows_keep_the_line() -> None:
    """Rows far beyond the declared norm are scaled down with their targets: coefficients stay those of the line."""
    values, _, slopes = made(4, 4000, 3, noise=0)
    values[::2] *= 0.05
    found = linear(
        values, values @ slopes, bounds=(-1, 1), target_bounds=(-1, 1), epsilon=10**15, delta=SMALL, norm=0.05
    )
    assert np.abs(found.coefficients - slopes).max() < 1e-2 and abs(found.intercept) < 1e-2


def test_long_rows_keep_the_line() -> None:
    long_rows_keep_the_line()


def shares_of_targets(values: Any, targets: Any, predicted: Any) -> float:
    return float(1 - ((targets - predicted) ** 2).sum() / ((targets - targets.mean()) ** 2).sum())


def fits_are_good(epsilon: float = 0.1, most: float = 0.95, **said: Any) -> None:
    """50,000 rows of 20 features of length 1, of which targets are made but for 0.2 % of their variance; five tables, a part held out."""
    found = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        values = random.standard_normal((50_000, 20))
        values /= np.maximum(1, np.linalg.norm(values, axis=1, keepdims=True))
        targets = values @ random.standard_normal(20)
        targets += random.standard_normal(50_000) * targets.std() * np.sqrt(0.002 / 0.998)
        model = linear(
            values[:40_000],
            targets[:40_000],
            bounds=(-1, 1),
            target_bounds=(-6, 6),
            epsilon=epsilon,
            delta=SMALL,
            **said,
        )
        found.append(shares_of_targets(values, targets[40_000:], model.predict(values[40_000:])))
    assert np.mean(found) >= most


@pytest.mark.parametrize(("epsilon", "most", "declared"), [(0.1, 0.99, 1.0), (0.1, 0.95, None)])
def test_fits_are_good(epsilon: float, most: float, declared: float | None) -> None:
    fits_are_good(epsilon, most, norm=declared)


def centred_rows_fit_better() -> None:
    """Rows near a corner of their bounds, and short ones, are fitted as if bounds were tight: R² of 0.95 without noise, 0.9 at ε = 0.5."""
    random = np.random.default_rng(5)
    values = 0.8 + random.standard_normal((20_000, 8)) * 0.03
    targets = (values - 0.8) @ np.linspace(-0.5, 1, 8) * 10
    targets += random.standard_normal(20_000) * targets.std() * np.sqrt(0.05 / 0.95)
    model = linear(values, targets, bounds=(-1, 1), target_bounds=(-20, 20), epsilon=0.5, delta=SMALL)
    assert shares_of_targets(values, targets, model.predict(values)) > 0.9


def test_centred_rows_fit_better() -> None:
    centred_rows_fit_better()


def noise_is_not_inverted() -> None:
    """Features that say the same: where rows say nothing of a direction its noise is not taken for a small number of rows.

    Sixteen fits of fixed noise; the targets are within ±4, and so are most predictions."""
    random = np.random.default_rng(12)
    values = np.clip(random.standard_normal((3000, 2)) @ random.standard_normal((2, 10)) / 6, -1, 1)
    targets = values @ np.ones(10) * 0.4
    for seed in range(16):
        measure = Unmetered(Tape(seed))
        found = linear(
            values, targets, bounds=(-1, 1), target_bounds=(-4, 4), epsilon=0.5, delta=SMALL, measure=measure
        )
        assert found.ridge > 0 and shares_of_targets(values, targets, found.predict(values)) > 0.5


def test_noise_is_not_inverted() -> None:
    noise_is_not_inverted()


def the_norm_is_found() -> None:
    """Of rows of one length the shortest kind that holds them; of no rows the longest."""
    for shape in SHAPES:
        sizes = SizesSum(2, shape, np.zeros(2))
        for kind in range(SIZES):
            rows = np.zeros((50, 2))
            rows[:, 0] = min(sizes.ends[kind] * 0.99, 1)
            found = sizes.read(sizes.exact(ScaledExamples(rows, np.zeros(50))), 0.0)
            assert found >= rows[0, 0] and found <= max(rows[0, 0] * 1.45, sizes.ends[-1])
        assert sizes.read(np.zeros(SIZES, np.int64), 1.0) == longest(2, shape)


def test_the_norm_is_found() -> None:
    the_norm_is_found()


@pytest.mark.parametrize(
    "said",
    [
        {"epsilon": 1, "delta": SMALL},
        {"epsilon": 3, "delta": 0},
        {"epsilon": 1, "delta": SMALL, "adjacency": "replace"},
        {"epsilon": 1, "delta": SMALL, "rate": F(1, 4)},
    ],
)
def test_descent_fits(said: dict[str, Any]) -> None:
    descents_fit(said)


def descents_fit(said: dict[str, Any] | None = None) -> None:
    """The notes' gradient descent: a path of as many weights as steps, whose last half's mean is the model."""
    values, targets, slopes = made(6, 20_000, 3)
    asked = dict({"epsilon": 1, "delta": SMALL} if said is None else said)
    how = LinearDescent(people=20_000, steps=60, rate=asked.pop("rate", 1))
    found = linear(values, targets, bounds=(-1, 1), target_bounds=(-2, 2), descent=how, **asked)
    assert len(found.path) == 60 and all(each.shape == (4,) for each in found.path)
    assert np.allclose(np.mean(found.path[30:], axis=0), [*found.coefficients, found.intercept])
    assert np.abs(found.coefficients - slopes).max() < 0.1 and abs(found.intercept - 0.3) < 0.1
    with pytest.raises(Refused, match="gradient descent"):
        found.interval()


def people_have_one_row() -> None:
    """With ids a person's rows count once, nobody's not at all, and the event is about people."""
    values, targets, slopes = made(7, 3000, 2)
    ids = [f"p{i // 3}" for i in range(3000)]
    said = {"bounds": (-1, 1), "target_bounds": (-2, 2), "epsilon": 10**12, "delta": SMALL}
    for each, people in ((ids, 1000), ([None] * 3000, 0), (None, 3000)):
        hand = Replayed()
        found = linear(values, targets, ids=each, **said, measure=Unmetered(hand=hand))
        assert hand.given[0][0][-1] == people * MeansSum(2, GradientNoise.GAUSSIAN).all_features
        assert not people or np.abs(found.coefficients - slopes).max() < 0.05
    with pytest.raises(Invalid, match="one id"):
        linear(values, targets, ids=ids[1:], **said)


def test_people_have_one_row() -> None:
    people_have_one_row()


def test_a_ledger_is_charged_once_and_gives_the_model_back(tmp_path: Path) -> None:
    values, targets, _ = made(8, 500, 2)
    people = {"patient": [f"p{i}" for i in range(5)]}
    said: dict[str, Any] = {"bounds": (-1, 1), "target_bounds": (-2, 2), "epsilon": F(1, 2), "delta": F(1, 10**6)}
    ids = list(range(500))
    models = []
    for _ in range(2):
        with Curator({"visits": people}, "patient", epsilon=1, delta=1e-5, ledger=tmp_path / "ledger") as hospital:
            models.append(linear(values, targets, ids=ids, **said, measure=hospital.measure, key="ages"))
            assert (hospital.spent.epsilon, hospital.spent.delta) == (F(1, 2), F(1, 10**6))
            with pytest.raises(Invalid):  # a guarantee for rows is none for people
                linear(values, targets, **said, measure=hospital.measure)
            with pytest.raises(Refused):
                linear(values, targets, ids=ids, **{**said, "epsilon": 2}, measure=hospital.measure)
            assert hospital.spent.epsilon == F(1, 2)
    assert np.array_equal(models[0].coefficients, models[1].coefficients)
    assert models[0].to_json() == models[1].to_json()


def rows_are_read_in_draws_alone() -> None:
    """`read` is called while a draw is made, and at no other time."""
    inside = []

    class Hand(Watched):
        def release(self, exact: Callable[[], Any], draw: Callable[[Any], Any]) -> Any:
            inside.append(True)
            found = draw(exact())
            inside.pop()
            return found

    values, targets, _ = made(9, 50, 2)

    def read() -> Any:
        assert inside, "read outside of a draw"
        return values, targets

    linear_of(read, 2, bounds=(-1, 1), target_bounds=(-2, 2), epsilon=1, delta=SMALL, measure=Unmetered(hand=Hand()))


def test_rows_are_read_in_draws_alone() -> None:
    rows_are_read_in_draws_alone()


@cache
def model() -> LinearModel:
    values, targets, _ = made(10, 2000, 2)
    return linear(
        values, targets, bounds=(-1, 1), target_bounds=(-2, 2), epsilon=1, delta=SMALL, measure=Unmetered(Tape(1))
    )


def texts_give_the_model_back() -> None:
    found = LinearModel.from_json(model().to_json())
    for name in ("coefficients", "covariance"):
        assert np.array_equal(getattr(found, name), getattr(model(), name))
    for name in ("intercept", "ridge", "epsilon", "delta", "clip"):
        assert getattr(found, name) == getattr(model(), name)
    descended = linear([[0.1]], [1], bounds=(0, 1), target_bounds=(0, 1), epsilon=1, descent=LinearDescent(people=1))
    again = LinearModel.from_json(descended.to_json())
    assert again.intercept == descended.intercept and not again.covariance.size and np.isinf(again.clip)


def test_texts_give_the_model_back() -> None:
    texts_give_the_model_back()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        "{}",
        '{"format": 2, "model": "linear"}',
        '{"format": 1, "model": "logistic"}',
        model.__wrapped__().to_json().replace('"ridge": 0.0', '"ridge": NaN'),
        model.__wrapped__().to_json().replace('"coefficients": [', '"coefficients": [1.0, '),
        model.__wrapped__().to_json().replace('"epsilon": "1"', '"epsilon": "1/0"'),
        model.__wrapped__().to_json().replace('"intercept"', '"other"'),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        LinearModel.from_json(text)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"bounds": None}, "bounds must be declared"),
        ({"target_bounds": None}, "target_bounds must be declared"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": -1}, "delta"),
        ({"norm": 0.0}, "norm"),
        ({"norm": 9.0}, "norm"),
        ({"norm": 1e-300}, "norm must be at least"),
        ({"norm": "long"}, "norm must be a number"),
        ({"adjacency": "beside"}, "adjacency"),
        ({"intercept": False, "descent": LinearDescent(people=1)}, "intercept"),
        ({"descent": LinearDescent(people=0)}, "people"),
        ({"adjacency": "replace", "descent": LinearDescent(people=1, rate=0.5)}, "sampling"),
        ({"ids": [1]}, "one id"),
        ({"epsilon": 1e-9, "delta": 0}, "epsilon is so small"),
        ({"epsilon": 1e-9, "delta": 0, "descent": LinearDescent(people=5)}, "epsilon is so small"),
        ({"epsilon": 1e80}, "epsilon is so large"),
        ({"measure": 5}, r"curator\.measure"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_spent(said: dict[str, Any], words: str) -> None:
    measure = Unmetered()
    with pytest.raises(Invalid, match=words):
        linear(*table_of(1, 5), **{**SAID, "measure": measure, **said})
    assert not measure._spent


def test_rows_and_targets_go_together() -> None:
    with pytest.raises(Invalid, match="one target"):
        linear([[1.0]], [1, 2], **SAID)
    with pytest.raises(Invalid, match="at least one feature"):
        linear(np.zeros((3, 0)), [1, 2, 3], **SAID)
    with pytest.raises(Invalid, match="at least one feature"):
        linear(np.zeros((3, 0)), [1, 2, 3], **SAID, descent=LinearDescent(people=3))
    with pytest.raises(Invalid, match="67,108,864 rows"):  # which take no memory here
        ScaledExamples.of(np.broadcast_to(np.zeros(1), (MOST_ROWS + 1, 1)), np.zeros(1))
    measure = Unmetered()
    for several in (np.zeros((3, 2)), [[1, 2], [3, 4], [5, 6]], None):
        with pytest.raises(Invalid, match="targets must be"):
            linear(np.zeros((3, 1)), several, **SAID, measure=measure)
    assert not measure._spent


def a_key_belongs_to_what_is_declared() -> None:
    """Sums that were drawn for some bounds are never read by others."""
    values, targets, _ = made(9, 50, 2)
    for descent in (None, LinearDescent(people=50, steps=3)):
        measure = Unmetered()
        said = {"bounds": (-1, 1), "target_bounds": (-2, 2), "epsilon": 1, "delta": SMALL, "descent": descent}
        linear(values, targets, **said, measure=measure, key="k")
        for other in ({"bounds": (-1, 2)}, {"target_bounds": (-2, 3)}, {"norm": 1.0}):
            with pytest.raises(Refused, match="another request"):
                linear(values, targets, **{**said, **other}, measure=measure, key="k")


def test_a_key_belongs_to_what_is_declared() -> None:
    a_key_belongs_to_what_is_declared()


def products_are_exact_in_pieces() -> None:
    """Sums of large and of many rows are those of whole numbers of any size."""
    random = np.random.default_rng(11)
    rows = RowView(np.zeros(2), 1.0, GradientNoise.GAUSSIAN).rows(
        ScaledExamples(random.uniform(-1, 1, (300, 2)), random.uniform(-1, 1, 300))
    )
    steps = rows.rows.steps.astype(int).astype(object)
    other = random.integers(-(1 << 18), 1 << 18, 300)
    assert np.array_equal(summed(rows.rows, None), steps.T @ steps)
    assert np.array_equal(summed(rows.rows, other.astype(float)), steps.T @ other.astype(object))


def test_products_are_exact_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    products_are_exact_in_pieces()
    most = max(ProductsSum(2, shape).target_steps for shape in SHAPES)
    assert moments.CHUNK * FEATURE_STEPS * max(most, FEATURE_STEPS) <= 1 << 52
    assert MOST_ROWS * max(sum_of(2, shape).most for shape in SHAPES for sum_of in (ProductsSum, MeansSum)) <= 1 << 62
    monkeypatch.setattr(moments, "CHUNK", 7)
    products_are_exact_in_pieces()


def test_predictions_are_those_of_the_line() -> None:
    found = LinearModel(np.array([2.0, -1.0]), 0.5, np.zeros(0), 0.0, F(1), F(0))
    assert np.array_equal(found.predict([[1, 1], [0, 2]]), [1.5, -1.5])
    for other in ([[1]], [[1, 2, 3]]):
        with pytest.raises(Invalid, match="2 features"):
            found.predict(other)
    assert Descent(1.0).rate == 1 and FeatureBounds.of((0, 1), 2).low == (0, 0)


def test_rows_are_shown_nowhere() -> None:
    """A traceback shows variables: not those of what holds rows."""
    shape = GradientNoise.GAUSSIAN
    found = ScaledExamples.of(np.full((3, 2), 0.123456), np.full(3, 0.123456))
    seen = RowView(np.zeros(2), 1.0, shape).rows(found)
    for each in (found, seen, seen.rows, seen.rows.of(slice(None))):
        assert "0.12" not in repr(each) and "array" not in repr(each)
