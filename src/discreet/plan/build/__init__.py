"""Questions that are built in Python instead of being written: a small frozen tree whose only output is SQL text.

The text goes through `plan/sql` as every other does, so a question that is built has the plan, the price and the name of the one that is
written. Values become constants by one function, names by another, and nothing else of a caller enters the text.
"""
