"""Values that occur: how far a unit reaches into how many there are of them in each group.

**What a neighbour can change.** Let S be the set of all pairs of a group and a value that somebody has among what is kept of them, and
P(u) the pairs that are kept of a unit u: S is the union of P(u) over all units. P(u) is a function of the rows of u alone and of the
salt, whoever else there is: a row has one pair, and of a person those pairs are kept whose priorities, of the person, the keys and the
salt, are the smallest. So adding u adds the pairs of P(u) that nobody else has, and takes none away. In group g that is a number v_g
with 0 <= v_g <= c_g, where c_g is how many pairs of P(u) are in g. Replacing u by w takes v_g away and adds v'_g, of the pairs that the
others do not have.

**So the counts move as counts of rows do**, of a unit that has c_g rows in group g: at most r of them in a group, in at most G groups, and
at most C in all. The sensitivities of those are proven in `sensitivity.grouped_sum` and `relations._of_total`, from these bounds alone.
Scaling people, as is done with rows, would be no way to bound this: half of a value is none.

Limits follow from `KeepKeys`: with n keys, of which the last is the value, at most r values in each group (within n − 1, of n), at
most G groups (within 0, of n − 1), and at most C pairs in all (within 0, of n). Each takes pairs away and adds none, so that all of them
hold in whatever order they come.
"""

from discreet.errors import Fault
from discreet.plan.relation import KeepKeys, Occurring, Rows, contributions_of, own_rows
from discreet.plan.rules.relations import Reach, reach_into
from discreet.privacy import Unit


@reach_into.register
def _keep_keys(relation: KeepKeys, unit: Unit) -> Reach:
    """A part of what was gathered: no more of it in any group. How many groups are left `Occurring` asks for, which has others."""
    below = reach_into(relation.source, unit)
    if relation.most < 1 or not 0 <= relation.within < relation.of <= len(contributions_of(relation).keys):
        raise Fault("some of a person's keys are kept, and at least one of each", code="rule")
    return below


@reach_into.register
def _occurring(relation: Occurring, unit: Unit) -> Reach:
    """A unit reaches as many values in a group, in as many groups, as are kept of it; a row one."""
    below = reach_into(relation.source, unit)
    if isinstance(relation.source, Rows):
        if below.gathered or not relation.keys:
            raise Fault("values that occur are those of a key", code="rule")
        return Reach(below.rows, below.groups)
    size = len(contributions_of(relation.source).keys)
    if not size:
        raise Fault("values that occur are those of a key", code="rule")
    caps = [part for part in own_rows(relation.source) if isinstance(part, KeepKeys)]
    return Reach(
        rows=_least(below.rows, caps, (size - 1, size)),
        groups=_least(below.groups, caps, (0, size - 1)),
        gathered=True,
        total=_least(None, caps, (0, size)),
    )


def _least(known: int | None, caps: list[KeepKeys], places: tuple[int, int]) -> int | None:
    """The smallest of the caps on what is between these places, and what is known anyhow."""
    limits = [each.most for each in caps if (each.within, each.of) == places]
    return min([*limits, *([] if known is None else [known])], default=None)
