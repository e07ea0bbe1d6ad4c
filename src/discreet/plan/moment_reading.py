"""Second moments over people, read besides the totals they belong to: how much totals vary with the people who were sampled.

A reading adds up, for each group, products of what each person gives to two terms, after all limits (`SecondMoments`); or, where a unit has
one row, products of that row's own terms. Each sum has geometric noise of its own. How far a neighbour moves it is proven in
`rules.relations`: for a square it is the square of what they move the sum itself by, in L2 over the groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.mechanisms import Geometric
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.combination import Combination
from discreet.plan.digits import counted, six_digits
from discreet.plan.gathering import query_of
from discreet.plan.population import Pair, product_of, shift_of_product
from discreet.plan.reading import Groups, Reading, ReadingAsked
from discreet.plan.relation import Rows, SecondMoments, Term, Totals
from discreet.plan.rules.relations import combined, most_of_one, steps_shift
from discreet.plan.steps.base import broken
from discreet.plan.totals import Run, combined_totals
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.caps import Caps
    from discreet.plan.draft import Draft


@dataclass(frozen=True, slots=True)
class MomentsAsked(ReadingAsked):
    """Second moments before they have a price. `pairs` are the places of terms, of which `terms` are; `single`: of one row a unit."""

    pairs: tuple[Pair, ...]
    terms: tuple[Term, ...]
    single: bool
    share: Fraction
    """For how many measurements all of them count where a price is split."""

    @property
    def of_rows(self) -> bool:
        """Limits are those of the totals."""
        return False

    @property
    def weight(self) -> Fraction:
        return self.share

    def priced(self, draft: "Draft", caps: "Caps", epsilon: Fraction) -> "SampledMoments":
        relation, places = draft.protected.relation, range(len(self.pairs))
        if self.single:
            products = tuple(product_of(self.terms[one], self.terms[other]) for one, other in self.pairs)
            query = query_of(replace(draft, terms=products), caps)
            coarser = tuple(map(shift_of_product, products))
        else:
            whole = query_of(draft, caps)
            shifts = tuple(steps_shift(most_of_one(place, whole, relation)) for place in range(len(draft.terms)))
            query = Totals(SecondMoments(whole.source, self.pairs, shifts))  # type: ignore[arg-type]
            coarser = tuple(shifts[one] + shifts[other] for one, other in self.pairs)
        moved = tuple(max(Fraction(1), combined(Combination.plain(i), query, relation, draft.known).l1) for i in places)
        each = epsilon / len(self.pairs)
        return SampledMoments(query, self.pairs, coarser, tuple(Geometric(one / each) for one in moved), moved)


@dataclass(frozen=True, slots=True)
class SampledMoments(Reading):
    """Sums over people of products of two terms, in steps that are coarser by 2^shift than those of their product, with noise."""

    notation = "SampledMoments query pairs shifts mechanisms sensitivities"

    query: Totals
    pairs: tuple[Pair, ...]
    shifts: tuple[int, ...]
    mechanisms: tuple[Geometric, ...]
    sensitivities: tuple[Fraction, ...]

    @property
    def columns(self) -> int:
        return len(self.pairs)

    @property
    def noises(self) -> tuple[Geometric, ...]:
        return self.mechanisms

    def event(self) -> events.Event:
        noises = zip(self.mechanisms, self.sensitivities, strict=True)
        return events.Composed(tuple(mechanism.event(sensitivity) for mechanism, sensitivity in noises))

    def check(self, relation: Relation, groups: Groups) -> None:
        """For moments of the terms that it says, with noise that is made for what a neighbour can do: returns. For any other: raises
        Fault."""
        sizes = {len(each) for each in (self.pairs, self.shifts, self.mechanisms, self.sensitivities)}
        if len(sizes) > 1 or not self.pairs:
            raise broken("each second moment has steps, and noise")
        source = self.query.source
        if isinstance(source, SecondMoments) and (
            source.pairs != self.pairs
            or any(
                source.shifts[a] + source.shifts[b] != by for (a, b), by in zip(self.pairs, self.shifts, strict=True)
            )
        ):
            raise broken("second moments are of the terms that are squared")
        for i, sensitivity in enumerate(self.sensitivities):
            if sensitivity < combined(Combination.plain(i), self.query, relation, max(1, len(groups))).l1:
                raise broken("a neighbour can change a second moment by more than its noise is made for")

    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        noises = zip(self.mechanisms, self.sensitivities, strict=True)
        adders = [grant.prepare(mechanism, sensitivity, len(groups)) for mechanism, sensitivity in noises]
        return [add(exact) for add, exact in zip(adders, self.exactly(run, salt, groups), strict=True)]

    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        plain = [Combination.plain(i) for i in range(len(self.pairs))]
        return combined_totals(plain, self.query, groups, run(self.query, salt))

    def explained(self) -> str:
        cost = sum(
            sensitivity / each.scale for each, sensitivity in zip(self.mechanisms, self.sensitivities, strict=True)
        )
        what = "each row" if isinstance(self.query.source, Rows) else "each person"
        return (
            f"how much totals vary with who was sampled: {counted(len(self.pairs), 'second moment')} of {what}, geometric noise,"
            f" costs ε = {six_digits(Fraction(cost))}"
        )

    def receipt(self) -> dict[str, Any]:
        return {
            "said": "second moments",
            "mechanism": "Geometric",
            "scale": ", ".join(str(each.scale) for each in self.mechanisms),
            "sensitivity": ", ".join(map(str, self.sensitivities)),
            "step": ", ".join(str(2**shift) for shift in self.shifts),
        }
