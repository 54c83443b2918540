import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from amplifier_tui.base.text import clean
from amplifier_tui.cli.layout import cells, cut, wrapped
from tests.cli.bundle_support import Bundles, data, in_terminal, rows
from tests.foundation.helpers import GitRepo

Capture = pytest.CaptureFixture[str]

MOCK = "providers: [{module: provider-mock}]\n"
COMPLETE = (
    "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n" + MOCK
)
EVIL = '"\\e]0;pwned\\a\\e[31mred [bold]x[/] \\u202egnp.exe \\u009b2J"'


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(tmp_path / "project")


def test_every_bundle_is_listed_with_where_it_is_from_and_its_state(
    bundles: Bundles, capsys: Capture
) -> None:
    bundles.write("mine", COMPLETE)
    bundles.write("broken", "tools: oops\n")
    assert bundles.run("list", "--json") == 0
    found = {row["name"]: row for row in rows(capsys.readouterr().out)}
    assert {"coding", "demo", "local", "minimal", "research"} <= set(found)
    assert found["mine"]["state"] == "ready" and found["mine"]["from"] == "project"
    assert found["coding"]["state"] == "needs_key" and found["coding"]["from"] == "shipped"
    assert "ANTHROPIC_API_KEY" in found["coding"]["missing_keys"]
    assert found["broken"]["state"] == "invalid" and "broken.md:3" in found["broken"]["error"]
    assert [name for name, row in found.items() if row["active"]] == ["coding"]
    assert bundles.run("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["NAME", "STATE", "FROM", "DESCRIPTION"]
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["coding"]


def test_what_validate_rejects_is_not_ready_in_the_list(bundles: Bundles, capsys: Capture) -> None:
    wrong = "hooks: [{module: hooks-approval, config: {policy: lax}}]\n"
    bundles.write("mine", COMPLETE + wrong)
    assert bundles.run("validate", "mine") == 1
    capsys.readouterr()
    assert bundles.run("list", "--json") == 0
    found = {row["name"]: row for row in rows(capsys.readouterr().out)}
    assert found["mine"]["state"] == "invalid" and "policy" in found["mine"]["error"]


def test_a_part_that_is_not_there_is_said_before_a_key_that_is_missing(
    bundles: Bundles, capsys: Capture
) -> None:
    bundles.write("mine", "includes: [coding, nosuch]\n")
    assert bundles.run("list") == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if "mine" in row)
    assert "incomplete" in line and "Would open without nosuch. Not set: ANTHROPIC" in line


