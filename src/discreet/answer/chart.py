"""An answer as a picture: a panel for each number, with its intervals, by the first key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.answer.digits import key_text, written
from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.answer.record import Answer

# In a picture.
MOST_POINTS = 5_000
# Beyond so many groups points are easier to read than bars.
MOST_BARS = 40
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which notebooks draw."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(dict(self))}


def specification(answer: "Answer") -> Chart:
    """The picture of an answer; raises Invalid where no column is a number with an error."""
    panels = [_panel_of(answer, j) for j, column in enumerate(answer.columns) if column.measured]
    if not panels:
        raise Invalid("there is nothing to draw: no column of the answer is a number with an error")
    return Chart(
        {
            "$schema": SCHEMA,
            "description": f"Released values and {100 * answer.confidence:g} % intervals.",
            "vconcat": panels,
            "config": {"view": {"continuousWidth": 420, "continuousHeight": 200}},
        }
    )


def points_of(answer: "Answer", j: int) -> list[dict[str, Any]]:
    """What is drawn of one column: group, value, the ends of the interval, and what is written beside it."""
    keys = [k for k, column in enumerate(answer.columns) if column.key]
    points = []
    for values, spans in list(zip(answer.rows, answer.intervals, strict=True))[:MOST_POINTS]:
        value, span = values[j], spans[j]
        if not isinstance(value, int | float):
            continue
        point: dict[str, Any] = {
            "group": key_text(values[keys[0]]) if keys else answer.columns[j].name,
            "value": value,
        }
        if len(keys) > 1:
            point["series"] = " · ".join(key_text(values[k]) for k in keys[1:])
        if span is not None and span.low is not None and span.high is not None:
            point |= {"low": span.low, "high": span.high}
        point["said"] = " ".join(written(value, span, answer.columns[j]))
        points.append(point)
    return points


def _panel_of(answer: "Answer", j: int) -> dict[str, Any]:
    key = next((column.name for column in answer.columns if column.key), None)
    return _panel(answer.columns[j].name, points_of(answer, j), key)


def _panel(name: str, points: Sequence[dict[str, Any]], key: str | None) -> dict[str, Any]:
    """Fields have names of our own: Vega-Lite reads dots and brackets in a field's name as a path."""
    several = any("series" in point for point in points)
    groups = list(dict.fromkeys(point["group"] for point in points))
    place: dict[str, Any] = {
        "field": "group",
        "type": "nominal",
        "sort": groups,
        "title": key,
        "axis": {"labelAngle": 0},
    }
    shared: dict[str, Any] = {
        "x": place,
        "tooltip": [{"field": "group", "title": key or ""}, {"field": "said", "title": name}],
    }
    if several:
        shared["tooltip"].insert(1, {"field": "series", "title": ""})
        shared |= {"xOffset": {"field": "series"}, "color": {"field": "series", "title": None}}
    if len(groups) > 8:
        place["axis"] = {"labelAngle": -45}
    bars = len(points) <= MOST_BARS
    mark: dict[str, Any] = {"type": "bar", "opacity": 0.6} if bars else {"type": "point", "filled": True}
    height: dict[str, Any] = {"field": "value", "type": "quantitative", "title": name, "scale": {"zero": bars}}
    low: dict[str, Any] = {"field": "low", "type": "quantitative", "title": name, "scale": {"zero": bars}}
    return {
        "title": name,
        "data": {"values": list(points)},
        "encoding": shared,
        "layer": [
            {"mark": mark, "encoding": {"y": height}},
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "errorbar", "ticks": True},
                "encoding": {"y": low, "y2": {"field": "high"}},
            },
        ],
    }
