"""An answer: released values, how far off each may be, and the receipt. And a preview: the same before anything is measured.

Everything here is made of what was released. A number is shown to the digits that its ± supports, and never without it.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from html import escape
from math import floor, inf, log10
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from discreet.errors import Invalid
from discreet.exact import shown, to_float_down, to_float_up
from discreet.plan.check import digest
from discreet.plan.explain import explain
from discreet.plan.intervals import Interval, Predicted, intervals, predicted, rounded_up
from discreet.plan.numbers import output_type
from discreet.plan.plan import CONFIDENCE, Plan
from discreet.plan.post import released_rows, selects
from discreet.plan.scalar import Type, Value, is_key
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

Json: TypeAlias = dict[str, Any]

FORMAT = 1  # of stored answers
MOST_LINES = 60  # rows that are shown; all of them are there
MOST_POINTS = 5_000  # in a picture
MOST_BARS = 40  # beyond so many groups points are easier to read than bars
BAR = 17  # columns of a text error bar
HUGE = 1e15
DANGEROUS = tuple("=+-@\t\r\n＝＋－＠")  # what a spreadsheet may take for a formula
PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")  # which it takes for a number
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SELECTED = "rows were selected by released values, which makes their intervals optimistic"
KNOWN_NOISE = "NOT PRIVATE: the noise came from a source that someone may know"


class Amount(Protocol):
    """A budget: what is left of ε and δ, and of ρ where that is what is counted."""

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def delta(self) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer. A key is public, and has no error."""

    name: str
    type: Type
    key: bool


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What a question gave: rows, an interval for each number, the price, and the receipt."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    intervals: tuple[tuple[Interval | None, ...], ...]  # None for keys, and for what is not a number
    confidence: float
    epsilon: float
    delta: float
    relation: str
    notes: tuple[str, ...]  # bounds and rules that applied: properties of the question
    receipt: Json
    explanation: str
    remaining: Json | None = None

    @classmethod
    def make(
        cls,
        plan: Plan,
        released: Sequence[Any],
        *,
        text: str,
        explanation: str | None = None,
        receipt: Mapping[str, Any] | None = None,
        remaining: "Mapping[str, Any] | Amount | None" = None,
    ) -> "Answer":
        """The answer to a question from what was released: one int64 array over the plan's groups for each measurement.

        `receipt` adds what only the caller knows: "private" (False where the noise came from a source that someone may know),
        "data_version", "ledger" (where the charge is written).
        """
        made = released_rows(plan, released)
        proof = {**receipt_for(plan, text), **(receipt or {})}
        notes = [*plan.assumed, *plan.notes, *([SELECTED] if selects(plan) else [])]
        return cls(
            columns=_columns(plan),
            rows=made.rows,
            intervals=intervals(plan, released, made),
            confidence=CONFIDENCE,
            epsilon=to_float_up(plan.epsilon),
            delta=to_float_up(plan.delta),
            relation=str(plan.relation),
            notes=tuple(notes if proof["private"] else [KNOWN_NOISE, *notes]),
            receipt=proof,
            explanation=explain(plan) if explanation is None else explanation,
            remaining=_amount(remaining),
        )

    def with_remaining(self, remaining: "Mapping[str, Any] | Amount | None") -> "Answer":
        """The same answer, with the budget that is left now."""
        return replace(self, remaining=_amount(remaining))

    def with_ledger(self, ledger: Mapping[str, Any]) -> "Answer":
        """The same answer, whose receipt says where the charge is written."""
        return replace(self, receipt={**self.receipt, "ledger": dict(ledger)})

    def told(self, assumed: Sequence[str], explanation: str) -> "Answer":
        """The same answer, in the words for whoever asked: what they did not declare, or lack, is said first."""
        unsafe = [note for note in self.notes if note == KNOWN_NOISE]
        others = [note for note in self.notes if note not in (*unsafe, *assumed)]
        return replace(self, notes=(*unsafe, *assumed, *others), explanation=explanation)

    # Values.

    def to_dicts(self, errors: bool = False) -> list[dict[str, Value]]:
        """The rows. With `errors` each number also has its ±, and the ends of its interval, as NAME_error, NAME_low, NAME_high."""
        names, rows = self._flat(errors)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def to_pandas(self, errors: bool = False) -> Any:
        """A pandas DataFrame of the rows."""
        import pandas

        names, rows = self._flat(errors)
        return pandas.DataFrame(rows, columns=names)

    def to_csv(self, path: str | PathLike[str] | None = None, errors: bool = True) -> str | None:
        """CSV as text, or into a file. Texts that a spreadsheet would take for a formula begin with an apostrophe; numbers never do."""
        names, rows = self._flat(errors)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")  # with it a lone \r or \n is quoted, too
        writer.writerow([_harmless(name) for name in names])
        writer.writerows([[_harmless(value) for value in row] for row in rows])
        if path is None:
            return out.getvalue()
        Path(path).write_text(out.getvalue(), "utf-8", newline="")
        return None

    def _flat(self, errors: bool) -> tuple[list[str], list[list[Value]]]:
        """Names and rows, with three more columns for each that has intervals."""
        with_errors = [errors and self._measured(j) for j in range(len(self.columns))]
        names: list[str] = []
        for column, more in zip(self.columns, with_errors, strict=True):
            names += [column.name, *(f"{column.name}_{each}" for each in ("error", "low", "high") if more)]
        rows: list[list[Value]] = []
        for values, spans in zip(self.rows, self.intervals, strict=True):
            row: list[Value] = []
            for value, span, more in zip(values, spans, with_errors, strict=True):
                row.append(value)
                if more:
                    row += [None] * 3 if span is None else [span.error, span.low, span.high]
            rows.append(row)
        return unique(names), rows

    def _measured(self, j: int) -> bool:
        return not self.columns[j].key and self.columns[j].type.numeric

    # Storing.

    def to_json(self) -> Json:
        """A JSON value: what `discreet ask --json` prints."""
        names = [column.name for column in self.columns]
        cells = [
            [(name, span) for name, span in zip(names, spans, strict=True) if span is not None]
            for spans in self.intervals
        ]
        return {
            "columns": names,
            "types": {column.name: column.type.value for column in self.columns},
            "keys": [column.name for column in self.columns if column.key],
            "rows": [dict(zip(names, map(_plain, row), strict=True)) for row in self.rows],
            "error": [{name: span.error for name, span in row} for row in cells],
            "interval": [{name: [span.low, span.high] for name, span in row} for row in cells],
            "flags": [{name: span.flag for name, span in row if span.flag} for row in cells],
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "notes": list(self.notes),
            "remaining": self.remaining,
            "receipt": self.receipt,
        }

    def to_bytes(self) -> bytes:
        """The answer as a ledger keeps it: the same bytes for equal answers."""
        body = {"format": FORMAT, "explanation": self.explanation, **self.to_json()}
        return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Answer":
        """The answer that `to_bytes` wrote; for anything else raises Invalid."""
        try:
            body = json.loads(stored)
            if body["format"] != FORMAT:
                raise Invalid(
                    f"the stored answer has format {body['format']!s:.20}, and this release reads {FORMAT}",
                    hint="use a newer release of discreet",
                )
            answer = cls._read(body)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, Invalid):
                raise
            raise Invalid("these bytes are not a stored answer") from error
        if answer.to_bytes() != stored:
            raise Invalid("these bytes are not a stored answer as it was written")
        return answer

    @classmethod
    def _read(cls, body: Json) -> "Answer":
        columns = tuple(Column(name, Type(body["types"][name]), name in body["keys"]) for name in body["columns"])
        parts = list(zip(body["rows"], body["error"], body["interval"], body["flags"], strict=True))
        return cls(
            columns=columns,
            rows=tuple(tuple(_typed(row[column.name], column.type) for column in columns) for row, *_ in parts),
            intervals=tuple(tuple(_interval(column.name, *more) for column in columns) for _, *more in parts),
            confidence=body["confidence"],
            epsilon=body["epsilon"],
            delta=body["delta"],
            relation=body["relation"],
            notes=tuple(body["notes"]),
            receipt=body["receipt"],
            explanation=body["explanation"],
            remaining=body["remaining"],
        )

    def explain(self) -> str:
        """The plan as a tree: what was counted, with which noise, at which price."""
        return self.explanation

    # Showing.

    def __str__(self) -> str:
        table = [self._heads(), *self._cells()]
        numbers = [self._measured(j) or column.type.numeric for j, column in enumerate(self.columns)]
        return "\n".join([*_text_table(table, numbers), *self._more(), "", *self._footer()])

    def __repr__(self) -> str:
        return str(self)

    def _heads(self) -> list[str]:
        return [visible(column.name) for column in self.columns]

    def _cells(self) -> list[list[str]]:
        """The rows that are shown, as text; the ± of one column are below each other."""
        shown_rows = list(zip(self.rows, self.intervals, strict=True))[:MOST_LINES]
        pairs = [
            [written(value, span, column) for value, span, column in zip(*row, self.columns, strict=True)]
            for row in shown_rows
        ]
        widths = [max((len(row[j][1]) for row in pairs), default=0) for j in range(len(self.columns))]
        return [
            [f"{value} {error:<{width}}" if width else value for (value, error), width in zip(row, widths, strict=True)]
            for row in pairs
        ]

    def _more(self) -> list[str]:
        left = len(self.rows) - MOST_LINES
        return [f"… and {left:,} more rows"] if left > 0 else []

    def _footer(self) -> list[str]:
        flags = dict.fromkeys(span.flag for row in self.intervals for span in row if span is not None and span.flag)
        lines = [f"* {flag}" for flag in flags]
        lines.append(
            f"± is of the noise, at {100 * self.confidence:g} %: what limits leave out is not in it. "
            f"{_price(self.epsilon, self.delta)}, {self.relation}."
        )
        if self.remaining:
            lines.append(
                "left: " + ", ".join(f"{_sign(name)} = {_short(left)}" for name, left in self.remaining.items())
            )
        return [visible(line) for line in [*lines, *(f"note: {note}" for note in self.notes)]]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        """A table, with error bars for as many columns as there is room."""
        from rich.table import Table
        from rich.text import Text

        cells = self._cells()
        heads = self._heads()
        room = options.max_width - sum(max(len(row[j]) for row in [heads, *cells]) + 3 for j in self._indices())
        table = Table(show_edge=False, pad_edge=False, header_style="bold")
        bars: list[list[str]] = []
        for j, column in enumerate(self.columns):
            table.add_column(Text(heads[j]), justify="right" if column.type.numeric else "left", overflow="fold")
            found = _text_bars([row[j] for row in self.intervals[:MOST_LINES]], self._values(j))
            bars.append(found if room >= BAR + 3 else [])
            if bars[j]:
                room -= BAR + 3
                table.add_column("", no_wrap=True, style="cyan")
        for i, line in enumerate(cells):
            row: list[Text] = []
            for j, cell in enumerate(line):
                row += [Text(cell), *([Text(bars[j][i])] if bars[j] else [])]
            table.add_row(*row)
        yield table
        yield from (Text(line) for line in [*self._more(), ""])
        yield from (Text(line, style="dim") for line in self._footer())

    def _indices(self) -> range:
        return range(len(self.columns))

    def _values(self, j: int) -> list[Value]:
        return [row[j] for row in self.rows[:MOST_LINES]]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._heads())
        scales = [_scale([row[j] for row in self.intervals[:MOST_LINES]]) for j in self._indices()]
        body = []
        for i, cells in enumerate(self._cells()):
            row = []
            for j, cell in enumerate(cells):
                bar = _svg(self.intervals[i][j], self.rows[i][j], scales[j])
                kind = ' class="number"' if self.columns[j].type.numeric else ""
                row.append(f"<td{kind}>{escape(cell)}{bar}</td>")
            body.append(f"<tr>{''.join(row)}</tr>")
        lines = "".join(f"<p>{escape(line)}</p>" for line in [*self._more(), *self._footer()])
        return f'<div class="discreet">{STYLE}<table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>{lines}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def plot(self) -> "Chart":
        """A picture as a Vega-Lite specification: a panel for each number, with its intervals, by the first key."""
        panels = [self._panel(j) for j in self._indices() if self._measured(j)]
        if not panels:
            raise Invalid("there is nothing to draw: no column of the answer is a number with an error")
        return Chart(
            {
                "$schema": SCHEMA,
                "description": f"Released values and {100 * self.confidence:g} % intervals.",
                "vconcat": panels,
                "config": {"view": {"continuousWidth": 420, "continuousHeight": 200}},
            }
        )

    def _panel(self, j: int) -> Json:
        keys = [k for k, column in enumerate(self.columns) if column.key]
        points = []
        for values, spans in list(zip(self.rows, self.intervals, strict=True))[:MOST_POINTS]:
            value, span = values[j], spans[j]
            if not isinstance(value, int | float):
                continue
            point: Json = {"group": _key(values[keys[0]]) if keys else self.columns[j].name, "value": value}
            if len(keys) > 1:
                point["series"] = " · ".join(_key(values[k]) for k in keys[1:])
            if span is not None and span.low is not None and span.high is not None:
                point |= {"low": span.low, "high": span.high}
            point["said"] = " ".join(written(value, span, self.columns[j]))
            points.append(point)
        return _panel(self.columns[j].name, points, self.columns[keys[0]].name if keys else None)


