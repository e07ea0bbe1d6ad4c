"""What can be known of a source without reading a row: the names of its columns, and the types that it stores."""

from pathlib import Path
from typing import Any

from discreet.engines import frames
from discreet.engines.base import kind_of
from discreet.engines.framing import PLAIN, Framing, header
from discreet.engines.registry import engine
from discreet.errors import Invalid
from discreet.plan.scalar import Type


def names_of(source: Any, *, framing: Framing = PLAIN, table: str | None = None) -> tuple[str, ...]:
    """The names of the columns. No row is read, and no type: a type that was stored comes from the data."""
    if isinstance(source, dict):
        return tuple(str(name) for name in source)
    if not isinstance(source, str | Path):
        return tuple(frames.frame_names(source))
    if has_header(source):
        return tuple(header(source, framing))
    return tuple(stored_types(source, table))


def has_header(source: Any) -> bool:
    """Whether the names of columns stand in the first line of a file, where a record may stand instead."""
    return isinstance(source, str | Path) and kind_of(source) == "csv"


def has_types(source: Any) -> bool:
    """Whether a source stores the types of its columns."""
    return not isinstance(source, dict) and not has_header(source)


def stored_types(source: Any, table: str | None = None) -> dict[str, Type]:
    """The types of the columns as they are stored; for CSV files and lists, which have none, raises Invalid."""
    if not has_types(source):
        raise Invalid("a CSV file or a dict has no stored types", code="policy", hint="declare them column by column")
    return dict(engine().columns(source, table))
