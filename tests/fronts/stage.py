"""The project a conversation is held in, and what came of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_tui.base.jsonl import Row
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import LocalClient
from amplifier_tui.host.client import OpenRequest, SpendLimit
from amplifier_tui.host.events import HostEvent, SessionOpened
from tests.fronts.player import Conversation, Player
from tests.host.asking import chat
from tests.host.driving import Project
from tests.servers import Failure, LoopbackServer


@dataclass
class Held:
    """What a front end was told, and what is on disk.

    Attributes:
        events: As the front end got them.
        rows: The ledger.
        told: What the front end itself wrote or showed, where that is no list of events.
    """

    folder: Path
    events: list[HostEvent] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    told: Any = None


class Stage:
    """A project of its own for one conversation through one front end.

    Args:
        folder: Of the project, which is made.
        home: The user's.
    """

    def __init__(self, conversation: Conversation, folder: Path, home: Path) -> None:
        self.conversation = conversation
        folder.mkdir()
        self.project = Project(folder)
        self.folder = folder
        self.server: LoopbackServer | None = None
        for name, text in conversation.files.items():
            (folder / name).write_text(text)
        for name, text in conversation.skills.items():
            skill = home / ".agents" / "skills" / name
            skill.mkdir(parents=True, exist_ok=True)
            head = f"name: {name}\ndescription: About {name}.\n"
            (skill / "SKILL.md").write_text(f"---\n{head}---\n{text}\n")

    @contextmanager
    def set(self) -> Iterator[str]:
        """Write the bundle and the rules; returns the bundle's name."""
        more = _placed(dict(self.conversation.bundle), str(self.folder))
        server = LoopbackServer().start() if more.pop("retries", False) else None
        window = more.pop("window", 0)
        if server is not None:
            server.script.add(Failure("overloaded"), "It worked.")
            more["providers"] = [chat(server, max_retries=1, min_retry_delay=0)]
        name = self.project.bundle(**more)
        if window:
            path = self.project.bundles / f"{name}.md"
            speed = "tokens_per_second: 0"
            path.write_text(
                path.read_text().replace(
                    speed, f"{speed}\n    context_window: {window}\n    max_output_tokens: 500"
                )
            )
        self.project.allow(("wait", *self.conversation.allow))
        try:
            yield name
        finally:
            if server is not None:
                server.stop()

    def requests(self, bundle: str, held: Held) -> Iterator[tuple[OpenRequest, Player]]:
        """Return what opens each life of the session, and who plays the user in it."""
        conversation, folder = self.conversation, self.folder
        first = OpenRequest(
            cwd=folder, bundle=bundle, mode=conversation.mode, limit=conversation.limit
        )
        yield first, Player(conversation, conversation.prompts, folder)
        if conversation.again:
            later = OpenRequest(cwd=folder, resume=session_of(held.events))
            yield later, Player(conversation, conversation.again, folder)

    def end(self, held: Held) -> Held:
        """Return what was held, with what is on disk."""
        held.rows = self.project.rows(session_of(held.events))
        return held


class TappedClient(LocalClient):
    """Notes every event that a front end takes.

    Args:
        sees: Called with each.
        limit: Of the session, where the front end has no way to set one.
    """

    def __init__(
        self, held: Held, sees: Callable[[HostEvent], None], limit: SpendLimit | None = None
    ) -> None:
        super().__init__(trust_everything)
        take, begin = self.drain, self.open

        def drain(most: int = 0) -> list[HostEvent]:
            events = take(most)
            held.events += events
            for event in events:
                sees(event)
            return events

        self.drain = drain
        if limit is not None:
            self.open = lambda request: begin(replace(request, limit=limit))


def session_of(events: list[HostEvent]) -> str:
    """Return the id of the session that was held."""
    return next(event.session_id for event in events if isinstance(event, SessionOpened))


def _placed(value: Any, folder: str) -> Any:
    return json.loads(json.dumps(value).replace("{folder}", folder)) if "script" in value else value
