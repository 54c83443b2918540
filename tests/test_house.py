"""How the source is laid out: arrows, folders, names, and each mechanism once."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.source import SOURCE, trees

LONGEST = 450
"""Lines of a file."""

WIDEST = 12
"""Files of a folder that are not all of one kind; `__init__.py` is not counted."""

ONE_KIND: dict[str, str] = {}
"""Wider folders, and what each of their files is."""

MAY_IMPORT = {
    "base": set(),
    "paths": {"base"},
    "kernel": {"base"},
    "foundation": {"kernel", "base", "paths"},
    "context": {"kernel", "base", "paths"},
    "modules": {"kernel", "base", "context", "paths"},
    "host": {"kernel", "foundation", "context", "compat", "base", "paths"},
    "ui": {"host", "base", "paths"},
    "compat": {"kernel", "foundation"},
    "cli": {"kernel", "foundation", "context", "host", "ui", "base", "compat", "paths"},
    "__main__": {"cli"},
}
"""Rooms by who may know them. What of `host` and `base` the screen may know, import-linter says."""

SAME_NAME: dict[str, str] = {
    "Message": "spec 000 and ADR 0016 both publish one",
    "ChatResponse": "spec 000 and ADR 0016 both publish one",
    "HandlerTrace": "what the kernel tells observers, and the same as the record of an event",
    "Usage": "spec 000 publishes one; the other is an event's field, kept in files",
    "ValidationResult": "amplifier_core and amplifier_foundation both publish one",
}
"""Public classes that have a namesake, and why."""

MECHANISMS: dict[str, tuple[str, dict[str, str]]] = {
    "replacing a file (base/files)": (
        r"os\.replace\(|mkstemp\(|NamedTemporaryFile\(|os\.fsync\(|O_EXCL",
        {"modules/tool_bash/sandbox/aside.py": "makes a file in an open folder, past no link"},
    ),
    "locking a file (base/files)": (
        r"\bfcntl\b",
        {"cli/run/speaking.py": "asks how much of a pipe is unread, and locks nothing"},
    ),
    "a torn end of rows (base/jsonl.py)": (r"seek\(-1, ", {}),
    "git that looks (base/git.py)": (
        r"\[\s*\"git\",|exec\(\s*\"git\"",
        {"foundation/sources/git_commands.py": "fetches, with a time limit and progress"},
    ),
    "shapes of secrets (base/secrets.py)": (r"AKIA\[|gh\[[a-z]+\]_|xox\[|sk-\[", {}),
    "splitting shell lines (base/shell)": (
        r"shlex\.(split|shlex)\(|\bbashlex\b|\btree_sitter_bash\b",
        {
            "ui/terminal/editor.py": "$EDITOR is an argument list, not a line for a shell",
            "ui/prompt/dropped.py": "a terminal quotes the paths it pastes; they are no command",
        },
    ),
    "terminal sequences in foreign text (base/text.py)": (r"\[0-\?\]\*\[ -/\]\*\[@-~\]", {}),
    "dataclasses that cost a start little (base/lazy/dataclass.py)": (
        r"from dataclasses import [^\n]*\bdataclass\b",
        {"compat/running.py": "may know no room but the two it stands for"},
    ),
    "reading YAML with limits (foundation/io.py)": (
        r"yaml\.(compose|safe_load|load|parse)\(",
        {
            "foundation/io.py": "the one reader",
            "cli/bundle/new.py": "one value of ours, to see whether it needs quotes",
            "foundation/settings/writing.py": "of a file that was read; edits by its marks",
            "host/gate/rules/rewriting.py": "of a file that was read; edits by its marks",
            "modules/provider_mock/script.py": "modules may not know foundation; it has limits",
            "modules/tool_skills/skill.py": "modules may not know foundation; it has limits",
            "ui/app/themes.py": "the screen may not know foundation; a file of the user's",
        },
    ),
    "ignore rules (pathspec)": (r"\bfnmatch\.translate\(", {}),
}
"""What stands once, on the ground floor: how it looks, and the files that may look like it."""


@cache
def arrows() -> dict[str, set[str]]:
    """Which modules each module imports, wherever in the file, type checking included."""
    return {name: set(_imports(tree)) - {name} for name, (_, tree) in trees().items()}


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for full in names:
            name = full.removeprefix("amplifier_tui").removeprefix(".")
            if not full.startswith("amplifier_tui"):
                continue
            yield name if name in trees() else name.rpartition(".")[0]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, directly or through others."""
    # What imports nothing that is left, or is imported by nothing that is left, is in no circle.
    left = {name: {other for other in others if other in graph} for name, others in graph.items()}
    while True:
        imported = set().union(*left.values())
        ends = {name for name, others in left.items() if not others or name not in imported}
        if not ends:
            break
        left = {name: others - ends for name, others in left.items() if name not in ends}
    reached = {name: _reached(name, left) for name in left}
    groups = {
        tuple(sorted({name, *(other for other in reached[name] if name in reached[other])}))
        for name in left
    }
    return sorted([list(group) for group in groups if len(group) > 1])


