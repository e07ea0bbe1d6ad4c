"""Where randomness comes from: no entropy, no noise; never the same noise twice, whoever asks and however the process came about.

Tests that look for shared noise compare words of 128 bits and triples of samples of scale 2^40, that is of more than 120
bits each. With fewer than a million of them a sound source shares one by chance with probability below 2^-80; a source
that shares anything drawn ahead is always found.
"""

import copy
import inspect
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import noise
from discreet.errors import Fault
from discreet.noise import (
    SecureBits,
    Source,
    Tape,
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    grid_gaussian,
    grid_laplace,
    keep_or_replace,
    odds,
    uniform,
)
from discreet.noise.laplace import laplace_shape
from discreet.noise.source import (
    DIRECT_BYTES,
    KEY_BYTES,
    OPERATING_SYSTEM,
    POOL_BYTES,
    _Held,
    half_words,
    words,
)
from discreet.noise.stock import BLOCK, SHAPES
from tests.noise.counting import Counting
from tests.scale import repeats

SCALE = 1 << 40

DRAWS: dict[str, Callable[[Source], object]] = {
    "one bit": lambda source: source.bits(1),
    "a long integer": lambda source: source.bits(100_000),
    "a few bytes": lambda source: source.fill(np.empty(16, np.uint8)),
    "many bytes": lambda source: source.fill(np.empty(DIRECT_BYTES, np.uint8)),
    "words": lambda source: words(source, 4),
    "half words": lambda source: half_words(source, 4),
    "bernoulli": lambda source: bernoulli(0.5, source=source),
    "bernoulli array": lambda source: bernoulli(0.5, 5, source=source),
    "bernoulli_exp": lambda source: bernoulli_exp(1, source=source),
    "bernoulli of odds": lambda source: bernoulli(odds(1), 5, source=source),
    "uniform": lambda source: uniform(10, source=source),
    "uniform array": lambda source: uniform(10, 5, source=source),
    "geometric": lambda source: geometric(10, source=source),
    "laplace": lambda source: discrete_laplace(10, source=source),
    "laplace array": lambda source: discrete_laplace(10, 5, source=source),
    "long laplace array": lambda source: discrete_laplace(10, 2 * BLOCK + 1, source=source),
    "laplace without a table": lambda source: discrete_laplace(1 << 60, source=source),
    "gaussian": lambda source: discrete_gaussian(10, source=source),
    "gaussian array": lambda source: discrete_gaussian(10, 5, source=source),
    "grid laplace": lambda source: grid_laplace(1, source=source),
    "grid gaussian array": lambda source: grid_gaussian(1, 5, source=source),
    "response": lambda source: keep_or_replace(0, 3, 0.5, source=source),
    "response array": lambda source: keep_or_replace(np.zeros(5, np.int64), 3, 0.5, source=source),
}


def refuses(_: int) -> bytes:
    raise OSError("no entropy")


def is_absent(_: int) -> bytes:
    raise NotImplementedError("no entropy here")


GENUINE = os.urandom
SILENT: dict[str, Callable[[int], bytes]] = {
    "raises OSError": refuses,
    "raises NotImplementedError": is_absent,
    "returns nothing": lambda _: b"",
    "returns too little": lambda n: GENUINE(n - 1),
    "returns too much": lambda n: GENUINE(n + 1),
}
STUCK: dict[str, Callable[[int], bytes]] = {
    "returns the same": lambda n: b"\x5a" * n,
    "returns zeros": bytes,
}
BROKEN = {**SILENT, **STUCK}


