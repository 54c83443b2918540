"""A session with everything in it, recorded once, and played again as often as tests like."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.cassettes.baseline import baseline
from amplifier_tui.host.cassettes.cassette import Cassette
from amplifier_tui.host.cassettes.comparing import differences
from amplifier_tui.host.cassettes.conversing import Replayed, ReplayOrder, play
from amplifier_tui.host.cassettes.playing import ToolsFrom
from amplifier_tui.host.cassettes.recording import SessionRecorder
from amplifier_tui.host.client import Decision
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import ApprovalRequested, HostEvent, Scope, TurnEnded
from amplifier_tui.host.redaction import Redactor
from tests.host.driving import Driver, Project

INSTRUCTION = "You are careful.\nYou answer in one sentence."
AGENT = "You look around and tell what you see."

STORIES: list[dict[str, Any]] = [
    {"read": {"call": [{"read_file": {"file_path": "notes.txt"}}]}},
    {"write": {"call": [{"write_file": {"file_path": "out{{turn}}.txt", "content": "{{turn}}"}}]}},
    {"run": {"call": [{"bash": {"command": "sort notes.txt"}}, {"bash": {"command": "touch x"}}]}},
    {"ask": {"call": [{"task": {"agent": "scout", "instruction": "Read the notes."}}]}},
    {"long": {"call": [{"read_file": {"file_path": "long.txt"}}]}},
    {"refused": {"call": [{"write_file": {"file_path": "no.txt", "content": "no"}}]}},
    {"plan": {"call": [{"todo": {"action": "create", "todos": ["Look again."]}}]}},
]


def story() -> dict[str, Any]:
    count = len(STORIES)
    main = [
        {
            "name": f"story {number}",
            "when": {"every": count, "at": number % count, "tools": ["task"]},
            "steps": {**steps, "done": {"say": "In turn {{turn}}: {{tail}}"}},
        }
        for number, steps in enumerate(STORIES, start=1)
    ]
    look = {"call": [{"read_file": {"file_path": "notes.txt"}}], "thinking": "Where is it?"}
    agent = {"name": "agent", "steps": {"look": look, "tell": {"say": "It says {{output}}"}}}
    return {"scenarios": [*main, agent]}


class TapedProject:
    """A project with a bundle of its own, whose parts tests change."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self.folder = folder
        self.instruction, self.agent = INSTRUCTION, AGENT
        self.house: dict[str, str] = {}
        self.context: dict[str, Any] = {}
        self.window = 5_000
        self.tools = ["tool-filesystem", "tool-bash", "tool-task", "tool-todo"]
        self.rules: dict[str, list[str]] = {}
        (folder / "notes.txt").write_text("needle\nhay\n")
        (folder / "long.txt").write_text("".join(f"line {n} of the book\n" for n in range(400)))

    def write(self) -> None:
        script = self.folder / ".story.json"
        script.write_text(json.dumps(story()))
        window = {"context_window": self.window, "max_output_tokens": 500}
        mock = {"script": str(script), "tokens_per_second": 0, **window}
        data = {
            "bundle": {"name": "taped", "version": "1.0.0"},
            "session": {
                "orchestrator": {"module": "loop-streaming"},
                "context": {"module": "context-pipeline", "config": self.context},
            },
            "providers": [{"module": "provider-mock", "config": mock}],
            "tools": [{"module": tool} for tool in self.tools],
            "hooks": [
                {"module": "hooks-house", "config": self.house},
                {"module": "hooks-status-context"},
                {"module": "hooks-checkpoint"},
                {"module": "hooks-todo-reminder"},
            ],
            "agents": {"include": ["scout"]},
        }
        agents = self.project.bundles / "agents"
        agents.mkdir(parents=True, exist_ok=True)
        (agents / "scout.md").write_text(
            f"---\nmeta: {{name: scout, description: Looks}}\n---\n\n{self.agent}\n"
        )
        text = yaml.safe_dump(data, sort_keys=False)
        path = self.project.bundles / "taped.md"
        path.write_text(f"---\n{text}---\n\n{self.instruction}\n")
        self.project.allow(self.rules.get("allow", ()), deny=self.rules.get("deny", []))

    def play(self, cassette: Cassette, tools: ToolsFrom = "cassette") -> Replayed:
        self.write()
        client = LocalClient(trust_everything)
        return play(cassette, ReplayOrder(self.folder, tools=tools), client)

    def found(self, cassette: Cassette, tools: ToolsFrom = "cassette") -> list[str]:
        """Return what differs when a cassette is played."""
        now = self.play(cassette, tools).cassette
        return [str(each) for each in differences(cassette, now, tools)]


_IN_TIME = 15
"""Turns in which somebody refuses; later nobody answers in time."""


def hold(driver: Driver, turns: int) -> str:
    """Hold the conversation, and return the session's id."""
    session = driver.open("taped").session_id
    for number in range(1, turns + 1):
        driver.client.submit(f"prompt {number}")
        while isinstance(event := driver.wait(HostEvent, _waits), ApprovalRequested):
            allow = "no.txt" not in event.paths
            scope: Scope = "session" if "sort" in event.payload else "once"
            decision = Decision(allow=allow, scope=scope, reason="so")
            if not allow and number > _IN_TIME:
                decision = Decision(allow=False, expired=True)
            driver.client.decide(event.request_id, decision)
    driver.close()
    return session


def _waits(event: HostEvent) -> bool:
    return isinstance(event, ApprovalRequested | TurnEnded)


def recorded(made: TapedProject, turns: int) -> Cassette:
    """Hold the conversation in a project, and record it."""
    made.write()
    folder = made.project.folder_of(hold(Driver(made.folder), turns))
    return SessionRecorder(folder, Redactor()).record()


@cache
def taped() -> Cassette:
    """Return a short session as the command records it: with what its requests hold."""
    folder = Path(mkdtemp(prefix="taped-")) / "project"
    folder.mkdir()
    made = TapedProject(folder)
    session = recorded(made, len(STORIES))
    return baseline(session, made.play(session))
