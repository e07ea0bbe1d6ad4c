"""Private estimators keep scikit-learn's contract, but where it asks for what would tell of a value; and they charge whom they are told to.

Accuracies were seen far from their bounds: a false alarm is rarer than 1e-6.
"""

import copy
import pickle
import warnings
from fractions import Fraction as F
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the optional part learn")

from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet.curator.session import Curator
from discreet.errors import Invalid, Refused
from discreet.learn import LinearModel, LogisticModel
from discreet.learn.estimators import PrivateLinearRegression, PrivateLogisticRegression, PrivateMean, PrivateScaler
from discreet.learn.estimators.charged import Charged
from discreet.learn.private_scaling import FeatureScale
from discreet.mechanisms.measure import Unmetered, unmetered
from discreet.noise import Tape
from tests.learn.cases import NO_NUMBERS
from tests.learn.test_descent import Watched

pytestmark = pytest.mark.learn

MUCH = 10**15
"""A price that leaves no noise on the grid: so that checks see what estimators do, and not noise."""

SAID: dict[type, dict[str, Any]] = {
    PrivateLinearRegression: {"epsilon": MUCH, "bounds": (-20, 20), "target_bounds": (-200, 200)},
    PrivateLogisticRegression: {
        "epsilon": MUCH**2,
        "delta": 1e-5,
        "classes": (0, 1),
        "bounds": (-10, 10),
        "people": 50,
    },
    PrivateScaler: {"epsilon": MUCH, "bounds": (-100, 100), "reach": 100.0},
    PrivateMean: {"epsilon": MUCH, "bounds": (-100, 100)},
}
KINDS = tuple(SAID)

EMPTY = "a table without rows is fitted as any other: an error would tell how many rows there are"
NO_NUMBER = "a row with a value that is no finite number is left out: an error would tell of it"
DECLARED = "classes are declared, never found in the labels, and here they are (0, 1)"
CONTINUOUS = "a label that was not declared is left out, whatever it is: an error would tell of it"
EXPECTED: dict[type, dict[str, str]] = {
    PrivateLinearRegression: {
        "check_estimators_empty_data_messages": EMPTY,
        "check_supervised_y_no_nan": NO_NUMBER,
    },
    PrivateLogisticRegression: {
        "check_estimators_empty_data_messages": EMPTY,
        "check_supervised_y_no_nan": NO_NUMBER,
        "check_classifiers_classes": DECLARED,
        "check_classifiers_train": DECLARED,
        "check_classifiers_regression_target": CONTINUOUS,
    },
    PrivateScaler: {"check_estimators_empty_data_messages": EMPTY},
    PrivateMean: {"check_estimators_empty_data_messages": EMPTY},
}


def tags_without_noise(self: Any) -> Any:
    """Those of an estimator that is deterministic, as it is at this price: so that no check is passed over."""
    tags = TAGS(self)
    tags.non_deterministic = False
    return tags


TAGS = Charged.__sklearn_tags__


@parametrize_with_checks(
    [kind(**said) for kind, said in SAID.items()],
    expected_failed_checks=lambda each: EXPECTED[type(each)],
    xfail_strict=True,
)
def test_scikit_learn_is_content(estimator: Any, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Charged, "__sklearn_tags__", tags_without_noise)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # a check of arrays is passed over without it
    check(estimator)


def test_noise_is_no_secret() -> None:
    assert all(kind().__sklearn_tags__().non_deterministic for kind in KINDS)


def test_at_most_twelve_checks_are_expected_to_fail() -> None:
    assert sum(map(len, EXPECTED.values())) <= 12


def rows(seed: int = 0, size: int = 4000) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, (size, 3))
    return values, values @ [1.0, -0.5, 0.25] + 0.2 + random.standard_normal(size) * 0.1


def labels(seed: int = 0, size: int = 4000) -> tuple[Any, Any]:
    values, targets = rows(seed, size)
    return values, np.where(targets > 0.2, "yes", "no")


