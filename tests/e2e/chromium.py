"""A headless Chromium with one tab, driven by its debugging protocol over two pipes."""

import base64
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.screen import EmulatedScreen, Sight, named
from tests.e2e.terminal import PATIENCE

_MUST = os.environ.get("AMPLIFIER_TUI_REQUIRE_CHROMIUM") == "1"
_PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "chromium")

needs_chromium = pytest.mark.skipif(
    not _MUST and shutil.which(_PROGRAM) is None, reason="no Chromium is installed"
)


class Chromium:
    """The browser and its tab; use it with `with`.

    What the page's terminal is sent is drawn on an emulated screen as well: `screen`.

    Args:
        home: A folder for its profile.
        env: Its environment.
        scale: Pixels of the device for one of the page.
    """

    def __init__(self, home: Path, env: Mapping[str, str], scale: int = 1) -> None:
        reads, self._writes = os.pipe()
        self._reads, writes = os.pipe()
        flags = [f"--user-data-dir={home}", f"--force-device-scale-factor={scale}"]
        # A machine without a graphics card draws, too.
        flags += [
            "--disable-3d-apis",
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")

        def hand_over() -> None:
            # They have to be descriptors 3 and 4; neither may be lost in the making of the other.
            first, second = os.dup(reads), os.dup(writes)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [_PROGRAM, *flags, "--remote-debugging-pipe", "about:blank"],
            env=dict(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=hand_over,
        )
        os.close(reads)
        os.close(writes)
        self._unread = b""
        self._session = ""
        self._calls = 0
        self.screen = EmulatedScreen(80, 24)
        self.size = (80, 24)
        """Columns and rows of the terminal in the page."""
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=tab, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._reads)
        os.close(self._writes)

    # --- the protocol ------------------------------------------------------------------------

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while (answer := self._message(until - time.monotonic())) is not None:
            if answer.get("id") == self._calls:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError(f"{method}: no answer")

    def _message(self, patience: float) -> dict[str, Any] | None:
        """Return the next message, or None when there is none in time."""
        until = time.monotonic() + patience
        while b"\0" not in self._unread:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._reads], [], [], left)[0]:
                return None
            data = os.read(self._reads, 65536)
            assert data, "Chromium has ended"
            self._unread += data
        first, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        if "method" in message:
            self._happened(message["method"], message["params"])
        return message

    def _happened(self, event: str, values: dict[str, Any]) -> None:
        if event == "Network.webSocketCreated":
            asked = parse_qs(urlsplit(values["url"]).query)
            self.size = int(asked["width"][0]), int(asked["height"][0])
            self.screen = EmulatedScreen(*self.size)
        elif event == "Network.webSocketFrameReceived" and values["response"]["opcode"] == 2:
            self.screen.took(base64.b64decode(values["response"]["payloadData"]))
        elif event == "Network.webSocketFrameSent":
            kind, *rest = json.loads(values["response"]["payloadData"])
            if kind == "resize":
                self.size = rest[0]["width"], rest[0]["height"]
                self.screen.fit(*self.size)

    # --- looking -----------------------------------------------------------------------------

    def wait_for(self, sight: Sight, patience: float = PATIENCE) -> None:
        """Wait until something is on the screen of the terminal in the page."""
        self.wait_until(lambda: self.screen.shows(sight), f"{named(sight)} to be shown", patience)

    def wait_until(self, done: Any, what: str, patience: float = PATIENCE) -> None:
        """Wait until a function of no arguments returns something true."""
        until = time.monotonic() + patience
        while not done():
            left = until - time.monotonic()
            assert left > 0, f"waited {patience:g} s for {what}\n{self.screen.text}"
            self._message(min(left, 0.1))

    def watch(self, seconds: float) -> None:
        """Take what happens for some seconds."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._message(left)

    def value(self, expression: str) -> Any:
        """Return what an expression is in the page."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    # --- acting ------------------------------------------------------------------------------

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Give the window another size, in pixels of the page."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=0, mobile=phone,
        )  # fmt: skip
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def open(self, address: str) -> None:
        """Open an address in the tab."""
        self.call("Page.navigate", url=address)
        self.screen = EmulatedScreen(*self.size)

    def allow_clipboard(self, address: str) -> None:
        """Allow the page to be asked for what it put on the clipboard."""
        origin = "://".join(urlsplit(address)[:2])
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.call("Browser.grantPermissions", permissions=permissions, origin=origin)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def type(self, text: str) -> None:
        """Type text; a line end is the enter key."""
        for character in text:
            key = "Enter" if character == "\n" else character
            code = {"windowsVirtualKeyCode": 13} if character == "\n" else {}
            pressed = {"key": key, "text": "\r" if code else character, **code}
            self.call("Input.dispatchKeyEvent", type="keyDown", **pressed)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def click(self, label: str) -> None:
        """Click on a text that stands on the screen of the terminal."""
        places = (
            (row, match)
            for row, line in enumerate(self.screen.lines)
            if (match := re.search(rf"\b{re.escape(label)}\b", line)) is not None
        )
        place = next(places, None)
        assert place is not None, f"{label} is not to be seen\n{self.screen.text}"
        row, found = place
        box = self.value(
            "(({x, y, width, height}) => [x, y, width, height])"
            "(document.querySelector('.xterm-screen').getBoundingClientRect())"
        )
        columns, rows = self.size
        x = box[0] + box[2] * (found.start() + 1) / columns
        y = box[1] + box[3] * (row + 0.5) / rows
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
