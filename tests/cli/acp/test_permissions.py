"""What an editor's user reads before a call is allowed: all of it, and no Markdown in it."""

from amplifier_tui.cli.acp.permissions import asked_call
from tests.ui.requests import DIFF, ask


def texts(**values: object) -> list[str]:
    return [each.content.text for each in asked_call(ask(**values), "/p").content or ()]


def test_beside_a_diff_that_is_cut_stands_the_whole_call() -> None:
    diff, payload, _ = texts(diff=DIFF, payload="all of it", payload_kind="json")
    assert (diff, payload) == (f"```\n{DIFF}\n```", "```\nall of it\n```")


def test_words_of_others_that_are_approved_are_no_markdown() -> None:
    shown, _ = texts(payload="<!-- rm -rf ~ -->", payload_kind="text", tool="")
    assert shown == "```\n<!-- rm -rf ~ -->\n```"
    rule = "write(src/**), write(`a`/**)"
    _, about = texts(rule=rule, meaning="", cwd="/p/*a*/`b`")
    assert "Remembering keeps the rule `` write(src/**), write(`a`/**) ``." in about
    assert "In `` /p/*a*/`b` ``." in about


def test_what_a_hook_says_is_drawn_as_it_is_written() -> None:
    _, about = texts(prompt="**safe** <!-- not --> [ok](http://x)", why="`ls` _only_")
    assert r"\*\*safe\*\* \<\!-- not --\> \[ok\](http://x)." in about
    assert r": \`ls\` \_only\_." in about


def test_rule_and_folder_are_shown_to_their_ends() -> None:
    rule, folder = ", ".join(f"bash(make {n})" for n in range(99)), f"/p/{'long/' * 99}end"
    _, about = texts(rule=rule, meaning=f"means {rule}", cwd=folder)
    for part in (f"`{rule}` (`means {rule}`)", f"In `{folder}`."):
        assert part in about


def test_it_is_said_who_asks_and_what_happens_without_an_answer() -> None:
    _, about = texts(agent="lane-1", timeout=30.0, default="allow")
    assert "Asked by hooks-approval, for a sub-agent: not on the allow list." in about
    assert "Without an answer within 30 seconds: allow." in about
