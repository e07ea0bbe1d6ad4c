"""The scripts under docs/, which make pages, as modules: tests compare what they would write with what is there."""

from importlib import util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent


def script(path: str) -> ModuleType:
    """The module of a script, by its path from the root."""
    spec = util.spec_from_file_location(Path(path).stem + "_script", ROOT / path)
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
