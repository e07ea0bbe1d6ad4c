"""The picture of local against central: both errors of a share against the number of people, in SVG, both axes logarithmic."""

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

WIDE, HIGH, LEFT, RIGHT, ABOVE, BELOW = 600, 340, 64, 150, 34, 44
ROOM = 70  # for the words beside a dot
LOCAL, CENTRAL = "#f58518", "#4c78a8"
Points = Sequence[tuple[float, float]]


def svg(title: str, local: Points, central: Points, at: tuple[float, float, float]) -> str:
    """Lines through (people, error) for both ways, and marks at one number of people with its two errors."""
    return _Picture(local, central).drawn(title, at)


class _Picture:
    """The plane of both lines: decades to the right and upward."""

    def __init__(self, local: Points, central: Points) -> None:
        points = [*local, *central]
        self.local, self.central = local, central
        self.first, self.last = (floor(log10(min(n for n, _ in points))), ceil(log10(max(n for n, _ in points))))
        self.low, self.high = (floor(log10(min(e for _, e in points))), ceil(log10(max(e for _, e in points))))

    def place(self, people: float, error: float) -> tuple[float, float]:
        across = (log10(people) - self.first) / (self.last - self.first)
        up = (log10(error) - self.low) / (self.high - self.low)
        return LEFT + across * (WIDE - LEFT - RIGHT), HIGH - BELOW - up * (HIGH - ABOVE - BELOW)

    def drawn(self, title: str, at: tuple[float, float, float]) -> str:
        people, local, central = at
        parts = [
            _text(LEFT, 16, title, weight=' font-weight="bold"'),
            *self._grid(),
            *self._line(self.local, LOCAL, "each randomises", "their own answer"),
            *self._line(self.central, CENTRAL, "a trusted curator", "adds noise to counts"),
            *self._mark(people, local, LOCAL, self._is_left(people, WIDE - RIGHT - ROOM)),
            *self._mark(people, central, CENTRAL, self._is_left(people, LEFT + ROOM)),
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" role="img"'
            ' font-family="system-ui, sans-serif" font-size="12" fill="#333">'
            f"<title>{escape(title)}</title>"
            f'<rect width="{WIDE}" height="{HIGH}" fill="white"/>{"".join(parts)}</svg>'
        )

    def _grid(self) -> list[str]:
        left, bottom = self.place(10**self.first, 10**self.low)
        right, top = self.place(10**self.last, 10**self.high)
        parts = []
        for power in range(self.first, self.last + 1):
            x, _ = self.place(10**power, 10**self.low)
            parts.append(f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}" stroke="#ddd" fill="none"/>')
            parts.append(_power(x, bottom + 17, power, "middle"))
        for power in range(self.low, self.high + 1):
            _, y = self.place(10**self.first, 10.0**power)
            parts.append(f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="#ddd" fill="none"/>')
            parts.append(_power(left - 7, y + 4, power, "end"))
        parts.append(_text((left + right) / 2, HIGH - 8, "people", anchor="middle"))
        return parts

    def _line(self, points: Points, colour: str, *words: str) -> list[str]:
        """The line, and what it is beside its end."""
        places = [self.place(*point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        x, y = places[-1]
        said = [_text(x + 8, y + 15 * row - 10, each, colour=colour) for row, each in enumerate(words)]
        return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *said]

    def _is_left(self, people: float, x: float) -> bool:
        return self.place(people, 10.0**self.low)[0] < x

    def _mark(self, people: float, error: float, colour: str, above: bool) -> list[str]:
        """A dot, with the error above it on the right, or below it on the left: lines fall, and are not there."""
        x, y = self.place(people, error)
        percent = f"{100 * error:.2g}" if error < 1 else f"{100 * error:,.0f}"
        aside, down, anchor = (7, -7, "start") if above else (-7, 14, "end")
        return [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
            _text(x + aside, y + down, f"{percent} %", anchor=anchor, colour=colour),
        ]


def _power(x: float, y: float, power: int, anchor: str) -> str:
    raised = f'<tspan dy="-5" font-size="9">{"−" if power < 0 else ""}{abs(power)}</tspan>'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">10{raised}</text>'


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333", weight: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(words)}</text>'
