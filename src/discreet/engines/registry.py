"""Which engines there are: each kind by its name in a policy, and the module that it lives in, imported when it is asked for."""

from importlib import import_module

from discreet.engines.base import Engine
from discreet.errors import Invalid
from discreet.exact import shown

DEFAULT = "duckdb"
KINDS = {DEFAULT: ("discreet.engines.duckdb", "DuckDB")}


def engine(kind: str = DEFAULT) -> type[Engine]:
    """The class of an engine of this kind, or raises Invalid."""
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise Invalid(f"there is no engine {shown(kind)}", code="policy", hint=f"the kinds of engines are {known}")
    module, name = KINDS[kind]
    chosen: type[Engine] = getattr(import_module(module), name)
    return chosen
