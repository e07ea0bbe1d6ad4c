"""The picture of "questions answered within an error": a panel for each number of cells and of people, a line for each way."""

from collections.abc import Mapping, Sequence
from math import log10

LINES = {
    "weights": ("#4c78a8", "session: weights"),
    "no start": ("#9ecae9", "weights without a start"),
    "histogram": ("#f58518", "noisy histogram"),
    "direct": ("#54a24b", "direct answers"),
}
WIDE, HIGH, LEFT, TOP, GAP = 200, 130, 64, 66, 34
MOST = 100_000
STEPS = (0, 25_000, 50_000, 75_000, 100_000)
SHOWN = (0.0005, 0.002, 0.01, 0.05)


def picture(found: Mapping[tuple[int, int], Mapping[str, Sequence[float]]], widths: Sequence[float]) -> str:
    """Questions up to 100,000 upwards, errors as shares of all people to the right, by their logarithms."""
    rows, columns = sorted({bits for bits, _ in found}), sorted({n for _, n in found})
    width = LEFT + len(columns) * (WIDE + GAP)
    height = TOP + len(rows) * (HIGH + GAP + 16)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(
            LEFT,
            16,
            "Questions of 100,000 that are answered within an error, which is a share of all people",
            bold=True,
        ),
    ]
    for at, (color, name) in enumerate(LINES.values()):
        x = LEFT + at * 168
        lines.append(f'<line x1="{x}" x2="{x + 18}" y1="31" y2="31" stroke="{color}" stroke-width="3"/>')
        lines.append(_text(x + 24, 35, name))
    for row, bits in enumerate(rows):
        for column, n in enumerate(columns):
            x, y = LEFT + column * (WIDE + GAP), TOP + row * (HIGH + GAP + 16)
            lines += _panel(x, y, f"2^{bits} cells, {n:,} people", found[bits, n], widths, labels=column == 0)
    return "\n".join([*lines, "</svg>", ""])


def _panel(
    x: float, y: float, title: str, ways: Mapping[str, Sequence[float]], widths: Sequence[float], *, labels: bool
) -> list[str]:
    bottom = y + HIGH
    found = [
        _text(x, y - 6, title),
        f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#bbb"/>',
    ]
    for share in SHOWN:
        at = x + WIDE * _along(share, widths)
        found.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y}" y2="{bottom}" stroke="#eee"/>')
        found.append(_text(at, bottom + 14, f"{100 * share:g} %", "middle"))
    for step in STEPS:
        at = bottom - HIGH * step / MOST
        found.append(f'<line x1="{x}" x2="{x + WIDE}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>')
        if labels:
            found.append(_text(x - 5, at + 4, f"{step:,}", "end"))
    for name, (color, _) in reversed(LINES.items()):
        points = " ".join(
            f"{x + WIDE * _along(width, widths):.1f},{bottom - HIGH * count / MOST:.1f}"
            for width, count in zip(widths, ways[name], strict=True)
        )
        found.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
    return found


def _along(share: float, widths: Sequence[float]) -> float:
    return log10(share / widths[0]) / log10(widths[-1] / widths[0])


def _text(x: float, y: float, words: str, anchor: str = "start", *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333"{weight}>{words}</text>'
