"""What bash really does with a line is among what the reader says it may do."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.base.shell.unwrap import programs_of

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="no bash")

# Three programs that only say with which words they were called.
_PRELUDE = """
exec 9>"$1"; FUNCNEST=8; PATH=/nonexistent
a() { printf '%s\\0' a "$@" $'\\1' >&9; }; b() { printf '%s\\0' b "$@" $'\\1' >&9; }
c() { printf '%s\\0' c "$@" $'\\1' >&9; }
eval "$2"
wait
"""


def run(line: str) -> tuple[list[tuple[str, ...]], set[str]]:
    """The calls bash makes for a line, and the files it makes."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        work = Path(folder, "work")
        work.mkdir()
        subprocess.run(
            [BASH, "--norc", "--noprofile", "-c", _PRELUDE, "bash", str(log), line],
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            timeout=20,
            check=False,
        )
        calls = log.read_text(errors="replace").split("\0\1\0")[:-1]
        return (
            [tuple(call.split("\0")) for call in calls],
            {path.name for path in work.iterdir()},
        )


def unexplained(line: str) -> list[object]:
    """What bash does and a wholly understood line does not say; empty if it is not understood."""
    said = read_shell_line(line)
    if not said.complete:
        return []
    calls, files = run(line)
    runs = [run for command in said.commands for run in programs_of(command)]
    return [
        *(
            call
            for call in calls
            if not any(_says(r.command.words, r.command.known, call) for r in runs)
        ),
        *(
            name
            for name in files
            if not any(
                r.writes and (r.target == name or not r.known)
                for c in said.commands
                for r in c.redirections
            )
        ),
    ]


def _says(words: tuple[str, ...], known: tuple[bool, ...], call: tuple[str, ...]) -> bool:
    for at, (word, sure) in enumerate(zip(words, known, strict=True)):
        if not sure:
            return True  # From here on it is anything.
        if at >= len(call) or call[at] != word:
            return False
    return len(words) == len(call)


