"""`discreet calibrate gaussian --epsilon 1 --delta 1e-6`: the least noise for a target, and the certificate that it meets it."""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.flags import number
from discreet.cli.waiting import waiting
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.privacy.calibrate import Calibrated

KINDS = ("gaussian", "laplace", "geometric", "discrete-gaussian", "response")


def calibrate(
    kind: Annotated[str, typer.Argument(metavar="NOISE", help=f"One of {', '.join(KINDS)}.")],
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="What all releases may cost together.")] = None,
    delta: Annotated[str, typer.Option(metavar="D", help="And their delta.")] = "0",
    sensitivity: Annotated[
        str | None, typer.Option(metavar="S", help="How far one unit moves the exact value (1).")
    ] = None,
    times: Annotated[int, typer.Option(metavar="N", help="How many releases there are.")] = 1,
    rate: Annotated[
        str, typer.Option(metavar="Q", help="Each on a random part of the units: Poisson sampling at this rate.")
    ] = "1",
    answers: Annotated[
        int | None, typer.Option(metavar="K", help="Of a response: how many answers there are (2).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The least noise that meets an epsilon and a delta, for one release or many, with its certificate.

    discreet calibrate gaussian --epsilon 1 --delta 1e-6 --times 100
    """
    if epsilon is None:
        raise Invalid(
            "the target is missing", code="usage", hint="write --epsilon 1, and --delta 1e-6 for Gaussian noise"
        )
    options: dict[str, Any] = {"times": times}
    if kind == "response":
        _refuse(kind, "--sensitivity", sensitivity is not None)
        _refuse(kind, "--rate", rate != "1")
        options["k"] = 2 if answers is None else answers
    else:
        _refuse(kind, "--answers", answers is not None)
        options["rate"] = number(rate, "rate")
        moved = number(sensitivity or "1", "sensitivity")
        options["sensitivity"] = int(moved) if moved.denominator == 1 else moved
    find = _find(kind)
    with waiting("searching", as_json):
        found = find(number(epsilon, "epsilon"), number(delta, "delta"), **options)
        facts = facts_of(kind, found, times, number(rate, "rate"))
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    for line in said(facts):
        print(line)


def _refuse(kind: str, option: str, given: bool) -> None:
    if given:
        raise Invalid(f"{option} has no meaning for {kind}", code="usage", hint="leave it out")


def _find(kind: str) -> "Callable[..., Calibrated]":
    from discreet.plan.catalog import suggestion
    from discreet.privacy import calibrate as library

    found: dict[str, Callable[..., Calibrated]] = {
        "gaussian": library.gaussian,
        "laplace": library.laplace,
        "geometric": library.discrete_laplace,
        "discrete-gaussian": library.discrete_gaussian,
        "response": library.randomized_response,
    }
    if kind not in found:
        raise Invalid(
            f"{kind!r} is no noise that is known here", code="usage", hint=suggestion(kind, KINDS, "there are")
        )
    return found[kind]


def facts_of(kind: str, found: "Calibrated", times: int, rate: Fraction) -> dict[str, Any]:
    """What is printed. The certificate is computed again, from its event alone."""
    from discreet.exact import to_float_up

    certificate = found.certificate
    return {
        "noise": kind,
        "scale" if kind != "response" else "epsilon_of_each": to_float_up(found.scale)
        if kind != "response"
        else float(found.scale),
        "exact": str(found.scale),
        "error": _error(kind, found.scale),
        "times": times,
        "rate": float(rate),
        "certificate": {
            "epsilon": float(certificate.epsilon),
            "delta": float(certificate.delta),
            "holds": certificate.holds(),
            "event": certificate.event.to_json(),
        },
    }


def _error(kind: str, scale: Fraction) -> float | None:
    """The ± of one release at 95 %."""
    from discreet import mechanisms

    noises: dict[str, Any] = {
        "gaussian": mechanisms.Gaussian,
        "laplace": mechanisms.Laplace,
        "geometric": mechanisms.Geometric,
        "discrete-gaussian": mechanisms.DiscreteGaussian,
    }
    return float(noises[kind](scale).error(0.95)) if kind in noises else None


def said(facts: dict[str, Any]) -> list[str]:
    many, certificate = facts["times"] > 1, facts["certificate"]
    how = f"{facts['times']:,} releases" if many else "one release"
    how += "" if facts["rate"] == 1 else f", {'each ' if many else ''}on a random part of {facts['rate']:g}"
    if facts["error"] is None:
        first = [f"ε of each response = {facts['epsilon_of_each']:.10g}"]
    else:
        first = [
            f"scale = {facts['scale']:.10g}",
            f"± of {'each' if many else 'the'} release at 95 %: {facts['error']:.6g}",
        ]
    held = "holds, computed again" if certificate["holds"] else "DOES NOT HOLD"
    delta = f", δ = {certificate['delta']:g}" if certificate["delta"] else ""
    return [*first, f"{how}: ε = {certificate['epsilon']:g}{delta}", f"certificate: {held} from the event alone"]
