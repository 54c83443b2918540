"""Files outside of the workspace: asked about where a yes counts, and else refused unasked."""

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_tui.base.files.under import is_under
from amplifier_tui.host.client import Decision
from amplifier_tui.host.events import ApprovalRequested, Scope, ToolEnded, TurnEnded
from amplifier_tui.host.gate.places import can_be_allowed, locate
from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.kernel.session.grant import Grant, granted
from amplifier_tui.modules import tool_filesystem
from amplifier_tui.paths import amplifier_home, user_config_dir, user_log_dir, user_state_dir
from tests.host.driving import Driver, Project, calling
from tests.trust.test_gate import LANES, finish, in_lane, settings

TOOLS = ("tool-filesystem", "tool-apply-patch", "tool-search", "tool-test")
WRITE, EDIT = "write_file", "edit_file"
PATCH = (
    "*** Begin Patch\n*** Add File: {}\n+made\n"
    "*** Update File: here.txt\n-here\n+there\n*** End Patch"
)

GOES: dict[str, dict[str, Any]] = {
    "made": {WRITE: {"file_path": "../near/made.txt", "content": "made\n"}},
    "by its whole path": {WRITE: {"file_path": "{near}/made.txt", "content": "made\n"}},
    "below a folder that is not there": {
        WRITE: {"file_path": "../near/a/b/made.txt", "content": "made\n"}
    },
    "through a link of the workspace": {WRITE: {"file_path": "link/made.txt", "content": "made\n"}},
    "edited": {EDIT: {"file_path": "../near/old.txt", "old_string": "old", "new_string": "made"}},
    "patched": {"apply_patch": {"input": PATCH.format("../near/made.txt")}},
}
"""Each of them leaves one file more with `made` in it."""


def _told(call: dict[str, Any], near: Path) -> dict[str, Any]:
    """The call with the paths of this test in it."""
    return {
        tool: {key: value.replace("{near}", str(near)) for key, value in given.items()}
        for tool, given in call.items()
    }


@pytest.fixture
def near(project: Project) -> Path:
    """A folder beside the workspace, and a link in that which leads there."""
    folder = project.folder.parent / "near"
    folder.mkdir()
    (folder / "old.txt").write_text("old\n")
    (project.folder / "here.txt").write_text("here\n")
    (project.folder / "link").symlink_to(folder)
    return folder


def _run(
    project: Project, driver: Driver, *calls: dict[str, Any], lane: str = LANES[0], **more: Any
) -> None:
    bundle = {"tools": TOOLS, **more.pop("bundle", {})}
    name = project.bundle(script=in_lane(lane, *calls), **bundle)
    project.allow(["delegate", *more.pop("rules", [])])
    driver.open(name, **more)
    driver.client.submit("go")


def _made(near: Path) -> list[str]:
    return [path.name for path in near.rglob("*") if path.is_file() and "made" in path.read_text()]


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("allow", [True, False], ids=["allowed", "denied"])
@pytest.mark.parametrize("what", GOES)
def test_what_the_user_allows_outside_of_the_workspace_is_done_and_nothing_else(
    project: Project, driver: Driver, near: Path, what: str, allow: bool, lane: str
) -> None:
    _run(project, driver, _told(GOES[what], near), lane=lane)
    asked = [each for each in finish(driver, allow=allow) if each.tool != "delegate"]
    assert len(asked) == 1 and asked[0].outside and not {"project", "always"} & {*asked[0].scopes}
    ended = next(each for each in driver.of(ToolEnded) if each.tool in GOES[what])
    assert ended.ok is allow and ended.denied is not allow
    assert len(_made(near)) == allow


@pytest.mark.parametrize("lane", LANES)
def test_what_is_read_outside_is_read_after_a_yes(
    project: Project, driver: Driver, near: Path, lane: str
) -> None:
    _run(project, driver, {"read_file": {"file_path": str(near / "old.txt")}}, lane=lane)
    assert [each.tool for each in finish(driver, allow=True)] == ["read_file"]
    (ended,) = [each for each in driver.of(ToolEnded) if each.tool == "read_file"]
    assert ended.ok and "old" in ended.output


