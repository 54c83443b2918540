"""Lines of what failed, was refused, or is tried again."""

from amplifier_tui.host.events import ProviderRetrying
from amplifier_tui.ui.state.conversation.entries import ConversationEntry, RetryEntry, ToolEntry
from tests.ui.transcript.documents import document, texts_of


def drawn(entry: ConversationEntry, width: int = 79) -> list[str]:
    made = document(width)
    made.add(entry)
    return texts_of(made)


def tool(**fields: object) -> ToolEntry:
    return ToolEntry(**{"key": "c", "tool": "bash", "arguments": {"command": "ls"}, **fields})


def test_a_call_says_which_hook_changed_or_refused_it() -> None:
    assert (
        "ls · changed by hook hooks-house" in drawn(tool(state="ok", changed_by="hooks-house"))[1]
    )
    denied = tool(state="denied", denied_by="hooks-guard", error="bash is forbidden here")
    assert "ls · denied by hook hooks-guard · bash is forbidden" in drawn(denied)[1]
    withheld = tool(state="failed", withheld_by="hooks-guard", error="a secret")
    assert "ls · result withheld by hook hooks-guard" in drawn(withheld)[1]
    assert "a secret" in drawn(withheld)[1]
    changed = tool(state="ok", result_changed_by="hooks-guard", output="x")
    assert "ls · result changed by hook hooks-guard" in drawn(changed)[1]
    # One that asks a person by itself.
    by_user = tool(state="denied", denied_by="hooks-approval", error="User denied: not now")
    assert "by hook" not in drawn(by_user)[1]


def test_the_error_of_a_call_that_a_hook_changed_comes_first() -> None:
    failed = tool(state="failed", changed_by="hooks-house", error="no article is called apple")
    assert "ls · no article is called apple · changed by hook hooks-house" in drawn(failed)[1]
    assert "ls · no article is called apple" in drawn(failed, width=56)[1]


def test_an_error_that_is_all_there_is_is_not_shown_again_below_its_command() -> None:
    error = "`command` is missing: give a command line."
    for state in ("failed", "interrupted"):
        call = tool(tool="bash", arguments={}, state=state, error=error, output=error)
        assert [error in row for row in drawn(call, width=100)] == [False, True]
        # Where it is cut off, all of it stands below.
        assert [error in row for row in drawn(call, width=56)] == [False, False, True]


def test_all_of_the_reason_of_a_retry_can_be_read_where_it_is_narrow() -> None:
    problem = "Error code: 529: the service is overloaded, and your organization may ask for more"
    event = ProviderRetrying(
        session_id="s", provider="anthropic", problem=problem, delay=12.0, attempt=2, most=5
    )
    for width in (99, 60):
        rows = drawn(RetryEntry(key="r", event=event), width=width)[1:]
        assert "trying again" in rows[0] and rows[0].rstrip().endswith("esc stops")
        assert " ".join(row.strip() for row in rows[1:]) == f"anthropic: {problem}"
