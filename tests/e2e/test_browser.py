"""The program in a real browser."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.acting import READY
from tests.e2e.chromium import Chromium, needs_chromium
from tests.e2e.machine import Machine
from tests.e2e.terminal import PATIENCE


@pytest.fixture
def address(machine: Machine) -> Iterator[str]:
    """Serve the demo and return where."""
    server = subprocess.Popen(
        [sys.executable, "-m", "amplifier_tui", "serve", "--demo", "--keep", "--port", "0"],
        env=machine.env,
        cwd=machine.project,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0


@needs_chromium
def test_a_prompt_an_approval_by_mouse_and_the_same_session_on_a_phone(
    machine: Machine, address: str, tmp_path: Path
) -> None:
    env = {**machine.env, "HOME": str(tmp_path)}
    with Chromium(tmp_path / "profile", env) as browser:
        browser.resize(1200, 800)
        browser.open(address)
        browser.wait_for(READY)
        browser.type("Why does a parcel of exactly 2 kg cost too much?")
        browser.wait_for("› Why does a parcel of exactly 2 kg cost too much?")
        browser.type("\n")
        browser.wait_for("edit_file wants to change parcels/rates.py")
        (rates,) = machine.home.glob(".local/state/**/demo-project/parcels/rates.py")
        assert "weight < bracket.limit" in rates.read_text()
        answer(browser, "edit_file wants to change", "Allow")
        browser.wait_until(lambda: "weight <= bracket.limit" in rates.read_text(), "the edit")
        browser.wait_for("bash wants to run a command")
        assert browser.value("document.title").startswith("!")

        # The laptop is closed; the phone is taken out.
        browser.open("about:blank")
        browser.resize(390, 844, phone=True)
        browser.open(address)
        browser.wait_for("bash wants to run a command")
        assert 40 <= browser.size[0] <= 60
        answer(browser, "bash wants to run a command", "Deny")
        browser.wait_for(READY)
        browser.allow_clipboard(address)
        browser.type("/copy\n")
        browser.wait_for("Copied the")
        browser.wait_until(
            lambda: browser.value("Clipboard.prototype.readText.call(navigator.clipboard)"),
            "the clipboard to be filled",
        )
        # What is printed may not ask for it.
        assert browser.value("navigator.clipboard.readText()") == ""
        browser.type("/quit\n")
        browser.wait_until(
            lambda: "has ended" in browser.value("document.getElementById('why').textContent"),
            "the page to say that the program has ended",
        )
    token = address.rstrip("/").rpartition("/")[2]
    written = [path for path in machine.home.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if token.encode() in path.read_bytes()] == []


def answer(browser: Chromium, question: str, label: str) -> None:
    """Click until the dialog has heard it, which may still be a strip above the prompt."""
    for _ in range(10):
        try:
            opened = browser.screen.shows(re.compile(rf"\b{label}\b"))
            browser.click(label if opened else question)
            browser.wait_until(lambda: not browser.screen.shows(question), "an answer", 2)
        except AssertionError:
            # It was clicked on before it took answers, or while it was drawn.
            browser.watch(0.5)
        else:
            return
    raise AssertionError(f"{label} was not heard\n{browser.screen.text}")
