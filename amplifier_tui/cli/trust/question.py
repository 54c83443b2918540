"""The question of trust at a terminal, for commands that fetch."""

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_tui.base.text import one_line, reveal

if TYPE_CHECKING:
    from amplifier_tui.foundation.trust.items import TrustItem

_HEADS = {
    "code": "Would be fetched, installed and run, with what it brings of the same publisher",
    "skills": "Instructions the model may follow, and their scripts",
    "power": "Settings of what guards you",
    "files": "Files outside of the project",
    "keys": "Would get a key",
}


class TerminalAnswers:
    """Answers by what was answered before, else by asking the person at the terminal, if any."""

    def __init__(self) -> None:
        from amplifier_tui.host.trust.answers import TrustMemory

        self._memory = TrustMemory()
        self.nobody: set[str] = set()
        """Keys of items that do not count because nobody was there to be asked."""

    @property
    def folders(self) -> Iterable[Path]:
        """Folders the user said are their own."""
        return self._memory.file.folders

    def known(self, item: "TrustItem") -> bool | None:
        """Return what was answered before; None when it has to be asked."""
        return self._memory.known(item, "")

    def bind(self, item: "TrustItem", like: "TrustItem") -> None:
        """Keep for an item, for as long, what was answered about `like`."""
        self._memory.bind(item, like, "")

    async def ask(self, items: Sequence["TrustItem"]) -> Collection[str]:
        """Ask about all items at once; without a person they are refused, and nothing is kept."""
        from amplifier_tui.foundation.trust.items import TrustDecision

        for group, head in _HEADS.items():
            listed = [item for item in items if item.group == group]
            for line in (head, *(text for item in listed for text in _lines(item))):
                if listed:
                    click.echo(line, err=True)
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            said = "Refused, since nobody can be asked here: use --trust, or answer in a terminal."
            click.echo(said, err=True)
            self.nobody |= {item.key for item in items}
            return ()
        answer = click.prompt(
            "Use all of it, choose, or none", type=click.Choice(["all", "choose", "none"]), err=True
        )
        chosen = [
            item.key
            for item in items
            if answer == "all"
            or (answer == "choose" and click.confirm(f"Use {_shown(item.title)}?", err=True))
        ]
        decision = TrustDecision(accepted=frozenset(chosen), remember="always")
        # A refusal is not kept: whoever gives the command again means to be asked again.
        self._memory.keep([item for item in items if item.key in chosen], decision, "", Path())
        return chosen


def _lines(item: "TrustItem") -> list[str]:
    return [f"  {_shown(text)}" for text in (item.title, item.detail, item.where) if text]


def _shown(text: str) -> str:
    # What is decided on is shown as it is, invisible characters too.
    return one_line(reveal(text), 500)
