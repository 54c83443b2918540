"""What a command really runs: `sudo env X=1 timeout 5 rm -rf x` runs `rm -rf x`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.shell.line import ShellCommand
from amplifier_tui.base.shell.reader import read_shell_line

_RUNNER_ROWS: Final = (
    "uv run|pipenv run|poetry run|pdm run|hatch run|rye run|conda run|mamba run|micromamba run"
    "|npm exec|npm x|pnpm exec|pnpm dlx|yarn exec|yarn dlx|bun x|bundle exec|mise exec|mise x"
    "|git bisect run|git submodule foreach"
)
RUNNERS: Final = frozenset(_RUNNER_ROWS.split("|"))
"""What runs the words behind it, as it is written."""
_LONGEST_RUNNER: Final = 3
_TAKES_VALUE: Final = {
    "uv": "--with --with-requirements --with-editable --python -p --group --only-group --no-group"
    " --extra --no-extra --project --directory --env-file --package --index --default-index"
    " --index-url -i --extra-index-url --cache-dir --config-file --color --link-mode",
    "conda": "-n --name -p --prefix --cwd",
    "npm": "-w --workspace --package -p",
    "pnpm": "--package -C --dir --filter",
    "mise": "-C --cd -E --env",
    "poetry": "-C --directory -P --project",
}
"""Options behind them that take the next word."""

_MOST_DEPTH: Final = 8
SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "busybox"})
ROOT_WRAPPERS: Final = frozenset({"sudo", "doas", "su", "pkexec", "run0"})

# Wrappers and their options that take a value in the next word.
_WRAPPERS: Final[dict[str, frozenset[str]]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-T", "-U", "-r", "-t", "-D", "-R"}),
    "doas": frozenset({"-u", "-C"}),
    "pkexec": frozenset({"--user"}),
    "run0": frozenset({"-u", "-g", "-D"}),
    "env": frozenset({"-u", "-C", "-S", "--unset", "--chdir", "--split-string"}),
    "xargs": frozenset({"-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s", "--max-args", "--replace"}),
    "nohup": frozenset(),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n", "-p"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-s", "-k"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "setsid": frozenset(),
    "command": frozenset(),
    "builtin": frozenset(),
    "exec": frozenset({"-a"}),
    "watch": frozenset({"-n", "-d"}),
    "strace": frozenset({"-e", "-o", "-p"}),
    "caffeinate": frozenset({"-t", "-w"}),
    "flock": frozenset({"-w", "--timeout", "-E", "--conflict-exit-code"}),
    "taskset": frozenset(),
    "chrt": frozenset({"-T", "-P", "-D"}),
    "numactl": frozenset(),
    "ltrace": frozenset({"-e", "-o", "-p", "-n", "-s"}),
    "unshare": frozenset({"-R", "-w", "-S", "-G"}),
    "systemd-run": frozenset({"-p", "-u", "-E", "-t", "--unit", "--property"}),
    "chroot": frozenset(),
    "fakeroot": frozenset({"-l", "-s", "-i", "-b"}),
    "unbuffer": frozenset(),
    "xvfb-run": frozenset({"-e", "-f", "-n", "-p", "-s"}),
    "parallel": frozenset({"-j", "-I", "-n", "-N", "-a", "-S", "--jobs", "--arg-file"}),
    "watchexec": frozenset({"-e", "-w", "-i"}),
    "direnv": frozenset(),
    "rustup": frozenset(),
}
WRAPPERS: Final = frozenset({*_WRAPPERS, "su", "eval", "coproc"})
"""Programs that run another one, named somewhere among their words."""

_LOOKED_AT: Final = 20
"""Words behind a wrapper among which the program it runs is looked for."""
_MOST_NESTING: Final = 3

RUN_THEIR_WORDS: Final = frozenset(
    {"busybox", "ssh", "npx", "bunx", "tmux", "screen", "runuser", "setpriv", "prlimit", "choom"}
    | {"nsenter", "setarch", "linux32", "linux64", "i386", "x86_64", "uname26", "jobs", "compgen"}
    | {"mapfile", "readarray", "script", "source", ".", "trap", "complete", "hash"}
)
"""Others that run one named by their words; what they are remains with who judges them."""
READ_WORDS: Final = SHELLS | {
    *("trap", "script", "ssh", "su", "tmux", "runuser", "watch", "mapfile", "readarray"),
    *("compgen", "complete", "alias", "eval"),
}
"""Programs that take a word for a script."""

_SHELL_VALUES: Final = frozenset({"--rcfile", "--init-file"})
_SAYS_WHICH: Final = re.compile(r"-p?[vV]\Z")
_SPLIT: Final = re.compile(r"(?:-[iv0]*S|--split-string=?)(.*)", re.DOTALL)

# Words between the options and the command: `timeout 5 cmd`.
_FIXED: Final = {"timeout": 1, "flock": 1, "taskset": 1, "chrt": 1, "chroot": 1, "direnv": 2} | {
    "rustup": 2
}
PLAIN: Final = re.compile(r"[\w./:@,+%-]*")
"""Words that a shell takes for no more than a name."""
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One program that a command would run: its words begin with the program itself.

    `wrappers` are the programs around it, outermost first; `readable` is False when what it runs
    can't be told from the text.
    """

    command: ShellCommand
    wrappers: tuple[str, ...] = ()
    readable: bool = True

    @property
    def program(self) -> str:
        """The program's name without its folder; empty when there is none or it is unknown."""
        words, known = self.command.words, self.command.known
        if not words or not known[0]:
            return ""
        return PurePosixPath(words[0]).name

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.command.words[1:]


