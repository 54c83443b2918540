"""The checkpoints of a session: what hooks note, and what capabilities answer."""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.capabilities.client_files import CAPABILITY as CLIENT_FILES
from amplifier_tui.base.git import git_place_now
from amplifier_tui.base.messages.tool_calls import in_background
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel.models import HookResult
from amplifier_tui.modules._shared.client_text import load_unsaved
from amplifier_tui.modules._shared.session_paths import session_folder, state_place, working_dir
from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.hooks_checkpoint.calls import CheckpointSettings, command_of
from amplifier_tui.modules.hooks_checkpoint.commands import WorkspaceFiles, WorkspaceLook
from amplifier_tui.modules.hooks_checkpoint.going_back import (
    FileReturn,
    chains,
    described,
    git_moved,
    restore,
    returns,
    standing,
    turn_described,
)
from amplifier_tui.modules.hooks_checkpoint.states import same, state
from amplifier_tui.modules.hooks_checkpoint.store import ChangedTurn, CopyStore, inside

logger = logging.getLogger(__name__)

STORE_CAPABILITY: Final = "checkpoint.store"
_CONTINUE: Final = HookResult(action="continue")
_PROMPT: Final = 200


def _chosen_folder(coordinator: Any, settings: CheckpointSettings) -> Path | None:
    if settings.folder is None:
        return None
    text = os.path.join(settings.folder, "{session_id}")
    return state_place(text, coordinator, module=settings.module, setting="folder")


