import gc
import subprocess
import sys
import weakref

import pytest
from rich.segment import Segment
from textual.strip import Strip

from amplifier_tui.ui.terminal.textual_costs import let_strips_go


@pytest.fixture(autouse=True)
def patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strip, "divide", Strip.divide)
    let_strips_go()
    let_strips_go()


class Watched(Strip):
    __slots__ = ("__weakref__",)


def test_a_line_that_is_not_cut_is_gone_with_its_last_reference() -> None:
    gc.disable()
    try:
        strip = Watched([Segment("hello")])
        assert strip.divide([5]) == [strip]
        assert strip.divide([5, 9]) == [strip]
        gone = weakref.ref(strip)
        del strip
        assert gone() is None
    finally:
        gc.enable()


def test_lines_are_cut_as_ever() -> None:
    strip = Strip([Segment("hello "), Segment("world")])
    parts = strip.divide([3, 8, 11, 40])
    assert [part.text for part in parts] == ["hel", "lo wo", "rld"]
    assert strip.divide([3, 8, 11, 40]) is parts
    assert strip.divide([]) == []


def test_the_text_area_does_without_tree_sitter_and_others_have_it_afterwards() -> None:
    code = """
import sys
from amplifier_tui.ui.prompt.prompt_input import PromptInput
assert not any(name.split(".")[0] == "tree_sitter" for name in sys.modules)
import tree_sitter
assert tree_sitter.Parser
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