# From a plan.


def _columns(plan: Plan) -> tuple[Column, ...]:
    outputs = plan.question.outputs
    names = unique([output.name for output in outputs])
    return tuple(
        Column(name, output_type(output.value, plan), is_key(output.value))
        for name, output in zip(names, outputs, strict=True)
    )


def unique(names: Sequence[str]) -> list[str]:
    """The same names, with a number behind those that were taken.

    >>> unique(["n", "n", "n_2"])
    ['n', 'n_2', 'n_2_2']
    """
    found: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in found:
            number += 1
            candidate = f"{name}_{number}"
        found.append(candidate)
    return found


def receipt_for(plan: Plan, text: str) -> Json:
    """Everything that is needed to check the price again, as far as the plan knows it."""
    return {
        "question": text,
        "plan": digest(plan),
        "measurements": [
            {
                "said": measurement.said,
                "mechanism": None if measurement.mechanism is None else type(measurement.mechanism).__name__,
                "scale": None if measurement.mechanism is None else str(measurement.mechanism.scale),
                "sensitivity": str(measurement.sensitivity),
                "step": str(measurement.step),
            }
            for measurement in plan.measurements
        ],
        **({"choices": [choice.outcomes[i] for choice, i in plan.choices]} if plan.choices else {}),
        "event": plan.event.to_json(),
        "epsilon": str(plan.epsilon),
        "delta": str(plan.delta),
        "relation": str(plan.relation),
        "private": True,
        "data_version": None,
        "version": sys.modules["discreet"].__version__,
        "ledger": None,
    }