class Checkpoints:
    """The checkpoints of a session.

    Raises:
        SettingsError: `folder` leads to where no copies belong.
    """

    def __init__(self, coordinator: Any, settings: CheckpointSettings) -> None:
        self._coordinator = coordinator
        self._settings = settings
        # Now, so that a folder that is refused refuses the module.
        self._chosen = _chosen_folder(coordinator, settings)
        self._lock = asyncio.Lock()
        self._store: CopyStore | None = None
        self._compared: WorkspaceFiles | None = None
        self._turn: ChangedTurn | None = None
        self._number = 0
        self._prompt = ""
        self._told = False
        self._warning: asyncio.Task[None] | None = None
        self._changing: Counter[Path] = Counter()
        self._calls: dict[str, list[Path]] = {}
        self._looks: dict[str, WorkspaceLook] = {}
        self._denied: set[str] = set()

    # --- handlers --------------------------------------------------------------------------

    async def turn_begins(self, event: str, data: dict[str, Any]) -> HookResult:
        """`execution:start`: a turn begins; it is noted with the first file that changes."""
        if self._owner is self:
            self._turn = None
            self._changing.clear()
            self._calls.clear()
            self._end_looks()
            self._denied.clear()
            if self._settings.compare_commands and self._warning is None:
                # Beside the first request: git may take its time.
                self._warning = asyncio.get_running_loop().create_task(self._warn())
            self._number = await self._count_prompts() + 1
            self._prompt = " ".join(str(data.get("prompt") or "").split())[:_PROMPT]
        return _CONTINUE

    async def before(self, event: str, data: dict[str, Any]) -> HookResult:
        """`tool:pre`: copy the files the call would change."""
        tool, given = str(data.get("tool_name") or ""), data.get("tool_input")
        given = given if isinstance(given, Mapping) else {}
        call, owner = str(data.get("tool_call_id") or ""), self._owner
        root = self._workspace()
        paths = self._settings.paths(tool, given)
        files = [path for text in paths if (path := inside(text, root)) is not None]
        if call and (left := [file for file in owner._calls.get(call, ()) if file not in files]):
            # The user changed the call: it is not of what it named before.
            owner._calls[call] = [file for file in owner._calls[call] if file in files]
            await owner._note(left, ran=False)
        if files:
            await owner._copy(call, files)
        elif self._settings.compare_commands and (command := command_of(tool, given)):
            await owner._look(call, command)
        return _CONTINUE

    async def asked(self, event: str, data: dict[str, Any]) -> HookResult:
        """`approval:required`: the call does not run before it is granted."""
        call, owner = str(data.get("tool_call_id") or ""), self._owner
        if (look := owner._looks.get(call)) is not None:
            look.waits = True
            await owner._end(call)
        return _CONTINUE

    async def granted(self, event: str, data: dict[str, Any]) -> HookResult:
        """`approval:granted`: the user took their time, and files may be others by now."""
        call, owner = str(data.get("tool_call_id") or ""), self._owner
        if call and (files := owner._calls.get(call)):
            await owner._copy(call, files)
        elif call and (look := owner._looks.get(call)):
            await owner._look(call, look.text)
        return _CONTINUE

    async def denied(self, event: str, data: dict[str, Any]) -> HookResult:
        """`approval:denied`: the call does not run; what becomes of its files is not its doing."""
        call, owner = str(data.get("tool_call_id") or ""), self._owner
        if call:
            owner._denied.add(call)
            if (look := owner._looks.pop(call, None)) is not None:
                look.end_watch()
                await owner._end(call)
            await owner._note(owner._calls.pop(call, []), ran=False)
        return _CONTINUE

    async def after(self, event: str, data: dict[str, Any]) -> HookResult:
        """`tool:post` and `tool:error`: note what became of them."""
        tool, given = str(data.get("tool_name") or ""), data.get("tool_input")
        call, owner = str(data.get("tool_call_id") or ""), self._owner
        if call in owner._denied:
            owner._denied.remove(call)
            return _CONTINUE
        look = owner._looks.get(call)
        if look is not None:
            look.end_watch()
            took = time.monotonic() - look.clock
            given = given if isinstance(given, Mapping) else {}
            look.goes_on = in_background(given)
            try:
                await owner._compare(call, look, is_long=took >= self._settings.own_seconds)
            finally:
                owner._looks.pop(call, None)
            return _CONTINUE
        files = owner._calls.pop(call, None)
        if files is None:
            root = self._workspace()
            paths = self._settings.paths(tool, given if isinstance(given, Mapping) else {})
            files = [path for text in paths if (path := inside(text, root)) is not None]
        await owner._note(files)
        return _CONTINUE

    @property
    def _owner(self) -> "Checkpoints":
        """Whose turn it is: a sub-agent works in the turn of the session that called it."""
        owner = self._coordinator.get_capability(STORE_CAPABILITY)
        return owner if isinstance(owner, Checkpoints) else self

    async def _began(self, store: CopyStore) -> ChangedTurn:
        if self._turn is None:
            stood = await asyncio.to_thread(git_place_now, self._workspace())
            self._turn = await asyncio.to_thread(
                store.begin, self._number, self._prompt, stood=stood
            )
        return self._turn

    async def _copy(self, call: str, files: list[Path]) -> None:
        unsaved = {file: await self._unsaved(file) for file in files}
        async with self._lock:
            known = self._calls.get(call, []) if call else []
            if call:
                self._calls[call] = files
            for file in files:
                if file not in known:
                    self._changing[file] += 1
                try:
                    store = await self._opened()
                    turn = await self._began(store)
                    await asyncio.to_thread(self._copy_one, store, turn, file, unsaved[file])
                except OSError as error:
                    await self._trouble(file, error)

    async def _unsaved(self, file: Path) -> bytes | None:
        """Return what only the session's client has of a file; None where the disk has it."""
        try:
            text = await load_unsaved(self._coordinator.get_capability(CLIENT_FILES), file)
            return text.to_bytes() if text is not None else None
        except ToolProblem as problem:
            logger.warning("The checkpoint of %s is of what is on disk: %s", file, problem)
            return None

    def _copy_one(
        self, store: CopyStore, turn: ChangedTurn, file: Path, unsaved: bytes | None
    ) -> None:
        known = turn.files.get(str(file))
        alone = self._changing[file] < 2
        if known is None:
            store.add(turn, file, self._settings.limits, unsaved)
        elif not alone or known.skipped:
            return
        elif known.after == "":
            # No tool has changed it yet, but the user may have while they were asked.
            if unsaved is not None or not same(state(file), known.before):
                store.add(turn, file, self._settings.limits, unsaved)
        elif not known.by_hand and (unsaved is not None or known.is_other_than(state(file))):
            store.note_by_hand(turn, file)

    async def _note(self, files: list[Path], *, ran: bool = True) -> None:
        async with self._lock:
            if self._turn is None or self._store is None:
                return
            for file in files:
                self._changing[file] -= 1
                try:
                    note = self._store.note_after if ran else self._store.note_untouched
                    await asyncio.to_thread(note, self._turn, file)
                except OSError as error:
                    logger.warning("What became of %s is not noted: %s", file, error)

    async def _look(self, call: str, text: str) -> None:
        """Look at the workspace before a command, and at what it names while it runs."""
        async with self._lock:
            if (known := self._looks.get(call)) is not None:
                known.end_watch()
            try:
                store = await self._opened()
                if self._compared is None:
                    self._compared = WorkspaceFiles(self._workspace())
                look = self._looks[call] = await asyncio.to_thread(
                    self._compared.look, text, store, self._settings.limits
                )
                turn = await self._began(store)
                await asyncio.to_thread(store.note_began, turn, call, look.command)
                look.begin_watch(self._workspace(), self._settings.own_seconds)
            except OSError as error:
                self._looks[call] = WorkspaceLook(text, problem=error.strerror or str(error))

    async def _end(self, call: str) -> None:
        """Note that a command does not run, or not yet."""
        async with self._lock:
            if self._turn is None or self._store is None:
                return
            try:
                await asyncio.to_thread(self._store.note_ended, self._turn, call)
            except OSError as error:
                logger.warning("That a command did not run is not noted: %s", error)

    async def _compare(self, call: str, look: WorkspaceLook, *, is_long: bool) -> None:
        """Note what a command changed.

        Args:
            is_long: It ran so long that somebody else may have changed files.
        """
        async with self._lock:
            try:
                store = await self._opened()
                found = []
                if self._compared is not None and not look.problem:
                    running = [each for each in self._looks.values() if not each.waits]
                    found = await asyncio.to_thread(
                        self._compared.changes, look, running, store, self._settings.limits
                    )
                doubtful: set[Path] = set()
                if is_long and look.writes is not None:
                    doubtful = {entry.path for entry in found}
                    doubtful -= await asyncio.to_thread(look.writes.own, doubtful)
                for entry in found:
                    # A file tool is at it otherwise.
                    if self._changing[entry.path] < 1:
                        turn = await self._began(store)
                        perhaps = look.command if entry.path in doubtful else ""
                        await asyncio.to_thread(store.note_change, turn, entry, perhaps)
                unseen = look.lost
                if problem := look.problem or ("it ran in the background" if look.goes_on else ""):
                    unseen = [*unseen, f"what `{look.command}` changed: {problem}"]
                for why in unseen:
                    turn = await self._began(store)
                    await asyncio.to_thread(store.note_unseen, turn, why)
                if self._turn is not None:
                    await asyncio.to_thread(store.note_ended, self._turn, call)
            except OSError as error:
                logger.warning("What a command changed is not noted: %s", error)

    def _end_looks(self) -> None:
        for look in self._looks.values():
            look.end_watch()
        self._looks.clear()

    def stop(self) -> None:
        """Look at nothing any more."""
        self._end_looks()
        if self._warning is not None:
            self._warning.cancel()

    async def _warn(self) -> None:
        """Say, before a command runs, where what commands change can't be taken back."""
        async with self._lock:
            self._compared = self._compared or WorkspaceFiles(self._workspace())
            problem = await asyncio.to_thread(self._compared.problem)
        if problem:
            said = f"What a command changes here can't be taken back: {problem}"
            await self._say(f"{said}. Commit what you want to keep.")

    async def _trouble(self, file: Path, error: OSError) -> None:
        logger.warning("No checkpoint of %s: %s", file, error)
        if self._told:
            return
        self._told = True
        reason = error.strerror or str(error)
        await self._say(f"There is no checkpoint of {file.name}, it can't be undone: {reason}")

    async def _say(self, message: str) -> None:
        data = {"message": message, "level": "warning", "source": "hooks-checkpoint"}
        await self._coordinator.hooks.emit("user:notification", data)

    def _workspace(self) -> Path:
        return working_dir(self._coordinator).resolve()

    async def _opened(self) -> CopyStore:
        if self._store is None:
            folder = self._chosen or session_folder(self._coordinator) / "checkpoints"
            self._store = await asyncio.to_thread(CopyStore, folder)
        return self._store

    async def _count_prompts(self) -> int:
        context = self._coordinator.get("context")
        if context is None:
            return 0
        messages = await awaited(context.get_messages())
        return sum(map(_is_prompt, messages))

    # --- capabilities: see the package's docstring ------------------------------------------

    async def listed(self) -> list[dict[str, Any]]:
        """Return the checkpoints."""
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            stands = standing(store.turns)
        return [turn_described(turn, stands, root) for turn in store.turns if not turn.back_to]

    async def preview(self, id: str) -> dict[str, Any]:
        """Return what `restore` would do."""
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            unsaved = await self._held(store, root, id)
            files = await asyncio.to_thread(returns, store, root, id, unsaved)
            place = next(place for place, turn in enumerate(store.turns) if turn.id == id)
            unseen = [why for turn in store.turns[place:] for why in turn.unseen]
        then = store.turns[place].stood
        now = await asyncio.to_thread(git_place_now, root) if then is not None else None
        return {
            "damaged": place < store.damaged,
            "unseen": list(dict.fromkeys(unseen)),
            "files": [described(file, root) for file in files],
            "git": git_moved(then, now),
        }

    async def content(self, id: str, path: str) -> bytes | None:
        """Return what a file is put back to; an `OSError` where there is no copy of it."""
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            entry = chains(store, id)[str(root / path)][0]
            if entry.skipped:
                raise OSError(entry.skipped)
            return None if entry.copy is None else await asyncio.to_thread(store.read, entry.copy)

    def uncopied(self) -> str:
        """Return why no copies are kept of what commands change; empty where they are. Blocking."""
        if not self._settings.compare_commands:
            return "hooks-checkpoint does not look at what commands change"
        return WorkspaceFiles(self._workspace()).problem()

    async def restore(
        self,
        id: str,
        paths: Collection[str] | None = None,
        force: bool | Collection[str] = False,
    ) -> dict[str, Any]:
        """Put files back."""
        root = self._workspace()
        async with self._lock:
            store = await self._opened()
            unsaved = await self._held(store, root, id)
            return await asyncio.to_thread(restore, store, root, id, unsaved, paths, force)

    async def _held(self, store: CopyStore, root: Path, id: str) -> frozenset[Path]:
        """Return the files that would change and of which an editor has what is not saved."""
        if self._coordinator.get_capability(CLIENT_FILES) is None:
            return frozenset()
        found = await asyncio.to_thread(returns, store, root, id)
        # All at once: an editor that does not answer is waited for once only.
        held = await asyncio.gather(*map(self._is_held, found))
        return frozenset(
            file.entry.path for file, is_held in zip(found, held, strict=True) if is_held
        )

    async def _is_held(self, file: FileReturn) -> bool:
        """Whether an editor has, or may have, what is not saved of a file that would change."""
        client, path = self._coordinator.get_capability(CLIENT_FILES), file.entry.path
        # Of a link, what it leads to stays as it is.
        if file.action == "unchanged" or path.is_symlink():
            return False
        try:
            return await load_unsaved(client, path) is not None
        except ToolProblem as problem:
            logger.info("What the editor has of %s is not known: %s", path, problem)
            return True


def _is_prompt(message: Any) -> bool:
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return False
    metadata = message.get("metadata")
    return not (isinstance(metadata, Mapping) and metadata.get("source") == "hook")
