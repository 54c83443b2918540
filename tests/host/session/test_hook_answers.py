from collections.abc import Callable
from typing import Any

import pytest

from amplifier_tui.host.events import ApprovalRequested, HookTraced, LaneOpened, Notice, TurnEnded
from tests.fixtures.modules import THIRD_PARTY
from tests.host.asking import chat
from tests.host.driving import MODULES, Driver, Project
from tests.host.session.test_agents import ask, coding, script
from tests.servers import LoopbackServer, ToolUse, reply


def says(text: str, **answer: Any) -> dict[str, Any]:
    return {"user_message": text, **answer}


EVERYWHERE = {
    "prompt:submit": [
        says("submit, changed", action="modify", data={"prompt": "count a b"}),
        says("submit", user_message_level="error"),
    ],
    "provider:request": [
        says("request, changed", action="modify", data={}),
        says("request"),
    ],
    "tool:pre": [
        says("pre, asked", action="ask_user", approval_prompt="Really?"),
        says(
            "pre, changed",
            action="modify",
            data={"tool_name": "wordcount", "tool_input": {"text": "a b c d"}},
        ),
        says("pre, by the linter", user_message_source="linter"),
    ],
    "tool:post": [
        says("post, injected", action="inject_context", context_injection="Well done."),
        says("post"),
    ],
    "prompt:complete": [says("complete")],
}
TEXTS = [answer["user_message"] for answers in EVERYWHERE.values() for answer in answers]


@pytest.mark.parametrize(
    ("loop", "config", "requests"),
    [("loop-streaming", {}, 2), ("loop-calls", {"calls": [["wordcount", {"text": "a"}]]}, 0)],
)
def test_each_message_of_a_hook_is_a_notice_of_that_hook(
    loop: str,
    config: dict[str, Any],
    requests: int,
    project: Project,
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}:{THIRD_PARTY}")
    bundle = project.bundle(
        loop=loop,
        loop_config=config,
        hooks=(("hooks-answer", EVERYWHERE),),
        providers=[{"module": "provider-echo", "config": {"prefix": ""}}],
        tools=("tool-wordcount",),
    )
    driver.open(bundle)
    driver.client.submit("hello")
    driver.allow_next()
    assert driver.wait(TurnEnded).status == "success"
    notices = [event for event in driver.of(Notice) if event.source.startswith("hook:")]
    shown = [notice.text for notice in notices if not notice.text.startswith("request")]
    assert shown == [text for text in TEXTS if not text.startswith("request")]
    assert [n.text for n in notices if n.text.startswith("request")] == TEXTS[2:4] * requests
    sources = {notice.text: notice.source for notice in notices}
    assert sources.pop("pre, by the linter") == "hook:linter"
    assert set(sources.values()) == {"hook:hooks-answer"}
    levels = {notice.text: notice.level for notice in notices}
    assert (levels["submit"], levels["complete"]) == ("error", "info")


def test_an_action_that_lacks_what_it_is_for_is_told_once(project: Project, driver: Driver) -> None:
    answers = {"prompt:submit": [{"action": "modify"}]}
    driver.open(project.bundle(hooks=(("hooks-answer", answers),)))
    assert [driver.turn(text).status for text in ("one", "two")] == ["success"] * 2
    (told,) = [e for e in driver.of(Notice) if e.source == "hook:hooks-answer"]
    assert told.level == "warning" and "without `data` does nothing" in told.text


@pytest.mark.parametrize("data", [{}, {"prompt": ""}, {"prompt": None}, {"prompt": ["x"]}])
def test_a_prompt_stays_as_it_is_where_a_hook_leaves_no_text_of_it_which_is_told_once(
    project: Project, driver: Driver, data: dict[str, Any]
) -> None:
    answers = {"prompt:submit": [{"action": "modify", "data": data}] * 2}
    opened = driver.open(project.bundle(hooks=(("hooks-answer", answers),)))
    assert [driver.turn(text).status for text in ("one", "two")] == ["success"] * 2
    rows = [row for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert [row["content"] for row in rows] == ["one", "two"]
    (told,) = [e for e in driver.of(Notice) if e.source == "hook:hooks-answer"]
    assert told.level == "warning"
    assert 'action="modify" of prompt:submit leaves no text as `prompt` in `data`' in told.text


def test_a_prompt_that_a_hook_changed_is_told_with_what_the_model_reads_and_after_resuming_too(
    project: Project, drive: Callable[..., Driver]
) -> None:
    answers = {"prompt:submit": [{"action": "modify", "data": {"prompt": "one\ntwo"}}]}
    first = drive()
    first.open(project.bundle(hooks=(("hooks-answer", answers),)))
    assert first.turn("one").status == "success"
    first.close()
    later = drive()
    later.open(resume="last")
    for driver in (first, later):
        (told,) = [e for e in driver.of(Notice) if e.source == "prompt"]
        assert told.is_of_conversation and told.level == "info"
        assert told.text == "Hook hooks-answer changed the prompt: the model reads other words"
        assert told.detail.splitlines()[1:] == [" one", "+two"]


@pytest.mark.parametrize("event", ["execution:start", "session:start", "content_block:end"])
@pytest.mark.parametrize("action", ["deny", "ask_user"])
def test_an_answer_that_stops_nothing_is_told_once_and_nobody_is_asked(
    event: str, action: str, project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=(("hooks-answer", {event: [{"action": action}] * 9}),)))
    assert [driver.turn(text).status for text in ("one", "two")] == ["success"] * 2
    (told,) = [e for e in driver.of(Notice) if e.source == "hook:hooks-answer"]
    assert f'action="{action}" of {event} stops nothing' in told.text
    assert "prompt:submit, provider:request, tool:pre, tool:post" in told.text
    rows = [e for e in driver.of(HookTraced) if e.event == event and len(e.handlers)]
    assert {row.verdict for row in rows} == {"error"} and not driver.of(ApprovalRequested)


