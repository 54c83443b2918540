"""A bundle of real modules, small enough to watch."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.bundle.prepared import PreparedBundle
from tests.foundation.helpers import allow

STACK = Path(__file__).parent / "stack"


def entry(kind: str, **more: Any) -> dict[str, Any]:
    return {"module": f"fx-{kind}", "source": str(STACK / kind), **more}


def stack(base_path: Path | None = None, **sections: Any) -> Bundle:
    data = {
        "bundle": {"name": "stacked"},
        "session": {"orchestrator": entry("loop"), "context": entry("context")},
        "providers": [entry("provider")],
        **sections,
    }
    return Bundle.from_dict(data, base_path)


async def prepared(bundle: Bundle) -> PreparedBundle:
    result = await bundle.prepare(install_deps=False, trust=allow)
    assert result.activation_failures == {}
    return result


@contextmanager
def loop_started() -> Iterator[asyncio.Event]:
    """Gives an event that is set when a loop waits; a session must have loaded the loop before."""
    event = asyncio.Event()
    listeners = sys.modules["amplifier_module_fx_loop"].STARTED
    listeners.append(event)
    try:
        yield event
    finally:
        listeners.remove(event)