@contextmanager
def entropy(kind: Callable[[int], bytes]) -> Iterator[None]:
    """os.urandom replaced for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", kind)
        yield


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_without_entropy_nothing_is_drawn(draw: Callable[[Source], object], broken: Callable[[int], bytes]) -> None:
    source = SecureBits()
    with entropy(broken):
        for _ in range(3):  # and asking again does not help
            with pytest.raises(Fault) as fault:
                draw(source)
            assert fault.value.code == "entropy"
    draw(source)  # the machine is repaired


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_failed_fill_leaves_the_array_alone(broken: Callable[[int], bytes]) -> None:
    for size in (16, DIRECT_BYTES, 3 * DIRECT_BYTES):
        out = np.full(size, 77, np.uint8)
        with entropy(broken), pytest.raises(Fault):
            SecureBits().fill(out)
        assert (out == 77).all()


@pytest.mark.parametrize("broken", SILENT.values(), ids=SILENT)
def test_a_failed_refill_closes_the_old_pool(broken: Callable[[int], bytes]) -> None:
    """When the pool cannot be renewed no byte of it is read again, neither one served before nor one left over."""
    source = SecureBits()
    piece = np.empty(POOL_BYTES // 4 - 16, np.uint8)
    served = []
    for _ in range(4):
        source.fill(piece)
        served.append(piece.tobytes())
    with entropy(broken):
        for size in (piece.size, 65, 64, 16, 1):
            with pytest.raises(Fault):
                source.fill(np.empty(size, np.uint8))
    for _ in range(4):
        source.fill(piece)
        served.append(piece.tobytes())
    windows = [block[at : at + 16] for block in served for at in range(0, len(block) - 15, 16)]
    assert len(set(windows)) == len(windows)


def drained(draw: Callable[[], Hashable], most: int) -> list[Hashable]:
    """What can still be drawn from samples made earlier, until the Fault."""
    found = []
    for _ in range(most + 1):
        try:
            found.append(draw())
        except Fault:
            return found
    pytest.fail(f"{most + 1} draws without entropy")


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_bits_at_hand_are_served_once_and_then_no_more(broken: Callable[[int], bytes]) -> None:
    source = SecureBits()
    before = [source.bits(128) for _ in range(10)]
    with entropy(broken):
        # The first answer of a source that gets stuck differs from the key before it, so one more pool may follow.
        late = drained(lambda: source.bits(128), 2 * POOL_BYTES // 16)
        assert drained(lambda: source.bits(128), 0) == []
    after = [source.bits(128) for _ in range(10)]
    everything = [*before, *late, *after]
    assert len(set(everything)) == len(everything)


@pytest.mark.parametrize("broken", SILENT.values(), ids=SILENT)
def test_samples_at_hand_are_served_once_and_then_no_more(broken: Callable[[int], bytes]) -> None:
    source = SecureBits()

    def triple() -> tuple[int, ...]:
        return tuple(discrete_laplace(SCALE, 3, source=source).tolist())

    before = [triple() for _ in range(10)]
    with entropy(broken):
        late = drained(triple, BLOCK // 3)
        for _ in range(3):
            assert drained(triple, 0) == []
            assert drained(lambda: discrete_laplace(SCALE, source=source), 0) == []
    after = [triple() for _ in range(BLOCK // 3 + 10)]
    everything = [*before, *late, *after]
    assert len(late) == BLOCK // 3 - 10
    assert len(set(everything)) == len(everything)


def test_an_entropy_source_that_gets_stuck_is_noticed() -> None:
    """Stuck from some moment on: not one key is made of the repeated bytes."""
    stuck = GENUINE(KEY_BYTES)
    answers = iter([*(GENUINE(KEY_BYTES) for _ in range(8)), stuck, stuck])
    source = SecureBits()
    out = np.empty(DIRECT_BYTES, np.uint8)
    with entropy(lambda _: next(answers)):
        for _ in range(4):  # each refill reads twice, and compares
            source.fill(out)
        with pytest.raises(Fault, match="same bytes twice"):
            source.fill(out)


def test_every_refill_has_a_key_of_its_own() -> None:
    keys = []

    def recorded(n: int) -> bytes:
        keys.append(GENUINE(n))
        return keys[-1]

    count = repeats(50)
    source = SecureBits()
    with entropy(recorded):
        large, small = np.empty(DIRECT_BYTES, np.uint8), np.empty(POOL_BYTES // 8, np.uint8)
        begun = []
        for _ in range(count):
            source.fill(large)
            begun.append(large[:16].tobytes())
        assert len(keys) == 2 * count  # one to use, and one to compare it with
        for _ in range(8 * count):
            source.fill(small)
            begun.append(small[:16].tobytes())
        assert len(keys) == 4 * count
    assert {len(key) for key in keys} == {KEY_BYTES} and KEY_BYTES == 32
    assert len(set(keys)) == len(keys)
    assert len(set(begun)) == len(begun)
    held = source._held()
    assert not any(key in held.pool.tobytes() for key in keys)


def test_used_pool_bytes_are_overwritten() -> None:
    source = SecureBits()
    for size in (1, 7, 1000, 3000):
        source.fill(np.empty(size, np.uint8))
        source.bits(13)
        held = source._held()
        assert 0 < held.read < POOL_BYTES
        assert not held.pool[: held.read].any()
        assert held.pool[held.read :].any()
        assert held.spare < 1 << held.spare_bits  # used bits are shifted out


def test_samples_are_overwritten_as_they_are_served() -> None:
    source = SecureBits()
    for _ in range(100):
        discrete_laplace(SCALE, source=source)
    discrete_laplace(SCALE, 50, source=source)
    stock = source.stock[laplace_shape(SCALE)]
    assert stock.next == 149  # the very first came without a block
    assert not stock.block[: stock.next].any() and np.count_nonzero(stock.block[stock.next :]) > 3000


def test_the_oldest_scale_makes_room_and_its_samples_are_overwritten() -> None:
    """However many scales are asked for, few wait; what is dropped is wiped, and the draws go on as they should."""
    source = SecureBits()
    first = discrete_laplace(SCALE, 3, source=source)
    oldest = source.stock[laplace_shape(SCALE)]
    discrete_laplace(1 << 60, source=source)
    for scale in range(1, SHAPES + 10):
        assert discrete_laplace(scale, 3, source=source).shape == (3,)
    assert len(source.stock) <= SHAPES
    assert laplace_shape(SCALE) not in source.stock and not oldest.block.any()
    again = discrete_laplace(SCALE, 3, source=source)
    assert first.all() and again.all() and (first != again).any()


# --- copies of a process ---


def tokens(source: Source | None, count: int = 8) -> list[str]:
    """Draws of every kind, each a text that no two sound draws share: raw bits, single samples, small arrays."""
    bits = OPERATING_SYSTEM if source is None else source
    found = [f"bits {bits.bits(128)}" for _ in range(count)]
    found += [f"words {words(bits, 2).tolist()}" for _ in range(count)]
    for sampler in (discrete_laplace, discrete_gaussian):
        singles = [sampler(SCALE, source=source) for _ in range(3 * count)]
        found += [f"singles {singles[at : at + 3]}" for at in range(0, len(singles), 3)]
        found += [f"array {sampler(SCALE, 3, source=source).tolist()}" for _ in range(count)]
    return found


def shared(processes: list[list[str]]) -> set[str]:
    """The kinds of draws that come up twice."""
    seen: set[str] = set()
    twice: set[str] = set()
    for found in processes:
        twice |= {token.split()[0] for token in found if token in seen}
        seen |= set(found)
        assert len(set(found)) == len(found)
    return twice


@contextmanager
def forking() -> Iterator[None]:
    """Newer Pythons warn of any fork beside a running thread, such as the one that talks to pytest-xdist."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def in_child(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked child, through a pipe; the child has ended when this returns."""
    read, write = os.pipe()
    with forking():
        pid = os.fork()
    if pid == 0:
        failed = 1
        try:
            with os.fdopen(write, "w") as answer:
                json.dump(work(), answer)
            failed = 0
        finally:
            os._exit(failed)
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            text = answer.read()
    except BaseException:  # a timeout
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
    assert status == 0, f"the child failed: {text}"
    return json.loads(text)


