import asyncio
import logging
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.hooks.frontend import ApprovalDecision, ApprovalTimeoutError
from amplifier_tui.kernel.models import ContextInjection, HookResult

Log = pytest.LogCaptureFixture


class Context:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)


class Approval:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[Any, ...]] = []

    async def request_approval(self, *arguments: Any) -> Any:
        self.asked.append(arguments)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Display:
    def __init__(self) -> None:
        self.shown: list[tuple[Any, ...]] = []

    def show_message(self, *arguments: Any) -> None:
        self.shown.append(arguments)


def hub(context: Any = None, approval: Any = None, display: Any = None, **limits: Any) -> Any:
    owner = SimpleNamespace(session_id="s", parent_id=None, config={"session": limits})
    coordinator = ModuleCoordinator(owner, approval, display)
    coordinator.mount_points["context"] = context
    return coordinator


def inject(text: str | None = None, **fields: Any) -> HookResult:
    return HookResult(action="inject_context", context_injection=text, **fields)


# -- inject_context --------------------------------------------------------------------------------


async def test_an_injection_is_stored_with_where_it_comes_from() -> None:
    context = Context()
    result = inject("lint", context_injection_role="user")
    await hub(context).process_hook_result(result, "tool:post", "linter")
    [message] = context.messages
    stamp = message["metadata"].pop("timestamp")
    assert stamp.endswith("+00:00")
    assert message == {
        "role": "user",
        "content": "lint",
        "metadata": {
            "source": "hook",
            "hook_name": "linter",
            "event": "tool:post",
            "requested_role": "user",
            "ephemeral": False,
            "persisted": True,
        },
    }


async def test_a_stored_injection_is_used_up_and_the_rest_of_the_result_stays() -> None:
    given_result = inject("t", suppress_output=True, user_message="m", reason="r")
    before = given_result.model_dump()
    result = await hub(Context(), display=Display()).process_hook_result(given_result, "e", "h")
    assert result is not given_result
    assert (result.action, result.context_injection, result.context_injections) == (
        "continue",
        None,
        [],
    )
    assert (result.suppress_output, result.user_message, result.reason) == (True, "m", "r")
    assert given_result.model_dump() == before


async def test_an_ephemeral_injection_is_left_to_the_orchestrator() -> None:
    context = Context()
    result = await hub(context).process_hook_result(inject("t", ephemeral=True), "e", "h")
    assert context.messages == []
    assert (result.action, result.ephemeral, result.context_injection) == (
        "inject_context",
        True,
        "t",
    )
    assert result.context_injections == [
        ContextInjection(content="t", ephemeral=True, hook_name="h", event="e")
    ]


async def test_of_a_mixed_list_only_the_ephemeral_part_is_left() -> None:
    context = Context()
    result = await hub(context).process_hook_result(
        inject(
            "a\n\nb",
            context_injections=[
                ContextInjection(content="a", hook_name="one", event="own"),
                ContextInjection(
                    content="b", role="user", ephemeral=True, append_to_last_tool_result=True
                ),
            ],
        ),
        "e",
        "h",
    )
    assert [m["content"] for m in context.messages] == ["a"]
    assert context.messages[0]["metadata"]["hook_name"] == "one"
    assert context.messages[0]["metadata"]["event"] == "own"
    assert result.context_injection == "b"
    assert (result.context_injection_role, result.ephemeral) == ("user", True)
    assert result.append_to_last_tool_result is True


async def test_the_list_counts_more_than_the_scalar() -> None:
    context = Context()
    both = inject("scalar", context_injections=[ContextInjection(content="list")])
    await hub(context).process_hook_result(both, "e", "h")
    assert [m["content"] for m in context.messages] == ["list"]


async def test_without_a_context_an_injection_is_counted_and_stays_in_the_result() -> None:
    coordinator = hub(None)
    result = await coordinator.process_hook_result(inject("12345678"), "e", "h")
    assert coordinator._current_turn_injections == 2
    assert (result.action, result.context_injection) == ("inject_context", "12345678")


