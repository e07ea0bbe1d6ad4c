"""The trusted centre: who may ask what, what it costs, and a ledger that remembers every charge for ever."""
