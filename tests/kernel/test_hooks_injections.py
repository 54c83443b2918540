from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.hooks import ContextInjection, HookRegistry, HookResult


async def merged(*answers: Any) -> HookResult:
    hooks = HookRegistry()
    for index, answer in enumerate(answers):
        hooks.register("tool:post", lambda event, data, a=answer: a, name=f"h{index}")
    return await hooks.emit("tool:post", {"a": 1})


def inject(text: str | None = None, **fields: Any) -> HookResult:
    return HookResult(action="inject_context", context_injection=text, **fields)


async def test_one_injection_comes_back_with_its_list_form_added() -> None:
    result = await merged(
        inject("t", context_injection_role="user", ephemeral=True, user_message="m", reason="r")
    )
    assert result.action == "inject_context"
    assert (result.context_injection, result.context_injection_role) == ("t", "user")
    assert (result.ephemeral, result.user_message, result.reason) == (True, "m", "r")
    assert result.context_injections == [
        ContextInjection(
            content="t", role="user", ephemeral=True, hook_name="h0", event="tool:post"
        )
    ]


async def test_the_handlers_own_result_is_not_changed() -> None:
    answer = inject("t")
    await merged(answer)
    assert answer.context_injections == []


async def test_several_are_joined_and_the_first_sets_the_tone() -> None:
    result = await merged(
        inject("A", context_injection_role="user", ephemeral=True, suppress_output=True,
               user_message="lost", reason="lost", data={"lost": 1}),
        inject("B", append_to_last_tool_result=True),
    )  # fmt: skip
    assert result.context_injection == "A\n\nB"
    assert result.context_injection_role == "user"
    assert (result.ephemeral, result.suppress_output) == (True, True)
    assert result.append_to_last_tool_result is True
    assert (result.user_message, result.reason, result.data) == (None, None, None)


async def test_the_list_keeps_what_each_handler_said_of_its_own_text() -> None:
    result = await merged(
        inject("A", context_injection_role="user", ephemeral=True),
        inject("B", append_to_last_tool_result=True),
    )
    assert [i.model_dump() for i in result.context_injections] == [
        {"content": "A", "role": "user", "ephemeral": True,
         "append_to_last_tool_result": False, "hook_name": "h0", "event": "tool:post"},
        {"content": "B", "role": "system", "ephemeral": False,
         "append_to_last_tool_result": True, "hook_name": "h1", "event": "tool:post"},
    ]  # fmt: skip


async def test_a_handler_may_answer_with_the_list_only() -> None:
    result = await merged(
        inject(context_injections=[
            ContextInjection(content="A", role="assistant", hook_name="own", event="own:event"),
            ContextInjection(content="B", ephemeral=True, append_to_last_tool_result=True),
        ])
    )  # fmt: skip
    assert result.context_injection == "A\n\nB"
    assert (result.context_injection_role, result.ephemeral) == ("assistant", False)
    assert result.append_to_last_tool_result is True
    assert [(i.hook_name, i.event) for i in result.context_injections] == [
        ("own", "own:event"),
        ("h0", "tool:post"),
    ]


async def test_where_list_and_scalar_disagree_the_list_counts() -> None:
    result = await merged(inject("scalar", context_injections=[ContextInjection(content="list")]))
    assert result.context_injection == "list"


async def test_an_injection_of_nothing_is_none() -> None:
    for text in ("", None):
        result = await merged(inject(text))
        assert result.action == "continue"
        assert result.data is not None
    assert (await merged(inject(""), inject("B"))).context_injection == "B"


async def test_injecting_keeps_the_modifications_made_before() -> None:
    result = await merged(HookResult(action="modify", data={"b": 1}), inject("t"))
    assert (result.action, result.data) == ("inject_context", {"b": 1})


items = st.builds(
    ContextInjection,
    content=st.text(min_size=1, max_size=5),
    role=st.sampled_from(["system", "user", "assistant"]),
    ephemeral=st.booleans(),
    append_to_last_tool_result=st.booleans(),
)
scalars = st.builds(
    inject,
    st.text(min_size=1, max_size=5),
    context_injection_role=st.sampled_from(["system", "user", "assistant"]),
    ephemeral=st.booleans(),
    append_to_last_tool_result=st.booleans(),
    suppress_output=st.booleans(),
)
lists = st.builds(lambda found: inject(context_injections=found), st.lists(items, min_size=1))


@given(st.lists(scalars | lists, min_size=1, max_size=5))
async def test_no_injected_text_is_ever_lost_or_reordered(answers: list[HookResult]) -> None:
    result = await merged(*answers)
    texts = [
        text
        for answer in answers
        for text in (
            [item.content for item in answer.context_injections] or [answer.context_injection]
        )
    ]
    assert [item.content for item in result.context_injections] == texts
    assert result.context_injection == "\n\n".join(str(text) for text in texts)
    first = result.context_injections[0]
    assert (result.context_injection_role, result.ephemeral) == (first.role, first.ephemeral)
    assert result.append_to_last_tool_result == any(
        item.append_to_last_tool_result for item in result.context_injections
    )
    assert HookResult.model_validate(result.model_dump()) == result
