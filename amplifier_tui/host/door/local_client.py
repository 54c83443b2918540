"""The client of sessions in this very process, on an engine thread of their own.

Importing this costs next to nothing: kernel, foundation and pydantic are imported on the engine
thread when the first command comes.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from itertools import count
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from amplifier_tui.host.client import ModelChoice, SessionClient
from amplifier_tui.host.door.engine import Engine
from amplifier_tui.host.door.outbox import Outbox
from amplifier_tui.host.door.stacks import described, innermost
from amplifier_tui.host.door.watch import BLOCKED_AFTER, EngineWatch, in_thread
from amplifier_tui.host.events import Failed

if TYPE_CHECKING:
    from amplifier_tui.foundation.trust.gate import TrustCallback
    from amplifier_tui.host.door.descriptors import DescriptorCapture
    from amplifier_tui.host.door.service import Service
    from amplifier_tui.host.turns.control import TurnControl

logger = logging.getLogger(__name__)

CLOSE_TIME = 3.0
"""Seconds `close` takes at most."""

T = TypeVar("T")
P = ParamSpec("P")


def _command(
    method: Callable[Concatenate[Any, P], None], what: str, *, mounts: bool = False
) -> "Callable[Concatenate[LocalClient, P], None]":
    """Make a client's method that has the service's method of that name run on the engine.

    Args:
        what: What it does, for the report of a failure, such as `open a session`.
        mounts: It mounts modules or takes some out, whose code may block the engine.
    """

    @wraps(method)
    def forward(self: "LocalClient", /, *args: P.args, **kwargs: P.kwargs) -> None:
        done = self._engine.post(
            lambda: getattr(self.service, method.__name__)(*args, **kwargs), what
        )
        if mounts:
            self._watch.follow(done)

    return forward


def _question(
    method: "Callable[Concatenate[Any, P], Future[T]]",
) -> "Callable[Concatenate[LocalClient, P], Future[T]]":
    """Make a client's method that gives what the service's method of that name returns."""

    @wraps(method)
    def forward(self: "LocalClient", /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        return self._engine.ask(lambda: getattr(self.service, method.__name__)(*args, **kwargs))

    return forward


_PLACES = count()
"""Numbers the clients of this process."""


class LocalClient:
    """A `SessionClient`; see there for its methods.

    Args:
        trust: Answers for what a project or a stranger brings, in place of the user.
        printed: Catches what is written to the program's descriptors; it becomes notices.
        window: Whether its sessions are offered again after a crash.
    """

    def __init__(
        self,
        trust: "TrustCallback | None" = None,
        printed: "DescriptorCapture | None" = None,
        *,
        window: bool = False,
    ) -> None:
        self._trust = trust
        self._window = window
        # In the order they were asked for; their engines come to life in any.
        self._place = next(_PLACES)
        self._printed = printed
        self._outbox = Outbox()
        # On the way of every token: no call of its own.
        self.drain = self._outbox.drain
        self.set_waker = self._outbox.set_waker
        self._engine = Engine(self._failed, self._strayed)
        self._service: Service | None = None
        self._chosen: dict[str, ModelChoice] = {}
        self._named: dict[str, str] = {}
        self._closing: Future[None] | None = None
        self._watch = EngineWatch(self._engine, self._tell_blocked)

    open = _command(SessionClient.open, "open a session", mounts=True)
    open_again = _command(SessionClient.open_again, "open a session", mounts=True)
    _submit = _command(SessionClient.submit, "send a prompt")
    _unqueue = _command(SessionClient.unqueue, "take a prompt back")
    _edit_queued = _command(SessionClient.edit_queued, "change a prompt")
    move_queued = _command(SessionClient.move_queued, "move a prompt")
    send_queued = _command(SessionClient.send_queued, "send a prompt")
    keep_draft = _command(SessionClient.keep_draft, "keep the draft")
    retry = _command(SessionClient.retry, "try again")
    shell = _command(SessionClient.shell, "run a command")
    stop_shell = _command(SessionClient.stop_shell, "stop a command")
    note_shell = _command(SessionClient.note_shell, "note a command")
    withhold_shell = _command(SessionClient.withhold_shell, "keep a command's output back")
    decide = _command(SessionClient.decide, "answer a request")
    answer_questions = _command(SessionClient.answer_questions, "answer questions")
    answer_trust = _command(SessionClient.answer_trust, "answer the question of trust")
    set_mode = _command(SessionClient.set_mode, "change the mode")
    switch_model = _command(SessionClient.switch_model, "switch models")
    switch_model_back = _command(SessionClient.switch_model_back, "switch models")
    set_effort = _command(SessionClient.set_effort, "change the effort")
    set_limit = _command(SessionClient.set_limit, "set the limit")
    answer_limit = _command(SessionClient.answer_limit, "answer at the limit")
    set_up = _command(SessionClient.set_up, "set up a provider", mounts=True)
    carry_out = _command(SessionClient.carry_out, "carry out the plan")
    ask_trust_again = _command(SessionClient.ask_trust_again, "ask again", mounts=True)
    hold = _command(SessionClient.hold, "hold a request")
    switch_bundle = _command(SessionClient.switch_bundle, "switch bundles", mounts=True)
    resume = _command(SessionClient.resume, "resume a session", mounts=True)
    tell_agent = _command(SessionClient.tell_agent, "tell an agent something")
    stop_agent = _command(SessionClient.stop_agent, "stop an agent")
    keep_left_open = _command(SessionClient.keep_left_open, "note what is left open")
    dismiss_left_open = _command(SessionClient.dismiss_left_open, "forget what was left open")
    stop_job = _command(SessionClient.stop_job, "stop a command")
    rename = _command(SessionClient.rename, "rename the session")
    compact = _command(SessionClient.compact, "compact the conversation")
    choose_item = _command(SessionClient.choose_item, "decide about an item")
    undo_item = _command(SessionClient.undo_item, "undo a decision")
    remember = _command(SessionClient.remember, "remember something")
    forget = _command(SessionClient.forget, "forget something")
    fork = _command(SessionClient.fork, "fork the session", mounts=True)
    copy_session = _command(SessionClient.copy_session, "copy the session", mounts=True)
    take_over = _command(SessionClient.take_over, "take the session over", mounts=True)
    rewind = _command(SessionClient.rewind, "go back")
    undo_rewind = _command(SessionClient.undo_rewind, "bring back what was taken back")
    mount = _command(SessionClient.mount, "mount a module", mounts=True)
    unmount = _command(SessionClient.unmount, "unmount a module", mounts=True)
    reload = _command(SessionClient.reload, "reload a module", mounts=True)
    switch_module = _command(SessionClient.switch_module, "switch a module", mounts=True)
    configure = _command(SessionClient.configure, "configure a module", mounts=True)
    _stop_change = _command(SessionClient.stop_change, "stop a change")

    bundles = _question(SessionClient.bundles)
    models = _question(SessionClient.models)
    preview = _question(SessionClient.preview)
    sessions = _question(SessionClient.sessions)
    session_details = _question(SessionClient.session_details)
    title_session = _question(SessionClient.title_session)
    tag_session = _question(SessionClient.tag_session)
    pin_session = _question(SessionClient.pin_session)
    delete_session = _question(SessionClient.delete_session)
    restore_session = _question(SessionClient.restore_session)
    search = _question(SessionClient.search)
    imported = _question(SessionClient.imported)
    read_imported = _question(SessionClient.read_imported)
    fork_imported = _command(SessionClient.fork_imported, "fork a session", mounts=True)
    save_again = _question(SessionClient.save_again)
    export = _question(SessionClient.export)
    left_open = _question(SessionClient.left_open)
    history = _question(SessionClient.history)
    payload = _question(SessionClient.payload)
    call_arguments = _question(SessionClient.call_arguments)
    change_call = _question(SessionClient.change_call)
    whole_diff = _question(SessionClient.whole_diff)
    rule_reach = _question(SessionClient.rule_reach)
    rules = _question(SessionClient.rules)
    add_rule = _question(SessionClient.add_rule)
    change_rule = _question(SessionClient.change_rule)
    remove_rule = _question(SessionClient.remove_rule)
    explain_call = _question(SessionClient.explain_call)
    audit = _question(SessionClient.audit)
    set_aside = _question(SessionClient.set_aside)
    put_back = _question(SessionClient.put_back)
    rewind_points = _question(SessionClient.rewind_points)
    preview_rewind = _question(SessionClient.preview_rewind)
    rewind_diff = _question(SessionClient.rewind_diff)
    items = _question(SessionClient.items)
    compaction = _question(SessionClient.compaction)
    job_text = _question(SessionClient.job_text)
    image = _question(SessionClient.image)
    memories = _question(SessionClient.memories)
    setting_problem = _question(SessionClient.setting_problem)
    module_details = _question(SessionClient.module_details)
    mcp_servers = _question(SessionClient.mcp_servers)
    restart_mcp_server = _question(SessionClient.restart_mcp_server)
    make_worktree = _question(SessionClient.make_worktree)
    worktree = _question(SessionClient.worktree)
    worktree_diff = _question(SessionClient.worktree_diff)
    merge_worktree = _question(SessionClient.merge_worktree)
    remove_worktree = _question(SessionClient.remove_worktree)

    def beside(self) -> "LocalClient":
        """Return the client of another session, on an engine thread of its own."""
        client = LocalClient(self._trust, self._printed, window=self._window)
        client._chosen, client._named = self._chosen, self._named
        return client

    def submit(
        self,
        text: str,
        attachments: tuple[str, ...] = (),
        prompt_id: str = "",
        *,
        typed: str | None = None,
    ) -> None:
        """Send a prompt."""
        if (turns := self._turns) is None:
            self._submit(text, attachments, prompt_id, typed=typed)
        else:
            self._send(turns, turns.arriving.add(text, attachments, prompt_id, typed))

    def steer(self, text: str) -> None:
        """Give the running turn a message."""
        if (turns := self._turns) is None:
            self._submit(text)
        else:
            self._send(turns, turns.arriving.add(text, steers=True))

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn."""
        self.submit(text)

    def unqueue(self, prompt_id: str) -> None:
        """Take a waiting prompt back, also one that the engine has not taken up."""
        turns = self._turns
        if turns is not None and turns.arriving.take(prompt_id) is not None:
            in_thread(turns.arriving.tell)
        else:
            self._unqueue(prompt_id)

    def edit_queued(self, prompt_id: str, text: str) -> None:
        """Give a waiting prompt other words, also one that the engine has not taken up."""
        turns = self._turns
        if not text.strip():
            self.unqueue(prompt_id)
        elif turns is not None and turns.arriving.edit(prompt_id, text):
            in_thread(turns.arriving.tell)
        else:
            self._edit_queued(prompt_id, text)

    def stop_change(self) -> None:
        """Stop the change of a module that is being made."""
        self._stop_change()
        self._look()

    @property
    def _turns(self) -> "TurnControl | None":
        return None if self._service is None else self._service.turns

    def _send(self, turns: "TurnControl", prompt_id: str) -> None:
        self._engine.post(lambda: self.service.take_up(turns, prompt_id), "send a prompt")
        self._look(turns.arriving.late)

    def _look(self, late: Callable[[], object] = lambda: None) -> None:
        # What opens a session is watched as long as it takes: the engine imports much then.
        if self._turns is not None:
            self._watch.look(late)

    def _tell_blocked(self, module: str = "", *, over: bool = False) -> None:
        if self._service is not None:
            self._service.tell_blocked(module, over=over)

    def interrupt(self, immediate: bool = False, turn: int = 0) -> None:
        """Stop the running turn: after the current step, or at once."""
        handle = self._service.handle if self._service is not None else None
        if handle is not None and turn not in (0, handle.number):
            handle = None
        if handle is not None:
            # From this thread: the engine may be busy with the very thing to be stopped.
            handle.ask(immediate)
        self._engine.post(lambda: self.service.interrupt(immediate, turn, handle), "stop the turn")
        self._look()
        if handle is not None and immediate:
            watch = threading.Timer(
                BLOCKED_AFTER, handle.report_blocked, args=(self._engine.where,)
            )
            watch.daemon = True
            watch.start()

    def close(self) -> "Future[None]":
        """End the session and the engine; every row is on disk when the future is done.

        A module that blocks the engine is left behind after some seconds; then the future fails
        with a `TimeoutError`, and what was said is on disk all the same.
        """
        if self._closing is not None:
            return self._closing
        future: Future[None] = Future()
        self._closing = future
        if not self._engine.started:
            future.set_result(None)
            return future
        self.interrupt(immediate=True)
        threading.Thread(
            target=self._close, args=(future,), name="amplifier-close", daemon=True
        ).start()
        return future

    def _close(self, future: "Future[None]") -> None:
        asked = self._engine.ask(lambda: self.service.close())
        try:
            asked.result(CLOSE_TIME)
        except TimeoutError:
            places = self._engine.where()
            logger.error("The engine does not end; it is at:\n%s", described(places))
            spot = innermost(places)
            future.set_exception(TimeoutError(f"a module blocks the engine: {spot}"))
            self._engine.stop(0)
            return
        except Exception as error:
            logger.exception("The session did not close in order")
            self._engine.stop(0.5)
            future.set_exception(error)
            return
        self._engine.stop(0.5)
        future.set_result(None)

    @property
    def service(self) -> "Service":
        """The service; made, and everything heavy imported, with the first command.

        Used on the engine thread; by others once it is there, for what says so.
        """
        if self._service is None:
            from amplifier_tui import compat
            from amplifier_tui.paths import keep_homes

            # Before any module is loaded: it may import `amplifier_core`, or set variables.
            compat.install()
            keep_homes()
            from amplifier_tui.host.door.service import Service

            self._service = Service(
                self._outbox.put,
                self._trust,
                self._printed,
                window=self._window,
                place=self._place,
            )
            self._service.chosen, self._service.named = self._chosen, self._named
        return self._service

    def _strayed(self, error: BaseException) -> None:
        if self._service is not None:
            self._service.strayed(error)

    def _failed(self, error: BaseException, what: str) -> None:
        if self._service is not None:
            self._service.failed(error, what)
            return
        message = f"Could not {what}: {error or type(error).__name__}"
        remedy = "The installation may be damaged: install the program again."
        try:
            Path.cwd()
        except OSError:
            message = "The working directory is no longer there"
            remedy = "Start the program again in another one."
        self._outbox.put(
            Failed(
                session_id="",
                at=time(),
                kind="internal",
                message=message,
                remedy=remedy,
            )
        )
