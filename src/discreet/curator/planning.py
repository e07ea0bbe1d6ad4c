"""How a curator plans a question: with what is declared, and with what earlier questions found; and what the question is filed under.

Nothing here reads data or makes a ledger: a preview plans as the question would be charged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path

from discreet.answer import Answer
from discreet.curator import surveyed
from discreet.curator.acts import Reserved, Shared
from discreet.curator.asked import GENERATED, Asked
from discreet.curator.facts import Known
from discreet.curator.found import (
    Lacking,
    fact_key,
    fact_of,
    lacking,
    limits_in,
    range_in,
    range_told_again,
    told_again,
)
from discreet.curator.names import check_name
from discreet.curator.parted import said_by
from discreet.curator.request import Request, key_in
from discreet.curator.store import unknown_analyst
from discreet.curator.surveyed import overlaid
from discreet.curator.surveying import Surveyor
from discreet.errors import DiscreetError
from discreet.exact import rational
from discreet.plan.catalog import Catalog
from discreet.plan.check import digest
from discreet.plan.draft import draft
from discreet.plan.partition import Part
from discreet.plan.parts import part_of
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.relation import Rows, scans
from discreet.plan.sizes import Size, middle_size
from discreet.plan.within import plan_within

FORMER = {"max_rows": 5, "max_groups": 3}
"""The limits that earlier releases took where nobody declared one; kept answers go by them."""

DEFAULT_DELTA = Fraction(1, 10**8)
"""Of one question, where the data set has a delta; it is spent only where noise needs it."""


class Planning(Surveyor):
    """The side of a curator that plans."""

    def _planned(self, asked: Asked, delta: Fraction) -> Plan:
        """The plan of a question; what an earlier one of whoever asks found is a limit of this one, unless it is that question itself."""
        known = self.surveyed(asked.analyst)
        if not known.surveys:
            return self._unsurveyed(self.catalog, asked, delta)
        before = self._asked_unsurveyed(asked, delta)
        return self._by_survey(known, asked, delta) if before is None else before

    def _asked_unsurveyed(self, asked: Asked, delta: Fraction) -> Plan | None:
        """The plan without any survey, where this very question was asked before there was one: then it is that question still."""
        try:
            plan = self._unsurveyed(self.catalog, asked, delta)
        except DiscreetError:  # what was not declared had no answer
            return None
        return plan if self._asked_before(plan, asked) else None

    def _by_survey(self, known: Known, asked: Asked, delta: Fraction) -> Plan:
        """The plan with what was surveyed, wherever a declaration is missing."""
        catalog = overlaid(self.catalog, known)
        if asked.analyst is not None:
            catalog = catalog.declared()
        limited = replace(catalog, protected=catalog.protected.limited(**asked.limits))
        read = asked.question(limited)
        start = draft(read, limited)
        price = rational(asked.epsilon, "epsilon") if asked.epsilon is not None else Fraction(1)
        limits, words = surveyed.limits(start, known, price) if price > 0 else ({}, "")
        if limits:
            plan = self._found_before(
                read, replace(limited, protected=limited.protected.limited(**limits)), asked, delta
            )
            return replace(plan, assumed=(words, *plan.assumed))
        top = surveyed.top(start, known)
        return self._unsurveyed(replace(catalog, protected=replace(catalog.protected, top_total=top)), asked, delta)

    def _unsurveyed(self, catalog: Catalog, asked: Asked, delta: Fraction) -> Plan:
        """The plan with what a catalog tells, and what earlier questions of whoever asks found."""
        catalog = catalog if asked.analyst is None else catalog.declared()
        catalog = replace(catalog, protected=catalog.protected.limited(**asked.limits))
        return self._found_before(asked.question(catalog), catalog, asked, delta)

    def _found_before(self, read: Question, catalog: Catalog, asked: Asked, delta: Fraction) -> Plan:
        """The plan with the limits and ranges that earlier questions of whoever asks found; as it was, where this question itself found
        them."""
        plan = None if asked.within is not None else self._plan_of(read, catalog, asked, delta)
        sought = lacking(read, catalog) if plan is None or plan.topic or plan.range_topics else Lacking()
        if (sought.limits or sought.ranges) and self._ledger_if_made() is not None:
            if plan is not None and self._asked_before(plan, asked):
                return plan
            former = self._former(read, catalog, asked, delta) if sought.limits else None
            if former is not None:
                return former
        if plan is not None:
            before = self._asked_with_less(sought, read, catalog, asked, delta)
            if before is not None:
                return before
        known, words = self._with_facts(sought, read, catalog, asked.analyst)
        if not words:
            return self._plan_of(read, catalog, asked, delta) if plan is None else plan
        again = self._plan_of(read, known, asked, delta)
        return replace(again, assumed=(*words, *again.assumed))

    def _asked_with_less(
        self, sought: Lacking, read: Question, catalog: Catalog, asked: Asked, delta: Fraction
    ) -> Plan | None:
        """The plan with a part of what is known by now, where this very question was asked with that, and found the rest itself."""
        for part in sought.parts():
            known, words = self._with_facts(part, read, catalog, asked.analyst)
            if len(words) == len(part.ranges) + bool(part.limits):
                plan = self._plan_of(read, known, asked, delta)
                if self._asked_before(plan, asked):
                    return replace(plan, assumed=(*words, *plan.assumed))
        return None

    def _with_facts(
        self, sought: Lacking, read: Question, catalog: Catalog, analyst: str | None
    ) -> tuple[Catalog, list[str]]:
        """A catalog with what earlier questions found of what is lacking, and what is said of that."""
        words = []
        for topic, widest in sought.ranges:
            fact = self._fact(topic, read, analyst)
            if fact is not None:
                found = range_in(fact, widest)
                catalog = replace(catalog, ranges=(*catalog.ranges, found))
                words.append(range_told_again(found))
        fact = self._fact(sought.limits, read, analyst) if sought.limits else None
        if fact is not None:
            limits = limits_in(fact)
            catalog = replace(catalog, protected=catalog.protected.limited(**limits))
            words.append(told_again(fact, limits))
        return catalog, words

    def _former(self, read: Question, catalog: Catalog, asked: Asked, delta: Fraction) -> Plan | None:
        """The plan of an earlier release, where this question was asked of one: it is that question still, and its answer is free."""
        unit = catalog.protected
        former = {name: limit for name, limit in FORMER.items() if getattr(unit, name) is None}
        if unit.max_total is not None or not former:
            return None
        plan = self._plan_of(read, replace(catalog, protected=unit.limited(**former)), asked, delta)
        answer = self._store.stored(self._name_of(plan, asked)[0], asked.analyst)
        if answer is None or "limits" in Answer.from_bytes(answer).receipt:
            return None
        said = " and ".join(f"{name} = {limit}" for name, limit in former.items())
        note = f"this was answered by an earlier release, with {said}, which nobody declared: what anyone has beyond that is left out"
        return replace(plan, assumed=(note, *plan.assumed))

    def _fact(self, topic: str, read: Question, analyst: str | None) -> bytes | None:
        """What an earlier question of whoever asks found; a preview makes no ledger."""
        store = self._ledger_if_made()
        if store is None:
            return None
        return store.stored(fact_key(topic, self._origin(read.source), self.policy.version), analyst)

    def _facts(
        self, plan: Plan, analyst: str | None, made: Mapping[bytes, Answer], encoded: bytes
    ) -> Iterator[tuple[Request, bytes]]:
        """What is kept of what a question found and its answer tells, for later ones."""
        if not plan.topic and not plan.range_topics:
            return
        found, origin, version = (
            made[encoded].receipt["found"],
            self._origin(plan.question.source),
            self.policy.version,
        )
        for name, topic in plan.range_topics:
            yield fact_of(fact_key(topic, origin, version), analyst, {"ranges": {name: found["ranges"][name]}}, version)
        if plan.topic:
            limits = {name: fact for name, fact in found.items() if name != "ranges"}
            yield fact_of(fact_key(plan.topic, origin, version), analyst, limits, version)

    def _asked_before(self, plan: Plan, asked: Asked) -> bool:
        """Whether this very question was asked before it was known what it finds: then it is that question still, and free."""
        name, about = self._name_of(plan, asked)
        entry = self._store.named(name, asked.analyst)
        act = None if entry is None else entry.row.act
        return isinstance(act, Reserved | Shared) and act.question == about

    def _name_of(self, plan: Plan, asked: Asked) -> tuple[str, str]:
        origin = self._origin(plan.question.source)
        return self._named(asked.key, asked.analyst, digest(plan), origin, self.policy.version)

    def _named(self, key: str | None, analyst: str | None, asked: str, origin: str, version: str) -> tuple[str, str]:
        """The key of a request, and what is asked of which source. What release 0.1 kept goes by the names that it had there."""
        former = key if key is not None else sha256(repr((analyst, asked, version)).encode()).hexdigest()
        if self._store.named_before(former, analyst):
            return former, asked
        about = sha256(repr((asked, origin)).encode()).hexdigest() if origin else asked
        if key is not None:
            return key, about
        return GENERATED + sha256(repr((about, version)).encode()).hexdigest(), about

    def _origin(self, source: Rows) -> str:
        """Where the rows of a question come from, seen from the ledger, so that both may be moved together; nothing for a frame.

        One ledger may serve several files about the same people: an answer about one of them is not an answer about another. Neither is one
        about people of a part, where something else says who they are.
        """
        asked = {scan.table.casefold() for scan in scans(source)}
        where = [
            repr((name, self._place.origin(Path(table.data)), table.table))
            for name, table in sorted(self.policy.tables.items())
            if name.casefold() in asked and isinstance(table.data, str | Path)
        ]
        if part_of(source) is not None:
            where.append(repr(said_by(self.policy, self._place)))
        return " ".join(where)

    def _usual_delta(self) -> Fraction:
        return min(DEFAULT_DELTA, self.policy.budget.delta)

    def _delta_of_part(self, part: Part) -> Fraction:
        """The most δ of a question about a part for which none is said: by its budget, as it is declared."""
        return Fraction(0) if self.policy.parts is None else self.policy.parts.budgets[part.name].delta

    def _delta_of(self, analyst: str | None) -> Fraction:
        """The usual δ, and none for an analyst whose budget has none; by the cap, not by what is left of it."""
        if analyst is None:
            return self._usual_delta()
        store = self._ledger_if_made()  # a preview makes no ledger
        if store is None:
            check_name(analyst, "analyst")
            if analyst not in self.policy.analysts:
                raise unknown_analyst(analyst)
            return min(self._usual_delta(), self.policy.analysts[analyst].delta)
        return min(self._usual_delta(), store.standing(analyst).budget.exact[1])

    def _plan_of(self, read: Question, catalog: Catalog, asked: Asked, delta: Fraction) -> Plan:
        """The plan at a price, or of an accuracy."""
        if asked.within is None:
            return plan_for(read, catalog, asked.epsilon if asked.epsilon is not None else 0, delta)
        released = partial(self._released_sizes, read, asked)
        return plan_within(read, catalog, asked.within, delta, confidence=asked.level, released=released)

    def _released_sizes(self, read: Question, asked: Asked) -> tuple[Size | None, ...]:
        """The sizes of columns, by answers that whoever asks was given to this text, on this version of the data: the first that tells.

        The first, so that what was asked for stays the question that it was, whatever is released later. A text with parameters may
        have been asked with others.
        """
        sizes: list[Size | None] = [None] * len(read.outputs)
        store = None if asked.params else self._ledger_if_made()
        if store is None:
            return tuple(sizes)
        text, about = _bare(asked.text), part_of(read.source)
        part = None if about is None else about.name
        for row in store.history():
            act = row.act
            if not isinstance(act, Reserved | Shared) or row.analyst != asked.analyst or _bare(act.label) != text:
                continue
            if (None if act.part is None else act.part.name) != part:
                continue
            kept = store.stored(key_in(act.key), asked.analyst) if act.version == self.policy.version else None
            if kept is None:
                continue
            answer = Answer.from_bytes(kept)
            told = dict(zip([column.name for column in answer.columns], _sizes_in(answer), strict=True))
            sizes = [size or told.get(name) for size, name in zip(sizes, read.names, strict=True)]
            if None not in sizes:
                break
        return tuple(sizes)


def _sizes_in(answer: Answer) -> list[Size | None]:
    """What an answer tells of the size of each of its columns."""
    known_by = f"an answer at ε = {answer.epsilon:g}"
    errors = [[span and span.error for span in row] for row in answer.intervals]
    return [
        middle_size([row[j] for row in answer.rows], [row[j] for row in errors], known_by)
        for j in range(len(answer.columns))
    ]


def _bare(text: str) -> str:
    """A text without what changes nothing of a question."""
    return " ".join(text.split()).rstrip("; ")
