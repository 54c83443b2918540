import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.host.events import (
    BlockEnded,
    LaneClosed,
    LaneOpened,
    ModuleFailed,
    Notice,
    TitleChanged,
    ToolEnded,
    TurnStarted,
)
from tests.host.driving import Driver, Project, calling, saying
from tests.host.store.cli_reader import CliReader

SESSION = "0f3c9a1e-1111-4222-8333-944445555666"
CHILD = "0000000000000000-0123456789abcdef_zen-architect"

# The rows and the card as the Amplifier CLI writes them: messages cleaned for JSON, the system's
# left out, the reasoning as a text, calls with `tool`.
ROWS: list[dict[str, Any]] = [
    {"role": "user", "content": "What is in here?", "timestamp": "2026-03-01T09:00:00.000+00:00"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "I look."}],
        "thinking_text": "The user wants to know.",
        "tool_calls": [{"id": "toolu_1", "tool": "echo", "arguments": {"text": "README.md"}}],
        "timestamp": "2026-03-01T09:00:02.000+00:00",
    },
    {
        "role": "tool",
        "tool_call_id": "toolu_1",
        "name": "echo",
        "content": "README.md",
        "timestamp": "2026-03-01T09:00:02.500+00:00",
    },
    {
        "role": "assistant",
        "content": "Only a README — nothing else. ✓",
        "metadata": {"provider": "anthropic"},
        "timestamp": "2026-03-01T09:00:04.000+00:00",
    },
    {"role": "user", "content": [{"type": "text", "text": "Thanks"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "You are welcome."}]},
]
CARD = {
    "session_id": SESSION,
    "created": "2026-03-01T09:00:00.000000+00:00",
    "bundle": "bundle:test",
    "model": "claude-sonnet-4-5",
    "turn_count": 2,
    "name": "Looking around",
    "description": "The user looked around.",
    "name_generated_at": "2026-03-01T09:00:09.000000+00:00",
    "config": {"session": {"orchestrator": {"module": "loop-streaming"}}},
}
LOG = {
    "ts": "2026-03-01T09:00:00.000+00:00",
    "lvl": "INFO",
    "schema": {"name": "amplifier.log", "ver": "1.0.0"},
    "event": "session:start",
    "session_id": SESSION,
    "data": {"parent_id": None},
}


def slug(folder: Path) -> str:
    return str(folder.resolve()).replace("/", "-")


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def stored(project: Project, own_home: Path) -> Path:
    """A session of the Amplifier CLI, with one of a sub-agent beside it."""
    sessions = own_home / ".amplifier" / "projects" / slug(project.folder) / "sessions"
    folder = sessions / SESSION
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text(lines(*ROWS))
    (folder / "metadata.json").write_text(json.dumps(CARD, indent=2))
    (folder / "events.jsonl").write_text(lines(LOG))
    (sessions / CHILD).mkdir()
    (sessions / CHILD / "transcript.jsonl").write_text(lines(ROWS[0]))
    (sessions / CHILD / "metadata.json").write_text(
        json.dumps({"session_id": CHILD, "parent_id": SESSION, "agent_name": "zen-architect"})
    )
    return folder


def test_a_session_of_the_amplifier_cli_is_listed(
    project: Project, driver: Driver, stored: Path
) -> None:
    driver.open(project.bundle())
    (card,) = driver.client.sessions().result(10).cards
    assert (card.session_id, card.title, card.bundle) == (SESSION, "Looking around", "test")
    assert (card.first_prompt, card.turns) == ("What is in here?", 2)


def test_it_is_resumed_with_its_bundle_and_shown_as_it_was(
    project: Project, driver: Driver, stored: Path
) -> None:
    project.bundle()
    opened = driver.open(resume=SESSION[:8])
    assert (opened.session_id, opened.bundle) == (SESSION, "test")
    assert (opened.title, opened.resumed) == ("Looking around", True)
    prompts = [e.prompt for e in driver.of(TurnStarted) if e.replayed]
    assert prompts == ["What is in here?", "Thanks"]
    (call,) = [e for e in driver.of(ToolEnded) if e.replayed]
    assert (call.tool, call.ok, call.output) == ("echo", True, "README.md")
    texts = [e.text for e in driver.of(BlockEnded) if e.kind == "text"]
    assert texts == ["I look.", "Only a README — nothing else. ✓", "You are welcome."]
    assert not driver.of(ModuleFailed) and not [n for n in driver.of(Notice) if n.level != "info"]


