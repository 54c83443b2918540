"""What a front end is told of the sessions of other programs."""

from typing import Literal

from amplifier_tui.base.lazy.dataclass import dataclass

OriginName = Literal["claude-code", "codex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCard:
    """One session of another program.

    Attributes:
        key: Names it to `SessionClient`: the origin, a colon and the program's own id.
        updated: Unix time of the last change.
        cwd: The folder it worked in, as it says itself; empty where it does not.
        path: The file it is read from.
    """

    key: str
    origin: OriginName
    title: str = ""
    first_prompt: str = ""
    updated: float = 0.0
    cwd: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedText:
    """A session of another program as Markdown, without secrets.

    Attributes:
        cut: Only the beginning is here; the rest is longer than anybody reads on a screen.
    """

    card: ImportedCard
    text: str
    cut: bool = False
