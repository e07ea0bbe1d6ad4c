"""A survey as a page with pictures: one file, which fetches nothing from anywhere. It is a picture of what was released."""

from collections.abc import Iterator, Sequence
from html import escape

from discreet.answer.digits import key_text, price
from discreet.curator.survey.record import ColumnFacts, KeyCounts, Ladder, Range, SurveyFacts
from discreet.curator.survey.text import about, end, kind_of, missing, number
from discreet.plan.scalar import Type
from discreet.plan.visible import visible

STYLE = """
:root{color-scheme:light dark;--bar:#4477aa;--soft:rgba(128,128,128,.3)}
body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.1rem;margin:0}
.facts{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}
.facts div{border:1px solid var(--soft);border-radius:.5rem;padding:.5rem 1rem}.facts b{display:block;font-size:1.15rem}
section{border-top:1px solid var(--soft);padding:1rem 0;display:grid;grid-template-columns:16rem 1fr;gap:1rem}
section p{margin:.3rem 0;font-size:.9rem;opacity:.8}svg{width:100%;height:auto;max-width:36rem}
svg text{font:11px system-ui,sans-serif;fill:currentColor}svg rect{fill:var(--bar)}
svg path{stroke:currentColor;opacity:.55;fill:none}footer{border-top:1px solid var(--soft);font-size:.85rem;opacity:.8}
@media(max-width:45rem){section{grid-template-columns:1fr}}
"""
WIDE, TALL, LINE, LABEL, LETTER = 560, 130, 18, 150, 7
MOST_BARS, LONGEST = 20, 22


def page_of(facts: SurveyFacts) -> str:
    """The page; every text of the data in it is a key that was released, and escaped."""
    title = f"Survey of {facts.table}"
    tiles = [("people" if facts.person else "rows", number(facts.people))]
    tiles += [("rows", number(facts.rows))] if facts.rows is not None else []
    tiles += [("columns", f"{len(facts.columns)}"), ("data version", facts.version)]
    body = [
        f"<h1>{_text(title)}</h1><p>{_text(_whose(facts))}</p>",
        f'<div class="facts">{"".join(f"<div>{_text(name)}<b>{_text(value)}</b></div>" for name, value in tiles)}</div>',
        *([_rows(facts.per_person, facts.rows_limit)] if facts.per_person is not None else []),
        *(_column(column, facts) for column in facts.columns),
        f"<footer>{''.join(f'<p>{_text(line)}</p>' for line in _foot(facts))}</footer>",
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_text(title)}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(body)}</body></html>\n'


def _text(text: str) -> str:
    return escape(visible(text))


def _whose(facts: SurveyFacts) -> str:
    return "A private profile. " + (
        "It is for everybody." if facts.analyst is None else f"It is for {facts.analyst} alone."
    )


def _foot(facts: SurveyFacts) -> Iterator[str]:
    yield f"Every number has noise; ± is for the noise alone, at 95 %. {price(facts.epsilon, facts.delta, facts.relation)}."
    if facts.left_out:
        yield f"Not asked about: {', '.join(facts.left_out)}."
    yield from facts.notes


def _rows(ladder: Ladder, most: int | None) -> str:
    limit = ladder.limit()
    shown = [i for i, rung in enumerate(ladder.rungs) if rung <= limit]
    labels = [f"{ladder.rungs[i]:,}" for i in shown]
    picture = standing([ladder.counts[i] for i in shown], labels, 1.96 * ladder.deviation)
    words = "Each bar is of the people with at most so many rows, and more than the one before. "
    words += f"In the number of rows a person counts with {most:,} at most."
    return f"<section><div><h2>rows of a person</h2><p>{_text(words)}</p></div>{picture}</section>"


def _column(column: ColumnFacts, facts: SurveyFacts) -> str:
    picture = ""
    if column.range is not None:
        picture = histogram(column.range, column.type)
    elif column.counted is not None and column.counted.people:
        picture = lying(column.counted)
    gone = f"without a value: {number(missing(column, facts.people))}"
    words = [kind_of(column), about(column) if not picture or column.range else "", gone]
    if column.max_groups is not None and column.max_groups > 1:
        words.append(f"about everybody has at most {column.max_groups} of these keys")
    told = "".join(f"<p>{_text(line)}</p>" for line in words if line)
    return f"<section><div><h2>{_text(column.name)}</h2>{told}</div>{picture or '<div></div>'}</section>"


def histogram(found: Range, kind: Type) -> str:
    """The bins from the lower bound to the upper one."""
    inside = [i for i in range(len(found.counts)) if found.edges[i] >= found.low and found.edges[i + 1] <= found.high]
    labels = [end(found.edges[i], kind) for i in inside]
    return standing([found.counts[i] for i in inside], labels, found.error)


def standing(counts: Sequence[float], labels: Sequence[str], error: float) -> str:
    """Bars beside each other, with the error of each; a few of them are labelled."""
    top = max([*counts, error, 1.0]) + error
    width = WIDE / max(1, len(counts))
    every = max(1, -(-len(counts) * max(map(len, labels), default=1) * LETTER // WIDE))
    parts = []
    for i, (count, label) in enumerate(zip(counts, labels, strict=True)):
        high, x = TALL * max(0.0, count) / top, i * width
        parts.append(
            f'<rect x="{x + width * 0.1:.1f}" y="{TALL - high:.1f}" width="{width * 0.8:.1f}" height="{high:.1f}"/>'
        )
        low, up = (TALL - TALL * min(max(0.0, count + e), top) / top for e in (-error, error))
        parts.append(f'<path d="M{x + width / 2:.1f} {low:.1f}V{up:.1f}"/>')
        if i % every == 0 and x + len(label) * LETTER <= WIDE:
            parts.append(f'<text x="{x:.1f}" y="{TALL + 13}">{_text(label)}</text>')
    return f'<svg viewBox="0 0 {WIDE} {TALL + LINE}" role="img" aria-label="people">{"".join(parts)}</svg>'


def lying(counted: KeyCounts) -> str:
    """Bars below each other, the largest first."""
    shown, error = counted.people[:MOST_BARS], counted.error
    top = max(count for _, count in shown) + error
    parts = []
    for i, (key, count) in enumerate(shown):
        y, long = i * LINE, (WIDE - LABEL - 90) * count / top
        name = key_text(key)
        label = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
        parts.append(f'<text x="{LABEL - 6}" y="{y + 13}" text-anchor="end">{_text(label)}</text>')
        parts.append(f'<rect x="{LABEL}" y="{y + 3}" width="{long:.1f}" height="{LINE - 6}"/>')
        low, up = (LABEL + (WIDE - LABEL - 90) * max(0.0, count + e) / top for e in (-error, error))
        parts.append(f'<path d="M{low:.1f} {y + LINE / 2}H{up:.1f}"/>')
        parts.append(f'<text x="{WIDE - 84}" y="{y + 13}">{_text(f"{count:,.0f} ± {error:,.0f}")}</text>')
    more = len(counted.people) - len(shown)
    if more > 0:
        parts.append(f'<text x="{LABEL}" y="{len(shown) * LINE + 13}">… and {more:,} more</text>')
    return f'<svg viewBox="0 0 {WIDE} {(len(shown) + (more > 0)) * LINE}" role="img" aria-label="people by key">{"".join(parts)}</svg>'
