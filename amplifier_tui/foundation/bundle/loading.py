"""From a file or folder to a `Bundle`, errors with file, line and remedy (foundation a.1)."""

from pathlib import Path
from typing import Any

import yaml

from amplifier_tui.base.files import read_regular
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.parsing import MalformedSection, parse_bundle
from amplifier_tui.foundation.exceptions import (
    BundleLoadError,
    BundleNotFoundError,
    BundleValidationError,
)
from amplifier_tui.foundation.io import (
    Keys,
    YamlDocument,
    frontmatter_fault,
    split_frontmatter,
    yaml_problem,
)
from amplifier_tui.foundation.paths import BUNDLE_FILES, bundle_file_in, is_there

MAX_BYTES = 8_000_000
"""Largest bundle file that is read."""


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A bundle file, parsed: the YAML of its frontmatter or of the whole, and the Markdown after
    it.

    Markdown without a frontmatter has no document.
    """

    path: Path
    document: YamlDocument | None
    body: str

    @property
    def data(self) -> dict[str, Any]:
        """The mapping in it; `{}` where there is none."""
        return {} if self.document is None else self.document.data or {}

    def line_of(self, keys: Keys) -> int | None:
        """Return the line of the value at a path of keys, as far as it exists."""
        return None if self.document is None else self.document.line_of(keys)

    def bundle(
        self,
        data: dict[str, Any] | None = None,
        mistakes: list[MalformedSection] | None = None,
    ) -> Bundle:
        """Return the bundle it describes, as `load_bundle_path` does.

        Args:
            data: What of the mapping counts; None for all of it.
            mistakes: Gets what has the wrong shape, which is an error otherwise.
        """
        data = self.data if data is None else data
        try:
            bundle = Bundle(**parse_bundle(data, self.path.parent, mistakes))
        except MalformedSection as error:
            raise BundleValidationError(
                error.message, path=self.path, line=self.line_of(error.keys), remedy=error.remedy
            ) from error
        bundle.name = bundle.name or self._agent_name()
        bundle.instruction = self.body.strip() or None
        bundle.source_file = self.path
        return bundle

    def _agent_name(self) -> str:
        """Return the name of an agent whose file this is; empty for any other file.

        A behavior without a name must stay so: it is laid over a bundle that keeps its own.
        """
        meta = self.data.get("meta")
        if self.path.suffix != ".md" or self.path.name in BUNDLE_FILES or "bundle" in self.data:
            return ""
        if isinstance(meta, dict) and isinstance(meta.get("name"), str):
            return str(meta["name"])
        return self.path.stem if isinstance(meta, dict) or self.path.parent.name == "agents" else ""


def load_bundle_path(path: Path) -> Bundle:
    """Read one bundle from a file, or from a folder with `bundle.md` or `bundle.yaml`.

    Raises:
        BundleNotFoundError: There is nothing at `path`.
        BundleLoadError: It cannot be read as a bundle.
        BundleValidationError: A section has the wrong shape.
    """
    return read_bundle_file(path).bundle()


def read_bundle_file(path: Path) -> BundleFile:
    """Read and parse a bundle file; raises what `load_bundle_path` raises."""
    file = _bundle_file(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BundleLoadError(f"The file is larger than {MAX_BYTES:,} bytes", path=file)
        content = read_regular(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BundleLoadError(
            f"Not UTF-8 text: {error.reason} at byte {error.start}",
            path=file,
            remedy="Save the file as UTF-8.",
        ) from error
    except OSError as error:
        raise BundleLoadError(f"Cannot be read: {error.strerror or error}", path=file) from error
    text, body, first_line = content, "", 1
    if file.suffix == ".md":
        parts = split_frontmatter(content)
        if parts.yaml is None:
            if fault := frontmatter_fault(content):
                raise BundleLoadError(
                    fault.message, path=file, line=fault.line, remedy=fault.remedy
                )
            return BundleFile(file, None, parts.body)
        text, body, first_line = parts.yaml, parts.body, parts.yaml_line
    try:
        document = YamlDocument(text, first_line)
    except yaml.YAMLError as error:
        sentence, line = yaml_problem(error, text, first_line)
        raise BundleLoadError(
            f"Not valid YAML: {sentence}",
            path=file,
            line=line,
            remedy="Check indentation, colons and quotes around that line.",
        ) from error
    if not isinstance(document.data, dict | None):
        raise BundleLoadError(
            f"Expected a mapping with 'bundle:', got {type(document.data).__name__}",
            path=file,
            line=first_line,
            remedy="Write keys such as `bundle:` and `tools:` at the start of the line.",
        )
    return BundleFile(file, document, body)


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
