import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_tui.foundation.bundle.bundle import Bundle
from amplifier_tui.foundation.mentions.resolver import BaseMentionResolver
from amplifier_tui.kernel import llm_errors
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.interfaces import Provider
from amplifier_tui.kernel.loader import ModuleLoader
from amplifier_tui.modules import provider_mock
from amplifier_tui.modules.provider_mock import Pace, tokens
from tests.modules.provider_mock.support import Talk, one_scenario, words


async def test_it_is_found_by_its_id_and_is_a_provider():
    coordinator = ModuleCoordinator()
    mount = await ModuleLoader(coordinator).load("provider-mock", {"context_window": 9_000})
    await mount(coordinator)
    provider = coordinator.get("providers", "mock")
    assert isinstance(provider, Provider)
    assert provider.get_info().defaults["context_window"] == 9_000
    (model,) = await provider.list_models()
    assert (model.id, model.context_window) == ("scripted", 9_000)


@pytest.mark.parametrize(
    "config", [{"script": 3}, {"tokens_per_second": -1}, {"context_window": "big"}]
)
async def test_a_mistake_in_the_config_is_told(config: dict[str, Any]):
    with pytest.raises(llm_errors.ConfigurationError, match="provider-mock"):
        await provider_mock.mount(ModuleCoordinator(), config)


async def test_thinking_words_and_calls_are_streamed_and_answered(tmp_path: Path):
    talk = Talk(
        tmp_path,
        one_scenario(
            a={"thinking": "Hm, well.", "say": "Let me see.", "call": [{"t": {"x": 1}}]},
            b={"say": "Done."},
        ),
    ).user("Hi")
    response = await talk.next()
    assert [block.type for block in response.content] == ["thinking", "text", "tool_call"]
    assert response.finish_reason == "tool_calls"
    (call,) = talk.provider.parse_tool_calls(response)
    assert (call.name, call.arguments) == ("t", {"x": 1})
    assert talk.streamed("thinking") == "Hm, well."
    assert talk.streamed("text") == "Let me see."
    assert talk.streamed("tool_use") == '{"x": 1}'
    names = [event for event, _ in talk.events]
    assert names[0] == "llm:request" and names[-1] == "llm:response"
    assert names.count("llm:stream_block_start") == names.count("llm:stream_block_end") == 3
    assert len({data["request_id"] for event, data in talk.events}) == 1


async def test_the_answer_depends_on_what_came_of_the_calls(tmp_path: Path):
    script = one_scenario(
        a={
            "call": [{"t": {}}],
            "next": [
                {"if": "denied", "go": "no"},
                {"if": {"output": "magic \\d+"}, "go": "magic"},
                {"if": "failed", "go": "bad"},
                {"go": "good"},
            ],
        },
        good={"say": "Good: {{output}}"},
        bad={"say": "Bad: {{tail}}"},
        magic={"say": "Magic!"},
        no={"say": "You said: {{reason}}"},
    )
    for text, metadata, expected in (
        ("fine", {}, "Good: fine"),
        ("a\nb", {"is_error": True}, "Bad: a\nb"),
        ("Magic 42", {"is_error": True}, "Magic!"),
        (
            "User denied: use make\nThe tool was not run.",
            {"is_error": True, "denied": True},
            "You said: use make",
        ),
        ("User denied: use make", {}, "You said: use make"),
        ("Denied by hook: User denied: not now", {"is_error": True}, "You said: not now"),
        ("User denied: t wants to run", {"denied": True}, "You said: no reason given"),
        (
            "Approval timeout - denied by default: t wants to run",
            {"denied": True},
            "You said: Approval timeout - denied by default: t wants to run",
        ),
    ):
        talk = Talk(tmp_path, script).user("Hi")
        await talk.next()
        assert words(await talk.result(text, **metadata).next()) == expected


async def test_several_calls_are_made_side_by_side(tmp_path: Path):
    script = one_scenario(
        a={"call": [{"t": {"n": 1}}, {"u": {"n": 2}}]}, b={"say": "{{output}} and {{output:2}}"}
    )
    talk = Talk(tmp_path, script).user("Hi")
    response = await talk.next()
    assert len({call.id for call in response.tool_calls}) == 2
    assert words(await talk.result("one").result("two").next()) == "one and two"


async def test_a_longer_story_is_followed_from_the_conversation_alone(tmp_path: Path):
    script = one_scenario(a={"call": [{"t": {}}]}, b={"call": [{"t": {}}]}, c={"say": "End."})
    talk = Talk(tmp_path, script).user("Hi")
    await talk.next()
    await talk.result("1").next()
    talk.result("2")
    rows = talk.rows
    fresh = Talk(tmp_path, script)  # As after a resume: nothing but the rows is known.
    fresh.rows = rows
    assert words(await fresh.next()) == "End."


