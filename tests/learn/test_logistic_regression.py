"""Logistic regression: classes and bounds are declared, first looks are steps like all others, and models are what was released."""

import json
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import Invalid, Refused
from discreet.learn import LogisticModel, Person, logistic
from discreet.learn.centring import CentredLogistic, Examples, centred
from discreet.learn.checkpoint import MemoryCheckpoint
from discreet.learn.logistic_regression import codes
from discreet.learn.people import RowsOfPeople
from discreet.learn.scaling import FeatureBounds
from discreet.mechanisms.measure import Unmetered
from discreet.privacy import loss
from tests.learn.cases import NO_NUMBERS, ODD, Telling, features, plan_of
from tests.learn.test_descent import Stop, Watched
from tests.learn.test_rows import within_clip
from tests.scale import repeats

SAID: dict[str, Any] = {"people": 600, "epsilon": 1, "delta": 1e-5}


def blobs(seed: int, rows: int, classes: int, width: int = 4, far: float = 0.0) -> tuple[Any, Any]:
    """Clouds of rows, one a class, that are `far` away from 0 in all features."""
    random = np.random.default_rng(seed)
    middles = np.random.default_rng(9).uniform(-2, 2, (classes, width))
    codes = random.integers(0, classes, rows)
    return middles[codes] + random.standard_normal((rows, width)) * 0.5 + far, codes


@pytest.mark.parametrize("classes", [2, 5])
def test_a_model_learns_what_can_be_learned(classes: int) -> None:
    """At ε = 10 nearly all of new rows; with bounds that are ten times too wide and far off, too, since rows are about their own middle."""
    learns(classes)


def learns(classes: int = 2) -> None:
    for far, bounds in ((0.0, (-5, 5)), (20.0, (-10, 40))):
        x, y = blobs(1, 800, classes, far=far)
        new, truth = blobs(2, 400, classes, far=far)
        model = logistic(x, y, classes=range(classes), bounds=bounds, **{**SAID, "epsilon": 10})
        assert np.mean(np.array(model.predict(new)) == truth) > 0.93


@pytest.mark.parametrize("said", [{}, {"rate": F(1, 2)}, {"steps": 1}, {"steps": 19}, {"adjacency": "replace"}])
def test_looks_and_steps_together_are_the_steps_of_the_plan(said: dict[str, Any]) -> None:
    looks_are_steps(said)


def looks_are_steps(said: dict[str, Any] | None = None) -> None:
    """As many draws as steps, all of one event; on n, n + 1 and no rows the same."""
    seen = []
    for rows in (40, 41, 0):
        watched = Watched()
        x, y = blobs(3, rows, 2)
        measure = Unmetered(hand=watched)
        model = logistic(x, y, classes=(0, 1), bounds=(-5, 5), measure=measure, **{"steps": 25, **SAID, **(said or {})})
        assert loss(watched.event).terms == measure.spent.terms
        assert measure.spent.certifies(1, F(1, 10**5))
        seen.append((watched.uses, model.weights.shape, model.middle.shape))
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0][0]) == {"steps": 25, **(said or {})}["steps"]


def look_of(rows: Any, plan: Any, people: RowsOfPeople | None = None) -> CentredLogistic:
    examples = Examples(rows, np.zeros(len(rows), np.int64), people)
    return CentredLogistic(lambda: examples, rows.shape[1], FeatureBounds.of((-1, 1), rows.shape[1]), 2, plan)


@pytest.mark.parametrize("person", [None, Person(3)])
def test_no_unit_adds_more_than_the_clip_to_a_look(person: Person | None) -> None:
    looks_are_clipped(person)


def looks_are_clipped(person: Person | None = None) -> None:
    """Each unit alone is within the clip, and the sum over any batch is the sum of what its units add alone."""
    for seed in range(repeats(12)):
        plan = plan_of(person=person, **({"delta": 0} if seed % 2 else {}))
        rows = features(seed, 20, 6, odd=0.1)
        people = None if person is None else RowsOfPeople(np.repeat(np.arange(7), 3)[:20], 3)
        problem = look_of(rows, plan, people)
        alone = np.array([problem.look(np.array([unit])) for unit in range(problem.units)])
        assert all(within_clip(each, plan) for each in alone)
        assert (problem.look(slice(None)) == alone.sum(axis=0)).all()
        some = np.arange(0, problem.units, 2)
        assert (problem.look(some) == alone[some].sum(axis=0)).all()


def test_looks_find_the_middle() -> None:
    looks_find_the_middle()


def looks_find_the_middle() -> None:
    """With next to no noise: the mean of scaled rows, over the declared number of units, sampled or not."""
    x, y = blobs(5, 500, 2, far=3.0)
    for rate in (F(1), F(1, 2)):
        model = logistic(x, y, classes=(0, 1), bounds=(-10, 10), people=500, epsilon=10**5, delta=1e-5, rate=rate)
        assert np.abs(model.middle - x.mean(axis=0) / 10).max() < (0.01 if rate == 1 else 0.06)
    far = logistic(x, y, classes=(0, 1), bounds=(-10, 10), people=1, epsilon=10**5, delta=1e-5)
    assert np.abs(far.middle).max() <= 1  # whatever was declared


