"""What a function returns, as far as its source says it: some can't be called for a trial."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, Final

_LITERALS: Final[dict[type[ast.expr], str]] = {
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.JoinedStr: "str",
}
_PLAIN: Final = frozenset({"str", "dict", "list", "tuple", "bool", "int", "None"})
_INNER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def plain_return(function: Any) -> tuple[str, str] | None:
    """Return which plain value a function returns somewhere, and the file and line of that.

    The value is a type's name, or "None". Returns None where the source shows no such thing.
    """
    read = _read(function)
    if read is None:
        return None
    node, place = read
    own = list(_own(node))
    found = [(_literal(each.value), each.lineno) for each in own if isinstance(each, ast.Return)]
    found.append((_annotated(node.returns), node.lineno))
    if not any(
        isinstance(each, ast.Return | ast.Raise | ast.Yield) or _stays(each) for each in own
    ):
        found.append(("None", node.lineno))
    return next(((name, place(line)) for name, line in found if name), None)


def plain_items(function: Any) -> tuple[str, str] | None:
    """Return what `plain_return` does, of the items of a list that a function returns."""
    read = _read(function)
    if read is None:
        return None
    node, place = read
    found = [
        (_literal(item), item.lineno)
        for each in _own(node)
        if isinstance(each, ast.Return)
        for item in _items(each.value)
    ]
    if isinstance(node.returns, ast.Subscript):
        found.append((_annotated(node.returns.slice), node.lineno))
    return next(((name, place(line)) for name, line in found if name), None)


def _read(
    function: Any,
) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, Callable[[int], str]] | None:
    """Return a function's source, and what returns the place of a line of it."""
    function = inspect.unwrap(function)
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function)
        (node,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return node, lambda line: f"{file}:{first + line - 1}"


def _items(value: ast.expr | None) -> list[ast.expr]:
    if isinstance(value, ast.List | ast.Tuple):
        return value.elts
    return [value.elt] if isinstance(value, ast.ListComp) else []


_ENDS: Final = frozenset({"sys.exit", "os._exit", "exit", "quit"})


def _stays(node: ast.AST) -> bool:
    """Whether a function may never get behind a node: a loop without end, the program's end."""
    if isinstance(node, ast.While):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return endless and not any(isinstance(each, ast.Break) for each in _own(node))
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _ENDS


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, but for those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _INNER):
            yield child
            yield from _own(child)


def _literal(value: ast.expr | None) -> str:
    if value is None:
        return "None"
    if isinstance(value, ast.Constant):
        return "None" if value.value is None else type(value.value).__name__
    return _LITERALS.get(type(value), "")


def _annotated(annotation: ast.expr | None) -> str:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = ast.unparse(named) if named is not None else ""
    return name if name in _PLAIN else ""
