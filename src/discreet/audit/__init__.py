"""Showing that promises are kept. Today: two neighbouring data sets that must look alike (`twins`)."""
