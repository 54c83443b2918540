import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.events.filtering import parse_filter
from tests.ui.state.make import handler, traced

BASH = traced(
    1,
    "tool:pre",
    source="bash",
    verdict="ask_user",
    duration_ms=120.0,
    handlers=(handler("hooks-approval", "ask_user"), handler("hooks-logging")),
    data='{"command": "rm -rf Build dir"}',
)
DELTA = traced(2, "llm:stream_block_delta", source="anthropic", agent="researcher")
DENIED = traced(
    3,
    "tool:error",
    source="web",
    verdict="deny",
    changed='{"secret": 1}',
    duration_ms=0.4,
    handlers=(handler("look", module="hooks-guard"),),
)
ROWS = {"bash": BASH, "delta": DELTA, "denied": DENIED}


@pytest.mark.parametrize(
    ("text", "passing"),
    [
        ("", "bash delta denied"),
        ("   ", "bash delta denied"),
        ("tool:*", "bash denied"),
        ("TOOL:PRE", "bash"),
        ("tool", "bash denied"),
        ("tool:p?e", "bash"),
        ("stream*", ""),
        ("*delta", "delta"),
        ("-delta", "bash denied"),
        ("!delta", "bash denied"),
        ("tool:* -error", "bash"),
        ("bash", "bash"),
        ("bash,web", "bash denied"),
        ("-bash,web", "delta"),
        ("mod:approval", "bash"),
        ("mod:hooks-*", "bash denied"),
        ("-mod:logging", "delta denied"),
        ("mod:web", "denied"),
        ("verdict:deny", "denied"),
        ("deny", "denied"),
        ("ask_user", "bash"),
        ("cont", ""),
        ("verdict:ask", "bash"),
        ("verdict:deny,ask_user", "bash denied"),
        ("-verdict:continue", "bash denied"),
        ("lane:researcher", "delta"),
        ("lane:main", "bash denied"),
        ("source:anth*", "delta"),
        ("event:pre", "bash"),
        (">100ms", "bash"),
        (">100", "bash"),
        (">=120ms", "bash"),
        ("<1ms", "delta denied"),
        (">0.1s", "bash"),
        ("-<1ms", "bash"),
        (">100us", "bash denied"),
        ('data:"rm -rf build"', "bash"),
        ("data:secret", "denied"),
        ("hooks-approval", "bash"),
        ("look", "denied"),
        ("hooks-gua", "denied"),
        ("-look", "bash delta"),
        ("logging", ""),
        ("approval", ""),
        ("tool:* verdict:ask mod:approval >100ms data:rm", "bash"),
        ("nothing-like-it", ""),
        ("[a-z]*", ""),
    ],
)
def test_a_filter_lets_through(text: str, passing: str) -> None:
    wanted = parse_filter(text)
    assert wanted.problems == ()
    assert " ".join(name for name, row in ROWS.items() if wanted.matches(row)) == passing


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (">abc", ">abc is no duration"),
        (">", "> is no duration"),
        ("verdict:no", "No verdict begins with no"),
        ("mod:", "mod: needs a word"),
        ("data:", "data: needs a word"),
    ],
)
def test_a_word_that_makes_no_sense_is_left_out_and_explained(text: str, problem: str) -> None:
    wanted = parse_filter(f"tool:* {text}")
    assert wanted.problems[0].startswith(problem)
    assert [name for name, row in ROWS.items() if wanted.matches(row)] == ["bash", "denied"]


def test_an_unknown_key_is_a_name_to_look_for() -> None:
    wanted = parse_filter("approval:required")
    assert wanted.problems == ()
    assert wanted.matches(traced(1, "approval:required"))


@given(st.text(max_size=30), st.text(max_size=10), st.text(max_size=10))
def test_no_text_breaks_the_filter(text: str, event: str, source: str) -> None:
    wanted = parse_filter(text)
    row = traced(1, event, source=source, data=source, handlers=(handler(source),))
    assert wanted.matches(row) in (True, False)
    assert wanted.matches(row) == parse_filter(text).matches(row)


@given(st.sampled_from(["tool", "mod:approval", "verdict:deny", ">1ms", "data:rm", "a,b"]))
def test_a_minus_turns_a_word_around(word: str) -> None:
    for row in ROWS.values():
        assert parse_filter(word).matches(row) != parse_filter(f"-{word}").matches(row)
