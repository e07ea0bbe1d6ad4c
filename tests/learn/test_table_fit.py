"""Models of tables: what they are trained on follows from what is declared, rows are read by draws alone, and a unit moves a sum no farther
than is paid for."""

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.twins import compare
from discreet.cells import Binned, Categorical
from discreet.errors import DiscreetError, Invalid, Refused
from discreet.learn import TableModel, fit, load
from discreet.learn.checkpoint import MemoryCheckpoint
from discreet.learn.encoding import Encoding, KeyColumn, NumberColumn
from discreet.learn.logistic_regression import LogisticModel
from discreet.learn.table_fit import LazyLogistic, ModelKind, TableFit
from discreet.learn.table_rows import MOST_FEATURES, TableRows, class_target
from discreet.mechanisms.guarded import under_way
from discreet.mechanisms.measure import unmetered
from discreet.privacy import Adjacency, Unit, loss
from tests.learn.unit_tables import (
    ADDED,
    AGE,
    DECLARED,
    READMITTED,
    RELATIONS,
    SEX,
    SMOKER,
    WARD,
    WEIGHT,
    ListedTable,
    Row,
    columns,
    patients,
)

FEATURES = DECLARED[:-1]
DELTA = 1e-6
TERMS: dict[str, Any] = {"target": "readmitted", "epsilon": 1, "delta": DELTA}
ODD_ROWS: list[Row] = [
    (None, None, None, None, None, None),
    (0, 0.0, "A", "f", False, "no"),
    (100, 160.0, "C", "m", True, "yes"),
    (10**9, -1e300, "elsewhere", "x", None, "perhaps"),
    (55, 81.5, "B", None, True, "yes"),
]


# What a column becomes.


def numbers_stand_in_the_middle_of_their_cells() -> None:
    encoding = Encoding.of((AGE, WEIGHT))
    assert encoding.labels == ("age", "weight") and encoding.pairs == [(0, 99), (0, 160)]
    assert NumberColumn.of(AGE).cells(AGE)[:, 0].tolist() == [*range(100), 49.5]  # whole numbers are exact
    assert NumberColumn.of(WEIGHT).cells(WEIGHT)[:, 0].tolist() == [20, 60, 100, 140, 80]
    fives = Binned("age", (0, 5, 10), whole=True, missing=False)
    assert NumberColumn.of(fives).cells(fives)[:, 0].tolist() == [2, 7]


def test_numbers_stand_in_the_middle_of_their_cells() -> None:
    numbers_stand_in_the_middle_of_their_cells()


def keys_have_a_feature_each_and_strangers_equal_shares() -> None:
    for column, features in ((KeyColumn("ward", WARD.values), 3), (KeyColumn("ward", WARD.values, reference=True), 2)):
        cells = column.cells(WARD)
        assert cells.shape == (5, features) and len(column.labels) == len(column.bounds) == features
        assert cells[:3].tolist() == np.eye(3)[:, 3 - features :].tolist()
        assert np.allclose(cells[3:], 1 / 3)
        assert np.allclose(cells.mean(axis=0), 1 / 3)  # strangers are neither for nor against a key
    for reference in (False, True):
        assert KeyColumn("sex", SEX.values, reference).cells(SEX).tolist() == [[0], [1], [0.5], [0.5]]


def test_keys_have_a_feature_each_and_strangers_equal_shares() -> None:
    keys_have_a_feature_each_and_strangers_equal_shares()


def public_values_are_encoded_as_their_cells_are() -> None:
    """Of every cell a value that stands for it: keys, the middles of bins, strangers and what is missing."""
    attributes = (AGE, Binned("weight", tuple(float(x) for x in range(0, 161, 40)), missing=True), WARD, SEX, SMOKER)
    for reference in (False, True):
        encoding = Encoding.of(attributes, reference)
        middles = [[*range(100), None], [20, 60, 100, 140, float("nan")]]
        keys = [[*each.values, *["?"] * each.other, None] for each in (WARD, SEX, SMOKER)]
        most = max(each.size for each in attributes)
        codes = np.array([[i % each.size for each in attributes] for i in range(most)])
        values = [[each[i % len(each)] for each in (*middles, *keys)] for i in range(most)]
        by_name = {each.name: [row[i] for row in values] for i, each in enumerate(attributes)}
        expected = encoding.rows(attributes, codes)
        for given in (values, by_name):
            assert encoding.values(given).tolist() == expected.tolist()
        low, high = np.array(encoding.pairs).T
        assert (low <= expected).all() and (expected <= high).all()


