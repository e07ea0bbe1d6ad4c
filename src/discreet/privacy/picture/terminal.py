"""A privacy loss as text for a terminal: bars, ε at three δ, and what everybody should know."""

from decimal import Decimal
from fractions import Fraction
from math import inf
from textwrap import wrap
from typing import TYPE_CHECKING

from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.privacy.picture.bars import LINES, bars_of, labels
from discreet.privacy.picture.words import cases, facts, rounded_up

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss

NARROWEST, WIDEST = 40, 200
DELTAS = (Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9))
EIGHTHS = " ▏▎▍▌▋▊▉"


def drawing(loss: "PrivacyLoss", width: int = 72) -> str:
    """The picture as text of at most `width` columns, 40 to 200: bars of the loss, ε at three δ, and the best attacker's success."""
    columns = whole(width, "width")
    if not NARROWEST <= columns <= WIDEST:
        raise Invalid(f"width must be from {NARROWEST} to {WIDEST} columns, got {shown(width)}")
    parts = [_bar_lines(loss, columns), _epsilon_lines(loss, columns)]
    parts += [wrap(fact, columns) for fact in facts(loss)]
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part)


def _bar_lines(loss: "PrivacyLoss", columns: int) -> list[str]:
    series = bars_of(loss, LINES)
    if not series:
        return []
    lines = wrap(
        "Privacy loss, and how likely it is. Above 0 the output speaks for the truth, below 0 against it.", columns
    )
    highest = max(bar.probability for bars in series for bar in bars)
    for case, bars in zip(cases(loss), series, strict=True):
        lines += ["", *wrap(f"When {case}:", columns)] if case else [""]
        losses = labels(bars)
        left = max(len(label) for label in losses)
        room = columns - left - 9
        for label, bar in zip(losses, bars, strict=True):
            lines.append(f"{label:>{left}} │{_blocks(bar.probability / highest, room)} {_share(bar.probability)}")
    return lines


def _blocks(share: float, room: int) -> str:
    """A bar of eighths of a column, and at least one where there is anything to see.

    >>> _blocks(0.5, 3), _blocks(1e-3, 3), _blocks(0.0, 3)
    ('█▌', '▏', '')
    """
    eighths = max(round(8 * room * share), share > 0)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _share(probability: float) -> str:
    if not probability:
        return ""
    return "<0.1%" if probability < 0.001 else f"{100 * probability:.1f}%"


def _epsilon_lines(loss: "PrivacyLoss", columns: int) -> list[str]:
    lines = wrap("(ε, δ)-differentially private, ε rounded up, with", columns)
    for delta in DELTAS:
        epsilon = loss.epsilon(delta)
        said = "no finite ε" if epsilon == inf else f"ε = {rounded_up(Decimal(repr(float(epsilon))))}"
        lines.append(f"  δ = {float(delta):g}: {said}")
    return lines
