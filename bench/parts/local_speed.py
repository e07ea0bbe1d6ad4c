"""Reports a second of clients and collectors: `python bench/local.py speed`.

Ours are made and counted in arrays, as in a simulation.
Both other packages take one person after the other, draw from NumPy's or Python's pseudo-random generators, and compare floats.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from .clock import cpu
from .local_people import CELLS, EPSILON, KINDS, people
from .table import Table, machine

TURNS = 5
COUNTS = {"k-ary": 1_000_000, "unary": 10_000, "hashing": 1_000_000, "hadamard": 1_000_000}
COUNTED = COUNTS | {"hashing": 20_000}
FEW = {"k-ary": 10_000, "unary": 300, "hashing": 10_000, "hadamard": 3_000}  # for one after the other
FEW_COUNTED = FEW | {"hashing": 30}
GOALS = {"k-ary": "≥ 5M", "unary": "≥ 100k", "hashing": "", "hadamard": "≥ 5M"}

Pair = tuple[Callable[[int], object], Callable[[list[object]], object]]


def main() -> None:
    peers = {"pure-ldp": pure(), "multi-freq-ldpy": multi()}
    clients, collectors = [], []
    for name, protocol in KINDS.items():
        cells, counted = people(COUNTS[name]), protocol.randomise(people(COUNTED[name]))
        made = [rate(len(cells), lambda p=protocol, c=cells: p.randomise(c))]
        taken = [rate(len(counted), lambda p=protocol, r=counted: p.support(p.accumulate(r), len(r)))]
        for pairs in peers.values():
            pair = None if pairs is None else pairs.get(name)
            if pair is None:
                made.append("not installed" if pairs is None else "–")
                taken.append(made[-1])
                continue
            client, collector = pair
            few = people(FEW[name]).tolist()
            made.append(rate(len(few), lambda c=client, f=few: [c(each) for each in f]))
            reports = [client(each) for each in few[: FEW_COUNTED[name]]]
            taken.append(rate(len(reports), lambda c=collector, r=reports: c(r)))
        clients.append([name, GOALS[name], *made])
        collectors.append([name, "≥ 200k" if name == "hashing" else "", *taken])
    head = ["", "goal", "discreet", *peers]
    text = f"{CELLS} cells, ε = {EPSILON}; the least CPU time of {TURNS} calls; {machine()}"
    print(Table("Clients: reports a second", text, head, clients).plain())
    print(Table("Collectors: reports a second", "", head, collectors).plain())


def rate(count: int, call: Callable[[], object]) -> str:
    return f"{float(f'{count / cpu(lambda _: call(), TURNS, warm=1):.3g}'):,.0f}"


def pure() -> dict[str, Pair] | None:
    """The protocols of pure-ldp; None where it is not installed."""
    if find_spec("pure_ldp") is None or find_spec("statsmodels") is None:  # which it needs, and does not declare
        return None
    from pure_ldp import frequency_oracles as oracles

    def pairs() -> Iterator[tuple[str, Pair]]:
        same = {"index_mapper": int}
        for name, kind, extra in (
            ("k-ary", "DE", {}),
            ("unary", "UE", {"use_oue": True}),
            ("hashing", "LH", {"use_olh": True}),
            ("hadamard", "HadamardResponse", {}),
        ):

            def server(kind: str = kind, extra: dict[str, bool] = extra) -> object:
                return getattr(oracles, f"{kind}Server")(EPSILON, CELLS, **extra, **same)

            hashes = {"hash_funcs": server().get_hash_funcs()} if name == "hadamard" else {}
            client = getattr(oracles, f"{kind}Client")(EPSILON, CELLS, **extra, **hashes, **same)

            def count(reports: list[object], server: Callable[[], object] = server) -> object:
                fresh = server()
                for each in reports:
                    fresh.aggregate(each)
                return fresh.estimate(0, suppress_warnings=True)

            yield name, (client.privatise, count)

    return dict(pairs())


def multi() -> dict[str, Pair] | None:
    """The protocols of multi-freq-ldpy, which has no Hadamard response; None where it is not installed."""
    if find_spec("multi_freq_ldpy") is None:
        return None
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, UE

    return {
        "k-ary": (lambda x: GRR.GRR_Client(x, CELLS, EPSILON), lambda r: GRR.GRR_Aggregator_MI(r, CELLS, EPSILON)),
        "unary": (lambda x: UE.UE_Client(x, CELLS, EPSILON), lambda r: UE.UE_Aggregator_MI(r, EPSILON)),
        "hashing": (lambda x: LH.LH_Client(x, CELLS, EPSILON), lambda r: LH.LH_Aggregator_MI(r, CELLS, EPSILON)),
    }


if __name__ == "__main__":
    main()
