"""Functions of frozen trees, computed once for the same tree: the stages of a plan have most of what they read in common.

What is remembered is known by identity, and held, so that nothing else can come to be in its place. To compare trees would take longer
than to compute.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Tree = TypeVar("Tree")
P = ParamSpec("P")
R = TypeVar("R")

MOST = 512
"""So many results of a function are remembered; after that it begins anew."""


def once(function: Callable[Concatenate[Tree, P], R]) -> Callable[Concatenate[Tree, P], R]:
    """The function, which must depend on nothing but the tree that it is given first, and on arguments that can be keys."""
    results: dict[tuple[Any, ...], tuple[Tree, R]] = {}

    @wraps(function)
    def call(tree: Tree, /, *args: P.args, **kwargs: P.kwargs) -> R:
        key = (id(tree), *args, *kwargs.items())
        pair = results.get(key)
        if pair is None:
            pair = tree, function(tree, *args, **kwargs)
            if len(results) >= MOST:
                results.clear()
            results[key] = pair
        return pair[1]

    call.cache_clear = results.clear  # type: ignore[attr-defined]
    return call
