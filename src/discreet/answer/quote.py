"""A quote: what a question would cost at several prices, and how far off each number would be at each, before anything is measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.answer import html, text
from discreet.answer.digits import error_text, short
from discreet.answer.left import Left, amounts
from discreet.answer.preview import Preview
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


@dataclass(frozen=True, slots=True, repr=False)
class Quote:
    """The previews of one question at several prices, and whether each fits what is left. Nothing is read, and nothing is spent."""

    previews: tuple[Preview, ...]
    fits: tuple[bool, ...]
    left: dict[str, float]

    @classmethod
    def of(cls, rows: Sequence[tuple[Preview, bool]], *, left: Left) -> "Quote":
        """The quote of these previews, each with whether it fits what is left."""
        previews, fits = zip(*rows, strict=True)
        return cls(previews, fits, amounts(left))

    def __len__(self) -> int:
        return len(self.previews)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows: ε, δ, the ± of each column, None where it is not known, and whether it fits what is left."""
        for preview, fits in zip(self.previews, self.fits, strict=True):
            errors = {each.name: each.error for each in preview.predicted if each.error is not None or each.reason}
            yield {"epsilon": preview.epsilon, "delta": preview.delta, "error": errors, "fits": fits}

    @property
    def confidence(self) -> float:
        """The confidence of every ±."""
        return self.previews[0].confidence

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said of any of the previews."""
        return tuple(dict.fromkeys(note for preview in self.previews for note in preview.notes))

    @property
    def reasons(self) -> dict[str, str]:
        """Why no ± of a column is told at some price."""
        return {each.name: each.reason for preview in self.previews for each in preview.predicted if each.reason}

    @property
    def assumes(self) -> dict[str, str]:
        """What the ± of a column was made of, where the noise alone does not decide it."""
        known = (each for preview in self.previews for each in preview.predicted if each.error)
        return {each.name: each.assumes for each in known if each.assumes}

    def to_json(self) -> dict[str, Any]:
        """A JSON value: what `discreet ask --quote 0.1,1 --json` prints."""
        first = self.previews[0]
        return {
            "question": first.text,
            "columns": [each.name for each in first.predicted],
            "quotes": list(self),
            "reasons": self.reasons,
            "assumes": self.assumes,
            "groups": first.groups,
            "confidence": self.confidence,
            "relation": first.relation,
            "remaining": self.left,
            "notes": list(self.notes),
        }

    def table(self) -> list[list[str]]:
        """The rows as text, below their headings."""
        first = self.previews[0]
        measured = [j for j, each in enumerate(first.predicted) if each.error is not None or each.reason]
        heads = first.headings or tuple(each.name for each in first.predicted)
        with_delta = any(preview.delta for preview in self.previews)
        lines = [["ε", *(["δ"] if with_delta else []), *(visible(heads[j]) for j in measured), "fits what is left"]]
        for preview, fits in zip(self.previews, self.fits, strict=True):
            errors = [preview.predicted[j].error for j in measured]
            told = ["unknown" if error is None else error_text(error) for error in errors]
            prices = [short(preview.epsilon), *([short(preview.delta)] if with_delta else [])]
            lines.append([*prices, *told, "yes" if fits else "no"])
        return lines

    def __str__(self) -> str:
        return text.quote_page(self)

    def __repr__(self) -> str:
        return str(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        return text.quote_terminal(self)

    def to_html(self, style: bool = True) -> str:
        """The quote as a part of a page; without `style` it looks as the page has it."""
        return html.quote_page(self, style)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.to_html()}
