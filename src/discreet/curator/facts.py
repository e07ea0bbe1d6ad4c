"""What surveys have released of the data of a ledger: facts that anybody who may see them uses from then on, free.

A survey is a request like any other, settled with the bytes of its facts. Its key is the number of the survey among those for
everybody, or among those of one analyst; so all of them are found by asking for one number after the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from discreet.curator.acts import Settled
from discreet.curator.asked import GENERATED
from discreet.curator.place import Place
from discreet.curator.store import Store
from discreet.curator.survey.record import ColumnFacts, SurveyFacts


def key_of(number: int) -> str:
    """The key of a survey, which no caller can write to."""
    return f"{GENERATED}survey {number}"


@dataclass(frozen=True, slots=True)
class Fact:
    """What the newest survey of a column tells of it."""

    column: ColumnFacts
    survey: SurveyFacts
    current: bool
    """Whether it is of the data as they are now; if not, its keys may be used, and its limits and bounds as the top of a ladder."""


@dataclass(frozen=True, slots=True)
class Known:
    """The surveys that somebody may see, the oldest first, and the version of the data now."""

    surveys: tuple[SurveyFacts, ...]
    version: str

    def column(self, table: str, name: str) -> Fact | None:
        """The newest facts of a column: those of this version before all others; None where it was never surveyed."""
        for survey in self._of(table):
            column = survey.column(name)
            if column is not None:
                return Fact(column, survey, survey.version == self.version)
        return None

    def table(self, name: str) -> SurveyFacts | None:
        """The newest survey of a table, of this version before all others: its people, rows, and rows of a person."""
        return next(self._of(name), None)

    def common(self) -> "Known":
        """What everybody may see."""
        return replace(self, surveys=tuple(each for each in self.surveys if each.analyst is None))

    def _of(self, table: str) -> Iterator[SurveyFacts]:
        found = [each for each in reversed(self.surveys) if each.table.casefold() == table.casefold()]
        yield from (each for each in found if each.version == self.version)
        yield from (each for each in found if each.version != self.version)


def known_in(store: Store, version: str, analyst: str | None = None) -> Known:
    """What a ledger has for whoever asks: what is for everybody, and what is theirs alone."""
    whose = (None,) if analyst is None else (None, analyst)
    found = sorted((pair for each in whose for pair in _settled(store, each)), key=lambda pair: pair[0])
    return Known(tuple(facts for _, facts in found), version)


def known_at(place: Place, version: str, analyst: str | None = None) -> Known:
    """What the ledger at a place has; nothing where none was made yet."""
    store = place.look()
    if store is None:
        return Known((), version)
    with store:
        return known_in(store, version, analyst)


def _settled(store: Store, analyst: str | None) -> Iterator[tuple[int, SurveyFacts]]:
    number = 1
    while (entry := store.named(key_of(number), analyst)) is not None:
        encoded = store.stored(key_of(number), analyst) if isinstance(entry.ended, Settled) else None
        if encoded is not None:
            yield entry.row.sequence, SurveyFacts.from_bytes(encoded)
        number += 1
