"""What the user runs in the shell, as their own act and not the agent's."""

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.host.events.base import HostEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellStarted(HostEvent):
    """A command of the user begins.

    Attributes:
        command_id: Unique in the session, also when it is resumed.
        command: The command line.
        told: The agent gets command and output with the next prompt.
    """

    command_id: str
    command: str
    told: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellProgress(HostEvent):
    """A running command of the user printed something; `text` is the newest part only."""

    command_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellEnded(HostEvent):
    """A command of the user is over.

    Attributes:
        exit_code: Negative for a signal.
        output: What it printed, the middle of very much left out; `output_size` is its full size
            in bytes.
        error: Why it could not be started; empty when it was.
        stopped: The user, or the end of the session, stopped it.
        left_running: Processes of it go on until the session ends.
        in_terminal: It ran in the terminal itself, which nobody recorded.
    """

    command_id: str
    command: str
    told: bool = True
    exit_code: int = 0
    output: str = ""
    output_size: int = 0
    error: str = ""
    stopped: bool = False
    left_running: bool = False
    in_terminal: bool = False
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalWanted(HostEvent):
    """A command of the user needs a terminal: the front end is to run it in its own.

    `SessionClient.note_shell` takes what came of it.

    Attributes:
        full_screen: It draws on a screen of its own and leaves nothing behind to be read.
    """

    command: str
    told: bool = True
    full_screen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChanged(HostEvent):
    """A command that the agent runs in the background began, printed something, or ended.

    Attributes:
        job_id: Unique among the jobs since the session was opened.
        started: Unix time.
        state: How it stands, in words.
        tail: The last line it printed.
        no_network: It runs in the sandbox without network: nothing else reaches a port of it.
        earlier: It ran before the session was opened this time.
    """

    job_id: str
    command: str
    started: float = 0.0
    running: bool = True
    state: str = ""
    tail: str = ""
    no_network: bool = False
    earlier: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellWaiting(HostEvent):
    """Which commands' output goes along with the next prompt."""

    command_ids: tuple[str, ...] = ()