LINEAR: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "bounds": (-1, 1), "target_bounds": (-3, 3)}
LOGISTIC: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "bounds": (-1, 1),
    "classes": ["no", "yes"],
    "people": 4000,
}


def test_regression_finds_the_line_and_intervals_around_it() -> None:
    values, targets = rows()
    found = PrivateLinearRegression(**LINEAR).fit(values, targets)
    assert np.abs(found.coef_ - [1, -0.5, 0.25]).max() < 0.1 and abs(found.intercept_ - 0.2) < 0.1
    assert found.score(values, targets) > 0.9 and found.n_features_in_ == 3
    assert (found.epsilon_, found.delta_) == (1, F(1, 10**6))
    ends = found.conf_int()
    assert ends.shape == (4, 2) and (ends[:, 0] < [*found.coef_, found.intercept_]).all()
    usual = LinearRegression().fit(values, targets)
    many = PrivateLinearRegression(**{**LINEAR, "epsilon": MUCH}).fit(values, targets)
    assert np.abs(many.coef_ - usual.coef_).max() < 1e-3
    through = PrivateLinearRegression(**LINEAR, fit_intercept=False).fit(values, targets)
    assert through.intercept_ == 0
    descended = PrivateLinearRegression(**LINEAR, method="descent", people=4000).fit(values, targets)
    assert descended.score(values, targets) > 0.85
    with pytest.raises(Refused):
        descended.conf_int()


@pytest.mark.parametrize("seed", range(4))
def test_a_line_that_may_be_noise_is_told(seed: int) -> None:
    """Of three rows, and where bounds are a thousand times too wide. An honest line says nothing."""
    values, targets = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PrivateLinearRegression(**LINEAR, measure=unmetered(Tape(seed))).fit(values, targets).model_.told
    for few, wide in ((3, 1), (4000, 1000)):
        bounds = {"bounds": (-wide, wide), "target_bounds": (-3 * wide, 3 * wide), "measure": unmetered(Tape(seed))}
        with pytest.warns(UserWarning, match="may be far worse"):
            found = PrivateLinearRegression(**{**LINEAR, **bounds}).fit(values[:few], targets[:few])
        assert not found.model_.told and not LinearModel.from_json(found.model_.to_json()).told


def test_classification_of_two_and_of_many() -> None:
    values, names = labels()
    found = PrivateLogisticRegression(**LOGISTIC).fit(values, names)
    assert found.score(values, names) > 0.85 and found.classes_.tolist() == ["no", "yes"]
    assert found.decision_function(values).shape == (4000,) and found.predict_proba(values).shape == (4000, 2)
    assert found.coef_.shape == (1, 3) and found.intercept_.shape == (1,) and found.coef_[0, 0] > 0 > found.coef_[0, 1]
    with pytest.raises(Refused, match="no intervals"):
        found.conf_int()
    flowers, kinds = load_iris(return_X_y=True)
    many = PrivateLogisticRegression(epsilon=100, delta=1e-5, bounds=(0, 8), classes=(0, 1, 2), people=150)
    assert many.fit(flowers, kinds).score(flowers, kinds) > 0.75
    assert many.coef_.shape == (3, 4) and many.decision_function(flowers).shape == (150, 3)


def test_labels_that_were_not_declared_change_nothing() -> None:
    values, names = labels(size=200)
    shapes = []
    for other in (names, np.append(names[:-1], "never heard of"), np.full(200, "nobody")):
        watched = Watched()
        found = PrivateLogisticRegression(**LOGISTIC, measure=Unmetered(hand=watched)).fit(values, other)
        shapes.append((found.classes_.tolist(), found.coef_.shape, watched.uses))
    assert shapes[0] == shapes[1] == shapes[2]