def test_going_on_leaves_what_was_there_as_it_was(
    project: Project, driver: Driver, stored: Path, tmp_path: Path
) -> None:
    before = (stored / "transcript.jsonl").read_bytes()
    dump = tmp_path / "messages.json"
    name = project.bundle(loop="loop-test", loop_config={"dump": str(dump)})
    driver.open(name, resume="last")
    assert driver.turn("And now?").turn == 3
    driver.close()
    sent = [row for row in json.loads(dump.read_text()) if row["role"] != "system"]
    assert [row["role"] for row in sent] == [row["role"] for row in ROWS] + ["user"]
    calls = sent[1]["tool_calls"]
    assert (calls[0]["id"], calls[0].get("name") or calls[0].get("tool")) == ("toolu_1", "echo")
    assert (stored / "transcript.jsonl").read_bytes().startswith(before)
    card = json.loads((stored / "metadata.json").read_text())
    assert (card["turn_count"], card["name"]) == (3, "Looking around")
    kept = ("created", "description", "name_generated_at", "config")
    assert {key: card[key] for key in kept} == {key: CARD[key] for key in kept}
    log = [json.loads(line) for line in (stored / "events.jsonl").read_text().splitlines()]
    assert log[0] == LOG and len(log) > 1


def test_a_session_of_ours_has_the_layout_the_amplifier_cli_reads(
    project: Project, drive: Callable[..., Driver], own_home: Path
) -> None:
    driver = drive()
    script = calling({"echo": {"text": "x"}}, say="I look.", then="Done.")
    opened = driver.open(project.bundle(script=script))
    driver.turn("What is in here?")
    driver.client.rename("A title")
    driver.close()
    home = own_home / ".amplifier"
    folder = home / "projects" / slug(project.folder) / "sessions" / opened.session_id
    rows = [json.loads(line) for line in (folder / "transcript.jsonl").read_text().splitlines()]
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant"]
    assert all(isinstance(row["timestamp"], str) for row in rows)
    (call,) = rows[1]["tool_calls"]
    assert (call["tool"], call["arguments"]) == ("echo", {"text": "x"})
    assert (rows[2]["tool_call_id"], rows[2]["content"]) == (call["id"], "x")
    cli = CliReader(home, project.folder)
    assert cli.top_level() == [opened.session_id]
    assert cli.transcript(opened.session_id) == rows
    assert cli.status(opened.session_id)[::2] == ("A title", 1)
    assert cli.bundle(opened.session_id) == project.bundles / "test.md"
    card = cli.card(opened.session_id)
    assert card["model"] and card["working_dir"] == str(project.folder)
    for line in (folder / "events.jsonl").read_text().splitlines():
        entry = json.loads(line)
        assert {"ts", "lvl", "event", "session_id", "data"} <= set(entry)


HOOKS = {
    "description": "They looked around, and then some.",
    "tags": ["docs"],
    "name_generated_at": "2026-03-02T00:00:00+00:00",
    "cost": {"usd": "0.01", "by": [{"model": "m", "n": 1}]},
}


GRANDCHILD = "0123456789abcdef-fedcba9876543210_explorer"


def put(folder: Path, card: dict[str, Any], *rows: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "metadata.json").write_text(json.dumps({"session_id": folder.name, **card}))
    (folder / "transcript.jsonl").write_text(lines(*rows))


def delegating(call_id: str, instruction: str, session_id: str, said: str) -> list[dict[str, Any]]:
    """What a delegating tool of the ecosystem leaves: an object with the answer and the id."""
    arguments = {"agent": "zen-architect", "instruction": instruction}
    call = {"id": call_id, "tool": "delegate", "arguments": arguments}
    result = json.dumps({"response": said, "session_id": session_id, "status": "success"})
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "name": "delegate", "content": result},
    ]


