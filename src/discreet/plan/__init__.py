"""The way from a question to a proven plan. Knows what is declared about the data, never the data.

A question in SQL (`sql`) becomes our own small nodes (`question`, `relation`, `scalar`); rules (`facts`, `rules`) say what one
person can change in each of them. Each kind of release (`releases`) says what it measures, and what is made of it; `private` puts a plan
together, `noise` splits its price, and `check` recomputes what the finished plan costs.
"""
