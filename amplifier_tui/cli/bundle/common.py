"""What the `bundle` commands share: the project, JSON, errors, options, the trust question."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from amplifier_tui.foundation.registry.project_bundles import Trust
    from amplifier_tui.foundation.workspace import Workspace


F = TypeVar("F", bound=Callable[..., Any])

TRUSTED = "--trust: everything a project or a stranger brings counts in this run."
FAILED = 1
REFUSED = 3


def json_option(command: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def trust_option(command: F) -> F:
    """Add `--trust`."""
    text = "Fetch, install and run what the bundle names without a question."
    return click.option("--trust", is_flag=True, help=text)(command)


def open_workspace(context: click.Context) -> "Workspace":
    """Open the project; what is wrong with its settings is said on stderr."""
    from amplifier_tui.cli.logs import log_to_file
    from amplifier_tui.foundation.workspace import Workspace
    from amplifier_tui.paths import shipped_bundles_dir

    # What is logged has names of bundles in it, and a terminal would take them for more.
    log_to_file()
    workspace = Workspace.open(_project(context), shipped=(shipped_bundles_dir(),))
    for problem in workspace.problems:
        complain("Warning", str(problem), "yellow")
    return workspace


def chosen(workspace: "Workspace", name: str | None) -> str:
    """Return the bundle that is meant: the one that was named, else the one in use.

    Raises:
        BundleNotFoundError: There is no such bundle.
    """
    from amplifier_tui.host.session.opening.opening import DEFAULT_BUNDLE

    if name:
        # What was requested is not there: it says so, and which ones are.
        workspace.choose(requested=name)
        return name
    choice = workspace.choose(default=DEFAULT_BUNDLE)
    if choice.notice:
        complain("Warning", choice.notice, "yellow")
    entry = choice.entry
    found = workspace.catalog().find(entry.name)
    return entry.name if found == entry else entry.source


def _project(context: click.Context) -> Path:
    return context.obj if isinstance(context.obj, Path) else Path.cwd()


def complain(label: str, text: str, color: str) -> None:
    """Say on stderr that something is wrong."""
    from amplifier_tui.base.text import clean

    click.echo(f"{style(label, fg=color)}: {clean(text)}", err=True)


@contextlib.contextmanager
def failures(context: click.Context) -> Iterator[None]:
    """Turn what goes wrong with bundles into a message and an exit status."""
    from amplifier_tui.foundation.exceptions import BundleError, refusal_in

    try:
        yield
    except BundleError as error:
        complain("Error", str(error), "red")
        context.exit(REFUSED if refusal_in(error) else FAILED)
    except OSError as error:
        complain("Error", f"{error.filename or 'A file'}: {error.strerror or error}", "red")
        context.exit(FAILED)


def style(text: str, **attributes: Any) -> str:
    """Style a text, unless `NO_COLOR` is set; where nobody looks, click takes it out again."""
    import os

    return text if os.environ.get("NO_COLOR") else click.style(text, **attributes)


def print_json(data: Any) -> None:
    """Print data as one line of JSON that no terminal takes for anything else."""
    click.echo(json_line(data))


def json_line(data: Any) -> str:
    """Return data as a line of JSON that every stream takes, no terminal for anything else."""
    from amplifier_tui.base.text import clean

    text = json.dumps(data, ensure_ascii=False, default=str)
    if clean(text) != text:
        # Control characters beyond those that JSON escapes, lone surrogates, or such as turn the
        # text around.
        text = json.dumps(data, default=str)
    return text


def as_text(value: Any) -> str:
    """Return a text as it is, and other data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


class Progress:
    """Says on stderr what takes long; in a terminal the percentage is counted up in its line."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, action: str, detail: str) -> None:
        """Take an action of `foundation`, such as `fetching`, and what it is about."""
        import shutil

        from amplifier_tui.base.text import one_line
        from amplifier_tui.cli.layout import cut

        if action not in ("fetching", "installing", "installing_package"):
            return
        line = f"{action.replace('_', ' ')} {one_line(detail, 200)}"
        what, _, percent = line.rpartition(" ")
        counted = percent.endswith("%")
        if not sys.stderr.isatty():
            if not counted:
                click.echo(line, err=True)
            return
        # One line must stay one line, or the next percentage would be written over half of it.
        shown = cut(line, shutil.get_terminal_size().columns - 1)
        again = counted and what == self._last
        click.echo(f"\x1b[1A\x1b[2K{shown}" if again else shown, err=True)
        self._last = what if counted else line


def trust_answers(everything: bool) -> "Trust":
    """Return who answers: `--trust`, an answer of before, or the person at the terminal."""
    from amplifier_tui.cli.trust.question import TerminalAnswers
    from amplifier_tui.foundation.trust.gate import trust_everything

    if everything:
        click.echo(TRUSTED, err=True)
        return trust_everything
    return TerminalAnswers()
