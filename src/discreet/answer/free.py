"""An answer that follows from one that was given, as it is told: where it is from, how far off it is, and how it is taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.answer.digits import error_text
from discreet.answer.record import Answer
from discreet.plan.accuracy import Demand
from discreet.plan.visible import visible

LONG = 200
"""Of a question no more letters are quoted."""

HOW = "curator.derive(…), or `discreet ask --derived`"


@dataclass(frozen=True, slots=True)
class Free:
    """What follows from a stored answer, for nothing."""

    answer: Answer
    source: str
    """The question whose answer it is made of."""

    row: int | None
    """The row of the ledger in which that was charged; None for whoever is told of no rows."""

    differs: tuple[str, ...]
    """In which respects it is not what the question would have estimated; empty where it is."""

    @property
    def errors(self) -> dict[str, float | None]:
        """The largest ± of each column of numbers; None where one of its numbers has none."""
        told: dict[str, float | None] = {}
        for j, column in enumerate(self.answer.columns):
            if column.measured:
                pairs = [(row[j], spans[j]) for row, spans in zip(self.answer.rows, self.answer.intervals, strict=True)]
                # a number that the question hides has no interval, and need have none
                errors = [
                    None if span is None else span.error for value, span in pairs if (value, span) != (None, None)
                ]
                known = [each for each in errors if each is not None]
                told[column.name] = max(known, default=0) if len(known) == len(errors) else None
        return told

    @property
    def size(self) -> tuple[int, bool, float]:
        """What the better of two has less of: differences, columns without a ±, and ± in all."""
        errors = self.errors.values()
        return len(self.differs), None in errors, sum(each for each in errors if each is not None)

    def meets(self, demands: Sequence[Demand | None]) -> bool:
        """Whether each number is at most as far off as is demanded of its column, of what the question would have estimated.

        A part of the size of a number is never met: how large the number is, only who asks at a price is told.
        """
        if self.differs:
            return False
        errors = self.errors
        for column, demand in zip(self.answer.columns, demands, strict=True):
            if demand is None:
                continue
            error = errors.get(column.name)
            if demand.relative or error is None or error > demand.most:
                return False
        return True

    @property
    def origin(self) -> str:
        """The answer that it is made of, in words."""
        question = self.source if len(self.source) <= LONG else f"{self.source[:LONG]}…"
        where = "" if self.row is None else f", in row {self.row} of the ledger"
        return f"your answer to {visible(question)!r}{where}"

    @property
    def sentence(self) -> str:
        """The offer, in one line."""
        errors = ", ".join(
            f"{visible(name)} {'± ?' if error is None else error_text(error)}" for name, error in self.errors.items()
        )
        but = f"; but {'; '.join(self.differs)}" if self.differs else ""
        return f"this follows from {self.origin}, for nothing{f': {errors}' if errors else ''}; take it by {HOW}{but}"

    def to_json(self) -> dict[str, Any]:
        """A JSON value, as a part of a preview."""
        return {"question": self.source, "row": self.row, "error": self.errors, "differs": list(self.differs)}
