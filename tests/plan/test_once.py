"""What is computed once for a tree is what would be computed for it each time."""

import gc
import weakref

from discreet.plan.once import MOST, once


class Tree:
    """Something that is known by its identity."""

    def __init__(self, name: int) -> None:
        self.name = name


def results_are_those_of_their_tree() -> None:
    """Trees come and go, so that their places in memory are used again; each has its own result, for each of its arguments."""

    @once
    def written(tree: Tree, first: int, *, second: int = 0) -> tuple[int, int, int]:
        return tree.name, first, second

    for name in range(3 * MOST):
        tree = Tree(name)
        for first, second in ((0, 1), (1, 0), (0, 1), (1, 1)):
            assert written(tree, first, second=second) == (name, first, second)
        assert written(tree, 0) == (name, 0, 0)


def test_results_are_those_of_their_tree() -> None:
    results_are_those_of_their_tree()


def test_a_tree_is_looked_at_once_until_all_is_forgotten() -> None:
    looked = []
    look = once(lambda tree: looked.append(tree.name))
    tree = Tree(1)
    for _ in range(3):
        look(tree)
    assert looked == [1]
    look.cache_clear()  # type: ignore[attr-defined]
    look(tree)
    assert looked == [1, 1]


def few_trees_are_held() -> None:
    """No more than so many, however many come."""
    name_of = once(lambda tree: tree.name)
    alive: weakref.WeakSet[Tree] = weakref.WeakSet()
    for name in range(4 * MOST):
        tree = Tree(name)
        alive.add(tree)
        name_of(tree)
    del tree
    gc.collect()
    assert len(alive) <= MOST


def test_few_trees_are_held() -> None:
    few_trees_are_held()
