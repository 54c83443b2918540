"""Where the commands behind a `cd` run: it may have failed, or moved a process of its own alone."""

import time
from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.risk import judge_script
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    return folder


STAYS = """
cd build; {}
cd build%{}
(cd src); {}
cd src & {}
cd src | {}
cd src && true & {}
ls | cd src; {}
echo $(cd src); {}
cd $(cd src; pwd; {})
cd build || true; {}
cd build || {}
cd src && ls; cd - >/dev/null; {}
cd src; ls; cd "$OLDPWD"; {}
pushd src; popd; {}
pushd -n src && {}
cd src a.txt; {}
cd -x src; {}
cd src </nonexistent; {}
! cd build && {}
if cd build; then ls; fi; {}
{{ cd build; true; }} && {}
make; cd src; {}
rm -r src; cd src; {}
cd src && rm -r ../src || {}
cd src && cd gone; cd ..; {}
true && cd src <<E || {}%E
for d in src; do cd $d; done; {}
cd "$x"; {}
command cd build; {}
CDPATH=.. ; cd src; {}
cd src & cd src | {}
"""


@pytest.mark.parametrize("line", STAYS.strip().splitlines())
def test_what_may_run_in_the_workspace_after_all_is_judged_there(
    workspace: Path, line: str
) -> None:
    whole = judge_script(line.replace("%", "\n").format("rm -rf *"), workspace).whole
    assert whole.risk == "critical" and "deletes the whole workspace" in whole.reasons


MOVES = """
cd src && rm -rf *
cd src; rm -rf *
ls; cd src 2>/dev/null; rm -rf *
mkdir -p build && cd build && rm -rf *
make && cd build && true && rm -rf *
cd src && ( rm -rf * )
cd src && ls | xargs -n1 rm && rm -rf *
( cd src && rm -rf * )
cd build && { rm -rf *; }
cd src > /dev/null && make > log && rm -rf *
cd src/deep; cd ..; rm -rf *
cd src/deep; make; cd ..; rm -rf *
"""


@pytest.mark.parametrize("line", MOVES.strip().splitlines())
def test_what_surely_runs_elsewhere_is_judged_there_alone(workspace: Path, line: str) -> None:
    assert judge_script(line, workspace).whole.risk == "high"


def test_the_reasons_tell_of_the_folder_that_one_does_not_see(workspace: Path) -> None:
    said = "where a `cd` before it may fail or lead elsewhere"
    assert said in judge_script("cd build; rm -rf *", workspace).whole.reasons
    assert said not in judge_script("cd build; rm -rf ./x", workspace).whole.reasons


OUTSIDE = """
cd gone; touch ../x
cd gone/a; touch ../../x
cd src; cd -; touch ../x
cd a.txt; touch ../x
cd src & touch ../x
cd src | touch ../x
(cd src); touch ../x
"""


@pytest.mark.parametrize("line", OUTSIDE.strip().splitlines())
def test_a_rule_covers_no_command_that_may_reach_outside(workspace: Path, line: str) -> None:
    book = RuleBook([parse_rule("bash(touch *)", "allow"), parse_rule("bash(cd *)", "allow")])
    gate = Gate(workspace, load=lambda: book)
    assert gate.decide("bash", {"command": line}).verdict == "ask"
    assert gate.decide("bash", {"command": "cd src && touch ../x"}).verdict == "allow"


@pytest.mark.parametrize(
    "line", ["cd x;" * 3_000, "cd x && " * 2_000 + "ls", "(" * 5_000 + "cd x" + ")" * 5_000]
)
def test_very_many_moves_take_no_time_to_speak_of(workspace: Path, line: str) -> None:
    began = time.process_time()
    whole = judge_script(f"{line}; rm -rf *", workspace).whole
    assert time.process_time() - began < 8
    assert whole.risk == "critical"
