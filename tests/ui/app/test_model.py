"""The model: chosen from a list, told how hard to think, left again when it fails."""

import json
from typing import Any

import pytest

from amplifier_tui.host.client import ModelCard, ModelChoice
from amplifier_tui.host.events import (
    Failed,
    Mode,
    ModeChanged,
    ModelChanged,
    Notice,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageChanged,
)
from amplifier_tui.paths import user_config_dir
from amplifier_tui.ui.dialogs.model_pickers import EffortPicker, ModelPicker
from tests.ui.driving import running
from tests.ui.fake_client import SESSION, FakeClient

CARDS = (
    ModelCard(
        provider="anthropic",
        model="claude-sonnet-5-5",
        context_window=1_000_000,
        max_output_tokens=64_000,
        input_price="2",
        output_price="10",
        price_source="genai-prices 0.2.3 of 2026-11-09",
        takes=("images", "thinking", "tools"),
        efforts=("low", "high"),
        current=True,
    ),
    ModelCard(provider="ollama", model="qwen-coder", context_window=32_768, takes=("tools",)),
    ModelCard(provider="openai", problem="Can't reach it"),
)


def changed(**values: Any) -> ModelChanged:
    defaults: dict[str, Any] = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
    return ModelChanged(session_id=SESSION, **{**defaults, **values})


async def test_no_praise_covers_that_a_chosen_model_is_not_listed() -> None:
    async with running() as drive:
        doubt = "anthropic does not list opsu: it is asked for all the same"
        await drive.push(
            changed(model="opsu", chosen="model", doubted=True),
            Notice(session_id=SESSION, level="warning", text=doubt),
        )
        await drive.until(lambda: "does not list opsu" in drive.text())
        assert "answers from the next request" not in drive.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_model_is_found_switched_to_and_remembered(size: tuple[int, int]) -> None:
    client = FakeClient(offered=CARDS)
    async with running(client, size=size) as drive:
        await drive.press("ctrl+x", "L")
        await drive.dialog(ModelPicker)
        await drive.until(lambda: "qwen-coder" in drive.text())
        screen = drive.text()
        assert "in use" in screen and "$2    $10" in screen, "price in and out, aligned"
        assert "✗ openai: Can't reach it" in screen
        assert "window 1M, answers of 64k" in screen
        assert "$2 in, $10 out per million (genai-prices 0.2.3 of 2026-11-09)" in screen
        await drive.write("qwen")
        await drive.press("tab")
        assert "★ qwen-coder" in drive.text()
        assert "price unknown" in drive.text() and "$0" not in drive.text()
        assert "Favourite" in drive.text()
        await drive.write("zzz")
        await drive.until(lambda: "Switch" not in drive.text())
        assert "Favourite" not in drive.text(), "nothing is there to be one"
        await drive.press(*["backspace"] * 3)
        await drive.press("enter")
        await drive.closed()
        assert client.named("switch_model") == [("qwen-coder", "ollama")]
        await drive.push(
            changed(provider="ollama", model="qwen-coder", context_window=32_768, chosen="model")
        )
        assert "Now and in later coding sessions: qwen-coder" in drive.text()
        # An answer of the model before, counted late, does not bring its name back.
        late = UsageChanged(session_id=SESSION, session=Usage(), model="")
        await drive.push(late)
        assert drive.app.state is not None and drive.app.state.facts.model == "qwen-coder"
        await drive.write("/model anthropic/claude-haiku-5-5")
        await drive.press("enter")
        assert client.named("switch_model")[-1] == ("anthropic/claude-haiku-5-5", "")
    stored = json.loads((user_config_dir() / "preferences.json").read_text())
    assert stored["favourite_models"] == ["ollama/qwen-coder"]
    again = FakeClient(offered=CARDS)
    async with running(again, size=size):
        (request,) = again.named("open")[0]
        chosen = ModelChoice(provider="ollama", model="qwen-coder", context_window=32_768)
        assert request.models == {"coding": chosen}


async def test_the_effort_is_chosen_where_the_model_has_levels() -> None:
    async with running(size=(80, 24)) as drive:
        await drive.write("/effort")
        await drive.press("enter")
        assert "has no levels of effort" in drive.text()
        await drive.push(changed(efforts=("low", "high"), effort="low"))
        await drive.press("ctrl+x", "E")
        await drive.dialog(EffortPicker)
        await drive.press("down", "enter")
        assert drive.client.calls[-1] == ("set_effort", "high")
        await drive.write("/effort default")
        await drive.press("enter")
        assert drive.client.calls[-1] == ("set_effort", "")
        await drive.write("/effort extreme")
        await drive.press("enter")
        assert "There is no effort extreme: low, high" in drive.text()
        assert "sonnet 5.5 low" in drive.text() or "effort extreme" in drive.text()


async def test_a_model_nobody_knows_opens_the_list_and_the_one_before_is_offered() -> None:
    client = FakeClient(offered=CARDS)
    async with running(client, size=(80, 24)) as drive:
        await drive.push(
            TurnStarted(session_id=SESSION, turn=1, prompt="go"),
            Failed(
                session_id=SESSION,
                kind="not_found",
                message="Anthropic does not know the model claude-nowhere",
                prompt="go",
                back="claude-sonnet-5-5",
            ),
            TurnEnded(session_id=SESSION, turn=1, status="error"),
        )
        await drive.dialog(ModelPicker)
        await drive.press("escape")
        await drive.closed()
        assert "back to sonnet 5.5" in drive.text() and "choose a model" in drive.text()
        await drive.press("ctrl+x", "K")
        assert client.named("switch_model_back") == [()]
        assert client.named("retry") == [("",)]
        # Whoever types is not interrupted: the card offers the list.
        await drive.write("meanwhile")
        await drive.push(Failed(session_id=SESSION, kind="not_found", message="Not known"))
        assert drive.app.screen is drive.app.main


async def test_on_a_small_screen_the_name_of_a_model_is_read_whole() -> None:
    async with running(FakeClient(offered=CARDS), size=(40, 12)) as drive:
        await drive.press("ctrl+x", "L")
        await drive.dialog(ModelPicker)
        await drive.until(lambda: "claude-sonnet-5-5" in drive.text())
        assert "1M" in drive.text() and "$2 in, $10 out" in drive.text()


@pytest.mark.parametrize("mode", ["ask", "plan", "edits", "auto"])
@pytest.mark.parametrize(
    ("model", "effort"), [("claude-sonnet-4-5-20250929", ""), ("gpt-5.1-codex-max", "high")]
)
async def test_that_a_choice_holds_for_later_sessions_is_said_whole_in_80_columns(
    mode: Mode, model: str, effort: str
) -> None:
    async with running(size=(80, 24)) as drive:
        await drive.push(ModeChanged(session_id=SESSION, mode=mode))
        await drive.push(changed(model=model, effort=effort, chosen="model"))
        how = f" ({effort})" if effort else ""
        assert f"Now and in later coding sessions: {model}{how}" in drive.text()
