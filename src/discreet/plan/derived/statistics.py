"""Which aggregates of a question follow from those of an answer, as sums over groups of what was released.

A count or a sum of rows is the sum of those of the groups; a mean is the ratio of two such. Of people there is no sum over groups: whoever
is in two of them is one person. What an answer has of one group is taken as it is, people too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.plan.derived.cells import GroupCells
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.derived.shown import ShownAgain, stands_alone
from discreet.plan.draft import Draft
from discreet.plan.levels import summable
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Release
from discreet.plan.releases.mean import AVERAGE, Mean
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.releases.total import COUNT, PEOPLE, SUM, Shifted, Total
from discreet.plan.written import notation


@dataclass
class TakenOver:
    """What is taken over from an answer: the places of its measurements, in the order in which they are used."""

    draft: Draft
    kept: KeptAnswer
    cells: GroupCells
    used: list[int | None] = field(default_factory=list)
    """None stands for the number of a group, by which is told what is taken as it is."""

    reads: bool = False
    """Whether something is taken as it is that is no sum, and has limits of its own."""

    def releases(self) -> tuple[Release, ...] | None:
        """The aggregates of the question as they are made of what is taken over; None where one of them does not follow."""
        releases = [
            self._release(each) or self._shown(i, each) for i, each in enumerate(self.draft.question.aggregates)
        ]
        known = tuple(each for each in releases if each is not None)
        return known if len(known) == len(releases) else None

    def _release(self, aggregate: Aggregate) -> Release | None:
        if aggregate.kind == COUNT:
            place = self._count(aggregate)
            return None if place is None else Total(self._used(place))
        if aggregate.kind == PEOPLE:
            place = next((own.measurement for own in self._alike(aggregate) if isinstance(own, Total)), None)
            return None if place is None or self._told(place) is None else Total(self._used(place))
        if aggregate.kind == SUM:
            return self._sum(aggregate)
        return self._mean(aggregate) if aggregate.kind == AVERAGE else None

    def _shown(self, place: int, aggregate: Aggregate) -> Release | None:
        """What the answer shows of the same aggregate in the same groups."""
        cells = [each[0] for _, each in self.cells.groups if len(each) == 1]
        if len(cells) < len(self.cells.groups) or not stands_alone(self.draft.question, place):
            return None
        name, plan = notation(aggregate), self.kept.plan
        for i, (each, release) in enumerate(zip(plan.question.aggregates, plan.releases, strict=True)):
            shown = self.kept.shown.get(i, {})
            if notation(each) == name and all(cell in shown for cell in cells):
                self.reads = self.reads or bool(release.readings)
                return ShownAgain(self._used(None), tuple(shown[cell] for cell in cells))
        return None

    def _sum(self, aggregate: Aggregate) -> Release | None:
        for own in self._alike(aggregate):
            match own:
                case Total(measurement=place) if self._told(place) is not None:
                    return Total(self._used(place))
                case Shifted(total=total, count=count) if None not in (self._told(total), self._told(count)):
                    return Shifted(self._used(total), self._used(count), own.middle)
        return None

    def _mean(self, aggregate: Aggregate) -> Release | None:
        """A mean of the sum of the same argument, and of the count of its rows."""
        count = self._count(aggregate)
        own = self._sum(Aggregate(SUM, aggregate.argument, aggregate.condition))
        if count is None or own is None or aggregate.argument is None:
            return None
        low, high = self._ends(aggregate)
        if isinstance(own, Shifted):
            return Mean(own.total, self._used(count), own.middle, low, high)
        return None if not isinstance(own, Total) else Mean(own.measurement, self._used(count), Fraction(0), low, high)

    def _ends(self, aggregate: Aggregate) -> tuple[Fraction, Fraction]:
        """Between what a mean lies: what the question clamps its argument to."""
        releases = zip(self.draft.releases, self.draft.question.aggregates, strict=True)
        mean = next(each for each, asked in releases if asked == aggregate and isinstance(each, Mean))
        return mean.low, mean.high

    def _count(self, aggregate: Aggregate) -> int | None:
        """The measurement that counts the rows of an aggregate, in whatever words."""
        rows = self._rows(aggregate)
        releases = zip(self.kept.plan.question.aggregates, self.kept.plan.releases, strict=True)
        for each, release in releases:
            if each.kind == COUNT and isinstance(release, Total) and self._rows(each) == rows:
                return release.measurement if self._told(release.measurement) is not None else None
        return None

    def _rows(self, aggregate: Aggregate) -> str:
        """Which rows an aggregate is of, among those that the question has."""
        condition = MeasuredTerms(self.draft.scope, (), False).counts(aggregate)
        return notation(condition)

    def _alike(self, aggregate: Aggregate) -> Iterator[Release]:
        """How the answer has this very aggregate."""
        name = notation(aggregate)
        for each, release in zip(self.kept.plan.question.aggregates, self.kept.plan.releases, strict=True):
            if notation(each) == name:
                yield release

    def _told(self, place: int) -> int | None:
        """A measurement whose numbers are told, and can be summed where they must be."""
        plan = self.kept.plan
        if self.cells.merged and not summable(plan.measurements[place].made, plan.terms):
            return None
        return place if place in self.kept.cells else None

    def _used(self, place: int | None) -> int:
        if place not in self.used:
            self.used.append(place)
        return self.used.index(place)
