"""A rule that denies or asks speaks of a command however it is written, or somebody is asked."""

from pathlib import Path

import pytest

from amplifier_tui.host.gate.gate import Gate
from amplifier_tui.host.gate.rules.book import RuleBook
from amplifier_tui.host.gate.rules.text import parse_rule

RULES = tuple(parse_rule(f"bash({each})", "deny") for each in ("rm *", "git push *"))


def verdict(line: str, workspace: Path, *rules: str) -> str:
    """What mode auto does with a command that would run in a sandbox."""
    book = RuleBook((*RULES, *map(parse_rule, rules)))
    gate = Gate(workspace, lambda: book, mode="auto", sandbox=lambda: "")
    return gate.decide("bash", {"command": line}, confines=True).verdict


@pytest.mark.parametrize(
    "line",
    [
        *("rm x", "'rm' x", "/bin/rm x", "ls | xargs rm", "sh -c 'rm x'", "env -S 'rm x'"),
        *("git push", "git -C . push", "git --no-pager push origin", "git -c a=b -C x push"),
        *("bash -euo pipefail -c 'rm x'", "sh -o errexit -c 'rm x'", "sh +e -c 'rm x'"),
        *("bash -O extglob -c 'rm x'", "bash --rcfile f -c 'rm x'", "bash -c -- 'rm x'"),
        *("bash -c -e rm", "bash -ceo pipefail rm", "env -S'rm x'", "env -iS 'rm x'"),
        *("env --split-string='rm x'", "flock f -c 'rm x'", "flock f rm x", "script -c rm f"),
        *("setpriv rm x", "prlimit --nofile=10 rm x", "setarch x86_64 rm x", "jobs -x rm x"),
        *("bash ./rm x", "bash -x rm", "sh <rm", "source ./rm", ". rm", "mapfile -C 'rm x' -c 1 a"),
        *("trap rm EXIT", "trap '\\rm x' 0", "eval -- '\\rm x'", "hash -p /bin/rm z; z"),
        *("compgen -C '\\rm' x", "complete -C rm x", "mapfile -C '\\rm' -c 1 a"),
        *("busybox rm x", "trap 'rm x' EXIT", "ssh host rm x", "script -qc 'rm x'", "npx rm x"),
    ],
)
def test_it_is_denied(tmp_path: Path, line: str) -> None:
    assert verdict(line, tmp_path) == "deny"
    assert verdict(line, tmp_path, "bash(git *)", "bash(busybox *)") == "deny"


@pytest.mark.parametrize(
    "line",
    [
        *("$(echo rm) x", "a=rm; $a x", "{rm,x}", "$'\\x72m' x", "coproc rm x", "rm${IFS}x"),
        *("echo 'rm x' | sh", "printf 'rm x' | bash -s", "source <(echo rm x)", "ls 'open"),
        ". /dev/stdin <<< 'rm x'",
        *("timeout --signal 9 5 {rm,x}", "env - A=b /bin/r? x", "xargs --max-procs 2 /bin/r?"),
        *("trap '{rm,x}' EXIT", "eval -- '{rm,x}'", "alias a='rm x'", "setarch x86_64 {rm,x}"),
        *("PROMPT_COMMAND='rm x' bash -i", "PS4='$(rm x)'; set -x", "BASH_ENV=f bash -c true"),
        *("export GIT_SSH_COMMAND='rm x'", "echo rm x | xargs env", "echo rm x | xargs -0 sh -c"),
        *("x='a[$(rm x)]'; (( x ))", "x='$(rm x)'; echo ${x@P}"),
    ],
)
def test_what_cannot_be_read_is_asked_about_where_there_is_such_a_rule(
    tmp_path: Path, line: str
) -> None:
    assert verdict(line, tmp_path) == "ask"
    gate = Gate(tmp_path, RuleBook, mode="auto", sandbox=lambda: "")
    assert gate.decide("bash", {"command": line}, confines=True).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    [
        *("git commit -m 'git push'", "echo rm x", "git log --grep push", "git stash push"),
        *("touch rm", "bash deploy.sh rm x", "bash -c 'echo rm x'", "sh -e deploy.sh rm"),
        "su user -c 'echo x'",
        *("timeout 60 pytest tests/test_*.py", "ls *.py | xargs wc -l", "npx eslint src/*.ts"),
        *("GIT_PAGER=cat git diff", "hash -r", "trap 'kill 0' EXIT", "env A=b pytest *.py"),
        *("cat list | xargs -I{} sh -c 'cp {} out/'", "x=$(date); echo $x", "nice make"),
    ],
)
def test_other_commands_go(tmp_path: Path, line: str) -> None:
    assert verdict(line, tmp_path) == "allow"