def _reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - seen
        seen |= fresh
        waiting += fresh
    return seen


def test_circles_are_found_and_what_only_leads_to_one_is_not() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": {"f"}, "f": {"g"}, "g": {"e"}}
    assert circles(graph) == [["b", "c"], ["e", "f", "g"]]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(arrows()) == []


def test_no_room_knows_the_rooms_above_it() -> None:
    wrong = []
    for name, others in arrows().items():
        room = name.partition(".")[0]
        for other in others:
            known = other.partition(".")[0]
            if known and room and known != room and known not in MAY_IMPORT[room]:
                wrong.append(f"{name} -> {other}")
    assert wrong == []


def test_no_file_is_longer_than_one_can_hold_in_mind() -> None:
    lengths = {name: len(path.read_text().splitlines()) for name, (path, _) in trees().items()}
    assert {name: count for name, count in lengths.items() if count > LONGEST} == {}


def test_no_folder_is_a_drawer_for_everything() -> None:
    paths = [path for path, _ in trees().values() if path.name != "__init__.py"]
    counts = Counter(str(path.parent.relative_to(SOURCE)) for path in paths)
    wide = {folder: count for folder, count in counts.items() if count > WIDEST}
    assert {folder: n for folder, n in wide.items() if folder not in ONE_KIND} == {}
    assert ONE_KIND.keys() <= wide.keys()


def test_one_word_names_one_class() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, (_, tree) in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    twice = {word: where for word, where in places.items() if len(where) > 1}
    assert {word: where for word, where in twice.items() if word not in SAME_NAME} == {}
    assert SAME_NAME.keys() <= twice.keys()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_mechanism_of_the_ground_floor_stands_once(mechanism: str) -> None:
    pattern, allowed = MECHANISMS[mechanism]
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(pattern, path.read_text()) and path.relative_to(SOURCE).parts[0] != "base"
    }
    assert found - allowed.keys() == set()
    assert allowed.keys() <= found


PUBLISHED_TWICE = {
    frozenset(
        {"host.session.modules.loading", "kernel.loader"}
    ): "the signature of `ModuleLoader.load`",
}
"""Pairs of rooms' files with like lines that a published signature fixes."""

ALIKE = 8
"""Lines that stand in two rooms from which on they are one mechanism written twice."""


def test_no_mechanism_is_written_out_in_two_rooms() -> None:
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, (path, tree) in trees().items():
        lines = _own_lines(path, tree)
        for start in range(len(lines) - ALIKE + 1):
            places[tuple(lines[start : start + ALIKE])].add(name)
    rooms = {
        names: {name.partition(".")[0] for name in names}
        for names in map(frozenset, places.values())
        if len(names) > 1
    }
    twice = {names for names, known in rooms.items() if len(known) > 1}
    assert [sorted(names) for names in twice - PUBLISHED_TWICE.keys()] == []


def _own_lines(path: Path, tree: ast.Module) -> list[str]:
    """The lines of a file that say something: no imports, blanks, lone brackets, docstrings."""
    quiet: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            quiet.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [
        line
        for number, line in enumerate(lines, 1)
        if number not in quiet and line.strip("()[]{}, ")
    ]


def test_no_pattern_looks_behind_at_the_beginning_of_a_possessive_group() -> None:
    """Where such a group does not match, Python 3.11.0 to 3.11.4 go on at a wrong place."""
    group = re.compile(r"\(\?:\(\?<[=!](?:[^()]|\([^()]*\))*\)(?:[^()]|\([^()]*\))*\)[?*+}]\+")
    assert group.search(r"a(?:(?<=[@/])[\w:]++)?+b")
    found = [
        path for path in SOURCE.rglob("*.py") if group.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
