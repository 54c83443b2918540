"""A rule for an installer lends the network to packages of a registry, and to no build of ours."""

from pathlib import Path

import pytest

from amplifier_tui.host.events import Mode
from tests.host.gate.test_lent_to_installs import decided, gate_of, write

OWN = '[project]\nname="p"\nversion="1"\n'
BUILT = OWN + '[build-system]\nrequires=["hatchling"]\nbuild-backend="hatchling.build"\n'
POETRY = '[tool.poetry]\nname="p"\n'


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("pip install .", {"pyproject.toml": BUILT}),
        ("pip install ./p", {"p/setup.py": ""}),
        ("pip install -e './p[dev]'", {"p/setup.py": ""}),
        ("pip install -e p", {}),
        ("pip install --editable=.", {}),
        ("pip install -r pyproject.toml", {"pyproject.toml": OWN}),
        ("pip install e-1.tar.gz", {"e-1.tar.gz": ""}),
        ("python3 -m pip install ./p", {"p/setup.py": ""}),
        ("uv pip install .", {"pyproject.toml": OWN}),
        ("uv add ./p", {"p/setup.py": ""}),
        ("uv sync", {"pyproject.toml": BUILT}),
        ("uv add requests", {"pyproject.toml": BUILT}),
        ("uv remove requests", {"pyproject.toml": BUILT}),
        ("cd a && uv sync", {"pyproject.toml": BUILT, "a/b": ""}),
        ("uv sync", {"pyproject.toml": OWN + "[tool.uv]\npackage=true"}),
        ("uv sync", {"pyproject.toml": OWN + "[tool.uv.workspace]\nmembers=['a']"}),
        ("uv sync", {"pyproject.toml": OWN + "dynamic=['dependencies']"}),
        ("uv sync --no-install-project", {"pyproject.toml": BUILT.replace("version", "v")}),
        ("uv sync", {"pyproject.toml": "{"}),
        ("poetry install", {"pyproject.toml": POETRY}),
        ("poetry install --only main", {"pyproject.toml": POETRY}),
        ("gem build x.gemspec", {}),
    ],
)
def test_what_builds_code_of_the_workspace_is_asked_about_each_time(
    tmp_path: Path, line: str, files: dict[str, object]
) -> None:
    write(tmp_path, files)
    modes: tuple[Mode, ...] = ("ask", "edits", "auto")
    for mode in modes:
        decision = decided(line, gate_of(tmp_path, mode, line=line))
        assert decision.verdict == "ask" and decision.by_person
        said = line.rpartition("&& ")[2]
        assert decision.reason == (
            f"`{said}` builds a project of this disk and runs its code, with the network"
        )
    assert decided(line, gate_of(tmp_path, missing="none", line=line)).verdict == "allow"


@pytest.mark.parametrize("line", ["pipx run cowsay", "pipx run ./s.py", "uv tool run --from ./q q"])
def test_so_is_a_program_that_it_runs(tmp_path: Path, line: str) -> None:
    decision = decided(line, gate_of(tmp_path, line=line))
    assert decision.verdict == "ask" and decision.by_person
    assert "runs a program that may run this project's own code" in decision.reason