async def test_scenarios_are_chosen_by_turn_prompt_and_tools(tmp_path: Path):
    script = {
        "scenarios": [
            {"when": {"prompt": "hello|hi"}, "steps": {"a": {"say": "greeting"}}},
            {"when": {"turn": 1, "tools": ["t"]}, "steps": {"a": {"say": "first"}}},
            {"when": {"every": 2, "at": 0}, "steps": {"a": {"say": "even {{turn}}"}}},
            {"steps": {"a": {"say": "else"}}},
        ]
    }
    talk = Talk(tmp_path, script)
    prompts = ("Go", "Go", "Go", "HELLO there", "Go")
    said = [words(await talk.user(prompt).next()) for prompt in prompts]
    assert said == ["first", "even 2", "else", "greeting", "else"]
    assert words(await Talk(tmp_path, script, tools=()).user("Go").next()) == "else"


async def test_what_hooks_add_does_not_count_as_the_user_speaking(tmp_path: Path):
    script = one_scenario(a={"say": "{{turn}}: {{prompt}}"})
    talk = Talk(tmp_path, script).user("  Real\n words ")
    talk.user("reminder", metadata={"source": "hook"})
    talk.user("left out", metadata={"source": "compaction", "ephemeral": True})
    assert words(await talk.next()) == "1: Real words"


async def test_without_a_matching_scenario_it_says_so(tmp_path: Path):
    script = {"scenarios": [{"when": {"turn": 5}, "steps": {"a": {"say": "x"}}}]}
    assert "no scenario" in words(await Talk(tmp_path, script).user("Hi").next())


async def test_placeholders_are_filled_in_arguments_too(tmp_path: Path):
    listing = "sub/\nread me.md  12 bytes\nb.txt  3 bytes"
    script = one_scenario(
        a={"call": [{"t": {}}]},
        b={"call": [{"t": {"path": "{{file}}", "deep": [{"p": "{{prompt}}"}], "n": 3}}]},
        c={"say": "{{unknown}} {{n}}"},
    )
    talk = Talk(tmp_path, script).user("Hi")
    await talk.next()
    response = await talk.result(listing).next()
    assert response.tool_calls[0].arguments == {
        "path": "read me.md",
        "deep": [{"p": "Hi"}],
        "n": 3,
    }
    assert words(await talk.result("x").next()) == "{{unknown}} 1"


async def test_a_step_can_repeat_itself(tmp_path: Path):
    script = one_scenario(a={"say": "Part {{n}}.\n", "repeat": 3})
    assert words(await Talk(tmp_path, script).user("Hi").next()) == "Part 1.\nPart 2.\nPart 3."


async def test_broken_arguments_are_passed_on_as_broken(tmp_path: Path):
    script = one_scenario(a={"call": [{"t": '{"x": '}]}, b={"say": "x"})
    talk = Talk(tmp_path, script).user("Hi")
    (call,) = (await talk.next()).tool_calls
    assert call.arguments == {}
    assert "not valid JSON" in call.arguments_error
    assert talk.streamed("tool_use") == '{"x": '


async def test_a_step_can_fail_like_an_api_after_its_words(tmp_path: Path):
    error = {"type": "RateLimitError", "message": "Slow down", "status_code": 429, "retry_after": 5}
    talk = Talk(tmp_path, one_scenario(a={"say": "I beg", "error": error})).user("Hi")
    with pytest.raises(llm_errors.RateLimitError, match="Slow down") as caught:
        await talk.next()
    assert (caught.value.status_code, caught.value.retry_after) == (429, 5)
    assert caught.value.retryable
    assert [event for event, _ in talk.events][-1] == "llm:stream_aborted"


async def test_usage_is_the_same_for_the_same_conversation(tmp_path: Path):
    script = one_scenario(
        a={"thinking": "Hm.", "say": "Words", "call": [{"t": {}}]}, b={"say": "x"}
    )
    counts = []
    for _ in range(2):
        talk = Talk(tmp_path, script).user("Hi")
        first = (await talk.next()).usage
        second = (await talk.result("y" * 400).next()).usage
        assert first.cache_read_tokens is None and second.cache_read_tokens > 0
        assert second.input_tokens > first.input_tokens + 100
        assert first.total_tokens == first.input_tokens + first.output_tokens
        counts.append((first, second))
    assert counts[0] == counts[1]


# --- the script's file -----------------------------------------------------------------------


async def test_a_broken_script_is_an_error_of_the_turn_that_says_where(tmp_path: Path):
    talk = Talk(tmp_path, {"scenarios": 3}).user("Hi")
    with pytest.raises(llm_errors.ConfigurationError, match=r"script\.yaml.*scenarios"):
        await talk.next()


