"""Starting the line mode: its streams, its client, and what ctrl+c does."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from io import BufferedReader
from typing import TYPE_CHECKING

from amplifier_tui.cli.plain.lines import LineReader, LineWriter
from amplifier_tui.cli.plain.session import PlainSession
from amplifier_tui.host.door.descriptors import DescriptorCapture, take_input

if TYPE_CHECKING:
    from amplifier_tui.host.client import OpenRequest, SessionClient


def run_plain(
    connect: "Callable[[DescriptorCapture], tuple[SessionClient, OpenRequest]]",
) -> int:
    """Run a session in lines on standard input and output; both must be open.

    Args:
        connect: Makes the client and says what to open; it is given what others print.

    Returns:
        The exit status: 1 where no session could be opened.
    """
    gc.enable()
    person, encoding = os.isatty(0), sys.stdout.encoding
    output = os.dup(1)
    # What others print goes elsewhere from here on.
    with DescriptorCapture() as printed, open(output, "w", encoding=encoding) as stream:
        writer = LineWriter(stream, prompts=person)
        reader = LineReader(
            BufferedReader(take_input()), encoding, terminal=person and os.name == "posix"
        )
        client, request = connect(printed)
        session = PlainSession(client, reader, writer, person=person)
        return _signalled(session, lambda: session.run(request))


def _signalled(session: PlainSession, run: Callable[[], int]) -> int:
    """Run with ctrl+c, and an end that the system asks for, told to the session."""
    before = [(signal.SIGINT, signal.signal(signal.SIGINT, lambda *_: session.interrupt()))]
    # With SIGHUP a terminal goes away; Windows has none, and `nohup` has it ignored.
    leave = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    leave = [number for number in leave if signal.getsignal(number) != signal.SIG_IGN]
    before += [
        (number, signal.signal(number, lambda *_: session.quit(by_system=True))) for number in leave
    ]
    try:
        return run()
    finally:
        for each, handler in before:
            signal.signal(each, handler)
