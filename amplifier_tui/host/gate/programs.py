"""What well-known programs do, as far as an approval dialog has to know."""

import re
from collections.abc import Callable
from typing import Final

from amplifier_tui.base.shell.programs import (
    GIT_READERS,
    READERS,
    WRITE_OPTIONS,
    option_names,
)
from amplifier_tui.host.events import Risk

Verdict = tuple[Risk, tuple[str, ...]]
"""A risk and the reasons for it, each a few words such as `deletes files`."""

ONLY_READS: Final = "only reads"
READS: Final[Verdict] = ("low", (ONLY_READS,))
UNKNOWN: Final[Verdict] = ("medium", ())
BUILDS: Final[Verdict] = ("medium", ("runs the project's own code",))
DELETES: Final = "deletes files"
NETWORK: Final = "network"
INSTALLS: Final = "installs software"
REMOTE: Final = "changes things outside this machine"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILDERS: Final = _words(
    "make cmake ninja pytest tox nox python python3 node deno bun ruby perl php java go cargo "
    "rustc gcc g++ clang tsc npx uvx mvn gradle bazel just rake dotnet swift ruff mypy black "
    "eslint prettier jest vitest lua Rscript julia ghc stack zig"
)
_SYSTEM: Final[dict[str, tuple[Risk, str]]] = {
    "mkfs": ("critical", "formats a disk"),
    "fdisk": ("critical", "changes partitions"),
    "parted": ("critical", "changes partitions"),
    "wipefs": ("critical", "wipes a disk"),
    "dd": ("high", "writes raw data"),
    "shutdown": ("critical", "shuts the machine down"),
    "reboot": ("critical", "shuts the machine down"),
    "halt": ("critical", "shuts the machine down"),
    "poweroff": ("critical", "shuts the machine down"),
    "systemctl": ("high", "changes services"),
    "service": ("high", "changes services"),
    "launchctl": ("high", "changes services"),
    "crontab": ("high", "changes scheduled jobs"),
    "at": ("high", "schedules a command"),
    "iptables": ("critical", "changes the firewall"),
    "ufw": ("critical", "changes the firewall"),
    "useradd": ("high", "changes users"),
    "userdel": ("critical", "changes users"),
    "usermod": ("high", "changes users"),
    "passwd": ("high", "changes a password"),
    "visudo": ("critical", "changes who may be root"),
    "mount": ("high", "mounts a file system"),
    "umount": ("high", "unmounts a file system"),
    "insmod": ("critical", "changes the kernel"),
    "modprobe": ("critical", "changes the kernel"),
    "kill": ("high", "ends processes"),
    "pkill": ("high", "ends processes"),
    "killall": ("high", "ends processes"),
    "chmod": ("medium", "changes permissions"),
    "chown": ("high", "changes owners"),
    "chgrp": ("high", "changes owners"),
    "shred": ("high", DELETES),
    "unlink": ("high", DELETES),
    "rmdir": ("medium", DELETES),
    "truncate": ("high", "empties files"),
    "mv": ("medium", "moves files"),
    "cp": ("medium", "copies files"),
    "ln": ("medium", "makes links"),
    "mkdir": ("low", "makes folders"),
    "touch": ("low", "makes files"),
    "tee": ("medium", "writes files"),
    "rsync": ("high", "copies files, maybe over the network"),
    "curl": ("high", NETWORK),
    "wget": ("high", NETWORK),
    "nc": ("high", NETWORK),
    "ncat": ("high", NETWORK),
    "netcat": ("high", NETWORK),
    "socat": ("high", NETWORK),
    "telnet": ("high", NETWORK),
    "ftp": ("high", NETWORK),
    "sftp": ("high", NETWORK),
    "scp": ("high", NETWORK),
    "ssh": ("high", "runs a command on another machine"),
    "ping": ("medium", NETWORK),
    "dig": ("medium", NETWORK),
    "nslookup": ("medium", NETWORK),
    "apt": ("high", INSTALLS),
    "apt-get": ("high", INSTALLS),
    "dnf": ("high", INSTALLS),
    "yum": ("high", INSTALLS),
    "pacman": ("high", INSTALLS),
    "brew": ("high", INSTALLS),
    "snap": ("high", INSTALLS),
    "gem": ("high", INSTALLS),
    "kubectl": ("high", REMOTE),
    "helm": ("high", REMOTE),
    "terraform": ("high", REMOTE),
    "aws": ("high", REMOTE),
    "gcloud": ("high", REMOTE),
    "az": ("high", REMOTE),
    "docker": ("medium", "runs containers"),
    "podman": ("medium", "runs containers"),
    "eval": ("high", "runs text as a command"),
    "source": ("medium", "runs a script in this shell"),
    ".": ("medium", "runs a script in this shell"),
    "trap": ("medium", "runs text as a command later"),
}
_GIT: Final[dict[str, tuple[Risk, str]]] = {
    "push": ("high", REMOTE),
    "fetch": ("medium", NETWORK),
    "pull": ("medium", NETWORK),
    "clone": ("medium", NETWORK),
    "clean": ("high", DELETES),
    "rm": ("high", DELETES),
    "restore": ("high", "throws changes away"),
    "filter-branch": ("high", "rewrites history"),
    "filter-repo": ("high", "rewrites history"),
    "rebase": ("high", "rewrites history"),
    "gc": ("medium", "drops unreachable objects"),
    "config": ("medium", "changes git's configuration"),
}
_PACKAGES: Final[dict[str, frozenset[str]]] = {
    "pip": frozenset({"install", "uninstall", "download"}),
    "pip3": frozenset({"install", "uninstall", "download"}),
    "pipx": frozenset({"install", "run", "uninstall", "inject"}),
    "uv": frozenset({"add", "sync", "pip", "tool", "remove"}),
    "poetry": frozenset({"add", "install", "update", "remove"}),
    "npm": frozenset({"install", "i", "ci", "add", "update", "uninstall", "publish"}),
    "pnpm": frozenset({"install", "i", "add", "update", "remove", "publish", "dlx"}),
    "yarn": frozenset({"install", "add", "upgrade", "remove", "publish", "dlx"}),
    "conda": frozenset({"install", "update", "remove", "create"}),
}
# Scripts of sed that only select, delete from the output, or substitute in it.
_SED_SAFE = re.compile(
    r"(?:[\d$,!;\s{}pdq=]|/(?:[^/\\]|\\.)*/|s([/|#,])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gpiI\d]*)*"
)
_SUBCOMMAND_PROGRAMS: Final = frozenset(
    {"git", "docker", "podman", "kubectl", "cargo", "go", "make", "just", "npx", "uvx", *_PACKAGES}
)
_INTERPRETERS: Final = _words("python python3 node deno bun ruby perl php Rscript julia lua java")