def test_public_values_are_encoded_as_their_cells_are() -> None:
    public_values_are_encoded_as_their_cells_are()


def test_days_and_moments_count_in_days() -> None:
    days = Binned("admitted", (date(1970, 1, 1), date(1970, 1, 11), date(1970, 1, 21)), whole=True)
    column = NumberColumn.of(days)
    assert (column.low, column.high, column.labels) == (0, 20, ("admitted in days",))
    assert column.cells(days)[:, 0].tolist() == [4.5, 14.5, 10]
    given = ["1970-01-03", date(1970, 1, 3), datetime(1970, 1, 3, 12), np.datetime64("1970-01-03"), None]
    assert column.values(given)[:, 0].tolist() == [2, 2, 2.5, 2, 10]
    east = timezone(timedelta(hours=12))
    assert column.values([datetime(1970, 1, 3, 18, tzinfo=east)])[:, 0].tolist() == [2.25]
    moments = Binned("at", (datetime(1970, 1, 1), datetime(1970, 1, 2)), whole=True, missing=False)
    assert NumberColumn.of(moments).cells(moments)[:, 0].tolist() == [0.5]


def test_a_column_of_one_key_is_refused() -> None:
    with pytest.raises(Invalid, match="fewer than two keys"):
        Encoding.of((Categorical("ward", ("A",)),))


# What a model is trained on.


def asked(table: ListedTable, features: Any = None) -> TableRows:
    return TableRows.of(table, features, class_target(table, "readmitted", None), reference=False)


def rows_are_those_of_the_units() -> None:
    """One for each unit with a declared class, whatever else of it is missing or strange."""
    rows = [*patients(30), *ODD_ROWS, *ODD_ROWS]
    found = asked(ListedTable(rows))
    with under_way():
        examples = found.reader()()
    kept = [row for row in rows if row[-1] in READMITTED.values]
    encoding = Encoding.of(FEATURES)
    expected = [
        (*features, READMITTED.values.index(row[-1]))
        for row in kept
        for features in encoding.rows(FEATURES, np.array([_cells(row)])).tolist()
    ]
    assert sorted(map(tuple, np.column_stack([examples.features, examples.codes]).tolist())) == sorted(expected)


def _cells(row: Row) -> list[int | None]:
    from tests.learn.unit_tables import cell

    return [cell(each, value) for each, value in zip(FEATURES, row, strict=False)]


def test_rows_are_those_of_the_units() -> None:
    rows_are_those_of_the_units()


def rows_are_read_by_draws_alone() -> None:
    table = ListedTable(patients(5))
    found = TableFit.of(table, **TERMS)
    problem = LazyLogistic(found.rows, 2, found.plan)
    outside = (
        found.rows.reader(),
        lambda: problem.units,
        lambda: problem.clipped(np.zeros(problem.shape), slice(None)),
    )
    for each in outside:
        with pytest.raises(Refused, match="by a draw only"):
            each()
    with under_way():
        assert problem.units == 5 and all(np.any(each()) for each in outside[2:])
    for each in outside:  # also once they were read
        with pytest.raises(Refused, match="by a draw only"):
            each()
    assert table.reads == 1


def test_rows_are_read_by_draws_alone() -> None:
    rows_are_read_by_draws_alone()


def test_rows_are_read_once_and_shown_nowhere() -> None:
    table = ListedTable(patients(20))
    found = TableFit.of(table, **TERMS, steps=5)
    found.run()
    assert table.reads == 1
    with under_way():
        assert "array" not in repr(found.rows.reader()())


def neighbours(rows: list[Row], adjacency: Adjacency) -> Iterator[list[Row]]:
    for row in [*ODD_ROWS, *patients(5, seed=3)]:
        if adjacency is Adjacency.ADD_REMOVE:
            yield [*rows, row]
        else:
            yield from ([*rows[:i], row, *rows[i + 1 :]] for i in range(0, len(rows), 4))