def test_values_that_are_no_numbers_raise_nothing() -> None:
    values, targets = rows(size=50)
    values[3, 1], targets[5] = np.nan, np.inf
    assert np.isfinite(PrivateLinearRegression(**LINEAR).fit(values, targets).coef_).all()
    assert np.isfinite(PrivateLinearRegression(**LINEAR).fit(values[:0], targets[:0]).coef_).all()
    cells = values.astype(object)
    cells[0, 0], cells[1, 1], cells[2, 2], cells[4, 0] = "a name", {}, 10**400, None
    for table in (cells, cells.tolist(), pd.DataFrame(cells), pd.DataFrame(cells).replace({None: pd.NA})):
        assert np.isfinite(PrivateLinearRegression(**LINEAR).fit(table, targets).coef_).all()
        assert np.isfinite(PrivateLogisticRegression(**LOGISTIC).fit(table, targets > 0).coef_).all()
    cells_alone_raise_nothing()
    scaler = PrivateScaler(epsilon=1, bounds=(-1, 1)).fit(values)
    assert np.isnan(scaler.transform(values)[3, 1]) and np.isfinite(scaler.mean_).all()


def cells_alone_raise_nothing() -> None:
    """Each cell that is no number, alone among numbers, of features and of targets: an error of scikit-learn would show those beside it."""
    few: dict[str, Any] = {**LOGISTIC, "classes": [0, 1], "steps": 2}
    for cell in NO_NUMBERS:
        for kind in (list, partial(np.array, dtype=object), partial(pd.DataFrame, dtype=object)):
            given, column = kind([[0.5, 0.25], [0.125, cell]]), [0, cell]
            assert PrivateScaler(epsilon=1, bounds=(-1, 1)).fit(given).mean_.shape == (2,)
            assert PrivateLinearRegression(**LINEAR).fit(given, [0, 1]).coef_.shape == (2,)
            assert PrivateLogisticRegression(**few).fit(given, column).coef_.shape == (1, 2)
        assert PrivateLinearRegression(**LINEAR).fit([[0], [1]], column).coef_.shape == (1,)


def test_no_value_is_told_in_an_error() -> None:
    for column in (np.array([4711.5, 1]), [4711.5, 1], np.array(["4711.5", "x"], object)):
        with pytest.raises(ValueError, match="Expected 2D array") as found:
            PrivateMean(epsilon=1, bounds=(0, 1)).fit(column)
        assert "4711" not in str(found.value)
    for table in (np.array([[4711.5 + 1j]]), pd.DataFrame({"x": [4711.5 + 1j], "y": [4711.5]})):
        with pytest.raises(ValueError, match="Complex data not supported") as found:
            PrivateMean(epsilon=1, bounds=(0, 1)).fit(table)
        assert "4711" not in str(found.value)
    with pytest.raises(ValueError, match="Complex data not supported") as found:
        PrivateLinearRegression(**LINEAR).fit([[1]], np.array([4711.5 + 1j]))
    assert "4711" not in str(found.value)


@pytest.mark.parametrize("kind", KINDS)
def test_what_must_be_declared_is_asked_for(kind: type) -> None:
    values, targets = rows(size=20)
    needed = {"epsilon", "bounds", *({"target_bounds"} if kind is PrivateLinearRegression else ())}
    if kind is PrivateLogisticRegression:
        needed |= {"delta", "classes", "people"}
    for name in needed:
        measure = unmetered()
        with pytest.raises(Invalid, match=name):
            kind(**{**SAID[kind], name: None}, measure=measure).fit(values, targets)
        assert not measure._spent
    with pytest.raises(ValueError, match="bounds"):
        kind(**{**SAID[kind], "bounds": [(0, 1)]}).fit(values, targets)
    assert "random_state" not in kind().get_params() and "sample_weight" not in kind.fit.__code__.co_varnames


