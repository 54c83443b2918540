"""What installs has the network for packages, not for code of the workspace unasked."""

import json
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from tests.host.session.worktree_stage import git

RULES = (
    *("npm install", "npm install *", "npm ci", "npm ci --ignore-scripts", "pnpm install"),
    *("yarn install", "pip install *", "pip install -r *", "uv pip install *", "uv sync"),
)
PREINSTALL = {"scripts": {"preinstall": "bash evil.sh", "test": "jest"}}


def gate_of(folder: Path, mode: Mode = "edits", missing: str = "", line: str = "") -> Gate:
    given = RULES if "*" in line else (*RULES, line or RULES[0])
    book = RuleBook([parse_rule(f"bash({rule})", "allow") for rule in given])
    return Gate(folder, lambda: book, mode, sandbox=lambda: missing)


def decided(line: str, gate: Gate) -> GateDecision:
    return gate.decide("bash", {"command": line}, confines=True)


def write(folder: Path, files: dict[str, object]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text if isinstance(text, str) else json.dumps(text))


@pytest.mark.parametrize(
    ("line", "files", "named"),
    [
        ("npm install", {"package.json": PREINSTALL}, "the script preinstall of package.json"),
        ("npm ci", {"package.json": PREINSTALL}, "the script preinstall of package.json"),
        ("yarn install", {"package.json": PREINSTALL}, "the script preinstall of package.json"),
        ("pnpm install", {"package.json": PREINSTALL}, "the script preinstall of package.json"),
        ("npm ci", {"package.json": "{" + "1" * 9}, "scripts of package.json"),
        ("npm ci", {"package.json": {}, "binding.gyp": "{}"}, "the build of binding.gyp"),
        ("npm install ./p", {"p/package.json": PREINSTALL}, "preinstall of p/package.json"),
        ("cd p && npm ci", {"p/package.json": PREINSTALL}, "the script preinstall of package.json"),
        (
            "npm ci",
            {"package.json": {"workspaces": ["libs/*"]}, "libs/a/package.json": PREINSTALL},
            "the script preinstall of libs/a/package.json",
        ),
        (
            "npm ci",
            {"package.json": {"workspaces": ["libs/**"]}, "libs/a/b/package.json": PREINSTALL},
            "the script preinstall of libs/a/b/package.json",
        ),
        (
            "npm ci",
            {
                "package.json": {"dependencies": {"lodash": "4"}},
                "package-lock.json": {"packages": {"x": {"resolved": "file:e.tgz"}}},
                "e.tgz": "evil",
            },
            "scripts of e.tgz",
        ),
        (
            "npm ci",
            {"package.json": {"dependencies": {"a": "file:a"}}, "a/package.json": PREINSTALL},
            "the script preinstall of a/package.json",
        ),
        (
            "pnpm install",
            {
                "package.json": {},
                "pnpm-workspace.yaml": "packages: [a]",
                "a/package.json": PREINSTALL,
            },
            "the script preinstall of a/package.json",
        ),
        ("yarn install", {"package.json": {}, ".yarn/releases/y.cjs": ""}, ".yarn/releases/y.cjs"),
    ],
)
def test_code_of_the_workspace_that_it_would_run_is_asked_about(
    tmp_path: Path, line: str, files: dict[str, object], named: str
) -> None:
    write(tmp_path, files)
    modes: tuple[Mode, ...] = ("ask", "edits", "auto")
    for mode in modes:
        decision = decided(line, gate_of(tmp_path, mode))
        assert decision.verdict == "ask" and not decision.by_person
        assert f"{named} too" in decision.reason
    assert decided(line, gate_of(tmp_path, missing="none")).verdict == "allow"


