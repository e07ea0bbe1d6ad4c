"""A preview: what a question would cost and how far off each number would be, before anything is measured."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.answer import html, text
from discreet.answer.columns import output_names
from discreet.answer.digits import error_text
from discreet.answer.record import SELECTED
from discreet.exact import to_float_up
from discreet.plan.explain import explain
from discreet.plan.intervals import Predicted, predicted
from discreet.plan.plan import CONFIDENCE, Plan
from discreet.plan.post import selects
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a question would cost, and how far off each number would be. Nothing is read, and nothing is spent."""

    text: str
    epsilon: float
    delta: float
    relation: str
    predicted: tuple[Predicted, ...]
    groups: int
    notes: tuple[str, ...]
    _explanation: str
    headings: tuple[str, ...] = ()
    confidence: float = CONFIDENCE

    @classmethod
    def make(cls, plan: Plan, *, text: str) -> "Preview":
        """The preview of the question that a plan answers."""
        return cls(
            text=text,
            epsilon=to_float_up(plan.epsilon),
            delta=to_float_up(plan.delta),
            relation=str(plan.relation),
            predicted=tuple(
                replace(each, name=name) for each, name in zip(predicted(plan), output_names(plan), strict=True)
            ),
            groups=max(len(each.domain) for each in plan.decisions()),
            notes=(*plan.assumed, *plan.notes, *([SELECTED] if selects(plan) else [])),
            _explanation=explain(plan),
            headings=tuple(
                output.heading or name for output, name in zip(plan.question.outputs, output_names(plan), strict=True)
            ),
        )

    def explain(self) -> str:
        """The plan as a tree: what would be counted, with which noise, at which price."""
        return self._explanation

    def to_json(self) -> dict[str, Any]:
        """A JSON value: what `discreet ask --preview --json` prints."""
        return {
            "question": self.text,
            "columns": [each.name for each in self.predicted],
            "error": {each.name: each.error for each in self.predicted if each.error is not None},
            "reasons": {each.name: each.reason for each in self.predicted if each.reason},
            "assumes": {each.name: each.assumes for each in self.predicted if each.assumes},
            "groups": self.groups,
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "notes": list(self.notes),
        }

    @property
    def heading(self) -> str:
        """What stands above the errors."""
        return f"predicted error at {100 * self.confidence:g} %"

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each column, and how far off its numbers would be, as text."""
        heads = self.headings or tuple(each.name for each in self.predicted)
        for head, each in zip(map(visible, heads), self.predicted, strict=True):
            if each.error is None:
                yield head, "" if each.reason is None else visible(f"unknown: {each.reason}")
            else:
                assumed = f", at worst, with {each.assumes}" if each.assumes and each.error else ""
                yield head, f"{error_text(each.error)}{assumed}"

    def __str__(self) -> str:
        return text.preview_page(self)

    def __repr__(self) -> str:
        return str(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        return text.preview_terminal(self)

    def to_html(self, style: bool = True) -> str:
        """The preview as a part of a page; without `style` it looks as the page has it."""
        return html.preview_page(self, style)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.to_html()}