async def test_a_context_with_a_sync_add_message_is_served_too() -> None:
    messages: list[Any] = []
    context = SimpleNamespace(add_message=messages.append)
    await hub(context).process_hook_result(inject("t"), "e", "h")
    assert len(messages) == 1


async def test_control_characters_and_surrogates_never_reach_the_model() -> None:
    context = Context()
    await hub(context).process_hook_result(inject("a\x00\x1b[0m\t\n\rb\x85\ud800é"), "e", "h")
    assert context.messages[0]["content"] == "a[0m\t\n\rbé"


@pytest.mark.parametrize("text", ["", None, "\x00\x01"])
async def test_an_injection_of_nothing_does_nothing(text: str | None) -> None:
    context = Context()
    coordinator = hub(context)
    result = inject(text)
    assert await coordinator.process_hook_result(result, "e", "h") is result
    assert context.messages == []


async def test_an_oversized_injection_is_refused_before_anything_is_stored(caplog: Log) -> None:
    context = Context()
    coordinator = hub(context, injection_size_limit=5)
    items = [ContextInjection(content="fine"), ContextInjection(content="sixsix")]
    with pytest.raises(ValueError, match=r"^Context injection exceeds 5 characters$"):
        await coordinator.process_hook_result(inject(context_injections=items), "e", "h")
    assert context.messages == []
    assert coordinator._current_turn_injections == 0
    assert [r.levelname for r in caplog.records if "too large" in r.getMessage()] == ["ERROR"]


async def test_the_size_counts_after_the_text_is_cleaned() -> None:
    context = Context()
    await hub(context, injection_size_limit=5).process_hook_result(
        inject("\x00\x00five5\x00"), "e", "h"
    )
    assert context.messages[0]["content"] == "five5"


async def test_beyond_the_budget_there_is_a_warning_and_the_text_goes_in(caplog: Log) -> None:
    context = Context()
    coordinator = hub(context, injection_budget_per_turn=3)
    caplog.set_level(logging.INFO)
    await coordinator.process_hook_result(inject("x" * 8), "e", "h")
    await coordinator.process_hook_result(inject("x" * 4), "e", "h")
    assert "budget exceeded" not in caplog.text
    await coordinator.process_hook_result(inject("x" * 8, ephemeral=True), "e", "h")
    assert (
        "Warning: Hook injection budget exceeded (hook=h, current=3, attempted=2, budget=3)"
    ) in caplog.text
    assert coordinator._current_turn_injections == 5
    assert (
        "Hook context injection (hook=h, event=e, chars=8, role=system, tokens=2, ephemeral=True)"
    ) in caplog.text


async def test_what_add_message_raises_comes_out() -> None:
    async def refuses(message: dict[str, Any]) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match=r"disk full"):
        await hub(SimpleNamespace(add_message=refuses)).process_hook_result(inject("t"), "e")


texts = st.text(max_size=30)
items = st.builds(ContextInjection, content=texts, ephemeral=st.booleans())


