"""Memory of a collector by the number of reports: `python bench/local.py memory`.

Each figure is of a process of its own: the most that it ever held, less what it held before the first report. Up to a million reports are
bytes that a `Collector` for a million takes one after the other, its set of tokens included; more are counted as arrays, without tokens.
"""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np

from discreet.local import (
    Attribute,
    Attributes,
    Campaign,
    Choices,
    ClientReport,
    Collector,
    Numbers,
    PrefixLevel,
    Rounds,
    Words,
)
from discreet.local.domain import AnswerDomain
from discreet.local.protocols import PROTOCOLS
from discreet.local.report import binding

from .local_people import CELLS, EPSILON, KINDS, people
from .table import Table

TAKEN, COUNTED = (100_000, 1_000_000), (1_000_000, 100_000_000)
NUMBERS = Numbers(0, CELLS)  # on a grid of 1024 steps
SURVEY = Attributes((Attribute("a", CELLS, "k-ary"), Attribute("b", CELLS, "unary")))
WORDS = Words("abcde", 6, bytes(16), (PrefixLevel(4, 1, 2048), PrefixLevel(6, 64, 512)))
DOMAINS = dict.fromkeys(("mean-response", "piecewise", "hybrid", "square-wave"), NUMBERS) | {
    "memo-k-ary": Rounds(CELLS, 0.5, bytes(16)),
    "memo-hashing": Rounds(CELLS, 0.5, bytes(16)),
    "one-attribute": SURVEY,
    "hidden-attribute": SURVEY,
    "prefixes": WORDS,
}
QUICK = ("k-ary", "hadamard")  # whose collectors look at one cell of a report
BATCH = 1_000


def main() -> None:
    head = ["", *(f"{n:,} one by one" for n in TAKEN), *(f"{n:,} in arrays" for n in COUNTED)]
    rows = []
    for name in PROTOCOLS:
        row = [grown(lambda n=n, name=name: take(name, n)) for n in TAKEN]
        row += [grown(lambda n=n, name=name: count(name, n)) for n in COUNTED] if name in QUICK else ["–", "–"]
        rows.append([name, *row])
    print(Table("Memory of a collector, in MiB", f"{CELLS} cells, ε = {EPSILON}", head, rows).plain())


def take(name: str, n: int) -> None:
    """A collector takes n reports, which are made on the way."""
    domain = DOMAINS.get(name, Choices(CELLS))
    campaign = Campaign("Which?", domain, name, EPSILON, bytes(16), 4_000_000_000)
    collector, bound, values = Collector(campaign, capacity=TAKEN[-1]), binding(campaign), answers(domain)
    protocol = campaign.randomiser
    for begin in range(0, n, BATCH):
        for i, answer in enumerate(protocol.randomise(values), begin):
            collector.add(ClientReport(name, bound, i.to_bytes(16, "little"), protocol.pack(answer)).to_bytes())
    if collector.n < 0.999 * n:
        raise SystemExit("the collector did not take what it was sent")
    collector.estimates()


def answers(domain: AnswerDomain) -> np.ndarray:
    """What the protocols of a domain randomise, of a batch of people."""
    cells = people(BATCH)
    match domain:
        case Attributes():
            return np.stack([cells, cells[::-1]], axis=1)
        case Words():
            return domain.symbols(["".join("abcde"[int(each)] for each in np.base_repr(cell, 5)) for cell in cells])
    return cells


def count(name: str, n: int) -> None:
    """Totals of n reports, a batch after the other."""
    protocol, cells = KINDS[name], people(100 * BATCH)
    totals = np.zeros(protocol.width, np.int64)
    for _ in range(n // len(cells)):
        totals += protocol.accumulate(protocol.randomise(cells))
    protocol.support(totals, n)


def grown(work: Callable[[], None]) -> str:
    """MiB that the work adds, measured in a child."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        work()
        os.write(mouth, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before).encode())
        os._exit(0)
    os.close(mouth)
    with os.fdopen(ear) as said:
        found = said.read()
    os.waitpid(child, 0)
    return f"{int(found) / 2**20:.1f}"


if __name__ == "__main__":
    main()
