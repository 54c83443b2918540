"""The options of `amplifier-tui run`, and what they mean together."""

import os
import shlex
import signal
import sys
import threading
from decimal import Decimal, InvalidOperation
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

import click

from amplifier_tui.cli.bundle.common import TRUSTED, json_line
from amplifier_tui.cli.completion import bundle_names, session_ids
from amplifier_tui.cli.launch import LaunchOptions, mistake_in
from amplifier_tui.cli.streams import open_missing

if TYPE_CHECKING:
    from amplifier_tui.cli.run.headless import Headless, RunResult
    from amplifier_tui.cli.run.lines import InputLines

Approve = Literal["none", "rules", "ask"]

_QUIET: Final = 3.0
"""Seconds that a pipe beside a prompt is read without a word."""
_READING: Final = (
    "Waiting for the end of standard input, which goes with the prompt. If nothing is piped in,"
    " stop and add </dev/null."
)

_HELP = """Send one PROMPT and print the answer.

Without a PROMPT, or with `-`, it is read from standard input; a PROMPT and what is piped in go
together. Files are mentioned as @path, beside a PROMPT only in that. The answer goes to standard
output, everything else to standard error.

With `--input jsonl` another program holds a conversation: each line of standard input is an object
with a `type` (prompt, steer, decide, answer, limit, stop; see `amplifier-tui schema input`), each
line of the output an event. What no rule lets through waits for its `decide`.

\b
Exit status:
    0  done
    1  failed
    2  the command line makes no sense
    3  refused: an approval that nobody gave, or a prompt that was denied
    4  a limit: --max-turns, --max-cost, --timeout, or the bundle's own
  130  interrupted
"""


class _Dollars(click.ParamType[Decimal]):
    name = "USD"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            amount = Decimal("nan")
        if not amount.is_finite() or amount <= 0:
            self.fail(f"{value!r} is no amount of dollars above 0")
        return amount


@click.command(help=_HELP, short_help="Send one prompt and print the answer, without a screen.")
@click.argument("prompt", nargs=-1)
@click.option(
    "--bundle",
    metavar="NAME",
    default="",
    shell_complete=bundle_names,
    help="Use this bundle: a name, path or URI.",
)
@click.option("--demo", is_flag=True, help="Use the offline demo: no key, nothing sent anywhere.")
@click.option(
    "--resume",
    metavar="[ID]",
    default="",
    is_flag=False,
    flag_value="last",
    shell_complete=session_ids,
    help="Go on with this session; without an ID, with the last one here.",
)
@click.option("--continue", "again", is_flag=True, help="Go on with the last session here.")
@click.option("--session-id", metavar="UUID", default="", help="Give a new session this id.")
@click.option("--cwd", metavar="DIR", default="", help="Work in this directory.")
@click.option("--model", metavar="MODEL", default="", help="Ask this model: ID or PROVIDER/ID.")
@click.option(
    "--mode",
    type=click.Choice(["plan", "ask", "edits"]),
    help="Begin in this mode; only /mode of the screen chooses auto.",
)
@click.option(
    "--approve",
    type=click.Choice(["none", "rules", "ask"]),
    default="rules",
    show_default=True,
    help="What goes: reading only, what rules and mode let through, or ask at the terminal.",
)
@click.option("--trust", is_flag=True, help="Let everything a project or stranger brings count.")
@click.option("--system-append", metavar="TEXT", default="", help="Add to the system prompt.")
@click.option(
    "--input",
    "source",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="A prompt, or prompts and decisions as objects, one a line.",
)
@click.option(
    "--output",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="The answer, one object about the run, or every event on a line of its own.",
)
@click.option("--max-turns", type=click.IntRange(1), help="Requests to the model at most.")
@click.option("--max-cost", type=_Dollars(), help="Stop before the session costs more.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds at most.")
def run(
    prompt: tuple[str, ...],
    bundle: str,
    demo: bool,
    resume: str,
    again: bool,
    session_id: str,
    cwd: str,
    model: str,
    mode: Literal["plan", "ask", "edits"] | None,
    approve: Approve,
    trust: bool,
    system_append: str,
    source: Literal["text", "jsonl"],
    output: Literal["text", "json", "jsonl"],
    max_turns: int | None,
    max_cost: Decimal | None,
    timeout: float | None,
) -> int:
    """Send one prompt and print the answer; see the command's help."""
    if mistake := mistake_in(LaunchOptions(demo=demo, bundle=bundle)):
        raise click.UsageError(mistake)
    if (resume and again) or (session_id and (resume or again)):
        raise click.UsageError("--resume, --continue and --session-id name two sessions")
    open_missing()
    if len(resume.split()) > 1:
        # No id has a space: it is the prompt that stands after an option without a value.
        prompt, resume = (resume, *prompt), "last"
    if session_id:
        session_id = _uuid(session_id)
    if approve == "none" and mode not in (None, "plan"):
        raise click.UsageError(f"--approve none only reads, and --mode {mode} does more")
    lines: InputLines | None = None
    if source == "jsonl":
        text, typed, lines = " ".join(map(_utf8, prompt)), None, _lines(approve, output)
    else:
        text, typed = _prompt_of(prompt, "" if prompt else _meant_as_prompt(resume))
    if cwd:
        try:
            os.chdir(Path(os.path.expanduser(cwd)))
        except OSError as error:
            raise click.UsageError(f"--cwd {cwd}: {error.strerror}") from error
    if trust:
        click.echo(TRUSTED, err=True)
    from amplifier_tui.cli.logs import log_to_file
    from amplifier_tui.cli.run.headless import EXIT, Headless, Limits
    from amplifier_tui.cli.run.speaking import Speaker
    from amplifier_tui.foundation.trust.gate import trust_everything
    from amplifier_tui.host.client import OpenRequest, SpendLimit
    from amplifier_tui.host.door.descriptors import DescriptorCapture
    from amplifier_tui.host.door.local_client import LocalClient
    from amplifier_tui.ui.app.preferences import Preferences

    log_to_file()
    with DescriptorCapture() as printed:
        speaker = Speaker(whole=output == "jsonl", asks=approve == "ask")
        request = OpenRequest(
            cwd=Path.cwd(),
            bundle=bundle,
            resume=resume or ("last" if again else ""),
            demo=demo,
            session_id=session_id,
            appended=system_append,
            restores_queue=False,
            unattended=True,
            waits_for_servers=True,
            mode="plan" if approve == "none" else mode or "",
            models=Preferences().models,
            limit=SpendLimit(cost=str(max_cost)) if max_cost is not None else None,
            max_requests=max_turns,
        )
        limits = Limits(max_turns, timeout)
        client = LocalClient(trust_everything if trust else None, printed)
        headless = Headless(
            *(client, request, text, limits, speaker, model, lines, typed),
            only_reads=approve == "none",
        )
        result = _interruptible(headless)
        speaker.finish(_said(result, output))
    # What was done is lost where nobody could be told.
    if speaker.unwritten:
        return EXIT["failed"]
    return EXIT["interrupted"] if speaker.gone and not result.exit_status else result.exit_status


