"""An answer as a picture: a panel for each number, with its intervals, by the first key."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.answer.digits import key_text, with_error
from discreet.errors import Invalid
from discreet.plan.scalar import Type, Value
from discreet.privacy.picture.panels import SCHEMA

if TYPE_CHECKING:
    from discreet.answer.record import Answer

# In a picture.
MOST_POINTS = 5_000
# Beyond so many groups points are easier to read than bars.
MOST_BARS = 40


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which notebooks draw; those that cannot have the same as an SVG."""

    def __init__(self, specification: Mapping[str, Any], svg: str) -> None:
        super().__init__(specification)
        self.svg = svg

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "application/vnd.vegalite.v5+json": dict(self),
            "image/svg+xml": self.svg,
            "text/plain": repr(dict(self)),
        }


def specification(answer: "Answer") -> dict[str, Any]:
    """The picture of an answer; raises Invalid where no column is a number with an error."""
    return {
        "$schema": SCHEMA,
        "description": f"Released values and {100 * answer.confidence:g} % intervals, {answer.covered}.",
        "vconcat": [_panel(answer, j) for j in drawn(answer)],
        "config": {"view": {"continuousWidth": 420, "continuousHeight": 200}},
    }


def drawn(answer: "Answer") -> list[int]:
    """The columns that are drawn; raises Invalid where there are none."""
    columns = [j for j, column in enumerate(answer.columns) if column.measured]
    if not columns:
        raise Invalid("there is nothing to draw: no column of the answer is a number with an error")
    return columns


def is_sideways(answer: "Answer") -> bool:
    """Whether bars lie: groups that are called by words, or by several keys, have names that are read from left to right."""
    keys = keys_of(answer)
    return len(keys) != 1 or answer.columns[keys[0][0]].type in (Type.TEXT, Type.BOOLEAN)


def keys_of(answer: "Answer") -> list[tuple[int, ...]]:
    """The keys that groups are told apart by; the two ends of a bin are one."""
    keys: list[tuple[int, ...]] = []
    for k, column in enumerate(answer.columns):
        before = answer.columns[k - 1] if k else column
        ends = before.key and before.name.endswith("_from") and column.name == before.name.removesuffix("from") + "to"
        if column.key and ends and keys:
            keys[-1] = (*keys[-1], k)
        elif column.key:
            keys.append((k,))
    return keys


def points_of(answer: "Answer", j: int) -> list[dict[str, Any]]:
    """What is drawn of one column: group, value, the ends of the interval, and what is written beside it."""
    keys = keys_of(answer)
    points = []
    for values, spans in list(zip(answer.rows, answer.intervals, strict=True))[:MOST_POINTS]:
        value, span = values[j], spans[j]
        if not isinstance(value, int | float):
            continue
        point: dict[str, Any] = {
            "group": _named(values, keys[0]) if keys else answer.columns[j].head,
            "value": value,
        }
        if len(keys) > 1:
            point["series"] = " · ".join(_named(values, each) for each in keys[1:])
        if span is not None and span.low is not None and span.high is not None:
            point |= {"low": span.low, "high": span.high}
        point["said"] = " ".join(with_error(value, span, answer.columns[j]))
        points.append(point)
    return points


def _named(values: Sequence[Value], key: tuple[int, ...]) -> str:
    """What a group is called by one key, or a bin by its ends."""
    return " … ".join(key_text(values[k]) for k in key)


def _panel(answer: "Answer", j: int) -> dict[str, Any]:
    """The panel of one column. Its fields have names of our own: Vega-Lite reads dots and brackets in a field's name as a path."""
    name = answer.columns[j].head
    key = next((column.head for column in answer.columns if column.key), None)
    points = points_of(answer, j)
    groups = list(dict.fromkeys(point["group"] for point in points))
    bars = len(points) <= MOST_BARS
    along, across = ("y", "x") if is_sideways(answer) else ("x", "y")
    place: dict[str, Any] = {"field": "group", "type": "nominal", "sort": groups, "title": key}
    if along == "x":
        place["axis"] = {"labelAngle": -45 if len(groups) > 8 else 0}
    tooltip = [{"field": "group", "title": key or ""}, {"field": "said", "title": name}]
    encoding: dict[str, Any] = {along: place, "tooltip": tooltip}
    if any("series" in point for point in points):
        tooltip.insert(1, {"field": "series", "title": ""})
        encoding |= {f"{along}Offset": {"field": "series"}, "color": {"field": "series", "title": None}}
    mark: dict[str, Any] = {"type": "bar", "opacity": 0.6} if bars else {"type": "point", "filled": True}
    measure: dict[str, Any] = {"type": "quantitative", "title": name, "scale": {"zero": bars}}
    return {
        "title": name,
        "data": {"values": points},
        "encoding": encoding,
        "layer": [
            {"mark": mark, "encoding": {across: {"field": "value", **measure}}},
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "errorbar", "ticks": True},
                "encoding": {across: {"field": "low", **measure}, f"{across}2": {"field": "high"}},
            },
        ],
    }