def test_a_misspelt_field_of_an_answer_is_told_once(project: Project, driver: Driver) -> None:
    answers = {"prompt:submit": [{"action": "continue", "user_mesage": "x"}]}
    driver.open(project.bundle(hooks=(("hooks-answer", answers),)))
    assert [driver.turn(text).status for text in ("one", "two")] == ["success"] * 2
    (told,) = [e for e in driver.of(Notice) if e.source == "hook:hooks-answer"]
    assert told.level == "warning" and "'user_mesage' ('user_message' is meant?)" in told.text


def test_a_denial_of_the_prompt_shows_its_message(project: Project, driver: Driver) -> None:
    denial = says("Not on Sundays", action="deny", reason="It is Sunday")
    driver.open(project.bundle(hooks=(("hooks-answer", {"prompt:submit": [denial]}),)))
    driver.turn("go")
    notices = [(e.text, e.source) for e in driver.of(Notice) if e.source.startswith("hook:")]
    assert notices == [("Not on Sundays", "hook:hooks-answer")]


def test_a_hook_of_a_sub_agent_speaks_in_its_lane(project: Project, driver: Driver) -> None:
    hooks = "hooks:\n  - module: hooks-answer\n    config:\n"
    answers = "      prompt:submit: [{user_message: heard}]\n"
    story = script([ask("explorer")], {"tell": {"say": "Here."}})
    driver.open(coding(project, story, hooks + answers))
    driver.turn("where is the needle?")
    (lane,) = driver.of(LaneOpened)
    heard = [(event.agent, event.source) for event in driver.of(Notice) if event.text == "heard"]
    assert heard == [("main", "hook:hooks-answer"), (lane.lane, "hook:hooks-answer")]


ADDED: list[dict[str, Any]] = [
    {"context_injection": "It rains.", "context_injection_role": "system"},
    {"context_injection": "I am outside.", "context_injection_role": "user"},
]


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request"])
def test_what_is_added_for_one_request_is_apart_from_the_users_words_and_never_stored(
    event: str, project: Project, driver: Driver, server: LoopbackServer
) -> None:
    server.script.add("Take a coat.", "You are welcome.")
    added = [{"action": "inject_context", "ephemeral": True, **each} for each in ADDED]
    hooks = (("hooks-answer", {event: added}),)
    opened = driver.open(project.bundle(hooks=hooks, providers=[chat(server)]))
    for prompt in ("What to wear?", "Thanks"):
        driver.turn(prompt)
    extra = ["<system-reminder>\nIt rains.\n</system-reminder>", "I am outside."]
    system, *first = server.request_blocking(0).json["messages"]
    assert [[part["text"] for part in row["content"]] for row in first] == [
        ["What to wear?", *extra]
    ]
    told, answer, again = server.request_blocking(1).json["messages"][1:]
    assert (told["content"], answer["content"]) == ("What to wear?", "Take a coat.")
    assert [part["text"] for part in again["content"]] == ["Thanks", *extra]
    assert "rains" not in str(system)
    contents = [row["content"] for row in project.rows(opened.session_id)]
    assert contents[0::2] == ["What to wear?", "Thanks"]
    assert len(contents) == 4


@pytest.mark.parametrize("ephemeral", [False, True])
@pytest.mark.parametrize("allowed", [True, False])
def test_what_a_hook_adds_to_a_call_counts_once_the_call_that_is_asked_about_is_allowed(
    ephemeral: bool,
    allowed: bool,
    project: Project,
    driver: Driver,
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}:{THIRD_PARTY}")
    server.script.add(reply(ToolUse("wordcount", {"text": "a b"})), "Two.")
    added = {"action": "inject_context", "ephemeral": ephemeral, **ADDED[0]}
    hooks = (("hooks-answer", {"tool:pre": [added]}),)
    tools = ("tool-wordcount",)
    driver.open(project.bundle(hooks=hooks, tools=tools, providers=[chat(server)]))
    driver.client.submit("count")
    if allowed:
        driver.allow_next()
    else:
        driver.deny_next()
    assert driver.wait(TurnEnded).status == "success"
    assert ("It rains." in str(server.request_blocking(1).json["messages"])) is allowed
