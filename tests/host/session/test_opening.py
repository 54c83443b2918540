import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host.client import OpenRequest
from amplifier_tui.host.events import (
    Failed,
    ModeChanged,
    ModuleFailed,
    ModuleMounted,
    Notice,
    OpeningReported,
    SessionClosed,
    SessionOpened,
    TurnEnded,
    TurnStarted,
)
from amplifier_tui.host.gate.rules.file import add_rules, user_rules_path
from amplifier_tui.host.gate.rules.text import parse_rule
from amplifier_tui.host.session import gating
from amplifier_tui.host.session.opening.opening import Opening
from amplifier_tui.host.store.session_store import SessionStore
from amplifier_tui.host.turns.prompt.commands import PromptCommands
from amplifier_tui.kernel.session import AmplifierSession
from tests.host.driving import MODULES, Driver, Project, saying

PROVIDERS = [{"module": "provider-anthropic"}, {"module": "provider-openai"}]


def test_importing_the_client_costs_no_kernel_and_no_models() -> None:
    code = (
        "import sys, amplifier_tui.host.door.local_client;"
        "heavy = {'pydantic', 'yaml', 'textual', 'amplifier_tui.kernel'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_a_key_the_session_opens_and_says_what_is_missing(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(providers=PROVIDERS))
    failed = driver.wait(Failed)
    assert failed.kind == "no_provider"
    assert failed.missing == ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    assert "ANTHROPIC_API_KEY" in failed.remedy and "demo" in failed.remedy
    reasons = {e.module_id: e for e in driver.of(ModuleFailed)}
    assert reasons["provider-anthropic"].missing == ("ANTHROPIC_API_KEY",)
    assert not reasons["provider-anthropic"].fatal


def test_a_prompt_without_a_provider_is_given_back(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(providers=PROVIDERS))
    driver.wait(Failed)
    assert driver.turn("hello").status == "error"
    failed = driver.of(Failed)[-1]
    assert (failed.kind, failed.prompt) == ("no_provider", "hello")
    assert "OPENAI_API_KEY" in failed.missing


def test_keys_of_the_home_are_loaded_before_the_providers_are(
    project: Project, driver: Driver, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    home = own_home / ".amplifier"
    home.mkdir()
    (home / "keys.env").write_text('ANTHROPIC_API_KEY="sk-ant-test-0123456789"\n')
    driver.open(project.bundle(providers=PROVIDERS[:1]))
    mounted = [e for e in driver.of(ModuleMounted) if e.kind == "provider"]
    assert [e.module_id for e in mounted] == ["provider-anthropic"]


def test_a_module_nobody_has_is_left_out_with_the_reason(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(tools=("tool-test", "tool-of-nobody")))
    (failed,) = driver.of(ModuleFailed)
    assert (failed.module_id, failed.kind, failed.fatal) == ("tool-of-nobody", "tool", False)
    assert "not found" in failed.error and failed.remedy
    assert driver.turn("hello").status == "success"


def test_a_setting_there_is_not_is_said_with_its_place_and_of_its_module(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle(hooks=(("hooks-approval", {"polcy": "careful"}),)))
    said = driver.wait(Notice, lambda notice: "polcy" in notice.text)
    assert said.level == "warning"
    wrong = "`polcy` is no setting of hooks-approval; did you mean `policy`?"
    assert wrong in said.text
    assert "test.md:" in said.text
    problems = {event.module_id: event.problems for event in driver.of(ModuleMounted)}
    assert problems.pop("hooks-approval") == (wrong,)
    assert not any(problems.values())


def test_what_does_not_count_in_the_projects_own_files_is_said_at_each_opening(
    project: Project, driver: Driver
) -> None:
    path = project.bundles / f"{project.bundle(tools=('tool-test', 'tool-todo'))}.md"
    text = path.read_text().replace("tool-todo\n", "tool-todo\n  confg: {limit: 1}\n")
    agents = "agents: {include: [helper]}\nsession:\n"
    path.write_text(text.replace("session:\n", f"agents: {{}}\n{agents}", 1))
    helper = project.bundles / "agents" / "helper.md"
    helper.parent.mkdir()
    helper.write_text("---\nmeta: {name: helper, description: x}\nagents: some\n---\nHelp.\n")
    driver.open("test")
    for words in (
        wrong := "'confg' is no key of an entry; did you mean 'config'?",
        "'agents' is there twice",
    ):
        driver.wait_until(
            lambda words=words: any(words in notice.text for notice in driver.of(Notice)), words
        )
    assert [event.problems for event in driver.of(ModuleMounted) if event.problems] == [(wrong,)]
    (item,) = driver.of(OpeningReported)[-1].items
    assert item.why.startswith("'agents' must be 'all', 'none' or a list of names")
    assert (item.what, item.where) == ("helper", f"{helper}:3")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"loop_config": {"max_iterations": "many"}}, "`max_iterations` of loop"),
        ({"context_config": {"max_tokens": "many"}}, "`max_tokens` of context-simple"),
    ],
)
def test_a_setting_without_which_no_session_opens_is_said_with_its_line(
    project: Project, driver: Driver, config: dict[str, Any], said: str
) -> None:
    path = project.bundles / f"{project.bundle(**config)}.md"
    driver.client.open(OpenRequest(cwd=project.folder, bundle="test"))
    failed = driver.wait(Failed)
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if ": many" in text)
    assert failed.message.startswith(f"{path}:{line}: {said}")
    assert "must be a whole number" in failed.message and failed.kind == "bundle"
    assert failed.remedy.endswith("correct the setting.")