def test_what_is_in_a_pipe_is_plain_and_whole(bundles: Bundles) -> None:
    bundles.write("mine", f"  # {'x' * 300}\n{COMPLETE}")
    command = [sys.executable, "-m", "amplifier_tui", "bundle", "--cwd", str(bundles.folder)]
    done = subprocess.run([*command, "list"], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout and "…" not in done.stdout
    names = [line.removeprefix("*").split()[0] for line in done.stdout.splitlines()]
    assert names == ["NAME", "coding", "demo", "local", "mine", "minimal", "research"]


@pytest.mark.parametrize("arguments", [["list"], ["show", "coding"], ["diff", "coding", "local"]])
def test_eighty_columns_are_enough(bundles: Bundles, arguments: list[str]) -> None:
    bundles.write("a-bundle-with-a-very-long-name-" + "x" * 60, COMPLETE)
    bundles.write("wide", COMPLETE.replace("\n", "\n# 漢字\n"), "漢字 " * 30)
    status, shown = in_terminal(bundles.folder, *arguments)
    assert status == 0
    assert "\x1b[" in shown, "a terminal gets colours"
    for line in clean(shown).splitlines():
        assert cell_len(line) <= 80, line


def test_no_color_is_respected(bundles: Bundles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    status, shown = in_terminal(bundles.folder, "list")
    assert status == 0 and "\x1b[" not in shown


def test_texts_of_a_bundle_cannot_do_anything_to_a_terminal(
    bundles: Bundles, capsys: Capture
) -> None:
    path = bundles.folder / ".amplifier" / "bundles" / "bad\x1b[31m.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"bundle: {{name: {EVIL}, description: {EVIL}}}\n"
        f"includes: [{EVIL}, 'git+https://h.invalid/\\e[2Jx']\n"
        f"agents: {{{EVIL}: {{description: {EVIL}}}}}\n"
        f"tools: [{{module: {EVIL}, config: {{{EVIL}: {EVIL}}}}}]\n"
        f"context: {{include: [{EVIL}]}}\n"
    )
    name = "bad\x1b[31m"
    for arguments in (
        ["list"],
        ["list", "--json"],
        ["show", name],
        ["show", name, "--json"],
        ["show", name, "--plan"],
        ["validate", name],
        ["validate", name, "--json"],
        ["diff", name, "coding"],
        ["diff", name, "coding", "--json"],
        ["use", name],
        ["show", "\x1b]0;x\x07"],
        ["remove", "\x1b]0;x\x07"],
    ):
        bundles.run(*arguments)
        captured = capsys.readouterr()
        for text in (captured.out, captured.err):
            assert clean(text) == text, (arguments, text)


def test_show_prints_the_plan_with_the_origin_of_each_entry(
    bundles: Bundles, capsys: Capture
) -> None:
    bundles.write("base", "tools: [{module: tool-bash, config: {timeout: 7}}]\n")
    bundles.write(
        "mine",
        "includes: [./base.md]\ntools: [{module: tool-bash, config: {max_timeout: 9}}]\n"
        "agents: {include: [scout]}\ncontext: {include: [notes.md]}\n" + COMPLETE,
        "Use @more.md too.",
    )
    folder = bundles.folder / ".amplifier" / "bundles"
    (folder / "agents").mkdir()
    (folder / "agents" / "scout.md").write_text(
        "---\nmeta: {name: scout, description: Looks ahead}\n---\nLook.\n"
    )
    (folder / "notes.md").write_text("Notes. " * 40)
    (folder / "more.md").write_text("More. " * 20)
    assert bundles.run("show", "mine") == 0
    text = capsys.readouterr().out
    assert "  tool-bash  base (./base.md) · project, mine · project\n" in text
    assert "      timeout: 7\n      max_timeout: 9\n" in text
    assert "  scout  mine · project\n      Looks ahead\n" in text
    assert "@mine:notes.md  mine · project" in text
    assert bundles.run("show", "mine", "--json") == 0
    found = data(capsys.readouterr().out)
    assert found["plan"]["tools"] == [
        {"module": "tool-bash", "config": {"timeout": 7, "max_timeout": 9}}
    ]
    origins = [(each["bundle"], each["via"]) for each in found["origins"]["tool:tool-bash"]]
    assert origins == [("base", "./base.md"), ("mine", None)]
    assert found["agents"] == [
        {"name": "scout", "description": "Looks ahead", "has_instruction": True}
    ]
    assert found["base_tokens"] == sum(part["tokens"] for part in found["prompt"]) > 80
    assert found["context_files"] == ["@mine:notes.md", "@more.md"]
    assert bundles.run("show", "mine", "--plan") == 0
    assert "max_timeout: 9" in capsys.readouterr().out


def test_show_tells_what_is_missing_and_what_would_be_fetched_and_runs_nothing(
    bundles: Bundles, tmp_path: Path, capsys: Capture, own_home: Path
) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"bundle.md": "---\nbundle: {name: far}\n---\n"})
    module = tmp_path / "amplifier-module-tool-mine"
    package = module / "amplifier_module_tool_mine"
    package.mkdir(parents=True)
    mark = tmp_path / "ran"
    (package / "__init__.py").write_text(f"open({str(mark)!r}, 'w')\n")
    bundles.write(
        "mine",
        f"includes: ['{repo.uri()}']\n"
        f"tools: [{{module: tool-mine, source: '{module}'}},"
        " {module: tool-far, source: 'git+https://h.invalid/t@main'}]\n"
        "hooks: [{module: hooks-logging, config: {level: '${NO_SUCH_LEVEL}'}}]\n"
        "providers: [{module: provider-anthropic}]\n",
    )
    assert bundles.run("show", "mine", "--json") == 0
    found = data(capsys.readouterr().out)
    assert found["missing_keys"] == ["ANTHROPIC_API_KEY"]
    assert found["missing_variables"] == ["NO_SUCH_LEVEL"]
    assert {(each["uri"], each["kind"]) for each in found["to_fetch"]} == {
        (repo.uri(), "bundle"),
        ("git+https://h.invalid/t@main", "module"),
    }
    assert not mark.exists()
    assert not (own_home / ".amplifier" / "cache").exists()
    assert bundles.run("show", "mine") == 0
    text = capsys.readouterr().out
    for word in ("Not set", "NO_SUCH_LEVEL", "Would be fetched", "h.invalid/t"):
        assert word in text


