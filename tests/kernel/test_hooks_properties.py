from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.kernel.hooks import HookRegistry, HookResult, HookTrace

ANSWERS: dict[str, Any] = {
    "continue": HookResult(),
    "none": None,
    "modify": HookResult(action="modify", data={"modified": True}),
    "inject": HookResult(action="inject_context", context_injection="t"),
    "ask": HookResult(action="ask_user", approval_prompt="p"),
    "deny": HookResult(action="deny", reason="r"),
    "rubbish": 42,
    "raises": RuntimeError("boom"),
}
plans = st.lists(
    st.tuples(st.sampled_from(sorted(ANSWERS)), st.integers(-3, 3), st.booleans()), max_size=8
)


def handler(answer: Any, is_async: bool) -> Any:
    def sync(event: str, data: dict[str, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def not_sync(event: str, data: dict[str, Any]) -> Any:
        return sync(event, data)

    return not_sync if is_async else sync


@given(plans)
async def test_deny_beats_ask_beats_inject_beats_modify(
    plan: list[tuple[str, int, bool]],
) -> None:
    hooks = HookRegistry()
    traces: list[HookTrace] = []
    hooks.observe(traces.append)
    for index, (kind, priority, is_async) in enumerate(plan):
        hooks.register("x", handler(ANSWERS[kind], is_async), priority, f"{index}:{kind}")
    order = hooks.list_handlers("x")["x"]
    places = sorted(range(len(plan)), key=lambda index: (plan[index][1], index))
    assert order == [f"{index}:{plan[index][0]}" for index in places]
    kinds = [name.split(":")[1] for name in order]
    result = await hooks.emit("x", {"given": True})

    denials = [i for i, kind in enumerate(kinds) if kind in ("deny", "rubbish")]
    if denials:
        assert result.action == "deny"
        ran = order[: denials[0] + 1]
    else:
        ran = order
        expected = next(
            (a for k, a in (("ask", "ask_user"), ("inject", "inject_context")) if k in kinds),
            "continue",
        )
        assert result.action == expected
        if expected == "continue":
            assert result.data is not None
            assert ("modified" in result.data) == ("modify" in kinds)
            assert ("given" in result.data) == ("modify" not in kinds)
    [trace] = traces
    assert [part.name for part in trace.handlers] == ran
    assert trace.result is result


actions = st.lists(
    st.tuples(st.sampled_from(["register", "remove", "remove_by_name"]), st.integers(0, 5)),
    max_size=12,
)


@given(st.integers(1, 6), st.lists(actions, min_size=1, max_size=6))
async def test_registration_churn_never_changes_the_emit_under_way(
    handlers: int, churn: list[list[tuple[str, int]]]
) -> None:
    hooks = HookRegistry()
    ran: list[str] = []
    removals: list[Any] = []
    steps = iter(churn)

    def add(index: int) -> None:
        def run(event: str, data: dict[str, Any]) -> None:
            ran.append(f"h{index}")
            for kind, target in next(steps, []):
                if kind == "register":
                    add(target)
                elif kind == "remove" and removals:
                    removals[target % len(removals)]()
                else:
                    hooks.unregister(f"h{target}")

        removals.append(hooks.register("x", run, priority=index, name=f"h{index}"))

    for index in range(handlers):
        add(index)
    for _ in range(3):
        before = hooks.list_handlers("x")["x"]
        ran.clear()
        await hooks.emit("x", {})
        assert ran == before
        after = [int(name[1:]) for name in hooks.list_handlers("x")["x"]]
        assert after == sorted(after)