@given(st.lists(items, min_size=1, max_size=5))
async def test_every_text_ends_up_stored_or_in_the_result(found: list[ContextInjection]) -> None:
    context = Context()
    coordinator = hub(context)
    result = await coordinator.process_hook_result(inject(context_injections=found), "e", "h")
    clean = "".join
    stored = [m["content"] for m in context.messages]
    left = [i.content for i in result.context_injections if i.ephemeral]
    kept = [(i, clean(c for c in i.content if c in "\t\n\r" or not is_control(c))) for i in found]
    if any(text for _, text in kept):
        assert stored == [text for item, text in kept if text and not item.ephemeral]
        assert left == [text for item, text in kept if text and item.ephemeral]
        assert coordinator._current_turn_injections == sum(len(text) // 4 for _, text in kept)


def is_control(character: str) -> bool:
    code = ord(character)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000


# -- ask_user --------------------------------------------------------------------------------------


def ask(**fields: Any) -> HookResult:
    return HookResult(action="ask_user", **fields)


async def test_the_approval_system_is_asked_with_the_hooks_words() -> None:
    approval = Approval("Allow")
    await hub(approval=approval).process_hook_result(
        ask(
            approval_prompt="Write?",
            approval_options=["Allow once", "Deny"],
            approval_timeout=5.0,
            approval_default="allow",
        ),
        "tool:pre",
        "gate",
    )
    assert approval.asked == [("Write?", ["Allow once", "Deny"], 5.0, "allow")]


async def test_prompt_and_options_have_defaults() -> None:
    approval = Approval("Allow")
    await hub(approval=approval).process_hook_result(ask(), "e", "h")
    assert approval.asked == [("Allow this operation?", ["Allow", "Deny"], 300.0, "deny")]


@pytest.mark.parametrize("answer", ["Allow", "allow once", "ALLOW ALWAYS"])
async def test_the_allow_family_grants_and_it_is_noted(answer: str, caplog: Log) -> None:
    caplog.set_level(logging.INFO)
    result = await hub(approval=Approval(answer)).process_hook_result(
        ask(user_message="dropped"), "e", "h"
    )
    assert result == HookResult(action="continue")
    assert caplog.messages == ["Approved (hook=h, event=e): Allow this operation?"]


@pytest.mark.parametrize("answer", ["Deny", "deny", "Yes", "", "Allow all", "allow "])
async def test_anything_else_denies(answer: str, caplog: Log) -> None:
    result = await hub(approval=Approval(answer)).process_hook_result(
        ask(approval_prompt="Write?"), "e", "h"
    )
    assert (result.action, result.reason) == ("deny", "User denied: Write?")
    assert ("grants nothing" in caplog.text) == (answer.lower() != "deny")


async def test_the_persons_own_words_take_the_place_of_the_prompt() -> None:
    decision = ApprovalDecision("Deny", reason="use the staging database")
    result = await hub(approval=Approval(decision)).process_hook_result(
        ask(approval_prompt="Write?"), "e", "h"
    )
    assert result.reason == "User denied: use the staging database"


async def test_a_decision_without_words_falls_back_to_the_prompt() -> None:
    result = await hub(approval=Approval(ApprovalDecision("Deny"))).process_hook_result(
        ask(approval_prompt="Write?"), "e", "h"
    )
    assert result.reason == "User denied: Write?"


def test_a_decision_is_its_option() -> None:
    decision = ApprovalDecision("Allow once", "because")
    assert decision == "Allow once"
    assert (decision.reason, ApprovalDecision("Deny").reason) == ("because", "")


async def test_nobody_to_ask_means_no(caplog: Log) -> None:
    result = await hub().process_hook_result(ask(approval_prompt="Write?"), "e", "h")
    assert (result.action, result.reason) == ("deny", "No approval system available")
    assert caplog.records[-1].levelname == "ERROR"


async def test_a_timeout_is_its_own_outcome(caplog: Log) -> None:
    approval = Approval(ApprovalTimeoutError())
    coordinator = hub(approval=approval)
    denied = await coordinator.process_hook_result(ask(approval_prompt="Write?"), "e", "h")
    assert (denied.action, denied.reason) == (
        "deny",
        "Approval timeout - denied by default: Write?",
    )
    allowed = await coordinator.process_hook_result(ask(approval_default="allow"), "e", "h")
    assert allowed == HookResult(action="continue")
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "Approval timeout - denied by default (hook=h): Write?",
        "Approval timeout - allowed by default (hook=h): Allow this operation?",
    ]


@pytest.mark.parametrize(
    ("asked", "overruled", "action"),
    [("allow", "deny", "deny"), ("deny", "allow", "continue"), ("allow", None, "continue")],
)
async def test_an_approval_system_may_overrule_what_silence_means(
    asked: Literal["allow", "deny"], overruled: Literal["allow", "deny"] | None, action: str
) -> None:
    approval = Approval(ApprovalTimeoutError("nobody there", default=overruled))
    question = ask(approval_default=asked)
    result = await hub(approval=approval).process_hook_result(question, "e", "h")
    assert result.action == action


