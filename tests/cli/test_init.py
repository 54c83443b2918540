"""`init`: the first steps, by options, by answers, and where something does not answer."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from amplifier_tui.cli.group import run
from amplifier_tui.cli.init import steps
from amplifier_tui.foundation.settings.keys import set_key
from amplifier_tui.host.events import LocalServer
from amplifier_tui.paths import amplifier_home
from amplifier_tui.ui.app.preferences import Preferences
from tests.cli.bundle_support import program_in_terminal
from tests.servers import Failure, LoopbackServer
from tests.ui.driving import running

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
KEY = "sk-proj-0123456789abcdefghij"
REST = ("--bundle", "minimal", "--mode", "plan", "--theme", "paper")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    async def none() -> tuple[LocalServer, ...]:
        return ()

    monkeypatch.setattr("amplifier_tui.host.models.local_servers.find_local_servers", none)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(strict=False) as found:
        yield found


@pytest.fixture
def openai(server: LoopbackServer, monkeypatch: Patch) -> LoopbackServer:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    return server


def settings() -> object:
    return yaml.safe_load((amplifier_home() / "settings.yaml").read_text())


def write_settings(data: object) -> None:
    amplifier_home().mkdir(parents=True, exist_ok=True)
    (amplifier_home() / "settings.yaml").write_text(yaml.safe_dump(data))


def test_options_answer_every_step_without_a_terminal(
    openai: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai.script.add("ready")
    assert run(["init", "--provider", "openai", *REST]) == 0
    said = capsys.readouterr().out
    assert "It answers." in said and "Start it with: amplifier-tui\n" in said
    assert len(openai.requests) == 1
    assert settings() == {"mode": "plan", "bundle": {"active": "minimal"}}
    assert Preferences().theme == "paper"
    assert not (amplifier_home() / "keys.env").exists()


def test_it_says_which_vendor_answers_in_place_of_the_chosen_one(
    openai: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    openai.script.add("ready", "ready")
    assert run(["init", "--provider", "openai", *REST]) == 0
    assert "answers first" not in capsys.readouterr().out
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1234567890")
    assert run(["init", "--provider", "openai", *REST]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Anthropic answers first where a bundle has both" in said
    assert "/model changes to openai" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Nobody can be asked here"),
        (["--provider", "nobody"], "anthropic, openai, local, none here"),
        (["--provider", "local"], "Asked: port 11434, 1234, 8000, 8080 of this machine"),
        (["--provider", "local"], "set LOCAL_LLM_BASE_URL to yours"),
        (["--provider", "openai"], "Put OPENAI_API_KEY into the environment"),
        (["--provider", "none", "--bundle", "nothing"], "no bundle of that name"),
        (["--provider", "none", "--theme", "nothing"], "there is auto, contrast, ember"),
    ],
)
def test_without_a_terminal_it_is_said_what_has_to_be_given(
    options: list[str], message: str, capsys: Capture
) -> None:
    assert run(["init", *options]) == 2
    assert message in capsys.readouterr().err
    assert not (amplifier_home() / "settings.yaml").exists()


def test_of_several_providers_only_the_chosen_one_is_sent_a_request(
    openai: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", openai.url)
    openai.script.add("ready", "ready")
    options = ("--bundle", "coding", "--mode", "plan", "--theme", "paper")
    assert run(["init", "--provider", "openai", *options]) == 0
    assert len(openai.requests) == 1


def test_a_settings_file_that_is_broken_is_said(capsys: Capture) -> None:
    file = amplifier_home() / "settings.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("bundle: [\n  {")
    assert run(["init", "--provider", "none", *REST]) == 1
    assert "settings.yaml:2: Not valid YAML" in capsys.readouterr().err
    assert file.read_text() == "bundle: [\n  {"


def test_settings_that_can_t_be_written_are_said_with_their_file(capsys: Capture) -> None:
    amplifier_home().parent.mkdir(parents=True, exist_ok=True)
    amplifier_home().write_text("a file")
    assert run(["init", "--provider", "none", *REST]) == 1
    said = capsys.readouterr().err
    assert "settings.yaml: Not a directory. Nothing was kept." in said and "Errno" not in said


@pytest.mark.parametrize("keep", [False, True])
def test_a_key_is_kept_when_it_is_answered_or_the_user_says_so(
    keep: bool, openai: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    openai.script.add(Failure("unauthorized", message="not yours"), "ready")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(steps, "pick", lambda title, rows, default: "openai")
    monkeypatch.setattr(steps, "own_key", lambda variable, is_set: KEY)
    monkeypatch.setattr("click.confirm", lambda text: keep)
    assert run(["init", *REST]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("It does not answer: ") and "not yours" in shown.err
    assert KEY not in shown.out + shown.err
    assert len(openai.requests) == (1 if keep else 2)
    kept = amplifier_home() / "keys.env"
    assert kept.read_text() == f'OPENAI_API_KEY="{KEY}"\n'
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    os.environ.pop("OPENAI_API_KEY")


def keep(**variables: str) -> Path:
    """Put variables into keys.env, and not into the environment."""
    for name, value in variables.items():
        set_key(amplifier_home(), name, value)
    return amplifier_home() / "keys.env"


@pytest.fixture
def typed(monkeypatch: Patch) -> Iterator[tuple[list[str], list[str]]]:
    """Sit at a terminal; returns what is typed, each for one question, and the questions."""
    lines, questions = list[str](), list[str]()

    def prompt(text: str, **others: object) -> str:
        questions.append(text)
        return lines.pop(0)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(steps, "pick", lambda title, rows, default: default)
    monkeypatch.setattr("click.prompt", prompt)
    before = dict(os.environ)
    yield lines, questions
    os.environ.clear()
    os.environ.update(before)


def test_a_key_that_is_kept_can_be_replaced(
    typed: tuple[list[str], list[str]],
    openai: LoopbackServer,
    monkeypatch: Patch,
    capsys: Capture,
) -> None:
    kept, (lines, questions) = keep(OPENAI_API_KEY="sk-proj-revoked"), typed
    openai.script.add(Failure("unauthorized", message="not yours"), "ready")
    asked: list[str] = []
    monkeypatch.setattr("click.confirm", lambda text: asked.append(text))
    lines += ["", KEY]
    assert run(["init", *REST]) == 0
    shown = capsys.readouterr()
    assert questions == ["OPENAI_API_KEY (not shown; enter keeps the old one)"] * 2
    assert "not yours" in shown.err and "Nothing was changed." in shown.err
    assert asked == ["Go on all the same?"] and "It answers." in shown.out
    assert "sk-proj" not in shown.out + shown.err
    assert kept.read_text() == f'OPENAI_API_KEY="{KEY}"\n'


def test_a_kept_key_is_used_where_nobody_can_be_asked(
    openai: LoopbackServer, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    kept = keep(OPENAI_API_KEY=KEY)
    openai.script.add("ready")
    assert run(["init", "--provider", "openai", *REST]) == 0
    assert len(openai.requests) == 1 and kept.read_text() == f'OPENAI_API_KEY="{KEY}"\n'


def test_a_key_of_the_environment_wins_and_is_said_to(
    typed: tuple[list[str], list[str]],
    openai: LoopbackServer,
    monkeypatch: Patch,
    capsys: Capture,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    kept = keep(OPENAI_API_KEY="sk-proj-revoked")
    openai.script.add("ready")
    assert run(["init", "--provider", "openai", *REST]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "OPENAI_API_KEY is set in the environment, which wins over keys.env." in said
    assert typed[1] == [] and "revoked" in kept.read_text()


@pytest.mark.parametrize("moves", [False, True])
def test_a_server_s_address_that_is_kept_can_be_replaced(
    moves: bool, typed: tuple[list[str], list[str]], server: LoopbackServer, monkeypatch: Patch
) -> None:
    old = "http://127.0.0.1:9/v1"

    async def found() -> tuple[LocalServer, ...]:
        return (LocalServer(name="Old", url=old, models=("small",)),)

    monkeypatch.setattr("amplifier_tui.host.models.local_servers.find_local_servers", found)
    for name in ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "")
    kept, (lines, questions) = keep(LOCAL_LLM_BASE_URL=old, LOCAL_LLM_MODEL="small"), typed
    lines.append(server.openai_url if moves else "")
    assert run(["init", "--provider", "local", "--no-call", *REST]) == 0
    assert questions == [f"Its address (enter keeps {old})"]
    address = server.openai_url if moves else old
    assert f'LOCAL_LLM_BASE_URL="{address}"\n' in kept.read_text()


def test_a_server_of_this_machine_is_offered_and_set_up(
    server: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    async def found() -> tuple[LocalServer, ...]:
        return (LocalServer(name="Ollama", url=server.openai_url, models=("small",)),)

    monkeypatch.setattr("amplifier_tui.host.models.local_servers.find_local_servers", found)
    for name in ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "")
    server.script.add("ready")
    assert run(["init", "--provider", "local"]) == 0
    assert "LOCAL_LLM_BASE_URL and LOCAL_LLM_MODEL kept" in capsys.readouterr().out
    assert settings() == {"bundle": {"active": "local"}}


@pytest.mark.parametrize("asks", [False, True])
def test_which_of_a_server_s_models_answers_is_chosen_or_said(
    asks: bool, monkeypatch: Patch, capsys: Capture
) -> None:
    async def found() -> tuple[LocalServer, ...]:
        models = ("small", "large", "bad\x1b[2J", *(f"m{each}" for each in range(6)))
        return (LocalServer(name="Ollama", url="http://127.0.0.1:9/v1", models=models),)

    monkeypatch.setattr("amplifier_tui.host.models.local_servers.find_local_servers", found)
    for name in ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("sys.stdin.isatty", lambda: asks)
    monkeypatch.setattr("click.prompt", lambda text, default, **others: "2")
    assert run(["init", "--provider", "local", "--no-call", *REST]) == 0
    said = " ".join(capsys.readouterr().out.split())
    if asks:
        assert "Which model answers * 1 small 2 large 3 m0" in said
    else:
        others = "it also has large, m0, m1, m2, m3 and 2 more"
        assert f"Model small; {others}. LOCAL_LLM_MODEL names another." in said
    kept = (amplifier_home() / "keys.env").read_text()
    assert f'LOCAL_LLM_MODEL="{"large" if asks else "small"}"' in kept


def test_the_address_of_a_server_is_asked_for_until_one_answers(
    server: LoopbackServer, monkeypatch: Patch, capsys: Capture
) -> None:
    for name in ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "")
    server.script.add("ready")
    address = server.openai_url.removeprefix("http://")
    lines = iter(["http://me:secret@127.0.0.1:9/v1", f" {address}/ "])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(steps, "pick", lambda title, rows, default: default)
    monkeypatch.setattr("click.prompt", lambda text, **others: next(lines))
    assert run(["init", "--provider", "local", *REST]) == 0
    shown = capsys.readouterr()
    assert "Asked: http://127.0.0.1:9/v1, port" in shown.err and "secret" not in shown.err
    assert "No model server answers. Asked: port" in shown.out
    assert "LOCAL_LLM_BASE_URL to yours" not in shown.out + shown.err, "its address is asked for"
    assert f'LOCAL_LLM_BASE_URL="{server.openai_url}"' in (
        amplifier_home() / "keys.env"
    ).read_text().replace("'", '"')
    assert settings() == {"mode": "plan", "bundle": {"active": "minimal"}}


@pytest.mark.parametrize("columns", [80, 60])
def test_every_step_is_taken_with_enter(columns: int) -> None:
    status, shown = program_in_terminal(
        "init", "--provider", "none", keys="\n3\n4\n", columns=columns
    )
    assert status == 0, shown
    assert "What new sessions open with" in shown and "Mode edits" in shown
    assert "minimal   Conversation only, with" in shown
    assert "-m amplifier_tui --demo" in shown
    # Paths and commands are not broken.
    whole = ("settings.yaml", "-m amplifier_tui")
    lines = [line for line in shown.splitlines() if not any(word in line for word in whole)]
    assert all(len(line) <= columns for line in lines)


def test_who_needs_no_key_is_offered_the_demo_which_gives_way_to_a_provider(
    monkeypatch: Patch,
) -> None:
    status, shown = program_in_terminal("init", "--provider", "none", keys="\n\n\n")
    assert status == 0, shown
    assert settings() == {"mode": "ask", "bundle": {"active": "demo"}}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert run(["init", "--provider", "openai", "--no-call"]) == 0
    assert settings() == {"mode": "ask", "bundle": {"active": "coding"}}


def test_enter_keeps_what_was_chosen_before() -> None:
    for mode in ("plan", "auto"):
        write_settings({"mode": mode, "bundle": {"active": "minimal"}})
        steps.keep_theme("paper")
        status, shown = program_in_terminal("init", "--provider", "none", keys="\n\n\n")
        assert status == 0, shown
        assert settings() == {"mode": mode, "bundle": {"active": "minimal"}}
        assert Preferences().theme == "paper"


@pytest.mark.parametrize("active", ["local", "coding", "demo", ""])
def test_who_runs_it_again_and_gives_a_server_no_address_is_offered_what_is_set(
    active: str, monkeypatch: Patch
) -> None:
    for name in ("LOCAL_LLM_BASE_URL", "LOCAL_LLM_MODEL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    if active:
        write_settings({"bundle": {"active": active}})
    offered: list[str] = []

    def pick(title: str, rows: object, default: str) -> str:
        offered.append(default)
        return "local" if title == "Who answers" else default

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(steps, "pick", pick)
    monkeypatch.setattr("click.prompt", lambda text, **others: "")
    assert run(["init", "--mode", "ask", "--theme", "ink"]) == 0
    who = "local" if active == "local" else "anthropic"
    assert offered == [who, active or "demo"]


@pytest.mark.parametrize(
    ("active", "opens"), [("minimal", "minimal"), ("local", "coding"), ("coding", "coding")]
)
def test_a_bundle_of_one_s_own_choice_stays_and_one_of_another_provider_does_not(
    active: str, opens: str, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write_settings({"bundle": {"active": active}})
    assert run(["init", "--provider", "openai", "--no-call"]) == 0
    assert settings() == {"bundle": {"active": opens}}


async def test_the_theme_of_the_first_steps_is_the_one_that_is_drawn() -> None:
    for name, dark in (("paper", False), ("moss", True)):
        steps.keep_theme(name)
        async with running(opened=False) as drive:
            assert drive.app.theme == name and drive.app.current_theme.dark is dark
            assert "preferences.json" not in drive.text()


def test_the_theme_that_fits_the_terminal_is_none_of_its_own(capsys: Capture) -> None:
    steps.keep_theme("paper")
    options = ("--bundle", "minimal", "--mode", "plan", "--theme", "auto")
    assert run(["init", "--provider", "none", *options]) == 0
    assert "Theme auto" in capsys.readouterr().out
    assert Preferences().theme == "" and Preferences().palette is None
