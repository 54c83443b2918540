"""YAML frontmatter of Markdown files."""

from dataclasses import dataclass
from typing import Any

from amplifier_tui.foundation.io.yaml import load_yaml


@dataclass(frozen=True, slots=True)
class SplitText:
    """A text taken apart, nothing parsed.

    Attributes:
        yaml: The text between the fences; None without a frontmatter.
        body: What follows.
        yaml_line: Line of the file on which `yaml` starts, counted from 1.
    """

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


def parse_frontmatter(text: str) -> tuple[Any, str]:
    """Parse the frontmatter of a Markdown text.

    Args:
        text: The file's content; CRLF and a byte order mark are accepted.

    Returns:
        The parsed frontmatter (`{}` when there is none or it is empty; whatever the YAML says
        otherwise, which a bundle requires to be a mapping) and the text after it.

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
