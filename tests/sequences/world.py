"""One user, one session, and everything that can happen to them; every step is a plain row."""

import asyncio
import json
import shutil
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, Literal

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import Decision, OpenRequest, SpendLimit
from amplifier_tui.host.door.outbox import Outbox
from amplifier_tui.host.door.service import Service
from amplifier_tui.host.events import Failed, HostEvent, Mode, RewindScope, Scope, ToolEnded
from amplifier_tui.host.store.lanes import TRANSCRIPT
from amplifier_tui.paths import sessions_dir
from amplifier_tui.ui.state.conversation.entries import ErrorEntry, ShellEntry, UserEntry
from amplifier_tui.ui.state.session import SessionState
from tests.host.dice import KEY, Dice
from tests.host.driving import Project
from tests.sequences.puppet import MODELS, PUPPET, Word

Step = tuple[str, *tuple[int, ...]]
"""What is done, and numbers that say to what; each step means something in every state."""

MODULES = Path(__file__).parent / "modules"
MODES: tuple[Mode, ...] = ("plan", "ask", "edits", "auto")
SCOPES: tuple[Scope, ...] = ("once", "session", "project", "always")
BUNDLES = ("one", "two")
PATIENCE = 30.0
"""Seconds after which a session that does not come to rest is stuck."""


class StuckError(AssertionError):
    """Something goes on for ever."""


Ending = Literal["resume", "kill", "away"]
"""How a session is left: with its program, at a blow, or for another session."""


class Workers(ThreadPoolExecutor):
    """Counts what is being done in threads, until the loop has been told of its end.

    Used on the loop alone; the count changes there.
    """

    def __init__(self) -> None:
        super().__init__(4)
        self.busy = 0
        self._loop = asyncio.get_running_loop()

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.busy += 1
        future = super().submit(call, *args, **kwargs)
        # After the callback that whoever waits for it adds: a thread may be held up between two.
        self._loop.call_soon(future.add_done_callback, self._done)
        return future

    def _done(self, _: Any) -> None:
        self._loop.call_soon_threadsafe(self._less)

    def _less(self) -> None:
        self.busy -= 1


