import re
from typing import Any

from tests.e2e.acting import READY, decide, quit_program, ready, switch_bundle
from tests.e2e.machine import Machine
from tests.e2e.vendors import lead_to
from tests.servers import LoopbackServer, ToolUse, reply

CLIPBOARD = "\x1b]52;c;aGFja2Vk\x07"
LINK = "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\"
EVIL = (
    f"[red]loud[/red] \x1b[31;5mANSI\x1b[0m {CLIPBOARD}{LINK} \x9b31m\x9d52;c;x\x9c \u202eexe.txt"
)
FILE = "[bold]\x1b]52;c;ZmlsZQ==\x07\x1b[31;5mfile.txt"
BUNDLE = r"""---
bundle:
  name: "evil [red]name\e]52;c;YnVuZGxl\a\e[31;5m"
  version: "1\e[31;5m"
  description: "[bold]words \e]8;;http://evil.example/\e\\ and \u202e more"

session:
  orchestrator: {module: loop-streaming}
  context: {module: context-simple}
  examples: ["try \e]52;c;dHJ5\a this [red]"]

providers:
  - module: "provider-\e[31;5mmock"
---

You help.
"""
HARMFUL = (
    "\x1b]52;",
    "\x1b]8;;http://evil",
    "\x1b[31;5m",
    "\x9b",
    "\x9d",
    "\u202e",
    "\x07aGFja",
)


def _assert_harmless(raw: bytes) -> None:
    text = raw.decode()
    for sequence in HARMFUL:
        at = text.find(sequence)
        assert at < 0, repr(text[max(0, at - 80) : at + 80])
    # What is left of a removed sequence must not style anything either: blinking is never ours.
    assert not re.search(r"\x1b\[(?:\d+;)*5(?:;\d+)*m", text)


def test_hostile_text_is_harmless_wherever_it_comes_from(machine: Machine) -> None:
    machine.file("evil.txt", f"{EVIL}\n")
    machine.file(FILE, "content\n")
    machine.file("[bold]plain.txt", "content\n")
    machine.bundle("evil", BUNDLE)
    octal = "".join(f"\\{byte:03o}" for byte in EVIL.encode())
    replies: list[Any] = [
        reply(
            EVIL,
            ToolUse("read_file", {"file_path": "evil.txt"}),
            ToolUse("read_file", {"file_path": FILE}),
            ToolUse("read_file", {"file_path": f"missing {EVIL}"}),
        ),
        reply(ToolUse("bash", {"command": f"printf '{octal}'; mkdir made; : '{EVIL}'"})),
        reply(ToolUse("write_file", {"file_path": FILE, "content": EVIL})),
        f"{EVIL}\n\n```\n{EVIL}\n```\n\n| {EVIL} |\n| --- |\n| {EVIL} |\n\nThe end.",
    ]
    with LoopbackServer(replies) as server:
        lead_to(server, machine, "chat")
        terminal = machine.start("--bundle", "work", columns=120, rows=40)
        ready(terminal, "work")
        terminal.paste(f"look at this: {EVIL}")
        terminal.wait_for("look at this: [red]loud[/red]")
        terminal.press("enter")
        decide(terminal, "read_file wants to read files", "a")
        decide(terminal, re.compile("bash wants to run"), "a")
        decide(terminal, re.compile("write_file wants to overwrite"), "a")
        terminal.wait_for("The end.")
        terminal.wait_for(READY)
        assert terminal.shows("[red]loud[/red] ANSI")
        terminal.press("ctrl+o")
        terminal.press("pageup")
        terminal.wait_for("‹U+001B›[31;5mfile.txt")

        # Every other place that shows such text: completion, inspector, pickers, panes.
        terminal.type("@plain")
        terminal.wait_for("[bold]plain.txt")
        terminal.press("escape", "ctrl+c")
        terminal.wait_for(READY)
        terminal.press("f3")
        terminal.press("enter")
        terminal.watch(1)
        terminal.press("escape", "escape")
        terminal.press("ctrl+x", "l")
        terminal.wait_for("Sessions")
        terminal.press("escape")
        switch_bundle(terminal, "evil")
        terminal.wait_for("has no provider that is ready")
        printed = quit_program(terminal)

    _assert_harmless(bytes(terminal.raw))
    assert "[red]loud[/red]" in printed
