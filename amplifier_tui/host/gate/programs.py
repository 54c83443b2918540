"""What well-known programs do, as far as an approval dialog has to know."""

from collections.abc import Callable
from typing import Final

from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.shell import only_looks, runner_length
from amplifier_tui.host.gate.calls.in_place import files_in_place
from amplifier_tui.host.gate.calls.option_words import first_word, option_names
from amplifier_tui.host.gate.verdicts.git import judge_git
from amplifier_tui.host.gate.verdicts.words import (
    DELETES,
    INSTALLS,
    NETWORK,
    READS,
    REMOTE,
    Verdict,
    by_name,
)

SETS_VARIABLES: Final = "sets variables"
UNKNOWN: Final[Verdict] = ("medium", ())
BUILDS: Final[Verdict] = ("medium", ("runs the project's own code",))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILDERS: Final = _words(
    "make cmake ninja pytest tox nox python python3 node deno bun ruby perl php java go cargo "
    "rustc gcc g++ clang tsc npx uvx mvn gradle bazel just rake dotnet swift ruff mypy black "
    "eslint prettier jest vitest lua Rscript julia ghc stack zig"
)
_TELLING: Final = _words("cargo rustc go java npx cmake make gcc g++ clang tsc ruff mypy black")
"""Programs that tell their version, and run nothing of the project's."""
_SYSTEM: Final = by_name(
    (
        ("critical", "formats a disk", "mkfs"),
        ("critical", "changes partitions", "fdisk parted"),
        ("critical", "wipes a disk", "wipefs"),
        ("high", "writes raw data", "dd"),
        ("critical", "shuts the machine down", "shutdown reboot halt poweroff"),
        ("high", "changes services", "systemctl service launchctl"),
        ("high", "changes scheduled jobs", "crontab"),
        ("high", "schedules a command", "at"),
        ("critical", "changes the firewall", "iptables ufw"),
        ("high", "changes users", "useradd usermod"),
        ("critical", "changes users", "userdel"),
        ("high", "changes a password", "passwd"),
        ("critical", "changes who may be root", "visudo"),
        ("high", "mounts a file system", "mount"),
        ("high", "unmounts a file system", "umount"),
        ("critical", "changes the kernel", "insmod modprobe"),
        ("high", "ends processes", "kill pkill killall"),
        ("medium", "changes permissions", "chmod"),
        ("high", "changes owners", "chown chgrp"),
        ("high", DELETES, "shred unlink"),
        ("medium", DELETES, "rmdir"),
        ("high", "empties files", "truncate"),
        ("medium", "moves files", "mv"),
        ("medium", "copies files", "cp"),
        ("medium", "makes links", "ln"),
        ("low", "makes folders", "mkdir"),
        ("low", "makes files", "touch"),
        ("medium", "writes files", "tee"),
        ("high", "copies files, maybe over the network", "rsync"),
        ("high", NETWORK, "curl wget aria2c http https xh xhs nc ncat netcat socat telnet"),
        ("high", NETWORK, "ftp lftp tftp sftp scp nmap ssh-copy-id websocat grpcurl"),
        ("high", "runs a command on another machine", "ssh"),
        ("medium", NETWORK, "ping ping6 fping dig drill delv nslookup host whois finger mtr"),
        ("medium", NETWORK, "traceroute traceroute6 tracepath ssh-keyscan"),
        ("high", INSTALLS, "apt apt-get dnf yum pacman brew snap gem"),
        ("high", REMOTE, "kubectl helm terraform aws gcloud az"),
        ("medium", "runs containers", "docker podman"),
        ("high", "runs text as a command", "eval"),
        ("medium", "runs a script in this shell", "source ."),
        ("medium", "runs text as a command later", "trap"),
    )
)
_PACKAGES: Final[dict[str, frozenset[str]]] = {
    "pip": _words("install uninstall download"),
    "pip3": _words("install uninstall download"),
    "pipx": _words("install run uninstall inject"),
    "uv": _words("add sync pip tool remove"),
    "poetry": _words("add install update remove"),
    "npm": _words("install i ci add update uninstall publish"),
    "pnpm": _words("install i add update remove publish dlx"),
    "yarn": _words("install add upgrade remove publish dlx"),
    "conda": _words("install update remove create"),
}
_SUBCOMMAND_PROGRAMS: Final = frozenset(
    {"git", "docker", "podman", "kubectl", "cargo", "go", "npx", "uvx", *_PACKAGES}
    | _words("dotnet swift zig stack bazel mix ruff hatch pdm bundle composer rails")
    | _words("gh glab flyctl fly heroku vercel netlify supabase firebase wrangler vagrant")
)
_TARGET_PROGRAMS: Final = _words(
    "make gmake just ninja rake gradle gradlew mvn mvnw ant sbt lein nox invoke inv fab task grunt "
    "gulp"
)
"""Every operand is one more thing they do: none follows from another."""
_APPLIES: Final = {("git", "apply"), ("git", "am")}
"""What these do is in the file they are given."""
_DEEP: Final[dict[str, frozenset[str]]] = {
    "git": _words("bisect submodule stash worktree notes lfs bundle"),
    "docker": _words("compose image volume network system container"),
    "podman": _words("compose image volume network system container"),
    "npm": _words("run run-script"),
    "pnpm": _words("run"),
    "yarn": _words("run"),
    "bun": _words("run"),
    "deno": _words("run task"),
    "go": _words("run tool"),
    "gh": _words("api auth browse cache codespace gist issue label org pr project release repo")
    | _words("ruleset run search secret ssh-key variable workflow extension alias config"),
    "glab": _words("api auth ci issue label mr release repo schedule snippet variable"),
}
"""Subcommands whose next word says what is done."""
_IN_CONTAINERS: Final = _words("run exec")
"""Subcommands that run any program in a container."""
_INTERPRETERS: Final = _words("python python3 node deno bun ruby perl php Rscript julia lua java")


