"""How well a model does on private data: a noisy count, which is paid for. There is no other way to learn it here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import DiscreetError, Fault, Invalid
from discreet.exact import Number, positive, shown, whole
from discreet.learn.people import RowsOfPeople
from discreet.learn.torch.batches import TensorBatch, TensorRows, ids_of
from discreet.learn.torch.checks import evaluating, refuse_mixing_rows
from discreet.learn.training_plan import member
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.measure import Measure, Promise, measure_of
from discreet.privacy import Adjacency, Relation, Unit, events

ROWS_AT_ONCE = 4096

Right = Callable[[Any, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of examples that a model has right, of the declared number; ± is of the noise, with 95 %."""

    value: float
    error: float
    epsilon: Fraction

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


def evaluate(
    model: nn.Module,
    data: Sequence[Tensor],
    *,
    epsilon: Number,
    people: int,
    right: Right | None = None,
    groups: Iterable[Any] | None = None,
    measure: Measure | None = None,
    key: str | None = None,
    label: str = "accuracy",
    alone: bool = False,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
) -> Accuracy:
    """The accuracy of a model on private data, with noise, and charged. For any data it is epsilon-DP for units that come or go,
    or with `adjacency="replace"` for one unit instead of another: either moves the count by one.

    A unit is a row, or with `groups`, which say whose each row is, a person, of whom one row counts, chosen by priority. The noisy count
    is divided by `people`, the declared number of units. `right` says which rows of outputs are right; otherwise it is the largest of
    several outputs, or the sign of a single one. One unit moves the count by one as long as what a model gives for a row does not hang on
    the other rows that are computed with it; in the last bits of floating-point numbers it may, and where that must not be, rows are
    taken `alone`, which is slow. A model that mixes rows, or keeps something of them, is refused, as made-up rows tell.
    """
    declared = whole(people, "people", least=1)
    if not isinstance(model, nn.Module):
        raise Invalid(f"model must be a torch.nn.Module, got {shown(model)}")
    rows = TensorRows(data, next((each.device for each in model.parameters()), torch.device("cpu")))
    owners = ids_of(groups, rows)
    noise = Geometric.for_epsilon(positive(epsilon, "epsilon"))
    judged = _largest if right is None else right
    charged = measure_of(measure)
    promise = Promise(positive(epsilon, "epsilon"), Fraction(0))
    with evaluating(model):
        refuse_mixing_rows(model, rows)
    relation = Relation(member(Adjacency, adjacency, "adjacency"), Unit.ROW if owners is None else Unit.PERSON)
    with charged(events.Under(noise.event(1), relation), label=label, key=key, promise=promise) as grant:
        chosen = None if owners is None else RowsOfPeople(owners, 1, grant.source).rows
        count = grant(noise, 1, lambda: _count(model, rows, chosen, judged, 1 if alone else ROWS_AT_ONCE))
    share = min(1.0, max(0.0, count / declared))
    return Accuracy(share, noise.error() / declared, promise.epsilon)


def _count(model: nn.Module, rows: TensorRows, chosen: Any, right: Right, at_once: int) -> int:
    """How many rows are right. Whatever a model raises on data is one constant Fault."""
    try:
        with evaluating(model), torch.no_grad():
            total = len(rows) if chosen is None else len(chosen)
            found = 0
            for begin in range(0, total, at_once):
                part = slice(begin, min(begin + at_once, total))
                batch = rows.at(part if chosen is None else chosen[part], at_once)
                found += _right(model, batch, right)
            return found
    except DiscreetError:
        raise
    except Exception:
        raise Fault("the model failed on the data; what was charged stays charged", code="training") from None


def _right(model: nn.Module, batch: TensorBatch, right: Right) -> int:
    """Each row counts 0 or 1, whatever `right` gives."""
    found = right(model(*batch.inputs), batch.targets)
    if found.shape != (batch.rows,):
        raise Fault("`right` must say of each row whether it is right", code="training")
    return int((found != 0).sum())


def _largest(outputs: Tensor, targets: Tensor) -> Tensor:
    if outputs.dim() == 1 or outputs.shape[1] == 1:
        return (outputs.flatten() > 0) == (targets.flatten() > 0)
    return outputs.argmax(1) == targets
