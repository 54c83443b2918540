"""`amplifier-tui module validate`: whether a module keeps its contract, and if not, what to do."""

import contextlib
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amplifier_tui.kernel.validation.base import ValidationCheck, ValidationResult
    from amplifier_tui.kernel.validation.module_check import CheckedModule

KINDS = ("orchestrator", "provider", "tool", "hook", "context")
PATIENCE = 3.0
"""Seconds after which it is said that the module is waited for."""
LAST_RESORT = 30.0
"""Seconds more than its mount has for which a module may keep the loop, swallowing all that is
raised in it; then the program ends."""
LONGEST = 2_000
"""Characters of a message that are printed; the JSON has all of them."""


@click.command(short_help="Check a module against its contract.")
@click.argument("path")
@click.option("--type", "kind", type=click.Choice(KINDS), help="Check it as this kind of module.")
@click.option("--config", metavar="JSON", default="{}", help="Mount it with this configuration.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("--strict", is_flag=True, help="Warnings fail, too.")
@click.pass_context
def validate(
    context: click.Context, path: str, kind: str | None, config: str, as_json: bool, strict: bool
) -> None:
    """Check the module in folder PATH, or the installed module of that id.

    Its package is imported and its mount function runs once, on a mock coordinator; once more
    without a context pipeline if it asks for that. An orchestrator is run, and handlers of prompts
    and tool calls and context providers are called, with the data of a trial. The exit status is 0
    if it passes (with --strict without warnings), 1 if it fails and 2 if there is nothing to check.
    """
    import sys

    from amplifier_tui import compat
    from amplifier_tui.base.commands.as_typed import as_typed
    from amplifier_tui.cli.bundle.common import print_json
    from amplifier_tui.cli.logs import log_to_stderr
    from amplifier_tui.context.provider_trial import ProviderTrial
    from amplifier_tui.kernel.validation.module_check import check_module
    from amplifier_tui.kernel.validation.trials import run_trials

    log_to_stderr()
    compat.install()
    settings = _settings(config)
    try:
        # What the module prints is no part of the report.
        printed = contextlib.redirect_stdout(sys.stderr)
        with printed, _told_of_a_wait(), _unknown_settings() as unknown:
            checked = run_trials(_bounded(check_module(path, kind, settings, ProviderTrial())))
    except FileNotFoundError as error:
        hint = f"What is installed is listed by: {as_typed('amplifier-tui module list')}"
        raise click.UsageError(f"{error}\n{hint}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for message in unknown:
        remedy = "Correct its name in --config; until then it does nothing"
        checked.result.fail("config", message, remedy, "warning")
    if as_json:
        print_json(_data(checked))
    else:
        for line in _report(checked):
            click.echo(line)
    result = checked.result
    context.exit(0 if result.passed and not (strict and result.warnings) else 1)


@contextlib.contextmanager
def _told_of_a_wait() -> Iterator[None]:
    """Say what is waited for where that takes long; a module may keep the loop from it."""
    import threading

    from amplifier_tui.kernel.mounting.mount import MOUNT_SECONDS
    from amplifier_tui.kernel.validation.trials import SECONDS

    words = (
        f"Waiting for the module: its import and its mount have {MOUNT_SECONDS:g} s each, its "
        f"cleanup as many, and each run of its loop or of a handler {SECONDS:g} s. ctrl+c ends the "
        "check."
    )
    waiting = threading.Timer(PATIENCE, lambda: click.echo(words, err=True))
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


async def _bounded(check: "Coroutine[Any, Any, CheckedModule]") -> "CheckedModule":
    """Return what a check finds; end the program, and print where it stands, if it never does.

    Code can swallow all that is raised in it, and one in C may let nothing of Python run.
    """
    import asyncio
    import faulthandler
    import sys

    from amplifier_tui.kernel.mounting.mount import MOUNT_SECONDS

    if sys.__stderr__ is None:
        return await check
    loop, errors, again = asyncio.get_running_loop(), sys.__stderr__, list[asyncio.TimerHandle]()

    def alive() -> None:
        faulthandler.dump_traceback_later(MOUNT_SECONDS + LAST_RESORT, exit=True, file=errors)
        again[:] = [loop.call_later(1, alive)]

    alive()
    try:
        return await check
    finally:
        again[0].cancel()
        faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def _unknown_settings() -> Iterator[dict[str, None]]:
    """Collect what the module's settings log of unknown keys: a check, and no line of a log.

    Only the module knows which settings it reads, and it reads them when it is mounted.
    """
    import logging

    from amplifier_tui.base import config

    found: dict[str, None] = {}

    def collect(record: logging.LogRecord) -> bool:
        found[record.getMessage()] = None  # It may be mounted more than once.
        return False

    config.logger.addFilter(collect)
    try:
        yield found
    finally:
        config.logger.removeFilter(collect)


def _settings(text: str) -> dict[str, Any]:
    import json

    try:
        settings = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"is no JSON: {error}", param_hint="--config") from error
    if not isinstance(settings, dict):
        raise click.BadParameter("must be a JSON object", param_hint="--config")
    return settings


def _data(checked: "CheckedModule") -> dict[str, Any]:
    import dataclasses

    result = checked.result
    return {
        "module": checked.module_id,
        "type": checked.kind,
        "path": checked.path,
        "passed": result.passed,
        "summary": _summary(result),
        "checks": [dataclasses.asdict(check) for check in result.checks],
    }


def _report(checked: "CheckedModule") -> Iterator[str]:
    """Yield the lines: the module, a paragraph for each check beside its name, the summary."""
    from amplifier_tui.base.text import clean, one_line
    from amplifier_tui.cli.layout import cells, paragraph, width, wrapped

    result = checked.result
    names = [one_line(check.name, 200) for check in result.checks]
    left = max(map(cells, names), default=0) + 4
    room = max(20, width() - left)

    def beside(text: str) -> list[str]:
        rows = clean(text[:LONGEST]).splitlines() or [""]
        return [line for row in rows for line in wrapped(row, room)]

    yield from paragraph(f"{checked.module_id} ({checked.kind}) at {checked.path}")
    yield ""
    for name, check in zip(names, result.checks, strict=True):
        first, *more = beside(check.message)
        if check.where and not check.passed:
            more += beside(f"at {check.where}")
        if check.remedy and not check.passed:
            more += beside(f"→ {check.remedy}")
        yield f"{_mark(check)} {name}{' ' * (left - 2 - cells(name))}{first}"
        yield from (" " * left + line for line in more)
    yield ""
    looks = sum(check.passed and check.severity == "warning" for check in result.checks)
    yield _summary(result) + (f"; {looks} to look at (!)" if looks else "")


def _summary(result: "ValidationResult") -> str:
    from amplifier_tui.kernel.mounting.contents import TOOL_NAME
    from amplifier_tui.kernel.mounting.schemas import SCHEMA

    # It loads, as published modules do; no more can be said in their favour.
    refused = result.passed and any(each.remedy in (SCHEMA, TOOL_NAME) for each in result.warnings)
    return result.summary() + ("; but models refuse such a tool" if refused else "")


def _mark(check: "ValidationCheck") -> str:
    from amplifier_tui.cli.bundle.common import style

    if check.severity == "warning":
        return style("!", fg="yellow")
    return style("✓", fg="green") if check.passed else style("✗", fg="red")
