"""Weights on disk after each block of steps, so that whoever was killed goes on: only what was released is ever written."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Fault, Invalid
from discreet.whole_file import write_whole

VERSION = 1

State: TypeAlias = dict[str, NDArray[Any]]
"""Numbers by name: made of released sums alone."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After `blocks` blocks were taken and `made` steps made: the state of the optimiser, which is made of released sums alone."""

    what: str  # the run it belongs to
    blocks: int
    made: int
    state: State


class CheckpointFile:
    """The last checkpoint of a run: a file of JSON, exchanged whole, or not at all."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def read(self, what: str) -> Checkpoint | None:
        """The checkpoint of this run; None where there is none. That of another run is a Fault."""
        text = written(self._path)
        if text is None:
            return None
        try:
            data = json.loads(text)
            known(data["format"], self._path)
            state = {name: _numbers(part["values"]).reshape(part["shape"]) for name, part in data["state"].items()}
            found = Checkpoint(str(data["what"]), int(data["blocks"]), int(data["made"]), state)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise no_checkpoint(self._path) from error
        return of_this_run(found, what, self._path)

    def write(self, checkpoint: Checkpoint) -> None:
        """Durably: the file and its folder are synced before this returns."""
        state = {
            name: {"shape": list(part.shape), "values": [float(x).hex() for x in part.flat]}
            for name, part in checkpoint.state.items()
        }
        data = {
            "format": VERSION,
            "what": checkpoint.what,
            "blocks": checkpoint.blocks,
            "made": checkpoint.made,
            "state": state,
        }
        put(self._path, json.dumps(data).encode())


def _numbers(values: list[str]) -> NDArray[Any]:
    return np.array([float.fromhex(x) for x in values])


def written(path: Path) -> bytes | None:
    """What is in a checkpoint; None where there is none yet. Invalid where none can be, before anything is charged."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(
            f"{str(path)!r} cannot be a checkpoint: {error.strerror}", code="checkpoint", hint="name another file"
        ) from None


def put(path: Path, data: bytes) -> None:
    """Write a checkpoint whole, durably, into a folder that only its owner may enter where it is not there yet."""
    with suppress(OSError):  # what cannot be made is told by the writing
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, data)


def known(version: object, path: Path) -> None:
    """A Fault unless the format is known here."""
    if version != VERSION:
        raise Fault(f"{path.name!r} has a format that is not known here", code="checkpoint")


def no_checkpoint(path: Path) -> Fault:
    return Fault(f"{path.name!r} is not a checkpoint", code="checkpoint", hint="name another file")


def of_this_run(found: Checkpoint, what: str, path: Path) -> Checkpoint:
    """The checkpoint, where it belongs to this run; that of another one is a Fault."""
    if found.what != what:
        raise Fault(f"{path.name!r} belongs to another training run", code="checkpoint", hint="name another file")
    return found


class MemoryCheckpoint:
    """A checkpoint in memory, for runs that nobody goes on with in another process."""

    def __init__(self) -> None:
        self._last: Checkpoint | None = None

    def read(self, what: str) -> Checkpoint | None:
        return None if self._last is None or self._last.what != what else self._last

    def write(self, checkpoint: Checkpoint) -> None:
        self._last = checkpoint