async def test_a_long_prompt_is_asked_whole_and_cut_in_the_reason() -> None:
    approval = Approval("Deny")
    prompt = "x" * 201
    result = await hub(approval=approval).process_hook_result(ask(approval_prompt=prompt), "e", "h")
    assert approval.asked[0][0] == prompt
    assert result.reason == f"User denied: {'x' * 200}...[truncated]"
    result = await hub(approval=approval).process_hook_result(
        ask(approval_prompt="x" * 200), "e", "h"
    )
    assert result.reason == f"User denied: {'x' * 200}"


@pytest.mark.parametrize(
    "error", [TimeoutError("builtin"), RuntimeError("ui"), asyncio.CancelledError()]
)
async def test_other_errors_of_the_approval_system_come_out(error: BaseException) -> None:
    with pytest.raises(type(error)):
        await hub(approval=Approval(error)).process_hook_result(ask(), "e", "h")


async def test_a_decision_that_is_no_string_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"not bool"):
        await hub(approval=Approval(True)).process_hook_result(ask(), "e", "h")


async def test_a_sync_approval_system_is_served_too() -> None:
    approval = SimpleNamespace(request_approval=lambda *arguments: "Allow")
    result = await hub(approval=approval).process_hook_result(ask(), "e", "h")
    assert result.action == "continue"


async def test_the_kernel_asks_again_every_time() -> None:
    approval = Approval("Allow always")
    coordinator = hub(approval=approval)
    for _ in range(2):
        await coordinator.process_hook_result(ask(approval_prompt="same"), "e", "h")
    assert len(approval.asked) == 2


async def test_a_question_shows_no_message() -> None:
    display = Display()
    await hub(approval=Approval("Allow"), display=display).process_hook_result(
        ask(user_message="m"), "e", "h"
    )
    assert display.shown == []


# -- messages and the rest -------------------------------------------------------------------------


async def test_a_message_is_shown_for_every_other_action() -> None:
    display = Display()
    coordinator = hub(Context(), display=display)
    for result in (
        HookResult(user_message="1"),
        HookResult(action="deny", user_message="2", user_message_level="error"),
        HookResult(action="modify", data={}, user_message="3", user_message_source="linter"),
        inject("t", user_message="4", user_message_level="warning"),
    ):
        await coordinator.process_hook_result(result, "e", "h")
    assert display.shown == [
        ("1", "info", "hook:h"),
        ("2", "error", "hook:h"),
        ("3", "info", "hook:linter"),
        ("4", "warning", "hook:h"),
    ]


async def test_a_display_that_fails_is_logged(caplog: Log) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("no screen")

    coordinator = hub(display=SimpleNamespace(show_message=broken))
    result = HookResult(user_message="m")
    assert await coordinator.process_hook_result(result, "e", "h") is result
    assert "no screen" in caplog.text


async def test_without_a_display_the_message_is_logged(caplog: Log) -> None:
    caplog.set_level(logging.INFO)
    await hub().process_hook_result(HookResult(user_message="hello"), "e")
    assert "hello" in caplog.text
    assert "hook:unknown" in caplog.text


@pytest.mark.parametrize("action", ["continue", "deny", "modify"])
async def test_other_results_come_back_as_they_are(action: Any) -> None:
    result = HookResult(action=action, suppress_output=True)
    assert await hub().process_hook_result(result, "e", "h") is result


async def test_a_dict_is_no_hook_result() -> None:
    odd: Any = {"action": "deny"}
    with pytest.raises(AttributeError):
        await hub().process_hook_result(odd, "e", "h")


async def test_an_async_display_is_awaited() -> None:
    shown: list[str] = []

    class Display:
        async def show_message(self, message: str, level: str, source: str) -> None:
            shown.append(f"{level} {message} {source}")

    coordinator = ModuleCoordinator(display_system=Display())
    await coordinator.process_hook_result(HookResult(user_message="m"), "e", "h")
    assert shown == ["info m hook:h"]


async def test_output_to_be_suppressed_is_noted_for_who_debugs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    result = HookResult(suppress_output=True)
    assert await ModuleCoordinator().process_hook_result(result, "e", "h") is result
    assert "Hook 'h' asks to suppress output (event=e)" in caplog.text
