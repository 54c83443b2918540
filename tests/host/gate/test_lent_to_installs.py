"""What installs has the network for packages, not for code of the workspace unasked."""

import json
import tarfile
from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from amplifier_tui.host.gate.gate import Gate, GateDecision
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule
from tests.host.session.worktree_stage import git

RULES = (
    *("npm install", "npm install *", "npm ci", "npm ci --ignore-scripts", "pnpm install"),
    *("yarn install", "pip install *", "pip install -e *", "pip install -r *", "uv sync"),
    *("uv pip install *", "uv add *", "poetry install", "python3 -m pip install *"),
)
PLAIN = '[project]\nname="p"\nversion="1"\n[build-system]\nrequires=["%s"]\nbuild-backend="%s"\n'
HATCH = PLAIN % ("hatchling", "hatchling.build")
SETUPTOOLS = PLAIN % ("setuptools>=61", "setuptools.build_meta")
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
    ("line", "files", "named"),
    [
        ("pip install evil-1.tar.gz", {"evil-1.tar.gz": ""}, "the build of evil-1.tar.gz"),
        ("pip install -U 'evil.tgz ; a'", {}, "`evil.tgz ; a`"),
        ("pip install evil.whl", {"evil.whl": ""}, "`evil.whl`"),
        ("pip install 'x==1.tar.gz'", {"x==1.tar.gz": ""}, "the build of x==1.tar.gz"),
        ("pip install x==*", {"x==1.tgz": ""}, "`x==*`"),
        ("pip install later.tar.gz", {}, "`later.tar.gz`"),
        ("pip install git+file:///w@evil", {}, "`git+file:///w@evil`"),
        ("pip install requests -f l.html", {"l.html": ""}, "`l.html`"),
        ("pip install requests --find-l=l", {"l/e.tar.gz": ""}, "`l`"),
        ("pip install requests --extra-index-url ./s", {"s/e/e.tgz": ""}, "`./s`"),
        ("pip install requests -i file:///w", {}, "`file:///w`"),
        ("pip install requests -c c.txt", {"c.txt": "requests @ file:///e.tgz"}, "in c.txt"),
        ("pip install -Ur r.txt", {"r.txt": "./later"}, "`./later`, named in r.txt"),
        ("pip install -r r.txt", {"r.txt": "e.tgz", "e.tgz": ""}, "the build of e.tgz"),
        ("pip install -r r.txt", {"r.txt": "e @ git+file:///w@e"}, "`e @ git+file:///w@e`"),
        ("pip install -r r.txt", {"r.txt": "-f l.html\ne"}, "`l.html`, named in r.txt"),
        ("pip install -r r.txt", {"r.txt": "--extra-index-url=file:///s\ne"}, "`file:///s`"),
        ("pip install -r r.txt", {"r.txt": "# x \\\ne.tgz"}, "`e.tgz`, named in r.txt"),
        ("pip install -r r.txt", {"r.txt": "e-1.t\\\ngz"}, "`e-1.t\\`, named in r.txt"),
        ("pip install -r r.txt", {"r.txt": "-r \\\no", "o": "e.tgz"}, "`e.tgz`, named in o"),
        ("pip install -r r.txt", {"r.txt": "# coding: utf-7\nx"}, "utf-7`, named in r.txt"),
        ("uv pip install e.tar.gz", {"e.tar.gz": ""}, "the build of e.tar.gz"),
        ("uv pip install x", {"pyproject.toml": "tool.uv.find-links=['l']", "l/x": ""}, "`l`"),
        ("uv pip install --python ./e x", {"e": "#!/bin/sh"}, "`./e`"),
        ("uv pip sync r.txt", {"r.txt": "e.tgz"}, "`e.tgz`, named in r.txt"),
        ("uv add git+file:///w@evil", {}, "`git+file:///w@evil`"),
        (
            "uv sync",
            {"pyproject.toml": HATCH.replace("[b", "dependencies=['e @ git+file:///w@e']\n[b")},
            "`e @ git+file:///w@e`, named in pyproject.toml",
        ),
        (
            "uv sync",
            {"pyproject.toml": HATCH + "[tool.uv.sources]\ne={git='../e'}"},
            "`../e`, named in pyproject.toml",
        ),
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
        ("gem install evil", {"evil-1.gem": ""}, "`evil-1.gem`"),
        ("gem install sub/evil.gem", {"sub/evil.gem": ""}, "`sub/evil.gem`"),
        ("conda install ./e.conda", {"e.conda": ""}, "`./e.conda`"),
        ("conda install e -c ./channel", {"channel/x": ""}, "`./channel`"),
        ("conda install --file e.txt", {"e.txt": "file:///e.conda"}, "named in e.txt"),
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
        "pip install requests 'django>=4' 'httpx[http2] ~= 0.27, <1' zope.interface",
        "pip install -U pip setuptools wheel",
        "pip install 'tomli>=2; python_version < \"3.11\"'",
        "pip install --no-cache-dir --timeout 60 --no-binary :all: -t ./vendor requests",
        "pip install 'torch==2.1.0+cu118' --index-url https://download.pytorch.org/whl/cu118",
        "pip install 'x @ git+https://github.com/a/b.git@v1#egg=x' git+ssh://git@h.org/a/b.git",
        "pip install https://files.pythonhosted.org/x-1.tar.gz",
        "uv pip install -p 3.12 requests",
        "uv add --dev --extra http2 httpx>=0.27",
        "uv add --index pytorch=https://download.pytorch.org/whl/cu118 torch",
        "poetry add requests@^2.0 -G dev",
        "npm install lodash@4 @scope/x @scope/y@^1.2.3 z@latest w@npm:v@1",
        "npm install -D --save-exact typescript 'eslint@>=8 <9' user/repo github:a/b#main",
        "npm ci --prefix web --cache .npm",
        "pnpm add --filter ./packages/a lodash",
        "yarn add https://codeload.github.com/a/b/tar.gz/main",
        "gem install rails -v '~> 7.0' --no-document",
        "conda install -y -n env -c conda-forge numpy=1.26 'python>=3.11' conda-forge::x",
    ],
)
def test_what_surely_is_goes(tmp_path: Path, line: str) -> None:
    decision = decided(line, gate_of(tmp_path, line=line))
    assert (decision.verdict, decision.network) == ("allow", True), decision.reason