def a_unit_moves_a_sum_no_farther_than_is_paid_for() -> None:
    """At any weights, for every neighbour: by the clip, or by twice that where one unit takes another's place; and shapes are the same."""
    rows = patients(12)
    random = np.random.default_rng(5)
    for adjacency in Adjacency:
        table = ListedTable(rows, relation=next(each for each in RELATIONS if each.adjacency is adjacency))
        for size in (0, 1, 300):
            found = TableFit.of(table, **TERMS)
            weights = random.normal(size=LazyLogistic(found.rows, 2, found.plan).shape) * size
            first = summed(found, weights)
            for other in neighbours(rows, adjacency):
                near = TableFit.of(ListedTable(other, relation=table.relation), **TERMS)
                assert near.plan == found.plan and near.label == found.label
                for one, another in zip(first, summed(near, weights), strict=True):
                    assert one.shape == another.shape
                    assert np.linalg.norm((another - one).astype(float)) <= found.plan.sensitivity


def summed(found: TableFit, weights: Any) -> tuple[Any, Any]:
    """A sum of rows, and one of gradients."""
    problem = LazyLogistic(found.rows, 2, found.plan)
    with under_way():
        looked = problem.look(slice(None))
        problem.centre(np.full(problem.width, 0.1))
        return looked, problem.clipped(weights, slice(None))


def test_a_unit_moves_a_sum_no_farther_than_is_paid_for() -> None:
    a_unit_moves_a_sum_no_farther_than_is_paid_for()


# What is drawn and charged.


def plans_are_those_of_the_table() -> None:
    """The event has the relation that the table protects, and costs what is promised; a replaced unit moves twice the clip."""
    for relation, model in product(RELATIONS, ModelKind):
        target = "weight" if model is ModelKind.LINEAR else "readmitted"
        table = ListedTable(patients(30), relation=relation)
        found = TableFit.of(table, model=model, **(TERMS | {"target": target}))
        assert found.plan.relation == relation
        assert (found.plan.person is not None) == (relation.unit is Unit.PERSON)
        measured: list[Any] = []

        def measure(event: Any, table: ListedTable = table, measured: Any = measured, **named: Any) -> Any:
            measured.append((event, named["promise"]))
            return unmetered()(event, **named)

        table.measure = measure
        found.run()
        ((event, promise),) = measured
        assert loss(event).relation == relation
        assert (promise.epsilon, promise.delta) == (found.plan.epsilon, found.plan.delta)
        assert loss(event).certifies(promise.epsilon, promise.delta)
    with pytest.raises(Invalid, match="sampling is not accounted for"):
        TableFit.of(ListedTable([], relation=RELATIONS[-1]), **TERMS, rate=0.5)


def test_plans_are_those_of_the_table() -> None:
    plans_are_those_of_the_table()


def nothing_tells_twins_apart() -> None:
    """One unit more, or another one: the same constants, shapes, price and code path, and inputs of draws within what is paid for."""
    rows = patients(12)
    near = {Adjacency.ADD_REMOVE: ODD_ROWS[2], Adjacency.REPLACE: ODD_ROWS[4]}
    for relation, model, rate in (
        (RELATIONS[0], "logistic", 1),
        (RELATIONS[1], "logistic", 0.5),
        (RELATIONS[2], "logistic", 1),
        (RELATIONS[0], "linear", None),
        (RELATIONS[2], "linear", None),
    ):
        more = {"steps": 4, "rate": rate, "target": "readmitted"} if rate is not None else {"target": "weight"}
        others = rows if relation.adjacency is Adjacency.ADD_REMOVE else rows[1:]

        def run(rows: Any, draws: Any, relation: Any = relation, model: str = model, more: Any = more) -> Any:
            table = ListedTable(rows, draws.measure, relation)
            return fit(table, model=model, epsilon=1, delta=DELTA, **more).to_json()

        report = compare(rows, [*others, near[relation.adjacency]], run)
        assert not report.differences, (relation, model, rate, report)


def test_nothing_tells_twins_apart() -> None:
    nothing_tells_twins_apart()


