"""What one command of the table of programs looks at, told from its words.

Option by option the table decides, see ``options.py``. What a repository's own configuration makes
git run does not show in a command, see ``base/git.py``; neither does where the links lead that a
program comes across.
"""

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from amplifier_tui.base.lazy.dataclass import dataclass
from amplifier_tui.base.lazy.pattern import lazy_pattern
from amplifier_tui.base.shell.line import Redirection, ShellCommand
from amplifier_tui.base.shell.options import (
    Arguments,
    OptionTable,
    awk_only_reads,
    only_tells,
    option_tables,
    read_arguments,
)

EXPANDED: Final = lazy_pattern(r"[$`(\\'\"]")
"""In a word that only running tells: it may become anything, or names of another pattern."""


class Looks(NamedTuple):
    """What a command looks at; `told` is False when it may be more than these places."""

    places: tuple[str, ...] = ()
    told: bool = True


@dataclass(frozen=True, slots=True)
class _Call:
    """A program of the table with the words behind it; `other` are options that pass besides."""

    name: str
    table: OptionTable
    words: tuple[str, ...]
    known: tuple[bool, ...]
    other: frozenset[str]

    def arguments(self) -> Arguments | None:
        read = read_arguments(self.table, self.words, self.other)
        if read is None:
            return None
        # What expands to several words is no value: the others would be operands.
        operands = {place for place, _ in read.operands}
        for place, known in enumerate(self.known):
            if not known and place not in operands and not self.words[place].startswith("-"):
                return None
        return read


def looks(command: ShellCommand, other: frozenset[str] = frozenset()) -> Looks | None:
    """Return what a command looks at; None when it does anything else, or that can't be told."""
    if command.assignments or not command.words:
        return None
    if not all(map(writes_nothing, command.redirections)):
        return None
    name, at = named(command)
    table = option_tables().get(name)
    if table is None:
        tells = all(command.known) and only_tells(command.words)
        fed = any(each.operator == "<" for each in command.redirections)
        return Looks() if tells and not fed else None
    call = _Call(name, table, command.written[at:], command.known[at:], other)
    if not _safely_expanded(call):
        return None
    seen = _READERS[table.operands](call)
    if seen is None:
        return None
    folder = posixpath.join("", *git_folders(command.written[:at]))
    inputs = [each.target for each in command.redirections if each.operator == "<"]
    # A pattern says what there is where it leads.
    patterns = [w for w, known in zip(call.words, call.known, strict=True) if not known]
    magic = [each for each in call.words if name.startswith("git ") and each.startswith(":")]
    files = (*seen.places, *patterns, *(file for word in magic for file in git_files(word)))
    places = [*(posixpath.join(folder, file) for file in files), *inputs]
    places = [place for place in dict.fromkeys((*places, folder)) if place not in ("", "-")]
    told = seen.told and not any(map(_is_unclear, places))
    return Looks(tuple(places), told and not any("{" in pattern for pattern in patterns))


def writes_nothing(redirection: Redirection) -> bool:
    """Whether a redirection does no more than read, feed text in, or copy a descriptor."""
    target = redirection.target
    if not redirection.known:
        return False
    if redirection.writes:
        return target == "/dev/null"
    if redirection.operator == "<":
        # To the shell these are connections.
        return not target.startswith(("/dev/tcp/", "/dev/udp/"))
    return redirection.operator in ("<<", "<<<") or bool(re.fullmatch(r"\d+-?|-", target))


def _is_unclear(place: str) -> bool:
    """Whether a shell makes something else of a place than the user's home, or of nothing."""
    return place.startswith("~") and place != "~" and not place.startswith("~/")


_GIT_OPTIONS: Final = frozenset({"--no-pager", "-P", "--no-optional-locks"})


