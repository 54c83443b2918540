import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml

from amplifier_tui.base.jsonl import Row
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import Decision, OpenRequest, TrustDecision
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    ApprovalRequested,
    BlockEnded,
    Failed,
    HostEvent,
    SessionOpened,
    TrustAsked,
    TurnEnded,
)
from amplifier_tui.host.gate.rules.file import user_rules_path
from amplifier_tui.paths import sessions_dir
from tests.homes import real_home

MODULES = Path(__file__).parent / "modules"
TOOLS = (
    *("echo", "fail", "noisy", "write", "wait", "block", "stubborn", "progress", "leak", "leave"),
    *("cancel_all", "delegate", "bash", "write_file", "edit_file", "memory"),
)
"""Tools that are not asked about where a test is about something else."""
E = TypeVar("E", bound=HostEvent)


class Driver:
    """A front end for tests: waits for events instead of sleeping."""

    def __init__(self, cwd: Path, client: LocalClient | None = None) -> None:
        self.cwd = cwd
        self.client = client or LocalClient(trust=trust_everything)
        self.events: list[HostEvent] = []
        self._seen = 0
        self._news = threading.Event()
        self.client.set_waker(self._news.set)

    def open(self, bundle: str = "", **request: Any) -> SessionOpened:
        self.client.open(OpenRequest(cwd=self.cwd, bundle=bundle, **request))
        return self.wait(SessionOpened)

    def wait(
        self,
        kind: type[E],
        when: Callable[[E], bool] = lambda _: True,
        timeout: float = 15.0,
    ) -> E:
        """Return the first event of a kind after those waited for before."""
        deadline = time.monotonic() + timeout
        while True:
            while self._seen < len(self.events):
                event = self.events[self._seen]
                self._seen += 1
                if isinstance(event, kind) and when(event):
                    return event
            self._news.clear()
            self.events += self.client.drain()
            if self._seen < len(self.events):
                continue
            left = deadline - time.monotonic()
            if left <= 0:
                tail = "\n".join(str(e.to_json())[:300] for e in self.events[-12:])
                raise AssertionError(f"No {kind.__name__} came. The last events:\n{tail}")
            self._news.wait(left)

    def wait_for_file(self, path: Path, timeout: float = 10.0) -> None:
        self.wait_until(path.exists, f"{path} never came", timeout)

    def wait_until(self, holds: Callable[[], bool], otherwise: str, timeout: float = 10.0) -> None:
        deadline = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < deadline, otherwise
            self._news.wait(0.01)
            self._news.clear()
            self.events += self.client.drain()

    def turn(self, text: str, **more: Any) -> TurnEnded:
        self.client.submit(text, **more)
        return self.wait(TurnEnded)

    def drain(self) -> list[HostEvent]:
        self.events += self.client.drain()
        self._seen = len(self.events)
        return self.events

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def allow_next(self, **decision: Any) -> ApprovalRequested:
        request = self.wait(ApprovalRequested)
        self.client.decide(request.request_id, Decision(allow=True, **decision))
        return request

    def deny_next(self, **decision: Any) -> ApprovalRequested:
        request = self.wait(ApprovalRequested)
        self.client.decide(request.request_id, Decision(allow=False, **decision))
        return request

    def answer_trust(self, *, use: bool) -> TrustAsked:
        """Answer the question of trust, all of it."""
        asked = self.wait(TrustAsked)
        keys = frozenset(item.key for item in asked.items if use)
        decision = TrustDecision(accepted=keys, remember="always" if use else "run")
        self.client.answer_trust(asked.request_id, decision)
        return asked

    def answers(self) -> list[str]:
        return [e.text for e in self.of(BlockEnded) if e.kind == "text" and not e.discarded]

    def failures(self) -> list[str]:
        return [e.kind for e in self.of(Failed)]

    def close(self, timeout: float = 5.0) -> None:
        self.client.close().result(timeout)
        self.drain()


class Project:
    """A project folder with bundles of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bundles = folder / ".amplifier" / "bundles"
        self.bundles.mkdir(parents=True, exist_ok=True)

    def bundle(
        self,
        name: str = "test",
        *,
        script: dict[str, Any] | list[dict[str, Any]] | None = None,
        speed: float = 0,
        loop: str = "loop-streaming",
        loop_config: dict[str, Any] | None = None,
        context: str = "context-simple",
        context_config: dict[str, Any] | None = None,
        tools: tuple[str, ...] = ("tool-test",),
        hooks: tuple[tuple[str, dict[str, Any]], ...] = (),
        providers: list[dict[str, Any]] | None = None,
        session: dict[str, Any] | None = None,
        instruction: str = "You are a test.",
    ) -> str:
        if providers is None:
            path = self.folder / f".{name}.script.json"
            scenarios = script if isinstance(script, list) else [script or saying("Hello.")]
            path.write_text(json.dumps({"scenarios": scenarios}))
            mock = {"script": str(path), "tokens_per_second": speed}
            providers = [{"module": "provider-mock", "config": mock}]
        data = {
            "bundle": {"name": name, "version": "1.0.0", "description": "For tests"},
            "session": {
                "orchestrator": {"module": loop, "config": loop_config or {}},
                "context": {"module": context, "config": context_config or {}},
                **(session or {}),
            },
            "providers": providers,
            "tools": [{"module": tool} for tool in tools],
            "hooks": [{"module": hook, "config": config} for hook, config in hooks],
        }
        self.allow(() if any(map(_asks, hooks)) else TOOLS)
        text = yaml.safe_dump(data, sort_keys=False)
        (self.bundles / f"{name}.md").write_text(f"---\n{text}---\n\n{instruction}\n")
        return name

    def allow(self, rules: Iterable[str], **more: list[str]) -> None:
        """Write the user's rules."""
        path = user_rules_path()
        if path.is_relative_to(real_home() / ".config"):
            raise RuntimeError("These are somebody's own rules: set `home_variables` first")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({"allow": list(rules), **more}))

    def folder_of(self, session_id: str) -> Path:
        return sessions_dir(self.folder) / session_id

    def rows(self, session_id: str) -> list[Row]:
        path = self.folder_of(session_id) / "transcript.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def log(self, session_id: str) -> list[Row]:
        path = self.folder_of(session_id) / "events.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


def _asks(hook: tuple[str, dict[str, Any]]) -> bool:
    name, config = hook
    return name == "hooks-approval" or bool({"ask", "ask_provider"} & config.keys())


def saying(text: str, **more: Any) -> dict[str, Any]:
    return {"name": "say", "steps": {"only": {"say": text, **more}}}


def calling(*calls: dict[str, Any], then: str = "All done.", say: str = "") -> dict[str, Any]:
    first: dict[str, Any] = {"call": list(calls)}
    if say:
        first["say"] = say
    return {"name": "call", "steps": {"first": first, "last": {"say": then}}}
