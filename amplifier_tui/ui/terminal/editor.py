"""Programs beside this one that show a text: the user's editor and pager."""

import os
import shlex
import tempfile
from pathlib import Path

from amplifier_tui.base.messages.sub_sessions import exit_words
from amplifier_tui.ui.terminal.foreground import run_in_terminal


class EditorError(Exception):
    """The editor could not be used; the message says why and what helps."""


def editor_command() -> list[str]:
    """Return `$VISUAL`, `$EDITOR` or `vi`; raises EditorError where that is no command line."""
    return _command("VISUAL", "EDITOR") or ["vi"]


def edit_text(text: str, suffix: str = ".md") -> str:
    """Open `text` in the editor and return what was saved; the caller has given the terminal back.

    `suffix` ends the file's name, which tells the editor what the text is.

    Raises:
        EditorError: The editor is missing or failed, or what it saved cannot be read.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="amplifier-") as folder:
        path = Path(folder) / f"text{suffix}"
        _show_file(command, path, text, "$EDITOR")
        try:
            return path.read_text("utf-8", errors="replace").rstrip("\n")
        except OSError as error:
            raise EditorError(
                f"What {Path(command[0]).name} saved cannot be read ({error.strerror})."
            ) from error


def page_text(text: str) -> None:
    """Show `text` in `$PAGER`, or `less`; the caller has given the terminal back.

    Raises:
        EditorError: The pager is missing or failed.
    """
    command = _command("PAGER") or ["less"]
    with tempfile.TemporaryDirectory(prefix="amplifier-") as folder:
        _show_file(command, Path(folder) / "text.md", text, "$PAGER")


def _command(*variables: str) -> list[str]:
    """Return the words of the first of these variables that is set."""
    value = next(filter(None, map(os.environ.get, variables)), "")
    try:
        # Words and quotes alone, no shell: nothing in it is expanded or run besides the program.
        return shlex.split(value)
    except ValueError as error:
        raise EditorError(f"${variables[-1]} is not a command line: {error}.") from error


def _show_file(command: list[str], path: Path, text: str, variable: str) -> None:
    path.write_text(text, "utf-8", "surrogatepass")
    try:
        status = run_in_terminal([*command, str(path)])
    except OSError as error:
        raise EditorError(
            f"{command[0]} cannot be started ({error.strerror}); set {variable}."
        ) from error
    if status:
        how = f"ended with status {status}" if status > 0 else exit_words(status)
        raise EditorError(f"{Path(command[0]).name} {how}.")