def named(command: ShellCommand) -> tuple[str, int]:
    """Return the program as the table calls it, and how many words that are."""
    words, known = command.written, command.known
    at = 1
    if not all(known[:1]):
        return "", at
    if words[0] != "git":
        return words[0], at
    while at < len(words) and (words[at] == "-C" or words[at] in _GIT_OPTIONS):
        at += 2 if words[at] == "-C" else 1
    if not all(known[: at + 1]):
        return "", at
    name = " ".join(("git", *words[at : at + 2]))
    if name in option_tables() and all(known[at : at + 2]) and at + 1 < len(words):
        return name, at + 2
    return " ".join(("git", *words[at : at + 1])), at + 1


_TELL_NAMES: Final = frozenset({"[", "ls", "stat", "test", "git check-ignore", "git status"})


def tells_names(command: ShellCommand) -> bool:
    """Whether a program says of files what they are called and how large, and nothing in them.

    Redirections are not looked at.
    """
    # What it says may be written elsewhere.
    plain = replace(command, redirections=())
    return looks(plain) is not None and named(command)[0] in _TELL_NAMES


def git_folders(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders that `git -C` goes to, one from the other."""
    return tuple(words[at + 1] for at, word in enumerate(words[:-1]) if word == "-C")


def _safely_expanded(call: _Call) -> bool:
    """Whether words that only running tells can be no options that do something."""
    for word, known in zip(call.words, call.known, strict=True):
        if known:
            continue
        if EXPANDED.search(word):
            return False
        if call.table.acting and (not word or word[0] in "-*?[{!,"):
            return False
    return True


# --- what the words of a program are -------------------------------------------------------------


def _values(call: _Call, arguments: Arguments) -> list[str]:
    """Values of options that name files, or look like it."""
    return [
        value
        for name, value in arguments.options
        if name in call.table.files
        or ("/" in value and value != "/")
        or value.startswith("~")
        or value == ".."
    ]


def _looked(call: _Call, arguments: Arguments, operands: list[str]) -> Looks:
    told = not arguments.has(*call.table.elsewhere)
    return Looks((*operands, *_values(call, arguments)), told)


def _files(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None:
        return None
    operands = [word for _, word in arguments.operands]
    if call.name == "strings" and any(word.startswith("@") for word in call.words):
        return None  # A file of options, wherever it stands.
    if call.name in ("cd", "pushd") and not _is_folder(operands, call):
        return _looked(call, arguments, operands)._replace(told=False)
    return _looked(call, arguments, operands)


def _is_folder(operands: list[str], call: _Call) -> bool:
    """Whether a change of folders leads where its one operand says."""
    if len(operands) != 1 or not all(call.known) or operands[0][:1] in ("", "-", "+"):
        return False
    # Behind a name, `..` goes back to where the shell came from, not to what holds a link's target.
    return ".." not in operands[0].lstrip("./").split("/")


def _first(call: _Call) -> Looks | None:
    """A second operand would be written to, and some take all behind the first for operands."""
    arguments = call.arguments()
    if arguments is None or not all(call.known):
        return None
    if any(place != len(call.words) - 1 for place, _ in arguments.operands):
        return None
    return _looked(call, arguments, [word for _, word in arguments.operands])


def _pattern(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None:
        return None
    operands = [word for _, word in arguments.operands]
    given = arguments.has("-e", "--regexp", "-f", "--file", "--files", "--type-list")
    return _looked(call, arguments, operands if given else operands[1:])


_JQ_LOOKS_ELSEWHERE: Final = lazy_pattern(r"\b(?:import|include|env|ENV|get_search_list)\b")


def _jq(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None:
        return None
    operands = [word for _, word in arguments.operands]
    if arguments.has("-f", "--from-file"):
        return _looked(call, arguments, operands)
    place = arguments.operands[0][0] if operands else 0
    if not all(call.known[: place + 1]) or any(map(_JQ_LOOKS_ELSEWHERE.search, operands[:1])):
        return None
    return _looked(call, arguments, operands[1:])


def _text(call: _Call) -> Looks | None:
    arguments = call.arguments()
    return None if arguments is None else _looked(call, arguments, [])


def _any(call: _Call) -> Looks:
    return Looks()


def _none(call: _Call) -> Looks | None:
    return _text(call) if all(word.startswith("-") for word in call.words) else None


def _date(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None or any(not word.startswith("+") for _, word in arguments.operands):
        return None  # It would be the time to set.
    return _looked(call, arguments, [])


_COUNTS: Final = lazy_pattern(r"%[^%a-zA-Z\\]*[hlLjzt]*n")


def _printf(call: _Call) -> Looks | None:
    # `-v` and `%n` set variables, and expand the subscripts in their names.
    if call.words[:1] and (call.words[0].startswith("-") or _COUNTS.search(call.words[0])):
        return None
    return Looks() if all(call.known[:1]) else None


_TESTS: Final = lazy_pattern(r"-(?:[a-hknoprstuwxzGLNOS]|eq|ne|lt|le|gt|ge|ef|nt|ot)")


def _test(call: _Call) -> Looks | None:
    if not all(call.known) or any(w[:1] == "-" and not _TESTS.fullmatch(w) for w in call.words):
        return None
    if any("[" in word for word in call.words):
        return None
    return Looks(tuple(w for w in call.words if w[:1] not in "-!=<>()]" or w == "-"))


# A set may hold the mark that ends an expression for some programs, and to others it ends it there.
_SED_SET: Final = r"\[\^?+\]?+(?:\[:[a-z]+:\]|\\[^\]\[\n]|{other}[^\]\[\\\n])*\]"
_SED_EXPRESSION: Final = rf"(?:{_SED_SET}|\\[^\n]|{{other}}[^\\\[\n])*"
_SED_ADDRESS: Final = _SED_EXPRESSION.format(other="(?!/)")
_SED_REPLACED: Final = _SED_EXPRESSION.format(other=r"(?!\1)")
# Scripts that only select, delete from the output, or substitute in it.
_SED_SAFE: Final = lazy_pattern(
    rf"(?:[\d$,!;\s{{}}pdq=]|/{_SED_ADDRESS}/"
    rf"|s([/|#,]){_SED_REPLACED}\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*)*"
)


def _sed(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None:
        return None
    scripts = [value for name, value in arguments.options if name in ("-e", "--expression")]
    operands = [word for _, word in arguments.operands]
    if not scripts:
        place = arguments.operands[0][0] if operands else 0
        if not all(call.known[: place + 1]):
            return None
        scripts, operands = operands[:1], operands[1:]
    if not scripts or not all(map(_SED_SAFE.fullmatch, scripts)):
        return None
    return Looks(tuple(operands))


def _awk(call: _Call) -> Looks | None:
    # Other options name files of programs, each of which runs.
    arguments = replace(call, other=frozenset()).arguments()
    if arguments is None or not arguments.operands:
        return None
    (place, script), *files = arguments.operands
    if not (all(call.known[: place + 1]) and awk_only_reads(script)):
        return None
    return _looked(call, arguments, [word for _, word in files])


_FIND_NUMBER: Final = lazy_pattern(r"-\d+[bcwkMG]?")
_FIND_NEWER: Final = lazy_pattern(r"-newer[aBcm][aBcm]")


def _find(call: _Call) -> Looks | None:
    table, places, told = call.table, list[str](), True
    at, expression = 0, False
    while at < len(call.words):
        word, known = call.words[at], call.known[at]
        at += 1
        if word in ("!", "(", ")", ","):
            expression = True
        elif not word.startswith("-"):
            if expression:
                return None
            places.append(word)
        elif word in table.valued or _FIND_NEWER.fullmatch(word):
            value = call.words[at : at + 1]
            # What may be a test or an action of its own is no value.
            if not value or not call.known[at]:
                return None
            if value[0].startswith("-") and not _FIND_NUMBER.fullmatch(value[0]):
                return None
            if word in table.files or word.startswith("-newer"):
                places.append(value[0])
            expression, at = True, at + 1
        elif not known or (word not in table.flags and word not in call.other):
            return None
        else:
            told = told and word not in table.elsewhere
            expression = expression or word not in ("-P", "-L", "-H")
    return Looks(tuple(places), told)


_TAR_LETTERS: Final = lazy_pattern(r"[tvzjJ]+f?")


def _tar(call: _Call) -> Looks | None:
    if call.words[:1] and _TAR_LETTERS.fullmatch(call.words[0]):
        call = replace(call, words=(f"-{call.words[0]}", *call.words[1:]))
    arguments = call.arguments()
    if arguments is None or not arguments.has("-t", "--list"):
        return None
    seen = _looked(call, arguments, [])
    # An archive on another machine.
    return None if any(":" in place for place in seen.places) else seen


# Without one of these they make something of what they are given.
_LISTING: Final = {
    "git branch": "--list --contains --no-contains --merged --no-merged --points-at",
    "git tag": "--list -l --contains --no-contains --merged --no-merged --points-at",
    "git config": "--get --get-all --get-regexp --get-urlmatch --get-color --list -l",
}
_RUNS_GPG: Final = lazy_pattern(r"%G|signature")


def _checks_signatures(arguments: Arguments) -> bool:
    return any(
        _RUNS_GPG.search(value)
        for name, value in arguments.options
        if name in ("--format", "--pretty", "--sort")
    )


def _listing(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None or _checks_signatures(arguments):
        return None
    config = call.name == "git config"
    if config and arguments.operands:
        # It takes what stands behind the first operand for values, also what looks like an option.
        first = arguments.operands[0][0]
        if any(word.startswith("-") for word in call.words[first:]):
            return None
    given = config or any(not word.startswith("-") for word in call.words)
    if given and not arguments.has(*_LISTING[call.name].split()):
        return None
    return _looked(call, arguments, [])


def _revisions(call: _Call) -> Looks | None:
    arguments = call.arguments()
    if arguments is None or _checks_signatures(arguments):
        return None
    outward = ("/", "~", "..")
    # Of `git blame` it says lines alone.
    lines = [value for name, value in arguments.options if name == "-L"]
    words = [word for _, word in arguments.operands] + (lines if call.name != "git blame" else [])
    places: list[str] = []
    for word in words:
        plain = ":" not in word or word.startswith(outward)
        places += [word] if plain else git_files(word)
    return _looked(call, arguments, places)


_MAGIC: Final = lazy_pattern(r":(?:\(([^)]*)\)|([!/^]*):?)(.*)", re.DOTALL)
"""How patterns of files begin for git, and the rest."""


def git_files(word: str) -> list[str]:
    """Return the files that a word with a colon may name to git, and maybe some that it does not.

    As in `HEAD:file`, `:0:file`, `HEAD@{10:00}:file`, `:(top)file`, `:/file` and `-L1,9:file`;
    what git is to leave out is none.
    """
    found = _MAGIC.fullmatch(word)
    if found is not None:
        if "exclude" in (found[1] or "") or set("!^") & set(found[2] or ""):
            return []
        word = f":{found[3]}"
    _, *parts = word.split(":")
    # In a text of several lines a colon is one of the language.
    rests = [":".join(parts[at:]) for at in range(1 if "\n" in word else len(parts))]
    return [rest for rest in rests if rest and not rest.startswith("/")]


_READERS: Final[dict[str, Callable[[_Call], Looks | None]]] = {
    "files": _files,
    "pattern": _pattern,
    "text": _text,
    "any": _any,
    "none": _none,
    "first": _first,
    "date": _date,
    "printf": _printf,
    "test": _test,
    "sed": _sed,
    "find": _find,
    "tar": _tar,
    "jq": _jq,
    "awk": _awk,
    "listing": _listing,
    "revisions": _revisions,
}
