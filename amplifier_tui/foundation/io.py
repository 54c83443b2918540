"""Reading and writing files: text with retries, bounded YAML, frontmatter."""

import asyncio
import errno
import logging
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml as pyyaml  # Its own name is taken: `io.yaml` is published as a submodule.

from amplifier_tui.base.files import write_atomic
from amplifier_tui.base.lazy.dataclass import dataclass

_log = logging.getLogger(__name__)

_T = TypeVar("_T")


async def read_with_retry(path: Path, max_retries: int = 3, initial_delay: float = 0.1) -> str:
    """Read a UTF-8 text file, trying again on I/O errors of a drive that is waking up.

    Args:
        path: The file.
        max_retries: Attempts in all.
        initial_delay: Seconds before the second attempt; doubled each time.

    Raises:
        OSError: Any other error at once, `EIO` after the last attempt.
    """
    return await _retrying(
        lambda: path.read_text(encoding="utf-8"), path, max_retries, initial_delay
    )


async def write_with_retry(
    path: Path, content: str, max_retries: int = 3, initial_delay: float = 0.1
) -> None:
    """Write a UTF-8 text file, creating its folder; retries as `read_with_retry` does."""

    def write() -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    await _retrying(write, path, max_retries, initial_delay)


def write_with_backup(
    path: Path, content: str | bytes, mode: str = "w", backup_suffix: str = ".backup"
) -> None:
    """Write a file atomically; the former content is kept beside it.

    Args:
        path: The file.
        content: Text for mode `w`, written as UTF-8; bytes for mode `wb`.
        mode: `w` or `wb`.
        backup_suffix: What the copy's name has more.

    Raises:
        ValueError: Another mode, or no suffix.
        TypeError: The content is not of the mode's kind.
    """
    if mode not in ("w", "wb") or not backup_suffix:
        raise ValueError(f"The mode is 'w' or 'wb', and a backup needs a suffix: {mode!r}")
    if isinstance(content, bytes) is not (mode == "wb"):
        raise TypeError(f"Mode {mode!r} does not write {type(content).__name__}")
    if path.exists():
        write_atomic(path.with_name(path.name + backup_suffix), path.read_bytes(), durable=True)
    write_atomic(path, content, durable=True, links="follow")


async def _retrying(action: Callable[[], _T], path: Path, attempts: int, delay: float) -> _T:
    attempt = 1
    while True:
        try:
            return await asyncio.to_thread(action)
        except OSError as error:
            if error.errno != errno.EIO or attempt >= attempts:
                raise
            _log.warning("I/O error on %s, attempt %d of %d", path, attempt, attempts)
        await asyncio.sleep(delay)
        attempt += 1
        delay *= 2


MAX_CHARACTERS = 2_000_000
"""Longest YAML text that is parsed."""
MAX_DEPTH = 100
"""Deepest nesting; libyaml's composer recurses in C and would crash the process far below."""
MAX_EXPANDED_NODES = 200_000
"""Most nodes a document may have once its aliases are written out (billion laughs)."""

LONGEST_NUMBER = 1_000
"""Characters of a number; one that is far longer can't be written out again."""

_Safe: Any = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)


class _Loader(_Safe):  # type: ignore[misc]
    """Loads plain data alone: who judges a text passes over bytes, sets and pairs, but modules
    take them for texts and lists.
    """

    def construct_yaml_int(self, node: Any) -> int:
        if len(node.value) > LONGEST_NUMBER:
            raise ValueError("the number is too long")
        number: int = super().construct_yaml_int(node)
        return number


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
for _kind in ("binary", "set", "omap", "pairs"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_undefined)
_DEEP_INDENT = re.compile(rf"^[ \t\-?:]{{{MAX_DEPTH // 2},}}", re.MULTILINE)


Keys = tuple[str | int, ...]
"""Path to a value: keys of mappings and indexes of lists."""


class YamlLimitError(pyyaml.YAMLError):
    """The text exceeds a limit that keeps hostile YAML harmless."""


