"""A bundle of thirty sources, written the way published ones are."""

import shutil
from pathlib import Path

import pytest

from amplifier_tui.foundation.bundle.prompt import SystemPromptFactory, mention_resolver
from amplifier_tui.foundation.checks.opening_report import report_prepared
from amplifier_tui.foundation.report import absent
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.foundation.workspace import Workspace
from tests.ecosystem.world import NUMBERED, World
from tests.trust.test_one_question import Person, use_all, use_none

pytestmark = pytest.mark.usefixtures("process")
ACME = "git.example/acme"


def forget_clones(space: Workspace) -> None:
    """Leave what was installed, so that only fetching has to be done again."""
    for folder in (space.home / "cache").iterdir():
        if folder.is_dir() and folder.name != "installed":
            shutil.rmtree(folder)


async def test_thirty_sources_of_a_publisher_are_one_question_and_opened_again_none(
    world: World, space: Workspace
) -> None:
    assert len(world.sources) == 30
    forget_clones(space)
    person = Person(use_all)
    prepared = await space.prepare("grand", trust=person)
    (question,) = person.questions
    assert {item.owner for item in question if item.group == "code"} == {ACME}
    assert "amplifier-bundle-polish" not in " ".join(item.detail for item in question)
    assert not prepared.refused_items
    again = Person(use_none)
    again.memory = person.memory
    await space.prepare("grand", trust=again)
    assert again.questions == []


async def test_everything_is_there_but_what_was_never_published(space: Workspace) -> None:
    prepared = await space.prepare("grand", trust=trust_everything)
    plan = prepared.mount_plan
    assert list(prepared.activation_failures) == ["tool-nowhere"]
    tools = {entry["module"] for entry in plan["tools"]}
    assert tools >= {"tool-shape", "tool-bare", "tool-word", "tool-task", "tool-todo"}
    assert len(tools) == NUMBERED + 6
    hooks = {entry["module"]: entry for entry in plan["hooks"]}
    assert set(hooks) == {
        *("hooks-asks", "hooks-says", "hooks-naming", "hooks-notes", "hooks-pulse")
    }
    # A behavior within a behavior within the bundle.
    (origin,) = prepared.bundle.origins["hook:hooks-pulse"]
    assert origin.bundle == "polish"
    report = await report_prepared(prepared, space.project)
    assert [(item.name, item.part) for item in report] == [("amplifier-bundle-gone", "include")]
    assert report[0].where.endswith("grand.md:9")


async def test_agents_modes_recipes_and_context_of_every_namespace_are_found(
    space: Workspace,
) -> None:
    prepared = await space.prepare("grand", trust=trust_everything)
    bundle = prepared.bundle
    assert prepared.mode_warnings == []
    scout = bundle.agents["stem:scout"]
    assert (scout["description"], scout["model_role"]) == ("Looks closely", "fast")
    assert [entry["module"] for entry in scout["tools"]] == ["tool-lens"]
    bundle.resolve_pending_context()
    resolver = mention_resolver(bundle, space.project)
    names = [name for name, _ in await SystemPromptFactory(bundle, resolver).parts()]
    assert names[0] == "bundle:grand" and len(names) == 3
    assert {name.removeprefix("file:@") for name in names[1:]} == {
        "stem:context/principles.md",
        "craft:context/style.md",
    }
    recipe = resolver.resolve("@stem:recipes/tidy.yaml")
    assert recipe is not None and "steps:" in recipe.read_text()


async def test_entry_points_with_a_class_a_function_or_none_are_mounted_and_work(
    space: Workspace,
) -> None:
    prepared = await space.prepare("grand", trust=trust_everything)
    async with prepared.create_session(session_cwd=space.project) as session:
        tools = session.coordinator.get("tools")
        said = {
            name: (await tools[name].execute({"text": "x"})).output
            for name in ("shape", "bare", "word", "k0")
        }
    assert said == {"shape": "shape: x", "bare": "bare: x", "word": "word: hello X", "k0": "k0: x"}


async def test_a_preview_says_what_would_be_missing_and_runs_nothing(space: Workspace) -> None:
    preview = await space.preview("grand")
    assert preview.state == "not_fetched"
    assert "amplifier-bundle-gone" in preview.error
    assert absent(preview.report) == ["tool-nowhere"]
    assert len(preview.modules) == NUMBERED + 14
    assert not list(Path(space.home).rglob("registry.json.tmp"))
