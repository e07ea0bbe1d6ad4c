"""Tables that a curator hands out, of people in cells: attributes and conditions are public, counts are for draws alone."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, cast

from discreet.curator.asked import check_key
from discreet.curator.planning import Planning
from discreet.curator.surveyed import overlaid
from discreet.mechanisms.measure import Grant, Promise
from discreet.noise.source import chosen
from discreet.plan.relation import Found, Totals
from discreet.privacy import events

if TYPE_CHECKING:
    from discreet.curator.table.query import Asker
    from discreet.curator.table.table import ProtectedTable


class Tabling(Planning):
    """The side of a curator that hands out tables."""

    @abstractmethod
    def measure(
        self,
        event: events.Event,
        *,
        label: str = "",
        key: str | None = None,
        analyst: str | None = None,
        kept: bool = True,
        block: int = 1,
        promise: Promise | None = None,
    ) -> AbstractContextManager[Grant]:
        """Spend and measure in one act."""

    def table(self, name: str, analyst: str | None = None) -> "ProtectedTable":
        """A table whose people are in cells, for `discreet.weights`, or for draws of your own. Nothing is spent, and no data is read.

        With `analyst` it is what that analyst may see, and what is drawn is charged to them too. What is surveyed later is seen by
        tables that are asked for later.
        """
        from discreet.curator.table.table import ProtectedTable

        self._delta_of(analyst)  # refuses an analyst who is not known
        catalog = overlaid(self.catalog, self.surveyed(analyst))
        if analyst is not None:
            catalog = catalog.declared()
        # one salt for each table, so that its counts agree with one another; it is kept nowhere
        salt = chosen(self._randomness.source).bits(64)

        def measure(
            event: events.Event,
            *,
            label: str = "",
            key: str | None = None,
            kept: bool = True,
            block: int = 1,
            promise: Promise | None = None,
        ) -> AbstractContextManager[Grant]:
            if key is not None:
                check_key(key)
            if key is None or self._store.stored(key, analyst) is None:
                self._loaded()  # whatever is wrong with the source shows before anything is charged
            return self.measure(event, label=label, key=key, analyst=analyst, kept=kept, block=block, promise=promise)

        def run(query: Totals, salt: int) -> Found:
            return self._loaded().run(query, salt)

        return ProtectedTable(name, catalog, measure, run, salt, cast("Asker", self), analyst)
