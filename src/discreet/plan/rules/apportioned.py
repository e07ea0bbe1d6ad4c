"""How far a person reaches into what was told apart by value: as far as before.

**Why no bound grows.** In a group a person has t >= 0 after all caps, and floor(t·n_v/n) for each value v of their rows, where Σn_v = n.
So Σ_v floor(t·n_v/n) <= t: the L1 norm of what they have over all values of the group is at most t, and so is the L2 norm. Whatever
bounds t over the groups of a person bounds the vector over groups and values. Of two such vectors no coordinate is negative: they differ
in L1 by the sum of both, and in the square of L2 by the sum of both squares, as two people in different groups do. So the rules of sums
hold as they are, with (group, value) for a cell; only that a person is in so many *groups* says nothing of how many cells they are in.

What is in a cell depends on a person's own rows alone: t on those of all their groups, n_v and n on those in the group.
"""

from dataclasses import replace

from discreet.errors import Fault
from discreet.plan.apportioned import Apportioned
from discreet.plan.relation import How, contributions_of
from discreet.plan.rules.relations import Reach, reach_into, term_bounds
from discreet.privacy import Unit


@reach_into.register
def _apportioned(relation: Apportioned, unit: Unit) -> Reach:
    below = reach_into(relation.source, unit)
    if not below.gathered or below.limits is not None or below.apportioned:
        raise Fault("what is told apart by value was gathered and capped, and is so once", code="rule")
    for term in contributions_of(relation).terms:
        if term.how is not How.SUM or term_bounds(term)[0] < 0:
            raise Fault("what is told apart by value is a count of rows", code="rule")
    return replace(below, apportioned=True)