def test_settings_that_are_no_mapping_are_said_with_the_line_of_the_module(
    project: Project, driver: Driver
) -> None:
    path = project.bundles / f"{project.bundle(tools=('tool-test', 'tool-todo'))}.md"
    path.write_text(path.read_text().replace("tool-todo\n", "tool-todo\n  config: [1]\n"))
    driver.open("test")
    (item,) = driver.wait(OpeningReported).items
    assert (item.what, item.why) == ("tool-todo", "'config' must be a dict, got list")
    assert item.where.startswith(f"{path}:")


def test_a_module_that_breaks_its_contract_says_how_to_find_out_why(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in (("bent", "mount = 3\n"), ("torn", "import nothing_of_that_name\n")):
        package = tmp_path / "more" / f"amplifier-module-tool-{name}"
        inner = package / f"amplifier_module_tool_{name}"
        inner.mkdir(parents=True)
        (inner / "__init__.py").write_text(text)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{MODULES}{os.pathsep}{tmp_path / 'more'}")
    driver.open(project.bundle(tools=("tool-test", "tool-bent", "tool-torn")))
    failed = {event.module_id: event for event in driver.of(ModuleFailed)}
    assert set(failed) == {"tool-bent", "tool-torn"}
    for module_id, event in failed.items():
        assert f"amplifier-tui module validate {module_id} --type tool" in event.remedy


@pytest.mark.parametrize(
    "config", [{"raise_in_mount": "bad day"}, {"exit_in_mount": True}], ids=["raises", "exits"]
)
def test_a_module_that_fails_to_mount_does_not_take_the_session_along(
    project: Project, driver: Driver, config: dict[str, object]
) -> None:
    driver.open(project.bundle(hooks=(("hooks-test", config),)))
    (failed,) = driver.of(ModuleFailed)
    assert failed.module_id == "hooks-test" and failed.error
    assert driver.turn("hello").status == "success"


def test_a_session_cannot_run_without_its_orchestrator(project: Project, driver: Driver) -> None:
    driver.client.open(OpenRequest(cwd=project.folder, bundle=project.bundle(loop="loop-nobody")))
    failed = driver.wait(Failed)
    assert failed.kind == "bundle" and "loop-nobody" in failed.message
    assert driver.of(ModuleFailed)[0].fatal
    assert not driver.of(SessionOpened)
    assert not list(project.folder_of("x").parent.glob("*")), "nothing is left behind"


def test_a_broken_bundle_says_where_and_leaves_the_running_session_alone(
    project: Project, driver: Driver
) -> None:
    first = driver.open(project.bundle())
    (project.bundles / "broken.md").write_text("---\nbundle:\n  name: [\n---\n")
    driver.client.switch_bundle("broken")
    failed = driver.wait(Failed)
    assert failed.kind == "bundle" and "broken.md" in failed.message
    ended = driver.turn("still here?")
    assert ended.session_id == first.session_id and ended.status == "success"


def test_a_bundle_whose_session_is_in_what_is_left_out_says_what_is_missing(
    project: Project, driver: Driver
) -> None:
    bundle = project.bundles / "mine.md"
    bundle.write_text("---\nbundle: {name: mine}\nincludes: [nosuch]\n---\nHello\n")
    driver.client.open(OpenRequest(cwd=project.folder, bundle=str(bundle)))
    failed = driver.wait(Failed)
    assert failed.kind == "bundle" and "mine has no session.orchestrator" in failed.message
    assert "nosuch is left out" in failed.message
    bundle.write_text("---\nbundle: {name: mine}\ninclues: [demo]\n---\nHello\n")
    driver.client.open(OpenRequest(cwd=project.folder, bundle=str(bundle)))
    assert "(line 3). Did you mean 'includes'?" in driver.wait(Failed).message


def test_a_switch_that_fails_leaves_no_copy_of_the_conversation(
    project: Project, driver: Driver
) -> None:
    first = driver.open(project.bundle())
    driver.turn("hello")
    (project.bundles / "broken.md").write_text("---\nbundle:\n  name: [\n---\n")
    driver.client.switch_bundle("broken")
    driver.wait(Failed)
    folder = project.folder_of(first.session_id)
    assert list(folder.parent.glob("*")) == [folder]
    assert len(project.rows(first.session_id)) == 2


def test_an_unknown_bundle_is_refused_with_the_known_ones(project: Project, driver: Driver) -> None:
    project.bundle()
    driver.client.open(OpenRequest(cwd=project.folder, bundle="nowhere"))
    failed = driver.wait(Failed)
    assert failed.kind == "bundle" and "nowhere" in failed.message and "test" in failed.remedy


def test_prompts_sent_while_a_session_opens_are_run_once_it_is_there(
    project: Project, driver: Driver
) -> None:
    driver.client.open(OpenRequest(cwd=project.folder, bundle=project.bundle()))
    driver.client.submit("early")
    assert driver.wait(TurnStarted).prompt == "early"
    driver.wait(TurnEnded)


def test_prompts_sent_while_opening_fails_come_back(project: Project, driver: Driver) -> None:
    driver.client.open(OpenRequest(cwd=project.folder, bundle="nowhere"))
    driver.client.submit("early")
    # Where the opening has failed before the prompt came, it comes back by itself.
    assert driver.wait(Failed, lambda failed: bool(failed.prompt)).prompt == "early"


def test_a_prompt_without_a_session_comes_back(driver: Driver) -> None:
    driver.client.submit("anybody?")
    failed = driver.wait(Failed)
    assert (failed.kind, failed.prompt) == ("no_session", "anybody?")


def test_opening_can_be_stopped(project: Project, driver: Driver, tmp_path: Path) -> None:
    mark = tmp_path / "mounting"
    hook = ("hooks-test", {"hang_in_mount": str(mark)})
    driver.client.open(OpenRequest(cwd=project.folder, bundle=project.bundle(hooks=(hook,))))
    driver.wait_for_file(mark)
    driver.client.interrupt()
    assert driver.wait(Failed).kind == "cancelled"
    assert driver.open(project.bundle("other")).bundle == "other"


def test_what_is_being_opened_can_be_opened_anew(
    project: Project, driver: Driver, tmp_path: Path
) -> None:
    mark = tmp_path / "mounting"
    name = project.bundle("mine", hooks=(("hooks-test", {"hang_in_mount": str(mark)}),))
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.wait_for_file(mark)
    project.bundle("mine")
    driver.client.open_again()
    assert driver.wait(SessionOpened).bundle == "mine"


async def test_an_opening_that_is_stopped_lets_go_of_the_session_once_it_is_mended(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go = threading.Event(), threading.Event()
    done: list[str] = []

    def mend(store: SessionStore) -> None:
        began.set()
        assert go.wait(10)
        done.append("mended")

    monkeypatch.setattr(SessionStore, "_recover", mend)
    monkeypatch.setattr(SessionStore, "close", lambda store: done.append("closed"))
    request = OpenRequest(cwd=project.folder, bundle=project.bundle())
    opening = asyncio.create_task(Opening(request, lambda event: None, trust_everything).run())
    await asyncio.to_thread(began.wait)
    opening.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert done == ["mended", "closed"]


async def test_an_opening_that_is_stopped_at_its_end_ends_the_modules(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    telling = asyncio.Event()
    cleaned: list[str] = []

    async def tell(commands: PromptCommands) -> None:
        telling.set()
        await asyncio.Event().wait()

    async def cleanup(session: AmplifierSession) -> None:
        cleaned.append(session.session_id)

    monkeypatch.setattr(PromptCommands, "tell", tell)
    monkeypatch.setattr(AmplifierSession, "cleanup", cleanup)
    request = OpenRequest(cwd=project.folder, bundle=project.bundle(), session_id="mine")
    opening = asyncio.create_task(Opening(request, lambda event: None, trust_everything).run())
    await telling.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert cleaned == ["mine"]


def test_the_demo_works_in_a_scratch_copy_of_its_project(project: Project, driver: Driver) -> None:
    opened = driver.open(demo=True)
    assert opened.bundle == "demo" and opened.examples
    workspace = Path(opened.cwd)
    assert (workspace / "parcels" / "rates.py").is_file()
    assert not workspace.is_relative_to(project.folder)
    assert driver.failures() == []


def test_what_was_allowed_in_the_users_project_is_not_in_the_demos(
    project: Project, driver: Driver
) -> None:
    bundle, mine, everywhere = project.bundle(), parse_rule("read(a/**)"), parse_rule("read(b/**)")
    add_rules(user_rules_path(), (mine,), project.folder)
    add_rules(user_rules_path(), (everywhere,))
    driver.open(bundle)
    held = [str(mine) in texts_of_rules(driver), str(everywhere) in texts_of_rules(driver)]
    driver.open(demo=True)
    held += [str(mine) in texts_of_rules(driver), str(everywhere) in texts_of_rules(driver)]
    assert held == [True, True, False, True]
    written = user_rules_path().read_text()
    assert not driver.client.add_rule("deny read(c/**)", "project").result(10)
    cards = driver.client.rules().result(10)
    assert [each.scope for each in cards if each.text == "read(c/**)"] == ["session"]
    assert user_rules_path().read_text() == written, "no other session works in the copy"


def texts_of_rules(driver: Driver) -> list[str]:
    return [card.text for card in driver.client.rules().result(10)]


def test_switching_takes_the_conversation_along_into_a_session_of_its_own(
    project: Project, driver: Driver
) -> None:
    first = driver.open(project.bundle(script=saying("From the first.")))
    driver.turn("hello")
    lacking = ("tool-test", "tool-nowhere")
    other = project.bundle("other", script=saying("From the other."), tools=lacking)
    driver.client.switch_bundle(other)
    second = driver.wait(SessionOpened)
    assert second.bundle == "other" and second.session_id != first.session_id
    reported = driver.wait(OpeningReported)
    assert [item.what for item in reported.items] == ["tool-nowhere"]
    replayed = [e for e in driver.events if e.session_id == second.session_id and e.replayed]
    assert [e.prompt for e in replayed if isinstance(e, TurnStarted)] == ["hello"]
    assert driver.turn("and now?").turn == 2
    rows = project.rows(second.session_id)
    assert [row["role"] for row in rows] == ["user", "assistant"] * 2
    assert len(project.rows(first.session_id)) == 2, "the first one is as it was"
    assert [e.session_id for e in driver.of(SessionClosed)] == [first.session_id]


def test_switching_without_the_conversation_starts_afresh(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    driver.turn("hello")
    driver.client.switch_bundle(project.bundle("other"), carry=False)
    second = driver.wait(SessionOpened)
    driver.turn("first words")
    assert len(project.rows(second.session_id)) == 2


def test_a_running_turn_keeps_the_session(project: Project, driver: Driver) -> None:
    driver.open(project.bundle(script=saying("word " * 500, delay=0), speed=100))
    driver.client.submit("talk")
    driver.wait(TurnStarted)
    driver.client.switch_bundle(project.bundle("other"))
    assert "stop it" in driver.wait(Notice).text
    driver.client.interrupt(immediate=True)
    driver.wait(TurnEnded)


def test_bundles_are_listed_with_their_state_and_the_broken_ones_too(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    project.bundle("keyless", providers=PROVIDERS)
    (project.bundles / "broken.md").write_text("---\nbundle:\n  name: [\n---\n")
    cards = {card.name: card for card in driver.client.bundles().result(10)}
    assert cards["test"].state == "ready" and cards["test"].active
    assert cards["keyless"].state == "needs_key"
    assert cards["keyless"].missing
    assert cards["broken"].state == "invalid" and "broken.md" in cards["broken"].error
    assert cards["demo"].origin == "shipped" and cards["demo"].description


def test_a_preview_says_what_would_be_mounted_and_runs_nothing(
    project: Project, driver: Driver
) -> None:
    driver.open(project.bundle())
    project.bundle("other", hooks=(("hooks-test", {"raise_in_mount": "never"}),))
    preview = driver.client.preview("other").result(10)
    assert [m.module_id for m in preview.modules][-1] == "hooks-test"
    assert preview.card.description == "For tests" and preview.base_tokens > 0
    assert not driver.of(ModuleFailed)
    assert driver.client.preview("nowhere").result(10).card.state == "invalid"


def test_a_module_whose_source_cannot_be_had_is_not_mounted_unless_the_settings_name_the_built_in(
    project: Project, driver: Driver, own_home: Path, tmp_path: Path
) -> None:
    source = f"git+file://{tmp_path}/gone@main"
    path = project.bundle(providers=[{"module": "provider-mock", "source": source}])
    driver.open(path)
    (failed,) = [event for event in driver.of(ModuleFailed) if event.module_id == "provider-mock"]
    assert failed.error.startswith("Its source can't be had: ")
    assert "sources: {modules: {provider-mock: built-in}}" in failed.remedy
    assert not [event for event in driver.of(ModuleMounted) if event.module_id == "provider-mock"]
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("sources: {modules: {provider-mock: built-in}}\n")
    driver.open(path)
    mounted = [event for event in driver.of(ModuleMounted) if event.module_id == "provider-mock"]
    assert [(event.source, event.in_place_of) for event in mounted] == [("built-in", source)]


def test_every_module_says_whose_word_it_is_mounted_on(project: Project, driver: Driver) -> None:
    driver.open(project.bundle())
    own = driver.of(ModuleMounted)
    assert {event.owner for event in own} == {"project"}
    driver.open("demo")
    shipped = driver.of(ModuleMounted)[len(own) :]
    assert {event.owner for event in shipped} == {"program"}


def test_a_new_session_has_the_id_it_is_given_once_and_what_the_user_adds_to_the_prompt(
    project: Project, drive: Callable[..., Driver]
) -> None:
    wanted = "0b6ef2a4-4d2f-4a58-9d3a-6b1f5d3c2a10"
    first = drive()
    opened = first.open(project.bundle(), session_id=wanted, appended=" Say please.\n")
    assert opened.session_id == wanted
    first.turn("go")
    first.close()
    second = drive()
    second.client.open(OpenRequest(cwd=second.cwd, session_id=wanted))
    failed = second.wait(Failed)
    assert (failed.kind, failed.message) == (
        "session_exists",
        f"There is a session {wanted} already",
    )
    assert second.open(resume=wanted).session_id == wanted


def test_nothing_of_a_session_that_is_left_at_once_goes_on(
    project: Project, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gating, "_RULES_AFTER", 3600.0)
    bundle = project.bundle()
    left = driver.open(bundle).session_id
    driver.wait(ModeChanged)
    driver.client.switch_bundle(bundle, carry=False)
    driver.wait(SessionClosed, lambda closed: closed.session_id == left)

    async def announcing() -> int:
        names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
        return names.count("Gating._announce")

    # That of the session which is open.
    assert driver.client._engine.ask(announcing).result(5) == 1


@pytest.mark.parametrize("name", ["minimal", "test"])
def test_a_bundle_of_the_project_in_place_of_a_shipped_one_is_told(
    project: Project, driver: Driver, name: str
) -> None:
    opened = driver.open(project.bundle(name))
    assert (opened.bundle, opened.of_project) == (name, name == "minimal")