def _amount(budget: "Mapping[str, Any] | Amount | None") -> Json | None:
    """A budget that is left, rounded down."""
    if budget is None:
        return None
    found = (
        budget if isinstance(budget, Mapping) else {n: getattr(budget, n, None) for n in ("epsilon", "delta", "rho")}
    )
    exact = {name: part for name, part in found.items() if part is not None}
    return {name: to_float_down(part) if isinstance(part, Fraction) else part for name, part in exact.items()}


# Values as they are stored.


def _plain(value: Value) -> Value:
    return value.isoformat() if isinstance(value, date) else value


def _typed(value: Any, type_: Type) -> Value:
    if type_ is Type.DATE and value is not None:
        return date.fromisoformat(value)
    if value is not None and not isinstance(value, str | int | float):
        raise Invalid(f"a stored value must be a text or a number, got {shown(value)}")
    return value


def _interval(name: str, errors: Json, ends: Json, flags: Json) -> Interval | None:
    if name not in errors:
        return None
    low, high = ends[name]
    return Interval(low, high, errors[name], flags.get(name))


def _harmless(value: Value) -> Value:
    """A text that no spreadsheet will run; numbers stay numbers, also those that are written as text.

    >>> _harmless("=1+1"), _harmless(" @SUM(A1)"), _harmless("ward 3"), _harmless(-3)
    ("'=1+1", "' @SUM(A1)", 'ward 3', -3)
    >>> _harmless("-2"), _harmless("+3.5"), _harmless("-1e5"), _harmless("-x+1"), _harmless("-2+3"), _harmless("=1")
    ('-2', '+3.5', '-1e5', "'-x+1", "'-2+3", "'=1")
    """
    if not isinstance(value, str) or PLAIN_NUMBER.fullmatch(value):
        return value
    if value.startswith(DANGEROUS) or value.lstrip().startswith(DANGEROUS):
        return f"'{value}"
    return value


