"""How the Amplifier CLI finds and reads a stored session, written from its rules."""

import json
from pathlib import Path
from typing import Any

_URIS = ("git+", "file://", "http://", "https://", "zip+")
_FILES = ("{}/bundle.md", "{}/bundle.yaml", "{}.yaml", "{}.md")


class CliReader:
    """Reads the sessions of a project below a home."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        slug = str(project.resolve()).replace("/", "-")
        self.folder = home / "projects" / slug / "sessions"

    def top_level(self) -> list[str]:
        """Ids of the sessions a user can resume: sub-sessions have an underscore."""
        return sorted(path.name for path in self.folder.iterdir() if "_" not in path.name)

    def children_of(self, session_id: str) -> list[str]:
        found = (path.name for path in self.folder.iterdir() if "_" in path.name)
        return sorted(name for name in found if self.card(name).get("parent_id") == session_id)

    def card(self, session_id: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / session_id / "metadata.json").read_text())
        return found

    def transcript(self, session_id: str) -> list[dict[str, Any]]:
        """Return the messages a session is resumed with: no system's, every result after its call.

        Raises:
            KeyError: A result belongs to no call before it.
        """
        text = (self.folder / session_id / "transcript.jsonl").read_text()
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        calls: dict[str, str] = {}
        for row in rows:
            assert row["role"] in ("user", "assistant", "tool") and isinstance(
                row["timestamp"], str
            )
            for call in row.get("tool_calls") or ():
                assert isinstance(call["arguments"], dict)
                calls[call["id"]] = call["tool"]
            if row["role"] == "tool":
                assert row["content"] is not None and calls.pop(row["tool_call_id"])
        assert not calls, "every call has its result"
        return rows

    def status(self, session_id: str) -> tuple[str, str, int]:
        """Return what its list of sessions says: title, time of creation, turns."""
        card = self.card(session_id)
        assert card["session_id"] == session_id
        return card.get("name", ""), card["created"], card["turn_count"]

    def bundle(self, session_id: str) -> Path | str | None:
        """Return the file of the session's bundle, the URI of one to fetch, None for none."""
        wanted = self.card(session_id)["bundle"].removeprefix("bundle:")
        if not wanted.startswith(_URIS):
            wanted = self._named(wanted)
        if not wanted.startswith("file://"):
            return wanted or None
        place, _, fragment = wanted.removeprefix("file://").partition("#")
        path = Path(place) / fragment.removeprefix("subdirectory=")
        files = (path, path / "bundle.md", path / "bundle.yaml")
        return next((each for each in files if each.is_file()), None)

    def _named(self, name: str) -> str:
        path = self.home / "registry.json"
        registered = json.loads(path.read_text())["bundles"] if path.exists() else {}
        if name in registered:
            uri: str = registered[name]["uri"]
            return uri if "://" in uri else f"file://{uri}"
        for folder in (self.project / ".amplifier" / "bundles", self.home / "bundles"):
            for shape in _FILES:
                if (folder / shape.format(name)).is_file():
                    return f"file://{folder / shape.format(name)}"
        return ""

    def child_to_resume(self, session_id: str) -> dict[str, Any]:
        """Return the mount plan a sub-session is resumed with.

        Raises:
            KeyError: The card does not say who runs, for whom, and with what.
        """
        card = self.card(session_id)
        assert card["session_id"] == session_id and card["agent_name"] and card["parent_id"]
        config: dict[str, Any] = card["config"]
        assert config["session"]["orchestrator"] and config["session"]["context"]
        return config