def linked_files(program: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return what `ln` makes links to, and leaves as it is; empty where that is not plain."""
    if program != "ln" or any(word.startswith(("-t", "--t")) for word in arguments):
        return ()
    flags = option_names(arguments)
    operands = tuple(word for word in arguments if not word.startswith("-"))
    plain = "t" not in flags and operands[-1:] not in [(each,) for each in operands[:-1]]
    return operands[:-1] if plain else ()


def judge_program(program: str, arguments: tuple[str, ...]) -> Verdict:
    """Return how risky a program is with these arguments, paths not considered."""
    if program.startswith("git-credential"):
        program, arguments = "git", (program.removeprefix("git-"), *arguments)
    special = _SPECIAL.get(program)
    if special is not None:
        return special(arguments)
    if program in _TELLING and arguments in (("--version",), ("version",)):
        return UNKNOWN
    if only_looks((program, *arguments)):
        return READS
    if program.startswith("mkfs."):
        program = "mkfs"
    if program in _SYSTEM:
        risk, reason = _SYSTEM[program]
        return risk, (reason,)
    if program in _PACKAGES:
        subcommand = first_word(arguments)
        if subcommand in _PACKAGES[program]:
            return "high", (INSTALLS,)
        return BUILDS if subcommand in ("run", "test", "exec", "start", "build") else UNKNOWN
    return BUILDS if program in _BUILDERS else UNKNOWN


def talks_to_operands(program: str) -> bool:
    """Whether operands of a program name the machines that it talks to."""
    return program in _SYSTEM and _SYSTEM[program][1] == NETWORK


def rule_prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words a standing rule for a command would begin with.

    At least the program; programs that do anything at all bring what they are to do. Empty when
    only the exact command can be a rule.
    """
    if not words:
        return ()
    if length := runner_length(words):
        inner = rule_prefix(words[length:])
        return words[:length] + inner if inner and not inner[0].startswith("-") else ()
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program in _TARGET_PROGRAMS or (program, *arguments[:1]) in _APPLIES or program == "patch":
        return ()
    if program in _INTERPRETERS and arguments[:1] == ("-m",):
        return words[:3]
    if program in ("docker", "podman") and _IN_CONTAINERS.intersection(arguments[:2]):
        return ()
    if arguments[:1] and arguments[0] in _DEEP.get(program, ()):
        deep = len(arguments) > 1 and not arguments[1].startswith("-")
        return words[:3] if deep else ()
    if program in _INTERPRETERS or program in _SUBCOMMAND_PROGRAMS:
        return words[:2] if arguments and not arguments[0].startswith("-") else ()
    return words[:1]


def _rm(arguments: tuple[str, ...]) -> Verdict:
    flags = option_names(arguments)
    if flags & {"r", "R", "recursive"}:
        return "high", ("deletes whole folders",)
    return "high", (DELETES,)


def _find(arguments: tuple[str, ...]) -> Verdict:
    if "-delete" in arguments:
        return "high", (DELETES,)
    if any(word.startswith(("-fprint", "-fls")) for word in arguments):
        return "medium", ("writes files",)
    return READS


def _sed(arguments: tuple[str, ...]) -> Verdict:
    if files_in_place("sed", arguments) is not None:
        return "medium", ("changes files in place",)
    if {"-f", "--file"} & set(arguments):
        return "medium", ("may run commands or write files",)
    if only_looks(("sed", *arguments)):
        return READS
    return "medium", ("may run commands or write files",)


def _environment(arguments: tuple[str, ...]) -> Verdict:
    if first_word(arguments) and "=" in arguments[-1]:
        return "low", (SETS_VARIABLES,)
    return "medium", ("shows environment variables",)


_CHANGES_PROGRAMS: Final = lazy_pattern(
    r"(?:LD|DYLD|BASH|GIT|XDG|LESS|JAVA|npm_config)_\w+|(?:PYTHON|PERL5|RUBY)\w+|ENV|IFS|HOME"
    r"|\w*(?:PATH|PAGER|EDITOR|SHELL|OPTIONS|OPTS|FLAGS)|LESSOPEN|VISUAL|BROWSER|PS[0-4]"
    r"|PROMPT_COMMAND"
)
_SETTERS: Final = _words("export declare typeset readonly local unset")


def variables_changed(words: tuple[str, ...], assignments: tuple[str, ...]) -> Verdict | None:
    """Return what is to be said of variables that change what other commands do, if some are set.

    Args:
        words: Of a command.
        assignments: Those before it.
    """
    set_here = (*assignments, *(words[1:] if words[:1] and words[0] in _SETTERS else ()))
    names = dict.fromkeys(each.partition("=")[0].rstrip("+").partition("[")[0] for each in set_here)
    found = [name for name in names if _CHANGES_PROGRAMS.fullmatch(name)]
    return ("high", (f"{', '.join(found)[:200]} changes what commands do",)) if found else None


_AWK_ACTS: Final = lazy_pattern(r"\bsystem\s*\(|[>|@]")
_AWK_LOADS: Final = ("-f", "-E", "-i", "-l", "--file", "--exec", "--include", "--load")
"""Options that name a program, whose text is not on the line."""


def _awk(arguments: tuple[str, ...]) -> Verdict:
    if only_looks(("awk", *arguments)):
        return READS
    acts = any(word.startswith(_AWK_LOADS) or _AWK_ACTS.search(word) for word in arguments)
    return ("medium", ("may run commands or write files",)) if acts else READS


def _dd(arguments: tuple[str, ...]) -> Verdict:
    if any(word.startswith("of=/dev/") for word in arguments):
        return "critical", ("overwrites a device",)
    return "high", ("writes raw data",)


def _chmod(arguments: tuple[str, ...]) -> Verdict:
    flags = option_names(arguments)
    if flags & {"R", "recursive"} or "777" in arguments or "a+rwx" in arguments:
        return "high", ("changes permissions widely",)
    return "medium", ("changes permissions",)


def _interpreter(arguments: tuple[str, ...]) -> Verdict:
    if {"-c", "-e", "--eval"} & set(arguments):
        return "medium", ("runs code given on the command line",)
    if first_word(arguments) == "" and not arguments:
        return "medium", ("runs code it is given",)
    if arguments[:2] in (("-m", "pip"),):
        return judge_program("pip", arguments[2:])
    if arguments[:2] in (("-m", "http.server"),):
        return "high", (NETWORK,)
    return BUILDS if set(arguments) - {"--version", "-V"} else READS


def _node(arguments: tuple[str, ...]) -> Verdict:
    return READS if arguments == ("-v",) else _interpreter(arguments)


_MACHINE: Final = r"(/|/home/?|/(?:etc|root|var|run|usr|boot|dev|proc|sys|lib|s?bin)(?:/[^:,]*)?)"
_MOUNTED: Final = lazy_pattern(
    rf"^(?:-v|--volume=)?{_MACHINE}:|^(?:--mount=)?(?:.*,)?(?:src|source)={_MACHINE}(?:,|$)"
)
"""A folder of the machine itself that a container gets."""


def _docker(arguments: tuple[str, ...]) -> Verdict:
    subcommand = first_word(arguments)
    if subcommand in ("ps", "images", "logs", "inspect", "version", "info"):
        return READS
    if subcommand in ("rm", "rmi", "prune", "system", "volume"):
        return "high", ("deletes containers or images",)
    if subcommand in ("push", "login"):
        return "high", (REMOTE,)
    folders = {found[1] or found[2] for word in arguments if (found := _MOUNTED.search(word))}
    if "privileged" in option_names(arguments) or "/" in folders:
        return "critical", ("gives a container the whole machine",)
    if folders:
        return "high", (f"gives a container {min(folders)}",)
    return "medium", ("runs containers",)


_SPECIAL: Final[dict[str, Callable[[tuple[str, ...]], Verdict]]] = {
    "rm": _rm,
    "find": _find,
    "sed": _sed,
    "env": _environment,
    "printenv": _environment,
    "export": _environment,
    "set": lambda arguments: READS if arguments else _environment(()),
    "awk": _awk,
    "gawk": _awk,
    "git": judge_git,
    "dd": _dd,
    "chmod": _chmod,
    "python": _interpreter,
    "python3": _interpreter,
    "node": _node,
    "perl": _interpreter,
    "ruby": _interpreter,
    "docker": _docker,
    "podman": _docker,
}
