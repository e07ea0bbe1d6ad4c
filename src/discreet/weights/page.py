"""A report on quality as a page with pictures: one file, which fetches nothing from anywhere. It tells of released values only."""

from collections.abc import Iterator, Sequence

from discreet.weights.model import Round
from discreet.weights.pictures import counts_picture, pairs_picture, text
from discreet.weights.reporting import AttributeCounts, QualityReport
from discreet.weights.wording import counted, error_of, explained, heading, percent, price, worst_first

STYLE = """
:root{color-scheme:light dark;--bar:#4477aa;--soft:rgba(128,128,128,.3)}
body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.1rem;margin:0}
.facts{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}
.facts div{border:1px solid var(--soft);border-radius:.5rem;padding:.5rem 1rem}.facts b{display:block;font-size:1.15rem}
section{border-top:1px solid var(--soft);padding:1rem 0;display:grid;grid-template-columns:16rem 1fr;gap:1rem}
section p{margin:.3rem 0;font-size:.9rem;opacity:.8}svg{width:100%;height:auto;max-width:36rem}
svg text{font:11px system-ui,sans-serif;fill:currentColor}svg rect{fill:var(--bar)}svg circle{fill:currentColor}
svg path{stroke:currentColor;opacity:.7;fill:none}svg rect.none{fill:none;stroke:var(--soft);stroke-dasharray:3}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid var(--soft)}
.wide{grid-column:1/-1}footer{border-top:1px solid var(--soft);font-size:.85rem;opacity:.8}
@media(max-width:45rem){section{grid-template-columns:1fr}}
"""
MOST_ROWS = 500


def page_of(report: QualityReport) -> str:
    """The page; every text in it that others wrote is escaped."""
    title = "Quality of a private model"
    tiles = [
        (report.units, f"about {report.total:,.0f}"),
        ("attributes", f"{len(report.domain.names):,}"),
        ("cells", f"{report.domain.size:,}"),
        ("price of the model", price(report.promise)),
        *([("price of this report", price(report.paid))] if report.paid is not None else []),
    ]
    body = [
        f"<h1>{title}</h1><p>{text(heading(report))}</p>",
        f'<div class="facts">{"".join(f"<div>{text(name)}<b>{text(value)}</b></div>" for name, value in tiles)}</div>',
        *_pairs(report),
        *(_attribute(each) for each in report.attributes),
        *_counts(report),
        *_margins(report),
        *_rounds(report),
        f"<footer>{''.join(f'<p>{text(line)}</p>' for line in explained(report))}</footer>",
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head><body>{"".join(body)}</body></html>\n'


def _section(title: str, lines: Sequence[str], content: str) -> str:
    words = "".join(f"<p>{text(line)}</p>" for line in lines)
    return f"<section><div><h2>{text(title)}</h2>{words}</div>{content}</section>"


def _pairs(report: QualityReport) -> Iterator[str]:
    picture = pairs_picture(report)
    if picture:
        lines = [
            "Each square is a pair of attributes: how far the model's counts by both are off, as a share of all"
            f" {report.units}; the darker, the more."
        ]
        pairs = [each for each in report.margins if len(each.names) == 2]
        if report.paid is None:
            lines.append("The number is the most that it may be, at 95 %.")
        if any(each.high is None for each in pairs):
            lines.append("A question mark: nothing was measured that tells.")
        yield _section("pairs of attributes", lines, picture)


def _attribute(counts: AttributeCounts) -> str:
    lines = ["Bars are the model's counts."]
    if counts.measured is not None:
        lines.append("Dots are the noisy counts that it was made of; lines are how far their noise reaches, at 95 %.")
    return _section(counts.name, lines, counts_picture(counts))


def _counts(report: QualityReport) -> Iterator[str]:
    if report.counts:
        rows = [(each.condition, f"{each.model:,.0f}", counted(each)) for each in report.counts]
        lines = ["How many the model has, and how many were measured, ± at 95 %."]
        yield _section("conditions", lines, _table(("condition", "model", "measured"), rows))


def _margins(report: QualityReport) -> Iterator[str]:
    if report.margins:
        rows = [(", ".join(each.names), f"{each.cells:,}", error_of(each)) for each in worst_first(report)[:MOST_ROWS]]
        more = len(report.margins) - MOST_ROWS
        lines = [
            "The error of each margin, the largest first.",
            *([f"{more:,} more are left out."] if more > 0 else []),
        ]
        yield _section("margins", lines, _table(("margin", "cells", "error"), rows))


def _rounds(report: QualityReport) -> Iterator[str]:
    if report.rounds:
        rows = [
            (f"{number:,}", _chosen(report, each), percent(each.error), f"{each.deviation:,.3g}")
            for number, each in enumerate(report.rounds[:MOST_ROWS], 1)
        ]
        lines = [
            "In this order it was chosen what to measure: how far off the model seemed to be there, noise included, and the"
            " standard deviation of the noise on what was measured then."
        ]
        yield _section("rounds", lines, _table(("round", "chosen", "off by", "noise"), rows))


def _chosen(report: QualityReport, each: Round) -> str:
    if isinstance(each.chosen, int):
        return f"query {each.chosen:,}"
    return ", ".join(report.domain.names[axis] for axis in each.chosen)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{text(each)}</th>" for each in heads)
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
