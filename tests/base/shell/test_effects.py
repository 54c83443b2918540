"""What only looks, what it looks at, and what a rule with a `*` covers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_tui.base.shell import (
    covers,
    only_looks,
    only_reads,
    read_places,
    read_shell_line,
    reads_here,
)
from amplifier_tui.base.shell.options import option_tables
from tests.base.shell.lines import ACTS, LOOKS


def looks(line: str) -> bool:
    return only_reads(read_shell_line(line))


@pytest.mark.parametrize("line", LOOKS)
def test_what_only_looks_is_let_through(line: str) -> None:
    assert looks(line)


@pytest.mark.parametrize("line", ACTS)
def test_what_may_act_is_never_let_through(line: str) -> None:
    assert not looks(line)
    assert read_places(read_shell_line(line)) is None


@pytest.mark.parametrize(
    "line", ["ls\n\\\nrm x", "ls a \n\\\n \\\n rm x", "cat a | wc\n\\\nrm x", "cat ] ]", "cat <] ]"]
)
def test_a_line_of_its_own_is_never_taken_for_words_of_the_one_above(line: str) -> None:
    assert not looks(line)
    assert not read_shell_line(line).complete


@pytest.mark.parametrize(
    "line", ["[\nrm ]", "[ -f\nrm ]", "[ !\nrm ]", "[ a =~\nrm ]", "[ -n a -a\nrm ]", "[ a\n]"]
)
def test_a_line_ends_a_test_that_is_a_program(line: str) -> None:
    assert not looks(line)
    assert not read_shell_line(line).complete


def test_a_test_may_go_on_behind_a_backslash_and_hold_operators_in_quotes() -> None:
    for text in ("[ -f a -a \\\n -f b ]", "[ a = 'x&y' ]", '[ "a|b" = c ] && ls'):
        assert looks(text), text


def test_documents_with_continued_lines_are_read() -> None:
    for text in ("cat <<E > out\nRUN a \\\n  b\nE\nls", "cat <<'E'\na \\\nE\nls", "ls \\\n  -la"):
        assert read_shell_line(text).complete, text


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("cat a /etc/passwd", ("a", "/etc/passwd")),
        ("cat < a", ("a",)),
        ("grep -r x src", ("src",)),
        ("grep -e x -f ../list", ("../list",)),
        ("head --lines=5 ~/.ssh/id_rsa", ("~/.ssh/id_rsa",)),
        ("cd src && cat ../../x", ("src", "../../x", "src/../../x")),
        ("cd ..; ls", ("..",)),
        ("git -C /other log", ("/other",)),
        ("git -C sub diff --no-index ../a ../b", ("sub/../a", "sub/../b", "sub")),
        ("git show HEAD:src/a", ("src/a",)),
        ("git show :/words", ("words",)),
        ("git show :0:a", ("0:a", "a")),
        ("git log -L1,9:a", ("a",)),
        ("git diff -- ':^a' ':(top)b'", ("b",)),
        ("git show HEAD:", ()),
        ("git diff --no-index /etc/a:b c", ("/etc/a:b", "c")),
        ("echo /root/*", ("/root/*",)),
        ("echo /root", ()),
        ("sed -n p a", ("a",)),
        ("find /etc -newer /root/x", ("/etc", "/root/x")),
        ("find -H", ()),
        ("tar -tf a.tar -C /x", ("a.tar", "/x")),
        ("jq .a b.json", ("b.json",)),
        ("[ -f /etc/x ]", ("/etc/x",)),
        ("ls --ignore=/x", ("/x",)),
        ("date -r /etc/x", ("/etc/x",)),
        ("cut -d/ -f1 a", ("a",)),
        ("cat -", ()),
        # What can't be told.
        ("cat {/etc/passwd,x}", None),
        ("cat ~nobody/x", None),
        ("cat ~+/x", None),
        ("cd; cat x", None),
        ("cd -; cat x", None),
        ("cd link/..; cat x", None),
        ("cd s*; cat x", None),
        ("cd a b; cat x", None),
        ("pushd +1; cat x", None),
        ("wc --files0-from=list", None),
        ("sort --files0-from=list", None),
        ("file -f list", None),
        ("grep -R x .", None),
        ("find -L .", None),
        ("rg -L x", None),
        ("diff -r a b", None),
        ("jq -f script a", None),
        ("rm a", None),
    ],
)
def test_the_places_a_line_looks_at_are_told_or_it_says_that_it_cannot(
    line: str, places: tuple[str, ...] | None
) -> None:
    assert read_places(read_shell_line(line)) == places


@pytest.mark.parametrize("line", ["cat a", "cd src && ls", "git log", "ls *", "cat ./a/b"])
def test_what_stays_in_its_folder_reads_here(line: str) -> None:
    assert reads_here(read_shell_line(line))


@pytest.mark.parametrize(
    "line", ["cat /a", "cat ../a", "cd .. && ls", "cat ~/a", "cat a/../../b", "cat <../a", "rm a"]
)
def test_what_leaves_its_folder_does_not_read_here(line: str) -> None:
    assert not reads_here(read_shell_line(line))


def covered(rule: str, line: str, *approved: str) -> bool:
    (command,) = read_shell_line(line).commands
    return covers(tuple(rule.split()), approved, command)


@pytest.mark.parametrize(
    ("rule", "line", "approved"),
    [
        ("npm run test", "npm run test", ""),
        ("npm run test", "npm run test unit src/a*.js", ""),
        ("npm run test", "npm run test --watch unit", "--watch"),
        ("git log", "git log --oneline src", ""),
        ("git -C sub log", "git -C sub log --stat", ""),
        ("git commit", "git commit -m 'something else'", "-m"),
        ("sort", "sort -u other", ""),
        ("sort", "sort -o out other", "-o"),
        ("sed", "sed -i s/a/b/ x", "-i"),
        ("grep", "grep -r x . 2>/dev/null", ""),
        ("python3 tool.py", "python3 tool.py other", ""),
        ("python3.11 -m pytest", "python3.11 -m pytest tests", ""),
        ("make test", "make test all", ""),
        ("cp", "cp a b", ""),
        ("cp", "cp a b 2>&1", ""),
        ("find", "find src -name x", ""),
    ],
)
def test_a_rule_covers_operands_harmless_options_and_those_that_were_approved(
    rule: str, line: str, approved: str
) -> None:
    assert covered(rule, line, *approved.split())


@pytest.mark.parametrize(
    ("rule", "line", "approved"),
    [
        ("npm run test", "npm run build", ""),
        ("npm run test", "npm run test --script-shell=./x", ""),
        ("npm run test", "npm run test -- --x", ""),
        ("npm run test", "npm run test --watch=x", "--watch"),
        ("npm run test", "npm run test $x", ""),
        ("npm run test", "npm run test *", ""),
        ("npm run test", "npm run test > out", ""),
        ("npm run test", "npm run test >& out", ""),
        ("npm run test", "npm run test < in", ""),
        ("npm run test", "npm run test <<< in", ""),
        ("npm run test", "FOO=1 npm run test", ""),
        ("git grep", "git grep -Osh x", ""),
        ("git log", "git log --output=x", ""),
        ("git diff", "git diff --output=.git/hooks/x", ""),
        ("git show", "git show --output x", ""),
        ("git log", "git -c core.pager=x log", ""),
        ("git fetch", "git fetch --upload-pack=sh", ""),
        ("git config", "git config core.pager sh", ""),
        ("git branch", "git branch -D main", ""),
        ("git tag", "git tag x", ""),
        ("sort", "sort --compress-program=sh a", ""),
        ("sort", "sort -o out a", ""),
        ("sort", "sort --output=b a", "--output=c"),
        ("printf", "printf -v 'a[$(x)]' y", ""),
        ("printf", "printf %n 'a[`x`]'", ""),
        ("test", "test -v 'a[$(x)]'", ""),
        ("test", "test 'a[`x`]' -eq 1", ""),
        ("uniq", "uniq a b", ""),
        ("xxd", "xxd a b", ""),
        ("xxd", "xxd -r a", ""),
        ("split", "split --filter=sh a", ""),
        ("history", "history -w a", ""),
        ("sed", "sed -e 'w f' a", ""),
        ("sed", "sed -e 's/x/y/e' a", "-e"),
        ("sed", "sed -i 'w f' a", "-i"),
        ("tar", "tar -tf a --checkpoint-action=exec=sh", "-tf"),
        ("tar", "tar -xf a", ""),
        ("cp", "cp --target-directory=.git/hooks a", ""),
        ("cp", "cp -t .git/hooks a", ""),
        ("find", "find . -delete", ""),
        ("find", "find . -exec sh {} +", ""),
        ("python3.11", "python3.11 x.py", ""),
        ("/usr/bin/python3.12", "/usr/bin/python3.12 x.py", ""),
        ("mawk", "mawk -f x", ""),
        ("gawk", "gawk '{print > x}'", ""),
        ("awk", "awk -f x -f y a", "-f x"),
        ("python3 -m", "python3 -m x", ""),
        ("make", "make x", ""),
        ("make test", "make test SHELL=/tmp/x", ""),
        ("make test", "make test 'SHELL=/tmp/x'", ""),
        ("make test", "make test S*L=x", ""),
        ("bash", "bash x", ""),
        ("eval", "eval x", ""),
        ("source", "source x", ""),
        (".", ". x", ""),
        ("xargs", "xargs rm", ""),
        ("env", "env x", ""),
        ("sudo", "sudo rm", ""),
        ("timeout", "timeout 5 rm", ""),
        ("declare", "declare 'a[1]'", ""),
        ("read", "read 'a[x]'", ""),
        ("npm", "npm 'x' `y`", ""),
        ("npm", "npm <(y)", ""),
    ],
)
def test_a_rule_does_not_grant_more_than_it_says(rule: str, line: str, approved: str) -> None:
    commands = read_shell_line(line).commands
    words = tuple(rule.split())
    assert not covers(words, tuple(approved.split()), commands[0])


def test_arguments_that_are_known_can_be_asked_about_without_a_line() -> None:
    assert only_looks(("git", "log", "--stat"))
    assert not only_looks(("sort", "-o", "x"))


def test_no_option_is_both_harmless_and_acting() -> None:
    for name, table in option_tables().items():
        harmless = table.flags | table.valued | table.optional
        assert not harmless & table.acting, name
        assert not table.elsewhere & table.acting, name


WORDS = st.sampled_from(
    (
        *("-", "--", "-o", "-i", "-O", "-5", "-C", "-n", "-e", "-vz", "-tf", "-Co", "-no", "-ni"),
        *("--output=x", "--output", "--out", "--all", "--list", "-delete", "-exec", "a", "p"),
        *("'w f'", "x=1", "*", "b*", "{a,-o}", ";", "~/a", ".."),
    )
)


@settings(max_examples=300)
@given(st.sampled_from(sorted(option_tables())), st.lists(WORDS, max_size=6))
def test_an_acting_option_anywhere_in_a_line_is_never_let_through(
    name: str, words: list[str]
) -> None:
    acting = option_tables()[name].acting
    if looks(" ".join((name, *words))):
        assert not acting & set(words)
        assert not any(word.split("=")[0] in acting for word in words)


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_no_text_breaks_the_reading(text: str) -> None:
    line = read_shell_line(text)
    assert only_reads(line) or read_places(line) is None
