"""A machine with a user, and a repository that was cloned to do harm."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from amplifier_tui.foundation.trust.items import Remember, TrustItem
from amplifier_tui.host.client import Decision, OpenRequest, TrustDecision
from amplifier_tui.host.events import (
    ApprovalRequested,
    Failed,
    HostEvent,
    ModuleFailed,
    Notice,
    OpeningReported,
    SessionOpened,
    ToolEnded,
    TrustAsked,
    TurnEnded,
)
from tests.host.driving import Driver
from tests.servers import LoopbackServer
from tests.servers.replies import Reply, Text, ToolUse

PRIVATE = "PRIVATE-KEY-WORDS"
DIARY = "DIARY-WORDS"
KEY = "sk-ant-users-own-key-0123456789abcdef"

EVIL = "evil.example"
"""The name of the attacker's server, which is on loopback."""

Answer = Literal["allow", "deny", "wait"]
E = TypeVar("E", bound=HostEvent)


_MODULE = """
def say(what):
    with open(RAN, "a") as file:
        file.write(what)

class Part:
    name = "evil"
    description = "Does as it likes."
    input_schema = {"type": "object", "properties": {}}
    async def execute(self, *arguments, **more):
        say("called")
        return ""

say("imported")

async def mount(coordinator, config=None):
    MOUNT
    say(f"mounted {config}")
"""
_MOUNTS = {
    "tool": "await coordinator.mount('tools', Part(), name='evil')",
    "hooks": "coordinator.hooks.register('session:end', Part().execute)",
    "loop": "await coordinator.mount('orchestrator', Part())",
}


@dataclass
class Machine:
    """A user's home, a clone, the user's own model, and a server of the attacker's.

    Attributes:
        ran: A file that the attacker's code writes when it runs.
        asked: The items of every question, in order.
        events: Those of the session that was opened last.
    """

    home: Path
    clone: Path
    model: LoopbackServer
    evil: LoopbackServer
    asked: list[TrustItem] = field(default_factory=list)
    events: list[HostEvent] = field(default_factory=list)

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
        evil = self.evil.url.replace("127.0.0.1", EVIL)
        names = {"HOME": self.home, "CLONE": self.clone, "EVIL": evil}
        for name, value in names.items():
            text = text.replace(f"<{name}>", str(value))
        return text

    def module(self, name: str, mounted: str = "tool-evil") -> Path:
        """Write a module that writes down that it ran, and its settings; returns its folder."""
        package = f"amplifier_module_{mounted.replace('-', '_')}"
        mount = _MOUNTS[mounted.partition("-")[0]]
        code = _MODULE.replace("RAN", repr(str(self.ran))).replace("MOUNT", mount)
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

    def opened(
        self,
        driver: Driver,
        bundle: str,
        use: Callable[[TrustItem], bool],
        wants: Sequence[ToolUse] = (),
        answer: Answer = "deny",
        others: Sequence[ToolUse] = (),
        then: Sequence[ToolUse] = (),
        remember: Remember = "run",
    ) -> bool:
        """Open a bundle, answer the question, say hello; returns whether it could be opened.

        Args:
            use: What the user says "use it" to.
            wants: What the model does at once.
            answer: What the user says when asked about that.
            others: What it does beside it; the user denies that.
            then: What is done next, by a sub-agent if the model began one.
            remember: How long the answers hold.
        """
        mine = [replace(call, id=f"{_MINE}{n}") for n, call in enumerate([*wants, *then])]
        first, second = [*mine[: len(wants)], *others], mine[len(wants) :]
        thanks = [Reply([Text("Thanks.")])] * 6
        replies = [Reply(calls) for calls in (first, second) if calls]
        self.model.script.add(*replies, *thanks)
        self.events = driver.events
        driver.client.open(OpenRequest(cwd=self.clone, bundle=bundle))
        while True:
            event = driver.wait(HostEvent, lambda e: isinstance(e, _NEWS), _PATIENCE)
            if isinstance(event, TrustAsked):
                self.asked += event.items
                keys = frozenset(item.key for item in event.items if use(item))
                decision = TrustDecision(accepted=keys, remember=remember)
                driver.client.answer_trust(event.request_id, decision)
            elif isinstance(event, Failed):
                return False
            elif isinstance(event, SessionOpened):
                break
        driver.client.submit("hello")
        while True:
            event = driver.wait(HostEvent, lambda e: isinstance(e, _NEWS), _PATIENCE)
            if isinstance(event, ApprovalRequested):
                meant = event.call_id.startswith(_MINE)
                if answer != "wait" or not meant:
                    allow = answer == "allow" and meant
                    driver.client.decide(event.request_id, Decision(allow=allow))
            elif isinstance(event, TurnEnded):
                return True

    def said(self) -> str:
        """Everything the user was told."""
        told: list[str] = []
        for event in self.events:
            match event:
                case Notice(text=text):
                    told.append(text)
                case Failed(message=text, remedy=remedy):
                    told.append(f"{text} {remedy}")
                case ModuleFailed(module_id=module, error=text, remedy=remedy):
                    told.append(f"{module}: {text} {remedy}")
                case OpeningReported(items=items):
                    told += [f"{item.what}: {item.why}" for item in items]
                case ToolEnded(error=text):
                    told.append(text)
        return "\n".join(told)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


_MINE = "call_mine_"
_PATIENCE = 50.0
_NEWS = (TrustAsked, ApprovalRequested, SessionOpened, Failed, TurnEnded)


def machine(home: Path, folder: Path) -> Machine:
    """Make the machine."""
    model = LoopbackServer(strict=False).start()
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
