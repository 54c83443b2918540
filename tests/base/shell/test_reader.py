import shlex
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amplifier_tui.base.shell import Redirection, programs_of, read_shell_line, readings
from amplifier_tui.base.shell.reader import MAX_LENGTH


def texts(line: str) -> list[str]:
    return [command.text for command in read_shell_line(line).commands]


def words(line: str) -> list[tuple[str, ...]]:
    return [command.words for command in read_shell_line(line).commands]


def programs(line: str) -> list[str]:
    return [run.program for c in read_shell_line(line).commands for run in programs_of(c)]


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
    script = read_shell_line(line)
    assert [command.text for command in script.commands] == expected
    assert script.complete


@pytest.mark.parametrize(
    "line", ["echo 'open", 'echo "open', "a) b", "(a", "$(a", "`a", "cat <<EOF\nx", "a\\", "${a"]
)
def test_what_does_not_match_up_is_not_complete(line: str) -> None:
    assert not read_shell_line(line).complete


def test_quotes_come_off_the_words() -> None:
    assert words("a 'b c' \"d\"e f\\ g $'h'") == [("a", "b c", "de", "f g", "h")]


def test_what_only_shows_when_it_runs_is_marked() -> None:
    (command,) = read_shell_line("rm -rf $HOME '$HOME' *.py a").commands
    assert command.known == (True, True, False, True, False, True)


def test_redirections_are_no_words() -> None:
    (command,) = read_shell_line("make 2>err >out.txt 2>&1 < in >> $log").commands
    assert command.words == ("make",)
    assert command.redirections == (
        Redirection(">", "err"),
        Redirection(">", "out.txt"),
        Redirection(">&", "1"),
        Redirection("<", "in"),
        Redirection(">>", "", known=False),
    )


def test_a_here_document_is_input_and_not_a_list_of_commands() -> None:
    script = read_shell_line("cat <<'EOF' > a.txt\nrm -rf /\nEOF\nls")
    assert [c.text for c in script.commands] == ["cat <<'EOF' > a.txt", "ls"]
    assert script.commands[0].redirections[0] == Redirection("<<", "rm -rf /")
    assert script.complete


def test_a_here_document_without_quotes_still_substitutes() -> None:
    assert texts("cat <<EOF\n$(rm x)\nEOF") == ["cat <<EOF", "rm x"]


def test_a_pipe_is_remembered() -> None:
    assert [c.piped for c in read_shell_line("a | b; c").commands] == [False, True, False]


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
    (command,) = read_shell_line("$CMD x").commands
    (run,) = programs_of(command)
    assert not run.readable and run.program == ""


def test_wrappers_without_end_cannot_be_read() -> None:
    (command,) = read_shell_line("eval " * 20 + "rm x").commands
    assert any(not run.readable for run in programs_of(command))


def test_a_line_without_end_is_not_taken_apart() -> None:
    script = read_shell_line("a;" * MAX_LENGTH)
    assert not script.complete and len(script.commands) == 1


@pytest.mark.parametrize("piece", ["(", "$(", "${", "`", "<(", '"$(', "{ ", "if "])
def test_nesting_without_end_is_followed_no_further(piece: str) -> None:
    assert not read_shell_line(piece * 501).complete or piece in ("{ ", "if ")


_BITS = st.sampled_from([*" '\"\\$(){}`;&|<>\n#=\t\0a2é漢", "EOF", "<<", "case", "in", "esac"])


@given(st.lists(_BITS, max_size=60).map("".join))
def test_no_text_at_all_breaks_the_reader(line: str) -> None:
    script = read_shell_line(line)
    for command in script.commands:
        assert len(command.words) == len(command.known)
        assert programs_of(command) is not None


