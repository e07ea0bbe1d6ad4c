"""The picture of an attack: bars of success, and what is permitted; as an SVG, with intervals and what chance gives, and as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

# In pixels: a character, a row, the width of the bars, and the height of their scale.
LETTER, ROW, WIDE, SCALE = 7, 26, 360, 24
NARROWEST = 8  # columns of a bar of text
STYLE = 'font-family="system-ui, sans-serif" font-size="12" fill="currentColor"'
MARK = "#c44e52"
LEGEND = "bar: share of right guesses, with its 95 % interval · red: the most that ε permits · dotted: a blind guess"


@dataclass(frozen=True, slots=True)
class RateBar:
    """One row: a rate, its interval, the bound (1 is none), and the rate of a blind guess."""

    name: str
    rate: float
    interval: tuple[float, float]
    permitted: float
    chance: float


def svg(title: str, bars: Sequence[RateBar]) -> str:
    """Rows below each other over one scale from 0 to 100 %."""
    left = LETTER * max(len(bar.name) for bar in bars) + 12
    bottom = ROW * (len(bars) + 1)
    width = max(left + WIDE + 60, LETTER * len(LEGEND), LETTER * len(title))
    height = bottom + 2 * SCALE
    scale = "".join(
        f'<text x="{_at(share, left)}" y="{bottom + 16}" text-anchor="middle">{100 * share:.0f} %</text>'
        f'<path d="M{_at(share, left)} {ROW}V{bottom}" stroke="currentColor" opacity="0.15"/>'
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    rows = "".join(_row(bar, left, ROW * (i + 1)) for i, bar in enumerate(bars))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" {STYLE}>'
        f'<text x="0" y="14" font-weight="bold">{escape(title)}</text>{scale}{rows}'
        f'<text x="0" y="{height - 6}" opacity="0.75">{escape(LEGEND)}</text></svg>\n'
    )


def text(bars: Sequence[RateBar], width: int) -> str:
    """Rows of blocks in as many columns, over a scale from 0 to 100 %; a line marks what is permitted.

    >>> print(text([RateBar("exact", 1.0, (0.9, 1.0), 1.0, 0.5), RateBar("ε = 1", 0.5, (0.4, 0.6), 0.75, 0.5)], 20))
    exact ██████████████
    ε = 1 ███████   │
    """
    left = max(len(bar.name) for bar in bars)
    cells = max(width - left - 1, NARROWEST)
    return "\n".join(f"{bar.name:<{left}} {_blocks(bar, cells)}".rstrip() for bar in bars)


def _blocks(bar: RateBar, cells: int) -> str:
    blocks = list("█" * round(cells * bar.rate)) + [" "] * (cells - round(cells * bar.rate))
    if bar.permitted < 1:
        blocks[min(int(cells * bar.permitted), cells - 1)] = "│"
    return "".join(blocks)


def _row(bar: RateBar, left: int, top: int) -> str:
    middle, end = top + ROW / 2, _at(bar.rate, left)
    low, high = (_at(share, left) for share in bar.interval)
    parts = [
        f'<text x="{left - 8}" y="{middle + 4}" text-anchor="end">{escape(bar.name)}</text>',
        f'<rect x="{left}" y="{middle - 7}" width="{end - left:.1f}" height="14" opacity="0.35"/>',
        f'<path d="M{low} {middle}H{high}M{low} {middle - 4}V{middle + 4}M{high} {middle - 4}V{middle + 4}" stroke="currentColor"/>',
        f'<path d="M{_at(bar.chance, left)} {top + 3}V{top + ROW - 3}" stroke="currentColor" stroke-dasharray="2 2"/>',
        f'<text x="{left + WIDE + 8}" y="{middle + 4}">{100 * bar.rate:.3g} %</text>',
    ]
    if bar.permitted < 1:
        x = _at(bar.permitted, left)
        parts.append(f'<path d="M{x} {top + 3}V{top + ROW - 3}" stroke="{MARK}" stroke-width="3"/>')
    return "".join(parts)


def _at(share: float, left: int) -> float:
    """
    >>> _at(0.5, 100)
    280.0
    """
    return round(left + WIDE * share, 1)
