"""Operands of programs that are addresses of other machines, however they are spelt."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from amplifier_tui.base.commands.git_lines.words import git_words
from amplifier_tui.base.shell import ProgramRun
from amplifier_tui.host.gate.programs import talks_to_operands

_FOR_SOMEONE: Final = re.compile(r"[\w.+-]+@(?!sha\d+:)[\w.-]+:")
"""`user@host:path`, whichever program gets it; the digest of an image is none."""
_AT_A_HOST: Final = re.compile(r"[^/]*:")
"""`host:path`, and git's `transport::address`."""
_COPIERS: Final = frozenset({"scp", "rsync"})
_PUT: Final = {
    "curl": ("-o", "--output", "--output-dir"),
    "wget": ("-O", "--output-document", "-P", "--directory-prefix"),
}
"""Options whose value is where they put what they get."""
_OF_GIT: Final[tuple[tuple[str, ...], ...]] = (
    *(("push",), ("fetch",), ("pull",), ("clone",), ("ls-remote",)),
    *(("fetch-pack",), ("send-pack",), ("submodule", "add")),
)
"""Commands of git whose first operand is where another repository is."""
_FLAGS: Final = re.compile(
    r"-[afnpqrtuv]|--(?:all|dry-run|follow-tags|force|force-with-lease|no-verify|prune|quiet"
    r"|rebase|set-upstream|tags|verbose)?"
)
"""Options of these that take no value in the next word."""


def names_address(run: ProgramRun, approved: Sequence[str]) -> bool:
    """Whether a program is given an address that is not among the words a rule begins with.

    Addresses with `://` show in any word, and are looked for elsewhere.
    """
    words = [word for word in run.arguments if word not in approved]
    if any(map(_FOR_SOMEONE.match, words)):
        return True
    if run.program in _COPIERS:
        return any(map(_AT_A_HOST.match, words))
    if talks_to_operands(run.program):
        return any(word not in approved for word in _operands(run))
    if run.program != "git":
        return False
    _, subcommand, rest = git_words(run.arguments)
    before: tuple[str, ...] = (subcommand,)
    behind = rest
    if before not in _OF_GIT:
        before, behind = (subcommand, *rest[:1]), rest[1:]
    if before not in _OF_GIT:
        return False
    found = _first_operands(behind)
    found += [word.partition("=")[2] for word in rest if word.startswith("--repo=")]
    return any(_AT_A_HOST.match(word) and word not in approved for word in found)


def _operands(run: ProgramRun) -> Iterator[str]:
    """Yield what may be an operand of what gets something."""
    put = _PUT.get(run.program, ())
    before, words = "", iter(run.arguments)
    for word in words:
        # Behind an option, one may be its value.
        if word in put and not before.startswith("-"):
            next(words, "")
        elif not word.startswith("-"):
            yield word
        before = word


def _first_operands(words: Sequence[str]) -> list[str]:
    """Return the first operand, and before it what may be one or the value of an option."""
    found: list[str] = []
    valued = False
    for word in words:
        if word.startswith("-"):
            valued = "=" not in word and not _FLAGS.fullmatch(word)
            continue
        found.append(word)
        if not valued:
            break
        valued = False
    return found