@given(st.lists(st.text(min_size=1).filter(lambda t: "\0" not in t), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(arguments: list[str]) -> None:
    line = shlex.join(["program", *arguments])
    script = read_shell_line(line)
    # What the parser can't take is said and asked about.
    assume(script.hidden != "text that can't be read")
    assert script.complete
    assert [c.words for c in script.commands] == [("program", *arguments)]


@given(
    st.lists(st.lists(st.text("abc $;&|'\"\n", min_size=1), min_size=1, max_size=3), min_size=1),
    st.sampled_from([" ; ", " && ", " || ", " | ", "\n", " & "]),
)
def test_as_many_commands_come_out_as_went_in(commands: list[list[str]], between: str) -> None:
    line = between.join(shlex.join(["p", *command]) for command in commands)
    assert words(line) == [("p", *command) for command in commands]


@pytest.mark.parametrize("line", ["''``rm x", "r``m x", "echo a``b", "``rm x"])
def test_backquotes_around_nothing_are_no_part_of_a_word(line: str) -> None:
    assert not read_shell_line(line).complete


@given(st.text(st.sampled_from("ab $(`)\"' ;"), max_size=24))
def test_a_substitution_that_runs_is_never_overlooked(text: str):
    # In what follows, `$(` and backticks outside of single quotes always run something.
    line = read_shell_line(text)
    # `$$` is a number, whatever comes behind it.
    outside = single_quotes_removed(text).replace("$$", "")
    if "`" in outside or "$(" in outside:
        assert line.hidden


def single_quotes_removed(text: str) -> str:
    kept, place, double = "", 0, False
    while place < len(text):
        character = text[place]
        if character == "'" and not double:
            end = text.find("'", place + 1)
            place = len(text) if end < 0 else end
        elif character == '"':
            double = not double
        # The quotes themselves stay: what stands on both sides does not come together.
        kept += character
        place += 1
    return kept


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("a > b", ["b"], []),
        ("a >b 2>&1", ["b"], []),
        ("a &>> b", ["b"], []),
        ("a >| b", ["b"], []),
        ("a < b > c", ["c"], ["b"]),
        ("a 2>/dev/null", [], []),
        ("a >&2", [], []),
        ("a 3>&-", [], []),
        ("> 'odd name'", ["odd name"], []),
        ("echo 'a > b'", [], []),
        ("a>b;c>d", ["b", "d"], []),
    ],
)
def test_redirections_are_files_and_not_words(text: str, writes: list[str], reads: list[str]):
    line = read_shell_line(text)
    redirections = [r for c in line.commands for r in c.redirections if r.target != "/dev/null"]
    assert [r.target for r in redirections if r.writes] == writes
    assert [r.target for r in redirections if r.operator == "<"] == reads


@pytest.mark.parametrize(
    "text",
    ["a;" * 30_000, "$(" * 30_000, '"' * 60_001, "sudo " * 20_000, "sh -c 'sh -c x' " * 2_000],
)
def test_long_lines_take_no_time_to_speak_of(text: str):
    began = time.process_time()
    for command in read_shell_line(text).commands:
        list(readings(command))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "line",
    [
        "a <> b",  # What the grammar does not know,
        "a {fd}>out",
        "a <<E <<F\n1\nE\n2\nF",
        "a -1>out",  # what it takes for something else,
        "a#b c",
        "a x\\\ny",
        "2u=1 a",
        "a `b \\`c\\``",
        ">f`b`c",
        "a >&'1'",
        "bash (git)",
        "coproc a",
        "time { a; }",
        "a\0b",  # and what no shell reads.
        "a\rb",
    ],
)
def test_what_the_tree_gets_wrong_is_not_understood(line: str) -> None:
    assert not read_shell_line(line).complete


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ("a b", ""),
        ("a $(b)", "a command substitution"),
        ("a <(b)", "a process substitution"),
        ("(a)", "a group of commands"),
        ("find . -exec a {} +", "a word that begins with a brace"),
        ("awk '{a}' b", ""),
        ("select a in b; do c; done", "the shell's own `for`"),
        ("for ((i=0; i<2; i++)); do a; done", "the shell's own `for ((`"),
        ("a <<E\nx\nE", "a here document"),
        ("a $'b'", "a quoted string with escapes"),
        ("if a; then b; fi", "the shell's own `if`"),
        ("eval a", "the shell's own `eval`"),
        ("f() { a; }", "a function"),
        ("a 'b", "unbalanced quotes or brackets"),
    ],
)
def test_what_makes_a_line_more_than_its_commands_is_named(line: str, hidden: str) -> None:
    assert read_shell_line(line).hidden == hidden


def test_a_redirection_belongs_to_the_last_command_of_a_list() -> None:
    assert texts("a && b | c > out") == ["a", "b", "c > out"]
    assert texts("(a; b) > out") == ["a", "b", "> out"]


def test_a_pipeline_is_known_however_deep_a_command_is_in_it() -> None:
    commands = read_shell_line("a | (b; c | d) ; e").commands
    assert [c.piped for c in commands] == [False, True, True, True, False]
    assert [c.pipeline for c in commands] == [1, 1, 1, 1, 0]


def test_very_long_pipelines_are_not_read() -> None:
    assert not read_shell_line("a | " * 20_000).complete
    table = "|".join("x" * 400)
    assert read_shell_line(f"cat <<'E'\n{(table + chr(10)) * 5}E").complete


@pytest.mark.parametrize(
    "text", ["{\U0010ffff", "{{1\U000fc482}", "{1..\U00088b15}", "a {{\u65e5}"]
)
def test_what_the_parser_can_not_take_is_not_given_to_it(text: str) -> None:
    assert not read_shell_line(text).complete
