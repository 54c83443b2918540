"""What a project brings is asked about as a session opens, and again when the user wants it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_tui.foundation.trust.review import ALLOW_IT
from amplifier_tui.host.client import OpenRequest, TrustDecision
from amplifier_tui.host.door.local_client import LocalClient
from amplifier_tui.host.events import (
    Failed,
    ModeChanged,
    ModuleFailed,
    ModuleMounted,
    Notice,
    Rewound,
    SessionHeld,
    SessionOpened,
    TrustAsked,
)
from tests.host.driving import MODULES, Driver, Project


def test_a_stranger_s_module_is_asked_about_once(
    project: Project, drive: Callable[..., Driver], own_home: Path
) -> None:
    source = MODULES / "amplifier-module-tool-test"
    data = project.bundle()
    path = project.bundles / "test.md"
    path.write_text(
        path.read_text().replace("module: tool-test", f"module: tool-test\n  source: {source}")
    )
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=data))
    asked = driver.answer_trust(use=True)
    assert "tool-test" in [item.title for item in asked.items if item.group == "code"]
    driver.wait(SessionOpened)
    assert "tool-test" in {e.module_id for e in driver.of(ModuleMounted)}
    driver.close()
    again = drive(LocalClient())
    again.open(data)
    assert len(driver.of(TrustAsked)) == 1 and not again.of(TrustAsked)


def test_a_stranger_s_module_that_is_refused_is_not_run(
    project: Project, drive: Callable[..., Driver]
) -> None:
    name = project.bundle()
    path = project.bundles / "test.md"
    source = MODULES / "amplifier-module-hooks-test"
    entry = f"hooks:\n- module: hooks-other\n  source: {source}\n---"
    path.write_text(path.read_text().replace("hooks: []\n---", entry))
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.answer_trust(use=False)
    driver.wait(SessionOpened)
    assert "hooks-other" in {e.module_id for e in driver.of(ModuleFailed) if e.refused}


def test_what_was_refused_is_asked_again_when_the_user_wants_it(
    project: Project, drive: Callable[..., Driver]
) -> None:
    source = MODULES / "amplifier-module-tool-test"
    name = project.bundle()
    path = project.bundles / "test.md"
    path.write_text(
        path.read_text().replace("module: tool-test", f"module: tool-test\n  source: {source}")
    )
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.answer_trust(use=False)
    driver.wait(SessionOpened)
    assert "tool-test" not in {e.module_id for e in driver.of(ModuleMounted)}
    driver.client.ask_trust_again()
    driver.answer_trust(use=True)
    driver.wait(SessionOpened)
    assert "tool-test" in {e.module_id for e in driver.of(ModuleMounted)}
    driver.client.ask_trust_again()
    driver.wait(Notice, lambda e: e.text == "Nothing of this session was refused")


def with_loop_of_its_own(project: Project, name: str = "test") -> str:
    """Write a bundle that brings its loop, which is asked about; return its name."""
    project.bundle(name, loop="loop-test")
    path = project.bundles / f"{name}.md"
    source = MODULES / "amplifier-module-loop-test"
    path.write_text(
        path.read_text().replace("module: loop-test", f"module: loop-test\n    source: {source}")
    )
    return name


def test_a_session_whose_loop_was_refused_is_asked_about_again_and_opens(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=with_loop_of_its_own(project)))
    driver.answer_trust(use=False)
    failed = driver.wait(Failed)
    assert failed.kind == "untrusted" and "loop-test" in failed.message
    driver.client.ask_trust_again()
    driver.answer_trust(use=True)
    assert driver.wait(SessionOpened).bundle == "test"


def open_first(project: Project, driver: Driver, *, use: bool) -> SessionOpened:
    """Open a session of a bundle that brings a tool, which is used or refused."""
    name = project.bundle("first")
    path = project.bundles / f"{name}.md"
    source = MODULES / "amplifier-module-tool-test"
    path.write_text(
        path.read_text().replace("module: tool-test", f"module: tool-test\n  source: {source}")
    )
    driver.client.open(OpenRequest(cwd=project.folder, bundle=name))
    driver.answer_trust(use=use)
    return driver.wait(SessionOpened)


def refuse_another(project: Project, driver: Driver) -> None:
    """Try a bundle that can't be opened since its loop is refused."""
    driver.client.switch_bundle(with_loop_of_its_own(project))
    driver.answer_trust(use=False)
    assert driver.wait(Failed).kind == "untrusted"


def titles(asked: TrustAsked) -> list[str]:
    return [item.title for item in asked.items]


@pytest.mark.parametrize("said", [[], ["hello"]])
def test_a_bundle_that_was_refused_behind_an_open_session_is_asked_about_again(
    project: Project, drive: Callable[..., Driver], said: list[str]
) -> None:
    driver = drive(LocalClient())
    open_first(project, driver, use=True)
    for prompt in said:
        driver.turn(prompt)
    refuse_another(project, driver)
    driver.turn("more")
    driver.client.ask_trust_again()
    driver.answer_trust(use=True)
    opened = driver.wait(SessionOpened)
    prompts = [row["content"] for row in project.rows(opened.session_id) if row["role"] == "user"]
    assert (opened.bundle, prompts) == ("test", [*said, "more"])


