"""Answers that follow from what whoever asks was answered before: found among their stored answers, checked, and told for nothing.

An answer of the same analyst, about the same version of the same sources, is planned again from its question. Only where the plan has the
name that the ledger has, nothing was declared otherwise since, and it is taken for what it says. No row is written, and no data is read.
"""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

from discreet.answer import Answer
from discreet.answer.free import Free
from discreet.curator.acts import Reserved, Shared
from discreet.curator.amounts import Price
from discreet.curator.asked import GENERATED, Asked, Params
from discreet.curator.declaration import Budget
from discreet.curator.found import is_fact
from discreet.curator.place import named
from discreet.curator.request import key_in
from discreet.curator.rows import Row
from discreet.curator.store import Store
from discreet.curator.surveyed import overlaid
from discreet.curator.tabling import Tabling
from discreet.errors import DiscreetError, QueryError, Refused
from discreet.plan.accuracy import Demands, Within
from discreet.plan.catalog import Catalog
from discreet.plan.check import digest
from discreet.plan.derived.following import following
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.draft import Draft, draft
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.partition import Part
from discreet.plan.parts import part_of
from discreet.plan.plan import Plan
from discreet.plan.written import notation

MOST_SOURCES = 64
"""So many of the newest answers of whoever asks are looked at."""

MOST_REMEMBERED = 512
"""So many answers are remembered as they were read; after that it begins anew."""

Source = tuple[KeptAnswer, Answer]


