"""A rehearsal, as it is read: exact numbers of the data, for the owner alone."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.curator.rehearsal import text
from discreet.curator.rehearsal.columns import ColumnProfile
from discreet.curator.rehearsal.losses import Losses
from discreet.curator.rehearsal.people import PeopleProfile, SeveralRows
from discreet.curator.rehearsal.spelling import Spelling


@dataclass(frozen=True, slots=True)
class TableRehearsal:
    """What is to be seen of one table."""

    name: str
    rows: int
    person: str | None
    nobody: int
    """Rows without a person."""

    columns: tuple[ColumnProfile, ...]
    people: tuple[PeopleProfile, ...]
    """Without groups first, then by each column that can be grouped by; none where rows are protected."""

    repeated: tuple[SeveralRows, ...]
    """Whether somebody has several rows; where rows are protected, by columns that may say who a row is about."""

    spellings: tuple[Spelling, ...]
    questions: tuple[Losses, ...]

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "table": self.name,
            "rows": self.rows,
            "rows_of_nobody": self.nobody,
            "columns": [each.as_data() for each in self.columns],
            "people": [each.as_data() for each in self.people],
            "several_rows": [each.as_data() for each in self.repeated],
            "spellings": [each.as_data() for each in self.spellings],
            "questions": [each.as_data() for each in self.questions],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Rehearsal:
    """What the owner may look at before anybody asks. It is exact, and must not be published; every line of it says so."""

    tables: tuple[TableRehearsal, ...]
    epsilon: Fraction
    """The price of a question that private draws are made for, and nobody pays."""

    def as_data(self) -> dict[str, Any]:
        """As JSON has it: first of all that it is not private."""
        return {
            "private": False,
            "notice": text.NOTICE,
            "epsilon": float(self.epsilon),
            "tables": [each.as_data() for each in self.tables],
            "given": text.GIVEN,
        }

    def lines(self) -> list[str]:
        """As it is read, every line with its mark."""
        lines = [
            text.NOTICE,
            *(line for table in self.tables for line in text.table_lines(table, self.epsilon)),
            "",
            text.GIVEN,
        ]
        return [text.marked(line) for line in lines]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)