def a_known_relation_is_found() -> None:
    """At ε = 20 of 2,000 units: nine in ten of 1,000 others are told. In 200 runs it was 0.984 with a deviation of 0.0008, at least 0.982:
    90 deviations above what is asked for."""
    model = fit(ListedTable(patients(2000), people=2000), **(TERMS | {"epsilon": 20}))
    others = patients(1000, seed=2)
    told = model.predict(columns(others))
    assert np.mean([one == row[-1] for one, row in zip(told, others, strict=True)]) > 0.9
    assert model.classes == ("no", "yes") and model.probabilities(columns(others)).shape == (1000, 2)
    by_name = {each.feature: each.value for each in model.coefficients()}
    assert by_name["age"] > 0 and by_name["ward = C"] > max(by_name["ward = A"], by_name["ward = B"])


def test_a_known_relation_is_found() -> None:
    a_known_relation_is_found()


def coefficients_give_the_scores_near_the_mean() -> None:
    """In the units of the data: a row near the mean that was found has the score of its coefficients, but for the grid of features."""
    model = fit(ListedTable(patients(500), people=500), **(TERMS | {"epsilon": 20}))
    assert isinstance(model.fitted, LogisticModel)
    found = np.array([each.value for each in model.coefficients()])
    bounds, random = model.fitted.bounds, np.random.default_rng(1)
    near = bounds.middle + bounds.half * (model.fitted.middle + 0.05 * random.uniform(-1, 1, (50, len(found) - 1)))
    within = np.clip(near, bounds.low, bounds.high)
    scores = within @ found[:-1] + found[-1]
    assert np.abs(scores - model.fitted.scores(within)[:, 0]).max() < 1e-3 * np.abs(model.fitted.weights).max()
    assert np.ptp(scores) > 0.1


def test_coefficients_give_the_scores_near_the_mean() -> None:
    coefficients_give_the_scores_near_the_mean()


def a_line_is_found_with_its_interval() -> None:
    """weight = 40 + 0.5·age + 10·[ward C], without noise of its own, at ε = 20 of 4,000 units. Over 100 runs deviations were at most 0.006,
    and cells moved the intercept by 0.05: 25 deviations within what is asked for."""
    rows = [(age, 40 + 0.5 * age + 10 * (ward == "C"), ward, *rest) for age, _, ward, *rest in patients(4000)]
    fine = Binned("weight", tuple(np.linspace(0, 160, 257).tolist()))
    table = ListedTable(rows, declared=(AGE, fine, *DECLARED[2:]), people=None)
    model = fit(table, model="linear", target="weight", features=["age", "ward"], epsilon=20, delta=DELTA)
    found = {each.feature: each for each in model.coefficients()}
    assert list(found) == ["age", "ward = B", "ward = C", ""]
    for name, truth in (("age", 0.5), ("ward = B", 0), ("ward = C", 10), ("", 40)):
        each = found[name]
        assert each.low is not None and each.high is not None and each.low < each.value < each.high
        assert abs(each.value - truth) < 0.2
    assert np.abs(np.asarray(model.predict({"age": [20, 60], "ward": ["A", "C"]})) - [50, 80]).max() < 0.5


def test_a_line_is_found_with_its_interval() -> None:
    a_line_is_found_with_its_interval()


def the_same_again_is_free_and_another_is_another() -> None:
    """Under one key: the same model again, and never that of other columns, of another target or of other classes."""
    measure, keeper = unmetered(), MemoryCheckpoint()
    table = ListedTable(patients(50), measure)
    first = fit(table, **TERMS, features=["age", "sex"], key="k", keeper=keeper)
    price = measure.spent.epsilon(DELTA)
    assert fit(table, **TERMS, features=["age", "sex"], key="k", keeper=keeper).to_json() == first.to_json()
    for more in ({"features": ["weight", "sex"]}, {"features": ["age", "smoker"]}, {"classes": ["yes", "no"]}):
        with pytest.raises(Refused, match="key belongs to another"):
            fit(table, **{"features": ["age", "sex"], **TERMS, **more}, key="k", keeper=keeper)
    line: dict[str, Any] = {"model": "linear", "target": "weight", "epsilon": 1, "delta": DELTA, "key": "line"}
    second = fit(table, **line, features=["sex"])
    assert fit(table, **line, features=["sex"]).to_json() == second.to_json()
    for other in ("age", "smoker"):  # one has other bounds, and one the same
        with pytest.raises(Refused, match="key belongs to another"):
            fit(table, **line, features=[other])
    assert price < measure.spent.epsilon(2 * DELTA) <= 2.01


