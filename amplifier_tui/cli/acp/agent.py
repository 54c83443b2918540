"""The agent an editor talks to: one connection, any number of sessions."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from acp import PROTOCOL_VERSION, RequestError, schema

from amplifier_tui import __version__
from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.text import one_line
from amplifier_tui.cli.acp.commands import run_command
from amplifier_tui.cli.acp.content import prompt_of, servers_of
from amplifier_tui.cli.acp.editor.files import EditorFiles
from amplifier_tui.cli.acp.editor.protocol import Editor
from amplifier_tui.cli.acp.editor.terminals import EditorTerminals
from amplifier_tui.cli.acp.session import EditorSession
from amplifier_tui.host.client import ModelCard, OpenRequest
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import HostEvent, Mode, ModelChanged, Notice
from amplifier_tui.ui.app.preferences import Preferences

if TYPE_CHECKING:
    from amplifier_tui.foundation.trust.gate import TrustCallback

logger = logging.getLogger(__name__)

_MODES: Final = {
    "plan": ("Plan", "Only reads; ends in a plan that you decide about"),
    "ask": ("Ask", "Asks before it writes files or runs commands"),
    "edits": ("Edits", "Writes files in the project, asks before commands"),
    "auto": ("Auto", "Nearly everything goes"),
}
_MOST_MODELS: Final = 200
_LOOKED_UP: Final = 10.0
"""Seconds another model has to be looked up in."""

_MOST_SESSIONS: Final = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line says for every session: bundle, demo, mode, and who answers trust."""

    bundle: str = ""
    demo: bool = False
    mode: str = ""
    trust: "TrustCallback | None" = None


@dataclass(slots=True)
class _Open:
    """A session, and its models as far as they are known."""

    session: EditorSession
    models: tuple[ModelCard, ...] = field(default=())


