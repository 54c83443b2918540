"""The table of programs that can be used to look only, and what each of their options does.

It is kept in ``options.txt``, a line a program or a few that are alike::

    name, name: OPERANDS [digits] [apart] -flags -x: -y[:] -f@ --long --long= --long[=] --file=@
        ? options that lead elsewhere ! options that act

``:`` and ``=`` take a value, ``[:]`` and ``[=]`` only one in the same word, ``@`` one that names a
file; ``digits`` allows ``-5``; ``apart`` says that the program reads letters in one word in its own
way. What stands behind ``?`` looks at files that nobody named: those listed in a file, or behind
links. What stands behind ``!`` writes or runs something, or may. What is not listed is not known.
``+name`` stands for the options of the line of that name.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from amplifier_tui.base.lazy.dataclass import dataclass

_FILE: Final = Path(__file__).with_name("options.txt")
_NUMBER: Final = re.compile(r"-\d+")


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one program, with their dashes.

    Attributes:
        operands: What the words are that are no options: a key of the readers in ``effects.py``.
        digits: Whether `-5` is an option.
        apart: Whether only options without values may share a word.
        flags: Options without a value.
        valued: Options that take one, the next word if need be.
        optional: Options that may have one in the same word.
        files: Those whose value names a file.
        elsewhere: Those that look at files nobody named.
        acting: Options that write or run something.
    """

    operands: str
    digits: bool
    apart: bool
    flags: frozenset[str]
    valued: frozenset[str]
    optional: frozenset[str]
    files: frozenset[str]
    elsewhere: frozenset[str]
    acting: frozenset[str]


@cache
def option_tables() -> dict[str, OptionTable]:
    """Return the table: programs by name, those of git as `git log`."""
    lines: dict[str, str] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            names, _, rest = line.partition(": ")
            lines.update(dict.fromkeys(names.split(", "), rest))
    return {name: _table(name, lines) for name in lines if not name.startswith("+")}


def _table(name: str, lines: dict[str, str]) -> OptionTable:
    operands, _, rest = lines[name].partition(" ")
    found: dict[str, set[str]] = {kind: set() for kind in ("word", "flag", ":", "[", "@", "?", "!")}
    for kind, option in _options(rest, lines, letters=operands != "find"):
        found[kind].add(option)
    valued = found[":"] | found["@"]
    return OptionTable(
        operands,
        "digits" in found["word"],
        "apart" in found["word"],
        *map(frozenset, (found["flag"], valued, found["["], found["@"], found["?"], found["!"])),
    )


def _options(text: str, lines: dict[str, str], *, letters: bool) -> Iterator[tuple[str, str]]:
    section = ""
    for word in text.split():
        if word in ("?", "!"):
            section = word
        elif word.startswith("+"):
            yield from _options(lines[word], lines, letters=letters)
        elif section:
            yield section, word
        elif not word.startswith("-"):
            yield "word", word
        elif (len(word) > 2 and word[-1] in ":@=") or word.endswith("]"):
            name, mark = re.split(r"(?=[:=@\[])", word, maxsplit=1)
            kind = "@" if mark.endswith("@") else "[" if mark.startswith("[") else ":"
            yield kind, name
        elif letters and not word.startswith("--"):
            yield from (("flag", f"-{letter}") for letter in word[1:])
        else:
            yield "flag", word


_VERSIONS: Final = (
    r"(?:(?:python|pip)[\d.]*|node|npm|uv|ruff|mypy|black|make|cmake|gcc|g\+\+|clang|clang\+\+"
    r"|ruby|perl|php|docker|curl|wget|bash|gh) --version"
    r"|python[\d.]* -V|(?:node|npm|ruby|perl|php) -v|docker -v"
)
"""Not of what loads files of a project, or the version that one names: cargo, go, yarn, pytest."""
_SHOWN: Final = r"(?!\S*env)[\w,%=]+"
_PROCESSES: Final = (
    rf"ps(?: -?a?u?x?f?w*| -[eA][fF]?w*| -p \d+(?: -f)?|(?: -p \d+| -[eA])? -o {_SHOWN}"
    rf"| -[eA]o {_SHOWN})?(?: --sort=[\w,+%-]+| --no-headers?| --forest)*"
)
"""No other words: an `e` that is read as BSD does shows the environment of processes."""
_CALLS: Final = re.compile(
    rf"{_VERSIONS}|{_PROCESSES}|hostname(?: -s)?|uptime(?: -[ps])?|free(?: -[bkmghltw]+)*"
    r"|command -p?[vV](?: [\w.+-]+)+"
)


