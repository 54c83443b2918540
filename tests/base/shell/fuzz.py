"""Random lines of shell that only look, run by bash in a sandbox: nothing must come of them."""

import os
import random
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from amplifier_tui.base.commands.sandbox import Sandbox
from amplifier_tui.base.git import READING_ENVIRONMENT
from amplifier_tui.base.shell import only_reads, plain_line, read_shell_line
from amplifier_tui.base.shell.options import OptionTable, option_tables

# --- lines ---------------------------------------------------------------------------------------

OPERANDS = (
    *("a", "b", "c.json", "dir", "dir/x", "list", "a.tar", ".", "..", "-", "--", "HEAD", "main"),
    *("HEAD~1", "HEAD:a", "new", "out", "dir/new", "*", "d*", "a*", "?", "[ab]", "{a,b}", "{a,-o}"),
    *("*.json", "~/h", "/tmp/home/h", "-5", "5", "1,3", "+1", "+%F", "0", "x=1", "@list", ".[]"),
    *("'a'", '"b"', "\\a", "$'a'", "'a b'", "''", "$'\\x61'", '"$x"', "$x", "$(touch new)"),
    *("`touch new`", "<(touch new)", "'a[$(touch new)]'", "'a[`touch new`]'", "\\(", "\\)", "!"),
    *("'w out'", "p", "1p", "'s/x/y/'", "'s/x/y/w out'", "'1e touch new'", "s/x/y/e", "'%s'", "%n"),
    *("evil", "touch", "-exec", "-delete", "{}", "+", "\\;", "list", "show", "drop", "origin"),
    *("add", "add", "get-url", "expire", "user.name", "core.pager", "-a", "=", "-f", "'*.x'"),
)
REDIRECTIONS = (
    *(
        ">/dev/null",
        "2>/dev/null",
        "2>&1",
        ">&2",
        "<a",
        "</dev/null",
        "<<<x",
        "2>&-",
        "&>/dev/null",
    ),
    *(">out", ">>a", ">|a", "&>out", ">&out", "<>out", "2>out", ">$x", ">/dev/null out", "3>&1"),
)
JOINS = (" | ", "|", " && ", "; ", " || ", " & ", "\n", " |& ", ";", " ! ")
PREFIXES = ("x=1 ", "PATH=. ", "! ", "time ", "command ", "\\", "( ", "{ ", "if ", "cd dir && ")
CHARACTERS = " '\"\\$`()[]{}<>|&;*?!~#=-\n\tae5"
OTHERS = ("touch new", "rm a", "evil", "sh evil", "tee out", "cp a out", "eval ls", "mkdir new")
WAITING = ("sleep", "follow", "retry")
"""What would wait for the end of the time it has."""


def lines(count: int, seed: int) -> Iterator[str]:
    """Yield lines: commands of the table above all, some spoiled, some with others among them."""
    source = random.Random(seed)
    tables = sorted(option_tables().items())
    for _ in range(count):
        parts = [_command(source, *source.choice(tables))]
        while source.random() < 0.25:
            other = source.random() < 0.15
            command = source.choice(OTHERS) if other else _command(source, *source.choice(tables))
            parts += [source.choice(JOINS), command]
        line = "".join(parts)
        if source.random() < 0.05:
            line = source.choice(PREFIXES) + line
        if source.random() < 0.1:
            at = source.randrange(len(line) + 1)
            line = line[:at] + source.choice(CHARACTERS) + line[at + source.randint(0, 1) :]
        yield line


AROUND = (
    "for x in a dir/x; do {}; done",
    "for x in *; do {}; done",
    "for x in -o out; do {}; done",
    "for x in *; do for x in a; do :; done; {}; done",
    "for x in a; do for x in -o; do :; done; {}; done",
    "for x in a b; do {}; done >/dev/null",
    "for PATH in dir .; do {}; done",
    "if test -f a; then {}; else {}; fi",
    "if {}; then ls; fi",
    "until {}; do ls; break; done",
    "! {}",
    "({})",
    "{{ {}; }}",
    "timeout 5 {}",
    "timeout -k 1 -s KILL 5s nice -n 5 {}",
    "time -p {}",
    "time -o out {}",
    "for x in a b; do for y in b; do {}; done; done",
    "for x in a; do timeout 5 {}; done",
)


def around(count: int, seed: int) -> Iterator[str]:
    """Yield lines in which others stand in loops, conditions and behind programs that time them."""
    source = random.Random(seed)
    for line in lines(count, seed):
        used = line.replace("a", source.choice(("$x", '"$x"', '""$x""', "${x}", "a")), 1)
        frame = source.choice(AROUND)
        yield frame.format(*[used] * frame.count("{}"))


def _command(source: random.Random, name: str, table: OptionTable) -> str:
    words = [name]
    for _ in range(source.choice((0, 1, 1, 2, 2, 3, 4))):
        kind = source.random()
        words.append(_option(source, table) if kind < 0.5 else source.choice(OPERANDS))
    if name.startswith("git ") and source.random() < 0.1:
        words[0] = name.replace("git ", source.choice(("git -C dir ", "git -P ", "git -c x.y=z ")))
    if source.random() < 0.2:
        words.insert(source.randint(1, len(words)), source.choice(REDIRECTIONS))
    return " ".join(words)