def test_a_run_that_is_stopped_keeps_its_middle() -> None:
    stopped_keeps_its_middle()


def stopped_keeps_its_middle() -> None:
    """Stopped after the looks, or within them: whoever goes on is about what was found, and draws no more than the plan has."""
    x, y = blobs(5, 300, 2, far=3.0)
    for stop in (1, 2, 3, 7, 24):
        keeper, watched = MemoryCheckpoint(), Watched()
        measure = Unmetered(hand=watched)

        def stopping(step: int, stop: int = stop) -> None:
            if step == stop:
                raise Stop

        said = {**SAID, "people": 300, "epsilon": 10**4, "steps": 60, "measure": measure, "key": "k", "keeper": keeper}
        with pytest.raises(Stop):
            logistic(x, y, classes=(0, 1), bounds=(-10, 10), progress=stopping, **said)
        model = logistic(x, y, classes=(0, 1), bounds=(-10, 10), **said)
        again = logistic(x, y, classes=(0, 1), bounds=(-10, 10), **said)
        assert (again.weights == model.weights).all() and (again.middle == model.middle).all()
        assert len(watched.uses) <= 60
        wanted = x.mean(axis=0) / 10 if stop > 10 else np.zeros(4)  # a block of ten that was stopped is lost
        assert np.abs(model.middle - wanted).max() < 0.01


def test_labels_that_were_not_declared_change_nothing() -> None:
    """A stranger's row is in no sum: neither its class nor its features decide any shape."""
    x, y = blobs(6, 100, 2)
    labels: list[Any] = [*y.tolist(), 7, None, "x", [1], float("nan")]
    more = np.vstack([x, np.full((5, 4), 5.0)])
    model = logistic(more, labels, classes=(0, 1), bounds=(-5, 5), **SAID)
    assert model.classes == (0, 1) and model.weights.shape == (1, 5)


def test_codes_are_those_of_declared_classes() -> None:
    codes_are_of_declared_classes()


def codes_are_of_declared_classes() -> None:
    labels: list[Any] = ["b", "a", "c", None, ["a"], float("nan"), np.str_("b"), 0]
    assert codes([*labels, *NO_NUMBERS], ("a", "b")).tolist() == [1, 0, -1, -1, -1, -1, 1, -1, *[-1] * len(NO_NUMBERS)]
    assert codes([Telling(), 1], (0, 1)).tolist() == [-1, 1]


def strangers_add_nothing_to_looks() -> None:
    """A row of no declared class is in no sum at all."""
    rows = features(1, 20, 6, odd=0)
    of_class = np.arange(20) % 3 - 1
    limits, plan = FeatureBounds.of((-1, 1), 6), plan_of()
    some, all_of_them = (
        CentredLogistic(lambda of=of: Examples(rows[of], of_class[of]), 6, limits, 2, plan)
        for of in (of_class >= 0, np.ones(20, bool))
    )
    assert some.look(slice(None)).any()
    assert (some.look(slice(None)) == all_of_them.look(slice(None))).all()


def test_strangers_add_nothing_to_looks() -> None:
    strangers_add_nothing_to_looks()


def a_key_belongs_to_what_is_declared() -> None:
    """Other bounds or classes under the same key are another fit, for which nothing is given out that was drawn for the first."""
    x, y = blobs(1, 50, 2)
    measure = Unmetered()
    said: dict[str, Any] = {"classes": (0, 1), "bounds": (-5, 5), **SAID, "steps": 4, "measure": measure, "key": "k"}
    keeper = MemoryCheckpoint()
    model = logistic(x, y, **said, keeper=keeper)
    for other in ({"bounds": (-5, 6)}, {"classes": (1, 0)}):
        with pytest.raises(Refused, match="another request"):
            logistic(x, y, **{**said, **other}, keeper=keeper)
    assert (logistic(x, y, **said, keeper=keeper).weights == model.weights).all()


def test_a_key_belongs_to_what_is_declared() -> None:
    a_key_belongs_to_what_is_declared()


def test_labels_are_read_from_columns_of_every_library() -> None:
    """With next to no noise the same rows make the same model, whatever holds their labels."""
    x, y = blobs(2, 200, 2)
    labels = np.array(["no", "yes"])[y]
    said: dict[str, Any] = {**SAID, "epsilon": 10**6, "classes": ("no", "yes"), "bounds": (-5, 5), "steps": 5}
    first = logistic(x, labels, **said).weights
    columns = (labels.tolist(), labels[:, None], pd.Series(labels), pl.Series(labels), pa.array(labels))
    for column in (*columns, pd.Categorical(labels), pd.DataFrame({"y": labels})):
        assert np.allclose(logistic(x, column, **said).weights, first, atol=1e-2)
    assert np.abs(first).max() > 0.1


