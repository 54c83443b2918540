import pytest

from amplifier_tui.modules._loop.orchestrator import LoopOrchestrator
from amplifier_tui.modules.loop_basic import BasicOrchestrator
from amplifier_tui.modules.loop_events import EventOrchestrator
from amplifier_tui.modules.loop_streaming import StreamingOrchestrator
from tests.modules.loops import support

LoopClass = type[LoopOrchestrator]

LOOPS = (BasicOrchestrator, StreamingOrchestrator, EventOrchestrator)


@pytest.fixture(autouse=True, params=LOOPS, ids=lambda loop: loop.settings.module)
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[LoopOrchestrator]:
    """Every test of this folder holds for every loop; a `Bench` runs the loop under test."""
    monkeypatch.setattr(support, "under_test", request.param)
    return request.param
