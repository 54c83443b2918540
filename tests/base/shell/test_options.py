"""Every option that the manual pages document is in the table, on the side where it belongs."""

import re
from collections.abc import Iterator
from pathlib import Path

from amplifier_tui.base.shell.options import OptionTable, option_tables
from tests.base.shell.man_pages import documented, page

VERSIONS = (
    *("GNU coreutils 9.1", "diffutils 3.8", "GNU grep 3.8", "GNU sed 4.9", "binutils-2.40"),
    *("util-linux 2.38", "Git 2.39", "TAR July 13, 2020", "FIND(1)"),
    "Debian 29 Jun 2016",
)
"""The last lines of the pages the table was made from; others document other options."""

BUILTINS = frozenset({"any", "printf", "test"})
"""Kinds of programs without options; what their words may be is tested with the lines."""

# What looks like an option in a page and is none: a name in a text, a pattern of names; or one that
# is left out, and asks.
NONE = {
    "cut": {"-M"},
    "strings": {"-min-len"},
    "diff": {"--GTYPE-group-format", "--LTYPE-line-format"},
    "grep": {"-N"},
    "pwd": {"--logical", "--physical", "--help", "--version"},
    "xxd": {"-n", "-seek", "-1"},
    "find": {"-Olevel", "--help", "--version", "-n", "-newerXY", "-O"},
    "git log": {"-local", "-M90", "-M5", "-M05", "-static"},
    "git rev-list": {"-local"},
    "git diff": {"-static"},
    "git diff-tree": {"--decorate"},
    "git status": {"--no-optional-locks"},
    "git for-each-ref": {"--quote"},
    "git branch": {"-vv"},
    "git config": {"--3way", "--no-recurse-submodules", "-c"},
}
ALIKE = {
    **dict.fromkeys(("egrep", "fgrep"), "grep"),
    "git show": "git log",
    **dict.fromkeys(("git diff-tree", "git diff-index", "git diff-files"), "git diff"),
}

ACTS = re.compile(
    r"\b(?:writ(?:e|es|ing)|outputs? to|execut\w*|runs?|edits?|editor|delet(?:e|es)|remov(?:e|es)"
    r"|creates?|(?:de)?compress with|helper|launch\w*|invok\w*|set (?:the )?time|pipes?|pager"
    r"|external|in place|temporar\w*|gpg|preserve|pass output)\b",
    re.IGNORECASE,
)
# First sentences that say so and mean what is printed, looked for or left out.
HARMLESS = re.compile(
    r"create a (?:BSD-style|reversed style) checksum|create a table|create child-parent"
    r"|Column.*parent|do not invoke sync|^write counts|FIFO|named pipe|use ACTION to process it"
    r"|^remove a trailing SUFFIX|^delete characters in ARRAY1|number of sorts run concurrently"
    r"|^annotate program execution|script to the commands to be executed"
    r"|^follow symlinks when processing in place|^Stop after writing <len> octets"
    r"|The -delete action also implies|^Matches files which are executable"
    r"|^Limit (?:the commits )?output to|remove some needless merges|^Output a condensed summary"
    r"|considering runs of non-whitespace|^Break complete rewrite changes|^Omit the preimage"
    r"|^When run from a sub|(?:was|is) invoked from a sub|^Disallow external diff drivers"
    r"|^Allow \(or disallow\) external text conversion|^Normally batch output is flushed"
    r"|do not write anything to standard output|^(?:P|p)reserve (?:whitespace|indentation)"
    r"|useful to limit the output|^Behave as if|first of an equal run"
    r"|^List or delete \(if used with -d\)|writes out the key names|^For writing options"
)


def name_of_page(program: str) -> str:
    return program.replace(" ", "-")


def has_the_page(program: str) -> bool:
    lines = page(name_of_page(program)).strip().splitlines()[-1:]
    return any(version in " ".join(line.split()) for line in lines for version in VERSIONS)


def problems(program: str, table: OptionTable) -> Iterator[str]:
    """What the page of a program says against its line in the table."""
    harmless = table.flags | table.valued | table.optional
    none = NONE.get(program, set()) | NONE.get(ALIKE.get(program, ""), set())
    classed = harmless | table.elsewhere | table.acting | none
    for option in documented(name_of_page(program)):
        for name in option.names:
            if name not in classed and not (table.digits and re.fullmatch(r"-\d", name)):
                yield f"{program} {name} is not classed"
        sentence = re.split(r"(?<=[a-z)])\.(?:\s|$)", option.text)[0]
        acts = ACTS.search(sentence) and not HARMLESS.search(sentence)
        if acts and harmless.intersection(option.names):
            yield f"{program} {option.names} is let through: {sentence}"


# One test: each page takes a while to set.
def test_each_documented_option_is_classed_and_none_that_acts_is_let_through() -> None:
    found = [
        (name, table)
        for name, table in option_tables().items()
        if table.operands not in BUILTINS and has_the_page(name)
    ]
    assert [problem for name, table in found for problem in problems(name, table)] == []
    release = Path("/etc/os-release")
    if release.exists() and "bookworm" in release.read_text() and page("git-log"):
        names = {name for name, _ in found}
        assert {"ls", "sort", "grep", "sed", "tar", "find", "git log", "git grep"} <= names
        assert len(names) > 80
        texts = [each.text for each in documented("sort") if "-o" in each.names]
        assert texts and all(map(ACTS.search, texts))
