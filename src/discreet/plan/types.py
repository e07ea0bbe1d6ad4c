"""What a value may be: the types of columns and expressions, and the ends of what they hold."""

from datetime import date, datetime
from enum import Enum
from typing import TypeAlias


class Type(Enum):
    """What a column or an expression holds; any of them may be NULL."""

    INTEGER = "integer"  # 64 bits
    NUMBER = "number"  # a double, never NaN
    TEXT = "text"  # compared by code points
    DATE = "date"
    TIMESTAMP = "timestamp"  # a day and a time of day on the clock of its table, to the microsecond
    BOOLEAN = "boolean"

    __hash__ = object.__hash__  # each is one object, and is looked up for every constant of a long list

    @property
    def numeric(self) -> bool:
        return self in (Type.INTEGER, Type.NUMBER)


KINDS: dict[Type, type] = {
    Type.TEXT: str,
    Type.INTEGER: int,
    Type.NUMBER: float,
    Type.DATE: date,
    Type.TIMESTAMP: datetime,
    Type.BOOLEAN: bool,
}
"""What holds the values of each type."""

Value: TypeAlias = int | float | str | date | datetime | bool | None
WIDEST = 2.0**63  # from here on a number is no integer of 64 bits
LARGEST = 1 << 53  # from here on a double does not tell an integer from the next, and is not taken for one
