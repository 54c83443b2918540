"""Starting the screen: options, terminal, app, and the last words.

Nothing here imports click: this is the path to the first frame.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from amplifier_tui.host.client import OpenRequest, SessionClient
    from amplifier_tui.host.door.descriptors import DescriptorCapture
    from amplifier_tui.host.events import Mode
    from amplifier_tui.ui.terminal.guard import TerminalGuard

CLOSE_SECONDS = 2.0
"""Seconds the session may take to close after a fault of the screen."""

MODES: tuple[Mode | Literal[""], ...] = ("", "plan", "ask", "edits")
"""What `--mode` may say."""

LAST = "last"
"""What `--resume` without a value means."""


class LaunchOption(NamedTuple):
    """One option of the bare command; click's are made from the same rows (`cli/group.py`).

    Attributes:
        flag: Such as `--bundle`.
        help: One line.
        value: Name of its value, empty for a switch.
        default: The value when the option stands alone; None when it must have one.
    """

    flag: str
    help: str
    value: str = ""
    default: str | None = None

    @property
    def name(self) -> str:
        """The field of `LaunchOptions`."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS: tuple[LaunchOption, ...] = (
    LaunchOption("--demo", "Run the offline demo: no key, nothing sent anywhere."),
    LaunchOption("--bundle", "Open this bundle: a name, a path or a URI.", "NAME"),
    LaunchOption("--resume", "Resume a session; without an ID, the last one here.", "ID", LAST),
    LaunchOption("--cwd", "Work in this directory instead of the current one.", "DIR"),
    LaunchOption("--trust", "Let everything a project or stranger brings count in this run."),
    LaunchOption("--model", "Have this model answer in this run: ID or PROVIDER/ID.", "MODEL"),
    LaunchOption(
        "--mode", "Begin in this mode: plan, ask or edits. Only /mode chooses auto.", "MODE"
    ),
    LaunchOption("--max-cost", "Ask before a session costs more than so many dollars.", "DOLLARS"),
    LaunchOption("--theme", "Use this theme for this run.", "NAME"),
    LaunchOption("--plain", "Say everything in lines: for screen readers and dumb terminals."),
)


class LaunchOptions(NamedTuple):
    """What the command line asks for; empty means the default."""

    demo: bool = False
    bundle: str = ""
    resume: str = ""
    cwd: str = ""
    theme: str = ""
    model: str = ""
    mode: str = ""
    max_cost: str = ""
    trust: bool = False
    plain: bool = False


def parse_launch(arguments: list[str]) -> LaunchOptions | None:
    """Read a plain command line.

    Returns:
        The options, or None when there is anything but known, well formed options: a command,
        `--help`, a mistake. Click deals with those.
    """
    by_flag = {option.flag: option for option in OPTIONS}
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        flag, has_value, value = rest.pop(0).partition("=")
        option = by_flag.get(flag)
        if option is None or (has_value and not option.value):
            return None
        if option.value and not has_value:
            if rest and not rest[0].startswith("-"):
                value = rest.pop(0)
            elif option.default is not None:
                value = option.default
            else:
                return None
        if option.value and not value:
            return None
        found[option.name] = value
    return LaunchOptions(
        demo="demo" in found,
        bundle=found.get("bundle", ""),
        resume=found.get("resume", ""),
        cwd=found.get("cwd", ""),
        theme=found.get("theme", ""),
        model=found.get("model", ""),
        mode=found.get("mode", ""),
        max_cost=found.get("max_cost", ""),
        trust="trust" in found,
        plain="plain" in found,
    )


def mistake_in(options: LaunchOptions) -> str:
    """Say what is wrong with the options; empty when nothing is."""
    if options.demo and options.bundle:
        # Another bundle's provider would get what the demo promises to send nowhere.
        return f"--demo is a bundle of its own: leave it or --bundle {options.bundle} out"
    if options.mode not in MODES:
        # What `auto` means is read where it is chosen.
        known = "plan, ask and edits are modes to begin in"
        return f"--mode {options.mode}: {known}; only /mode chooses auto"
    if options.max_cost and not _is_amount(options.max_cost):
        return f"--max-cost {options.max_cost}: an amount of dollars is wanted, such as 5"
    return ""


