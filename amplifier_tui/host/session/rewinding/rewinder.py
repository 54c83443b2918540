"""Going back before a turn, and forward again."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from amplifier_tui.base.homes import user_home
from amplifier_tui.base.jsonl import StoredRows
from amplifier_tui.host.events import Level, RewindScope, Rewound
from amplifier_tui.host.messages import typed_prompt
from amplifier_tui.host.rewind_cards import RewindPoint, RewindPreview
from amplifier_tui.host.session.compacting import Compactor
from amplifier_tui.host.session.conversation import SessionConversation
from amplifier_tui.host.session.rewinding.files import FileHistory, FilesError
from amplifier_tui.host.shell.commands import ShellCommands
from amplifier_tui.host.shell.jobs import BackgroundJobs
from amplifier_tui.host.store.replay import TAIL, messages_of, time_of
from amplifier_tui.host.store.turns.outcomes import DISPLAY, read_outcomes
from amplifier_tui.host.store.turns.prompts import (
    NoSuchTurnError,
    PromptRow,
    prompt_rows,
    start_of,
)
from amplifier_tui.host.store.turns.rewinds import REWINDS, TakenBack
from amplifier_tui.host.stream.sender import Sender
from amplifier_tui.host.turns.control import TurnControl

_NAMED: Final = 8

Restarted = Callable[[list[dict[str, Any]], int], Awaitable[None]]
"""Told that the conversation is another one: its messages, and how many turns it has."""


class Rewinder:
    """Takes turns of one session back, and brings them back.

    Args:
        begun: How many rows there were when a turn began, of the turns since it was opened.
        restarted: Called when the conversation is another one.
    """

    def __init__(
        self,
        sender: Sender,
        conversation: SessionConversation,
        files: FileHistory,
        workspace: Path,
        begun: Mapping[int, int],
        turns: TurnControl,
        compactor: Compactor,
        shell: ShellCommands,
        jobs: BackgroundJobs,
        restarted: Restarted,
    ) -> None:
        self._sender = sender
        self._store = sender.store
        self._conversation = conversation
        self._files = files
        self._workspace = workspace
        self._begun = begun
        self._turns = turns
        self._compactor = compactor
        self._shell = shell
        self._jobs = jobs
        self._restarted = restarted
        self._going = asyncio.Lock()

    @property
    def running(self) -> bool:
        """Whether the session goes back or forward just now."""
        return self._going.locked()

    async def points(self) -> tuple[RewindPoint, ...]:
        """Return the prompts of the session, the newest first."""
        _, prompts = await self._read()
        changed = await self._files.times()
        found: list[RewindPoint] = []
        later = float("inf")
        for prompt in reversed(prompts):
            at = time_of(prompt.row)
            files = sum(count for when, count in changed if at and at <= when < later)
            later = at or later
            text = typed_prompt(prompt.row)
            found.append(RewindPoint(turn=prompt.turn, prompt=text, at=at, files=files))
        return tuple(found)

    async def preview(self, turn: int) -> RewindPreview:
        """Return what going back before a turn would do.

        Raises:
            NoSuchTurnError: There is no such turn.
        """
        prompts = await self._turns_from(turn)
        first = prompts[0].row
        jobs = self._jobs.running_since(time_of(first))
        seen = RewindPreview(
            turn=turn,
            prompt=typed_prompt(first),
            turns=len(prompts),
            running=tuple(f"{job_id} ({command})" for job_id, command in jobs),
        )
        try:
            change = await self._change(prompts)
            files, unseen, git = await self._files.preview(change) if change else ([], [], None)
        except FilesError as error:
            return replace(seen, problem=f"{error}: only the conversation can go back.")
        told = await asyncio.to_thread(self._changed_paths, prompts[0].start)
        others = sorted(map(str, told - await self._files.known()))
        if others:
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            unseen = [*unseen, f"files without a copy: {', '.join(others[:_NAMED])}{more}"]
        if git is not None:
            turns_files = any(not file.problem for file in files)
            seen = replace(seen, git=git.words(turns_files), elsewhere=git.elsewhere)
        return replace(seen, files=tuple(files), unseen=tuple(unseen))

    async def diff(self, turn: int, path: str) -> str:
        """Return what going back before a turn does to a file, as a unified diff.

        Raises:
            NoSuchTurnError: There is no such turn.
            FilesError: There is no record of it.
        """
        prompts = await self._turns_from(turn)
        change = await self._change(prompts)
        return self._sender.redactor.text(await self._files.diff(change, path))

    async def rewind(
        self, turn: int, scope: RewindScope = "both", overwrite: Collection[str] = ()
    ) -> None:
        """Go back before a turn, and say so; see `SessionClient.rewind`."""
        await self._go(lambda: self._rewind(turn, scope, overwrite))

    async def undo(self) -> None:
        """Bring back what was taken back last, and say so."""
        await self._go(self._undo)

    async def _go(self, step: Callable[[], Awaitable[None]]) -> None:
        """Go back or forward, one step after the other, while no turn begins."""
        async with self._going:
            if self._is_free():
                with self._turns.paused():
                    await step()
                await self._find_unsent()

    def _is_free(self) -> bool:
        """Whether the session can go back now; else the user is told."""
        if self._turns.running:
            self._say("warning", "A turn is running: stop it first")
        elif self._compactor.running:
            self._say("warning", "The conversation is being compacted: go back after it")
        else:
            return True
        return False

    async def _find_unsent(self) -> None:
        """Have commands wait whose prompt was taken back, and those no more that are sent again."""
        self._shell.restore(await asyncio.to_thread(lambda: self._store.replay().unsent_commands()))

    async def _rewind(self, turn: int, scope: RewindScope, overwrite: Collection[str]) -> None:
        try:
            prompts = await self._turns_from(turn)
        except NoSuchTurnError as error:
            self._say("warning", str(error))
            return
        report: Mapping[str, Any] = {}
        if scope != "conversation":
            try:
                change = await self._change(prompts)
                if change:
                    await self._files.preview(change)  # It says whether the record is whole.
                    report = await self._files.restore(change, overwrite)
            except FilesError as error:
                if scope == "files":
                    self._say("warning", f"{error}: no file was put back")
                    return
                self._say("warning", f"{error}: only the conversation goes back")
                scope = "conversation"
        undo = str(report.get("id") or "")
        rows = self._store.rows if scope == "files" else prompts[0].start
        if scope != "files" or undo:
            try:
                decided = self._conversation.decided()
                await asyncio.to_thread(
                    self._store.go_back, rows, turn, undo, len(prompts), decided
                )
            except OSError as error:
                # Without a note of it nothing could be brought back later.
                self._say("error", f"Nothing went back: {error.strerror or error}")
                if undo:
                    await self._files.restore(undo, ())
                return
        await self._tell(scope, turn, len(prompts), typed_prompt(prompts[0].row), report)

    async def _undo(self) -> None:
        taken = self._store.rewinds.last
        if taken is None:
            self._say("info", "There is nothing to bring back: the session did not go back")
            return
        if taken.lines and self._store.rows != taken.rows:
            kept, home = self._store.folder / REWINDS, user_home()
            inside = kept.is_relative_to(home)
            words = "The conversation has gone on since; what was taken back is kept in "
            words += f"~/{kept.relative_to(home)}" if inside else str(kept)
            self._say("warning", words)
            return
        report: Mapping[str, Any] = {}
        if taken.files:
            try:
                report = await self._files.restore(taken.files, ())
            except FilesError as error:
                self._say("warning", f"{error}: files stay as they are")
        try:
            await asyncio.to_thread(self._store.go_forward, taken)
        except OSError as error:
            self._say("error", f"It can't be brought back: {error.strerror or error}")
            if again := report.get("id"):
                await self._files.restore(str(again), ())
            return
        await self._tell(_scope(taken), taken.turn, taken.turns, "", report, undone=taken)

    async def _tell(
        self,
        scope: RewindScope,
        turn: int,
        turns: int,
        prompt: str,
        report: Mapping[str, Any],
        *,
        undone: TakenBack | None = None,
    ) -> None:
        """Have everybody go on from the conversation as it is, and say what was done."""
        stored, prompts = await self._read()
        if scope != "files":
            messages = await asyncio.to_thread(_messages, stored, 0)
            decided, back = None, 0
            if undone is not None:
                # A summary of what is back stands for it again, as the transcript says.
                decided = undone.decided
                back = len(await asyncio.to_thread(_messages, stored, undone.rows))
            await self._conversation.restart(messages, decided, back)
            await self._restarted(messages, len(prompts))
        start = max(0, len(stored) - TAIL)
        replay = await asyncio.to_thread(self._store.replay, stored)
        events = await asyncio.to_thread(replay.events, start, len(stored))
        self._sender.send(
            Rewound(
                **self._sender.stamp(),
                turn=turn,
                scope=scope,
                undone=undone is not None,
                turns=turns,
                prompt=prompt,
                restored=tuple(report.get("restored") or ()),
                removed=tuple(report.get("removed") or ()),
                kept=tuple(report.get("conflicts") or ()),
                failed=tuple(report.get("failed") or ()),
                earlier=start,
            )
        )
        if scope != "files":
            for event in events:
                self._sender.put(event)

    async def _read(self) -> tuple[StoredRows, list[PromptRow]]:
        stored = await asyncio.to_thread(self._store.stored)
        begun = dict(self._begun)
        return stored, await asyncio.to_thread(lambda: prompt_rows(stored.read(), begun))

    async def _turns_from(self, turn: int) -> list[PromptRow]:
        """Return the prompts from a turn on.

        Raises:
            NoSuchTurnError: There is no such turn, or it is not part of the conversation.
        """
        stored, prompts = await self._read()
        start = start_of(turn, prompts, self._begun, len(stored))
        found = [prompt for prompt in prompts if prompt.index >= start]
        if not found:
            raise NoSuchTurnError("Nothing of this turn is in the conversation")
        return found

    async def _change(self, prompts: list[PromptRow]) -> str:
        """Return the id of the first change to files in these last turns; empty for none.

        Raises:
            FilesError: There is no record of it.
        """
        _, known = await self._read()
        first, *later = (time_of(prompt.row) for prompt in prompts)
        earlier = [time_of(prompt.row) for prompt in known if prompt.index < prompts[0].index]
        return await self._files.find(first, earlier, later)

    def _changed_paths(self, start: int) -> set[Path]:
        """Return the files that tools said they changed, from a row on."""
        told = read_outcomes(self._store.folder / DISPLAY).tools.values()
        ended = (event for items in told for rows, event in items if rows > start)
        changed = (event.path for event in ended if event.path and event.diff)
        return {(self._workspace / path).resolve() for path in changed}

    def _say(self, level: Level, text: str) -> None:
        self._sender.notice(level, text, "rewind")


def _messages(stored: StoredRows, start: int) -> list[dict[str, Any]]:
    return messages_of(row for _, row in stored.read(start))


def _scope(taken: TakenBack) -> RewindScope:
    if not taken.lines:
        return "files"
    return "both" if taken.files else "conversation"