def _places(project: Project) -> dict[str, str]:
    home = Path.home()
    return {
        "keys to other machines": "~/.ssh/authorized_keys",
        "them by a detour": f"{home}/x/../.ssh/config",
        "them in other letters": f"{home}/.SSH/config",
        "them by a link": "keys/authorized_keys",
        "a password store": "~/.aws/credentials",
        "a browser's profile": "~/.mozilla/firefox/user.js",
        "keys of another project": "../near/.env",
        "what this program reads": str(amplifier_home() / "settings.yaml"),
        "its rules": str(user_config_dir() / "rules.yaml"),
        "its state": str(user_state_dir() / "x"),
        "its logs": str(user_log_dir() / "x"),
        "a process": "/proc/self/environ",
        "the system": "/sys/kernel/x",
        "a device": "/dev/sda",
        "what the settings deny": "../near/denied/made.txt",
        "what they deny in the workspace": "closed/made.txt",
    }


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("mode", ["ask", "edits"])
def test_what_no_yes_opens_is_refused_without_a_question(
    project: Project, driver: Driver, near: Path, mode: str, lane: str
) -> None:
    denied = f"[{near / 'denied'}, closed]"
    config = f"{{config: {{denied_write_paths: {denied}, denied_read_paths: {denied}}}}}"
    settings(f"overrides: {{tool-filesystem: {config}, tool-apply-patch: {config}}}\n")
    (Path.home() / ".ssh").mkdir()
    (project.folder / "keys").symlink_to(Path.home() / ".ssh")
    before = {*Path.home().rglob("*"), *near.rglob("*")}
    patched = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"
    calls = [
        call
        for path in _places(project).values()
        for call in (
            {"read_file": {"file_path": path}},
            {WRITE: {"file_path": path, "content": "x"}},
            {EDIT: {"file_path": path, "old_string": "x", "new_string": "y"}},
            {"apply_patch": {"input": patched.format(path)}},
        )
    ]
    _run(project, driver, *calls, lane=lane, mode=mode)
    assert [each.action for each in finish(driver, allow=True) if each.tool != "delegate"] == []
    ended = [each for each in driver.of(ToolEnded) if each.tool != "delegate"]
    assert len(ended) == len(calls)
    assert [each.output for each in ended if each.ok or "Denied:" not in each.output] == []
    after = {*Path.home().rglob("*"), *near.rglob("*")}
    assert not {path for path in after - before if path.suffix in (".txt", ".js", ".env", ".ssh")}
    assert not os.listdir(Path.home() / ".ssh") and not (near / "denied").exists()
    assert not (project.folder / "closed").exists()


@pytest.mark.parametrize(
    "call",
    [
        {"grep": {"pattern": "old", "path": "../near"}},
        {"glob": {"pattern": "/usr/*"}},
        {"glob": {"pattern": "*", "path": "link"}},
    ],
    ids=str,
)
def test_a_search_outside_is_refused_without_a_question_with_what_helps(
    project: Project, driver: Driver, near: Path, call: dict[str, Any]
) -> None:
    _run(project, driver, call)
    assert finish(driver, allow=True) == []
    (ended,) = driver.of(ToolEnded)
    assert ended.denied and "`allowed_read_paths` of tool-search" in ended.error + ended.output


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:7472/x", "http://localhost/", "http://[::1]/", "http://10.0.0.7/"),
        *("http://169.254.169.254/latest/", "http://a.localhost:8080/"),
    ],
)
def test_an_address_that_is_not_contacted_is_not_asked_about_either(
    project: Project, driver: Driver, near: Path, url: str
) -> None:
    tools = {"tools": (*TOOLS, "tool-web")}
    _run(project, driver, {"web_fetch": {"url": url}}, bundle=tools)
    assert finish(driver, allow=True) == []
    (ended,) = driver.of(ToolEnded)
    assert ended.denied and "`private_hosts` of tool-web" in ended.error + ended.output


def test_an_address_that_settings_allow_or_that_is_public_is_asked_about(
    project: Project, driver: Driver, near: Path
) -> None:
    settings("overrides: {tool-web: {config: {private_hosts: [localhost]}}}\n")
    calls = [{"web_fetch": {"url": url}} for url in ("http://localhost:1/", "https://example.org/")]
    _run(project, driver, *calls, bundle={"tools": (*TOOLS, "tool-web")})
    assert [each.tool for each in finish(driver)] == ["web_fetch"] * 2


