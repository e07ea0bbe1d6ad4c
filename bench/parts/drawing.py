"""Noise: arrays, short arrays and single values, from a warm process; see `beside.py`."""

import json
from fractions import Fraction

from discreet import noise
from parts.clock import cpu

MANY, SHORT = 1_000_000, 1000
DRAWS = {"discrete Laplace": noise.discrete_laplace, "discrete Gaussian": noise.discrete_gaussian}

spent = {}
for name, draw in DRAWS.items():
    for scale in (10, 1000, 2**40):
        label = f"{name} {scale if scale < 10**6 else '2^40'}"
        spent[f"{label}, 1,000,000"] = cpu(lambda _, draw=draw, scale=scale: draw(scale, MANY), 7, warm=1)
        spent[f"{label}, 100 × 1,000"] = cpu(
            lambda _, draw=draw, scale=scale: [draw(scale, SHORT) for _ in range(100)], 7, warm=1
        )
        spent[f"{label}, 10,000 × 1"] = cpu(
            lambda _, draw=draw, scale=scale: [draw(scale) for _ in range(10_000)], 7, warm=1
        )
spent["geometric 10, 1,000,000"] = cpu(lambda _: noise.geometric(10, MANY), 7, warm=1)
spent["Bernoulli 1/3, 1,000,000"] = cpu(lambda _: noise.bernoulli(Fraction(1, 3), MANY), 7, warm=1)
spent["uniform below 1000, 1,000,000"] = cpu(lambda _: noise.uniform(1000, MANY), 7, warm=1)
print(json.dumps(spent))
