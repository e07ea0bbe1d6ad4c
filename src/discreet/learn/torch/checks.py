"""What a model must not do, found out before anything is spent: on made-up rows, never on the data.

A model that mixes the examples of a batch has no gradient of one example, and clipping bounds nothing. So layers that are known to mix
are refused by name, and every model is tried on random rows: a row's loss must not change with the other rows. The same rows tell whether
the norms of known layers are right for this model; where they are not, gradients are taken example by example.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.learn.torch.batches import TensorBatch, TensorRows
from discreet.learn.torch.each import AloneSums, EachSums
from discreet.learn.torch.ghost import GhostSums, Loss, losses
from discreet.learn.torch.replaying import ReplayedSums
from discreet.learn.torch.uses import Unsuited, joined_lengths, length

ROWS = 3
NEAR = 1e-3
"""The relative difference that norms of made-up rows may have."""

Sums = GhostSums | EachSums


def trained_parameters(model: nn.Module) -> list[nn.Parameter]:
    """Each parameter that is trained, once."""
    if not isinstance(model, nn.Module):
        raise Invalid(f"model must be a torch.nn.Module, got {shown(model)}")
    found = [each for each in model.parameters() if each.requires_grad]
    if any(isinstance(each, nn.parameter.UninitializedParameter) for each in found):
        raise Invalid("the model has layers whose shape is not known yet", hint="call it once on made-up rows")
    if not found:
        raise Invalid("the model has no parameter that is trained", hint="set requires_grad of some")
    if len({each.device for each in found}) > 1:
        raise Invalid("the model's parameters must be on one device")
    if not all(each.dtype.is_floating_point for each in found):
        raise Invalid("parameters that are trained must be real numbers")
    return found


def refuse_mixing_layers(model: nn.Module) -> None:
    """Invalid for layers that look at other examples, or keep something of the examples that they saw."""
    for name, each in model.named_modules():
        if isinstance(each, _BatchNorm):
            raise _mixes(name, each, "it normalises by the other examples of the batch")
        if isinstance(each, _InstanceNorm) and each.track_running_stats:
            raise _mixes(name, each, "it keeps running averages of examples, without noise")
        if isinstance(each, nn.Embedding | nn.EmbeddingBag) and each.max_norm is not None:
            raise _mixes(name, each, "max_norm changes weights by what is looked up, without noise")
        if isinstance(each, nn.Embedding | nn.EmbeddingBag) and each.scale_grad_by_freq:
            raise _mixes(name, each, "scale_grad_by_freq looks at the other examples of the batch")


def _mixes(name: str, layer: nn.Module, why: str) -> Invalid:
    hint = "use nn.GroupNorm" if isinstance(layer, _BatchNorm | _InstanceNorm) else "leave that option out"
    return Invalid(
        f"layer {name!r} ({type(layer).__name__}) cannot be trained privately: {why}", code="mixes", hint=hint
    )


def sums_for(
    model: nn.Module,
    loss: Loss,
    rows: TensorRows,
    parameters: Sequence[nn.Parameter],
    exact: bool = False,
    replay: bool = False,
) -> Sums | ReplayedSums | AloneSums:
    """How clipped sums of this model are made; Invalid where its examples cannot be told apart, or something is kept of them."""
    refuse_mixing_layers(model)
    device = parameters[0].device
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        before = [each.clone() for each in model.buffers()]
        batch = _made_up(model, loss, rows, device)
        _check_buffers(model, before)
        _check_rows(model, loss, batch)
        if exact:
            return AloneSums(model, loss, parameters)
        with _steady(model):
            found = _right(model, loss, batch, parameters)
    if not replay:
        return found
    replayed = ReplayedSums(model, found)
    replayed.try_out(batch)
    return replayed


def _made_up(model: nn.Module, loss: Loss, rows: TensorRows, device: torch.device) -> TensorBatch:
    """Random rows of the right shape; whole numbers are 0 and 1, or where a model does not take them 0."""
    for most in (2, 1):
        generator = torch.Generator().manual_seed(1)
        made = [_random(shape, kind, most, generator).to(device) for shape, kind in rows.kinds]
        batch = TensorBatch(tuple(made[:-1]), made[-1], ROWS)
        try:
            with torch.no_grad():
                loss(model(*batch.inputs), batch.targets)
        except Exception as error:  # whatever a model may raise, on rows that are made up
            if most == 1:
                raise Invalid(
                    "the model or its loss cannot take rows of the shape and type that the data have",
                    hint="try loss(model(*inputs), targets) on some made-up rows",
                ) from error
        else:
            break
    return batch


def _random(shape: tuple[int, ...], kind: torch.dtype, most: int, generator: torch.Generator) -> Tensor:
    if kind.is_floating_point:
        return torch.rand((ROWS, *shape), generator=generator).to(kind)
    return torch.randint(0, most, (ROWS, *shape), generator=generator).to(kind)


def _check_buffers(model: nn.Module, before: list[Tensor]) -> None:
    """Invalid where made-up rows have changed what the model keeps; it is put back."""
    changed = False
    with torch.no_grad():
        for old, new in zip(before, model.buffers(), strict=True):
            if not torch.equal(old, new):
                new.copy_(old)
                changed = True
    if changed:
        raise Invalid("the model keeps something of the examples in its buffers, without noise", code="mixes")


def _check_rows(model: nn.Module, loss: Loss, batch: TensorBatch) -> None:
    """Invalid unless there is one loss a row, which does not change with other rows."""
    with torch.no_grad():
        torch.manual_seed(1)
        found = loss(model(*batch.inputs), batch.targets)
        if not isinstance(found, Tensor) or found.dim() == 0 or len(found) != ROWS:
            raise Invalid("the loss must give one number for each example", hint="loss functions take reduction='none'")
        for row in range(ROWS):
            torch.manual_seed(1)
            again = loss(model(*(_with_others(each, row) for each in batch.inputs)), _with_others(batch.targets, row))
            if not torch.allclose(found[row], again[row], rtol=NEAR, atol=1e-6, equal_nan=True):
                raise Invalid(
                    "the loss of one example changes with the other examples of its batch",
                    code="mixes",
                    hint="leave out what mixes examples, such as batch normalisation (nn.GroupNorm does not)",
                )


def _with_others(values: Tensor, row: int) -> Tensor:
    """One row as it is, and other ones beside it."""
    others = values / 2 if values.dtype.is_floating_point else torch.zeros_like(values)
    others[row] = values[row]
    return others


@contextmanager
def _steady(model: nn.Module) -> Iterator[None]:
    """While the block lasts nothing is dropped by chance."""
    modes = [(each, each.training) for each in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode


def _right(model: nn.Module, loss: Loss, batch: TensorBatch, parameters: Sequence[nn.Parameter]) -> Sums:
    """The first way whose norms and sums are those of one row after the other."""
    norms, total = _one_by_one(model, loss, batch, parameters)
    ways: list[Callable[..., Sums]] = [EachSums]
    if GhostSums.covers(model, parameters):
        ways = [GhostSums, partial(GhostSums, copying=True), EachSums]
    failed: Exception | None = None
    for way in ways:
        sums = way(model, loss, parameters)
        try:
            found, whole = sums.norms(batch), sums.clipped(batch, float("inf"))
        except (Unsuited, RuntimeError, NotImplementedError, TypeError, ValueError) as error:
            failed = error
            continue
        if _near(found, norms) and all(_near(one, other) for one, other in zip(whole, total, strict=True)):
            return sums
    raise Invalid(
        "gradients of single examples cannot be taken of this model all at once",
        hint="exact=True takes them one by one, and is slow",
    ) from failed


def _near(one: Tensor, other: Tensor) -> bool:
    return bool(torch.allclose(one.float(), other.float(), rtol=NEAR, atol=NEAR * float(other.abs().max()) + 1e-9))


def _one_by_one(
    model: nn.Module, loss: Loss, batch: TensorBatch, parameters: Sequence[nn.Parameter]
) -> tuple[Tensor, list[Tensor]]:
    norms, total = [], [torch.zeros_like(each) for each in parameters]
    for row in range(ROWS):
        with torch.enable_grad():
            one = losses(model, loss, [each[row : row + 1] for each in batch.inputs], batch.targets[row : row + 1])
            found = torch.autograd.grad(one.sum(), parameters, allow_unused=True)
        parts = [torch.zeros_like(own) if part is None else part for own, part in zip(parameters, found, strict=True)]
        norms.append(joined_lengths([length(part.flatten(), 0) for part in parts]))
        total = [old + part for old, part in zip(total, parts, strict=True)]
    return torch.stack(norms), total
