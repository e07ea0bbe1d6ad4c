"""Our nodes as SQL text. What runs in an engine is made here and nowhere else, by sqlglot's generator, from plain nodes.

Nothing is left to sqlglot's translation of functions: each is spelt here as the dialect has it, so that it is total and means what
`evaluate` says. Literals carry explicit casts; operators carry explicit parentheses. No text of an analyst comes through but in literals,
which the generator escapes. `nodes` are the words, `scalars` the expressions of a row, `relations` whole queries.
"""

from discreet.engines.render.relations import Stored, Text, contributions_of, priorities, sql_of, text_of

__all__ = ["Stored", "Text", "contributions_of", "priorities", "sql_of", "text_of"]
