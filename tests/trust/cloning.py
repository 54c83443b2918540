"""A machine with a user, and a repository that was cloned to do harm."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.trust.items import TrustItem
from amplifier_tui.foundation.workspace import Workspace
from amplifier_tui.host.client import Decision, OpenRequest, TrustDecision
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    HostEvent,
    SessionOpened,
    TrustAsked,
    TurnEnded,
)
from amplifier_tui.paths import shipped_bundles_dir
from tests.host.driving import Driver
from tests.servers import LoopbackServer
from tests.servers.replies import Reply, Text, ToolUse

PRIVATE = "PRIVATE-KEY-WORDS"
DIARY = "DIARY-WORDS"
KEY = "sk-ant-users-own-key-0123456789abcdef"


@dataclass
class Machine:
    """A user's home, a clone, the user's own model, and a server of the attacker's.

    Attributes:
        ran: A file that the attacker's code writes when it runs.
        asked: The items of every question, in order.
    """

    home: Path
    clone: Path
    model: LoopbackServer
    evil: LoopbackServer
    asked: list[TrustItem] = field(default_factory=list)

    @property
    def ran(self) -> Path:
        return self.home / "RAN"

    def write(self, name: str, text: str) -> Path:
        """Write a file of the clone."""
        path = self.clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.told(text))
        return path

    def told(self, text: str) -> str:
        names = {"HOME": self.home, "CLONE": self.clone, "EVIL": self.evil.url}
        for name, value in names.items():
            text = text.replace(f"<{name}>", str(value))
        return text

    def module(self, name: str, mounted: str = "tool-evil") -> Path:
        """Write a module that shows that it ran; returns its folder."""
        package = f"amplifier_module_{mounted.replace('-', '_')}"
        code = (
            f"open({str(self.ran)!r}, 'a').write('ran\\n')\n"
            "async def mount(coordinator, config=None):\n    return None\n"
        )
        return self.write(f"{name}/{package}/__init__.py", code).parent.parent

    def bundle(self, head: str = "", body: str = "Be helpful.", name: str = "team") -> str:
        """Write a bundle of the project that goes on from the shipped one."""
        path = f".amplifier/bundles/{name}.md"
        includes = "" if "includes:" in head else "includes: [coding]\n"
        self.write(path, f"---\nbundle: {{name: {name}}}\n{includes}{head}---\n{body}\n")
        return name

    def state(self) -> dict[str, str]:
        """Every file of the user's that is none of the program's, with what is in it."""
        own = (self.home / ".amplifier", self.home / ".local", self.home / ".config")
        return {
            str(path): path.read_text(errors="replace")
            for path in self.home.rglob("*")
            if path.is_file() and not any(path.is_relative_to(folder) for folder in own)
        }

    def prompts(self) -> str:
        """Everything the model was sent."""
        return json.dumps([request.json for request in self.model.requests])

    # --- opening ---------------------------------------------------------------------------

    def opened(self, driver: Driver, bundle: str, use: Callable[[TrustItem], bool]) -> str:
        """Open a bundle, answer the question, say hello; returns what failed to open, if it did.

        Whatever the agent wants to do after that is denied.
        """
        driver.client.open(OpenRequest(cwd=self.clone, bundle=bundle))
        while True:
            event = driver.wait(HostEvent, lambda e: isinstance(e, _NEWS))
            if isinstance(event, TrustAsked):
                self.asked += event.items
                keys = frozenset(item.key for item in event.items if use(item))
                driver.client.answer_trust(event.request_id, TrustDecision(accepted=keys))
            elif isinstance(event, Failed):
                return event.message
            elif isinstance(event, SessionOpened):
                break
        driver.client.submit("hello")
        while True:
            event = driver.wait(HostEvent, lambda e: isinstance(e, _NEWS))
            if isinstance(event, ApprovalRequested):
                driver.client.decide(event.request_id, Decision(allow=False))
            elif isinstance(event, TurnEnded):
                return ""

    def prepared(self, bundle: str, *, use: bool = True) -> tuple[PreparedBundle, str]:
        """Return a bundle as it is when everything is used, or nothing, and its system prompt."""
        answers = Answers(self.asked, use)
        workspace = Workspace.open(
            self.clone, shipped=(shipped_bundles_dir(),), environ=dict(os.environ)
        )

        async def prepare() -> tuple[PreparedBundle, str]:
            choice = workspace.choose(bundle, default="coding")
            entry = choice.entry
            known = workspace.catalog().find(entry.name) == entry
            found = await workspace.prepare(
                entry.name if known else entry.source,
                trust=answers,
                install_deps=False,
                chosen_by=choice.chosen_by,
            )
            data = found.bundle
            data.resolve_pending_context()
            factory = SystemPromptFactory(data, mention_resolver(data, self.clone))
            return found, await factory()

        return asyncio.run(prepare())


_NEWS = (TrustAsked, ApprovalRequested, SessionOpened, Failed, TurnEnded)


class Answers:
    """Answers "use it" to everything, or "open without it"."""

    folders: tuple[Path, ...] = ()

    def __init__(self, asked: list[TrustItem], use: bool) -> None:
        self._asked = asked
        self._use = use

    def known(self, item: TrustItem) -> bool | None:
        return None

    def bind(self, item: TrustItem) -> None:
        pass

    async def ask(self, items: Sequence[TrustItem]) -> frozenset[str]:
        self._asked += items
        return frozenset(item.key for item in items if self._use)


def machine(home: Path, folder: Path, calls: Sequence[ToolUse]) -> Machine:
    """Make the machine; the user's model wants the calls, then thanks."""
    thanks = [Reply([Text("Thanks.")])] * 6
    model = LoopbackServer([Reply(list(calls)), *thanks], strict=False).start()
    evil = LoopbackServer([Reply([Text("Got you.")])] * 6, strict=False).start()
    clone = folder / "clone"
    clone.mkdir()
    for name, text in (
        (".ssh/id_rsa", PRIVATE),
        (".aws/credentials", PRIVATE),
        ("notes.md", DIARY),
        (".bashrc", "# mine\n"),
        (".amplifier/keys.env", f'ANTHROPIC_API_KEY="{KEY}"\n'),
        (".amplifier/diary.md", DIARY),
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / ".amplifier" / "keys.env").chmod(0o600)
    (home / ".amplifier" / "settings.yaml").write_text(
        "config:\n  providers:\n    - module: provider-openai\n      config:\n"
        f"        {{base_url: '{model.openai_url}', api: chat, api_key: sk-local, max_retries: 0,"
        " priority: 1}\n"
    )
    return Machine(home, clone, model, evil)
