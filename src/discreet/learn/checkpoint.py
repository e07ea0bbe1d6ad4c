"""Weights on disk after each block of steps, so that whoever was killed goes on: only what was released is ever written."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.errors import Fault
from discreet.mechanisms.additive import Floats

VERSION = 1


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """After `blocks` blocks were taken and `made` steps made: the state of the optimiser, which is made of released sums alone."""

    what: str  # the run it belongs to
    blocks: int
    made: int
    state: tuple[Floats, ...]


class CheckpointFile:
    """The last checkpoint of a run: a file of JSON, exchanged whole, or not at all."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def read(self, what: str) -> Checkpoint | None:
        """The checkpoint of this run; None where there is none. That of another run is a Fault."""
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            data = json.loads(text)
            if data["format"] != VERSION:
                raise Fault(f"{self._path.name!r} has a format that is not known here", code="checkpoint")
            state = tuple(
                np.array([float.fromhex(x) for x in part["values"]]).reshape(part["shape"]) for part in data["state"]
            )
            found = Checkpoint(str(data["what"]), int(data["blocks"]), int(data["made"]), state)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Fault(
                f"{self._path.name!r} is not a checkpoint", code="checkpoint", hint="name another file"
            ) from error
        if found.what != what:
            raise Fault(
                f"{self._path.name!r} belongs to another training run", code="checkpoint", hint="name another file"
            )
        return found

    def write(self, checkpoint: Checkpoint) -> None:
        """Durably: the file and its folder are synced before this returns."""
        state = [
            {"shape": list(part.shape), "values": [float(x).hex() for x in part.flat]} for part in checkpoint.state
        ]
        data = {
            "format": VERSION,
            "what": checkpoint.what,
            "blocks": checkpoint.blocks,
            "made": checkpoint.made,
            "state": state,
        }
        beside = self._path.with_name(f".{self._path.name}.new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class MemoryCheckpoint:
    """A checkpoint in memory, for runs that nobody goes on with in another process."""

    def __init__(self) -> None:
        self._last: Checkpoint | None = None

    def read(self, what: str) -> Checkpoint | None:
        return None if self._last is None or self._last.what != what else self._last

    def write(self, checkpoint: Checkpoint) -> None:
        self._last = checkpoint
