"""What docstrings refer to exists."""

import ast
import re
from functools import cache
from pathlib import Path

import click
import pytest

from amplifier_tui.cli.group import build
from tests.source import trees

ROOT = Path(__file__).parents[1]
COMMAND = re.compile(r"(?<!/)\bamplifier-tui ((?:[a-z][a-z-]*\b ?)+)(?![=:.])")
PAGE = re.compile(r"`([\w./-]+\.md)`")
DESIGN = re.compile(r"\b(?:kernel|foundation|context|ui) reference\b|\b[Ss]ections? \d")
NO_PAGES = {
    "bundle.md": "the file of a bundle",
    "AGENTS.md": "a file of the user's project",
    "name.md": "stands for a bundle's name",
    "name/bundle.md": "stands for a bundle's name",
}


@cache
def docstrings() -> list[tuple[str, str]]:
    found = []
    for path, tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ) and (text := ast.get_docstring(node)):
                place = f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}"
                found.append((place, text))
    return found


def unknown_command(words: list[str]) -> str | None:
    """The first word that is no command where one has to stand."""
    command: click.Command = build()
    for word in words:
        if not isinstance(command, click.Group):
            return None
        found = command.get_command(click.Context(command), word)
        if found is None:
            return word
        command = found
    return None


def test_every_command_a_docstring_names_exists() -> None:
    named = [
        (place, match[1].split())
        for place, text in docstrings()
        for match in COMMAND.finditer(text)
    ]
    assert len(named) > 5
    assert [(place, words) for place, words in named if unknown_command(words[:2])] == []


def test_every_page_a_docstring_names_is_in_the_repository() -> None:
    named = [(place, match[1]) for place, text in docstrings() for match in PAGE.finditer(text)]
    missing = [
        (place, page)
        for place, page in named
        if page not in NO_PAGES and not any(ROOT.glob(f"**/{page}"))
    ]
    assert missing == []
    assert [place for place, text in docstrings() if DESIGN.search(text)] == []


@pytest.mark.parametrize("words", [["rules", "nowhere"], ["nowhere"]])
def test_a_command_that_is_not_there_is_found(words: list[str]) -> None:
    assert unknown_command(words) == "nowhere"