class Careless(SecureBits):
    """A planted bug: what is held stays held in a forked child."""

    def _held(self) -> _Held:
        held = self._threads.held
        if held is None:
            held = self._threads.held = _Held()
        return held


@pytest.fixture(params=["own", "default"])
def warmed(request: pytest.FixtureRequest) -> Source | None:
    """A source with bits and samples at hand: one of our own, or the one used when none is named."""
    source = SecureBits() if request.param == "own" else None
    tokens(source)
    return source


def test_a_forked_child_shares_no_noise(warmed: Source | None) -> None:
    families = [in_child(lambda: tokens(warmed)) for _ in range(repeats(4))]
    assert shared([*families, tokens(warmed)]) == set()


def test_a_grandchild_shares_no_noise(warmed: Source | None) -> None:
    def child() -> list[list[str]]:
        own = tokens(warmed)
        return [own, in_child(lambda: tokens(warmed)), in_child(lambda: tokens(warmed)), tokens(warmed)]

    families = [found for _ in range(repeats(2)) for found in in_child(child)]
    assert shared([*families, tokens(warmed)]) == set()


def test_a_child_of_a_child_that_drew_nothing_shares_no_noise(warmed: Source | None) -> None:
    families = [in_child(lambda: in_child(lambda: tokens(warmed))) for _ in range(2)]
    assert shared([*families, tokens(warmed)]) == set()


