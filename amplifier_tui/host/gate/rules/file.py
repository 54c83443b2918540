"""The files of rules: the user's, with a part for each project, and the project's own.

    allow: ["bash(git status)", "write(src/**)"]
    ask: []
    deny: ["bash(git push)"]
    projects:
      /home/me/shop:
        allow: ["bash(npm run test *)"]

Only the user's has `projects`; the rules of one hold in the git worktrees that are made of it. In
the folders below it in its checkout, and in what may have come to the place of a removed worktree,
those that allow do not.
What can't be read counts as no rules, and is said.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.scanner import ScannerError

from amplifier_tui.base.files import locked, read_regular, write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.repositories.places import folders_above, main_checkout
from amplifier_tui.foundation.io import YamlLimitError, compose_yaml
from amplifier_tui.host.events import Scope
from amplifier_tui.host.gate.modes import VERDICTS, Verdict
from amplifier_tui.host.gate.rules.rewriting import as_data, rewritten
from amplifier_tui.host.gate.rules.text import Rule, RuleError, parse_rule
from amplifier_tui.paths import user_config_dir

_VERSION: Final = 1
_KEYS: Final = (*VERDICTS, "projects", "version")
_MOST_BYTES: Final = 1024 * 1024
ALL_ASKS: Final = "nothing goes unasked, not even reading"
"""What it costs where a rule that denies or asks may be lost, until it is corrected."""


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """What is wrong with a file of rules; line and column from 1, 0 for the whole file.

    `unread`: none of its rules counts. `restricts`: a rule that denies or asks may be lost with it.
    `rule`: one that counts, though it may never hold.
    """

    path: Path
    message: str
    line: int = 0
    column: int = 0
    unread: bool = False
    restricts: bool = False
    rule: Rule | None = None

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        return f"{self.path}{place}: {self.message}"

    @property
    def remedy(self) -> str:
        """What the user can do, and what it costs until then, as a sentence."""
        correct = "Correct it, or move it away" if self.unread else "Correct that place"
        cost = f"; until then {ALL_ASKS}" if self.restricts else ""
        return f"{correct}{cost}."

    @property
    def told(self) -> str:
        """The problem in sentences, with its remedy where a rule that restricts may be lost."""
        return f"{str(self).rstrip('.')}. {self.remedy}" if self.restricts else str(self)


class RulesFileError(ValueError):
    """A file of rules can't be changed as it is."""


class RuleFiles:
    """The files of rules that hold in a project, read again when they change.

    Of a file that can't be read any more, wholly or in part, what it denied and asked about holds
    on.

    Args:
        project: Its folder.
        trusted: The texts of those of the project's own rules that may allow.
        told: Told what is wrong with them, whenever they were read.
    """

    def __init__(
        self,
        project: Path,
        trusted: Collection[str],
        told: Callable[[tuple[RuleProblem, ...]], None],
    ) -> None:
        self._project = project
        self._trusted = trusted
        self._told = told
        self._stamps: list[tuple[int, ...]] = []
        self._known: dict[Path, tuple[Rule, ...]] = {}

    def read(self) -> tuple[Rule, ...] | None:
        """Return the rules; None when the files are as they were the last time."""
        paths = {user_rules_path(): self._project, project_rules_path(self._project): None}
        stamps = [_stamp(path) for path in paths]
        if stamps == self._stamps:
            return None
        self._stamps = stamps
        problems: list[RuleProblem] = []
        for path, project in paths.items():
            rules, wrong = read_rules(path, project)
            if project is None:
                rules = tuple(rule for rule in rules if _counts(rule, self._trusted))
            if any(problem.restricts for problem in wrong):
                read = {(rule.verdict, str(rule), rule.root) for rule in rules}
                known = (rule for rule in self._known.get(path, ()) if rule.verdict != "allow")
                rules += tuple(r for r in known if (r.verdict, str(r), r.root) not in read)
            self._known[path] = rules
            problems += (*wrong, *_doubts(path, rules))
        self._told(tuple(problems))
        return tuple(rule for path in paths for rule in self._known[path])


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError as error:
        return (error.errno or 0,)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _counts(rule: Rule, trusted: Collection[str]) -> bool:
    return rule.verdict != "allow" or str(rule) in trusted


def user_rules_path() -> Path:
    """Return where the user's rules are."""
    return user_config_dir() / "rules.yaml"


def project_rules_path(project: Path) -> Path:
    """Return where a project's rules are."""
    return project / ".amplifier" / "rules.yaml"


