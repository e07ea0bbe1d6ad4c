"""An answer and a preview as text: plain, and for a terminal with error bars."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from discreet.answer.bars import scale_of, shares
from discreet.answer.digits import HIDDEN, price, short, sign, with_error
from discreet.plan.about import LIMITS
from discreet.plan.interval import Interval
from discreet.plan.scalar import Value
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType

    from discreet.answer.preview import Preview
    from discreet.answer.quote import Quote
    from discreet.answer.record import Answer

# Rows that are shown; all of them are there.
MOST_LINES = 60
# Columns of a text error bar.
BAR = 17
# In notes on what of the data an answer does not hold.
CUT = re.compile("clamped|left out|in no bin|at most|only the|taken as")


def heads(answer: "Answer") -> list[str]:
    """The heading of each column."""
    return [visible(column.head) for column in answer.columns]


def cells(answer: "Answer") -> list[list[str]]:
    """The rows that are shown, as text; the ± of one column are below each other."""
    rows = list(zip(answer.rows, answer.intervals, strict=True))[:MOST_LINES]
    pairs = [
        [with_error(value, span, column) for value, span, column in zip(*row, answer.columns, strict=True)]
        for row in rows
    ]
    widths = [max((len(row[j][1]) for row in pairs), default=0) for j in range(len(answer.columns))]
    return [
        [f"{value} {error:<{width}}" if width else value for (value, error), width in zip(row, widths, strict=True)]
        for row in pairs
    ]


def more(answer: "Answer") -> list[str]:
    """How many rows are not shown, where some are not."""
    left = len(answer.rows) - MOST_LINES
    return [f"… and {left:,} more rows"] if left > 0 else []


def footer(answer: "Answer") -> list[str]:
    """What stands below the rows: what ± means, and how much of a person counts; the price, what is left, and the notes."""
    flags = dict.fromkeys(span.flag for row in answer.intervals for span in row if span is not None and span.flag)
    lines = [f"* {flag}" for flag in flags]
    limits = next((note for note in answer.notes if LIMITS.match(note)), None)
    if any(span is not None for row in answer.intervals for span in row) or not answer.rows:
        lines.append(f"± is {answer.covered}, {answer.confidence_said}{_outside(answer, limits)}.")
    lines.append(f"cost: {price(answer.epsilon, answer.delta, answer.relation)}")
    if answer.remaining:
        lines.append("left: " + ", ".join(f"{sign(name)} = {short(left)}" for name, left in answer.remaining.items()))
    return [visible(line) for line in [*lines, *(f"note: {note}" for note in answer.notes if note != limits)]]


def _outside(answer: "Answer", limits: str | None) -> str:
    """What the ± does not hold, where there is anything: what limits, bounds and keys leave out of the data, whatever they are."""
    if limits is not None:
        return f": {limits}, and what that leaves out is not in it"
    cut = answer.receipt.get("limits") or any(CUT.search(note) for note in answer.notes)
    return ": what is clamped or left out is not in it" if cut else ""


def page(answer: "Answer") -> str:
    """An answer as plain text."""
    table = [heads(answer), *cells(answer)]
    return "\n".join(
        [*_table(table, [column.type.numeric for column in answer.columns]), *more(answer), "", *footer(answer)]
    )


def terminal(answer: "Answer", options: "ConsoleOptions") -> "Iterator[RenderableType]":
    """An answer for a terminal, with error bars for as many columns as there is room."""
    from rich.table import Table
    from rich.text import Text

    lines, names = cells(answer), heads(answer)
    room = options.max_width - sum(max(len(row[j]) for row in [names, *lines]) + 3 for j in range(len(names)))
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    bars: list[list[str]] = []
    for j, column in enumerate(answer.columns):
        table.add_column(Text(names[j]), justify="right" if column.type.numeric else "left", overflow="fold")
        spans = [row[j] for row in answer.intervals[:MOST_LINES]]
        column_bars = _bars(spans, [row[j] for row in answer.rows[:MOST_LINES]])
        bars.append(column_bars if room >= BAR + 3 else [])
        if bars[j]:
            room -= BAR + 3
            table.add_column("", no_wrap=True, style="cyan")
    for i, line in enumerate(lines):
        row: list[Text] = []
        for j, cell in enumerate(line):
            row += [Text(cell), *([Text(bars[j][i])] if bars[j] else [])]
        table.add_row(*row)
    yield table
    yield from (Text(line) for line in [*more(answer), ""])
    yield from (Text(line, style="dim") for line in footer(answer))


def preview_footer(preview: "Preview") -> list[str]:
    """What stands below the predicted errors: the price, and the notes."""
    groups = "one row" if preview.groups == 1 else "the groups that are found"
    groups = f"{preview.groups:,} groups" if preview.groups is not None and preview.groups != 1 else groups
    cost = f"would cost {price(preview.epsilon, preview.delta, preview.relation)}, for {groups}"
    free = [] if preview.free is None else [preview.free.sentence]
    return [f"{cost}; nothing was read or spent", *free, *(visible(f"note: {note}") for note in preview.notes)]


def preview_page(preview: "Preview") -> str:
    """A preview as plain text."""
    table = [["column", preview.heading], *map(list, preview.lines())]
    return "\n".join([*_table(table, [False, False]), "", *preview_footer(preview)])


def quote_footer(quote: "Quote") -> list[str]:
    """What stands below a quote: what its columns say, what is left, why some ± are not known, and the notes."""
    relation = quote.previews[0].relation
    lines = [
        f"the ± of each column at {100 * quote.confidence:g} %, by the price ({HIDDEN.get(relation, relation)});"
        " nothing was read or spent",
        "left: " + ", ".join(f"{sign(name)} = {short(left)}" for name, left in quote.left.items()),
        *(f"{name} is at worst, with {assumed}" for name, assumed in quote.assumes.items()),
        *(f"{name} is unknown: {reason}" for name, reason in quote.reasons.items()),
    ]
    return [visible(line) for line in [*lines, *(f"note: {note}" for note in quote.notes)]]


def quote_page(quote: "Quote") -> str:
    """A quote as plain text."""
    table = quote.table()
    return "\n".join([*_table(table, [True] * len(table[0])), "", *quote_footer(quote)])


def quote_terminal(quote: "Quote") -> "Iterator[RenderableType]":
    """A quote for a terminal."""
    from rich.table import Table
    from rich.text import Text

    heads, *rows = quote.table()
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(Text(head), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    yield table
    yield Text("")
    yield from (Text(line, style="dim") for line in quote_footer(quote))


def preview_terminal(preview: "Preview") -> "Iterator[RenderableType]":
    """A preview for a terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column(preview.heading)
    for name, error in preview.lines():
        table.add_row(Text(name), Text(error))
    yield table
    yield Text("")
    yield from (Text(line, style="dim") for line in preview_footer(preview))


def _table(table: Sequence[Sequence[str]], numbers: Sequence[bool]) -> list[str]:
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    lines = [
        "  ".join(
            f"{cell:>{w}}" if number else f"{cell:<{w}}" for cell, w, number in zip(row, widths, numbers, strict=True)
        )
        for row in table
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return [line.rstrip() for line in lines]


def _bars(spans: Sequence[Interval | None], values: Sequence[Value]) -> list[str]:
    scale = scale_of(spans)
    return [] if scale is None else [_bar(span, value, scale) for span, value in zip(spans, values, strict=True)]


def _bar(span: Interval | None, value: Value, scale: tuple[float, float]) -> str:
    """
    >>> _bar(Interval(2, 6, 2), 4, (0.0, 8.0))
    '    ├───●───┤'
    """
    places = shares(span, value, scale)
    if places is None:
        return ""
    low, at, high = (round((BAR - 1) * share) for share in places)
    line = [" "] * BAR
    line[low : high + 1] = "─" * (high + 1 - low)
    line[low], line[high] = "├", "┤"
    line[at] = "●"
    return "".join(line).rstrip()
