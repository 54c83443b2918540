import asyncio
from pathlib import Path

from amplifier_tui.foundation.trust.items import TrustDecision, make_item
from amplifier_tui.host.events import HostEvent, TrustAsked
from amplifier_tui.host.trust.answers import TrustFile, TrustMemory
from amplifier_tui.host.trust.service import TrustService


async def test_a_second_question_says_that_there_is_more(tmp_path: Path) -> None:
    titles: list[str] = []

    def put(event: HostEvent) -> None:
        if isinstance(event, TrustAsked):
            titles.append(event.title)
            loop.call_soon(service.answer, event.request_id, TrustDecision())

    loop = asyncio.get_running_loop()
    memory = TrustMemory(TrustFile(tmp_path / "trust.json"))
    service = TrustService(memory, "s", "s", Path("/work/app"), put, lambda level, text: None)
    for name in ("one", "two"):
        await service.ask([make_item("code", name, subject=(name,))])
    assert titles == ["app brings what needs your word", "app brings more that needs your word"]
