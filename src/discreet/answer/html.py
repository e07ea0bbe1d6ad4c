"""An answer and a preview as HTML: a table with error bars in the colour of the text, whatever the page's colours are."""

from html import escape
from typing import TYPE_CHECKING

from discreet.answer.bars import scale_of, shares
from discreet.answer.text import MOST_LINES, cells, footer, heads, more, preview_footer, quote_footer
from discreet.plan.interval import Interval
from discreet.plan.scalar import Value

if TYPE_CHECKING:
    from discreet.answer.preview import Preview
    from discreet.answer.quote import Quote
    from discreet.answer.record import Answer

STYLE = """<style>
.discreet table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.discreet th,.discreet td{padding:.2em .8em;text-align:left;border-bottom:1px solid rgba(128,128,128,.35);white-space:pre}
.discreet td.number{text-align:right}
.discreet svg{display:inline-block;vertical-align:middle;margin-left:.6em;color:inherit}
.discreet p{margin:.3em 0;font-size:.85em;opacity:.75}
</style>"""
WIDE, TALL = 120, 14


def page(answer: "Answer", style: bool) -> str:
    """An answer as a part of a page; without `style` it looks as the page has it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads(answer))
    scales = [scale_of([row[j] for row in answer.intervals[:MOST_LINES]]) for j in range(len(answer.columns))]
    body = []
    for i, line in enumerate(cells(answer)):
        row = []
        for j, cell in enumerate(line):
            bar = _bar(answer.intervals[i][j], answer.rows[i][j], scales[j])
            kind = ' class="number"' if answer.columns[j].type.numeric else ""
            row.append(f"<td{kind}>{escape(cell)}{bar}</td>")
        body.append(f"<tr>{''.join(row)}</tr>")
    return _framed(head, "".join(body), [*more(answer), *footer(answer)], style)


def preview_page(preview: "Preview", style: bool) -> str:
    """A preview as a part of a page."""
    head = f"<th>column</th><th>{preview.heading}</th>"
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(error)}</td></tr>" for name, error in preview.lines())
    return _framed(head, body, preview_footer(preview), style)


def quote_page(quote: "Quote", style: bool) -> str:
    """A quote as a part of a page."""
    heads, *rows = quote.table()
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    lines = ["".join(f'<td class="number">{escape(cell)}</td>' for cell in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return _framed(head, body, quote_footer(quote), style)


def _framed(head: str, body: str, lines: list[str], style: bool) -> str:
    below = "".join(f"<p>{escape(line)}</p>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="discreet">{STYLE if style else ""}{table}{below}</div>'


def _bar(span: Interval | None, value: Value, scale: tuple[float, float] | None) -> str:
    places = None if scale is None else shares(span, value, scale)
    if places is None:
        return ""
    low, at, high = (round(3 + (WIDE - 6) * share, 1) for share in places)
    y = TALL / 2
    return (
        f'<svg width="{WIDE}" height="{TALL}" role="img" aria-label="interval">'
        f'<path d="M{low} {y}H{high}M{low} 3V{TALL - 3}M{high} 3V{TALL - 3}" stroke="currentColor" fill="none"/>'
        f'<circle cx="{at}" cy="{y}" r="2.5" fill="currentColor"/></svg>'
    )