TO_NEAR = {WRITE: {"file_path": "../near/made.txt", "content": "made\n"}}


@pytest.mark.parametrize("mode", ["ask", "edits"])
def test_a_yes_is_for_one_call_and_one_path(
    project: Project, driver: Driver, near: Path, mode: str
) -> None:
    below = {WRITE: {"file_path": "../near/old.txt/made.txt", "content": "x"}}
    other = {WRITE: {"file_path": "../near/other.txt", "content": "x"}}
    read = {"read_file": {"file_path": "../near/old.txt"}}
    write = {WRITE: {"file_path": "../near/old.txt", "content": "x"}}
    _run(project, driver, read, write, read, other, below, mode=mode)
    asked: list[str] = []
    while len(asked) < 5:
        request = driver.wait(ApprovalRequested)
        asked.append(request.tool)
        allow = request.tool == "read_file"
        driver.client.decide(request.request_id, Decision(allow=allow))
    driver.wait(TurnEnded)
    assert sorted(asked) == ["read_file", "read_file", WRITE, WRITE, WRITE]
    assert (near / "old.txt").read_text() == "old\n" and not (near / "other.txt").exists()


@pytest.mark.parametrize(
    ("by", "asked", "goes"),
    [
        ("nobody", 1, False),
        ("the user", 0, True),
        ("the user, of any call", 1, False),
        ("the bundle", 1, False),
        ("a mode", 1, False),
    ],
)
def test_a_rule_of_the_user_counts_as_a_yes_and_one_of_a_bundle_does_not(
    project: Project, driver: Driver, near: Path, by: str, asked: int, goes: bool
) -> None:
    rule = f"write({near}/made.txt)"
    planned = (("hooks-approval", {"allow": [rule]}),) if by == "the bundle" else ()
    rules = {"the user": [rule], "the user, of any call": ["write_file"]}.get(by, [])
    mode = "edits" if by == "a mode" else "ask"
    _run(project, driver, TO_NEAR, rules=rules, bundle={"hooks": planned}, mode=mode)
    assert len(finish(driver)) == asked
    assert bool(_made(near)) is goes


def _run_in_turn(project: Project, driver: Driver, *calls: dict[str, Any]) -> None:
    """Make the first call, allow it for the session where that is offered, and make the second."""
    name = project.bundle(
        script=[
            {"name": n, "when": {"prompt": n}, "steps": calling(call)["steps"]}
            for n, call in zip(("first", "second"), calls, strict=True)
        ],
        tools=TOOLS,
    )
    project.allow([])
    driver.open(name)
    driver.client.submit("first")
    request = driver.wait(ApprovalRequested)
    scope: Scope = "session" if "session" in request.scopes else "once"
    driver.client.decide(request.request_id, Decision(allow=True, scope=scope))
    driver.wait(TurnEnded)
    driver.client.submit("second")


def test_what_was_remembered_for_the_session_counts_the_next_time(
    project: Project, driver: Driver, near: Path
) -> None:
    _run_in_turn(project, driver, TO_NEAR, TO_NEAR)
    assert finish(driver) == [] and len(driver.of(ToolEnded)) == 2
    assert all(each.ok for each in driver.of(ToolEnded)) and _made(near)


@pytest.mark.parametrize("asked", ["../near", "../near/**", "../near/o*", "../near/[o]ld.txt"])
def test_a_yes_for_the_session_that_names_a_folder_or_a_pattern_opens_nothing_in_it(
    project: Project, driver: Driver, near: Path, asked: str
) -> None:
    first, second = ({"read_file": {"file_path": path}} for path in (asked, "../near/old.txt"))
    _run_in_turn(project, driver, first, second)
    assert [each.paths for each in finish(driver)] == [(str(near / "old.txt"),)]
    assert not driver.of(ToolEnded)[-1].ok


