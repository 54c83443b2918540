"""What the screen remembers of the user: theme and panes, in one small JSON file."""

import contextlib
import os
from pathlib import Path
from typing import Any

from amplifier_tui.paths import user_config_dir

_PROJECTS = 200


class Preferences:
    """Reads once, writes atomically.

    A broken file is not fatal: it counts as empty, and `error` says so.

    Args:
        path: The file; the default is `preferences.json` of the config directory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else user_config_dir() / "preferences.json"
        self.error = ""
        self._data = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self.error = f"{self.path}: {error}. Defaults are used."
            return {}
        import json

        try:
            data = json.loads(text)
        except ValueError as error:
            self.error = f"{self.path}: {error}. Defaults are used."
            return {}
        if isinstance(data, dict):
            return data
        self.error = f"{self.path}: must hold a JSON object. Defaults are used."
        return {}

    @property
    def theme(self) -> str:
        """Name of the chosen theme, empty when none was chosen."""
        value = self._data.get("theme")
        return value if isinstance(value, str) else ""

    @property
    def palette(self) -> Any:
        """The chosen theme's roles as they were last loaded: the first frame needs no YAML."""
        return self._data.get("palette")

    def set_theme(self, name: str, palette: dict[str, str | bool]) -> None:
        """Remember the theme, with its file's content.

        Raises:
            OSError: The config directory cannot be written.
        """
        if (self._data.get("theme"), self._data.get("palette")) != (name, palette):
            self._change({"theme": name, "palette": palette})

    def panes(self, project: str) -> list[str] | None:
        """Return the panes shown in a project, None when nothing is remembered."""
        projects = self._data.get("panes")
        value = projects.get(project) if isinstance(projects, dict) else None
        return [str(name) for name in value] if isinstance(value, list) else None

    def set_panes(self, project: str, names: list[str]) -> None:
        """Remember which panes a project shows; the oldest projects are forgotten.

        Raises:
            OSError: The config directory cannot be written.
        """
        if self.panes(project) == names:
            return
        projects = self._read().get("panes")
        rows = dict(projects) if isinstance(projects, dict) else {}
        rows.pop(project, None)
        rows[project] = names
        self._change({"panes": dict(list(rows.items())[-_PROJECTS:])})

    def _change(self, values: dict[str, Any]) -> None:
        import json

        # Another program may have written since: only what changed here is put on top.
        self._data = {**self._read(), **values}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(json.dumps(self._data, indent=1) + "\n", "utf-8")
            temporary.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