# Values as they are written.


def written(value: Value, span: Interval | None, column: Column) -> tuple[str, str]:
    """A value and its ±, to the digits that the ± supports.

    >>> count, mean = Column("n", Type.INTEGER, False), Column("age", Type.NUMBER, False)
    >>> written(12345, Interval(12311, 12379, 34), count), written(12345, Interval(11111, 13579, 1234), count)
    (('12,345', '± 34'), ('12,300', '± 1,300'))
    >>> written(43.8271, Interval(42.0, 45.0, 1.827), mean), written(7, Interval(7, 7, 0), count)
    (('43.8', '± 1.9'), ('7', '± 0'))
    >>> written(0.25, Interval(None, None, None, "too small"), mean)
    ('0.25', '± ? *')
    """
    if span is None or not isinstance(value, int | float):
        return ("NULL" if value is None else _key(value)), ("*" if span is not None and span.flag else "")
    star = " *" if span.flag else ""
    if span.error is None:
        return _grouped(float(f"{value:.3g}")), f"± ?{star}"
    if span.error == 0:
        return _grouped(value), f"± 0{star}"
    error = rounded_up(span.error, 2)
    places = 1 - floor(log10(error))
    if column.type is Type.INTEGER:
        places = min(places, 0)
    return _digits(value, places), f"± {_digits(error, places)}{star}"