@pytest.mark.parametrize(
    ("said", "words"),
    [({"method": "guess"}, "method"), ({"method": "descent"}, "people"), ({"adjacency": "x"}, "adjacency")],
)
def test_other_ways_are_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        PrivateLinearRegression(**LINEAR, **said).fit(*rows(size=20))
    with pytest.raises(Invalid, match="reach"):
        PrivateScaler(epsilon=1, bounds=(0, 1), reach=0).fit(rows(size=20)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_told_before_a_fit(kind: type) -> None:
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(kind, name):
            with pytest.raises(NotFittedError):
                getattr(kind(), name)(rows(size=5)[0])
    if hasattr(kind, "conf_int"):
        with pytest.raises(NotFittedError):
            kind().conf_int()


def test_pipelines_scale_and_classify_privately() -> None:
    values, kinds = load_wine(return_X_y=True)
    widest = [(0, 2 ** int(np.ceil(np.log2(most)))) for most in values.max(axis=0)]  # as somebody might declare
    measure = unmetered()
    pipe = make_pipeline(
        PrivateScaler(epsilon=20, delta=1e-6, bounds=widest, reach=3.0, measure=measure),
        PrivateLogisticRegression(
            epsilon=20, delta=1e-6, bounds=(-3, 3), classes=(0, 1, 2), people=178, measure=measure
        ),
    )
    assert pipe.fit(values, kinds).score(values, kinds) > 0.8
    assert len(measure._spent) == 2 and measure.spent.certifies(40, F(2, 10**6))
    scaled = pipe[0].transform(values)
    assert np.abs(scaled).max() <= 3 and np.abs(scaled.mean(axis=0)).max() < 0.5


def test_frames_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    values, targets = rows(size=100)
    frame = pandas.DataFrame(values, columns=["a", "b", "c"])
    found = PrivateLinearRegression(**LINEAR).fit(frame, targets)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[["b", "a", "c"]])
    scaler = PrivateScaler(epsilon=1, bounds=(-1, 1)).fit(frame).set_output(transform="pandas")
    assert scaler.transform(frame).columns.tolist() == ["a", "b", "c"]


def test_grids_are_searched_on_public_rows() -> None:
    values, targets = rows(size=600)
    measure = unmetered()
    search = GridSearchCV(
        PrivateLinearRegression(**{**LINEAR, "epsilon": 5}, measure=measure, key="mine"),
        {"norm": [None, 1.7]},
        cv=3,
    )
    assert search.fit(values, targets).best_score_ > 0.5
    assert len(measure._spent) == 2 * 3 + 1, "each fit is charged: clones share the measure, and have no key"


@pytest.mark.parametrize("kind", KINDS)
def test_clones_share_who_is_charged_and_have_no_key(kind: type) -> None:
    measure = unmetered()
    first = kind(**SAID[kind], measure=measure, key="mine")
    for other in (clone(first), copy.deepcopy(first)):
        assert other.measure is measure and other.key is None
        assert {**other.get_params(), "key": "mine"} == first.get_params()


@pytest.mark.parametrize("kind", [PrivateLinearRegression, PrivateLogisticRegression])
def test_labels_of_a_ledger_are_scored_nowhere(kind: type) -> None:
    """Refused before a search among models fits any of them; without one a score is that of scikit-learn."""
    values, targets = rows(size=60)
    classes, memory = (targets > 0).astype(int), unmetered()

    def ledger(*said: Any, **named: Any) -> Any:
        return memory(*said, **named)

    charged = kind(**SAID[kind], measure=ledger)
    for each in (lambda: charged.score, lambda: cross_val_score(charged, values, classes)):
        with pytest.raises(Refused, match=r"sklearn\.metrics"):
            each()
    with pytest.raises(TypeError, match="score"):
        cross_val_score(make_pipeline(charged), values, classes)
    assert not memory._spent
    free = kind(**SAID[kind], measure=memory).fit(values, classes)
    known = r2_score if kind is PrivateLinearRegression else accuracy_score
    assert free.score(values, classes) == known(classes, free.predict(values))