def programs_of(command: ShellCommand) -> tuple[ProgramRun, ...]:
    """Return what a command runs, wrappers taken off, the scripts of `sh -c` taken apart."""
    return tuple(_unwrapped(command, (), 0))


def _unwrapped(
    command: ShellCommand, wrappers: tuple[str, ...], depth: int
) -> Iterator[ProgramRun]:
    run = ProgramRun(command, wrappers)
    program = run.program
    if depth > _MOST_DEPTH:
        yield replace(run, readable=False)
    elif program in _WRAPPERS:
        yield from _wrapped(command, program, wrappers, depth)
    elif length := runner_length(command.words):
        yield from _run_by(command, length, wrappers, depth)
    elif program == "busybox" and run.arguments and not run.arguments[0].startswith("-"):
        # The first word is the program that it is.
        yield from _unwrapped(_from(command, 1), (*wrappers, program), depth + 1)
    elif program == "su" or program in SHELLS:
        yield from _shell(run, depth)
    elif program == "eval":
        known = all(command.known)
        text = " ".join(run.arguments).removeprefix("-- ")
        yield from _script(run, text, known, depth)
    elif program == "find":
        yield run
        yield from _find(command, wrappers, depth)
    else:
        yield replace(run, readable=not command.words or command.known[0])


def _wrapped(
    command: ShellCommand, program: str, wrappers: tuple[str, ...], depth: int
) -> Iterator[ProgramRun]:
    takes_value = _WRAPPERS[program]
    index = 1
    words = command.words
    if program == "command" and all(command.known[1:2]) and _SAYS_WHICH.match("".join(words[1:2])):
        # It says what would be run.
        yield ProgramRun(command, wrappers)
        return
    while index < len(words):
        word = words[index]
        if program == "env" and (split := _SPLIT.fullmatch(word)):
            text = " ".join((split[1], *words[index + 1 :])).strip()
            yield from _script(ProgramRun(command, wrappers), text, all(command.known), depth)
            return
        if word == "--":
            index += 1
            break
        if word.startswith("-") and len(word) > 1:
            index += 2 if word in takes_value else 1
        elif program in ("env", "sudo", "doas", "time") and "=" in word:
            index += 1
        else:
            break
    index += _FIXED.get(program, 0)
    if index >= len(words):
        yield ProgramRun(command, wrappers)
        return
    if program == "flock" and words[index] in ("-c", "--command"):
        text = " ".join(words[index + 1 : index + 2])
        yield from _script(ProgramRun(command, wrappers), text, all(command.known), depth)
        return
    inner = _from(command, index)
    yield from _unwrapped(inner, (*wrappers, program), depth + 1)


def _run_by(
    command: ShellCommand, length: int, wrappers: tuple[str, ...], depth: int
) -> Iterator[ProgramRun]:
    words = command.words
    runner = " ".join((PurePosixPath(words[0]).name, *words[1:length]))
    start = run_from(words, length)
    if start >= len(words):
        yield ProgramRun(command, wrappers)
    elif runner == "git submodule foreach" and start == len(words) - 1:
        run = ProgramRun(command, (*wrappers, runner))
        yield from _script(run, words[start], command.known[start], depth)
    else:
        yield from _unwrapped(_from(command, start), (*wrappers, runner), depth + 1)


