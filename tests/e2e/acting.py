"""What a person does in the program, step by step."""

import re

from tests.e2e.screen import Sight
from tests.e2e.terminal import Terminal

READY = "Ask for anything"
"""What the prompt says while nothing runs."""
ELSEWHERE = "esc back here"
"""What it says while the keys go to a pane or to the conversation, whatever runs."""
RUNNING = "enter steers"
GRACE = 0.6
"""Seconds a person needs to see that a dialog has opened; before 0.4 s it takes no decision."""


def ready(terminal: Terminal, bundle: str) -> None:
    """Wait until a session of this bundle is open and takes prompts."""
    terminal.wait_for(READY)
    terminal.wait_for(re.compile(rf"^ +▸ .*\b{re.escape(bundle)}\b", re.MULTILINE))


def ask(terminal: Terminal, prompt: str) -> None:
    """Send a prompt."""
    terminal.type(prompt)
    terminal.wait_for(f"› {prompt[:40]}")
    terminal.press("enter")


def decide(terminal: Terminal, question: Sight, key: str) -> None:
    """Wait for a dialog, read it, and press a key until it has been heard.

    Args:
        terminal: The program.
        question: What the dialog shows.
        key: What to press.
    """
    terminal.wait_for(question)
    if terminal.shows(STRIP):
        # Who has just typed does not wait for the dialog to open.
        terminal.press("f8")
    terminal.wait_for(DIALOG_KEYS)
    for _ in range(5):
        terminal.watch(GRACE)
        terminal.press(key)
        try:
            terminal.wait_gone(DIALOG_KEYS, 5)
        except AssertionError:
            continue  # it was pressed before the dialog took decisions
        return
    terminal.wait_gone(DIALOG_KEYS)


def deny_with_reason(terminal: Terminal, question: Sight, reason: str) -> None:
    """Refuse, and say why."""
    decide(terminal, question, "f")
    terminal.wait_for("Why not?")
    terminal.type(reason)
    terminal.wait_for(reason)
    # An enter in one burst with what was typed sends nothing.
    terminal.watch(0.1)
    terminal.press("enter")
    terminal.wait_gone("Deny, and say this")


STRIP = re.compile(r"F8  answer")
DIALOG_KEYS = re.compile(r"d {1,2}Deny\b")


def switch_bundle(terminal: Terminal, name: str) -> None:
    """Choose a bundle in the picker."""
    terminal.press("ctrl+x", "b")
    terminal.wait_for("Bundles  ")
    terminal.wait_for(f" {name} ")
    terminal.type(name)
    terminal.wait_for(re.compile(rf"Bundles  {re.escape(name)}\b"))
    terminal.press("enter")
    terminal.wait_gone("Bundles  ")
    ready(terminal, name)


def quit_program(terminal: Terminal) -> str:
    """Leave in order when nothing runs any more, and return what stays in the terminal."""
    terminal.wait_for(re.compile(f"{READY}|{ELSEWHERE}"))
    terminal.press("ctrl+c")
    terminal.wait_for("The same key again quits.")
    terminal.press("ctrl+c")
    status = terminal.wait_end()
    assert status == 0, terminal.printed
    terminal.assert_restored()
    return terminal.printed
