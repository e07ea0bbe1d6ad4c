"""All domains by their kind: the one list that campaigns read."""

from collections.abc import Mapping
from typing import Any

from discreet.errors import Invalid
from discreet.local.choices import Choices
from discreet.local.domain import AnswerDomain
from discreet.local.named_attributes import Attributes
from discreet.local.numbers import Numbers
from discreet.local.rounds import Rounds
from discreet.local.words import Words

KINDS: Mapping[str, type[AnswerDomain]] = {each.kind: each for each in (Attributes, Numbers, Rounds, Words)}


def domain_of(value: Any) -> AnswerDomain:
    """The domain itself, of labels, of the number of them, or of a record; Invalid for anything else."""
    if isinstance(value, AnswerDomain):
        return value
    if isinstance(value, dict):
        kind = KINDS.get(value["kind"]) if isinstance(value.get("kind"), str) else None
        if kind is None:
            raise Invalid("this is not a domain", code="malformed")
        return kind.of_record(value)
    return Choices(value)
