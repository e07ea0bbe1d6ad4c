"""The columns of an answer: names that are told apart, types, and which are keys."""

from dataclasses import dataclass, field

from discreet.plan.numbers import output_type
from discreet.plan.plan import Plan
from discreet.plan.scalar import Type, is_key


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer. A key is public, and has no error."""

    name: str
    type: Type
    key: bool
    # What stands above it where the question does not name it.
    heading: str = field(default="", compare=False, repr=False)

    @property
    def head(self) -> str:
        """What stands above it: the words of the question, or its name."""
        return self.heading or self.name

    @property
    def measured(self) -> bool:
        """Whether its values are numbers that have an error."""
        return not self.key and self.type.numeric


def columns_of(plan: Plan) -> tuple[Column, ...]:
    """The columns that a plan's answer has."""
    return tuple(
        Column(name, output_type(output.value, plan), is_key(output.value), output.heading)
        for name, output in zip(plan.question.names, plan.question.outputs, strict=True)
    )
