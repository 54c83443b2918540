"""What is said of requests that are no part of the conversation."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import ProviderRetrying
from amplifier_tui.host.session.modules.facts import ModuleFacts
from amplifier_tui.host.stream.normalizer import Normalizer
from amplifier_tui.kernel.correlation import aside
from amplifier_tui.kernel.hooks import HookRegistry
from tests.host.stream.up import Up


@pytest.mark.parametrize("optional", [True, False])
async def test_another_attempt_is_told_of_where_somebody_waits_for_it(
    up: Up, tmp_path: Path, optional: bool
) -> None:
    hooks = HookRegistry()
    Normalizer(up.sender, tmp_path, ModuleFacts()).observe(hooks)
    with aside(optional=optional):
        await hooks.emit("provider:retry", {"attempt": 1, "max_retries": 3, "delay": 2.0})
    assert len(up.of(ProviderRetrying)) == (0 if optional else 1)
