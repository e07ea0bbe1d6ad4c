"""Memory of a private step beside a plain one: `python bench/learn.py memory`.

Each kind of step runs in a process of its own, which reports the most memory that it ever held, less what it held before its first step.
"""

import os
import resource
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from .learn_steps import Step, Task, has_opacus, opacus, ours, perceptron, plain

BATCHES = (256, 1024, 4096)


def main() -> None:
    kinds: dict[str, Callable[[Task, ExitStack], Step]] = {"plain torch": plain, "discreet.learn.torch": ours}
    if has_opacus():
        kinds["Opacus, ghost"] = lambda task, stack: opacus(task, stack, ghost=True)
        kinds["Opacus, hooks"] = opacus
    print("MLP 784-512-10: MiB that steps add to what the process held before, by batch")
    print(f"  {'':<24}" + "".join(f"{batch:>8}" for batch in BATCHES))
    for name, kind in kinds.items():
        sizes = BATCHES[:2] if name == "Opacus, hooks" else BATCHES  # 4,096 gradients of 407,050 numbers are 6.7 GB
        print(f"  {name:<24}" + "".join(f"{grown(kind, batch) / 2**20:>8.0f}" for batch in sizes))


def grown(kind: Callable[[Task, ExitStack], Step], batch: int) -> int:
    """Bytes that three steps add, measured in a child."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        with ExitStack() as stack:
            step = kind(perceptron(batch=batch), stack)
            before = held()
            for _ in range(3):
                step()
            os.write(mouth, str(most() - before).encode())
        os._exit(0)
    os.close(mouth)
    with os.fdopen(ear) as said:
        found = int(said.read() or 0)
    os.waitpid(child, 0)
    return found


def held() -> int:
    """Bytes that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def most() -> int:
    """The most bytes that it ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
