"""Where no copies are kept, what nobody has is not taken away without a question in mode auto."""

import subprocess
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

WHY = "the workspace has over 20,000 files"


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository: what is called `mine` was changed, or is new; all else git has as it is."""
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("data\nbuild\n*.pyc\n")
    for name in ("src/a.py", "src/mine.py", "src/deep/b.py", "docs/x.md", "kept/c.py", "c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "src/mine.py").write_text("hours of work\n")
    for name in ("notes/mine.txt", "data/mine.csv", "build/x.o", "src/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("new\n")
    return tmp_path


def decide(
    workspace: Path, command: str, *rules: str, why: str = WHY, mode: Mode = "auto"
) -> GateDecision:
    book = RuleBook([parse_rule(rule, "allow") for rule in rules])
    gate = Gate(workspace, lambda: book, mode, sandbox=lambda: "", uncopied=lambda: why)
    return gate.decide("bash", {"command": command}, confines=True)


TAKES = [
    *("rm src/mine.py", "rm -rf src", "rm -f src/*.py", "rm -rf s*", "unlink src/mine.py"),
    *("rm -rf docs notes", "cd src && rm mine.py", "bash -c 'cd src; rm mine.py'"),
    *("sed -i s/a/b/ src/*.py", "sed -i 's/a/b/' */*.py", "perl -pi -e s/a/b/ src/mine.py"),
    *("echo x > src/mine.py", "cat docs/x.md >| notes/mine.txt", ": > data/mine.csv"),
    *("cp c.py src/mine.py", "mv docs/x.md src/mine.py", "cp kept/mine.txt notes"),
    *("cp -t src docs/mine.py", "cp docs/* src", "cp -r kept/. src", "ln -sf c.py src/mine.py"),
    *("rm -rf ~+/src", "git -c clean.requireForce=false clean -d", "git mv -f c.py src/mine.py"),
    *("git -c alias.x='reset --hard' x", "git read-tree -u --reset HEAD", "git checkout-index -fa"),
    *("cp -rT kept src", "cp -tsrc docs/mine.py", "sort c.py -o src/mine.py"),
    *("sort c.py -osrc/mine.py", "sort --output=src/mine.py c.py"),
    *("rm -- src/mine.py", "sort docs/x.md | sponge src/mine.py"),
    *("mv notes/mine.txt /mnt/x", "echo x | tee src/mine.py", "dd if=c.py of=src/mine.py"),
    *("truncate -s 0 src/mine.py", "rsync -a kept/ src/", "rm -f src/{a,mine}.py"),
    *("find src -name '*.py' -delete", "find . -name mine.txt -exec rm {} +", "find src -delete"),
    *("find src -exec sed -i s/a/b/ {} +", "find src ! -name '*.md' -delete"),
    *(
        "find src -name x -o -type f -delete",
        "ls src | xargs rm",
        "git ls-files | xargs sed -i s/a/b/",
    ),
    *('rm "$it"', "for f in src/*.py; do sed -i s/a/b/ $f; done", "rm -rf $PWD/src"),
    *("git checkout -- src", "git checkout .", "git checkout HEAD src/mine.py", "git restore ."),
    *("git reset --hard", "git reset --hard HEAD~1", "git checkout -f main", "git clean -fd"),
    *("git clean -fdx notes", "git rm -rf src", "git -C src checkout .", "cd src; git restore ."),
]


@pytest.mark.parametrize("command", TAKES)
def test_what_nobody_has_a_copy_of_is_not_taken_away_without_a_question(
    workspace: Path, command: str
) -> None:
    (workspace / "kept/mine.txt").write_text("")
    (workspace / "docs/mine.py").write_text("")
    decision = decide(workspace, command)
    assert decision.verdict == "ask"
    assert f"no copy is kept here: {WHY}; what this deletes or overwrites" in decision.reason
    assert "can't be brought back" in decision.reason


@pytest.mark.parametrize(
    "command",
    [
        *("rm src/a.py", "rm -rf kept docs", "rm -rf k*", "cd src && rm a.py", "rm nothing"),
        *("sed -i s/a/b/ src/a.py kept/*.py", "sed s/a/b/ src/mine.py", "echo x > src/new.py"),
        *(
            "echo x >> src/mine.py",
            "echo x > c.py",
            "cp src/mine.py src/other.py",
            "ls > /dev/null",
        ),
        *("mv src/mine.py src/yours.py", "cp src/mine.py docs", "cp -n c.py src/mine.py"),
        *("ln -s c.py link", "mkdir -p src/new", "touch src/mine.py", "tee -a src/mine.py < c.py"),
        *("rm -rf build", "find . -name '*.pyc' -delete", "find kept -name '*.py' -delete"),
        *(
            "find . -name '*.md' -exec sed -i s/a/b/ {} +",
            "find src -name mine.py",
            "ls | xargs cat",
        ),
        *("git checkout -- docs", "git checkout src/a.py", "git restore kept", "git status"),
        *("git restore --staged .", "git clean -nd", "git clean -fd docs", "git rm -f c.py"),
        *("git stash", "git add -A", "make", "pytest -q", "python3 x.py", "rm -rf __pycache__"),
        "for f in kept/*.py; do cat $f; done",
    ],
)
def test_what_git_can_bring_back_goes_unasked(workspace: Path, command: str) -> None:
    decision = decide(workspace, command)
    assert decision.verdict == "allow", decision.reason


@pytest.mark.parametrize("command", TAKES)
def test_where_copies_are_kept_it_goes_as_before(workspace: Path, command: str) -> None:
    assert "no copy is kept" not in decide(workspace, command, why="").reason


def test_all_that_is_there_counts_where_nothing_is_in_git(tmp_path: Path) -> None:
    for name in ("a.txt", "node_modules/x/y.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    why = "the folder is no git repository and has over 2,000 files"
    decision = decide(tmp_path, "rm a.txt", why=why)
    assert decision.verdict == "ask" and why in decision.reason and "a.txt" in decision.reason
    assert decide(tmp_path, "rm b.txt", why=why).verdict == "allow"
    assert decide(tmp_path, "rm -rf node_modules", why=why).verdict == "allow"


def test_each_repository_in_a_workspace_has_its_own_files(workspace: Path) -> None:
    around = workspace.parent / "around"
    around.mkdir()
    workspace.rename(around / "one")
    (around / "two").mkdir()
    (around / "two/x.txt").touch()
    for command in ("rm one/src/a.py", "rm -rf one/docs", "cd one && sed -i s/a/b/ kept/*.py"):
        assert decide(around, command).verdict == "allow"
    assert decide(around, "find one -name '*.md' -delete").verdict == "allow"
    for command in ("rm one/src/mine.py", "rm -rf one", "rm two/x.txt", "rm one/*/*.py"):
        assert "no copy is kept here" in decide(around, command).reason
    assert "no copy is kept here" in decide(around, "find one -name '*.py' -delete").reason


def test_a_pattern_that_stands_for_very_much_is_looked_into(workspace: Path) -> None:
    for number in range(250):
        (workspace / f"d{number}").mkdir()
        (workspace / f"d{number}/x.py").write_text("as it was\n")
    git(workspace, "add", "d*")
    git(workspace, "commit", "-qm", "many")
    assert decide(workspace, "rm -rf d[0-9]*").verdict == "allow"
    assert decide(workspace, "sed -i s/a/b/ d*/*.py").verdict == "allow"
    (workspace / "d7/x.py").write_text("hours of work\n")
    for command in ("rm -rf d[0-9]*", "sed -i s/a/b/ d*/*.py"):
        decision = decide(workspace, command)
        assert decision.verdict == "ask" and "d7/x.py" in decision.reason


def test_what_git_was_told_not_to_look_at_is_not_what_it_has(workspace: Path) -> None:
    git(workspace, "update-index", "--assume-unchanged", "c.py")
    (workspace / "c.py").write_text("hours of work\n")
    assert "c.py" in decide(workspace, "rm c.py").reason


def test_filters_of_a_repository_are_not_run_to_find_out(workspace: Path) -> None:
    ran = workspace / "ran"
    git(workspace, "config", "filter.x.clean", f"touch {ran}; cat")
    (workspace / ".gitattributes").write_text("* filter=x\n")
    (workspace / "c.py").touch()
    assert decide(workspace, "rm c.py").verdict == "ask"
    assert not ran.exists()


def test_a_rule_of_the_users_lets_it_go(workspace: Path) -> None:
    assert decide(workspace, "rm src/mine.py", "bash(rm src/mine.py)").verdict == "allow"


def test_mode_edits_asks_for_the_same_reason(workspace: Path) -> None:
    for command, is_lost in (("rm src/mine.py", True), ("rm src/a.py", False)):
        decision = decide(workspace, command, mode="edits")
        assert decision.verdict == "ask"
        assert decision.reason.startswith("no copy is kept here" if is_lost else "mode edits:")
