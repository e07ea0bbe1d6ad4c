"""Local privacy beside pure-ldp and multi-freq-ldpy: `python bench/local.py PART`, one of those below; all if left out.

`make peers` makes the environment, and `.venv-peers/bin/python -m pip install pure-ldp multi-freq-ldpy statsmodels 'xxhash<4'` adds what no
lock names: pure-ldp needs the third and does not say so, and neither hashes with a later xxhash. What is not installed is left out.
1000 cells at ε = 1; of CPU times the least counts.
"""

import argparse
from importlib import import_module

PARTS = ("speed", "accuracy", "memory", "scale", "attributes", "numbers", "heavy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS)
    asked = parser.parse_args().part
    for part in PARTS if asked is None else (asked,):
        import_module(f"parts.local_{part}").main()


if __name__ == "__main__":
    main()
