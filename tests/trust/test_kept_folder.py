"""What calls of bash leave to later ones is judged as if it stood in each of these."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import ApprovalRequested, Mode, ToolEnded
from tests.host.driving import Driver, Project, calling
from tests.trust.test_gate import finish, settings

TEST = "touch made.txt"


def opened(project: Project, driver: Driver, left: str, *then: str, allow: tuple[str, ...]) -> None:
    """A session in which one call, which a person allows, leaves something to the next ones."""
    settings("sandbox: off")
    steps = [("first", left), *((f"then {n}", each) for n, each in enumerate(then))]
    script = [
        {
            **calling({"bash": {"command": command, "persist": True}}),
            "name": name,
            "when": {"prompt": name},
        }
        for name, command in steps
    ]
    (project.folder / "sub").mkdir()
    name = project.bundle(script=script, tools=("tool-bash",))
    project.allow(allow)
    driver.open(name)
    driver.client.submit("first")
    finish(driver, allow=True)


def asked(driver: Driver, number: int = 0) -> list[str]:
    """What is asked about the next call, which is not allowed."""
    driver.client.submit(f"then {number}")
    return [request.payload for request in finish(driver)]


def test_a_rule_holds_in_a_kept_folder_of_the_workspace(project: Project, driver: Driver) -> None:
    opened(project, driver, "cd sub", TEST, "cat made.txt", allow=("bash(touch *)",))
    assert asked(driver) == [] and asked(driver, 1) == []
    assert (project.folder / "sub" / "made.txt").exists()
    assert all(event.ok for event in driver.of(ToolEnded))


@pytest.mark.parametrize(
    ("left", "shown"),
    [
        ("cd ..", TEST),
        ("ln -s ../.. sub/out; cd sub/out", TEST),
        ("printf 'export PATH=.:$PATH' > env; . ./env", "export PATH=.:"),
        ("export COLOUR='red; touch other'", "export COLOUR='red; touch other'; "),
    ],
)
def test_what_would_change_an_allowed_command_is_asked_about_and_shown(
    project: Project, driver: Driver, left: str, shown: str
) -> None:
    opened(project, driver, left, TEST, allow=("bash(touch *)",))
    (payload,) = asked(driver)
    assert payload.startswith(shown) and payload.endswith(TEST)
    request = driver.of(ApprovalRequested)[-1]
    assert request.outside == ("cd" in left)
    assert request.action.endswith(f" in {request.cwd}" if request.outside else "s")
    assert not list(Path(project.folder).rglob("made.txt"))


@pytest.mark.parametrize(
    "left",
    ["alias touch='rm -rf'", "touch() { rm -rf $@; }; export -f touch; IFS=e; set -f"],
)
def test_what_is_not_kept_changes_nothing(project: Project, driver: Driver, left: str) -> None:
    opened(project, driver, left, TEST, allow=("bash(touch *)",))
    assert asked(driver) == []
    assert (project.folder / "made.txt").exists()


@pytest.mark.parametrize(
    ("left", "then", "seen"),
    [
        ("cd sub", "ls", "goes"),
        ("cd sub", TEST, "denied"),
        ("cd ..", "ls", "denied"),
        ("export PATH=.:$PATH", "ls", "denied"),
    ],
)
def test_plan_mode_lets_only_reading_through_whatever_is_kept(
    project: Project, driver: Driver, left: str, then: str, seen: str
) -> None:
    opened(project, driver, left, then, allow=())
    plan: Mode = "plan"
    driver.client.set_mode(plan)
    assert asked(driver) == []
    ended = driver.of(ToolEnded)[-1]
    assert ("goes" if ended.ok else "denied") == seen
    assert not (project.folder / "sub" / "made.txt").exists()


def test_a_rule_for_the_variable_itself_lets_later_calls_through(
    project: Project, driver: Driver
) -> None:
    allowed = ("bash(export COLOUR=red)", "bash(touch *)")
    opened(project, driver, "export COLOUR=red", TEST, "ls", allow=allowed)
    assert asked(driver) == [] and asked(driver, 1) == []


def test_git_in_a_kept_folder_asks_where_its_repository_names_programs(
    project: Project, driver: Driver
) -> None:
    made = "git init -q; git config core.fsmonitor evil"
    opened(project, driver, f"cd sub; {made}", "git status", allow=())
    assert asked(driver) == ["git status"]
