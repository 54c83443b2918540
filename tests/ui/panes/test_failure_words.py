import pytest

from amplifier_tui.ui.panes.modules import failure_word
from amplifier_tui.ui.state.instruments.modules import ModuleStatus

CHECK = "Error during protocol compliance check"


@pytest.mark.parametrize(
    ("error", "missing", "word"),
    [
        ("no network", (), "no network"),
        ("ImportError: No module named 'x'. Install it", (), "No module named 'x'"),
        ("anything", ("OPENAI_API_KEY",), "no OPENAI_API_KEY"),
        ("timed out (30 s)", (), "timed out"),
        ("a.b.SomeError: x: y", (), "x: y"),
        ("", (), "failed"),
        ("ValueError:", (), "ValueError:"),
        (
            "Module 'm' found at /x but failed to load: ImportError: No module 'y'",
            (),
            "No module 'y'",
        ),
        ("Module 'm': no mount()", (), "no mount()"),
        (f"{CHECK}: KeyError: 'token' (/x/m.py:3)", (), "KeyError: 'token'"),
        ("KeyError: ('a', 'b')", (), "('a', 'b')"),
        ("OSError: (5, 'x y') (/x/m.py:3)", (), "(5, 'x y')"),
        ("ValueError: (unknown setting)", (), "(unknown setting)"),
        ("ValueError: refused; try later", (), "ValueError: refused"),
        (f"{CHECK}: ValueError: Unknown mount point 'x'. Use one", (), "Unknown mount point 'x'"),
        (
            "Module 'm' has no valid Python package at /x: not there",
            (),
            "has no valid Python package at /x",
        ),
    ],
)
def test_a_failure_is_said_in_a_few_words(error: str, missing: tuple[str, ...], word: str) -> None:
    module = ModuleStatus("m", "tool", state="failed", error=error, missing=missing)
    assert failure_word(module) == word
