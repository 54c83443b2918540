"""A search through folders that would show some of a file of keys is asked about."""

import shutil
import subprocess
from pathlib import Path

import pytest

from amplifier_tui.base.shell import read_shell_line, search_of
from amplifier_tui.host.gate.approvals.describe import act_of, describe_call
from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("src/deep", "docs"):
        (folder / name).mkdir(parents=True)
    (folder / "src" / "deep" / ".env").write_text("KEY=hush\n")
    (folder / "docs" / ".env.example").write_text("KEY=\n")
    (folder / "src" / "a.py").write_text("KEY = value\nother\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "add", "src/a.py"], check=True)
    return folder


def act(line: str, folder: Path, **more: str) -> str:
    call = {"command": line, **more}
    return act_of(describe_call("bash", call, folder), "bash", call)


@pytest.mark.parametrize(
    "line",
    [
        *("grep -r KEY", "grep -rn KEY .", "grep KEY -r src", "grep -r -e x -e hush src"),
        *("grep -rv nothing .", "grep -d recurse KEY .", "grep --directories=rec KEY src"),
        *("egrep -ri 'key|x' .", "cd src; grep -r KEY .", "grep -r KEY s*", "grep -rc KEY ."),
        *("grep -rf src/a.py .", "grep -r --exclude=src/deep/.env KEY .", "ls; grep -rl KEY ."),
        *("grep -r --include=*.py --include=.* KEY .", "grep -r --exclude=$x KEY ."),
        *("grep -r --exclude={'.env,x',y} KEY .", "grep -r --exclude-dir={a,b} KEY ."),
        *("grep -r --include='.*' KEY .", "grep -r -- KEY src", "grep -r KEY src 2>/dev/null"),
        *(
            "git grep --untracked KEY",
            "git grep --no-index KEY",
            "git --no-pager grep -n --untracked hush",
        ),
        *("git -C src grep --untracked KEY", "cat src/a.py | grep -r KEY ."),
    ],
)
def test_it_is_not_taken_for_a_command_that_only_reads(project: Path, line: str) -> None:
    assert act(line, project) != "look"
    call = {"command": line}
    judgement = describe_call("bash", call, project).judgement
    assert "touches keys or passwords" in judgement.reasons
    assert (
        RuleBook((parse_rule("bash(grep *)"), parse_rule("bash(git *)"))).match(
            describe_call("bash", call, project).parts
        )
        is None
    )


@pytest.mark.parametrize(
    "line",
    [
        *("grep -rn other .", "grep -r 'def ' src", "grep -rn KEY docs", "grep KEY src/a.py"),
        *("grep -r --include='*.py' KEY .", "grep -r --exclude='.env*' KEY .", "git grep KEY"),
        "grep -rn --include=*.py KEY .",
        *("grep -rn KEY --exclude=.e* .", "cat docs/.env.example"),
        *("git grep --untracked other", "git -C src grep KEY", "cd docs; ls", "grep -rn .env src"),
    ],
)
def test_a_search_that_shows_none_of_it_only_reads(project: Path, line: str) -> None:
    # What git would run is another matter.
    assert not describe_call("bash", {"command": line}, project).judgement.met
    assert line == "grep -rn .env src" or act(line, project) == "look"


@pytest.mark.parametrize(
    "line",
    [
        *("cat .e*", "cat ./.en?", "cat .[e]nv", "head -5 {.env,README.md}", "tail -n+1 * .*"),
        *("cat src/../.e*", "cat docs/*", "cp .env* x.txt", "cat < .e*", "sudo cat .e*"),
        *("bash -c 'cat .e*'", "for f in * .*; do cat $f; done", "ls | xargs cat .e*"),
        *(
            'cat "$PWD"/.e*',
            "cat {docs,src}/i*",
            "git add .e*",
            "cd docs; cat i*",
            "python x.py .e*",
        ),
    ],
)
def test_a_pattern_that_stands_for_a_file_of_keys_is_asked_about_as_its_name(
    project: Path, line: str
) -> None:
    (project / ".env").write_text("KEY=hush\n")
    (project / "docs" / "id_rsa").write_text("hush\n")
    assert act(line, project) == "guarded"
    description = describe_call("bash", {"command": line}, project)
    assert "touches keys or passwords" in description.judgement.reasons
    rules = [parse_rule(f"bash({name} *)") for name in ("cat", "head", "tail", "git", "sudo cat")]
    assert RuleBook(rules).match(description.parts) is None


@pytest.mark.parametrize(
    "line",
    [
        *("ls *", "cat src/*.py", "wc -l *", "head *.md", "cat [a-z]*", "cat docs/.env.e*"),
        *("for f in *; do cat $f; done", "echo {.env,x}.example", "cat src/*", "rm *.pyc"),
        *("cat nothing.e*", "grep -rn --exclude=.e* other src", 'git commit -m "$x {a,.env} *"'),
    ],
)
def test_a_pattern_that_stands_for_no_file_of_keys_goes_as_before(project: Path, line: str) -> None:
    (project / ".env").write_text("KEY=hush\n")
    (project / "README.md").touch()
    assert act(line, project) in ("look", "other")
    reasons = describe_call("bash", {"command": line}, project).judgement.reasons
    assert "touches keys or passwords" not in reasons


@pytest.mark.skipif(shutil.which("rg") is None, reason="no ripgrep")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rg KEY", "look"),
        ("rg -uu KEY", "guarded"),
        ("rg --hidden KEY src", "guarded"),
        ("rg -g '.env' KEY", "guarded"),
        ("rg -uu nothing", "look"),
        ("rg --files", "look"),
    ],
)
def test_ripgrep_passes_over_hidden_names_unless_it_is_told_not_to(
    project: Path, line: str, expected: str
) -> None:
    assert act(line, project) == expected


