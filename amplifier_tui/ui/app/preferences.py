"""What the screen remembers of the user: theme and panes, in one small JSON file."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_tui.paths import user_config_dir

if TYPE_CHECKING:
    from amplifier_tui.host.client import ModelChoice
    from amplifier_tui.ui.terminal.notifying import Manner

_PROJECTS = 200
_PATIENCE = 5.0
"""Seconds to wait for another window that is writing."""


class Preferences:
    """Reads once; a change is put on top of what the file says then: other windows write too.

    A change waits while another one does: make it in a thread. A broken file counts as empty, and
    `error` says so; a change keeps it as `preferences.json.broken`. `path` is `preferences.json` of
    the config directory by default.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else user_config_dir() / "preferences.json"
        self.error = ""
        self._data = self._read()

    @property
    def theme(self) -> str:
        """Name of the chosen theme, empty when none was chosen."""
        value = self._data.get("theme")
        return value if isinstance(value, str) else ""

    @property
    def palette(self) -> Any:
        """The chosen theme's roles as they were last loaded: the first frame needs no YAML."""
        return self._data.get("palette")

    def set_theme(self, name: str, palette: Mapping[str, object] | None) -> None:
        """Remember the theme with its colours, or, with an empty name, that none is chosen.

        Raises:
            OSError: The file can't be written.
        """
        self._change(lambda data: data.update(theme=name, palette=palette))

    @property
    def fitting(self) -> Any:
        """The roles of the theme that fitted the terminal last."""
        return self._data.get("fitting")

    def set_fitting(self, palette: Mapping[str, object]) -> None:
        """Remember which theme fits the terminal; raises as `set_theme`."""
        self._change(lambda data: data.update(fitting=palette))

    def panes(self, project: str) -> list[str] | None:
        """Return the panes shown in a project, None when nothing is remembered."""
        value = _table(self._data, "panes").get(project)
        return [str(name) for name in value] if isinstance(value, list) else None

    def set_panes(self, project: str, names: list[str]) -> None:
        """Remember which panes a project shows; raises as `set_theme`. The oldest are forgotten."""

        def change(data: dict[str, Any]) -> None:
            rows = _table(data, "panes")
            if rows.get(project) != names:
                rows.pop(project, None)
                rows[project] = names
                data["panes"] = dict(list(rows.items())[-_PROJECTS:])

        self._change(change)

    @property
    def models(self) -> "dict[str, ModelChoice]":
        """The models the user chose, by bundle."""
        from dataclasses import asdict

        from amplifier_tui.host.client import ModelChoice

        none = asdict(ModelChoice())
        return {
            bundle: ModelChoice(**chosen)
            for bundle, chosen in _table(self._data, "models").items()
            if isinstance(chosen, dict) and _fits(chosen, none)
        }

    def set_model(self, bundle: str, chosen: Mapping[str, str | int]) -> None:
        """Remember a bundle's model, by the fields of a `ModelChoice`; raises as `set_theme`."""

        def change(data: dict[str, Any]) -> None:
            rows = _table(data, "models")
            rows.pop(bundle, None)
            data["models"] = {**rows, bundle: dict(chosen)} if chosen else rows

        self._change(change)

    @property
    def favourites(self) -> list[str]:
        """The user's favourite models, as `PROVIDER/MODEL`."""
        return _texts(self._data, "favourite_models")

    def set_favourites(self, keys: Iterable[str]) -> None:
        """Remember the favourite models; raises as `set_theme`."""
        self._change(lambda data: data.update(favourite_models=sorted(keys)))

    @property
    def motion(self) -> str:
        """How much may move: `full`, `reduced`, or empty for what the line can take."""
        value = self._data.get("motion")
        return value if value in ("full", "reduced") else ""

    def set_motion(self, motion: str) -> None:
        """Remember how much may move; raises as `set_theme`."""
        self._change(lambda data: data.update(motion=motion))

    @property
    def images(self) -> str:
        """How images are shown: `auto`, which is drawn where that is possible, or `text`."""
        return "text" if self._data.get("images") == "text" else "auto"

    def set_images(self, wanted: str) -> None:
        """Remember how images are shown; raises as `set_theme`."""
        self._change(lambda data: data.update(images=wanted))

    def was_told_of_newlines(self, terminal: str) -> bool:
        """Whether the user was told in this terminal which key begins a new line."""
        return terminal in _texts(self._data, "newline_told")

    def set_told_of_newlines(self, terminal: str) -> None:
        """Remember that the user was told; raises as `set_theme`."""
        self._change(
            lambda data: data.update(newline_told=[*_texts(data, "newline_told"), terminal])
        )

    @property
    def notify(self) -> "Manner":
        """How the terminal tells a user who looks elsewhere."""
        value = self._data.get("notify")
        return "bell" if value == "bell" else "off" if value == "off" else "auto"

    def set_notify(self, manner: str) -> None:
        """Remember how the terminal tells the user; raises as `set_theme`."""
        self._change(lambda data: data.update(notify=manner))

    @property
    def notify_command(self) -> list[str]:
        """The user's own command that is told too, as words; empty for none."""
        return _texts(self._data, "notify_command")

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {}
        from amplifier_tui.base.jsonl import read_object

        try:
            return read_object(self.path)
        except (OSError, ValueError) as error:
            self.error = f"{self.path}: {error}. Defaults are used."
            return {}

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        from amplifier_tui.base.files import locked
        from amplifier_tui.base.jsonl import write_object

        with locked(self.path, _PATIENCE):
            self.error = ""
            before = self._read()
            if self.error and self.path.is_file():
                # The user may have written in it: it is kept beside.
                self.path.replace(f"{self.path}.broken")
            self._data = dict(before)
            change(self._data)
            if self._data != before:
                write_object(self.path, self._data)


def _fits(values: Mapping[str, object], known: Mapping[str, object]) -> bool:
    return all(name in known and type(known[name]) is type(values[name]) for name in values)


def _texts(data: dict[str, Any], key: str) -> list[str]:
    value = data.get(key)
    return [str(text) for text in value] if isinstance(value, list) else []


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return dict(value) if isinstance(value, dict) else {}