def test_show_tells_which_server_would_get_a_key(
    bundles: Bundles, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789abcdef")
    config = "{base_url: 'https://gate.example/v1', organization: sk-secret-0123456789abcdef}"
    bundles.write("mine", f"providers: [{{module: provider-openai, config: {config}}}]\n")
    for more in ([], ["--json"], ["--plan"]):
        assert bundles.run("show", "mine", *more) == 0
        text = capsys.readouterr().out
        assert "sk-secret" not in text
        assert "https://gate.example" in text and ("OPENAI_API_KEY" in text or more == ["--plan"])


def test_secrets_of_the_settings_are_not_shown(
    bundles: Bundles, capsys: Capture, own_home: Path
) -> None:
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir(exist_ok=True)
    entry = "{module: provider-openai, config: {api_key: hunter2-hunter2, organization: '${ORG}'}}"
    settings.write_text(f"config:\n  providers: [{entry}]\n")
    for more in ([], ["--json"], ["--plan"]):
        assert bundles.run("show", "minimal", *more) == 0
        text = capsys.readouterr().out
        assert "hunter2" not in text and "${ORG}" in text
        assert "settings (global)" in text or more == ["--plan"]


def test_a_bundle_that_is_not_there_is_an_error_that_names_those_that_are(
    bundles: Bundles, capsys: Capture
) -> None:
    for arguments in (["show", "nope"], ["validate", "nope"], ["diff", "coding", "nope"]):
        assert bundles.run(*arguments) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "no bundle 'nope'" in captured.err and "coding" in captured.err


def test_validate_says_file_line_and_remedy(bundles: Bundles, capsys: Capture) -> None:
    path = bundles.write("mine", "toolz: []\ntools:\n  - source: ./x\nincludes: [./nope.md]\n")
    assert bundles.run("validate", "mine") == 1
    text = capsys.readouterr().out
    assert f"error: {path}:5: tools[0]: Missing required 'module' field" in text
    assert f"warning: {path}:3: 'toolz' is not a section of a bundle and is ignored" in text
    assert "→ Did you mean 'tools'?" in text
    assert f"{path}:6: ./nope.md is left out" in text
    assert text.endswith("mine is not valid.\n")
    assert bundles.run("validate", "mine", "--json") == 1
    found = data(capsys.readouterr().out)
    assert not found["valid"]
    assert {(each["line"], each["severity"]) for each in found["findings"]} >= {
        (3, "warning"),
        (5, "error"),
        (6, "warning"),
    }


def test_validate_takes_a_file_and_warnings_count_only_when_strict(
    bundles: Bundles, capsys: Capture
) -> None:
    path = bundles.write("mine", "agents: {include: [ghost]}\n" + COMPLETE)
    assert bundles.run("validate", str(path)) == 0
    assert "agents/ghost.md" in capsys.readouterr().out
    assert bundles.run("validate", str(path), "--strict") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Just text.\n", ":1: The file is a text, and no bundle"),
        (b"", ":1: The file is a text, and no bundle"),
        (bytes(range(128, 256)), ": Not UTF-8 text"),
    ],
)
def test_a_file_without_a_frontmatter_is_told_of_by_its_name(
    bundles: Bundles, capsys: Capture, content: bytes, said: str
) -> None:
    path = bundles.write("mine")
    path.write_bytes(content)
    assert bundles.run("validate", "mine") == 1
    assert f"error: {path}{said}" in capsys.readouterr().out


def test_what_no_session_can_be_opened_with_is_valid_only_as_a_part(
    bundles: Bundles, capsys: Capture
) -> None:
    bundles.write("part", "tools: [{module: tool-bash}]\ninclues: [demo]\n")
    assert bundles.run("validate", "part") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "As a part of another bundle it needs none." in said
    assert said.endswith(
        "part has no session.orchestrator and no session.context. "
        "'inclues' is not a section of a bundle and is ignored (line 4). Did you mean 'includes'? "
        "part is valid only as a part of other bundles: no session can be opened with it."
    )
    assert bundles.run("validate", "part", "--json") == 0
    found = data(capsys.readouterr().out)
    assert (found["valid"], found["opens"]) == (True, False)
    assert bundles.run("validate", "part", "--strict") == 1


def test_a_bundle_without_a_session_is_told_what_helps(bundles: Bundles, capsys: Capture) -> None:
    bundles.write("part", "tools: [{module: tool-bash}]\n")
    assert bundles.run("validate", "part") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "no session.context. Write them below session, or include a bundle that has" in said
    bundles.write("part", "includes: [minimal]\ntools: [{module: tool-bash}]\n")
    assert bundles.run("validate", "part") == 0
    assert "part is valid." in capsys.readouterr().out


