"""How keys are found that nobody declared: those of a column that enough people share, by private selection.

A person counts once for a key, and in at most k keys: those of the smallest priorities. What is released are the keys whose noisy count
passes a threshold, and that count; keys that hardly anyone has are next to never seen, which is what δ is for. Rows whose key is not among
them are left out of what follows.

**Its price.** Whoever is added or removed changes at most k of the counts, each by one; whoever is replaced at most 2k. The rule is made
for so many (`mechanisms.keys`). Which keys there are cannot be listed before: so what follows is checked for as many as can be used, and
checked again once they are known, before it is run.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from discreet.mechanisms.keys import KeysByName
from discreet.mechanisms.measure import Grant
from discreet.plan.catalog import one_number, value_of
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.relation import Found, Totals, keys_of, terms_of
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import KINDS, Type, Value
from discreet.plan.steps.base import Outcome, Step, broken, no_such_outcome
from discreet.plan.totals import Run, checked_totals
from discreet.plan.visible import visible
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage

LONGEST = 100
"""Characters of a text that can be found as a key: longer ones are left out, whoever has them."""

SURELY = 0.95
"""How likely a key is found that so many people share as is told."""

MANY = 1 << 62
"""More keys than there can be."""

EXAMPLE = 10
"""So many keys an example has."""

REMEMBERED = 4
"""Of so many outcomes it is remembered what follows."""

AS_FOUND = (Type.TEXT, Type.INTEGER, Type.BOOLEAN)
"""The types whose keys an engine returns as an answer has them."""

LISTED = 6
STORED: Mapping[Type, Callable[[str], date]] = {Type.DATE: date.fromisoformat, Type.TIMESTAMP: datetime.fromisoformat}
"""How keys are read that are kept as texts."""

ONE = Fraction(1)


class Following(Protocol):
    """What comes after keys were found, for any of them."""

    def filled(self, keys: tuple[Value, ...]) -> "Stage | Step":
        """The rest of the plan, for these keys."""


@dataclass(frozen=True, slots=True)
class FindKeys(Step):
    """The keys of one column, or of one expression, by how many people have each."""

    query: Totals
    name: str
    """What it is that has keys, as it was asked."""

    type: Type
    mechanism: KeysByName
    most: int
    """So many keys are used, those with the largest noisy counts."""

    people: str
    """Who shares a key, for people."""

    then: Following
    made: list[tuple[Outcome, "Stage | Step"]] = field(default_factory=list, compare=False, repr=False)
    """What was made for outcomes: a plan asks for its next stage again and again."""

    @property
    def reads(self) -> Totals:
        return self.query

    @property
    def ways(self) -> tuple[Outcome, ...]:
        """The largest outcome: as many keys as are used at most, as long as they may be. No other one leads to more groups."""
        return (_made_up(self.type, self.most, LONGEST),)

    @property
    def examples(self) -> tuple[Outcome, ...]:
        return (_made_up(self.type, min(self.most, EXAMPLE), 0),)

    @property
    def listed(self) -> bool:
        return False

    def after(self, outcome: Outcome) -> "Stage | Step":
        for known, following in self.made:
            if known is outcome or known == outcome:
                return following
        following = self.then.filled(tuple(key for key, _ in self._pairs(outcome)))
        self.made.append((outcome, following))
        del self.made[:-REMEMBERED]
        return following

    def _pairs(self, outcome: Outcome) -> tuple[tuple[Value, int], ...]:
        if not isinstance(outcome, tuple) or len(outcome) > self.most:
            raise no_such_outcome()
        for pair in outcome:
            if not isinstance(pair, tuple) or len(pair) != 2 or not _usable(pair[0], KINDS[self.type]):
                raise no_such_outcome()
        if len({key for key, _ in outcome}) < len(outcome):
            raise no_such_outcome()
        return outcome

    def event(self) -> events.Event:
        return self.mechanism.event(ONE)

    def check(self, relation: Relation) -> None:
        if not isinstance(self.mechanism, KeysByName) or self.most < 1:
            raise broken("keys are found by private selection, and some of them are used")
        if len(keys_of(self.query)) != 1 or len(terms_of(self.query)) != 1:
            raise broken("the keys of one column are found, by one count")
        count = Combination.plain(0)
        if combined(count, self.query, relation, 1).l1 > ONE:
            raise broken("a neighbour can change the count of a key by more than one")
        if combined(count, self.query, relation, MANY).l1 > self.mechanism.groups:
            raise broken("a neighbour can change more keys than their selection is made for")

    def drawn(self, run: Run, grant: Grant, salt: int) -> Outcome:
        counts = grant(self.mechanism, ONE, lambda: self._counts(run(self.query, salt)))
        largest = sorted(counts, key=lambda key: (-counts[key], key))[: self.most]
        return tuple((key, counts[key]) for key in sorted(largest))

    def _counts(self, totals: Found) -> dict[Value, int]:
        """The number of people of each key that can be one: which can be does not depend on who has it."""
        (counts,) = checked_totals(self.query, totals)
        keys: Iterable[Any] = (key for (key,) in totals.keys)
        values = keys if self.type in AS_FOUND else (_value(key, self.type) for key in keys)
        pairs, kind = zip(values, counts.tolist(), strict=True), KINDS[self.type]
        return {value: count for value, count in pairs if count and _usable(value, kind)}

    @property
    def shared(self) -> int:
        """So many people must share a key for it to be found."""
        return self.mechanism.shared_by(SURELY)

    def explained(self) -> str:
        epsilon, delta = map(six_digits, self.mechanism.price)
        return (
            f"{self.name}: its keys, at most {self.most:,}, each of which about {self.shared:,} {self.people} must share,"
            f" costs ε = {epsilon}, δ = {delta}"
        )

    def named(self, outcome: Outcome) -> str:
        pairs = self._pairs(outcome)
        shown = ", ".join(visible(str(key)) for key, _ in pairs[:LISTED])
        more = ", …" if len(pairs) > LISTED else ""
        return f"{_number(len(pairs))} of {self.name}" + (f": {shown}{more}" if pairs else "")

    def supposed(self, outcome: Outcome) -> str:
        return f"if there are {self.named(outcome)}"

    def facts(self, outcome: Outcome) -> Mapping[str, Any]:
        return {"keys": {self.name: self.kept(outcome)}}

    def kept(self, outcome: Outcome) -> Any:
        return [[key.isoformat() if isinstance(key, date) else key, count] for key, count in self._pairs(outcome)]

    def again(self, stored: Any) -> Outcome:
        return tuple((STORED[self.type](key) if self.type in STORED else key, count) for key, count in stored)

    def ahead(self) -> tuple[str, ...]:
        return (f"{self.name}: keys are found that about {self.shared:,} {self.people} share",)

    def notes(self, outcome: Outcome) -> tuple[str, ...]:
        number = len(self._pairs(outcome))
        if not number:
            return (
                f"{self.name}: no key was found; about {self.shared:,} {self.people} must share one: ask at a higher price,"
                " or declare the keys",
            )
        more = f"; there may be more, and the {number:,} largest are used" if number == self.most else ""
        were = "keys were found, each of which" if number > 1 else "key was found, which"
        return (
            f"{self.name}: {number:,} {were} about {self.shared:,} {self.people} must share{more};"
            f" rows with any other {self.name}, or with none, are left out",
        )


def _number(keys: int) -> str:
    return f"{keys:,} key{'' if keys == 1 else 's'}"


def _value(key: Any, type: Type) -> Value:
    """A key as an answer has it."""
    if key is None:
        return None
    if type in STORED:
        return value_of(type, int(key))
    return one_number(key) if type is Type.NUMBER else key


def _usable(key: Any, kind: type) -> bool:
    """Whether a value can be a key, as declared ones can: of the type, no longer than is shown."""
    if isinstance(key, str):
        return kind is str and len(key) <= LONGEST
    return key.__class__ is kind and (not isinstance(key, float) or isfinite(key))


@cache
def _made_up(type: Type, count: int, length: int) -> tuple[tuple[Value, int], ...]:
    """An outcome that stands for what will be found; texts are at least as long as is asked, of characters that take most room."""
    numbers = range(1, count + 1)
    keys: Iterable[Value] = numbers
    match type:
        case Type.TEXT:
            keys = sorted(f"key {i:02}".rjust(length, "\U0010ffff") for i in numbers)
        case Type.DATE:
            keys = (date.fromordinal(date(2000, 1, 1).toordinal() + i) for i in numbers)
        case Type.TIMESTAMP:
            keys = (datetime(2000, 1, 1) + timedelta(hours=i, microseconds=i) for i in numbers)
        case Type.NUMBER:
            keys = map(float, numbers)
    return tuple((key, 1) for key in keys)
