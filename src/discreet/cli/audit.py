"""`discreet audit [SOURCE]`: try to show that what is installed breaks its promise. No data is read, and nothing is spent."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.flags import number
from discreet.cli.out import fresh, writable_picture
from discreet.cli.source import located, read_policy
from discreet.cli.steady import below, steady
from discreet.errors import Invalid
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.audit.examination import Step
    from discreet.curator.policy import Policy

BAR, NAMED = 24, 40


def audit(
    source: Annotated[
        str | None, typer.Argument(help="A policy whose questions are audited too, on made-up data.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Outputs on each side, for each claim.")] = 20_000,
    seconds: Annotated[str, typer.Option(help="For all of it, about: who is slow gets fewer outputs.")] = "45",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if a claim fails.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="A picture (SVG); it must not exist yet.")] = None,
) -> None:
    """Audit this build: every mechanism, rule for keys and kind of release against its claim; with a policy its questions too.

    A bound above the claim shows a bug; one below it shows nothing.
    """
    from discreet.audit.examination import examine

    policy = None if source is None else _policy(located(source))
    target = None if out is None else fresh(writable_picture(out))
    with progress(as_json) as step:
        result = examine(policy, samples=samples, seconds=number(seconds, "seconds"), step=step)
    if target is not None:
        target.write_text(result.to_svg() + "\n", "utf-8")
    if as_json:
        print(json.dumps(result.as_data(), ensure_ascii=False, indent=2))
    else:
        print("\n".join(map(visible, str(result).splitlines())))
        if target is not None:
            print(f"wrote {visible(str(target))}")
    if strict and result.fails:
        raise typer.Exit(1)


def _policy(path: "Path") -> "Policy":
    policy = read_policy(path)
    if policy is None:
        raise Invalid(
            f"{path.name!r} is a data file, not a policy",
            code="usage",
            hint=f"`discreet init {path} --unit COLUMN` writes a policy for it; without a source the build alone is audited",
        )
    return policy


@contextmanager
def progress(quiet: bool) -> "Iterator[Step | None]":
    """A bar on stderr, where that is a terminal; it is gone afterwards."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    terminal = below(sys.stderr)

    def step(done: int, among: int, name: str) -> None:
        full = BAR * done // among
        bar = "█" * full + "░" * (BAR - full)
        print(f"\r{bar} {done:>3} of {among}  {steady(name)[:NAMED]:<{NAMED}}", end="", file=terminal, flush=True)

    try:
        yield step
    finally:
        print("\r" + " " * (BAR + NAMED + 14) + "\r", end="", file=terminal, flush=True)
