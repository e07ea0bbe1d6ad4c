"""`discreet synth SOURCE --attribute age=10 --epsilon 1 --out synthetic.csv`: rows of nobody, drawn from a private model."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.flags import Flags, number, optional_number, with_flags
from discreet.cli.out import check_sources, writable
from discreet.cli.source import curator_of, table_of
from discreet.cli.waiting import waiting
from discreet.errors import DiscreetError, Fault, Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.session import Curator
    from discreet.weights import Learned, QualityReport, SyntheticData
    from discreet.weights.domain import Domain, Mask, UnitTable
    from discreet.weights.release import Algorithm

DELTA = Fraction(1, 10**9)
"""Where none is said, and the budget has as much."""

ENDINGS = (".csv", ".parquet", ".pq")
MOST_ROWS = 100_000_000
"""Rows of one drawing, as the library has it, which is not loaded for this; said before anything is spent."""


@with_flags
def synth(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[=CELLS]",
            help="A column of the data: as it is declared, in so many bins (age=10), between edges (age=0,18,65,120), or by"
            " categories (ward=A,B). Repeatable; without any, all whose keys or bounds are known.",
        ),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="What the model may cost; 1 is usual.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Its delta (1e-9, where the budget has it).")] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="TABLE", help="The table, where a policy has several.")
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=MOST_ROWS, help="How many rows (as many as the model stands for)."),
    ] = None,
    impossible: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Nobody is like this: \"age < 15 AND married = 'yes'\". Repeatable."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the rows go: a .csv or a .parquet file.")
    ] = None,
    page: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="A page on the quality of the model (HTML).")
    ] = None,
    check: Annotated[
        str | None, typer.Option(metavar="E", help="Pay this, too, to have the errors of the model measured.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only tell what would be learned and its price; nothing is read or spent.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there already.")] = False,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Names the model; a new key learns a new one, and pays again.")
    ] = None,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The analyst whose budget is charged too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Learn a private model of a table, and draw rows from it: synthetic data, with the columns' own types. The same again is free.

    discreet synth hospital.toml --attribute age=10 --attribute ward --attribute sex --epsilon 1 --out synthetic.csv
    """
    if epsilon is None:
        raise Invalid(
            "the price is missing", code="usage", hint="--epsilon 1 is usual; --preview shows what would be learned"
        )
    if out is None and not preview:
        raise Invalid("where the rows go is missing", code="usage", hint="write --out synthetic.csv")
    target = None if out is None else _target(out, force)
    pages = None if page is None else _page(page, force)
    price, paid = number(epsilon, "epsilon"), optional_number(check, "check")
    small = optional_number(delta, "delta")
    with waiting("learning", as_json) as tell, curator_of(source, flags.without_limits(), as_json) as curator:
        for file in (target, pages):
            if file is not None:
                check_sources(file, source, curator)
        asked = ModelRequest.of(
            curator, table_of(curator, of), attribute, analyst, price, small, tuple(impossible or ())
        )
        if preview:
            _show(asked.coming(), as_json)
            return
        before = curator.budgets(analyst).whole.spent
        learned = asked.learned(key, tell)
        report = asked.report(learned, paid, key)
        balance = curator.budgets(analyst).whole
    assert target is not None
    drawn = _written(learned, rows, target)
    if pages is not None:
        _saved(pages, report)
    summary = asked.coming() | {
        "rows": len(drawn),
        "out": str(target),
        "report": None if pages is None else str(pages),
        "charged": balance.spent != before,
        "remaining": {"epsilon": float(balance.remaining.epsilon), "delta": float(balance.remaining.delta)},
        "quality": report.as_data(),
    }
    if as_json:
        _show(summary, as_json)
        return
    _tell(summary, report, str(balance.remaining))


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model that is asked for: a table, the cells of its attributes, what is impossible, and the price. All of it is public."""

    table: "UnitTable"
    name: str
    version: str
    domain: "Domain"
    impossible: "tuple[tuple[str, Mask], ...]"
    epsilon: Fraction
    delta: Fraction
    algorithm: "Algorithm"

    @classmethod
    def of(
        cls,
        curator: "Curator",
        name: str,
        names: list[str] | None,
        analyst: str | None,
        epsilon: Fraction,
        delta: Fraction | None,
        impossible: tuple[str, ...],
    ) -> "ModelRequest":
        """What is asked for, or why it cannot be had; nothing is read or spent."""
        from discreet.weights.domain import Domain
        from discreet.weights.release import algorithm_for

        table = curator.table(name, analyst)
        domain = Domain(table.attributes(names or None))
        masks = tuple((condition, table.cells(condition, domain.attributes)) for condition in impossible)
        small = min(DELTA, curator.budgets(analyst).whole.cap.delta) if delta is None else delta
        algorithm = algorithm_for(domain, small > 0)
        return cls(table, name, curator.policy.version, domain, masks, epsilon, small, algorithm)

    @property
    def key(self) -> str:
        """What is asked for as a name: whoever asks for the same again goes on, or has the same model, at no new charge."""
        conditions = [condition for condition, _ in self.impossible]
        parts = (self.name, self.version, self.domain.attributes, self.epsilon, self.delta, conditions)
        return f"synth-{sha256(repr(parts).encode()).hexdigest()[:32]}"

    def learned(self, key: str | None, progress: Callable[[str], None]) -> "Learned":
        """The model, charged unless it was before."""
        from discreet.weights import learn

        return learn(
            self.table,
            self.domain.attributes,
            epsilon=self.epsilon,
            delta=self.delta,
            impossible=[mask for _, mask in self.impossible],
            key=key or self.key,
            progress=progress,
        )

    def report(self, learned: "Learned", paid: Fraction | None, key: str | None) -> "QualityReport":
        """What is known of the model's errors; where that is paid for they are measured."""
        from discreet.weights import quality, report

        if paid is None:
            return report(learned)
        return quality(self.table, learned, epsilon=paid, delta=self.delta, key=f"{key or self.key}-quality")

    def coming(self) -> dict[str, Any]:
        """What would be learned, and at which price."""
        return {
            "table": self.name,
            "attributes": [{"name": each.name, "cells": each.size} for each in self.domain.attributes],
            "cells": self.domain.size,
            "impossible": [condition for condition, _ in self.impossible],
            "learned_by": self.algorithm.value,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "relation": str(self.table.relation),
        }


