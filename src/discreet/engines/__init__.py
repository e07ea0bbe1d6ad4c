"""Engines run exact integer aggregates over loaded data. They know nothing of privacy, and nobody but the curator asks them.

`registry` says which there are, and imports one when it is asked for; `memory` is slow and obvious, and all others must agree with it.
What an engine runs is a `relation` of `plan`, written as SQL by `render` in the words of its dialect; what it loads is a `Data` of `base`.
"""
