import gc
import weakref

import pytest
from rich.segment import Segment
from textual.strip import Strip

from amplifier_tui.ui.terminal.strips import let_strips_go


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