def load_rules(
    project: Path, *, trusted: Collection[str] = ()
) -> tuple[tuple[Rule, ...], tuple[RuleProblem, ...]]:
    """Return the rules that hold in a project, and what is wrong with their files.

    Args:
        project: Its folder.
        trusted: The texts of those of the project's own rules that may allow.
    """
    mine, problems = read_rules(user_rules_path(), project)
    found, more = read_rules(project_rules_path(project), None)
    theirs = tuple(rule for rule in found if _counts(rule, trusted))
    doubts = (_doubts(user_rules_path(), mine), _doubts(project_rules_path(project), theirs))
    return (*mine, *theirs), (*problems, *more, *chain.from_iterable(doubts))


def _doubts(path: Path, rules: Iterable[Rule]) -> Iterator[RuleProblem]:
    for rule in rules:
        if why := rule.doubt():
            line = int(rule.origin.rpartition(":")[2] or 0)
            yield RuleProblem(path, f"{rule}: {why}", line, 1, rule=rule)


def read_rules(
    path: Path, project: Path | None
) -> tuple[tuple[Rule, ...], tuple[RuleProblem, ...]]:
    """Return the rules of one file, and what is wrong with it.

    Args:
        project: Whose part counts beside the rules for all; None for a project's own file, which
            has no parts.
    """
    problems: list[RuleProblem] = []
    try:
        root = _node(_text(path, links=project is not None))
    except (OSError, ValueError) as error:
        problem = f"{_why(error)}. None of its rules counts."
        return (), (RuleProblem(path, problem, *_where(error), unread=True, restricts=True),)
    rules: list[Rule] = []
    for key, node in _items(root, path, problems):
        name = str(key.value)
        if name in VERDICTS:
            scope: Scope = "project" if project is None else "always"
            rules += _rules(path, node, name, scope, problems)
        elif name == "projects" and project is not None:
            holding, restricting = set(map(_real, _holding(project))), _restricting(project)
            for folder, part in _items(node, path, problems):
                kept = _real(str(folder.value))
                if kept not in holding and kept not in restricting:
                    continue
                holds, root = kept in holding, restricting.get(kept)
                for verdict, listed in _items(part, path, problems):
                    read = _rules(path, listed, str(verdict.value), "project", problems, root)
                    rules += (rule for rule in read if holds or rule.verdict != "allow")
        elif name == "version":
            if str(node.value) != str(_VERSION):
                problem = f"it is of a newer version ({node.value}). None of its rules counts."
                return (), (RuleProblem(path, problem, *_place(node), True, True),)
        else:
            problems.append(_lost(path, f"`{name}` is unknown here", key))
    return tuple(rules), tuple(problems)


