"""The one constant that multiplies every repeat count of the tests: 1 in `make test`, 20 in `make soak`."""

import os

SCALE = int(os.environ.get("DISCREET_SCALE", "1"))

if SCALE < 1:
    raise ValueError(f"DISCREET_SCALE must be at least 1, got {SCALE}")


def repeats(n: int) -> int:
    """The number of repeats to run where `make test` runs `n`."""
    return n * SCALE
