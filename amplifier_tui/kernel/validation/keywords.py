"""Keywords that a hook's source gives to `HookResult` and that mean nothing: they are ignored."""

import ast
from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.base.nearest import did_you_mean
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.kernel.validation.base import ValidationCheck, failure

_NAME = HookResult.__name__


def unknown_keywords(sources: Path | None) -> Iterator[ValidationCheck]:
    """Yield a warning for each unknown keyword of a `HookResult` in a package, or in a file.

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
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and _called(call.func) == _NAME:
                for keyword in call.keywords:
                    if keyword.arg and keyword.arg not in HookResult.model_fields:
                        near = did_you_mean(keyword.arg, HookResult.model_fields)
                        yield failure(
                            "hook_result",
                            f"{_NAME} ignores {keyword.arg!r:.80}, which is none of its fields"
                            f"{near}",
                            "Correct the name; until then it does nothing",
                            "warning",
                            f"{file}:{keyword.value.lineno}",
                        )


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