@pytest.mark.parametrize("to", ["far", "near/sub", ".ssh"])
def test_a_link_that_is_turned_while_it_is_asked_about_leads_nowhere(
    project: Project, driver: Driver, near: Path, to: str
) -> None:
    target = Path.home() / ".ssh" if to == ".ssh" else project.folder.parent / to
    target.mkdir(parents=True)
    link = project.folder / "link"
    _run(project, driver, {WRITE: {"file_path": "link/made.txt", "content": "made"}})
    asked = driver.wait(ApprovalRequested)
    link.unlink()
    link.symlink_to(target)
    driver.client.decide(asked.request_id, Decision(allow=True))
    ended = driver.wait(ToolEnded)
    driver.wait(TurnEnded)
    assert not ended.ok and "now leads to" in ended.output
    assert not _made(near) and not os.listdir(target)


def test_a_link_that_is_turned_while_a_hook_asks_is_asked_about_again_where_it_leads(
    project: Project, driver: Driver, near: Path
) -> None:
    link, inside = project.folder / "link", project.folder / "inside"
    inside.mkdir()
    link.unlink()
    link.symlink_to(inside)
    hooks = (("hooks-test", {"ask_provider": True}),)
    call = {WRITE: {"file_path": "link/made.txt", "content": "made"}}
    _run(project, driver, call, bundle={"hooks": hooks})
    asked = driver.wait(ApprovalRequested)
    assert not asked.outside
    link.unlink()
    link.symlink_to(near)
    driver.client.decide(asked.request_id, Decision(allow=True))
    again = driver.wait(ApprovalRequested)
    assert again.outside and again.paths == (str(near / "made.txt"),)
    driver.client.decide(again.request_id, Decision(allow=False))
    driver.wait(TurnEnded)
    assert not _made(near) and not os.listdir(inside)


def test_what_is_written_over_and_was_changed_while_a_hook_asked_is_asked_about_again(
    project: Project, driver: Driver, near: Path
) -> None:
    here = project.folder / "here.txt"
    call = {WRITE: {"file_path": "here.txt", "content": "made"}}
    _run(project, driver, call, bundle={"hooks": (("hooks-test", {"ask_provider": True}),)})
    asked = driver.wait(ApprovalRequested)
    here.write_text("the user's own, since\n")
    driver.client.decide(asked.request_id, Decision(allow=True))
    again = driver.wait(ApprovalRequested)
    assert "the user's own, since" in again.diff
    driver.client.decide(again.request_id, Decision(allow=False))
    driver.wait(TurnEnded)
    assert here.read_text() == "the user's own, since\n"


async def test_a_grant_opens_a_file_and_nothing_below_or_beside_it(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    coordinator = ModuleCoordinator()
    coordinator.register_capability("session.working_dir", str(root))
    await tool_filesystem.mount(coordinator, {"denied_write_paths": [str(outside / "denied")]})
    write = coordinator.get("tools", WRITE)
    places = frozenset({outside, outside / "a", outside / "denied", outside / "denied" / "x"})
    with granted(Grant("person", places=places)):
        done = {
            path: (await write.execute({"file_path": str(outside / path), "content": "x"})).success
            for path in ("a", "b", "c/d", "denied", "denied/x", "A")
        }
    assert done == {"a": True, "b": False, "c/d": False, "denied": False, "denied/x": False} | {
        "A": False
    }
    assert os.listdir(outside) == ["a"]
    for grant in (Grant("person"), Grant("mode"), None):
        with granted(grant):  # type: ignore[arg-type]
            assert not (
                await write.execute({"file_path": str(outside / "a"), "content": "y"})
            ).success


def test_where_keys_are_kept_is_known_also_where_a_link_stands_for_it(tmp_path: Path) -> None:
    workspace, kept = tmp_path / "workspace", tmp_path / "kept"
    for folder in (workspace, kept):
        folder.mkdir()
    (Path.home() / ".gnupg").symlink_to(kept)
    (workspace / "plain").symlink_to(kept)
    for path in ("~/.gnupg/x", str(kept / "x"), "plain/x"):
        assert not can_be_allowed(locate(path, workspace)), path
    assert can_be_allowed(locate("../other/x", workspace))
    assert not can_be_allowed(locate("inside", workspace)), "nobody needs a yes for that place"
    assert is_under(kept / "x", kept) and not is_under(kept, kept / "x")
