"""Writes docs/reference.md, from the docstrings of the public names: `make reference`, or `.venv/bin/python docs/reference.py`.

Signatures are taken from the source as they are written there. Each name is told once, under the innermost public module that has it.
"""

import ast
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

PAGE = Path(__file__).parent / "reference.md"
HEAD = """\
# Reference

Every public name, with its docstring; `make reference` writes this page from the source. `discreet` is imported as `dp`. A `Number` is an
int, a float (taken as the decimal that it prints), a `Fraction` or a `Decimal`. `Ints` and `Floats` are NumPy arrays of int64 and
float64.
"""
CALLS = {"__call__", "__add__", "__mul__"}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(inspect.getsource(import_module(name)))


def public(name: str = "discreet") -> Iterator[str]:
    """A public module, and those that its public names lead to."""
    yield name
    module = import_module(name)
    for each in module.__all__:
        if isinstance(value := getattr(module, each), ModuleType):
            yield from public(value.__name__)


def homes() -> dict[str, list[str]]:
    """The public modules, and of each the names that are told there."""
    modules = list(dict.fromkeys(public()))
    depth = sorted(modules, key=lambda name: -name.count("."))
    told: dict[int, str] = {}
    for name in depth:
        module = import_module(name)
        for each in module.__all__:
            told.setdefault(id(getattr(module, each)), name)
    return {
        name: [each for each in import_module(name).__all__ if told[id(getattr(import_module(name), each))] == name]
        for name in modules
    }


def definitions(body: list[ast.stmt], name: str) -> list[ast.FunctionDef]:
    """The functions of this name; where there are overloads, those alone."""
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    overloads = [node for node in found if any(ast.unparse(each) == "overload" for each in node.decorator_list)]
    return overloads or found[:1]


def class_body(kind: type) -> list[ast.stmt]:
    body: list[ast.stmt] = list(tree(kind.__module__).body)
    for part in kind.__qualname__.split("."):
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == part), [])
    return body


def taken(text: str) -> str:
    """What a constructor takes for a field: any number for an exact one, the first of what a `Held` field takes and holds."""
    if text == "Exact":
        return "Number"
    if text.startswith("Held["):
        held = ast.parse(text, mode="eval").body
        assert isinstance(held, ast.Subscript) and isinstance(held.slice, ast.Tuple)
        return ast.unparse(held.slice.elts[0])
    return text


def default(value: ast.expr | None) -> str:
    """The default of a field, without the rules that `field` and `otherwise` carry."""
    match value:
        case ast.Call(func=ast.Name("field"), keywords=keywords):
            if any(each.arg == "default_factory" for each in keywords):
                return " = …"
            return default(next((each.value for each in keywords if each.arg == "default"), None))
        case ast.Call(func=ast.Name("otherwise"), args=[inner]):
            return default(inner)
        case None:
            return ""
    return f" = {ast.unparse(value)}"


def constructor(kind: type) -> str:
    own = [each for each in kind.__mro__ if each.__module__.startswith("discreet")]
    for each in own:
        if found := definitions(class_body(each), "__init__"):
            return signature(found[0], "")
    fields: dict[str, str] = {}
    for each in reversed(own):
        for node in class_body(each):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                text = annotation(node.annotation)
                if not text.startswith("ClassVar"):
                    fields[node.target.id] = f"{node.target.id}: {taken(text)}{default(node.value)}"
    return f"({', '.join(fields.values())})" if fields else ""


class Unquoted(ast.NodeTransformer):
    """Annotations in quotes, without them."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def annotation(node: ast.expr) -> str:
    return ast.unparse(Unquoted().visit(node))


def argument(node: ast.arg, value: ast.expr | None = None) -> str:
    text = f"{node.arg}: {annotation(node.annotation)}" if node.annotation else node.arg
    return text if value is None else f"{text} = {ast.unparse(value)}"


def signature(node: ast.FunctionDef, arrow: str = " -> ") -> str:
    """The arguments as they are written, without `self`."""
    places = node.args.posonlyargs + node.args.args
    defaults = [None] * (len(places) - len(node.args.defaults)) + list(node.args.defaults)
    texts = [argument(*each) for each in zip(places, defaults, strict=True) if each[0].arg not in ("self", "cls")]
    if node.args.vararg:
        texts.append(f"*{argument(node.args.vararg)}")
    elif node.args.kwonlyargs:
        texts.append("*")
    texts += [argument(*each) for each in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    if node.args.kwarg:
        texts.append(f"**{argument(node.args.kwarg)}")
    return f"({', '.join(texts)}){f'{arrow}{annotation(node.returns)}' if arrow and node.returns else ''}"


def documentation(value: object) -> str:
    """A docstring with its examples in blocks."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"(?m)(^>>> .*(?:\n(?!\n|$).*)*)", r"```pycon\n\1\n```", text)


def members(kind: type) -> Iterator[str]:
    """Methods and properties, each with the first paragraph of its docstring."""
    names = [name for each in kind.__mro__ if each.__module__.startswith("discreet") for name in vars(each)]
    for name in sorted(dict.fromkeys(names), key=lambda name: (not name.startswith("__"), name)):
        if name.startswith("_") and name not in CALLS:
            continue
        home = next(each for each in kind.__mro__ if name in vars(each))
        found = definitions(class_body(home), name) if home.__module__.startswith("discreet") else []
        if not found:
            continue
        value = vars(home)[name]
        text = (inspect.getdoc(getattr(kind, name)) or "").partition("\n\n")[0].replace("\n", " ")
        plain = isinstance(value, property) or "property" in type(value).__name__
        shown = [f".{name}" if plain else f".{name}{signature(node)}" for node in found]
        yield f"- {', '.join(f'`{each}`' for each in shown)}{f': {text}' if text else ''}"


def told(name: str, value: object) -> Iterator[str]:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        yield f"### `{name}`\n\n{documentation(value)}\n\n" + "\n".join(f"- `.{each.name}`" for each in value)
    elif isinstance(value, type):
        yield f"### `{name}{constructor(value)}`\n\n{documentation(value)}"
        yield "\n".join(members(value))
    elif inspect.isfunction(value):
        nodes = definitions(list(tree(value.__module__).body), value.__name__)
        heads = "`, `".join(f"{name}{signature(node)}" for node in nodes)
        yield f"### `{heads}`\n\n{documentation(value)}"
    elif not isinstance(value, ModuleType):
        yield f"### `{name}`"


def page() -> str:
    parts = [HEAD]
    for module_name, names in homes().items():
        module = import_module(module_name)
        parts.append(f"## `{module_name}`\n\n{(module.__doc__ or '').strip().partition(chr(10) * 2)[0]}")
        others = [f"`{name}`" for name in module.__all__ if name not in names and not name.startswith("__")]
        if others:
            parts.append(f"Also here: {', '.join(others)}.")
        for name in names:
            if not name.startswith("__"):
                parts += filter(None, told(name, getattr(module, name)))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"{PAGE.name} written", file=sys.stderr)