def test_a_fork_inside_a_thread_shares_no_noise(warmed: Source | None) -> None:
    def thread() -> list[list[str]]:
        tokens(warmed)
        return [in_child(lambda: tokens(warmed)), in_child(lambda: tokens(warmed)), tokens(warmed)]

    with ThreadPoolExecutor(1) as pool:
        families = pool.submit(thread).result()
    assert shared([*families, tokens(warmed)]) == set()


def test_a_forked_child_with_its_parents_number_shares_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers give numbers out anew: a fork is noticed by its own count too."""
    source = SecureBits()
    monkeypatch.setattr(os, "getpid", lambda: 7)
    tokens(source)
    families = [in_child(lambda: tokens(source)) for _ in range(2)]
    assert shared([*families, tokens(source)]) == set()


def test_noise_shared_by_a_careless_source_is_found() -> None:
    source = Careless()
    tokens(source)
    families = [in_child(lambda: tokens(source)) for _ in range(2)]
    assert shared(families) == {"bits", "words", "singles", "array"}
    assert shared([families[0], tokens(source)]) == {"bits", "words", "singles", "array"}


def pooled(_: int) -> list[str]:
    return tokens(None)


def test_workers_of_a_forked_pool_share_no_noise() -> None:
    tokens(None)
    with forking(), multiprocessing.get_context("fork").Pool(3) as pool:
        families = pool.map(pooled, range(repeats(9)), chunksize=1)
        pool.close()
        pool.join()
    assert shared([*families, tokens(None)]) == set()


def test_workers_of_a_process_executor_share_no_noise() -> None:
    tokens(None)
    context = multiprocessing.get_context("fork")
    with forking(), ProcessPoolExecutor(3, mp_context=context) as pool:
        families = list(pool.map(pooled, range(repeats(9))))
    assert shared([*families, tokens(None)]) == set()


# A fork made by C code runs none of Python's hooks. In a process of its own, without a second thread that could hold a lock.
C_FORK = """
import ctypes, os, signal
from discreet.noise import SecureBits, discrete_laplace

hooks = []
os.register_at_fork(after_in_child=lambda: hooks.append(1))
source = SecureBits()
def draw():
    singles = [discrete_laplace(2**40, source=source) for _ in range(6)]
    return [source.bits(128), singles, discrete_laplace(2**40, 6, source=source).tolist(), len(hooks)]
draw()
read, write = os.pipe()
pid = ctypes.PyDLL(None).fork()
if pid == 0:
    try:
        signal.alarm(60)
        os.write(write, repr(draw()).encode())
    finally:
        os._exit(0)