WHOLE = "session: {orchestrator: loop-basic, context: context-simple}\n"
WITH_ONE = "providers: [{module: provider-mock}]\n"


@pytest.mark.parametrize(
    ("more", "end"),
    [
        (WITH_ONE, "is valid."),
        ("", "is valid, but no provider is in it."),
        (f"{WITH_ONE}includes: [gone]\n", "is valid, but 1 include is left out."),
        (
            "includes: [gone, ./gone.md]\n",
            "is valid, but 2 includes are left out and no provider is in it.",
        ),
    ],
)
def test_the_last_line_says_what_a_valid_bundle_would_open_without(
    bundles: Bundles, capsys: Capture, more: str, end: str
) -> None:
    bundles.write("mine", WHOLE + more)
    assert bundles.run("validate", "mine") == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"mine {end}"


@pytest.mark.parametrize("name", ["coding", "demo", "local", "minimal", "research"])
def test_every_shipped_bundle_is_valid_without_a_warning(
    bundles: Bundles, capsys: Capture, name: str
) -> None:
    assert bundles.run("validate", name, "--strict") == 0
    assert capsys.readouterr().out == f"{name} is valid.\n"


def test_broken_yaml_is_told_with_its_line(bundles: Bundles, capsys: Capture) -> None:
    path = bundles.folder / ".amplifier" / "bundles" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("bundle:\n  name: [\n")
    for command in ("validate", "show"):
        assert bundles.run(command, "mine") == 1
        assert capsys.readouterr().out.count(f"{path}:2: Not valid YAML") == 1
    assert bundles.run("validate", "mine") == 1
    text = capsys.readouterr().out
    assert text.count("Check indentation") == 1 and "\n  → Check indentation" in text
    assert bundles.run("validate", "mine", "--json") == 1
    (finding,) = data(capsys.readouterr().out)["findings"]
    assert (finding["line"], finding["path"]) == (2, str(path))
    assert finding["remedy"].startswith("Check indentation")


def test_diff_tells_what_is_only_in_one_and_what_is_different(
    bundles: Bundles, capsys: Capture
) -> None:
    bundles.write("a", COMPLETE + "tools: [{module: tool-bash, config: {timeout: 1}}]\n")
    bundles.write(
        "b",
        COMPLETE
        + "tools: [{module: tool-bash, config: {timeout: 2}}, {module: tool-search}]\n"
        + "hooks: [{module: hooks-logging}]\n",
        "Hello.\nYou.",
    )
    assert bundles.run("diff", "a", "b") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  ~ tool-bash.config.timeout: 1 → 2" in lines
    assert "  + tool-search" in lines and "  + hooks-logging" in lines
    assert "  ~ instruction: 1 line → 2 lines" in lines
    assert bundles.run("diff", "a", "b", "--json") == 0
    changes = data(capsys.readouterr().out)["changes"]
    assert {
        "section": "Tools",
        "mark": "~",
        "name": "tool-bash.config.timeout",
        "before": "1",
        "after": "2",
    } in changes
    assert bundles.run("diff", "a", "a") == 0
    assert "the same" in capsys.readouterr().out


