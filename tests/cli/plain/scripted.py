"""A session in lines without an engine: what is written, and what the client is asked."""

import io
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_tui.cli.plain.lines import LineReader, LineWriter
from amplifier_tui.cli.plain.session import PlainSession
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import ApprovalResolved, HostEvent, Mode
from tests.ui.fake_client import FakeClient, opened
from tests.ui.state.make import make, turn_ended


@dataclass
class ScriptedClient(FakeClient):
    """Pushes the next batch of events for each prompt, steering message and decision."""

    batches: list[list[HostEvent]] = field(default_factory=list)
    on_submit: Callable[[], None] = lambda: None
    files: list[tuple[str, ...]] = field(default_factory=list)

    def next(self) -> None:
        if self.batches:
            self.push(*self.batches.pop(0))

    def resume(self, session_id: str) -> None:
        super().resume(session_id)
        self.push(opened(session_id, resumed=True))

    def submit(self, text: str, attachments: tuple[str, ...] = ()) -> None:
        super().submit(text, attachments)
        self.files.append(attachments)
        self.on_submit()
        self.next()

    def steer(self, text: str) -> None:
        super().steer(text)
        self.next()

    def decide(self, request_id: str, decision: Any) -> None:
        super().decide(request_id, decision)
        self.next()

    def answer_questions(self, request_id: str, reply: Any) -> None:
        super().answer_questions(request_id, reply)
        self.next()

    def carry_out(self, mode: Mode) -> None:
        super().carry_out(mode)
        self.next()

    def change_call(self, request_id: str, arguments: str) -> Future[str]:
        answer = super().change_call(request_id, arguments)
        if not answer.result():
            gone = make(ApprovalResolved, request_id=request_id, outcome="changed")
            self.push(gone, turn_ended())
        return answer

    def retry(self, *, without: str = "") -> None:
        super().retry(without=without)
        self.next()

    def shell(self, command: str, *, tell: bool = True, in_terminal: bool = False) -> None:
        super().shell(command, tell=tell, in_terminal=in_terminal)
        self.next()

    def answer_limit(self, request_id: str, *, go: bool) -> None:
        super().answer_limit(request_id, go=go)
        self.next()


def make_session(
    client: FakeClient, lines: str, *, person: bool = False, encoding: str = "utf-8"
) -> tuple[PlainSession, io.BytesIO]:
    """Return a session that reads these lines, and where it writes."""
    raw = io.BytesIO()
    writer = LineWriter(io.TextIOWrapper(raw, encoding=encoding), prompts=person)
    reader = LineReader(io.BufferedReader(io.BytesIO(lines.encode(encoding))), encoding)
    return PlainSession(client, reader, writer, person=person), raw


def said(
    client: FakeClient,
    lines: str,
    *,
    person: bool = False,
    encoding: str = "utf-8",
    status: int = 0,
) -> str:
    """Run a session to its end and return all it has written."""
    session, raw = make_session(client, lines, person=person, encoding=encoding)
    assert session.run(OpenRequest(cwd=Path("/src"))) == status
    return raw.getvalue().decode(encoding)
