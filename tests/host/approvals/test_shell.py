import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_tui.host.approvals.shell import Redirect, runs, split_commands
from amplifier_tui.host.approvals.shell.reader import MAX_LENGTH


def texts(line: str) -> list[str]:
    return [command.text for command in split_commands(line).commands]


def words(line: str) -> list[tuple[str, ...]]:
    return [command.words for command in split_commands(line).commands]


def programs(line: str) -> list[str]:
    return [run.program for c in split_commands(line).commands for run in runs(c)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ls -la", ["ls -la"]),
        ("a && b || c; d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("a\nb\n\nc", ["a", "b", "c"]),
        ("echo 'a; b' \"c && d\" e\\;f", ["echo 'a; b' \"c && d\" e\\;f"]),
        ("(cd x && make) | tee log", ["cd x", "make", "tee log"]),
        ("echo $(rm x)", ["echo $(rm x)", "rm x"]),
        ('echo "$(rm x)"', ['echo "$(rm x)"', "rm x"]),
        ("echo `rm x`", ["echo `rm x`", "rm x"]),
        ("echo '$(rm x)'", ["echo '$(rm x)'"]),
        ("diff <(sort a) <(sort b)", ["diff <(sort a) <(sort b)", "sort a", "sort b"]),
        ("echo ${x:-$(rm y)}", ["echo ${x:-$(rm y)}", "rm y"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("for f in x y; do rm $f; done", ["rm $f"]),
        ("while read l; do echo $l; done < f", ["read l", "echo $l", "< f"]),
        ("f() { rm x; }; f", ["rm x", "f"]),
        ("echo hi # ; rm x", ["echo hi"]),
        ("a |& b", ["a", "b"]),
        ("! a", ["a"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_a_command_line_falls_into_its_simple_commands(line: str, expected: list[str]) -> None:
    script = split_commands(line)
    assert [command.text for command in script.commands] == expected
    assert script.complete


@pytest.mark.parametrize(
    "line", ["echo 'open", 'echo "open', "a) b", "(a", "$(a", "`a", "cat <<EOF\nx", "a\\", "${a"]
)
def test_what_does_not_match_up_is_not_complete(line: str) -> None:
    assert not split_commands(line).complete


def test_quotes_come_off_the_words() -> None:
    assert words("a 'b c' \"d\"e f\\ g $'h'") == [("a", "b c", "de", "f g", "h")]


def test_what_only_shows_when_it_runs_is_marked() -> None:
    (command,) = split_commands("rm -rf $HOME '$HOME' *.py a").commands
    assert command.known == (True, True, False, True, False, True)


def test_redirections_are_no_words() -> None:
    (command,) = split_commands("make 2>err >out.txt 2>&1 < in >> $log").commands
    assert command.words == ("make",)
    assert command.redirects == (
        Redirect(">", "err"),
        Redirect(">", "out.txt"),
        Redirect(">&", "1"),
        Redirect("<", "in"),
        Redirect(">>", "", known=False),
    )


def test_a_here_document_is_input_and_not_a_list_of_commands() -> None:
    script = split_commands("cat <<'EOF' > a.txt\nrm -rf /\nEOF\nls")
    assert [c.text for c in script.commands] == ["cat <<'EOF' > a.txt", "ls"]
    assert script.commands[0].redirects[0] == Redirect("<<", "rm -rf /")
    assert script.complete


def test_a_here_document_without_quotes_still_substitutes() -> None:
    assert texts("cat <<EOF\n$(rm x)\nEOF") == ["cat <<EOF", "rm x"]


def test_a_pipe_is_remembered() -> None:
    assert [c.piped for c in split_commands("a | b; c").commands] == [False, True, False]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sudo -u root rm x", ["rm"]),
        ("env -i A=b B=c rm x", ["rm"]),
        ("timeout -s KILL 5 nice -n 3 rm x", ["rm"]),
        ("nohup setsid rm x", ["rm"]),
        ("xargs -n 1 rm -f", ["rm"]),
        ("bash -c 'a; rm x'", ["a", "rm"]),
        ("bash -lc 'rm x'", ["rm"]),
        ("sh -c \"bash -c 'rm x'\"", ["rm"]),
        ("eval 'rm x'", ["rm"]),
        ("find . -name x -exec rm {} +", ["find", "rm"]),
        ("bash <<EOF\nrm x\nEOF", ["rm"]),
        ("bash script.sh", ["bash"]),
        ("/usr/bin/rm x", ["rm"]),
        ("sudo", ["sudo"]),
        ("su -c 'rm x' root", ["rm"]),
    ],
)
def test_wrappers_come_off(line: str, expected: list[str]) -> None:
    assert programs(line) == expected


def test_a_program_that_is_a_variable_cannot_be_read() -> None:
    (command,) = split_commands("$CMD x").commands
    (run,) = runs(command)
    assert not run.readable and run.program == ""


def test_wrappers_without_end_cannot_be_read() -> None:
    (command,) = split_commands("eval " * 20 + "rm x").commands
    assert any(not run.readable for run in runs(command))


def test_a_line_without_end_is_not_taken_apart() -> None:
    script = split_commands("a;" * MAX_LENGTH)
    assert not script.complete and len(script.commands) == 1


@pytest.mark.parametrize("piece", ["(", "$(", "${", "`", "<(", '"$(', "{ ", "if "])
def test_nesting_without_end_is_followed_no_further(piece: str) -> None:
    assert not split_commands(piece * 501).complete or piece in ("{ ", "if ")


_BITS = st.sampled_from([*" '\"\\$(){}`;&|<>\n#=\t\0a2é漢", "EOF", "<<", "case", "in", "esac"])


@given(st.lists(_BITS, max_size=60).map("".join))
def test_no_text_at_all_breaks_the_reader(line: str) -> None:
    script = split_commands(line)
    for command in script.commands:
        assert len(command.words) == len(command.known)
        assert runs(command) is not None


@given(st.lists(st.text(min_size=1).filter(lambda t: "\0" not in t), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(arguments: list[str]) -> None:
    line = shlex.join(["program", *arguments])
    script = split_commands(line)
    assert script.complete
    assert [c.words for c in script.commands] == [("program", *arguments)]


@given(
    st.lists(st.lists(st.text("abc $;&|'\"\n", min_size=1), min_size=1, max_size=3), min_size=1),
    st.sampled_from([" ; ", " && ", " || ", " | ", "\n", " & "]),
)
def test_as_many_commands_come_out_as_went_in(commands: list[list[str]], between: str) -> None:
    line = between.join(shlex.join(["p", *command]) for command in commands)
    assert words(line) == [("p", *command) for command in commands]
