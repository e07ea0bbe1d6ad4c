"""How the cells of a source are written, where its owner says so: the sign before decimals, words for nothing, the form of dates.

`Reading` brings a text to the form that `plan.texts` reads. What it cannot bring there is NULL, in that cell alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.engines.zones import Zone
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.plan.scalar import Type
from discreet.plan.texts import BLANKS, number_form

SIGNS = ".,' \u00a0\u202f_"
LETTERS = {
    "Y": "([0-9]{4})",
    "m": "([0-9]{1,2})",
    "d": "([0-9]{1,2})",
    "H": "([0-9]{1,2})",
    "M": "([0-9]{2})",
    "S": "([0-9]{2})",
}
"""What may stand after % in the form of a date or a timestamp; of a date only the day counts."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a date or a timestamp, as a pattern, and the groups of it that are the year, the month and the day.

    Those of the hour, the minute and the second are 0 where they do not stand in it.
    """

    pattern: str
    year: int
    month: int
    day: int
    clock: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of(cls, written: str) -> "Form":
        """The form that is written like "%d/%m/%Y"; for any other text raises Invalid."""
        pattern, order = "", []
        parts = re.split("%(.)", written) if isinstance(written, str) else []
        for i, part in enumerate(parts):
            if i % 2 == 0:
                pattern += re.escape(part)
            elif part == "%":
                pattern += "%"
            elif part in LETTERS:
                pattern += LETTERS[part]
                order.append(part)
            else:
                raise _unknown(written)
        days = [letter for letter in order if letter in "Ymd"]
        if sorted(days) != ["Y", "d", "m"] or written.endswith("%") != written.endswith("%%"):
            raise _unknown(written)
        places = {letter: 1 + order.index(letter) for letter in order}
        clock = places.get("H", 0), places.get("M", 0), places.get("S", 0)
        return cls(pattern, places["Y"], places["m"], places["d"], clock)

    def standard(self, text: str, clock: bool = False) -> str | None:
        """The day as YYYY-MM-DD, if the text has the form, with its time if `clock`; whether there is such a day is not looked at."""
        match = re.fullmatch(self.pattern, text.strip(BLANKS))
        if match is None:
            return None
        day = f"{match[self.year]}-{match[self.month]:0>2}-{match[self.day]:0>2}"
        time = ":".join(f"{match[place] if place else '':0>2}" for place in self.clock)
        return f"{day} {time}" if clock else day


def _unknown(written: object) -> Invalid:
    return Invalid(
        f"the form of a date must have %Y, %m and %d once each, got {shown(written)}",
        code="policy",
        hint='write format = "%d/%m/%Y"; %H, %M and %S may stand in it too, and count for timestamps',
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """What is declared of how cells are written; by default nothing, and everything is as `plan.texts` says."""

    decimal: str = "."
    thousands: str = ""
    null: tuple[str, ...] = ()
    formats: Mapping[str, Form] = field(default_factory=dict)
    zone: Zone | None = None
    """On whose clock moments are that say where they were; without one on that of UTC. All others are on it as they stand."""

    def __post_init__(self) -> None:
        for name, least in (("decimal", 1), ("thousands", 0)):
            sign = getattr(self, name)
            if not isinstance(sign, str) or not least <= len(sign) <= 1 or sign not in SIGNS:
                raise Invalid(f"{name} must be one of . , ' and a blank, got {shown(sign)}", code="policy")
        if self.decimal == self.thousands:
            raise Invalid("decimal and thousands must differ", code="policy")
        if not all(isinstance(word, str) for word in self.null):
            raise Invalid(f"null must be a list of texts, got {shown(self.null)}", code="policy")

    @property
    def plain_numbers(self) -> bool:
        return self.decimal == "." and not self.thousands

    @property
    def number(self) -> str:
        """The pattern of a number with these signs."""
        return number_form(self.decimal, self.thousands)

    def standard(self, text: str, column: str, kind: Type) -> str | None:
        """A text in the form that `plan.texts` reads for this type, or None."""
        if kind in (Type.DATE, Type.TIMESTAMP) and column in self.formats:
            return self.formats[column].standard(text, clock=kind is Type.TIMESTAMP)
        if not kind.numeric or self.plain_numbers:
            return text
        if re.fullmatch(self.number, text) is None:
            return None
        return text.strip(BLANKS).replace(self.thousands, "").replace(self.decimal, ".")


AS_IT_IS = Reading()