def _option(source: random.Random, table: OptionTable) -> str:
    harmless = sorted(table.flags | table.valued | table.optional)
    acting = sorted(table.acting)
    found = source.choice(acting if acting and source.random() < 0.12 else harmless or ["-x"])
    value = source.choice(OPERANDS)
    if len(found) == 2:
        letters = [name[1] for name in (*harmless, *acting) if len(name) == 2]
        more = "".join(source.choices(letters, k=source.choice((0, 0, 1, 2)))) if letters else ""
        found = source.choice((found, f"-{more}{found[1]}", f"{found}{more}", f"{found}{value}"))
    elif source.random() < 0.1:
        found = found[: source.randint(3, len(found))]
    if found.startswith("--") and source.random() < 0.3:
        return f"{found}={value}"
    takes = found in table.valued or f"-{found[-1]}" in table.valued
    return f"{found} {value}" if takes and source.random() < 0.8 else found


def let_through(found: Iterator[str]) -> list[str]:
    """Return the lines that only look."""
    return [
        line for line in found if only_looks(line) and not any(word in line for word in WAITING)
    ]


def only_looks(line: str) -> bool:
    """Whether a line only looks, as it stands or with its loops written out."""
    read = read_shell_line(line)
    plain = plain_line(read)
    return only_reads(read) or (plain is not None and only_reads(plain))


# --- what comes of them --------------------------------------------------------------------------

_RUNNER = """
cd "$1" || exit 1
while IFS= read -r -d '' line; do
  case $line in
    *tail*) timeout -s KILL 1 bash --norc --noprofile -c "$line" </dev/null >/dev/null 2>&1 ;;
    *) (eval "$line") </dev/null >/dev/null 2>&1 ;;
  esac
done </tmp/lines
exit 0
"""
# Programs that options could name or run; each leaves a trace.
_DECOYS = (
    "evil",
    "touch",
    "gpg",
    "pr",
    "less",
    "more",
    "pager",
    "vi",
    "editor",
    "ssh",
    "rsh",
)
_PREPARE = """
git init -q -b main . && git config user.name n && git config user.email e@x && git add . &&
git commit -qm one && echo more >>a && git commit -qam two && git tag v1 && git branch other &&
echo stashed >>b && git stash -q && echo changed >>dir/x && tar -cf a.tar a b
"""


class Workshop:
    """A folder with a workspace, a home and decoys, in which lines are run in a sandbox.

    Args:
        root: An empty folder.
    """

    def __init__(self, root: Path) -> None:
        self._model = root / "model"
        self._scratch = root / "scratch"
        self._workspace = root / "workspace"
        (self._model / "dir").mkdir(parents=True)
        (self._scratch / "bin").mkdir(parents=True)
        for name in _DECOYS:
            decoy = self._scratch / "bin" / name
            decoy.write_text(f"#!/bin/bash\necho {name} >>/tmp/trace\n")
            decoy.chmod(0o755)
        files = {"a": "x\ny\nx\n", "b": "1\n2\n", "c.json": '{"a": [1]}\n', "list": "a\0b\0"}
        for name, text in {**files, "dir/x": "x\n", "dir/-o": "a\n", "s;x;e": "z\n"}.items():
            (self._model / name).write_text(text)
        (self._model / "link").symlink_to("a")
        subprocess.run(
            ["bash", "-c", _PREPARE],
            cwd=self._model,
            env={"PATH": os.environ["PATH"], "HOME": str(self._scratch)},
            check=True,
            capture_output=True,
        )
        self._reset()
        # The sandbox itself makes a folder in the scratch.
        self._run(())
        self._before = self._state()

    def effect(self, run: Sequence[str]) -> str:
        """Run lines one after the other; return what came of them, empty for nothing."""
        self._run(run)
        after = self._state()
        if after == self._before:
            return ""
        changed = sorted(
            name
            for name in after.keys() | self._before
            if after.get(name) != self._before.get(name)
        )
        self._reset()
        return ", ".join(changed)

    def _run(self, run: Sequence[str]) -> None:
        (self._scratch / "lines").write_bytes(b"".join(f"{line}\0".encode() for line in run))
        sandbox = Sandbox(self._workspace, self._scratch)
        subprocess.run(
            sandbox.command(["bash", "-c", _RUNNER, "bash", str(self._workspace)], self._workspace),
            env={
                "PATH": "/tmp/bin:/usr/bin:/bin",
                "HOME": "/tmp/home",
                "LC_ALL": "C.UTF-8",
                # As the tool runs what only reads.
                **READING_ENVIRONMENT,
            },
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=True,
            capture_output=True,
        )

    def guilty(self, run: Sequence[str]) -> list[tuple[str, str]]:
        """Return the lines something came of, with what it was."""
        effect = self.effect(run) if run else ""
        if not effect:
            return []
        if len(run) == 1:
            return [(run[0], effect)]
        half = len(run) // 2
        return [*self.guilty(run[:half]), *self.guilty(run[half:])] or [("\n".join(run), effect)]

    def _reset(self) -> None:
        shutil.rmtree(self._workspace, ignore_errors=True)
        shutil.copytree(self._model, self._workspace, symlinks=True)
        for path in self._scratch.iterdir():
            if path.name != "bin":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self._scratch / "home").mkdir()
        (self._scratch / "home" / "h").write_text("home\n")

    def _state(self) -> dict[str, tuple[int, bytes]]:
        """Every file, folder and link, with its mode and what is in it."""
        found: dict[str, tuple[int, bytes]] = {}
        for root in (self._workspace, self._scratch):
            for path in sorted(root.rglob("*")):
                if path == self._scratch / "lines":
                    continue
                mode = path.lstat().st_mode
                data = b""
                if stat.S_ISLNK(mode):
                    data = os.fsencode(os.readlink(path))
                elif stat.S_ISREG(mode):
                    data = path.read_bytes()
                found[str(path.relative_to(root.parent))] = (mode, data)
        return found
