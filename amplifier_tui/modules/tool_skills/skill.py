"""One skill: the frontmatter and the instructions of its ``SKILL.md``."""

import re
from pathlib import Path
from typing import Final

from amplifier_tui.base.files import FileTooLargeError, read_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line

SKILL_FILE: Final = "SKILL.md"
MAX_BYTES: Final = 256 * 1024
"""Largest ``SKILL.md`` that is read."""

_MAX_HEAD: Final = 16 * 1024
_MAX_DESCRIPTION: Final = 1_024
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_NAME: Final = 64
_FENCE: Final = "---"


class SkillError(ValueError):
    """A skill can't be used. The message begins with file and line."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as it was when the session opened.

    Attributes:
        folder: Its folder, without links.
        takes: What the words after `/name` are, in a word.
        for_model: Whether the model may load it by itself.
        for_user: Whether there is a `/name`.
        instructions: What follows the frontmatter.
        notes: What is wrong with it and does no harm, each with file and line.
    """

    name: str
    description: str
    folder: Path
    takes: str
    for_model: bool
    for_user: bool
    instructions: str
    notes: tuple[str, ...] = ()


def read_skill(folder: Path) -> Skill:
    """Read the skill in a folder. Blocking.

    Raises:
        SkillError: It can't be used.
    """
    path = folder / SKILL_FILE
    try:
        resolved = folder.resolve()
        if not path.resolve().is_relative_to(resolved):
            raise SkillError(f"{path}:1: the file is a link that leads out of the skill's folder")
        data = read_regular(path, MAX_BYTES)
    except FileTooLargeError as error:
        most = MAX_BYTES // 1024
        raise SkillError(f"{path}:1: larger than {most} KiB; move parts to other files") from error
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SkillError(f"{path}:1: can't be read: {reason}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SkillError(f"{path}:{line}: not UTF-8") from error
    head, instructions = _parts(text.replace("\r\n", "\n"), path)
    return _skill(_Frontmatter(head, path), resolved, instructions)


def _parts(text: str, path: Path) -> tuple[str, str]:
    """Return frontmatter and instructions."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise SkillError(f"{path}:1: no frontmatter: the first line must be `---`")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), 0)
    if not end:
        raise SkillError(f"{path}:1: the frontmatter has no end: a line `---` is missing")
    head = "\n".join(lines[1:end])
    if len(head) > _MAX_HEAD:
        raise SkillError(f"{path}:2: a frontmatter of over {_MAX_HEAD // 1024} KiB")
    return head, "\n".join(lines[end + 1 :]).strip()


class _Frontmatter:
    """The single values of a frontmatter, and the line of each."""

    def __init__(self, text: str, path: Path) -> None:
        import yaml

        self.path = path
        try:
            # Nodes alone: nothing is built of lists, mappings and aliases.
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 2 if error.problem_mark is not None else 2
            said = error.problem or "no YAML"
            hint = "; a value with `: ` in it needs quotes" if "mapping values" in said else ""
            raise SkillError(f"{path}:{line}: {said}{hint}") from error
        except (yaml.YAMLError, RecursionError) as error:
            raise SkillError(f"{path}:2: the frontmatter can't be read: {error}") from error
        if not isinstance(root, yaml.MappingNode):
            raise SkillError(f"{path}:2: the frontmatter is no mapping of keys to values")
        self._values: dict[str, tuple[str, int]] = {}
        for key, value in root.value:
            # As text, others would grow without end by their aliases.
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 2
            text = value.value if isinstance(value, yaml.ScalarNode) else ""
            self._values.setdefault(str(key.value), (text.strip(), line))

    def text(self, key: str) -> str:
        """Return a value; empty where there is none, or a list or mapping."""
        return self._values.get(key, ("", 0))[0]

    def where(self, key: str) -> str:
        """Return file and line of a key."""
        return f"{self.path}:{self._values.get(key, ('', 1))[1]}"

    def flag(self, key: str, default: bool) -> bool:
        """Return a yes or no."""
        text = self.text(key).lower()
        if text not in ("", "true", "false", "yes", "no"):
            raise SkillError(f"{self.where(key)}: `{key}` must be true or false, not {text!r}")
        return text in ("true", "yes") if text else default


def _skill(head: _Frontmatter, folder: Path, instructions: str) -> Skill:
    name, description = head.text("name"), one_line(head.text("description"), MAX_BYTES)
    if not name:
        raise SkillError(f"{head.where('name')}: `name` is missing")
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise SkillError(
            f"{head.where('name')}: `name` must be lower-case letters, digits and single hyphens, "
            f"at most {_MAX_NAME}, not {one_line(name, 80)!r}"
        )
    if not description:
        raise SkillError(f"{head.where('description')}: `description` is missing")
    notes = []
    if name != folder.name:
        notes.append(
            f"{head.where('name')}: the skill is called {name} and its folder "
            f"{one_line(folder.name, 80)}; the format wants one name for both"
        )
    if len(description) > _MAX_DESCRIPTION:
        notes.append(
            f"{head.where('description')}: `description` has {len(description)} characters; "
            f"{_MAX_DESCRIPTION} of them are used"
        )
    return Skill(
        name,
        one_line(description, _MAX_DESCRIPTION),
        folder,
        one_line(head.text("argument-hint"), 40),
        not head.flag("disable-model-invocation", default=False),
        head.flag("user-invocable", default=True),
        instructions,
        tuple(notes),
    )