class EditorAgent:
    """Does what an editor asks for; the methods are those of `acp.Agent`.

    Args:
        wanted: What holds for every session.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._editor: Editor | None = None
        self._sessions: dict[str, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._forms = False
        self._files: schema.FileSystemCapabilities | None = None
        self._terminals = False

    def on_connect(self, conn: Any) -> None:
        """Take the connection to the editor."""
        self._editor = conn

    async def close(self) -> None:
        """Close every session: the editor is gone."""
        for task in self._tasks:
            task.cancel()
        opened, self._sessions = self._sessions, {}
        await asyncio.gather(*(each.session.close() for each in opened.values()))

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **_: Any,
    ) -> schema.InitializeResponse:
        """Say what this agent can do."""
        asks = client_capabilities.elicitation if client_capabilities is not None else None
        self._forms = asks is not None and asks.form is not None
        self._files = client_capabilities.fs if client_capabilities is not None else None
        self._terminals = bool(client_capabilities and client_capabilities.terminal)
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(
                    image=True, audio=False, embedded_context=True
                ),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=False),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            agent_info=schema.Implementation(
                name="amplifier-tui", title="Amplifier", version=__version__
            ),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_: Any) -> schema.AuthenticateResponse:
        """There is nothing to log in to: keys are in the environment or in `keys.env`."""
        raise _wrong(f"There is no way to authenticate called {method_id}")

    # --- sessions -------------------------------------------------------------------------

    async def new_session(self, cwd: str, **more: Any) -> schema.NewSessionResponse:
        """Open a new session in a directory."""
        opened = await self._open(cwd, "", more)
        self._soon(opened.session.show())
        self._soon(self._list_models(opened))
        return schema.NewSessionResponse(
            session_id=opened.session.session_id,
            modes=_modes(opened),
            config_options=_options(opened),
        )

    async def load_session(
        self, cwd: str, session_id: str, **more: Any
    ) -> schema.LoadSessionResponse:
        """Open a stored session and retell its conversation first."""
        opened = await self._open(cwd, session_id, more)
        session = opened.session
        await session.show(await _earlier(session))
        self._soon(self._list_models(opened))
        return schema.LoadSessionResponse(modes=_modes(opened), config_options=_options(opened))

    async def resume_session(
        self, session_id: str, cwd: str, **more: Any
    ) -> schema.ResumeSessionResponse:
        """Open a stored session whose conversation the editor has."""
        opened = await self._open(cwd, session_id, more)
        opened.session.forget_held()
        self._soon(opened.session.show())
        self._soon(self._list_models(opened))
        return schema.ResumeSessionResponse(modes=_modes(opened), config_options=_options(opened))

    async def fork_session(
        self, session_id: str, cwd: str, **more: Any
    ) -> schema.ForkSessionResponse:
        """Copy a stored conversation into a new session and open that."""
        from amplifier_tui.host.session.carrying import fork_stored
        from amplifier_tui.host.store.sessions import SessionNotFoundError, find_session

        folder = _folder(cwd)
        try:
            source = await asyncio.to_thread(find_session, folder, session_id)
            copied = await asyncio.to_thread(fork_stored, source, None)
        except (SessionNotFoundError, OSError) as error:
            raise _wrong(str(error)) from error
        opened = await self._open(cwd, copied.name, more)
        opened.session.forget_held()
        self._soon(opened.session.show())
        return schema.ForkSessionResponse(
            session_id=opened.session.session_id,
            modes=_modes(opened),
            config_options=_options(opened),
        )

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> schema.ListSessionsResponse:
        """List the stored sessions, of one directory if it is given, pinned ones first."""
        from amplifier_tui.host.store.listing.listing import list_sessions

        folder = _folder(cwd) if cwd else None
        here = folder is not None
        listed = await asyncio.to_thread(list_sessions, "", folder, here=here, most=_MOST_SESSIONS)
        return schema.ListSessionsResponse(
            sessions=[
                schema.SessionInfo(
                    session_id=card.session_id,
                    cwd=str(folder or card.cwd),
                    title=one_line(card.title or card.first_prompt, 120) or None,
                    updated_at=datetime.fromtimestamp(card.updated, UTC).isoformat(),
                )
                for card in listed.cards
                # A session can only be loaded in its directory.
                if folder or card.cwd
            ]
        )

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """Close a session; it stays stored."""
        session = self._found(session_id).session
        del self._sessions[session_id]
        await session.close()
        return schema.CloseSessionResponse()

    # --- turns ----------------------------------------------------------------------------

    async def prompt(
        self, session_id: str, prompt: Sequence[Any], **_: Any
    ) -> schema.PromptResponse:
        """Run a turn, or a command that the session does by itself."""
        session = self._found(session_id).session
        try:
            sent = prompt_of(prompt)
        except ValueError as error:
            raise _wrong(str(error)) from error
        if not sent.text.strip() and not sent.files:
            raise _wrong("The prompt is empty")
        done = await run_command(session, sent.text)
        if done is not None:
            return done
        return await session.prompt(sent)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the running turn."""
        if session_id in self._sessions:
            self._sessions[session_id].session.cancel()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Change what goes through unasked."""
        session = self._found(session_id).session
        if mode_id not in _MODES or (mode_id == "auto" and session.facts.mode != "auto"):
            raise _wrong(f"There is no mode {mode_id} here")
        session.client.set_mode(cast("Mode", mode_id))
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Choose the model, or how hard it thinks."""
        opened = self._found(session_id)
        session, text = opened.session, str(value)
        changed = session.expect(ModelChanged, "model")
        if config_id == "model":
            provider, _slash, model = text.partition("/")
            session.client.switch_model(model, provider)
        elif config_id == "effort":
            session.client.set_effort("" if text == "default" else text)
        else:
            changed.cancel()
            raise _wrong(f"There is nothing called {config_id} to choose")
        event = await session.answer(changed, _LOOKED_UP)
        if isinstance(event, Notice):
            raise _wrong(event.text)
        return schema.SetSessionConfigOptionResponse(config_options=_options(opened))

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Extensions are not known here."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore what an extension tells."""

    # --- within ---------------------------------------------------------------------------

    async def _open(self, cwd: str, resume: str, more: dict[str, Any]) -> _Open:
        if self._editor is None:
            raise RequestError.internal_error({"details": "not connected"})
        folder = _folder(cwd)
        if resume in self._sessions:
            raise _wrong(f"The session {resume} is open here already")
        wanted = self._wanted
        client = LocalClient(wanted.trust)
        session = EditorSession(client, self._editor, forms=self._forms)
        files = EditorFiles(self._editor, self._files, folder)
        request = OpenRequest(
            cwd=folder,
            bundle="" if resume else wanted.bundle,
            resume=resume,
            demo=wanted.demo and not resume,
            mode=cast("Mode", wanted.mode),
            models=Preferences().models,
            mcp_servers=servers_of(more.get("mcp_servers") or ()),
            restores_queue=False,
            client_files=files if files.reads or files.writes else None,
            client_terminals=EditorTerminals(self._editor, session) if self._terminals else None,
        )
        try:
            await session.open(request)
        except BaseException:
            await session.close()
            raise
        files.session_id = session.session_id
        opened = self._sessions[session.session_id] = _Open(session)
        return opened

    def _found(self, session_id: str) -> _Open:
        if session_id not in self._sessions:
            raise RequestError.resource_not_found(session_id)
        return self._sessions[session_id]

    async def _list_models(self, opened: _Open) -> None:
        """Tell the editor which models there are, once the providers have said so."""
        session = opened.session
        try:
            opened.models = await asyncio.wrap_future(session.client.models())
        except RuntimeError as error:
            # The session may have been closed meanwhile.
            logger.info("The models are not listed: %s", error)
            return
        options = _options(opened)
        if options:
            update = schema.ConfigOptionUpdate(
                session_update="config_option_update", config_options=options
            )
            await session.send(update)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something once the answer to the editor's request is written."""

        async def done() -> None:
            # Without an editor there is nobody to tell.
            with contextlib.suppress(ConnectionError):
                await work

        task = asyncio.create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _earlier(session: EditorSession) -> list[HostEvent]:
    """Return the events of all rows that opening did not retell, in their order."""
    opened, found = session.facts.opened, list[HostEvent]()
    before = opened.earlier if opened is not None else 0
    while before > 0:
        limit = min(before, 500)
        page = await asyncio.wrap_future(session.client.history(before, limit))
        found = [*page, *found]
        before -= limit
    return found