@pytest.mark.parametrize(
    ("line", "files", "named"),
    [
        ("npm install evil.tgz", {"evil.tgz": ""}, "scripts of evil.tgz"),
        ("npm install x@later.tgz", {}, "`x@later.tgz`"),
        ("npm install git+file:///w#evil", {}, "`git+file:///w#evil`"),
        ("yarn add exec:./e.js", {}, "`exec:./e.js`"),
        (
            "npm ci",
            {"package.json": {"dependencies": {"e": "git+file:///w#e"}}},
            "`git+file:///w#e`, named in package.json",
        ),
        (
            "npm ci",
            {"package.json": {"overrides": {"a": {"e": "e.tgz"}}}},
            "`e.tgz`, named in package.json",
        ),
        (
            "npm ci",
            {"package.json": {}, "package-lock.json": {"e": {"resolved": "git+file:///w#1"}}},
            "`git+file:///w#1`, named in package-lock.json",
        ),
        (
            "cd a && npm install left-pad",
            {"package.json": {"workspaces": ["a"]}, "a/package.json": PREINSTALL},
            "the script preinstall of package.json",
        ),
    ],
)
def test_what_is_not_surely_of_a_registry_is_asked_about(
    tmp_path: Path, line: str, files: dict[str, object], named: str
) -> None:
    write(tmp_path, files)
    decision = decided(line, gate_of(tmp_path, line=line))
    assert decision.verdict == "ask" and named in decision.reason


@pytest.mark.parametrize(
    "line",
    [
        "npm install lodash@4 @scope/x @scope/y@^1.2.3 z@latest w@npm:v@1",
        "npm install -D --save-exact typescript 'eslint@>=8 <9' user/repo github:a/b#main",
        "npm ci --prefix web --cache .npm",
        "pnpm add --filter ./packages/a lodash",
        "yarn add https://codeload.github.com/a/b/tar.gz/main",
    ],
)
def test_what_surely_is_goes(tmp_path: Path, line: str) -> None:
    decision = decided(line, gate_of(tmp_path, line=line))
    assert (decision.verdict, decision.network) == ("allow", True), decision.reason


def test_a_repository_on_this_machine_is_asked_about_again_after_a_commit(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    line = f"npm install git+file://{repository}#main"
    git(tmp_path, "init", "-q", str(repository))
    git(repository, "commit", "-q", "--allow-empty", "-m", "x")
    gate = gate_of(tmp_path, line=line)
    gate.lent.add(decided(line, gate).lends)
    assert decided(line, gate).verdict == "allow"
    git(repository, "commit", "-q", "--allow-empty", "-m", "y")
    assert decided(line, gate).verdict == "ask"


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("npm ci", {"package.json": {"scripts": {"test": "jest", "build": "tsc"}}}),
        ("npm install lodash", {"package.json": {"scripts": {"prepare": "husky"}}}),
        ("npm ci --ignore-scripts", {"package.json": PREINSTALL}),
        ("npm ci", {"package.json": {}, "fixtures/package.json": PREINSTALL}),
        ("npm ci", {"package.json": {}, "node_modules/x/package.json": PREINSTALL}),
        ("npm ci", {}),
        (
            "npm ci",
            {
                "package.json": {"dependencies": {"lodash": "4"}},
                "package-lock.json": {"x": {"resolved": "https://registry.npmjs.org/l/-/l.tgz"}},
            },
        ),
    ],
)
def test_where_none_of_it_is_run_nothing_is_asked(
    tmp_path: Path, line: str, files: dict[str, object]
) -> None:
    write(tmp_path, files)
    decision = decided(line, gate_of(tmp_path))
    assert (decision.verdict, decision.network) == ("allow", True)


def test_npm_ci_runs_them_whatever_is_named_behind_it(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": PREINSTALL})
    book = RuleBook([parse_rule("bash(npm ci *)", "allow")])
    gate = Gate(tmp_path, lambda: book, "ask", sandbox=lambda: "")
    assert decided("npm ci lodash", gate).verdict == "ask"


def test_what_the_user_said_yes_to_is_asked_about_again_when_it_is_another(tmp_path: Path) -> None:
    def lent(line: str) -> str:
        decision = decided(line, gate)
        gate.lent.add(decision.lends)
        return decision.verdict

    gate = gate_of(tmp_path)
    write(tmp_path, {"package.json": PREINSTALL, "p/package.json": {"scripts": {"install": "1"}}})
    assert [lent("npm ci"), lent("npm ci")] == ["ask", "allow"]
    write(tmp_path, {"package.json": {**PREINSTALL, "dependencies": {"lodash": "1"}}})
    assert lent("npm ci") == "allow"
    write(tmp_path, {"package.json": {"scripts": {"preinstall": "bash worse.sh"}}})
    assert [lent("npm ci"), lent("npm ci")] == ["ask", "allow"]
    assert [lent("npm ci && npm install ./p"), lent("npm install ./p")] == ["ask", "allow"]
    write(tmp_path, {"p/package.json": {"scripts": {"install": "2"}}})
    assert lent("npm ci && npm install ./p") == "ask"
