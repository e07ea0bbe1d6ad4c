"""A model of a curator's table: (ε, δ)-DP for the units that the curator protects, and charged to its ledger.

Everything that a release could tell beside its noise is declared: the columns, their bounds and keys, the classes, how many people there
are about, the steps, the clip. Rows are read inside of draws, once, and kept in memory alone.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from discreet.cells import Categorical, Category, CellTable
from discreet.errors import Invalid
from discreet.exact import Number, shown, whole
from discreet.learn.centring import CentredLogistic
from discreet.learn.descent import Descent, descend
from discreet.learn.encoding import NumberColumn
from discreet.learn.labels import label_of
from discreet.learn.linear_regression import linear_of
from discreet.learn.logistic_regression import CLIP, RATE, STEPS, LogisticModel
from discreet.learn.table_model import TableModel, Training
from discreet.learn.table_rows import TableRows, class_target, number_target
from discreet.learn.training_plan import Person, TrainingPlan
from discreet.learn.training_run import Keeper
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Grant
from discreet.mechanisms.record import one_leaf
from discreet.privacy import Unit, events, loss


class ModelKind(Enum):
    """What a model tells."""

    LOGISTIC = "logistic"  # one of several declared classes
    LINEAR = "linear"  # a number between declared bounds


class LazyLogistic(CentredLogistic):
    """The problem of a table's rows, which are read by the first draw: its shape is known before, by what is declared.

    Whatever reads them is for draws; anywhere else it is refused.
    """

    def __init__(self, rows: TableRows, classes: int, plan: TrainingPlan) -> None:
        super().__init__(rows.reader(), len(rows.encoding.labels), rows.encoding.bounds, classes, plan)


@dataclass(frozen=True)
class TableFit:
    """A model that is asked for: what it is trained on, and the plan of its draws. All of it is public; nothing was read or spent."""

    name: str
    kind: ModelKind
    rows: TableRows
    plan: TrainingPlan

    @classmethod
    def of(
        cls,
        table: CellTable,
        *,
        model: ModelKind | str = ModelKind.LOGISTIC,
        target: str,
        features: Any = None,
        classes: Sequence[Category] | None = None,
        epsilon: Number,
        delta: Number = 0,
        people: int | None = None,
        steps: int | None = None,
        rate: Number | None = None,
        clip: Number | None = None,
    ) -> "TableFit":
        """For any arguments returns what can be fitted, or raises Invalid or QueryError, before anything is read or spent."""
        kind = _kind(model)
        _check_table(table)
        person = Person() if table.relation.unit is Unit.PERSON else None
        shared: dict[str, Any] = {"person": person, "adjacency": table.relation.adjacency}
        name = str(getattr(table, "name", "table"))
        if kind is ModelKind.LINEAR:
            _only_of_descent(classes=classes, steps=steps, rate=rate, clip=clip)
            rows = TableRows.of(table, features, number_target(table, target), reference=True)
            return cls(name, kind, rows, TrainingPlan(epsilon=epsilon, delta=delta, steps=1, people=1, **shared))
        rows = TableRows.of(table, features, class_target(table, target, classes), reference=False)
        plan = TrainingPlan(
            epsilon=epsilon,
            delta=_some_delta(delta),
            steps=STEPS if steps is None else steps,
            people=_people(table, people),
            clip=CLIP if clip is None else clip,
            rate=1 if rate is None else rate,
            shape="gaussian",
            **shared,
        )
        return cls(name, kind, rows, plan)

    @cached_property
    def label(self) -> str:
        """What is fitted, for the ledger: it tells any two fits apart that a checkpoint must not be shared by."""
        rows = self.rows
        what = f"{self.kind.value} regression of {rows.target.name}"
        return label_of(what, rows.encoding, rows.attributes, rows.target, self.plan)

    def run(
        self,
        *,
        key: str | None = None,
        keeper: Keeper | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> TableModel:
        """The model. The whole plan is charged before its first draw. Under a `key` whoever was stopped goes on, and the same again is
        free: a logistic model by the checkpoints of its `keeper`, a linear one by what the ledger keeps."""
        if self.kind is ModelKind.LINEAR:
            return self._linear(key)
        return self._logistic(key, keeper, progress)

    def _logistic(self, key: str | None, keeper: Keeper | None, progress: Callable[[int], None] | None) -> TableModel:
        target = self.rows.target
        assert isinstance(target, Categorical)
        problem = LazyLogistic(self.rows, len(target.values), self.plan)
        trained = descend(
            problem,
            self.plan,
            Descent(RATE),
            measure=self.rows.table.measure,
            key=key,
            label=self.label,
            keeper=keeper,
            progress=progress,
            first=problem,
        )
        encoding, plan = self.rows.encoding, self.plan
        price = plan.epsilon, plan.delta
        fitted = LogisticModel(trained.weights, encoding.bounds, trained.middle, target.values, *price)  # type: ignore[arg-type]
        return TableModel(target.name, encoding, fitted, self._training(trained.made))

    def _linear(self, key: str | None) -> TableModel:
        target, encoding = self.rows.target, self.rows.encoding
        number = NumberColumn.of(target)  # type: ignore[arg-type]
        read, middles = self.rows.reader(), number.cells(target)[:, 0]

        def examples() -> tuple[Floats, Floats]:
            found = read()
            return found.features, middles[found.codes]

        def measure(event: events.Event, *, label: str = "", **named: Any) -> AbstractContextManager[Grant]:
            return self.rows.table.measure(event, label=self.label, **named)  # which columns: a key belongs to these

        fitted = linear_of(
            examples,
            len(encoding.labels),
            bounds=encoding.pairs,
            target_bounds=(number.low, number.high),
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            relation=self.plan.relation,
            measure=measure,
            key=key,
        )
        return TableModel(target.name, encoding, fitted, self._training(1))

    def _training(self, made: int) -> Training:
        plan = self.plan
        price = self.name, str(self.rows.table.relation), plan.epsilon, plan.delta
        if self.kind is ModelKind.LINEAR:
            return Training(*price)
        return Training(*price, plan.people, plan.steps, made, plan.clip, plan.rate)

    def epsilon_after(self, steps: int) -> float:
        """What a run that stopped after so many steps would have cost, at the plan's δ. The whole is charged all the same."""
        leaf, _ = one_leaf(self.plan.event)
        return loss(events.Repeated(leaf, steps)).epsilon(self.plan.delta)


