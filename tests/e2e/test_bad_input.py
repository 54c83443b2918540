import re
from functools import partial
from typing import Any

from tests.e2e.acting import READY, ask, decide, quit_program, ready, switch_bundle
from tests.e2e.machine import Machine
from tests.e2e.vendors import lead_to
from tests.servers import Failure, LoopbackServer, Reply, ToolUse, reply
from tests.servers.asked import last_tool_result, last_user

BROKEN = "---\nbundle:\n  name: broken\n   version: [1\n---\nYou help.\n"
UNKNOWN = """---
bundle:
  name: curious
  version: 1.0.0
  description: Names a module nobody has.

session:
  orchestrator: {module: loop-streaming}
  context: {module: context-simple}

providers:
  - module: provider-mock

tools:
  - module: tool-nonsuch
---

You help.
"""


def test_without_a_key_the_variable_is_named_and_a_key_opens_the_demo(machine: Machine) -> None:
    terminal = machine.start()
    terminal.wait_for("has no provider that is ready")
    assert terminal.shows("ANTHROPIC_API_KEY is not set")
    assert terminal.shows("OPENAI_API_KEY is not set")
    terminal.wait_for("ctrl+x w try the offline demo")

    ask(terminal, "is anybody there?")
    terminal.wait_for("Your prompt is kept")
    terminal.wait_for("› is anybody there?")
    terminal.press("ctrl+c")
    terminal.wait_for(READY)

    terminal.press("ctrl+x", "w")
    ready(terminal, "demo")
    ask(terminal, "What is in this project?")
    terminal.wait_for(re.compile(r"✓ \w+", re.MULTILINE))
    terminal.press("escape", "escape")
    terminal.wait_for(READY)
    quit_program(terminal)


def test_a_broken_bundle_is_listed_with_its_error_and_changes_nothing(machine: Machine) -> None:
    machine.bundle("broken", BROKEN)
    with LoopbackServer(["One.", "Two."]) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "first")
        terminal.wait_for("One.")
        terminal.wait_for(READY)
        terminal.press("ctrl+x", "b")
        terminal.wait_for(re.compile(r"✗ broken +line 4: Not valid YAML"))
        terminal.type("broken")
        terminal.wait_for("Bundles  broken")
        terminal.press("enter")
        terminal.wait_for("broken cannot be opened")
        terminal.press("escape")
        terminal.wait_gone("broken cannot be opened")
        terminal.press("escape")
        terminal.wait_for("Bundles  Type to filter")
        terminal.press("escape")
        terminal.wait_gone("Bundles  ")
        ask(terminal, "second")
        terminal.wait_for("Two.")
        terminal.wait_for(READY)
        terminal.type("/bundle broken")
        terminal.press("enter")
        terminal.wait_for("broken.md:4: Not valid YAML")
        ready(terminal, "work")
        quit_program(terminal)
    (session,) = machine.sessions
    assert len(machine.transcript(session)) == 4


def test_a_bundle_that_does_not_load_at_the_start_leaves_a_program_to_choose_another(
    machine: Machine,
) -> None:
    machine.bundle("broken", BROKEN)
    terminal = machine.start("--bundle", "broken")
    terminal.wait_for("Not valid YAML")
    switch_bundle(terminal, "demo")
    terminal.wait_for("model scripted")
    quit_program(terminal)


def test_a_module_nobody_has_is_left_out_and_the_pane_says_why(machine: Machine) -> None:
    machine.bundle("curious", UNKNOWN)
    terminal = machine.start("--bundle", "curious")
    ready(terminal, "curious")
    terminal.press("f2")
    terminal.wait_for("1 failed")
    terminal.wait_for(re.compile(r"✗ tool-nonsuch .*not found"))
    terminal.press("f2")
    terminal.wait_gone("1 failed")
    ask(terminal, "hello")
    # Only then the prompt says that a turn runs, and later that none does.
    terminal.wait_for("Turn 1: “hello”")
    terminal.wait_for(READY)
    quit_program(terminal)


def test_a_provider_error_says_what_to_do_and_a_key_tries_again(machine: Machine) -> None:
    replies = [Failure("overloaded"), lambda request: f"You wanted: {last_user(request)}"]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "anthropic")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        ask(terminal, "the weather")
        terminal.wait_for(f"{server.url} is overloaded")
        terminal.wait_for("Retry in a moment")
        terminal.wait_for("ctrl+x r try again")
        terminal.wait_for("› the weather")
        terminal.press("ctrl+x", "r")
        terminal.wait_for("You wanted: the weather")
        terminal.wait_for(READY)
        quit_program(terminal)
    assert len(server.requests) == 2


CALLS = (
    (ToolUse("read_file", '{"file_path": '), "not valid JSON"),
    (ToolUse("read_file", {"file_path": "~/.ssh/id_rsa"}), "outside of the workspace"),
    (ToolUse("read_file", {"file_path": "../secret.txt"}), "User denied"),
    (ToolUse("no_such_tool", {}), "no_such_tool"),
)


def test_a_call_that_cannot_be_run_is_explained_to_the_model_and_the_turn_goes_on(
    machine: Machine,
) -> None:
    (machine.project.parent / "secret.txt").write_text("nobody may read this")

    def after(number: int, told: str, request: dict[str, Any]) -> Reply:
        return reply(f"Call {number} went wrong: {told in last_tool_result(request)}")

    replies = [
        answer
        for number, (call, told) in enumerate(CALLS)
        for answer in (reply("I try.", call), partial(after, number, told))
    ]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        for number, (_, told) in enumerate(CALLS):
            ask(terminal, f"try it, {number}")
            if told == "User denied":
                decide(terminal, "read_file wants to read", "d")
            terminal.wait_for(f"Call {number} went wrong: True")
            terminal.wait_for(READY)
        quit_program(terminal)
    (session,) = machine.sessions
    rows = machine.transcript(session)
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant"] * 4
    assert "nobody may read this" not in str(rows)


def test_a_write_outside_of_the_workspace_asks_first_and_the_answer_is_what_happens(
    machine: Machine,
) -> None:
    keys, replies = {"d": "denied.txt", "a": "allowed.txt"}, []
    outside = {key: machine.project.parent / name for key, name in keys.items()}
    for path in outside.values():
        call = ToolUse("write_file", {"file_path": str(path), "content": "here I am"})
        replies += [reply("I write.", call), f"So be it: {path.name}"]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "responses")
        terminal = machine.start("--bundle", "work")
        ready(terminal, "work")
        for key, name in keys.items():
            ask(terminal, "write it")
            terminal.wait_for("high")
            terminal.wait_for("outside the workspace")
            decide(terminal, "write_file wants to make", key)
            terminal.wait_for(f"So be it: {name}")
            terminal.wait_for(READY)
            assert outside[key].exists() is (key == "a")
        quit_program(terminal)