LINES = [
    ">& -c b",
    "<& -a b",
    "{a,b}\nc\nx=; }",
    "$(>out)",
    'a "$(>>out)" `>more`',
    "a x\n\\\nb y",
    "a x \n\\\n\\\n  b y",
    "! a\n\\\nb",
    "a | b\n\\\nc",
    "a >out\n\\\nb",
    "x=1\n\\\nb y",
    "a ] ]",
    "a [ ] b",
    "a >] ]",
    "a <<E\nE\\\n\nb x\nE",
    "a <<E\n\\\nE\nb x\nE",
    "a <<EOF\nEO\\\nF\nb x\nEOF",
    "a <<-EOF\n\tEO\\\nF\nb x\nEOF",
    "a <<'E'\nE\\\n\na <<X\nE\nb y\nX",
    "a <<E\nx\\\nE\na <<X\nE\nb y\nX",
    "a <<E\nx\n\tE\na <<X\nE\nb y\nX",
    "a <<E\nx\nE \na <<X\nE\nb y\nX",
    "a >&1evil",
    "function f { a x; }; f",
    "a ${u[`b x`]}",
    "a ${u[$(b x)]}",
    "a >& out; b 2>&1; c >&2",
    "a > out b c",
    ">out a b",
    "a 1 >out 2 >>more 3",
    "a <<E b\nx\nE",
    "a <<E; b\n$(c 1)\nE\nc 2",
    "a <<'E'; b\n$(c 1)\nE\nc 2",
    "a <<-E\n\tx\n\tE\nb",
    "a <<E <<F\n1\nE\n2\nF\nb",
    "a <<E | b\nx\nE",
    "a<<E<<'E'\n$(c)\nE\n",
    "a <<E|b\nc\nE",
    "a <<E;b\nc\nE",
    "a <<E>out\nx\nE",
    "a <<'E'x\n$(c)\nEx",
    "a <<\\E\n$(c)\nE\nb",
    'a <<"E"\n$(c)\nE\nb',
    "a <<E\nE\nb\nE",
    "a <<E\n E\nb\nE\nc",
    "a <<E\nEE\nE\nc",
    "(a; b) >out",
    "{ a; b; } >out",
    "if a; then b >out; fi",
    "for i in 1 2; do a $i; done",
    "case x in y) a;; x|z) b;; esac",
    "a && b || c",
    "! a | b",
    "a & b",
    "x=1 a; x=$(b) c",
    "x=(1 $(a) 2); b",
    "a 'x y' \"p q\" r\\ s $'t\\tu' \"$(b in)\" `c in`",
    "a {1,2} {3..4} ~ *",
    "a <(b x) >(c y)",
    "a # b\nc",
    "a#b c",
    "a x\\\ny; b",
    "a\\\n b",
    "time a; time -p b",
    "a 3>out 4>>more 5>&1",
    "a &>out; b &>>more; c >|third",
    'a <<<x; b <<< "$(c)"',
    "[[ -n x ]] && a; [ -n x ] && b",
    "((1)) && a; (( $(b) )); c $((1 + 2))",
    'a "${u:-$(b)}" ${u:-`c`}',
    "while a; do b; break; done",
    "until a; do b; done",
    "f() ( a ); f; g() { b; } >out; g",
    "a; ; b",
    "a;b&&c|a>out",
    "a\tb\n\tc",
    "coproc a",
    "time { a; }",
    "a \\> out",
    "a '>' out \">out\"",
    "a 2>out",
    "a2>out",
    "a 2 >out",
    "{ a; } 2>&1 | b",
    "a $(b $(c 1) 2) 3",
    "a `b \\`c 1\\` 2` 3",
    "export x=$(a); declare y=`b`",
    "eval a b",
    "a <>out",
    "a {fd}>out",
    "a\rb",
    "a\u00a0b",
    "a\fb",
    "select i in 1; do a; break; done",
    "let x=1 && a",
    "a && { b; c; } || a",
    "if ! a; then b; elif c; then a 1; else b 2; fi",
    "a \"b'c\" 'd\"e'",
    "a $\"x\" $'y'",
    "a ''\"\" ''x",
    "a =b c= -d --e=f",
    "a 1>out 0<out",
    "a -1>out",
    "a >out&b",
    "a>out;b>>out&&c",
    "a >'o u t'",
    "a >$(b)",
    "a | (b | (c))",
    "[ a > out ] && b",
    "[ a \\> out ]; test a > out",
    "[[ a > out ]] && b",
    "[[ a =~ $(b) ]]; [[ a == `c` ]]",
    '[ -n "$(a)" -a `b` ] || c',
    "case $(a) in $(b)) c;; esac",
    "case x in (x) a;; esac; case x in x) a;& y) b;;& *) c;; esac",
    "for ((i=$(a); i<2; i++)); do b; done",
    "for i in `a`; do b; done > out",
    "a <<<$(b) c; a <<<'x' c",
    'a "${u["$(b)"]}" ${u[`c`]:-x}',
    "f() { a; } > out; f; f() { b; }; f",
    "a # it's\nb; a;# \"x\nc",
    'a $# b $* $@ "$@" $$ $! $-',
    'a "x\\\ny"',
    "a $'\\''; b '; c '",
    "a $'\\\\'; b",
    "a 'x'\\''y; b'; c",
    'a "$(b "c; b" \'x\')"',
    'a "`b "c"`"',
    "a ${u#'}'} b; c",
    'a "${u#"}"}" b; c',
    "a ${u//\\}/x} b; c",
    "a ${u/\\'/x} b; c '",
    "a ${u:-'b; c'} \"${u:-'$(b)'}\"",
    "if a; then b; fi | c; { a; } | b; (a) & b",
    "a &>out & b; a >out& b",
    "! { a; }; ! ! b",
    "a \\# b '#' #c\nb",
    "x=1 y=2 a b; x+=1 c; u[$(a)]=$(b)",
    "declare -x x=$(a) y='$(b)' z; readonly r=`c`; export \"q=$(a)\"",
    "a 2>&1>out; b >&2>more; c>&third",
    "a >&$(b); a <&0; a >out{1,2}",
    "let 'x=u[$(a)]'; let x=$(b)",
    "[ -v 'u[$(a)]' ]; test -v 'u[$(b)]'; printf -v 'u[$(c)]' x",
    "unset 'u[$(a)]'; read 'u[$(b)]' <<<x; declare 'u[$(c)]=1'",
    "a <(b > out) >(c > more)",
    '$(a) b; `b` c; "$(c)"',
    "a;b;;c",
    "a;&b",
    "a||&&b",
    "a | | b",
    "a ( b )",
    "a (b) c",
    "function f() { a; }; f; function g\n{\nb\n}\ng",
    "{ a; b; } <<E\nx\nE\nc",
    "while a; do break; done <<E\n$(b)\nE",
    "a <<E && b\nx\nE\nc",
    "a <<E || b\n`c`\nE",
    'a "<<E"\nb\nE',
    "(a <<E\nx\nE\n)\nb",
    "a $(b <<E\n$(c)\nE\n) d",
    "a \\\\\nb",
    "a '\\'\nb",
    'a "\\\\"; b',
    "a [x] b?; c *x",
    "a{,x} b",
    "{a,b} c",
    "a=b c",
    "a= b",
    "=a b",
    "./a b",
    "a/b c",
    "a -- b; a --x='y z' b",
    "((x = 1)) && a > out; ((1)) > more",
    "a ${u:=$(b)} ${u:?`c`}",
    "a <<E\n${u:-$(b)} \\$(c) $((`c`))\nE",
    "if [ x ] > out; then a; fi",
    "a |& b >out; c 2>&1 | a",
    "time a | b; time (a); time -p a; time; b",
    "coproc x { a; }; coproc a",
    "exec 5>out; exec a",
    "a\n\n  b  \n\t c # d\n",
    "\"a\" b; 'a' c; \\a b; a'' c",
    "a() { b; }; a",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_does_nothing_that_was_not_read(line: str) -> None:
    assert unexplained(line) == []


PIECES = [
    *(
        "a",
        "b",
        "c",
        " ",
        " ",
        " ",
        "  ",
        "'x y'",
        '"p q"',
        "\\;",
        "\\\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
    ),
    *(
        "\n",
        ">f1",
        ">>f2",
        "2>&1",
        ">&1e",
        "&>f3",
        ">& f4",
        "<f1",
        ">|f5",
        "<<<w",
        "$(a s)",
        "`b t`",
    ),
    *("$((1+1))", "${u:-v}", "${u[`a`]}", "{", "}", "{ ", "; }", "(", ")", "function f {", "f() {"),
    *("f", "if ", "then ", "fi", "for i in 1 2; do ", "done", "case x in x)", ";;", "esac", "! "),
    *("time ", "#", "$'q\\n'", "x=1", "x=(1 2)", "[[ -n x ]]", "<(a)", "<<E\nt $(b)\nE\n", "~"),
    *(
        "{1,2}",
        "1e",
        "=",
        "-",
        "$u",
        "\t",
        "'",
        '"',
        "\\",
        "`",
        "$(",
        "coproc ",
        "[ x ]",
        "2",
        "2>f6",
    ),
    *(
        "<<'E'\n$(c)\nE\n",
        "|&",
        "$",
        "((1))",
        ">",
        "<",
        "é",
        "*",
        "$((`c`))",
        "${u//`a`/x}",
        "$[1]",
    ),
    *("<<E|", "<<E;", "\nE\n", "<<-E\n\tt\n\tE\n", "E", '<<"E"\n`a`\nE\n', "<<\\E\n$(b)\nE\n"),
    *("[ ", "[\n", " && b ]", "&>f0 ]", " | c ]"),
    *("[ a > f9 ]", "'u[$(a)]'", "let ", "${u:-'$(b)'}", '"${u:-', '}"', "[[ ", " ]]", "test -v "),
    *(
        "${u#'}'}",
        "$'\\''",
        "#(",
        "<<<$(a)",
        "u=",
        "=(",
        "\\\\",
        "? ",
        "[!x]",
        "%",
        "until ",
        "else ",
    ),
    *("declare x=`a`", "u[`b`]=1", "\\'", '\\"', '"$(c q)"', '"`c`"', "<>f7", "{fd}>f8", "<<E"),
]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join))
def test_no_line_does_what_was_not_read(line: str) -> None:
    assert unexplained(line) == []
