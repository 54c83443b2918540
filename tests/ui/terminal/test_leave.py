import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from amplifier_tui.ui.app.app import AmplifierApp
from amplifier_tui.ui.terminal.leave import Farewell, crash_words, farewell_text


def test_after_a_fault_it_is_said_that_the_program_was_replaced_while_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "replaced" not in crash_words(ImportError("gone"), None)
    module = ModuleType("amplifier_tui.later")
    file = tmp_path / "later.py"
    file.touch()
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("amplifier_tui.ui.terminal.leave._BEGAN", time.time() - 60)
    assert "Its files were replaced while it ran" in crash_words(ImportError("gone"), None)
    file.unlink()
    assert "replaced" in crash_words(ImportError("gone"), None)


def test_the_farewell_is_plain_capped_and_says_how_to_come_back() -> None:
    answer = "\n".join(f"line {n}\x1b[31m" for n in range(200)) + "[red]end[/]\x07"
    text = farewell_text(Farewell(answer, "amplifier-tui --resume abc", "Ended by SIGTERM."))
    assert "line 199[red]end[/]" in text
    assert "\x1b" not in text and "\x07" not in text
    rows = text.splitlines()
    assert len(rows) == 22, "with the shell's line it fits 24 rows"
    assert rows[0] == f"… {200 - 17} lines more in the session"
    assert text.endswith("Resume with: amplifier-tui --resume abc")
    assert farewell_text(Farewell()) == ""
    words = farewell_text(Farewell("", "resume it", ends="A rule ends"))
    assert words == "Resume with: resume it\nA rule ends."
    words = farewell_text(Farewell("", "resume it", aside="Moved aside: .envrc"))
    assert words.startswith("Moved aside: .envrc. Resumed, /aside puts it back.\n\nResume with:")
    assert farewell_text(Farewell(aside="Moved aside: .envrc")) == "Moved aside: .envrc."
    narrow = farewell_text(Farewell("", "resume it", aside="Moved aside: .envrc"), columns=30)
    assert narrow.splitlines()[:2] == ["Moved aside: .envrc. Resumed,", "/aside puts it back."]


def test_the_farewell_names_the_program_as_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/v/bin/amplifier-tui"])
    also = ("amplifier-tui --resume def",)
    assert farewell_text(Farewell("", "amplifier-tui --resume abc", also=also)) == (
        "Resume with: /v/bin/amplifier-tui --resume abc\n\n"
        "The others:\n/v/bin/amplifier-tui --resume def"
    )


def test_the_farewell_is_wrapped_at_words_and_fits_any_terminal() -> None:
    words = " ".join(f"word{n}" for n in range(300))
    farewell = Farewell(words, "amplifier-tui --resume abc")
    for columns, height in ((80, 24), (40, 12), (200, 50)):
        rows = farewell_text(farewell, columns, height).splitlines()
        assert max(map(len, rows)) <= columns and len(rows) <= height - 2
        assert all(word in words.split() for word in " ".join(rows[1:-2]).split())
        assert "word299" in rows[-3]
    assert len(farewell_text(farewell, 20, 4).splitlines()) <= 8


def test_the_last_words_are_made_for_the_terminal_they_are_printed_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "12")
    words = " ".join(f"word{n}" for n in range(300))
    ended = SimpleNamespace(return_value=Farewell(words, "amplifier-tui --resume abc"))
    rows = AmplifierApp.last_words(cast(AmplifierApp, ended)).splitlines()
    assert max(map(len, rows)) <= 40 and len(rows) <= 10 and "word299" in rows[-3]