class YamlDocument:
    """One YAML document, which starts on a line of a file, and where in it each value stands."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        self.data, self._root = _load(text)
        self.text, self._first_line = text, first_line

    def line_of(self, keys: Keys) -> int | None:
        """Return the line of the value at a path of keys, as far as it exists; None if empty."""
        node = self._root
        if node is None:
            return None
        line = node.start_mark.line
        for key in keys:
            if isinstance(key, str) and isinstance(node, pyyaml.MappingNode):
                # Of a key that is there twice, YAML takes the last.
                pair = next((pair for pair in reversed(node.value) if pair[0].value == key), None)
                if pair is None:
                    break
                line, node = pair[0].start_mark.line, pair[1]
            elif isinstance(node, pyyaml.SequenceNode) and isinstance(key, int):
                if key >= len(node.value):
                    break
                node = node.value[key]
                line = node.start_mark.line
            else:
                break
        return int(line) + self._first_line

    def repeated_keys(self) -> list[tuple[str, int]]:
        """Return every key that a mapping has twice, with the line; the last one counts."""
        loader, node = _compose(self.text)  # anew: parsing changed the nodes of merged mappings
        loader.dispose()
        found: list[tuple[str, int]] = []
        pending, seen = [node], set[int]()
        while pending:
            node = pending.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, pyyaml.SequenceNode):
                pending.extend(node.value)
            elif isinstance(node, pyyaml.MappingNode):
                keys = set[str]()
                for key, value in node.value:
                    if isinstance(key, pyyaml.ScalarNode) and key.value != "<<":
                        if key.value in keys:
                            found.append((key.value, key.start_mark.line + self._first_line))
                        keys.add(key.value)
                    pending.append(value)
        return sorted(found, key=lambda item: item[1])


def load_yaml(text: str) -> Any:
    """Parse one YAML document into mappings, lists and scalars; None if it is empty.

    Raises:
        yaml.YAMLError: Not YAML, or beyond the limits of this module. Bad dates and numbers,
            which PyYAML reports as `ValueError`, are raised as this too.
    """
    return _load(text)[0]


def compose_yaml(text: str) -> Any:
    """Return the root node of one YAML document; None if it is empty.

    For what needs the places of values, or must not have anything built of aliases.

    Raises:
        yaml.YAMLError: Not YAML, or beyond the limits of this module.
    """
    try:
        loader, node = _compose(text)
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        raise pyyaml.MarkedYAMLError(problem=str(error)) from error
    loader.dispose()
    return node


def unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return what to say of a file that can't be read, without its path, and what to do."""
    reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or error
    return (
        f"Cannot be read: {reason}; nothing in it counts. "
        "Put a text file that you can read in its place, or remove it"
    )


def yaml_problem(error: pyyaml.YAMLError, text: str, first_line: int = 1) -> tuple[str, int | None]:
    """Return a YAML error's sentence and the line of the file it points at, if it points at one.

    `text` starts on `first_line` of the file.
    """
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    context = getattr(error, "context", None)
    sentence = f"{context}: {problem}" if context else str(problem)
    if not problem:
        sentence = str(error).partition("\n")[0]
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        # Of a character that no YAML has, only its offset is told: with libyaml in bytes.
        offset = getattr(error, "position", None)
        before = text.encode()[:offset] if isinstance(offset, int) else None
        return sentence, None if before is None else before.count(b"\n") + first_line
    lines = text.splitlines() or [""]
    # What is missing at the end is reported on the line after the last.
    number = min(int(mark.line), len(lines) - 1)
    if lines[number][mark.column :].startswith("\t") and "tab" not in sentence:
        # An editor shows it as the spaces that belong there.
        sentence += ": it is a tab, and YAML is indented with spaces"
    return sentence, number + first_line


async def read_yaml(path: Path) -> Any:
    """Read a YAML file off the loop; None if it is missing, `{}` if it is empty.

    Raises:
        yaml.YAMLError: The file is not YAML.
        OSError: The file cannot be read.
    """

    def read() -> Any:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return None
        data = load_yaml(text)
        return {} if data is None else data

    return await asyncio.to_thread(read)


async def write_yaml(path: Path, data: dict[str, Any]) -> None:
    """Write a YAML file atomically, keys in the order given, creating its folder."""
    await asyncio.to_thread(write_atomic, path, dump_yaml(data), durable=True, links="follow")


def dump_yaml(data: dict[str, Any]) -> str:
    """Return plain data as YAML text in the order given."""
    text: str = pyyaml.safe_dump(
        data, sort_keys=False, allow_unicode=True, default_flow_style=False
    )
    return text


def _load(text: str) -> tuple[Any, Any]:
    loader = node = None
    try:
        loader, node = _compose(text)
        return (None if node is None else loader.construct_document(node)), node
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        mark = None if node is None else node.start_mark
        raise pyyaml.MarkedYAMLError(problem=str(error), problem_mark=mark) from error
    finally:
        if loader is not None:
            loader.dispose()


