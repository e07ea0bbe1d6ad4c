"""`discreet train SOURCE --model logistic --target readmitted --epsilon 1`: a model whose weights keep secrets."""

import csv
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.flags import Flags, number, optional_number, with_flags
from discreet.cli.model_text import coefficient_data, show, tell
from discreet.cli.out import check_sources, writable
from discreet.cli.source import curator_of, is_policy, located, table_of
from discreet.cli.training_request import TrainingRequest, checkpoints
from discreet.errors import DiscreetError, Fault, Invalid

if TYPE_CHECKING:
    from discreet.learn.table_model import TableModel


OUT = "model.json"
"""Where a model goes that nobody names a file for; one that is there already is not written over."""


class ModelName(StrEnum):
    """What a model tells: one of the target's classes, or a number."""

    logistic = "logistic"
    linear = "linear"


@with_flags
def train(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    model: Annotated[
        ModelName, typer.Option(help="logistic: one of the target's declared keys; linear: a number with bounds.")
    ] = ModelName.logistic,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What the model is to tell.")] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,COLUMN", help="What it tells it by; without, all columns whose keys or bounds are known."
        ),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="What the model may cost; 1 is usual.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Its delta (1e-8, where the budget has it).")] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="TABLE", help="The table, where a policy has several.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="A,B", help="The target's classes, where its keys are not declared.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", min=1, help="Steps of gradient descent (60).")] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="Q", help="The chance of a person to be in the batch of a step (1).")
    ] = None,
    clip_norm: Annotated[
        str | None, typer.Option("--clip-norm", metavar="C", help="The longest gradient of a person (0.3).")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the model goes: a .json file (model.json).")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Where training goes on from (a file in the folder of the ledger)."),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only tell what would be trained and its price; nothing is read or spent.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there already.")] = False,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Names the model; a new key trains a new one, and pays again.")
    ] = None,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The analyst whose budget is charged too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a private model on a table: its weights tell no more of anybody than the price says. The same again is free.

    discreet train hospital.toml --model logistic --target readmitted --features age,ward --epsilon 1 --out model.json
    """
    given = _given(target, epsilon)
    if checkpoint is not None and model is ModelName.linear:
        raise Invalid(
            "--checkpoint is for logistic models: a linear one has no steps", code="usage", hint="leave it out"
        )
    file = None if out is None and preview else _target(OUT if out is None else out, force)
    terms = {
        "model": model.value,
        "target": given.target,
        "features": _listed(features, "--features"),
        "classes": _listed(classes, "--classes"),
        "epsilon": given.epsilon,
        "delta": optional_number(delta, "delta"),
        "people": flags.people,
        "steps": steps,
        "rate": optional_number(rate, "rate"),
        "clip": optional_number(clip_norm, "clip-norm"),
    }
    with curator_of(source, _declared(source, flags), as_json) as curator:
        if file is not None:
            check_sources(file, source, curator)
        asked = TrainingRequest.of(curator, table_of(curator, of), analyst, terms)
        if preview:
            show(asked.coming(), as_json)
            return
        assert file is not None
        run = analyst, asked.named(key), asked.fit.label
        keeper = checkpoints(run, checkpoint, (source, flags.ledger), file)
        before = curator.budgets(analyst).whole.spent
        trained = asked.trained(key, keeper, as_json)
        balance = curator.budgets(analyst).whole
    _saved(trained, file)
    summary = asked.coming() | {
        "made": trained.training.made,
        "out": str(file),
        "charged": balance.spent != before,
        "remaining": {"epsilon": float(balance.remaining.epsilon), "delta": float(balance.remaining.delta)},
        "coefficients": [coefficient_data(each) for each in trained.coefficients()],
    }
    if as_json:
        show(summary, as_json)
        return
    tell(summary, trained, str(balance.remaining))


@dataclass(frozen=True, slots=True)
class _Given:
    target: str
    epsilon: Fraction


def _given(target: str | None, epsilon: str | None) -> _Given:
    """What cannot be left out."""
    if target is None:
        raise Invalid("the target is missing", code="usage", hint="name the column to tell: --target readmitted")
    if epsilon is None:
        raise Invalid(
            "the price is missing", code="usage", hint="--epsilon 1 is usual; --preview shows what would be trained"
        )
    return _Given(target, _price(epsilon))


def _price(epsilon: str) -> Fraction:
    """A price that anything can be had for, as a charge would say later."""
    from discreet.plan.price import LEAST_EPSILON

    found = number(epsilon, "epsilon")
    if 0 < found < LEAST_EPSILON:
        raise Invalid(
            f"whatever is released costs ε = {float(LEAST_EPSILON):g} at least, got {epsilon}",
            code="price",
            hint="ask at a higher price",
        )
    return found


def _target(out: str, force: bool) -> Path:
    """The place of a model that can be written, and is not there yet unless it may be written over."""
    if Path(out).suffix.lower() != ".json":
        raise Invalid(f"{out!r} must end in .json", code="out", hint="write --out model.json")
    target = writable(out)
    if target.exists() and not force:
        raise Invalid(
            f"{out!r} is there already, and is not written over",
            code="out",
            hint="name another file with --out, or say --force",
        )
    return target


def _listed(text: str | None, option: str) -> list[str] | None:
    if text is None:
        return None
    try:  # as a line of CSV, so that a name may hold a comma
        found = [each.strip() for each in next(csv.reader([text], skipinitialspace=True, strict=True), [])]
    except csv.Error:
        raise Invalid(
            f"{option} has an open quote", code="usage", hint=f"write {option} 'one,\"one, with a comma\"'"
        ) from None
    if not found or not all(found):
        raise Invalid(f"{option} has a name that is empty", code="usage", hint=f"write {option} one,other")
    return found


def _declared(source: str | None, flags: Flags) -> Flags:
    """What is declared of a data file. Of a policy's data --people is about this model alone, and declares nothing."""
    found = flags.without_limits()
    return replace(found, people=None) if is_policy(located(source)) else found


def _saved(model: "TableModel", file: Path) -> None:
    """The model is charged by now, and kept."""
    try:
        model.save(file)
    except DiscreetError as error:
        raise Fault(
            str(error).partition(";")[0],
            code="out",
            hint="what was charged stays charged, and the model is kept: the same command again is free",
        ) from None
