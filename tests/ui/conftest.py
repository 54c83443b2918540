"""Apps share what they parse: each pilot test would spend its first 20 ms on the same styles."""

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from amplifier_tui.ui.app.screens.letters import Letters
from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.export.sheet import ExportSheet
from amplifier_tui.ui.dialogs.jobs.output import JobSheet
from amplifier_tui.ui.dialogs.parts.picker import LetterPicker
from amplifier_tui.ui.dialogs.parts.previewing import PreviewingSheet
from amplifier_tui.ui.dialogs.questions import Confirm, OpenLink, Unsaved
from amplifier_tui.ui.dialogs.sessions.imported import ImportedSheet
from amplifier_tui.ui.dialogs.sessions.where import WhereSheet
from amplifier_tui.ui.prompt.queue_sheet import QueueSheet

Parsed = dict[tuple[object, ...], list[RuleSet]]

_known: dict[tuple[tuple[str, str], ...], Parsed] = {}
_make, _set_variables = Stylesheet.__init__, Stylesheet.set_variables


def _share(sheet: Stylesheet) -> None:
    """Have a style sheet keep the rules it parses where those of the same colours do."""
    sheet._parse_cache = _known.setdefault(tuple(sheet._variables.items()), {})


def _made(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
    _make(sheet, variables=variables)
    _share(sheet)


def _variables_set(sheet: Stylesheet, variables: dict[str, str]) -> None:
    sheet._parse_cache = {}  # It is cleared.
    _set_variables(sheet, variables)
    _share(sheet)


Stylesheet.__init__, Stylesheet.set_variables = _made, _variables_set


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key decide at once: tests press no keys by accident."""
    monkeypatch.setattr(ApprovalDialog, "grace", 0.0)
    monkeypatch.setattr(ApprovalDialog, "alone", 0.0)


NOT_ASKED = (
    *(Confirm, ExportSheet, ImportedSheet, JobSheet, LetterPicker, OpenLink, PreviewingSheet),
    *(QueueSheet, Unsaved, WhereSheet),
)
"""What the user opened: its keys are pressed in most tests as fast as they are heard."""


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in NOT_ASKED:
        monkeypatch.setattr(kind, "grace", 0.0)
        monkeypatch.setattr(kind, "alone", 0.0)
    monkeypatch.setattr(Letters, "alone", 0.0)
