"""CPU seconds of a call that is made many times."""

from collections.abc import Callable
from time import process_time


def cpu(call: Callable[[int], object], times: int, warm: int = 0) -> float:
    """The least CPU seconds of a call, which is given its number; the first `warm` calls are not counted.

    The least: on a machine that does other things too, a call takes longer now and then, and never less.
    """
    spent = []
    for i in range(warm + times):
        start = process_time()
        call(i)
        spent.append(process_time() - start)
    return min(spent[warm:])
