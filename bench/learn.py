"""Private training beside plain PyTorch, Opacus and diffprivlib: `python bench/learn.py [speed|gpu|memory|accuracy]`, all if left out.

`make peers` makes the environment, and `.venv-peers/bin/python -m pip install torch==2.13.0 opacus` adds what no lock names. What is not
installed is said to be absent. Steps are timed in turns, and the least time of each counts. Where there is no GPU `gpu` says so.
"""

import argparse
from importlib import import_module

PARTS = ("speed", "gpu", "memory", "accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS)
    asked = parser.parse_args().part
    for part in PARTS if asked is None else (asked,):
        print(f"-- {part}")
        import_module(f"parts.learn_{part}").main()


if __name__ == "__main__":
    main()
