"""Laws of junction trees: they cover what was measured, cliques share along the tree, and trees are left as they are."""

from itertools import combinations
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from discreet.weights.junction import JunctionTree, junction_tree

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=7).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """A shape, and scopes of up to three of its attributes."""
    shape = draw(SHAPES)
    axes = st.integers(0, len(shape) - 1)
    scopes = draw(st.lists(st.sets(axes, max_size=3), max_size=8))
    return shape, [tuple(sorted(each)) for each in scopes]


def intersections_run(tree: JunctionTree) -> None:
    """What a clique shares with any before it is in its parent, which comes before it."""
    for number, clique in enumerate(tree.cliques[1:], 1):
        before = set().union(*tree.cliques[:number])
        assert tree.parents[number] < number
        assert set(clique) & before == set(tree.separator(number))
        assert set(tree.separator(number)) <= set(tree.cliques[tree.parents[number]])


def trees_are_valid(graph: tuple[tuple[int, ...], list[tuple[int, ...]]]) -> None:
    """All scopes are inside of cliques, no clique is inside of another, and intersections run."""
    shape, scopes = graph
    tree = junction_tree(scopes, shape)
    for scope in (*scopes, *((axis,) for axis in range(len(shape)))):
        home = tree.home(scope)
        assert home is not None and set(scope) <= set(tree.cliques[home])
    for one, other in combinations(tree.cliques, 2):
        assert not set(one) <= set(other) and not set(other) <= set(one)
    intersections_run(tree)
    assert tree.cells(shape) == sum(prod(shape[axis] for axis in clique) for clique in tree.cliques)


@given(graphs())
def test_trees_are_valid(graph: tuple[tuple[int, ...], list[tuple[int, ...]]]) -> None:
    trees_are_valid(graph)


def fixed_trees_are_valid() -> None:
    """A few graphs that need fill, or have parts of their own."""
    for scopes in (
        [(0, 1), (1, 2), (2, 3), (0, 3)],
        [(0, 1), (1, 2), (2, 3), (3, 4)],
        [(0, 1), (2, 3), (3, 4), (2, 4)],
        [(0, 1, 2), (1, 2, 3), (3, 4), (0, 4)],
    ):
        trees_are_valid(((2, 3, 2, 4, 2), scopes))


def test_fixed_trees_are_valid() -> None:
    fixed_trees_are_valid()


@given(st.integers(2, 8), st.randoms(use_true_random=False))
def test_a_tree_of_pairs_is_left_as_it_is(attributes: int, random: "object") -> None:
    shape = (3,) * attributes
    edges = sorted((random.randrange(axis), axis) for axis in range(1, attributes))  # type: ignore[attr-defined]
    assert sorted(junction_tree(edges, shape).cliques) == edges


def cycles_get_the_least_fill() -> None:
    """Of a cycle of four with one large attribute the chord spares that one."""
    tree = junction_tree([(0, 1), (1, 2), (2, 3), (0, 3)], (9, 2, 2, 2))
    assert sorted(tree.cliques) == [(0, 1, 3), (1, 2, 3)]
    wheel = junction_tree([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)], (2,) * 6)
    assert max(map(len, wheel.cliques)) == 3


def test_cycles_get_the_least_fill() -> None:
    cycles_get_the_least_fill()


def test_no_home_for_what_was_not_asked() -> None:
    assert junction_tree([(0, 1)], (2, 2, 2)).home((1, 2)) is None
