"""`discreet loss "100*laplace(10) + gaussian(5)"`: a calculator of privacy loss, with a picture.

The expression is read as Python's grammar reads it and then only looked at: numbers, `+`, `*`, `/` between numbers, and calls of the
names below. Nothing of it is ever run.
"""

import ast
import json
import math
import sys
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import typer

from discreet.cli.flags import number, optional_number
from discreet.errors import Invalid
from discreet.exact import nonnegative, probability, rational, shown

if TYPE_CHECKING:
    from discreet.privacy import PrivacyLoss

    Value: TypeAlias = PrivacyLoss | Fraction

LONGEST = 10_000
NARROW, WIDE = 40, 100
NAMES = {
    "laplace": "laplace(scale, sensitivity=1)",
    "geometric": "geometric(scale, sensitivity=1)",
    "gaussian": "gaussian(scale, sensitivity=1)",
    "discrete_gaussian": "discrete_gaussian(scale, sensitivity=1)",
    "response": "response(epsilon, k=2)",
    "pure": "pure(epsilon)",
    "approximate": "approximate(epsilon, delta)",
    "zcdp": "zcdp(rho)",
    "sampled": "sampled(rate, one of the others)",
}
SHORTER = {"geometric": "discrete-laplace", "response": "randomized-response"}
"""Names here that are not those of the kinds of events."""

HINT = f"there are {', '.join(NAMES)}; they add with +, and repeat with 100*"