class World:
    """A project with two bundles, the session that is open in it, and what its screen shows."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        parts: dict[str, Any] = {
            "tools": ("tool-puppet", "tool-filesystem"),
            "providers": [{"module": "provider-puppet"}],
            "hooks": (("hooks-checkpoint", {}),),
        }
        self.project.bundle(
            "one", context="context-pipeline", context_config={"providers": []}, **parts
        )
        self.project.bundle("two", **parts)
        self.project.allow(("echo", "fail", "hold", "roll"))
        self.dice = Dice(folder)
        self.faces = 0
        self.said = 0
        self.returned: list[str] = []
        """What was said and given back: taken out of the queue, or refused."""
        self.by_hand: dict[str, str] = {}
        """What the user wrote into files, by their names, and nothing wrote over since."""
        self.cut_off: set[str] = set()
        """Calls that a kill left without a result."""
        self.workers = Workers()
        asyncio.get_running_loop().set_default_executor(self.workers)
        self._start()

    def _start(self) -> None:
        self.outbox = Outbox()
        self.state = SessionState()
        self.service = Service(self.outbox.put, trust_everything)

    @property
    def folder(self) -> Path:
        """The folder of the session on screen."""
        return sessions_dir(self.project.folder) / self.state.facts.session_id

    @property
    def live(self) -> Any:
        """The session of the service."""
        return self.service._live

    async def open(self, **request: Any) -> None:
        await self.service.open(OpenRequest(cwd=self.project.folder, **request))
        await self.rest()
        failed = [entry for entry in self.state.entries if isinstance(entry, ErrorEntry)]
        assert self.state.facts.opened, f"the session was not opened: {failed}"

    def take(self) -> None:
        """Show what came."""
        events = self.outbox.drain()
        self.returned += [event.prompt for event in events if self._gives_back(event)]
        for event in events:
            if isinstance(event, ToolEnded) and event.ok and not event.replayed:
                self.by_hand.pop(event.path, None)
        if events:
            self.state.apply(events)

    def _gives_back(self, event: HostEvent) -> bool:
        return isinstance(event, Failed) and event.kind == "no_session" and bool(event.prompt)

    async def rest(self) -> None:
        """Let everything go on that does not wait for anybody."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        calm = 0
        while calm < 4:
            await asyncio.sleep(0.0003 if self.workers.busy else 0)
            self.take()
            live = self.live
            turning = live is not None and live.turns.running
            waits = PUPPET.waits or self.state.approvals.pending or self.state.usage.at_limit
            busy = self.workers.busy or self.service._opening or self._runs_command()
            goes_on = busy or (turning and not waits)
            calm = 0 if goes_on else calm + 1
            if loop.time() - begun > PATIENCE:
                raise StuckError(f"no rest: {self.state.activity.phase}, waits {waits}")

    def _runs_command(self) -> bool:
        commands = (entry for entry in self.state.entries if isinstance(entry, ShellEntry))
        return any(entry.state == "running" for entry in commands)

    async def do(self, step: Step) -> None:
        """Do one step; one that means nothing now does nothing."""
        name, *numbers = step
        await getattr(self, f"do_{name}")(*numbers)
        await self.rest()

    # --- the user's words --------------------------------------------------------------------

    def _words(self) -> str:
        self.said += 1
        return f"words{self.said}."

    async def do_submit(self) -> None:
        await self.service.submit(self._words())

    async def do_steer(self) -> None:
        await self.service.steer(self._words())

    async def do_unqueue(self, index: int) -> None:
        items = self.state.queue.items
        if items:
            index %= len(items)
            self.returned.append(items[index])
            await self.service.unqueue(self.state.queue.ids[index])

    def _queued(self, index: int) -> str:
        ids = self.state.queue.ids
        return ids[index % len(ids)] if ids else ""

    async def do_edit(self, index: int) -> None:
        if queued := self._queued(index):
            text = self.state.queue.items[self.state.queue.ids.index(queued)]
            await self.service.edit_queued(queued, f"Please: {text}")

    async def do_move(self, index: int, to: int) -> None:
        await self.service.move_queued(self._queued(index), to % 4)

    async def do_send(self, index: int) -> None:
        await self.service.send_queued(self._queued(index) if index % 2 else "")

    async def do_retry(self) -> None:
        await self.service.retry()

    async def do_stop(self, immediate: int) -> None:
        await self.service.interrupt(bool(immediate % 2))

    # --- the model and the tools ---------------------------------------------------------------

    async def _tell(self, *words: Word) -> None:
        if PUPPET.requests:
            for word in words:
                PUPPET.requests[0].put_nowait(word)

    async def do_begin(self, thinks: int) -> None:
        """The model begins to answer, and goes on later."""
        await self._tell(("think", "Hm, so.") if thinks % 3 == 0 else ("say", "Well, now."))

    async def do_answer(self) -> None:
        await self._tell(("say", "All **done** now."), ("end", None))

    async def do_fail(self) -> None:
        await self._tell(("fail", None))

    async def do_call(self, count: int, which: int) -> None:
        """The model calls one to three tools."""
        tools = [self._call(which + number) for number in range(1 + count % 3)]
        await self._tell(*(("call", tool) for tool in tools), ("end", None))

    def _call(self, which: int) -> tuple[str, dict[str, Any]]:
        match which % 7:
            case 0 | 1:
                path = f"file{which % 3}.txt"
                return "write_file", {"file_path": path, "content": f"text {which}\n"}
            case 2:
                return "read_file", {"file_path": "file0.txt"}
            case 3:
                return "hold", {"text": "later"}
            case 4:
                return "fail", {}
            case 5:
                return "roll", {}
            case _:
                return "echo", {"text": "now"}

    async def do_release(self) -> None:
        if PUPPET.held:
            PUPPET.held[0].set()

    # --- what is asked, and what goes through ----------------------------------------------------

    async def do_decide(self, how: int, scope: int) -> None:
        pending = self.state.approvals.pending
        if not pending:
            return
        asked = pending[0]
        match how % 4:
            case 0:
                answer = Decision(allow=False, reason="not now")
                await self.service.decide(asked.request_id, answer)
            case 1:
                given = json.loads(await self.service.call_arguments(asked.request_id))
                given["content"] = "edited\n"
                await self.service.change_call(asked.request_id, json.dumps(given))
            case _:
                wanted = SCOPES[scope % 4]
                found: Scope = wanted if wanted in asked.scopes else "once"
                await self.service.decide(asked.request_id, Decision(allow=True, scope=found))

    async def do_mode(self, which: int) -> None:
        await self.service.set_mode(MODES[which % 4])

    async def do_carry_out(self) -> None:
        await self.service.carry_out("edits")

    async def do_model(self, which: int) -> None:
        await self.service.switch_model(MODELS[which % 3])

    async def do_model_back(self) -> None:
        await self.service.switch_model_back()

    async def do_effort(self, which: int) -> None:
        await self.service.set_effort(("", "low", "high")[which % 3])

    # --- the session ----------------------------------------------------------------------------

    async def do_bundle(self, which: int) -> None:
        await self.service.switch_bundle(BUNDLES[which % 2])

    async def do_fork(self) -> None:
        if not self.state.activity.running:
            # It stays with the session that is forked.
            self.returned += self.state.queue.items
        await self.service.fork()

    async def do_rename(self, which: int) -> None:
        await self.service.rename(f"Title {which}")
        self.state.facts.set_title(f"Title {which}")

    async def do_compact(self) -> None:
        await self.service.compact()

    async def do_limit(self, which: int) -> None:
        await self.service.set_limit(SpendLimit(tokens=(0, 0, 30)[which % 3]))

    async def do_pass(self, go: int) -> None:
        """Answer at the limit."""
        waiting = self.state.conversation.limit
        if waiting is not None:
            await self.service.answer_limit(waiting.asked.request_id, go=bool(go % 2))

    async def do_rule(self, which: int, scope: int) -> None:
        line = ("write(file0.txt)", "deny write(file1.txt)", "ask hold")[which % 3]
        await self.service.add_rule(line, SCOPES[1 + scope % 3])

    async def do_unrule(self, which: int) -> None:
        cards = [card for card in await self.service.rules() if card.editable]
        if cards:
            await self.service.remove_rule(cards[which % len(cards)].key)

    async def do_shell(self, tell: int) -> None:
        await self.service.shell("echo by hand", tell=bool(tell % 2))

    # --- files, and going back ---------------------------------------------------------------

    async def do_hand(self, which: int) -> None:
        """The user writes a file."""
        name = f"file{which % 3}.txt"
        self.by_hand[name] = f"by hand {which}\n"
        (self.project.folder / name).write_text(self.by_hand[name])

    async def do_rewind(self, which: int, scope: int) -> None:
        points = await self.service.rewind_points()
        if points:
            scopes: tuple[RewindScope, ...] = ("conversation", "files", "both")
            turn = points[which % len(points)].turn
            await self._go(self.service.rewind(turn, scopes[scope % 3]))

    async def do_undo(self) -> None:
        await self._go(self.service.undo_rewind())

    async def _go(self, rewind: Coroutine[Any, Any, None]) -> None:
        """Go back or forward, and keep in mind what was taken from the screen, or brought back."""
        before = self._on_screen()
        await rewind
        await self.rest()
        after = self._on_screen()
        self.returned = [text for text in self.returned if text not in after]
        self.returned += [text for text in before if text not in after]

    def _on_screen(self) -> list[str]:
        return [entry.text for entry in self.state.entries if isinstance(entry, UserEntry)]

    # --- modules -----------------------------------------------------------------------------

    async def do_mount(self) -> None:
        await self.service.mount(str(self.dice.folder))

    async def do_reload(self) -> None:
        self.faces += 1
        self.dice.write(f"face {self.faces}")
        await self.service.reload(KEY)

    async def do_unmount(self) -> None:
        await self.service.unmount(KEY)

    async def do_switch(self, on: int) -> None:
        await self.service.switch_module(KEY, on=bool(on % 2))

    async def do_configure(self, value: int) -> None:
        await self.service.configure(KEY, "sides", str(value))

    # --- the end, and the next life -----------------------------------------------------------

    async def live_again(self, end: Ending) -> bool:
        """Leave the session, and resume it: in another program, or from another session.

        Returns:
            False when there was nothing to resume, and a new session is open.
        """
        session, folder = self.state.facts.session_id, self.folder
        waiting = [*self.state.queue.items, *self.state.queue.steering]
        if end == "away":
            await self.open(bundle="two")
        else:
            await self._end(folder, kill=end == "kill")
        stored = (folder / TRANSCRIPT).exists()
        if not stored:
            # A session without a word leaves nothing.
            self.returned += waiting
        await self.open(**({"resume": session} if stored else {"bundle": "one"}))
        return stored

    async def _end(self, folder: Path, *, kill: bool) -> None:
        """End the program, and begin another one."""
        copy = folder.with_name("killed")
        if kill and folder.exists():
            shutil.copytree(folder, copy)
        await self.service.close()
        self.outbox.drain()
        if kill and copy.exists():
            shutil.rmtree(folder, ignore_errors=True)
            copy.rename(folder)
        self._start()

    async def close(self) -> None:
        await self.service.close()