def _meant_as_prompt(resume: str) -> str:
    """Say that a word stands where a session's id does; empty where it is one, or none is there."""
    try:
        UUID(resume)
    except ValueError:
        taken = f"{resume} was taken for the id of a session"
        words = shlex.quote(resume)
        goes = f"`run --continue {words}` goes on with the last one here"
        return f": {taken}; {goes}" if resume not in ("", "last") else ""
    return ""


def _prompt_of(words: tuple[str, ...], hint: str = "") -> tuple[str, str | None]:
    """Return the prompt, and the part of it that the user wrote where something is piped in too.

    Args:
        hint: What is said where there is none.
    """
    text = typed = " ".join(_utf8(word) for word in words if word != "-")
    if not words or "-" in words or not sys.stdin.isatty():
        if sys.stdin.isatty() and "-" not in words:
            raise click.UsageError(f"There is no prompt{hint or ': give one, or pipe one in'}")
        piped = _piped(beside=bool(text)).decode("utf-8", "replace")
        text = "\n\n".join(part for part in (text, piped.strip("\n")) if part.strip())
    if not text.strip():
        raise click.UsageError(f"The prompt is empty{hint}")
    return text, typed if typed.strip() else None


def _piped(*, beside: bool) -> bytes:
    """Read what is piped in to its end; say so where that takes long `beside` a prompt."""
    telling = threading.Timer(_QUIET, lambda: click.echo(_READING, err=True))
    telling.daemon = True
    if beside and not sys.stdin.isatty():
        # Who started this may have left it a pipe that nobody closes.
        telling.start()
    try:
        return sys.stdin.buffer.read()
    finally:
        telling.cancel()


def _utf8(word: str) -> str:
    """Return an argument in full: a locale without UTF-8 leaves the bytes of what it can't read."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return os.fsencode(word).decode("utf-8", "replace")
    return word


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        raise click.UsageError(f"--session-id {text} is no UUID") from error


def _lines(approve: Approve, output: str) -> "InputLines":
    from amplifier_tui.cli.run.lines import InputLines

    if output != "jsonl":
        raise click.UsageError("--input jsonl needs --output jsonl")
    if approve == "ask":
        raise click.UsageError(
            "--approve ask asks at the terminal; with --input jsonl write decide"
        )
    from amplifier_tui.host.door.descriptors import take_input

    return InputLines(BufferedReader(take_input()))


def _interruptible(headless: "Headless") -> "RunResult":
    """Run, and stop in order when the user or the system says so."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # With SIGHUP a terminal goes away; Windows has none, and `nohup` has it ignored.
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) != signal.SIG_IGN:
        before[hang_up] = signal.getsignal(hang_up)

    def stop(number: int, _frame: object) -> None:
        # Where the terminal is gone nobody waits for the end of a step.
        headless.interrupt(by_key=number == signal.SIGINT, at_once=number == hang_up)

    for number in before:
        signal.signal(number, stop)
    try:
        return headless.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _said(result: "RunResult", output: str) -> str:
    """Return the last words on standard output."""
    if output == "text":
        from amplifier_tui.base.text import portable

        return portable(result.answer)
    data = result.to_json()
    if output == "jsonl":
        data = {"type": "RunEnded", **data}
    return json_line(data)
