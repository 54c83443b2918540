"""Loops written out, conditions and groups left away: what is left is what the commands do."""

import pytest

from amplifier_tui.base.shell import only_reads, plain_line, read_places, read_shell_line


def written(line: str) -> list[str]:
    plain = plain_line(read_shell_line(line))
    return [" ".join(command.written) for command in plain.commands] if plain is not None else []


def reads(line: str) -> bool:
    plain = plain_line(read_shell_line(line))
    return plain is not None and only_reads(plain)


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("for f in a 'b'; do head -5 $f; done", ["head -5 a", "head -5 b"]),
        ("for f in a b; do echo \"== ${f}\"; wc -l $f.txt; done",
         ["echo == a", "echo == b", "wc -l a.txt", "wc -l b.txt"]),
        ("for x in a; do for y in b c; do ls $x/$y; done; done", ["ls a/b", "ls a/c"]),
        ("if [ -f a ]; then cat a; else ls; fi", ["[ -f a ]", "cat a", "ls"]),
        ("until test -f a; do ls; done", ["test -f a", "ls"]),
        ("for f in a b; do sed -n '1,20p' $f; done >/dev/null 2>&1",
         ["sed -n 1,20p a", "sed -n 1,20p b"]),
        ("! (cd src && ls)", ["cd src", "ls"]),
        ("timeout -k 1 5s nice -n 2 ls -l | time wc", ["ls -l", "wc"]),
    ],
)  # fmt: skip
def test_each_command_stands_as_it_runs(line: str, commands: list[str]) -> None:
    assert written(line) == commands and reads(line)


@pytest.mark.parametrize(
    "line",
    [
        "for PATH in .; do ls; done",
        "for f in a; do cat $f; done; cat $f",
        "for f in *; do cat $f; done",
        "for f in $(ls); do cat $f; done",
        "for f in $x; do cat $f; done",
        "for f; do cat $f; done",
        "for f in 'a b'; do cat $f; done",
        "for f in a; do cat '$f'/\"$f\"; done",
        "for f in a; do cat \\$f$f; done",
        "for f in a; do cat ${f%x}; done",
        "for f in a; do cat $f$g; done",
        "for f in a; do f=/etc/passwd; cat $f; done",
        "for f in a; do read f; cat $f; done",
        "for f in a; do rm $f; done",
        "for f in a; do ls > $f; done",
        "for f in -o; do sort $f a b; done",
        "for f in rm; do $f a; done",
        "for f in a; do for f in /etc/passwd; do :; done; cat $f; done",
        "for f in a; do cat $f; done; for f in b; do cat $f; done",
        'for f in x*; do cat "$f"; done',
        'for f in x*; do cat ""$f""; done',
        "for f in a; do ls; done < $f",
        "for f in a; do ls; done > out",
        "for path in .; do ls; done",
        "for fpath in .; do ls; done",
        "for cdpath in .; do ls; done",
        "for module_path in .; do ls; done",
        "for https_proxy in .; do ls; done",
        "for f in cat; do $f a; done",
        "for f in cat; do timeout 5 $f a; done",
        "for f in cat; do nice -n 2 ${f} a; done",
        "for f in -s; do timeout $f 5 9 cat a; done",
        "for f in a; do eval ls; done",
        "for ((i=0; i<2; i++)); do ls; done",
        "select f in a; do ls; done",
        "ls() { rm a; }; if ls; then ls; fi",
        "while read -r f; do cat $f; done",
        "case a in a) ls;; esac",
        "if [[ -f a ]]; then ls; fi",
        "timeout 5 rm a",
        "timeout $x ls",
        "timeout -k ls",
        "time -o out ls",
        "nice -n ls",
        "timeout 5 cd ..",
        "timeout 5 sh -c ls",
        "env ls",
        "if ls; then ls; fi > out",
    ],
)
def test_nothing_else_is_taken_for_reading(line: str) -> None:
    assert not reads(line)


def test_what_a_loop_looks_at_is_told() -> None:
    plain = plain_line(read_shell_line("for f in /etc/passwd a; do timeout 5 cat $f; done"))
    assert plain is not None and read_places(plain) == ("/etc/passwd", "a")


def test_a_loop_that_stands_for_very_many_commands_is_not_written_out() -> None:
    words = " ".join(map(str, range(300)))
    assert not reads(f"for f in {words}; do ls $f; done")
    nested = "".join(f"for {name} in a b c d e f g h; do " for name in "qrst")
    assert not reads(f"{nested} ls $q $r $s $t; done; done; done; done")