def _shell(run: ProgramRun, depth: int) -> Iterator[ProgramRun]:
    arguments = run.arguments
    place, is_script = _first_operand(run.program, arguments)
    if is_script:
        text = arguments[place] if place < len(arguments) else ""
        yield from _script(run, text, all(run.command.known[: place + 2]), depth)
        return
    for redirection in run.command.redirections:
        if redirection.operator in ("<<", "<<<"):
            yield from _script(run, redirection.target, redirection.known, depth)
            return
    # A script file, or what comes through a pipe.
    yield run


def _first_operand(program: str, arguments: tuple[str, ...]) -> tuple[int, bool]:
    """Return the place of a shell's first operand, and whether it is a script and no file."""
    at, is_script = 0, False
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word in ("--command", "--session-command") or (program == "su" and word == "-c"):
            return at, True
        if word in ("--", "-") and program != "su":
            return at, is_script
        if word in _SHELL_VALUES:
            at += 1
        elif word[:1] in ("-", "+") and word[:2] != "--":
            is_script = is_script or (word[0] == "-" and "c" in word)
            # The names of the options they set follow, one for each.
            at += 0 if program == "su" else word.count("o") + word.count("O")
        elif not word.startswith("--") and program != "su":
            return at - 1, is_script
    return at, is_script


def _script(run: ProgramRun, text: str, known: bool, depth: int) -> Iterator[ProgramRun]:
    script = read_shell_line(text)
    wrappers = (*run.wrappers, run.program)
    if not script.commands or not script.complete or not known:
        yield replace(run, readable=False)
    for command in script.commands:
        yield from _unwrapped(command, wrappers, depth + 1)


def _find(command: ShellCommand, wrappers: tuple[str, ...], depth: int) -> Iterator[ProgramRun]:
    words = command.words
    for index, word in enumerate(words):
        if word in _FIND_RUNS:
            end = index + 1
            while end < len(words) and words[end] not in (";", "+"):
                end += 1
            inner = _from(command, index + 1, end)
            if inner.words:
                yield from _unwrapped(inner, (*wrappers, "find"), depth + 1)


def _from(command: ShellCommand, start: int, end: int | None = None) -> ShellCommand:
    part = slice(start, end)
    return replace(
        command,
        words=command.words[part],
        known=command.known[part],
        written=command.written[part],
    )


def readings(command: ShellCommand) -> Iterator[tuple[str, ...]]:
    """Yield every way to read a command, for rules that have to catch it whatever wraps it.

    As written, unwrapped, and what a shell in it would run. Where a wrapper's options are unknown,
    what it runs may begin at any of its words.
    """
    for words in _readings(command, 0):
        yield words
        yield (PurePosixPath(words[0]).name or words[0], *words[1:])


def _readings(command: ShellCommand, depth: int) -> Iterator[tuple[str, ...]]:
    words = command.written
    if not words:
        return
    yield words
    name = PurePosixPath(words[0]).name or words[0]
    if name in WRAPPERS | RUN_THEIR_WORDS or runner_length(words):
        yield from (words[start:] for start in range(1, min(len(words), _LOOKED_AT)))
    if name in SHELLS:
        place, is_script = _first_operand(name, words[1:])
        files = () if is_script else (words[place + 1 :],)
        read = ((each.target,) for each in command.redirections if each.operator == "<")
        yield from (file for file in (*files, *read) if file)
    for run in programs_of(command):
        if run.command.written and run.command.written is not words:
            yield run.command.written
    if depth < _MOST_NESTING and any(PurePosixPath(word).name in READ_WORDS for word in words):
        for word in words:
            if not PLAIN.fullmatch(word):
                for inner in read_shell_line(word).commands:
                    yield from _readings(inner, depth + 1)


def runner_length(words: tuple[str, ...]) -> int:
    """Return how many words run what stands behind them; 0 where none do."""
    if not words:
        return 0
    name = PurePosixPath(words[0]).name
    lengths = range(2, min(_LONGEST_RUNNER, len(words)) + 1)
    return next((n for n in lengths if " ".join((name, *words[1:n])) in RUNNERS), 0)


def run_from(words: tuple[str, ...], start: int) -> int:
    """Return where the program begins that a runner of `start` words runs; options are passed."""
    takes_value = _TAKES_VALUE.get(PurePosixPath(words[0]).name, "").split()
    at = start
    while at < len(words) and words[at].startswith("-"):
        at += 1
        if words[at - 1] == "--":
            break
        at += words[at - 1] in takes_value
    return at
