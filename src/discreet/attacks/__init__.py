"""Attacks on answers, as anyone could run them: what a curator must withstand. They use public names only."""
