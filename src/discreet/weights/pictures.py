"""Pictures of a report on quality, in SVG: the counts of an attribute, and the errors of pairs of attributes."""

from collections.abc import Sequence
from html import escape

from discreet.weights.reporting import AttributeCounts, QualityReport
from discreet.weights.wording import percent, visible

WIDE, LINE, LABEL, NUMBER, TALL = 560, 18, 150, 84, 130
LONGEST, MOST_BARS, MOST_ATTRIBUTES = 22, 24, 24
SQUARE, SIDE = 46, 120


def text(words: str) -> str:
    """Words of others inside of a page."""
    return escape(visible(words))


def short(words: str, most: int = LONGEST) -> str:
    """Words that fit beside a bar."""
    return words if len(words) <= most else words[: most - 1] + "…"


def counts_picture(counts: AttributeCounts) -> str:
    """The model's counts as bars, and what was measured as dots, with lines as long as its noise reaches."""
    return _lying(counts) if len(counts.labels) <= MOST_BARS else _standing(counts)


def _top(counts: AttributeCounts) -> float:
    measured = counts.measured or ()
    return max([1.0, *counts.model, *(value + counts.error for value in measured)])


def _lying(counts: AttributeCounts) -> str:
    top, wide = _top(counts), WIDE - LABEL - NUMBER
    parts = []
    for place, (label, count) in enumerate(zip(counts.labels, counts.model, strict=True)):
        y = place * LINE
        parts.append(f'<text x="{LABEL - 6}" y="{y + 13}" text-anchor="end">{text(short(label))}</text>')
        parts.append(f'<rect x="{LABEL}" y="{y + 3}" width="{wide * count / top:.1f}" height="{LINE - 6}"/>')
        if counts.measured is not None:
            low, at, high = _places(counts.measured[place], counts.error, top, wide)
            parts.append(f'<path d="M{LABEL + low:.1f} {y + LINE / 2}H{LABEL + high:.1f}"/>')
            parts.append(f'<circle cx="{LABEL + at:.1f}" cy="{y + LINE / 2}" r="2.5"/>')
        parts.append(f'<text x="{WIDE}" y="{y + 13}" text-anchor="end">{count:,.0f}</text>')
    return _framed(WIDE, len(counts.labels) * LINE, parts, f"counts of {counts.name}")


def _standing(counts: AttributeCounts) -> str:
    top, width = 1.04 * _top(counts), WIDE / len(counts.labels)
    parts = []
    for place, count in enumerate(counts.model):
        x, high = place * width, TALL * count / top
        parts.append(f'<rect x="{x:.2f}" y="{TALL - high:.1f}" width="{width * 0.8:.2f}" height="{high:.1f}"/>')
        if counts.measured is not None:
            low, at, up = _places(counts.measured[place], counts.error, top, TALL)
            middle = x + width * 0.4
            parts.append(f'<path d="M{middle:.2f} {TALL - low:.1f}V{TALL - up:.1f}"/>')
            parts.append(f'<circle cx="{middle:.2f}" cy="{TALL - at:.1f}" r="{min(2.5, width / 3):.1f}"/>')
    first, last = text(short(counts.labels[0], 30)), text(short(counts.labels[-1], 30))
    parts.append(f'<text x="0" y="{TALL + 13}">{first}</text>')
    parts.append(f'<text x="{WIDE}" y="{TALL + 13}" text-anchor="end">{last}</text>')
    return _framed(WIDE, TALL + LINE, parts, f"counts of {counts.name}")


def _places(value: float, error: float, top: float, long: float) -> tuple[float, float, float]:
    """Where an interval begins, its middle and its end lie on a scale from 0 to the top; what is below 0 is at 0."""
    low, at, high = (long * min(max(each, 0.0), top) / top for each in (value - error, value, value + error))
    return low, at, high


def pairs_picture(report: QualityReport) -> str:
    """The error of each pair of attributes: the darker the larger; dashed where it is not known. Empty where there are no pairs."""
    names = report.domain.names
    if not 2 <= len(names) <= MOST_ATTRIBUTES or not any(len(each.names) == 2 for each in report.margins):
        return ""
    errors = {frozenset(each.names): each for each in report.margins if len(each.names) == 2}
    top = max([0.0, *(each.error or each.high or 0.0 for each in errors.values())]) or 1.0
    parts = []
    for row, name in enumerate(names[1:], 1):
        y = (row - 1) * SQUARE
        parts.append(f'<text x="{SIDE - 8}" y="{y + 27}" text-anchor="end">{text(short(name, 16))}</text>')
        for column, other in enumerate(names[:row]):
            if (margin := errors.get(frozenset((name, other)))) is not None:
                worst = margin.error if margin.error is not None else margin.high
                parts.append(_square(SIDE + column * SQUARE, y, worst, top, f"{name}, {other}"))
    foot = (len(names) - 1) * SQUARE
    for column, name in enumerate(names[:-1]):
        x = SIDE + column * SQUARE + SQUARE / 2
        turned = f'transform="rotate(-40 {x} {foot + 14})"'
        parts.append(f'<text x="{x}" y="{foot + 14}" text-anchor="end" {turned}>{text(short(name, 16))}</text>')
    return _framed(
        max(WIDE, SIDE + len(names) * SQUARE),
        foot + 20 + 5 * min(16, max(map(len, names))),
        parts,
        "errors of pairs of attributes",
    )


def _square(x: float, y: float, error: float | None, top: float, title: str) -> str:
    size = SQUARE - 4
    if error is None:
        said, inside = "?", f'<rect class="none" x="{x}" y="{y}" width="{size}" height="{size}"/>'
    else:
        said = percent(float(f"{error:.2g}"))
        inside = (
            f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill-opacity="{0.08 + 0.72 * error / top:.2f}"/>'
        )
    words = (
        f'<text x="{x + size / 2}" y="{y + size / 2 + 4}" text-anchor="middle">{text(said.replace(" %", "%"))}</text>'
    )
    return f"<g><title>{text(title)}: {text(said)}</title>{inside}{words}</g>"


def _framed(wide: float, tall: float, parts: Sequence[str], label: str) -> str:
    return f'<svg viewBox="0 0 {wide:g} {tall:g}" role="img" aria-label="{text(label)}">{"".join(parts)}</svg>'