os.close(write)
child = os.fdopen(read).read()
os.waitpid(pid, 0)
print(child)
print(repr(draw()))
"""


def test_a_child_forked_by_c_code_shares_no_noise() -> None:
    run = subprocess.run([sys.executable, "-c", C_FORK], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    child, parent = (json.loads(line) for line in run.stdout.splitlines())
    assert child.pop() == parent.pop() == 0, "the hooks ran"
    for mine, theirs in zip(child, parent, strict=True):
        assert mine != theirs


def test_many_threads_share_no_noise() -> None:
    """64 threads begin together on one source; 128-bit words."""
    threads, count = 64, repeats(50_000)
    source = SecureBits()
    source.bits(1)
    together = threading.Barrier(threads)

    def draw(which: int) -> list[int]:
        together.wait()
        return [source.bits(128) for _ in range(which, count, threads)]

    with ThreadPoolExecutor(threads) as pool:
        found = [word for some in pool.map(draw, range(threads)) for word in some]
    assert len(found) == count == len(set(found))


def test_threads_have_samples_of_their_own() -> None:
    source = SecureBits()
    tokens(source)
    together = threading.Barrier(8)

    def draw(_: int) -> list[str]:
        together.wait()
        return tokens(source) + tokens(source)

    with ThreadPoolExecutor(8) as pool:
        families = list(pool.map(draw, range(8)))
    assert shared([*families, tokens(source)]) == set()


def test_two_sources_share_no_noise() -> None:
    assert shared([tokens(SecureBits()) for _ in range(repeats(10))] + [tokens(None)]) == set()


SOURCES = {
    "SecureBits": SecureBits(),
    "the default": OPERATING_SYSTEM,
    "Tape": Tape(1),
    "Tape.of": Tape.of(b"abc"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_source_cannot_be_copied(source: Source) -> None:
    copies: list[Callable[[Any], object]] = [copy.copy, copy.deepcopy]
    copies += [lambda value, p=p: pickle.dumps(value, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    copies += [lambda value: copy.deepcopy({"source": value}), lambda value: pickle.dumps([value])]
    for attempt in copies:
        with pytest.raises(TypeError, match=f"{type(source).__name__} cannot be copied or pickled"):
            attempt(source)


def test_a_source_cannot_be_sent_to_a_pool() -> None:
    context = multiprocessing.get_context("fork")
    with (
        forking(),
        ProcessPoolExecutor(1, mp_context=context) as pool,
        pytest.raises(TypeError, match="cannot be copied or pickled"),
    ):
        pool.submit(tokens, SecureBits()).result()


def test_only_secure_bits_are_private() -> None:
    assert SecureBits().private is True and OPERATING_SYSTEM.private is True
    assert Tape(1).private is False and Tape.of(b"").private is False


def test_secure_bits_take_no_seed() -> None:
    assert list(inspect.signature(SecureBits).parameters) == []
    for name, member in inspect.getmembers(SecureBits, callable):
        if not name.startswith("__"):
            assert not {"seed", "key", "state"} & set(inspect.signature(member).parameters), name


def test_no_public_function_takes_a_seed() -> None:
    for name in set(noise.__all__) - {"Tape", "Source"}:
        assert "seed" not in inspect.signature(getattr(noise, name)).parameters, name


# --- tapes ---


def test_the_same_seed_gives_the_same_noise() -> None:
    assert all(tokens(Tape(seed)) == tokens(Tape(seed)) for seed in (0, 1, -5, 10**30, *range(2, 2 + repeats(5))))


def test_different_seeds_give_different_noise() -> None:
    assert shared([tokens(Tape(seed)) for seed in range(-repeats(5), repeats(5))]) == set()


def test_a_tape_of_bytes_plays_them_and_ends_with_a_fault() -> None:
    tape = Tape.of(bytes(range(1, 12)))
    assert tape.bits(8) == 1
    assert tape.bits(9) == 0x102  # two bytes, little-endian, without the excess
    out = np.zeros(4, np.uint8)
    tape.fill(out)
    assert out.tolist() == [4, 5, 6, 7] and tape.used == 7
    assert tape.bits(0) == 0 and tape.used == 7
    for _ in range(2):
        with pytest.raises(Fault) as fault:
            tape.bits(40)
        assert fault.value.code == "tape_end" and tape.used == 7
    assert tape.bits(32) == 0x0B0A0908 and tape.used == 11
    with pytest.raises(Fault, match="ends after 11 bytes"):
        tape.bits(1)


def test_a_tape_counts_the_bytes_it_gave() -> None:
    tape = Tape(3)
    tape.bits(1)
    tape.bits(17)
    tape.fill(np.empty(100, np.uint8))
    assert tape.used == 1 + 3 + 100


# --- how much is used ---


SAMPLERS: dict[str, Callable[..., Any]] = {
    "laplace 3": lambda size=None, *, source: discrete_laplace(3, size, source=source),
    "laplace 2^40": lambda size=None, *, source: discrete_laplace(SCALE, size, source=source),
    "gaussian 5": lambda size=None, *, source: discrete_gaussian(5, size, source=source),
    "gaussian 1000": lambda size=None, *, source: discrete_gaussian(1000, size, source=source),
    "geometric 10": lambda size=None, *, source: geometric(10, size, source=source),
    "grid laplace 1": lambda size=None, *, source: grid_laplace(1, size, source=source),
}


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_single_draws_use_bits_in_whole_blocks(sampler: Callable[..., Any]) -> None:
    """Bits are read when a block begins, and never for the other 4,095 draws, whatever their values."""
    source = Counting(5)
    sampler(source=source)  # the first of a scale comes without a block
    used = [len(source.requests)]
    for _ in range(2 * BLOCK + 2):
        sampler(source=source)
        used.append(len(source.requests))
    grew = [at for at, (before, after) in enumerate(pairwise(used)) if after > before]
    assert grew == [0, BLOCK, 2 * BLOCK]


def parts(total: int, random: Random) -> list[int]:
    """Random sizes below a block that add up to `total`."""
    sizes = []
    while total:
        sizes.append(random.randint(0, min(total, random.choice([3, 100, BLOCK - 1]))))
        total -= sizes[-1]
    return sizes


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_bits_depend_on_how_many_samples_not_on_how_they_are_asked_for(sampler: Callable[..., Any]) -> None:
    """Totals that need equally many blocks use the same bits and see the same noise, in arrays or one by one."""
    random = Random(11)
    for blocks in (1, 2):
        used, noise = set(), []
        for _ in range(repeats(3)):
            total = random.randint((blocks - 1) * BLOCK + 1, blocks * BLOCK)
            source = Counting(6)
            values: list[float] = []
            for size in parts(total, random):
                if size == 1 and values:
                    values.append(sampler(source=source))
                else:
                    values += sampler(size, source=source).tolist()
            assert len(values) == total
            used.add(source.used)
            noise.append(values)
        assert len(used) == 1
        for values in noise:
            shorter = min(len(values), len(noise[0]))
            assert values[:shorter] == noise[0][:shorter]


def test_blocks_drawn_depend_on_the_total_alone() -> None:
    """Long arrays too: the number of samples made is the total asked for, up to whole blocks."""
    random = Random(12)
    for _ in range(repeats(10)):
        source = Counting(7)
        total = 0
        for _ in range(random.randint(1, 6)):
            size = random.choice([1, 100, BLOCK - 1, BLOCK, BLOCK + 1, random.randint(0, 5 * BLOCK)])
            discrete_laplace(3, size, source=source)
            total += size
        stock = source.stock.get(laplace_shape(3))
        assert stock is not None
        assert stock.drawn == -(-total // BLOCK) * BLOCK


def test_bits_do_not_depend_on_what_the_noise_is_added_to() -> None:
    """Twins: the same requests in the same order for two data sets, of all mechanisms made of this noise."""

    def release(data: NDArray[np.int64], seed: int) -> tuple[list[int], NDArray[np.int64]]:
        source = Counting(seed)
        answers = [data + discrete_laplace(3, data.size, source=source)]
        answers.append(np.array([int(value) + discrete_gaussian(9, source=source) for value in data]))
        answers.append(keep_or_replace(data % 5, 5, odds(1, 5), source=source))
        answers.append(keep_or_replace(data % 2, 2, 0.75, source=source))
        answers.append(np.array([keep_or_replace(int(value) % 5, 5, 0.5, source=source) for value in data]))
        answers.append(np.where(bernoulli(0.1, data.size, source=source) == 1, data, 0))
        return source.requests, np.concatenate(answers)

    random = Random(13)
    for seed in range(repeats(50)):
        size = random.randint(1, 40)
        twins = [np.array([random.randrange(1 << 50) for _ in range(size)]) for _ in range(2)]
        (one, left), (two, right) = (release(twin, seed) for twin in twins)
        assert one == two
        assert left.shape == right.shape