WEIGHTS: dict[str, tuple[int, int]] = {
    "submit": (10, 0), "steer": (5, 0), "unqueue": (2, 1), "edit": (1, 1), "move": (2, 2),
    "send": (2, 1), "retry": (2, 0), "stop": (4, 1),
    "begin": (7, 1), "answer": (9, 0), "fail": (2, 0), "call": (9, 2), "release": (4, 0),
    "decide": (7, 2), "mode": (3, 1), "carry_out": (1, 0), "model": (2, 1), "model_back": (1, 0),
    "effort": (1, 1), "bundle": (1, 1), "fork": (1, 0), "rename": (1, 1), "compact": (1, 0),
    "limit": (1, 1), "pass": (2, 1), "rule": (1, 2), "unrule": (1, 1), "shell": (1, 1),
    "hand": (1, 1), "rewind": (2, 2), "undo": (1, 0),
    "mount": (2, 0), "reload": (1, 0), "unmount": (1, 0), "switch": (1, 1), "configure": (1, 1),
}  # fmt: skip
"""How often each step comes, and how many numbers it takes."""


def steps(chance: Random, count: int) -> list[Step]:
    """Return a random sequence."""
    names = chance.choices(list(WEIGHTS), [weight for weight, _ in WEIGHTS.values()], k=count)
    return [(name, *(chance.randrange(12) for _ in range(WEIGHTS[name][1]))) for name in names]
