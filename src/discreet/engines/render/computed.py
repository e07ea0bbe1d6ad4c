"""A computed column as SQL: a column of a derived table, which is looked at by its name."""

from dataclasses import replace

from discreet.engines.render.nodes import E
from discreet.engines.render.relations import Writer, rows_of
from discreet.engines.render.scalars import ScalarWriter
from discreet.plan.computed import Computed


@rows_of.register
def _computed(relation: Computed, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    value = over.bound(over.clean(relation.value))
    return replace(over, columns={**over.columns, relation.column.place: value}), base, where