def fit(
    table: CellTable,
    *,
    model: ModelKind | str = ModelKind.LOGISTIC,
    target: str,
    features: Any = None,
    classes: Sequence[Category] | None = None,
    epsilon: Number,
    delta: Number = 0,
    people: int | None = None,
    steps: int | None = None,
    rate: Number | None = None,
    clip: Number | None = None,
    key: str | None = None,
    keeper: Keeper | None = None,
    progress: Callable[[int], None] | None = None,
) -> TableModel:
    """A model of a curator's table that is (epsilon, delta)-DP for the units that it protects, charged to its ledger before any draw.

    `table` is `curator.table("visits")`. `features` are names of columns whose keys or bounds are declared or surveyed, without any all
    of them; {"age": 32} is 32 cells instead of 256. A logistic model tells one of the target's declared keys, or of `classes`, and
    needs a `delta` and `people`, about how many there are (the policy's, where it declares them); a linear one tells a number with
    bounds. With a `key` the same again is free, and with a `keeper` as well whoever was stopped goes on.
    """
    asked = TableFit.of(
        table,
        model=model,
        target=target,
        features=features,
        classes=classes,
        epsilon=epsilon,
        delta=delta,
        people=people,
        steps=steps,
        rate=rate,
        clip=clip,
    )
    return asked.run(key=key, keeper=keeper, progress=progress)


def _kind(model: ModelKind | str) -> ModelKind:
    try:
        return ModelKind(model)
    except ValueError:
        raise Invalid(f"model must be 'logistic' or 'linear', got {shown(model)}", code="model") from None


def _check_table(table: object) -> None:
    """Invalid for what is no table of a curator, such as the curator itself, or a frame."""
    if not all(hasattr(table, name) for name in ("attributes", "counts", "measure", "relation")):
        raise Invalid(
            f"table must be a table of a curator, got {type(table).__name__}",
            code="table",
            hint='curator.table("visits"); for arrays there are discreet.learn.logistic and linear',
        )


def _only_of_descent(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise Invalid(
                f"{name} is for logistic models: a linear one is fitted by sums, without steps or classes",
                code="usage",
                hint="leave it out",
            )


def _some_delta(delta: Number) -> Number:
    if delta == 0:
        raise Invalid(
            "a logistic model needs a delta above 0",
            code="delta",
            hint="give delta=1e-8 (--delta 1e-8), where the budget has as much",
        )
    return delta


def _people(table: CellTable, given: int | None) -> int:
    """About how many units there are, as somebody declared it."""
    found = getattr(table, "people", None) if given is None else given
    if found is None:
        raise Invalid(
            "about how many people there are is not declared, and the data may not be counted for it",
            code="people",
            hint="add people = 50000 to [unit] of the policy, or give people=50000 (--people 50000): a public estimate",
        )
    return whole(found, "people", least=1)
