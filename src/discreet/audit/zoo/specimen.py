"""One mechanism of the zoo: what it does, what it claims, what is true, and who can tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.audit.neighbours import Pair
from discreet.mechanisms.geometric import Geometric
from discreet.noise import SecureBits, discrete_laplace

if TYPE_CHECKING:
    from discreet.audit.twins import Draws

Ints: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float64]
Law: TypeAlias = Callable[[Any], Mapping[Any, float]]
Run: TypeAlias = Callable[[Any, Any], Any]

EXACT, TWINS, SAMPLING = METHODS = ("exact", "twins", "sampling")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A mechanism that claims (ε, δ), for the neighbours on which it breaks its promise or, where it is sound, would break it first.

    `mechanism(data, size)` gives so many independent outputs with `many`, `mechanism(data)` one output without. `truth` is the true ε at
    that δ for the worst neighbours, or a number that it is proven not to exceed; None where nobody has worked it out. `law` gives
    the probabilities of all outputs, or of a finite function of them, and `run(data, draws)` does the same as the mechanism with draws
    that twins can play again.
    """

    name: str
    story: str
    source: str
    mechanism: Callable[..., Any]
    neighbours: tuple[Pair, ...]
    epsilon: float = 1.0
    delta: float = 0.0
    truth: float | None = inf
    many: bool = True
    law: Law | None = None
    run: Run | None = None
    mends: str = ""  # of a sound one: the broken one that it is the mended twin of
    detected_by: tuple[str, ...] = (SAMPLING,)  # of a broken one: who tells, with 1e5 outputs a side at most

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that can be tried on it."""
        able = {EXACT: self.law is not None, TWINS: self.run is not None, SAMPLING: True}
        return tuple(method for method in METHODS if able[method])


def additive(
    name: str,
    story: str,
    source: str,
    exact: Callable[[Any], int],
    pair: Pair,
    *,
    scale: int = 1,
    declared: int = 1,
    mends: str = "",
) -> Specimen:
    """Geometric noise on an integer that is declared to move by so much: `declared`/scale is claimed, and what is true follows."""
    noise = Geometric(scale)
    distance = abs(exact(pair[1]) - exact(pair[0]))

    def outputs(data: Any, size: int) -> Ints:
        return exact(data) + discrete_laplace(scale, size)

    def run(data: Any, draws: "Draws") -> Any:
        return draws(noise, declared, lambda: exact(data))

    return Specimen(
        name,
        story,
        source,
        outputs,
        (pair,),
        epsilon=declared / scale,
        truth=distance / scale,
        run=run,
        mends=mends,
        detected_by=(TWINS, SAMPLING),
    )


def unit_floats(size: int) -> Reals:
    """Floats above 0 and at most 1, of 53 random bits each: what everybody feeds into a logarithm."""
    bits = np.empty(8 * size, np.uint8)
    SecureBits().fill(bits)
    return ((bits.view(np.uint64) >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53


def rows_of(columns: Any) -> list[list[int]]:
    """Outputs of several numbers each, as lists: one column for each number."""
    table: list[list[int]] = np.stack(columns, axis=1).tolist()
    return table
