"""A user's machine: a home, a project, and the program to be started in it."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amplifier_tui.paths import project_slug
from tests.e2e.terminal import Terminal
from tests.homes import home_variables

Row = dict[str, Any]
_KEPT = ("PATH", "TMPDIR", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")


class Machine:
    """Makes everything the program may read, and nothing else.

    Args:
        root: An empty folder.
    """

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.env: dict[str, str] = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.env |= {
            **home_variables(self.home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
        }
        self._terminals: list[Terminal] = []

    def start(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        through: Sequence[str] = (),
    ) -> Terminal:
        """Start the program in the project's folder.

        Args:
            through: A command that takes the program's as its last arguments.
        """
        terminal = Terminal(
            [*through, sys.executable, "-m", "amplifier_tui", *arguments],
            env={**self.env, **(env or {})},
            cwd=self.project,
            columns=columns,
            rows=rows,
            notes=self.logs(),
        )
        self._terminals.append(terminal)
        return terminal

    def close(self) -> None:
        """End what was started."""
        for terminal in self._terminals:
            terminal.close()

    # --- files -----------------------------------------------------------------------------

    def file(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def bundle(self, name: str, text: str, *, own: bool = True) -> Path:
        """Write a bundle of the project.

        Args:
            own: The user has said that the project's folder is their own, so nothing is asked.
        """
        answers = self.home / ".local/state/amplifier-tui/trust.json"
        if own and not answers.exists():
            answers.parent.mkdir(parents=True, exist_ok=True)
            answers.write_text(json.dumps({"version": 2, "folders": [str(self.project)]}))
        return self.file(f".amplifier/bundles/{name}.md", text)

    def logs(self) -> list[Path]:
        """Return where the program says what went wrong."""
        return [self.home / ".local/state/amplifier-tui/log/amplifier-tui.log"]

    @property
    def sessions(self) -> list[Path]:
        """The folders of the project's sessions, oldest first."""
        folder = self.home / ".amplifier/projects" / project_slug(self.project) / "sessions"
        found = [path for path in folder.glob("*") if path.is_dir()]
        return sorted(found, key=lambda path: path.stat().st_ctime_ns)

    def transcript(self, session: Path) -> list[Row]:
        """Return the stored rows of a session; a torn last line is left out."""
        path = session / "transcript.jsonl"
        if not path.exists():
            return []
        lines = path.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines if line.strip()]


def text_of(row: Row) -> str:
    """Return the words of a row."""
    content = row.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))