def test_settings_that_are_broken_are_told_and_not_fatal(
    bundles: Bundles, capsys: Capture, own_home: Path
) -> None:
    settings = own_home / ".amplifier" / "settings.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("bundle: [\n")
    assert bundles.run("list") == 0
    captured = capsys.readouterr()
    assert f"{settings}:" in captured.err and "coding" in captured.out


def test_a_directory_that_is_not_there_is_a_usage_error(tmp_path: Path, capsys: Capture) -> None:
    bundles = Bundles(tmp_path)
    bundles.folder = tmp_path / "nope"
    assert bundles.run("list") == 2


def test_help_does_not_read_anything(bundles: Bundles, capsys: Capture) -> None:
    assert bundles.run("--help") == 0
    text = capsys.readouterr().out
    for name in ("list", "show", "validate", "use", "add", "remove", "update", "lock", "diff"):
        assert f"  {name} " in text
        assert bundles.run(name, "--help") == 0
        assert "--json" in capsys.readouterr().out


def test_a_line_is_broken_by_columns_and_not_by_characters() -> None:
    assert wrapped("漢字漢字 ab", 4) == ["漢字", "漢字", "ab"]
    assert wrapped("", 10) == [""]
    assert cut("漢字漢字", 5) == "漢字…" and cells("漢字…") == 5
    assert cut("abc", 3) == "abc"


def test_validate_names_the_file_and_line_of_what_an_include_brings(
    bundles: Bundles, capsys: Capture
) -> None:
    part = bundles.folder / ".amplifier" / "bundles" / "part.yaml"
    bundles.write("mine", "includes: [./part.yaml]\n" + COMPLETE)
    part.write_text("tools:\n  - module: tool-bash\n    config: 5\nhooks: [{module: hooks-zz}]\n")
    assert bundles.run("validate", "mine") == 1
    text = capsys.readouterr().out
    assert f"error: {part}:3: tools[0]: 'config' must be a dict, got int" in text
    assert f"warning: {part}:4: hooks-zz: No module 'hooks-zz' is installed" in text
    assert bundles.run("show", "mine") == 0
    assert f"{part}:3:" in capsys.readouterr().out


def test_what_is_named_by_its_uri_is_said_once_and_what_to_do_about_it(
    bundles: Bundles, capsys: Capture
) -> None:
    uri = "git+https://h.invalid/o/r@main"
    assert bundles.run("show", uri) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{uri} · not fetched yet"
    assert "Opening or updating the bundle fetches it, once you allow that." in lines
    assert lines[-1] == f"  {uri}  bundle"
    assert bundles.run("validate", uri) == 1
    assert f"error: Not fetched yet: {uri}\n  → Opening" in capsys.readouterr().out


def test_an_include_of_the_same_name_is_no_second_name(bundles: Bundles, capsys: Capture) -> None:
    bundles.write("mine", "includes: [coding]\n")
    assert bundles.run("show", "mine") == 0
    text = capsys.readouterr().out
    assert re.search(r"tool-task +coding\n", text) and "coding (coding)" not in text


def test_no_command_prints_what_a_hostile_bundle_wants_or_a_traceback(
    bundles: Bundles, capsys: Capture
) -> None:
    evil = "\\e[2J\\e]8;;http://x\\a[b]bold[/b]\\u202Ex\\0"
    folder = bundles.folder / ".amplifier" / "bundles"
    folder.mkdir(parents=True)
    text = (
        f'bundle: {{name: "e{evil}", version: "{evil}", description: "{evil}"}}\n'
        f'includes: ["{evil}", "./{evil}", "~nobody/{evil}"]\n'
        f'tools: [{{module: "{evil}", source: "{evil}", config: {{"{evil}": "{evil}"}}}}]\n'
        f'agents: {{include: ["{evil}"], "a{evil}": {{description: "{evil}"}}}}\n'
        f'context: {{include: ["{evil}", "ns:{evil}"]}}\nsession: {{"{evil}": "{evil}"}}\n'
    )
    (folder / "evil.yaml").write_text(text)
    for arguments in (
        ["list"],
        ["show", "evil"],
        ["show", "evil", "--plan"],
        ["validate", "evil"],
        ["diff", "coding", "evil"],
        ["update", "evil", "--check"],
        ["lock", "evil"],
        ["use", "evil"],
    ):
        for more in ([], ["--json"]):
            if more and "--plan" in arguments:
                continue
            assert bundles.run(*arguments, *more) in (0, 1, 3)
            captured = capsys.readouterr()
            shown = captured.out + captured.err
            assert not any(bad in shown for bad in "\x1b\x07\x00\u202e"), arguments
            assert "Traceback" not in shown


@pytest.mark.parametrize("name", ["coding", "demo", "local", "minimal", "research"])
def test_every_shipped_bundle_shows_its_plan_in_words_and_as_data(
    bundles: Bundles, capsys: Capture, name: str
) -> None:
    assert bundles.run("show", name) == 0
    text = capsys.readouterr().out
    assert bundles.run("show", name, "--json") == 0
    found = data(capsys.readouterr().out)
    assert found["base_tokens"] > 0 and found["skipped"] == found["to_fetch"] == []
    for module in found["modules"]:
        assert module["origins"] and module["state"] == "ready"
        assert f"  {module['module_id']}" in text
        assert all(origin["bundle"] in text for origin in module["origins"])
    assert all(f"  {agent['name']} " in text for agent in found["agents"])
    assert f"about {found['base_tokens']} tokens" in text
    assert all(f"  {key}\n" in text for key in found["missing_keys"])
