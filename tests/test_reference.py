"""The reference is what the docstrings say, and they say it in sentences."""

import inspect
import re
from importlib import import_module, util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
SAID = ("discreet.attacks", "discreet.mechanisms", "discreet.noise")
# A docstring that begins so has no subject: it goes on where the name of the function ended.
FRAGMENT = re.compile(r"(Of|For|Where|From|By|At|In|None|That of|The same)\b")


def generator() -> ModuleType:
    spec = util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec and spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = generator()
MODULES = [name for name in dict.fromkeys(REFERENCE.public()) if name.startswith(SAID)]


def test_the_reference_is_what_the_docstrings_say() -> None:
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == REFERENCE.page(), "`make reference` renews it"


def documented(module: ModuleType) -> dict[str, str]:
    """The docstring of each public class, function and member of a module, by name."""
    texts = {}
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, type):
            names = [each for each in dir(value) if not each.startswith("_") and each not in dir(Exception)]
            for each in names:
                member = inspect.getattr_static(value, each)
                if callable(getattr(value, each)) or isinstance(member, property):
                    texts[f"{name}.{each}"] = inspect.getdoc(getattr(value, each)) or ""
        if isinstance(value, type) or inspect.isfunction(value):
            texts[name] = inspect.getdoc(value) or ""
    return texts


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_a_docstring_with_a_subject(name: str) -> None:
    texts = documented(import_module(name))
    assert [each for each, text in texts.items() if not text or FRAGMENT.match(text)] == []


def test_a_docstring_without_a_subject_is_found() -> None:
    assert FRAGMENT.match("Of a vector of `size` coordinates.") and not FRAGMENT.match("Often a vector.")
