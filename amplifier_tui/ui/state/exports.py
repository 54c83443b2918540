"""What is said of an export."""

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import ExportedFile, ExportForm
from amplifier_tui.ui.state.formats import plural


def exported(file: ExportedFile, form: ExportForm) -> str:
    """Return what became of it: `12 messages written, 3 secrets taken out: /…`."""
    if file.problem:
        return f"{one_line(file.path, 200)}: {file.problem}"
    what = plural(file.count, "event" if form in ("jsonl", "csv") else "message")
    # The numbers first: where there is no room for a long path, its end is cut.
    said = f"{what} written, {secrets_out(file.secrets)}"
    if file.unreadable:
        said += f", {plural(file.unreadable, 'unreadable row')} left out"
    return f"{said}: {one_line(file.path, 1_000)}"


def secrets_out(count: int) -> str:
    """Return how many secrets are not in it: `no secrets found`, `1 secret taken out`."""
    return f"{plural(count, 'secret')} taken out" if count else "no secrets found"
