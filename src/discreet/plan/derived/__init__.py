"""Answers that follow from answers: which questions they are, and what is released of them, decided of plans and of released numbers alone.

Nothing here sees data, or a ledger. `kept` reads the released integers off a stored answer; `deciding` tells what the groups of an answer
say of an expression; `cells` which of them make up the groups of another question; `statistics` which of its aggregates follow; `limits`
whether the sum is what that question would have estimated; `following` puts these together.
"""
