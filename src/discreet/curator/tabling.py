"""Tables that a curator hands out, of people in cells: attributes and conditions are public, counts are for draws alone."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Unpack, cast

from discreet.curator.asked import Asked, Terms, check_key
from discreet.curator.planning import Planning
from discreet.curator.surveyed import overlaid
from discreet.errors import Invalid
from discreet.mechanisms.measure import Grant, Promise
from discreet.noise.source import chosen
from discreet.plan.relation import Found, Totals
from discreet.privacy import events

if TYPE_CHECKING:
    from discreet.curator.table.query import Asker
    from discreet.curator.table.statistical import Statistics
    from discreet.curator.table.table import ProtectedTable
    from discreet.plan.build.expression import Expression


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

    def statistical(
        self,
        *queries: "str | Expression",
        mean: bool = False,
        per: str = "row",
        table: str | None = None,
        key: str | None = None,
        **terms: Unpack[Terms],
    ) -> "Statistics":
        """Answers to statistical queries: for each the sum over rows of a number from 0 to 1, with noise; with mean=True its mean.

        A query is a condition, "age >= 65 AND ward = 'A'", which counts 1 where it is true, or a number, which is clamped to 0 … 1; NULL
        counts 0. Where rows are protected a sum has Δ = 1; where people are, Δ is the rows that limits leave of a person, and with
        per="person", which takes the mean over the rows of each person first, 1 again. Several queries share the price: their Δ adds up,
        but for conditions that no row can meet two of, which are answered as a histogram where limits leave nobody out of it.
        `table.statistical(…)` previews.
        """
        from discreet.curator.table.statistical import statistics

        private = [each.name for each in self.catalog.private]
        if table is None and len(private) > 1:
            raise Invalid("there are several tables", code="statistical", hint=f'say which: table="{private[0]}"')
        found = self.table(table if table is not None else private[0], terms.get("analyst"))
        answer = found.statistical(*queries, mean=mean, per=per, limits=Asked("", **terms).limits).ask(key=key, **terms)
        return statistics(answer, len(queries))

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
