"""What a model must not do, found out before anything is spent: on made-up rows, never on the data.

A model that mixes the examples of a batch has no gradient of one example, and clipping bounds nothing. So layers that are known to mix
are refused by name, and every model is tried on random rows: a row's loss must not change with the other rows. The same rows tell whether
the norms of known layers are right for this model; where they are not, gradients are taken example by example.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

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
"""The relative difference that norms of made-up rows may have; more where numbers themselves are coarser."""

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
        if isinstance(each, nn.Embedding | nn.EmbeddingBag) and each.sparse:
            raise _mixes(name, each, "its gradient is sparse, and noise is on every number of it")


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
        before = _stored(model)
        batch = _made_up(model, loss, rows, device)
        _check_stored(model, before)
        _check_rows(model, loss, batch)
        _check_kept(model, batch)
        if exact:
            return AloneSums(model, loss, parameters)
        with evaluating(model) if _by_chance(model, batch) else nullcontext():
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


def refuse_mixing_rows(model: nn.Module, rows: TensorRows) -> None:
    """Invalid where what the model gives for made-up rows changes with the other rows, or where it keeps something of them."""
    device = next((each.device for each in model.parameters()), torch.device("cpu"))

    def given(outputs: Any, targets: Tensor) -> Tensor:
        found = outputs if isinstance(outputs, Tensor) and len(outputs) == ROWS else torch.zeros(ROWS)
        return found.detach().reshape(ROWS, -1).to(torch.float64)

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        before = _stored(model)
        batch = _made_up(model, given, rows, device)
        _check_stored(model, before)
        _check_rows(model, given, batch, "what the model gives for one example changes with the others of its batch")
        _check_kept(model, batch)


def _stored(model: nn.Module) -> dict[str, Tensor]:
    """A copy of all that PyTorch knows of: weights and buffers."""
    return {name: each.detach().clone() for name, each in (*model.named_parameters(), *model.named_buffers())}


def _check_stored(model: nn.Module, before: dict[str, Tensor]) -> None:
    """Invalid where made-up rows have changed weights or buffers, as the first rows do in some layers; they are put back."""
    after = _stored(model)
    if _same(before, after):
        return
    with torch.no_grad():
        for name, own in (*model.named_parameters(), *model.named_buffers()):
            if name in before and own.shape == before[name].shape:
                own.copy_(before[name])
    raise _keeps(before, after)


def _check_kept(model: nn.Module, batch: TensorBatch) -> None:
    """Invalid where tensors that layers keep change with the rows: beside their weights, whether PyTorch knows of them or not."""
    told = []
    with torch.no_grad():
        for taken in (batch.inputs, [_other(each) for each in batch.inputs]):
            torch.manual_seed(1)
            model(*taken)
            told.append(_kept(model))
    if not _same(*told):
        raise _keeps(*told)


def _keeps(one: dict[str, Tensor], other: dict[str, Tensor]) -> Invalid:
    """What to say of the first tensor that differs."""
    name = next(name for name in {**other, **one} if not _same(_only(one, name), _only(other, name)))
    return Invalid(
        f"the model keeps something of the examples in {name!r}, without noise",
        code="mixes",
        hint="let layers keep nothing of what they take or give",
    )


def _only(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {name: tensors[name]} if name in tensors else {}


def _kept(model: nn.Module) -> dict[str, Tensor]:
    """Tensors that layers keep beside their weights, by where they are."""
    found = {name: each.detach().clone() for name, each in model.named_buffers()}
    for name, layer in model.named_modules():
        for key, value in vars(layer).items():
            if key not in ("_parameters", "_buffers", "_modules"):
                found.update((at, each.detach().clone()) for at, each in _tensors(f"{name}.{key}".strip("."), value))
    return found


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors of nested dicts and lists."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _tensors(f"{name}.{key}", each)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            yield from _tensors(f"{name}.{at}", each)


def _same(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    """Whether both hold the same numbers under the same names; what is no number is one more number."""
    return one.keys() == other.keys() and all(_equal(each, other[name]) for name, each in one.items())


def _equal(one: Tensor, other: Tensor) -> bool:
    if (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device):
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _by_chance(model: nn.Module, batch: TensorBatch) -> bool:
    """Whether the model, as it is, does anything by chance."""
    generators = [torch.default_generator]
    if batch.targets.device.type == "cuda":
        generators.append(torch.cuda.default_generators[batch.targets.device.index or 0])
    before = [each.get_state() for each in generators]
    with torch.no_grad():
        model(*batch.inputs)
    return not all(torch.equal(old, each.get_state()) for old, each in zip(before, generators, strict=True))


LOSS_CHANGES = "the loss of one example changes with the other examples of its batch"


def _check_rows(model: nn.Module, loss: Loss, batch: TensorBatch, words: str = LOSS_CHANGES) -> None:
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
                    words,
                    code="mixes",
                    hint="leave out what mixes examples, such as batch normalisation (nn.GroupNorm does not)",
                )


def _with_others(values: Tensor, row: int) -> Tensor:
    """One row as it is, and other ones beside it."""
    others = _other(values)
    others[row] = values[row]
    return others


def _other(values: Tensor) -> Tensor:
    return values / 2 if values.dtype.is_floating_point else torch.zeros_like(values)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """While the block lasts the model is in evaluation mode: nothing is dropped by chance."""
    modes = [(each, each.training) for each in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode


def _right(model: nn.Module, loss: Loss, batch: TensorBatch, parameters: Sequence[nn.Parameter]) -> Sums:
    """The first way whose norms and sums are those of one row after the other."""
    try:
        norms, total = _one_by_one(model, loss, batch, parameters)
    except Exception as error:  # whatever a model may raise, on rows that are made up
        raise Invalid(
            "the gradient of one example by itself cannot be taken, or cannot without dropping anything",
            hint="try loss(model(*inputs), targets).sum().backward() on one made-up row, in evaluation mode where chance is used",
        ) from error
    near = max(NEAR, 4 * max(torch.finfo(each.dtype).eps for each in parameters))
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
        if _near(found, norms, near) and all(_near(one, other, near) for one, other in zip(whole, total, strict=True)):
            return sums
    raise Invalid(
        "gradients of single examples cannot be taken of this model all at once",
        hint="exact=True takes them one by one, and is slow",
    ) from failed


def _near(one: Tensor, other: Tensor, near: float) -> bool:
    return bool(torch.allclose(one.float(), other.float(), rtol=near, atol=near * _largest(other) + 1e-9))


def _largest(values: Tensor) -> float:
    return float(values.abs().max()) if values.numel() else 0.0


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
