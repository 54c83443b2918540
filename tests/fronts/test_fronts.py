"""One conversation through every front end there is: nothing may depend on which it was."""

import json
import shutil
from pathlib import Path

import pytest
from acp import schema
from jsonschema import Draft202012Validator

from amplifier_tui.ui.dialogs.approval import ApprovalDialog
from amplifier_tui.ui.dialogs.ask.dialog import AskDialog
from amplifier_tui.ui.state.session import SessionState
from tests.cli.test_schema import PUBLISHED
from tests.fronts import editor, embedding, pipe, screen
from tests.fronts.compare import (
    differences,
    ledger,
    read_in_editor,
    read_on_screen,
    shown,
    told,
)
from tests.fronts.conversations import CONVERSATIONS
from tests.fronts.player import Conversation
from tests.fronts.stage import Stage, session_of
from tests.host.driving import MODULES

every = pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)


@pytest.fixture(scope="module")
def events_schema() -> Draft202012Validator:
    """The published schema."""
    return Draft202012Validator(json.loads(PUBLISHED.read_text()))


@pytest.fixture(autouse=True)
def answers_count_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMPLIFIER_MODULES", str(MODULES))
    for dialog in (ApprovalDialog, AskDialog):
        monkeypatch.setattr(dialog, "grace", 0.0)
        monkeypatch.setattr(dialog, "alone", 0.0)


@every
async def test_a_conversation_is_the_same_through_every_front_end(
    conversation: Conversation,
    tmp_path: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    events_schema: Draft202012Validator,
) -> None:
    folder = tmp_path / "project"

    def stage() -> Stage:
        shutil.rmtree(folder, ignore_errors=True)
        return Stage(conversation, folder, own_home)

    embedded, piped = embedding.hold(stage()), pipe.hold(stage(), monkeypatch)
    others, traces = {"pipe": piped}, not conversation.at_question
    if "screen" not in conversation.not_through:
        others["screen"] = await screen.hold(stage())
    if "editor" not in conversation.not_through:
        others["editor"] = await editor.hold(stage(), monkeypatch)
    for front, held in others.items():
        found = differences(ledger(embedded), ledger(held))
        assert not found, f"the ledger of the {front}:\n{found}"
        found = differences(*(told(each, traces=traces) for each in (embedded, held)))
        assert not found, f"the events of the {front}:\n{found}"

    wrong = [row for row in piped.told if not events_schema.is_valid(row)]
    assert wrong == []
    played = SessionState()
    played.apply(piped.events)
    if "screen" in others:
        on_screen = others["screen"]
        found = differences(shown(on_screen.told, on_screen), shown(played, piped))
        assert not found, f"the state of the events that were written:\n{found}"
    if "editor" in others:
        assert read_in_editor(others["editor"].told[-1].updates) == read_on_screen(played)


async def test_a_session_of_the_screen_is_retold_in_an_editor(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {each.name: each for each in CONVERSATIONS}
    stage = Stage(
        named["a new file and a changed one, each allowed once"], tmp_path / "p", own_home
    )
    held = await screen.hold(stage)
    with stage.set():
        loaded = await editor.load(stage, session_of(held.events))
    assert loaded.text(schema.UserMessageChunk) == "go"
    assert read_in_editor(loaded.updates) == read_on_screen(held.told)
