"""Shell command lines, read without running them."""

from amplifier_tui.base.shell.effects import (
    covers,
    is_open,
    may_take_value,
    only_looks,
    only_reading_program,
    only_reads,
    options_missing,
    read_places,
    reads_here,
    tells_names_alone,
)
from amplifier_tui.base.shell.hiding import may_hide
from amplifier_tui.base.shell.line import LineScope, Redirection, ShellCommand, ShellLine
from amplifier_tui.base.shell.plain import plain_line
from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.base.shell.searches import Search, search_of
from amplifier_tui.base.shell.unwrap import (
    ROOT_WRAPPERS,
    RUNNERS,
    SHELLS,
    ProgramRun,
    programs_of,
    readings,
    runner_length,
)

__all__ = [
    "ROOT_WRAPPERS",
    "RUNNERS",
    "SHELLS",
    "LineScope",
    "ProgramRun",
    "Redirection",
    "Search",
    "ShellCommand",
    "ShellLine",
    "covers",
    "is_open",
    "may_hide",
    "may_take_value",
    "only_looks",
    "only_reading_program",
    "only_reads",
    "options_missing",
    "plain_line",
    "programs_of",
    "read_places",
    "read_shell_line",
    "readings",
    "reads_here",
    "runner_length",
    "search_of",
    "tells_names_alone",
]
