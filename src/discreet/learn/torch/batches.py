"""Rows of tensors, and whose they are: what a batch of units is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.errors import Invalid
from discreet.learn.columns_given import listed
from discreet.learn.people import RowsOfPeople
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.additive import Ints
from discreet.noise import Source

SIZES = 32
"""Evened batches have this many sizes between a power of two and the next."""


@dataclass(frozen=True, slots=True)
class Owners:
    """Which unit each row of a batch belongs to, and which of the unit's rows it is."""

    unit: Tensor
    place: Tensor
    most: int  # rows of a unit

    def summed(self, values: Tensor, units: int) -> Tensor:
        """One row a unit: the sum of its rows."""
        return values.new_zeros((units, *values.shape[1:])).index_add_(0, self.unit, values)

    def laid_out(self, values: Tensor, units: int) -> Tensor:
        """The rows of each unit side by side, (units, most, …), with zeros where a unit has fewer."""
        out = values.new_zeros((units, self.most, *values.shape[1:]))
        out[self.unit, self.place] = values
        return out


@dataclass(frozen=True, slots=True)
class TensorBatch:
    """Inputs and targets of some rows; each row is a unit, or there are owners.

    Rows that are not `present` are there for the size alone.
    """

    inputs: tuple[Tensor, ...]
    targets: Tensor
    units: int
    owners: Owners | None = None
    present: Tensor | None = None

    @property
    def rows(self) -> int:
        return len(self.targets)

    def counted(self, factors: Tensor) -> Tensor:
        """The factors of units, with 0 for those that are not present."""
        return factors if self.present is None else factors * self.present

    def of_rows(self, factors: Tensor) -> Tensor:
        """What units have, for each of their rows."""
        return factors if self.owners is None else factors[self.owners.unit]


class TensorRows:
    """The rows of all tensors together: the last one holds targets, those before it are what the model takes."""

    def __init__(self, data: Sequence[Tensor], device: torch.device) -> None:
        if not isinstance(data, tuple | list) or len(data) < 2 or not all(isinstance(each, Tensor) for each in data):
            raise Invalid("data must be tensors: inputs, and targets last", hint="data=(inputs, targets)")
        if any(each.dim() == 0 or len(each) != len(data[0]) for each in data):
            raise Invalid("data must have one row an example in each tensor")
        if any(each.layout is not torch.strided for each in data):
            raise Invalid("data must be dense tensors", hint="inputs.to_dense()")
        self._data, self._device = tuple(data), device

    def __len__(self) -> int:
        return len(self._data[0])

    @property
    def kinds(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        """The shape of a row and the type of its numbers, for each tensor: public."""
        return tuple((tuple(each.shape[1:]), each.dtype) for each in self._data)

    def at(self, rows: Ints | slice, units: int, owners: Owners | None = None) -> TensorBatch:
        """A copy of these rows, where the model is."""
        if isinstance(rows, slice):
            taken = [each[rows].clone() for each in self._data]
        else:
            places = {device: _sent(torch.from_numpy(rows), device) for device in {each.device for each in self._data}}
            taken = [each.index_select(0, places[each.device]) for each in self._data]
        *inputs, targets = (each.to(self._device, non_blocking=True) for each in taken)
        return TensorBatch(tuple(inputs), targets, units, owners)


def _sent(numbers: Tensor, device: torch.device) -> Tensor:
    """The numbers on a device. To a GPU they go from pinned memory, which nobody waits for."""
    return numbers.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else numbers.to(device)


class UnitRows:
    """The units of a plan: each is a row, or a person with at most so many rows, chosen by priority.

    Which rows of a person are used depends on nobody else, so that one person who comes or goes changes what that person adds, and
    nothing else. Where every row is clipped by itself (`each_row`), a person's rows add up to the clip.

    With `even` sampled batches are filled up to one of few sizes: libraries of GPUs choose their kernels anew for each size, which for
    convolutions takes longer than a step. The last row of a batch stands there again, with factor 0: it adds nothing, and fails
    where the batch fails without it.
    """

    def __init__(
        self,
        rows: TensorRows,
        plan: TrainingPlan,
        groups: list[Any] | None,
        source: Source | None,
        *,
        even: bool = False,
    ) -> None:
        self._rows, self._device, self._even = rows, rows._device, even
        self._most = plan.rows_each
        self._people = None if groups is None else RowsOfPeople(groups, self._most, source)
        self._alone = plan.person is None or plan.person.each_row or self._most == 1

    def __len__(self) -> int:
        return len(self._rows) if self._people is None else len(self._people)

    def pieces(self, batch: Ints | slice, most: int) -> Iterator[TensorBatch]:
        """The batch in pieces of at most so many units."""
        count = len(range(*batch.indices(len(self)))) if isinstance(batch, slice) else len(batch)
        for begin in range(0, count, most):
            end = min(begin + most, count)
            yield self._piece(slice(begin, end) if isinstance(batch, slice) else batch[begin:end], end - begin)

    def _piece(self, units: Ints | slice, count: int) -> TensorBatch:
        if self._people is None:
            return self._single(units, count)
        rows, firsts = self._people.of(units)
        if self._alone:
            return self._single(rows, len(rows))
        counts = np.diff(firsts, append=len(rows))
        unit = np.repeat(np.arange(count), counts)
        place = np.arange(len(rows)) - np.repeat(firsts, counts)
        owners = Owners(torch.from_numpy(unit).to(self._device), torch.from_numpy(place).to(self._device), self._most)
        return self._rows.at(rows, count, owners)

    def _single(self, rows: Ints | slice, count: int) -> TensorBatch:
        """A batch of rows that are units."""
        if not self._even or isinstance(rows, slice) or not count:
            return self._rows.at(rows, count)
        size = evened(count)
        batch = self._rows.at(np.concatenate([rows, np.full(size - count, rows[-1])]), size)
        return replace(batch, present=torch.arange(size, device=self._device) < count)


def evened(count: int) -> int:
    """The next larger of few sizes.

    >>> evened(4097), evened(4128), evened(31)
    (4224, 4224, 31)
    """
    step = max(1, (1 << count.bit_length() - 1) // SIZES)
    return -(-count // step) * step


def checked_groups(plan: TrainingPlan, rows: TensorRows, groups: Any) -> list[Any] | None:
    """Whose each row is; Invalid unless people are told apart where the plan needs it, and only there."""
    if groups is not None and plan.person is None:
        raise Invalid("groups are for a plan whose unit is a person", hint="TrainingPlan(person=Person(), …)")
    if groups is None and plan.person is not None:
        several = "uses several rows of each person" if plan.rows_each > 1 else "protects people"
        raise Invalid(
            f"the plan {several}: groups=… says whose each row is",
            hint="groups=[…], with one id a row; range(n) where nobody has two of the n rows",
        )
    return ids_of(groups, rows)


def ids_of(groups: Any, rows: TensorRows) -> list[Any] | None:
    """Who each row belongs to, as Python has it; Invalid where there are groups, and not one for each row."""
    if groups is None:
        return None
    found = groups.cpu().numpy() if isinstance(groups, Tensor) else groups
    ids = listed(found, "groups") if hasattr(found, "__len__") and not isinstance(found, Mapping) else None
    if ids is None or len(ids) != len(rows):
        raise Invalid("groups must say for each row whose it is", hint="groups=[…], with one id a row")
    return ids
