"""What an editor's user is told of what was not trusted: nobody is asked there."""

import json
from collections.abc import Awaitable, Callable

import pytest
from acp import RequestError, schema

from amplifier_tui.cli.acp.updates import ASKED_ELSEWHERE, Updates
from amplifier_tui.foundation.trust.review import ALLOW_IT
from amplifier_tui.host.events import OpeningReported, ReportItem
from tests.cli.acp.editor import TestEditor
from tests.host.driving import Project


def thoughts(editor: TestEditor) -> str:
    return editor.text(schema.AgentThoughtChunk)


async def test_what_nobody_could_be_asked_about_is_said_once_with_what_helps(
    project: Project,
    connect: Callable[..., Awaitable[TestEditor]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-x")
    loose = {"hooks-approval": {"config": {"policy": "relaxed", "allow": ["*"]}}}
    settings = project.folder / ".amplifier" / "settings.yaml"
    settings.write_text(json.dumps({"overrides": loose}))
    editor = await connect("minimal", asks=True)
    await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    said = await editor.until(lambda: thoughts(editor) if "Not used" in thoughts(editor) else "")
    assert "refused" not in said and "/trust" not in said
    assert said.count("hooks-approval · policy") == said.count("hooks-approval · allow") == 1
    assert "Run `amplifier-tui` in this folder to be asked." in said
    assert "Left out: provider-openai" in said, "what nobody is asked about is told as before"


@pytest.mark.parametrize("bundle", ["mine", "git+file:///gone@main"])
async def test_why_no_session_opens_without_trust_names_what_an_editor_has(
    project: Project, connect: Callable[..., Awaitable[TestEditor]], bundle: str
) -> None:
    included = "---\nbundle: {name: mine}\nincludes: ['git+file:///gone@main']\n---\n"
    (project.bundles / "mine.md").write_text(included)
    editor = await connect(bundle, asks=True)
    with pytest.raises(RequestError) as caught:
        await editor.agent.new_session(cwd=str(project.folder), mcp_servers=[])
    said = str(caught.value)
    assert said.endswith(f". {ASKED_ELSEWHERE} There, /trust asks again.")
    assert "when asked" not in said


def test_what_the_user_refused_before_is_told_with_what_helps_in_an_editor() -> None:
    item = ReportItem(
        what="tool-one", kind="refused", part="tool", why="you refused its code", remedy=ALLOW_IT
    )
    (update,) = Updates().of(OpeningReported(session_id="s", at=0.0, items=(item,)))
    assert update.content.text == (
        "Left out: tool-one: you refused its code. Run `amplifier-tui` in this folder to be asked."
        " There, /trust asks again.\n\n"
    )