def _text(path: Path, links: bool = True) -> str:
    try:
        if not links and path.is_symlink():
            raise ValueError("it is a link")
        return read_regular(path, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ValueError("it is no text") from error


def _node(text: str) -> Any:
    try:
        return compose_yaml(text)
    except YamlLimitError as error:
        raise ValueError(str(error)) from error
    except yaml.YAMLError as error:
        raise ValueError("it is no YAML") from error


def _where(error: Exception) -> tuple[int, int]:
    """Return line and column where a text stops being YAML; 0 where that is not known."""
    cause = error.__cause__
    # What is not closed is noticed at the end of the file: the place where it opens says more.
    began = cause.context_mark if isinstance(cause, ScannerError) else None
    mark = began or getattr(cause, "problem_mark", None)
    return (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it can't be read ({error.strerror or error})"
    return str(error)


def _items(node: Any, path: Path, problems: list[RuleProblem]) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, yaml.MappingNode):
        names: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problems.append(_lost(path, "a name belongs here", key))
                continue
            if key.value in names:
                # A change would keep one of them only.
                problems.append(RuleProblem(path, f"`{key.value}` is here twice", *_place(key)))
            names.add(key.value)
            yield key, value
    elif node is not None and not _empty(node):
        problems.append(_lost(path, "a mapping belongs here", node))


def _lost(path: Path, message: str, node: Any) -> RuleProblem:
    """Return a problem for which nobody knows what rules are lost."""
    return RuleProblem(path, message, *_place(node), restricts=True)


def _empty(node: Any) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _rules(
    path: Path,
    node: Any,
    verdict: str,
    scope: Scope,
    problems: list[RuleProblem],
    root: Path | None = None,
) -> Iterator[Rule]:
    known = next((each for each in VERDICTS if each == verdict), None)
    if known is None or not isinstance(node, yaml.SequenceNode):
        if known is None:
            problems.append(_lost(path, f"`{verdict}` is unknown here", node))
        elif not _empty(node):
            problems.append(_lost(path, "a list of rules belongs here", node))
        return
    for item in node.value:
        line, column = _place(item)
        try:
            if not isinstance(item, yaml.ScalarNode):
                raise RuleError("a rule is a text", 1)
            origin = f"{path}:{line}"
            yield parse_rule(str(item.value), known, scope=scope, origin=origin, root=root)
        except RuleError as error:
            quoted = 1 if getattr(item, "style", None) else 0
            at = column + quoted + error.column - 1
            said = f"{error}. The rule does not count."
            problems.append(RuleProblem(path, said, line, at, restricts=known != "allow"))


def _place(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _holding(project: Path) -> tuple[Path, ...]:
    """Return the folders whose rules hold in a project, that for which new ones are kept first.

    A worktree may be removed any day: what is decided in it is kept for what it was made of.
    """
    return tuple(dict.fromkeys((main_checkout(project), project)))


def _restricting(project: Path) -> dict[str, Path | None]:
    """Return the folders of whose rules those that deny or ask hold in a project.

    Returns:
        With each the `root` of its rules.
    """
    found: dict[str, Path | None] = {}
    for above in folders_above(project):
        found |= dict.fromkeys(map(_real, (above, main_checkout(above, surely=False))), above)
    return found | dict.fromkeys(map(_real, (project, main_checkout(project, surely=False))))


def not_counting(project: Path) -> Iterator[str]:
    """Say of each project above one which of the user's rules for it do not count in this one."""
    for above in folders_above(project):
        rules, _ = read_rules(user_rules_path(), above)
        count = sum(rule.verdict == "allow" and rule.scope == "project" for rule in rules)
        if count:
            yield f"Rules for {above} that allow do not count in this folder ({count})."


def kept_for(project: Path) -> str:
    """Return for what the new rules of a worktree are kept, in words; empty for another folder."""
    kept = _holding(project)[0]
    return f"for {kept}, of which this is a worktree" if kept != project else ""


def _real(written: str | Path) -> str:
    # No path has a NUL in it.
    return os.path.realpath(os.path.expanduser(str(written).replace("\0", "")))


def add_rules(path: Path, rules: tuple[Rule, ...], project: Path | None = None) -> None:
    """Write rules down; those that are there already stay as they are.

    Args:
        path: The file.
        project: For which project, in the user's file, or a worktree of it; None for all.

    Raises:
        RulesFileError: One of them is no rule when it is read again, or the file is not in order,
            and would lose what is in it.
        OSError: It can't be written.
    """
    for rule in rules:
        try:
            parse_rule(str(rule), rule.verdict)
        except RuleError as error:
            raise RulesFileError(f"`{rule}` could not be read again: {error}.") from error

    def put(lists: dict[str, Any]) -> None:
        for rule in rules:
            listed = lists.get(rule.verdict) or []
            if str(rule) not in listed:
                lists[rule.verdict] = [*listed, str(rule)]

    _change(path, None if project is None else _holding(project)[0], put)


def remove_rule(
    path: Path, text: str, project: Path | None = None, verdict: Verdict | None = None
) -> bool:
    """Take a rule out of a file; see `add_rules`.

    Args:
        verdict: Only where it has this one; None for any.

    Returns:
        Whether it was there.
    """
    found: list[str] = []

    def take(lists: dict[str, Any]) -> None:
        for name in VERDICTS if verdict is None else (verdict,):
            listed = lists.get(name) or []
            # It may be written in another way than it is shown.
            left = [each for each in listed if str(parse_rule(str(each))) != text]
            if len(left) < len(listed):
                found.append(name)
                lists[name] = left

    for part in (None,) if project is None else _holding(project):
        _change(path, part, take)
    return bool(found)


def _change(path: Path, project: Path | None, change: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        _, problems = read_rules(path, project or Path("/"))
        if problems:
            said = str(problems[0]).rstrip(".")
            raise RulesFileError(f"{said}. Correct it first, or move the file away.")
        text = _text(path)
        try:
            data = as_data(_node(text)) or {}
        except ValueError as error:
            raise RulesFileError(f"{path}: {error}. Correct it first.") from error
        lists = data
        if project is not None:
            parts = data["projects"] = data.get("projects") or {}
            name = next(
                (each for each in parts if _real(str(each)) == _real(project)), str(project)
            )
            lists = parts[name] = parts.get(name) or {}
        change(lists)
        changed = rewritten(text, data)
        if changed != text:
            write_atomic(path, changed.encode(), links="follow")
