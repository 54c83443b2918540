from typing import Any

from amplifier_tui.host.events import (
    Failed,
    ModuleDegraded,
    ModuleFailed,
    ModuleMounted,
    OpeningReported,
    ReportItem,
    summary,
)
from amplifier_tui.ui.state.conversation.entries import (
    NO_PROVIDER,
    ConversationEntry,
    NoteEntry,
    ReportEntry,
    UserEntry,
    WelcomeEntry,
)
from amplifier_tui.ui.state.session import SessionState
from tests.ui.state.make import make, opened, turn


def lost(what: str, **values: Any) -> ReportItem:
    known = {"kind": "failed", "part": "include", "why": "gone", "remedy": "Correct it."}
    return ReportItem(what=what, **{**known, **values})


UNUSED = lost("provider-openai", kind="unused", part="provider", why="OPENAI_API_KEY is not set")


def state(*events: Any) -> SessionState:
    found = SessionState(clock=lambda: 0.0)
    found.apply(events)
    return found


def kinds(found: SessionState) -> list[type[ConversationEntry]]:
    return [type(entry) for entry in found.entries]


def reported(*items: ReportItem) -> OpeningReported:
    return make(OpeningReported, ready=3, items=items)


def test_the_report_stands_above_the_card_of_an_empty_session_and_stays_when_it_goes() -> None:
    found = state(opened(), reported(lost("./gone.yaml")))
    assert kinds(found) == [ReportEntry, WelcomeEntry]
    found.apply([turn()])
    assert kinds(found) == [ReportEntry, UserEntry]


def test_the_report_of_a_resumed_session_stands_where_its_new_part_begins() -> None:
    found = state(turn(replayed=True), opened(resumed=True), reported(lost("./gone.yaml")))
    assert kinds(found) == [UserEntry, NoteEntry, ReportEntry]


def test_the_report_of_a_switch_that_took_the_conversation_along_stands_below_it() -> None:
    found = state(opened(), turn(1, "first"))
    found.apply([turn(1, "first", session_id="s2", replayed=True)])
    found.apply([opened(session_id="s2", bundle="minimal")])
    found.apply([make(OpeningReported, session_id="s2", items=(lost("./gone.yaml"),))])
    _, note, report = found.entries
    assert isinstance(note, NoteEntry) and note.text == "Switched to minimal"
    assert isinstance(report, ReportEntry)


def test_a_report_that_comes_twice_is_shown_once() -> None:
    event = reported(lost("./gone.yaml"))
    assert kinds(state(opened(), event, event)).count(ReportEntry) == 1


def test_a_provider_without_a_key_beside_one_that_has_its_own_is_no_line() -> None:
    found = state(opened(), make(ModuleMounted, module_id="m", kind="tool"), reported(UNUSED))
    assert kinds(found) == [WelcomeEntry]
    (module,) = [each for each in found.modules.ordered() if each.state == "noted"]
    assert (module.module_id, module.kind) == ("provider-openai", "provider")
    assert module.error == "OPENAI_API_KEY is not set"
    assert found.modules.count("failed") == 0


def test_what_the_card_says_about_providers_is_not_said_by_a_line_above_it() -> None:
    problem = make(Failed, kind=NO_PROVIDER, message="No provider is ready")
    item = lost("provider-x", part="provider")
    assert kinds(state(opened(), problem, reported(item))) == [WelcomeEntry]


def test_parts_that_are_no_modules_are_rows_among_the_modules() -> None:
    failed = make(ModuleFailed, module_id="tool-x", kind="tool", error="no", remedy="do")
    items = (
        lost("tool-x", part="tool", where="b.md:7"),
        lost("git+https://h.org/acme/web.git@main", kind="refused", asked_by="top", owner="user"),
    )
    found = state(opened(), failed, reported(*items)).modules
    module, include = found.ordered()
    assert (module.module_id, module.where, module.error) == ("tool-x", "b.md:7", "no")
    assert (include.module_id, include.kind, include.state) == ("web", "include", "failed")
    assert include.refused and include.source == items[1].what and include.origin == "top"


def test_another_session_begins_without_the_report_of_the_one_before() -> None:
    found = state(opened(), reported(lost("./gone.yaml")))
    found.apply([opened(session_id="s2")])
    assert found.modules.report == () and kinds(found) == [WelcomeEntry]


def test_the_line_says_what_the_modules_are_now_as_their_pane_does() -> None:
    mounted = [make(ModuleMounted, module_id=f"tool-{n}", kind="tool") for n in ("a", "mcp")]
    failed = make(ModuleFailed, module_id="tool-x", kind="tool", error="no")
    found = state(opened(), *mounted, failed, reported(lost("tool-x", part="tool")))

    def says() -> tuple[str, int, int]:
        (entry,) = (each for each in found.entries if isinstance(each, ReportEntry))
        count = found.modules.count
        return summary(entry.items, entry.ready), count("ready"), count("failed")

    assert says() == ("2 ready · 1 without: tool-x", 2, 1)
    server = {"module_id": "tool-mcp", "kind": "tool", "of": 1}
    found.apply([make(ModuleDegraded, failed=("files: it ended",), **server)])
    assert says() == ("1 ready · 2 without: tool-x, tool-mcp", 1, 2)
    assert [item.why for item in found.modules.amiss] == ["gone", "files: it ended"]
    found.apply([make(ModuleMounted, module_id="tool-x", kind="tool")])
    assert says() == ("2 ready · 1 without: tool-mcp", 2, 1)
    found.apply([make(ModuleDegraded, failed=(), **server)])
    assert kinds(found) == [WelcomeEntry] and found.modules.count("ready") == 3