def _key(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "NULL" if value is None else visible(str(_plain(value)))


def _grouped(value: int | float) -> str:
    if abs(value) >= HUGE:
        return f"{value:.6g}"
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def _digits(value: int | float, places: int) -> str:
    """Rounded to so many decimal places, or to tens and hundreds where there are less than none."""
    if abs(value) >= HUGE or places > 15:
        return f"{value:.3g}"
    return f"{round(value, places) + 0:,.{max(places, 0)}f}"


def _short(number: Any) -> str:
    return f"{number:.6g}" if isinstance(number, int | float | Fraction) else str(number)


def _sign(name: str) -> str:
    return {"epsilon": "ε", "delta": "δ", "rho": "ρ"}.get(name, name)


def _price(epsilon: float, delta: float) -> str:
    return f"ε = {_short(epsilon)}" + (f", δ = {_short(delta)}" if delta else "")


def _text_table(table: Sequence[Sequence[str]], numbers: Sequence[bool]) -> list[str]:
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    lines = [
        "  ".join(
            f"{cell:>{w}}" if number else f"{cell:<{w}}" for cell, w, number in zip(row, widths, numbers, strict=True)
        )
        for row in table
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return [line.rstrip() for line in lines]


# Error bars.


def _scale(spans: Sequence[Interval | None]) -> tuple[float, float] | None:
    """The range of a column that is worth a bar: of several intervals that are not all certain."""
    known = [(span.low, span.high) for span in spans if span is not None]
    ends = [float(end) for pair in known for end in pair if end is not None]
    if len(known) < 2 or not ends or not 0 < max(ends) - min(ends) < inf:
        return None
    return min(ends), max(ends)


def _share(at: float, scale: tuple[float, float]) -> float:
    """How far along the scale, from 0 to 1."""
    return min(max((at - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)


def _text_bars(spans: Sequence[Interval | None], values: Sequence[Value]) -> list[str]:
    scale = _scale(spans)
    return [] if scale is None else [_text_bar(span, value, scale) for span, value in zip(spans, values, strict=True)]


def _text_bar(span: Interval | None, value: Value, scale: tuple[float, float]) -> str:
    """
    >>> _text_bar(Interval(2, 6, 2), 4, (0.0, 8.0))
    '    ├───●───┤'
    """
    if span is None or span.low is None or span.high is None or not isinstance(value, int | float):
        return ""
    low, at, high = (round((BAR - 1) * _share(end, scale)) for end in (span.low, value, span.high))
    line = [" "] * BAR
    line[low : high + 1] = "─" * (high + 1 - low)
    line[low], line[high] = "├", "┤"
    line[at] = "●"
    return "".join(line).rstrip()


STYLE = """<style>
.discreet table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.discreet th,.discreet td{padding:.2em .8em;text-align:left;border-bottom:1px solid rgba(128,128,128,.35);white-space:pre}
.discreet td.number{text-align:right}
.discreet svg{display:inline-block;vertical-align:middle;margin-left:.6em;color:inherit}
.discreet p{margin:.3em 0;font-size:.85em;opacity:.75}
</style>"""
WIDE, TALL = 120, 14


def _svg(span: Interval | None, value: Value, scale: tuple[float, float] | None) -> str:
    """An error bar in the colour of the text, whatever the page's colours are."""
    if scale is None or span is None or span.low is None or span.high is None or not isinstance(value, int | float):
        return ""
    low, at, high = (round(3 + (WIDE - 6) * _share(end, scale), 1) for end in (span.low, value, span.high))
    y = TALL / 2
    return (
        f'<svg width="{WIDE}" height="{TALL}" role="img" aria-label="interval">'
        f'<path d="M{low} {y}H{high}M{low} 3V{TALL - 3}M{high} 3V{TALL - 3}" stroke="currentColor" fill="none"/>'
        f'<circle cx="{at}" cy="{y}" r="2.5" fill="currentColor"/></svg>'
    )


class Chart(dict[str, Any]):
    """A Vega-Lite specification, which notebooks draw."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": repr(dict(self))}


def _panel(name: str, points: Sequence[Json], key: str | None) -> Json:
    """Fields have names of our own: Vega-Lite reads dots and brackets in a field's name as a path."""
    several = any("series" in point for point in points)
    groups = list(dict.fromkeys(point["group"] for point in points))
    place: Json = {"field": "group", "type": "nominal", "sort": groups, "title": key, "axis": {"labelAngle": 0}}
    shared: Json = {"x": place, "tooltip": [{"field": "group", "title": key or ""}, {"field": "said", "title": name}]}
    if several:
        shared["tooltip"].insert(1, {"field": "series", "title": ""})
        shared |= {"xOffset": {"field": "series"}, "color": {"field": "series", "title": None}}
    if len(groups) > 8:
        place["axis"] = {"labelAngle": -45}
    bars = len(points) <= MOST_BARS
    mark: Json = {"type": "bar", "opacity": 0.6} if bars else {"type": "point", "filled": True}
    height: Json = {"field": "value", "type": "quantitative", "title": name, "scale": {"zero": bars}}
    low: Json = {"field": "low", "type": "quantitative", "title": name, "scale": {"zero": bars}}
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


# Before anything is measured.


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a question would cost, and how far off each number would be. Nothing is read, and nothing is spent."""

    text: str
    epsilon: float
    delta: float
    relation: str
    predicted: tuple[Predicted, ...]
    groups: int
    notes: tuple[str, ...]
    explanation: str
    confidence: float = CONFIDENCE

    @classmethod
    def make(cls, plan: Plan, *, text: str, explanation: str | None = None) -> "Preview":
        names = unique([output.name for output in plan.question.outputs])
        found = predicted(plan)
        return cls(
            text=text,
            epsilon=to_float_up(plan.epsilon),
            delta=to_float_up(plan.delta),
            relation=str(plan.relation),
            predicted=tuple(replace(each, name=name) for each, name in zip(found, names, strict=True)),
            groups=max(len(each.domain) for each in plan.decisions()),
            notes=(*plan.assumed, *plan.notes, *([SELECTED] if selects(plan) else [])),
            explanation=explain(plan) if explanation is None else explanation,
        )

    def explain(self) -> str:
        """The plan as a tree: what would be counted, with which noise, at which price."""
        return self.explanation

    def to_json(self) -> Json:
        """A JSON value: what `discreet ask --preview --json` prints."""
        return {
            "question": self.text,
            "columns": [each.name for each in self.predicted],
            "error": {each.name: each.error for each in self.predicted if each.error is not None},
            "reasons": {each.name: each.reason for each in self.predicted if each.reason},
            "assumes": {each.name: each.assumes for each in self.predicted if each.assumes},
            "groups": self.groups,
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "notes": list(self.notes),
        }

    @property
    def _heading(self) -> str:
        return f"predicted error at {100 * self.confidence:g} %"

    def _lines(self) -> Iterator[tuple[str, str]]:
        for each in self.predicted:
            if each.error is None:
                yield visible(each.name), "" if each.reason is None else visible(f"unknown: {each.reason}")
            elif each.error == 0:
                yield visible(each.name), "± 0"
            else:
                error = rounded_up(each.error, 2)
                size = _digits(error, max(0, 1 - floor(log10(error))) if error != int(error) else 0)
                yield visible(each.name), f"± {size}" + (f", at worst, with {each.assumes}" if each.assumes else "")

    def _footer(self) -> list[str]:
        groups = f"{self.groups:,} groups" if self.groups > 1 else "one row"
        return [
            f"would cost {_price(self.epsilon, self.delta)} ({self.relation}), for {groups}; nothing was read or spent",
            *(visible(f"note: {note}") for note in self.notes),
        ]

    def __str__(self) -> str:
        table = [["column", self._heading], *map(list, self._lines())]
        return "\n".join([*_text_table(table, [False, False]), "", *self._footer()])

    def __repr__(self) -> str:
        return str(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.table import Table
        from rich.text import Text

        table = Table(show_edge=False, pad_edge=False, header_style="bold")
        table.add_column("column", overflow="fold")
        table.add_column(self._heading)
        for name, said in self._lines():
            table.add_row(Text(name), Text(said))
        yield table
        yield Text("")
        yield from (Text(line, style="dim") for line in self._footer())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(said)}</td></tr>" for name, said in self._lines())
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._footer())
        head = f"<th>column</th><th>{self._heading}</th>"
        return f'<div class="discreet">{STYLE}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{lines}</div>'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
