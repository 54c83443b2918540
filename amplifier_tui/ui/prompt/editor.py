"""Writing the prompt in the user's own editor."""

import os
import subprocess
import tempfile
from pathlib import Path

from amplifier_tui.base.commands import command_words


class EditorError(Exception):
    """The editor could not be used; the message says why and what helps."""


def editor_command() -> list[str]:
    """Return the user's editor: `$VISUAL`, `$EDITOR`, else `vi`.

    Raises:
        EditorError: The variable is not a command line.
    """
    value = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        command = command_words(value)
    except ValueError as error:
        raise EditorError(f"$EDITOR is not a command line: {error}") from error
    return command or ["vi"]


def edit_text(text: str) -> str:
    """Open `text` in the editor and return what was saved. Blocks until the editor ends.

    The caller has given the terminal back first.

    Raises:
        EditorError: The editor is missing or failed; the text is unchanged.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="amplifier-prompt-") as folder:
        path = Path(folder) / "prompt.md"
        path.write_text(text, "utf-8")
        try:
            status = subprocess.run([*command, str(path)], check=False).returncode
        except OSError as error:
            raise EditorError(
                f"{command[0]} cannot be started ({error.strerror}); set $EDITOR."
            ) from error
        if status:
            raise EditorError(f"{command[0]} ended with status {status}; the draft is unchanged.")
        return path.read_text("utf-8", errors="replace").rstrip("\n")
