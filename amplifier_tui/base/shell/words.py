"""Words of a syntax tree: quotes taken off, what is only known at run time left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPED: Final = re.compile(r"\\(\n|.|\Z)", re.DOTALL)
_ESCAPED_IN_STRING: Final = re.compile(r'\\([$`"\\\n])')
_GLOB: Final = re.compile(r"[*?\[]|\{.*(?:,|\.\.).*\}", re.DOTALL)
_DOLLAR: Final = re.compile(r"\$[\w{(@*#?$!-]")

EXPANSIONS: Final = frozenset(
    {
        *("simple_expansion", "expansion", "arithmetic_expansion", "command_substitution"),
        *("process_substitution", "array"),
    }
)
WORDS: Final = EXPANSIONS | {
    *("word", "number", "string", "raw_string", "ansi_c_string", "translated_string"),
    *("concatenation", "brace_expression", "extglob_pattern", "regex", "variable_name"),
    *("special_variable_name", "subscript", "test_operator"),
}


class ShellWord(NamedTuple):
    """A word without its quotes: without expansions, whether that is all of it, and with them."""

    text: str
    known: bool = True
    written: str = ""


def source(node: Node) -> str:
    """Return a node's text."""
    return (node.text or b"").decode("utf-8", "replace")


def read_word(node: Node) -> ShellWord:
    """Return the word a node of one of the types in `WORDS` stands for."""
    pieces = list(_pieces(node))
    written = "".join(piece.written for piece in pieces)
    # What a pattern or braces stand for shows only when it runs.
    unquoted = "".join(piece.unquoted for piece in pieces)
    known = all(piece.known for piece in pieces) and not _GLOB.search(unquoted)
    text = "".join(piece.text for piece in pieces)
    if not known and any(text.count(bracket) != unquoted.count(bracket) for bracket in "[]"):
        # Without their quotes the brackets would be another pattern.
        written = source(node)
    return ShellWord(text, known, written)


class _Piece(NamedTuple):
    text: str
    known: bool
    written: str
    unquoted: str = ""
    """The characters that may belong to a pattern."""


def _pieces(node: Node) -> list[_Piece]:
    raw = source(node)
    match node.type:
        case "concatenation":
            pieces = [piece for child in node.children for piece in _pieces(child)]
            if any(child.type == "$" for child in node.children[:-1]):
                pieces.append(_Piece("", False, ""))  # An expansion the tree does not know.
            return pieces
        case "string" | "translated_string":
            return _string(node)
        case "raw_string":
            return [_Piece(raw[1:-1], True, raw[1:-1])]
        case "ansi_c_string":
            # Escapes may spell anything.
            text = raw[2:-1]
            return [_Piece(text.replace("\\", ""), "\\" not in text, text)]
        case "brace_expression" | "extglob_pattern" | "regex":
            return [_Piece(raw, False, raw)]
        case kind if kind in EXPANSIONS:
            return [_Piece("", False, raw)]
    text = _ESCAPED.sub(lambda match: match.group(1).replace("\n", ""), raw)
    bare = _ESCAPED.sub("", raw)
    known = not _GLOB.search(bare) and "$" not in bare[:-1]
    return [_Piece(text, known, text, bare)]


def _string(node: Node) -> list[_Piece]:
    """The pieces of a double-quoted string; the tree names only some of the text between them."""
    inside = node.children[-1] if node.type == "translated_string" else node
    data, start = inside.text or b"", inside.start_byte
    pieces: list[_Piece] = []
    at = 1
    for child in (*inside.children[1:-1], None):
        if child is not None and child.type not in EXPANSIONS:
            continue
        end = len(data) - 1 if child is None else child.start_byte - start
        text = data[at:end].decode("utf-8", "replace")
        known = not _DOLLAR.search(_ESCAPED_IN_STRING.sub("", text))
        text = _ESCAPED_IN_STRING.sub(lambda match: match.group(1).replace("\n", ""), text)
        pieces.append(_Piece(text, known, text))
        if child is not None:
            pieces.append(_Piece("", False, source(child)))
            at = child.end_byte - start
    return pieces
