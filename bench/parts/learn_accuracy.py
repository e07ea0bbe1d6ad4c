"""Accuracy of private models against ε, beside diffprivlib: `python bench/learn.py accuracy`; `--picture FILE` draws it.

The defaults that ship, five splits, δ = 1e-5. Bounds are declared: of breast_cancer each feature's least and largest value over all rows,
and "wide" from 0 to one and a half times the largest; of digits 0 to 16. diffprivlib (pure ε) is given features that a scaler
standardised at no charge, and the norm of the longest row. What defaults were chosen on, and where
these tables had a part in that, is told in docs/learn.md.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from discreet.learn import linear, logistic

from .learn_picture import picture

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA, SEEDS = 1e-5, 5
Fit = Callable[[Any, Any, Any, Any, float], float]


def ours(bounds: Any) -> Fit:
    def fit(x: Any, y: Any, new: Any, truth: Any, epsilon: float) -> float:
        classes = range(int(max(y.max(), truth.max())) + 1)
        model = logistic(x, y, classes=classes, bounds=bounds, people=len(x), epsilon=epsilon, delta=DELTA)
        return float(np.mean(np.array(model.predict(new)) == truth))

    return fit


def theirs(x: Any, y: Any, new: Any, truth: Any, epsilon: float) -> float:
    from diffprivlib.models import LogisticRegression

    scaler = StandardScaler().fit(x)
    x, new = scaler.transform(x), scaler.transform(new)
    model = LogisticRegression(epsilon=epsilon, data_norm=float(np.linalg.norm(x, axis=1).max()), max_iter=1000)
    return float(np.mean(model.fit(x, y).predict(new) == truth))


def mean_over_splits(x: Any, y: Any, fit: Fit, epsilon: float) -> float:
    splits = [train_test_split(x, y, test_size=0.25, random_state=seed, stratify=y) for seed in range(SEEDS)]
    return float(np.mean([fit(a, c, b, d, epsilon) for a, b, c, d in splits]))


def regression(seed: int) -> tuple[Any, Any]:
    """50,000 rows of 20 features in the unit ball, and targets of which 0.998 of the variance is linear."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((50_000, 20))
    x /= np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
    target = x @ random.standard_normal(20)
    return x, target + random.standard_normal(50_000) * target.std() * (0.002 / 0.998) ** 0.5


def explained(predicted: Any, truth: Any) -> float:
    return float(1 - ((truth - predicted) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def our_line(x: Any, y: Any, new: Any, truth: Any, epsilon: float) -> float:
    reach = float(np.abs(y).max())
    bounds: dict[str, Any] = {"bounds": (-1, 1), "target_bounds": (-reach, reach), "norm": 1}
    return explained(linear(x, y, epsilon=epsilon, delta=DELTA, **bounds).predict(new), truth)


def their_line(x: Any, y: Any, new: Any, truth: Any, epsilon: float) -> float:
    from diffprivlib.models import LinearRegression

    reach = float(np.abs(y).max())
    model = LinearRegression(epsilon=epsilon, bounds_X=(-1, 1), bounds_y=(-reach, reach))
    return explained(model.fit(x, y).predict(new), truth)


def lines(fit: Fit) -> list[float]:
    def one(epsilon: float) -> float:
        tables = [regression(seed) for seed in range(SEEDS)]
        return float(np.mean([fit(x[:40_000], y[:40_000], x[40_000:], y[40_000:], epsilon) for x, y in tables]))

    return [one(epsilon) for epsilon in EPSILONS]


def main(arguments: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args(arguments)
    peer = find_spec("diffprivlib") is not None
    cancer, digits = load_breast_cancer(return_X_y=True), load_digits(return_X_y=True)
    low, high = cancer[0].min(axis=0), cancer[0].max(axis=0)
    ways = {
        "breast_cancer": (cancer, {"discreet": ours(np.stack([low, high], axis=1))}),
        "digits": (digits, {"discreet": ours((0, 16))}),
    }
    ways["breast_cancer"][1]["discreet, wide bounds"] = ours(np.stack([np.zeros(30), 1.5 * high], axis=1))
    found: dict[str, dict[str, list[float]]] = {}
    for name, (table, fits) in ways.items():
        named = {**fits, **({"diffprivlib": theirs} if peer else {})}
        found[name] = {
            way: [mean_over_splits(*table, fit, epsilon) for epsilon in EPSILONS] for way, fit in named.items()
        }
    found["linear regression 50k x 20 (R²)"] = {
        "discreet": lines(our_line),
        **({"diffprivlib": lines(their_line)} if peer else {}),
    }
    if not peer:
        print("diffprivlib is not installed")
    print(f"{'ε':<34}" + "".join(f"{epsilon:>10g}" for epsilon in EPSILONS))
    for name, rows in found.items():
        print(name)
        for way, values in rows.items():
            print(f"  {way:<32}" + "".join(f"{value:>10.3f}" if value > -10 else f"{value:>10.1e}" for value in values))
    if asked.picture is not None:
        asked.picture.write_text(picture(found, EPSILONS), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
