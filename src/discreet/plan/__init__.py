"""From a question to a proven plan. Knows what is declared about the data, never the data.

A question in SQL (`sql`) becomes our own small nodes (`question`, `relation`, `scalar`); rules (`facts`, `rules`) say what one
person can change in each of them; `private` chooses the noise; `check` recomputes what the finished plan costs.
"""