def test_a_session_of_the_cli_opens_with_its_children_below_the_calls_of_them(
    project: Project, driver: Driver, stored: Path
) -> None:
    prompts = [{"role": "user", "content": f"<context>\n\nPlan {n}."} for n in range(3)]
    asked = [row for n in (1, 2) for row in delegating(f"c{n}", f"Plan {n}.", CHILD, f"Plan: {n}")]
    stranger = "1111111111111111-2222222222222222_explorer"
    foreign = delegating("c3", "Look.", stranger, "Of another session.")
    put(stored, CARD, ROWS[0], *asked, *foreign, {"role": "assistant", "content": "Done."})
    inner = delegating("i1", "Look.", GRANDCHILD, "A README.")
    told = [{"role": "assistant", "content": f"Told {n}."} for n in range(3)]
    rows = [prompts[0], told[0], prompts[1], *inner, told[1], prompts[2], told[2]]
    put(stored.parent / CHILD, {"parent_id": SESSION, "agent_name": "zen-architect"}, *rows)
    seen = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "I see."}]
    put(stored.parent / GRANDCHILD, {"parent_id": CHILD, "agent_name": "explorer"}, *seen)
    put(stored.parent / stranger, {"parent_id": "another session"}, *seen)
    project.bundle()
    driver.open(resume=SESSION)
    assert [(e.lane, e.parent) for e in driver.of(LaneOpened)] == [
        (CHILD, "main"),
        (GRANDCHILD, CHILD),
        (CHILD, "main"),
    ]
    below = [(e.agent, e.text) for e in driver.of(BlockEnded) if e.agent != "main"]
    assert below == [(GRANDCHILD, "I see."), (CHILD, "Told 1."), (CHILD, "Told 2.")]
    assert [e.result for e in driver.of(LaneClosed)] == ["I see.", "Told 1.", "Told 2."]


CHANGING = {"name", "model", "turn_count"}


def test_ten_turns_here_keep_every_key_that_others_wrote(
    project: Project, driver: Driver, stored: Path
) -> None:
    path = stored / "metadata.json"
    project.bundle()
    driver.open(resume=SESSION)
    for turn in range(10):
        driver.turn(f"And {turn}?")
        # What a naming hook, a cost meter and the CLI's own commands write between two turns.
        card = json.loads(path.read_text())
        card |= {"name": f"Title {turn}", **HOOKS, f"extra_{turn}": {"n": [turn, None]}}
        path.write_text(json.dumps(card))
    driver.close()
    card = json.loads(path.read_text())
    kept = {key: value for key, value in {**CARD, **HOOKS}.items() if key not in CHANGING}
    assert {key: card[key] for key in kept} == kept
    assert [card[f"extra_{turn}"] for turn in range(10)] == [{"n": [n, None]} for n in range(10)]
    assert (card["name"], card["turn_count"]) == ("Title 9", 12)
    assert card["first_prompt"] == "What is in here?"


def test_a_title_another_program_gives_is_shown_without_a_turn(
    project: Project, driver: Driver, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_tui.host.session.watching.LOOK_PAUSE", 0.01)
    project.bundle()
    opened = driver.open(resume=SESSION)
    assert (opened.title, opened.description) == (CARD["name"], CARD["description"])
    (stored / "metadata.json").write_text(json.dumps({**CARD, "name": "By a hook", "tags": ["x"]}))
    told = driver.wait(TitleChanged)
    assert (told.title, told.description, told.tags) == ("By a hook", CARD["description"], ("x",))
    driver.client.rename("By me")
    assert driver.wait(TitleChanged).title == "By me"
    assert driver.wait(Notice).text == "This session is called By me now"
    assert json.loads((stored / "metadata.json").read_text())["name"] == "By me"


@pytest.mark.parametrize(
    "damage",
    [
        {"metadata.json": "{"},
        {"metadata.json": "[]"},
        {"metadata.json": '{"turn_count": "two", "name": 7, "bundle": null}'},
        {"transcript.jsonl": lines(*ROWS) + '{"role": "user", "con'},
        {"transcript.jsonl": lines(*ROWS).replace("\n", "\r\n")},
        {"transcript.jsonl": lines({"content": "no role"}, {"role": 7}, *ROWS)},
    ],
    ids=["card torn", "card a list", "card of wrong types", "row torn", "crlf", "strange rows"],
)
def test_what_another_program_left_damaged_is_resumed_as_far_as_it_goes(
    project: Project, driver: Driver, stored: Path, damage: dict[str, str]
) -> None:
    for name, text in damage.items():
        (stored / name).write_text(text, newline="")
    name = project.bundle(script=saying("Still here."))
    driver.open(name, resume=SESSION)
    assert driver.turn("And now?").status == "success"
    assert "Still here." in driver.answers()
    assert "Thanks" in [e.prompt for e in driver.of(TurnStarted) if e.replayed]
