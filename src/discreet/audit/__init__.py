"""Showing that promises are kept. Today: planted bugs that the tests must catch (`mutants`)."""
