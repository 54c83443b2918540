"""The state of each bundle in the picker says what `bundle validate` says."""

from pathlib import Path

import pytest

from amplifier_tui.host.door.catalog import list_bundles, preview_bundle

BUNDLE = """---
bundle: {{name: mine, version: 1.0.0}}
includes: [coding:behaviors/session, coding:providers/mock]
{more}
---
You help.
"""
LOOP = "{module: loop-streaming, config: {max_iterations: many}}"


@pytest.mark.parametrize(
    ("more", "state", "error"),
    [
        ("tools: [{module: tool-bash}]", "ready", ""),
        ("tools: [{module: tool-bash, config: {tmeout: 3}}]", "ready", ""),
        ("tools: [{module: tool-bash, config: {timeout: abc}}]", "incomplete", "`timeout` of"),
        ("tools: [{source: ./x}]", "incomplete", "Missing required 'module' field"),
        ("agents: {x: {tools: [{module: hooks-logging}]}}", "incomplete", "no tool"),
        (f"session: {{orchestrator: {LOOP}}}", "invalid", "`max_iterations` of"),
    ],
)
async def test_a_bundle_with_an_error_is_not_ready(
    more: str, state: str, error: str, own_home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "project" / ".amplifier" / "bundles" / "mine.md"
    path.parent.mkdir(parents=True)
    path.write_text(BUNDLE.format(more=more))
    cards = await list_bundles(tmp_path / "project", "")
    (card,) = [each for each in cards if each.name == "mine"]
    assert card.state == state and error in card.error
    assert not error or f"{path}:4" in card.error
    assert (await preview_bundle(tmp_path / "project", "mine", "")).card == card
