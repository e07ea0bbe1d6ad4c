"""What the columns of a source hold, whatever a dialect calls their types."""

from dataclasses import dataclass
from enum import Enum

from discreet.plan.scalar import Type


class NativeKind(Enum):
    """What an engine's types are to us."""

    WORD = "text"
    INTEGER = "integer"
    FLOAT = "single"
    DOUBLE = "double"
    DECIMAL = "decimal"
    DAY = "day"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Native:
    """The type of a column of a source."""

    kind: NativeKind
    # an integer that fits 64 bits
    narrow: bool = False
    # all the digits of a decimal, and those after its point
    digits: int = 0
    places: int = 0
    # a moment that knows where it was
    zoned: bool = False
    # a moment in nanoseconds
    fine: bool = False

    @property
    def real(self) -> bool:
        return self.kind in (NativeKind.FLOAT, NativeKind.DOUBLE)

    @property
    def stored(self) -> Type:
        """The type of a column whose owner takes it as it is stored; what cannot be loaded is a text, and NULL."""
        return STORED.get(self.kind, Type.TEXT)


STORED = {
    NativeKind.INTEGER: Type.INTEGER,
    **dict.fromkeys((NativeKind.FLOAT, NativeKind.DOUBLE, NativeKind.DECIMAL), Type.NUMBER),
    **dict.fromkeys((NativeKind.DAY, NativeKind.MOMENT), Type.DATE),
    NativeKind.BOOLEAN: Type.BOOLEAN,
}
