import re
import subprocess
from pathlib import Path

from tests.e2e.acting import GRACE, ask, decide, quit_program, ready
from tests.e2e.machine import Machine
from tests.e2e.terminal import Terminal
from tests.servers import LoopbackServer, Reply, ToolUse

QUESTION = "brings what needs your word"
KEYS = re.compile(r"esc {1,2}Cancel\b")
QUESTION_OR_READY = re.compile(rf"{QUESTION}|^ +▸ .*\bteam\b", re.MULTILINE)
MODULE = """
class Hello:
    name = "hello"
    description = "Says hello"
    input_schema = {"type": "object", "properties": {}}

    async def execute(self, input):
        raise NotImplementedError


async def mount(coordinator, config=None):
    await coordinator.mount("tools", Hello(), name="hello")
"""
BUNDLE = """---
bundle: {name: team, version: 1.0.0}
session:
  orchestrator: {module: loop-streaming}
  context: {module: context-simple}
providers:
  - module: provider-mock
tools:
  - module: tool-hello
    source: ../../tools/tool-hello
hooks:
  - module: hooks-redaction
  - module: hooks-approval
    config: {policy: relaxed}
---

You help.
"""
READING = """---
bundle: {name: team}
includes: [coding]
tools:
  - module: tool-bash
    config: {env: {WORD: '${ANTHROPIC_API_KEY}'}}
---

Read @~/notes.md first.
"""


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def clone(machine: Machine, origin: Path) -> None:
    """Clone what somebody else wrote into the project's folder."""
    files = {
        ".amplifier/bundles/team.md": BUNDLE,
        "tools/tool-hello/amplifier_module_tool_hello/__init__.py": MODULE,
    }
    for name, text in files.items():
        path = origin / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    for arguments in (("init",), ("add", "."), ("commit", "-m", "Begin")):
        git(origin, *arguments)
    git(machine.project.parent, "clone", str(origin), str(machine.project))


def module(folder: Path, name: str) -> str:
    """Publish a module in a repository of its own; returns its URI."""
    package = folder / f"amplifier_module_{name.replace('-', '_')}" / "__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text(MODULE.replace('"hello"', f'"{name}"'))
    for arguments in (("init", "--initial-branch=main"), ("add", "."), ("commit", "-m", "Begin")):
        git(folder, *arguments)
    return f"git+file://{folder}@main"


def asked(machine: Machine) -> Terminal:
    """Start the program and wait for its question."""
    terminal = machine.start("--bundle", "team")
    terminal.wait_for(QUESTION)
    terminal.wait_for(KEYS)
    return terminal


def answer(terminal: Terminal, key: str) -> None:
    """Press a key until the question has heard it: before it was seen it does not."""
    for _ in range(5):
        terminal.watch(GRACE)
        terminal.press(key)
        try:
            terminal.wait_gone(KEYS, 5)
        except AssertionError:
            continue
        return
    terminal.wait_gone(KEYS)


def modules(terminal: Terminal) -> None:
    terminal.press("f2")
    terminal.wait_for(re.compile(r"Modules .*ready"))


def test_a_cloned_repository_asks_once_and_again_only_about_what_changed(
    machine: Machine, tmp_path: Path
) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    clone(machine, origin)

    terminal = asked(machine)
    for sight in ("1 source · 1 setting", "tool-hello", 'policy: "relaxed"', "team.md:14"):
        terminal.wait_for(sight)
    answer(terminal, "o")
    ready(terminal, "team")
    modules(terminal)
    terminal.wait_for(re.compile(r"✗ tool-hello .*you refused it"))
    quit_program(terminal)

    terminal = asked(machine)
    answer(terminal, "u")
    ready(terminal, "team")
    modules(terminal)
    terminal.wait_for("● tool-hello")
    quit_program(terminal)

    terminal = machine.start("--bundle", "team")
    ready(terminal, "team")
    assert not terminal.shows(QUESTION)
    quit_program(terminal)

    bundle = origin / ".amplifier/bundles/team.md"
    bundle.write_text(BUNDLE.replace("relaxed", "standard"))
    git(origin, "commit", "-am", "Be more careful")
    git(machine.project, "pull")
    terminal = asked(machine)
    for sight in ("1 setting", 'was  used: policy: "relaxed"', 'now  policy: "standard"'):
        terminal.wait_for(sight)
    assert not terminal.shows("tool-hello")
    answer(terminal, "escape")
    terminal.wait_for("Nothing was opened")
    quit_program(terminal)


