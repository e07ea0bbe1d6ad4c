"""How far a unit reaches into rows with a computed column: as far as into the rows, of which none is added or left out."""

from discreet.errors import Fault
from discreet.plan.computed import Computed
from discreet.plan.rules.relations import Reach, reach_into
from discreet.privacy import Unit


@reach_into.register
def _computed(relation: Computed, unit: Unit) -> Reach:
    below = reach_into(relation.source, unit)
    if below.gathered:
        raise Fault("what was gathered is computed of again", code="rule")
    return below
