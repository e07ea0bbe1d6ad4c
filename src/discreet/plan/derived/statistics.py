"""Which aggregates of a question follow from those of an answer, as sums over groups of what was released.

A count or a sum of rows is the sum of those of the groups; a mean is the ratio of two such. Of people there is no sum over groups: whoever
is in two of them is one person. What an answer has of one group is taken as it is, people too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from discreet.plan.derived.cells import GroupCells
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.derived.shown import ShownAgain, stands_alone
from discreet.plan.draft import Draft
from discreet.plan.levels import summable
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Release
from discreet.plan.releases.terms import MeasuredTerms
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
        releases = [self.release(each) or self._shown(i, each) for i, each in enumerate(self.draft.question.aggregates)]
        known = tuple(each for each in releases if each is not None)
        return known if len(known) == len(releases) else None

    def _shown(self, place: int, aggregate: Aggregate) -> Release | None:
        """What the answer shows of the same aggregate in the same groups."""
        cells = [each[0] for _, each in self.cells.groups if len(each) == 1]
        if len(cells) < len(self.cells.groups) or not stands_alone(self.draft.question, place):
            return None
        name = notation(aggregate)
        for i, (each, release) in enumerate(self.answered):
            shown = self.kept.shown.get(i, {})
            if notation(each) == name and all(cell in shown for cell in cells):
                self.reads = self.reads or bool(release.readings)
                return ShownAgain(self.place(None), tuple(shown[cell] for cell in cells))
        return None

    # What kinds of release ask for.

    @property
    def answered(self) -> Iterator[tuple[Aggregate, Release]]:
        """The aggregates of the answer."""
        return zip(self.kept.plan.question.aggregates, self.kept.plan.releases, strict=True)

    def release(self, aggregate: Aggregate) -> Release | None:
        """An aggregate as it is made of sums of what was told; None where it is not."""
        return aggregate.kind.following(aggregate, self)

    def planned(self, aggregate: Aggregate) -> Release:
        """How the question by itself would make one of its aggregates."""
        return self.draft.releases[self.draft.question.aggregates.index(aggregate)]

    def alike(self, aggregate: Aggregate) -> Iterator[Release]:
        """How the answer has this very aggregate."""
        name = notation(aggregate)
        return (release for each, release in self.answered if notation(each) == name)

    def rows(self, aggregate: Aggregate) -> str:
        """Which rows an aggregate is of, among those that the question has."""
        return notation(MeasuredTerms(self.draft.scope, (), False).counts(aggregate))

    def told(self, place: int) -> bool:
        """Whether the numbers of a measurement are told, and can be summed where they must be."""
        plan = self.kept.plan
        if self.cells.merged and not summable(plan.measurements[place].made, plan.terms):
            return False
        return place in self.kept.cells

    def place(self, place: int | None) -> int:
        """The place among what is taken over."""
        if place not in self.used:
            self.used.append(place)
        return self.used.index(place)
