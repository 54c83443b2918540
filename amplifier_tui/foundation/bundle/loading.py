"""From a file or folder to a `Bundle`, errors with file, line and remedy (foundation a.1)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.parsing import Keys, MalformedSection
from amplifier_tui.foundation.exceptions import (
    BundleLoadError,
    BundleNotFoundError,
    BundleValidationError,
)
from amplifier_tui.foundation.io import (
    line_of,
    load_yaml,
    problem_line,
    problem_text,
    split_frontmatter,
)
from amplifier_tui.foundation.paths import bundle_file_in, is_there

MAX_BYTES = 8_000_000
"""Largest bundle file that is read."""


@dataclass(frozen=True, slots=True)
class BundleText:
    """A bundle file's text, taken apart.

    Attributes:
        path: The file.
        yaml: Its frontmatter or whole document; None for Markdown without a frontmatter.
        body: What follows the frontmatter.
        first_line: Line of the file on which `yaml` starts, counted from 1.
    """

    path: Path
    yaml: str | None
    body: str
    first_line: int

    def line_of(self, keys: Keys) -> int | None:
        """Return the line of the value at a path of keys, as far as it exists."""
        return None if self.yaml is None else line_of(self.yaml, keys, self.first_line)


def load_bundle_path(path: Path) -> Bundle:
    """Read one bundle from disk; its includes are left as they are written.

    Args:
        path: A bundle file, or a folder with `bundle.md` or `bundle.yaml`.

    Raises:
        BundleNotFoundError: There is nothing at `path`.
        BundleLoadError: It cannot be read as a bundle.
        BundleValidationError: A section has the wrong shape.
    """
    text = read_bundle_text(path)
    try:
        bundle = Bundle.from_dict(parse_text(text), text.path.parent)
    except MalformedSection as error:
        raise BundleValidationError(
            error.message, path=text.path, line=text.line_of(error.keys), remedy=error.remedy
        ) from error
    bundle.instruction = text.body.strip() or None
    bundle.source_file = text.path
    return bundle


def read_bundle_text(path: Path) -> BundleText:
    """Read a bundle file's text.

    Raises:
        BundleNotFoundError: There is nothing at `path`.
        BundleLoadError: It is no bundle file, or it cannot be read.
    """
    file = _bundle_file(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BundleLoadError(f"The file is larger than {MAX_BYTES:,} bytes", path=file)
        content = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BundleLoadError(
            f"Not UTF-8 text: {error.reason} at byte {error.start}",
            path=file,
            remedy="Save the file as UTF-8.",
        ) from error
    except OSError as error:
        raise BundleLoadError(f"Cannot be read: {error.strerror or error}", path=file) from error
    if file.suffix == ".md":
        parts = split_frontmatter(content)
        return BundleText(file, parts.yaml, parts.body, parts.yaml_line)
    return BundleText(file, content, "", 1)


def parse_text(text: BundleText) -> dict[str, Any]:
    """Parse a bundle file's YAML; `{}` where there is none.

    Raises:
        BundleLoadError: It is not YAML, or no mapping.
    """
    if text.yaml is None:
        return {}
    try:
        data = load_yaml(text.yaml)
    except yaml.YAMLError as error:
        line = problem_line(error, text.yaml)
        raise BundleLoadError(
            f"Not valid YAML: {problem_text(error)}",
            path=text.path,
            line=None if line is None else line + text.first_line,
            remedy="Check indentation, colons and quotes around that line.",
        ) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise BundleLoadError(
            f"Expected a mapping with 'bundle:', got {type(data).__name__}",
            path=text.path,
            line=text.first_line,
            remedy="Write keys such as `bundle:` and `tools:` at the start of the line.",
        )
    return data


def _bundle_file(path: Path) -> Path:
    if path.is_dir():
        file = bundle_file_in(path)
        if file is None:
            raise BundleLoadError(
                f"Not a valid bundle: missing bundle.md or bundle.yaml in {path}",
                remedy="Create one of them, or name the bundle's file.",
            )
        return file
    if not is_there(path):
        raise BundleNotFoundError(f"File not found: {path}")
    if not path.is_file():
        raise BundleLoadError("Not a regular file", path=path)
    if path.suffix not in (".md", ".yaml", ".yml"):
        raise BundleLoadError(
            f"Unknown bundle format: {path}", remedy="A bundle is a .md, .yaml or .yml file."
        )
    return path
