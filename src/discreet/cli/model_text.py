"""What `discreet train` says of a model: what was trained, its price, and its coefficients in the units of the data."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.learn.table_model import Coefficient, TableModel

MOST_SHOWN = 40
"""Rows of coefficients that are printed; the file has all of them."""

CLASSES_SHOWN = 6
INTERCEPT = "(intercept)"


def show(summary: dict[str, Any], as_json: bool) -> None:
    """What would be trained, or as JSON what was."""
    if as_json:
        print(json.dumps(summary, ensure_ascii=False, indent=2))
        return
    for line in _lines(summary):
        print(visible(line))
    print("Nothing was read or spent.")


def tell(summary: dict[str, Any], model: "TableModel", left: str) -> None:
    """What was trained, its coefficients, and what is left of the budget."""
    for line in _lines(summary):
        print(visible(line))
    if not summary["charged"]:
        print("nothing was charged: this was paid for before")
    if summary["made"] is not None and summary["made"] < summary["steps"]:
        print(f"{summary['made']:,} of the steps count: the others were lost when training was stopped")
    print()
    for line in _coefficients(model):
        print(visible(line))
    print(f"left: {left}")
    print(f"wrote {visible(summary['out'])}; to use it: discreet.learn.load(…).predict(columns)", file=sys.stderr)


def coefficient_data(each: "Coefficient") -> dict[str, Any]:
    """A coefficient as JSON."""
    from discreet.learn.encoding import key_data

    found: dict[str, Any] = {"feature": each.feature or None, "value": each.value}
    if each.of_class is not None:
        found["class"] = key_data(each.of_class)
    if each.low is not None:
        found |= {"low": each.low, "high": each.high}
    return found


def _lines(summary: dict[str, Any]) -> list[str]:
    """What is trained, and its price."""
    from discreet.answer.digits import price

    columns, features = len(summary["columns"]), len(summary["features"])
    told = f" ({', '.join(map(str, summary['classes']))})" if summary["classes"] else ""
    by = f"{columns} column{'s' * (columns != 1)}" + (f" as {features} features" if features != columns else "")
    lines = [f"{summary['model']} regression of {summary['target']}{told} in {summary['table']}, by {by}"]
    if "steps" in summary:
        batch = "everybody" if summary["rate"] == 1 else f"a sample of {summary['rate']:.3g} of everybody"
        steps = f"{summary['steps']:,} step{'s' * (summary['steps'] != 1)}"
        lines.append(
            f"{steps}, each a sum over {batch}: about {summary['people']:,}, as declared; of a sum in which"
            f" nobody has more than 1 the noise is {summary['noise']:.3g}"
        )
    return [*lines, price(summary["epsilon"], summary["delta"], summary["relation"])]


def _coefficients(model: "TableModel") -> Iterator[str]:
    """What a model says of each feature."""
    found = model.coefficients()
    if model.classes is None:
        yield from _of_number(found, model.target)
    elif len(model.classes) > CLASSES_SHOWN:
        yield f"{len(found):,} coefficients of {len(model.classes)} classes are in the file"
    elif len(model.classes) > 2:
        yield from _of_classes(model.classes, found)
    else:
        yield from _of_two_classes(model, found)


def _of_number(found: "Sequence[Coefficient]", target: str) -> Iterator[str]:
    told = found[0].low is not None
    rows = [(each.feature or INTERCEPT, _number(each.value), _reach(each)) for each in found]
    yield from _aligned((f"one more adds to {target}", "", "95 %" if told else ""), rows)
    if told:
        yield "± holds sampling and privacy noise, and not the bias of clipping: of values beyond their bounds, of residuals far out."
    else:
        yield "No ± is known: the noise called for a ridge, whose bias it would not hold. Spend a larger ε, or name fewer features."


def _reach(each: "Coefficient") -> str:
    return "" if each.low is None or each.high is None else f"± {_number((each.high - each.low) / 2)}"


NOTE = (
    "For rows near the mean, as the first steps found it: one farther out is drawn in before it is scored, as in training."
    " Privacy noise is in each number, and no ± is known for it."
)


def _of_two_classes(model: "TableModel", found: "Sequence[Coefficient]") -> Iterator[str]:
    """By unit, and times the width of the bounds: so that features can be compared."""
    assert model.classes is not None
    widths = [width for column in model.encoding.columns for width in column.widths]
    rows = [
        (each.feature, _number(each.value), _number(each.value * width))
        for each, width in zip(found, widths, strict=False)
    ]
    heads = (f"log-odds of {model.classes[1]}", "for one more", "× width of bounds")
    yield from _aligned(heads, [*rows, (INTERCEPT, _number(found[-1].value), "")])
    yield NOTE


def _of_classes(classes: Sequence[Any], found: "Sequence[Coefficient]") -> Iterator[str]:
    by_class = [[each.value for each in found if each.of_class == label] for label in classes]
    names = [each.feature or INTERCEPT for each in found if each.of_class == classes[0]]
    rows = [(name, *map(_number, values)) for name, *values in zip(names, *by_class, strict=True)]
    yield from _aligned(("one more adds to the log-odds of", *map(str, classes)), rows)
    yield NOTE


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    shown = [heads, *rows[:MOST_SHOWN]]
    widths = [max(len(row[i]) for row in shown) for i in range(len(heads))]
    for first, *others in shown:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
    if len(rows) > MOST_SHOWN:
        yield f"… and {len(rows) - MOST_SHOWN:,} more in the file"


def _number(value: float) -> str:
    return f"{value:.4g}"