def _target(out: str, force: bool) -> Path:
    if Path(out).suffix.lower() not in ENDINGS:
        raise Invalid(f"{out!r} must end in {' or '.join(ENDINGS[:2])}", code="out", hint="write --out synthetic.csv")
    return _new(out, force)


def _new(out: str, force: bool) -> Path:
    """A file that can be written, and is not there yet unless it may be written over."""
    target = writable(out)
    if target.exists() and not force:
        raise Invalid(
            f"{out!r} is there already, and is not written over", code="out", hint="name another file, or say --force"
        )
    return target


def _page(out: str, force: bool) -> Path:
    if Path(out).suffix.lower() not in (".html", ".htm"):
        raise Invalid(f"the report {out!r} must end in .html", code="out", hint="write --report quality.html")
    return _new(out, force)


def _written(learned: "Learned", rows: int | None, target: Path) -> "SyntheticData":
    """The rows, once they are written. The model is charged by now, and kept."""
    from discreet.weights import synthetic

    drawn = synthetic(learned.model, rows)
    try:
        drawn.to_csv(target) if target.suffix.lower() == ".csv" else drawn.to_parquet(target)
    except DiscreetError as error:
        raise _unwritten(str(error)) from None
    return drawn


def _saved(page: Path, report: "QualityReport") -> None:
    from discreet.whole_file import whole_file

    try:
        with whole_file(page) as file:
            file.write(report.to_html().encode())
    except DiscreetError as error:
        raise _unwritten(str(error)) from None


def _unwritten(message: str) -> Fault:
    return Fault(
        message.partition(";")[0],
        code="out",
        hint="what was charged stays charged, and the model is kept: the same command again is free",
    )


def _show(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary, ensure_ascii=False, indent=2))
        return
    for line in _lines(summary):
        print(visible(line))
    print("Nothing was read or spent.")


def _lines(summary: dict[str, Any]) -> list[str]:
    """What is learned, and its price."""
    from discreet.answer.digits import price

    cells = ", ".join(f"{each['name']} ({each['cells']})" for each in summary["attributes"])
    lines = [f"{summary['table']} by {cells}: {summary['cells']:,} cells, by {summary['learned_by']}"]
    lines += [f"impossible: {condition}" for condition in summary["impossible"]]
    return [*lines, price(summary["epsilon"], summary["delta"], summary["relation"])]


def _tell(summary: dict[str, Any], report: "QualityReport", left: str) -> None:
    for line in _lines(summary):
        print(visible(line))
    if not summary["charged"]:
        print("nothing was charged: this was paid for before; the rows are drawn anew")
    print()
    print(report)
    if report.paid is None:
        print("To have errors measured instead of bounded: --check 0.1, at that price.")
    print(f"left: {left}")
    for file in (summary["out"], summary["report"]):
        if file is not None:
            told = f": {summary['rows']:,} rows" if file == summary["out"] else ""
            print(f"wrote {visible(file)}{told}", file=sys.stderr)
