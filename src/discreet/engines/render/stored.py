"""How an engine keeps a table, and what it is given to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.engines.render.cells import TextForm
from discreet.plan.scalar import Value


@dataclass(frozen=True, slots=True)
class StoredTable:
    """How an engine keeps a declared table: under which name, and which of its text columns in another form.

    It may have numbered the people of the column `person`, from 0 on, in a column `number`, and have a hash of each in a column `hash`.
    """

    table: str
    kept: Mapping[str, TextForm] = field(default_factory=dict)
    person: str | None = None
    number: str | None = None
    hash: str = ""
    people: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """What an engine runs: columns key0, key1, … and total0, total1, …; the names of its parameters, and long lists, which are
    parameters of the query itself."""

    sql: str
    parameters: frozenset[str]
    lists: Mapping[str, Sequence[Value]] = field(default_factory=dict)
