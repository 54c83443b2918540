"""What of a session is to be written, as the rows of a dialog that change it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from textual.content import Content

from amplifier_tui.base.text import one_line
from amplifier_tui.host.client import (
    EXPORT_SUFFIXES,
    ExportForm,
    ExportRequest,
    RewindPoint,
    form_of,
)
from amplifier_tui.ui.widgets.pick_list import PickRow

RowName = Literal["form", "from", "tools", "thinking", "events", "path"]

_FORMS: Final[dict[ExportForm, str]] = {
    "markdown": "Markdown",
    "html": "HTML, a page that can be read anywhere",
    "json": "JSON, every field",
    "jsonl": "the event log as JSON lines",
    "csv": "the event log as a table",
}
_LABELS: Final[dict[RowName, str]] = {
    "form": "Form",
    "from": "From",
    "tools": "Tools",
    "thinking": "Reasoning",
    "events": "Events",
    "path": "File",
}
_CONVERSATION: Final[tuple[RowName, ...]] = ("form", "from", "tools", "thinking", "path")
_EVENT_LOG: Final[tuple[RowName, ...]] = ("form", "events", "path")
_WRITTEN: Final = ("events", "path")
"""Rows whose value is typed."""
_LABEL_WIDTH: Final = 11
_NOT_IN_A_NAME: Final = re.compile(r"[^\w]+")


class ExportOptions:
    """The choices so far.

    Args:
        request: What is chosen at first.
    """

    def __init__(self, request: ExportRequest) -> None:
        self.request = request
        self.prompts: tuple[tuple[int, str], ...] = ()
        """Turns it can begin with, the first of the session left out, each with its prompt."""

    def take_points(self, points: Sequence[RewindPoint]) -> None:
        """Offer these prompts to begin with, the newest first as they come."""
        self.prompts = tuple((point.turn, point.prompt) for point in reversed(points))[1:]

    @property
    def names(self) -> tuple[RowName, ...]:
        """The rows that matter to the form."""
        return _EVENT_LOG if self.request.form in ("jsonl", "csv") else _CONVERSATION

    def rows(self) -> list[PickRow]:
        """Return the rows as they are shown."""
        return [
            PickRow(
                name,
                Content.assemble(
                    (_LABELS[name].ljust(_LABEL_WIDTH), "$text-muted"), self.value(name)
                ),
            )
            for name in self.names
        ]

    def value(self, name: RowName) -> str:
        """Return what a row says."""
        request = self.request
        match name:
            case "form":
                return _FORMS[request.form]
            case "from":
                return self._beginning()
            case "tools":
                return "with what they gave back" if request.tools else "their calls alone"
            case "thinking":
                return "with it" if request.thinking else "left out"
            case "events":
                return one_line(request.events) or "all of them"
            case "path":
                return one_line(request.path, 1_000)

    def _beginning(self) -> str:
        turn = self.request.from_turn
        if turn == 1:
            return "the beginning"
        prompt = next((prompt for known, prompt in self.prompts if known == turn), "")
        return f"turn {turn}{f': {one_line(prompt, 200)}' if prompt else ''}"

    def is_typed(self, name: str) -> bool:
        """Whether a row's value is typed."""
        return name in _WRITTEN

    def typed(self, name: str) -> str:
        """Return a value that is typed, as it is to be changed."""
        return self.request.events if name == "events" else self.request.path

    def write(self, name: str, text: str) -> None:
        """Take a value that was typed; the form follows the name of the file."""
        if name == "events":
            self.request = replace(self.request, events=text.strip())
        elif text.strip():
            known = text.strip().lower().endswith(tuple(EXPORT_SUFFIXES.values()))
            form = form_of(text.strip()) if known else self.request.form
            self.request = replace(self.request, path=text.strip(), form=form)

    def step(self, name: str, by: int) -> None:
        """Go to the next or the previous value of a row."""
        request = self.request
        match name:
            case "form":
                forms = tuple(_FORMS)
                form = forms[(forms.index(request.form) + by) % len(forms)]
                suffix = EXPORT_SUFFIXES[request.form]
                path = request.path
                if path.lower().endswith(suffix):
                    path = f"{path[: -len(suffix)]}{EXPORT_SUFFIXES[form]}"
                self.request = replace(request, form=form, path=path)
            case "from":
                turns = sorted({1, request.from_turn, *(turn for turn, _ in self.prompts)})
                at = (turns.index(request.from_turn) + by) % len(turns)
                self.request = replace(request, from_turn=turns[at])
            case "tools":
                self.request = replace(request, tools=not request.tools)
            case "thinking":
                self.request = replace(request, thinking=not request.thinking)


def file_name(title: str, session_id: str, form: ExportForm) -> str:
    """Return a name for the file of a session, such as `fix-the-parser-1a2b3c4d.html`."""
    words = _NOT_IN_A_NAME.sub("-", one_line(title, 200).lower())[:40].strip("-_") or "session"
    short = _NOT_IN_A_NAME.sub("", session_id)[:8]
    return f"{words}{f'-{short}' if short else ''}{EXPORT_SUFFIXES[form]}"