@pytest.mark.parametrize("kind", KINDS)
def test_clones_hand_on_what_they_were_told_to(kind: type) -> None:
    """Whose rows are whose, in a pipeline that is cloned for each fold, and the frames that a scaler gives."""
    with config_context(enable_metadata_routing=True):
        first = kind(**SAID[kind]).set_fit_request(ids=True)
        assert clone(first).get_metadata_routing().fit.requests == {"ids": True}
        values, targets = rows(size=60)
        if kind is PrivateScaler:
            pipe = make_pipeline(first.set_output(transform="pandas"), LinearRegression())
            assert cross_val_score(pipe, values, targets, cv=2, params={"ids": np.arange(60) // 2}).shape == (2,)
            assert isinstance(clone(first).fit(values).transform(values), pd.DataFrame)


def test_classes_of_several_types_stay_what_they_are() -> None:
    values, targets = rows(size=60)
    classes = np.array([1, "a"], object)[(targets > 0).astype(int)]
    found = PrivateLogisticRegression(**{**SAID[PrivateLogisticRegression], "classes": (1, "a")}).fit(values, classes)
    assert found.classes_.tolist() == [1, "a"] and set(found.predict(values).tolist()) <= {1, "a"}


@pytest.mark.parametrize("kind", KINDS)
def test_who_is_charged_is_never_pickled(kind: type) -> None:
    values, targets = rows(size=60)
    first = kind(**SAID[kind], measure=unmetered()).fit(values, (targets > 0).astype(int))
    with pytest.raises(Invalid, match="pickled"):
        pickle.dumps(first)
    again = pickle.loads(pickle.dumps(first.set_params(measure=None)))
    assert again.model_.to_json() == first.model_.to_json()
    readers = {PrivateLinearRegression: LinearModel, PrivateLogisticRegression: LogisticModel}
    assert readers.get(kind, FeatureScale).from_json(first.model_.to_json()).to_json() == first.model_.to_json()


def test_a_curator_is_charged(tmp_path: Path) -> None:
    values, targets = rows(size=300)
    ids, people = list(range(300)), {"patient": [f"p{i}" for i in range(5)]}
    with Curator({"visits": people}, "patient", epsilon=3, delta=1e-5, ledger=tmp_path / "ledger") as hospital:
        named = {"delta": 1e-6, "measure": hospital.measure}
        PrivateScaler(epsilon=0.5, bounds=(-1, 1), **named).fit(values, ids=ids)
        PrivateLinearRegression(**{**LINEAR, "epsilon": 1, **named}).fit(values, targets, ids=ids)
        PrivateLogisticRegression(**{**LOGISTIC, "epsilon": 1, **named}).fit(values, labels(size=300)[1], ids=ids)
        assert (hospital.spent.epsilon, hospital.spent.delta) == (F(5, 2), F(3, 10**6))
        with pytest.raises(Refused):
            PrivateMean(epsilon=1, bounds=(-1, 1), measure=hospital.measure).fit(values, ids=ids)
        with pytest.raises(Invalid):  # a guarantee for rows is none for people
            PrivateMean(epsilon=0.1, bounds=(-1, 1), measure=hospital.measure).fit(values)
        assert hospital.spent.epsilon == F(5, 2)
    with Curator({"visits": people}, "patient", epsilon=3, delta=1e-5, ledger=tmp_path / "ledger") as again:
        assert again.spent.epsilon == F(5, 2)


def test_keys_give_models_back() -> None:
    values, targets = rows(size=300)
    measure = unmetered()
    first, second = (PrivateLinearRegression(**LINEAR, measure=measure, key="k").fit(values, targets) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_) and len(measure._spent) == 1
    means = [PrivateMean(epsilon=1, bounds=(-1, 1)).fit(values).mean_ for _ in range(2)]
    assert not np.array_equal(*means), "noise is anew in each fit"
    assert PrivateMean(epsilon=100, bounds=(-1, 1)).fit(values).conf_int().shape == (3, 2)
