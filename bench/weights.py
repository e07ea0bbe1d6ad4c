"""Multiplicative weights beside other ways to answer many questions: `python bench/weights.py [mixed|binary|online]`, all if left out.

Each part prints its figures. Other libraries (mbi, SmartNoise) are used where they are installed, and said to be absent where not.
"""

import argparse
from importlib import import_module
from importlib.util import find_spec

PARTS = ("mixed", "binary", "online")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS)
    asked = parser.parse_args().part
    for part in PARTS if asked is None else (asked,):
        name = f"parts.weights_{part}"
        if find_spec(name) is None:
            print(f"{part}: there is no such part here")
        else:
            import_module(name).main()


if __name__ == "__main__":
    main()
