"""A model that `discreet train` is asked for: what it is called, where training goes on from, and how it is told how far it is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.out import writable
from discreet.cli.source import place_at
from discreet.cli.steady import below
from discreet.cli.waiting import waiting
from discreet.errors import Refused

if TYPE_CHECKING:
    from discreet.curator.session import Curator
    from discreet.learn.checkpoint import Checkpoint, CheckpointFile
    from discreet.learn.table_fit import TableFit
    from discreet.learn.table_model import TableModel


class Checkpoints:
    """A checkpoint in a folder that is made with the first one; only the owner may enter it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _file(self) -> "CheckpointFile":
        from discreet.learn.checkpoint import CheckpointFile

        return CheckpointFile(self.path)

    def read(self, what: str) -> "Checkpoint | None":
        return self._file().read(what)

    def write(self, checkpoint: "Checkpoint") -> None:
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self._file().write(checkpoint)


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """A model that is asked for: of which table, on what, and at which price. All of it is public."""

    fit: "TableFit"
    version: str

    @classmethod
    def of(cls, curator: "Curator", name: str, analyst: str | None, terms: dict[str, Any]) -> "TrainingRequest":
        """What is asked for, or why it cannot be had; nothing is read or spent."""
        from discreet.curator.planning import DEFAULT_DELTA
        from discreet.learn.table_fit import TableFit

        usual = min(DEFAULT_DELTA, curator.budgets(analyst).whole.cap.delta)
        small = usual if terms["delta"] is None else terms["delta"]
        return cls(TableFit.of(curator.table(name, analyst), **(terms | {"delta": small})), curator.policy.version)

    @property
    def key(self) -> str:
        """What is asked for as a name: whoever asks for the same again goes on, or has the same model, at no new charge."""
        parts = (self.fit.name, self.version, self.fit.label)
        return f"train-{sha256(repr(parts).encode()).hexdigest()[:32]}"

    def named(self, key: str | None) -> str:
        """The key of the model: the one that was given, or its own."""
        return key or self.key

    def trained(self, key: str | None, keeper: Checkpoints, as_json: bool) -> "TableModel":
        """The model, charged unless it was before."""
        try:
            with _progress(self.fit, as_json) as progress:
                return self.fit.run(key=self.named(key), keeper=keeper, progress=progress)
        except Refused as error:
            if error.code != "key-settled":
                raise
            raise Refused(
                "this model was trained before, and its checkpoint is not there any more",
                code="key-settled",
                hint="--key another trains it anew, and pays again; --checkpoint names a checkpoint that lies elsewhere",
            ) from None

    def coming(self) -> dict[str, Any]:
        """What would be trained, and at which price."""
        from discreet.learn.encoding import key_data

        rows, plan, linear = self.fit.rows, self.fit.plan, self.fit.kind.value == "linear"
        values = getattr(rows.target, "values", None)
        found: dict[str, Any] = {
            "table": self.fit.name,
            "model": self.fit.kind.value,
            "target": rows.target.name,
            "classes": None if values is None else [key_data(each) for each in values],
            "columns": [each.name for each in rows.encoding.columns],
            "features": list(rows.encoding.labels),
            "epsilon": float(plan.epsilon),
            "delta": float(plan.delta),
            "relation": str(rows.table.relation),
        }
        if linear:
            return found
        return found | {
            "people": plan.people,
            "steps": plan.steps,
            "rate": float(plan.rate),
            "clip": float(plan.clip),
            "noise": plan.multiplier,
        }


def checkpoints(
    run: tuple[str | None, str, str], named: str | None, source: tuple[str | None, str | None], out: Path
) -> Checkpoints:
    """Where training goes on from: the file that was named, or one for each run, by its analyst, key and label. It lies with the ledger,
    or where that lies in no folder beside the model."""
    if named is not None:
        return Checkpoints(writable(named).absolute())
    name = sha256(repr(run).encode()).hexdigest()[:32]
    folder = place_at(*source)[1].folder
    return Checkpoints(out.absolute().parent / f".{name}.training" if folder is None else folder / "training" / name)


@contextmanager
def _progress(fit: "TableFit", as_json: bool) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal, with the ε that a run stopped there would have cost; the whole is charged before the first step."""
    if as_json or not sys.stderr.isatty() or fit.kind.value == "linear":
        with waiting("training", as_json):
            yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    plan = fit.plan
    columns = (
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} steps"),
        TextColumn("ε so far {task.fields[spent]} (ε = {task.fields[whole]} is charged)"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=below(sys.stderr)), transient=True) as bar:
        task = bar.add_task("training", total=plan.steps, spent="0", whole=f"{float(plan.epsilon):g}")

        def told(step: int) -> None:
            bar.update(task, completed=step)
            if step % plan.block == 0 or step == plan.steps:
                bar.update(task, spent=f"{fit.epsilon_after(step):.3g}")

        yield told
