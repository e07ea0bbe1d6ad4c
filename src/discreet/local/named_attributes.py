"""Several attributes of a person, each with its name, its answers, and the protocol that randomises it."""

from typing import Any, ClassVar, Self

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.fields import Held, frozen
from discreet.local.canonical import is_text
from discreet.local.choices import MOST_CELLS, MOST_LETTERS, Choices, Label
from discreet.local.domain import AnswerDomain

MOST_ATTRIBUTES = 256  # of which a report names one in a byte


@frozen
class Attribute:
    """One attribute of a person: its name, its declared answers, and the protocol that randomises it."""

    name: str
    answers: Held[Choices | tuple[Label, ...] | int, Choices]
    protocol: str

    def __post_init__(self) -> None:
        if type(self.name) is not str or not is_text(self.name, 1, MOST_LETTERS):
            raise Invalid(
                f"the name of an attribute must be a text of 1 to {MOST_LETTERS} letters, none of them in two halves"
            )
        if type(self.protocol) is not str:
            raise Invalid(f"protocol must be the name of one, got {shown(self.protocol)}")
        if not isinstance(self.answers, Choices):
            object.__setattr__(self, "answers", Choices(self.answers))

    def encoded(self, value: Any) -> int:
        """The cell of a label."""
        try:
            return self.answers.encoded(value)
        except Invalid:
            raise Invalid(f"the answer for {shown(self.name)} is not one of its labels") from None

    def record(self) -> dict[str, Any]:
        """The attribute as a part of JSON."""
        return {"answers": self.answers.record(), "name": self.name, "protocol": self.protocol}

    @classmethod
    def of_record(cls, record: Any) -> Self:
        """The attribute of its record; Invalid for anything else."""
        if not isinstance(record, dict) or record.keys() != {"answers", "name", "protocol"}:
            raise Invalid("this is not an attribute", code="malformed")
        return cls(record["name"], Choices.of_record(record["answers"]), record["protocol"])


@frozen
class Attributes(AnswerDomain):
    """A label of each of several attributes; an answer says all of them by name.

    The protocol of each attribute is a part of the public terms, so that no later release can take another for it; `choose_attributes`
    fills it in.

    >>> Attributes((Attribute("sex", ("f", "m"), "k-ary"), Attribute("ward", 9, "unary"))).encoded({"ward": 3, "sex": "m"})
    (1, 3)
    """

    attributes: tuple[Attribute, ...]
    kind: ClassVar[str] = "attributes"

    def __post_init__(self) -> None:
        if not isinstance(self.attributes, list | tuple):
            raise Invalid("attributes must be a list of them")
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not 2 <= len(self.attributes) <= MOST_ATTRIBUTES:
            raise Invalid(
                f"there must be 2 to {MOST_ATTRIBUTES} attributes", hint="for one of them declare its labels alone"
            )
        if not all(isinstance(each, Attribute) for each in self.attributes):
            raise Invalid("attributes must be a list of Attribute")
        if len(set(self.names)) < len(self.names):
            raise Invalid("attributes must have names that differ")
        if sum(each.answers.k for each in self.attributes) > MOST_CELLS // 2:  # so that any report of all of them fits
            raise Invalid("attributes must have at most 2^19 cells in all")

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each attribute."""
        return tuple(each.name for each in self.attributes)

    def encoded(self, value: Any) -> tuple[int, ...]:
        """The cell of the label of each attribute."""
        if not isinstance(value, dict) or value.keys() != set(self.names):
            raise Invalid("value must give an answer for each attribute by its name", hint="see campaign.domain.names")
        return tuple(each.encoded(value[each.name]) for each in self.attributes)

    def record(self) -> dict[str, Any]:
        """The attributes in their order."""
        return {"attributes": [each.record() for each in self.attributes], "kind": self.kind}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Self:
        """The attributes of a list of their records."""
        if record.keys() != {"attributes", "kind"} or not isinstance(record["attributes"], list):
            raise Invalid("this is not a domain of attributes", code="malformed")
        return cls(tuple(Attribute.of_record(each) for each in record["attributes"]))
