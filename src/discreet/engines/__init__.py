"""Engines run exact integer aggregates over loaded data. They know nothing of privacy, and nobody but the curator asks them.

`duckdb` is the one that is used; `memory` is slow and obvious, and the other must agree with it. What an engine runs is a
`relation` of `plan`; what it loads is a `Data` of `base`.
"""
