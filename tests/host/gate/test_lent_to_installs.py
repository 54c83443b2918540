"""What installs has the network for packages, not for code of the workspace unasked."""

import json
import tarfile
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

RULES = (
    *("npm install", "npm install *", "npm ci", "npm ci --ignore-scripts", "pnpm install"),
    *("yarn install", "pip install *", "pip install -e *", "pip install -r *", "uv sync"),
    *("uv pip install *", "uv add *", "poetry install", "python3 -m pip install *"),
)
PLAIN = '[project]\nname="p"\nversion="1"\n[build-system]\nrequires=["%s"]\nbuild-backend="%s"\n'
HATCH = PLAIN % ("hatchling", "hatchling.build")
SETUPTOOLS = PLAIN % ("setuptools>=61", "setuptools.build_meta")
PREINSTALL = {"scripts": {"preinstall": "bash evil.sh", "test": "jest"}}


def gate_of(folder: Path, mode: Mode = "edits", missing: str = "") -> Gate:
    book = RuleBook([parse_rule(f"bash({rule})", "allow") for rule in RULES])
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
        ("pip install .", {"setup.py": ""}, "the build of ."),
        ("pip install ./p", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("pip install -e './p[dev]'", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("pip install -e p", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("python3 -m pip install ./p", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("python3 -m pip install requests", {"json.py": ""}, "what is in json.py"),
        ("pip install -r r.txt", {"r.txt": "x==1\n-e ./p  # ours", "p/setup.py": "1"}, "of ./p"),
        ("uv pip install ./p", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("uv add ./p", {"p/setup.py": "import evil"}, "the build of ./p"),
        ("uv sync", {"pyproject.toml": SETUPTOOLS, "setup.py": "import evil"}, "the build of ."),
        ("uv sync", {"pyproject.toml": HATCH + "backend-path=['.']"}, "the build of ."),
        ("uv sync", {"pyproject.toml": PLAIN % ("maturin", "maturin")}, "the build of ."),
        (
            "uv sync",
            {"pyproject.toml": HATCH + "[tool.hatch.build.hooks.custom]\n"},
            "the build of .",
        ),
        (
            "uv sync",
            {"pyproject.toml": HATCH + "[tool.uv.sources]\np={path='p'}", "p/setup.py": "1"},
            "the build of ./p",
        ),
        (
            "uv sync",
            {"pyproject.toml": HATCH + "[tool.uv.workspace]\nmembers=['l/*']", "l/a/setup.py": "1"},
            "the build of ./l/a",
        ),
        (
            "uv sync",
            {
                "pyproject.toml": HATCH,
                "uv.lock": "[[package]]\nname='p'\nsource={directory='p'}",
                "p/setup.py": "1",
            },
            "the build of ./p",
        ),
        (
            "poetry install",
            {
                "pyproject.toml": PLAIN % ("poetry-core", "poetry.core.masonry.api")
                + "[tool.poetry]\nbuild='b.py'"
            },
            "the build of .",
        ),
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


def test_so_is_an_archive_of_it(tmp_path: Path) -> None:
    write(tmp_path, {"p/setup.py": "import evil"})
    with tarfile.open(tmp_path / "p-1.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "p", "p-1")
    for line in ("pip install ./p-1.tar.gz", "npm install ./p-1.tar.gz"):
        assert "of p-1.tar.gz too" in decided(line, gate_of(tmp_path)).reason


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
        ("pip install requests", {"setup.py": "", "requests/setup.py": ""}),
        ("pip install -r r.txt", {"r.txt": "x==1\n# -e ./p\n", "p/setup.py": ""}),
        ("pip install ./x.whl", {"x.whl": ""}),
        ("python3 -m pip install requests", {"main.py": ""}),
        ("uv pip install requests", {"setup.py": ""}),
        ("uv sync", {"pyproject.toml": "[project]\nname='p'\nversion='1'\n"}),
        ("uv sync", {"pyproject.toml": HATCH}),
        ("uv sync", {"pyproject.toml": SETUPTOOLS}),
        ("uv sync", {"pyproject.toml": PLAIN % ("uv_build>=0.8,<0.9", "uv_build")}),
        ("uv add requests", {"pyproject.toml": HATCH}),
        ("pip install .", {"pyproject.toml": HATCH}),
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
    write(tmp_path, {"package.json": PREINSTALL, "p/setup.py": "1"})
    assert [lent("npm ci"), lent("npm ci")] == ["ask", "allow"]
    write(tmp_path, {"package.json": {**PREINSTALL, "dependencies": {"lodash": "1"}}})
    assert lent("npm ci") == "allow"
    write(tmp_path, {"package.json": {"scripts": {"preinstall": "bash worse.sh"}}})
    assert [lent("npm ci"), lent("npm ci")] == ["ask", "allow"]
    assert [lent("npm ci && pip install ./p"), lent("pip install ./p")] == ["ask", "allow"]
    write(tmp_path, {"p/setup.py": "2"})
    assert lent("npm ci && pip install ./p") == "ask"
