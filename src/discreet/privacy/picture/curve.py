"""The guarantee δ(ε) as points of a curve, and what an attacker can achieve, which follows from it."""

from itertools import pairwise
from math import exp, inf, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.privacy.numeric.direction import Direction

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss

Curve: TypeAlias = list[tuple[float, float]]

# Points of δ(ε): denser near 0, where most attackers are, and then where it falls most.
FIRST, MORE = 28, 16
# Of an axis: nobody sees points closer than that.
PIXEL = 1 / 500
# How low δ is shown, and how far below δ(0) at least; and a float that has a logarithm.
LEAST_DELTA, DECADES = 1e-9, 1e-6
NO_LESS = 1e-300
# Rates of false alarms that are shown in any case: the least one, and so many evenly from 0 to 1.
FIRST_ALPHA, ALPHAS = 1e-9, 21
# Beyond this ε e^ε is hardly a float.
FARTHEST = 700.0


def least_delta(direction: Direction) -> float:
    """The δ, apart from open failure, down to which the guarantee is shown."""
    return max(NO_LESS, min(LEAST_DELTA, DECADES * exp(direction.log_delta(0.0))))


def guarantee(loss: "PrivacyLoss") -> Curve:
    """(ε, δ(ε)) from 0 to where δ is so small that nobody asks, with more points where it falls fast."""
    end = max(direction.epsilon(least_delta(direction)) for direction in loss._directions) or 1.0
    if any(direction.failure for direction in loss._directions):
        end *= 1.1  # to show that δ falls no further
    curve = [(epsilon, loss.delta(epsilon)) for epsilon in (end * np.linspace(0.0, 1.0, FIRST) ** 2).tolist()]
    for _ in range(MORE):
        falls = [
            log(seen(a, curve) / seen(b, curve)) if y - x > PIXEL * end else 0.0 for (x, a), (y, b) in pairwise(curve)
        ]
        at = int(np.argmax(falls))
        if falls[at] > 0:
            middle = (curve[at][0] + curve[at + 1][0]) / 2
            curve.insert(at + 1, (middle, loss.delta(middle)))
    return curve


def seen(delta: float, curve: Curve) -> float:
    """δ, or the least δ shown where it is less."""
    return max(delta, NO_LESS, min(LEAST_DELTA, DECADES * curve[0][1]))


def errors(curve: Curve, failure: float) -> Curve:
    """(α, β): the least false-negative rate β of all attackers with the false-positive rate α, which is convex.

    Each (ε, δ) forbids all below the lines β = 1 − δ − e^ε α and β = e^-ε (1 − δ − α) (Dong, Roth and Su 2022). Corners are where
    neighbouring lines meet; between the lines known here the curve can only lie higher, so that no attacker is shown too weak.
    """
    epsilon, delta = np.array(curve).T
    slopes, kept = np.exp(np.minimum(epsilon, FARTHEST)), 1 - delta
    rises = np.maximum(0.0, -np.diff(delta)) / -np.expm1(-np.diff(epsilon))
    rises = np.minimum(rises, kept[1:])  # e^ε α, where the lines of two ε meet
    corners_at = [np.exp(-epsilon[1:]) * rises, kept[1:] - rises, kept[-1:]]
    alphas = np.concatenate([*corners_at, [FIRST_ALPHA], np.linspace(0.0, 1.0, ALPHAS)])
    corners = [(0.0, 1 - failure)]
    for alpha in np.unique(alphas[alphas > 0]).tolist():
        steep = np.where(epsilon <= FARTHEST, kept - slopes * alpha, -inf)
        corners.append((alpha, max(0.0, float(np.max(steep)), float(np.max((kept - alpha) / slopes)))))
    return corners
