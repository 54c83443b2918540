"""An editor, on the protocol's own SDK."""

import asyncio
from collections import deque
from typing import Any

import pytest
from acp import schema

from amplifier_tui.cli.acp import agent as agents
from amplifier_tui.foundation.trust.gate import trust_everything
from tests.cli.acp.editor import TestEditor, connected
from tests.fronts.player import Conversation, Player
from tests.fronts.stage import Held, Stage, TappedClient


class ActingEditor(TestEditor):
    """Does in an editor's ways what the user of a conversation does."""

    def __init__(self, conversation: Conversation, player: Player) -> None:
        super().__init__()
        self._player = player
        self._answers = deque(conversation.answers)
        self._meanwhile = conversation.meanwhile
        self._at_question = conversation.at_question
        self.session = ""
        self.doing: list[asyncio.Task[Any]] = []

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        await super().session_update(session_id, update, **more)
        waits = isinstance(update, schema.ToolCallStart) and update.title.startswith("wait")
        if waits and self._meanwhile:
            self._player.wait_until_begun()
            (kind, *words), self._meanwhile = self._meanwhile, ()
            self._do(self._cancel() if kind == "stop" else self.say(self.session, " ".join(words)))

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append((tool_call, options))
        if self._at_question:
            self._at_question = ()
            await self._cancel()
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            chosen = self._answers.popleft()
            assert chosen in [option.option_id for option in options] or chosen == "stop", options
            outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        answer = self._answers.popleft()
        self.forms.append(None if answer == "decline" else {"0": str(answer[0])})
        return await super().create_elicitation(message, mode)

    async def _cancel(self) -> None:
        await self.agent.cancel(session_id=self.session)

    def _do(self, work: Any) -> None:
        self.doing.append(asyncio.create_task(work))


async def hold(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Hold the conversation of a stage; `told` has what each life of the editor was sent."""
    held, conversation = Held(stage.folder, told=[]), stage.conversation
    with stage.set() as bundle:
        for request, player in stage.requests(bundle, held):
            editor = ActingEditor(conversation, player)
            held.told.append(editor)
            client = TappedClient(
                held, lambda event, p=player: p.sees(event) and None, conversation.limit
            )
            monkeypatch.setattr(agents, "LocalClient", lambda trust, made=client: made)
            wanted = agents.Wanted(bundle=bundle, mode=request.mode, trust=trust_everything)
            await connected(agents.EditorAgent(wanted), editor, forms=True)
            try:
                await _hold(editor, stage, request.resume)
            finally:
                await editor.leave()
            client.drain()
    return stage.end(held)


async def load(stage: Stage, session_id: str) -> TestEditor:
    """Return an editor that has loaded a stored session, and has left again."""
    wanted = agents.Wanted(trust=trust_everything)
    editor = await connected(agents.EditorAgent(wanted))
    try:
        await editor.agent.load_session(
            cwd=str(stage.folder), session_id=session_id, mcp_servers=[]
        )
    finally:
        await editor.leave()
    return editor


async def _hold(editor: ActingEditor, stage: Stage, resume: str) -> None:
    cwd = str(stage.folder)
    if resume:
        await editor.agent.load_session(cwd=cwd, session_id=resume, mcp_servers=[])
        editor.session = resume
    else:
        editor.session = (await editor.agent.new_session(cwd=cwd, mcp_servers=[])).session_id
    conversation = stage.conversation
    for prompt in conversation.again if resume else conversation.prompts:
        try:
            await editor.say(editor.session, prompt, *map(_image, conversation.attached))
        except agents.RequestError as error:
            editor.failures.append(str(error))
    await asyncio.gather(*editor.doing)


def _image(url: str) -> schema.ImageContentBlock:
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return schema.ImageContentBlock(type="image", data=data, mime_type=kind)