def loss(
    expression: Annotated[str, typer.Argument(metavar="EXPRESSION", help='Such as "100*laplace(10) + gaussian(5)".')],
    delta: Annotated[str, typer.Option(help="Ask for epsilon at this delta.")] = "1e-6",
    epsilon: Annotated[str | None, typer.Option(help="Ask for delta at this epsilon too.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What releases cost together: epsilon at a delta, certified ends, and a picture.

    laplace(scale), geometric(scale), gaussian(scale), discrete_gaussian(scale), each with sensitivity=1; response(epsilon, k=2);
    pure(epsilon), approximate(epsilon, delta), zcdp(rho); sampled(rate, gaussian(1)).
    """
    allowed = probability(number(delta, "delta"), "delta")
    asked = optional_number(epsilon, "epsilon")
    at = None if asked is None else nonnegative(asked, "epsilon")
    found = read(expression)
    facts = facts_of(found, allowed, at)
    if as_json:
        json.dump({"expression": expression, **facts}, sys.stdout, indent=2)
        print()
        return
    from rich.console import Console

    console = Console(highlight=False)
    for line in said(facts):
        console.print(line, markup=False)
    console.print()
    console.print(found.draw(min(max(console.width, NARROW), WIDE)), markup=False, soft_wrap=True)


def facts_of(found: "PrivacyLoss", delta: Fraction, epsilon: Fraction | None) -> dict[str, Any]:
    """What is printed, as JSON can hold it: None where there is no finite epsilon."""
    try:
        interval: list[float | None] | None = [_finite(end) for end in found.interval(delta)]
    except Invalid:  # only zCDP is known of a part: an upper bound is all there is
        interval = None
    return {
        "delta": float(delta),
        "epsilon": _finite(found.epsilon(delta)),
        "interval": interval,
        "epsilon_at_delta_0": _finite(found.epsilon()),
        "best_attacker": found.posterior(),
        "at_epsilon": None if epsilon is None else {"epsilon": float(epsilon), "delta": found.delta(epsilon)},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rounded(end: float | None, how: str) -> str:
    """Outward, so that what is printed is certified too."""
    return "infinity" if end is None else f"{Context(prec=9, rounding=how).create_decimal(end).normalize():f}"


def said(facts: dict[str, Any]) -> list[str]:
    delta = f"{facts['delta']:.6g}"
    if facts["epsilon"] is None:
        lines = [f"no ε at δ = {delta}: with a larger probability than that, everything may be revealed"]
    else:
        lines = [f"ε = {facts['epsilon']:.10g} at δ = {delta}"]
        if facts["interval"] is None:
            lines.append("    an upper bound: only zCDP is known of a part of it")
        else:
            low, high = facts["interval"]
            lines.append(f"    certified: between {_rounded(low, ROUND_FLOOR)} and {_rounded(high, ROUND_CEILING)}")
    if facts["delta"]:
        pure = facts["epsilon_at_delta_0"]
        lines.append("no ε at δ = 0" if pure is None else f"ε = {pure:.10g} at δ = 0")
    if facts["at_epsilon"] is not None:
        lines.append(f"δ = {facts['at_epsilon']['delta']:.6g} at ε = {facts['at_epsilon']['epsilon']:.6g}")
    return lines


def read(text: str) -> "PrivacyLoss":
    """The loss that an expression says; for anything else raises Invalid."""
    if len(text) > LONGEST:
        raise Invalid(
            f"the expression must be at most {LONGEST:,} characters long, got {len(text):,}", code="expression"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = _Reader(text.strip()).value(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, Invalid):
            raise
        place = f" near character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise Invalid(f"the expression {shown(text)} cannot be read{place}", code="expression", hint=HINT) from None
    if isinstance(found, Fraction):
        raise Invalid(f"the expression {shown(text)} is a number, not a loss", code="expression", hint=HINT)
    return found


class _Reader:
    """Looks at the tree of an expression; what is not on the list is refused."""

    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, node: ast.expr) -> "Value":
        match node:
            case ast.Constant(value=int() | float() as constant) if not isinstance(constant, bool):
                return rational(constant, f"the number {self._said(node)}")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._sum(self.value(left), self.value(right), node)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._product(self.value(left), self.value(right), node)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._quotient(self.value(left), self.value(right), node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as constant)):
                return -rational(constant, f"the number {self._said(node)}")
            case ast.BinOp(op=ast.Sub()):
                self._refuse("what was released cannot be taken back: losses are only added")
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, node)
            case ast.Name(id=name) if name in NAMES:
                self._refuse(f"{name} needs its parameters", f"write {NAMES[name]}")
            case _:
                self._refuse(f"{shown(self._said(node))} has no place in an expression")

    def _sum(self, left: "Value", right: "Value", node: ast.expr) -> "Value":
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return rational(left + right, "a sum")
        if isinstance(left, Fraction) or isinstance(right, Fraction):
            self._refuse(f"{shown(self._said(node))} adds a number to a loss", "repeat with *: 2*laplace(10)")
        return left + right

    def _product(self, left: "Value", right: "Value", node: ast.expr) -> "Value":
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return rational(left * right, "a product")
        if isinstance(left, Fraction):
            return self._times(left, right, node)
        return self._times(right, left, node)

    def _times(self, times: "Value", part: "Value", node: ast.expr) -> "PrivacyLoss":
        if not isinstance(times, Fraction) or isinstance(part, Fraction):
            self._refuse(f"{shown(self._said(node))} multiplies losses", "add them: laplace(10) + gaussian(5)")
        if times.denominator != 1:
            self._refuse(f"a release happens a whole number of times, got {shown(times)}", "")
        return part * int(times)

    def _quotient(self, left: "Value", right: "Value", node: ast.expr) -> Fraction:
        if not isinstance(left, Fraction) or not isinstance(right, Fraction) or not right:
            self._refuse(f"{shown(self._said(node))} is not one number divided by another", "")
        return rational(left / right, "a quotient")

    def _call(self, name: str, node: ast.Call) -> "PrivacyLoss":
        if name not in NAMES:
            from discreet.plan.catalog import suggestion

            self._refuse(f"{name!r} is not known here", suggestion(name, NAMES, "there are"))
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
            self._refuse("a star has no place in an expression")
        given = [self.value(each) for each in node.args]
        named = {each.arg or "": self.value(each.value) for each in node.keywords}
        if len(named) < len(node.keywords):
            self._refuse(f"a parameter of {name} is given twice", f"write {NAMES[name]}")
        if name == "sampled":
            return self._sampled(given, named)
        if any(not isinstance(each, Fraction) for each in [*given, *named.values()]):
            self._refuse(f"the parameters of {name} must be numbers", f"write {NAMES[name]}")
        return self._leaf(name, given, named)

    def _leaf(self, name: str, given: list[Any], named: dict[str, Any]) -> "PrivacyLoss":
        from discreet.privacy import events
        from discreet.privacy import loss as loss_of

        kind: Callable[..., events.Event] = events.KINDS[SHORTER.get(name, name.replace("_", "-"))]
        try:
            return loss_of(kind(*map(_whole, given), **{each: _whole(value) for each, value in named.items()}))
        except TypeError:
            self._refuse(f"{name} has other parameters", f"write {NAMES[name]}")

    def _sampled(self, given: list[Any], named: dict[str, Any]) -> "PrivacyLoss":
        if len(given) != 2 or named or not isinstance(given[0], Fraction) or isinstance(given[1], Fraction):
            self._refuse("sampled needs a rate and what is sampled", "write sampled(0.01, gaussian(1))")
        sampled: PrivacyLoss = given[1].sampled(given[0])
        return sampled

    def _said(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or "this"

    def _refuse(self, message: str, hint: str = HINT) -> NoReturn:
        raise Invalid(message, code="expression", hint=hint)


def _whole(value: Fraction) -> int | Fraction:
    """Counts are integers, and written as any number that is whole."""
    return int(value) if value.denominator == 1 else value