def test_so_do_lists_and_projects_of_such_alone(tmp_path: Path) -> None:
    hashed = "idna==3.7 \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\n    # via x\n"
    listed = "# web\nrequests>=2,<3  # http\ndjango\n\n-r more.txt\n--index-url https://x.org/s\n"
    data = {
        "dependencies": {"a": "^1", "b": "~2.1", "c": "*", "d": "npm:e@1", "f": "workspace:*"},
        "devDependencies": {"g": ">=1 <2 || 3.x", "h": "user/repo#semver:^1", "i": "latest"},
        "overrides": {"a": "$a", "b": {".": "1.0"}},
    }
    project = HATCH.replace("[b", "dependencies=['x>=1', 'y @ https://h.org/y.whl']\n[b")
    project += "[tool.hatch.version]\npath='p.py'\n[tool.uv.sources]\nz={git='https://h.org/z'}\n"
    files = {"r.txt": listed + hashed, "more.txt": "x ; python_version<'3.9'", "p.py": "import x"}
    write(tmp_path, {**files, "package.json": data, "pyproject.toml": project})
    lines = ("pip install -r r.txt", "npm ci", "npm install", "uv sync", "pip install .")
    for line in (*lines, "conda install --file r.txt", "pip install -e '.[dev]'"):
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
        ("pip install requests", {"setup.py": "", "requests/setup.py": ""}),
        ("pip install -r r.txt", {"r.txt": "x==1\n# -e ./p\n", "p/setup.py": ""}),
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
