"""Frequent words of a large domain: `python bench/local.py heavy`: what is found, beside the threshold of theory; errors; speed.

Words of 2 to 10 of 26 letters, 10^5 of them, drawn once. Three kinds of shares: Zipf's law; ten words of 3 % each before a uniform rest;
and geometric ones, each 0.85 of the one before.
"""

from time import process_time

import numpy as np

from discreet.local import PrefixResponse, Words, frequent_words
from discreet.local.level_totals import LevelTotals

from .table import Table, machine

LETTERS, LENGTH, WORDS = "abcdefghijklmnopqrstuvwxyz", 10, 100_000
PEOPLE, EPSILONS, RUNS = (100_000, 1_000_000), (1, 2, 4), 10
SEARCHES = ((256, 2.5), (256, 3.0), (32, 3.5), (256, 3.5), (256, 4.0), (256, 4.5))
ERROR_RUNS, ERROR_PEOPLE, ASKED = 200, 20_000, 1_000


def vocabulary() -> list[str]:
    draw = np.random.default_rng(1)
    found: dict[str, None] = {}
    while len(found) < WORDS:
        size = int(draw.integers(2, LENGTH + 1))
        found["".join(draw.choice(list(LETTERS), size))] = None
    return list(found)


def kinds() -> dict[str, np.ndarray]:
    zipf = 1 / np.arange(1, WORDS + 1)
    uniform = np.r_[np.full(10, 0.03), np.full(WORDS - 10, 0.7 / (WORDS - 10))]
    return {"Zipf": zipf / zipf.sum(), "ten words": uniform, "geometric": 0.15 * 0.85 ** np.arange(WORDS)}


def reported(words: list[str], shares: np.ndarray, n: int, epsilon: float, seed: int) -> tuple:
    """A protocol with a salt of its own, the totals of n people, and the share that each word has among them."""
    domain = Words.new(LETTERS, LENGTH)
    people = np.random.default_rng(seed).choice(WORDS, n, p=shares / shares.sum())
    protocol = PrefixResponse(domain, epsilon)
    totals = protocol.accumulate(protocol.randomise(domain.symbols(words)[people]))
    return protocol, totals, np.bincount(people, minlength=WORDS) / n


def judged(result, words: list[str], true: np.ndarray) -> np.ndarray:
    """The threshold; words above it, and those found; words above 1.5 times as much, likewise; all found, and those that are real."""
    bar, found = result.levels[-1].threshold, {word for word, *_ in result}
    above, far = ([words[i] for i in np.flatnonzero(true >= times * bar)] for times in (1, 1.5))
    real = {words[i] for i in np.flatnonzero(true)}
    return np.array(
        [bar, len(above), len(found & set(above)), len(far), len(found & set(far)), len(found), len(found & real)]
    )


def ratio(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else "–"


def quality(words: list[str]) -> Table:
    rows = []
    for name, shares in kinds().items():
        for n in PEOPLE:
            for epsilon in EPSILONS:
                runs = [reported(words, shares, n, epsilon, seed) for seed in range(RUNS)]
                told = [judged(frequent_words(protocol, totals, n), words, true) for protocol, totals, true in runs]
                bar, above, hit, far, caught, found, real = np.mean(told, axis=0)
                figures = (f"{100 * bar:.2f} %", f"{above:.1f}", f"{found:.1f}", ratio(hit, above), ratio(caught, far))
                rows.append([name, f"{n:,}", str(epsilon), *figures, ratio(real, found)])
    head = ["", "people", "ε", "threshold", "words above", "found", "recall", "recall from 1.5 ×", "precision"]
    return Table("Frequent words", f"averages of {RUNS} runs; {machine()}", head, rows)


def settings(words: list[str]) -> Table:
    rows = []
    for name, shares in kinds().items():
        runs = [reported(words, shares, 1_000_000, 2, seed) for seed in range(RUNS)]
        for most, multiple in SEARCHES:
            start = process_time()
            told = [judged(frequent_words(a, b, 1_000_000, most=most, multiple=multiple), words, c) for a, b, c in runs]
            spent = (process_time() - start) / RUNS
            bar, above, hit, far, caught, found, real = np.mean(told, axis=0)
            figures = (f"{100 * bar:.2f} %", f"{found:.1f}", ratio(hit, above), ratio(caught, far), ratio(real, found))
            rows.append([name, str(most), str(multiple), *figures, f"{spent:.1f}"])
    head = ["", "most", "multiple", "threshold", "found", "recall", "recall from 1.5 ×", "precision", "CPU s"]
    return Table("Settings of the search", f"a million people at ε = 2, {RUNS} runs", head, rows)


def errors(words: list[str]) -> Table:
    rows = []
    for epsilon in EPSILONS:
        shares, ratios = kinds()["Zipf"], []
        for seed in range(ERROR_RUNS):
            protocol, totals, true = reported(words, shares, ERROR_PEOPLE, epsilon, seed)
            last = len(protocol.levels) - 1
            level = LevelTotals(protocol, last, totals, ERROR_PEOPLE)
            told = level.shares(protocol.words.symbols(words[:ASKED]))
            others = float((true**2).sum())
            f, m, rest = true[:ASKED], level.people, (ERROR_PEOPLE - level.people) / (ERROR_PEOPLE - 1)
            noise = float(protocol.scale(last)) ** 2 * (1 / float(protocol.gap) ** 2 - f + rest * f * (1 - f)) / m
            theory = noise + level.collisions(1.0) * (others - f**2)
            ratios.append(float(((told - f) ** 2).mean() / theory.mean()))
        rows.append([str(epsilon), f"{np.mean(ratios):.4f}", f"{np.std(ratios) / ERROR_RUNS**0.5:.4f}"])
    text = f"{ERROR_RUNS} runs of {ASKED} words and {ERROR_PEOPLE:,} people; goal 0.97 to 1.03"
    return Table("Mean squared error of shares to theory", text, ["ε", "ratio", "±"], rows)


def speed(words: list[str]) -> Table:
    n = 1_000_000
    domain = Words.new(LETTERS, LENGTH)
    protocol = PrefixResponse(domain, 1)
    people = [words[i] for i in np.random.default_rng(1).choice(WORDS, n, p=kinds()["Zipf"])]
    rows, value = [], None
    for name, call in (
        ("words to symbols", lambda _: domain.symbols(people)),
        ("randomised", protocol.randomise),
        ("added up", protocol.accumulate),
        ("searched", lambda totals: frequent_words(protocol, totals, n)),
    ):
        start = process_time()
        value = call(value)
        rows.append([name, f"{process_time() - start:.2f}"])
    text = f"{protocol.size} bytes of a report, {protocol.width:,} totals"
    return Table("CPU seconds for a million people", text, ["", "seconds"], rows)


def main() -> None:
    words = vocabulary()
    for part in (speed, errors, settings, quality):
        print(part(words).plain(), flush=True)


if __name__ == "__main__":
    main()
