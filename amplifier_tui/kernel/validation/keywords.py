"""Keywords that a module's source gives to the result it answers with, and that mean nothing."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel.models import HookResult, ToolResult
from amplifier_tui.kernel.validation.base import ValidationCheck, failure

_KNOWN: Final[dict[str, tuple[str, Iterable[str]]]] = {
    HookResult.__name__: ("hook_result", HookResult.model_fields),
    # It reads that one as its opposite, `success`.
    ToolResult.__name__: ("tool_result", (*ToolResult.model_fields, "is_error")),
}
"""By the class of a result: the check's name, and the keywords that mean something."""


def unknown_keywords(sources: Path | None) -> Iterator[ValidationCheck]:
    """Yield a warning for each unknown keyword of a result in a package, or in a file.

    They are read from the source, as a trial does not reach every answer.
    """
    if sources is None:
        return
    files = sorted(sources.rglob("*.py")) if sources.is_dir() else [sources]
    for file in files:
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for call in _results(tree):
            name = _called(call.func)
            check, known = _KNOWN[name]
            fields = f"; its fields are {', '.join(known)}"
            for keyword in call.keywords:
                if keyword.arg and keyword.arg not in known:
                    yield failure(
                        check,
                        f"{name} ignores {keyword.arg!r:.80}, which is none of its fields"
                        f"{did_you_mean(keyword.arg, known) or fields}",
                        "Correct the name; until then it does nothing",
                        "warning",
                        f"{file}:{keyword.value.lineno}",
                    )


def _results(tree: ast.AST) -> list[ast.Call]:
    """Return where a result is made; a class of that name may be somebody else's."""
    nodes = list(ast.walk(tree))
    known = _KNOWN.keys() - {name for node in nodes for name in _from_others(node)}
    return [each for each in nodes if isinstance(each, ast.Call) and _called(each.func) in known]


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _from_others(node: ast.AST) -> Iterator[str]:
    """Yield the names that are a class of the file's own, or are imported from somebody else."""
    if isinstance(node, ast.ClassDef):
        yield node.name
    if isinstance(node, ast.ImportFrom) and not node.level and not _is_ours(node.module):
        yield from (each.asname or each.name for each in node.names)


def _is_ours(module: str | None) -> bool:
    return str(module).startswith(("amplifier_core", "amplifier_tui"))
