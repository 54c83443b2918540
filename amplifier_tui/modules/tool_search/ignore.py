"""Which files ``.gitignore`` and ``.ignore`` leave out (gitignore(5)).

Standard library only: the searching process imports this.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from amplifier_tui.modules.tool_search.globs import translate

IGNORE_FILES: Final = (".gitignore", ".ignore")

ALWAYS: Final = frozenset({".git", ".hg", ".svn"})
"""Folders nobody searches."""

USUALLY: Final = frozenset(
    {
        *("node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform"),
    }
)
"""Folders that are left out with or without an ignore file."""

_LARGEST: Final = 512 * 1024


@dataclass(frozen=True)
class Rules:
    """The rules of one folder's ignore files.

    Attributes:
        prefix: Of paths below that folder, relative to where the search starts: empty, or ending
            in a slash. Where the folder is further up, what leads from it down.
        above: Whether the folder is further up.
        rules: Expression, whether it speaks of folders only, and whether it takes back.
        any: Matches what any rule matches.
    """

    prefix: str
    above: bool
    rules: tuple[tuple[re.Pattern[str], bool, bool], ...]
    any: re.Pattern[str]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None when no rule speaks of it.

        Args:
            path: Relative to where the search starts.
            is_folder: Whether it is a folder.
        """
        local = self.prefix + path if self.above else path[len(self.prefix) :]
        if self.any.fullmatch(local) is None:
            return None
        for expression, folders_only, takes_back in reversed(self.rules):
            if (is_folder or not folders_only) and expression.fullmatch(local):
                return not takes_back
        return None


def read_rules(folder: str, prefix: str, *, above: bool = False) -> Rules | None:
    """Return the rules of a folder's ignore files, or None.

    Args:
        folder: The folder.
        prefix: See `Rules`.
        above: See `Rules`.
    """
    lines: list[str] = []
    for name in IGNORE_FILES:
        lines += _lines(os.path.join(folder, name))
    return _rules(lines, prefix, above)


def rules_above(start: str) -> list[Rules]:
    """Return the rules of the folders above, up to the repository's root, outermost first."""
    root = start
    while not os.path.exists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return []
        root = parent
    found: list[Rules] = []
    if root == start:
        exclude = _rules(_lines(os.path.join(root, ".git", "info", "exclude")), "", False)
        return [exclude] if exclude else []
    below = os.path.relpath(start, root).replace(os.sep, "/")
    exclude = _rules(_lines(os.path.join(root, ".git", "info", "exclude")), f"{below}/", True)
    found += [exclude] if exclude else []
    parts = below.split("/")
    for depth in range(len(parts)):
        folder = os.path.join(root, *parts[:depth])
        rules = read_rules(folder, "/".join(parts[depth:]) + "/", above=True)
        if rules is not None:
            found.append(rules)
    return found


def _lines(path: str) -> list[str]:
    try:
        if os.path.islink(path) or os.path.getsize(path) > _LARGEST:
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().removeprefix("\ufeff").splitlines()
    except OSError:
        return []


def _rules(lines: list[str], prefix: str, above: bool) -> Rules | None:
    rules = [rule for rule in map(_rule, lines) if rule is not None]
    if not rules:
        return None
    every = "|".join(f"(?:{rule[0].pattern})" for rule in rules)
    return Rules(prefix, above, tuple(rules), re.compile(every, re.DOTALL))


def _rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    text = line.rstrip("\r\n")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    takes_back = text.startswith("!")
    text = text[1:] if takes_back else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    if not text:
        return None
    anchored = "/" in text
    text = text.removeprefix("/")
    if not anchored:
        text = f"**/{text}"
    try:
        expression = re.compile(translate(text), re.DOTALL)
    except re.error:
        return None
    return expression, folders_only, takes_back
