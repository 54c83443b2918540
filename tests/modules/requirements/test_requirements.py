"""Every built-in module against every Required and Recommended line of its kind's contract.

A line is held by a check here, which runs on the module as it is mounted by its id, or by the
tests of its kind that are named beside it, which run for every module of the kind.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.messages.tool_calls import tool_spec
from amplifier_tui.base.python import awaited
from amplifier_tui.kernel import events
from amplifier_tui.kernel.hooks import HookResult
from amplifier_tui.kernel.llm_errors import ConfigurationError
from amplifier_tui.kernel.message_models import ChatResponse
from amplifier_tui.kernel.models import ProviderInfo, ToolResult
from amplifier_tui.kernel.mounting.mount import METHODS
from amplifier_tui.kernel.validation import VALIDATORS
from amplifier_tui.kernel.validation.base import VALID_HOOK_ACTIONS
from tests.context.support import long_session, system, unpaired
from tests.modules import test_provider_replay as replay
from tests.modules.loops import (
    test_contract,
    test_endings,
    test_hooks,
    test_providers,
    test_tools,
    test_words,
)
from tests.modules.provider_anthropic import test_conversation as anthropic_rows
from tests.modules.provider_openai import test_conversation as openai_rows
from tests.modules.provider_support import ask
from tests.modules.requirements.lines import LINES
from tests.modules.requirements.mounting import (
    ENTRIES,
    KINDS,
    Subject,
    mounted,
    of_kind,
)
from tests.servers import LoopbackServer

Check = Callable[[Subject], Awaitable[None]]
Elsewhere = tuple[Callable[..., Any], ...]
KNOWN = {value for name, value in vars(events).items() if name.isupper() and isinstance(value, str)}
PUBLISHED = {"tool:progress", "user:notification"}
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL")
HOSTILE: tuple[Any, ...] = (None, 7, -1.5, True, [], [[]], {}, {"a": {}}, "", "\0", "\ud800")


class Records(logging.Handler):
    """What a logger says while this is open, from a level on."""

    def __init__(self, name: str, level: int) -> None:
        super().__init__(level)
        self.said: list[str] = []
        self._logger = logging.getLogger(name)
        self._before = self._logger.level

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())

    def __enter__(self) -> "Records":
        self._logger.addHandler(self)
        self._logger.setLevel(min(self.level, self._before or self.level))
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._before)


async def is_mounted(subject: Subject) -> None:
    function = ENTRIES[subject.module].load()
    assert inspect.iscoroutinefunction(function)
    assert list(inspect.signature(function).parameters)[:2] == ["coordinator", "config"]


# --- tools ---------------------------------------------------------------------------------------


def tools(subject: Subject) -> Mapping[str, Any]:
    found = subject.mounted("tools")
    assert found or subject.module == "tool-mcp", "it mounts no tool"
    return found


async def has_the_members_of_a_tool(subject: Subject) -> None:
    for name, tool in tools(subject).items():
        assert tool.name == name and tool.description.strip()
        assert inspect.iscoroutinefunction(tool.execute)


async def answers_with_a_result(subject: Subject) -> None:
    for tool in tools(subject).values():
        assert isinstance(await tool.execute({}), ToolResult)


async def survives_hostile_input(subject: Subject) -> None:
    for tool in tools(subject).values():
        schema = tool.input_schema
        for value in HOSTILE:
            for names in (schema.get("required", ()), schema["properties"], ("odd", "\0")):
                given = dict.fromkeys(names, value)
                assert isinstance(await tool.execute(given), ToolResult), given


async def has_a_schema(subject: Subject) -> None:
    for name, tool in tools(subject).items():
        schema = tool_spec(name, tool)["parameters"]
        assert tool.get_schema() == tool.input_schema == schema
        assert schema["type"] == "object"
        assert set(schema.get("required", ())) <= set(schema["properties"])


async def says_what_is_wrong(subject: Subject) -> None:
    for tool in tools(subject).values():
        required = tool.input_schema.get("required", [])
        if required:
            result = await tool.execute({name: {"no": {}} for name in required})
            assert not result.success and result.error and result.error["message"]
            assert any(name in str(result.output) for name in required), result.output


async def a_wrong_call_is_no_error_of_the_program(subject: Subject) -> None:
    with Records("amplifier_tui", logging.WARNING) as records:
        for tool in tools(subject).values():
            await tool.execute({})
    assert records.said == []


async def announces_its_own_events(subject: Subject) -> None:
    own = set(subject.events) - KNOWN - PUBLISHED
    assert own <= await subject.announced()


# --- providers -----------------------------------------------------------------------------------


def provider_of(subject: Subject) -> Any:
    (provider,) = subject.mounted("providers").values()
    return provider


async def has_the_methods_of_a_provider(subject: Subject) -> None:
    provider = provider_of(subject)
    assert all(callable(getattr(provider, name)) for name in METHODS["provider"])
    assert isinstance(provider.get_info(), ProviderInfo) and provider.name


async def answers_with_usage(subject: Subject) -> None:
    answer = await provider_of(subject).complete(ask("Hi"))
    assert isinstance(answer, ChatResponse) and answer.usage is not None
    usage = answer.usage
    assert usage.input_tokens > 0 and usage.output_tokens > 0
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens


async def does_without_a_key_in_words(subject: Subject) -> None:
    if subject.module == "provider-mock":
        return
    with pytest.raises(ConfigurationError, match="API_KEY is not set"):
        async with mounted(subject.module, subject.folder, api_key=""):
            pass


async def returns_a_cleanup(subject: Subject) -> None:
    # The scripted one holds nothing.
    assert callable(subject.cleanup) or subject.module == "provider-mock"


async def announces_its_streams(subject: Subject) -> None:
    assert {"llm:stream_block_start", "llm:stream_block_delta"} <= await subject.announced()


# --- hooks ---------------------------------------------------------------------------------------


def handlers(subject: Subject) -> list[tuple[str, str, Any]]:
    found = subject.coordinator.hooks._registered()
    assert found
    return found


BAD_DATA: tuple[dict[str, Any], ...] = (
    {},
    {"tool_name": 7, "tool_input": None, "tool_call_id": [], "result": 3},
    {"tool_name": "bash", "tool_input": {"command": "\0\ud800"}, "prompt": {}, "messages": 1},
)


async def answers_with_a_hook_result(subject: Subject) -> None:
    for event, name, handler in handlers(subject):
        for data in BAD_DATA:
            answer = await awaited(handler(event, dict(data)))
            if answer is not None:
                assert isinstance(answer, HookResult), (name, event)
                assert answer.action in VALID_HOOK_ACTIONS


async def its_cleanup_unregisters(subject: Subject) -> None:
    async with mounted(subject.module, subject.folder) as other:
        assert handlers(other)
        await awaited(other.cleanup())
        assert other.coordinator.hooks._registered() == []
        other.cleanup = None


async def runs_in_its_place(subject: Subject) -> None:
    """Secrets go before anybody sees them; who asks comes after who changes; logs come last."""
    order = ("hooks-redaction", "hooks-approval", "hooks-checkpoint", "hooks-logging")
    places = [await priority(subject, module) for module in order]
    assert places == sorted(set(places)) and await priority(subject, subject.module) >= 0


async def priority(subject: Subject, module: str) -> int:
    async with mounted(module, subject.folder) as other:
        return max(entry.priority for _, entry in other.coordinator.hooks._all())


async def its_handlers_are_logged(subject: Subject) -> None:
    with Records("amplifier_tui.kernel.hooks", logging.DEBUG) as records:
        async with mounted(subject.module, subject.folder) as other:
            for event, name, _ in handlers(other):
                assert any(name in said and event in said for said in records.said)


async def hears_what_it_is_told_to(subject: Subject) -> None:
    """The log is the one hook whose events are a choice; the others act at fixed points."""
    async with mounted("hooks-logging", subject.folder, additional_events=["mine:own"]) as other:
        assert "mine:own" in {event for event, _, _ in handlers(other)}
    async with mounted("hooks-logging", subject.folder, enabled=False) as other:
        assert other.coordinator.hooks._registered() == []


# --- contexts ------------------------------------------------------------------------------------


async def has_the_methods_of_a_context(subject: Subject) -> None:
    context = subject.coordinator.get("context")
    assert all(inspect.iscoroutinefunction(getattr(context, m)) for m in METHODS["context"])


async def filled(subject: Subject, **config: Any) -> tuple[Any, list[Any], list[Any], list[str]]:
    """A context with a long session: stored rows, what a request gets, and the events of it."""
    config = {"max_tokens": 6_000, **config}
    async with mounted(subject.module, subject.folder, **config) as other:
        context = other.coordinator.get("context")
        rows = [system("Be kind."), *long_session(12)]
        for row in rows:
            await context.add_message(row)
        sent = await context.get_messages_for_request()
        return context, rows, list(sent), other.events


async def compacts_the_view_and_nothing_else(subject: Subject) -> None:
    context, rows, sent, _ = await filled(subject)
    assert str(sent) != str(rows) and len(str(sent)) < len(str(rows)) / 2
    kept = await context.get_messages()
    assert [row["content"] for row in kept] == [row["content"] for row in rows]


async def keeps_pairs_and_order(subject: Subject) -> None:
    _, rows, sent, _ = await filled(subject)
    assert unpaired(sent) == (set(), set())
    places = [[str(row.get("tool_call_id")) for row in rows].index(i) for i in results(sent)]
    assert places and places == sorted(places)


def results(rows: Iterable[Any]) -> list[str]:
    return [row["tool_call_id"] for row in rows if row["role"] == "tool"]


async def keeps_the_system_message(subject: Subject) -> None:
    _, _, sent, _ = await filled(subject)
    assert sent[0]["role"] == "system" and "Be kind." in str(sent[0]["content"])


async def tells_of_compaction(subject: Subject) -> None:
    *_, happened = await filled(subject)
    assert happened.index("context:pre_compact") < happened.index("context:post_compact")


async def counts_tokens_to_the_threshold(subject: Subject) -> None:
    *_, below = await filled(subject, max_tokens=1_000_000)
    *_, above = await filled(subject, max_tokens=60_000, compaction_threshold=0.05)
    assert "context:pre_compact" not in below and "context:pre_compact" in above


async def takes_rows_side_by_side(subject: Subject) -> None:
    async with mounted(subject.module, subject.folder) as other:
        context = other.coordinator.get("context")
        rows = [{"role": "user", "content": f"row {n}"} for n in range(50)]
        await asyncio.gather(
            *(context.add_message(row) for row in rows),
            *(context.get_messages_for_request() for _ in range(5)),
        )
        assert [row["content"] for row in await context.get_messages()] == [
            row["content"] for row in rows
        ]


# --- the table -----------------------------------------------------------------------------------

CHECKS: dict[str, dict[str, Check | Elsewhere]] = {
    "tool": dict(
        zip(
            LINES["tool"],
            (
                has_the_members_of_a_tool,
                is_mounted,
                answers_with_a_result,
                survives_hostile_input,
                has_a_schema,
                says_what_is_wrong,
                a_wrong_call_is_no_error_of_the_program,
                announces_its_own_events,
            ),
            strict=True,
        )
    ),
    "provider": dict(
        zip(
            LINES["provider"],
            (
                has_the_methods_of_a_provider,
                is_mounted,
                (replay.test_thoughts_go_back_to_the_letter,),
                answers_with_usage,
                answers_with_usage,
                does_without_a_key_in_words,
                (
                    anthropic_rows.test_repairs_are_told_once_each,
                    openai_rows.test_repairs_are_told_once_each,
                ),
                (openai_rows.test_a_raw_session_shows_the_request_without_secrets,),
                returns_a_cleanup,
                announces_its_streams,
            ),
            strict=True,
        )
    ),
    "hook": dict(
        zip(
            LINES["hook"],
            (
                answers_with_a_hook_result,
                is_mounted,
                answers_with_a_hook_result,
                answers_with_a_hook_result,
                its_cleanup_unregisters,
                runs_in_its_place,
                its_handlers_are_logged,
                hears_what_it_is_told_to,
                announces_its_own_events,
            ),
            strict=True,
        )
    ),
    "orchestrator": dict(
        zip(
            LINES["orchestrator"],
            (
                (test_contract.test_it_works_without_a_coordinator_as_spec_001_tests_it,),
                is_mounted,
                (test_contract.test_start_end_and_completion_say_what_the_spec_asks,),
                (
                    test_endings.test_a_turn_that_is_cancelled_at_any_event_ends_as_cancelled,
                    test_endings.test_a_registry_that_fails_at_any_event_ends_the_turn_as_an_error,
                ),
                (
                    test_contract.test_the_events_of_a_plain_turn_come_in_the_order_of_the_spec,
                    test_tools.test_tool_events_carry_the_keys_of_both_worlds,
                ),
                (test_contract.test_start_end_and_completion_say_what_the_spec_asks,),
                (
                    test_contract.test_its_package_is_valid_and_does_what_hooks_say,
                    test_hooks.test_a_hook_that_answers_nonsense_denies,
                ),
                (test_contract.test_the_answer_comes_back_and_both_sides_are_stored,),
                (test_contract.test_the_events_that_are_its_own_are_announced_and_no_others,),
                (test_providers.test_a_hook_chooses_the_provider_of_one_request,),
                (test_contract.test_endless_tool_calls_end_at_the_limit_with_a_clear_message,),
                (test_contract.test_a_provider_error_is_told_and_reaches_the_caller,),
                (test_words.test_the_words_of_a_turn_come_as_an_async_generator,),
            ),
            strict=True,
        )
    ),
    "context": dict(
        zip(
            LINES["context"],
            (
                has_the_methods_of_a_context,
                is_mounted,
                compacts_the_view_and_nothing_else,
                keeps_pairs_and_order,
                keeps_pairs_and_order,
                counts_tokens_to_the_threshold,
                tells_of_compaction,
                keeps_the_system_message,
                takes_rows_side_by_side,
                counts_tokens_to_the_threshold,
            ),
            strict=True,
        )
    ),
}


@pytest.mark.parametrize(
    ("kind", "module"), [(kind, module) for kind in KINDS for module in of_kind(kind)]
)
async def test_a_module_meets_every_line_of_its_contract(
    kind: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    unmet: list[str] = []
    async with AsyncExitStack() as stack:
        config: dict[str, Any] = {}
        if module in ("provider-anthropic", "provider-openai"):
            server = await stack.enter_async_context(LoopbackServer(["Fine."] * 2))
            config = {"base_url": server.openai_url if "openai" in module else server.url}
        subject = await stack.enter_async_context(mounted(module, tmp_path, **config))
        for line, check in CHECKS[kind].items():
            if isinstance(check, tuple):
                continue
            try:
                await check(subject)
            except Exception as error:
                unmet.append(f"{line}: {type(error).__name__}: {error}")
    assert unmet == []


@pytest.mark.parametrize("module", ENTRIES)
async def test_a_module_passes_validation_in_a_fresh_home_without_a_key(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    kind = next(kind for kind, start in KINDS.items() if module.startswith(start))
    folder = Path(inspect.getfile(ENTRIES[module].load())).parent
    result = await VALIDATORS[kind](module).validate(folder)
    assert result.passed, [check.message for check in result.errors]
    assert list(tmp_path.iterdir()) == []


def test_every_built_in_module_is_of_a_kind_of_the_table() -> None:
    assert sorted(ENTRIES) == sorted(name for kind in KINDS for name in of_kind(kind))
    assert {kind: list(checks) for kind, checks in CHECKS.items()} == {
        kind: list(lines) for kind, lines in LINES.items()
    }
