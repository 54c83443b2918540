"""Programs that only look, and their options that do more."""

from typing import Final

from amplifier_tui.base.shell.line import ShellCommand, ShellLine


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


READERS: Final = _words(
    "ls cat head tail wc pwd echo printf grep egrep fgrep rg ag fd tree file stat du df date cal "
    "which whereis type whoami id uname hostname arch sort uniq cut tr column nl diff cmp comm "
    "basename dirname realpath readlink true false test [ [[ sleep seq expr bc jq yq less more "
    "man help history jobs ps top uptime free lscpu lsblk nproc locale cd pushd popd "
    "dirs md5sum sha1sum sha256sum cksum strings od xxd hexdump tac rev fold fmt paste join "
    "unset alias read local declare return exit break continue shift wait : tokei "
    "cloc bat exa eza"
)
GIT_READERS: Final = _words(
    "status log diff show blame grep ls-files ls-tree rev-parse describe shortlog reflog "
    "cat-file rev-list name-rev whatchanged help version"
)
WRITE_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "sort": frozenset({"o", "output"}),
    "tree": frozenset({"o"}),
    "yq": frozenset({"i", "inplace"}),
    "xxd": frozenset({"r"}),
    "date": frozenset({"s", "set"}),
    "history": frozenset({"c", "d"}),
}
# Those that look at nothing but the files they are given, run nothing, and say no more than that.
_HARMLESS: Final = _words(
    "ls pwd cat head tail wc grep stat du df echo printf which whoami uname true false"
)
_HARMLESS_GIT: Final = _words("status diff log show")
_WRITING_GIT: Final = ("--output", "--ext-diff", "--textconv")


def option_names(arguments: tuple[str, ...]) -> set[str]:
    """Return the single letters and long names of the options."""
    found: set[str] = set()
    for word in arguments:
        if word.startswith("--"):
            found.add(word[2:].split("=")[0])
        elif word.startswith("-"):
            found.update(word[1:])
    return found


def is_harmless(line: ShellLine) -> bool:
    """Whether every command of a line only looks, and only at what is in its folder."""
    if not line.complete or line.hidden or not line.commands:
        return False
    return all(_only_looks(command) for command in line.commands)


def _only_looks(command: ShellCommand) -> bool:
    if not command.written or command.assignments:
        return False
    if any(r.target != "/dev/null" for r in command.redirections if r.writes or r.operator == "<"):
        return False
    program, *rest = command.written
    if program == "git":
        if not rest or rest[0] not in _HARMLESS_GIT:
            return False
    elif program not in _HARMLESS:
        return False
    return not any(map(_reaches_out, rest))


def _reaches_out(word: str) -> bool:
    if "$" in word or ".." in word or word.startswith(("/", "~", *_WRITING_GIT)):
        return True
    return word.startswith("-") and ("/" in word or "~" in word)