def _modes(opened: _Open) -> schema.SessionModeState:
    current = opened.session.facts.mode or "ask"
    names = [name for name in _MODES if name != "auto" or current == "auto"]
    return schema.SessionModeState(
        current_mode_id=current,
        available_modes=[
            schema.SessionMode(id=name, name=_MODES[name][0], description=_MODES[name][1])
            for name in names
        ],
    )


def _options(opened: _Open) -> list[Any]:
    """Return what a user of the editor may choose: the model, and how hard it thinks."""
    facts, found = opened.session.facts, list[Any]()
    if facts.model:
        keys = [card.key for card in opened.models if card.model][:_MOST_MODELS]
        keys = keys if facts.model in keys else [facts.model, *keys]
        found.append(_select("model", "Model", facts.model, keys))
    if facts.efforts:
        levels = ["default", *facts.efforts]
        found.append(_select("effort", "Effort", facts.effort or "default", levels))
    return found


def _select(name: str, title: str, current: str, values: list[str]) -> Any:
    return schema.SessionConfigOptionSelect(
        id=name,
        name=title,
        category="model" if name == "model" else "thought_level",
        type="select",
        current_value=current,
        options=[
            schema.SessionConfigSelectOption(value=each, name=one_line(each)) for each in values
        ],
    )


def _folder(cwd: str) -> Path:
    path = Path(cwd)
    if not path.is_absolute() or not path.is_dir():
        raise _wrong(f"{one_line(cwd)} is no absolute path of a directory")
    return path


def _wrong(text: str) -> RequestError:
    return RequestError(-32602, one_line(text, 1_000))