def launch(options: LaunchOptions) -> int:
    """Run the screen until the user leaves.

    Returns:
        The exit status: 0, 1 after a fault of the program, 2 when it cannot start.
    """
    if options.cwd:
        try:
            os.chdir(Path(os.path.expanduser(options.cwd)))
        except OSError as error:
            return _refuse(f"--cwd {options.cwd}: {error.strerror}")
    mistake = mistake_in(options)
    if mistake:
        return _refuse(mistake)
    dumb = os.environ.get("TERM") == "dumb"
    plain = options.plain or dumb or bool(os.environ.get("ACCESSIBLE"))
    if not (plain or _has_terminal()):
        return _refuse("amplifier-tui needs a terminal on its input and error output, or --plain")
    if options.trust:
        said = "--trust: everything a project or a stranger brings counts in this run."
        print(said, file=sys.stderr)
    if plain:
        if sys.__stdin__ is None or sys.__stdout__ is None or sys.__stderr__ is None:
            return _refuse("--plain needs standard input, output and error output to be open")
        from amplifier_tui.cli.plain.start import run_plain

        return run_plain(lambda printed: _connect_plain(options, printed))
    from amplifier_tui.ui.app import pace
    from amplifier_tui.ui.app.preferences import Preferences
    from amplifier_tui.ui.terminal import guard as terminal
    from amplifier_tui.ui.terminal.browser_page import BrowserPage

    page = BrowserPage.take(os.environ)

    # Textual reads these once, when it is imported.
    if terminal.takes_true_color(os.environ):
        os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
    pace.set_beats(os.environ, Preferences().motion)

    from amplifier_tui.ui.terminal.input import prepare_input

    prepare_input()
    from amplifier_tui.host.door.descriptors import DescriptorCapture, take_keyboard

    if os.name == "posix":
        # Before anything remembers where the keys come from.
        take_keyboard()
    guard = terminal.TerminalGuard()
    guard.arm()

    from amplifier_tui.ui.app.app import AmplifierApp

    # Before the app is made: it remembers the streams of that moment.
    with DescriptorCapture() as printed:
        app = AmplifierApp(
            lambda: _connect(options, printed, guard), theme=options.theme, guard=guard
        )
        # What is said after a fault: standard error is caught until the end.
        app.error_console.file = sys.__stderr__ or sys.stderr
        app.page = page
        terminal.save_title()
        app.run()
        terminal.restore_title()
        terminal.end_own_modes()
    # Textual has put the terminal back.
    guard.disarm()
    app.quitting.release(CLOSE_SECONDS)
    if words := app.last_words():
        print(words)
    # All is said: ctrl+c has nothing more to break off.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return app.return_code or 0


def _connect(
    options: LaunchOptions, printed: DescriptorCapture, guard: TerminalGuard | None = None
) -> tuple[SessionClient, OpenRequest]:
    """Make the client. Runs in a thread, after the first frame of a screen."""
    from amplifier_tui.cli.logs import log_to_file
    from amplifier_tui.host.client import OpenRequest, SpendLimit
    from amplifier_tui.host.door.local_client import LocalClient

    log_to_file()
    if guard is not None:
        guard.watch()
    request = OpenRequest(
        cwd=Path.cwd(),
        bundle=options.bundle,
        resume=options.resume,
        model=options.model,
        shows_busy=True,
        demo=options.demo,
        limit=SpendLimit(cost=options.max_cost) if options.max_cost else None,
        mode=next((mode for mode in MODES if mode == options.mode), ""),
    )
    if not options.trust:
        return LocalClient(printed=printed, window=True), request
    from amplifier_tui.foundation.trust.gate import trust_everything

    return LocalClient(trust_everything, printed, window=True), request


def _connect_plain(
    options: LaunchOptions, printed: DescriptorCapture
) -> tuple[SessionClient, OpenRequest]:
    """Make the client of the line mode, which begins with the models that the user chose."""
    from dataclasses import replace

    from amplifier_tui.ui.app.preferences import Preferences

    client, request = _connect(options, printed)
    return client, replace(request, models=Preferences().models)


def _is_amount(text: str) -> bool:
    whole, _, cents = text.partition(".")
    digits = f"{whole}{cents}"
    return digits.isdecimal() and digits.isascii() and bool(digits.strip("0"))


def _has_terminal() -> bool:
    # Textual draws on stderr.
    streams = (sys.__stdin__, sys.__stderr__)
    return all(stream is not None and stream.isatty() for stream in streams)


def _refuse(message: str) -> int:
    print(f"Error: {message}.", file=sys.stderr)
    return 2
