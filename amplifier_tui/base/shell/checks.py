"""Whether the walk over a command line's syntax tree understands all of it.

The grammar forgives a lot, and takes some lines for something else than a shell does. What is
doubtful counts as not understood.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from amplifier_tui.base.shell.words import WORDS, ShellWord, source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

# Statements that are the sum of the statements and words in them.
CONTAINERS: Final = frozenset(
    {
        *("program", "list", "pipeline", "subshell", "compound_statement", "do_group"),
        *("if_statement", "elif_clause", "else_clause", "while_statement", "for_statement"),
        *("c_style_for_statement", "case_statement", "case_item", "function_definition"),
        *("negated_command", "command_substitution", "process_substitution"),
    }
)
_EXPRESSIONS: Final = frozenset(
    {
        *("binary_expression", "unary_expression", "ternary_expression", "postfix_expression"),
        *("parenthesized_expression", "string_content", "variable_assignments"),
        *("heredoc_content", "comment", "file_descriptor", "heredoc_start", "heredoc_end"),
    }
)
_COMMANDS: Final = frozenset(
    {
        *("command", "command_name", "declaration_command", "unset_command", "test_command"),
        *("variable_assignment", "redirected_statement", "file_redirect", "heredoc_redirect"),
        *("herestring_redirect", "heredoc_body"),
    }
)
# A line's end ends them, also where the tree goes on behind a line with nothing but a backslash.
_ENDED_BY_LINES: Final = frozenset(
    {
        *("command", "command_name", "declaration_command", "unset_command", "concatenation"),
        *("variable_assignment", "redirected_statement", "file_redirect", "herestring_redirect"),
    }
)
_KNOWN: Final = CONTAINERS | _EXPRESSIONS | _COMMANDS | WORDS
# Their text is not only in their children.
_TEXTS: Final = frozenset({"string", "heredoc_body", "expansion", "regex", "comment"})
_BLANK: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
_BEFORE_WORDS: Final = (b"", *(bytes([byte]) for byte in b" \t\n;&|()`"))
"""What may stand before a word, a character each; nothing at the beginning."""
_DELIMITER: Final = re.compile(r"\\?[\w.+-]+|'[\w .+-]+'|\"[\w .+-]+\"")
_PARTED: Final = re.compile(r"(?<!\\)(?:\\\\)*[ \t\n]")
_RUNS_SOMETHING: Final = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\(|[<>]\()")
# In words of a test that are patterns to the tree, operators are text.
_PATTERNS: Final = frozenset({"regex", "extglob_pattern"})
_OPERATOR: Final = re.compile(r"[<>&|;()\n]")

CONSTRUCTS: Final = {
    "if_statement": "the shell's own `if`",
    "while_statement": "the shell's own `while`",
    "for_statement": "the shell's own `for`",
    "c_style_for_statement": "the shell's own `for ((`",
    "case_statement": "the shell's own `case`",
    "negated_command": "the shell's own `!`",
    "test_command": "the shell's own test",
    "function_definition": "a function",
    "subshell": "a group of commands",
    "compound_statement": "a group of commands",
    "command_substitution": "a command substitution",
    "process_substitution": "a process substitution",
    "heredoc_redirect": "a here document",
    "ansi_c_string": "a quoted string with escapes",
}
"""Nodes that make a line more than the sum of its commands, in words."""

ORDERS: Final = frozenset(
    CONSTRUCTS[kind]
    for kind in (
        *("if_statement", "while_statement", "for_statement", "negated_command"),
        *("subshell", "compound_statement"),
    )
)
"""Of these, those that only say which commands run, and how often."""


class Examined(NamedTuple):
    """What a tree is made of.

    Attributes:
        understood: Whether all of it is.
        constructs: Where which constructs of shells stand.
        sets: See `ShellLine`.
    """

    understood: bool
    constructs: list[tuple[int, str]]
    sets: tuple[str, ...]


def examined(root: Node, data: bytes) -> Examined:
    """Look at all of a tree."""
    understood = _is_blank(data[: root.start_byte] + data[root.end_byte :])
    constructs: list[tuple[int, str]] = []
    sets: list[str] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        # `[ … ]` is a program like any other.
        if node.type in CONSTRUCTS and not any(child.type == "[" for child in node.children):
            constructs.append((node.start_byte, CONSTRUCTS[node.type]))
        understood = understood and not _is_doubtful(node, data)
        if node.type in _SETTING:
            sets += _variables_set(node)
        nodes += node.children
    return Examined(understood, constructs, tuple(sets))


_SETTING: Final = frozenset(
    {"for_statement", "expansion", "arithmetic_expansion", "subscript", "array"}
)
_NUMBERS: Final = re.compile(r"\$?[\[(\d\s+*/%<>&|^~!?:)\]-]*|[@*]")
"""Arithmetic without variables: in what those hold a shell looks for assignments and commands."""
_ANY: Final = ("",)


def _variables_set(node: Node) -> tuple[str, ...]:
    """Return the variables that a loop, or an expansion, sets, as `ShellLine.sets` says."""
    if node.type == "for_statement":
        name = node.child_by_field_name("variable")
        return _ANY if name is None else (source(name),)
    if node.type == "array":
        return _ANY if "]=" in source(node) or "]+=" in source(node) else ()
    if node.type != "expansion":
        numbers = node.child_by_field_name("index") if node.type == "subscript" else node
        plain = numbers is not None and _NUMBERS.fullmatch(source(numbers))
        return () if plain else _ANY
    operators = {child.type for child in node.children if not child.is_named}
    if not operators.isdisjoint(("!", "@")):
        return _ANY
    named = node.named_children
    if not operators.isdisjoint(("=", ":=")):
        return (source(named[0]),)
    if ":" in operators and not all(_NUMBERS.fullmatch(source(each)) for each in named[1:]):
        return _ANY
    return ()


def _is_doubtful(node: Node, data: bytes) -> bool:
    if node.is_error or node.is_missing or (node.is_named and node.type not in _KNOWN):
        return True
    if node.type == "test_command" and _ends_early(node, data):
        return True
    if node.type == "command_substitution":
        # In backquotes a shell reads backslashes a second time.
        text = source(node)
        if text.startswith("`") and "\\" in text:
            return True
    # The scanner takes whatever follows up to a blank for the end of a here-document.
    if node.type == "heredoc_start" and not _DELIMITER.fullmatch(source(node)):
        return True
    if node.child_count:
        return node.type not in _TEXTS and _has_odd_gaps(node, data)
    if not node.is_named or node.type == "comment":
        # Backquotes around nothing, which a shell drops.
        return node.type == "``"
    if node.type in ("raw_string", "ansi_c_string"):
        # Inside of double quotes, single ones in `${…}` are characters like others.
        return _RUNS_SOMETHING.search(source(node)) is not None and _is_in_expansion(node)
    return _is_doubtful_leaf(node, data)


def _ends_early(test: Node, data: bytes) -> bool:
    """Whether a shell ends `[ … ]`, a program like others, before its bracket.

    The tree reads it as `[[ … ]]`, where operators and new lines belong to the expression.
    """
    if test.children[0].type != "[":
        return False
    parts = [test]
    while parts:
        part = parts.pop()
        if part.type in WORDS or not part.children:
            text = source(part) if part.type in _PATTERNS else part.type
            if _OPERATOR.search(text):
                return True
            continue
        at = part.start_byte
        for child in part.children:
            if b"\n" in data[at : child.start_byte].replace(b"\\\n", b""):
                return True
            at = child.end_byte
        parts += part.children
    return False


def _is_in_expansion(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("concatenation", "regex", "string", "word"):
        parent = parent.parent
    return parent is not None and parent.type in ("expansion", "subscript")


def _has_odd_gaps(node: Node, data: bytes) -> bool:
    """Whether something but blanks lies between the children, or nothing parts two words."""
    apart, on_a_line = node.type in _COMMANDS, node.type in _ENDED_BY_LINES
    documents = node.type == "heredoc_redirect"
    if documents and _ends_elsewhere(node, data):
        return True
    at, before = node.start_byte, None
    for child in node.children:
        gap = data[at : child.start_byte]
        at = child.end_byte
        if not _is_blank(gap) or (gap and not gap.replace(b"\\\n", b"")):
            return True
        ends = on_a_line or (documents and child.type not in ("heredoc_body", "heredoc_end"))
        if ends and b"\n" in gap.replace(b"\\\n", b""):
            return True
        if (
            before is not None
            and not gap
            and (before.type == "{" or (apart and _glued(before, child)))
        ):
            return True
        before = child
    return not _is_blank(data[at : node.end_byte])


def _ends_elsewhere(document: Node, data: bytes) -> bool:
    """Whether a here-document ends for a shell on another line than here.

    A shell joins lines behind a backslash, unless quotes keep it from that, and takes whole lines.
    """
    parts = {child.type: child for child in document.children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    if start is None or end is None:
        return True
    written = source(start)
    text = data[parts.get("heredoc_body", end).start_byte : end.end_byte]
    if not is_literal(written):
        text = text.replace(b"\\\n", b"")
    name = written.replace("\\", "").strip("'\"").encode()
    tabs = b"\t" if "<<-" in parts else b""
    *lines, last = [line.lstrip(tabs) if tabs else line for line in text.split(b"\n")]
    whole = data[end.end_byte : end.end_byte + 1] in (b"", b"\n")
    return not whole or last != name or name in lines


def _is_doubtful_leaf(node: Node, data: bytes) -> bool:
    text = source(node)
    # The scanner takes `] ]` for one word.
    if node.type in WORDS and _PARTED.search(text):
        return True
    # Text in which a shell would find something to run, and the tree found nothing.
    if _RUNS_SOMETHING.search(text) and not _in_literal_document(node):
        return True
    if node.type == "file_descriptor":
        before = data[max(0, node.start_byte - 1) : node.start_byte]
        return not text.isdecimal() or before not in _BEFORE_WORDS
    # `{name}>file` puts a descriptor into a variable.
    return node.type == "word" and text == "}" and followed_by_redirection(node, data)


def followed_by_redirection(node: Node, data: bytes) -> bool:
    """Whether a redirection begins right behind a node."""
    return data[node.end_byte : node.end_byte + 1] in (b"<", b">")


def _glued(before: Node, node: Node) -> bool:
    """Whether two neighbours without a blank between them are one word for a shell."""
    ends = {"command_name", "$", "variable_assignment", "file_redirect", "herestring_redirect"}
    begins = {"command_name", "$", "variable_assignment", "command"}
    return (before.type in WORDS or before.type in ends) and (
        node.type in WORDS or node.type in begins
    )


def _is_blank(data: bytes) -> bool:
    return _BLANK.fullmatch(data) is not None


def is_literal(start: str) -> bool:
    """Whether quotes in the start of a here-document keep it from being expanded."""
    return any(quote in start for quote in "'\"\\")


def _in_literal_document(node: Node) -> bool:
    """Whether a node is text of a here-document whose quotes keep it from being expanded."""
    body = node if node.type == "heredoc_body" else node.parent
    if body is None or body.type != "heredoc_body" or body.parent is None:
        return False
    return any(
        child.type == "heredoc_start" and is_literal(source(child))
        for child in body.parent.children
    )


_RESERVED: Final = frozenset(
    {
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "select", "function", "in", "coproc", "!", "{", "}", "[[", "]]"),
    }
)
_EXPANDING: Final = frozenset(
    {
        *("let", "test", "[", "[[", "((", "unset", "read", "printf", "declare", "typeset", "local"),
        *("readonly", "export", "mapfile", "readarray", "getopts", "wait"),
    }
)
_SUBSCRIPT: Final = re.compile(r"\[.*(?:`|\$\()", re.DOTALL)
_OWN_WORDS: Final = _RESERVED | {"eval", "exec", "source", ".", "trap", "alias"}


def begun_by(words: Sequence[ShellWord]) -> tuple[str, bool]:
    """Return what of the shell's own a command begins, in words, and whether it is a command."""
    if not words:
        return "", True
    name = words[0].written
    # A word that begins a construct of the shell is no program; the tree took it for one.
    inside = next((word.text for word in words[1:] if not word.text.startswith("-")), "")
    begins = name in _RESERVED - {"[["} or (name == "time" and inside in _RESERVED)
    # These expand the subscripts of the names they are given, also of quoted ones.
    expands = name in _EXPANDING and any(_SUBSCRIPT.search(word.text) for word in words)
    return (f"the shell's own `{name}`" if name in _OWN_WORDS else "", not (begins or expands))