def test_predictions_are_of_the_features_that_were_fitted() -> None:
    x, y = blobs(9, 80, 2)
    model = logistic(x, y, classes=(0, 1), bounds=(-5, 5), **SAID)
    for other in (x[:, :1], np.hstack([x, x])):
        with pytest.raises(Invalid, match="4 features"):
            model.predict(other)


def test_odd_values_are_no_errors() -> None:
    x, y = blobs(7, 60, 3)
    for odd in ODD:
        x[3, 1] = odd
        assert np.isfinite(logistic(x, y, classes=(0, 1, 2), bounds=(-5, 5), **SAID).weights).all()


def test_people_have_one_row_or_several() -> None:
    x, y = blobs(8, 300, 2)
    ids = np.repeat(np.arange(100), 3)
    for person in (None, Person(3), Person(3, each_row=True)):
        said = {**SAID, "people": 100, "epsilon": 10}
        model = logistic(x, y, classes=(0, 1), bounds=(-5, 5), ids=ids, person=person, **said)
        assert np.mean(np.array(model.predict(x)) == y) > 0.85
    with pytest.raises(Invalid, match="one id for each row"):
        logistic(x, y, classes=(0, 1), bounds=(-5, 5), ids=[1], **SAID)
    with pytest.raises(Invalid, match="ids"):
        logistic(x, y, classes=(0, 1), bounds=(-5, 5), person=Person(2), **SAID)


def test_a_model_comes_back_from_its_text() -> None:
    x, y = blobs(9, 80, 3)
    model = logistic(x, y, classes=("a", "b", "c"), bounds=(-5, 5), **SAID)
    again = LogisticModel.from_json(model.to_json())
    assert (again.weights == model.weights).all() and (again.middle == model.middle).all()
    assert again.predict(x) == model.predict(x) and again.epsilon == 1
    assert np.allclose(again.probabilities(x).sum(axis=1), 1)
    data = json.loads(model.to_json())
    for spoiled in (
        "",
        "[]",
        "{}",
        json.dumps(data | {"format": 2}),
        json.dumps(data | {"weights": [[1.0]]}),
        json.dumps(data | {"middle": [0.0]}),
        json.dumps(data | {"middle": [float("nan")] * 4}),
        json.dumps(data | {"weights": [[float("inf")] * 5] * 3}),
        json.dumps(data | {"classes": ["a"]}),
        json.dumps(data | {"epsilon": "x"}),
        model.to_json().replace('"middle": [', '"middle": [NaN, '),
    ):
        with pytest.raises(Invalid):
            LogisticModel.from_json(spoiled)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"classes": ()}, "classes must be declared"),
    ({"classes": (1,)}, "classes must be declared"),
    ({"classes": (1, 1)}, "classes must be declared"),
    ({"classes": (1, True)}, "classes must be declared"),
    ({"classes": "no"}, "classes must be declared"),
    ({"classes": {"no"}}, "in an order"),
    ({"measure": 5}, "curator.measure"),
    ({"classes": None}, "classes must be declared"),
    ({"classes": 3}, "classes must be declared"),
    ({"classes": ([1], [2])}, "classes must be declared"),
    ({"classes": (None, 1)}, "classes must be declared"),
    ({"classes": (0, 1, float("nan"))}, "classes must be declared"),
    ({"bounds": None}, "bounds must be declared"),
    ({"bounds": (1, 0)}, "below the upper"),
    ({"bounds": [(0, 1)]}, "a pair for each"),
    ({"bounds": "wide"}, "pairs of numbers"),
    ({"people": 0}, "people"),
    ({"epsilon": 0}, "epsilon"),
    ({"delta": 0}, "delta must be above 0"),
    ({"steps": 0}, "steps"),
]


@pytest.mark.parametrize(("said", "message"), WRONG, ids=[str(said) for said, _ in WRONG])
def test_what_is_missing_is_said(said: dict[str, Any], message: str) -> None:
    x, y = blobs(1, 10, 2)
    with pytest.raises(Invalid, match=message):
        logistic(x, y, **{"classes": (0, 1), "bounds": (-5, 5), **SAID, **said})


def test_tables_that_are_none_are_refused() -> None:
    wrong: list[tuple[Any, Any]] = [([1, 2], [0, 1]), ([[1], [1, 2]], [0, 1]), (np.zeros((2, 2)), [0])]
    for x, y in (*wrong, (np.zeros((2, 2)), np.zeros((2, 2))), (np.zeros((2, 2)), None)):
        with pytest.raises(Invalid):
            logistic(x, y, classes=(0, 1), bounds=(-5, 5), **SAID)


def test_features_are_about_the_middle() -> None:
    """At the middle all features but the constant one are 0, wherever it lies."""
    bounds, middle = FeatureBounds.of([(0, 10), (-4, 4)], 2), np.array([0.5, -0.25])
    found = centred(np.array([[7.5, -1.0]]), bounds, middle)
    assert np.abs(found[0, :2]).max() < 1e-12 and found[0, 2] == 0.5
