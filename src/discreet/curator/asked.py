"""What is asked: a question, its price, and limits of its own. One record for `sql`, `preview` and `explain`, so that all plan alike."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar, get_type_hints

from discreet.curator.names import check_name
from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.plan.accuracy import Within
from discreet.plan.catalog import Catalog
from discreet.plan.measurement import CONFIDENCE, checked_confidence
from discreet.plan.parting import in_part
from discreet.plan.question import Question
from discreet.plan.sql import question

Params = Sequence[object] | Mapping[str, object] | None
Method = TypeVar("Method", bound=Callable[..., Any])

GENERATED = "auto:"
"""How the keys begin that are made for questions without one, which no caller's key may."""


def check_key(key: str) -> None:
    """A key that a caller gives; one that begins like those that are made is Invalid."""
    check_name(key, "key")
    if key.startswith(GENERATED):
        raise Invalid(
            f"key must not begin with {GENERATED!r}", code="key", hint="such keys are made for questions without one"
        )


class Terms(TypedDict, total=False):
    """On which terms a question is asked; each is None where it is not said.

    Either `epsilon` is the price, or `within` the ± that the least price is paid for: 25, "5%" of the size of a number, or by columns
    {"n": 25, "average": "2%"}. `confidence` is that of every ±, 0.95. `delta` is spent only where noise needs it. `max_rows` limits the
    rows of a person in a group and `max_groups` the groups of a person; `max_total` limits all rows of a person in the question. Unsaid,
    they are the policy's. `part` asks about the people of one part, and pays there. With `population` each ± is for the people who were
    sampled, too; with `simultaneous` all of an answer hold at once.
    """

    epsilon: Number | None
    within: Within | None
    confidence: Number | None
    delta: Number | None
    analyst: str | None
    max_rows: int | None
    max_groups: int | None
    max_total: int | None
    part: str | None
    population: bool | None
    simultaneous: bool | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its terms, as they were given."""

    text: str
    params: Params = None
    epsilon: Number | None = None
    within: Within | None = None
    confidence: Number | None = None
    delta: Number | None = None
    analyst: str | None = None
    max_rows: int | None = None
    max_groups: int | None = None
    max_total: int | None = None
    part: str | None = None
    population: bool | None = None
    simultaneous: bool | None = None
    key: str | None = None  # that names the request

    def __post_init__(self) -> None:
        for name in ("population", "simultaneous"):
            if not isinstance(getattr(self, name), bool | None):
                raise Invalid(f"{name} must be True or False, got {shown(getattr(self, name))}", code="usage")
        if self.confidence is not None:
            checked_confidence(self.confidence)

    @property
    def level(self) -> float:
        """The confidence of every ±."""
        return CONFIDENCE if self.confidence is None else checked_confidence(self.confidence)

    def question(self, catalog: Catalog) -> Question:
        """The question that is asked of what is declared, about the part of the people that is said or that its conditions name, with what
        its intervals are for; or raises QueryError."""
        read = in_part(question(self.text, catalog, self.params), catalog, self.part)
        if not (self.population or self.simultaneous):
            return read
        return replace(read, population=bool(self.population), simultaneous=bool(self.simultaneous))

    @property
    def limits(self) -> dict[str, int]:
        """The limits that were given, by name."""
        given = {"max_rows": self.max_rows, "max_groups": self.max_groups, "max_total": self.max_total}
        return {name: limit for name, limit in given.items() if limit is not None}


def spelled_out(method: Method) -> Method:
    """A method that takes Terms, whose signature names each of them, so that `help` and notebooks do."""
    found = inspect.signature(method)
    named = [each for each in found.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    terms = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in get_type_hints(Terms).items()
    ]
    method.__signature__ = found.replace(parameters=[*named, *terms])  # type: ignore[attr-defined]
    return method
