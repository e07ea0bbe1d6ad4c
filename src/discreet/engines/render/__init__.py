"""Our nodes as SQL text. What runs in an engine is made here and nowhere else, by sqlglot's generator, from plain nodes.

Nothing is left to sqlglot's translation of functions: what differs between dialects each spells in its `Words`, so that it is total and
means what `evaluate` says. Literals carry explicit casts; operators carry explicit parentheses. No text of an analyst comes through but in
literals, which the generator escapes. `nodes` are what all dialects share, `words` what they do not, `scalars` the expressions of a row,
`texts` and `cells` conversions, `relations` whole queries, `computed`, `people`, `parts`, `joins`, `apportioned`, `second_moments` and
`occurring` more of them; `duckdb` is a dialect.
"""

from discreet.engines.render import apportioned as apportioned
from discreet.engines.render import computed as computed
from discreet.engines.render import occurring as occurring
from discreet.engines.render import parts as parts
from discreet.engines.render import people as people
from discreet.engines.render import second_moments as second_moments
from discreet.engines.render.joins import row_priorities
from discreet.engines.render.relations import priorities, sql_of, text_of
from discreet.engines.render.stored import StoredTable, Text

__all__ = ["StoredTable", "Text", "priorities", "row_priorities", "sql_of", "text_of"]