def _compose(text: str) -> tuple[Any, Any]:
    if len(text) > MAX_CHARACTERS:
        raise YamlLimitError(f"YAML is longer than {MAX_CHARACTERS:,} characters")
    try:
        if text.count("[") + text.count("{") > MAX_DEPTH or _DEEP_INDENT.search(text):
            _check_depth(text)
        loader = _Loader(text)
        node = loader.get_single_node()
    except UnicodeError as error:
        raise YamlLimitError("the text is not valid Unicode") from error
    if node is not None and "*" in text:
        try:
            _expanded_size(node, {}, set())
        except YamlLimitError:
            loader.dispose()
            raise
    return loader, node


def _check_depth(text: str) -> None:
    depth = 0
    for event in pyyaml.parse(text, Loader=_Loader):
        if isinstance(event, pyyaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlLimitError(f"YAML is nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, pyyaml.CollectionEndEvent):
            depth -= 1


def _expanded_size(node: Any, sizes: dict[int, int], open_nodes: set[int]) -> int:
    key = id(node)
    if key in open_nodes:
        raise YamlLimitError("an alias refers to the value that contains it")
    if key in sizes:
        return sizes[key]
    size = 1
    if isinstance(node, pyyaml.CollectionNode):
        open_nodes.add(key)
        for child in node.value:
            for part in child if isinstance(child, tuple) else (child,):
                size += _expanded_size(part, sizes, open_nodes)
        open_nodes.discard(key)
    if size > MAX_EXPANDED_NODES:
        raise YamlLimitError(f"aliases expand to more than {MAX_EXPANDED_NODES:,} values")
    sizes[key] = size
    return size


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text taken apart: its frontmatter, if any, the file's line that begins on, and the rest."""

    yaml: str | None
    body: str
    yaml_line: int = 2


def split_frontmatter(text: str) -> SplitText:
    r"""Split a text at its frontmatter fences.

    A frontmatter is `---` on the first line (a U+FEFF before it is ignored), at least one more
    line, and a line `---`. Anything else has none, so `---\n---` is a text without frontmatter.
    """
    plain = text.removeprefix("\ufeff")
    lines = plain.split("\n")
    if _is_fence(lines[0]) and len(lines) > 2 and not _is_fence(lines[1]):
        for number in range(2, len(lines)):
            if _is_fence(lines[number]):
                inner = "\n".join(line.removesuffix("\r") for line in lines[1:number])
                return SplitText(inner, "\n".join(lines[number + 1 :]))
    return SplitText(None, text)


_INVISIBLE: Final = f"{string.whitespace}\xa0\u200b\ufeff"
_LIKE_A_FENCE: Final = re.compile(r"(?:[-\u2013\u2014]{2,}|\u2014)(?:\s*#.*)?")
_KEY: Final = re.compile(r"""["']?[A-Za-z_][\w-]*["']?\s*:(?:\s|$)""")


@dataclass(frozen=True, slots=True)
class FrontmatterFault:
    """Why what was meant as a frontmatter is read as text: where, and what to do about it."""

    message: str
    line: int
    remedy: str


def frontmatter_fault(text: str) -> FrontmatterFault | None:
    """Return what keeps a text's frontmatter from being read; None where nobody meant one.

    Read as text, it would restrict nothing that it was written to restrict. A rule above prose is
    no frontmatter.
    """
    if split_frontmatter(text).yaml is not None:
        return None
    lines = [line.strip(_INVISIBLE) for line in text.splitlines()]
    first = next((index for index, line in enumerate(lines) if line), 0)
    if not lines or not _LIKE_A_FENCE.fullmatch(lines[first]):
        return None
    rest = text.removeprefix("\ufeff").split("\n")
    if _is_fence(rest.pop(0)) and any(map(str.strip, rest)) and not any(map(_is_fence, rest)):
        message = "The frontmatter that begins here does not end"
        return FrontmatterFault(message, 1, "Close it with a line of its own that is `---`.")
    inner = (line for line in lines[first + 1 :] if line and not line.startswith("#"))
    if not _KEY.match(next(inner, "")):
        return None
    message = "The frontmatter that begins here is not read as one"
    remedy = "Make its first line, `---`, that of the file, without anything before or after it."
    return FrontmatterFault(message, first + 1, remedy)


def parse_frontmatter(text: str) -> tuple[Any, str]:
    """Return the parsed frontmatter of a Markdown text and the text after it.

    CRLF and a byte order mark are accepted. Without a frontmatter, or with an empty one, it is
    `{}`; otherwise whatever the YAML says, which a bundle requires to be a mapping.

    Raises:
        yaml.YAMLError: The frontmatter is not YAML.
    """
    parts = split_frontmatter(text)
    if parts.yaml is None:
        return {}, parts.body
    data = load_yaml(parts.yaml)
    return ({} if data is None else data), parts.body


def _is_fence(line: str) -> bool:
    return line.startswith("---") and not line[3:].strip()
