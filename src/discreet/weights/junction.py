"""Junction trees: sets of attributes such that everything measured lies inside of one, joined to a tree along what they share.

Marginals that agree where sets overlap are then marginals of one distribution (Lauritzen and Spiegelhalter 1988), and sums over all
cells of a domain are sums over the cells of the sets, one after another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from discreet.weights.factors import Axes

Graph = dict[int, set[int]]


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques, each with the number of its parent, which comes before it; the first one is the root, its own parent.

    What a clique shares with all that come before it is in its parent: the running intersection.
    """

    cliques: tuple[Axes, ...]
    parents: tuple[int, ...]

    def separator(self, number: int) -> Axes:
        """What a clique shares with its parent; nothing for the root."""
        if not number:
            return ()
        return tuple(axis for axis in self.cliques[number] if axis in self.cliques[self.parents[number]])

    def cells(self, shape: Sequence[int]) -> int:
        """How many cells all cliques have together, which is what a pass through the tree takes."""
        return sum(prod(shape[axis] for axis in clique) for clique in self.cliques)

    def home(self, axes: Iterable[int]) -> int | None:
        """The number of the first clique that these axes are all in; None where there is none."""
        wanted = set(axes)
        return next((number for number, clique in enumerate(self.cliques) if wanted <= set(clique)), None)


def junction_tree(scopes: Iterable[Sequence[int]], shape: Sequence[int]) -> JunctionTree:
    """A tree whose cliques cover all scopes, and every attribute of the shape; as few cells as the rule of least fill gives."""
    maximal = _maximal(_eliminated(_graph(scopes, len(shape)), shape))
    return _spanned(sorted(maximal, key=lambda clique: (-prod(shape[axis] for axis in clique), clique)))


def _graph(scopes: Iterable[Sequence[int]], attributes: int) -> Graph:
    graph: Graph = {axis: set() for axis in range(attributes)}
    for scope in scopes:
        for one, other in combinations(scope, 2):
            graph[one].add(other)
            graph[other].add(one)
    return graph


def _eliminated(graph: Graph, shape: Sequence[int]) -> list[set[int]]:
    """The cliques of a triangulation: the attribute goes first whose neighbours lack fewest edges; of equals, the one with fewest cells."""
    left = {axis: set(near) for axis, near in graph.items()}
    cliques = []
    while left:
        axis = min(left, key=lambda each: (_fill(left, each), prod(shape[near] for near in left[each]), each))
        near = left.pop(axis)
        cliques.append({axis, *near})
        for one in near:
            left[one] |= near - {one}
            left[one].discard(axis)
    return cliques


def _fill(graph: Graph, axis: int) -> int:
    """How many edges the neighbours of an attribute lack among themselves."""
    near = graph[axis]
    return sum(len(near - graph[each]) - 1 for each in near)


def _maximal(cliques: list[set[int]]) -> list[Axes]:
    found: list[set[int]] = []
    for clique in sorted(cliques, key=len, reverse=True):
        if not any(clique <= other for other in found):
            found.append(clique)
    return [tuple(sorted(clique)) for clique in found]


def _spanned(cliques: list[Axes]) -> JunctionTree:
    """A spanning tree of the most shared attributes, from the first clique on: of a triangulated graph that is a junction tree.

    (Jensen and Jensen 1994, theorem 1.) Cliques that share nothing are joined as well, along nothing.
    """
    order, parents = [0], [0]
    shared = {number: (len(set(cliques[number]) & set(cliques[0])), 0) for number in range(1, len(cliques))}
    while shared:
        number = max(shared, key=lambda each: (shared[each][0], -each))
        _, parent = shared.pop(number)
        order.append(number)
        parents.append(order.index(parent))
        for other, (most, _) in shared.items():
            common = len(set(cliques[other]) & set(cliques[number]))
            if common > most:
                shared[other] = (common, number)
    return JunctionTree(tuple(cliques[number] for number in order), tuple(parents))
