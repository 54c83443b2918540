"""Which files measure something, in the order of the table."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tests.bench.table import Row

Measure = Callable[[bool], list[Row]]


@dataclass(frozen=True)
class Bench:
    """One file.

    Attributes:
        name: Of the module in this package; it has `measure(quick)`.
        title: Its heading in the table.
    """

    name: str
    title: str

    def load(self) -> Measure:
        """Import the file and return what measures."""
        measure: Measure = import_module(f"tests.bench.{self.name}").measure
        return measure


BENCHES = (
    Bench("first_paint", "From the command to the first frame, key and session"),
    Bench("one_step", "One prompt without a screen"),
    Bench("key_echo", "From a key to its letter on the screen"),
    Bench("transcript_stream", "A long conversation while an answer streams"),
    Bench("event_log", "The event log"),
    Bench("openings", "Opening a picker or a screen"),
    Bench("looks", "Every screen in every theme"),
    Bench("plays", "Random keys in every dialog"),
    Bench("several", "Several sessions in one window"),
    Bench("blocked", "A module that does not let go"),
    Bench("module_reload", "Reloading a module a hundred times"),
    Bench("mcp_servers", "Thirty MCP servers with 400 tools"),
    Bench("stopping", "Stopping"),
    Bench("killing", "Killing the program while commands run"),
    Bench("coming_back", "Killing a window with three sessions"),
    Bench("memory", "Memory, and the processor at rest"),
    Bench("host_resume", "Resuming a session of 40 MB"),
    Bench("session_search", "Searching and listing all sessions"),
    Bench("session_list", "The list of sessions on screen"),
    Bench("host_stream", "Following a stream"),
    Bench("hops", "The way of a token, and of a question"),
    Bench("kernel_emit", "The kernel beside the published one"),
    Bench("context_ledger", "The context of a session with 10 000 rows"),
    Bench("foundation_load", "Bundles"),
    Bench("sequences", "Ledger, screen and resume after 20 000 random sequences"),
    Bench("bursts", "Random bursts of keys, clicks, pastes and sizes"),
    Bench("properties", "What must hold of any input"),
    Bench("shell_lines", "Shell lines that are let through unasked"),
)


def bench(name: str) -> Bench:
    """Return a file by its name.

    Raises:
        LookupError: There is none.
    """
    for found in BENCHES:
        if found.name == name:
            return found
    raise LookupError(f"no benchmark is called {name!r}: {', '.join(b.name for b in BENCHES)}")
