"""Models and checkpoints on disk: tensors as safetensors or JSON, with the price beside them. A pickle is neither written nor read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.learn.checkpoint import Checkpoint, known, no_checkpoint, of_this_run, put, written
from discreet.learn.torch.training import TrainedModel
from discreet.whole_file import write_whole

FORMAT = "1"
MOST_IN_JSON = 1 << 20
"""Numbers of a model that is saved as text."""

Facts = dict[str, str]


class TensorCheckpoint:
    """The last checkpoint of a run: a file of safetensors, exchanged whole, or not at all. It is for large models."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def read(self, what: str) -> Checkpoint | None:
        """The checkpoint of this run; None where there is none. That of another run is a Fault."""
        data = written(self._path)
        if data is None:
            return None
        try:
            told = _metadata(self._path)
            known(int(told["format"]), self._path)
            state = load_arrays(data)
            found = Checkpoint(told["what"], int(told["blocks"]), int(told["made"]), state)
        except (ValueError, KeyError, TypeError, SafetensorError) as error:
            raise no_checkpoint(self._path) from error
        return of_this_run(found, what, self._path)

    def write(self, checkpoint: Checkpoint) -> None:
        """Durably: the file and its folder are synced before this returns."""
        told = {
            "format": FORMAT,
            "what": checkpoint.what,
            "blocks": str(checkpoint.blocks),
            "made": str(checkpoint.made),
        }
        state = {name: np.ascontiguousarray(part).reshape(part.shape) for name, part in checkpoint.state.items()}
        put(self._path, save_arrays(state, told))


def _metadata(path: Path) -> Facts:
    with safe_open(path, framework="np") as file:
        return dict(file.metadata() or {})


def save(trained: TrainedModel, path: Path | str) -> None:
    """Save the weights with the price that was paid for them: as safetensors, or as JSON where the name ends so."""
    if not isinstance(trained, TrainedModel):
        raise Invalid(f"what train() gave is saved, with its price, got {shown(trained)}", hint="save(train(…), path)")
    where, told = Path(path), _facts(trained)
    state = trained.model.state_dict()
    if where.suffix == ".safetensors":
        write_whole(
            where, save_tensors({name: each.detach().cpu().clone().contiguous() for name, each in state.items()}, told)
        )
    elif where.suffix == ".json":
        if sum(each.numel() for each in state.values()) > MOST_IN_JSON:
            raise Invalid("the model is too large for JSON", hint="name a file .safetensors")
        write_whole(
            where, json.dumps({**told, "tensors": {name: _written(each) for name, each in state.items()}}).encode()
        )
    else:
        raise Invalid("a model is saved as .safetensors or .json", hint="a pickle can run code when it is read")


def _facts(trained: TrainedModel) -> Facts:
    plan = trained.plan
    return {
        "format": FORMAT,
        "model": type(trained.model).__name__,
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "steps": str(plan.steps),
        "made": str(trained.made),
        "noise": trained.noise.value,
        "shape": plan.shape.value,
        "relation": str(plan.relation),
        "exact": str(trained.exact).lower(),
    }


def load(model: nn.Module, path: Path | str) -> Facts:
    """Put saved weights into a model of the same make, and tell what is known of them: the price, the steps, the noise.

    A file that is neither safetensors nor JSON, such as a pickle, is Invalid; nothing in a file is ever run.
    """
    if not isinstance(model, nn.Module):
        raise Invalid(f"model must be a torch.nn.Module, got {shown(model)}")
    where = Path(path)
    try:
        data = where.read_bytes()
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be read: {error.strerror}", code="no-file") from None
    # safetensors begin with a length of 8 bytes, any of which may be these, and then with text
    if data[8:9] != b"{" and (data[:2] == b"PK" or data[:1] == b"\x80"):
        raise Invalid(
            "this file is a pickle, which can run code when it is read", hint="save it with discreet.learn.torch.save"
        )
    try:
        if where.suffix == ".json":
            found = json.loads(data)
            state = {name: _read(part) for name, part in found.pop("tensors").items()}
        else:
            found, state = _metadata(where), load_tensors(data)
    except (ArithmeticError, AttributeError, KeyError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        raise Invalid("this is not a model in safetensors or JSON") from error
    if found.get("format") != FORMAT:
        raise Invalid("this is a model of a later release, or of another program")
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise Invalid("the weights in this file are those of another model") from error
    return {str(name): str(value) for name, value in found.items()}


def _written(tensor: Tensor) -> dict[str, Any]:
    kind = str(tensor.dtype).removeprefix("torch.")
    values = [x.hex() if isinstance(x, float) else int(x) for x in tensor.flatten().tolist()]
    return {"dtype": kind, "shape": list(tensor.shape), "values": values}


def _read(part: Mapping[str, Any]) -> Tensor:
    kind = getattr(torch, str(part["dtype"]))
    if not isinstance(kind, torch.dtype):
        raise ValueError("no type of numbers")
    values = [x if isinstance(x, int) else float.fromhex(x) for x in part["values"]]
    exact = (
        torch.tensor(values) if all(isinstance(x, int) for x in values) else torch.tensor(values, dtype=torch.float64)
    )
    return exact.to(kind).reshape(part["shape"])
