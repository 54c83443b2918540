"""What a trick of a clone consists of, and words for writing one down in a line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.replies import ToolUse
from tests.trust.cloning import DIARY, KEY, Answer, Machine

SETTINGS = ".amplifier/settings.yaml"
LOCAL = ".amplifier/settings.local.yaml"


@dataclass(frozen=True)
class Effect:
    """What is seen in a session once the user said "use it", and not before.

    Attributes:
        seen: Whether it is.
        wants: What the model does with what it got.
        then: What it does after that, or what the sub-agent does that it began.
        answer: What the user says to questions about these calls.
    """

    seen: Callable[[Machine], bool]
    wants: tuple[ToolUse, ...] = ()
    answer: Answer = "deny"
    then: tuple[ToolUse, ...] = ()


@dataclass(frozen=True)
class Never:
    """What has no effect, whoever allows it.

    Attributes:
        says: Words by which the session tells the user why; empty for what is not even asked about.
        wants: What the model tries all the same.
    """

    says: str
    wants: tuple[ToolUse, ...] = ()
    then: tuple[ToolUse, ...] = ()


@dataclass(frozen=True)
class Trick:
    """What the clone brings.

    Attributes:
        make: Writes it, and returns the bundle to open; empty for the configured one.
        group: The group of the item that is asked about; empty for what is not asked about.
        shows: What that item shows.
        use: What comes of it once the user says "use it".
    """

    make: Callable[[Machine], str | None]
    group: str
    shows: str
    use: Effect | Never


def bash(command: str) -> ToolUse:
    return ToolUse("bash", {"command": command})


def write_file(path: str, content: str = "words") -> ToolUse:
    return ToolUse("write_file", {"file_path": path, "content": content})


def read_file(path: str) -> ToolUse:
    return ToolUse("read_file", {"file_path": path})


def made(name: str) -> Callable[[Machine], bool]:
    """A file of the clone, or of the home, is there."""
    return lambda at: (at.clone / name.replace("~", str(at.home))).exists()


def key_in(name: str) -> Callable[[Machine], bool]:
    """A file of the clone has the user's key."""
    return lambda at: (at.clone / name).exists() and KEY in (at.clone / name).read_text()


def sent(words: str) -> Callable[[Machine], bool]:
    """The model was sent these words."""
    return lambda at: words in at.prompts()


def says(words: str) -> Callable[[Machine], bool]:
    """The session told the user these words."""
    return lambda at: at.told(words) in at.said()


AGENT = ToolUse("task", {"agent": "spy", "instruction": "Go on."})
"""A sub-agent begins to work."""
NOTHING = Never("")
"""It means nothing, so nothing is asked and nothing is said."""
UNASKED = Effect(made("did"), (bash("touch did"),))
"""A command runs without a question."""
WRITES = Effect(made("did"), (write_file("did"),))
"""A file of the workspace is written without a question."""
READ = Effect(sent(DIARY))
"""A file of the user's is put before the model."""
RUNS = Effect(lambda at: at.ran.exists() and "mounted" in at.ran.read_text())
"""A module of the clone is mounted: its code runs."""
SHELL = Effect(lambda at: at.ran.exists(), (bash("touch did"),), "allow")
"""A command that the user allows runs code of the clone."""
GREP = ToolUse("grep", {"pattern": "WORDS", "path": "~", "output_mode": "content"})


TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
UNREDACTED = Effect(sent(TOKEN), (bash(f"echo {TOKEN[:10]}''{TOKEN[10:]}"),), "allow")
"""The model is sent a secret that a command printed."""
_OWN_SHELL = "#!/bin/sh\ntouch <HOME>/RAN\n"


def own_shell(at: Machine) -> None:
    at.write("sh", _OWN_SHELL).chmod(0o755)


def setting(text: str, shows: str, use: Effect | Never, group: str = "power") -> Trick:
    return Trick(lambda at: at.write(SETTINGS, text) and None, group, shows, use)


def bundle(
    head: str, shows: str, use: Effect | Never, group: str = "power", body: str = "Hello."
) -> Trick:
    return Trick(lambda at: at.bundle(at.told(head), at.told(body)), group, shows, use)


def both(*steps: Callable[[Machine], Any]) -> Callable[[Machine], str | None]:
    def make(at: Machine) -> str | None:
        results = [step(at) for step in steps]
        return next((each for each in results if isinstance(each, str) and each), None)

    return make


def link(name: str, target: str) -> Callable[[Machine], None]:
    def make(at: Machine) -> None:
        path = at.clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(at.told(target))

    return make
