"""The accuracy that is asked for instead of a price: how far off each column may be, as a number or as a part of its size.

    25 · "5%" · {"n": 25, "average": "2%"} ── Demands ── a Demand for each output of a question ── the least price (`within`)

Nothing here knows of prices or of data. What the size of a column is, `sizes` tells.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import Invalid, QueryError
from discreet.exact import Number, positive, shown
from discreet.plan.catalog import suggestion
from discreet.plan.digits import six_digits
from discreet.plan.question import Output, Question
from discreet.plan.scalar import is_key, type_of

Within: TypeAlias = Number | str | Mapping[str, Number | str]
"""How far off numbers may be: every one by as much, or each column by its own; "5%" is a part of the size of a number."""

MOST_WITHIN = Fraction(10**18)
HUNDRED = 100
LONGEST = 200
"""Characters of a name that are compared, for what might have been meant."""

HINT = 'write within=25, within="5%", or within={"n": 25, "average": "2%"}'

_PERCENT = re.compile(r"\s*(\+?[0-9]{1,18}(?:\.[0-9]{1,18})?|\+?\.[0-9]{1,18})\s*%\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Demand:
    """How far off a number may be: by so much, or by so much of its size."""

    most: Fraction
    relative: bool = False

    @classmethod
    def read(cls, value: object, name: str) -> "Demand":
        """A caller's number above 0, or a text such as "5%"; anything else is Invalid."""
        if not isinstance(value, str):
            most = positive(value, name)
            if most > MOST_WITHIN:
                raise QueryError(
                    f"{name} must be at most 10^18", code="within", hint="that is no accuracy; ask for a smaller ±"
                )
            return cls(most)
        percent = _PERCENT.fullmatch(value)
        if percent is None:
            raise Invalid(
                f"{name} must be a number, or a text such as '5%', got {shown(value)}", code="within", hint=HINT
            )
        share = Fraction(percent[1].lstrip("+")) / HUNDRED
        if not 0 < share <= 1:
            raise Invalid(f"{name} must be above 0 % and at most 100 %, got {shown(value)}", code="within", hint=HINT)
        return cls(share, relative=True)

    def __str__(self) -> str:
        """
        >>> print(Demand(Fraction(25)), Demand(Fraction(1, 20), relative=True))
        ± 25 5 %
        """
        return f"{six_digits(self.most * HUNDRED)} %" if self.relative else f"± {six_digits(self.most)}"


@dataclass(frozen=True, slots=True)
class Demands:
    """What is demanded of every number, or of columns by their names."""

    every: Demand | None = None
    columns: tuple[tuple[str, Demand], ...] = ()

    @classmethod
    def read(cls, within: object) -> "Demands":
        """What a caller asks for. What is no accuracy is Invalid, before anything is planned."""
        if not isinstance(within, Mapping):
            return cls(every=Demand.read(within, "within"))
        if not within:
            raise Invalid("within names no column", code="within", hint=HINT)
        for name in within:
            if not isinstance(name, str):
                raise Invalid(f"within names columns by texts, got {shown(name)}", code="within", hint=HINT)
        return cls(
            columns=tuple((name, Demand.read(most, f"within of {shown(name)}")) for name, most in within.items())
        )

    def as_data(self) -> str | dict[str, str]:
        """They are as JSON has them."""
        return str(self.every) if self.every is not None else {name: str(demand) for name, demand in self.columns}

    def __str__(self) -> str:
        return str(self.every or ", ".join(f"{name} {demand}" for name, demand in self.columns))

    def of(self, question: Question) -> tuple[Demand | None, ...]:
        """What is demanded of each output of a question; None for those of which nothing is. Raises QueryError for a name that no
        column has, or one that is no number with a ±."""
        demands: list[Demand | None] = [
            self.every if self.every is not None and is_measured(output) else None for output in question.outputs
        ]
        names, taken = question.names, dict[int, str]()
        for name, demand in self.columns:
            place = _place(name, names, question.outputs)
            if place in taken:
                raise QueryError(
                    f"within names column {names[place]!r} twice, as {taken[place]!r} and as {name!r}",
                    code="within",
                    hint="name it once",
                )
            demands[place], taken[place] = demand, name
        return tuple(demands)


def is_measured(output: Output) -> bool:
    """Whether an output is a number that is released, and so has a ±."""
    return not is_key(output.value) and type_of(output.value).numeric


def _place(name: str, names: Sequence[str], outputs: Sequence[Output]) -> int:
    """The output that is called so: by its name, by what stands above it, or by its name in other letters."""
    for word, called in (
        (name, names),
        (name, [output.heading for output in outputs]),
        (name.casefold(), [each.casefold() for each in names]),
    ):
        if word and word in called:
            return _measured_place(called.index(word), names, outputs)
    measured = [each for each, output in zip(names, outputs, strict=True) if is_measured(output)]
    raise QueryError(
        f"within names {shown(name)}, which is no column of the answer",
        code="within",
        hint=suggestion(name[:LONGEST], measured, "its numbers are") if measured else "it has no numbers with a ±",
    )


def _measured_place(place: int, names: Sequence[str], outputs: Sequence[Output]) -> int:
    if not is_measured(outputs[place]):
        what = "is a key: it is public" if is_key(outputs[place].value) else "is no number"
        raise QueryError(
            f"within names column {names[place]!r}, which {what}, and has no ±", code="within", hint="leave it out"
        )
    return place