def judge_program(program: str, arguments: tuple[str, ...]) -> Verdict:
    """Return how risky a program is with these arguments, paths not considered.

    Args:
        program: Its name without folder; empty when unknown.
        arguments: The words after it.
    """
    special = _SPECIAL.get(program)
    if program in WRITE_OPTIONS and option_names(arguments) & WRITE_OPTIONS[program]:
        return "medium", ("writes files",)
    if special is not None:
        return special(arguments)
    if program in READERS:
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


def first_word(arguments: tuple[str, ...]) -> str:
    """Return the first argument that is no option: the subcommand of programs that have some."""
    return next((word for word in arguments if not word.startswith("-")), "")


def rule_prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words a standing rule for a command would begin with.

    Args:
        words: Program and arguments.

    Returns:
        At least the program; programs that do anything at all bring what they are to do. Empty
        when only the exact command can be a rule.
    """
    if not words:
        return ()
    program, arguments = words[0].rpartition("/")[2], words[1:]
    if program in _INTERPRETERS and arguments[:1] == ("-m",):
        return words[:3]
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
    in_place = any(word.startswith(("-i", "--in-place")) for word in arguments)
    if in_place:
        return "medium", ("changes files in place",)
    if {"-f", "--file"} & set(arguments):
        return "medium", ("may run commands or write files",)
    scripts = [
        arguments[index + 1]
        for index, word in enumerate(arguments[:-1])
        if word in ("-e", "--expression")
    ]
    scripts = scripts or [first_word(arguments)]
    if all(_SED_SAFE.fullmatch(script) for script in scripts):
        return READS
    return "medium", ("may run commands or write files",)


def _environment(arguments: tuple[str, ...]) -> Verdict:
    if first_word(arguments) and "=" in arguments[-1]:
        return "low", ("sets variables",)
    return "medium", ("shows environment variables",)


def _awk(arguments: tuple[str, ...]) -> Verdict:
    text = " ".join(arguments)
    return ("medium", ("may run commands or write files",)) if _awk_acts(text) else READS


def _awk_acts(text: str) -> bool:
    return "system(" in text or ">" in text or "|" in text or "-i inplace" in text


def _git(arguments: tuple[str, ...]) -> Verdict:
    words = list(arguments)
    # `-c` sets any configuration, which may name a program to run.
    configured = any(word == "-c" or word.startswith("--exec-path=") for word in words)
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-C", "-c", "--git-dir", "--work-tree") else 1 :]
    subcommand = words[0] if words else ""
    rest = tuple(words[1:])
    flags = option_names(rest)
    if configured:
        return "high", ("sets git's configuration for this call",)
    if subcommand == "push" and (
        flags & {"f", "force", "force-with-lease", "mirror", "delete", "d"}
        or any(word.startswith("+") for word in rest)
    ):
        return "high", ("overwrites or deletes on the remote",)
    if subcommand == "reset" and "hard" in flags:
        return "high", ("throws changes away",)
    if subcommand == "checkout" and ("--" in rest or "f" in flags or "." in rest):
        return "high", ("throws changes away",)
    if subcommand == "branch" and flags & {"D", "d", "delete"}:
        return "high", ("deletes a branch",)
    if subcommand in ("stash", "worktree", "tag") and {"drop", "clear", "remove", "-d"} & set(rest):
        return "high", ("deletes saved work",)
    if subcommand in _GIT:
        risk, reason = _GIT[subcommand]
        return risk, (reason,)
    if subcommand in GIT_READERS or (subcommand in ("branch", "remote", "tag") and not rest):
        return READS
    return "medium", ("changes the repository",)


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


def _docker(arguments: tuple[str, ...]) -> Verdict:
    subcommand = first_word(arguments)
    if subcommand in ("ps", "images", "logs", "inspect", "version", "info"):
        return READS
    if subcommand in ("rm", "rmi", "prune", "system", "volume"):
        return "high", ("deletes containers or images",)
    if subcommand in ("push", "login"):
        return "high", (REMOTE,)
    if "--privileged" in arguments or any("/:/" in word for word in arguments):
        return "critical", ("gives a container the whole machine",)
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
    "git": _git,
    "dd": _dd,
    "chmod": _chmod,
    "python": _interpreter,
    "python3": _interpreter,
    "node": _interpreter,
    "perl": _interpreter,
    "ruby": _interpreter,
    "docker": _docker,
    "podman": _docker,
}
