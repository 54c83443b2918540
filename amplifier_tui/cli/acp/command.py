"""The options of `amplifier-tui acp`, and its streams."""

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from amplifier_tui.cli.bundle.common import TRUSTED
from amplifier_tui.cli.launch import LaunchOptions, mistake_in

if TYPE_CHECKING:
    from amplifier_tui.cli.acp.agent import EditorAgent
    from amplifier_tui.cli.acp.messages import Out

_HELP = """Be an agent for an editor, over standard input and output (Agent Client Protocol).

An editor starts this command itself; amplifier_tui/cli/acp/README.md says what to write into its
settings. Standard output carries the protocol and nothing else.
"""
_LONGEST = 64 * 1024 * 1024
"""Bytes of one message."""
_DESCRIBE = "_update_fields_from_docstrings"


@click.command(help=_HELP, short_help="Be an agent for an editor (Agent Client Protocol).")
@click.option("--bundle", metavar="NAME", default="", help="Use this bundle: a name, path or URI.")
@click.option("--demo", is_flag=True, help="Use the offline demo: no key, nothing sent anywhere.")
@click.option("--mode", type=click.Choice(["plan", "ask", "edits"]), help="Begin in this mode.")
@click.option("--trust", is_flag=True, help="Let everything a project or stranger brings count.")
def acp(bundle: str, demo: bool, mode: str | None, trust: bool) -> int:
    """Serve an editor until it goes; see the command's help."""
    if mistake := mistake_in(LaunchOptions(demo=demo, bundle=bundle)):
        raise click.UsageError(mistake)
    if sys.stdin is None or sys.stdout is None:
        raise click.UsageError("standard input and output have to be open")
    if sys.stdin.isatty():
        raise click.UsageError("an editor starts this command; there is nothing to type here")
    if trust:
        click.echo(TRUSTED, err=True)
    import_protocol()
    from amplifier_tui.cli.acp.agent import EditorAgent, Wanted
    from amplifier_tui.cli.logs import log_to_file
    from amplifier_tui.foundation.trust.gate import trust_everything
    from amplifier_tui.host.door.descriptors import DescriptorCapture

    log_to_file()
    with DescriptorCapture():
        wanted = Wanted(bundle, demo, mode or "", trust_everything if trust else None)
        asyncio.run(_serve(EditorAgent(wanted)))
    return 0


def import_protocol() -> None:
    """Import the models of the protocol; a second call does nothing."""
    with without_descriptions():
        import acp.schema  # noqa: F401


@contextlib.contextmanager
def without_descriptions() -> Iterator[None]:
    """Leave out what the docstrings of models say about their fields, where they are defined.

    The source of each of some 300 models of the protocol is read for that and parsed: a third of
    the time until an editor is served, for texts that nothing here shows.
    """
    try:
        from pydantic._internal import _fields
    except ImportError:
        took = None
    else:
        took = vars(_fields).get(_DESCRIBE)
    if took is None:  # A newer pydantic: it takes its time.
        yield
        return
    setattr(_fields, _DESCRIBE, lambda *_, **__: None)
    try:
        yield
    finally:
        setattr(_fields, _DESCRIBE, took)


async def _serve(agent: "EditorAgent") -> None:
    from amplifier_tui.cli.acp.messages import serve

    serving = asyncio.ensure_future(serve(agent, *await _streams()))
    # So do editors end an agent; its sessions are closed in order all the same.
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    await asyncio.wait({serving})
    if not serving.cancelled():
        serving.result()


async def _streams() -> "tuple[asyncio.StreamReader, Out]":
    """Return the program's own standard input and output, which nothing else reaches."""
    from amplifier_tui.host.door.descriptors import take_input

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_LONGEST)
    given = take_input()
    if _can_wait(given.fileno()):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), given)
    else:
        reader.feed_data(given.read(_LONGEST) or b"")
        reader.feed_eof()
    stdout = sys.__stdout__
    if stdout is None:
        raise click.UsageError("standard output has to be open")
    pipe = os.fdopen(os.dup(stdout.fileno()), "wb", buffering=0)
    if not _can_wait(pipe.fileno()):
        from amplifier_tui.cli.acp.messages import FileOut

        return reader, FileOut(pipe)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop), pipe
    )
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)


def _can_wait(number: int) -> bool:
    """Whether the system says when there is more to read or room to write; of files it does not."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