def test_where_it_searches_and_how_is_told() -> None:
    (command,) = read_shell_line("rg -n -. -- x a 'b c'").commands
    search = search_of(command)
    assert search is not None
    assert search.words == ("rg", "-n", "-.", "--", "x")
    assert search.places == ("a", "b c") and search.hidden and search.told


@pytest.mark.parametrize(
    "line",
    [
        *("git show :.env", "git show :0:.env", "git cat-file -p :0:.env", "git diff :0:.env :0:a"),
        *("git show 'HEAD@{10:00}:.env'", "git show 'HEAD^{/a: b}:.env'", "git show HEAD:a/.env"),
        *(
            "git log -L1,1:.env",
            "git log -L 1,1:.env",
            "git log -L :f:.env",
            "git show ':(top).env'",
        ),
        *(
            "git diff HEAD~1 -- ':/.env'",
            "git log -p -- ':(glob)**/.env'",
            "git grep x ':(top).env'",
        ),
        "git blame ':(top).env'",
    ],
)
def test_a_file_of_keys_is_known_by_every_name_that_git_has_for_it(
    tmp_path: Path, line: str
) -> None:
    for mode, verdict in (("ask", "ask"), ("plan", "deny"), ("auto", "ask")):
        gate = Gate(tmp_path, RuleBook, mode=mode, sandbox=lambda: "")
        decision = gate.decide("bash", {"command": line}, confines=True)
        assert (decision.verdict, "keys or passwords" in decision.reason) == (verdict, True), mode


@pytest.mark.parametrize(
    "line",
    [
        *("git diff -- . ':!.env'", "git diff -- . ':(exclude).env'", "git grep x -- ':^.env'"),
        *(
            "git log --format='%h: %s'",
            "git show HEAD:a.py",
            "git log -L1,9:a.py",
            "git show ':/a'",
        ),
        *("git blame -L1,9 a.py", "git log --since 10:00"),
    ],
)
def test_git_that_shows_no_file_of_keys_only_reads(tmp_path: Path, line: str) -> None:
    gate = Gate(tmp_path, RuleBook, mode="plan", sandbox=lambda: "")
    assert gate.decide("bash", {"command": line}, confines=True).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    [
        *("grep -rn KEY . --exclude={.env,x}", "grep -rn --include *.md KEY ."),
        *("cd docs; grep -rn --exclude .e[n]v KEY ../src",),
    ],
)
def test_an_unquoted_pattern_is_tried_as_it_stands(project: Path, line: str) -> None:
    assert not describe_call("bash", {"command": line}, project).judgement.met


def test_a_pattern_that_becomes_names_of_files_is_not_tried_as_written(project: Path) -> None:
    assert act("grep -r --exclude=.e* KEY .", project) == "look"
    (project / "--exclude=.ending").touch()
    assert act("grep -r --exclude=.e* KEY .", project) != "look"


@pytest.mark.parametrize("name", [".env.example", ".env.sample", ".env.local.template"])
def test_a_template_of_keys_is_read_and_written_as_any_file_unless_it_leads_to_keys(
    project: Path, name: str
) -> None:
    call = {"path": name, "content": "x"}
    assert act(f"head {name}", project) == "look"
    assert act_of(describe_call("write_file", call, project), "write_file", call) == "write"
    (project / name).symlink_to("src/deep/.env")
    assert act(f"head {name}", project) != "look"
    assert act_of(describe_call("write_file", call, project), "write_file", call) == "guarded"