def test_the_same_again_is_free_and_another_is_another() -> None:
    the_same_again_is_free_and_another_is_another()


def epsilon_so_far_ends_at_the_price() -> None:
    found = TableFit.of(ListedTable([]), **TERMS)
    spent = [found.epsilon_after(step) for step in (1, 10, 59, 60)]
    assert spent == sorted(spent) and spent[0] > 0 and 0.99 < spent[-1] <= 1 + 1e-6


def test_epsilon_so_far_ends_at_the_price() -> None:
    epsilon_so_far_ends_at_the_price()


# What is refused, before anything is read or spent.

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"target": "weight"}, "nobody declared which classes"),
    ({"target": "nothing"}, "nobody declared which classes"),
    ({"target": 3}, "must be the name of a column"),
    ({"classes": ["yes"]}, "two classes or more"),
    ({"classes": ["yes", "yes"]}, "each named once"),
    ({"classes": "no,yes"}, "must be a list"),
    ({"classes": 2}, "must be a list"),
    ({"classes": [["no"], ["yes"]]}, "must be a list"),
    ({"classes": ["no", "yse"]}, "'yse' is no declared key of the target 'readmitted'"),
    ({"features": []}, "at least one feature"),
    ({"features": "age"}, "must be names of columns"),
    ({"features": ["age", "age"]}, "named twice"),
    ({"features": ["age", "readmitted"]}, "among the features"),
    ({"features": ["nothing"]}, "no column"),
    ({"delta": 0}, "needs a delta"),
    ({"epsilon": 0}, "epsilon must be positive"),
    ({"people": "many"}, "people must be an integer"),
    ({"people": 7.9}, "people must be an integer"),
    ({"people": 0}, "people must be at least 1"),
    ({"steps": 0}, "steps must be at least 1"),
    ({"rate": 0}, "rate must be above 0"),
    ({"clip": 0}, "clip must be positive"),
    ({"model": "tree"}, "'logistic' or 'linear'"),
    ({"model": "linear"}, "no number with bounds"),
    ({"model": "linear", "target": "weight", "steps": 3}, "steps is for logistic"),
    ({"model": "linear", "target": "weight", "classes": ["a", "b"]}, "classes is for logistic"),
]


