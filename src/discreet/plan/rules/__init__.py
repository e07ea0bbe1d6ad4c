"""Transfer functions: from the facts of the parts to the facts of the whole, for scalars (`scalars`) and relations (`relations`).

Each is registered for its kind of node; a node without a rule is refused.
"""
