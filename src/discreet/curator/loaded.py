"""What an owner is told when data were loaded. It tells of the data, and so nobody else is."""

from dataclasses import dataclass

from discreet.engines.base import Lost


@dataclass(frozen=True, slots=True)
class Loaded:
    """Values that are none of the type that their column was declared with, and count as missing."""

    lost: tuple[Lost, ...] = ()

    def lines(self) -> list[str]:
        """What to tell the owner; nothing where nothing was lost."""
        return [
            f"{each.values:,} value{'s' if each.values > 1 else ''} of column {each.column!r} of table {each.table!r}"
            f" {'are' if each.values > 1 else 'is'} no {each.type.value}, and count{'' if each.values > 1 else 's'} as missing"
            for each in self.lost
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines() or ["every value is of the type of its column"])
