"""The working folder and the variables that calls leave to later ones, when asked to.

What is kept is written into a call before anybody judges it: the folder as ``cwd``, each variable
as an ``export`` in front of the command. So rules, modes and the user see what really runs.
"""

import os
import re
import secrets
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.commands.programs import find_program
from amplifier_tui.base.files import open_regular
from amplifier_tui.base.files.scratch import ScratchFolder
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.messages.tool_calls import FOLDER_KEYS, first_text
from amplifier_tui.base.secrets import (
    ASSIGNMENTS,
    SECRETS,
    find_secrets,
    is_secret_variable,
    secret_values,
)
from amplifier_tui.base.watcher import RUN_VARIABLE
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules._shared.places import require_folder
from amplifier_tui.modules._shared.session_paths import working_dir
from amplifier_tui.modules._shared.tool import ToolProblem

PERSIST: Final = "persist"
"""The argument of a call that asks for it."""

_SHELLS: Final = frozenset({"bash", "sh", "dash", "ksh", "zsh"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_SHELLS: Final = frozenset({"PWD", "OLDPWD", "SHLVL", "_", RUN_VARIABLE})
_MOST_VARIABLES: Final = 50
_MOST_TEXT: Final = 4_000
"""Characters of all that is kept; it stands in front of every command."""
_MOST_READ: Final = 1_000_000
_INVALID: Final = "invalid_arguments"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What one call left.

    Attributes:
        folder: Where it ended, absolute; None for the workspace.
        variables: Those it changed; None for one it took away.
    """

    folder: Path | None = None
    variables: Mapping[str, str | None] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Yield the commands that set the variables."""
        for name, value in self.variables.items():
            yield f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"

    def words(self) -> str:
        """Return it for the model."""
        folder = "the workspace" if self.folder is None else str(self.folder)
        names = ", ".join(self.variables)
        return f"folder {folder}" + (f"; variables {names}" if names else "")


class Keeping:
    """Keeps folder and variables of one session's calls.

    Args:
        coordinator: Says where the workspace is.
        shell: Path of the shell that runs the commands.
        folder: The workspace where the coordinator does not say it.
        always: Whether calls keep unless they say otherwise.
    """

    def __init__(
        self, coordinator: Any, shell: str, folder: str | None, *, always: bool = False
    ) -> None:
        self._coordinator = coordinator
        self._folder = folder
        self._always = always
        self._env = find_program("env") if Path(shell).name in _SHELLS else None
        self._kept = _Kept()
        self._scratch: ScratchFolder | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the argument."""
        usual = "Default true" if self._always else "Default false"
        return {
            "type": "boolean",
            "description": (
                "Begin in the folder and with the exported variables that the last such call ended "
                f"with, and leave them to the next. {usual}."
            ),
        }

    def asked(self, given: Mapping[str, Any]) -> bool:
        """Whether a call wants it.

        Raises:
            ToolProblem: It can't be told, or it is not possible here.
        """
        wanted = given.get(PERSIST)
        if wanted is not None and not isinstance(wanted, bool):
            raise ToolProblem(f"`{PERSIST}` must be true or false, not {wanted!r}.", _INVALID)
        if wanted and self._env is None:
            raise ToolProblem(f"`{PERSIST}` is not possible with this shell.", _INVALID)
        return self._env is not None and (self._always if wanted is None else wanted)

    def workspace(self) -> Path:
        """Return the folder the session works in."""
        return working_dir(self._coordinator, self._folder)

    def folder(self, given: Mapping[str, Any]) -> Path:
        """Return where a call runs.

        Raises:
            ToolProblem: There is no such folder, or the workspace is gone.
        """
        workspace, written = self.workspace(), first_text(given, FOLDER_KEYS)
        require_folder(workspace)
        if not written:
            return workspace
        try:
            # As whoever judged the call found it.
            folder = (workspace / os.path.expanduser(written)).resolve()
            if folder.is_dir():
                return folder
        except (ValueError, OSError, RuntimeError) as error:
            raise ToolProblem(f"`cwd` can't be used: {error}.", _INVALID) from error
        if folder == self._kept.folder:
            self._kept = _Kept(None, self._kept.variables)
            raise ToolProblem(
                f"{folder}, where the last call ended, is gone. The next one begins in the "
                "workspace.",
                "no_folder",
            )
        raise ToolProblem(f"There is no folder {folder}.", "no_folder")

    async def write_in(self, event: str, data: dict[str, Any]) -> HookResult:
        """``tool:pre``: write what is kept into a call that wants it."""
        given = data.get("tool_input")
        if data.get("tool_name") != "bash" or not isinstance(given, dict):
            return HookResult(action="continue")
        command = given.get("command")
        try:
            if not isinstance(command, str) or not command.strip() or not self.asked(given):
                return HookResult(action="continue")
        except ToolProblem:
            # The call itself says so.
            return HookResult(action="continue")
        # A call that is judged anew has it already.
        before = "".join(f"{line}; " for line in self._kept.lines())
        more = {} if command.startswith(before) else {"command": before + command}
        if self._kept.folder is not None and not first_text(given, FOLDER_KEYS):
            more["cwd"] = self._shown(self._kept.folder)
        if not more:
            return HookResult(action="continue")
        return HookResult(action="modify", data={**data, "tool_input": {**given, **more}})

    def _shown(self, folder: Path) -> str:
        workspace = self.workspace().resolve()
        if not folder.is_relative_to(workspace):
            return str(folder)
        inside = str(folder.relative_to(workspace))
        return f"./{inside}" if inside.startswith("~") or not inside.strip() else inside

    def place(self, scratch: Path | None) -> Path:
        """Return a file in which a command may say what it leaves. Blocking.

        Args:
            scratch: The folder of the sandbox it runs in, if it does.
        """
        if scratch is None:
            if self._scratch is None:
                self._scratch = ScratchFolder()
            scratch = self._scratch.path
        return scratch / f"kept-{secrets.token_hex(16)}"

    def telling(self, command: str, place: Path) -> str:
        """Return a command that says what it leaves, at its end."""
        tell = f"{{ command pwd -P; printf '\\0'; {self._env} -0; }} >| {shlex.quote(str(place))}"
        return f"trap {shlex.quote(tell)} EXIT; {command}"

    def take(self, place: Path, environment: Mapping[str, str]) -> list[str]:
        """Take up what a command has left, and return notes for the model. Blocking.

        Args:
            place: The file it was told in; it is removed.
            environment: The variables the command began with.
        """
        try:
            # The command may have put anything in its place.
            with open_regular(place, follow_links=False) as file:
                said = file.read(_MOST_READ)
            place.unlink()
        except OSError:
            said = b""
        # Of what is cut, the rest would seem to be gone.
        if len(said) == _MOST_READ or not said.endswith(b"\0"):
            return ["What this command left is not known: earlier folder and variables stay."]
        # A line's end behind the folder, a NUL behind each variable.
        pieces = said.decode("utf-8", "surrogateescape").split("\0")
        found = dict(piece.partition("=")[::2] for piece in pieces[1:] if "=" in piece)
        kept, not_kept = self._told(Path(pieces[0].removesuffix("\n")), found, environment)
        notes = [f"Not kept: {', '.join(not_kept)}."] if not_kept else []
        if kept != self._kept:
            notes.insert(0, f"Kept for the next call: {kept.words()}.")
        self._kept = kept
        return notes

    def _told(
        self, folder: Path, found: Mapping[str, str], before: Mapping[str, str]
    ) -> tuple[_Kept, list[str]]:
        variables: dict[str, str | None] = {}
        not_kept: list[str] = []
        held = tuple(secret_values(os.environ))
        room = _MOST_TEXT
        for name in sorted({**found, **before}):
            value = found.get(name)
            if value == before.get(name) or name in _OF_SHELLS or not _NAME.fullmatch(name):
                continue
            text = value or ""
            room -= len(name) + len(text)
            if is_secret_variable(name) or _holds_secret(f"{name}={text}", held):
                not_kept.append(f"{name} (it may be a secret)")
            elif not text.replace("\n", "").replace("\t", "").isprintable():
                not_kept.append(f"{name} (it is no plain text)")
            elif room < 0 or len(variables) == _MOST_VARIABLES:
                not_kept.append(f"{name} (there is no room)")
            else:
                variables[name] = value
        if folder == self.workspace().resolve():
            return _Kept(None, variables), not_kept
        if not folder.is_absolute() or not str(folder).isprintable():
            not_kept.insert(0, "the folder (its name is no plain text)")
            return _Kept(self._kept.folder, variables), not_kept
        return _Kept(folder, variables), not_kept

    def close(self) -> None:
        """Remove what belongs to it on disk. Blocking."""
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.remove()


def _holds_secret(text: str, values: Iterable[str]) -> bool:
    return bool(find_secrets(text, (SECRETS, ASSIGNMENTS))) or any(v in text for v in values)
