"""Commands that may run a program which their words do not name."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from amplifier_tui.base.shell.line import ShellCommand
from amplifier_tui.base.shell.reader import read_shell_line
from amplifier_tui.base.shell.unwrap import (
    PLAIN,
    READ_WORDS,
    RUN_THEIR_WORDS,
    SHELLS,
    WRAPPERS,
    programs_of,
    runner_length,
)

_RUN_LATER: Final = re.compile(
    r"BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4]|\w*(?:PAGER|EDITOR|BROWSER|_COMMAND|ASKPASS|OPEN)"
    r"|GIT_(?:SSH|EXTERNAL_DIFF|PROXY_COMMAND|CONFIG\w*)|VISUAL|LD_PRELOAD"
)
"""Variables that hold a command, or the name of a file that is run."""
_HARMLESS: Final = frozenset({"", "cat", "less", "more", "true", ":", "vi", "vim", "nano"})
_SETTERS: Final = frozenset({"export", "declare", "typeset", "readonly", "local", "env"})
_LATER: Final = frozenset({"alias", "hash", "enable", "complete", "bind"})
"""Builtins that give a program another name, or have one run later."""
_BEFORE: Final = re.compile(r"[-+].*|\w*=.*|[\d.,]+[a-zA-Z]?|[A-Za-z]|", re.DOTALL)
"""Options, variables, numbers and letters."""
_QUOTED: Final = re.compile(r"'[^']*(?:\$\(|`)[^']*'")
_MOST_NESTING: Final = 3


def may_hide(command: ShellCommand) -> bool:
    """Whether a command may run a program that a rule about programs would not see in its words.

    What a program does by means of its own, such as ``make``, a script in a file or an option of
    ``tar``, does not count: only what the shell, and what runs other programs, make of the words.
    """
    return _may_hide(command, 0)


def _may_hide(command: ShellCommand, depth: int) -> bool:
    words, known = command.written, command.known
    set_here = [*command.assignments]
    name = PurePosixPath(words[0]).name if words else ""
    if name in _SETTERS:
        set_here += words[1:]
    named = (each.partition("=") for each in set_here)
    if any(_RUN_LATER.fullmatch(key) and value not in _HARMLESS for key, _, value in named):
        return True
    if command.assignments and _QUOTED.search(command.text):
        # Arithmetic and `${x@P}` run what stands in a variable.
        return True
    if not words:
        return False
    if name in _LATER and not all(word.startswith("-") for word in words[1:]):
        return True
    runs_words = name in WRAPPERS | RUN_THEIR_WORDS or runner_length(words) > 0
    if runs_words and _is_unnamed(words, known):
        return True
    if "xargs" in words and _program_comes_later(words):
        return True
    texts = name == "eval" or any(PurePosixPath(word).name in READ_WORDS for word in words)
    return texts and any(_text_hides(word, depth) for word in words if not PLAIN.fullmatch(word))


def _is_unnamed(words: Sequence[str], known: Sequence[bool]) -> bool:
    """Whether the word that names the program may be one that only running it tells.

    What looks like an option, its value, or another wrapper stands before that.
    """
    for word, is_known in list(zip(words, known, strict=True))[1:]:
        if not is_known:
            return True
        if not _BEFORE.fullmatch(word) and word not in WRAPPERS | RUN_THEIR_WORDS:
            return False
    return False


def _program_comes_later(words: Sequence[str]) -> bool:
    """Whether what xargs reads names the program: `xargs env`, `xargs sh -c`."""
    last = next((word for word in reversed(words) if not word.startswith("-")), "")
    return PurePosixPath(last).name in WRAPPERS | SHELLS | RUN_THEIR_WORDS


def _text_hides(text: str, depth: int) -> bool:
    """Whether a word that may be run as shell hides what it runs."""
    if depth >= _MOST_NESTING:
        return True
    line = read_shell_line(text)
    return not line.complete or any(
        _may_hide(each, depth + 1)
        or any(not run.readable or not run.program for run in programs_of(each) if each.words)
        for each in line.commands
    )
