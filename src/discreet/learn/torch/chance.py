"""What a model does by chance, such as dropping numbers, comes from secret bits, and leaves the generator of PyTorch as it was.

People set the seed of that generator, and publish it. Whoever knows it knows what is dropped of whom; and an example that is missing
shifts what is dropped of all others, which moves a sum by far more than the clip. Afterwards the state of the generator would tell how
many examples there were.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from discreet.noise import Source
from discreet.noise.source import chosen


@contextmanager
def secret_chance(device: torch.device, source: Source | None) -> Iterator[None]:
    """While the block lasts, PyTorch's generators have a seed of secure bits, which nobody is told."""
    generators = [torch.default_generator]
    if device.type == "cuda":
        generators.append(
            torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]
        )
    before = [each.get_state() for each in generators]
    seed = chosen(source).bits(63)
    for each in generators:
        each.manual_seed(seed)
    try:
        yield
    finally:
        for each, state in zip(generators, before, strict=True):
            each.set_state(state)