async def test_a_relative_script_is_looked_for_where_mentions_are(tmp_path: Path):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "s.yaml").write_text("scenarios: [{steps: {a: {say: mine}}}]")
    talk = Talk(tmp_path, "s.yaml").user("Hi")
    asked: list[str] = []

    def resolve(mention: str) -> Path:
        asked.append(mention)
        return tmp_path / "bundle" / "s.yaml"

    talk.coordinator.register_capability("mention_resolver", SimpleNamespace(resolve=resolve))
    assert words(await talk.next()) == "mine"
    assert asked == ["@s.yaml"]


async def test_a_script_that_is_nowhere_is_told_with_every_place(tmp_path: Path):
    resolver = BaseMentionResolver({"mine": Bundle("mine", base_path=tmp_path / "b")}, tmp_path)
    talk = Talk(tmp_path, "../s.yaml").user("Hi")
    talk.coordinator.register_capability("session.working_dir", str(tmp_path))
    talk.coordinator.register_capability("mention_resolver", resolver)
    places = f"looked for {tmp_path.parent / 's.yaml'} and {tmp_path / 's.yaml'}"
    with pytest.raises(llm_errors.ConfigurationError, match=f"is not there: {places}"):
        await talk.next()


async def test_a_path_that_leads_out_of_a_bundle_into_the_working_folder_is_found(tmp_path: Path):
    base = tmp_path / "project" / ".amplifier" / "bundles"
    base.mkdir(parents=True)
    script = tmp_path / "project" / "scripts" / "s.yaml"
    script.parent.mkdir()
    script.write_text("scenarios: [{steps: {a: {say: mine}}}]")
    bundle = Bundle("mine", base_path=base, confined_roots=(base,))
    resolver = BaseMentionResolver({"mine": bundle}, tmp_path / "project")
    for folder, says in (("project", "mine"), ("elsewhere", "")):
        talk = Talk(tmp_path, "../../scripts/s.yaml").user("Hi")
        talk.coordinator.register_capability("session.working_dir", str(tmp_path / folder))
        talk.coordinator.register_capability("mention_resolver", resolver)
        if says:
            assert words(await talk.next()) == says
        else:
            with pytest.raises(llm_errors.ConfigurationError, match="is not there"):
                await talk.next()


async def test_or_beside_the_bundle_that_is_opened_before_those_it_is_made_of(tmp_path: Path):
    for name in ("base", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.yaml").write_text(f"scenarios: [{{steps: {{a: {{say: {name}}}}}}}]")
    bundles = {name: Bundle(name, base_path=tmp_path / name) for name in ("base", "mine")}
    resolver = BaseMentionResolver(bundles, tmp_path / "elsewhere")
    talk = Talk(tmp_path, "s.yaml").user("Hi")
    talk.coordinator.register_capability("mention_resolver", resolver)
    assert words(await talk.next()) == "mine"


async def test_or_in_the_working_directory(tmp_path: Path):
    (tmp_path / "s.yaml").write_text("scenarios: [{steps: {a: {say: here}}}]")
    talk = Talk(tmp_path, "s.yaml").user("Hi")
    talk.coordinator.register_capability("session.working_dir", str(tmp_path))
    assert words(await talk.next()) == "here"


# --- pace ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "a", "One two  three.\n\n  indented 漢字 👍🏽\n", "x" * 50])
def test_tokens_joined_are_the_text(text: str):
    assert "".join(tokens(text)) == text
    assert all(len(token.strip()) <= 6 for token in tokens(text))


class Clock:
    """A loop's clock that only sleeping moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(asyncio, "sleep", self.sleep)
        monkeypatch.setattr(
            asyncio, "get_running_loop", lambda: SimpleNamespace(time=lambda: self.now)
        )

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


async def test_words_come_at_the_pace_that_was_asked_for(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(monkeypatch)
    pace = Pace(80)
    await pace.begin(2.0)
    count = len([token async for token in pace.of("word " * 400)])
    assert clock.now == pytest.approx(102 + count / 80, abs=0.01)


async def test_time_lost_by_a_slow_reader_is_made_up_for(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(monkeypatch)
    pace = Pace(100)
    await pace.begin(0)
    async for _ in pace.of("word " * 10):
        clock.now += 0.05
    assert clock.now == pytest.approx(100.5, abs=0.06)


async def test_a_pace_of_zero_never_waits(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(monkeypatch)
    pace = Pace(0)
    await pace.begin(60)
    assert len([token async for token in pace.of("word " * 1_000)]) > 1_000
    assert clock.now == 100