@pytest.mark.parametrize(("more", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_wrong_is_said_before_anything_is_spent(more: dict[str, Any], said: str) -> None:
    measure = unmetered()
    table = ListedTable(patients(5), measure)
    with pytest.raises(Invalid, match=said):
        fit(table, **(TERMS | more))
    assert table.reads == 0 and measure.spent.epsilon(DELTA) == 0


@pytest.mark.parametrize("table", [None, {"age": [1]}, "patients"], ids=str)
def test_what_is_no_table_is_told(table: Any) -> None:
    with pytest.raises(Invalid, match="a table of a curator"):
        fit(table, **TERMS)


def test_columns_of_very_many_keys_are_refused() -> None:
    """Before anything is read: a row for each of many units, with thousands of features, would be no table that fits into memory."""
    codes = Categorical("code", tuple(range(MOST_FEATURES + 1)))
    table = ListedTable(patients(5), declared=(codes, READMITTED))
    with pytest.raises(Invalid, match="4,097 features, and 4,096 are the most"):
        TableFit.of(table, **TERMS)
    assert table.reads == 0


def test_how_many_people_there_are_is_never_counted() -> None:
    with pytest.raises(Invalid, match=r"not declared.*people = 50000 to \[unit\]"):
        fit(ListedTable(patients(5), people=None), **TERMS)
    assert TableFit.of(ListedTable(patients(5), people=70), **TERMS).plan.people == 70
    assert TableFit.of(ListedTable(patients(5), people=70), **TERMS, people=80).plan.people == 80


# What a model is kept as.


@pytest.fixture(scope="module")
def model() -> TableModel:
    return fit(ListedTable(patients(200)), **(TERMS | {"epsilon": 5}))


def test_a_model_is_loaded_as_it_was_saved(model: TableModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model.json")
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
    found = load(tmp_path / "model.json")
    data = columns([*patients(40, seed=4), *ODD_ROWS])
    assert found.to_json() == model.to_json() and found.training == model.training
    assert found.predict(data) == model.predict(data)
    assert found.training.relation == str(ADDED) and (found.training.steps, found.training.made) == (60, 60)


def test_models_of_days_and_truths_are_loaded_too() -> None:
    days = Categorical("day", (date(2024, 1, 1), date(2024, 1, 2)))
    rows = [(date(2024, 1, 1 + i % 2), bool(i % 2)) for i in range(40)]
    table = ListedTable(rows, declared=(SMOKER, days))
    table.rows = [(truth, day) for day, truth in rows]
    found = fit(table, **(TERMS | {"target": "day", "features": ["smoker"]}))
    again = TableModel.from_json(found.to_json())
    assert again.classes == days.values and again.predict({"smoker": [True]}) == found.predict({"smoker": [True]})


def test_frames_and_arrays_are_predicted_alike(model: TableModel) -> None:
    import pandas

    rows = patients(30, seed=6)
    data = columns(rows)
    expected = model.predict(data)
    assert model.predict(pandas.DataFrame(data)) == expected
    assert model.predict([row[:-1] for row in rows]) == expected
    assert model.predict(np.array([row[:-1] for row in rows], object)) == expected
    gaps = pandas.DataFrame(data).astype({"age": "Int64"})
    gaps.loc[0, "age"] = pandas.NA
    for nothing in ("", " ", float("nan")):
        assert model.predict(gaps) == model.predict(data | {"age": [nothing, *data["age"][1:]]})
    assert model.predict({name: [] for name in data}) == []
    texts = {**data, "age": list(map(str, data["age"]))}  # numbers as a file has them
    assert model.predict(texts) == expected


def test_data_that_do_not_fit_are_refused(model: TableModel) -> None:
    data = columns(patients(3))
    wrong: list[tuple[Any, str]] = [
        ({name: data[name] for name in data if name != "ward"}, "a column for each of"),
        (data | {"age": ["secret", 1, 2]}, "'age' must have numbers"),
        (data | {"smoker": ["true", "true", "false"]}, "'smoker' must have values like its keys"),
        (data | {"age": [1]}, "of one length"),
        ([[1, 2]], "must have 5 values each"),
        (3, "a column for each of"),
    ]
    for given, said in wrong:
        with pytest.raises(Invalid, match=said) as caught:
            model.predict(given)
        assert "secret" not in str(caught.value)


def test_what_is_no_model_is_refused(model: TableModel, tmp_path: Path) -> None:
    data = json.loads(model.to_json())
    wrong = ["", "[]", "{}", "3", "null", json.dumps(data | {"format": 2}), json.dumps(data | {"kind": "another"})]
    wrong += [json.dumps(data | {name: value}) for name in data for value in (None, 3, [], {}, "x") if name != "target"]
    wrong += [json.dumps(data | {"features": data["features"][:2]})]
    broken = json.loads(model.to_json())
    broken["fitted"]["weights"][0][0] = float("nan")
    for text in (*wrong, json.dumps(broken)):
        with pytest.raises(Invalid):
            TableModel.from_json(text)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "nothing.json", tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(DiscreetError):
            load(path)
    with pytest.raises(Invalid, match="cannot be written"):
        model.save(tmp_path / "nowhere" / "model.json")


def test_a_line_has_no_classes() -> None:
    line = fit(ListedTable(patients(200)), model="linear", target="weight", epsilon=5, delta=DELTA)
    assert line.classes is None and line.kind == "linear"
    with pytest.raises(Refused, match="no classes"):
        line.probabilities(columns(patients(3)))
    again = TableModel.from_json(line.to_json())
    assert np.allclose(again.predict(columns(patients(3))), line.predict(columns(patients(3))))  # type: ignore[arg-type]
