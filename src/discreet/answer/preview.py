"""A preview: what a question would cost and how far off each number would be, before anything is measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.answer import html, text
from discreet.answer.digits import error_text
from discreet.answer.free import Free
from discreet.answer.record import SELECTED
from discreet.exact import to_float_up
from discreet.plan.explain import explain
from discreet.plan.intervals import Predicted, predicted
from discreet.plan.levels import rows_of
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.plan import Plan, finds_groups
from discreet.plan.population import AHEAD, NOTE
from discreet.plan.post import optimistic
from discreet.plan.range import between
from discreet.plan.steps.tally import NAMES
from discreet.plan.visible import visible

EACH = {"max_total": "row", "max_rows": "row", "max_groups": "group"}
"""What a limit counts."""

EVEN = 1.2
"""How far errors may be from being in proportion to the limit, for being whole numbers."""

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


@dataclass(frozen=True, slots=True)
class AtLimit:
    """How far off each number would be, in the order of the columns, if these limits were found."""

    limits: Mapping[str, int | Sequence[float]]
    """Those on people by name, and ranges by what has them."""

    errors: tuple[float | None, ...]

    @property
    def words(self) -> str:
        return " and ".join(
            f"{name} = {limit:,}" if isinstance(limit, int) else f"{name} from {between(*limit)}"
            for name, limit in self.limits.items()
        )


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """What a question would cost, and how far off each number would be. Nothing is read, and nothing is spent."""

    text: str
    epsilon: float
    delta: float
    relation: str
    predicted: tuple[Predicted, ...]
    groups: int | None
    """How many rows the answer has, before any are left out; None where that is still to be found."""

    notes: tuple[str, ...]
    _explanation: str
    headings: tuple[str, ...] = ()
    at_limits: tuple[AtLimit, ...] = ()
    """Where limits are still to be found: how far off each number would be at a few of them."""

    confidence: float = CONFIDENCE
    free: Free | None = None
    """What follows from an answer that whoever asks has, for nothing."""

    @classmethod
    def make(cls, plan: Plan, *, text: str, confidence: float = CONFIDENCE, free: Free | None = None) -> "Preview":
        """The preview of the question that a plan answers; `free` is what follows for it from an answer that was given."""
        at_limits = _at_limits(plan, confidence)
        return cls(
            text=text,
            epsilon=to_float_up(plan.epsilon),
            delta=to_float_up(plan.delta),
            relation=str(plan.relation),
            predicted=tuple(
                replace(each, name=name)
                for each, name in zip(_without_limits(plan, at_limits, confidence), plan.question.names, strict=True)
            ),
            groups=None if finds_groups(plan) else max(map(rows_of, plan.examples())),
            notes=(
                *plan.assumed,
                *(AHEAD if note == NOTE else note for note in plan.told),
                *([SELECTED] if optimistic(plan) else []),
            ),
            _explanation=explain(plan),
            headings=tuple(
                output.heading or name for output, name in zip(plan.question.outputs, plan.question.names, strict=True)
            ),
            at_limits=at_limits,
            confidence=confidence,
            free=free,
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
            "at_limits": [self._at_limit(each) for each in self.at_limits],
            "groups": self.groups,
            "confidence": self.confidence,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "relation": self.relation,
            "notes": list(self.notes),
            "free": None if self.free is None else self.free.to_json(),
        }

    def _at_limit(self, at: AtLimit) -> dict[str, Any]:
        errors = zip(self.predicted, at.errors, strict=True)
        return {**at.limits, "error": {each.name: error for each, error in errors if error is not None}}

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


def _at_limits(plan: Plan, confidence: float) -> tuple[AtLimit, ...]:
    """The errors at a few limits, in the order of these; none where all limits are known."""
    examples = [each for each in plan.examples() if _limits(each)]
    pairs = [(_limits(each), tuple(output.error for output in predicted(each, confidence))) for each in examples]
    return tuple(AtLimit(limits, errors) for limits, errors in sorted(pairs, key=lambda pair: list(pair[0].values())))


def _limits(plan: Plan) -> dict[str, int | Sequence[float]]:
    """The limits and the ranges among what a plan found."""
    facts = plan.found
    limits = {name: fact for name, fact in facts.items() if name not in NAMES and isinstance(fact, int)}
    return {**facts.get("ranges", {}), **limits}


def _without_limits(plan: Plan, at_limits: Sequence[AtLimit], confidence: float) -> list[Predicted]:
    """What is predicted of each output; where a limit is still to be found, its error at a few of them."""
    outputs = predicted(plan, confidence)
    if not at_limits:
        return list(outputs)
    return [
        each if each.error is None else replace(each, error=None, reason=_by_limit(j, at_limits), assumes=None)
        for j, each in enumerate(outputs)
    ]


def _by_limit(j: int, at_limits: Sequence[AtLimit]) -> str:
    """One sentence on how an error depends on the limit: for each row of it, where it does so evenly."""
    errors = [(each.limits, each.words, each.errors[j]) for each in at_limits]
    told = ", ".join(f"{error_text(error)} at {limit}" for _, limit, error in errors if error is not None)
    rates = [error / most for limits, _, error in errors if error for most in limits.values() if isinstance(most, int)]
    names = {name for each in at_limits for name in each.limits}
    if not names <= set(EACH):
        return f"it depends on what is found: {told}"
    even = len(names) == 1 and rates and max(rates) < EVEN * min(rates)
    if not even:
        return f"it depends on the limit{'s that are' if len(names) > 1 else ' that is'} found: {told}"
    return f"about {error_text(rates[-1])} for each {EACH[names.pop()]} of the limit that is found: {told}"
