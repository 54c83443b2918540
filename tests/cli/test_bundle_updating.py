"""What `bundle update` says of sources that can and that can't be had."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.bundle_support import Bundles, data
from tests.foundation.helpers import GitRepo

Capture = pytest.CaptureFixture[str]
COMPLETE = (
    "session: {orchestrator: {module: loop-streaming}, context: {module: context-simple}}\n"
    "providers: [{module: provider-mock}]\n"
)


@pytest.fixture
def bundles(tmp_path: Path) -> Bundles:
    return Bundles(tmp_path / "project")


def test_update_brings_modules_along_and_names_what_fails(
    bundles: Bundles, tmp_path: Path, capsys: Capture
) -> None:
    module = GitRepo.create(
        tmp_path / "tool", {"amplifier_module_tool_x/__init__.py": "one = 1\n", "setup.cfg": ""}
    )
    gone = GitRepo.create(tmp_path / "gone", {"setup.cfg": ""})
    bundles.write(
        "mine",
        f"tools: [{{module: tool-x, source: '{module.uri()}'}},"
        f" {{module: tool-y, source: '{gone.uri()}'}}]\n{COMPLETE}",
    )
    assert bundles.run("update", "mine", "--trust") == 0
    new = module.commit({"amplifier_module_tool_x/__init__.py": "two = 2\n"})
    gone.path.rename(tmp_path / "moved")
    capsys.readouterr()
    assert bundles.run("update", "mine", "--trust", "--json") == 1
    states = {row["uri"]: row for row in data(capsys.readouterr().out)["sources"]}
    assert states[module.uri()]["state"] == "updated" and states[module.uri()]["after"] == new
    assert states[gone.uri()]["state"] == "failed"
    subprocess.run(["rm", "-rf", str(Path(os.environ["AMPLIFIER_HOME"]) / "cache")], check=True)
    assert bundles.run("update", "mine", "--trust", "--json") == 1
    states = {row["uri"]: row for row in data(capsys.readouterr().out)["sources"]}
    assert states[gone.uri()]["state"] == "failed"


@pytest.mark.parametrize("only_looks", [False, True])
@pytest.mark.parametrize(
    ("gone", "why"), [("branch", "no branch or tag 'part'"), ("repository", "repository")]
)
def test_update_fails_and_says_what_to_do_when_a_source_it_has_can_no_more_be_had(
    bundles: Bundles, tmp_path: Path, capsys: Capture, gone: str, why: str, only_looks: bool
) -> None:
    part = GitRepo.create(tmp_path / "part", {"bundle.md": "---\nbundle: {name: part}\n---\n"})
    part.git("branch", "part")
    uri = part.uri(ref="part")
    bundles.write("mine", f"includes: ['{uri}']\n{COMPLETE}")
    assert bundles.run("update", "mine", "--trust") == 0
    assert "try again" not in capsys.readouterr().err
    if gone == "branch":
        part.git("branch", "-D", "part")
    else:
        part.path.rename(tmp_path / "moved")
    options = ["--check"] if only_looks else []
    assert bundles.run("update", "mine", "--trust", *options) == 1
    shown = capsys.readouterr()
    assert f"failed  {uri} · " in shown.out and why in shown.out
    assert "Check the address and the branch" in shown.err and "bundle update mine" in shown.err
