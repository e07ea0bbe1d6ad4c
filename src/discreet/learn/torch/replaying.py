"""Clipped sums on a GPU whose kernels are recorded once for each size of a batch, and then replayed (CUDA graphs).

A small model's step takes a GPU less time than Python takes to ask for it. What is replayed is the whole way from the rows to their
clipped sum: the same kernels, on other rows, other weights and other chance. Noise and batches are never recorded.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from discreet.errors import Invalid
from discreet.learn.torch.batches import TensorBatch
from discreet.learn.torch.each import EachSums
from discreet.learn.torch.ghost import GhostSums

Body = Callable[[], list[Tensor]]
Record = Callable[[Body], tuple[Callable[[], Any], list[Tensor]]]
"""Takes a body, and gives what runs it again, and where its results then are."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded way from the rows of `batch`, which lie at one place in memory, to `sums`, which do too."""

    batch: TensorBatch
    replay: Callable[[], Any]
    sums: list[Tensor]

    def of(self, batch: TensorBatch) -> list[Tensor]:
        """The sums of other rows: all that the recorded ones were is overwritten."""
        for own, other in zip(_tensors(self.batch), _tensors(batch), strict=True):
            own.copy_(other, non_blocking=True)
        self.replay()
        return [each.clone() for each in self.sums]


class ReplayedSums:
    """Clipped sums of batches with one of few sizes. A size that is seen for the first time is not recorded, but computed.

    Python code of the model and of the loss runs when a size is recorded, and not when it is replayed: whatever it decides stays decided.
    Where a tensor of the model was replaced, or `training` of a layer was set, everything is recorded anew.
    """

    def __init__(self, model: nn.Module, sums: GhostSums | EachSums, record: Record | None = None) -> None:
        self._model, self._sums = model, sums
        self._record = CudaGraphs() if record is None else record
        self._seen: set[tuple[int, float]] = set()
        self._recordings: dict[tuple[int, float], Recording] = {}
        self._stamp: tuple[Any, ...] = ()

    @property
    def one_by_one(self) -> bool:
        """Whether the gradient of every row is made."""
        return isinstance(self._sums, EachSums)

    def clipped(self, batch: TensorBatch, bound: float) -> list[Tensor]:
        """For any batch of rows that are units, the sum that `sums` give."""
        stamp = _stamp(self._model)
        if stamp != self._stamp:
            self._stamp, self._seen, self._recordings = stamp, set(), {}
        size = batch.rows, bound
        if size not in self._seen:
            self._seen.add(size)
            return self._sums.clipped(batch, bound)
        if size not in self._recordings:
            self._recordings[size] = self.recorded(batch, bound)
        return self._recordings[size].of(_marked(batch))

    def recorded(self, batch: TensorBatch, bound: float) -> Recording:
        """A recording of batches of this size."""
        own = _marked(batch)
        assert own.present is not None and own.owners is None
        own = replace(
            own,
            inputs=tuple(each.clone() for each in own.inputs),
            targets=own.targets.clone(),
            present=own.present.clone(),
        )
        return Recording(own, *self._record(lambda: self._sums.clipped(own, bound)))

    def try_out(self, batch: TensorBatch) -> None:
        """Invalid where these rows, which are made up, cannot be replayed."""
        try:
            self.clipped(batch, 1.0)
            self.clipped(batch, 1.0)
        except RuntimeError as error:
            raise Invalid(
                "the steps of this model cannot be recorded: it or its loss waits for the GPU, or takes rows of the CPU",
                hint="leave replay out",
            ) from error


class CudaGraphs:
    """Recordings on the GPU. They share memory for what they compute on their way, since one runs after the other."""

    def __init__(self) -> None:
        self._pool: Any = None

    def __call__(self, body: Body) -> tuple[Callable[[], Any], list[Tensor]]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            sums = body()
        self._pool = graph.pool()
        return graph.replay, sums


def _marked(batch: TensorBatch) -> TensorBatch:
    """The batch, with a mark for each row that is somebody's."""
    if batch.present is not None:
        return batch
    return replace(batch, present=torch.ones(batch.rows, dtype=torch.bool, device=batch.targets.device))


def _tensors(batch: TensorBatch) -> list[Tensor]:
    assert batch.present is not None
    return [*batch.inputs, batch.targets, batch.present]


def _stamp(model: nn.Module) -> tuple[Any, ...]:
    """What tells whether recordings are still those of this model."""
    tensors = tuple(each.data_ptr() for own in (model.parameters(), model.buffers()) for each in own)
    return tensors, tuple(each.training for each in model.modules())