@pytest.mark.parametrize(
    ("line", "files", "named"),
    [
        ("pip install -U 'evil.tgz ; a'", {}, "`evil.tgz ; a`"),
        ("pip install evil.whl", {"evil.whl": ""}, "`evil.whl`"),
        ("pip install 'x==1.tar.gz'", {}, "`x==1.tar.gz`"),
        ("pip install x==*", {"x==1.tgz": ""}, "`x==*`"),
        ("pip install later.tar.gz", {}, "`later.tar.gz`"),
        ("pip install git+file:///w@evil", {}, "`git+file:///w@evil`"),
        ("pip install requests -f l.html", {"l.html": ""}, "`l.html`"),
        ("pip install requests --find-l=l", {"l/e.tar.gz": ""}, "`--find-l=l`"),
        ("pip install requests --extra-index-url ./s", {}, "`./s`"),
        ("pip install requests -i file:///w", {}, "`file:///w`"),
        ("pip install --group dev", {}, "`--group dev`"),
        ("pip install --global-option=x requests", {}, "`--global-option=x`"),
        ("pip install -Z requests", {}, "`-Z`"),
        ("pip install requests -c c.txt", {"c.txt": "requests @ file:///e.tgz"}, "in c.txt"),
        ("pip install -r file:///w/r.txt", {}, "in r.txt"),
        ('pip install "$X"', {}, "a word that is known only"),
        ("pip install -r later.txt", {}, "in later.txt"),
        ("pip install -r r.txt", {"r.txt": "-c file:c.txt", "c.txt": ""}, "in file:c.txt"),
        ("pip install -Ur r.txt", {"r.txt": "./later"}, "`./later` in r.txt"),
        ("pip install -r r.txt", {"r.txt": "x==1\n-e ./p  # ours"}, "`./p` in r.txt"),
        ("pip install -r r.txt", {"r.txt": "e.tgz"}, "`e.tgz` in r.txt"),
        ("pip install -r r.txt", {"r.txt": "e @ git+file:///w@e"}, "`e @ git+file:///w@e` in"),
        ("pip install -r r.txt", {"r.txt": "-f l.html\ne"}, "`l.html` in r.txt"),
        ("pip install -r r.txt", {"r.txt": "--extra-index-url=file:///s\ne"}, "`file:///s`"),
        ("pip install -r r.txt", {"r.txt": "# x \\\ne.tgz"}, "`e.tgz` in r.txt"),
        ("pip install -r r.txt", {"r.txt": "e-1.t\\\ngz"}, "in r.txt"),
        ("pip install -r r.txt", {"r.txt": "-r \\\no", "o": "e.tgz"}, "`e.tgz` in o"),
        ("pip install -r r.txt", {"r.txt": "# coding: utf-7\nx"}, "in r.txt"),
        ("pip install -r r.txt", {"r.txt": "x --global-option=y"}, "`--global-option=y` in"),
        ("python3 -m pip install requests", {"json.py": ""}, "`json.py`"),
        ("uv pip install --python ./e x", {"e": "#!/bin/sh"}, "`./e`"),
        ("uv pip sync r.txt", {"r.txt": "e.tgz"}, "`e.tgz` in r.txt"),
        ("uv pip install x", {"uv.toml": "find-links=['./l']"}, "`./l` in uv.toml"),
        ("uv pip install x", {"uv.toml": "[pip]\nindex-url='file:///l'"}, "`file:///l` in uv.toml"),
        ("uv pip install x", {"uv.toml": "weird=1"}, "`weird` in uv.toml"),
        ("uv pip install x", {"uv.toml": "{"}, "in uv.toml"),
        ("uv pip install x", {"pyproject.toml": "tool.uv.find-links=['l']"}, "`l` in pyproject"),
        ("uv pip install x", {"pyproject.toml": "[[tool.uv.index]]\nurl='l'"}, "`l` in pyproject"),
        (
            "cd a && uv pip install x",
            {"pyproject.toml": "tool.uv.find-links=['l']", "a/pyproject.toml": OWN},
            "`l` in pyproject",
        ),
        ("uv tool install --with ./q x", {"q/setup.py": ""}, "its code"),
        ("uv add --project ./q x", {}, "`--project`"),
        ("uv add git+file:///w@evil", {}, "`git+file:///w@evil`"),
        ("uv sync", {"pyproject.toml": OWN + "dependencies=['e @ file:///e']"}, "`e @ file:///e`"),
        ("uv sync", {"pyproject.toml": OWN + "[dependency-groups]\na=['./e']"}, "`./e` in pypr"),
        ("uv sync", {"pyproject.toml": OWN + "[tool.uv.sources]\ne={git='../e'}"}, "`../e` in"),
        ("uv sync", {"pyproject.toml": OWN + "[tool.uv.sources]\ne={path='../e'}"}, "`../e` in"),
        ("uv sync", {"pyproject.toml": OWN, "uv.lock": "source={directory='p'}"}, "`p` in uv.lock"),
        ("uv sync", {"pyproject.toml": OWN, "uv.lock": "source={registry='l'}"}, "`l` in uv.lock"),
        ("poetry add x", {"pyproject.toml": POETRY, "x/setup.py": ""}, "its code"),
        (
            "poetry add x",
            {"pyproject.toml": POETRY + "[tool.poetry.group.a.dependencies]\ne={path='e'}"},
            "`e` in pyproject.toml",
        ),
        ("pipx install --spec ./q q", {}, "`--spec`"),
        ("pipx install ./q", {}, "its code"),
        ("gem install evil", {"evil-1.gem": ""}, "`*.gem`"),
        ("gem install sub/evil.gem", {"sub/evil.gem": ""}, "`sub/evil.gem`"),
        ("conda install ./e.conda", {"e.conda": ""}, "its code"),
        ("conda install e -c ./channel", {"channel/x": ""}, "`./channel`"),
        ("conda install --file e.txt", {"e.txt": "file:///e.conda"}, "in e.txt"),
    ],
)
def test_what_is_not_surely_of_a_registry_is_asked_about(
    tmp_path: Path, line: str, files: dict[str, object], named: str
) -> None:
    write(tmp_path, files)
    decision = decided(line, gate_of(tmp_path, line=line))
    assert decision.verdict == "ask" and decision.by_person
    assert named in decision.reason and decision.reason.endswith(", with the network")


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("pip install requests", {"setup.py": "", "requests/setup.py": ""}),
        ("pip install requests 'django>=4' 'httpx[http2] ~= 0.27, <1' zope.interface", {}),
        ("pip install -U pip setuptools wheel", {}),
        ("pip install -qU pip -vvv", {}),
        ("pip install 'tomli>=2; python_version < \"3.11\"'", {}),
        ("pip install --no-cache-dir --timeout 60 -t ./vendor requests", {}),
        ("pip install 'torch==2.1.0+cu118' --index-url https://download.pytorch.org/whl", {}),
        ("pip install 'x @ git+https://github.com/a/b.git@v1#egg=x'", {}),
        ("pip install -e git+https://github.com/a/b.git#egg=x", {}),
        ("pip install https://files.pythonhosted.org/x-1.tar.gz", {}),
        (
            "pip install -r r.txt",
            {
                "r.txt": "# web\nrequests>=2,<3  # http\n\n-r more.txt\n--index-url https://x.org/s"
                "\nidna==3.7 \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\n    # via x\n",
                "more.txt": "x ; python_version<'3.9'",
            },
        ),
        ("pip install -r r.txt", {"r.txt": "x==1\n# -e ./p\n", "p/setup.py": ""}),
        ("pip install -r r.txt", {"r.txt": "x==1\n-c https://h.org/c.txt"}),
        ("pip uninstall -y requests", {}),
        ("python3 -m pip install requests", {"main.py": ""}),
        ("uv pip install -p 3.12 requests", {"setup.py": "", "pyproject.toml": BUILT}),
        (
            "uv pip install requests",
            {"pyproject.toml": BUILT + "[tool.uv]\ndev-dependencies=['x']\nsources={x={path='x'}}"},
        ),
        ("uv add --dev --extra http2 httpx>=0.27", {"pyproject.toml": OWN}),
        ("uv add --index p=https://download.pytorch.org/whl/cu118 torch", {"pyproject.toml": OWN}),
        ("uv sync", {"pyproject.toml": OWN + "dependencies=['x>=1', 'y @ https://h.org/y.whl']"}),
        ("uv sync", {"pyproject.toml": BUILT + "[tool.uv]\npackage=false"}),
        ("uv sync --frozen --no-install-project", {"pyproject.toml": BUILT}),
        (
            "uv sync",
            {
                "pyproject.toml": OWN + "[dependency-groups]\na=['x']\nb=[{include-group='a'}]\n"
                "[tool.uv.sources]\nx={index='t'}\nz={git='https://h.org/z', rev='1'}\n"
                "[[tool.uv.index]]\nname='t'\nurl='https://t.org/s'\nexplicit=true",
                "uv.lock": "[[package]]\nsource={registry='https://pypi.org/simple'}\n"
                "sdist={url='https://f.org/a.tar.gz'}\n[[package]]\nsource={virtual='.'}",
            },
        ),
        ("uv tool install ruff", {"ruff/setup.py": ""}),
        ("poetry add requests@^2.0 -G dev", {"pyproject.toml": POETRY}),
        ("poetry install --no-root", {"pyproject.toml": POETRY + "include=[{path='x'}]"}),
        ("poetry install", {"pyproject.toml": POETRY + "package-mode=false"}),
        ("pipx install black", {}),
        ("gem install rails -v '~> 7.0' --no-document", {}),
        ("conda install -y -n env -c conda-forge numpy=1.26 'python>=3.11' conda-forge::x", {}),
    ],
)
def test_packages_of_a_registry_go_by_a_rule(
    tmp_path: Path, line: str, files: dict[str, object]
) -> None:
    write(tmp_path, files)
    decision = decided(line, gate_of(tmp_path, line=line))
    assert (decision.verdict, decision.network) == ("allow", True), decision.reason
