"""An audit of what is installed: every subject, within a time, as a table and a picture of what is claimed and what is shown."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import inf
from typing import Any

from discreet.audit.subjects import Finding, Subject, every, of_policy
from discreet.curator.policy import Policy
from discreet.exact import Number, positive, whole
from discreet.plan.visible import visible

# Outputs a side of each subject, and seconds for all of them; slow ones get fewer outputs.
SAMPLES, SECONDS = 20_000, 45
# In pixels: a line of the picture, a letter, the width of the scale.
LINE, LETTER, WIDE = 20, 6.6, 360
LONGEST = 64

Step = Callable[[int, int, str], object]
"""Told before each subject: how many are done, how many there are, and what is next."""


@dataclass(frozen=True, slots=True, repr=False)
class Examination:
    """What was found of all subjects; as text a table."""

    findings: tuple[Finding, ...]

    @property
    def fails(self) -> tuple[Finding, ...]:
        """Those whose claim was shown not to hold."""
        return tuple(each for each in self.findings if each.fails)

    def as_data(self) -> list[dict[str, Any]]:
        """The findings as JSON can hold them."""
        return [each.as_data() for each in self.findings]

    def __str__(self) -> str:
        head = ("part", "what", "claimed ε", "δ", "certified", "verdict")
        body = [
            (
                each.part,
                _short(each.name),
                f"{each.epsilon:.4g}",
                f"{each.delta:g}",
                f"≥ {float(each.bound):.3f}",
                visible(each.verdict),
            )
            for each in self.findings
        ]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *body)]
        return "\n".join([*(line.rstrip() for line in lines), "", self.summary])

    __repr__ = __str__

    @property
    def summary(self) -> str:
        """In one sentence: how many were tried, and how many failed."""
        count = len(self.fails)
        failed = "none fails" if not count else f"{count} FAIL{'S' if count == 1 else ''}"
        return f"{len(self.findings)} claims were tried, each at a confidence of 1 − 1e-6: {failed}. What holds out is not proven."

    def to_svg(self) -> str:
        """A picture: for each subject what is claimed, as a line, and what was certified, as a bar."""
        finite = [each.epsilon for each in self.findings if each.epsilon < inf]
        most = max([*finite, *(float(each.bound) for each in self.findings), 1e-9])
        left = LETTER * max((len(_short(each.name)) for each in self.findings), default=0) + 12
        rows = "".join(_row(at, each, left, most) for at, each in enumerate(self.findings))
        height = LINE * (len(self.findings) + 2)
        width = left + WIDE + 190
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
            ' role="img" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
            "<title>claimed ε and certified lower bound</title>"
            '<text x="0" y="14" font-weight="bold">certified lower bound (bar) against claimed ε (line), by √ε</text>'
            f"{rows}</svg>"
        )


def _row(at: int, finding: Finding, left: float, most: float) -> str:
    """One subject: roots, so that small ones are seen beside large ones."""
    y = LINE * (at + 1.5)
    claimed, bound = (
        WIDE * (min(each, most) / most) ** 0.5 for each in (finding.epsilon, max(0.0, float(finding.bound)))
    )
    colour = "#c0392b" if finding.fails else "currentColor"
    said = f"{float(finding.bound):.3f} of {finding.epsilon:.4g}{' FAILS' if finding.fails else ''}"
    return (
        f'<text x="{left - 8:.1f}" y="{y + 4:g}" text-anchor="end">{escape(_short(finding.name))}</text>'
        f'<rect x="{left:.1f}" y="{y - 6:g}" width="{bound:.1f}" height="12" opacity="0.4" fill="{colour}"/>'
        f'<path d="M{left + claimed:.1f} {y - 8:g}V{y + 8:g}" stroke="{colour}" fill="none"/>'
        f'<text x="{left + WIDE + 10:.1f}" y="{y + 4:g}" fill="{colour}">{escape(said)}</text>'
    )


def _short(name: str) -> str:
    """A name on one line: those of tables and columns were written by others."""
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def examine(
    policy: Policy | None = None,
    *,
    samples: int = SAMPLES,
    seconds: Number = SECONDS,
    step: Step | None = None,
    subjects: Sequence[Subject] | None = None,
) -> Examination:
    """Audit everything that is installed: mechanisms, rules for keys, kinds of release; with a policy questions that it allows too.

    Questions are asked of made-up neighbours: neither the data of the policy nor its ledger is opened, and nothing is spent.
    samples: outputs a side for each; seconds: for all of them together, about; who is slow gets fewer outputs.
    """
    size, ends = whole(samples, "samples", least=1), time.monotonic() + float(positive(seconds, "seconds"))
    tried = [*(every() if subjects is None else subjects), *(() if policy is None else of_policy(policy))]
    return Examination(tuple(_findings(tried, size, ends, step or (lambda done, among, name: None))))


def _findings(subjects: Sequence[Subject], samples: int, ends: float, step: Step) -> Iterator[Finding]:
    for done, subject in enumerate(subjects):
        step(done, len(subjects), subject.name)
        left = max(ends - time.monotonic(), 0.0) / (len(subjects) - done)
        yield subject.audit(samples, seconds=max(2 * left, 1e-3))