def test_many_sources_are_one_question_and_then_none(machine: Machine, tmp_path: Path) -> None:
    names = [f"tool-x{number}" for number in range(20)]
    sources = {name: module(tmp_path / "published" / name, name) for name in names}
    entries = "".join(
        f"  - {{module: {name}, source: '{source}'}}\n" for name, source in sources.items()
    )
    own = "  - module: tool-hello\n    source: ../../tools/tool-hello\n"
    machine.bundle("team", BUNDLE.replace(own, own + entries), own=False)
    code = machine.file("tools/tool-hello/amplifier_module_tool_hello/__init__.py", MODULE)

    terminal = asked(machine)
    terminal.wait_for("21 sources · 1 setting")
    terminal.wait_for("tool-x0 ")
    # What was not on the screen is shown before it counts.
    terminal.wait_for("more below")
    while terminal.shows("more below"):
        terminal.press("u")
        terminal.watch(GRACE)
    if terminal.shows(KEYS):
        answer(terminal, "u")
    terminal.wait_for(QUESTION_OR_READY, 120)
    assert not terminal.shows(QUESTION)
    ready(terminal, "team")
    modules(terminal)
    terminal.wait_for(re.compile(r"Modules .*2\d ready"))
    quit_program(terminal)

    terminal = machine.start("--bundle", "team")
    terminal.wait_for(QUESTION_OR_READY)
    assert not terminal.shows(QUESTION)
    quit_program(terminal)

    code.write_text(MODULE.replace("Says hello", "Says goodbye"))
    terminal = asked(machine)
    for sight in ("1 source", "tool-hello", "was  used:", "now  "):
        terminal.wait_for(sight)
    assert not terminal.shows("tool-x0")
    assert not terminal.shows("1 setting")
    answer(terminal, "escape")
    quit_program(terminal)


def test_files_and_keys_are_given_when_they_are_used_and_not_when_they_are_refused(
    machine: Machine,
) -> None:
    words, key, command = "DIARY-WORDS", "sk-ant-users-own-key-0123456789abcdef", "printenv WORD"
    with LoopbackServer(strict=False) as model:
        settings = machine.home / ".amplifier/settings.yaml"
        settings.parent.mkdir()
        settings.write_text(
            "config:\n  providers:\n    - module: provider-openai\n      config: {api: chat,"
            f" base_url: '{model.openai_url}', api_key: sk-local, priority: 1}}\n"
        )
        (machine.home / "notes.md").write_text(words)
        machine.bundle("team", READING, own=False)
        for key_pressed, given in (("o", False), ("u", True)):
            asked_before = len(model.requests)
            model.script.add(
                Reply([ToolUse("bash", {"command": f"{command} > did; touch did"})]), "Thanks."
            )
            terminal = machine.start("--bundle", "team", env={"ANTHROPIC_API_KEY": key})
            for sight in (QUESTION, "1 file · 1 key", "notes.md", "ANTHROPIC_API_KEY", KEYS):
                terminal.wait_for(sight)
            answer(terminal, key_pressed)
            ready(terminal, "team")
            ask(terminal, "hello")
            decide(terminal, command, "a")
            terminal.wait_for("Thanks.")
            ready(terminal, "team")
            quit_program(terminal)
            sent = str([request.json for request in model.requests[asked_before:]])
            assert (words in sent) is given
            assert key not in sent
            assert (key in (machine.project / "did").read_text()) is given