class Deriving(Tabling):
    """The side of a curator that tells what follows from its answers."""

    _sources: dict[tuple[int, str, int, tuple[tuple[str, int], ...], str | None], Source | None]
    """What was read of an answer, by its row, by how many surveys there were, by limits and by part; None for one from which nothing can
    follow under these."""

    @abstractmethod
    def _priced(self, asked: Asked) -> tuple[Plan, Price]:
        """The plan that is charged, and its price."""

    def derive(
        self,
        text: str,
        params: Params = None,
        *,
        within: Within | None = None,
        analyst: str | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        max_total: int | None = None,
        part: str | None = None,
    ) -> Answer:
        """The answer to a question that follows from one that you have, for nothing: no data is read, and the ledger is not touched.

        Sums over its groups, groups that a condition leaves, coarser dates, means of its sums and counts, sorted and cut as is asked.
        Where several have it the one with the least ± is taken; `within` says how large it may be. Where the sums are not what the
        question by itself would have estimated, since limits were on other groups, its notes say so, and with `within` it is refused.
        What follows from no answer is refused.
        """
        asked = Asked(
            text,
            params,
            within=within,
            analyst=analyst,
            max_rows=max_rows,
            max_groups=max_groups,
            max_total=max_total,
            part=part,
        )
        self._here()
        with self._flight.question(), named(self._place):
            self._delta_of(analyst)  # refuses an analyst who is not known
            self._version()
            free = self._free(asked)
            if free is None:
                raise QueryError(
                    "this follows from no answer that you have to this version of the data",
                    code="not-derived",
                    hint="ask it at a price, epsilon=0.5; others follow from counts and sums by finer groups, under the same limits,"
                    " without HAVING and LIMIT",
                )
            if within is not None and not self._meets(free, asked):
                raise Refused(
                    f"what follows for nothing is not what was asked for: {free.sentence}",
                    code="not-derived",
                    hint="leave within out to have it as it is, or ask at a price",
                )
            return self._handed_out(free, asked)

    @abstractmethod
    def _left(self, analyst: str | None, part: Part | None) -> Budget:
        """What is left for whoever asks, of all or of people in one part."""

    def _handed_out(self, free: Free, asked: Asked) -> Answer:
        about = asked.question(self._declared_for(asked))
        return free.answer.with_remaining(self._left(asked.analyst, part_of(about.source)))

    def _charged_or_free(self, asked: Asked) -> tuple[Plan, Price] | Answer:
        """What is charged for a question; or its answer, where one follows for nothing that is as near as was asked for, and the question
        was neither answered before nor named by a key."""
        try:
            plan, price = self._priced(asked)
        except QueryError:  # of an accuracy whose price is not known, and which may be there
            free = self._free_within(asked)
            if free is None:
                raise
            return free
        if asked.within is None or self._ledger_if_made() is None or self._asked_before(plan, asked):
            return plan, price
        return self._free_within(asked) or (plan, price)

    def _free_within(self, asked: Asked) -> Answer | None:
        if asked.within is None or asked.epsilon is not None or asked.key is not None:
            return None
        free = self._free(asked)
        return None if free is None or not self._meets(free, asked) else self._handed_out(free, asked)

    def _meets(self, free: Free, asked: Asked) -> bool:
        """Whether it is as near as was asked for; QueryError where something is demanded of what is no number of the question."""
        return free.meets(Demands.read(asked.within).of(asked.question(self._declared_for(asked))))

    def _offered(self, asked: Asked) -> Free | None:
        """What follows for a question that has a plan."""
        with suppress(QueryError):  # of one that was answered before a survey, and could not be asked since
            return self._free(asked)
        return None

    def _free(self, asked: Asked) -> Free | None:
        """What follows for a question from the answers of whoever asks, with the least ±; a preview makes no ledger."""
        store = self._ledger_if_made()
        if store is None or asked.population or asked.simultaneous or asked.level != CONFIDENCE:
            return None
        catalog = self._declared_for(asked)
        start = draft(asked.question(catalog), catalog)
        found = [
            free
            for row, (kept, answer) in self._kept_answers(store, asked, start)
            if (free := self._following(start, catalog, row, kept, answer, asked)) is not None
        ]
        return min(found, key=lambda each: each.size, default=None)

    def _declared_for(self, asked: Asked) -> Catalog:
        """What is declared, and what surveys tell, to whoever asks."""
        catalog = overlaid(self.catalog, self.surveyed(asked.analyst))
        if asked.analyst is not None:
            catalog = catalog.declared()
        return replace(catalog, protected=catalog.protected.limited(**asked.limits))

    def _following(
        self, start: Draft, catalog: Catalog, row: Row, kept: KeptAnswer, answer: Answer, asked: Asked
    ) -> Free | None:
        found = following(start, catalog.protected, kept)
        if found is None or not isinstance(row.act, Reserved | Shared):
            return None
        shown = row.sequence if asked.analyst is None else None
        source = row.act.label
        free = Free(answer, source, shown, found.differs)
        note = f"this follows from {free.origin}: it costs nothing"
        receipt: dict[str, Any] = {
            "plan": sha256(repr((answer.receipt["plan"], notation(start.question))).encode()).hexdigest(),
            "data_version": answer.receipt["data_version"],
            "private": answer.receipt["private"],
            "derived": {
                "row": shown,
                "question": source,
                "plan": answer.receipt["plan"],
                "epsilon": answer.receipt["epsilon"],
                "delta": answer.receipt["delta"],
                "groups": list(found.plan.decided.cells),
                "differs": list(found.differs),
            },
        }
        if self._place.note:
            receipt["kept"] = False
        plan = replace(found.plan, notes=(note, *found.plan.notes))
        made = Answer.make(plan, found.released, text=asked.text, receipt=receipt)
        return replace(free, answer=replace(made, notes=made.notes + self._beside))

    # What was answered before.

    def _kept_answers(self, store: Store, asked: Asked, start: Draft) -> Iterator[tuple[Row, Source]]:
        """The newest answers of whoever asks about this version of the same sources, as far as others follow from them."""
        if store.standing().version != self.policy.version:
            return
        origin, surveys = self._origin(start.question.source), len(self.surveyed(asked.analyst).surveys)
        for row in store.charges(asked.analyst, MOST_SOURCES):
            act = row.act
            if not isinstance(act, Reserved | Shared) or is_fact(act.key) or act.version != self.policy.version:
                continue
            name = row.sequence, row.previous, surveys, tuple(asked.limits.items()), asked.part
            try:
                source = self._sources[name]
            except KeyError:  # another thread may forget it at any time
                stored = store.stored(key_in(act.key), asked.analyst)
                if stored is None:
                    continue
                if len(self._sources) >= MOST_REMEMBERED:
                    self._sources.clear()
                source = self._sources[name] = self._source(act, stored, asked)
            if source is not None and self._origin(source[0].plan.question.source) == origin:
                yield row, source

    def _source(self, act: Reserved | Shared, stored: bytes, now: Asked) -> Source | None:
        """An answer with the plan that it was given by, made again; None where no plan has its name, or the bytes are none of an answer."""
        try:
            answer = Answer.from_bytes(stored)
        except DiscreetError:
            return None
        for asked in _as_it_was_asked(act, answer, now):
            with_source = self._planned_again(act, answer, asked)
            if with_source is not None:
                return with_source
        return None

    def _planned_again(self, act: Reserved | Shared, answer: Answer, asked: Asked) -> Source | None:
        try:
            delta = self._delta_of(asked.analyst) if asked.delta is None else Fraction(str(asked.delta))
            plan = self._planned(asked, delta)
            if digest(plan) != answer.receipt["plan"] or self._name_of(plan, asked)[1] != act.question:
                return None
            catalog = self._declared_for(asked)
            start = draft(plan.question, catalog)
            decided = plan.again(answer.receipt.get("outcomes", ()))
        except DiscreetError:  # of a question that cannot be asked any more
            return None
        if start.sought or notation(start.terms) != notation(decided.terms):
            return None  # what is summed is clamped otherwise by now
        return KeptAnswer.of(decided, catalog.protected, start.missing, answer.rows, answer.intervals), answer


def _as_it_was_asked(act: Reserved | Shared, answer: Answer, asked: Asked) -> Iterator[Asked]:
    """The ways in which a question may have been asked that had this answer: under the limits of the one that may follow, since it could
    not follow from another, and under the usual δ, the one that was spent, or none."""
    key = key_in(act.key)
    again = replace(
        asked,
        text=act.label,
        params=None,
        epsilon=Fraction(answer.receipt["epsilon"]),
        within=None,
        key=None if key.startswith(GENERATED) else key,
    )
    for delta in dict.fromkeys([None, Fraction(answer.receipt["delta"]), Fraction(0)]):
        yield replace(again, delta=delta)