def test_a_command_of_very_many_options_is_looked_at_in_time(tmp_path: Path) -> None:
    assert verdict("git " + "-a " * 20_000 + "x", tmp_path) == "allow"


@pytest.mark.parametrize(
    ("tool", "arguments", "verdict", "told"),
    [
        ("bash", {"command": "make"}, "allow", "which reads all of the workspace"),
        ("write_file", {"file_path": "../x", "content": ""}, "ask", "outside the workspace"),
        ("read_file", {"file_path": ".env"}, "ask", "keys and passwords"),
    ],
)
def test_mode_auto_says_of_itself_what_is_so_and_nothing_of_mode_ask(
    tmp_path: Path, tool: str, arguments: dict[str, str], verdict: str, told: str
) -> None:
    gate = Gate(tmp_path, RuleBook, mode="auto", sandbox=lambda: "")
    decision = gate.decide(tool, arguments, confines=True)
    assert decision.verdict == verdict and decision.reason.startswith("mode auto: ")
    assert told in decision.reason and "do more than read" not in decision.reason


@pytest.mark.parametrize(
    "line",
    [
        *("x=push; git $x", "git ${x:-push} origin", "git -C . $x", "/usr/bin/git $x"),
        *("git $(echo push)", "git `echo push` origin", "xargs git <<< push", "env git $x"),
        *("git -c alias.c=push c", "git config alias.c push; git c"),
    ],
)
def test_somebody_is_asked_where_the_subcommand_shows_when_it_runs(
    tmp_path: Path, line: str
) -> None:
    assert verdict(line, tmp_path) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "git status $x",
        'git -C "$x" log',
        "git add *.py",
        "git log --format=$x",
        "ls | xargs git add",
    ],
)
def test_an_unknown_word_elsewhere_asks_nobody(tmp_path: Path, line: str) -> None:
    assert verdict(line, tmp_path) == "allow"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("cat a", "deny"),
        ("if true; then cat a; fi", "deny"),
        ("for f in a; do timeout 5 cat $f; done", "deny"),
        ("for c in cat; do $c a; done", "ask"),
        ("for c in cat; do timeout 5 $c a; done", "ask"),
        ("for c in show; do git $c HEAD; done", "deny"),
        ("for f in a; do head $f; done", "allow"),
    ],
)
def test_a_line_that_only_reads_is_written_out_for_no_rule_to_be_gone_round(
    tmp_path: Path, line: str, wanted: str
) -> None:
    rules = [parse_rule(f"bash({each})", "deny") for each in ("cat *", "git show *")]
    gate = Gate(tmp_path, lambda: RuleBook(rules), mode="ask")
    assert gate.decide("bash", {"command": line}).verdict == wanted


@pytest.mark.parametrize(
    "line",
    [
        "for x in secrets/plan.txt; do awk 1 $x; done",
        'for x in secrets; do awk 1 "$x/plan.txt"; done',
        "for x in secrets/plan.txt; do date -f $x; done",
        "for x in secrets/plan.txt; do cat $x; done",
        "if true; then timeout 5 cat secrets/plan.txt; fi",
    ],
)
def test_a_loop_leads_to_no_file_that_a_rule_denies(tmp_path: Path, line: str) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/plan.txt").write_text("x")
    rules = [parse_rule("read(secrets/**)", "deny")]
    gate = Gate(tmp_path, lambda: RuleBook(rules), mode="ask")
    assert gate.decide("bash", {"command": line}).verdict in ("ask", "deny")
    assert Gate(tmp_path, RuleBook).decide("bash", {"command": line}).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    ["f=secrets/plan.txt; awk 1 $f", "cd $X; awk 1 plan.txt", "ls | xargs awk 1", "tar -tf $X"],
)
def test_awk_reads_what_shows_when_it_runs_as_cat_does(tmp_path: Path, line: str) -> None:
    gate = Gate(
        tmp_path,
        lambda: RuleBook([parse_rule("read(secrets/**)", "deny")]),
        mode="auto",
        sandbox=lambda: "",
    )
    assert gate.decide("bash", {"command": line}, confines=True).verdict == "ask"
