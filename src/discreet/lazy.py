"""Public names of a package that are resolved on first use (PEP 562), so that importing it loads nothing else."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy(
    package: str, public: Sequence[str], home: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: its public names, and no others.

    `home` says in which module of the package a name lives; a name without a home is itself such a module.
    """

    def resolve(name: str) -> object:
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        module = import_module(f"{package}.{home.get(name, name)}")
        value = getattr(module, name) if name in home else module
        setattr(sys.modules[package], name, value)
        return value

    return resolve, lambda: sorted(public)