def only_tells(words: tuple[str, ...]) -> bool:
    """Whether words, all of them known, are a call that says what the machine is, or runs.

    Of these programs that is no more than some calls, so they are not in the table.
    """
    return not any(map(str.isspace, "".join(words))) and bool(_CALLS.fullmatch(" ".join(words)))


_AWK_ACTS: Final = re.compile(r"system|getline|@|\\\n|\|")
_AWK_NAME: Final = re.compile(r"[A-Z_][A-Z\d_]+")
_AWK_NAMES: Final = frozenset(
    {
        *("BEGIN", "END", "NR", "NF", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME"),
        *("RSTART", "RLENGTH", "SUBSEP", "CONVFMT", "OFMT"),
    }
)
"""The only words in capitals: others are what it is given, the environment, or hold all these."""
_AWK_COMPARES: Final = re.compile(r"[^\"/{#>]*(?:>[^\"/{#>]*)*[^>]*", re.DOTALL)
"""Before an action, a string and a comment a `>` compares; behind that it may write."""


def awk_only_reads(script: str) -> bool:
    """Whether a program of awk neither runs, writes nor reads anything but what it is given.

    It is read without regard to its strings: in them, too, the words for that are refused.
    """
    text = script.replace("||", " ").replace(">=", " ")
    if _AWK_ACTS.search(text) or not _AWK_NAMES.issuperset(_AWK_NAME.findall(text)):
        return False
    return _AWK_COMPARES.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The words of a program, told apart.

    Attributes:
        operands: Those that are no options, with their places among the words.
        options: The names of the options, with dashes, with their values ("" for none).
    """

    operands: tuple[tuple[int, str], ...]
    options: tuple[tuple[str, str], ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self.options)


def read_arguments(
    table: OptionTable, words: tuple[str, ...], other: frozenset[str] = frozenset()
) -> Arguments | None:
    """Tell options and operands apart; None when an option is not known to only look.

    Args:
        table: The program's.
        words: The words behind the program.
        other: Words that pass besides, as they are written: `-x`, `--name=value`.
    """
    operands: list[tuple[int, str]] = []
    options: list[tuple[str, str]] = []
    at, only_operands = 0, False
    while at < len(words):
        word = words[at]
        place, at = at, at + 1
        if word == "-" or not word.startswith("-"):
            operands.append((place, word))
        elif only_operands:
            # A program that takes the `--` for a value would take this for an option.
            return None
        elif word == "--":
            only_operands = True
        elif not (table.digits and _NUMBER.fullmatch(word)):
            read = _long(table, word) if word[1] == "-" else _letters(table, word)
            if read is None and word in other:
                read = [(word, "")]
            if read is None:
                return None
            *flags, (name, value) = read
            if value is None:
                # What may be an option is none of ours to take for a value.
                if at >= len(words) or (words[at][:1] == "-" and not _NUMBER.fullmatch(words[at])):
                    return None
                value, at = words[at], at + 1
            options += [(flag, "") for flag, _ in flags]
            options.append((name, value))
    return Arguments(tuple(operands), tuple(options))


_Read = list[tuple[str, str | None]]
"""Names and values of the options in a word; None where the next word is the value."""


def _long(table: OptionTable, word: str) -> _Read | None:
    name, equals, value = word.partition("=")
    if name in table.valued:
        return [(name, value if equals else None)]
    if name in table.optional or (name in table.flags and not equals):
        return [(name, value)]
    return None


def _letters(table: OptionTable, word: str) -> _Read | None:
    found: _Read = []
    for at, letter in enumerate(word[1:], 1):
        name, rest = f"-{letter}", word[at + 1 :]
        if name in table.flags:
            found.append((name, ""))
            continue
        if name not in table.valued and name not in table.optional:
            return None
        # Should it take no value after all, then none of these letters may do something.
        if (table.apart and len(word) > 2) or any(f"-{each}" in table.acting for each in rest):
            return None
        return [*found, (name, rest if rest or name in table.optional else None)]
    return found