def test_asking_again_about_a_fork_says_that_its_turn_has_been_taken_back_since(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    opened = open_first(project, driver, use=True)
    for prompt in ("one", "two", "three"):
        driver.turn(prompt)
    with_loop_of_its_own(project, opened.bundle)
    driver.client.fork(before_turn=3)
    driver.answer_trust(use=False)
    assert driver.wait(Failed).kind == "untrusted"
    driver.client.rewind(2)
    driver.wait(Rewound)
    driver.client.ask_trust_again()
    failed = driver.wait(Failed)
    assert (failed.kind, failed.message) == ("no_turn", "This session has no turn 3")


def test_an_open_session_is_asked_about_whatever_was_refused_since(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    open_first(project, driver, use=False)
    refuse_another(project, driver)
    driver.client.ask_trust_again(shown=True)
    assert "tool-test" in titles(driver.answer_trust(use=True))
    assert driver.wait(SessionOpened).bundle == "first"


def test_an_open_session_is_asked_about_once_another_is_given_up(
    project: Project, drive: Callable[..., Driver]
) -> None:
    driver = drive(LocalClient())
    open_first(project, driver, use=False)
    refuse_another(project, driver)
    driver.client.ask_trust_again()
    asked = driver.wait(TrustAsked)
    assert "loop-test" in titles(asked) and "tool-test" not in titles(asked)
    driver.client.answer_trust(asked.request_id, TrustDecision(cancelled=True))
    assert driver.wait(Failed).kind == "cancelled"
    driver.client.ask_trust_again()
    assert "tool-test" in titles(driver.wait(TrustAsked))


def test_a_stored_session_keeps_its_mode_whatever_was_chosen_in_the_one_that_is_open(
    project: Project, drive: Callable[..., Driver]
) -> None:
    first = drive(LocalClient())
    name = with_loop_of_its_own(project)
    first.client.open(OpenRequest(cwd=project.folder, bundle=name, mode="plan"))
    asked = first.wait(TrustAsked)
    accepted = frozenset(item.key for item in asked.items)
    once = TrustDecision(accepted=accepted, remember="session")
    first.client.answer_trust(asked.request_id, once)
    stored = first.wait(SessionOpened)
    first.turn("hello")
    first.close()
    driver = drive(LocalClient())
    open_first(project, driver, use=True)
    driver.client.resume(stored.session_id)
    driver.answer_trust(use=False)
    assert driver.wait(Failed).kind == "untrusted"
    driver.client.set_mode("auto")
    driver.wait(ModeChanged, lambda e: e.mode == "auto")
    driver.client.ask_trust_again()
    driver.answer_trust(use=True)
    assert driver.wait(SessionOpened).session_id == stored.session_id
    assert driver.wait(ModeChanged, lambda e: e.session_id == stored.session_id).mode == "plan"


def test_a_bundle_that_was_refused_behind_a_session_of_another_window_is_opened_again(
    project: Project, drive: Callable[..., Driver]
) -> None:
    other = drive(LocalClient())
    held = open_first(project, other, use=True)
    other.turn("hello")
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, resume=held.session_id, shows_busy=True))
    driver.wait(SessionHeld)
    refuse_another(project, driver)
    driver.client.open_again()
    assert driver.wait(Failed).kind == "untrusted", "the refusal holds"
    driver.client.ask_trust_again(shown=True)
    driver.wait(Notice, lambda e: "open in another window" in e.text)
    driver.client.ask_trust_again()
    driver.answer_trust(use=True)
    assert driver.wait(SessionOpened).bundle == "test"


@pytest.mark.parametrize("bundle", ["mine", "git+file:///gone@main"])
def test_a_bundle_that_was_refused_for_good_is_asked_about_again(
    project: Project, drive: Callable[..., Driver], bundle: str
) -> None:
    included = "---\nbundle: {name: mine}\nincludes: ['git+file:///gone@main']\n---\n"
    (project.bundles / "mine.md").write_text(included)
    driver = drive(LocalClient())
    driver.client.open(OpenRequest(cwd=project.folder, bundle=bundle))
    asked = driver.wait(TrustAsked)
    driver.client.answer_trust(asked.request_id, TrustDecision(remember="always"))
    failed = driver.wait(Failed)
    assert (failed.kind, failed.remedy) == ("untrusted", ALLOW_IT)
    assert "when asked" not in failed.message, "what helps is said once"
    driver.client.open_again()
    assert driver.wait(Failed).kind == "untrusted"
    driver.client.ask_trust_again()
    assert driver.wait(TrustAsked).items == asked.items
