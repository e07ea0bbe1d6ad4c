"""An answer: released values, how far off each may be, and the receipt; how it is stored and read again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.answer import chart, citation, encoded, exports, html, svg, text
from discreet.answer.columns import Column, columns_of
from discreet.answer.digits import json_value
from discreet.answer.left import Left, amounts
from discreet.answer.packed import Packed, checked, packed, unpacked
from discreet.answer.receipt import receipt_for
from discreet.errors import Invalid, Refused
from discreet.exact import shown, to_float_up
from discreet.plan.catalog import suggestion
from discreet.plan.counted import counted
from discreet.plan.explain import explain
from discreet.plan.interval import Cells, IntervalColumn, Intervals
from discreet.plan.intervals import certain_intervals, intervals
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.plan import Plan
from discreet.plan.post import optimistic, released_rows
from discreet.plan.scalar import Type, Value

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

Json: TypeAlias = dict[str, Any]

# Of stored answers: the first had intervals at one confidence alone, and not what they are made of.
FORMATS = (1, 2)
FORMAT = FORMATS[-1]
SELECTED = "rows were selected by released values, which makes their intervals optimistic"
KNOWN_NOISE = "NOT PRIVATE: the noise came from a source that someone may know"


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What a question gave: rows, an interval for each number, the price, and the receipt.

    It is a sequence of rows: `len(answer)`, `for row in answer` (dictionaries), and `answer["n"]` for the values of a column.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    # None for keys, and for what is not a number.
    intervals: Sequence[Cells]
    confidence: float
    epsilon: float
    delta: float
    relation: str
    # Bounds and rules that applied: properties of the question.
    notes: tuple[str, ...]
    receipt: Json
    _explanation: str
    remaining: Json | None = None
    _released: Packed | None = None
    _counted: str = field(default="", compare=False)

    @classmethod
    def make(
        cls, plan: Plan, released: Sequence[Any], *, text: str, receipt: Mapping[str, Any] | None = None
    ) -> "Answer":
        """The answer to a question from what was released: one int64 array over the plan's groups for each measurement.

        `receipt` adds what only the caller knows: "private" (False where the noise came from a source that someone may know),
        "data_version", "ledger" (where the charge is written).
        """
        table = released_rows(plan, released)
        proof = {**receipt_for(plan, text, (receipt or {}).get("plan")), **(receipt or {})}
        notes = [*plan.assumed, *plan.told, *([SELECTED] if optimistic(plan) else [])]
        return cls(
            columns=columns_of(plan),
            rows=table.rows,
            intervals=intervals(plan, released, table),
            confidence=CONFIDENCE,
            epsilon=to_float_up(plan.epsilon),
            delta=to_float_up(plan.delta),
            relation=str(plan.relation),
            notes=tuple(notes if proof["private"] else [KNOWN_NOISE, *notes]),
            receipt=json.loads(encoded.canonical(proof)),  # as it is read again
            _explanation=explain(plan),
            _released=packed(released),
            _counted=counted(plan.question),
        )

    def with_remaining(self, left: Left | None) -> "Answer":
        """This answer with the budget that is left now, rounded down."""
        return replace(self, remaining=None if left is None else amounts(left))

    def with_ledger(self, ledger: Mapping[str, Any]) -> "Answer":
        """This answer, whose receipt says where the charge is written."""
        return replace(self, receipt={**self.receipt, "ledger": dict(ledger)})

    def told(self, plan: Plan) -> "Answer":
        """This answer in the words for whoever asked: what they did not declare, or lack, is said first; headings are theirs."""
        unsafe = [note for note in self.notes if note == KNOWN_NOISE]
        others = [note for note in self.notes if note not in (*unsafe, *plan.assumed)]
        plan = plan.again(self.receipt.get("outcomes", ()))
        outputs = plan.question.outputs
        columns = [replace(each, heading=now.heading) for each, now in zip(self.columns, outputs, strict=True)]
        notes = (*unsafe, *plan.assumed, *others)
        told = replace(self, columns=tuple(columns), _counted=counted(plan.question))
        return told if notes == self.notes else replace(told, notes=notes, _explanation=explain(plan))

    @property
    def covered(self) -> str:
        """What the ± and the intervals are for, in words."""
        if self.receipt.get("population"):
            return (
                "for the noise and for the people who were sampled, as if drawn independently from a large population"
            )
        return "for the noise alone"

    @property
    def confidence_said(self) -> str:
        """How surely they hold, in words."""
        together = " for all numbers at once" if self.receipt.get("simultaneous") else ""
        return f"at {100 * self.confidence:g} %{together}"

    def at(self, plan: Plan, confidence: float) -> "Answer":
        """This answer, of this plan, with its intervals at another confidence: the same release, told otherwise, at no price.

        An answer that an earlier release kept has no more than its own intervals. Where these hang on what was released it is Refused.
        """
        if confidence == self.confidence:
            return self
        plan = plan.again(self.receipt.get("outcomes", ()))
        if self._released is None:
            again = certain_intervals(plan, self.rows, confidence)
        else:
            released = unpacked(self._released)
            table = released_rows(plan, released)
            again = intervals(plan, released, table, confidence) if table.rows == self.rows else None
        if again is None:
            raise Refused(
                f"this answer was kept by an earlier release, with its ± at {100 * self.confidence:g} % alone",
                code="confidence",
                hint="leave confidence out: that is free; or ask at another price",
            )
        return replace(self, intervals=again, confidence=confidence)

    def cite(self) -> str:
        """What may be published under the table: what was counted, what is promised to each person, which limits applied, and what ± means.

        It is made of the question and of what was released. An answer that is not private, as its noise may be known, has no such words.
        """
        return citation.cited(self, self._counted)

    def explain(self) -> str:
        """The plan as a tree: what was counted, with which noise, at which price."""
        return self._explanation

    # Values.

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return iter(self.to_dicts())

    def __getitem__(self, name: str) -> list[Value]:
        """The values of a column, in the order of the rows."""
        for j, column in enumerate(self.columns):
            if name in (column.name, column.head):
                return [row[j] for row in self.rows]
        names = [column.name for column in self.columns]
        hint = (
            suggestion(name, names, "the columns are")
            if isinstance(name, str)
            else "write answer['n'], or answer.rows[0]"
        )
        raise Invalid(f"column {shown(name)} not found in the answer", code="column", hint=hint)

    def to_dicts(self, errors: bool = False) -> list[dict[str, Value]]:
        """The rows. With `errors` each number also has its ±, and the ends of its interval, as NAME_error, NAME_low, NAME_high."""
        names, rows = exports.flat(self, errors)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def to_pandas(self, errors: bool = False) -> Any:
        """A pandas DataFrame of the rows."""
        return exports.pandas_frame(self, errors)

    def to_polars(self, errors: bool = False) -> Any:
        """A Polars DataFrame of the rows."""
        return exports.polars_frame(self, errors)

    def to_arrow(self, errors: bool = False) -> Any:
        """A pyarrow Table of the rows."""
        return exports.arrow_table(self, errors)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any library that reads Arrow, without a copy through Python."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_csv(self, path: str | PathLike[str] | None = None, errors: bool = True) -> str | None:
        """CSV as text, or into a file. Texts that a spreadsheet would take for a formula begin with an apostrophe; numbers never do."""
        csv = exports.csv_text(self, errors)
        if path is None:
            return csv
        Path(path).write_text(csv, "utf-8", newline="")
        return None

    # Storing.

    def to_json(self) -> Json:
        """A JSON value: what `discreet ask --json` prints."""
        names = [column.name for column in self.columns]
        cells = [
            [(name, span) for name, span in zip(names, spans, strict=True) if span is not None]
            for spans in self.intervals
        ]
        return {
            **self._about(),
            "rows": [dict(zip(names, map(json_value, row), strict=True)) for row in self.rows],
            "error": [{name: span.error for name, span in row} for row in cells],
            "interval": [{name: [span.low, span.high] for name, span in row} for row in cells],
            "flags": [{name: span.flag for name, span in row if span.flag} for row in cells],
        }

    def _about(self) -> Json:
        """All but the cells."""
        return {
            "columns": [column.name for column in self.columns],
            "types": {column.name: column.type.value for column in self.columns},
            "keys": [column.name for column in self.columns if column.key],
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "notes": list(self.notes),
            "remaining": self.remaining,
            "receipt": self.receipt,
        }

    def to_bytes(self) -> bytes:
        """The answer as a ledger keeps it: the same bytes for equal answers. They are the canonical JSON of `to_json`, and more."""
        body = {"format": FORMATS[0], "explanation": self._explanation, **self._about()}
        if self._released is not None:
            body |= {"format": FORMAT, "released": self._released}
        members = {name: encoded.canonical(part) for name, part in body.items()}
        members |= encoded.cells([column.name for column in self.columns], self.rows, Intervals.of(self.intervals))
        return ("{" + ",".join(f'"{name}":{members[name]}' for name in sorted(members)) + "}").encode("ascii")

    @classmethod
    def from_bytes(cls, stored: bytes) -> "Answer":
        """The answer that `to_bytes` wrote; for anything else raises Invalid."""
        try:
            body = json.loads(stored)
            if body["format"] not in FORMATS:
                raise Invalid(
                    f"the stored answer has format {body['format']!s:.20}, and this release reads up to {FORMAT}",
                    hint="use a newer release of discreet",
                )
            answer = cls._read(body)
            if answer.to_bytes() != stored:
                raise Invalid("these bytes are not a stored answer as it was written")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, Invalid):
                raise
            raise Invalid("these bytes are not a stored answer") from error
        return answer

    @classmethod
    def _read(cls, body: Json) -> "Answer":
        columns = tuple(Column(name, Type(body["types"][name]), name in body["keys"]) for name in body["columns"])
        if len({len(body[part]) for part in ("rows", "error", "interval", "flags")}) > 1:
            raise Invalid("a stored answer has an error, an interval and flags for each row")
        names = [column.name for column in columns]
        values = [[_stored(row[column.name], column.type) for row in body["rows"]] for column in columns]
        spans = [_intervals(name, body["error"], body["interval"], body["flags"]) for name in names]
        return cls(
            columns=columns,
            rows=tuple(zip(*values, strict=True)),
            intervals=Intervals(spans, len(body["rows"])),
            confidence=body["confidence"],
            epsilon=body["epsilon"],
            delta=body["delta"],
            relation=body["relation"],
            notes=tuple(body["notes"]),
            receipt=body["receipt"],
            _explanation=body["explanation"],
            remaining=body["remaining"],
            _released=None if body["format"] == FORMATS[0] else checked(body["released"]),
        )

    # Showing.

    def __str__(self) -> str:
        return text.page(self)

    def __repr__(self) -> str:
        return str(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        return text.terminal(self, options)

    def to_html(self, style: bool = True) -> str:
        """The answer as a part of a page, with error bars; without `style` it looks as the page has it."""
        return html.page(self, style)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.to_html()}

    def plot(self) -> "chart.Chart":
        """A picture as a Vega-Lite specification, which notebooks draw: a panel for each number, with its intervals, by its keys."""
        return chart.Chart(chart.specification(self), svg.svg_of(self))

    def to_svg(self, path: str | PathLike[str] | None = None) -> str | None:
        """The picture of `plot` as an SVG, as text or into a file: it needs nothing to be drawn but a browser."""
        picture = svg.svg_of(self)
        if path is None:
            return picture
        Path(path).write_text(picture, "utf-8")
        return None


# Values as they are stored.


def _stored(value: Any, type_: Type) -> Value:
    if type_ is Type.DATE and value is not None:
        return date.fromisoformat(value)
    if type_ is Type.TIMESTAMP and value is not None:
        return datetime.fromisoformat(value)
    if value is not None and not isinstance(value, str | int | float):
        raise Invalid(f"a stored value must be a text or a number, got {shown(value)}")
    return value


def _intervals(name: str, errors: Sequence[Json], ends: Sequence[Json], flags: Sequence[Json]) -> IntervalColumn | None:
    """The intervals of one column, from the objects of all rows."""
    absent = frozenset(i for i, row in enumerate(errors) if name not in row)
    if len(absent) == len(errors):
        return None
    pairs = [[None, None] if i in absent else row[name] for i, row in enumerate(ends)]
    low, high = map(list, zip(*pairs, strict=True))
    return IntervalColumn(low, high, [row.get(name) for row in errors], [row.get(name) for row in flags], absent)
